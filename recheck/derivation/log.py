"""Checks a log of facts: what holds of a column at a node, each by facts before it and atoms."""

from __future__ import annotations

from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.claims import ClaimedFact
from streambound.recheck.derivation.facts import CheckedFacts, TimeFact
from streambound.recheck.derivation.plan import PlanNodes
from streambound.recheck.derivation.times import time_of_column
from streambound.recheck.derivation.values import value_set, values_of_column


def checked_facts(nodes: PlanNodes, claimed: tuple[ClaimedFact, ...]) -> CheckedFacts:
    """Some facts, each checked in its turn; raises RejectedError for one that does not follow."""
    facts = CheckedFacts(nodes, claimed)
    for number, claim in enumerate(claimed):
        node, time = nodes.at(claim.node), claim.time
        if not 0 <= claim.column < node.width or (claim.values is None) == (time is None):
            raise RejectedError(f"fact {number} is about nothing")
        if any(not 0 <= one < len(claimed) for one in (*claim.uses, *claim.present)):
            raise RejectedError(f"fact {number} uses facts that are none")
        if claim.values is not None:
            said = value_set(claim.values, node, claim.column)
            if not values_of_column(facts, claim, node).within(said):
                raise RejectedError(f"fact {number}: {node.schema[claim.column].name} has other values")
            facts.sets[number] = said
        if time is not None:
            found = time_of_column(facts, claim, node, time)
            if (time.function, time.width) != (found.function.name, found.function.width):
                raise RejectedError(f"fact {number}: the column is another function of time")
            facts.times[number] = TimeFact(time.source, time.low, time.high, found.function, found.beside)
            if not found.within(facts.times[number]):
                raise RejectedError(f"fact {number}: the time may be further away")
    return facts
