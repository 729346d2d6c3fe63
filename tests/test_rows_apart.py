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
from streambound.criteria.dataflow import aggregates, blocks
from streambound.criteria.dataflow.judge import Judgement, judge
from streambound.criteria.dataflow.state import Operation, better
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.from_operations import NotMade
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.operations.plan import plan_of_judgement
from streambound_runtime.operators.formula import value
from support.chains import CATALOG, LAST, Prefixes, Rows, chain_query, chain_rows
from support.choices import Choices
from support.circuits import random_ends, run_plan

EACH = 15
SEEDS = (3, 41)


def planned(sql: str, catalog: dict[str, Any] = CATALOG) -> tuple[Judgement, PlannedCircuit] | None:
    """A bounded statement with its plan; None where there is none."""
    read = catalog_from_mapping(catalog, "streams.toml")
    (statement,) = split_statements(SourceText("chain.sql", sql))
    judgement = judge(statement, read)
    if judgement is None or judgement.entries is None:
        return None
    try:
        return judgement, plan_of_judgement(judgement, statement)
    except (NotMade, StreamboundError):
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
    most = value(job_spec(plan).plan.bound, {name: [*given] for name, given in rows.items()})
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
            ends = random_ends(range(1, LAST + 1), choices.pick((2, 5, LAST)))
            assert not different(sql, found[1], rows, prefixes, ends), sql
            ran += 1
    assert ran > EACH // 3
