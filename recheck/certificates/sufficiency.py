"""Does a table store enough? Partial matches with one key must have the same future.

Let two partial matches of a table's streams have the same key, and let one of them be completed by some tuples. Those
tuples complete the other one as well, if every condition between inside and outside follows from: what holds inside,
what holds outside, what the key decides, and the order of arrival (all that is inside came before all that is not,
except for streams ``beside`` the table, those of other parts of a match: `recheck.certificates.independence`).
Where the table keeps extrema, it is enough that those of the other one are at least as good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

from streambound.analyzer.query import Attribute, Comparison, Op, TimeValue
from streambound.recheck.certificates.claims import (
    ClaimedAge,
    ClaimedExtremum,
    ClaimedLimit,
    ClaimedStored,
    ClaimedTable,
)
from streambound.recheck.certificates.conditions import Bound, Conditions, ContradictionError, Distances, Edge, Node


def insufficient(conditions: Conditions, table: ClaimedTable, beside: frozenset[str] = frozenset()) -> Iterator[str]:
    """The reasons why a table's key or its ages are wrong."""
    ages = _wrong_ages(conditions, table, beside)
    faults = [*_wrong_keys(conditions, table), *ages, *_wrong_extrema(conditions, table)]
    yield from faults
    if not faults:
        known = Known(conditions, table, beside)
        yield from _unstored_outputs(known)
        yield from _undecided(known)


def _wrong_keys(conditions: Conditions, table: ClaimedTable) -> Iterator[str]:
    """Attributes that are not the table's, and equalities that do not hold."""
    for stored in table.stored:
        attributes = (stored.attribute, *(other for other, _ in stored.equal))
        if not all(a.source in table.sources and a in conditions.attributes for a in attributes):
            yield f"table {table.name} stores {stored.attribute}, which is not an attribute of it"
            return
        for other, offset in stored.equal:
            if conditions.equal(other, stored.attribute) != offset:
                yield f"table {table.name} takes {other} for {stored.attribute} + {offset}, which it need not be"
        if stored.cuts and (stored.low or stored.high or conditions.is_integer(stored.attribute)):
            yield f"table {table.name} clips {stored.attribute} and cuts it, or cuts integers"


def _wrong_extrema(conditions: Conditions, table: ClaimedTable) -> Iterator[str]:
    """Limits that a completing tuple need not satisfy, or that are not of one source inside and one outside."""
    for extremum in table.extrema:
        for own, offset in extremum.of:
            for other, more, strict in extremum.limits:
                if own.source not in table.sources or other.source in table.sources:
                    yield f"table {table.name} limits {other} by {own}, which are not one inside and one outside of it"
                elif not _implied(conditions, extremum, (own, offset), (other, more, strict)):
                    yield f"table {table.name} limits {other} by {own} more than the query does"


def _implied(
    conditions: Conditions,
    extremum: ClaimedExtremum,
    part: tuple[Attribute, Fraction],
    limit: tuple[Attribute, Fraction, bool],
) -> bool:
    """Whether the query limits an attribute as a part of an extremum says."""
    (own, offset), (other, more, strict) = part, limit
    lesser, greater, c = (other, own, offset + more) if extremum.greatest else (own, other, -offset - more)
    return {own, other} <= conditions.present and conditions.follows.implies(lesser, greater, c, strict)


def _wrong_ages(conditions: Conditions, table: ClaimedTable, beside: frozenset[str]) -> Iterator[str]:
    """Entries that are dropped while something can still complete them.

    A match that they are a part of misses all streams outside that are not beside the table; where there is none of
    these, it misses any one of the others.
    """
    outside = [stream for stream in conditions.streams if stream not in table.streams]
    missing = [stream for stream in outside if stream not in beside]
    enough = any if missing else all
    for age in table.ages:
        if age.stream not in table.streams:
            yield f"table {table.name} has no age of {age.stream}"
        elif age.expires is not None:
            time, limit = conditions.time(age.stream), age.expires
            others = (conditions.time(other) for other in missing or outside)
            if not enough(conditions.follows.implies(other, time, limit) for other in others):
                yield f"table {table.name} drops {age.stream} after {limit}, while nothing says that it is too old"
    if table.deadline is not None:
        ends = ((conditions.time(s), conditions.zero(conditions.time(s))) for s in missing or outside)
        if not enough(conditions.follows.implies(time, zero, table.deadline) for time, zero in ends):
            yield f"table {table.name} ends at {table.deadline}, while no stream outside of it does"


def within(
    conditions: Conditions, attribute: Attribute, limit: ClaimedLimit, offset: int = 0, below: bool = False
) -> bool:
    """Whether ``attribute ≥ limit + offset`` follows, part by part; or ``≤``, where it is ``below``."""
    follows, constant = conditions.follows, () if limit.constant is None else (limit.constant,)
    parts = (*((conditions.zero(attribute), one) for one in constant), *limit.relations)
    if below:
        return all(follows.implies(attribute, part, plus + offset) for part, plus in parts)
    return all(follows.implies(part, attribute, -plus - offset) for part, plus in parts)


class Known:
    """The facts that a table's key gives of attributes inside, for comparisons with those outside."""

    def __init__(self, conditions: Conditions, table: ClaimedTable, beside: frozenset[str] = frozenset()) -> None:
        self.conditions = conditions
        self.table = table
        self.beside = beside
        self.stored = {stored.attribute: stored for stored in table.stored}
        self.ages: dict[Attribute, ClaimedAge] = {conditions.time(age.stream): age for age in table.ages}

    def inside(self, attribute: Attribute) -> bool:
        """Whether an attribute is of the table's streams and relations."""
        return attribute.source in self.table.sources

    def exactly(self, attribute: Attribute) -> bool:
        """Whether the key determines an attribute's value."""
        if attribute in self.ages:
            return self.ages[attribute].exact
        exact = [s.attribute for s in self.table.stored if not s.low and not s.high and not s.cuts]
        if any(self.conditions.equal(attribute, other) is not None for other in exact):
            return True
        constant = self.conditions.follows.fixed(attribute, self.conditions.zero(attribute)) is not None
        return attribute in self.conditions.null or (constant and attribute in self.conditions.present)

    def decides(self, x: Attribute, y: Attribute) -> bool:
        """Whether the key decides the strongest bound on ``x − y``, one of them inside and one outside."""
        mine, other = (x, y) if self.inside(x) else (y, x)
        bound = self.conditions.follows.bound(x, y)
        if bound is None:
            return False
        if self.exactly(mine):
            return True
        if mine in self.ages:
            return self._old_enough(self.ages[mine], int(bound[0]), younger=mine == y)
        if any(self._limited(extremum, mine, other, mine == y, bound) for extremum in self.table.extrema):
            return True
        stored = self.stored.get(mine)
        if stored is None:
            return False
        if stored.cuts:
            return bound[0] == 0 and self._cut(stored, other, included=(bound[1] < 0) == (mine == x))
        if not self.conditions.is_integer(mine):
            return False
        return self._clipped(stored, other, int(bound[0]), above=mine == y)

    def _limited(
        self, extremum: ClaimedExtremum, mine: Attribute, other: Attribute, greater: bool, bound: Bound
    ) -> bool:
        """Whether a limit at least as weak as the other match's says so, ``mine`` being a part of its sums."""
        if extremum.greatest != greater:
            return False
        for own, offset in extremum.of:
            apart = self.conditions.equal(own, mine)
            for limited, more, strict in extremum.limits if apart is not None else ():
                c = (offset + more if greater else -offset - more) + (apart if greater else -apart)  # type: ignore[operator]
                if limited == other and (c, -int(strict)) <= bound:
                    return True
        return False

    def _cut(self, stored: ClaimedStored, other: Attribute, included: bool) -> bool:
        """Whether a cut, or the conditions, say on which side of every value of ``other`` the stored one lies."""
        listed = next((a for a in self.conditions.attributes if self._lists(a, other)), None)
        cuts = {(self.conditions.constant(stored.attribute, cut.value), cut.included) for cut in stored.cuts}
        return listed is not None and all(
            (number, included) in cuts or self._one_side(stored.attribute, number, included)
            for number in map(self.conditions.number, self.conditions.values(listed))
        )

    def _lists(self, attribute: Attribute, other: Attribute) -> bool:
        return self.conditions.listed(attribute) and self.conditions.equal(attribute, other) == 0

    def _one_side(self, attribute: Attribute, number: Fraction | int, included: bool) -> bool:
        """Whether an attribute is at least a number (above it, unless ``included``) always or never."""
        follows, zero = self.conditions.follows, self.conditions.zero(attribute)
        always = follows.implies(zero, attribute, -number, strict=not included)
        return always or follows.implies(attribute, zero, number, strict=included)

    @staticmethod
    def _old_enough(age: ClaimedAge, bound: int, younger: bool) -> bool:
        """Ages from ``saturates`` on are one: ``other − mine ≤ c`` needs c below it, ``≥ c`` c up to it."""
        most = age.saturates or 0
        return bound < most if younger else -bound <= most

    def _clipped(self, stored: ClaimedStored, other: Attribute, bound: int, above: bool) -> bool:
        """``mine − other ≤ c``: values raised to a limit that is at most ``other + c`` in any case; ``other − mine ≤
        c``, where it is ``above``: lowered to one that is at least ``other − c``.
        """
        limits, none = (stored.high, stored.low) if above else (stored.low, stored.high)
        offset = bound if above else -bound
        return not none and any(
            self.same(limit) and within(self.conditions, other, limit, offset, above) for limit in limits
        )

    def same(self, limit: ClaimedLimit) -> bool:
        """Whether matches with one key are clipped to one limit: the key holds the streams' values in it."""
        return all(a.source in self.conditions.relations or self.exactly(a) for a, _ in limit.relations)

    def decided(self) -> Distances:
        """The closure of the conditions inside and outside, the key, and the order of arrival."""
        return Distances([*bounds(self.conditions, self._usable), *self._arrival()])

    def _usable(self, x: Attribute, y: Attribute) -> bool:
        return self.inside(x) == self.inside(y) or self.decides(x, y)

    def _arrival(self) -> Iterator[Edge]:
        """What is missing comes later; what is beside the table may have come before, but not so early that its table
        dropped it, which is no sooner than the conditions say (`recheck.certificates.independence`).
        """
        inside = [self.conditions.time(stream) for stream in self.table.streams]
        for other in (stream for stream in self.conditions.streams if stream not in self.table.streams):
            time = self.conditions.time(other)
            for old in inside:
                if other not in self.beside:
                    yield old, time, -1, False
                elif (bound := self.conditions.follows.bound(old, time)) is not None:
                    yield old, time, bound[0], False


def _unstored_outputs(known: Known) -> Iterator[str]:
    apart = {(distance.plus, distance.minus) for distance in known.table.distances}
    values = (output.value for output in known.conditions.branch.outputs)
    kept = [v for v in values if isinstance(v, TimeValue) and (v.plus, v.minus) in apart]
    for attribute in known.conditions.outputs_but(kept):
        if known.inside(attribute) and not known.exactly(attribute):
            yield f"table {known.table.name} does not store {attribute}, which the query returns"


def _undecided(known: Known) -> Iterator[str]:
    """The conditions between inside and outside whose outcome the key does not decide."""
    try:
        decided = known.decided()
        for atom in known.conditions.comparisons:
            inside = [attribute for attribute in atom.attributes if known.inside(attribute)]
            parted = len(inside) == 1 and len(atom.attributes) == 2
            if parted and not settled(known.conditions, decided, atom, known.exactly(inside[0])):
                yield f"table {known.table.name} does not store what decides {atom.left} {atom.op} {atom.right}"
    except ContradictionError:
        return  # no partial match has exactly these streams


def settled(conditions: Conditions, decided: Distances, atom: Comparison, exactly: bool) -> bool:
    """Whether the outcome of a comparison is decided, of which the key has what is inside ``exactly`` or not."""
    if atom.op is not Op.NE:
        return all(decided.implies(*edge) for edge in conditions.edges(atom))
    apart = (Comparison(atom.left, op, atom.right, atom.offset) for op in (Op.LT, Op.GT))
    return exactly or any(decided.implies(*edge) for less in apart for edge in conditions.edges(less))


def bounds(conditions: Conditions, usable: Callable[[Attribute, Attribute], bool]) -> Iterator[Edge]:
    """The strongest bounds on single attributes, and on the differences of two that are usable."""
    nodes: list[Node] = [*conditions.attributes, *{conditions.zero(a) for a in conditions.attributes}]
    for x, y in product(nodes, nodes):
        bound = conditions.follows.bound(x, y)
        if bound is None or x == y:
            continue
        if not isinstance(x, Attribute) or not isinstance(y, Attribute) or usable(x, y):
            yield x, y, bound[0], bool(bound[1])
