"""Generated rows have results for whatever query can have any, by SQL itself, and entries come and go."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from streambound.recheck.certificates.conditions import Conditions, ContradictionError
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.matches import never_joins
from streambound.synopsis_exec.micro_batches import Rows
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.recorded import read_rows
from streambound.synopsis_exec.simulate import replay
from streambound.synopsis_exec.verify import generated
from support.choices import Choices
from support.extremal_queries import make_extremal_query
from support.finite_queries import make_finite_query
from support.jobs import TYPED, TYPED_SQL
from support.keyed_queries import make_keyed_statement
from support.oracle import Oracle
from support.product import decided
from support.profiles import MORE
from support.queries import Features, make_statement
from support.relation_queries import make_relation_statement
from support.small_queries import make_small_query

LANGUAGES: dict[str, Callable[[Choices], Any]] = {
    "the whole language": lambda c: make_statement(c, Features()),
    "sets and unions": lambda c: make_statement(c, Features(distinct=100, unions=50)),
    "windows and finite streams": lambda c: make_statement(c, Features(windows=70, finite=30)),
    "small queries": make_small_query,
    "extrema": make_extremal_query,
    "finite streams": make_finite_query,
    "keys": lambda c: make_keyed_statement(c, c.chance(50)),
    "relations": lambda c: make_relation_statement(c, c.chance(50)),
}


def _plan(sql: str, catalog: dict[str, Any]) -> tuple[Decision, Plan] | None:
    decision = decided(sql, catalog)
    if decision.verdict is not Verdict.BOUNDED:
        return None
    try:
        return decision, make_plan(decision, catalog_from_mapping(catalog))
    except NotExecutableError:
        return None


def _results(sql: str, catalog: dict[str, Any], made: Rows) -> int:
    """How many results DuckDB finds."""
    rows = {name: [json.loads(line) for line in lines] for name, lines in {**made.streams, **made.relations}.items()}
    return Oracle(catalog, rows).number(sql)


def _contradicts_itself(decision: Decision) -> bool:
    """Whether the checker's closure, which is another one, finds no solution either."""
    for branch in decision.derivation.split.branches:
        try:
            conditions = Conditions(branch)
            if all(conditions.follows.bound(a, a) is not None for a in conditions.attributes):
                return False
        except ContradictionError:
            continue
    return True


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_results_come_of_every_query_that_can_have_any(language: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(10 * MORE):
        if seed >= 5 * MORE and seen["results"]:
            break
        statement = LANGUAGES[language](Choices.seeded(seed))
        found = _plan(statement.sql, statement.catalog)
        if found is None:
            continue
        decision, plan = found
        results = _results(statement.sql, statement.catalog, generated(plan, seed))
        if never_joins(plan):
            assert results == 0, statement.sql
            assert _contradicts_itself(decision), statement.sql
            seen["never"] += 1
        else:
            assert results > 0, (seed, statement.sql, statement.catalog)
            seen["results"] += 1
    assert seen["results"], seen


def _encoded(plan: Plan, made: Rows) -> dict[str, list[dict[str, Any]]]:
    """The rows as a job reads them; none is one that it would put into quarantine."""
    items = {item.name: item for item in plan.inputs}
    found: dict[str, list[dict[str, Any]]] = {}
    for name, lines in {**made.streams, **made.relations}.items():
        rows = read_rows(items[name], lines)
        found[name] = [row for row in rows if isinstance(row, dict)]
        assert len(found[name]) == len(rows)
        most = items[name].max_per_timestamp
        times = Counter(row[str(items[name].timestamp)] for row in found[name]) if items[name].timestamp else {}
        assert most is None or max(times.values(), default=0) <= most
        assert items[name].rows is None or len(rows) <= (items[name].rows or 0)
    return found


@pytest.mark.slow
def test_entries_are_dropped_where_windows_pass() -> None:
    """In every table with an age that expires entries come, and go again."""
    seen: Counter[str] = Counter()
    for seed in range(9 * MORE):
        statement = make_statement(Choices.seeded(seed), Features(windows=80))
        found = _plan(statement.sql, statement.catalog)
        if found is None or never_joins(found[1]):
            continue
        plan = found[1]
        rows = _encoded(plan, generated(plan, seed))
        relations = {item.name: rows[item.name] for item in plan.relations}
        times = sorted({row[str(s.timestamp)] for s in plan.streams for row in rows[s.name]})
        streams = {s.name: rows[s.name] for s in plan.streams}
        steps = list(replay(job_spec(plan), relations, streams, times[::4], tables=True))
        for branch in plan.branches:
            for table in branch.tables:
                if not any(age.expires is not None for age in table.ages):
                    continue
                name = plan.table_name(branch.number, table)
                kept = [frozenset(step.tables.get(name, ())) for step in steps]
                gone = sum(bool(before - after) for before, after in pairwise(kept))
                seen["retired" if gone else "filled" if any(kept) else "never filled"] += 1
    assert seen["retired"] > 1, seen
    assert seen["retired"] > 0.9 * seen.total(), seen


@pytest.mark.parametrize("seed", range(2))
def test_rows_repeat_lack_values_and_meet_several_times(seed: int) -> None:
    found = _plan(TYPED_SQL, TYPED)
    assert found is not None
    plan = found[1]
    made = generated(plan, seed)
    rows = _encoded(plan, made)
    lines = Counter(line for mine in made.streams.values() for line in mine)
    assert max(lines.values()) > 1
    assert any(value is None for mine in rows.values() for row in mine for value in row.values())
    relations = {item.name: rows[item.name] for item in plan.relations}
    streams = {s.name: rows[s.name] for s in plan.streams}
    times = sorted({row[str(s.timestamp)] for s in plan.streams for row in rows[s.name]})
    steps = list(replay(job_spec(plan), relations, streams, times[::10]))
    assert max(len(step.results) for step in steps) > 1


EQUALITIES = {
    "two columns": (
        "SELECT S.a FROM S, T WHERE S.a = T.a AND S.b = T.b AND S.a BETWEEN 1 AND 900 AND S.b BETWEEN 1 AND 900"
        " AND S.ts < T.ts", {}),
    "a relation": (
        "SELECT S.a FROM S, T, R WHERE S.a = R.a AND S.b = R.b AND T.a = R.b AND R.a > 100000 AND S.ts < T.ts",
        {"R": {"columns": {"a": "bigint", "b": "bigint"}, "rows": 2}}),
    "far apart": (
        "SELECT S.a FROM S, T WHERE S.a = T.a + 123456789 AND T.a BETWEEN -5 AND 900 AND T.ts <= S.ts - 5"
        " AND T.ts >= S.ts - 7", {}),
    "late": (
        "SELECT S.a FROM S, T WHERE S.a = T.a AND S.a BETWEEN 1 AND 900 AND S.ts >= 5000000 AND T.ts >= 7000000", {}),
    "unequal": (
        "SELECT S.a FROM S, T WHERE S.a <> 3 AND S.a <> T.a AND T.a BETWEEN 3 AND 4 AND S.a BETWEEN 3 AND 4", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUALITIES)
def test_results_do_not_depend_on_luck(name: str) -> None:
    sql, relations = EQUALITIES[name]
    column = {"a": "bigint", "b": "bigint", "ts": "bigint"}
    catalog = {"streams": {n: {"timestamp": "ts", "columns": column} for n in "ST"}, "relations": relations}
    found = _plan(sql, catalog)
    assert found is not None
    for seed in range(4):
        assert _results(sql, catalog, generated(found[1], seed)) > 1
