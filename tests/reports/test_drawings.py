"""The drawings: what they show."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.catalogs import PLAIN, with_domain, with_relation
from support.drawn import CHAIN, arrows, boxes, diagram
from support.profiles import examples

NAMES = ("S", "T", "U", "V")


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


@examples(30)
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
