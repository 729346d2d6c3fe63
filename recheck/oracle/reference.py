"""A statement by the reference evaluator over the rows of a run, and the changes that the run has printed.

The evaluator runs a circuit, each operator by its definition, over rows in Python (`incremental.evaluate`). The circuit
is what algorithm 4.8 of DBSP makes of the statement's, so it gives the difference of the statement over each prefix of
the streams and the one before. Nothing is shared with what runs jobs, and rows and
results are read by Python's own JSON reader.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import isclose
from pathlib import Path

from msgspec import Struct

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.changes import ChangeFormat
from streambound.analyzer.constants import BIGINT
from streambound.analyzer.errors import StreamboundError
from streambound.analyzer.expressions.evident import plain_value
from streambound.analyzer.expressions.function import Fails
from streambound.analyzer.lower import Lowered, lower
from streambound.analyzer.statement import Statement
from streambound.analyzer.types import DataType, Family
from streambound.incremental.circuit import Circuit
from streambound.incremental.evaluate import NoFixpointError, SourceChange, evaluate, ticks
from streambound.incremental.pipeline import stages
from streambound.incremental.translate import translate
from streambound.incremental.translation.views import Untranslatable
from streambound.incremental.zset import Row
from streambound.recheck.oracle.recorded_values import changes_in_lines, objects, shown, value, values
from streambound.recheck.oracle.relation_states import RowChange, states
from streambound.recheck.oracle.spark_batch import MOST_SHOWN, BatchComparison, Cell

Results = Counter[tuple[int, Row]]
"""Rows with their times, and how often each is there."""
_TIMESTAMP = DataType("timestamp", Family.TIMESTAMP)
_CLOSE = 1e-9
"""By which part doubles may differ: the evaluator adds up exactly, and rounds nothing."""


def circuit_of(statement: Statement, catalog: Catalog) -> Circuit:
    """A statement's circuit over Z-sets; raises Untranslatable where it has none."""
    tree, lowered = lowered_tree(statement, catalog)
    return translate(tree, catalog, lowered.queries, lowered.positions)


def lowered_tree(statement: Statement, catalog: Catalog) -> tuple[Tree, Lowered]:
    """A statement in the algebra, and what its parts are read with; raises Untranslatable where it names nothing."""
    waits = any(table.ttl is not None for table in catalog.tables)  # of which joins know, and subqueries do not
    lowered = lower(statement, catalog, periods=not waits)
    if lowered.tree is None and not waits:  # what is no operator of its own, as an ASOF JOIN, is what it is read as
        lowered = lower(statement, catalog)
    if lowered.tree is None:
        raise Untranslatable("the statement names nothing", statement.tree)
    return lowered.tree, lowered


@contextmanager
def failures() -> Iterator[None]:
    """Where a statement fails over some rows, as Spark does, that is a StreamboundError."""
    try:
        yield
    except (Fails, NoFixpointError) as error:
        raise StreamboundError(f"the reference evaluator fails: {error}") from error


class StatementReference(Struct, frozen=True):
    """A statement's circuit over Z-sets, and its catalog; ``final``: a run prints each result once.

    A run in ``batches`` prints what changes from one micro-batch to the next, at any of its timestamps.
    """

    circuit: Circuit
    catalog: Catalog
    final: bool = False
    batches: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of a difference's cells."""
        return tuple(column.name for column in self.circuit.schema)

    def compare(self, folder: Path, output: Path) -> BatchComparison:
        """A run's output, JSON lines with ``_ts`` and ``_mult``, against the statement over the same rows.

        ``folder`` has a directory of JSON lines for each table. Raises StreamboundError where the statement fails over
        these rows, NotKnown where only Spark knows a value.
        """
        with failures():
            expected = self._expected(folder)
        found = self._found(output)
        if self.batches:
            expected = _until(sorted({time for time, _ in found}), expected)
        if self.final:
            last = max((time for time, _ in expected), default=0)
            expected, found = _at(last, expected), _at(last, Results({key: abs(n) for key, n in found.items()}))
        return compared(expected, found, [column.kind for column in self.circuit.schema])

    def _expected(self, folder: Path) -> Results:
        """The changes at each timestamp."""
        times, given = ticks(change for table in self.catalog.tables for change in source_changes(table, folder))
        *_, last = stages(self.circuit)
        changes = zip(times, evaluate(last.circuit, given), strict=True)
        return Results({(int(time), row): number for time, change in changes for row, number in change.items()})

    def _found(self, output: Path) -> Results:
        """The results that a run has printed."""
        kinds = [column.kind for column in self.circuit.schema]
        found = Results()
        for line in objects(output):
            *cells, time, number = line.values()
            row = tuple(value(cell, kind) for cell, kind in zip(cells, kinds, strict=True))
            found[(_moment(time), row)] += number
        return found


def _moment(written: object) -> int:
    """The time of a result as a number."""
    time = value(written, _TIMESTAMP if isinstance(written, str) else BIGINT)
    assert isinstance(time, Fraction), "a result has a time"
    return int(time)


def _at(time: int, results: Results) -> Results:
    """All results, at one time."""
    found = Results()
    for (_, row), number in results.items():
        found[(time, row)] += number
    return found


def _until(printed: Sequence[int], results: Results) -> Results:
    """All results, each at the next time at which any was printed; those after the last one at their own."""
    found = Results()
    for (time, row), number in results.items():
        place = bisect_left(printed, time)
        found[(printed[place] if place < len(printed) else time, row)] += number
    return found


# --- comparing --------------------------------------------------------------------------------------------------------


def compared(expected: Results, found: Results, kinds: Sequence[DataType]) -> BatchComparison:
    """How many results are expected, and at how many times; the first time at which others were found."""
    wanted = Results({key: number for key, number in expected.items() if number})
    size, times = sum(map(abs, wanted.values())), len({time for time, _ in wanted})
    different = _different(wanted, found, [place for place, kind in enumerate(kinds) if kind.family is Family.FLOAT])
    if not different:
        return BatchComparison(size, times)
    first = min(time for time, _ in different)
    cells = [
        Cell(
            tuple(shown(cell, kind) for cell, kind in zip(row, kinds, strict=True)), wanted[time, row], found[time, row]
        )
        for time, row in different
        if time == first
    ]
    return BatchComparison(size, times, first, tuple(sorted(cells, key=lambda cell: cell.values)[:MOST_SHOWN]))


def _different(wanted: Results, found: Results, floats: Sequence[int]) -> list[tuple[int, Row]]:
    """Where two counted multisets differ; doubles are equal where they are close."""
    keys = [key for key in {**wanted, **found} if wanted[key] != found[key]]
    if not floats:
        return keys
    groups: dict[tuple[object, ...], list[tuple[list[float], int]]] = defaultdict(list)
    alike: dict[tuple[object, ...], list[tuple[int, Row]]] = defaultdict(list)
    for time, row in keys:
        group = (time, *(cell is None if place in floats else cell for place, cell in enumerate(row)))
        doubles = [float(row[place] or 0) for place in floats]
        groups[group].append((doubles, found[time, row] - wanted[time, row]))
        alike[group].append((time, row))
    return [key for group, mine in groups.items() if not _cancels(mine) for key in alike[group]]


def _cancels(rows: Sequence[tuple[list[float], int]]) -> bool:
    """Whether the numbers of rows whose doubles are close add up to nothing."""
    left = list[tuple[list[float], int]]()
    for doubles, number in rows:
        for place, (others, open_ones) in enumerate(left):
            if open_ones * number < 0 and all(
                isclose(a, b, rel_tol=_CLOSE) for a, b in zip(doubles, others, strict=True)
            ):
                both = max(number, -open_ones) if number < 0 else min(number, -open_ones)
                left[place] = others, open_ones + both
                number -= both
        if number:
            left.append((doubles, number))
    return not any(number for _, number in left)


# --- rows -------------------------------------------------------------------------------------------------------------


def source_changes(table: DeclaredTable, folder: Path) -> Iterator[SourceChange]:
    """The rows of a table as a circuit takes them; of a relation that changes what comes and goes at each time."""
    if not (folder / table.name).is_dir():
        return
    if table.changes is not None:
        yield from _of_changes(table, folder)
        return
    place = next((at for at, column in enumerate(table.columns) if column.name == table.timestamp), None)
    for row in objects(folder / table.name):
        found = values(row, table.columns)
        time = None if place is None or table.kind is Kind.RELATION else found[place]
        assert time is None or isinstance(time, Fraction), "times are numbers"
        yield SourceChange(table.name, found, time)


def _of_changes(table: DeclaredTable, folder: Path) -> Iterator[SourceChange]:
    assert table.changes is not None, "a relation that changes"
    names = [column.name for column in table.columns]
    key = [names.index(name) for name in table.changes.key]
    found = changes_in_lines if table.changes.format is not ChangeFormat.OP else _inserts_and_deletes
    before = Counter[Row]()
    for time, rows in states(found(table, folder), key):
        now = Counter[Row](rows)
        for row in {**before, **now}:
            if weight := now[row] - before[row]:
                yield SourceChange(table.name, row, Fraction(time), weight)
        before = now


def _inserts_and_deletes(table: DeclaredTable, folder: Path) -> Iterator[RowChange]:
    changes = table.changes
    assert changes is not None, "a relation that changes"
    gone = plain_value(changes.delete, changes.op.type)
    for row in objects(folder / table.name):
        time = value(row.get(changes.timestamp.name), changes.timestamp.type)
        assert isinstance(time, Fraction), "a change has a time"
        deletes = value(row.get(changes.op.name), changes.op.type) == gone
        yield RowChange(int(time), deletes, values(row, table.columns))
