"""The decoder says of every row what Spark said of it, where a job read its rows with Spark's own parser and casts."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from synopsis_exec.test_lines import spoilt
from synopsis_exec.test_same_rows import GOOD, TOKENS, UNUSED, line, lines
from synopsis_exec.test_same_rows import catalog as same_rows

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.synopsis_exec.codegen import job_text
from streambound.synopsis_exec.declared_table import declared_table
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.simulate import load_kernel
from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.decoding.raw import selected
from streambound_runtime.decoding.typed_columns import readable
from support.decoded import one_by_one, told_of_lines
from support.product import decided
from support.profiles import MORE

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

DEEP = [b'{"x":' + b"[" * depth + b"]" * depth + b"}" for depth in (400, 499, 1000, 1500)]
NUMBERS = ("1" * 1000, "-" + "1" * 1000, "0." + "1" * 1000, "1e" + "0" * 999, "-INFINITY")
TWICE = {'"n": null, "n": 5', '"n": 5, "n": 7', '"n": "x", "n": 77', '"n": [], "n": 5'}
NO_JSON = re.compile(rb"[\x00-\x1f]|[0-9]{1001}")
"""What Spark and Python take for JSON, one of them and not the other."""


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


def test_lines(spark: Any, tmp_path: Path) -> None:
    used = ", ".join(f"S.{name}" for name in GOOD if name not in (*UNUSED, "ts"))
    plan = make_plan(decided(f"SELECT {used} FROM S", same_rows()), catalog_from_mapping(same_rows()))
    written = [text for text in [*lines(), *strange(), *at_random(1500 * MORE)] if text.strip(b" ")]
    (tmp_path / "S.jsonl").write_bytes(b"\n" + b"\n".join(written) + b"\n")
    job = load_kernel(job_text(plan))
    good, bad = job.relation_rows(spark, job.STREAMS[0], job.arguments(["--input", str(tmp_path)]))
    told = told_of_lines(declared_table(plan.streams[0]), written, codes=True)
    compare(written, told, good, bad)
    assert len(good) > 100 and len({row["detail"] for row in bad}) > 30


def reason_of(row: dict[str, Any]) -> str:
    return f"{row['reason']}: {row['detail']}"


def compare(rows: list[bytes], told: list[Any], good: list[Any], bad: list[Any]) -> None:
    """Spark's good rows and bad ones, each in order, are those that were told, with these values or reasons."""
    differences, good, bad = [], good[::-1], bad[::-1]
    for text, found in zip(rows, told, strict=True):
        by_spark = reason_of(bad.pop()) if bad and bad[-1]["row"] == text.decode("utf-8", "replace") else good.pop()
        if found != by_spark:
            differences.append((text[:200], found, by_spark))
    assert not differences, differences[:9]
    assert not good and not bad


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


def planned(catalog: dict[str, Any]) -> tuple[Any, Any]:
    """A job that uses every column of S, and the stream as the runtime reads it."""
    columns = [name for name in catalog["streams"]["S"]["columns"] if name not in ("ts", "list")]
    query = f"SELECT {', '.join(f'S.{name}' for name in columns)} FROM S WHERE S.list IS NOT NULL"
    plan = make_plan(decided(query, catalog), catalog_from_mapping(catalog))
    return load_kernel(job_text(plan)), declared_table(plan.streams[0])


def by_spark(source: Any, rows: Any) -> list[Any]:
    """What a job tells of rows that Spark has parsed: their encoded values, or why they are bad."""
    values = [f"CASE WHEN reason IS NULL THEN {text} END AS `{column}`" for column, text in source.values.items()]
    told = []
    for row in rows.selectExpr(*values, "reason").toArrow().to_pylist():
        reason = row.pop("reason")
        for name in source.large:
            row[name] = None if row[name] is None else int(row[name])
        told.append(reason or row)
    return told


def same(mine: list[Any], theirs: list[Any], reasons: int = 6) -> None:
    assert [repr(row) if isinstance(row, str) else repr(sorted(row.items())) for row in mine] == [
        repr(row) if isinstance(row, str) else repr(sorted(row.items())) for row in theirs
    ]
    good = sum(isinstance(row, dict) for row in mine)
    assert 20 < good < len(mine) - 20
    assert len({row for row in mine if isinstance(row, str)}) >= reasons


def test_files_that_are_read_without_spark(spark: Any, tmp_path: Path) -> None:
    source = {"format": "parquet", "path": str(tmp_path / "S")}
    job, table = planned({"streams": {"S": {**TYPED, "source": source}}})
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    columns_of(spark, random.Random(1), VALUES, 400).write.parquet(source["path"])
    spark.conf.unset("spark.sql.parquet.outputTimestampType")
    (file,) = (tmp_path / "S").glob("*.parquet")
    fields = parquet.read_schema(file)
    assert readable(fields, table) == "its column list is a list<element: int32>, not a array<int>"
    assert readable(fields, replace(table, needs=tuple(name for name in table.needs if name != "list"))) is None
    theirs = job.read(spark, job.STREAMS[0], job.arguments([]), streaming=False)
    raw = parquet.read_table(file)
    mine = Decoder(table).decode(raw)
    same(one_by_one(table, mine, raw.num_rows, codes=True), by_spark(job.STREAMS[0], theirs))
    texts = theirs.where("reason IS NOT NULL").selectExpr(f"{job.text_of('raw', '')} AS text").toArrow()
    assert mine.rejected["row"].to_pylist() == texts["text"].to_pylist()


def test_columns_that_spark_casts(spark: Any) -> None:
    job, table = planned({"streams": {"S": {**TYPED, "source": {"format": "anything"}}}})
    theirs, mine = list[Any](), list[Any]()
    for others in OTHERS:
        rows = columns_of(spark, random.Random(2), {**VALUES, **others}, 200, {*others})
        theirs += by_spark(job.STREAMS[0], job.own_columns(job.STREAMS[0], rows))
        raw = rows.selectExpr(*selected(table, dict(rows.dtypes))).toArrow()
        mine += one_by_one(table, Decoder(table).decode(raw), raw.num_rows, codes=True)
    same(mine, theirs)


def test_csv(spark: Any, tmp_path: Path) -> None:
    columns = {"n": "int", "day": "date", "s": "string", "list": "array<int>", "ts": "bigint"}
    source = {"format": "csv", "path": str(tmp_path / "S.csv"), "options": {"header": True}}
    job, table = planned({"streams": {"S": {**TYPED, "columns": columns, "domain": {"n": [0, 9]}, "source": source}}})
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
    theirs = job.read(spark, job.STREAMS[0], job.arguments([]), streaming=False)
    schema = f"{job.STREAMS[0].typed}, _corrupt_record STRING"
    rows = spark.read.schema(schema).csv(str(tmp_path / "S.csv"), header=True, enforceSchema=False)
    raw = rows.selectExpr(*selected(table, dict(rows.dtypes))).toArrow()
    same(one_by_one(table, Decoder(table).decode(raw), raw.num_rows, codes=True), by_spark(job.STREAMS[0], theirs), 3)


def test_records_with_metadata(spark: Any) -> None:
    """Some columns are beside the JSON objects, which a record may not have."""
    source = {"format": "kafka", "metadata": {"n": "key", "s": "topic", "at": "timestamp", "offset": "offset"}}
    columns = {**{name: TYPES[name] for name in ("n", "s", "at", "x", "list", "ts")}, "offset": "tinyint"}
    job, table = planned({"streams": {"S": {**TYPED, "columns": columns, "source": source}}})
    values = {
        "value": ["X'7b227473223a352c2278223a312c226c697374223a5b5d7d'", "X'ff'", "X'20'", "X'7b227473223a22227d'"],
        "key": ["X'35'", "X'78'", "X'3130'"],
        "topic": ["'a'", "'b'"],
        "timestamp": ["TIMESTAMP'2024-01-31 10:00:00Z'", "TIMESTAMP'10000-01-01 00:00:00Z'"],
        "offset": ["5L", "128L"],
    }
    rows = columns_of(spark, random.Random(6), values, 300)
    objects = rows.selectExpr("CAST(value AS STRING) AS value", *job.metadata_of(rows, job.STREAMS[0]))
    theirs = job.parse_json(job.STREAMS[0], objects, records=True, beside=True)
    raw = rows.selectExpr(*selected(table, dict(rows.dtypes)), "`offset` AS `_offset`").toArrow()
    found = Decoder(table).decode(raw)
    same(one_by_one(table, found, raw.num_rows, codes=True), by_spark(job.STREAMS[0], theirs))
    assert set(found.rejected["offset"].to_pylist()) == {5, 128, None}
    texts = {row["row"] for row in found.rejected.to_pylist() if row["detail"] == "offset is not a tinyint"}
    object, time = '{\\"ts\\":5,\\"x\\":1,\\"list\\":[]}', "2024-01-31T10:00:00.000Z"
    assert f'{{"value":"{object}","metadata":{{"n":"5","s":"a","at":"{time}","offset":128}}}}' in texts
