"""Groups in tasks: added up where their rows are, and then together, they are what they are at once."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from streambound_runtime.operators.period_plan import SliceAggregate, SliceGroup, SliceParts, SlicePlan, SliceScan
from streambound_runtime.periods.tasks import PeriodTask, TableOfTask
from support.profiles import MORE

ROWS = SliceScan("delta_0", 3)
AGGREGATES = (
    SliceAggregate("count"),
    SliceAggregate("count", 1),
    SliceAggregate("sum", 1, "bigint", result="bigint"),
    SliceAggregate("avg", 1, "bigint", result="double"),
    SliceAggregate("sum", 2, "decimal(20,2)", result="decimal(30,2)"),
)
KINDS = ("VARCHAR", "BIGINT", "HUGEINT")


def drawn(random: Random) -> pa.Table:
    """Rows of few groups, some of one period; values may be NULL."""
    rows = []
    for _ in range(random.randint(1, 30)):
        begin = random.randint(0, 8)
        values = random.choice(["a", "b", None]), random.choice([None, -3, 0, 2**62]), random.choice([None, 5, 10**19])
        rows.append((*values, begin, begin + random.randint(1, 4), random.randint(1, 3), 0))
    types = (pa.string(), pa.int64(), pa.decimal128(38, 0), *[pa.int64()] * 4)
    names = ("s0", "s1", "s2", "_b", "_e", "_m", "_key")
    columns = zip(names, zip(*rows, strict=True), types, strict=True)
    return pa.table({name: pa.array(values, kind) for name, values, kind in columns})


def made(plan: SlicePlan, rows: pa.Table, kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    task = PeriodTask(plan, (TableOfTask("delta_0", tuple(f"s{n}" for n in range(len(kinds))), kinds),), False, None)
    return [row for batch in task.rows(iter(rows.to_batches())) for row in batch.to_pylist()]


@pytest.mark.parametrize("seed", range(8 * MORE))
def test_parts_of_groups_are_added_up(seed: int) -> None:
    random = Random(seed)
    given = drawn(random).slice(0, 12) if seed % 2 else drawn(random)
    aggregates = AGGREGATES[: 2 + seed % 4]
    try:
        wanted = made(SliceGroup(ROWS, 1, aggregates), given, KINDS)
    except OverflowError:
        wanted = []
    parts = made(SliceParts(ROWS, 1, aggregates), given, KINDS)
    width = len(parts[0]) - 3
    kinds = ("VARCHAR", *["HUGEINT"] * (width - 1))
    columns = {f"s{n}": pa.array([row[f"c{n}"] for row in parts]) for n in range(width)}
    columns["s0"] = pa.array([row["c0"] for row in parts], pa.string())
    columns |= {name: pa.array([row[name] for row in parts], pa.int64()) for name in ("_b", "_e", "_m")}
    again = pa.table(columns | {"_key": pa.array([0] * len(parts), pa.int64())})
    try:
        found = made(SliceGroup(ROWS, 1, aggregates, of_parts=True), again, kinds)
    except OverflowError:
        found = []
    assert found or not wanted
    order = lambda row: (row["c0"] or "", row["_b"])  # noqa: E731
    assert sorted(found, key=order) == sorted(wanted, key=order)


def test_some_groups_have_parts_of_more_than_one_row() -> None:
    sizes = [
        (given.num_rows, len(made(SliceParts(ROWS, 1, AGGREGATES), given, KINDS)))
        for given in map(drawn, map(Random, range(4)))
    ]
    assert all(parts <= rows for rows, parts in sizes) and any(parts < rows for rows, parts in sizes)
