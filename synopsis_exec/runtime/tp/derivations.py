"""Rows of one fact made one row at a time: its derivations as one lineage, and neighbours that are equivalent merged.

What is left is free of duplicates, and its periods are maximal (Papaioannou, Theobald, Böhlen, Section III: TP change
preservation). The input has all rows with the same values after each other, in order of begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from streambound_runtime.lineage.absorption import absorbed
from streambound_runtime.lineage.diagrams import equivalent
from streambound_runtime.lineage.encoding import encoded
from streambound_runtime.lineage.formulas import Formula, LineageTooLargeError, conjunction, disjunction, negation
from streambound_runtime.tp.limits import Limits
from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, SIDE, Carried, P, changes, formula_of, same, values_at
from streambound_runtime.tp.segments import Segment, Segments, Valid

Combined = Callable[[Sequence[Valid]], Formula]
"""The lineage of a fact, of all rows of it that are valid together."""


def derivations(
    names: Sequence[str], limits: Limits, batches: Iterator[pa.RecordBatch], combined: Combined
) -> Iterator[pa.RecordBatch]:
    """One row for each fact and maximal period; memory is the rows of a fact that are valid at a time, and a batch.

    Of two sides' rows those of the right one are marked. Raises JobError for lineages whose equivalence cannot be
    decided within the limits.
    """
    carried = Carried()
    fact: _OpenFact | None = None
    last: Sequence[pa.Scalar] | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        first, output = carried.add(batch), _DerivedRows()
        values = [batch.column(name) for name in names]
        starts = changes(values, batch.num_rows)
        starts[0] = last is None or not same(last, [column[0] for column in values])
        last = [column[len(column) - 1] for column in values]
        columns = (batch.column(name).to_pylist() for name in (BEGIN, END, LINEAGE, P, SIDE))
        for place, (begin, end, lineage, p, side) in enumerate(zip(*columns, strict=True), start=first):
            if fact is None or starts[place - first]:
                output.take(fact)
                fact = _OpenFact(names, carried, place, begin, limits, combined)
            fact.end = max(fact.end, end)
            fact.segments.push(begin, end, formula_of(lineage, p), marked=side)
            output.take(fact, closed=False)
        yield output.made(names, carried)
        carried.keep([fact.place] if fact else [])
        if fact is not None:
            fact.place = 0
    output = _DerivedRows()
    output.take(fact)
    if output.lineages:
        yield output.made(names, carried)


class _OpenFact:
    """The rows of one fact that are valid."""

    def __init__(
        self, names: Sequence[str], carried: Carried, place: int, begin: int, limits: Limits, combined: Combined
    ) -> None:  # fmt: skip
        self._names, self._carried, self._limits = names, carried, limits
        self.place, self.end = place, begin
        self.segments = Segments(begin, combined, self._goes_on)

    def _goes_on(self, segment: Segment, lineage: Formula, to: int) -> bool:
        try:
            return equivalent(segment.lineage, lineage, self._limits.nodes)
        except LineageTooLargeError as error:
            fact = [self._carried.rows.column(name)[self.place].as_py() for name in self._names]
            raise self._limits.error(error, fact, segment.begin, to) from error


def any_of(valid: Sequence[Valid]) -> Formula:
    """The lineage of a fact with these derivations."""
    return valid[0].lineage if len(valid) == 1 else absorbed(disjunction(row.lineage for row in valid))


def common(valid: Sequence[Valid]) -> Formula:
    """INTERSECT: there is a row of the left side, and one of the right side."""
    return absorbed(conjunction(disjunction(_of_side(valid, side)) for side in (False, True)))


def left_over(valid: Sequence[Valid]) -> Formula:
    """EXCEPT: there is a row of the left side, and none of the right side."""
    none = negation(disjunction(_of_side(valid, True)))
    return absorbed(conjunction((disjunction(_of_side(valid, False)), none)))


def _of_side(valid: Sequence[Valid], right: bool) -> Iterator[Formula]:
    return (row.lineage for row in valid if row.marked is right)


class _DerivedRows:
    """The rows that are put out for a batch."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.lineages: list[Formula] = []

    def take(self, fact: _OpenFact | None, closed: bool = True) -> None:
        """The complete segments of a fact, all of them if no row of it is to come."""
        if fact is None:
            return
        found = fact.segments.close(fact.end) if closed else fact.segments.found
        for begin, end, lineage in found:
            self.places.append(fact.place)
            self.begins.append(begin)
            self.ends.append(end)
            self.lineages.append(lineage)
        found.clear()

    def made(self, names: Sequence[str], carried: Carried) -> pa.RecordBatch:
        """The rows, from the places of their facts."""
        places = pa.array(self.places, pa.int64())
        arrays = [values_at(carried.rows, name, places) for name in names]
        arrays += [pa.array(points, pa.int64()) for points in (self.begins, self.ends)]
        lineages = pa.array(map(encoded, self.lineages), pa.string())
        none = pa.nulls(len(self.lineages), pa.float64())
        return pa.RecordBatch.from_arrays([*arrays, lineages, none], [*names, BEGIN, END, LINEAGE, P])
