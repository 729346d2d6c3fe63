"""Columns with types: what Arrow reads of files, and what Spark casts."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.decoding.raw import own, selected
from streambound_runtime.decoding.sql_types import FIRST_DAY
from streambound_runtime.decoding.typed_columns import readable
from streambound_runtime.promises import Domain
from streambound_runtime.spec import SourceSpec, Stream, TableColumn
from support.decoded import told_of_columns

TS = TableColumn("ts", "bigint")


def of_type(kind: str, domain: Domain | None = None) -> Stream:
    return Stream("S", (TableColumn("a", kind, domain), TS), "ts", ("a",), source=SourceSpec("parquet", "S"))


COLUMNS: list[tuple[str, pa.DataType, list[Any], list[Any]]] = [
    ("tinyint", pa.int8(), [1, None, -128], [1, None, -128]),
    ("int", pa.int16(), [1, None, -5], [1, None, -5]),
    ("bigint", pa.dictionary(pa.int8(), pa.int64()), [2**62, None, 2**62], [2**62, None, 2**62]),
    ("boolean", pa.bool_(), [True, None, False], [1, None, 0]),
    ("float", pa.float32(), [0.5, None, float("nan")], [0.5, None, "a is NaN"]),
    ("double", pa.float64(), [0.1, float("inf"), float("nan")], [0.1, float("inf"), "a is NaN"]),
    ("decimal(6,2)", pa.decimal128(6, 2), [Decimal("-1.25"), None, Decimal("7")], [-125, None, 700]),
    ("decimal(30,4)", pa.decimal128(30, 4), [Decimal("-1.25"), None, Decimal(10**20)], [-12500, None, 10**24]),
    ("date", pa.date32(), [date(1970, 1, 3), None, date(1, 1, 1)], [2, None, FIRST_DAY]),
    ("timestamp", pa.timestamp("us", "UTC"), [datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), None], [10**6, None]),
    ("timestamp", pa.timestamp("ms", "Europe/Paris"), [datetime(1970, 1, 1, tzinfo=UTC), None], [0, None]),
    ("timestamp_ntz", pa.timestamp("us"), [datetime(1970, 1, 1, 0, 0, 1), None], [10**6, None]),
    ("string", pa.string(), ["é", None, ""], ["é", None, ""]),
    ("varchar(3)", pa.dictionary(pa.int32(), pa.string()), ["é", None, "é"], ["é", None, "é"]),
    ("string", pa.large_string(), ["é", None, ""], ["é", None, ""]),
    ("array<int>", pa.list_(pa.int32()), [[1], None, []], [1, None, 1]),
]


@pytest.mark.parametrize(("kind", "physical", "values", "told"), COLUMNS)
def test_columns_with_types(kind: str, physical: pa.DataType, values: list[Any], told: list[Any]) -> None:
    stream = of_type(kind)
    raw = pa.table({"ts": range(len(values)), "more": values, "a": pa.array(values, physical)})
    rows = told_of_columns(stream, pa.concat_tables([raw.slice(1), raw]))[-len(values) :]
    assert [row["a"] if isinstance(row, dict) else row for row in rows] == told
    assert (readable(raw.schema, stream) is None) == (kind != "array<int>")
    assert Decoder(stream).decode(raw.to_batches()[0]).rows == len(values)


@pytest.mark.parametrize(
    ("kind", "physical"),
    [("int", pa.int64()), ("int", pa.uint16()), ("bigint", pa.float64()), ("double", pa.float32()),
     ("date", pa.date64()), ("decimal(6,2)", pa.decimal128(7, 2)), ("timestamp", pa.timestamp("us")),
     ("timestamp", pa.timestamp("ns", "UTC")),
     ("timestamp_ntz", pa.timestamp("us", "UTC")), ("string", pa.binary()), ("boolean", pa.int8())],
)  # fmt: skip
def test_types_that_spark_has_to_cast(kind: str, physical: pa.DataType) -> None:
    stream = of_type(kind)
    raw = pa.table({"a": pa.array([None], physical), "ts": [0]})
    assert readable(raw.schema, stream) == f"its column a is a {physical}, not a {kind}"
    with pytest.raises(ValueError, match=rf"column a is a .*, not a {re.escape(kind)}: let Spark cast it"):
        Decoder(stream).decode(raw)


def test_files_that_spark_has_to_read() -> None:
    stream = of_type("date")
    schema = pa.schema([("a", pa.date32()), ("ts", pa.int64())])
    assert readable(schema.with_metadata({"org.apache.spark.version": "3.5.1"}), stream) is None
    for metadata in ({"org.apache.spark.version": "2.4.8"}, {"org.apache.spark.legacyDateTime": ""}):
        assert readable(schema.with_metadata(metadata), stream) == "its dates and times are of an older calendar"
    for names in (["A", "ts"], ["ts"], ["a", "A", "ts"]):
        other = pa.schema([(name, pa.date32() if name in "aA" else pa.int64()) for name in names])
        assert readable(other, stream) == "it has no column a, or several"


def test_texts_that_are_no_utf8() -> None:
    stream = of_type("string", Domain(values=("x",)))
    texts = pa.StringArray.from_buffers(3, pa.array([0, 1, 2, 3], pa.int32()).buffers()[1], pa.py_buffer(b"x\xffy"))
    for column in (texts, pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), texts)):
        raw = pa.table({"a": column, "ts": [1, 2, 3]})
        assert told_of_columns(stream, raw) == [{"ts": 1, "a": "x"}, "a is not UTF-8", "a is outside its domain"]
    assert Decoder(stream).decode(raw.drop("a").append_column("a", texts)).rejected["row"].to_pylist() == [
        '{"ts":2,"a":"\ufffd"}', '{"ts":3,"a":"y"}'
    ]  # fmt: skip


def test_what_spark_says_of_a_row() -> None:
    columns = (TableColumn("a", "int"), TableColumn("file", "string"), TS)
    stream = Stream("S", columns, "ts", ("a",), source=SourceSpec("anything"))
    raw = pa.table(
        {"a": pa.array([None, None, 1], pa.int32()), "file": ["f"] * 3, "ts": [1, 2, 3], "_file": ["x", "y", "z"],
         "fault": ["a", "", None], "text": ["one", "two", None]}
    )  # fmt: skip
    found = Decoder(stream).decode(raw)
    assert found.rejected.select(["detail", "row", "file"]).to_pylist() == [
        {"detail": "a is not an int", "row": "one", "file": "x"},
        {"detail": "not a row of the declared columns", "row": "two", "file": "y"},
    ]
    assert own(stream, "file") == "_file" and own(stream, "line") == "line"
    assert selected(stream, {"a": "bigint", "FILE": "string", "ts": "bigint"}) == [
        "try_cast(`a` AS INT) AS `a`", "`file` AS `file`", "`ts` AS `ts`",
        "CASE WHEN `a` IS NOT NULL AND try_cast(`a` AS INT) IS NULL THEN 'a' END AS `fault`",
        "CASE WHEN CASE WHEN `a` IS NOT NULL AND try_cast(`a` AS INT) IS NULL THEN 'a' END IS NOT NULL "
        "THEN to_json(struct(*)) END AS `text`",
    ]  # fmt: skip


def test_texts_of_rows_with_values_that_python_does_not_have() -> None:
    columns = (
        TableColumn("a", "int", Domain(0, 1)),
        TableColumn("b", "array<string>"),
        TableColumn("c", "array<date>"),
        TS,
    )
    stream = Stream("S", columns, "ts", ("a",), source=SourceSpec("anything"))
    bytes_ = pa.array([b"\xff", b"x"]).view(pa.string())
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), bytes_)
    days = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array([10**7, 0], pa.int32()).cast(pa.date32()))
    found = Decoder(stream).decode(pa.table({"a": pa.array([5, 6], pa.int32()), "b": lists, "c": days, "ts": [1, 2]}))
    assert found.rejected["row"].to_pylist() == [
        '{"a":5,"b":"\ufffd","c":"\ufffd","ts":1}', '{"a":6,"b":["x"],"c":["1970-01-01"],"ts":2}'
    ]  # fmt: skip
