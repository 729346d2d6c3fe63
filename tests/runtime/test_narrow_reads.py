"""Of files of Parquet only the columns are read that are used or checked; what is said of bad rows stays whole."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.decoding.typed_columns import columns_wanted
from streambound_runtime.operators.plan import Test as RowTest
from streambound_runtime.promises import Arrival, Domain, Mark, Partitions
from streambound_runtime.reading import files
from streambound_runtime.reading.files import LocalFiles, rows_at
from streambound_runtime.settings import Settings
from streambound_runtime.spec import Relation, SourceSpec, Stream, TableColumn
from support.choices import Choices

KINDS = {
    "needed": "bigint", "tested": "int", "part": "bigint", "kind": "boolean", "since": "bigint", "listed": "bigint",
    "id": "bigint", "price": "decimal(9,2)", "flag": "boolean", "text": "string", "x": "double", "day": "date",
    "more": "array<int>", "ts": "bigint",
}  # fmt: skip
COLUMNS = tuple(TableColumn(n, kind, Domain(0, 5) if n == "listed" else None) for n, kind in KINDS.items())
STREAM = Stream(
    "S",
    COLUMNS,
    "ts",
    ("needed",),
    ((RowTest("tested", ">", None, 1),), (RowTest("needed", "<", "tested"),)),
    SourceSpec("parquet", "S"),
    Arrival(0, None, Mark("kind", 1, None, "since"), Partitions("part", (0, 1, 2))),
)


def rows(dice: Choices, number: int) -> pa.Table:
    def some(*options: Any) -> list[Any]:
        return [dice.pick(options) if dice.chance(15) else options[0] for _ in range(number)]

    return pa.table(
        {
            "ts": pa.array(some(6, 5, 4, None, -1), pa.int64()),
            "id": pa.array([*range(number)], pa.int64()),
            "needed": pa.array(some(1, 2, None), pa.int64()),
            "tested": pa.array(some(3, 2, 1, None), pa.int32()),
            "part": pa.array(some(0, 1, 2, 7), pa.int64()),
            "kind": pa.array(some(False, True, None), pa.bool_()),
            "since": pa.array(some(None, 2), pa.int64()),
            "listed": pa.array(some(1, 5, 6, None), pa.int64()),
            "price": pa.array(some(Decimal("1.25"), None), pa.decimal128(9, 2)),
            "flag": pa.array(some(True, None), pa.bool_()),
            "text": pa.array(some(b"a", "é".encode(), b"\xff", None), pa.binary()).view(pa.string()),
            "x": pa.array(some(0.5, float("nan"), None), pa.float64()),
            "day": pa.array(some(3, -(10**6)), pa.int32()).view(pa.date32()),
            "more": pa.array(some([1], None), pa.list_(pa.int32())),
        }
    )


def test_what_is_wanted() -> None:
    used = {"needed", "tested", "part", "kind", "since", "listed", "ts"}
    assert {column.name for column in columns_wanted(STREAM)} == {*used, "text", "x", "day"}
    plain = replace(STREAM, arrival=Arrival(), useful=((),))
    assert {column.name for column in columns_wanted(plain)} == {"needed", "listed", "ts", "text", "x", "day"}
    few = Relation("R", (TableColumn("a", "int"), TableColumn("b", "int")), (), SourceSpec("parquet", "R"))
    assert [column.name for column in columns_wanted(few)] == ["a"]  # how many rows there are some column must say


@pytest.mark.parametrize("seed", range(6))
def test_bad_rows_are_told_as_if_all_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(files, "AT_ONCE", 70)
    table = rows(Choices.seeded(seed), 500)
    parquet.write_table(table, tmp_path / "f.parquet", row_group_size=90)
    found = LocalFiles(STREAM, Settings()).opened(f"file:{tmp_path}/f.parquet")
    assert found is not None
    whole = parquet.read_table(tmp_path / "f.parquet", columns=[name for name in KINDS if name != "more"])
    decoder, start, bad, good = Decoder(STREAM), 0, 0, 0
    for raw in found:
        assert {*raw.rows.schema.names} == {column.name for column in columns_wanted(STREAM)}
        assert raw.file == f"{tmp_path}/f.parquet" and raw.all_columns is not None
        narrow = decoder.decode(raw.rows, 5, raw.all_columns)
        full = decoder.decode(whole.slice(start, raw.rows.num_rows), 5)
        assert narrow.good.equals(full.good) and narrow.rejected.equals(full.rejected)
        assert (narrow.ended, narrow.largest, narrow.rows) == (full.ended, full.largest, full.rows)
        texts = decoder.texts(raw.rows, narrow.good_at, raw.all_columns) if len(narrow.good_at) else []
        assert texts == decoder.texts(whole.slice(start, raw.rows.num_rows), full.good_at)
        assert all('"id":' in text for text in [*texts, *narrow.rejected["row"].to_pylist()])
        start, bad = start + raw.rows.num_rows, bad + narrow.rejected.num_rows
        good += narrow.good.num_rows
    assert start == 500 and bad > 50 and good > 10


def test_rows_of_a_file_by_their_places(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": range(100), "b": range(100)}), tmp_path / "f", row_group_size=7)
    found = rows_at(tmp_path / "f", ["b"], 10, np.array([0, 3, 4, 5, 89]))
    assert found.to_pydict() == {"b": [10, 13, 14, 15, 99]}
