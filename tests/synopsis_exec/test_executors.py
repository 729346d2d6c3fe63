"""A batch that the executors fold in ranges of time leaves what one fold on the driver leaves, and what SQL says.

So it does where rows that are the same come as one with a count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given

from streambound.synopsis_exec.codegen import job_text
from streambound.synopsis_exec.range_choice import no_ranges_reason
from support.apart import Seen, both_ways
from support.catalogs import PLAIN
from support.choices import Choices, drawn
from support.kernel import loaded
from support.kernel_cases import Case, make_case, plan_of
from support.oracle import Oracle, by_timestamp
from support.profiles import examples
from support.queries import EXECUTABLE, Features
from support.streams import Rows

BAGS = replace(EXECUTABLE, windows=0)
WINDOWS = Features(windows=100, finite=20, timestamps=0)
SETS = Features(distinct=100, windows=30)


@dataclass(frozen=True)
class Spread(Case):
    """A case with the places where ranges begin, a bound, and whether rows that are the same come as one."""

    ranges: Sequence[int] = ()
    limit: int | None = None
    grouped: bool = False


def _case(choices: Choices, features: Features, hostile: bool = False) -> Spread:
    case = make_case(choices, features, (0, 2), hostile)
    ranges = [choices.integer(1, 12) for _ in range(choices.integer(1, 5))]
    limit = choices.integer(0, 4) if choices.chance(20) else None
    rows = case.rows
    if grouped := choices.chance(40):  # with rows that are the same
        rows = {name: [row for row in some for _ in range(choices.integer(1, 3))] for name, some in rows.items()}
    return Spread(case.sql, case.catalog, rows, case.cuts, ranges, limit, grouped)


def _job(case: Case) -> Any:
    """The job; None for a query whose batches all go to the driver, or that no job runs. It writes encoded values."""
    plan = plan_of(case)
    if plan is None or no_ranges_reason(plan):
        return None
    job = loaded(job_text(plan))
    job.TYPES, job.TIME_TYPE = dict.fromkeys(job.TYPES, "integer"), "integer"
    return job


def _check(case: Spread) -> list[Seen] | None:
    """What each batch leaves, the same on the driver and in ranges; None for what is no example."""
    job = _job(case)
    if job is None:
        return None
    relations, encoded = case.encoded()
    found = []
    with TemporaryDirectory() as name:
        parts = (case.cuts, case.ranges, case.limit, case.grouped)
        for driver, spread in both_ways(job, Path(name), relations, encoded, *parts):
            assert spread == driver
            found.append(spread)
    return found


@pytest.mark.parametrize("features", [BAGS, WINDOWS, SETS], ids=["bags", "windows", "sets"])
def test_ranges_leave_what_the_driver_leaves(features: Features) -> None:
    @examples(15)
    @given(drawn(lambda choices: _case(choices, features)))
    def check(case: Spread) -> None:
        assume(_check(case) is not None)

    check()


@examples(12)
@given(drawn(lambda choices: _case(choices, replace(EXECUTABLE, streams=4, alternatives=0), hostile=True)))
def test_ranges_of_hostile_streams(case: Spread) -> None:
    assume(_check(case) is not None)


@pytest.mark.parametrize("features", [BAGS, WINDOWS, SETS], ids=["bags", "windows", "sets"])
def test_a_fixed_sample_equals_sql(features: Features) -> None:
    """And it must not be empty."""
    counts: Counter[str] = Counter()
    for seed in range(24):
        case = replace(_case(Choices.seeded(9000 + seed), features), limit=None)
        seen = _check(case)
        if seen is None:
            continue
        lines = [json.loads(line) for batch in seen for line in batch.results.splitlines()]
        expected = Oracle(case.catalog, case.rows).prefix_expected(case.sql)
        assert by_timestamp(lines) == {now: new for now, new in expected.items() if new}, case.sql
        counts["run"] += 1
        counts["printed something"] += bool(lines)
        counts["remembered something"] += any(batch.counts[1] for batch in seen)
    assert counts["run"] > 3, counts
    assert counts["printed something"] > 0, counts
    assert counts["remembered something"] > 0, counts


CHAIN = "S.ts > T.ts AND T.ts > U.ts"
LONG = {
    "a chain": f"SELECT S.a, T.b FROM S, T, U WHERE {CHAIN} AND S.a > T.b AND T.b BETWEEN 0 AND 3",
    "windows": "SELECT S.a FROM S, T, U WHERE S.ts >= T.ts AND S.ts <= T.ts + 3 AND U.ts >= S.ts AND U.ts <= S.ts + 2 "
    "AND S.a = T.a AND U.a = S.a",
    "a set": f"SELECT DISTINCT U.a FROM S, T, U WHERE {CHAIN} AND U.a BETWEEN 0 AND 3 AND T.b = U.b "
    "AND U.b BETWEEN 0 AND 4",
    "a set with windows": "SELECT DISTINCT S.a FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 2 AND S.a = T.a "
    "AND S.a BETWEEN 0 AND 4",
    "an end": "SELECT S.a FROM S, T WHERE S.a BETWEEN 0 AND 3 AND S.a = T.a AND T.ts <= 20",
    "no tables": "SELECT S.a FROM S WHERE S.b > 1",
}  # fmt: skip


def _long(seed: int) -> Rows:
    choices = Choices.seeded(seed)
    return {
        name: [
            {"a": choices.integer(0, 4), "b": choices.integer(-1, 5), "s": None, "ts": now}
            for now in range(60)
            for _ in range(choices.integer(0, 2))
        ]
        for name in PLAIN["streams"]
    }


@cache
def _unbounded_steps(name: str) -> int:
    seen = _check(Spread(LONG[name], PLAIN, _long(3), [25], [], None)) or []
    return max(batch.counts[1] for batch in seen)


@pytest.mark.parametrize("name", LONG)
def test_rows_as_counts(name: str) -> None:
    rows = {stream: [row for row in some for _ in range(1 + row["a"] % 3)] for stream, some in _long(4).items()}
    seen = _check(Spread(LONG[name], PLAIN, rows, [25], [7, 19], None, True))
    assert seen is not None
    assert sum(batch.results.count("\n") for batch in seen) > (3 if "set" in name else 8)


@pytest.mark.parametrize("ranges", [[30], [5, 6, 20, 33], range(1, 60, 4)], ids=["2", "5", "15"])
@pytest.mark.parametrize("name", LONG)
def test_long_batches_in_many_ranges(name: str, ranges: Sequence[int]) -> None:
    """All results, all counts, the tables; and the same error at the same timestamp where M is too small."""
    seen = _check(Spread(LONG[name], PLAIN, _long(3), [25], ranges, None))
    assert seen is not None
    assert len(seen) == 2
    assert sum(batch.results.count("\n") for batch in seen) > (3 if "set" in name else 8)
    most = max(batch.counts[1] for batch in seen)
    assert most == _unbounded_steps(name)
    for limit in range(max(0, most - 3), most):
        stopped = _check(Spread(LONG[name], PLAIN, _long(3), [25], ranges, limit))
        assert stopped is not None
        assert f"more than its bound M = {limit}" in stopped[-1].stopped


def test_a_result_with_too_many_duplicates_stops_the_job() -> None:
    sql = "SELECT 1 AS one FROM S, T WHERE S.ts > T.ts"
    rows = {"T": [{"ts": now} for now in range(9)], "S": [{"ts": 12}]}
    job = _job(Case(sql, PLAIN, rows))
    job.MOST = 6
    with TemporaryDirectory() as name:
        ((driver, spread),) = both_ways(job, Path(name), {}, rows, [], [3, 6, 9])
    assert driver == spread
    assert spread.stopped == "a result at timestamp 12 has more than 6 duplicates"
