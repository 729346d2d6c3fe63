"""Timelines: what is drawn where, and what they refuse."""

from __future__ import annotations

import json
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from streambound.analyzer.errors import UsageError
from streambound.temporal import timeline

NAME = "{http://www.w3.org/2000/svg}"
ROWS = [
    json.loads(line)
    for line in """\
{"name":"Ann","hotel":null,"_begin":2,"_end":4,"_lineage":"a.1","_p":0.7}
{"name":"Ann","hotel":"h<1>","_begin":4,"_end":6,"_lineage":"a.1 & b.3","_p":0.49}
{"name":"Ann","hotel":null,"_begin":4,"_end":5,"_lineage":"a.1 & !b.3","_p":0.21}
{"name":"Ann","hotel":null,"_begin":5,"_end":6,"_lineage":"a.1 & !(b.2 | b.3)","_p":0.084}""".splitlines()
]


def test_bars_are_as_long_as_their_periods_and_their_texts_fit() -> None:
    root = ET.fromstring(timeline(ROWS, "stays & hotels").svg)
    bars = [found for found in root.iter(f"{NAME}rect") if found.get("class") != "page"]
    assert len(bars) == 4
    assert {bar.get("class") for bar in bars} == {"unsure"}
    texts = [text.text or "" for text in root.iter(f"{NAME}text")]
    assert texts[:6] == ["stays & hotels", "2", "4", "5", "6", "Ann, NULL"]
    assert {"Ann, h<1>", "a.1 & b.3 · 0.49", "a.1 & !(b.2 | b.3) · 0.084"} <= set(texts)
    lanes: dict[str, list[tuple[float, float]]] = {}
    for bar in bars:
        x, width = float(bar.attrib["x"]), float(bar.attrib["width"])
        lanes.setdefault(bar.attrib["y"], []).append((x, x + width))
    assert sorted(map(len, lanes.values())) == [1, 3]
    longest = next(lane for lane in lanes.values() if len(lane) == 3)
    assert all(one[1] == pytest.approx(other[0], abs=0.2) for one, other in pairwise(sorted(longest)))
    assert "Ann, NULL: from 4 to before 5: a.1 & !b.3 · 0.21" in (root.findtext(f"{NAME}desc") or "")


def test_multiplicities_dates_and_pages() -> None:
    rows = [{"n": 1, "_begin": "2020-01-01", "_end": "2020-02-01", "_mult": 2},
            {"n": 1, "_begin": "2020-02-01", "_end": "2020-03-01", "_mult": 1}]  # fmt: skip
    found = timeline(rows, "<t>")
    assert [bar.text for _, lane in found.lanes for bar in lane] == ["×2", ""]
    assert "<title>&lt;t&gt;</title>" in found.html
    assert found.svg in found.html
    ET.fromstring(timeline([]).svg)


def test_what_is_no_timeline() -> None:
    with pytest.raises(UsageError, match="_begin and _end"):
        timeline([{"n": 1}])
    with pytest.raises(UsageError, match="of dictionaries"):
        timeline([(1, 2)])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="at most 500"):
        timeline([{"_begin": i, "_end": i + 1} for i in range(501)])
