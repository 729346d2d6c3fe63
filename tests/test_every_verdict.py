"""What is rejected has a witness, over the whole language: random queries.

Unions, DISTINCT, relations, finite streams, windows, offsets, OR, IN, <>, self-joins, NULLs and all types. How many of
each verdict there were is printed at the end of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import TooManyBranchesError
from streambound.criteria.verdict import Decision, decide
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.witness import Witness, build
from streambound.recheck.oracle.prove import prove
from streambound.reports.witness_report import json_rows
from support.choices import Choices
from support.grown import SIZE, grown_plan
from support.keyed_queries import make_keyed_statement
from support.product import NotAnalysed, lowered, parsed
from support.profiles import MORE
from support.queries import MANY_ALTERNATIVES, Features, Statement, make_statement
from support.relation_queries import make_relation_statement

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
