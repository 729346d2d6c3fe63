"""Joins of temporal-probabilistic relations on equal columns by the sweeps alone: Arrow batches, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from streambound_runtime.tp.derivations import derivations
from streambound_runtime.tp.limits import Limits
from streambound_runtime.tp.overlaps import OverlapScan, overlaps
from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, P
from streambound_runtime.tp.windows import WindowJoin, windows
from streambound_runtime.tp.written import as_operand, as_result
from support.tp_worlds import Row

WINDOWS = {
    "INNER": (False, False),
    "LEFT": (True, False),
    "RIGHT": (False, True),
    "FULL": (True, True),
    "LEFT ANTI": (True, False),
}
LIMITS = Limits()
Tagged = tuple[Any, ...]


def tagged(name: str, side: int, rows: Sequence[Row], key: int | None, widths: tuple[int, int]) -> list[Tagged]:
    """The rows of a side as a scan reads them: key, side, values of both sides, period, lineage."""
    found = []
    for row in rows:
        values = [None] * sum(widths)
        start = side * widths[0]
        values[start : start + len(row.fact)] = row.fact
        found.append((0 if key is None else row.fact[key], side, *values, row.begin, row.end, f"{name}.{row.key}",
                      float(row.p)))  # fmt: skip
    return found


def batches(rows: Sequence[Tagged], schema: Any, sizes: Iterator[int]) -> Iterator[Any]:
    """Rows cut into batches."""
    start = 0
    while start < len(rows):
        size = next(sizes)
        part = list(zip(*rows[start : start + size], strict=True))
        yield pa.RecordBatch.from_arrays(
            [pa.array(column, field.type) for column, field in zip(part, schema, strict=True)], schema=schema
        )
        start += size


def joined(
    how: str, left: tuple[str, Sequence[Row]], right: tuple[str, Sequence[Row]], keys: tuple[int, int] | None,
    widths: tuple[int, int], sizes: Iterator[int], limits: Limits = LIMITS,
) -> list[tuple[Any, ...]]:  # fmt: skip
    """The rows (values…, begin, end, lineage, p) of a join where the columns ``keys`` are equal; all match for None."""
    rows = [
        *tagged(left[0], 0, left[1], keys[0] if keys else None, widths),
        *tagged(right[0], 1, right[1], keys[1] if keys else None, widths),
    ]
    rows.sort(key=lambda row: (row[0] is not None, row[0] or 0, row[-4]))
    names = [f"l{i}" for i in range(widths[0])] + [f"r{i}" for i in range(widths[1])]
    values = [(name, pa.int64()) for name in names]
    schema = pa.schema(
        [("k0", pa.int64()), ("side", pa.int32()), *values, (BEGIN, pa.int64()), (END, pa.int64()),
         (LINEAGE, pa.string()), (P, pa.float64())]
    )  # fmt: skip
    scan = OverlapScan(("k0",), widths, WINDOWS[how], ("k0",))
    shown = [f"c{i}" for i in range(widths[0] if how == "LEFT ANTI" else sum(widths))]
    blanks = {"LEFT": (False, True), "RIGHT": (True, False)}.get(how, (False, False))
    join = WindowJoin(widths, how != "LEFT ANTI", WINDOWS[how], blanks, left[0] != right[0])
    made = windows(join, overlaps(scan, batches(rows, schema, sizes)))
    if how == "FULL" or left[0] == right[0]:
        made = derivations(shown, limits, resorted(shown, as_operand(shown, made), sizes))
    results = as_result(shown, limits, False, made)
    return [row for batch in results for row in zip(*batch.to_pydict().values(), strict=True)]


def resorted(names: Sequence[str], parts: Iterator[Any], sizes: Iterator[int]) -> Iterator[Any]:
    """Batches in order of their values and begins, as after a shuffle."""
    tables = list(parts)
    if not tables:
        return
    whole = pa.Table.from_batches(tables)
    rows = list(zip(*whole.to_pydict().values(), strict=True))
    begin = whole.column_names.index(BEGIN)
    rows.sort(key=lambda row: ([(value is not None, value or 0) for value in row[: len(names)]], row[begin]))
    yield from batches(rows, whole.schema, sizes)
