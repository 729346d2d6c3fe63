"""Rows with lineages over streams: overlapping, unmatched and negating windows, epoch by epoch.

Papaioannou, Theobald, Böhlen, *Generalized Lineage-Aware Temporal Windows*, Section V. What is valid from a frontier on
is told by the rows of both sides that are valid there, where a relation's come when they begin: a row's open window is
a counter of its entry, since when its matches have been the same; a pair's window is the time that its rows share.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.lineage.absorption import absorbed
from streambound_runtime.lineage.diagrams import equivalent
from streambound_runtime.lineage.encoding import decoded, encoded
from streambound_runtime.lineage.formulas import Formula, LineageTooLargeError, disjunction, variable, variable_name
from streambound_runtime.lineage.probability import possible
from streambound_runtime.operators.epochs.fragments import LEAST, Fragment, FragmentRow, clipped, in_order
from streambound_runtime.operators.epochs.plan import EpochJoin, EpochLineage, EpochPlan, EpochScan, RandomRows
from streambound_runtime.operators.epochs.rows import (
    Computed,
    Entry,
    Passes,
    RelationTables,
    WaitingRows,
    pairs_of,
    saved_row,
    static_rows,
)
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value
from streambound_runtime.tp.limits import Limits
from streambound_runtime.tp.padding import goes_on, padded, paired
from streambound_runtime.tp.plan import WINDOWS
from streambound_runtime.tp.segments import Segment, Segments, Valid

Window = tuple[FragmentRow, int, int, Formula]
"""Values of both sides, begin, end and lineage."""
Match = tuple[int, int, Formula, bool]
"""From when to when a row has a match, that one's lineage, and whether it has no values."""


@dataclass(slots=True)
class HeldRow:
    """A row that is valid; it has had the same matches ``since`` then."""

    values: FragmentRow
    lineage: Formula
    begin: int
    end: int
    since: int


class LineageOperator:
    """Closes epochs of an `EpochLineage`."""

    def __init__(self, query: EpochLineage, relations: RelationTables, computed: Computed, passes: Passes) -> None:
        self.query, self.computed, self.passes = query, computed, passes
        self.join = query.plan.input if isinstance(query.plan.input, EpochJoin) else None
        self.sources = [
            side.block
            if isinstance(side, EpochScan)
            else WaitingRows(static_rows(side, relations, query.low, query.high, computed))
            for side in _sides(query)
        ]
        self.held: list[list[HeldRow]] = [[] for _ in query.rows]
        self.since = LEAST if query.low is None else query.low
        self.last = max([self.since, *(one.last for one in self.sources if isinstance(one, WaitingRows))])
        self.nulls = _NoValues(query)

    def step(self, until: int | None, arrived: Mapping[str, Sequence[Fragment]]) -> list[Fragment]:
        """Close all before a frontier, None for all there is; returns result rows in order of their ends.

        The values of a row are those of the select list, the lineage's text and its probability.
        """
        query = self.query
        new = {block: clipped(rows, query.low, query.high) for block, rows in arrived.items()}
        self.last = max([self.last, *(end for rows in new.values() for _, _, end, _ in rows)])
        over = until is None or (query.high is not None and until >= query.high)
        until = max(self.since, self.last + 1 if over or until is None else until)
        rows = [
            [*held, *(_held(row, kind) for row in self._coming(source, new, until))]
            for held, source, kind in zip(self.held, self.sources, query.rows, strict=True)
        ]
        found = list(self._windows(rows, until))
        # What ends with the frontier has not ended before it: its last window is not known to have the same matches.
        least = until - (query.final and not query.parts)
        kept = self.join is not None or not query.parts
        self.held = [[row for row in side if kept and row.end > least] for side in rows]
        self.since = until
        return sorted(self._results(found), key=in_order)

    def _coming(
        self, source: str | WaitingRows, new: Mapping[str, Sequence[Fragment]], until: int
    ) -> Sequence[Fragment]:
        return source.between(self.since, until) if isinstance(source, WaitingRows) else new.get(source, ())

    # --- windows ------------------------------------------------------------------------------------------------------

    def _windows(self, rows: Sequence[Sequence[HeldRow]], until: int) -> Iterator[Window]:
        """What is known of windows since the epoch before."""
        if self.join is None:
            for row in rows[0]:
                yield from self._known(row.values, row.begin, row.end, row.lineage, until)
            return
        sides = WINDOWS[self.join.kind]
        fragments = [[(row.values, row.begin, row.end, 1) for row in side] for side in rows]
        matches: tuple[dict[int, list[Match]], ...] = ({}, {})
        outer = self.join.kind in ("left", "right", "full")
        blank = [[outer and self._blank(n, row) for row in side] for n, side in enumerate(rows)]
        for i, j, begin, end in pairs_of(self.join, fragments[0], fragments[1], self.passes):
            left, right = rows[0][i], rows[1][j]
            folded = (sides[0] and blank[1][j]), (sides[1] and blank[0][i])
            matches[0].setdefault(i, []).append((begin, end, right.lineage, folded[0]))
            matches[1].setdefault(j, []).append((begin, end, left.lineage, folded[1]))
            if self.join.kind != "anti" and not any(folded):
                both = paired(left.lineage, right.lineage, self.query.independent)
                yield from self._known((*left.values, *right.values), begin, end, both, until)
        for side in (0, 1):
            for place, row in enumerate(rows[side]):
                if sides[side]:
                    found = self._padded(row, sorted(matches[side].get(place, ()), key=lambda one: one[0]), until)
                    if self.join.kind == "full" and blank[side][place]:
                        self.nulls.add(found, row, until)
                    else:
                        yield from ((self._beside(side, row), *segment) for segment in self._ended(found, row, until))
        yield from ((self._nothing(), *segment) for segment in self.nulls.ended(self.since, until))

    def _known(self, values: FragmentRow, begin: int, end: int, lineage: Formula, until: int) -> Iterator[Window]:
        """A window whose whole time is known: as soon as it is, once it has ended, or its part in the epoch."""
        query, since = self.query, self.since
        if query.parts:
            told = begin >= since
        elif query.final:
            told = end < until
        else:
            begin, end = max(begin, since), min(end, until)
            told = begin < end
        if told:
            yield values, begin, end, lineage

    def _padded(self, row: HeldRow, matches: Iterable[Match], until: int) -> list[Segment]:
        """The windows of a row up to a frontier: all since it has had the matches that it had at the one before."""
        first, last = (row.since if self.query.final else max(row.begin, self.since)), min(row.end, until)
        made = Segments(first, partial(padded, row.lineage, self.query.independent), goes_on)
        for begin, end, lineage, blank in matches:
            if end > first and begin < last:
                made.push(max(begin, first), end, lineage, blank)
        return made.close(last)

    def _ended(self, found: list[Segment], row: HeldRow, until: int) -> list[Segment]:
        """Those that do not go on; of the last one of a row that does the begin is noted."""
        if not self.query.final or row.end < until:
            return found
        going = bool(found) and found[-1].end == until
        row.since = found[-1].begin if going else until
        return found[:-1] if going else found

    def _blank(self, side: int, row: HeldRow) -> bool:
        """Whether a row looks like none."""
        return all(row.values[place] is None for place in self.query.blanks[side])

    def _beside(self, side: int, row: HeldRow) -> FragmentRow:
        assert self.join is not None
        if self.join.kind == "anti":
            return row.values
        missing = (None,) * self.join.widths[1 - side]
        return (*row.values, *missing) if side == 0 else (*missing, *row.values)

    def _nothing(self) -> FragmentRow:
        assert self.join is not None
        return (None,) * sum(self.join.widths)

    # --- results ------------------------------------------------------------------------------------------------------

    def _results(self, windows: Sequence[Window]) -> Iterator[Fragment]:
        """The rows that are shown, with texts and probabilities, without those that no possible world has."""
        limits = Limits(self.query.nodes, self.query.time_type)
        shown = self.computed(self.query.plan, [values for values, *_ in windows])
        for values, (_, begin, end, lineage) in zip(shown, windows, strict=True):
            if values is None:
                continue
            try:
                chance = possible(lineage, limits.nodes)
            except LineageTooLargeError as error:
                raise limits.error(error, values, begin, end) from error
            if chance is not None:
                yield (*values, lineage.text, chance), begin, end, 1

    def shown(self, fragment: Fragment) -> FragmentRow:
        """The columns of a result row."""
        (*values, lineage, p), begin, end, _ = fragment
        return (*values, begin, end, lineage, p)

    # --- state --------------------------------------------------------------------------------------------------------

    def open_since(self) -> int | None:
        """When the oldest window has begun that is not given: since then a row has had the same matches."""
        if not self.query.final or self.query.parts:
            return None
        return min((row.since for side in self.held for row in side), default=None)

    def entries(self) -> int:
        """One for each row that is valid, and one for rows without any value."""
        return sum(map(len, self.held)) + (self.nulls.last is not None)

    def dump(self) -> list[Entry]:
        """The frontier, the rows of each side, and since when there are rows without any value."""
        rows: list[Entry] = [
            [n, [*row.values], row.lineage.text, row.lineage.p, row.begin, row.end, row.since]
            for n, side in enumerate(self.held)
            for row in side
        ]
        nothing = self.nulls.last
        opened: list[Entry] = [["nothing", nothing.begin, nothing.end, encoded(nothing.lineage)]] if nothing else []
        return [["time", self.since, self.last], *opened, *rows]

    def load(self, entries: Sequence[Entry]) -> None:
        """Take over what `dump` returned."""
        self.held = [[] for _ in self.query.rows]
        for kind, *entry in entries:
            match kind:
                case "time":
                    self.since, self.last = map(integer, entry)
                    self.nulls = _NoValues(self.query)
                case "nothing":
                    self.nulls.last = Segment(integer(entry[0]), integer(entry[1]), decoded(str(entry[2])))
                case _:
                    values, name, p, *times = entry
                    assert isinstance(p, float)
                    self.held[integer(kind)].append(
                        HeldRow(saved_row(values), variable(str(name), p), *map(integer, times))
                    )


class _NoValues:
    """Of a full join: rows of either side without any value are one fact, without a match or with one like it.

    Its lineage is the disjunction of theirs, its periods are cut with the epochs; ``last`` is the row that may go on.
    """

    def __init__(self, query: EpochLineage) -> None:
        self.query = query
        self.last: Segment | None = None
        self.found: list[Segment] = []

    def add(self, segments: Iterable[Segment], row: HeldRow, until: int) -> None:
        """The windows of a row in an epoch."""
        row.since = max(row.begin, until)
        self.found += segments

    def ended(self, since: int, until: int) -> list[Segment]:
        """The rows that do not go on after an epoch."""
        made = Segments(self.last.begin if self.last else since, _any_of, self._goes_on)
        parts = [*([self.last] if self.last else []), *self.found]
        for begin, end, lineage in sorted(parts, key=lambda part: (part.begin, part.end)):
            made.push(begin, end, lineage)
        found, self.last, self.found = made.close(until), None, []
        if self.query.final and found and found[-1].end == until:
            self.last = found.pop()
        return found

    def _goes_on(self, segment: Segment, lineage: Formula, to: int) -> bool:
        try:
            return equivalent(segment.lineage, lineage, self.query.nodes)
        except LineageTooLargeError as error:
            raise Limits(self.query.nodes, self.query.time_type).error(error, (), segment.begin, to) from error


def _any_of(valid: Sequence[Valid]) -> Formula:
    return absorbed(disjunction(row.lineage for row in valid))


def _sides(query: EpochLineage) -> tuple[EpochPlan, ...]:
    plan = query.plan.input
    return (plan.left, plan.right) if isinstance(plan, EpochJoin) else (plan,)


def _held(fragment: Fragment, kind: RandomRows) -> HeldRow:
    (*values, key, p), begin, end, _ = fragment
    named = variable(variable_name(kind.relation, key_text(key, kind.key)), chance(p, kind.probability))
    return HeldRow(tuple(values), named, begin, end, begin)


_FIRST = datetime(1970, 1, 1)
_DIGITS = Context(prec=38)


def key_text(value: Value, kind: str) -> str:
    """The text that Spark casts a key of a type to, in UTC; of floating point none, as it depends on the Java version.

    >>> key_text(1, "date"), key_text(1_500_000, "timestamp"), key_text(-5, "decimal(9,2)"), key_text(1, "boolean")
    ('1970-01-02', '1970-01-01 00:00:01.5', '-0.05', 'true')
    """
    found = sql_type(kind)
    match found.family:
        case "boolean":
            return "true" if value else "false"
        case "date":
            return str((_FIRST + timedelta(days=integer(value))).date())
        case "timestamp":
            text = str(_FIRST + timedelta(microseconds=integer(value)))
            return text.rstrip("0") if "." in text else text
        case "decimal":
            return format(Decimal(integer(value)).scaleb(-found.scale, _DIGITS), "f")
    return str(value)


def chance(p: Value, kind: str) -> float:
    """The probability that a column of a type has, by its shortest decimal text.

    >>> chance(7, "decimal(2,1)"), chance(0.699999988079071, "float")
    (0.7, 0.7)
    """
    if kind.startswith("decimal("):
        return float(Fraction(integer(p), 10 ** int(kind[:-1].rpartition(",")[2])))
    assert isinstance(p, float)
    if kind != "float":
        return p
    texts = (float(f"{p:.{digits}g}") for digits in range(1, 10))
    return next((one for one in texts if struct.unpack("f", struct.pack("f", one))[0] == p), p)
