"""The drawings: what they show, that every format is valid for any name, and that nothing lies on anything."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, pairwise, product
from typing import Any
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports import dot, mermaid
from reports.diagram import Diagram, Edge, Node, Panel, columns, printable
from reports.drawings import DIAGRAMS, DRAWINGS, draw
from reports.layered_layout import Box, layered_layout
from reports.svg import svg
from tests.support.catalogs import PLAIN, streams, with_domain, with_relation
from tests.support.product import checked
from tests.support.profiles import examples
from tests.support.queries import Statement, statements

NAMES = ("S", "T", "U", "V")
STAGES = tuple(DIAGRAMS)
SVG = "{http://www.w3.org/2000/svg}"


def diagram(stage: str, sql: str, catalog: Any = PLAIN) -> Diagram:
    item = checked(sql, catalog)
    assert item.decision is not None, item.diagnostics
    return DIAGRAMS[stage](item, item.decision)


def boxes(stage: str, sql: str, catalog: Any = PLAIN) -> list[tuple[str, ...]]:
    (panel,) = diagram(stage, sql, catalog).panels
    return [(node.kind, node.title, *node.lines) for node in panel.nodes]


def arrows(stage: str, sql: str, catalog: Any = PLAIN) -> list[tuple[str, str, str]]:
    (panel,) = diagram(stage, sql, catalog).panels
    titles = {node.name: node.title for node in panel.nodes}
    return [(titles[edge.source], titles[edge.target], edge.label) for edge in panel.edges]


# --- what they show --------------------------------------------------------------------------------------------

CHAIN = "SELECT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts"


def test_the_graph_shows_its_transitive_reduction_and_who_waits() -> None:
    assert boxes("graph", CHAIN) == [
        ("stream", "S", "waits for no stream"),
        ("stream", "T", "waits for S"),
        ("stream", "U", "waits for S and T"),
    ]
    assert arrows("graph", CHAIN) == [("S", "T", "T.ts < S.ts"), ("T", "U", "U.ts < T.ts")]


def test_merged_streams_are_one_vertex_and_finite_ones_none() -> None:
    sql = "SELECT 1 AS one FROM S, T, U, V WHERE S.ts = T.ts AND S.ts > U.ts + 2 AND V.ts < 9"
    assert [title for _, title, *_ in boxes("graph", sql)] == ["S·T", "U"]
    assert arrows("graph", sql) == [("S·T", "U", "U.ts <= S.ts - 3")]


def test_tables_show_keys_clips_ages_and_sizes() -> None:
    sql = "SELECT T.a FROM S, T WHERE T.ts < S.ts AND S.ts <= T.ts + 3 AND T.b <= S.b + 1 AND T.b < 9 AND S.b > 2"
    assert boxes("tables", sql)[1:] == [
        ("table", "{T}", "any T.a", "4 <= T.b <= 8 (clipped)", "T.ts, for 3", "at most 3*c_T"),
        ("results", "results", "written at once"),
    ]
    assert arrows("tables", sql) == [("nothing", "{T}", "T"), ("{T}", "results", "S")]


def test_tables_show_relations_and_declared_values() -> None:
    catalog = with_domain(with_relation(PLAIN), "T", "b", [1, 2, 4])
    sql = "SELECT T.b FROM S, T, R WHERE S.ts > T.ts AND T.a = R.a AND S.a = R.a"
    assert boxes("tables", sql, catalog)[1] == (
        "table",
        "{T}",
        "T.b in {1, 2, 4}",
        "R.a is a relation's",
        "at most 4*rows_R",
    )


def test_a_set_shows_its_extreme_value_and_its_results() -> None:
    sql = "SELECT DISTINCT S.b FROM S, T WHERE S.ts > T.ts AND S.a < T.a AND S.b BETWEEN 1 AND 3"
    assert boxes("tables", sql)[1:] == [
        ("table", "{T}", "the greatest T.a", "at most 1"),
        ("results", "results", "1 <= S.b <= 3", "at most 3"),
    ]


@pytest.mark.parametrize(
    ("sql", "culprits"),
    [
        ("SELECT T.a FROM S, T WHERE S.ts > T.ts", [("{T}", "every T.a", "unbounded")]),
        ("SELECT 1 AS one FROM S, T WHERE S.ts > T.ts AND S.a = T.a", [("{T}", "every T.a", "unbounded")]),
        ("SELECT DISTINCT S.a FROM S", [("results", "every S.a", "unbounded")]),
        (
            "SELECT DISTINCT 1 AS one FROM S, T WHERE S.ts > T.ts AND S.a < T.a AND S.b < T.b",
            [("{T}", "the greatest T.a", "the greatest T.b", "unbounded")],
        ),
        (
            "SELECT DISTINCT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND U.ts > T.ts AND S.a < T.a AND U.a < T.b "
            "AND T.a <= T.b + 5 AND T.b <= T.a + 5",
            [("{T}", "the greatest T.a", "the greatest T.b", "may be unbounded")],
        ),
        (CHAIN, []),
    ],
)
def test_tables_without_a_bound_are_marked(sql: str, culprits: list[tuple[str, ...]]) -> None:
    assert [rest for kind, *rest in boxes("tables", sql) if kind == "culprit"] == [list(c) for c in culprits]


def test_branches_that_look_alike_share_a_panel() -> None:
    panels = diagram("graph", f"{CHAIN} AND (S.a = 1 OR S.a = 5)").panels
    assert [panel.title for panel in panels] == ["branches 1 and 2 of 2"]
    panels = diagram("tables", "SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.a IN (1, 5)").panels
    assert [panel.title for panel in panels] == ["branch 1 of 2", "branch 2 of 2"]


@st.composite
def time_conditions(draw: Any) -> tuple[tuple[str, ...], list[tuple[str, str, int]]]:
    """Streams and conditions ``x.ts <= y.ts + c``."""
    names = NAMES[: draw(st.integers(2, 3))]
    pair = st.permutations(names).map(lambda p: (p[0], p[1]))
    return names, [(*draw(pair), draw(st.integers(-2, 2))) for _ in range(draw(st.integers(0, 3)))]


@examples(60)
@given(time_conditions())
def test_the_tables_are_the_sets_that_can_have_arrived(
    case: tuple[tuple[str, ...], list[tuple[str, str, int]]],
) -> None:
    """Against all assignments of small timestamps: the sets that arrived by some moment, and in which order."""
    names, conditions = case
    seen: set[tuple[frozenset[str], frozenset[str]]] = set()
    for times in product(range(10), repeat=len(names)):
        at = dict(zip(names, times, strict=True))
        if all(at[x] <= at[y] + c for x, y, c in conditions):
            stages = [frozenset(), *(frozenset(n for n in names if at[n] <= now) for now in sorted(set(times)))]
            seen.update(pairwise(stages))
    where = " AND ".join(f"{x}.ts <= {y}.ts + {c}" for x, y, c in conditions)
    sql = f"SELECT 1 AS one FROM {', '.join(names)}" + (f" WHERE {where}" if where else "")
    (panel,) = diagram("tables", sql).panels
    if not seen:
        assert panel.nodes == ()
        return
    members = {node.title: _members(node.title, names) for node in panel.nodes}
    assert set(members.values()) == {stage for step in seen for stage in step}
    drawn = nx.DiGraph((members[a], members[b]) for a, b, _ in arrows("tables", sql))
    assert all(nx.has_path(drawn, before, after) for before, after in seen)
    assert all(
        set(label.replace(" and ", ", ").split(", ")) == members[b] - members[a]
        for a, b, label in arrows("tables", sql)
    )


def _members(title: str, names: tuple[str, ...]) -> frozenset[str]:
    if title in ("nothing", "results"):
        return frozenset(names if title == "results" else ())
    return frozenset(title.strip("{}").split(", "))


# --- any statement, any name -----------------------------------------------------------------------------------


@examples(60)
@given(statements())
def test_every_statement_can_be_drawn(statement: Statement) -> None:
    item = checked(statement.sql, statement.catalog)
    if item.decision is None:
        return
    for stage, drawing in product(STAGES, DRAWINGS):
        assert draw(stage, drawing.name, item, item.decision)
    drawn = DIAGRAMS["tables"](item, item.decision).panels
    assert any(node.kind == "culprit" for panel in drawn for node in panel.nodes) == (item.verdict != "bounded")


HOSTILE = [
    'a"b', "a\\b", "\\N", "x`y", "end", "a]b|c", "<b>&amp;</b>", "%%{init}", "#35;", "style:#1;", "漢字", "a;b", "-->",
    "a\nb", "'", "é\u0301", "\u202ex", "{}", "1. one", "[x](y)", "]]>", "subgraph",
]  # fmt: skip


def hostile_catalog(name: str) -> dict[str, Any]:
    return {
        "streams": {name: {"timestamp": name, "columns": {name: "bigint", "k": "bigint"}}, **streams("S")["streams"]}
    }


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("stage", STAGES)
def test_any_name_can_be_drawn(stage: str, name: str) -> None:
    quoted = "`" + name.replace("`", "``") + "`"
    item = checked(f"SELECT {quoted}.k FROM S, {quoted} WHERE S.ts > {quoted}.{quoted}", hostile_catalog(name))
    assert item.decision is not None, item.diagnostics
    found = DIAGRAMS[stage](item, item.decision)
    texts = [[printable(text) for text in (node.title, *node.lines)] for panel in found.panels for node in panel.nodes]
    assert any(printable(name) in text for lines in texts for text in lines)
    assert dot_labels(dot.dot(found)) == texts
    assert mermaid_labels(mermaid.mermaid(found)) == texts
    shown = [element.text for element in ET.fromstring(svg(found)).iter(f"{SVG}text")]
    assert [text for text in shown if text in set(chain(*texts))]


@given(st.lists(st.text(), min_size=1, max_size=3), st.text())
def test_any_text_comes_back_from_every_format(lines: list[str], label: str) -> None:
    title, *rest = lines
    nodes = (Node("a", title, tuple(rest), "table"), Node("b", "b"))
    found = Diagram(label, label, (Panel(label, nodes, (Edge("a", "b", label),)),))
    wanted = [[printable(text) for text in lines], ["b"]]
    assert dot_labels(dot.dot(found)) == wanted
    assert mermaid_labels(mermaid.mermaid(found)) == wanted
    root = ET.fromstring(svg(found))
    shown = [element.text or "" for element in root.iter(f"{SVG}text")]
    assert set(wanted[0]) <= set(shown)


# --- DOT: a parser for what is written -------------------------------------------------------------------------

DOT_TOKEN = re.compile(r'\s+|("(?:[^"\\]|\\.)*")|([A-Za-z_]\w*)|(->|[{}\[\]=,;])', re.ASCII)


def dot_tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        match = DOT_TOKEN.match(text, at)
        assert match, f"not DOT: {text[at : at + 40]!r}"
        at = match.end()
        if match.lastindex:
            yield match.group(match.lastindex)


def dot_labels(text: str) -> list[list[str]]:
    """The node labels of a DOT text, line by line; fails on anything that the grammar does not allow."""
    tokens = [*dot_tokens(text)]
    assert tokens[:2] == ["digraph", "{"]
    labels: list[list[str]] = []
    end = _dot_statements(tokens, 2, labels)
    assert tokens[end:] == ["}"]
    return labels


def _dot_statements(tokens: list[str], at: int, labels: list[list[str]]) -> int:
    """The index of the brace that ends a list of statements."""
    while tokens[at] != "}":
        if tokens[at] == "subgraph":
            assert tokens[at + 2] == "{"
            at = _dot_statements(tokens, at + 3, labels) + 1
            continue
        first, at = tokens[at], at + 1
        assert re.fullmatch(r"\w+", first)
        is_edge = tokens[at] == "->"
        if tokens[at] in ("->", "="):
            at += 2
        if tokens[at] == "[":
            end = tokens.index("]", at)
            attributes = [tokens[i : i + 3] for i in range(at + 1, end, 4)]
            assert all(attribute[1] == "=" for attribute in attributes)
            assert all(comma == "," for comma in tokens[at + 4 : end : 4])
            if not is_edge and first not in ("graph", "node", "edge"):
                labels.append(_dot_text(next(value for key, _, value in attributes if key == "label")))
            at = end + 1
        assert tokens[at] == ";"
        at += 1
    return at


def _dot_text(quoted: str) -> list[str]:
    lines = [""]
    for part in re.findall(r"\\.|[^\\]", quoted[1:-1]):
        if part == "\\n":
            lines.append("")
        else:
            assert part in ('\\"', "\\\\") or len(part) == 1
            lines[-1] += part[-1]
    assert not re.search(r"&(?!amp;)", "".join(lines))
    return [html.unescape(line) for line in lines]


# --- Mermaid: the few forms of line that are written -----------------------------------------------------------

MERMAID_TEXT = r'"([^"\n]*)"'
MERMAID_LINES = [
    r"flowchart TD",
    r"acc(?:Title|Descr): ?[\w ,.()]*",
    rf"subgraph p\d+\[{MERMAID_TEXT}\]",
    r"end",
    rf"n\d+x\d+ -->(?:\|{MERMAID_TEXT}\|)? n\d+x\d+",
    r"classDef \w+ fill:#\w{6},stroke:#\w{6},color:#\w{6}",
]
MERMAID_NODE = rf"n\d+x\d+\[{MERMAID_TEXT}\]:::\w+"


def mermaid_labels(text: str) -> list[list[str]]:
    """The node labels of a Mermaid text; fails on a line of any other form, and on a character that is not plain."""
    labels = []
    for line in text.split("\n"):
        node = re.fullmatch(MERMAID_NODE, line.strip())
        if node:
            labels.append([_mermaid_text(part) for part in node.group(1).split("<br/>")])
        else:
            matches = [match for form in MERMAID_LINES if (match := re.fullmatch(form, line.strip()))]
            assert matches, f"not a line we write: {line!r}"
            assert all(_mermaid_text(group) is not None for group in matches[0].groups() if group)
    return labels


def _mermaid_text(text: str) -> str:
    without = re.sub(r"#\d+;", "", text)
    assert all(c.isalnum() or c in " _,.()+=/{}" for c in without), without
    return re.sub(r"#(\d+);", lambda code: chr(int(code.group(1))), text)


# --- SVG and layout --------------------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class Rectangle:
    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, box: Box) -> Rectangle:
        return cls(box.x - box.width / 2, box.top, box.x + box.width / 2, box.bottom)

    def meets(self, other: Rectangle) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


@st.composite
def panels(draw: Any) -> Panel:
    """Any acyclic panel, with titles and labels of any length."""
    number = draw(st.integers(1, 9))
    pairs = draw(st.sets(st.sampled_from([*combinations(range(number), 2)]), max_size=16)) if number > 1 else set()
    words = st.integers(0, 30).map("x".__mul__)
    nodes = tuple(Node(str(i), draw(words), tuple("y" for _ in range(draw(st.integers(0, 3))))) for i in range(number))
    return Panel("", nodes, tuple(Edge(str(a), str(b), draw(words)) for a, b in sorted(pairs)))


@examples(100)
@given(panels())
def test_nothing_lies_on_anything(panel: Panel) -> None:
    layout = layered_layout(
        panel,
        lambda node: (10.0 + 8 * columns(node.title), 20.0 + 10 * len(node.lines)),
        lambda label: (8.0 * columns(label), 10.0),
    )
    assert set(layout.boxes) == {node.name for node in panel.nodes}
    assert [route.edge for route in layout.routes] == list(panel.edges)
    solid = [Rectangle.of(box) for box in (*layout.boxes.values(), *(r.label for r in layout.routes if r.edge.label))]
    assert not any(a.meets(b) for a, b in combinations(solid, 2))
    assert all(r.left >= -1e-6 and r.right <= layout.width + 1e-6 and r.bottom <= layout.height + 1e-6 for r in solid)
    for node in panel.nodes:
        assert layout.boxes[node.name].width == 10 + 8 * columns(node.title)
    for route in layout.routes:
        assert route.through[0] == layout.boxes[route.edge.source]
        assert route.through[-1] == layout.boxes[route.edge.target]
        assert all(upper.bottom < lower.top for upper, lower in pairwise(route.through))


@examples(40)
@given(statements())
def test_texts_fit_their_boxes_and_the_page(statement: Statement) -> None:
    """On the page itself: at 0.6 em a column, every text of a box is inside it, and all of it inside the page."""
    item = checked(statement.sql, statement.catalog)
    if item.decision is None:
        return
    root = ET.fromstring(draw("tables", "svg", item, item.decision))
    width, height = (float(root.get(name, "0")) for name in ("width", "height"))
    for group in root.iter(f"{SVG}g"):
        left, top = map(float, re.findall(r"[-\d.]+", group.get("transform", "")))
        rectangles = [
            Rectangle(float(r.get("x", 0)), float(r.get("y", 0)),
                      float(r.get("x", 0)) + float(r.get("width", 0)), float(r.get("y", 0)) + float(r.get("height", 0)))
            for r in group.iter(f"{SVG}rect")
        ]  # fmt: skip
        for text in group.iter(f"{SVG}text"):
            half = columns(text.text or "") * 13 * 0.6 / 2 * (1.25 if text.get("class") == "sb-title" else 1)
            x, y = float(text.get("x", 0)), float(text.get("y", 0))
            assert half <= left + x <= width - half
            assert 10 <= top + y <= height - 4
            home = [r for r in rectangles if r.left < x < r.right and r.top < y < r.bottom]
            assert all(
                r.left <= x - half and x + half <= r.right and y - 10 >= r.top and y + 4 <= r.bottom for r in home
            )
