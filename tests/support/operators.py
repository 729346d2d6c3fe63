"""Runs a query's synopsis, by either kernel, over encoded rows in batches; its state goes through Arrow in between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from streambound.analyzer.expressions.values import derived_value
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound.synopsis_exec.synopsis_plan import synopsis_plan
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import column_of, pairs_of_arrow
from streambound_runtime.operators.protocol import StatefulOperator
from streambound_runtime.operators.synopsis import SynopsisJoin
from streambound_runtime.operators.synopsis_by_rows import SynopsisByRows

Row = dict[str, Any]
Result = tuple[int, int, tuple[Any, ...]]
KERNELS: dict[str, type[SynopsisJoin] | type[SynopsisByRows]] = {"columns": SynopsisJoin, "rows": SynopsisByRows}


@dataclass(frozen=True)
class Step:
    """What closing some timestamps gave: results in order, the tables after them, their size, the most meanwhile."""

    results: list[Result]
    tables: dict[str, dict[tuple[Any, ...], int]]
    entries: int
    peak: int


def kernels_of(plan: Plan) -> list[str]:
    """The kernels that run a query."""
    return ["rows", "columns"] if synopsis_plan(plan).kernel == "columns" else ["rows"]


def steps(
    plan: Plan, kernel: str, relations: Mapping[str, list[Row]], streams: Mapping[str, list[Row]], cuts: Sequence[int]
) -> Iterator[Step]:
    """The steps of a new operator each, which takes over the state of the one before."""
    by_time = rows_by_time(plan, streams)
    data, state = synopsis_plan(plan), None
    for batch in batches(sorted(by_time), cuts):
        operator: StatefulOperator = KERNELS[kernel](data, relations)
        if state is not None:
            operator.load(state)
        results = operator.step(deltas_of(plan, by_time, batch))
        state = operator.dump()
        rows = list(zip(results.time.tolist(), results.weights().tolist(), results.rows(), strict=True))
        tables = {name: dict(pairs_of_arrow(table)) for name, table in state.items()}
        assert sum(map(len, tables.values())) == operator.entries()
        yield Step(rows, tables, operator.entries(), operator.peak)


def peak_entries(plan: Plan, relations: Mapping[str, list[Row]], streams: Mapping[str, list[Row]]) -> int:
    """The most entries that the kernel of a query's job ever keeps.

    The streams end where a result has more duplicates than a job can print.
    """
    data = synopsis_plan(plan)
    by_time = rows_by_time(plan, streams)
    # Together, timestamps cost the kernel of columns no more than one alone; row by row, the last good one is found.
    for kernel, many in ((data.kernel, 20), ("rows", 1)):
        operator, most, times = KERNELS[kernel](data, relations), 0, sorted(by_time)
        try:
            for batch in batches(times, range(0, len(times), many)):
                operator.step(deltas_of(plan, by_time, batch))
                most = max(most, operator.peak)
            return most
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
            tuple(column.name for column in stream.columns),
        )
        for stream in plan.streams
    }


def with_derived(stream: Input, row: Row) -> Row:
    """A row with the columns that expressions derive, by this project's own values of expressions."""
    return {**row, **{column.name: derived_value(column, stream.declared, row) for column in stream.derived}}


def delta_of_rows(rows: list[Row], time: str, names: tuple[str, ...]) -> Delta:
    """Rows of one stream as a delta, texts as places in a dictionary in no particular order."""
    columns, nulls, dictionary = {}, {}, {}
    for name in names:
        values = [row[name] for row in rows]
        if any(isinstance(value, str) for value in values):
            dictionary[name] = sorted({value for value in values if value is not None}, reverse=True)
            places = {word: place for place, word in enumerate(dictionary[name])}
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
