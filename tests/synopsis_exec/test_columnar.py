"""The kernel of columns returns and keeps what the kernel of rows does, and what SQL says, whatever the batches are."""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from synopsis_exec.test_kernel import kernel_of, stream

from streambound.synopsis_exec.codegen import job_text
from support.catalogs import PLAIN
from support.choices import Choices, drawn
from support.columnar import Closed, columns_of, in_columns, listed, row_by_row
from support.finite_queries import make_clipped_query, make_finite_query
from support.kernel import _kernel, job_of
from support.kernel_cases import Case, make_case, make_cuts, plan_of
from support.oracle import Oracle
from support.product import decided
from support.profiles import examples
from support.queries import EXECUTABLE, Features
from support.streams import Rows, adversarial_rows, small_rows

WINDOWS = Features(windows=70, finite=30, timestamps=0)
SETS = Features(distinct=100, windows=30)


def _case(choices: Choices, features: Features, hostile: bool = False) -> Case:
    return make_case(choices, features, (0, 4), hostile)


def _job(case: Case) -> Any:
    """The job; None for a query that no job runs, or only row by row."""
    plan = plan_of(case)
    job = plan and _kernel(job_text(plan))
    return job if job and job.IN_COLUMNS else None


def _run(case: Case) -> tuple[list[Closed], list[Closed]] | None:
    """What both kernels give."""
    job = _job(case)
    if job is None:
        return None
    relations, encoded = case.encoded()
    return row_by_row(job, relations, encoded, case.cuts), in_columns(job, relations, encoded, case.cuts)


def _check(case: Case) -> None:
    """Both kernels give the same for a query that runs; another one is no example."""
    ran = _run(case)
    assume(ran is not None)
    assert ran is not None
    assert ran[1] == ran[0]


def _same(case: Case) -> list[Closed]:
    ran = _run(case)
    assert ran is not None
    assert ran[1] == ran[0]
    return ran[1]


@examples(40)
@given(drawn(lambda choices: _case(choices, Features())))
def test_both_kernels_agree(case: Case) -> None:
    _check(case)


@examples(40)
@given(drawn(lambda choices: _case(choices, WINDOWS)))
def test_both_kernels_agree_on_windows_and_ends(case: Case) -> None:
    _check(case)


def _finite_case(choices: Choices) -> Case:
    query = (make_clipped_query if choices.chance(50) else make_finite_query)(choices)
    rows = (adversarial_rows if choices.chance(40) else small_rows)(choices, query.catalog)
    return Case(query.sql, query.catalog, rows, make_cuts(choices, (0, 3), 9))


@examples(30)
@given(drawn(_finite_case))
def test_both_kernels_agree_on_values_between_those_of_finite_streams(case: Case) -> None:
    _check(case)


@examples(40)
@given(drawn(lambda choices: _case(choices, SETS)))
def test_both_kernels_agree_on_sets(case: Case) -> None:
    _check(case)


@examples(30)
@given(drawn(lambda choices: _case(choices, replace(EXECUTABLE, streams=3), hostile=True)))
def test_both_kernels_agree_on_hostile_streams(case: Case) -> None:
    _check(case)


@pytest.mark.parametrize("dense", [0, 1 << 16])
@pytest.mark.parametrize("features", [EXECUTABLE, WINDOWS, SETS], ids=["bags", "windows", "sets"])
def test_a_fixed_sample_equals_sql(monkeypatch: pytest.MonkeyPatch, dense: int, features: Features) -> None:
    """With joins a few pairs at a time, with and without arrays that codes index; and it must not be empty."""
    counts: Counter[str] = Counter()
    for seed in range(16):
        case = _case(Choices.seeded(3000 + seed), features)
        job = _job(case)
        if job is None:
            continue
        monkeypatch.setattr(job, "PAIRS", 3)
        monkeypatch.setattr(job, "DENSE", dense)
        relations, encoded = case.encoded()
        closed = in_columns(job, relations, encoded, case.cuts)
        printed: dict[int, Counter[tuple[Any, ...]]] = {}
        for now, values, n in (result for batch in closed for result in batch.results):
            printed.setdefault(now, Counter())[values] += n
        expected = Oracle(case.catalog, case.rows).prefix_expected(case.sql)
        assert printed == {now: new for now, new in expected.items() if new}, case.sql
        counts["run"] += 1
        counts["printed something"] += bool(printed)
        counts["remembered something"] += any(batch.peak for batch in closed)
    assert counts["run"] > 8, counts
    assert counts["printed something"] > 0.3 * counts["run"], counts
    assert counts["remembered something"] > 0.3 * counts["run"], counts


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT S.a, T.b FROM S, T WHERE S.ts > T.ts AND S.a = T.a AND T.a BETWEEN 0 AND 9 AND T.b BETWEEN 0 AND 4",
        "SELECT S.a, T.b FROM S, T, U WHERE S.ts > T.ts AND T.ts > U.ts AND S.a > T.b AND T.b BETWEEN 0 AND 3",
        "SELECT S.a FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 40 AND S.a = T.a",
        "SELECT S.a FROM S, T, U WHERE S.ts >= T.ts AND S.ts <= T.ts + 9 AND U.ts >= S.ts AND U.ts <= S.ts + 9 "
        "AND S.a = T.a AND U.a = S.a",
        "SELECT S.a FROM S, T WHERE S.ts > T.ts + 30 AND S.a >= T.a AND T.a BETWEEN 0 AND 4",
    ],
)
def test_long_batches(sql: str) -> None:
    """Enough rows for every way to look multiplicities up."""
    choices = Choices.seeded(5)
    rows: Rows = {
        name: [
            {"a": choices.integer(0, 9), "b": choices.integer(-1, 5), "ts": now}
            for now in range(400)
            for _ in range(choices.integer(0, 2 if name == "T" else 1))
        ]
        for name in PLAIN["streams"]
    }
    for cuts in ([], [150, 151, 300]):
        closed = _same(Case(sql, PLAIN, rows, cuts))
        assert sum(len(batch.results) for batch in closed) > 40


def test_counts_beyond_64_bits_are_exact_and_results_stop_the_job() -> None:
    names = [f"x{i}" for i in range(1, 4)]
    order = " AND ".join(f"{a}.ts < {b}.ts" for a, b in pairwise(names))
    job = kernel_of(f"SELECT 1 AS one FROM {', '.join(f'S {name}' for name in names)} WHERE {order}")
    state = {"{x1}": [[[], 2**63 - 3]], "{x1, x2}": [[[], 2**63 - 2]]}
    rows = {5: {"S": stream((5, 1))}, 6: {"S": stream((6, 1), (6, 2))}, 7: {"S": stream((7, 1))}}

    def columns(*times: int) -> Any:
        values = [row for now in times for row in rows[now]["S"]]
        time, null = job.column_of([row["ts"] for row in values], False)
        assert null is None
        return {"S": job.Rows(time, {}, {}, {})}

    kernel, reference = job.Columnar({}), job.Synopsis({})
    kernel.load(state)
    reference.load(state)
    assert kernel.fold(columns(5)).n.tolist() == [2**63 - 2] == [n for _, n in reference.close(5, rows[5])]
    assert kernel.dump() == reference.dump() == {"{x1}": [[[], 2**63 - 2]], "{x1, x2}": [[[], 2**64 - 5]]}
    with pytest.raises(OverflowError, match="timestamp 6 has more than 9223372036854775807 duplicates"):
        kernel.fold(columns(6, 7))


@pytest.mark.parametrize("counters", ["bigint", "decimal"])
def test_results_beyond_64_bits_need_decimal_counters(counters: str) -> None:
    """Rows alone bring counts of T beside U to 2^66: a row of each, of which there are many in what was remembered."""
    sql = "SELECT S.a FROM S, T, U WHERE S.ts > T.ts AND S.ts > U.ts AND 0 <= S.a AND S.a < 3"
    job = _kernel(job_of(decided(sql, catalog := {**PLAIN, "counters": counters}), catalog))
    state = {name: [] for name in job.Synopsis({}).dump()} | {"{T}": [[[], 2**40]], "{U}": [[[], 2**26 - 1]]}
    state["{T, U}"] = [[[], 2**40 * (2**26 - 1)]]
    rows = {now: {"S": stream((now, 1), (now, 2), (now, 1)), "T": [], "U": stream((now, 0))} for now in (5, 6)}
    reference, kernel = job.Synopsis({}), job.Columnar({})
    reference.load(state)
    kernel.load(state)
    batch = {
        source.name: columns_of(job, source, [row for now in rows for row in rows[now][source.name]])
        for source in job.STREAMS
    }
    if counters == "bigint":
        with pytest.raises(OverflowError, match="timestamp 5 has more than 9223372036854775807 duplicates"):
            kernel.fold(batch)
        with pytest.raises(OverflowError, match="more than 9223372036854775807 duplicates"):
            reference.close(5, rows[5])
        return
    found = kernel.fold(batch)
    expected = [(now, tuple(row.values()), n) for now in rows for row, n in reference.close(now, rows[now])]
    before, after = 2**40 * (2**26 - 1), 2**66
    assert list(listed(found)) == expected == [
        (5, (1,), 2 * before), (5, (2,), before), (6, (1,), 2 * after), (6, (2,), after),
    ]  # fmt: skip
    assert kernel.dump() == reference.dump()
    file = io.StringIO()
    assert job.write_results(file, found, "count") == 4
    assert [json.loads(line) for line in file.getvalue().splitlines()] == [
        {"a": a, "_ts": now, "_mult": n} for now, (a,), n in expected
    ]


def test_values_at_the_ends_of_64_bits_do_not_wrap() -> None:
    sql = "SELECT S.a, T.a AS ta FROM S, T WHERE S.ts > T.ts AND S.a > T.a + 5 AND T.a >= T.b - 7"
    domain = {"a": [-(2**63), 2**63 - 1], "b": [-(2**63), 2**63 - 1]}
    declared = {**PLAIN, "streams": {name: {**body, "domain": domain} for name, body in PLAIN["streams"].items()}}
    ends = (-(2**63), 1 - 2**63, 0, 2**63 - 2, 2**63 - 1)
    some = [{"a": a, "b": b, "ts": now} for now in (0, 1) for a in ends for b in ends]
    closed = _same(Case(sql, declared, {"S": some, "T": some}, [1]))
    wanted = Counter(
        (x["a"], y["a"]) for x in some for y in some
        if x["ts"] > y["ts"] and x["a"] > y["a"] + 5 and y["a"] >= y["b"] - 7
    )  # fmt: skip
    assert {values: n for batch in closed for _, values, n in batch.results} == wanted


def test_what_is_not_a_count_is_closed_row_by_row() -> None:
    job = kernel_of("SELECT DISTINCT T.a FROM S, T WHERE S.ts > T.ts AND T.b < S.b AND T.a BETWEEN 0 AND 2")
    assert not job.IN_COLUMNS
    choices = Choices.seeded(2)
    rows = {
        name: [{"a": choices.integer(0, 3), "b": choices.integer(0, 30), "s": None, "ts": now} for now in range(20)]
        for name in "ST"
    }
    expected = row_by_row(job, {}, rows, [9])
    kernel, found = job.Kernel({}), []
    for start, stop in ((0, 9), (9, 20)):
        mine = {name: [row for row in rows[name] if start <= row["ts"] < stop] for name in rows}
        results = kernel.fold({source.name: rows_of(job, source, mine[source.name]) for source in job.STREAMS})
        found.append((list(listed(results)), max(kernel.history[1].tolist())))
    assert found == [(batch.results, batch.peak) for batch in expected]
    assert sum(len(results) for results, _ in found) >= 2


def rows_of(job: Any, source: Any, rows: list[dict[str, Any]]) -> Any:
    columns = {name: job.integers([row[name] for row in rows]) for name in source.values}
    return job.Rows(columns[source.time], columns, {}, {})
