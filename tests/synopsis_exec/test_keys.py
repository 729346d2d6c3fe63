"""A batch that the executors fold in parts of keys leaves what one fold on the driver leaves, and what SQL says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streambound.criteria import synopsis as synopsis_module
from streambound.synopsis_exec.codegen import job_text
from streambound.synopsis_exec.job import closed as closed_module
from streambound.synopsis_exec.job.closed import closed, how_many
from streambound.synopsis_exec.key_choice import by_key, key_of, no_key_reason
from streambound.synopsis_exec.plan_ir import Plan
from support.apart import Seen, both_ways
from support.choices import Choices, drawn
from support.kernel import loaded
from support.kernel_cases import Case, make_cuts, plan_of
from support.keyed_queries import make_keyed_statement
from support.oracle import Oracle, by_timestamp
from support.profiles import examples
from support.streams import adversarial_rows, small_rows
from support.wide_families import wide


@dataclass(frozen=True)
class Keyed(Case):
    """A case with the number of parts, as so many cuts, a bound, and whether rows that are the same come as one."""

    parts: Sequence[int] = ()
    limit: int | None = None
    grouped: bool = False


def _case(choices: Choices, distinct: bool) -> Keyed:
    """Every stream's key equals every other's, mostly; timestamps are rarely remembered."""
    statements = [make_keyed_statement(choices, distinct) for _ in range(3)]
    statement = next((one for one in statements if not one.windows), statements[-1])
    names = [*statement.catalog["streams"]]
    equal = "".join(f" AND {name}.k = {names[0]}.k" for name in names[1:] if choices.chance(95))
    rows = (adversarial_rows if choices.chance(30) else small_rows)(choices, statement.catalog)
    limit = choices.integer(0, 4) if choices.chance(15) else None
    parts = range(choices.integer(1, 4))
    grouped = choices.chance(30) and not distinct
    return Keyed(statement.sql + equal, statement.catalog, rows, make_cuts(choices, (0, 2), 9), parts, limit, grouped)


def _job(case: Case) -> Any:
    """The job, by key wherever that is possible; None for other queries. It writes encoded values."""
    plan = plan_of(case)
    if plan is None or no_key_reason(plan):
        return None
    job = loaded(job_text(plan, keyed=True))
    job.TYPES, job.TIME_TYPE = dict.fromkeys(job.TYPES, "integer"), "integer"
    return job


def _in_order(seen: Seen) -> Seen:
    """The results of a timestamp in the order of their texts, which is that of keys folded apart."""
    lines = sorted(seen.results.splitlines(), key=lambda line: (json.loads(line)["_ts"], line))
    return replace(seen, results="\n".join(lines))


def _check(case: Keyed) -> list[Seen] | None:
    """What each batch leaves, the same on the driver and in parts of keys; None for what is no example."""
    job = _job(case)
    if job is None:
        return None
    job.SLICE = job.AT_ONCE = 7  # so that a part is folded in several slices
    relations, encoded = case.encoded()
    found = []
    with TemporaryDirectory() as name:
        parts = (case.cuts, case.parts, case.limit, case.grouped and job.IN_COLUMNS)
        for driver, keyed in both_ways(job, Path(name), relations, encoded, *parts):
            assert _in_order(keyed) == _in_order(driver)
            found.append(keyed)
    return found


@pytest.mark.parametrize("distinct", [False, True], ids=["bags", "sets"])
def test_keys_leave_what_the_driver_leaves(distinct: bool) -> None:
    @examples(25)
    @given(drawn(lambda choices: _case(choices, distinct)))
    def check(case: Keyed) -> None:
        assume(_check(case) is not None)

    check()


@pytest.mark.parametrize("families", [False, True], ids=["tables", "families"])
@pytest.mark.parametrize("distinct", [False, True], ids=["bags", "sets"])
def test_a_fixed_sample_equals_sql(distinct: bool, families: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """And it must not be empty. Where that is wanted, one table stands for all sets of streams."""
    if families:
        monkeypatch.setattr(synopsis_module, "MOST_WHOLE", 0)
        monkeypatch.setattr(synopsis_module, "MOST_TABLES", 0)
    counts: Counter[str] = Counter()
    for seed in range(150 if distinct else 90):
        case = replace(_case(Choices.seeded(700 + seed), distinct), limit=None)
        plan = plan_of(case)
        if plan is None or any(bool(branch.families) != families for branch in plan.branches):
            continue
        seen = _check(case)
        if seen is None:
            continue
        lines = [json.loads(line) for batch in seen for line in batch.results.splitlines()]
        expected = Oracle(case.catalog, case.rows).prefix_expected(case.sql)
        assert by_timestamp(lines) == {now: new for now, new in expected.items() if new}, case.sql
        counts["run"] += 1
        counts["kernel of rows"] += not _job(case).IN_COLUMNS
        counts["printed something"] += bool(lines)
        counts["remembered something"] += any(batch.counts[1] for batch in seen)
    assert counts["run"] > 8, counts
    assert counts["printed something"] > 2, counts
    assert counts["remembered something"] > 6, counts
    assert not (distinct or families) or counts["kernel of rows"] > 3, counts


@pytest.mark.parametrize("shape", ["star", "hub of a star", "tree"])
def test_families(shape: str) -> None:
    sql, catalog = wide(shape, 12 if shape != "tree" else 13)
    rows = small_rows(Choices.seeded(5), catalog, 5)
    seen = _check(Keyed(sql, catalog, rows, [2], range(2)))
    assert seen is not None
    assert max(batch.counts[1] for batch in seen) > 20


# --- which queries ----------------------------------------------------------------------------------------------------

KEYS = {"k": "bigint", "l": "bigint", "d": "decimal(30,2)", "x": "double", "s": "string", "ts": "bigint"}
STREAM = {"timestamp": "ts", "columns": KEYS, "domain": {"k": [0, 99], "l": [0, 9], "d": [0, 1], "s": ["a", "b"]}}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}


@cache
def _plan(sql: str) -> Plan:
    plan = plan_of(Case(sql, CATALOG, {}))
    assert plan is not None
    return plan


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT S.k FROM S, T WHERE S.k = T.k", {"S": "k", "T": "k"}),
        ("SELECT S.l FROM S, T WHERE S.l = T.k", {"S": "l", "T": "k"}),
        ("SELECT S.k FROM S, T WHERE S.k = T.k AND S.l = T.l", {"S": "k", "T": "k"}),
        ("SELECT DISTINCT S.d FROM S, T WHERE S.d = T.d AND S.k < T.k", {"S": "d", "T": "d"}),
        ("SELECT DISTINCT S.s FROM S, T WHERE S.s = T.s AND S.x < T.x", {"S": "s", "T": "s"}),
        ("SELECT a.k FROM S a, S b WHERE a.k = b.k AND a.ts > b.ts", {"S": "k"}),
        ("SELECT a.k FROM S a, S b WHERE a.k = b.l AND a.ts > b.ts", None),
        ("SELECT S.k FROM S, T WHERE S.k = T.k + 1", None),
        ("SELECT S.k FROM S, T WHERE S.k = T.k AND T.ts >= S.ts + 5", None),
        ("SELECT S.k FROM S, T WHERE S.k = T.k UNION ALL SELECT S.k FROM S, T WHERE S.k = T.l", None),
        ("SELECT S.k FROM S, T WHERE S.k = T.k UNION ALL SELECT S.l FROM S, T WHERE S.k = T.k", {"S": "k", "T": "k"}),
        ("SELECT S.k FROM S, T WHERE S.k >= T.k", None),
    ],
)
def test_the_key_of_a_query(sql: str, columns: dict[str, str] | None) -> None:
    plan = _plan(sql)
    key = None if no_key_reason(plan) else key_of(plan)
    assert (key and key.columns) == columns


def test_texts_are_no_range() -> None:
    """Though constants on both sides bound them."""
    sql = "SELECT 1 AS one FROM S, T, R WHERE S.s = T.s AND S.s = R.s AND S.ts > T.ts AND S.s >= 'a' AND S.s <= 'q'"
    bare = {**STREAM, "domain": {}}
    relation = {"R": {"columns": {"s": "string"}, "rows": 1000}}
    plan = plan_of(Case(sql, {"streams": {"S": bare, "T": bare}, "relations": relation}, {}))
    assert plan is not None
    assert by_key(plan)


def test_a_union_has_its_key_in_its_results_only_where_all_branches_have_it_in_the_same_place() -> None:
    two = "SELECT S.{} AS x, S.{} AS y FROM S, T WHERE S.k = T.k"
    for first, second, expected in [("kl", "kl", True), ("kl", "lk", False), ("lk", "lk", True), ("ll", "kl", False)]:
        key = key_of(_plan(f"{two.format(*first)} UNION ALL {two.format(*second)}"))
        assert key is not None
        assert key.in_results == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT S.k FROM S, T WHERE S.k = T.k AND S.ts > T.ts", True),
        ("SELECT S.l FROM S, T WHERE S.l = T.l AND S.ts > T.ts", False),  # ten keys
        ("SELECT DISTINCT S.l FROM S, T WHERE S.l = T.l AND S.x < T.x", True),  # which no ranges can do
        ("SELECT S.k FROM S, T WHERE S.k = T.k AND S.ts > T.ts AND S.ts < T.ts + 9", False),  # one pass over ranges
        ("SELECT S.k FROM S", False),
    ],
)
def test_keys_or_ranges_of_time(sql: str, expected: bool) -> None:
    plan = _plan(sql)
    assert by_key(plan) == expected
    assert (" in parts of the values of " in job_text(plan).replace("\n#", "")) == expected


# --- slices -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(1, 9), st.integers(1, 20))
def test_rows_in_order_are_cut_between_timestamps(times: list[int], length: int, size: int) -> None:
    job = loaded(job_text(_plan("SELECT S.k FROM S, T WHERE S.k = T.k"), keyed=True))
    rows = job.no_rows().to_pydict() | {"source": [0] * len(times), "ts": sorted(times)}
    table = pa.table({n: rows[n] or [None] * len(times) for n in rows}, schema=job.no_rows().schema)
    found = [some.column("ts").to_pylist() for some in job.slices_of(iter(table.to_batches(length)), size)]
    assert [time for some in found for time in some] == sorted(times)
    assert all(one[-1] < other[0] for one, other in pairwise(found))
    most = max(Counter(times).values())
    assert all(len(some) <= max(size, 2 * most) + length for some in found)


# --- closed timestamps ------------------------------------------------------------------------------------------------


@given(st.lists(st.sets(st.integers(0, 60), min_size=1), min_size=1), st.sampled_from([1, 2, 60]), st.integers(0, 5))
def test_how_many_timestamps_some_parts_have(parts: list[set[int]], step: int, start: int) -> None:
    found = [closed(np.array(sorted(start + step * place for place in part)), 1 << 10) for part in parts]
    assert how_many(found) == len(set.union(*parts))


def test_timestamps_that_take_too_much_are_not_counted() -> None:
    far = np.array([0, 1, 10**15])
    assert closed(far, 1 << 20).bits is None
    assert how_many([closed(far, 1 << 20)]) is None
    assert how_many([closed(np.array([0]), 1), closed(np.array([10**15 + 1]), 1), closed(np.array([0, 1]), 1)]) is None
    with patch.object(closed_module, "BYTES_OF_TIMES", 1):
        assert how_many([closed(np.array([0, 7]), 1)]) == 2
        assert how_many([closed(np.array([0]), 1), closed(np.array([1, 9]), 1)]) is None
