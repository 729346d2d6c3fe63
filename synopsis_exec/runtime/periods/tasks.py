"""Operators over rows with periods in tasks of Spark: the SQL of slices of time, over rows that lie there together.

Rows that are equal in what an operator compares go to one task, as integers, doubles and texts; the time of all of them
is one slice. Values of other types, such as arrays, are only compared, and go as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.decoding.sql_types import SqlType, sql_type
from streambound_runtime.engine.session import Session, as_decimal, within_limits
from streambound_runtime.engine.slice_rows import SliceRows
from streambound_runtime.engine.slice_tables import SliceTables
from streambound_runtime.engine.slices import coalesced
from streambound_runtime.engine.tables import BIGINT, DOUBLE, HUGEINT, VARCHAR, TickTables, engine_type, listed, places
from streambound_runtime.operators.period_plan import SliceLineage, SlicePlan, chance_columns
from streambound_runtime.periods.frames import BEGIN, COUNT, END, PERIOD
from streambound_runtime.periods.times import GREATEST, LEAST, OTHER, carried, carried_as, typed

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

_SIDE, _KEY = "_side", "_key"
_AT_A_TIME = 2**16
"""Rows of the result in one batch."""
_MOST = 2**20
"""Rows of a task that are worked on at a time, or more where they have one key."""


@dataclass(frozen=True, slots=True)
class TaskInput:
    """A DataFrame whose rows tasks read as a ``table``; those equal in the columns at the places ``keys`` in one.

    Without keys, not even none, they stay where they are.
    """

    table: str
    frame: DataFrame
    keys: tuple[int, ...] | None = None

    @property
    def types(self) -> list[DataType]:
        """The types of its columns."""
        return [field.dataType for field in self.frame.schema.fields if field.name not in PERIOD]


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """Operators over scans of ``inputs``, and the types of their columns.

    Rows that are equal in the columns ``together`` lie in one task; None of one DataFrame, whose rows lie anywhere.
    ``finished``: the result is coalesced, or its lineages are written.
    """

    plan: SlicePlan
    types: tuple[DataType, ...]
    inputs: tuple[TaskInput, ...]
    together: tuple[int, ...] | None = None
    finished: bool = False
    lineages: SliceLineage | None = None

    def frame(self) -> DataFrame:
        """The result, lazily."""
        from pyspark.sql.types import LongType, StructField, StructType

        if self.together is None:
            return self.inputs[0].frame
        rows, read = _shuffled(self.inputs)
        kinds = [sql_type(kind.simpleString()) for kind in self.types]
        types = (_carried_type(*both) for both in zip(self.types, kinds, strict=True))
        fields = [StructField(f"c{n}", kind) for n, kind in enumerate(types)]
        fields += [StructField(name, LongType()) for name in PERIOD]
        task = PeriodTask(self.plan, tuple(read), self.finished, self.lineages)
        found = rows.mapInArrow(task.rows, StructType(fields))
        return found.selectExpr(*(f"{typed(f'c{n}', kind)} AS c{n}" for n, kind in enumerate(kinds)), *PERIOD)


def _shuffled(inputs: Sequence[TaskInput]) -> tuple[DataFrame, list[TableOfTask]]:
    """The rows of all inputs, moved; columns of one type share a place."""
    from pyspark.sql import functions as F

    kinds = [[sql_type(kind.simpleString()) for kind in one.types] for one in inputs]
    slots, read = dict[str, str](), list[TableOfTask]()
    for one, own in zip(inputs, kinds, strict=True):
        moved = [_carried_type(*both).simpleString() for both in zip(one.types, own, strict=True)]
        mine = [f"{kind} {moved[:n].count(kind)}" for n, kind in enumerate(moved)]
        slots |= {slot: f"s{len(slots) + n}" for n, slot in enumerate(slot for slot in mine if slot not in slots)}
        types = tuple("" if kind.family == OTHER else engine_type(kind.name) for kind in own)
        read.append(TableOfTask(one.table, tuple(slots[slot] for slot in mine), types))
    parts: list[DataFrame] = []
    for number, (one, own) in enumerate(zip(inputs, kinds, strict=True)):
        values = {slot: carried(f"c{n}", own[n]) for n, slot in enumerate(read[number].columns)}
        empty = {name: f"CAST(NULL AS {slot.rpartition(' ')[0]})" for slot, name in slots.items()}
        shown = [f"{value} AS {name}" for name, value in (empty | values).items()]
        key = f"xxhash64({', '.join(carried(f'c{place}', own[place]) for place in one.keys or ()) or '0'}) AS {_KEY}"
        parts.append(one.frame.selectExpr(*shown, *PERIOD, f"{number} AS {_SIDE}", key))
    rows = reduce(lambda left, right: left.unionAll(right), parts)
    if all(one.keys is None for one in inputs):
        return rows, read
    return rows.repartition(F.col(_KEY)) if any(one.keys for one in inputs) else rows.repartition(1), read


def _carried_type(kind: DataType, known: SqlType) -> DataType:
    from pyspark.sql.types import DataType

    return kind if known.family == OTHER and known.name != "void" else DataType.fromDDL(carried_as(known))


@dataclass(frozen=True, slots=True)
class TableOfTask:
    """A table that a task reads of its rows: its ``columns`` among theirs, and their types; without one, as it is."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PeriodTask:
    """The work of a task on its rows, all of which it holds."""

    plan: SlicePlan
    tables: tuple[TableOfTask, ...]
    finished: bool
    lineages: SliceLineage | None

    def rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The result of the rows of a partition."""
        import pyarrow as pa

        given = [batch for batch in batches if batch.num_rows]
        if not given:
            return
        rows = pa.Table.from_batches(given)
        parts = rows.num_rows // _MOST + 1
        part = np.asarray(rows.column(_KEY)) % parts
        for number in range(parts):
            found = self._result(rows if parts == 1 else rows.filter(pa.array(part == number)))
            yield from found.to_batches(max_chunksize=_AT_A_TIME)

    def _result(self, rows: pa.Table) -> pa.Table:
        session = Session()
        session.set("since", LEAST)
        session.set("until", GREATEST)
        streams = {one.name: (one.name, self._put(session, rows, n)) for n, one in enumerate(self.tables)}
        made = SliceTables("tasks", TickTables(0, ()), session, _nothing_computed)
        slices = SliceRows(made, streams, {}, LEAST, GREATEST, whole=True)
        types, found, own = self._made(slices)
        with within_limits("SEQ"):
            for step in made.steps:
                step()
            shown = (as_decimal(*one) for one in zip(places(len(types)), types, strict=True))
            period = (f"CAST({mine} AS BIGINT) AS {name}" for mine, name in zip(("b", "e", own), PERIOD, strict=True))
            return session.read(f"SELECT {listed(*shown, *period)} FROM {found}")

    def _made(self, slices: SliceRows) -> tuple[tuple[str, ...], str, str]:
        """The types of the columns of the result, its rows, and how often each is there."""
        types = slices.types(self.plan)
        if self.lineages is not None:
            from streambound_runtime.engine.slice_windows import SliceWindows

            found = SliceWindows(self.lineages, slices).of_task(self.finished)
            own = ("l", *"pq"[: len(chance_columns(self.lineages)) if self.finished else 1])
            more = (f"{name} AS c{len(types) + n}" for n, name in enumerate(own))
            rows = f"(SELECT {listed(*places(len(types)), *more, 'b', 'e')} FROM {found})"
            return (*types, VARCHAR, *[DOUBLE] * (len(own) - 1)), rows, "1"
        found = slices.top(self.plan)
        return types, coalesced(slices.tables, self.plan, found, len(types)) if self.finished else found, "m"

    def _put(self, session: Session, rows: pa.Table, number: int) -> tuple[str, ...]:
        """Make a table of its rows; the types of its columns and of the ends."""
        import pyarrow.compute as pc

        one = self.tables[number]
        mine = rows if len(self.tables) == 1 else rows.filter(pc.equal(rows.column(_SIDE), number))
        values = mine.select(one.columns).rename_columns(places(len(one.columns)))
        kinds = [kind or own for kind, own in zip(one.types, _own_types(session, values), strict=True)]
        names = dict(zip(places(len(kinds)), one.columns, strict=True))
        columns = {"t": BEGIN, **names, f"c{len(kinds)}": END, "w": COUNT}
        known = zip(columns, (BIGINT, *kinds, BIGINT, HUGEINT), strict=True)
        session.put(one.name, [*known], mine.select([*columns.values()]).rename_columns([*columns]))
        return (*kinds, BIGINT)


def _own_types(session: Session, values: pa.Table) -> list[str]:
    """The types that columns have for the database."""
    return [str(kind) for kind in session.database.from_arrow(values).types] if values.num_columns else []


def _nothing_computed(node: object, rows: pa.Table) -> pa.Table:
    raise AssertionError("Spark computes expressions")
