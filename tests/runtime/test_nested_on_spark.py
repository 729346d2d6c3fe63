"""Expressions that read arrays, maps and structs, of JSON and of Parquet: results are those of batch SQL."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from streambound.recheck.oracle.spark_batch import compare
from streambound_runtime.placement import state_owner
from support.derived import batch_statement
from support.jobs import job_of, read, run_with, write

COLUMNS = {
    "k": "int", "xs": "array<int>", "props": "map<string,double>", "spare": "array<string>",
    "who": "struct<userId:bigint,seen:timestamp,parts:array<struct<n:decimal(9,2),day:date>>>", "ts": "bigint",
}  # fmt: skip
WINDOW = "S.ts <= T.ts AND T.ts <= S.ts + 7"
QUERIES = {
    "elements": "SELECT get(S.xs, 1) AS x, S.props['a'] AS p, S.who.userid AS u, S.who.parts[0].n AS n, "
    "date_trunc('HOUR', S.who.seen) AS h, size(S.who.parts) AS many FROM S WHERE size(S.xs) > 1 OR S.k < 3",
    "is there": "SELECT S.k, S.props IS NULL AS no, try_element_at(S.xs, 1) AS x FROM S WHERE S.xs IS NOT NULL",
    "two streams": f"SELECT S.k, array_max(S.xs) AS most, T.who.userId + S.k AS u FROM S, T WHERE {WINDOW} "
    "AND get(S.xs, 0) = T.k AND array_contains(T.xs, 2)",
}


def row(dice: random.Random, ts: int) -> dict[str, Any]:
    number = dice.choice([1.5, 12.25, 0, None])
    part = {"n": number, "day": dice.choice(["2024-02-29", None])}
    who = {"userId": dice.choice([7, 2**60, None]), "seen": "2024-01-01T10:59:59.123456Z", "parts": [part]}
    return {
        "k": dice.randrange(4),
        "xs": dice.choice([[], [1], [2, 1], [2, None, 3], None, *([["a"], {"a": 1}] if ts % 9 == 0 else [])]),
        "props": dice.choice([{"a": 0.1}, {"a": None, "b": 1e300}, {}, None]),
        "spare": dice.choice([["x"], 5, None]),
        "who": dice.choice([who, {"parts": [part, part]}, None, *(["none"] if ts % 11 == 0 else [])]),
        "ts": ts,
    }  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of each stream, in order, with values that are none of their types."""
    folder, dice = tmp_path_factory.mktemp("nested"), random.Random(8)
    for name in "ST":
        for part in range(2):
            rows = [row(dice, 30 * part + ts // 2) for ts in range(60)]
            write(folder / name / f"{part}.jsonl", *rows, modified=1_600_000_000 + part)
    return folder


def catalog(sources: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"streams": {n: {"timestamp": "ts", "columns": COLUMNS, **(sources or {}).get(n, {})} for n in "ST"}}


def ran(spark: Any, folder: Path, job: Any, *options: str) -> tuple[str, list[Any]]:
    folder.mkdir(parents=True, exist_ok=True)
    files = [f"--{name}={folder / name}" for name in ("output", "quarantine", "checkpoint")]
    run_with(spark, job, [*options, *files])
    return (folder / "output").read_text(), read(folder / "quarantine")


@pytest.mark.parametrize(
    ("name", "placement"),
    [("elements", "stateless"), ("is there", "executors"), ("two streams", "driver"), ("two streams", "buckets")],
)
def test_results_are_those_of_batch_sql_in_every_placement(
    spark: Any, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, placement: str
) -> None:
    """On the driver, too, of rows that executors have decoded, as on a cluster."""
    sql = QUERIES[name]
    if placement == "executors":
        monkeypatch.setattr(state_owner, "is_local", lambda spark: False)
    job = job_of(sql, catalog(), "driver" if placement == "executors" else placement)
    found, bad = ran(spark, tmp_path, job, f"--input={recorded}", "--files-per-batch=1")
    for table in "ST":
        lines = [line for file in sorted((recorded / table).iterdir()) for line in file.read_text().splitlines()]
        kept = [line for line in lines if (table, line) not in {(one["stream"], one["row"]) for one in bad}]
        write(tmp_path / "used" / table / "rows.jsonl", *kept)
    columns = tuple(json.loads(found.splitlines()[0]))[:-2]
    batch = batch_statement(sql, catalog(), {}, columns)
    compared = compare(spark.newSession(), batch, tmp_path / "used", tmp_path / "output")
    assert compared.equal, compared.cells
    assert compared.results > 20
    assert any("xs is not an array<int>" in one["detail"] for one in bad)
    assert {one["reason"] for one in bad} == {"expression"}


@pytest.mark.parametrize(("name", "placement"), [("elements", "stateless"), ("two streams", "buckets")])
def test_files_of_parquet_give_what_json_gives(
    spark: Any, recorded: Path, tmp_path: Path, name: str, placement: str
) -> None:
    """Of those rows whose values are of their types."""
    kinds = ", ".join(f"{column} {kind if column != 'spare' else 'string'}" for column, kind in COLUMNS.items())
    sources = {}
    for table in "ST":
        rows = spark.read.schema(f"{kinds}, bad STRING").option("columnNameOfCorruptRecord", "bad")
        rows = (
            rows.json(str(recorded / table))
            .cache()
            .where("bad IS NULL")
            .drop("bad")
            .coalesce(1)
            .sortWithinPartitions("ts")
        )
        good = tmp_path / "good" / table
        rows.drop("spare").selectExpr("*", "CAST(NULL AS array<string>) AS spare").write.parquet(str(tmp_path / table))
        rows.write.option("ignoreNullFields", "false").json(str(good))
        for file in good.glob("*.json"):
            file.rename(file.with_suffix(".jsonl"))
        sources[table] = {"source": {"format": "parquet", "path": str(tmp_path / table)}}
    of_json, of_parquet = (job_of(QUERIES[name], catalog(given), placement) for given in (None, sources))
    json_rows, bad = ran(spark, tmp_path / "json", of_json, f"--input={tmp_path / 'good'}")
    assert not bad
    parquet_rows, bad = ran(spark, tmp_path / "parquet", of_parquet)
    assert not bad
    assert parquet_rows == json_rows
    assert len(json_rows.splitlines()) > 10
