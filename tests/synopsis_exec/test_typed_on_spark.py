"""Columns of files with types: what the driver tells of their rows by itself is what Spark tells."""

from __future__ import annotations

import json
import os
import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.jobs import kernel, run

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ODD = "k`ey row."
COLUMNS = {
    ODD: "string", "n": "int", "t": "tinyint", "x": "double", "born": "date", "seen": "timestamp",
    "ok": "boolean", "w": "bigint", "ts": "bigint",
}  # fmt: skip
S: dict[str, Any] = {"timestamp": "ts", "columns": COLUMNS, "domain": {"n": [0, 9], ODD: ["a", "row.b", "c"]}}
T: dict[str, Any] = {
    "timestamp": "ts",
    "columns": {"n": "smallint", "k": "string", "ts": "bigint", "w": "bigint"},
    "domain": {"k": ["k"]},
}
SQL = (
    "SELECT S.`k``ey row.` AS `key`, S.n, S.t, S.x, S.born, S.seen, S.ok FROM S, T WHERE S.ts <= T.ts "
    "AND T.ts <= S.ts + 5 AND S.n = T.n AND (S.x < 0.5 OR S.t IS NULL OR S.ok) AND S.`k``ey row.` <> 'row.x'"
)
START = datetime(2024, 1, 1, tzinfo=UTC)


def good(dice: random.Random, ts: int) -> dict[str, Any]:
    row = {
        ODD: dice.choice(["a", "row.b", "c"]),
        "n": dice.randrange(10),
        "t": dice.choice([-128, 0, 127]),
        "x": dice.choice([0.0, -0.0, 1.5, float("inf")]),
        "born": date(1970, 1, 1) + timedelta(days=dice.randrange(-9, 9)),
        "seen": START + timedelta(microseconds=dice.randrange(10**9)),
        "ok": dice.random() < 0.5,
        "w": dice.randrange(-(2**63), 2**63),
        "ts": ts,
    }
    return {
        name: None if name not in ("ts", "n", ODD) and dice.random() < 0.05 else value for name, value in row.items()
    }


def bad(dice: random.Random, ts: int) -> dict[str, Any]:
    wrong = dice.choice([("n", 10), ("k", "z"), (ODD, "z"), ("x", float("nan")), ("ts", None), ("ts", -1)])
    return {**good(dice, ts), **dict([wrong])}


def arrived(folder: Path, dice: random.Random, format: str) -> None:
    """Six batches; the third and the fifth have rows that break the contract, and late ones."""
    import pyarrow as pa
    from pyarrow import orc
    from pyarrow import parquet as pq

    types = {
        ODD: pa.string(), "n": pa.int32(), "t": pa.int8(), "x": pa.float64(), "born": pa.date32(),
        "seen": pa.timestamp("us", tz="UTC"), "ok": pa.bool_(), "w": pa.int64(), "ts": pa.int64(), "k": pa.string(),
    }  # fmt: skip
    for batch in range(6):
        for name in "ST":
            times = sorted(10 * batch + dice.randrange(10) for _ in range(40))
            rows = [good(dice, ts) for ts in times]
            if batch in (2, 4):
                rows += [bad(dice, times[-1]) for _ in range(9)]
            names = [*COLUMNS] if name == "S" else ["n", "k", "ts", "w"]
            rows = [{"k": dice.choice(["k", None]), **row} for row in rows]
            plain = {n: "row" if n == ODD and format == "orc" else n for n in names}
            kinds = types if name == "S" else {**types, "n": pa.int16()}
            table = pa.table({plain[n]: pa.array([row[n] for row in rows], kinds[n]) for n in names})
            file = folder / name / f"{batch}.{format}"
            file.parent.mkdir(parents=True, exist_ok=True)
            (pq if format == "parquet" else orc).write_table(table, file)
            os.utime(file, (1_600_000_000 + batch,) * 2)


def job_over(folder: Path, format: str, stream: dict[str, Any] = S) -> Any:
    """Made anew each time, so that what a test changes in one is not in another; ORC has no such name for the key."""
    sources = {
        name: {"format": format, "path": str(folder / name), "options": {"maxFilesPerTrigger": 1}} for name in "ST"
    }
    catalog = {"streams": {n: {**body, "source": sources[n]} for n, body in (("S", stream), ("T", T))}}
    sql, text = SQL, json.dumps(catalog)
    if format == "orc":
        sql, text = sql.replace("`k``ey row.`", "`row`"), text.replace(ODD, "row")
    return kernel(sql, json.loads(text))


def ran(spark: Any, job: Any, folder: Path) -> tuple[list[str], list[str], list[dict[str, Any]]]:
    reports: list[dict[str, Any]] = []
    folder.mkdir()
    files = {name: folder / name for name in ("checkpoint", "output", "quarantine")}
    options = [part for name, file in files.items() for part in (f"--{name}", str(file))]
    job.run(spark, job.arguments(options), reports.append)
    texts = [files[name].read_text(encoding="utf-8").splitlines() for name in ("output", "quarantine")]
    return texts[0], sorted(texts[1]), reports


@pytest.mark.parametrize("format", ["parquet", "orc"])
@pytest.mark.parametrize("partitions", [False, True], ids=["one", "partitions"])
def test_the_driver_tells_what_spark_tells(spark: Any, tmp_path: Path, format: str, partitions: bool) -> None:
    """From the same columns, and from rows that were told apart before they became a batch."""
    arrived(tmp_path / "in", random.Random(5), format)
    parts = {"partitions": {"column": ODD, "values": ["a", "row.b", "c"]}}
    stream = {**S, "domain": {"n": [0, 9]}, **parts} if partitions else S
    job = job_over(tmp_path / "in", format, stream)
    tables, rows_of_columns = [], job.rows_of_columns
    assert job.as_columns(job.arguments([]))

    def noted(batch: Any) -> Any:
        tables.append(rows_of_columns(batch))
        return tables[-1]

    job.rows_of_columns = noted
    job.Job.whole = property(lambda self: True, lambda self, whole: None)
    near, columns_near = [], job.columns_near
    job.columns_near = lambda *given: (near.append(columns_near(*given)), near[-1])[1]
    by_driver = ran(spark, job, tmp_path / "driver")
    assert [found is not None for found in near] == [format == "parquet"] * 6
    assert len(tables) == 6
    assert [table is None for table in tables] == [False, False, True, False, True, False]
    told = by_driver[2][-1]["quarantined"]
    assert len(told) > 4 and sum(told.values()) == len(by_driver[1]) > 20
    assert len(by_driver[0]) > 50

    by_spark = job_over(tmp_path / "in", format, stream)
    by_spark.rows_of_columns = lambda batch: None
    by_spark.Job.whole = property(lambda self: True, lambda self, whole: None)
    assert ran(spark, by_spark, tmp_path / "spark") == by_driver

    fetched = job_over(tmp_path / "in", format, stream)
    fetched.columns_near = lambda *given: None
    fetched.Job.whole = property(lambda self: True, lambda self, whole: None)
    assert ran(spark, fetched, tmp_path / "fetched") == by_driver

    filtered = job_over(tmp_path / "in", format, stream)
    filtered.Job.whole = property(lambda self: False, lambda self, whole: None)
    assert ran(spark, filtered, tmp_path / "filtered") == by_driver

    before = job_over(tmp_path / "in", format, stream)
    before.as_columns = lambda options: False
    assert ran(spark, before, tmp_path / "before") == by_driver


@pytest.mark.parametrize(("values", "quarantined"), [(["k"], 0), (["z"], 3)])
def test_contracts_of_columns_that_the_query_does_not_use(
    spark: Any, tmp_path: Path, values: list[str], quarantined: int
) -> None:
    import pyarrow as pa
    from pyarrow import parquet as pq

    for name in "ST":
        columns = {
            "w": [2**40] * 3,
            "n": pa.array([1, 2, 3], pa.int16()),
            "k": ["k"] * 3,
            "ts": pa.array([1, 2, 3], pa.int64()),
        }
        (tmp_path / name).mkdir()
        pq.write_table(pa.table(columns), tmp_path / name / "0.parquet")
    other = {**T, "domain": {}}
    sources = {n: {"format": "parquet", "path": str(tmp_path / n)} for n in "ST"}
    streams = {"S": {**T, "domain": {"k": values}, "source": sources["S"]}, "T": {**other, "source": sources["T"]}}
    job = kernel("SELECT S.n FROM S, T WHERE S.ts = T.ts", {"streams": streams})
    job.Job.whole = property(lambda self: True, lambda self, whole: None)
    output, bad, reports = ran(spark, job, tmp_path / "ran")
    assert len(bad) == quarantined == reports[-1]["quarantined"].get("k is outside its domain", 0)
    assert len(output) == 3 - quarantined


def test_lines_are_no_columns(spark: Any, tmp_path: Path) -> None:
    """With `--input` the sources are not read."""
    job = job_over(tmp_path, "parquet")
    for name in "ST":
        row = {"n": 1, "k": "k", "w": 2**40, ODD: "a", "ok": True, "ts": 3}
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{name}.jsonl").write_text(json.dumps({**dict.fromkeys(COLUMNS), **row}) + "\n")
    assert run(spark, job, tmp_path)["results"] == 1
