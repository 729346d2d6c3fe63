"""Rows that wait for their timestamps to close: each leaves once, in order, with all others of its timestamp."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streambound_runtime.checkpoint.state import packed, unpacked
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.operators.pending import Pending, open_rows
from streambound_runtime.spec import Stream, TableColumn
from support.profiles import examples

TYPES = {
    "n": "bigint", "wide": "decimal(38,0)", "x": "double", "s": "string", "small": "decimal(9,2)", "list": "array<int>",
}  # fmt: skip
STREAMS = (
    Stream(
        "S",
        (*(TableColumn(name, kind) for name, kind in TYPES.items()), TableColumn("ts", "bigint")),
        "ts",
        tuple(TYPES),
    ),
    Stream("T", (TableColumn("s", "string"), TableColumn("ts", "bigint")), "ts", ("s",)),
    Stream("U", (TableColumn("ts", "bigint"),), "ts", ()),
)
TEXTS = st.sampled_from(["", "a", "b", "é", "😀", "null", "a\0b"])
ENDS = (2**63 - 1, -(2**63))
VALUES = {
    "n": st.integers(-3, 3) | st.sampled_from(ENDS),
    "wide": st.integers(-3, 3) | st.sampled_from([10**38 - 1, 1 - 10**38, 2**63, -(2**63), *ENDS]),
    "x": st.sampled_from([0.5, -0.0, 1e300, float("inf")]),
    "s": TEXTS,
    "small": st.integers(-99, 99),
    "list": st.just(1),
}
TIMES = st.integers(0, 9) | st.sampled_from([-(10**15), 2**62])
Row = tuple[Any, ...]


def rows_of(stream: Stream) -> st.SearchStrategy[list[Row]]:
    return st.lists(st.tuples(TIMES, *(st.none() | VALUES[name] for name in stream.needs)), max_size=12)


def good(stream: Stream, rows: list[Row]) -> pa.Table:
    """As a decoder gives rows: the partition, the timestamp, then the columns; texts perhaps with a dictionary."""
    kinds = {column.name: sql_type(column.type) for column in stream.columns}
    columns = [pa.array([0] * len(rows), pa.int32()), pa.array([row[0] for row in rows], pa.int64())]
    for place, name in enumerate(stream.needs, 1):
        values = [row[place] for row in rows]
        if kinds[name].large:
            values = [None if value is None else Decimal(value) for value in values]
        found = pa.array(values, kinds[name].encoded)
        columns.append(found.dictionary_encode() if name == "s" and len(rows) % 2 else found)
    return pa.Table.from_arrays(columns, ["part", "ts", *stream.needs])


def again(pending: Pending) -> Pending:
    """The same after a restart."""
    state = unpacked(packed({}, pending.tables))
    assert state is not None
    return Pending(STREAMS, state[1])


@examples(30)
@given(st.data())
def test_every_row_leaves_once_and_in_order(data: st.DataObject) -> None:
    pending = Pending(STREAMS)
    waiting: dict[str, list[Row]] = {stream.name: [] for stream in STREAMS}
    for last in (False, False, False, True):
        for stream in STREAMS:
            parts = data.draw(st.lists(rows_of(stream), max_size=3))
            pending.add(stream.name, [open_rows(stream, good(stream, rows)) for rows in parts])
            waiting[stream.name] += [row for rows in parts for row in rows]
        if data.draw(st.booleans()):
            pending = again(pending)
        assert pending.timestamps() == len({row[0] for rows in waiting.values() for row in rows})
        until = None if last else data.draw(TIMES | st.just(2**63))
        closing, staying = dict[str, list[Row]](), dict[str, list[Row]]()
        for name, rows in waiting.items():
            closing[name] = sorted((row for row in rows if until is None or row[0] < until), key=by_time)
            staying[name] = [row for row in rows if until is not None and row[0] >= until]
        waiting = staying
        left: dict[str, list[Row]] = {name: [] for name in waiting}
        deltas = pending.closed(until)
        assert bool(deltas) == any(closing.values())
        for name, delta in deltas.items():
            assert delta.weight is None
            left[name] += [(time, *row) for time, row in zip(delta.time.tolist(), delta.rows(), strict=True)]
        assert repr(left) == repr(closing), "rows of a timestamp leave in the order in which they came"
    assert pending.timestamps() == 0 and not pending.closed(None)


def by_time(row: Row) -> Any:
    return row[0]


def test_columns_of_deltas() -> None:
    """Integers beyond 64 bits are Python's, others of the machine; texts are places among them."""
    pending = Pending(STREAMS)
    rows = [(2, 1, 10**30, 0.5, "b", 5, 1), (1, None, None, None, None, None, None), (2, 1, -7, 0.5, "b", 5, 1)]
    pending.add("S", [open_rows(STREAMS[0], good(STREAMS[0], rows))])
    delta = pending.closed(None)["S"]
    assert {name: str(values.dtype) for name, values in delta.columns.items()} == {
        "n": "int64", "wide": "object", "x": "float64", "s": "int64", "small": "int64", "list": "int64"
    }  # fmt: skip
    assert delta.texts("s").to_pylist() == delta.values("s") == [None, "b", "b"] and set(delta.nulls) == {*TYPES}
    assert delta.values("wide") == [None, 10**30, -7]
    pending.add("S", [open_rows(STREAMS[0], good(STREAMS[0], [rows[2]]))])
    deltas = pending.closed(None)
    assert str(deltas["S"].columns["wide"].dtype) == "int64" and not deltas["S"].nulls
