"""Sets of streams that fall into independent parts have no table of their own: results, M and certificates still hold.

So that small random queries meet this at all, `MOST_WHOLE` is set to 0 here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from streambound.analyzer.boundedness import Facts
from streambound.criteria import synopsis as synopsis_module
from streambound.criteria.bound import QueryBound, bound
from streambound.criteria.certificate import certificate, to_json
from streambound.criteria.synopsis import Synopsis
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.ways import MOST_WAYS, Ways, ways
from streambound.recheck.certificates.validate import faults
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.synopsis_plan import synopsis_plan
from support.against_sql import printed_as_sql_says
from support.certificates import rejections
from support.choices import Choices
from support.encoding import encode_rows
from support.kernel import plan_of, run_kernel
from support.operators import steps
from support.oracle import Oracle
from support.product import decided
from support.profiles import MORE
from support.queries import EXECUTABLE, Features, make_statement
from support.streams import adversarial_rows, small_rows

LEAVES = 6
Catalog = dict[str, Any]


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As few tables as independence allows, whatever the query."""
    monkeypatch.setattr(synopsis_module, "MOST_WHOLE", 0)


def _joined(found: QueryBound) -> bool:
    """Whether matches are joined from several tables somewhere."""
    ways = [way for branch in found.branches for way in branch.synopsis.transitions or ()]
    return any(len(way.parts) > 1 for way in ways)


def _has_parts(plan: Plan) -> bool:
    joined = [
        sum(join.table is not None for join in t.joins) for b in synopsis_plan(plan).branches for t in b.transitions
    ]
    return max(joined, default=0) > 1


@pytest.mark.slow
@pytest.mark.usefixtures("parts")
def test_random_queries_print_what_sql_says_within_their_bound() -> None:
    """Certified, and after each timestamp as DuckDB says."""
    features, seen = replace(Features(windows=50), finite=0), Counter[str]()
    for seed in range(150 * MORE):
        choices = Choices.seeded(seed)
        statement = make_statement(choices, features)
        decision = decided(statement.sql, statement.catalog)
        found = bound(decision.derivation.split) if decision.verdict is Verdict.BOUNDED else None
        if found is None or not _joined(found):
            continue
        seen["several parts"] += 1
        assert not rejections(decision, found), statement.sql
        rows = (adversarial_rows if choices.chance(40) else small_rows)(choices, statement.catalog)
        ran = printed_as_sql_says(statement.sql, decision, statement.catalog, rows)
        if ran is None:
            continue
        seen["results"] += ran.results
        if min(seen["several parts"], seen["results"]) > 5 * MORE:
            break
    assert seen["several parts"] > 5, seen
    assert seen["results"] > 5, seen


# --- wide queries ---------------------------------------------------------------------------------------------------


def _wide(shape: str, leaves: int = LEAVES) -> tuple[str, Catalog]:
    """A query of many streams, the first one the hub, all with one of four keys."""
    names = [f"X{i}" for i in range(leaves + 1)]
    hub, others = names[0], names[1:]
    pairs = [(x, y) for x in names for y in names if x != y]
    order = {
        "newest hub": [f"{hub}.ts > {x}.ts" for x in others],
        "newest hub, or as new": [f"{hub}.ts >= {x}.ts" for x in others],
        "window of the hub": [f"{hub}.ts >= {x}.ts AND {hub}.ts <= {x}.ts + 3" for x in others],
        "window of all": [f"{x}.ts <= {y}.ts + 3" for x, y in pairs],
        "unrelated": [],
        "two hubs": [f"{names[i % 2]}.ts > {x}.ts" for i, x in enumerate(names[2:])],
    }[shape]
    where = " AND ".join([*order, *(f"{hub}.k = {x}.k" for x in others), f"{hub}.k BETWEEN 0 AND 3"])
    column = {"k": "bigint", "ts": "bigint"}
    catalog = {"streams": {name: {"timestamp": "ts", "max_per_timestamp": 2, "columns": column} for name in names}}
    return f"SELECT {hub}.k FROM {', '.join(names)} WHERE {where}", catalog


WIDE = {
    "newest hub": 4 * LEAVES,
    "newest hub, or as new": 4 * LEAVES,
    "window of the hub": 3 * 2 * LEAVES,
    "window of all": 3 * 2 * (LEAVES + 1),
    "unrelated": 4 * (LEAVES + 1),
    "two hubs": 4 * (LEAVES + 1),
}
"""The shape, and M: a table per stream instead of one per set of streams."""


@pytest.mark.parametrize("shape", WIDE)
def test_a_wide_query_has_a_bound_a_certificate_and_a_job(shape: str) -> None:
    sql, catalog = _wide(shape)
    decision = decided(sql, catalog)
    found = bound(decision.derivation.split)
    assert found is not None
    assert found.entries.value == WIDE[shape], [(table.table, table.size.text) for table in found.tables]
    rows = {name: _some_rows(Choices.seeded(place)) for place, name in enumerate(catalog["streams"])}
    expected = Oracle(catalog, rows).prefix_expected(sql)
    assert sum(bool(new) for new in expected.values()) > 1, expected
    plan = plan_of(decision, catalog)
    assert _has_parts(plan)
    counts: Counter[Any] = Counter()
    for closed in steps(plan, {}, encode_rows(catalog, rows), [2, 5]):
        counts.update({(now, values): n for now, n, values in closed.results})
        assert closed.peak <= WIDE[shape]
    assert counts == Counter({(now, v): n for now, new in expected.items() for v, n in new.items()})


def _some_rows(choices: Choices) -> list[dict[str, int]]:
    """Rows of a stream, all with the key 1 and some others, so few that matches can be counted."""
    times = sorted({4, 9, choices.integer(5, 6), choices.integer(0, 8)})
    return [{"k": 2 if now == 9 and choices.chance(20) else 1, "ts": now} for now in times]


def test_extremes_of_independent_streams() -> None:
    """Of each of twelve streams the greatest value is enough, and one table each, where otherwise there were 4,094."""
    names = [f"X{i}" for i in range(13)]
    catalog = {"streams": {x: {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}} for x in names}}
    where = " AND ".join(f"X0.ts > {x}.ts AND X0.a < {x}.a" for x in names[1:])
    sql = f"SELECT DISTINCT 1 AS one FROM {', '.join(names)} WHERE {where}"
    decision = decided(sql, catalog)
    found = bound(decision.derivation.split)
    assert found is not None
    assert found.entries.value == 13
    printed = []
    for seed in range(6):
        choices = Choices.seeded(seed)
        rows = {x: [{"a": choices.integer(0, 3), "ts": choices.integer(0, 4)}] for x in names[1:]}
        rows["X0"] = [{"a": choices.integer(-1, 1), "ts": now} for now in (2, 4, 5)]
        run = run_kernel(decision, catalog, rows, together=3)
        assert run.printed == Oracle(catalog, rows).prefix_expected(sql)
        assert run.peak <= 13
        printed.append(any(run.printed.values()))
    assert set(printed) == {False, True}


def test_the_ways_of_whole_sets_are_all_that_the_timestamps_allow() -> None:
    """Against every subset of small random queries' streams, tried one by one."""
    seen: Counter[int] = Counter()
    for seed in range(20 * MORE):
        statement = make_statement(Choices.seeded(seed), replace(EXECUTABLE, windows=50))
        for branch in decided(statement.sql, statement.catalog).derivation.split.branches:
            facts = Facts.of(branch)
            if not facts.closure.satisfiable:
                continue
            streams = Synopsis(facts).streams
            found = {way.arriving for way in Ways(facts, lambda members: (members,) if members else ()).of(streams)}
            subsets = [c for size in range(1, len(streams) + 1) for c in combinations(streams, size)]
            assert found == {arriving for arriving in subsets if _allowed(facts, streams, arriving)}, statement.sql
            seen[len(found)] += 1
    assert len(seen) > 2, seen


def _allowed(facts: Facts, streams: tuple[str, ...], arriving: tuple[str, ...]) -> bool:
    """Whether some streams may all have the newest timestamp of a match, and the others older ones."""
    least = {(x, y): 0 if y in arriving else 1 for x in arriving for y in streams if x != y}
    return all((lag := facts.lag(x, y)) is None or lag >= apart for (x, y), apart in least.items())


def test_a_query_without_few_ways_says_so() -> None:
    sources = ", ".join(f"X{i}" for i in range(14))
    catalog = {"streams": {f"X{i}": {"timestamp": "ts", "columns": {"ts": "bigint"}} for i in range(14)}}
    order = " AND ".join(f"X{i}.ts >= X0.ts" for i in range(1, 14))
    branch = decided(f"SELECT 1 AS one FROM {sources} WHERE {order}", catalog).derivation.split.branches[0]
    synopsis = Synopsis(Facts.of(branch))
    assert MOST_WAYS < 2**13
    assert ways(synopsis.facts, lambda members: (members,) if members else (), (synopsis.streams,)) is None
    assert synopsis.sets is None


# --- certificates ---------------------------------------------------------------------------------------------------


def _claimed(shape: str) -> tuple[Any, dict[str, Any]]:
    sql, catalog = _wide(shape)
    decision = decided(sql, catalog)
    found = bound(decision.derivation.split)
    assert found is not None
    document = to_json(certificate(found, decision.query.distinct))
    assert faults(decision.derivation.split, document) == ()
    return decision, document


@pytest.mark.parametrize("shape", WIDE)
def test_a_table_cannot_be_left_out(shape: str) -> None:
    decision, document = _claimed(shape)
    tables = document["branches"][0]["tables"]
    tables.pop(1)
    assert any("can come before all others" in fault for fault in faults(decision.derivation.split, document))


def test_a_table_must_hold_no_tuple_that_is_too_old_for_others() -> None:
    """Two streams with a window between them are independent only if that says nothing of what tables hold."""
    decision, document = _claimed("window of the hub")
    for table in document["branches"][0]["tables"]:
        for age in table["ages"]:
            age["expires"] = 5
    assert any("can come before all others" in fault for fault in faults(decision.derivation.split, document))


def test_parts_share_no_relation() -> None:
    """One row of R is joined with both X and Y, so that their matches are not pairs of matches of each."""
    catalog = {
        "streams": {s: {"timestamp": "ts", "columns": {"k": "bigint", "ts": "bigint"}} for s in "WXY"},
        "relations": {"R": {"columns": {"a": "bigint", "b": "bigint"}}},
    }
    sql = "SELECT 1 AS one FROM W, X, Y, R WHERE W.ts > X.ts AND W.ts > Y.ts AND X.k = R.a AND Y.k = R.b"
    decision = decided(sql, catalog)
    found = bound(decision.derivation.split)
    assert found is not None
    assert [table.table for table in found.tables] == ["{X}", "{Y}", "{X, Y}"]
    document = to_json(certificate(found, distinct=False))
    assert faults(decision.derivation.split, document) == ()
    document["branches"][0]["tables"].pop()
    assert faults(decision.derivation.split, document)
