"""Application times in the select list: verdicts, bounds, results against DuckDB, both kernels, witnesses executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.criteria.bound import TableBound, results_count
from streambound.criteria.tables import Age
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.witness import build
from streambound.recheck.oracle.prove import prove
from streambound.reports.witness_report import json_rows
from streambound.synopsis_exec.plan import make_plan
from support.against_sql import printed_as_sql_says
from support.catalogs import PLAIN, with_relation
from support.certificates import rejections
from support.choices import Choices
from support.encoding import encode_rows
from support.operators import steps
from support.oracle import Oracle
from support.product import NotAnalysed, blamed, decided, parsed
from support.profiles import MORE
from support.streams import adversarial_rows, small_rows
from support.timed_queries import make_timed_statement

CATALOG = with_relation(PLAIN)
WINDOW = "S.ts > T.ts AND S.ts <= T.ts + 3"

BOUNDED = {
    "one stream": ("SELECT S.ts, S.a FROM S", "0"),
    "the newest stream": ("SELECT S.ts, S.ts - 5 AS early FROM S, T WHERE S.ts > T.ts", "1"),
    "an older one within a window": (f"SELECT T.ts, T.a FROM S, T WHERE {WINDOW}", "3*c_T"),
    "only the time of an older one": (f"SELECT T.ts FROM S, T WHERE {WINDOW}", "min(3, 3*c_T)"),
    "a distance": (f"SELECT S.ts - T.ts AS late, T.a FROM S, T WHERE {WINDOW} AND S.a = T.a", "3*c_T"),
    "a fixed distance": ("SELECT S.ts - T.ts AS late FROM S, T WHERE S.ts = T.ts + 4", "min(4, 4*c_T)"),
    "equal times": ("SELECT T.ts, S.a FROM S, T WHERE S.ts = T.ts", "0"),
    "windows both ways": ("SELECT S.ts, T.ts AS t FROM S, T WHERE S.ts <= T.ts + 2 AND T.ts <= S.ts + 2",
        "min(2, 2*c_S) + min(2, 2*c_T)"),
    "a finite stream": ("SELECT T.ts, S.a FROM S, T WHERE S.ts > T.ts AND T.ts < 4", "4"),
    "a finite stream that is missing": ("SELECT S.ts FROM S, T WHERE T.ts < 4", "4"),
    "a relation": ("SELECT S.ts, R.b FROM S, R WHERE S.a = R.a", "0"),
    "a set of the newest": ("SELECT DISTINCT S.ts, S.a FROM S", "0"),
    "a set of the newest with a window": (f"SELECT DISTINCT S.ts, T.a FROM S, T WHERE {WINDOW}", "3*c_T"),
    "a set of an older one": (f"SELECT DISTINCT T.ts, T.a FROM S, T WHERE {WINDOW}", "6*c_T"),
    "a set with an offset": (f"SELECT DISTINCT T.ts + 9 AS x, T.a FROM S, T WHERE {WINDOW}", "6*c_T"),
    "a set of two times": (f"SELECT DISTINCT T.ts, S.ts AS sts FROM S, T WHERE {WINDOW}", "min(3, 3*c_T)"),
    "a set of a finite stream's times": ("SELECT DISTINCT T.ts FROM S, T WHERE S.ts > T.ts AND T.ts < 4", "8"),
    "a set of distances within a window": (f"SELECT DISTINCT S.ts - T.ts AS d FROM S, T WHERE {WINDOW}",
        "min(3, 3*c_T) + 3"),
    "a set of distances both ways, and a value": ("SELECT DISTINCT T.ts - S.ts + 7 AS d, T.b FROM S, T "
        "WHERE S.ts <= T.ts + 1 AND T.ts <= S.ts + 2 AND T.b BETWEEN 0 AND 1", "min(2, 2*c_S) + min(2, c_T) + 8"),
    "a set of two distances": ("SELECT DISTINCT S.ts - T.ts AS d, T.ts - U.ts AS e FROM S, T, U "
        f"WHERE {WINDOW} AND U.ts <= T.ts AND T.ts <= U.ts + 1", "min(1, c_U) + min(2, 2*c_U)*min(3, 3*c_T) + 6"),
    "a union of distances": (f"SELECT DISTINCT S.ts - T.ts AS d FROM S, T WHERE {WINDOW} "
        "UNION SELECT S.a FROM S WHERE S.a BETWEEN 0 AND 2", "min(3, 3*c_T) + 6"),
    "a union of sets": ("SELECT DISTINCT S.ts FROM S UNION SELECT T.ts FROM T", "0"),
    "a union with an offset": ("SELECT DISTINCT S.ts FROM S UNION SELECT T.ts + 2 FROM T", "min(2, 2*c_T)"),
    "a subquery's time": ("WITH q AS (SELECT ts AS t, a, ts + 1 AS n FROM T) "
        "SELECT q.t, q.n, S.ts - q.t AS d FROM S, q WHERE S.ts > q.t AND S.ts <= q.t + 3", "min(3, 3*c_T)"),
}  # fmt: skip
UNBOUNDED = {
    "an older stream": ("SELECT T.ts FROM S, T WHERE S.ts > T.ts", "T.ts"),
    "an older stream with an offset": ("SELECT T.ts + 3 AS x FROM S, T WHERE S.ts > T.ts + 5", "T.ts"),
    "a distance": ("SELECT S.ts - T.ts AS d FROM S, T WHERE S.ts > T.ts", "T.ts"),
    "a distance the other way": ("SELECT T.ts - S.ts AS d FROM S, T WHERE S.ts > T.ts", "T.ts"),
    "streams in no order": ("SELECT S.ts FROM S, T", "S.ts"),
    "an older stream with a window on another": (
        "SELECT T.ts FROM S, T, U WHERE T.ts <= U.ts AND U.ts <= T.ts + 2 AND S.ts > T.ts", "T.ts"),
    "the newest of two, with an unbounded attribute": ("SELECT DISTINCT S.ts, T.a FROM S, T WHERE S.ts > T.ts", "T.a"),
    "a set of an older stream": ("SELECT DISTINCT T.ts FROM S, T WHERE S.ts > T.ts", "T.ts"),
    "a set of distances": ("SELECT DISTINCT S.ts - T.ts AS d FROM S, T WHERE S.ts > T.ts", None),
    "a set of values beside a time": ("SELECT DISTINCT S.a, T.ts FROM S, T WHERE S.ts > T.ts", None),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDED)
def test_bounded(name: str) -> None:
    """With its bound; results equal SQL's on every prefix."""
    sql, formula = BOUNDED[name]
    decision = decided(sql, CATALOG)
    assert decision.verdict is Verdict.BOUNDED
    assert decision.bound is not None
    assert decision.bound.entries.text == formula
    rows = (make(Choices.seeded(seed), CATALOG, 8) for seed, make in enumerate((small_rows, adversarial_rows)))
    made = (printed_as_sql_says(sql, decision, CATALOG, some) for some in rows)
    assert any(printed is not None and printed.results for printed in made)


@pytest.mark.parametrize("name", UNBOUNDED)
def test_unbounded(name: str) -> None:
    """With a witness that tells all subsets apart where DuckDB runs the statement."""
    sql, culprit = UNBOUNDED[name]
    decision = decided(sql, CATALOG)
    assert decision.verdict is Verdict.UNBOUNDED
    assert culprit is None or culprit in [attribute for _, attribute in blamed(decision)]
    _tells_subsets_apart(sql, decision, CATALOG)


def _tells_subsets_apart(sql: str, decision: Decision, catalog: dict[str, Any], size: int = 5) -> None:
    """DuckDB gives another output for every prefix of some elements."""
    assert decision.witness is not None
    witness = build(decision.witness.plan, size)
    if witness is None:
        return  # the contracts allow none so large
    split = decision.derivation.split
    elements, probes = ([json_rows(split, rows) for rows in part] for part in (witness.elements, witness.probes))
    assert prove(parsed(sql), catalog_from_mapping(catalog), json_rows(split, witness.always), elements, probes).holds


def _ticks_agree(decision: Decision, catalog: dict[str, Any], rows: Any, cuts: list[int]) -> None:
    """Ticks of one timestamp and of several give the same results and entries, with the state saved in between."""
    plan = make_plan(decision, catalog_from_mapping(catalog))
    encoded = encode_rows(catalog, rows)
    relations = {name: encoded.get(name, []) for name in catalog.get("relations", {})}
    by_timestamp, at_once = (list(steps(plan, relations, encoded, cuts, each)) for each in (True, False))
    assert by_timestamp == at_once, plan.sql


def test_a_time_says_nothing_of_the_papers_theorems() -> None:
    """They exclude projected timestamps, so that they are not reported."""
    assert [result.name for result in decided("SELECT S.ts FROM S, T WHERE S.ts > T.ts", PLAIN).criteria] == ["bag"]


def test_a_distance_that_waits_for_a_stream_is_not_decided() -> None:
    """The tables keep the times themselves, of which a stream that may come later leaves infinitely many."""
    sql = f"SELECT DISTINCT S.ts - T.ts AS d FROM S, T, U WHERE {WINDOW} AND U.ts > S.ts"
    decision = decided(sql, CATALOG)
    assert decision.verdict is Verdict.UNKNOWN
    assert decision.diagnostics[0].message.endswith("the query may be bounded; no plan for it is known")


def test_where_a_union_has_no_time_in_common_its_results_are_remembered() -> None:
    decision = decided("SELECT DISTINCT S.ts FROM S UNION SELECT T.a FROM T WHERE T.a BETWEEN 1 AND 3", CATALOG)
    assert decision.verdict is Verdict.UNKNOWN


@pytest.mark.slow
def test_random_statements_print_what_sql_says() -> None:
    """On every prefix, in any ticks, within M; unbounded ones have witnesses that DuckDB confirms."""
    verdicts: Counter[Verdict] = Counter()
    results = 0
    for seed in range(25 * MORE):
        choices = Choices.seeded(seed)
        statement = make_timed_statement(choices)
        decision = decided(statement.sql, statement.catalog)
        verdicts[decision.verdict] += 1
        if decision.verdict is Verdict.UNBOUNDED and seed % 5 == 0:
            _tells_subsets_apart(statement.sql, decision, statement.catalog)
        if decision.verdict is not Verdict.BOUNDED:
            continue
        rows = (adversarial_rows if seed % 2 else small_rows)(choices, statement.catalog)
        printed = printed_as_sql_says(statement.sql, decision, statement.catalog, rows)
        if printed is not None:
            results += bool(printed.results)
            if seed % 5 == 0:
                _ticks_agree(decision, statement.catalog, rows, [2, 5, 6])
    assert verdicts[Verdict.BOUNDED] > 10 * MORE
    assert verdicts[Verdict.UNBOUNDED] > 5 * MORE
    assert verdicts[Verdict.UNKNOWN] < 5 * MORE
    assert results > 5 * MORE


def test_a_column_is_a_time_or_a_distance() -> None:
    columns = {"a": "bigint", "ts": "timestamp"}
    catalog = {"streams": {name: {"timestamp": "ts", "columns": columns} for name in "ST"}}
    distance = "SELECT S.ts - T.ts AS x FROM S, T WHERE S.ts = T.ts"
    with pytest.raises(NotAnalysed, match="'x' is timestamp above and interval day to second here"):
        decided(f"SELECT S.ts AS x FROM S UNION ALL {distance}", catalog)
    assert decided(f"{distance} UNION ALL {distance}", catalog).verdict is Verdict.BOUNDED
    assert decided(f"{distance} UNION ALL SELECT NULL FROM S", catalog).verdict is Verdict.BOUNDED


VALUES = {
    "within a row": "SELECT S.a, S.b FROM S WHERE S.a <= S.ts AND S.ts < S.b + 9",
    "a deadline within a window": f"SELECT T.a, T.b FROM S, T WHERE {WINDOW} AND S.ts <= T.a + 4",
    "a deadline and the time itself": f"SELECT T.ts, T.a FROM S, T WHERE {WINDOW} AND S.ts - T.a >= 2",
    "a relation's column": "SELECT S.ts, R.b FROM S, R WHERE S.ts = R.a",
    "a set": f"SELECT DISTINCT S.ts, T.a FROM S, T WHERE {WINDOW} AND T.ts > S.a",
    "an older one, bounded": "SELECT T.b FROM S, T WHERE S.ts > T.ts AND T.b BETWEEN 0 AND 3 AND T.a < T.ts",
}


@pytest.mark.parametrize("name", VALUES)
def test_a_time_compared_with_another_column(name: str) -> None:
    """Results equal SQL's, by either kernel, where the column of the time's value has that value."""
    decision = decided(VALUES[name], CATALOG)
    assert decision.verdict is Verdict.BOUNDED
    plan, found = make_plan(decision, catalog_from_mapping(CATALOG)), 0
    for seed in range(4):
        rows = small_rows(Choices.seeded(seed), CATALOG, 30)
        encoded = encode_rows(CATALOG, rows)
        relations = {"R": encoded.get("R", [])}
        valued = {name: [{**row, "`ts`": row.get("ts")} for row in mine] for name, mine in encoded.items()}
        expected = {t: n for t, n in Oracle(CATALOG, rows).prefix_expected(VALUES[name]).items() if n}
        printed: dict[int, Counter[Any]] = {}
        for step in steps(plan, relations, valued, [3, 6]):
            for now, times, values in step.results:
                printed.setdefault(now, Counter())[values] += times
        assert printed == expected
        found += sum(map(len, expected.values()))
    assert found


WAITING_VALUES = {
    "until it is due": "SELECT 1 AS one FROM S, T WHERE S.ts > T.ts AND S.ts <= T.a",
    "due within its row": "SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.b < T.ts",
    "an older one's time and a later value": "SELECT 1 AS one FROM S, T WHERE S.ts > T.ts AND S.a >= T.ts + 3",
    "two deadlines": "SELECT S.b FROM S, T WHERE S.ts > T.ts AND S.ts <= T.a - 4 AND S.ts <= T.b AND S.b > 9",
    "a set of what was late": "SELECT DISTINCT T.a FROM T WHERE T.b < T.ts",
    "after a constant": "SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.b = 700 AND T.ts > T.b",
}


@pytest.mark.parametrize("name", WAITING_VALUES)
def test_a_time_that_is_a_value_has_witnesses(name: str) -> None:
    """Probes come when the values of elements say; DuckDB tells all subsets apart, of several sizes."""
    decision = decided(WAITING_VALUES[name], CATALOG)
    assert decision.verdict is Verdict.UNBOUNDED
    for size in (3, 6):
        _tells_subsets_apart(WAITING_VALUES[name], decision, CATALOG, size)


UNDECIDED_VALUES = {
    "it ends with a constant": "SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.b = 50 AND T.ts <= T.b",
    "a part of a time": "SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.ts % 7 = 3",
}


@pytest.mark.parametrize("name", UNDECIDED_VALUES)
def test_what_times_cannot_reach_is_not_unbounded(name: str) -> None:
    assert decided(UNDECIDED_VALUES[name], CATALOG).verdict is Verdict.UNKNOWN


@pytest.mark.slow
def test_random_queries_with_times_as_values() -> None:
    """DuckDB confirms each witness, of more elements than were searched with."""
    verdicts: Counter[Verdict] = Counter()
    for seed in range(15 * MORE):
        choices = Choices.seeded(seed)
        atoms = ["S.ts > T.ts", *(_valued_atom(choices) for _ in range(choices.integer(1, 3)))]
        outputs = choices.pick(["1 AS one", "T.a", "S.b, T.b", "S.a"])
        sql = f"SELECT {choices.pick(['', 'DISTINCT '])}{outputs} FROM S, T WHERE {' AND '.join(atoms)}"
        decision = decided(sql, CATALOG)
        verdicts[decision.verdict] += 1
        if decision.verdict is Verdict.UNBOUNDED:
            _tells_subsets_apart(sql, decision, CATALOG)
    assert verdicts[Verdict.UNBOUNDED] > 4 * MORE


def _valued_atom(choices: Choices) -> str:
    """A comparison of a time with a value, or of values."""
    left = choices.pick(["S.ts", "T.ts", "T.a", "S.b"])
    right = choices.pick([name for name in ("S.a", "S.b", "T.a", "T.b", "40") if name != left])
    offset = choices.pick(["", " + 3", " - 2"])
    return f"{left} {choices.pick(['<', '<=', '>', '>=', '='])} {right}{offset}"


# --- certificates -----------------------------------------------------------------------------------------------------


def _changed(name: str, change: Callable[[TableBound], TableBound | None]) -> str:
    """Why `recheck` rejects a bound whose tables were changed; None leaves a table out."""
    decision = decided(BOUNDED[name][0], CATALOG)
    assert decision.bound is not None
    branches = tuple(
        replace(branch, tables=tuple(new for table in branch.tables if (new := change(table)) is not None))
        for branch in decision.bound.branches
    )
    return "; ".join(rejections(decision, replace(decision.bound, branches=branches)))


def _with_ages(table: TableBound, ages: tuple[Age, ...]) -> TableBound:
    return replace(table, layout=replace(table.layout, ages=ages))


@pytest.mark.parametrize("name", ["an older one within a window", "a distance", "a set of an older one"])
def test_a_table_without_a_time_that_is_selected_is_rejected(name: str) -> None:
    said = _changed(name, lambda table: table if table.results else _with_ages(table, ()))
    assert "does not store T.ts, which the query returns" in said


@pytest.mark.parametrize("name", ["a finite stream", "a finite stream that is missing"])
def test_a_time_that_is_selected_must_not_be_taken_for_others(name: str) -> None:
    """An age of 2 or more would be one."""
    said = _changed(name, lambda t: _with_ages(t, tuple(replace(age, saturates=2) for age in t.layout.ages)))
    assert "which the query returns" in said


@pytest.mark.parametrize("name", ["a set of an older one", "a set with an offset", "a union with an offset"])
def test_results_must_not_be_forgotten_too_early(name: str) -> None:
    assert "results are forgotten" in _changed(name, lambda table: None if table.results else table)
    facts = Facts.of(decided(BOUNDED[name][0], CATALOG).derivation.split.branches[-1])
    for step in (-1, 1):

        def moved(table: TableBound, step: int = step) -> TableBound:
            if not table.results:
                return table
            ages = (replace(age, expires=(age.expires or 0) + step) for age in table.layout.ages)
            other = _with_ages(table, tuple(ages))
            return replace(other, count=results_count(facts, other.layout) or other.count)

        assert "results are forgotten" in _changed(name, moved)


def test_results_of_the_newest_need_no_table_but_others_do() -> None:
    sql = "SELECT DISTINCT T.a FROM S, T WHERE S.ts > T.ts AND T.a BETWEEN 1 AND 2"
    decision = decided(sql, CATALOG)
    assert decision.bound is not None
    branch = decision.bound.branches[0]
    without = replace(branch, tables=tuple(table for table in branch.tables if not table.results))
    assert "results are forgotten" in "; ".join(rejections(decision, replace(decision.bound, branches=(without,))))
