"""The decoder says of every row what Spark's own parser and casts say of it (`support.spark_rows`)."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.synopsis_exec.declared_table import declared_table
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.recorded import recorded_rows
from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.decoding.raw import selected
from streambound_runtime.decoding.typed_columns import readable
from streambound_runtime.reading.files import Files
from streambound_runtime.settings import Settings
from streambound_runtime.spec import Stream
from support import spark_rows
from support.broken_lines import CATALOG, SQL, row, spoilt
from support.decoded import one_by_one, told_of_lines
from support.every_type import GOOD, TOKENS, UNUSED, line, lines
from support.every_type import catalog as every_type
from support.product import decided
from support.profiles import MORE

DEEP = [b'{"x":' + b"[" * depth + b"]" * depth + b"}" for depth in (400, 499, 1000, 1500)]
NUMBERS = ("1" * 1000, "-" + "1" * 1000, "0." + "1" * 1000, "1e" + "0" * 999, "-INFINITY")
TWICE = {'"n": null, "n": 5', '"n": 5, "n": 7', '"n": "x", "n": 77', '"n": [], "n": 5'}
NO_JSON = re.compile(rb"[\x00-\x1f]|[0-9]{1001}|\"T00:00:00\"|\\u(?![0-9a-fA-F]{4})")
"""What Spark and the decoder read otherwise: what is JSON for only one of them, and a time of today."""


def strange() -> list[bytes]:
    """What is at the limits of the parsers, and a column that is there twice."""
    numbers = [line({name: token}) for name in ("s", "x", "n", "d", "list") for token in NUMBERS]
    return [*DEEP, *numbers, *(line({"n": None})[:-1] + f", {cells}}}".encode() for cells in TWICE)]


def at_random(count: int) -> list[bytes]:
    """Lines of the columns of `GOOD`, some with faults; without names that are there twice."""
    dice, found = random.Random(3), []
    for _ in range(count):
        cells = [(f'"{name}"', dice.choice((value, value, "null"))) for name, (_, value) in GOOD.items()]
        if dice.random() < 0.3:
            place = dice.randrange(len(cells))
            cells[place] = (cells[place][0], dice.choice(TOKENS))
        found.append(spoilt(dice, cells).encode("utf-8", "surrogatepass"))
    return [text for text in found if not NO_JSON.search(text) and not is_twice(text)]


def is_twice(text: bytes) -> bool:
    """Whether a name is there twice in an object."""
    try:
        names = json.loads(text, object_pairs_hook=lambda pairs: [name for name, _ in pairs])
    except (ValueError, RecursionError):
        return False
    return len(names) > len({*map(str, names)})


def every_type_of(*names: str) -> Stream:
    """The stream of a query that uses some columns."""
    used = ", ".join(f"S.{name}" for name in names)
    plan = make_plan(decided(f"SELECT {used} FROM S", every_type()), catalog_from_mapping(every_type()))
    return stream_of(plan, 0)


def stream_of(plan: Any, number: int) -> Stream:
    table = declared_table(plan.streams[number])
    assert isinstance(table, Stream)
    return table


def read_lines(spark: Any, file: Path) -> Any:
    """The lines of a file as Spark splits them, without blank ones."""
    return spark.read.text(str(file)).where("trim(value) <> ''").coalesce(1)


def test_lines(spark: Any, tmp_path: Path) -> None:
    stream = every_type_of(*(name for name in GOOD if name not in (*UNUSED, "ts")))
    written = [text for text in [*lines(), *strange(), *at_random(750 * MORE)] if text.strip(b" ")]
    (tmp_path / "S.jsonl").write_bytes(b"\n" + b"\n".join(written) + b"\n")
    rows = spark_rows.rows_of_lines(stream, read_lines(spark, tmp_path / "S.jsonl"))
    told = told_of_lines(stream, written, codes=True)
    good, bad = compare(written, told, spark_rows.told(stream, rows))
    assert good > 50 and len(bad) > 15
    assert spark_rows.bad_texts(rows) == [
        text.decode("utf-8", "replace") for text, found in zip(written, told, strict=True) if isinstance(found, str)
    ]


@pytest.mark.parametrize("number", [0, 1])
def test_spoilt_lines(spark: Any, tmp_path: Path, number: int) -> None:
    """Of a stream with other domains, and of one with partitions."""
    plan = make_plan(decided(SQL, CATALOG), catalog_from_mapping(CATALOG))
    stream, dice, written = stream_of(plan, number), random.Random(number), list[bytes]()
    columns = [column.name for column in stream.columns]
    for _ in range(3000 * MORE):
        text = spoilt(dice, row(dice, columns)).replace("\n", " ").encode("utf-8", "surrogatepass")
        if text.strip(b" ") and not NO_JSON.search(text) and not is_twice(text):
            written.append(text)
    (tmp_path / "S.jsonl").write_bytes(b"\n".join(written) + b"\n")
    rows = spark_rows.rows_of_lines(stream, read_lines(spark, tmp_path / "S.jsonl"))
    good, bad = compare(written, told_of_lines(stream, written, codes=True), spark_rows.told(stream, rows))
    assert good > len(written) // 25 and len(bad) > 2


def compare(rows: list[bytes], told: list[Any], by_spark: list[Any]) -> tuple[int, set[str]]:
    """Spark tells the same of each row; returns how many are good, and the reasons why others are not."""
    triples = zip(rows, told, by_spark, strict=True)
    differences = [(text[:200], mine, theirs) for text, mine, theirs in triples if repr_of(mine) != repr_of(theirs)]
    assert not differences, "\n".join(map(str, differences[:40]))
    return sum(isinstance(found, dict) for found in told), {found for found in told if isinstance(found, str)}


def repr_of(told: Any) -> str:
    """Of which a zero with a sign is not one without."""
    return repr(told) if isinstance(told, str) else repr(sorted(told.items()))


def test_bad_lines_do_not_depend_on_the_query() -> None:
    found = []
    for sql in (
        "SELECT 1 AS one FROM S",
        "SELECT S.s, S.n FROM S WHERE S.n > 100 AND S.x = 0.5",
        "SELECT S.day FROM S",
    ):
        item = make_plan(decided(sql, every_type()), catalog_from_mapping(every_type())).streams[0]
        told = told_of_lines(declared_table(item), lines(), codes=True)
        found.append([row if isinstance(row, str) else None for row in told])
    assert found[0] == found[1] == found[2]
    assert len(list(filter(None, found[0]))) > 1000


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_line_endings_and_byte_order_marks(spark: Any, tmp_path: Path, ending: bytes, start: bytes) -> None:
    plan = make_plan(decided("SELECT S.s FROM S", every_type()), catalog_from_mapping(every_type()))
    stream, file = stream_of(plan, 0), tmp_path / "S.jsonl"
    separated = line({"s": '"a\u2028b\u0085c"'})  # line ends for Python's text, not for Spark
    file.write_bytes(start + ending.join([line({}), b"", line({"s": '"3"'}), separated, b"no"]))
    raws = Files(spark, stream, Settings(input=str(tmp_path))).raws([f"file:{file}"])
    rows = pa.concat_tables(raw.rows for raw in raws)
    found = Decoder(stream, lines=True).decode(rows)
    theirs = spark_rows.told(stream, spark_rows.rows_of_lines(stream, read_lines(spark, file)))
    mine = [row for row in one_by_one(stream, found, rows.num_rows, codes=True) if row is not None]
    assert list(map(repr_of, mine)) == list(map(repr_of, theirs))
    replayed = recorded_rows(plan.streams[0], tmp_path)
    assert [row for row in mine if isinstance(row, dict)] == replayed.rows
    assert [row["s"] for row in replayed.rows] == ["text", "3"]
    bad = found.rejected.to_pylist()
    assert (
        {row["detail"] for row in bad} == set(replayed.quarantined) == {"not a JSON object", "s is outside its domain"}
    )
    assert [row["line"] for row in bad] == [4, 5]
    assert json.loads(bad[0]["row"])["s"] == "a\u2028b\u0085c"


# --- columns with types -----------------------------------------------------------------------------------------------

TYPES = {
    "tiny": "tinyint", "small": "smallint", "n": "int", "big": "bigint", "d": "decimal(6,2)", "wide": "decimal(30,4)",
    "x": "double", "f": "float", "ok": "boolean", "day": "date", "s": "string", "v": "varchar(3)", "at": "timestamp",
    "local": "timestamp_ntz", "list": "array<int>", "ts": "bigint",
}  # fmt: skip
TYPED: dict[str, Any] = {"timestamp": "ts", "columns": TYPES, "domain": {"n": [0, 9], "x": [0, 1e9], "s": ["a", "é"]}}
VALUES = {
    "tiny": ["-128Y", "3Y"], "small": ["7S"], "n": ["5", "10", "-1"], "big": ["9223372036854775807"],
    "d": ["CAST(-12.345 AS DECIMAL(6,2))", "CAST(9999.99 AS DECIMAL(6,2))"], "wide": ["CAST(1.5 AS DECIMAL(30,4))"],
    "x": ["0.5D", "-0.0D", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"], "f": ["CAST(0.1 AS FLOAT)"],
    "ok": ["true", "false"], "day": ["DATE'2024-01-31'", "DATE'0001-01-01'", "DATE'12345-01-01'", "DATE'-0044-03-15'"],
    "s": ["'a'", "'é'", "'b'", "CAST(X'61ff' AS STRING)"], "v": ["'abc'", "CAST(X'ff' AS STRING)"],
    "at": ["TIMESTAMP'2024-01-31 10:00:00.123456Z'", "TIMESTAMP'10000-01-01 00:00:00Z'"],
    "local": ["TIMESTAMP_NTZ'1500-01-31 10:00:00'"], "list": ["array(1, NULL)"], "ts": ["0L", "5L", "-1L"],
}  # fmt: skip
OTHERS: list[dict[str, list[str]]] = [
    {"n": ["'5'", "'x'", "' 7 '"], "big": ["'1'", "'1.0'"], "d": ["'1,5'", "'2.5'"], "x": ["'0.5'", "'x'"],
     "ok": ["'yes'", "'nope'"], "day": ["'2024-01-31'", "'x'"], "at": ["'2024-01-31'", "'x'"],
     "local": ["'2024-01-31'", "'x'"], "list": ["array('1')", "array('x')"], "ts": ["'5'", "'-1'", "'x'"]},
    {"tiny": ["3", "127", "128", "-129"], "small": ["32767", "32768"], "n": ["5.9D", "1e10D"],
     "big": ["9e18D", "9.3e18D"], "d": ["1.005BD", "99999.5BD"], "wide": ["7"], "x": ["1"], "f": ["1e300D", "0.25D"],
     "ok": ["1"], "s": ["97"], "day": ["TIMESTAMP'2024-01-31 23:00:00Z'"], "v": ["true"], "at": ["5"]},
    {"s": ["X'61'", "X'ff'"], "wide": ["1e30D", "1.5D"], "d": ["3"], "ts": ["5S"]},
]  # fmt: skip
"""Values of other types than those that are declared."""


def columns_of(spark: Any, dice: random.Random, values: dict[str, list[str]], count: int, rare: Any = ()) -> Any:
    """Rows of Spark SQL's values, some of them NULL; those of rare columns mostly are."""

    def cell(name: str, choices: list[str]) -> str:
        if name != "ts" and dice.random() < (0.85 if name in rare else 0.1):
            return "NULL"
        return choices[0] if name not in rare and dice.random() < 0.8 else dice.choice([*choices, "NULL"])

    rows = [f"({', '.join(cell(*column) for column in values.items())})" for _ in range(count)]
    return spark.sql(f"SELECT * FROM VALUES {', '.join(rows)} AS t({', '.join(values)})").coalesce(1)


def planned(catalog: dict[str, Any]) -> Stream:
    """A stream all of whose columns a job uses."""
    columns = [name for name in catalog["streams"]["S"]["columns"] if name not in ("ts", "list")]
    query = f"SELECT {', '.join(f'S.{name}' for name in columns)} FROM S WHERE S.list IS NOT NULL"
    return stream_of(make_plan(decided(query, catalog), catalog_from_mapping(catalog)), 0)


def same(mine: list[Any], theirs: list[Any], reasons: int = 6) -> None:
    assert [repr(row) if isinstance(row, str) else repr(sorted(row.items())) for row in mine] == [
        repr(row) if isinstance(row, str) else repr(sorted(row.items())) for row in theirs
    ]
    good = sum(isinstance(row, dict) for row in mine)
    assert 20 < good < len(mine) - 20
    assert len({row for row in mine if isinstance(row, str)}) >= reasons


def test_files_that_are_read_without_spark(spark: Any, tmp_path: Path) -> None:
    source = {"format": "parquet", "path": str(tmp_path / "S")}
    table = planned({"streams": {"S": {**TYPED, "source": source}}})
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    columns_of(spark, random.Random(1), VALUES, 400).write.parquet(source["path"])
    spark.conf.unset("spark.sql.parquet.outputTimestampType")
    (file,) = (tmp_path / "S").glob("*.parquet")
    fields = parquet.read_schema(file)
    assert readable(fields, table) == "its column list is a list<element: int32>, not a array<int>"
    assert readable(fields, replace(table, needs=tuple(name for name in table.needs if name != "list"))) is None
    read = spark.read.schema(spark_rows.schema_of_files(table)).parquet(source["path"])
    theirs = spark_rows.rows_of_files(table, read)
    raw = parquet.read_table(file)
    mine = Decoder(table).decode(raw)
    same(one_by_one(table, mine, raw.num_rows, codes=True), spark_rows.told(table, theirs))
    assert mine.rejected["row"].to_pylist() == spark_rows.bad_texts(theirs)


def test_columns_that_spark_casts(spark: Any) -> None:
    table = planned({"streams": {"S": {**TYPED, "source": {"format": "anything"}}}})
    theirs, mine = list[Any](), list[Any]()
    for others in OTHERS:
        rows = columns_of(spark, random.Random(2), {**VALUES, **others}, 200, {*others})
        theirs += spark_rows.told(table, spark_rows.rows_of_columns(table, rows))
        raw = rows.selectExpr(*selected(table, dict(rows.dtypes))).toArrow()
        mine += one_by_one(table, Decoder(table).decode(raw), raw.num_rows, codes=True)
    same(mine, theirs)


def test_csv(spark: Any, tmp_path: Path) -> None:
    columns = {"n": "int", "day": "date", "s": "string", "list": "array<int>", "ts": "bigint"}
    source = {"format": "csv", "path": str(tmp_path / "S.csv"), "options": {"header": True}}
    table = planned({"streams": {"S": {**TYPED, "columns": columns, "domain": {"n": [0, 9]}, "source": source}}})
    dice = random.Random(4)
    cells = [
        ["5", "7", "10", "x", ""],
        ["2024-01-31", "", "2024-02-30"],
        ["a", '"b, c"', ""],
        ["", "[1]"],
        ["1", "2", ""],
    ]
    lines = [
        ",".join(dice.choice([mine[0], *mine]) for mine in cells) + dice.choice([""] * 9 + [",1"]) for _ in range(300)
    ]
    (tmp_path / "S.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    schema = f"{spark_rows.schema_of_csv(table)}, _corrupt_record STRING"
    rows = spark.read.schema(schema).csv(str(tmp_path / "S.csv"), header=True, enforceSchema=False)
    theirs = spark_rows.rows_of_files(table, rows)
    raw = rows.selectExpr(*selected(table, dict(rows.dtypes))).toArrow()
    same(one_by_one(table, Decoder(table).decode(raw), raw.num_rows, codes=True), spark_rows.told(table, theirs), 3)


def test_records_with_metadata(spark: Any) -> None:
    """Some columns are beside the JSON objects, which a record may not have."""
    source = {"format": "kafka", "metadata": {"n": "key", "s": "topic", "at": "timestamp", "offset": "offset"}}
    columns = {**{name: TYPES[name] for name in ("n", "s", "at", "x", "list", "ts")}, "offset": "tinyint"}
    table = planned({"streams": {"S": {**TYPED, "columns": columns, "source": source}}})
    values = {
        "value": ["X'7b227473223a352c2278223a312c226c697374223a5b5d7d'", "X'ff'", "X'20'", "X'7b227473223a22227d'"],
        "key": ["X'35'", "X'78'", "X'3130'"],
        "topic": ["'a'", "'b'"],
        "timestamp": ["TIMESTAMP'2024-01-31 10:00:00Z'", "TIMESTAMP'10000-01-01 00:00:00Z'"],
        "offset": ["5L", "128L"],
    }
    rows = columns_of(spark, random.Random(6), values, 300)
    objects = rows.selectExpr("CAST(value AS STRING) AS value", spark_rows.metadata_of(rows, table))
    theirs = spark_rows.rows_of_lines(table, objects, records=True)
    raw = rows.selectExpr(*selected(table, dict(rows.dtypes)), "`offset` AS `_offset`").toArrow()
    found = Decoder(table).decode(raw)
    same(one_by_one(table, found, raw.num_rows, codes=True), spark_rows.told(table, theirs))
    assert set(found.rejected["offset"].to_pylist()) == {5, 128, None}
    texts = {row["row"] for row in found.rejected.to_pylist() if row["detail"] == "offset is not a tinyint"}
    object, time = '{\\"ts\\":5,\\"x\\":1,\\"list\\":[]}', "2024-01-31T10:00:00.000Z"
    assert f'{{"value":"{object}","metadata":{{"n":"5","s":"a","at":"{time}","offset":128}}}}' in texts
