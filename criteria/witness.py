"""The witness of an unbounded verdict: N tuples of which every subset has to be remembered (docs/theory.md, section 6).

A witness of size N is a *prefix* for each subset of 1..N (rows that are always there, and rows per element of the
subset) and a *probe* per element: rows that come after the prefix. Element ``k`` is in the subset or not, and the
output that the prefix is followed by on probe ``k`` tells which: so ``2^N`` prefixes lead to different outputs, and no
algorithm can give two of them the same state. `criteria.witness_search` finds a plan, this module builds the witness,
and `criteria.distinguishing` checks it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

from analyzer.boundedness import Facts
from analyzer.closure import Sort
from analyzer.query import Attribute, Branch
from analyzer.types import Family
from analyzer.values import MICROSECONDS, Value, parse_timestamp
from criteria.contract import fits_contract, plain_value
from criteria.results import Row, output
from criteria.solution import Assignment, Conditions, Difference, conditions_of, fixed, restricted, solve

_FIRST_MOMENT = parse_timestamp("2024-01-01 00:00:00")


@dataclass(frozen=True, slots=True)
class Kept:
    """An attribute that has another value in every element.

    ``upwards``: towards plus infinity, else towards minus infinity; ``rises``: the values grow with the element's
    number; ``level`` keeps the values of two attributes apart. ``tight`` holds the constraints that make a partner's
    value in probe ``k`` the last one that element ``k`` still joins with.
    """

    attribute: Attribute
    upwards: bool
    rises: bool = True
    level: int = 0
    tight: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """How to build the witnesses of one query, of any size.

    ``after`` are the streams whose tuples come in the probes; ``replay`` probes with a whole new match instead, to see
    whether its result is new. ``greatest`` and ``free`` choose among solutions; ``backwards`` reverses the order in
    time of the elements; ``whole`` makes all the tuples that differ parts of the elements, not only those of the
    attributes kept; ``frontier`` says that no proof covers it. ``beyond`` exceeds every constant of the query,
    ``slack`` all its offsets together.
    """

    branch: Branch
    kept: tuple[Kept, ...]
    after: frozenset[str]
    beyond: Fraction = Fraction(0)
    slack: Fraction = Fraction(1)
    replay: bool = False
    frontier: bool = False
    greatest: bool = False
    free: bool = False
    backwards: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Witness:
    """Rows that are always there, rows per element, rows per probe, and each element's result."""

    plan: Plan
    always: tuple[Row, ...]
    elements: tuple[tuple[Row, ...], ...]
    probes: tuple[tuple[Row, ...], ...]
    expected: tuple[tuple[Value | None, ...], ...]

    @property
    def size(self) -> int:
        """N: the number of elements."""
        return len(self.elements)

    def prefix(self, subset: Sequence[int]) -> tuple[Row, ...]:
        """The rows of a prefix; elements count from 0."""
        return (*self.always, *(row for i in subset for row in self.elements[i]))


def build(plan: Plan, size: int) -> Witness | None:
    """The witness of a plan; None where its conditions, the types or the catalog's contracts do not allow it.

    Its values are far from the constants, where there is room for that in their types.
    """
    for near in (False, True):
        draft = _Draft(plan, size, near)
        points = draft.points()
        times = draft.times() if points is not None else None
        if points is None or times is None:
            return None
        witness = draft.witness(points, times)
        everything = witness.prefix(range(size))
        if all(fits_contract(plan.branch, (*everything, *probe)) for probe in witness.probes):
            return witness
    return None


def fits_at_any_size(plan: Plan) -> bool:
    """Whether no more rows of a stream share a timestamp the more elements there are, if the catalog limits them."""
    limited = {source.table for source in plan.branch.streams if source.max_per_timestamp is not None}
    if not limited:
        return True
    pair, three = build(plan, 2), build(plan, 3)
    return pair is not None and three is not None and _most_at_once(three, limited) <= _most_at_once(pair, limited)


def _most_at_once(witness: Witness, tables: set[str]) -> int:
    """The most rows of one of some streams that share a timestamp."""
    times = {source.table: source.timestamp or "" for source in witness.plan.branch.streams}
    rows = [row for row in witness.prefix(range(witness.size)) if row.table in tables]
    return max(Counter((row.table, row.values[times[row.table]]) for row in rows).values(), default=0)


class _Draft:
    """The numbers that a witness of one size is made of."""

    def __init__(self, plan: Plan, size: int, near: bool) -> None:
        self.plan, self.size = plan, size
        self.branch = plan.branch
        self.facts = Facts.of(plan.branch)
        self.conditions = conditions_of(plan.branch)
        self.step = _round_up(plan.slack)
        self.start = plan.beyond + self.step if near else _round_up(plan.beyond + self.step)
        self.far = 4 * (self.start + 3 * (size + 2) * self.step)

    # --- values ------------------------------------------------------------------------------------------------

    def points(self) -> list[Assignment] | None:
        """A solution per element; relations and finite streams have the same values in all."""
        static = frozenset(source.alias for source in self.branch.sources if source.alias not in self.facts.infinite)
        least = solve(self.conditions) if static else None
        ways: list[list[Assignment]] = [[]] if least is None else [[least], []]
        found = (self._solved(static, given) for given in ways)
        return next((points for points in found if points is not None), None)

    def _solved(self, static: frozenset[str], given: list[Assignment]) -> list[Assignment] | None:
        """The solutions, where relations and finite streams have the values of a given one, or of the first element."""
        points: list[Assignment] = []
        for element in range(self.size):
            extra = [d for kept in self.plan.kept for d in (*self._placed(kept, element), *kept.tight)]
            extra += restricted((*given, *points)[0], static) if given or points else ()
            extra = [d for d in extra if (d.x or d.y) in self.conditions.sorts]
            extra = [d for d in extra if self.conditions.sorts[d.x or d.y] is not Sort.TIME]  # type: ignore[index]
            far = self.far if self.plan.free else 0
            point = solve(self.conditions, extra, greatest=self.plan.greatest, far=far)
            if point is None:
                return None
            points.append(point)
        return points if self._constant(points, static) else None

    def _constant(self, points: list[Assignment], static: frozenset[str]) -> bool:
        """Whether relations' and finite streams' values lie among the constants, nearer to 0 than any element's.

        The bound may depend on them: values that grow with the number of elements prove nothing.
        """
        values = {a: {point[a] for point in points} for a in points[0] if self.conditions.sorts.get(a) is Sort.DISCRETE}
        far = max(
            (abs(v) for a in values if a.source in static for v in values[a] if v is not None), default=Fraction(0)
        )
        return all(v is None or far < abs(v) for varying in values.values() if len(varying) > 1 for v in varying)

    def _placed(self, kept: Kept, element: int) -> tuple[Difference, ...]:
        return fixed(kept.attribute, self.value(kept, element))

    def value(self, kept: Kept, element: int) -> Fraction:
        """The value of a kept attribute in an element (from 0)."""
        place = element if kept.rises is kept.upwards else self.size - 1 - element
        if (span := self._span(kept)) is not None:
            low, high = span
            share = Fraction(3 + 4 * kept.level, 16) + Fraction(place + 1, 8 * (self.size + 2))
            return _dyadic(low + (high - low) * share)
        distance = self.start + (kept.level * (self.size + 2) + place) * self.step
        return distance if kept.upwards else -distance

    def _span(self, kept: Kept) -> tuple[Fraction, Fraction] | None:
        """The interval of a dense attribute (or text) that has two ends; None where a half-line is free."""
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
        return None if low is None or high is None else (low, high)

    def _interval(self, attribute: Attribute, shift: Fraction) -> tuple[Fraction | None, Fraction | None]:
        """The least and greatest value of an attribute, moved; ranks among the conditions' constants for text."""
        closure = self.facts.closure
        ends = closure.interval(attribute)
        if closure.sort(attribute) is Sort.STRING:
            ends = (self._rank(closure.strings, ends[0]), self._rank(closure.strings, ends[1]))
        return (None if ends[0] is None else ends[0] + shift, None if ends[1] is None else ends[1] + shift)

    def _rank(self, strings: tuple[str, ...], rank: Fraction | None) -> Fraction | None:
        """A rank among the closure's constants as one among the conditions'."""
        return None if rank is None else self.conditions.number(strings[int(rank)])

    # --- times -------------------------------------------------------------------------------------------------

    def times(self) -> dict[str, int] | None:
        """A timestamp per stream such that probes come after every element; elements are moved by `shift`."""
        for apart, first in product((1, -1, 0), (_FIRST_MOMENT, None)):
            extra = [*self._phases(), *self._later_than(first), *self._apart(apart)]
            solved = solve(self.conditions, extra, sorts=(Sort.TIME,))
            if solved is not None:
                return {attribute.source: int(value) for attribute, value in solved.items() if value is not None}
        return None

    @property
    def _tick(self) -> int:
        """A timestamp's natural unit: a second, or 1 for integers."""
        clocks = {s.column(s.timestamp).type.family for s in self.branch.streams if s.timestamp}
        return MICROSECONDS if Family.TIMESTAMP in clocks else 1

    @property
    def shift(self) -> int:
        """The distance in time between two elements: more than all windows together."""
        offsets = sum(abs(d.c) for d in self.conditions.differences[Sort.TIME] if d.x is not None and d.y is not None)
        return -(-(int(offsets) + len(self.branch.streams) * self._tick) // self._tick) * self._tick

    @property
    def _range(self) -> int:
        return (self.size + 2) * self.shift

    def moment(self, element: int) -> int:
        """How much later than the first an element's rows come."""
        return self.shift * (self.size - 1 - element if self.plan.backwards else element)

    def _phases(self) -> Iterator[Difference]:
        """Probes after prefixes; what is not moved with the elements fits all of them."""
        time = self.facts.time
        before = [source.alias for source in self.branch.streams if source.alias not in self.plan.after]
        for old, new in product(before, sorted(self.plan.after)):
            yield Difference(time(old), time(new), Fraction(-self._range - self.shift))
        for moved, still in product(self.moved, before):
            lag = self.facts.lag(moved, still)
            if still not in self.moved and lag is not None:
                yield Difference(time(moved), time(still), Fraction(lag - self._range))

    def _later_than(self, first: int | None) -> Iterator[Difference]:
        if first is not None and self._tick == MICROSECONDS:
            for alias in self.facts.infinite:
                yield Difference(None, self.facts.time(alias), Fraction(-first))

    def _apart(self, sign: int) -> Iterator[Difference]:
        """Tuples of a stream that is used twice come one after the other (``sign`` 1 or -1), as its rate may demand."""
        for one, two in combinations(self.branch.streams, 2):
            if sign and one.table == two.table:
                first, then = (self.facts.time(s.alias) for s in ((one, two) if sign > 0 else (two, one)))
                yield Difference(first, then, Fraction(-self._tick))

    @property
    def moved(self) -> tuple[str, ...]:
        """The streams whose tuples move in time with their element, with those that a window ties to them."""
        found = [alias for alias in self.facts.infinite if alias in self._elements(None)]
        for alias in found:
            tied = [
                other for other in self.facts.infinite
                if other not in self.plan.after and other not in found
                and self.facts.lag(alias, other) is not None and self.facts.lag(other, alias) is not None
            ]  # fmt: skip
            found.extend(tied)
        return tuple(found)

    def _elements(self, points: list[Assignment] | None) -> frozenset[str]:
        """The streams whose tuples are the elements."""
        own = frozenset(kept.attribute.source for kept in self.plan.kept)
        if not self.plan.whole:
            return own
        before = [alias for alias in self.facts.infinite if alias not in self.plan.after]
        if points is None:
            return frozenset(before)
        return own | {alias for alias in before if len({_values_of(alias, point) for point in points}) > 1}

    # --- rows --------------------------------------------------------------------------------------------------

    def witness(self, points: list[Assignment], times: Mapping[str, int]) -> Witness:
        """The rows of all elements and probes."""
        texts = _texts(self.conditions, points)
        mine = self._elements(points)
        always: dict[tuple[object, ...], Row] = {}
        elements: list[list[Row]] = []
        probes: list[list[Row]] = []
        expected = []
        moved = self.moved
        for number, point in enumerate(points):
            element, probe, match = [], [], {}
            for source in self.branch.sources:
                alias = source.alias
                time = times.get(alias)
                if time is not None and alias in moved:
                    time += self.moment(number)
                row = self._row(alias, point, texts, time, number)
                match[alias] = row
                if alias in self.plan.after:
                    probe.append(_tagged(row, 1 << self.size))
                elif alias in mine:
                    element.append(_tagged(row, 1 << number))
                else:
                    always.setdefault((row.table, tuple(row.values.items())), row)
                if self.plan.replay and alias in self.facts.infinite:
                    again = int(times[alias]) + self._range + self.shift
                    probe.append(_tagged(self._row(alias, point, texts, again, number), 1 << self.size))
            elements.append(element)
            probes.append(probe)
            expected.append(output(self.branch, match))
        return Witness(
            self.plan, tuple(always.values()), tuple(map(tuple, elements)), tuple(map(tuple, probes)), tuple(expected)
        )

    def _row(self, alias: str, point: Assignment, texts: Mapping[Fraction, str], time: int | None, number: int) -> Row:
        source = self.branch.source(alias)
        kept = {k.attribute for k in self.plan.kept}
        values: dict[str, Value | None] = {}
        for column in source.columns:
            attribute = Attribute(alias, column.name)
            if column.name == source.timestamp and time is not None:
                values[column.name] = time
            elif attribute in point:
                values[column.name] = _decoded(point[attribute], self.conditions.sorts.get(attribute), texts)
            else:
                values[column.name] = plain_value(column, number if attribute in kept else None)
        return Row(source.table, values)


def _tagged(row: Row, tag: int) -> Row:
    return Row(row.table, row.values, tag)


def _values_of(alias: str, point: Assignment) -> tuple[Fraction | None, ...]:
    return tuple(value for attribute, value in point.items() if attribute.source == alias)


def _round_up(number: Fraction) -> Fraction:
    """The next of 1, 2, 5, 10, 20, 50, …: what a person would write.

    >>> _round_up(Fraction(13))
    Fraction(20, 1)
    """
    unit = 1
    while True:
        for digit in (1, 2, 5):
            if digit * unit >= number:
                return Fraction(digit * unit)
        unit *= 10


def _dyadic(value: Fraction) -> Fraction:
    """A near value that a DOUBLE holds exactly."""
    return Fraction(round(value * 2**30), 2**30)


def _decoded(value: Fraction | None, sort: Sort | None, texts: Mapping[Fraction, str]) -> Value | None:
    if value is None or sort is Sort.DENSE:
        return value
    return texts[value] if sort is Sort.STRING else int(value)


def _texts(conditions: Conditions, points: list[Assignment]) -> dict[Fraction, str]:
    """A string for every rank in use, in the same order; equal ranks of constants are the constants."""
    ranks = {v for p in points for a, v in p.items() if v is not None and conditions.sorts.get(a) is Sort.STRING}
    found: dict[Fraction, str] = {}
    constants = conditions.texts
    for number, rank in enumerate(sorted(ranks)):
        if rank.denominator == 1 and 0 <= rank < len(constants):
            found[rank] = constants[int(rank)]
        elif rank < 0 or not constants:
            found[rank] = f"!{number:06d}" if constants else f"v{number:06d}"
        else:
            found[rank] = f"{constants[min(int(rank), len(constants) - 1)]}!{number:06d}"
    return found
