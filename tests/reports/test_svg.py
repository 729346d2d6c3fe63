"""Drawings as SVG: described, self-contained, legible."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from streambound.reports.svg import svg
from support.drawn import CHAIN, SVG, diagram


def test_svg_is_described_and_needs_nothing_else() -> None:
    text = svg(diagram("tables", CHAIN))
    root = ET.fromstring(text)
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert root.get("role") == "img"
    assert root.get("aria-labelledby", "").split() == [title.get("id"), desc.get("id")]
    assert title.text == "Tables of q"
    for words in ("{T, U}: one counter; at most 1", "{U} -> {T, U}, T"):
        assert words in (desc.text or "")
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "style", "rect", "g", "path", "text",
    }  # fmt: skip
    assert not re.search(r"url\(|@import|href|data:|//(?!www\.w3\.org/2000/svg)", text)
    assert "prefers-color-scheme: dark" in text


def test_ink_and_paper_contrast_on_light_and_dark_screens() -> None:
    """WCAG 2.2, contrast (minimum): 4.5 for text, 3 for lines; every box has an opaque fill of its own."""
    style = ET.fromstring(svg(diagram("tables", CHAIN))).findtext(f"{SVG}style") or ""
    light, dark = style.split("@media")
    for part in (light, dark):
        ink = re.findall(r"text \{ fill: (#\w+)", part)[0]
        page = re.findall(r"sb-page \{ fill: (#\w+)", part)[0]
        boxes = re.findall(r"\.sb-\w+ \{ fill: (#\w+); stroke: (#\w+)", part)
        assert len(boxes) == 5
        assert all(contrast(ink, fill) >= 4.5 for fill in (page, *(fill for fill, _ in boxes)))
        assert all(contrast(stroke, page) >= 3 for _, stroke in boxes)
        assert contrast(re.findall(r"sb-edge \{ stroke: (#\w+)", part)[0], page) >= 3


def contrast(first: str, second: str) -> float:
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
