"""A timeline of a small result over periods: a lane for each distinct fact, and a bar for each period of it.

For documents and notebooks: one self-contained SVG, readable on light and dark screens, described for screen readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from html import escape
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

from msgspec import Struct

from streambound.analyzer.errors import UsageError
from streambound.reports.diagram import columns, printable

MOST = 500
"""Rows of a result that a timeline can show."""
_BEGIN, _END = "_begin", "_end"
_CHANCES = ("_p", "_p_low", "_p_high")
_OWN = ("_lineage", *_CHANCES, "_mult", "_lineage_dag")
_COLUMN, _LANE, _AXIS, _PAD = 7.4, 26.0, 28.0, 14.0
_LEAST = 24.0
"""The least width between two points of time at which something changes; there is more where texts need it."""
_STYLE = """
text { font: 12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328 }
.page { fill: #ffffff } .bar { fill: #ddf4ff; stroke: #0969da } .unsure { fill: #fbefff; stroke: #8250df }
.line { stroke: #d0d7de } .title { font-weight: bold }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .page { fill: #0d1117 } .bar { fill: #0c2d4d; stroke: #58a6ff }
.unsure { fill: #321a4d; stroke: #bc8cff } .line { stroke: #30363d }
}
"""


class Bar(Struct, frozen=True):
    """A fact from ``begin`` to before ``end``; ``p`` is its probability or the bounds of it, empty if it is certain."""

    begin: Any
    end: Any
    text: str
    p: tuple[float, ...] = ()


class Timeline(Struct, frozen=True):
    """The bars of each fact, in order of the facts' first begin. In a notebook it is shown as a picture."""

    title: str
    lanes: tuple[tuple[str, tuple[Bar, ...]], ...]

    @property
    def svg(self) -> str:
        """The picture as an SVG document."""
        return _drawn(self)

    @property
    def html(self) -> str:
        """The picture as a page of its own."""
        head = (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(self.title)}</title></head>'
        )
        return f"{head}\n<body>\n{self.svg}\n</body></html>\n"

    def _repr_html_(self) -> str:
        return self.svg


def timeline(rows: Iterable[Mapping[str, Any]], title: str = "") -> Timeline:
    """The timeline of rows of a SEQ statement, as lines of `--output` or rows of a DataFrame as dictionaries have them.

    Raises UsageError for what is no such row, for rows without `_begin` and `_end`, and for more than 500.
    """
    lanes: dict[str, list[Bar]] = {}
    for number, row in enumerate(sorted(rows, key=_period)):
        if number == MOST:
            raise UsageError(f"a timeline shows at most {MOST} rows", remedy="filter or aggregate the result")
        values = [value for name, value in row.items() if name not in (_BEGIN, _END, *_OWN)]
        fact = ", ".join("NULL" if value is None else str(value) for value in values) or "·"
        p = tuple(row[name] for name in _CHANCES if name in row)
        text = str(row["_lineage"]) if "_lineage" in row else f"×{row['_mult']}" if row.get("_mult", 1) != 1 else ""
        lanes.setdefault(fact, []).append(Bar(row[_BEGIN], row[_END], text, p))
    return Timeline(title, tuple((fact, tuple(bars)) for fact, bars in lanes.items()))


def _period(row: Mapping[str, Any]) -> tuple[Any, Any]:
    if not isinstance(row, Mapping):
        raise UsageError(
            "a timeline is of dictionaries", remedy="of a DataFrame: [row.asDict() for row in df.collect()]"
        )
    if _BEGIN not in row or _END not in row:
        raise UsageError("a timeline is of rows with _begin and _end", remedy="select them, too")
    return row[_BEGIN], row[_END]


def _shown(bar: Bar) -> str:
    p = "–".join(dict.fromkeys(f"{chance:.3g}" for chance in bar.p))
    return printable(" · ".join(filter(None, (bar.text, p))))


def _places(bars: Sequence[Bar], start: float) -> dict[Any, float]:
    """Where each point at which something changes is: in order, as far apart as the texts between them need."""
    points = sorted({point for bar in bars for point in (bar.begin, bar.end)})
    places = dict.fromkeys(points, start)
    for before, point in pairwise(points):
        needs = [places[before] + max(_LEAST, columns(_time(before)) * _COLUMN + _PAD)]
        needs += [places[bar.begin] + columns(_shown(bar)) * _COLUMN + _PAD for bar in bars if bar.end == point]
        places[point] = max(needs)
    return places


def _time(point: Any) -> str:
    if isinstance(point, datetime):
        return point.isoformat(sep=" ")
    return point.isoformat() if isinstance(point, date) else str(point)


def _drawn(found: Timeline) -> str:
    bars = [bar for _, lane in found.lanes for bar in lane]
    start = max((columns(printable(fact)) for fact, _ in found.lanes), default=0) * _COLUMN + 2 * _PAD
    places = _places(bars, start)
    width = max([*places.values(), start]) + max((columns(_time(p)) for p in places), default=0) * _COLUMN / 2 + _PAD
    top = _AXIS + (_AXIS if found.title else 0)
    height = top + len(found.lanes) * _LANE + _PAD
    box = {"viewBox": f"0 0 {width:.0f} {height:.0f}", "width": f"{width:.0f}", "height": f"{height:.0f}"}
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-label": found.title, **box})
    ET.SubElement(root, "desc").text = "\n".join(_in_words(found))
    ET.SubElement(root, "style").text = _STYLE
    ET.SubElement(root, "rect", {"class": "page", "width": f"{width:.0f}", "height": f"{height:.0f}"})
    if found.title:
        _text(root, printable(found.title), _PAD, _AXIS * 0.7, "title", "start")
    for point, x in places.items():
        _text(root, _time(point), x, top - 10, "", "middle")
        line = {
            "class": "line",
            "x1": f"{x:.1f}",
            "x2": f"{x:.1f}",
            "y1": f"{top - 5:.1f}",
            "y2": f"{height - _PAD:.1f}",
        }
        ET.SubElement(root, "line", line)
    for number, (fact, lane) in enumerate(found.lanes):
        y = top + number * _LANE
        _text(root, printable(fact), _PAD, y + _LANE * 0.62, "", "start")
        for bar in lane:
            left, right = places[bar.begin], places[bar.end]
            kind = "bar" if min(bar.p, default=1) >= 1 else "unsure"
            area = {
                "x": f"{left:.1f}",
                "y": f"{y + 3:.1f}",
                "width": f"{right - left:.1f}",
                "height": f"{_LANE - 6:.1f}",
            }
            ET.SubElement(root, "rect", {"class": kind, "rx": "3", **area})
            _text(root, _shown(bar), (left + right) / 2, y + _LANE * 0.62, "", "middle")
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def _in_words(found: Timeline) -> Iterable[str]:
    for fact, lane in found.lanes:
        for bar in lane:
            what = _shown(bar)
            yield printable(f"{fact}: from {_time(bar.begin)} to before {_time(bar.end)}{': ' if what else ''}{what}")


def _text(root: ET.Element, text: str, x: float, y: float, style: str, anchor: str) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}
    ET.SubElement(root, "text", {**({"class": style} if style else {}), **place}).text = text
