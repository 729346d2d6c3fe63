"""Blocks whose streams' rows are kept apart: what their jobs print, and that they keep at most M."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import inf
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import StreamboundError
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.dataflow import aggregates, blocks, joins
from streambound.criteria.dataflow.decision import of_judgement
from streambound.criteria.dataflow.judge import Judgement, judge
from streambound.criteria.dataflow.state import Operation, better
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.operations.plan import plan_of_operators
from streambound.synopsis_exec.simulate import relation_tables
from streambound_runtime.engine.block import SqlBlock
from streambound_runtime.engine.join_tree import SqlJoinTree
from streambound_runtime.operators.formula import value
from support.chains import CATALOG, LAST, Prefixes, Rows, chain_query, chain_rows, outer_chain_query
from support.choices import Choices
from support.circuits import (
    Circuit,
    Ticks,
    certificate_of,
    checked_circuit,
    proof_of,
    random_ends,
    restarts_and_other_ticks_change_nothing,
    run_circuit,
    run_plan,
    with_smaller_states,
)

CHAIN: dict[str, Any] = {
    "streams": {
        name: {"timestamp": "ts", "columns": dict.fromkeys((*columns, "ts"), "bigint"), "max_per_timestamp": 2}
        for name, columns in {
            "impressions": ("id", "ad"),
            "clicks": ("id", "impression"),
            "conversions": ("click", "amount"),
        }.items()
    },
    "relations": {"ads": {"columns": {"ad": "bigint", "name": "bigint"}, "rows": 10}},
}
FOLLOWS = (
    "FROM impressions i JOIN clicks c ON c.impression = i.id AND c.ts BETWEEN i.ts AND i.ts + 5 "
    "JOIN conversions v ON v.click = c.id AND v.ts BETWEEN c.ts AND c.ts + 7"
)
FOLLOWS_IF = FOLLOWS.replace("JOIN", "LEFT JOIN")
"""All impressions, and what follows them."""
SEEN: Rows = {
    "impressions": [{"id": 1, "ad": 10, "ts": 1}, {"id": 1, "ad": 10, "ts": 1}, {"id": 2, "ad": 11, "ts": 3}],
    "clicks": [{"id": 5, "impression": 1, "ts": 3}, {"id": 6, "impression": 2, "ts": 9}],
    "conversions": [
        {"click": 5, "amount": 7, "ts": 2},
        {"click": 5, "amount": 8, "ts": 3},
        {"click": 5, "amount": 9, "ts": 10},
        {"click": 5, "amount": 1, "ts": 11},
        {"click": 6, "amount": 2, "ts": 12},
    ],
    "ads": [{"ad": 10, "name": 100}, {"ad": 10, "name": 101}],
}
"""Two impressions that are alike, a conversion before its click, and one that is too late; a click that is too late."""

EACH = 5
SEEDS = (3, 41)


def planned(sql: str, catalog: dict[str, Any] = CATALOG) -> tuple[Judgement, PlannedCircuit] | None:
    """A bounded statement with its plan; None where there is none."""
    read = catalog_from_mapping(catalog, "streams.toml")
    (statement,) = split_statements(SourceText("chain.sql", sql))
    judgement = judge(statement, read)
    if judgement is None or judgement.entries is None:
        return None
    try:
        return judgement, plan_of_operators(of_judgement(judgement), statement)
    except StreamboundError:
        return None


def apart_if_there_are_two(one: Operation, other: Operation) -> Operation:
    """The rows apart, also where tables of partial matches are smaller."""
    return next((each for each in (other, one) if each.is_apart and each.entries is not None), better(one, other))


def different(sql: str, plan: PlannedCircuit, rows: Rows, prefixes: Prefixes, ends: list[int]) -> str:
    """What is wrong with a job's results or entries; empty where nothing is."""
    ran = run_plan(plan, {name: [dict(row) for row in given] for name, given in rows.items()}, ends)
    total = Counter[tuple[Any, ...]]()
    for before, end in pairwise((-inf, *ends)):
        for (*row, time), number in ran.printed.items():
            total[tuple(row)] += number if before < time <= end else 0
        wanted, found = prefixes.result(sql, end), Counter({row: n for row, n in total.items() if n})
        if wanted != found:
            return f"at {end} of {ends}: DuckDB {dict(wanted - found)} more, the job {dict(found - wanted)}"
    most = value(job_spec(plan).plan.bound, relation_tables(rows))
    return f"{ran.peak} entries, at most {most}" if most is not None and ran.peak > most else ""


@pytest.mark.parametrize("seed", SEEDS)
def test_random_chains_print_what_duckdb_says(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (blocks, aggregates):
        monkeypatch.setattr(module, "better", apart_if_there_are_two)
    choices, ran = Choices.seeded(seed), 0
    rows = chain_rows(choices)
    with Prefixes(rows) as prefixes:
        for _ in range(EACH):
            sql = chain_query(choices)
            found = planned(sql)
            if found is None or not any(one.is_apart for one in found[0].operation.every()):
                continue
            ends = random_ends(range(1, LAST + 1), choices.pick((2, 4, 8)))
            assert not different(sql, found[1], rows, prefixes, ends), sql
            ran += 1
    assert ran > EACH // 3


@pytest.mark.parametrize("seed", SEEDS)
def test_random_chains_of_outer_joins_print_what_duckdb_says(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joins, "better", apart_if_there_are_two)
    choices, ran = Choices.seeded(seed), 0
    rows = chain_rows(choices)
    with Prefixes(rows) as prefixes:
        for _ in range(2 * EACH):
            sql = outer_chain_query(choices)
            found = planned(sql)
            if found is None or not any(isinstance(one, SqlJoinTree) for one in found[1].circuit.operators):
                continue
            ends = random_ends(range(1, LAST + 1), choices.pick((2, 4, 8)))
            assert not different(sql, found[1], rows, prefixes, ends), sql
            ran += 1
    assert ran > EACH // 2


@pytest.mark.parametrize(
    ("joined", "entries"),
    (
        (f"{FOLLOWS_IF}", "12*c_clicks + 12*c_conversions + 12*c_impressions"),
        (
            "FROM impressions i LEFT JOIN clicks c ON c.impression = i.id AND c.ts BETWEEN i.ts AND i.ts + 5 "
            "LEFT JOIN conversions v ON v.amount = i.ad AND v.ts BETWEEN i.ts AND i.ts + 7",
            "7*c_clicks + 7*c_conversions + 7*c_impressions",
        ),
        (
            "FROM impressions i LEFT JOIN (SELECT c.impression, c.ts, v.amount FROM clicks c LEFT JOIN conversions v "
            "ON v.click = c.id AND v.ts BETWEEN c.ts AND c.ts + 7) v "
            "ON v.impression = i.id AND v.ts BETWEEN i.ts AND i.ts + 5",
            "12*c_clicks + 12*c_conversions + 12*c_impressions",
        ),
        (
            "FROM impressions i LEFT JOIN ads a ON a.ad = i.ad LEFT JOIN conversions c ON c.click = i.id "
            "AND c.ts BETWEEN i.ts AND i.ts + 7 LEFT JOIN clicks v ON v.id = a.name AND v.ts BETWEEN c.ts AND c.ts + 2",
            "9*c_clicks + 9*c_conversions + 9*c_impressions + rows_ads",
        ),
        (
            FOLLOWS.replace("JOIN cl", "LEFT JOIN cl").replace("JOIN conv", "RIGHT JOIN conv"),
            "7*c_clicks + 12*c_impressions",
        ),
        (f"{FOLLOWS_IF.replace('LEFT', 'RIGHT')}", "7*c_clicks + 12*c_impressions"),
        (f"{FOLLOWS.replace('JOIN conv', 'LEFT JOIN conv')}", "7*c_clicks + 7*c_conversions + 12*c_impressions"),
    ),
)
def test_a_chain_of_outer_joins_keeps_the_rows_of_each_stream(joined: str, entries: str) -> None:
    clicked, bought = "v.ts" if "(SELECT" in joined else "c.ts", "v.id" if "ads" in joined else "v.amount"
    checked = checked_circuit(f"SELECT i.ad, i.ts AS seen, {clicked} AS clicked, {bought} AS bought {joined}", CHAIN)
    assert checked.circuit_bound is not None
    assert checked.circuit_bound.entries.text == entries
    certificate = certificate_of(checked)
    assert proof_of(checked, certificate).faults == ()
    smaller = [*with_smaller_states(certificate)]
    assert smaller and all(proof_of(checked, one).faults for one in smaller)
    ran = run_circuit(checked, {name: [*rows] for name, rows in SEEN.items()}, 3)
    assert 0 < ran.peak <= (checked.circuit_bound.entries.value or 0)


@pytest.mark.parametrize("around", ("{}", "SELECT u.ad, u.bought FROM ({}) u WHERE u.amount > 3"))
def test_each_side_of_a_union_keeps_the_rows_of_its_streams(around: str) -> None:
    chain = f"SELECT i.ad, v.ts AS bought, v.amount {FOLLOWS}"
    sql = around.format(f"{chain} UNION ALL {chain.replace('v.ts AS', 'i.ts AS')} WHERE v.amount > 7")
    checked = checked_circuit(sql, CHAIN)
    assert checked.circuit_bound is not None
    assert checked.circuit_bound.entries.text == "14*c_clicks + 24*c_impressions"
    certificate = certificate_of(checked)
    assert proof_of(checked, certificate).faults == ()
    assert [bool(proof_of(checked, fewer).faults) for fewer in with_smaller_states(certificate)] == [True, True]
    ran = run_circuit(checked, {name: [*rows] for name, rows in SEEN.items()}, 3)
    assert sum(ran.printed.values()) == 8 and ran.peak <= (checked.circuit_bound.entries.value or 0)


def test_groups_of_a_union_keep_the_rows_of_streams() -> None:
    chain = f"SELECT i.ad, i.ts AS seen, v.amount {FOLLOWS}"
    rows = f"({chain} UNION ALL {chain} WHERE v.amount > 8)"
    checked = checked_circuit(f"SELECT u.seen, COUNT(*) AS n, SUM(u.amount) AS t FROM {rows} u GROUP BY u.seen", CHAIN)
    assert checked.circuit_bound is not None
    assert checked.circuit_bound.entries.text == "14*c_clicks + 24*c_impressions + 12"
    assert proof_of(checked, certificate_of(checked)).faults == ()
    ran = run_circuit(checked, {name: [*rows] for name, rows in SEEN.items()}, 1)
    assert ran.prints({(1, 2, 16, 3): 1, (1, 2, 16, 10): -1, (1, 6, 52, 10): 1})


def test_sums_of_a_chain_whose_rows_all_have_partners() -> None:
    either = FOLLOWS_IF.replace("v.click = c.id", "v.click = c.id AND (v.amount = 9 OR i.ad = v.amount)")
    checked = checked_circuit(
        f"SELECT i.ts AS seen, SUM(v.amount) AS t {either} WHERE v.amount > 0 GROUP BY i.ts", CHAIN
    )
    ran = run_circuit(checked, {name: [*rows] for name, rows in SEEN.items()})
    assert ran.prints({(1, 18, 10): 1})


def test_a_row_that_waits_is_taken_back_once() -> None:
    checked = checked_circuit(f"SELECT i.ad, i.ts AS seen, v.amount {FOLLOWS_IF}", CHAIN)
    ran = run_circuit(checked, {name: [*rows] for name, rows in SEEN.items()})
    assert ran.prints(
        {
            (10, 1, None, 1): 2,
            (11, 3, None, 3): 1,
            (10, 1, None, 3): -2,
            (10, 1, 8, 3): 2,
            (10, 1, 9, 10): 2,
        }
    )


@pytest.mark.parametrize("ticks", (None, 1))
@pytest.mark.parametrize(
    ("sql", "printed"),
    (
        (
            f"SELECT i.ad, i.ts AS seen, c.ts AS clicked, v.amount {FOLLOWS}",
            {(10, 1, 3, 8, 3): 2, (10, 1, 3, 9, 10): 2},
        ),
        (f"SELECT DISTINCT i.ad, v.ts AS bought {FOLLOWS}", {(10, 3, 3): 1, (10, 10, 10): 1}),
        (
            f"SELECT v.ts AS bought, COUNT(*) AS n, SUM(v.amount) AS total {FOLLOWS} GROUP BY v.ts",
            {(3, 2, 16, 3): 1, (10, 2, 18, 10): 1},
        ),
        (
            f"SELECT a.name, v.amount {FOLLOWS} JOIN ads a ON a.ad = i.ad WHERE a.name <> v.amount + 92",
            {(101, 8, 3): 2, (100, 9, 10): 2},
        ),
    ),
)
def test_a_chain_keeps_the_rows_of_each_side(sql: str, printed: dict[tuple[Any, ...], int], ticks: Ticks) -> None:
    found = planned(sql, CHAIN)
    assert found is not None
    judgement, plan = found
    assert any(one.is_apart for one in judgement.operation.every())
    ran = run_plan(plan, {name: [*rows] for name, rows in SEEN.items()}, ticks)
    assert ran.prints(printed)
    assert ran.peak <= (value(job_spec(plan).plan.bound, {}) or 0)


def test_an_impression_is_kept_for_both_windows_and_a_click_for_one() -> None:
    found = planned(f"SELECT i.ad, c.ts AS clicked, v.amount {FOLLOWS}", CHAIN)
    assert found is not None
    judgement, plan = found
    assert judgement.entries is not None
    assert judgement.entries.text == "7*c_clicks + 12*c_impressions"
    assert [(one.state, one.at_most) for one in plan.circuit.kept] == [("0_0", 24), ("0_1", 14)]
    ran = run_plan(plan, {name: [*rows] for name, rows in SEEN.items()}, None)
    assert dict(ran.entries) == {1: 1, 2: 1, 3: 3, 9: 4, 10: 3, 11: 3, 12: 3}


def test_of_many_streams_in_any_order_rows_are_kept_and_not_their_sets() -> None:
    others = [f"s{place}" for place in range(11)]
    near = " AND ".join(f"{s}.ts > A.ts AND {s}.ts <= A.ts + 3 AND {s}.a = A.a" for s in others)
    sql = f"SELECT A.v FROM A, {', '.join(f'B AS {s}' for s in others)} WHERE {near}"
    checked = checked_circuit(sql, CATALOG)
    assert checked.circuit_bound is not None
    assert checked.circuit_bound.entries.value == 2 * (3 + 11 * 2)


def test_two_streams_keep_their_tables_and_warnings_are_told() -> None:
    pair = "FROM impressions i JOIN clicks c ON c.impression = i.id AND c.ts BETWEEN i.ts AND i.ts + 5"
    assert checked_circuit(f"SELECT i.ad, c.ts AS clicked {pair}", CHAIN).decision is not None
    never = "(i.ad = 1 AND i.ad = 2 OR v.amount > 3)"
    checked = checked_circuit(f"SELECT i.ad, c.ts AS clicked, v.amount {FOLLOWS} WHERE {never}", CHAIN)
    assert checked.circuit_bound is not None
    assert [one.severity for one in checked.diagnostics] == ["warning"]


def test_restarts_change_nothing() -> None:
    choices = Choices.seeded(5)
    given = chain_rows(choices)
    sql = "SELECT B.ts AS x, COUNT(*) AS n, SUM(C.v) AS total FROM A"
    sql += " JOIN B ON A.a = B.a AND B.ts BETWEEN A.ts AND A.ts + 3"
    sql += " JOIN C ON C.b = B.b AND C.ts BETWEEN B.ts - 2 AND B.ts + 2 GROUP BY B.ts"
    circuit = Circuit({"sql": sql, "catalog": CATALOG, "mode": "changes", "input": given})
    assert any(isinstance(one, SqlBlock) and one.synopsis.branches[0].apart for one in circuit.circuit.operators)
    restarts_and_other_ticks_change_nothing(circuit)
