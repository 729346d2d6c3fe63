"""``… AND T.a <= 99``: the missing bound of an attribute, in the query."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.boundedness import Facts, JoinConstraint
from streambound.analyzer.query import Attribute, Op
from streambound.criteria.repairs.examples import example_range
from streambound.criteria.repairs.rejected import Culprits, Rejected
from streambound.criteria.repairs.steps import AddCondition, Change, Place

WEIGHT = 50
_SECOND_SIDE = 4
_SECOND_ATTRIBUTE = 6
_EXAMPLE = 2

Side = tuple[Attribute, bool]
"""An attribute and whether its upper bound is meant."""


def bounds(rejected: Rejected) -> Iterator[Change]:
    """One side where one is enough, both sides of an attribute, or one side of each of two joined attributes."""
    for culprits in rejected.culprits:
        for sides in _choices(culprits):
            if sides:
                yield _change(culprits.facts, sides, rejected)


def _choices(culprits: Culprits) -> Iterator[tuple[Side, ...]]:
    facts = culprits.facts
    for attribute in culprits.attributes:
        if facts.branch.column(attribute).type.discrete:
            missing = _missing(facts, attribute)
            if attribute not in culprits.wholly:
                yield from ((side,) for side in missing)
            yield missing
    for _, join in culprits.joins:
        if facts.branch.column(join.attribute).type.discrete and not join.equality:
            yield _needed(facts, join)


def _missing(facts: Facts, attribute: Attribute) -> tuple[Side, ...]:
    below = () if facts.bounded_below(attribute) else ((attribute, False),)
    return below if facts.bounded_above(attribute) else (*below, (attribute, True))


def _needed(facts: Facts, join: JoinConstraint) -> tuple[Side, ...]:
    """What makes ``attribute <= other + c`` harmless: an upper bound of the one, a lower bound of the other."""
    upper = () if facts.bounded_above(join.attribute) else ((join.attribute, True),)
    return upper if facts.bounded_below(join.other) else (*upper, (join.other, False))


def _change(facts: Facts, sides: tuple[Side, ...], rejected: Rejected) -> Change:
    steps, notes, weight = [], [], WEIGHT
    for attribute, above in sides:
        values = example_range(facts, attribute, rejected.catalog)
        kind = facts.branch.column(attribute).type
        place = Place.of(facts.branch, attribute)
        steps.append(AddCondition(place, Op.LE if above else Op.GE, None, values.high if above else values.low, kind))
        notes.append(values.note)
        weight += 0 if values.implied else _EXAMPLE
    names = {attribute for attribute, _ in sides}
    weight += (len(sides) - 1) * (_SECOND_SIDE if len(names) == 1 else _SECOND_ATTRIBUTE)
    return Change(("bound",), (_title(sides),), weight, tuple(steps), tuple(dict.fromkeys(notes)))


def _title(sides: tuple[Side, ...]) -> str:
    if len(sides) == 2 and sides[0][0] == sides[1][0]:
        return f"bound {sides[0][0]} from both sides"
    return " and ".join(f"bound {attribute} from {'above' if above else 'below'}" for attribute, above in sides)
