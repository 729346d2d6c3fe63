"""Groups swept over in order of time: at each point what is valid is what began before and has not ended.

Spark sorts the rows of a partition by group and begin; a sweep holds those that are valid, by their ends in a heap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from math import isnan
from typing import TYPE_CHECKING, TypeAlias

from streambound_runtime.periods.aggregating import (
    CountOf,
    ExtremeOf,
    OncePerValue,
    Running,
    SumOf,
    SumOfDoubles,
    decimal_mean,
    decimal_sum,
    digits,
    integer_sum,
    mean_of_integers,
    ordered,
    whole,
)
from streambound_runtime.periods.frames import BEGIN, COUNT, END, columns
from streambound_runtime.periods.plan import PeriodAggregate
from streambound_runtime.periods.times import bin_of, literal
from streambound_runtime.row_values import ArrowValue

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

    Batches = Iterator[pa.RecordBatch]

_ROWS = 16_384
"""Rows of the result in one batch."""
_BIN = "_bin"
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_NAN = float("nan")
ArrowRow: TypeAlias = tuple[ArrowValue, ...]
SweptRow: TypeAlias = tuple[int, int, int, ArrowRow, ArrowRow]
"""Begin, end, copies, the group, and the arguments of the aggregates."""


def swept_groups(
    frame: DataFrame, keys: int, aggregates: Sequence[PeriodAggregate], borders: list[int],
    ends: tuple[int, int] | None,
) -> DataFrame:  # fmt: skip
    """A row for each group that has rows at a time; with ``ends`` one at every time between them, of all rows.

    In that case rows are cut at the borders, and the bins between them are groups of their own.
    """
    frame = _summable(frame, aggregates)
    names = columns(keys)
    arguments = sorted({one.column for one in aggregates if one.column is not None})
    used = [*names, *(f"c{place}" for place in arguments if place >= keys)]
    frame = frame.selectExpr(*used, BEGIN, END, COUNT)
    groups = names
    if ends is not None:
        frame, groups = _cut(frame, borders, ends), [_BIN]
    schema = _schema(frame, names, aggregates)
    sorted_rows = frame.repartition(*groups).sortWithinPartitions(*groups, BEGIN)
    sweep = _Sweep(tuple(groups), len(names), tuple(aggregates), tuple(_kinds(frame, aggregates)), ends is not None)
    return sorted_rows.mapInArrow(sweep.batches, schema)


def _summable(frame: DataFrame, aggregates: Sequence[PeriodAggregate]) -> DataFrame:
    """The rows with numbers for texts that are summed up, as Spark has them."""
    kinds = dict(frame.dtypes)
    texts = {
        f"c{one.column}"
        for one in aggregates
        if one.function in ("sum", "avg") and kinds[f"c{one.column}"] in ("string", "float")
    }
    return frame.selectExpr(*(f"CAST({n} AS DOUBLE) AS {n}" if n in texts else n for n in frame.columns))


def _cut(frame: DataFrame, borders: list[int], ends: tuple[int, int]) -> DataFrame:
    """Rows cut at the borders, with the number of their bin, and one row of no copies that is as long as each bin."""
    inner = [border for border in borders if ends[0] < border < ends[1]]
    starts, stops = [ends[0], *inner], [*inner, ends[1]]
    names = [name for name in frame.columns if name not in (BEGIN, END, COUNT)]
    table = ", ".join(
        f"named_struct('n', {number}, 'f', {literal(since)}, 't', {literal(until)})"
        for number, (since, until) in enumerate(zip(starts, stops, strict=True))
    )
    first, last = bin_of(inner, BEGIN), bin_of(inner, f"({END} - 1L)")
    bins = f"slice(array({table}), {first} + 1, {last} - {first} + 1)"
    cut_rows = frame.selectExpr("*", f"explode({bins}) AS _p").selectExpr(
        *names, f"greatest({BEGIN}, _p.f) AS {BEGIN}", f"least({END}, _p.t) AS {END}", COUNT, f"_p.n AS {_BIN}"
    )
    kinds = dict(frame.dtypes)
    nulls = (f"CAST(NULL AS {kinds[name]}) AS {name}" for name in names)
    full_bins = (
        frame.sparkSession.range(1)
        .selectExpr(f"explode(array({table})) AS _p")
        .selectExpr(*nulls, f"_p.f AS {BEGIN}", f"_p.t AS {END}", f"0L AS {COUNT}", f"_p.n AS {_BIN}")
    )
    return cut_rows.unionAll(full_bins.where(f"{BEGIN} < {END}"))


def _schema(frame: DataFrame, names: Sequence[str], aggregates: Sequence[PeriodAggregate]) -> StructType:
    from pyspark.sql.types import LongType, StructField, StructType

    kinds = {field.name: field.dataType for field in frame.schema.fields}
    fields = [StructField(name, kinds[name]) for name in names]
    for number, one in enumerate(aggregates):
        fields.append(StructField(f"c{len(names) + number}", _type(one, kinds)))
    return StructType([*fields, *(StructField(name, LongType(), False) for name in (BEGIN, END, COUNT))])


def _type(aggregate: PeriodAggregate, kinds: dict[str, DataType]) -> DataType:
    """The type of an aggregate, as Spark has it."""
    from pyspark.sql.types import DecimalType, DoubleType, LongType

    if aggregate.function == "count" or aggregate.column is None:
        return LongType()
    kind = kinds[f"c{aggregate.column}"]
    if aggregate.function in ("min", "max"):
        return kind
    if isinstance(kind, DecimalType):
        more, places = (10, 0) if aggregate.function == "sum" else (4, 4)
        return DecimalType(min(38, kind.precision + more), min(38, kind.scale + places))
    integer = aggregate.function == "sum" and kind.simpleString() in _INTEGERS
    return LongType() if integer else DoubleType()


def _kinds(frame: DataFrame, aggregates: Sequence[PeriodAggregate]) -> Iterator[str]:
    kinds = dict(frame.dtypes)
    for one in aggregates:
        yield "" if one.column is None else kinds[f"c{one.column}"]


def _running(aggregate: PeriodAggregate, kind: str) -> Running:
    """What keeps an aggregate of values of a type."""
    found: Running
    match aggregate.function:
        case "count":
            found = CountOf()
        case "min" | "max":
            found = ExtremeOf(ordered(kind in ("float", "double"), aggregate.function == "max"))
        case function if kind in _INTEGERS:
            found = SumOf(whole, integer_sum if function == "sum" else mean_of_integers)
        case function if kind.startswith("decimal"):
            precision, scale = map(int, kind[len("decimal(") : -1].split(","))
            made = decimal_sum(scale, min(38, precision + 10))
            if function == "avg":
                made = decimal_mean(scale, min(38, scale + 4), min(38, precision + 4))
            found = SumOf(digits(scale), made)
        case function:
            found = SumOfDoubles(function == "avg")
    return OncePerValue(found) if aggregate.distinct else found


class _Sweep:
    """Sweeps over the groups of a partition. ``always``: a row of no copies says how long a group's time is."""

    def __init__(
        self, groups: tuple[str, ...], keys: int, aggregates: tuple[PeriodAggregate, ...], kinds: tuple[str, ...],
        always: bool,
    ) -> None:  # fmt: skip
        self.groups, self.keys, self.aggregates, self.kinds, self.always = groups, keys, aggregates, kinds, always

    def batches(self, batches: Batches) -> Batches:
        """The result of the rows of a partition, sorted by group and begin."""
        types: dict[str, pa.DataType] = {}
        rows: list[ArrowRow] = []
        for found in self._segments(self._rows(batches, types)):
            rows.append(found)
            if len(rows) == _ROWS:
                yield self._batch(rows, types)
                rows = []
        if rows:
            yield self._batch(rows, types)

    def _rows(self, batches: Batches, types: dict[str, pa.DataType]) -> Iterator[SweptRow]:
        """What each row brings."""
        arguments = [None if one.column is None else f"c{one.column}" for one in self.aggregates]
        for batch in batches:
            types.update((field.name, field.type) for field in batch.schema)
            period = [batch.column(name).to_pylist() for name in (BEGIN, END, COUNT)]
            groups = zip(*(_values(batch.column(name)) for name in self.groups), strict=True)
            values = [[1] * batch.num_rows if name is None else _values(batch.column(name)) for name in arguments]
            yield from zip(*period, groups, zip(*values, strict=True), strict=True)

    def _segments(self, rows: Iterator[SweptRow]) -> Iterator[ArrowRow]:
        """The group's values, the aggregates, begin and end of each segment."""
        current: ArrowRow = ()
        group: _OpenGroup | None = None
        for begin, end, copies, key, values in rows:
            if group is None or key != current:
                if group is not None:
                    yield from group.until(None)
                current, group = key, self._opened(key)
            yield from group.until(begin)
            group.add(end, copies, values)
        if group is not None:
            yield from group.until(None)

    def _opened(self, key: ArrowRow) -> _OpenGroup:
        made = [_running(one, kind) for one, kind in zip(self.aggregates, self.kinds, strict=True)]
        return _OpenGroup(key[: self.keys], made, self.always)

    def _batch(self, rows: list[ArrowRow], types: dict[str, pa.DataType]) -> pa.RecordBatch:
        import pyarrow as pa

        names = [*columns(self.keys + len(self.aggregates)), BEGIN, END]
        wanted = [types[name] for name in columns(self.keys)]
        for one, kind in zip(self.aggregates, self.kinds, strict=True):
            wanted.append(_arrow_type(one, kind, types))
        cells = zip(*rows, strict=True)
        arrays = [
            _array(list(values), kind) for values, kind in zip(cells, [*wanted, pa.int64(), pa.int64()], strict=True)
        ]
        ones = pa.array([1] * len(rows), pa.int64())
        return pa.RecordBatch.from_arrays([*arrays, ones], [*names, COUNT])


class _OpenGroup:
    """What is valid of one group, and since when it has been the same."""

    def __init__(self, key: ArrowRow, aggregates: list[Running], always: bool) -> None:
        self.key, self.aggregates, self.always = key, aggregates, always
        self.ends: list[tuple[int, int, int, ArrowRow]] = []
        self.at, self.copies, self.serial = 0, 0, 0

    def add(self, end: int, copies: int, values: ArrowRow) -> None:
        """A row begins."""
        self.serial += 1
        heappush(self.ends, (end, self.serial, copies, values))
        self._change(copies, values)

    def _change(self, copies: int, values: ArrowRow) -> None:
        self.copies += copies
        if copies:
            for aggregate, value in zip(self.aggregates, values, strict=True):
                if value is not None:
                    aggregate.add(value, copies)

    def until(self, point: int | None) -> Iterator[ArrowRow]:
        """The segments up to a point, at which some row begins; None for all that are left."""
        while self.ends and (point is None or self.ends[0][0] <= point):
            end = self.ends[0][0]
            yield from self._segment(end)
            while self.ends and self.ends[0][0] == end:
                _, _, copies, values = heappop(self.ends)
                self._change(-copies, values)
        if point is not None:
            if self.ends:
                yield from self._segment(point)
            self.at = point

    def _segment(self, end: int) -> Iterator[ArrowRow]:
        if self.at < end and (self.copies or self.always):
            yield (*self.key, *(aggregate.value for aggregate in self.aggregates), self.at, end)
        self.at = end


def _values(column: pa.Array) -> list[ArrowValue]:
    """The values of a column: dates and times as integers, all NaNs one value."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    elif pa.types.is_date(column.type):
        column = column.cast(pa.int32())
    values: list[ArrowValue] = column.to_pylist()
    if pa.types.is_floating(column.type):  # equal tuples have the same NaN
        return [_NAN if isinstance(value, float) and isnan(value) else value for value in values]
    return values


def _array(values: list[ArrowValue], kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    if pa.types.is_date(kind):
        return pa.array(values, pa.int32()).cast(kind)
    return pa.array(values, kind)


def _arrow_type(aggregate: PeriodAggregate, kind: str, types: dict[str, pa.DataType]) -> pa.DataType:
    """The Arrow type of an aggregate; `_type` has that of Spark."""
    import pyarrow as pa

    if aggregate.function == "count" or aggregate.column is None:
        return pa.int64()
    own = types[f"c{aggregate.column}"]
    if aggregate.function in ("min", "max"):
        return own
    if pa.types.is_decimal(own):
        more, places = (10, 0) if aggregate.function == "sum" else (4, 4)
        return pa.decimal128(min(38, own.precision + more), min(38, own.scale + places))
    return pa.int64() if aggregate.function == "sum" and kind in _INTEGERS else pa.float64()
