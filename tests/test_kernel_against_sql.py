"""The executor's kernel equals brute-force SQL on every prefix, and stays within M: two properties that can fail."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given

from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.symbols import symbol, symbols_in
from streambound.criteria.bound import bound
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from support.catalogs import PLAIN, with_relation
from support.choices import Choices, drawn
from support.extremal_queries import make_extremal_query
from support.finite_queries import FINITE, make_clipped_query, make_finite_query
from support.kernel import Run, formula_value, run_kernel
from support.kernel_cases import Case, make_case
from support.oracle import Oracle
from support.product import decided
from support.profiles import MORE, examples
from support.queries import EXECUTABLE, Features, make_statement
from support.streams import adversarial_rows, small_rows

SAMPLE = range(36 * MORE)
CROWDED = replace(EXECUTABLE, streams=3)
EXTREMES = {symbol(extreme, stream, column) for extreme in ("min", "max") for stream in FINITE for column in "ab"}


def _run(case: Case) -> tuple[Decision, Run] | None:
    """The kernel's run; None for a query that is not bounded, or that the executor says it does not run."""
    decision = decided(case.sql, case.catalog)
    if decision.verdict is not Verdict.BOUNDED:
        return None
    try:
        return decision, run_kernel(decision, case.catalog, case.rows, together=3)
    except NotExecutableError:
        return None


def _check_output(case: Case, run: Run) -> Counter[Any]:
    expected = Oracle(case.catalog, case.rows).prefix_expected(case.sql)
    assert run.printed == expected
    return sum(expected.values(), Counter())


def _check_memory(case: Case, decision: Decision, run: Run) -> int | None:
    if run.limit is not None:
        assert run.peak <= run.limit
    limit = formula_value(decision, case.catalog, case.rows)
    if limit is not None:
        assert run.peak <= limit
    return limit


def _check(case: Case) -> None:
    """Output and memory of a query that runs; another one is no example."""
    ran = _run(case)
    assume(ran is not None)
    assert ran is not None
    _check_output(case, ran[1])
    _check_memory(case, *ran)


@pytest.mark.slow
@examples(30)
@given(drawn(lambda choices: make_case(choices, EXECUTABLE)))
def test_every_prefix_prints_what_sql_says(case: Case) -> None:
    _check(case)


@examples(20)
@given(drawn(lambda choices: make_case(choices, Features())))
def test_whole_language_prints_what_sql_says_where_it_runs(case: Case) -> None:
    _check(case)


@pytest.mark.parametrize(
    "where",
    [
        "S.b BETWEEN 0 AND 2 AND (3 < S.b OR S.b <> 0)",
        "S.b >= 0 AND (S.a = 1 OR S.b <> 0)",
        "S.a > 0 AND S.a < 4 AND (S.a <> 3 OR 0 > S.a)",
        "T.a BETWEEN 0 AND 1 AND (T.a <> 1 OR 1 < T.a OR S.b + 2 < T.a)",
        "T.b = 1 AND NOT (T.b = 1 AND S.a = 1)",
    ],
)
def test_an_inequality_inside_an_or(where: str) -> None:
    """A ``<>`` that tightens a bound of another conjunct is still a condition of its own."""
    sql = f"SELECT S.a, S.b FROM S, T WHERE S.ts > T.ts AND {where}"
    printed = 0
    for seed in range(5):
        case = Case(sql, PLAIN, small_rows(Choices.seeded(seed), PLAIN))
        ran = _run(case)
        assert ran is not None
        printed += bool(_check_output(case, ran[1]))
    assert printed


# --- ranges that a finite stream's values bound ---------------------------------------------------------------------


def _finite_case(choices: Choices) -> Case:
    query = make_finite_query(choices)
    make = adversarial_rows if choices.chance(60) else small_rows
    return Case(query.sql, query.catalog, make(choices, query.catalog, 8))


def _by_stream(decision: Decision) -> bool:
    """Whether M depends on values that a finite stream brings."""
    found = bound(decision.derivation.split)
    return found is not None and bool(symbols_in(found.entries.text) & EXTREMES)


def _clipped_by_match(decision: Decision) -> bool:
    """Whether a value is clipped to what a finite stream brought to the same partial match."""
    found = bound(decision.derivation.split)
    tables = found.tables if found is not None else ()
    return any(a.source in FINITE for table in tables for stored in table.layout.key for a in stored.limiting)


def _clipped_case(choices: Choices) -> Case:
    query = make_clipped_query(choices)
    return Case(query.sql, query.catalog, small_rows(choices, query.catalog, 7))


def test_a_fixed_sample_depends_on_finite_streams_and_prints() -> None:
    counts: Counter[str] = Counter()
    for seed in range(80 * MORE):
        case = (_clipped_case if seed % 4 == 0 else _finite_case)(Choices.seeded(seed))
        decision = decided(case.sql, case.catalog)
        if decision.verdict is not Verdict.BOUNDED or not _by_stream(decision):
            continue
        run = run_kernel(decision, case.catalog, case.rows)
        counts["clipped by match"] += _clipped_by_match(decision)
        counts["printed"] += bool(_check_output(case, run))
        counts["measured"] += _check_memory(case, decision, run) is not None
    assert counts["clipped by match"] > 3 * MORE, counts
    assert counts["printed"] > 3 * MORE, counts
    assert counts["measured"] > 8 * MORE, counts


# --- sets that keep extrema -----------------------------------------------------------------------------------------


def _extremal_case(choices: Choices) -> Case:
    query = make_extremal_query(choices)
    make = adversarial_rows if choices.chance(50) else small_rows
    return Case(query.sql, query.catalog, make(choices, query.catalog, 7))


def _keeps_extrema(decision: Decision) -> bool:
    if decision.verdict is not Verdict.BOUNDED:
        return False
    found = bound(decision.derivation.split)
    assert found is not None
    return any(table.layout.extrema for table in found.tables)


def test_a_fixed_sample_of_sets_mostly_keeps_extrema_and_prints() -> None:
    counts: Counter[str] = Counter()
    for seed in SAMPLE:
        case = _extremal_case(Choices.seeded(seed))
        if _keeps_extrema(decided(case.sql, case.catalog)):
            ran = _run(case)
            assert ran is not None
            counts["extrema"] += 1
            counts["printed something"] += bool(_check_output(case, ran[1]))
            limit = _check_memory(case, *ran)
            counts["at least half of the limit"] += limit is not None and 2 * ran[1].peak >= limit
    assert counts["extrema"] > 0.35 * len(SAMPLE), counts
    assert counts["printed something"] > 0.5 * counts["extrema"], counts
    assert counts["at least half of the limit"] > 0.5 * counts["extrema"], counts


# --- equalities and inequalities ------------------------------------------------------------------------------------

RELATED = with_relation(PLAIN)
CONDITIONS = (
    "S.a = S.b", "S.b = S.a + 2", "S.ts = U.ts", "S.a = U.a + 1", "U.b = S.b - 1", "T.a = T.b", "S.a < T.a",
    "S.b < T.a", "T.b < S.a", "U.a < T.b", "U.a >= T.a", "S.a <> R.a", "T.a <> R.a", "U.b <> R.b", "S.a <= R.b",
    "R.a < T.b",
)  # fmt: skip
"""Equalities within a row and between streams, inequalities across, and ``<>`` with a relation."""


def _classes_case(choices: Choices) -> Case:
    sources = ("S", "T", "U", "R")
    bounds = [f"{source}.{column} BETWEEN {choices.integer(-1, 1)} AND {choices.integer(1, 3)}"
              for source in sources[:3] for column in "ab" if choices.chance(20)]  # fmt: skip
    bounds += [f"{source}.{column} {choices.pick(['> -1', '< 4'])}"
               for source in sources[:3] for column in "ab" if choices.chance(55)]  # fmt: skip
    chosen = [condition for condition in CONDITIONS if choices.chance(14)]
    where = " AND ".join(["T.ts > S.ts", "T.ts > U.ts", *bounds, *chosen])
    output = choices.pick(["1 AS x", "1 AS x", "S.a", "T.a"])
    sql = f"SELECT {output} FROM {', '.join(sources)} WHERE {where}"
    return Case(sql, RELATED, small_rows(choices, RELATED, 8))


@pytest.mark.slow
@examples(20)
@given(drawn(_classes_case))
def test_equal_attributes_and_inequalities_with_relations(case: Case) -> None:
    """Nothing here depends on a finite stream or an extremum, so a bounded query has an M, and it holds."""
    decision = decided(case.sql, case.catalog)
    assume(decision.verdict is Verdict.BOUNDED)
    assert bound(decision.derivation.split) is not None
    _check(case)


INTEGERS = {"a": "bigint", "b": "bigint", "ts": "bigint"}
ALIKE: dict[str, Any] = {
    "streams": {
        "S-1": {"timestamp": "ts", "columns": INTEGERS, "max_per_timestamp": 5},
        "S_1": {"timestamp": "ts", "columns": INTEGERS, "max_per_timestamp": 1},
        "T": {"timestamp": "ts", "columns": INTEGERS, "max_per_timestamp": 3},
    },
    "relations": {"R": {"columns": {"a_b": "bigint"}}, "R_a": {"columns": {"b": "bigint"}}},
}
"""Names that become the same when their parts are joined by underscores."""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS x FROM S_1 S, T, R_a, R WHERE T.ts > S.ts AND S.a < R.a_b AND T.a > R_a.b AND S.a < T.a",
        "SELECT 1 AS x FROM S_1 S, T, R, R_a WHERE T.ts > S.ts AND S.a < R.a_b AND T.a > R_a.b AND S.a < T.a",
        "SELECT x.a, y.a AS b FROM `S-1` x, S_1 y, T WHERE T.ts > x.ts AND T.ts <= x.ts + 3 AND T.ts > y.ts "
        "AND T.ts <= y.ts + 3",
        "SELECT S.a FROM S_1 S, T, R WHERE T.ts > S.ts AND S.a < R.a_b AND S.a > 0 UNION ALL "
        "SELECT S.a FROM `S-1` S, T, R_a WHERE T.ts > S.ts AND S.a < R_a.b AND S.a > 0",
    ],
)
def test_names_that_only_joining_makes_equal(sql: str) -> None:
    printed = 0
    for seed in range(4 * MORE):
        rows = adversarial_rows(Choices.seeded(seed), ALIKE)
        rows["R"], rows["R_a"] = [{"a_b": 20 + seed}], [{"b": -5 - seed}]
        case = Case(sql, ALIKE, rows)
        ran = _run(case)
        assert ran is not None
        printed += bool(_check_output(case, ran[1]))
        assert _check_memory(case, *ran) is not None
        assert ran[1].peak > 0
    assert printed


def test_a_fixed_sample_is_mostly_bounded_run_and_not_empty() -> None:
    """So that the properties above cannot become true by running nothing."""
    counts: Counter[str] = Counter()
    for seed in SAMPLE:
        case = make_case(Choices.seeded(seed), EXECUTABLE)
        counts["bounded"] += decided(case.sql, case.catalog).verdict is Verdict.BOUNDED
        ran = _run(case)
        if ran is not None:
            counts["run"] += 1
            counts["printed something"] += bool(_check_output(case, ran[1]))
            counts["limit known"] += _check_memory(case, *ran) is not None
            counts["remembered something"] += ran[1].peak > 0
    assert counts["bounded"] > 0.5 * len(SAMPLE), counts
    assert counts["run"] > 0.9 * counts["bounded"], counts
    assert counts["printed something"] > 0.25 * counts["run"], counts
    assert counts["limit known"] > 0.8 * counts["run"], counts
    assert counts["remembered something"] > 0.5 * counts["run"], counts


def test_entries_stop_growing_on_long_hostile_streams() -> None:
    """Ten times the stream, the same memory: nothing that is kept depends on how long it runs."""
    compared = 0
    for seed in range(20 * MORE):
        statement = make_statement(Choices.seeded(1000 + seed), CROWDED)
        peaks = []
        for length in (40, 160):
            rows = adversarial_rows(Choices.seeded(seed), statement.catalog, length)
            ran = _run(Case(statement.sql, statement.catalog, rows))
            if ran is None:
                break
            half = [n for now, n in sorted(ran[1].entries.items())][len(ran[1].entries) // 2 :]
            peaks.append(max(half))
            limit = formula_value(ran[0], statement.catalog, rows)
            assert limit is None or ran[1].peak <= limit, statement.sql
        else:
            compared += 1
            # Every combination of clipped values turns up sooner or later; a leak grows with the stream.
            assert peaks[1] <= 2 * peaks[0] + 40, statement.sql
    assert compared >= 10 * MORE
