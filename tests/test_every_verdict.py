"""Every verdict a proof, over the whole language: random queries, each decided once for both tests.

Unions, DISTINCT, relations, finite streams, windows, offsets, OR, IN, <>, self-joins, NULLs and all types. How many of
each verdict there were is printed at the end of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError, TooManyBranchesError
from streambound.analyzer.symbols import symbols_in
from streambound.criteria.bound import bound
from streambound.criteria.verdict import Decision, decide
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.witness import Witness, build
from streambound.recheck.oracle.prove import prove
from streambound.reports.witness_report import json_rows
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.plan_ir import Plan
from support.certificates import assert_certified
from support.choices import Choices
from support.encoding import encode_rows
from support.floods import floods
from support.grown import SIZE, grown_plan
from support.kernel import Kernel, sizes_of, synopsis_of
from support.keyed_queries import make_keyed_statement
from support.product import NotAnalysed, lowered, parsed
from support.profiles import MORE
from support.queries import MANY_ALTERNATIVES, Features, Statement, make_statement
from support.relation_queries import make_relation_statement
from support.streams import adversarial_rows, small_rows

pytestmark = pytest.mark.xdist_group("decisions")  # made once, in one process
STATEMENTS = 126 * MORE
KINDS: tuple[Callable[[Choices], Statement], ...] = (
    partial(make_statement, features=Features()),
    partial(make_statement, features=MANY_ALTERNATIVES),
    partial(make_statement, features=replace(Features(), windows=60, finite=40, timestamps=20)),
    partial(make_statement, features=replace(Features(), distinct=100, unions=20, alternatives=25)),
    partial(make_keyed_statement, distinct=True),
    lambda choices: make_relation_statement(choices, distinct=choices.chance(70)),
)
LARGER = SIZE
"""Elements of a witness that each unbounded query is to have, too: more than any of their streams brings at once."""
Decided = tuple[Statement, Decision]


@cache
def decisions() -> tuple[tuple[Decided, ...], Counter[str]]:
    """The statements that have a meaning, with their decisions, and how many of each verdict there are."""
    found: list[Decided] = []
    counts: Counter[str] = Counter()
    for seed in range(STATEMENTS):
        statement = KINDS[seed % len(KINDS)](Choices.seeded(seed))
        try:
            decision = decide(lowered(statement.sql, statement.catalog))
        except NotAnalysed:
            continue
        except TooManyBranchesError:
            counts[f"{_kind(statement)} {Verdict.UNKNOWN}"] += 1
            continue
        counts[f"{_kind(statement)} {decision.verdict}"] += 1
        found.append((statement, decision))
    return tuple(found), counts


def _kind(statement: Statement) -> str:
    return "set" if statement.distinct else "bag"


@pytest.mark.slow
def test_no_accepted_query_keeps_more_than_its_bound() -> None:
    """Its certificate holds, and the kernel of its job keeps at most M entries, on random and on hostile streams."""
    ran: Counter[str] = Counter()
    for number, (statement, decision) in enumerate(decisions()[0]):
        if decision.verdict is Verdict.BOUNDED:
            assert_certified(decision)
            ran[_kind(statement)] += _stays_within(statement, decision, number)
    assert ran["bag"] > 0.25 * STATEMENTS and ran["set"] > 0.25 * STATEMENTS, ran


def _stays_within(statement: Statement, decision: Decision, number: int) -> bool:
    """Whether the query runs; then it kept no more entries than its formula says, which it has in any case."""
    found, catalog = bound(decision.derivation.split), catalog_from_mapping(statement.catalog)
    assert found is not None, statement.sql
    try:
        plan = make_plan(decision, catalog)
    except NotExecutableError:
        return False
    for relations, streams in _inputs(statement, plan, number):
        known = sizes_of(plan, relations, streams)
        if symbols_in(found.entries.text) <= set(known):  # else a relation or a finite stream brings no value
            limit = eval(found.entries.text, {"__builtins__": {}, "max": max, "min": min}, known)
            peak = _peak(plan, synopsis_of(plan, relations), streams)
            assert peak <= limit, (statement.sql, found.entries.text, peak)
    return True


Rows = dict[str, list[dict[str, Any]]]


def _inputs(statement: Statement, plan: Plan, number: int) -> Iterator[tuple[Rows, Rows]]:
    """Relations and streams: random ones, ones with many values, and for some queries those that fill the tables.

    Those take longest; tests/synopsis_exec/test_adversary.py has more of them.
    """
    choices = Choices.seeded(number)
    makers: tuple[Callable[..., Rows], ...] = (small_rows, adversarial_rows)
    for make in makers:
        rows = encode_rows(statement.catalog, make(choices, statement.catalog, 5))
        yield {r.name: rows[r.name] for r in plan.relations}, {s.name: rows[s.name] for s in plan.streams}
    if number % 12 == 0:
        yield from ((flood.relations, flood.streams) for flood in floods(plan, rate=4, timestamps=6))


def _peak(plan: Plan, synopsis: Kernel, streams: Rows) -> int:
    by_time: dict[int, Rows] = {}
    for stream in plan.streams:
        for row in streams[stream.name]:
            by_time.setdefault(row[str(stream.timestamp)], {}).setdefault(stream.name, []).append(row)
    most, times = 0, sorted(by_time)
    for start in range(0, len(times), 3):
        synopsis.tick(times[start : start + 3], by_time)
        most = max(most, synopsis.entries())
    return most


@pytest.mark.slow
def test_no_rejected_query_lacks_a_witness_that_sql_confirms(record_property: Callable[[str, object], None]) -> None:
    """Batch SQL tells all 2^N prefixes apart; *unknown* is rare for sets, and never said of bags."""
    found, counts = decisions()
    record_property("random queries", ", ".join(f"{name} {n}" for name, n in sorted(counts.items())))
    for statement, decision in found:
        if decision.verdict is Verdict.UNBOUNDED:
            assert decision.witness is not None
            assert grown_plan(decision, LARGER), statement.sql
            assert _confirmed(statement, decision, _small(decision.witness)), statement.sql
    sets = sum(n for name, n in counts.items() if name.startswith("set"))
    assert counts["bag unbounded"] > 0.02 * STATEMENTS and counts["set unbounded"] > 0.05 * STATEMENTS, counts
    assert counts["set unknown"] < 0.02 * sets, counts
    assert not counts["bag unknown"], counts


def _small(witness: Witness) -> Witness:
    return witness if witness.size <= 3 else build(witness.plan, 3) or witness


def _confirmed(statement: Statement, decision: Decision, witness: Witness) -> bool:
    split = decision.derivation.split
    elements, probes = ([json_rows(split, rows) for rows in part] for part in (witness.elements, witness.probes))
    catalog = catalog_from_mapping(statement.catalog)
    return prove(parsed(statement.sql), catalog, json_rows(split, witness.always), elements, probes).holds
