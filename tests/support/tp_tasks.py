"""Joins of temporal-probabilistic relations on equal columns as tasks evaluate them: Arrow batches, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from streambound_runtime.operators.period_plan import LineageRows, SliceJoin, SliceLineage, SliceScan
from streambound_runtime.periods.tasks import PeriodTask, TableOfTask
from streambound_runtime.tp.limits import Limits
from support.tp_worlds import Row

WINDOWS = {"INNER": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full", "LEFT ANTI": "anti"}
LIMITS = Limits()
Rows = Sequence[Row]


def joined(
    how: str, left: tuple[str, Rows], right: tuple[str, Rows], keys: tuple[int, int] | None, widths: tuple[int, int],
    sizes: Iterator[int], limits: Limits = LIMITS,
) -> list[tuple[Any, ...]]:  # fmt: skip
    """The rows (values…, begin, end, lineage, p) of a join where the columns ``keys`` are equal; all match for None."""
    kind, apart = WINDOWS[how], left[0] != right[0]
    meet = how == "FULL" or not apart
    sides = [_table(name, side, rows, max(widths)) for side, (name, rows) in enumerate((left, right))]
    scans = [LineageRows(SliceScan(f"delta_{side}", width + 2), width) for side, width in enumerate(widths)]
    join = SliceJoin(kind, *scans, () if keys is None else ((f"c{keys[0]}", f"c{keys[1]}"),))
    blanks = tuple(range(widths[0])), tuple(range(widths[1]))
    query = SliceLineage(
        "q", join, (), limits.kind, limits.nodes, blanks=blanks, independent=apart and not meet, derived=how == "FULL",
        final=False,
    )  # fmt: skip
    read = tuple(_read(side, width) for side, width in enumerate(widths))
    task = PeriodTask(join, read, not meet, query)
    found = list(task.rows(_batches(pa.concat_tables(sides), sizes)))
    if meet and found:
        width = len(found[0].schema.names) - 5
        facts = LineageRows(SliceScan("delta_0", width + 2), width)
        query = SliceLineage("q", facts, (), limits.kind, limits.nodes, derived=True, final=False)
        names = [f"s{n}" if n < width else ("text", "p")[n - width] for n in range(width + 2)]
        given = pa.Table.from_batches(found).rename_columns([*names, "_b", "_e", "_m"])
        given = given.append_column("_key", pa.array([0] * given.num_rows, pa.int64()))
        found = list(PeriodTask(facts, (_read(0, width),), True, query).rows(_batches(given, sizes)))
    rows = (row for batch in found for row in zip(*batch.to_pydict().values(), strict=True))
    return sorted(((*row[:-5], row[-3], row[-2], row[-5], row[-4]) for row in rows), key=lambda row: row[-4:])


def _read(side: int, width: int) -> TableOfTask:
    return TableOfTask(
        f"delta_{side}", (*(f"s{n}" for n in range(width)), "text", "p"), (*["BIGINT"] * width, "VARCHAR", "DOUBLE")
    )


def _table(name: str, side: int, rows: Rows, width: int) -> pa.Table:
    """The rows of a side as a task reads them."""
    facts = [[row.fact[n] if n < len(row.fact) else None for row in rows] for n in range(width)]
    found = {f"s{n}": pa.array(values, pa.int64()) for n, values in enumerate(facts)}
    found |= {"text": pa.array([f"{name}.{row.key}" for row in rows], pa.string())}
    found |= {"p": pa.array([float(row.p) for row in rows], pa.float64())}
    whole = {"_b": [row.begin for row in rows], "_e": [row.end for row in rows], "_m": [1] * len(rows)}
    whole |= {"_side": [side] * len(rows), "_key": [0] * len(rows)}
    return pa.table(found | {word: pa.array(values, pa.int64()) for word, values in whole.items()})


def _batches(rows: pa.Table, sizes: Iterator[int]) -> Iterator[pa.RecordBatch]:
    """Rows cut into batches."""
    start = 0
    while start < rows.num_rows:
        size = next(sizes)
        yield from rows.slice(start, size).combine_chunks().to_batches()
        start += size
