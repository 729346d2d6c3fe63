"""Time ranges folded apart, then put together in any order, are the sequential fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import assume, given

from streambound.synopsis_exec.codegen import job_text
from streambound.synopsis_exec.range_choice import no_ranges_reason, reach
from support.catalogs import PLAIN
from support.choices import Choices, drawn
from support.columnar import Closed, row_by_row
from support.finite_queries import make_clipped_query, make_finite_query
from support.kernel import loaded
from support.kernel_cases import Case, make_case, make_cuts, plan_of
from support.profiles import examples
from support.queries import EXECUTABLE, Features
from support.ranges import in_ranges
from support.streams import Rows, small_rows

SETS = Features(distinct=100, windows=0, finite=0, unions=0, alternatives=0)
ENDS = Features(windows=0, finite=60, timestamps=0, alternatives=0)
CHAIN = "S.ts > T.ts AND T.ts > U.ts"


@dataclass(frozen=True)
class Ordered(Case):
    """A case with which neighbours among the ranges are put together first."""

    order: Sequence[int] = ()


def _case(choices: Choices, features: Features, hostile: bool = False) -> Ordered:
    case = make_case(choices, features, (1, 4), hostile)
    return Ordered(case.sql, case.catalog, case.rows, case.cuts, [choices.integer(0, 5) for _ in range(3)])


def _check(case: Ordered) -> list[Closed] | None:
    """What every range gives; None for a query that is not folded in ranges."""
    plan = plan_of(case)
    if plan is None or no_ranges_reason(plan) or reach(plan) is not None:
        return None
    job = loaded(job_text(plan))
    relations, encoded = case.encoded()
    expected = row_by_row(job, relations, encoded, case.cuts)
    found, one_by_one, in_any_order = in_ranges(job, relations, encoded, case.cuts, case.order)
    assert found == expected
    if expected:
        last = {name: table for name, table in expected[-1].tables.items() if name != "results"}
        assert one_by_one == in_any_order == last
    return found


@examples(30)
@given(drawn(lambda choices: _case(choices, EXECUTABLE)))
def test_bags(case: Ordered) -> None:
    assume(_check(case) is not None)


@examples(20)
@given(drawn(lambda choices: _case(choices, replace(EXECUTABLE, streams=4, alternatives=0), hostile=True)))
def test_hostile_streams(case: Ordered) -> None:
    assume(_check(case) is not None)


@examples(20)
@given(drawn(lambda choices: _case(choices, SETS)))
def test_sets_in_ranges(case: Ordered) -> None:
    assume(_check(case) is not None)


def _finite_case(choices: Choices) -> Ordered:
    query = (make_clipped_query if choices.chance(50) else make_finite_query)(choices)
    rows = small_rows(choices, query.catalog)
    cuts = make_cuts(choices, (1, 4), 9)
    return Ordered(query.sql, query.catalog, rows, cuts, [choices.integer(0, 5) for _ in range(3)])


@examples(15)
@given(drawn(_finite_case))
def test_values_between_those_of_finite_streams(case: Ordered) -> None:
    assume(case.rows["S"] or case.rows["F"])
    assume(_check(case) is not None)


@examples(15)
@given(drawn(lambda choices: _case(choices, ENDS)))
def test_streams_that_end(case: Ordered) -> None:
    assume(_check(case) is not None)


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT S.a, T.b FROM S, T, U WHERE {CHAIN} AND S.a > T.b AND T.b BETWEEN 0 AND 3",
        f"SELECT U.a FROM S, T, U WHERE {CHAIN} AND U.a BETWEEN 0 AND 3 AND T.b > U.b AND T.b < 4 AND U.b > 0",
        f"SELECT DISTINCT U.a FROM S, T, U WHERE {CHAIN} AND U.a BETWEEN 0 AND 3 AND T.b = U.b AND U.b BETWEEN 0 AND 4",
        f"SELECT S.b FROM S, T, U, V WHERE {CHAIN} AND V.ts < U.ts AND V.a = T.a AND V.a BETWEEN 0 AND 3 "
        "AND S.a >= U.b AND U.b BETWEEN 0 AND 3",
        "SELECT S.a, T.a AS ta FROM S, T WHERE S.a BETWEEN 0 AND 2 AND T.a BETWEEN 0 AND 2 AND S.b = T.b "
        "AND S.b BETWEEN 0 AND 3",
    ],
)
def test_long_streams_in_many_ranges(sql: str) -> None:
    choices = Choices.seeded(11)
    names = [name for name in PLAIN["streams"] if f"{name}.ts" in sql or f"{name}." in sql]
    rows: Rows = {
        name: [
            {"a": choices.integer(0, 4), "b": choices.integer(-1, 5), "ts": now}
            for now in range(60)
            for _ in range(choices.integer(0, 2))
        ]
        for name in names
    }
    for cuts in ([30], [5, 6, 20, 41, 59], range(1, 60, 4)):
        counts: Counter[str] = Counter()
        for closed in _check(Ordered(sql, PLAIN, rows, cuts, [3, 0, 7])) or []:
            counts["results"] += len(closed.results)
            counts["ranges"] += 1
        assert counts["results"] > (3 if "DISTINCT" in sql else 30)
        assert counts["ranges"] >= len(cuts)
