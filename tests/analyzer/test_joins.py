"""The joins of a branch against their definition, pair by pair."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from hypothesis import assume, example, given
from hypothesis import strategies as st

from analyzer.boundedness import Facts
from analyzer.catalog import Kind
from analyzer.closure import Sort
from analyzer.query import Attribute
from preprocess.normalise import normalise
from tests.support.cases import query_of
from tests.support.profiles import examples

COLUMNS = ("S.a", "S.b", "T.a", "R.a", "U.a", "U.b")
column = st.sampled_from(COLUMNS)
conditions = st.tuples(column, st.sampled_from(["<", "<=", "="]), st.none() | column, st.integers(-1, 2))


def facts_of(system: list[tuple[str, str, str | None, int]], ends: bool) -> Facts:
    """The facts of some conditions; ``ends`` says that the stream T does."""
    parts = [f"{x} {op} {c}" if y is None else f"{x} {op} {y} + {c}" for x, op, y, c in system]
    parts += ["T.ts < 9"] * ends
    tables = "S, T, R, S AS U"
    (branch,) = query_of(f"SELECT {', '.join(COLUMNS)} FROM {tables} WHERE {' AND '.join(parts)}").branches
    return Facts.of(replace(branch, where=normalise(branch.where)))


@examples(300)
@given(st.lists(conditions, min_size=2, max_size=8), st.booleans())
@example([("S.a", "=", "R.a", 0), ("R.a", "=", "T.a", 0)], False)
@example([("S.a", "<", "R.a", 0), ("R.a", "<", "T.a", 0), ("S.a", "<", "T.a", 2)], False)
@example([("S.a", "=", "T.a", 1), ("T.a", "=", "U.a", 0), ("S.b", "<", "S.a", 0)], False)
@example([("S.a", "=", "T.a", 1), ("T.a", "=", "U.a", 0), ("S.b", "<", "S.a", 0)], True)
@example([("U.a", "=", "T.a", 1), ("S.b", "<", "U.a", 0)], True)
@example([("S.a", "=", None, 1), ("S.a", "<", "T.a", 0)], False)
def test_joins_are_the_bounds_that_follow_from_nothing_else(
    system: list[tuple[str, str, str | None, int]], ends: bool
) -> None:
    facts = facts_of(system, ends)
    assume(facts.closure.satisfiable)
    matrix, nodes = facts.closure.bounds[Sort.DISCRETE], facts.closure.nodes
    attributes = facts.closure.attributes(Sort.DISCRETE)
    relations = [a for a in attributes if facts.branch.source(a.source).kind is Kind.RELATION]
    static = [*relations, *(a for a in attributes if a.source == "T" and ends)]

    def follows(x: Attribute, middle: Attribute | None, y: Attribute) -> bool:
        node = nodes[middle][1] if middle else 0
        return matrix.implied_through(nodes[x][1], node, nodes[y][1])

    def equals(x: Attribute) -> list[Attribute]:
        return [m for m in attributes if facts.closure.equal(x, m)]

    def stands(x: Attribute, y: Attribute) -> bool:
        closure = facts.closure
        others = [m for m in attributes if not closure.equal(x, m) and not closure.equal(m, y)]
        between_streams = x not in relations and y not in relations
        between_infinite = x not in static and y not in static
        shared = {m.source for m in equals(x)} & {m.source for m in equals(y)} and not closure.equal(x, y)
        return (
            x.source != y.source
            and x == min(m for m in equals(x) if m.source == x.source)
            and y == min(m for m in equals(y) if m.source == y.source)
            and not shared
            and matrix.finite(nodes[x][1], nodes[y][1])
            and not any(follows(x, m, y) for m in (None, *others))
            and not (between_streams and any(follows(x, r, y) for r in relations))
            and not (between_infinite and any(follows(x, f, y) for f in static))
        )

    expected = [(x, y) for x, y in permutations(attributes, 2) if stands(x, y)]
    assert [(join.attribute, join.other) for join in facts.joins] == expected
    assert all(join.equality == facts.closure.equal(join.attribute, join.other) for join in facts.joins)
    for own in attributes:
        assert facts.joins_on.get(own, ()) == tuple(j for j in facts.joins if own in (j.attribute, j.other))
        same = facts.alike(own)
        assert set(same) == {
            y for y in attributes if y == own or (facts.closure.equal(own, y) and own in facts.closure.compared)
        }
