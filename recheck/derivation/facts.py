"""Checks a log of facts: what holds of a column at a node, each by one rule, of facts before it and atoms."""

from __future__ import annotations

from streambound.analyzer.algebra.nodes import Join
from streambound.analyzer.algebra.value_sets import ANYTHING
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.claims import ClaimedFact, NotCheckedError
from streambound.recheck.derivation.fact_log import LEFT, RIGHT, CheckedFacts, TimeFact
from streambound.recheck.derivation.time_facts import TIME_RULES
from streambound.recheck.derivation.trees import PlanNode, PlanNodes, sources
from streambound.recheck.derivation.value_facts import VALUE_RULES, value_set


def checked_facts(nodes: PlanNodes, claimed: tuple[ClaimedFact, ...]) -> CheckedFacts:
    """Some facts, each checked in its turn; raises RejectedError for one that does not follow."""
    facts = CheckedFacts(nodes, claimed)
    for number, claim in enumerate(claimed):
        node = nodes.at(claim.node)
        if not 0 <= claim.column < node.width or (claim.values is None) == (claim.time is None):
            raise RejectedError(f"fact {number} is about nothing")
        before = claim.present if claim.rule == "recursive" else (*claim.uses, *claim.present)
        if any(not 0 <= one < number for one in before):
            raise RejectedError(f"fact {number} uses facts that are not before it")
        rules = VALUE_RULES if claim.time is None else TIME_RULES
        if claim.rule not in rules:
            raise NotCheckedError(f"facts by the rule {claim.rule!r}")
        if claim.values is not None:
            _values(facts, number, claim, node)
        else:
            _time(facts, number, claim, node)
    return facts


def _values(facts: CheckedFacts, number: int, claim: ClaimedFact, node: PlanNode) -> None:
    assert claim.values is not None, "it is about values"
    facts.sets[number] = value_set(claim.values, node, claim.column)
    if VALUE_RULES[claim.rule](facts, claim, node).within(facts.sets[number]):
        return
    for atom in claim.atoms if claim.rule == "narrowed" else ():
        part = facts.atom(node, atom)
        if atoms.values(part, node.row, claim.column) in (ANYTHING, ANYTHING.not_null()):
            raise NotCheckedError(f"which values {part.sql('spark')} leaves")
    raise RejectedError(f"fact {number}: {node.schema[claim.column].name} has other values")


def _time(facts: CheckedFacts, number: int, claim: ClaimedFact, node: PlanNode) -> None:
    assert claim.time is not None, "it is about a time"
    if isinstance(node.tree, Join) and claim.time.source not in ("", LEFT, RIGHT, *sources(node)):
        raise RejectedError("a time of what no row is made of")
    time = TIME_RULES[claim.rule](facts, claim, node, claim.time)
    said = TimeFact(claim.time.source, claim.time.low, claim.time.high, time.function, claim.time.beside)
    if claim.time.function != time.function.name or claim.time.width != time.function.width:
        raise RejectedError(f"fact {number}: the column is another function of time")
    if not time.within(said):
        raise RejectedError(f"fact {number}: the time may be further away")
    facts.times[number] = said
