"""``S.ts <= T.ts + 10``, ``S.ts <= T.ts``, ``S.ts = T.ts``: a window, an order, or simultaneous timestamps.

A tuple of T is remembered for as long as a partner S may come later; each of the three ends that.
"""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.query import Op
from streambound.analyzer.types import Family
from streambound.criteria.repairs.rejected import Rejected
from streambound.criteria.repairs.steps import AddCondition, Change, Place
from streambound.criteria.wording import listed

WINDOW = 20
ORDER = 30
SIMULTANEOUS = 80
BOTH_WAYS = 4
_PARTNER = 5
_HOUR = 3_600_000_000
_INSTANTS = 10
EXAMPLE = "the width is an example: choose yours"


def windows(rejected: Rejected) -> Iterator[Change]:
    """A partner comes soon or not at all; where either may come first, neither waits for long."""
    for facts, stream, partners in _later(rejected):
        steps = tuple(_before(facts, partner, stream, width(facts, partner, stream)) for partner in partners)
        more = _PARTNER * (len(partners) - 1)
        title = f"let {listed(partners)} come at most so long after {stream}"
        yield Change(("window",), (title,), WINDOW + more, steps, (EXAMPLE,))
        back = tuple(
            _before(facts, stream, partner, width(facts, stream, partner))
            for partner in partners
            if stream in facts.later[partner]
        )
        if back:
            title = f"let {listed((*partners, stream))} come at most so long after each other"
            yield Change(("window",), (title,), WINDOW + BOTH_WAYS + more, (*steps, *back), (EXAMPLE,))


def orders(rejected: Rejected) -> Iterator[Change]:
    """The stream to remember is never the older one."""
    for facts, stream, partners in _later(rejected):
        if _may_be_newer(facts, stream, partners):
            steps = tuple(_before(facts, partner, stream, 0) for partner in partners)
            title = f"let {listed(partners)} never come after {stream}"
            yield Change(("order",), (title,), ORDER + _PARTNER * (len(partners) - 1), steps)


def simultaneous(rejected: Rejected) -> Iterator[Change]:
    """All come at the same time."""
    for facts, stream, partners in _later(rejected):
        if _may_be_newer(facts, stream, partners):
            steps = tuple(_before(facts, partner, stream, 0, Op.EQ) for partner in partners)
            title = f"let {listed(partners)} come at the same time as {stream}"
            yield Change(("simultaneous",), (title,), SIMULTANEOUS + _PARTNER * (len(partners) - 1), steps)


def _later(rejected: Rejected) -> Iterator[tuple[Facts, str, tuple[str, ...]]]:
    """Every stream to blame, with each stream that may come later, and with all of them."""
    for culprits in rejected.culprits:
        for stream in culprits.streams:
            later = culprits.facts.later[stream]
            yield from ((culprits.facts, stream, (partner,)) for partner in later)
            if len(later) > 1:
                yield culprits.facts, stream, later


def _may_be_newer(facts: Facts, stream: str, partners: tuple[str, ...]) -> bool:
    """Whether the query leaves room for the order: ``partner.ts > stream.ts`` contradicts it."""
    return all((lead := facts.lag(stream, partner)) is None or lead >= 0 for partner in partners)


def _before(facts: Facts, first: str, second: str, offset: int, op: Op = Op.LE) -> AddCondition:
    """``first.ts <= second.ts + offset``."""
    left, right = facts.time(first), facts.time(second)
    places = Place.of(facts.branch, left), Place.of(facts.branch, right)
    return AddCondition(places[0], op, places[1], offset, facts.branch.column(left).type)


def width(facts: Facts, partner: str, stream: str) -> int:
    """A width for a window, above the least delay that the query asks for."""
    lead = facts.lag(stream, partner)
    family = facts.branch.column(facts.time(partner)).type.family
    step = _HOUR if family is Family.TIMESTAMP else _INSTANTS
    return step if lead is None or lead >= 0 else step * (-lead // step + 1)
