"""Catalogs from what teams have: what is mapped, what is said to be left out, and that `check` takes it."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streambound import cli
from streambound.analyzer.catalog import Catalog, Kind, parse_catalog
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from support.profiles import MORE


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(name: str, text: str, *arguments: str) -> Result:
    Path(name).write_text(text)
    return CliRunner().invoke(cli.main, ["catalog", "import", name, *arguments])


def catalog(result: Result) -> Catalog:
    assert result.exit_code == 0, result.output
    return parse_catalog(result.stdout)


def columns(found: Catalog, table: str) -> dict[str, str]:
    declared = found.table(table)
    assert declared is not None
    return {column.name: column.type.name for column in declared.columns}


def warnings(result: Result) -> list[str]:
    return re.findall(r"warning: [^:]*(?::\d+)?: (.*)", result.stderr)


# --- Flink -----------------------------------------------------------------------------------------------------

FLINK = """\
-- orders
SET 'x' = 'y';
CREATE TABLE IF NOT EXISTS shop.`orders` (
  `order id` BIGINT NOT NULL COMMENT 'it''s, the (key)',
  amount DECIMAL(10, 2),
  price DECIMAL,
  tags ARRAY<STRING NOT NULL>,
  address ROW<street VARCHAR(10), zip INT>,
  counts MULTISET<INT>,
  at_time TIME(3),
  total AS amount * 2,
  part INT METADATA VIRTUAL,
  sized ROW<METADATA STRING, x INT>,
  headers MULTISET<STRING> NOT NULL METADATA,
  shard BIGINT NOT NULL METADATA FROM 'partition' VIRTUAL COMMENT 'of the topic',
  arrived TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  created TIMESTAMP(3) /* event time */,
  seen TIMESTAMP_LTZ(9),
  WATERMARK FOR created AS created - INTERVAL '5' SECOND,
  PRIMARY KEY (`order id`) NOT ENFORCED
) PARTITIONED BY (amount) WITH (
  'connector' = 'kafka', 'topic' = 'orders;returns', 'properties.bootstrap.servers' = 'b:9092', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset', 'properties.group.id' = 'g'
);
CREATE TEMPORARY TABLE clicks (k INT, ts TIMESTAMP(6) WITH LOCAL TIME ZONE, WATERMARK FOR ts AS ts)
WITH ('connector'='filesystem', 'path'='file:///data/clicks', 'format'='csv')
"""


UPSERTS = """\
CREATE TABLE rates (currency STRING, rate DECIMAL(10,4), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  CONSTRAINT pk PRIMARY KEY (currency) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'r', 'properties.bootstrap.servers' = 'k:9092', 'key.format' = 'json',
  'value.format' = 'json');
CREATE TABLE orders (id BIGINT PRIMARY KEY NOT ENFORCED, amount INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'o', 'properties.bootstrap.servers' = 'k:9092', 'format' = 'debezium-json')
"""


def test_changelogs_of_flink_are_relations_that_change() -> None:
    result = imported("t.sql", UPSERTS)
    assert result.exit_code == 0, result.stderr
    rates, orders = (catalog(result).table(name) for name in ("rates", "orders"))
    assert rates is not None
    assert orders is not None
    assert (rates.kind, orders.kind) == (Kind.RELATION, Kind.RELATION)
    assert rates.changes is not None
    assert (rates.changes.format, rates.changes.key, rates.changes.timestamp.name) == ("upsert", ("currency",), "ts")
    assert rates.arrival.lateness == 5_000_000
    assert rates.source is not None
    assert rates.source.format == "kafka"
    assert orders.changes is not None
    assert (orders.changes.format, orders.changes.key) == ("debezium", ("id",))
    assert (orders.changes.timestamp.name, orders.changes.timestamp.type.name) == ("ts_ms", "timestamp")
    told = warnings(result)
    assert len(told) == 2
    assert "a record that deletes has no ts, and is quarantined" in told[0]
    assert "the time of changes is ts_ms" in told[1]


@pytest.mark.parametrize(
    ("time", "name"), [("value.source.timestamp", "source.ts_ms"), ("value.ingestion-timestamp", "ts_ms")]
)
def test_times_of_changes_that_are_beside_rows(time: str, name: str) -> None:
    beside = UPSERTS.replace("rate DECIMAL(10,4), ts TIMESTAMP(3),", "ts TIMESTAMP(3) METADATA FROM 'timestamp',")
    beside = beside.replace("amount INT, ts TIMESTAMP(3),", f"amount INT, ts TIMESTAMP(3) METADATA FROM '{time}',")
    result = imported("t.sql", beside)
    rates, orders = (catalog(result).table(one) for one in ("rates", "orders"))
    assert rates is not None and rates.changes is not None and orders is not None and orders.changes is not None
    assert rates.changes.timestamp.name == "ts" and rates.source is not None
    assert rates.source.metadata == (("ts", "timestamp"),)
    assert orders.changes.timestamp.name == name
    assert not any("deletes" in one for one in warnings(result))


@pytest.mark.parametrize(
    ("ddl", "arguments", "reason"),
    [
        (UPSERTS.replace("WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,", ""), (), "names no time of its changes"),
        (
            UPSERTS.replace("CONSTRAINT pk PRIMARY KEY (currency) NOT ENFORCED", "x INT"),
            (),
            "names none: add",
        ),
        (UPSERTS.replace("'debezium-json'", "'canal-json'"), (), "come and go as canal-json says"),
        (UPSERTS.replace("'kafka', 'topic' = 'o'", "'mysql-cdc', 'topic' = 'o'"), ("--relation",), "as debezium-json"),
    ],
)
def test_changelogs_that_cannot_be_declared_are_no_bags_of_rows(
    ddl: str, arguments: tuple[str, ...], reason: str
) -> None:
    result = imported("t.sql", ddl, *arguments)
    assert result.exit_code != 0
    assert reason in result.stderr


def test_flink_ddl() -> None:
    result = imported("t.sql", FLINK)
    found = catalog(result)
    assert columns(found, "orders") == {
        "order id": "bigint",
        "amount": "decimal(10,2)",
        "price": "decimal(10,0)",
        "tags": "array<string>",
        "address": "struct<`street`:string,`zip`:int>",
        "sized": "struct<`METADATA`:string,`x`:int>",
        "shard": "bigint",
        "arrived": "timestamp",
        "created": "timestamp_ntz",
        "seen": "timestamp",
    }
    orders, clicks = found.tables
    assert (orders.kind, orders.timestamp, orders.arrival.lateness) == (Kind.STREAM, "created", 5_000_000)
    assert orders.source is not None
    assert (orders.source.format, dict(orders.source.options)) == (
        "kafka",
        {"kafka.bootstrap.servers": "b:9092", "subscribe": "orders,returns", "startingOffsets": "earliest"},
    )
    assert dict(orders.source.metadata) == {"shard": "partition", "arrived": "timestamp"}
    assert (columns(found, "clicks"), clicks.timestamp) == ({"k": "int", "ts": "timestamp"}, "ts")
    assert clicks.source is not None
    assert (clicks.source.format, clicks.source.path, clicks.arrival.lateness) == ("csv", "/data/clicks", 0)
    said = "\n".join(warnings(result))
    assert said.count("column headers") == said.count("headers") == 1
    for part in (
        "SET 'X'", "shop.orders is called orders", "column counts", "MULTISET", "column at_time", "TIME",
        "column total is left out: it is computed, AS amount * 2", "column part is left out: it is metadata",
        "seen has parts of a microsecond", "PRIMARY KEY (`order id`) NOT ENFORCED is a suggestion",
        'unique = ["order id"] and within',
        "PARTITIONED BY (amount) is left out", "options left out: properties.group.id", "NOT NULL of order id",
    ):  # fmt: skip
        assert part in said, part
        assert part in result.stdout, "what is left out is in a comment, too"


def test_a_relation_is_read_from_its_beginning() -> None:
    """`latest` is for streams: of a table that is read at once nothing would be left."""
    ddl = FLINK[FLINK.index("CREATE TABLE") : FLINK.index("CREATE TEMPORARY")].replace("earliest-", "latest-")
    for relation, options in ((True, {}), (False, {"startingOffsets": "latest"})):
        (table,) = catalog(imported("t.sql", ddl, *(["--relation"] if relation else []))).tables
        assert table.source is not None
        assert dict(table.source.options).keys() - {"kafka.bootstrap.servers", "subscribe"} == options.keys()


def test_what_is_imported_is_checked(project: Path) -> None:
    imported("t.sql", FLINK, "-o", "streams.toml")
    Path("q.sql").write_text("SELECT o.amount FROM orders AS o, clicks AS c WHERE o.created > c.ts")
    result = CliRunner().invoke(cli.main, ["check", "q.sql"])
    assert (result.exit_code, "q: bounded" in result.stdout) == (0, True), result.output


@pytest.mark.parametrize(
    ("watermark", "lateness", "said"),
    [
        ("ts", 0, ""),
        ("ts - INTERVAL '2' MINUTE", 120_000_000, ""),
        ("ts - INTERVAL '0.001' SECOND", 1000, ""),
        ("ts - INTERVAL '1' MONTH", 0, "declare lateness, or order"),
        ("SOURCE_WATERMARK()", 0, "declare lateness, or order"),
        ("other - INTERVAL '1' SECOND", 0, "declare lateness, or order"),
    ],
)
def test_watermarks(watermark: str, lateness: int, said: str) -> None:
    result = imported("t.sql", f"CREATE TABLE s (ts TIMESTAMP(3), WATERMARK FOR ts AS {watermark})")
    found = catalog(result)
    assert (found.tables[0].timestamp, found.tables[0].arrival.lateness) == ("ts", lateness)
    assert said in result.stderr


@pytest.mark.parametrize(
    ("told", "length"), [("1 d", 86_400_000_000), ("36h", 129_600_000_000), ("1500", 1_500_000), ("0 ms", None)]
)
def test_the_ttl_of_state_is_how_long_rows_wait_in_joins(told: str, length: int | None) -> None:
    ddl = f"SET 'table.exec.state.ttl' = '{told}'; CREATE TABLE s (ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
    result = imported("t.sql", ddl)
    (table,) = catalog(result).tables
    assert (table.ttl and table.ttl.length) == length
    assert any("groups are kept" in one for one in warnings(result)) is (length is not None)


def test_a_stream_without_a_time_is_not_guessed() -> None:
    ddl = "CREATE TABLE s (k INT, ts TIMESTAMP(3)); CREATE TABLE t (ts BIGINT, WATERMARK FOR ts AS ts)"
    result = imported("t.sql", ddl)
    assert result.exit_code == 1
    assert parse_catalog(result.stdout).names == ("t",)
    assert "s is not declared: it names no application time: give --timestamp COLUMN" in result.stderr
    assert "# [streams.s]\n" in result.stdout
    named = catalog(imported("t.sql", ddl, "--timestamp", "ts"))
    assert [table.timestamp for table in named.tables] == ["ts", "ts"]
    related = catalog(imported("t.sql", ddl, "--relation"))
    assert {table.kind for table in related.tables} == {Kind.RELATION}


def test_a_query_of_what_its_own_file_creates_says_how_to_declare_that() -> None:
    ddl = "CREATE TABLE IF NOT EXISTS `Trips` (ts TIMESTAMP(3), WATERMARK FOR ts AS ts);\n"
    found = check_source(SourceText("job.sql", f"{ddl}SELECT * FROM trips; SELECT * FROM others"), parse_catalog(""))
    helps = [one.help for item in found for one in item.diagnostics if one.code.value == "SB101"]
    assert helps == [
        "`streambound catalog import job.sql` declares what the file creates",
        "streams.toml declares nothing",
    ]


def test_a_table_that_is_looked_up_is_a_relation() -> None:
    ddl = "CREATE TABLE d (k INT, n STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'jdbc', 'url' = 'jdbc:x')"
    result = imported("t.sql", ddl)
    (table,) = catalog(result).tables
    assert table.kind is Kind.RELATION and table.source is None
    assert any("a table of jdbc is a relation" in one for one in warnings(result))
    assert any(one.endswith('declare unique = ["k"]') for one in warnings(result))


def test_a_time_that_cannot_be_one_is_not_declared() -> None:
    for ddl in ("CREATE TABLE s (k STRING)", "CREATE TABLE s (k AS PROCTIME(), x INT)"):
        result = imported("t.sql", ddl, "--timestamp", "k")
        assert (result.exit_code, "s is not declared: its application time k" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("ddl", "where"),
    [
        ("CREATE TABLE s", "t.sql:1:15: ( is missing"),
        ("CREATE TABLE s (\n a INT\n", "t.sql:2:7: ) is missing"),
        ("CREATE TABLE s (a)", "t.sql:1:18: a column needs a type"),
        ("CREATE TABLE s (a INT) WITH ('x' 'y')", "t.sql:1:34: = is missing"),
        ("SELECT 1", "t.sql:1: there is no CREATE TABLE"),
        ("", "t.sql:1: there is no CREATE TABLE"),
    ],
)
def test_ddl_that_cannot_be_read_is_an_error_with_its_place(ddl: str, where: str) -> None:
    result = imported("t.sql", ddl)
    assert (result.exit_code, where in result.stderr) == (3, True), result.stderr


# --- Spark -----------------------------------------------------------------------------------------------------


def field(name: str, kind: Any, nullable: bool = True, **metadata: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": nullable, "metadata": metadata}


def test_a_spark_schema() -> None:
    inner = {"type": "struct", "fields": [field("x", "long"), field("y", {"type": "map", "keyType": "string",
             "valueType": "integer", "valueContainsNull": True})]}  # fmt: skip
    schema = {
        "type": "struct",
        "fields": [
            field("a", "long", nullable=False),
            field("b", "integer"),
            field("c", "short"),
            field("d", "byte"),
            field("e", "decimal(9,2)"),
            field("f", {"type": "array", "elementType": inner, "containsNull": True}),
            field("g", {"type": "udt", "class": "x.Y", "sqlType": "long"}),
            field("h", "calendar"),
            field("at", "timestamp_ntz", **{"spark.watermarkDelayMs": 1500}),
        ],
    }
    result = imported("orders.json", json.dumps(schema))
    found = catalog(result)
    assert columns(found, "orders") == {
        "a": "bigint", "b": "int", "c": "smallint", "d": "tinyint", "e": "decimal(9,2)",
        "f": "array<struct<`x`:bigint,`y`:map<string,int>>>", "at": "timestamp_ntz",
    }  # fmt: skip
    assert (found.tables[0].timestamp, found.tables[0].arrival.lateness) == ("at", 1_500_000)
    assert len(warnings(result)) == 3
    assert columns(catalog(imported("x.json", json.dumps(schema), "--name", "y", "--relation")), "y")


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"type": "struct"}', '{"type": "struct", "fields": [3]}'])
@pytest.mark.parametrize("name", ["t.json", "t.avsc"])
def test_what_is_no_schema_is_an_error(name: str, text: str) -> None:
    result = imported(name, text)
    assert (result.exit_code, f"error: {name}" in result.stderr) == (3, True), result.output


# --- Avro ------------------------------------------------------------------------------------------------------


def test_an_avro_schema() -> None:
    schema = {
        "type": "record", "name": "Order", "namespace": "shop", "fields": [
            {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
            {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
            {"name": "before", "type": ["null", "State"], "default": None},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
            {"name": "local", "type": ["null", {"type": "long", "logicalType": "local-timestamp-millis"}]},
            {"name": "day", "type": {"type": "int", "logicalType": "date"}},
            {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
            {"name": "nanos", "type": {"type": "long", "logicalType": "timestamp-nanos"}},
            {"name": "number", "type": ["int", "long"]},
            {"name": "either", "type": ["int", "string"]},
            {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [
                {"name": "n", "type": "int"}, {"name": "extra", "type": {"type": "map", "values": "double"}}]}}},
            {"name": "first", "type": "shop.Line"},
            {"name": "tree", "type": {"type": "record", "name": "Tree", "fields": [
                {"name": "kids", "type": {"type": "array", "items": "Tree"}}]}},
        ],
    }  # fmt: skip
    result = imported("order.avsc", json.dumps(schema), "--timestamp", "at")
    found = catalog(result)
    line = "struct<`n`:int,`extra`:map<string,double>>"
    assert columns(found, "Order") == {
        "id": "string", "state": "string", "before": "string", "at": "timestamp", "local": "timestamp_ntz",
        "day": "date", "price": "decimal(9,2)", "nanos": "bigint", "number": "bigint", "lines": f"array<{line}>",
        "first": line,
    }  # fmt: skip
    domains = {column.name: column.domain.values for column in found.tables[0].columns if column.domain is not None}
    assert domains == {"state": ("NEW", "PAID"), "before": ("NEW", "PAID")}
    said = warnings(result)
    assert "nanos is declared as the bigint that its logical type timestamp-nanos is stored in" in said
    assert "column either is left out: it is a union of several types" in said
    assert "column tree is left out: its type Tree contains itself" in said
    assert len(said) == 3


def test_several_records_and_names_that_repeat() -> None:
    record = {"type": "record", "name": "A", "fields": [{"name": "t", "type": "long"}]}
    result = imported("a.avsc", json.dumps([record, {**record, "name": "B"}]), "--timestamp", "t")
    assert catalog(result).names == ("A", "B")
    Path("b.avsc").write_text(json.dumps({**record, "name": "a"}))
    result = imported("a.avsc", json.dumps(record), "b.avsc", "--timestamp", "t")
    assert (result.exit_code, "two tables are called a" in result.stderr) == (2, True)


# --- all of them -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40 * MORE))
def test_random_schemas_make_catalogs_with_every_column_or_a_note(seed: int) -> None:
    """Names with quotes, dots and other letters; whatever a table has is declared, or said to be left out."""
    choose = random.Random(seed)
    marks = ["", " b", ".c", '"', "'", "`", "#", "\\"]
    names = [choose.choice("abxé漢") + choose.choice(marks) + str(i) for i in range(choose.randint(1, 6))]
    kinds = choose.choices(["long", "string", "timestamp", "decimal(5,2)", "nothing", {"type": "udt"}], k=len(names))
    schema = {"type": "struct", "fields": [field(name, kind) for name, kind in zip(names, kinds, strict=True)]}
    result = imported("s.json", json.dumps(schema), "--relation")
    good = {
        name for name, kind in zip(names, kinds, strict=True) if kind in ("long", "string", "timestamp", "decimal(5,2)")
    }
    if not good:
        assert (result.exit_code, "none of its columns could be read" in result.stderr) == (1, True)
        return
    assert set(columns(catalog(result), "s")) == good
    assert all(f"column {name} is left out" in result.stderr for name in set(names) - good)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to import"),
        (["x.txt"], "the suffix of x.txt does not say what it is"),
        (["a.json", "b.json", "--name", "n"], "--name is for one file"),
        (["a.json", "--relation", "--timestamp", "t"], "a relation has no application time"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(cli.main, ["catalog", "import", *arguments])
    assert (result.exit_code, message in result.stderr) == (2, True), result.output


def test_a_missing_file() -> None:
    result = CliRunner().invoke(cli.main, ["catalog", "import", "missing.sql"])
    assert (result.exit_code, "missing.sql: cannot read the file" in result.stderr) == (3, True)


# --- a session -------------------------------------------------------------------------------------------------


def test_a_session_without_java_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "streambound", "catalog", "import", "--from", "session"]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("streambound: error: JAVA_HOME is ") and "internal error" not in done.stderr


def test_a_table_of_flink_without_columns_of_its_own_is_passed_over(project: Path) -> None:
    text = (
        "CREATE TABLE t (id BIGINT, large AS (id > 3), f ROW<a INT, b ARRAY<INT>>, ts TIMESTAMP(3), "
        "WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');\n"
        "CREATE TABLE made AS SELECT id FROM t;\nCREATE TABLE alike LIKE t"
    )
    result = imported("t.sql", text)
    assert list(columns(catalog(result), "t")) == ["id", "f", "ts"]
    assert [line for line in warnings(result) if "passed over" in line or "large" in line]
    assert sum("CREATE TABLE at" in line and "passed over" in line for line in warnings(result)) == 2


# --- RisingWave, ksqlDB, dbt, a schema registry ------------------------------------------------------------------

RISINGWAVE = """\
CREATE SOURCE IF NOT EXISTS orders (
  id INT8, price DOUBLE PRECISION, name CHARACTER VARYING(30), who STRUCT<a INT, b VARCHAR>, ts TIMESTAMPTZ,
  WATERMARK FOR ts AS ts - INTERVAL '5 seconds'
) WITH (
  connector = 'kafka', topic = 'orders', properties.bootstrap.server = 'broker:9092', scan.startup.mode = 'earliest'
) FORMAT PLAIN ENCODE JSON;
CREATE MATERIALIZED VIEW v AS SELECT id FROM orders;
CREATE TABLE users (id BIGINT, name VARCHAR, at TIMESTAMPTZ, PRIMARY KEY (id)) WITH (connector = 'kafka', topic = 'u')
FORMAT UPSERT ENCODE JSON;
"""
KSQLDB = """\
CREATE STREAM clicks (id BIGINT KEY, page VARCHAR, at BIGINT)
  WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON', TIMESTAMP = 'at');
CREATE TABLE users (id BIGINT PRIMARY KEY, name STRING, at BIGINT)
  WITH (kafka_topic = 'users', value_format = 'json', timestamp = 'at', partitions = 1);
"""
MANIFEST = {
    "sources": {
        "source.shop.raw.events": {
            "name": "events", "identifier": "events_v2", "resource_type": "source", "loaded_at_field": "ts",
            "columns": {
                "id": {"name": "id", "data_type": "BIGINT"}, "ts": {"name": "ts", "data_type": "timestamp"},
                "x": {"name": "x"},
            },
        }
    },
    "nodes": {
        "seed.shop.countries": {
            "name": "countries", "resource_type": "seed", "columns": {"code": {"name": "code", "data_type": "string"}},
        },
        "model.shop.m": {"name": "m", "resource_type": "model"},
    },
}  # fmt: skip
SCHEMA = {"type": "record", "name": "order", "fields": [{"name": "id", "type": "long"}]}


def test_sources_and_tables_of_risingwave() -> None:
    sources, tables = RISINGWAVE.split("CREATE TABLE")
    found = catalog(imported("rw.sql", sources))
    assert columns(found, "orders") == {
        "id": "bigint", "price": "double", "name": "string", "who": "struct<`a`:int,`b`:string>", "ts": "timestamp",
    }  # fmt: skip
    orders = found.table("orders")
    assert orders is not None and orders.source is not None and orders.arrival.lateness == 5_000_000
    assert dict(orders.source.options)["subscribe"] == "orders"
    users = catalog(imported("rw.sql", f"CREATE TABLE{tables}", "--timestamp", "at")).table("users")
    assert users is not None and users.changes is not None and users.changes.key == ("id",)


def test_streams_and_tables_of_ksqldb() -> None:
    result = imported("k.sql", KSQLDB, "--from", "ksqldb")
    clicks, users = catalog(result).table("clicks"), catalog(result).table("users")
    assert clicks is not None and (clicks.kind, clicks.timestamp) == (Kind.STREAM, "at")
    assert users is not None and users.changes is not None and users.changes.key == ("id",)
    assert "options left out: format, topic" in warnings(result)


def test_sources_and_seeds_of_dbt() -> None:
    result = imported("manifest.json", json.dumps(MANIFEST), "--from", "dbt")
    assert columns(catalog(result), "events") == {"id": "bigint", "ts": "timestamp"}
    countries = catalog(result).table("countries")
    assert countries is not None and countries.kind is Kind.RELATION
    assert "column x is left out: it has no data_type" in warnings(result)
    assert "no source" in imported("manifest.json", json.dumps({"sources": {}}), "--from", "dbt").output
    assert imported("manifest.json", "{}", "--from", "dbt").exit_code != 0


def test_the_envelope_of_a_schema_registry() -> None:
    envelope = {"subject": "orders-value", "version": 3, "schema": json.dumps(SCHEMA)}
    result = imported("o.avsc", json.dumps(envelope), "--relation")
    assert columns(catalog(result), "orders") == {"id": "bigint"}
    other = imported("o.avsc", json.dumps({**envelope, "schemaType": "PROTOBUF"}))
    assert other.exit_code != 0 and "the schema is of PROTOBUF" in other.output
