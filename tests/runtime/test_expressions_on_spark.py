"""Columns that Spark computes of rows: results are those of batch SQL, wherever rows are; what becomes of errors."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from streambound.recheck.oracle.spark_batch import compare
from streambound_runtime.driver import Driver
from streambound_runtime.errors import JobError
from streambound_runtime.placement import on_driver
from support.derived import Derived, batch_statement, derived_job
from support.jobs import read, run_with, write

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

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
    """Three files of each stream, in order, with broken lines and equal rows."""
    folder, dice = tmp_path_factory.mktemp("recorded"), random.Random(5)
    for name in "ST":
        for part in range(3):
            rows = sorted((row(dice, 20 * part + dice.randrange(20)) for _ in range(40)), key=lambda row: row["ts"])
            write(folder / name / f"{part}.jsonl", *rows, "bad", modified=1_600_000_000 + part)
    write(folder / "R.jsonl", *({"k": k, "name": "n" * k} for k in range(8)), {"k": "x", "name": ""})
    return folder


def ran(spark: Any, recorded: Path, folder: Path, sql: str, placement: str) -> tuple[str, str, dict[str, Any]]:
    """The results and the bad rows of a run, and its summary."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [f"--{name}={folder / name}" for name in ("output", "quarantine", "checkpoint")]
    job = derived_job(sql, CATALOG, EXPRESSIONS, placement).job
    summary = run_with(spark, job, ["--input", str(recorded), "--files-per-batch", "1", *files])
    return (folder / "output").read_text(), (folder / "quarantine").read_text(), summary


def as_batch_sql_says(spark: Any, recorded: Path, folder: Path, sql: str) -> int:
    """Whether a run's results are those of batch SQL over the rows that it has not put aside; how many there are."""
    bad = {(found.get("stream") or found.get("relation"), found["row"]) for found in read(folder / "quarantine")}
    for name, files in (*((name, sorted((recorded / name).iterdir())) for name in "ST"), ("R", [recorded / "R.jsonl"])):
        lines = [line for file in files for line in file.read_text().splitlines() if (name, line) not in bad]
        write(folder / "used" / name / "rows.jsonl", *lines)
    columns = tuple(json.loads((folder / "output").read_text().splitlines()[0]))[:-2]
    found = compare(
        spark.newSession(), batch_statement(sql, CATALOG, EXPRESSIONS, columns), folder / "used", folder / "output"
    )
    assert found.equal, found.cells
    return found.results


@pytest.mark.parametrize("name", [*FILTERS, *JOINS, *RAISING])
def test_results_are_those_of_batch_sql_in_every_placement(
    spark: Any, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    sql = {**FILTERS, **JOINS, **RAISING}[name]
    places = ["driver", "stateless" if "{T}" not in sql else "buckets"]
    driver, other = (ran(spark, recorded, tmp_path / place, sql, place) for place in places)
    assert as_batch_sql_says(spark, recorded, tmp_path / "driver", sql) > 2
    monkeypatch.setattr(on_driver, "is_local", lambda spark: False)
    there = ran(spark, recorded, tmp_path / "there", sql, "driver")
    for text, bad, summary in (other, there):
        assert text == driver[0]
        assert sorted(bad.splitlines()) == sorted(driver[1].splitlines())
        assert summary["quarantined"] == driver[2]["quarantined"]
    assert ("cannot be computed" in driver[1]) == (name in RAISING)


def test_a_run_may_stop_at_an_expression_that_raises_an_error(spark: Any, recorded: Path, tmp_path: Path) -> None:
    streams = {name: {**body, "on_violation": "stop"} for name, body in CATALOG["streams"].items()}
    write(tmp_path / "in" / "S.jsonl", row(random.Random(1), 3) | {"a": 1, "b": 0})
    job = derived_job("SELECT S.a FROM {S} AS S WHERE S.share > 1", {"streams": streams}, EXPRESSIONS, "stateless").job
    with pytest.raises(
        JobError, match=r"a / b cannot be computed: .*DIVIDE_BY_ZERO, and try_divide gives NULL"
    ) as found:
        run_with(spark, job, ["--input", str(tmp_path / "in"), f"--output={tmp_path / 'out'}"])
    assert '"b": 0' in str(found.value)
    assert "line 1" in str(found.value)


def test_a_batch_that_is_tried_again_puts_its_rows_aside_once(
    spark: Any, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = ran(spark, recorded, tmp_path / "once", RAISING["both streams"], "driver")
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
