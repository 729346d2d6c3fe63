"""The values of a witness's tuples, element by element: apart from its order, no condition sees what they differ in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Closure, Sort
from streambound.analyzer.query import Attribute
from streambound.analyzer.values import Value
from streambound.criteria.derived_rows import unit
from streambound.criteria.projected_time import valued_times
from streambound.criteria.solution import (
    VALUES,
    Assignment,
    DifferenceConstraint,
    conditions_of,
    fixed,
    restricted,
    solve,
)
from streambound.criteria.witness_plan import Kept, WitnessPlan, stated_differences
from streambound.criteria.witness_times import WitnessTimes

MOST_TEXTS = 1_000_000
"""Strings that are made between two of the query."""


class WitnessValues:
    """A solution of the plan's branch per element.

    Each value of the least (or greatest) solution is reached from a constant, or from a value kept, by offsets that
    together are at most ``path``. So where kept values are beyond all constants and a ``step`` apart, those that follow
    from different ones differ by more than any offset of the query, as they do from those that follow from constants.
    """

    def __init__(self, plan: WitnessPlan, size: int, near: bool, stem: tuple[str, str] = ("", "")) -> None:
        self.plan, self.size, self.stem = plan, size, stem
        self.facts = Facts.of(plan.branch)
        self.conditions = conditions_of(plan.branch, plan.reach.texts)
        stated = [d for d in stated_differences(self.conditions, VALUES) if d.x is not None and d.y is not None]
        tight = [d for kept in plan.kept for d in kept.tight]
        path = sum((abs(d.c) + d.strict for d in (*stated, *tight)), Fraction(0))
        multiple = self._multiple = unit(plan.branch) * plan.reach.multiple
        self.step = round_up(1 + 2 * path + plan.reach.offset) * multiple
        beyond = plan.reach.constant + self.step
        self.start = (beyond if near else round_up(beyond)) * multiple
        self.far = 4 * (self.start + 3 * (size + 2) * self.step)
        self._closure = self.facts.closure
        self._times: WitnessTimes | None = None
        self._moments: dict[str, int] = {}

    def beside(self, times: WitnessTimes) -> bool:
        """Let the attributes that are times have the values of these, and what is kept lie beyond them; whether it can.

        A time of a probe may be later: it follows from what the probe is to meet.
        """
        found = times.times()
        if found is None:
            return False
        self._times, self._moments = times, found
        self.start += -(-round_up(Fraction(times.end(found))) // self._multiple) * self._multiple
        self.far = 4 * (self.start + 3 * (self.size + 2) * self.step)
        return True

    def _at_times(self, element: int) -> Iterator[DifferenceConstraint]:
        """What an element's times are, where they are values."""
        for time in valued_times(self.plan.branch) if self._times is not None else ():
            moment = self._moments[time.source]
            if time.source in self.plan.after:
                yield DifferenceConstraint(None, time, Fraction(-moment))
            elif self._times is not None:
                moved = self._times.moment(element) if time.source in self._times.moved else 0
                yield from fixed(time, Fraction(moment + moved))

    def points(self) -> list[Assignment] | None:
        """A solution per element; relations and finite streams have the same values in all."""
        static = frozenset(
            source.alias for source in self.plan.branch.sources if source.alias not in self.facts.infinite
        )
        least = self._solve(()) if static else None
        points = self._solved(static, least) if least is not None else None
        if points is None:
            points = self._solved(static, None)
            if points is not None and not self._aside(points, static):
                return None
        return points if points is None or self._constant(points, static) else None

    def _solved(self, static: frozenset[str], given: Assignment | None) -> list[Assignment] | None:
        """The solutions, where relations and finite streams have the values of a given one, or of the first element."""
        points: list[Assignment] = []
        self._closure = _with_values(self.facts.closure, given or {}, static)
        for element in range(self.size):
            extra = [
                d for kept in self.plan.kept for d in (*self._placed(kept, element), *map(self._reached, kept.tight))
            ]
            extra += self._at_times(element)
            given = given or (points[0] if points else None)
            extra += restricted(given, static) if given is not None else ()
            extra = [d for d in extra if (d.x or d.y) in self.conditions.sorts]
            extra = [d for d in extra if self.conditions.sorts[d.x or d.y] is not Sort.TIME]  # type: ignore[index]
            point = self._solve(extra, self.plan.greatest, self.far if self.plan.free else 0)
            if point is None:
                return None
            points.append(point)
        return points

    def _solve(
        self, extra: Sequence[DifferenceConstraint], greatest: bool = False, far: Fraction | int = 0
    ) -> Assignment | None:
        epsilon = self._missed / (1 << (len(self.conditions.sorts) + 2).bit_length())
        return solve(self.conditions, extra, greatest=greatest, far=far, epsilon=epsilon)

    def _constant(self, points: list[Assignment], static: frozenset[str]) -> bool:
        """Whether relations' and finite streams' values lie among the constants, nearer to 0 than any element's.

        The bound may depend on them: values that grow with the number of elements prove nothing.
        """
        values = {a: {point[a] for point in points} for a in points[0] if self.conditions.sorts.get(a) is Sort.DISCRETE}
        far = max(
            (abs(v) for a in values if a.source in static for v in values[a] if v is not None), default=Fraction(0)
        )
        return all(v is None or far < abs(v) for varying in values.values() if len(varying) > 1 for v in varying)

    def _aside(self, points: list[Assignment], static: frozenset[str]) -> bool:
        """Whether no relation's or finite stream's value is between those of elements, or near them."""
        for attribute, sort in self.conditions.sorts.items():
            varying = {point[attribute] for point in points if point.get(attribute) is not None}
            for other in (a for a in points[0] if a.source in static and self.conditions.sorts.get(a) is sort):
                place = points[0][other]
                if len(varying) > 1 and place is not None:
                    offset = self.plan.reach.offset
                    sides = {(v > place + offset) - (v < place - offset) for v in varying if v is not None}
                    if sides not in ({1}, {-1}):
                        return False
        return True

    # --- attributes that are kept -------------------------------------------------------------------------------

    def _placed(self, kept: Kept, element: int) -> tuple[DifferenceConstraint, ...]:
        if self._times is not None and kept.attribute in valued_times(self.plan.branch):
            return ()  # it is the time of its row, which moves with the element
        return fixed(kept.attribute, self.value(kept, element))

    def value(self, kept: Kept, element: int) -> Fraction:
        """The value of a kept attribute in an element (from 0)."""
        place = element if kept.rises is kept.upwards else self.size - 1 - element
        if (low := self._cell(kept)) is not None:
            share = Fraction(3 + 4 * kept.level, 16) + Fraction(place + 1, 8 * (self.size + 2))
            return round((low + self._width(kept.attribute) * share) / self._missed) * self._missed
        distance = self.start + (kept.level * (self.size + 2) + place) * self.step
        return distance if kept.upwards else -distance

    def _width(self, attribute: Attribute) -> Fraction:
        """Of a dense type: the distance between neighbours of all that constants and offsets lead to."""
        return Fraction(1) if self.conditions.sorts[attribute] is Sort.STRING else self.plan.reach.unit

    @property
    def _missed(self) -> Fraction:
        """What is missing to a limit that is never reached: less than the distance of two elements, a power of 1/2."""
        return Fraction(1, 1 << int(32 * (self.size + 2) / self.plan.reach.unit).bit_length())

    def _reached(self, tight: DifferenceConstraint) -> DifferenceConstraint:
        return DifferenceConstraint(tight.x, tight.y, tight.c + self._missed) if tight.strict else tight

    def _cell(self, kept: Kept) -> Fraction | None:
        """The lower end of an interval without constants for a dense attribute (or text) that has two ends.

        None where a half-line is free.
        """
        attribute = kept.attribute
        sorts = self.conditions.sorts
        if attribute not in sorts or sorts[attribute] not in (Sort.DENSE, Sort.STRING):
            return None
        low, high = self._interval(attribute, Fraction(0))
        for tight in kept.tight:
            partner, shift = (tight.y, tight.c) if tight.x == attribute else (tight.x, -tight.c)
            if partner is not None:
                least, most = self._interval(partner, shift if sorts[attribute] is Sort.DENSE else Fraction(0))
                low = max((end for end in (low, least) if end is not None), default=None)
                high = min((end for end in (high, most) if end is not None), default=None)
        width = self._width(attribute)
        return None if low is None or high is None else low // width * width

    def _interval(self, attribute: Attribute, shift: Fraction) -> tuple[Fraction | None, Fraction | None]:
        """The least and greatest value of an attribute, moved; ranks among the conditions' constants for text."""
        closure = self._closure
        ends = closure.interval(attribute)
        if closure.sort(attribute) is Sort.STRING:
            ends = (self._rank(closure.strings, ends[0]), self._rank(closure.strings, ends[1]))
        return (None if ends[0] is None else ends[0] + shift, None if ends[1] is None else ends[1] + shift)

    def _rank(self, strings: tuple[str, ...], rank: Fraction | None) -> Fraction | None:
        """A rank among the closure's constants as one among the conditions'."""
        return None if rank is None else self.conditions.number(strings[int(rank)])

    # --- texts -------------------------------------------------------------------------------------------------

    def texts(self, points: list[Assignment]) -> dict[Fraction, str] | None:
        """A string for every rank in use, in the same order; equal ranks of constants are the constants.

        None where there are not as many strings between two constants as any size may need.
        """
        sorts = self.conditions.sorts
        ranks = {v for p in points for a, v in p.items() if v is not None and sorts.get(a) is Sort.STRING}
        found: dict[Fraction, str] = {}
        constants = self.conditions.texts
        for number, rank in enumerate(sorted(ranks)):
            if rank.denominator == 1 and 0 <= rank < len(constants):
                found[rank] = constants[int(rank)]
                continue
            below = min(int(rank), len(constants) - 1) if rank >= 0 else -1
            stem = self._stem(constants, below)
            if stem is None:
                return None
            if below + 1 < len(constants) and f"{stem}{MOST_TEXTS - 1}".encode() >= constants[below + 1].encode():
                return None
            common = "0" * self.plan.reach.common
            found[rank] = f"{stem}{common}{number:06d}{common}{self.stem[1]}"
        return found

    def _stem(self, constants: tuple[str, ...], below: int) -> str | None:
        """What the texts after the constant at a place begin with; None where the way that is tried has none."""
        if not constants:
            return self.stem[0] or "v"
        own = self.stem[0]
        if own and below == len(constants) - 1:
            return own if own.encode() > constants[-1].encode() else None
        if own and below < 0:
            return own if own.encode() < constants[0].encode() and not constants[0].startswith(own) else None
        return f"{constants[below]}!" if below >= 0 else "!"


def _with_values(closure: Closure, given: Assignment, static: frozenset[str]) -> Closure:
    """What follows once the numbers of relations and finite streams are known."""
    for attribute, value in given.items():
        if attribute.source in static and value is not None and closure.sort(attribute) is Sort.DENSE:
            closure = closure.with_less(attribute, None, False, value).with_greater(attribute, False, value)
    return closure


def decoded(value: Fraction | None, sort: Sort | None, texts: Mapping[Fraction, str]) -> Value | None:
    """A value of a solution as one of its attribute's type."""
    if value is None or sort is Sort.DENSE:
        return value
    return texts[value] if sort is Sort.STRING else int(value)


def round_up(number: Fraction) -> Fraction:
    """The next of 1, 2, 5, 10, 20, 50, …: what a person would write.

    >>> round_up(Fraction(13))
    Fraction(20, 1)
    """
    unit = 1
    while True:
        for digit in (1, 2, 5):
            if digit * unit >= number:
                return Fraction(digit * unit)
        unit *= 10
