"""The witness of an unbounded verdict: N tuples of which every subset has to be remembered (docs/theory-witnesses.md).

A witness of size N is a *prefix* for each subset of 1..N (rows that are always there, and rows per element of the
subset) and a *probe* per element: rows that come after the prefix. Element ``k`` is in the subset or not, and the
output that the prefix is followed by on probe ``k`` tells which: so ``2^N`` prefixes lead to different outputs, and no
algorithm can give two of them the same state. `criteria.witness_search` finds a plan, this module builds the witness,
and `criteria.distinguishing` checks it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

from msgspec import Struct

from streambound.analyzer.expressions.function import Fails, NotKnown
from streambound.analyzer.query import Attribute
from streambound.analyzer.values import Value
from streambound.analyzer.work import spend
from streambound.criteria.contract import fits_contract, plain_value
from streambound.criteria.derived_rows import DerivedRows, has_derived, stems
from streambound.criteria.projected_time import is_valued_time, valued_times
from streambound.criteria.results import Row, output
from streambound.criteria.solution import Assignment
from streambound.criteria.witness_plan import WitnessPlan
from streambound.criteria.witness_times import WitnessTimes
from streambound.criteria.witness_values import WitnessValues, decoded


class Witness(Struct, frozen=True):
    """Rows that are always there, rows per element, rows per probe, and each element's result."""

    plan: WitnessPlan
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


def build(plan: WitnessPlan, size: int) -> Witness | None:
    """The witness of a plan; None where its conditions, the types or the catalog's contracts do not allow it.

    Its values are far from the constants, where there is room for that in their types. Raises TooMuchWork.
    """
    for near, stem in product((False, True), stems(plan.branch)):
        values = WitnessValues(plan, size, near, stem)
        times = WitnessTimes(plan, size, _moving(values, None))
        if valued_times(plan.branch) and not values.beside(times):
            return None
        points = values.points()
        if points is None:
            return None
        witness = _witness(values, points, times)
        if witness is None and has_derived(plan.branch):
            continue
        if witness is None:
            return None
        everything = witness.prefix(range(size))
        spend(sum(len(part) for part in (everything, *witness.probes)) / 4)
        if fits_contract(plan.branch, everything, witness.probes):
            return witness
    return None


def fits_at_any_size(plan: WitnessPlan) -> bool:
    """Whether no more rows of a stream share a timestamp the more elements there are: how many may is a constant."""
    pair, three = build(plan, 2), build(plan, 3)
    return pair is not None and three is not None and most_at_once(three) <= most_at_once(pair)


def most_at_once(witness: Witness) -> int:
    """The most rows of a stream that share a timestamp."""
    times = {source.table: source.timestamp or "" for source in witness.plan.branch.streams}
    rows = [row for row in witness.prefix(range(witness.size)) if row.table in times]
    return max(Counter((row.table, row.values[times[row.table]]) for row in rows).values(), default=0)


def _moving(values: WitnessValues, points: list[Assignment] | None) -> frozenset[str]:
    """The streams whose tuples are the elements; all that may be where it is not known yet what differs."""
    plan = values.plan
    own = frozenset(kept.attribute.source for kept in plan.kept)
    if not plan.all_differing:
        return own
    before = [alias for alias in values.facts.infinite if alias not in plan.after]
    if points is None:
        return frozenset(before)
    return own | {alias for alias in before if len({_values_of(alias, point) for point in points}) > 1}


def _values_of(alias: str, point: Assignment) -> tuple[Fraction | None, ...]:
    return tuple(value for attribute, value in point.items() if attribute.source == alias)


def _witness(values: WitnessValues, points: list[Assignment], moments: WitnessTimes) -> Witness | None:
    """The rows of all elements and probes; None where no times or texts fit."""
    plan, size = values.plan, values.size
    times, texts = moments.times(), values.texts(points)
    if times is None or texts is None:
        return None
    mine, probing = _moving(values, points), 1 << size
    derived = DerivedRows(plan)
    always: dict[tuple[object, ...], Row] = {}
    elements: list[list[Row]] = []
    probes: list[list[Row]] = []
    expected = []
    for number, point in enumerate(points):
        element, probe, match = [], [], {}
        late = _late(plan, point, times)
        if late is None:
            return None
        for alias in (source.alias for source in plan.branch.sources):
            time = times.get(alias)
            if time is not None and alias in moments.moved:
                time += moments.moment(number)
            if time is not None and alias in plan.after:
                time += late
            row = _row(values, alias, point, texts, time, number, derived)
            if row is None:
                return None
            match[alias] = row
            if alias in plan.after:
                probe.append(_tagged(row, probing))
            elif alias in mine:
                element.append(_tagged(row, 1 << number))
            else:
                always.setdefault((row.table, tuple(row.values.items())), row)
            if plan.replay and alias in values.facts.infinite:
                later = times[alias] + moments.again(times)
                again = _row(values, alias, point, texts, later, number, derived)
                if again is None:
                    return None
                probe.append(_tagged(again, probing))
        elements.append(element)
        probes.append(probe)
        try:
            expected.append(output(plan.branch, match))
        except (Fails, NotKnown):
            return None
    if not derived.by_rule or not derived.apart:
        return None
    return Witness(
        plan, tuple(always.values()), tuple(map(tuple, elements)), tuple(map(tuple, probes)), tuple(expected)
    )


def _late(plan: WitnessPlan, point: Assignment, times: Mapping[str, int]) -> int | None:
    """How much later than planned an element's probe comes, where it is to meet values; None if it cannot all alike."""
    probing = (attribute for attribute in valued_times(plan.branch) if attribute.source in plan.after)
    late = {int(point[a] or 0) - times[a.source] for a in probing if a in point}
    return None if len(late) > 1 else max(late, default=0)


def _row(
    values: WitnessValues,
    alias: str,
    point: Assignment,
    texts: Mapping[Fraction, str],
    time: int | None,
    number: int,
    derived: DerivedRows,
) -> Row | None:
    source = values.plan.branch.source(alias)
    kept = {k.attribute for k in values.plan.kept}
    found: dict[str, Value | None] = {}
    for column in source.columns:
        attribute = Attribute(alias, column.name)
        if time is not None and (column.name == source.timestamp or is_valued_time(source, column)):
            found[column.name] = time
        elif attribute in point:
            found[column.name] = decoded(point[attribute], values.conditions.sorts.get(attribute), texts)
        else:
            found[column.name] = plain_value(column, number if attribute in kept else None)
    completed = derived.completed(source, found, point)
    return None if completed is None else Row(source.table, completed)


def _tagged(row: Row, tag: int) -> Row:
    return Row(row.table, row.values, tag)
