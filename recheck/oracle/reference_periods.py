"""SEQ statements by the reference evaluator: the SQL inside of the block, over the rows that are valid at each time.

Of SEQ VT the run's rows that are valid then must be the same multiset (Dignös et al., Definition 5.3); of SEQ TP those
whose lineage is true in a world are the facts that the SQL gives in that world (`lineage_worlds`). Between two points
at which a row begins or ends nothing changes, so that all points of time are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.analyzer.types import DataType, Family
from streambound.incremental.circuit import Circuit
from streambound.incremental.evaluate import Inputs, evaluate_once
from streambound.incremental.operators import SourceOp
from streambound.incremental.zset import Row, ZSet
from streambound.recheck.oracle.expected_values import Means, with_means
from streambound.recheck.oracle.lineage_worlds import (
    MOST_UNCERTAIN,
    Fact,
    Facts,
    PrintedRow,
    Variable,
    World,
    Worlds,
    all_worlds,
    probabilities,
)
from streambound.recheck.oracle.recorded_values import Object, objects, shown, value, values
from streambound.recheck.oracle.reference import Results, compared, failures
from streambound.recheck.oracle.spark_batch import BatchComparison, Cell, Snapshots
from streambound.recheck.oracle.stamped import NUMBER

_BEGIN, _END, _LINEAGE = "_begin", "_end", "_lineage"
_DIGITS = 9
_DOUBLE = DataType("double", Family.FLOAT)


class _ValidRow(Struct, frozen=True):
    """A row of a table as SQL in a block sees it; from when to before when it is valid, None for ever."""

    table: str
    row: Row
    begin: int | None
    end: int | None
    variable: Variable | None = None

    def is_valid(self, point: int) -> bool:
        """Whether it is valid at a point of time."""
        return (self.begin is None or self.begin <= point) and (self.end is None or point < self.end)


class PeriodReference(Struct, frozen=True):
    """The circuit of the SQL inside of a SEQ block, over the columns that it sees, and its points of time."""

    circuit: Circuit
    means: tuple[Means, ...]
    catalog: Catalog
    line: Snapshots

    @staticmethod
    def of(tree: exp.Expr, catalog: Catalog, line: Snapshots) -> PeriodReference:
        """The reference of a block's SQL; raises Untranslatable where it has no circuit."""
        (statement,) = split_statements(SourceText("block.sql", tree.sql("spark")))
        inside = tuple(_inside(table, line.lineages) for table in catalog.tables)
        return PeriodReference(*with_means(statement, Catalog(catalog.file, inside)), catalog, line)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of a difference's cells."""
        return tuple(column.name for column in self.circuit.schema) + self.line.lineages * ("in a world",)

    def compare(self, folder: Path, output: Path) -> BatchComparison:
        """A run's output, JSON lines with ``_begin``, ``_end`` and ``_mult``, against the points of time.

        ``folder`` has a directory of JSON lines for each table. Where the run's rows are the longest, one that could be
        longer is a difference, too: 2 rows where 1 is expected. Raises as `StatementReference.compare` does.
        """
        rows = [row for table in self.catalog.tables for row in _rows(table, folder, self.line.lineages)]
        with failures():
            if self.line.lineages:
                return self._worlds(rows, output).compared(Random("worlds 0"))
            return self._snapshots(rows, output)

    @property
    def _kinds(self) -> list[DataType]:
        return [column.kind for column in self.circuit.schema]

    @property
    def _time(self) -> DataType:
        return next(table.period.kind for table in self.catalog.tables if table.period is not None)

    def _of(self, rows: Iterable[_ValidRow], means: Inputs = MappingProxyType({})) -> ZSet:
        """The SQL's result on some rows."""
        return evaluate_once(self.circuit, {**_inputs(rows), **means})

    # --- points of time ----------------------------------------------------------------------------------------------

    def _snapshots(self, rows: Sequence[_ValidRow], output: Path) -> BatchComparison:
        printed = [self._printed(line) for line in objects(output)]
        points = self.line.points({end for row in rows for end in (row.begin, row.end) if end is not None})
        over = None if self.line.as_of or not points else points[-1]
        expected, found = Results(), Results()
        ends = () if self.line.as_of else (end for _, *ends, _ in printed for end in ends)
        for point in sorted({*points, *ends}):
            if over is None or point < over:
                expected.update({(point, row): n for row, n in self._of(r for r in rows if r.is_valid(point)).items()})
            for row, begin, end, number in printed:
                if self.line.as_of or begin <= point < end:
                    found[(point, row)] += number
        result = compared(expected, found, self._kinds)
        return result if result.cells or self.line.as_of or self.line.summed else self._longest(result, printed)

    def _printed(self, line: Object) -> tuple[Row, int, int, int]:
        """A row of a run, its period, and how often it is there."""
        cells = list(line.values())[: len(self.circuit.schema)]
        row = tuple(value(cell, kind) for cell, kind in zip(cells, self._kinds, strict=True))
        if self.line.as_of and self.line.low is not None:
            begin, end = self.line.low, self.line.low + 1
        else:
            begin, end = (self._moment(line[name]) for name in (_BEGIN, _END))
        return row, begin, end, int(str(line.get(NUMBER, 1)))

    def _moment(self, written: object) -> int:
        number = value(written, self._time)
        assert isinstance(number, Fraction), "periods have ends"
        return int(number)

    def _longest(self, result: BatchComparison, printed: Sequence[tuple[Row, int, int, int]]) -> BatchComparison:
        """The result, or a row that goes on as the same one."""
        last: dict[Row, tuple[int, int]] = {}
        cut = list[tuple[int, Row]]()
        for row, begin, end, number in sorted(printed, key=lambda one: one[1:3]):
            if row in last and (last[row][0] > begin or (self.line.whole and last[row] == (begin, number))):
                cut.append((begin, row))
            last[row] = end, number
        if not cut:
            return result
        begin, row = min(cut, key=lambda one: one[0])
        texts = tuple(shown(cell, kind) for cell, kind in zip(row, self._kinds, strict=True))
        return BatchComparison(result.results, result.timestamps, begin, (Cell(texts, 1, 2),))

    # --- possible worlds ---------------------------------------------------------------------------------------------

    def _worlds(self, rows: Sequence[_ValidRow], output: Path) -> Worlds:
        def facts(worlds: Sequence[tuple[int, World]]) -> Facts:
            valid = {point: [row for row in rows if row.is_valid(point)] for point, _ in worlds}
            means = {point: self._means(mine) for point, mine in valid.items()}
            return {
                number: {self._fact(row) for row in self._of(_there(valid[point], world), means[point])}
                for number, (point, world) in enumerate(worlds)
            }

        variables = [row.variable for row in rows if row.variable is not None]
        printed = [self._printed_in_worlds(line) for line in objects(output)]
        return Worlds(variables, printed, self.line, facts, MOST_UNCERTAIN if self.means else None)

    def _means(self, valid: Sequence[_ValidRow]) -> Inputs:
        """What is expected over all worlds of the rows that are valid at a point of time."""
        found: dict[SourceOp, ZSet] = {}
        for one in self.means:
            worlds = (
                (chance, {**_inputs(_there(valid, world)), **found})
                for chance, world in all_worlds([row.variable for row in valid if row.variable is not None])
            )
            found[SourceOp(one.table.name)] = one.over(worlds)
        return found

    def _printed_in_worlds(self, line: Object) -> PrintedRow:
        row, begin, end, _ = self._printed(line)
        low, high = (float(str(line[name])) for name in probabilities(self.catalog))
        return PrintedRow(self._fact(row), begin, end, str(line[_LINEAGE]), low, high)

    def _fact(self, row: Row) -> Fact:
        """A row as strings, with rounded doubles."""
        cells = zip(row, self._kinds, strict=True)
        return tuple(
            f"{float(cell):.{_DIGITS}g}"
            if isinstance(cell, Fraction) and kind.family is Family.FLOAT
            else shown(cell, kind)
            for cell, kind in cells
        )


def _inputs(rows: Iterable[_ValidRow]) -> dict[SourceOp, ZSet]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.table, []).append(row.row)
    return {SourceOp(table): ZSet.of(mine) for table, mine in found.items()}


def _there(rows: Iterable[_ValidRow], world: World) -> Iterator[_ValidRow]:
    """The rows that there are in a world."""
    return (row for row in rows if row.variable is None or world.get(row.variable.name, False))


def _inside(table: DeclaredTable, lineages: bool) -> DeclaredTable:
    """A table as SQL in a block sees it: a relation without periods and, of SEQ TP, without keys and probabilities."""
    return DeclaredTable(table.name, Kind.RELATION, _visible(table, lineages), file=table.file)


def _visible(table: DeclaredTable, lineages: bool) -> tuple[Column, ...]:
    hidden = () if table.period is None else table.period.hidden(lineages)
    return tuple(replace(column, domain=None) for column in table.columns if column.name not in hidden)


def _rows(table: DeclaredTable, folder: Path, lineages: bool) -> Iterable[_ValidRow]:
    if not (folder / table.name).is_dir():
        return
    period, visible = table.period, _visible(table, lineages)
    for row in objects(folder / table.name):
        found = values(row, visible)
        if period is None:
            yield _ValidRow(table.name, found, None, None)
            continue
        begin, end = (_end(row.get(name), period.kind) for name in (period.begin, period.end))
        variable = None
        if lineages:
            kind = next(column.type for column in table.columns if column.name == period.key)
            key, chance = value(row[str(period.key)], kind), value(row[str(period.probability)], _DOUBLE)
            assert isinstance(chance, Fraction), "a good row has a probability"
            variable = Variable.of(table.name, shown(key, kind), begin, end, float(chance))
        yield _ValidRow(table.name, found, begin, end, variable)


def _end(written: object, kind: DataType) -> int:
    number = value(written, kind)
    assert isinstance(number, Fraction), "a good row has both ends of its period"
    return int(number)
