"""Run a job's plan in this process, without Spark: what `explain` shows step by step, and what tests compare."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.evident import encoded, plain_value
from streambound.analyzer.expressions.expression import value_of
from streambound.analyzer.expressions.reading import read
from streambound.analyzer.types import parse_type
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.engine.arrow import delta_of, table_of
from streambound_runtime.engine.block import SqlBlock, state_name
from streambound_runtime.engine.first import SqlFirst
from streambound_runtime.engine.loop import Engine
from streambound_runtime.engine.plan import CircuitPlan, ComputedRows, states_of
from streambound_runtime.engine.tables import engine_type
from streambound_runtime.operators.by_tick import Changes, delta_of_rows, rows_by_time
from streambound_runtime.operators.circuit_plan import MapNode
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import column_of
from streambound_runtime.row_values import Value
from streambound_runtime.spec import JobSpec, Stream

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class ClosedTimestamp:
    """What happened when a timestamp closed: its results, and the tables after it, if they are wanted.

    ``beyond`` are states that had more entries than is said of them, at any timestamp, in words.
    """

    timestamp: int
    results: tuple[tuple[Row, int], ...]
    tables: dict[str, dict[Key, int]]
    entries: int
    beyond: tuple[str, ...] = ()


def replay(
    job: JobSpec,
    relations: Mapping[str, list[Row]],
    streams: Mapping[str, Iterable[Row]],
    ends: Sequence[int] | None = None,
    tables: bool = False,
) -> Iterator[ClosedTimestamp]:
    """Close the timestamps of some finite streams in order; rows hold encoded values.

    The timestamp column of each stream is the one that the job names. ``ends`` are the last timestamps of a circuit's
    ticks; without them each timestamp is one. The ``tables`` of a block are read after each tick if they are wanted.
    """
    batches: dict[int, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for stream in job.streams:
        for row in streams.get(stream.name, ()):
            if not stream.ends_keys and any(row.get(mark.column) == mark.value for mark in stream.marks):
                continue
            batches[row[stream.timestamp]][stream.name].append(row)
    operator = operator_of_circuit(job.plan, relations, job.streams)
    found: dict[int, tuple[list[tuple[Row, int]], dict[str, dict[Key, int]], int]] = {}
    times, beyond = sorted(batches), list[str]()
    last = len(times)
    stops = {bisect_right(times, end) for end in (times if ends is None else ends)}
    for start, stop in pairwise(sorted({0, last, *stops})):
        deltas = deltas_of(job.streams, times[start:stop], batches)
        _note(found, operator, operator.step(deltas), times[stop - 1], tables)
        beyond += operator.beyond()
    _note(found, operator, operator.step({}, None, over=True), max(batches, default=0), tables)
    for now, (results, kept, entries) in sorted(found.items()):
        yield ClosedTimestamp(now, tuple(results), kept, entries, tuple(beyond))


def deltas_of(
    streams: Sequence[Stream], tick: Sequence[int], batches: Mapping[int, Mapping[str, list[Row]]]
) -> dict[str, Delta]:
    """The rows of some timestamps as what a job closes."""
    deltas = {}
    for stream in streams:
        if rows := [(now, row) for now in tick for row in batches[now].get(stream.name, ())]:
            deltas[stream.name] = rows_as_delta([now for now, _ in rows], [row for _, row in rows], stream)
    return deltas


def tables_of(operator: Engine) -> dict[str, dict[Key, int]]:
    """The tables of a query of joins, by name, with their entries; circuits of other operators have none."""
    block, *others = operator.plan.operators
    if not isinstance(block, SqlBlock) or not all(isinstance(one, ComputedRows | SqlFirst) for one in others):
        return {}
    names = {state_name(number, place): table.name for number, branch in enumerate(block.synopsis.branches)
             for place, table in enumerate(branch.tables)}  # fmt: skip
    found, dumped = {}, operator.dump()
    for name, state in ((one.name, state) for one in (block, *others) for state in states_of(one)):
        rows = dumped[f"{name}: {state.name}"].to_pylist()
        columns = [name for name in state.names if name not in (*block.weights.names, "there")]
        found[names.get(state.name, state.name)] = {
            tuple(_whole(row[name]) for name in columns): int(row.get("n", 1)) for row in rows
        }
    return found


def _whole(value: Value | Decimal) -> Value:
    """A value of a state; integers beyond 64 bits become decimals."""
    return int(value) if isinstance(value, Decimal) else value


def operator_of_circuit(
    circuit: CircuitPlan, relations: Mapping[str, list[Row]], streams: Sequence[Stream] = ()
) -> Engine:
    """The engine that runs a circuit in this process."""
    return Engine(circuit, relation_tables(relations), evaluated, streams)


def relation_tables(relations: Mapping[str, Sequence[Row]]) -> dict[str, pa.Table]:
    """The encoded rows of relations as a job has them."""
    return {name: _table(rows) for name, rows in relations.items()}


def _table(rows: Sequence[Row]) -> pa.Table:
    import pyarrow as pa

    names = dict.fromkeys(name for row in rows for name in row) or {"": None}
    return pa.table({name: _column([_in_jobs(row.get(name)) for row in rows]) for name in names})


def _column(values: list[Any]) -> pa.Array:
    import pyarrow as pa

    wide = any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in values)
    if wide:  # as integers beyond 64 bits travel
        return pa.array([None if value is None else Decimal(value) for value in values], pa.decimal128(38, 0))
    return pa.array(values)


def rows_as_delta(times: Sequence[int], rows: list[Row], stream: Stream) -> Delta:
    """Rows in order of their timestamps as what a job closes; a fraction is the nearest double."""
    import pyarrow as pa

    rows = [{name: _in_jobs(value) for name, value in row.items()} for row in rows]
    kinds = {column.name: sql_type(column.type).family for column in stream.columns}
    kinds |= {column.name: sql_type(column.type).family for column in stream.derived}
    found = delta_of_rows(times, rows, {name: kinds[name] == "string" for name in stream.needs})
    columns, dictionary = dict(found.columns), dict[str, pa.StringArray]()
    for name in stream.needs:
        if kinds[name] == "string":  # as a job has them, numbers of a dictionary
            texts = sorted({row[name] for row in rows if row[name] is not None})
            places = {text: place for place, text in enumerate(texts)}
            columns[name] = column_of([places.get(row[name], 0) for row in rows], False)[0]
            dictionary[name] = pa.array(texts, pa.string())
    return replace(found, columns=columns, dictionary=dictionary)


def _note(
    found: dict[int, tuple[list[tuple[Row, int]], dict[str, dict[Key, int]], int]],
    operator: Engine,
    delta: Delta,
    now: int,
    tables: bool,
) -> None:
    kept, entries = tables_of(operator) if tables else {}, operator.entries()
    found.setdefault(now, ([], kept, entries))
    for time, rows in rows_by_time(delta).items():
        found.setdefault(time, ([], kept, entries))[0].extend(
            (dict(zip(operator.plan.columns, row, strict=True)), n) for row, n in rows
        )


def evaluated(node: MapNode, rows: pa.Table) -> pa.Table:
    """The columns that Spark computes in a job, by the interpreter of expressions; raises NotKnown where it cannot."""
    kinds = {name: kind for name, text in node.given if (kind := parse_type(text)) is not None}
    types = [kind for _, text in node.columns if (kind := parse_type(text)) is not None]
    expressions = [read(parsed(text), kinds) for text in node.expressions]
    where = read(parsed(node.where), kinds) if node.where else None
    changes = Changes(tuple(name for name, _ in node.columns))
    for now, mine in rows_by_time(delta_of(rows.sort_by("t"), [name for name, _ in node.given])).items():
        kept = []
        for values, weight in mine:
            row = {name: plain_value(value, kinds[name]) for (name, _), value in zip(node.given, values, strict=True)}
            if where is not None and value_of(where, row).value != 1:
                continue
            found = [value_of(expression, row) for expression in expressions]
            plain = zip(found, types, strict=True)
            made = (None if one.value is None else _in_jobs(encoded(one.value, kind)) for one, kind in plain)
            kept.append((tuple(made), weight))
        changes.add(now, kept)
    return table_of(changes.delta, [engine_type(kind) for _, kind in node.columns])


def _in_jobs(value: Value) -> Value:
    """An encoded value as jobs have it: a fraction as the nearest double."""
    return float(value) if isinstance(value, Fraction) else value
