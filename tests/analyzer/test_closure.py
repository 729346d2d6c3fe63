"""P+ and the facts of a branch against enumeration of the rows that satisfy its conditions."""

from itertools import product

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Sort, close, implied
from streambound.analyzer.query import Attribute, Branch, Comparison, Op
from streambound.preprocess.normalise import normalise
from support.cases import query_of

HOLDS = {"<": int.__lt__, "<=": int.__le__, "=": int.__eq__, ">=": int.__ge__, ">": int.__gt__, "<>": int.__ne__}
BOX = range(-9, 10)
COLUMNS = ("S.a", "S.b", "T.a")
Condition = tuple[str, str, str | None, int]
Point = dict[str, int]


def branch_of(where: str, select: str = "1 AS one", tables: str = "S, T") -> Branch:
    (branch,) = query_of(f"SELECT {select} FROM {tables} WHERE {where or 'TRUE'}").branches
    return replace(branch, where=normalise(branch.where))


def sql(condition: Condition) -> str:
    left, op, right, c = condition
    return f"{left} {op} {c}" if right is None else f"{left} {op} {right} + {c}"


def holds(condition: Condition, point: Point) -> bool:
    left, op, right, c = condition
    return HOLDS[op](point[left], c + (point[right] if right is not None else 0))


def attribute(name: str) -> Attribute:
    source, _, column = name.partition(".")
    return Attribute(source, column)


column = st.sampled_from(COLUMNS)
op = st.sampled_from(list(HOLDS))
conditions = st.tuples(column, op, st.none() | column, st.integers(-1, 2))
systems = st.lists(conditions, max_size=5)


def solutions(system: list[Condition]) -> list[Point]:
    points = (dict(zip(COLUMNS, values, strict=True)) for values in product(BOX, repeat=3))
    return [point for point in points if all(holds(condition, point) for condition in system)]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(systems, conditions)
@example([("S.a", "<=", None, 2), ("S.a", "<>", None, 2)], ("S.a", "<=", None, 1))
@example([("S.a", ">", "S.b", 2)], ("S.a", "<", None, 0))
@example([("S.a", "<", "S.a", 0)], ("S.a", "=", None, 1))
@example([("S.a", "<=", "S.b", 0), ("S.a", "<>", "S.b", 0)], ("S.a", "<", "S.b", 0))
@example([("S.a", ">=", None, 1), ("S.a", "<", None, 2), ("S.b", "=", "S.a", 1)], ("S.b", "=", None, 2))
def test_closure_of_integers(system: list[Condition], asked: Condition) -> None:
    closure = close(branch_of(" AND ".join(map(sql, system))))
    found = solutions(system)
    without_unequal = all(condition[1] != "<>" for condition in system)
    if found:
        assert closure.satisfiable
    elif without_unequal:
        assert not closure.satisfiable
    if not closure.satisfiable or not found:
        return
    for name in {n for left, _, right, _ in system for n in (left, right) if n is not None}:
        low, high = closure.interval(attribute(name))
        values = [point[name] for point in found]
        assert (low is None or low <= min(values)) and (high is None or max(values) <= high)
        inner = [point[name] for point in found if all(abs(value) < BOX[-1] for value in point.values())]
        if without_unequal and inner:  # a bound that moves with the box is none of the conditions'
            assert high == (max(values) if max(values) == max(inner) else None)
            assert low == (min(values) if min(values) == min(inner) else None)
    left, operator, right, c = asked
    mentioned = {name for first, _, second, _ in system for name in (first, second)}
    if left in mentioned and (right is None or right in mentioned):
        atom = Comparison(attribute(left), Op(operator), attribute(right) if right else None, c)
        if implied(closure, atom):
            assert all(holds(asked, point) for point in found)
        elif without_unequal and operator != "<>":
            assert not all(holds(asked, point) for point in found)


def test_an_attribute_that_may_be_null_implies_nothing() -> None:
    closure = close(branch_of("S.a > 1", "S.f"))
    assert implied(closure, Comparison(Attribute("S", "a"), Op.GT, None, 0))
    assert not implied(closure, Comparison(Attribute("S", "f"), Op.GE, None, 0))


@pytest.mark.parametrize(
    ("where", "atom", "expected"),
    [
        ("S.s = 'm'", ("<>", "a"), True),
        ("S.s = 'm'", (">", "a"), True),
        ("S.s = 'm'", ("<", "z"), True),
        ("S.s = 'm'", ("=", "a"), False),
        ("S.s > 'm'", (">", "m"), True),
        ("S.s > 'm'", (">=", "m"), True),
        ("S.s > 'm'", (">", "z"), False),
        ("S.s > 'm'", ("<>", "b"), True),
        ("S.s > 'm' AND S.s < 'p'", ("<>", "n"), False),
        ("S.s <= 'm' AND S.s <> 'm'", ("<", "m"), True),
        ("S.s = 'é'", (">", "z"), True),
    ],
)
def test_strings_are_ordered_by_their_bytes(where: str, atom: tuple[str, str], expected: bool) -> None:
    closure = close(branch_of(where))
    assert implied(closure, Comparison(Attribute("S", "s"), Op(atom[0]), None, atom[1])) is expected


@pytest.mark.parametrize(
    ("where", "satisfiable"),
    [
        ("S.x > 1 AND S.x < 2", True),
        ("S.x > 1 AND S.x <= 1", False),
        ("S.x <= 1 AND S.x >= 1 AND S.x <> 1", False),
        ("S.a > 1 AND S.a < 2", False),
        ("S.d > 1 AND S.d < 1.01", False),
        ("S.d > 1 AND S.d < 1.02", True),
        ("S.day > DATE '2020-02-28' AND S.day < DATE '2020-02-29'", False),
        ("S.f <> TRUE AND S.f <> FALSE", False),
        ("S.f > FALSE AND NOT S.f", False),
        ("S.s > 'a' AND S.s < 'a'", False),
        ("S.s > 'a' AND S.s < 'ab'", True),
        ("S.s = T.s AND S.s = 'x' AND T.s = 'y'", False),
        ("S.ts < 0", False),
        ("S.ts < 1", True),
        ("S.ts < T.ts AND T.ts < S.ts + 2", True),
        ("S.ts < T.ts AND T.ts < S.ts + 1", False),
        ("S.a IS NULL AND S.a < 1", False),
        ("S.a IS NULL AND S.b < 1", True),
        ("S.a IS NULL AND S.a IS NOT NULL", False),
        ("S.a = 2.5", False),
        ("FALSE", False),
    ],
)
def test_satisfiable(where: str, satisfiable: bool) -> None:
    assert close(branch_of(where)).satisfiable is satisfiable


# --- boundedness, by watching whether more room gives more values -----------------------------------------------

RELATION = range(0, 3)
NAMES = ("S.a", "T.a", "R.a")
facts_conditions = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(["<", "<=", "=", ">"]),
        st.none() | st.sampled_from(NAMES),
        st.integers(-1, 1),
    ),
    max_size=4,
)


def rows(system: list[Condition], reach: int) -> list[Point]:
    spans = [RELATION if name.startswith("R") else range(-reach, reach + 1) for name in NAMES]
    points = (dict(zip(NAMES, values, strict=True)) for values in product(*spans))
    return [point for point in points if all(holds(condition, point) for condition in system)]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(facts_conditions)
@example([("S.a", "<", "R.a", 0), ("S.a", ">", None, 0)])
@example([("S.a", "=", "T.a", 1), ("T.a", "<", "R.a", 0)])
@example([("S.a", "<", "T.a", 0), ("S.a", ">", None, 0), ("T.a", "<", None, 1)])
def test_boundedness(system: list[Condition]) -> None:
    branch = branch_of(" AND ".join(map(sql, system)), "S.a, T.a, R.a", "S, T, R")
    facts = Facts.of(branch)
    small, large = rows(system, 12), rows(system, 16)
    assume(facts.closure.satisfiable and small)
    for name in ("S.a", "T.a"):
        above = max(p[name] for p in small) == max(p[name] for p in large)
        below = min(p[name] for p in small) == min(p[name] for p in large)
        assert facts.bounded_above(attribute(name)) == above
        assert facts.bounded_below(attribute(name)) == below
        assert facts.bounded(attribute(name)) == (above and below)
    for join in facts.joins:
        if {join.attribute.source, join.other.source} == {"S", "T"}:
            for own in (join.attribute, join.other):
                grows = outcomes(facts, join, own, small) != outcomes(facts, join, own, large)
                if facts.harmless(own, join):
                    assert not grows, f"{own} is not harmless"


def outcomes(facts: Facts, join: object, own: Attribute, points: list[Point]) -> int:
    """How many values of an attribute a join tells apart: those with different outcomes for the partners there are."""
    less, more = join.attribute, join.other  # type: ignore[attr-defined]
    matrix, i = facts.closure.node(less)
    bound = matrix.bound(i, facts.closure.nodes[more][1])
    assert bound is not None
    other = more if own == less else less
    partners = sorted({point[str(other)] for point in points})
    sign = 1 if own == less else -1
    return len({tuple(sign * (v - w) <= bound for w in partners) for v in {point[str(own)] for point in points}})


@pytest.mark.parametrize(
    ("where", "lags", "finite"),
    [
        ("S.ts > T.ts", {"S": (), "T": ("S",)}, {}),
        ("S.ts > T.ts AND S.ts < T.ts + 5", {"S": (), "T": ()}, {}),
        ("S.ts = T.ts", {"S": (), "T": ()}, {}),
        ("S.a = T.a", {"S": ("T",), "T": ("S",)}, {}),
        ("S.ts < 7 AND T.ts > 3", {"S": ("T",), "T": ()}, {"S": 6}),
        ("S.ts <= T.ts + 2 AND T.ts < 3", {"S": (), "T": ()}, {"S": 4, "T": 2}),
    ],
)
def test_later_and_finite_streams(where: str, lags: dict[str, tuple[str, ...]], finite: dict[str, int]) -> None:
    facts = Facts.of(branch_of(where))
    assert facts.later == lags
    assert facts.finite_streams == finite


@pytest.mark.parametrize(
    ("column", "where", "bounded"),
    [
        ("S.a", "S.a > 0 AND S.a < 9", True),
        ("S.a", "S.a > 0", False),
        ("S.x", "S.x > 0 AND S.x < 9", False),
        ("S.x", "S.x = 3", True),
        ("S.s", "S.s > 'a' AND S.s < 'b'", False),
        ("S.s", "S.s = 'a'", True),
        ("S.s", "S.s = R.name", True),
        ("S.s", "S.s <= R.name AND S.s >= R.name", True),
        ("S.f", "TRUE", True),
        ("S.d", "S.d > 0 AND S.d < 9", True),
        ("T.n", "T.n > 0 AND T.n < 9", False),
        ("S.day", "S.day > DATE '2020-01-01' AND S.day < DATE '2021-01-01'", True),
        ("S.a", "S.a IS NULL", True),
        ("R.a", "TRUE", True),
        ("T.a", "T.ts < 5", True),
    ],
)
def test_bounded_by_type(column: str, where: str, bounded: bool) -> None:
    facts = Facts.of(branch_of(where, column, "S, T, R"))
    assert facts.bounded(attribute(column)) is bounded


def test_an_order_is_added_and_the_old_closure_stays() -> None:
    closure = close(branch_of("S.a > 0", "S.b"))
    a, b = Attribute("S", "a"), Attribute("S", "b")
    less = closure.with_less(b, a, strict=True).with_less(a, None, strict=False, offset=4)
    assert less.interval(b) == (None, 3) and less.implies_less(b, a)
    assert closure.interval(b) == (None, None) and closure.interval(a) == (1, None)
    assert less.with_greater(b, True, 3).satisfiable is False
    assert less.with_greater(b, False, 3).equal(a, b)
    assert closure.sort(a) is Sort.DISCRETE
