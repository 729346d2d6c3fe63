"""Expressions of rows: results are those of batch SQL, wherever rows are and are computed; what becomes of errors.

All statements run without Spark, and some of them in each placement on it: what an expression says is the same in both
engines (`test_engine_functions_on_spark`).
"""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import streambound
from streambound.recheck.oracle.spark_batch import compare
from streambound_runtime.driver import Driver
from streambound_runtime.embedded import needs_spark, run_embedded, why_not_embedded
from streambound_runtime.errors import JobError
from streambound_runtime.operators.delta import delta_of
from streambound_runtime.placement import state_owner
from streambound_runtime.placement.result_rows import FACTS, batch_of, typed
from streambound_runtime.settings import settings_of
from streambound_runtime.usage import checked
from support.choices import Choices
from support.derived import Derived, batch_statement, derived_job
from support.expressions import statement
from support.jobs import compiled_of, job_of, read, run_with, write
from support.product import NotAnalysed
from support.profiles import MORE

COLUMNS = {
    "a": "bigint", "b": "int", "s": "string", "x": "double", "d": "decimal(9,2)", "born": "date", "seen": "timestamp",
    "ok": "boolean", "ts": "bigint",
}  # fmt: skip
CATALOG: dict[str, Any] = {
    "streams": {name: {"timestamp": "ts", "columns": COLUMNS} for name in "ST"},
    "relations": {"R": {"columns": {"k": "bigint", "name": "string"}}},
}
EXPRESSIONS: Derived = {
    "S": {
        "sum": ("bigint", "`a` + `b`"),
        "kind": ("string", "CASE WHEN `a` > 5 THEN 'many' WHEN `s` LIKE 'a%' THEN upper(`s`) ELSE `s` || '!' END"),
        "day": ("date", "date_add(`born`, `b`)"),
        "hour": ("timestamp", "date_trunc('HOUR', `seen`)"),
        "half": ("double", "`x` / 2"),
        "more": ("decimal(11,3)", "`d` * 1.5"),
        "late": ("boolean", "`ts` % 2 = 0 OR coalesce(`ok`, false)"),
        "share": ("double", "`a` / `b`"),
        "number": ("int", "CAST(`s` AS INT)"),
    },
    "T": {"rest": ("bigint", "`a` % 4"), "low": ("string", "upper(`s`)"), "share": ("double", "`a` / `b`")},
    "R": {"length": ("int", "length(`name`)"), "rest": ("bigint", "`k` % 4")},
}
WINDOW = "S.ts <= T.ts AND T.ts <= S.ts + 7"
FILTERS = {
    "types": "SELECT S.sum, S.kind, S.day, S.hour, S.half, S.more, S.late FROM {S} AS S",
    "a filter": "SELECT S.a FROM {S} AS S WHERE S.late = true AND S.sum > 3",
    "guarded": "SELECT S.share FROM {S} AS S WHERE S.b <> 0 UNION ALL SELECT S.x FROM {S} AS S WHERE S.b = 0",
    "a relation": "SELECT S.kind, R.length FROM {S} AS S, {R} AS R WHERE S.sum = R.rest",
}
JOINS = {
    "two streams": f"SELECT S.kind, T.low FROM {{S}} AS S, {{T}} AS T WHERE S.sum = T.rest AND {WINDOW}",
    "texts": f"SELECT S.sum, T.a FROM {{S}} AS S, {{T}} AS T WHERE S.kind = T.low AND {WINDOW}",
    "a set": "SELECT DISTINCT S.sum FROM {S} AS S, {T} AS T WHERE S.sum = T.rest AND S.sum IN (1, 2, 3)",
}
ONLY_ON_SPARK = "types"
RAISING = {
    "division": "SELECT S.a, S.share FROM {S} AS S",
    "cast": "SELECT S.number, S.share FROM {S} AS S",
    "both streams": f"SELECT S.share, T.share AS other FROM {{S}} AS S, {{T}} AS T WHERE S.sum = T.rest AND {WINDOW}",
}


def row(dice: random.Random, ts: int) -> dict[str, Any]:
    return {
        "a": dice.choice([*range(10), None]), "b": dice.choice([0, 1, 2, 3, None]),
        "s": dice.choice(["ab", "7", "é", "Ab", None]),
        "x": dice.choice([0.5, 2.5, 1e300, None]), "d": dice.choice([1.25, -3, None]),
        "born": dice.choice(["2024-02-28", "1969-12-31", None]), "seen": dice.choice(["2024-01-01T10:59:59.5Z", None]),
        "ok": dice.choice([True, False, None]), "ts": ts,
    }  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of each stream, in order, with broken lines and equal rows."""
    folder, dice = tmp_path_factory.mktemp("recorded"), random.Random(5)
    for name in "ST":
        for part in range(2):
            rows = sorted((row(dice, 20 * part + dice.randrange(20)) for _ in range(40)), key=lambda row: row["ts"])
            write(folder / name / f"{part}.jsonl", *rows, "bad", modified=1_600_000_000 + part)
    write(folder / "R.jsonl", *({"k": k, "name": "n" * k} for k in range(8)), {"k": "x", "name": ""})
    return folder


def ran(spark: Any, recorded: Path, folder: Path, sql: str, placement: str) -> tuple[str, str, dict[str, Any]]:
    """The results and the bad rows of a run on Spark, and its summary."""
    job = derived_job(sql, CATALOG, EXPRESSIONS, placement).job
    summary = run_with(spark, job, options(recorded, folder))
    return (folder / "output").read_text(), (folder / "quarantine").read_text(), summary


def options(recorded: Path, folder: Path) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    files = [f"--{name}={folder / name}" for name in ("output", "quarantine", "checkpoint")]
    return ["--input", str(recorded), "--files-per-batch", "1", *files]


def ran_here(recorded: Path, folder: Path, sql: str) -> tuple[str, str, dict[str, Any]]:
    """The same of a run without Spark."""
    job = derived_job(sql, CATALOG, EXPRESSIONS).job
    settings = checked(job, settings_of(job, options(recorded, folder)))
    assert needs_spark(job, settings) is None
    summary = run_embedded(job, settings, lambda event: None)
    return (folder / "output").read_text(), (folder / "quarantine").read_text(), summary


def as_batch_sql_says(spark: Any, recorded: Path, folder: Path, sql: str, derived: Derived = EXPRESSIONS) -> int:
    """Whether a run's results are those of batch SQL over the rows that it has not put aside; how many there are."""
    bad = {(found.get("stream") or found.get("relation"), found["row"]) for found in read(folder / "quarantine")}
    for name, files in (*((name, sorted((recorded / name).iterdir())) for name in "ST"), ("R", [recorded / "R.jsonl"])):
        lines = [line for file in files for line in file.read_text().splitlines() if (name, line) not in bad]
        write(folder / "used" / name / "rows.jsonl", *lines)
    columns = tuple(json.loads((folder / "output").read_text().splitlines()[0]))[:-2]
    found = compare(
        spark.newSession(), batch_statement(sql, CATALOG, derived, columns), folder / "used", folder / "output"
    )
    assert found.equal, found.cells
    return found.results


@pytest.mark.parametrize("name", [*FILTERS, *JOINS, *RAISING])
def test_results_are_those_of_batch_sql(spark: Any, recorded: Path, tmp_path: Path, name: str) -> None:
    sql = {**FILTERS, **JOINS, **RAISING}[name]
    if name == ONLY_ON_SPARK:
        _, bad, _ = ran(spark, recorded, tmp_path, sql, "stateless")
    else:
        _, bad, _ = ran_here(recorded, tmp_path, sql)
    assert as_batch_sql_says(spark, recorded, tmp_path, sql) > 2
    assert ("cannot be computed" in bad) == (name in RAISING)


@pytest.mark.parametrize(
    ("name", "placement"),
    [("a relation", "driver"), ("cast", "stateless"), ("both streams", "buckets"), ("division", "executors")],
)
def test_spark_gives_the_same_in_every_placement(
    spark: Any, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, placement: str
) -> None:
    """On the driver, too, of rows that executors have decoded, as on a cluster."""
    sql = {**FILTERS, **RAISING}[name]
    text, bad, summary = ran_here(recorded, tmp_path / "here", sql)
    if placement == "executors":
        monkeypatch.setattr(state_owner, "is_local", lambda spark: False)
    there = ran(spark, recorded, tmp_path / "there", sql, "driver" if placement == "executors" else placement)
    assert there[0] == text
    assert sorted(there[1].splitlines()) == sorted(bad.splitlines())
    assert there[2]["quarantined"] == summary["quarantined"]


def test_a_run_may_stop_at_an_expression_that_raises_an_error(spark: Any, recorded: Path, tmp_path: Path) -> None:
    streams = {name: {**body, "on_violation": "stop"} for name, body in CATALOG["streams"].items()}
    write(tmp_path / "in" / "S.jsonl", row(random.Random(1), 3) | {"a": 1, "b": 0})
    job = derived_job("SELECT S.a FROM {S} AS S WHERE S.share > 1", {"streams": streams}, EXPRESSIONS, "stateless").job
    with pytest.raises(
        JobError, match=r"a / b cannot be computed: .*DIVIDE_BY_ZERO, and try_divide gives NULL"
    ) as found:
        run_with(spark, job, ["--input", str(tmp_path / "in"), f"--checkpoint={tmp_path / 'state'}"])
    assert '"b": 0' in str(found.value)
    assert "line 1" in str(found.value)


def test_a_batch_that_is_tried_again_puts_its_rows_aside_once(
    spark: Any, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = ran_here(recorded, tmp_path / "once", RAISING["both streams"])
    save, failed = Driver.save, []

    def failing(self: Driver, batch: int) -> None:
        if batch == 1 and not failed:
            failed.append(batch)
            raise RuntimeError("killed")
        save(self, batch)

    monkeypatch.setattr(Driver, "save", failing)
    with pytest.raises(RuntimeError, match="killed"):
        ran(spark, recorded, tmp_path / "again", RAISING["both streams"], "driver")
    assert ran(spark, recorded, tmp_path / "again", RAISING["both streams"], "driver")[:2] == once[:2]


PAIRS = {
    "two streams": "SELECT S.s || ':' || upper(T.s) AS pair, S.a + T.b AS total, S.born > T.born AS o, S.d * T.d AS d, "
                   f"greatest(S.seen, T.seen) AS seen, T.x FROM S, T WHERE S.a % 4 = T.a % 4 AND {WINDOW}",
    "a union": f"SELECT S.a + T.a AS n FROM S, T WHERE S.a = T.a AND {WINDOW} UNION ALL SELECT S.a * 2 FROM S "
               "UNION ALL SELECT length(S.s) + R.k FROM S, R WHERE S.a = R.k",
    "a row and a relation": "SELECT concat(S.s, R.name) AS named FROM S, R WHERE S.a % 4 = R.k",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "placement"), [("two streams", "buckets"), ("a union", ""), ("a row and a relation", "stateless")]
)
def test_results_of_several_rows_are_those_of_batch_sql(
    spark: Any, recorded: Path, tmp_path: Path, name: str, placement: str
) -> None:
    text, _, _ = ran_here(recorded, tmp_path / "here", PAIRS[name])
    assert as_batch_sql_says(spark, recorded, tmp_path / "here", PAIRS[name], {}) > 20
    if placement:
        assert ran(spark, recorded, tmp_path / "there", PAIRS[name], placement)[0] == text


SETS = {
    "two streams": "SELECT DISTINCT (S.a % 4) * (T.b % 3) AS n FROM S, T WHERE S.a % 4 >= T.a % 4",
    "with times": "SELECT DISTINCT S.ts, (S.a % 4) + (T.a % 4) AS n, T.b % 2 AS b FROM S, T "
                  f"WHERE S.b % 3 = T.b % 3 AND {WINDOW}",
    "a union": "SELECT S.a % 3 + R.k % 2 AS n FROM S, R UNION SELECT T.a % 5 FROM T",
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_a_set_of_results_of_several_rows_has_each_once(spark: Any, recorded: Path, tmp_path: Path, name: str) -> None:
    """Different rows give the same results."""
    text, _, summary = ran_here(recorded, tmp_path / "run", SETS[name])
    assert as_batch_sql_says(spark, recorded, tmp_path / "run", SETS[name], {}) > 4
    assert summary["results"] == len(text.splitlines())
    assert compiled_of(SETS[name], CATALOG, None).job.placement.where == "driver"
    assert summary["limit"] is None or summary["peak"] <= summary["limit"]


def test_a_set_that_spark_computes_is_the_same(spark: Any, recorded: Path, tmp_path: Path) -> None:
    text, _, _ = ran_here(recorded, tmp_path / "here", SETS["with times"])
    assert ran(spark, recorded, tmp_path / "there", SETS["with times"], "driver")[0] == text


def test_a_result_that_raises_an_error_stops_the_run(spark: Any, recorded: Path, tmp_path: Path) -> None:
    sql = "SELECT S.a / R.k AS share FROM S, R WHERE S.a >= R.k"
    told = "share cannot be computed of a result: it raises DIVIDE_BY_ZERO"
    with pytest.raises(JobError, match=told):
        ran_here(recorded, tmp_path / "driver", sql)
    with pytest.raises(JobError, match=told):
        ran(spark, recorded, tmp_path / "stateless", sql, "stateless")


def test_random_expressions_give_what_batch_sql_gives(spark: Any, recorded: Path, tmp_path: Path) -> None:
    """On Spark those that only it computes, where the compiler places them."""
    results, compared = 0, Counter[str]()
    for seed in range(3 * MORE):
        sql = statement(Choices.seeded(seed), WINDOW)
        try:
            job = compiled_of(sql, CATALOG, None).job
        except NotAnalysed:
            continue
        if why_not_embedded(job) is None:
            ran_here(recorded, tmp_path / str(seed), sql)
        else:
            ran(spark, recorded, tmp_path / str(seed), sql, job.placement.where)
        if (tmp_path / str(seed) / "output").read_text():
            results += as_batch_sql_says(spark, recorded, tmp_path / str(seed), sql, {})
            compared["here" if why_not_embedded(job) is None else "on Spark"] += 1
    assert compared["on Spark"] and compared.total() > MORE
    assert results > 20 * MORE


@pytest.mark.parametrize("placement", ["driver", "stateless"])
def test_settings_of_a_session_do_not_matter(spark: Any, placement: str) -> None:
    other = spark.newSession()
    other.conf.set("spark.sql.ansi.enabled", "false")
    other.conf.set("spark.sql.session.timeZone", "America/New_York")
    columns = {"a": "bigint", "b": "bigint", "seen": "timestamp", "ts": "bigint"}
    catalog = {
        "streams": {"S": {"timestamp": "ts", "columns": columns}},
        "relations": {"R": {"columns": {"k": "bigint"}}},
    }
    rows = other.sql(
        "SELECT id AS a, id % 2 AS b, timestamp_seconds(3600 * id) AS seen, id AS ts FROM range(1, 5) "
    ).coalesce(1)
    sql = "SELECT S.a DIV S.b AS share, hour(S.seen) AS h, hour(S.seen) + R.k AS more FROM S, R"
    found = streambound.compile(sql, catalog, placement=placement).run(
        other, {"S": rows, "R": other.sql("SELECT 7L AS k")}
    )
    assert [(row["share"], row["h"], row["more"]) for row in found.rows()] == [(1, 1, 8), (3, 3, 10)]
    assert [row["reason"] for row in found.quarantined] == ["expression"] * 2
    assert other.conf.get("spark.sql.ansi.enabled") == "false"
    assert other.conf.get("spark.sql.session.timeZone") == "America/New_York"


def test_times_without_a_zone_do_not_depend_on_that_of_the_session(spark: Any) -> None:
    other = spark.newSession()
    other.conf.set("spark.sql.session.timeZone", "America/New_York")
    catalog = {"streams": {"S": {"timestamp": "ts", "columns": {"seen": "timestamp_ntz", "ts": "bigint"}}}}
    job = job_of("SELECT S.seen FROM S", catalog)
    moments = [datetime(2024, 3, 10, 2, 30), datetime(1850, 1, 1, 0, 0, 0, 1), datetime(9999, 12, 31, 23, 59, 59)]
    encoded = [(moment - datetime(1970, 1, 1)) // timedelta(microseconds=1) for moment in moments]
    rows = delta_of([(0, 1, (number,)) for number in encoded], ("seen",))
    frame = other.createDataFrame(pa.Table.from_batches([batch_of(job, rows)])).drop(FACTS)
    assert typed(frame, job).toArrow().column("seen").to_pylist() == moments


def test_expressions_over_files_of_parquet(spark: Any, tmp_path: Path) -> None:
    """Columns that only an expression reads are read; of a row that is put aside all columns are told."""
    columns = {"a": "int", "b": "smallint", "unused": "bigint", "day": "date", "ts": "bigint"}
    types = {"a": pa.int32(), "b": pa.int16(), "unused": pa.int64(), "day": pa.date32(), "ts": pa.int64()}
    rows = {"a": [8, 8, 9], "b": [2, 0, 3], "unused": [5, 6, 7], "day": [0, 31, None], "ts": [1, 2, 3]}
    (tmp_path / "in").mkdir()
    parquet.write_table(pa.table(rows, schema=pa.schema(types)), tmp_path / "in" / "0.parquet")
    source = {"format": "parquet", "path": str(tmp_path / "in")}
    catalog = {"streams": {"S": {"timestamp": "ts", "columns": columns, "source": source}}}
    job = job_of("SELECT S.a DIV S.b AS n, month(S.day) AS m FROM S", catalog, "stateless")
    files = [f"--{name}={tmp_path / name}" for name in ("output", "quarantine", "checkpoint")]
    run_with(spark, job, files)
    assert [(row["n"], row["m"]) for row in read(tmp_path / "output")] == [(4, 1), (3, None)]
    (bad,) = read(tmp_path / "quarantine")
    assert json.loads(bad["row"]) == {"a": 8, "b": 0, "unused": 6, "day": "1970-02-01", "ts": 2}
