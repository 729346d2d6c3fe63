"""Runs a query's block in batches; its state goes through Arrow in between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from streambound.analyzer.expressions.values import derived_value
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound.synopsis_exec.simulate import operator_of_circuit, tables_of
from streambound.synopsis_exec.sql_blocks import circuit_of_joins
from streambound_runtime.engine.loop import Engine
from streambound_runtime.engine.tables import VARCHAR, engine_type
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import column_of

TOGETHER = 3
"""How many timestamps streams that fill tables close at once."""
Row = dict[str, Any]
Result = tuple[int, int, tuple[Any, ...]]


@dataclass(frozen=True)
class Step:
    """What closing some timestamps gave: results in order, the entries after them, and the most after any tick."""

    results: list[Result]
    entries: int
    peak: int = field(compare=False)


def operator_of(plan: Plan, relations: Mapping[str, list[Row]], by_timestamp: bool = False) -> Engine:
    """A new operator."""
    return operator_of_circuit(replace(circuit_of_joins(plan), by_timestamp=by_timestamp), relations)


def steps(
    plan: Plan,
    relations: Mapping[str, list[Row]],
    streams: Mapping[str, list[Row]],
    cuts: Sequence[int],
    by_timestamp: bool = False,
) -> Iterator[Step]:
    """The steps of a new operator each, which takes over the state of the one before."""
    by_time, state = rows_by_time(plan, streams), None
    for batch in batches(sorted(by_time), cuts):
        operator = operator_of(plan, relations, by_timestamp)
        if state is not None:
            operator.load(state)
        results = operator.step(deltas_of(plan, by_time, batch))
        state = operator.dump()
        rows = list(zip(results.time.tolist(), map(int, results.weights()), results.rows(), strict=True))
        assert sum(map(len, tables_of(operator).values())) == operator.entries()
        yield Step(sorted(rows, key=str), operator.entries(), operator.peak)


def peak_entries(plan: Plan, relations: Mapping[str, list[Row]], streams: Mapping[str, list[Row]]) -> int:
    """The most entries that a query's job ever keeps after a tick of a few timestamps.

    The streams end where a result has more duplicates than a job can print.
    """
    operator, by_time, most = operator_of(plan, relations), rows_by_time(plan, streams), 0
    times = sorted(by_time)
    try:
        for tick in batches(times, range(0, len(times), TOGETHER)):
            operator.step(deltas_of(plan, by_time, tick))
            most = max(most, operator.peak)
    except OverflowError as error:
        assert "duplicates" in str(error)
    return most


def rows_by_time(plan: Plan, streams: Mapping[str, list[Row]]) -> dict[int, dict[str, list[Row]]]:
    """The rows of each timestamp, by stream."""
    by_time: dict[int, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for stream in plan.streams:
        for row in streams.get(stream.name, ()):
            by_time[row[str(stream.timestamp)]][stream.name].append(row)
    return by_time


def deltas_of(plan: Plan, by_time: Mapping[int, Mapping[str, list[Row]]], batch: Sequence[int]) -> dict[str, Delta]:
    """The rows of some timestamps as deltas."""
    return {
        stream.name: delta_of_rows(
            [with_derived(stream, row) for now in batch for row in by_time[now].get(stream.name, ())],
            str(stream.timestamp),
            {column.name: engine_type(column.type.name) == VARCHAR for column in stream.columns},
        )
        for stream in plan.streams
    }


def with_derived(stream: Input, row: Row) -> Row:
    """A row with the columns that expressions derive, by this project's own values of expressions."""
    return {**row, **{column.name: derived_value(column, stream.declared, row) for column in stream.derived}}


def delta_of_rows(rows: list[Row], time: str, names: Mapping[str, bool]) -> Delta:
    """Rows of a stream as a delta; ``names`` say which columns are texts: places in a dictionary in no order."""
    columns, nulls, dictionary = {}, {}, {}
    for name, text in names.items():
        values = [row[name] for row in rows]
        if text:
            words = sorted({value for value in values if value is not None}, reverse=True)
            places, dictionary[name] = {word: place for place, word in enumerate(words)}, pa.array(words, pa.string())
            columns[name] = np.array([places.get(value, 0) for value in values], dtype=np.int64)
            if None in values:
                nulls[name] = np.array([value is None for value in values])
            continue
        columns[name], null = column_of(values)
        if null is not None:
            nulls[name] = null
    return Delta(np.array([row[time] for row in rows], dtype=np.int64), None, columns, nulls, dictionary)


def batches(times: Sequence[int], cuts: Sequence[int]) -> Iterator[list[int]]:
    """The timestamps cut before some of their places."""
    ends = [0, *sorted({cut for cut in cuts if 0 < cut < len(times)}), len(times)]
    for start, stop in pairwise(ends):
        yield list(times[start:stop])
