"""Batches that are fetched whole: the same files and reports as where Spark counts rows and leaves the useless ones."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from synopsis_exec.test_executors_on_spark import CATALOG, COUNTS, WINDOWS, arrived, ran

from support.jobs import TYPED, TYPED_SQL, kernel, write

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
PARTED: dict[str, Any] = {
    "streams": {
        "S": {
            "timestamp": "ts",
            "columns": {"a": "bigint", "shard": "string", "ts": "bigint"},
            "lateness": 5,
            "partitions": {"column": "shard", "values": ["x", "it's"]},
        },
        "T": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "idle_after": 30},
    }
}
PARTED_SQL = "SELECT S.a FROM S, T WHERE S.a = T.a AND S.ts >= T.ts AND S.a BETWEEN 0 AND 3"


def alike(spark: Any, sql: str, catalog: dict[str, Any], folder: Path) -> tuple[str, list[str], list[dict[str, Any]]]:
    """What a job leaves, whichever way its batches are fetched; fails where the ways differ."""
    found, taken = list[Any](), Counter[str]()
    for way in ("taken_as_lines", "taken_whole", "kept"):
        job = kernel(sql, catalog)
        take = getattr(job.Job, way)

        def counted(self: Any, *given: Any, take: Any = take, way: str = way) -> Any:
            taken[way] += 1
            return take(self, *given)

        setattr(job.Job, way, counted)
        job.Job.whole = property(lambda self, whole=way == "taken_whole": whole, lambda self, whole: None)
        job.Reader.pays = lambda self, arrived, as_lines=way == "taken_as_lines": as_lines
        found.append(ran(spark, job, folder / way, 10**9))
    batches = sum("batch" in report for report in found[0][2])
    assert batches
    assert taken["taken_whole"] == taken["kept"] == batches
    assert taken["taken_as_lines"] == (batches if all(source.cells for source in job.STREAMS) else 0)
    assert found[0] == found[1] == found[2]
    return found[0]


def parted(folder: Path) -> None:
    """Rows of two partitions, of another one and of none, some of them late, with one that is not UTF-8."""
    dice = random.Random(5)
    for number in range(4):
        rows = [
            {"a": dice.randrange(6), "shard": dice.choice(["x", "it's", "it's", "z", None]), "ts": ts}
            for ts in (20 * number + dice.randrange(20) for _ in range(60))
        ]
        write(folder / "S" / f"{number}.jsonl", *rows, {"a": 1, "shard": "x", "ts": 1}, modified=1_600_000_000 + number)
        others = [{"a": dice.randrange(6), "ts": 20 * number + dice.randrange(20)} for _ in range(40)]
        write(folder / "T" / f"{number}.jsonl", *others, {"a": 1, "ts": 0}, modified=1_600_000_000 + number)
    with (folder / "S" / "3.jsonl").open("ab") as file:
        file.write(b'{"a": 1, "shard": "x\xff", "ts": 70}\n')


@pytest.mark.parametrize("sql", [COUNTS, WINDOWS], ids=["counts", "windows of a set"])
def test_bad_late_and_too_many_rows(spark: Any, tmp_path: Path, sql: str) -> None:
    arrived(tmp_path / "in")
    out, bad, _ = alike(spark, sql, CATALOG, tmp_path)
    assert out
    assert all(any(word in line for line in bad) for word in ("late", "no JSON", "max_per_timestamp"))


def test_rows_of_partitions(spark: Any, tmp_path: Path) -> None:
    parted(tmp_path / "in")
    out, bad, reports = alike(spark, PARTED_SQL, PARTED, tmp_path)
    assert out
    words = ("late", "none of the declared partitions", "not UTF-8")
    assert all(any(word in line for line in bad) for word in words)
    assert reports[-1]["summary"]


def test_every_type(spark: Any, tmp_path: Path) -> None:
    row = {
        "k`ey": "it's", "d": 2.25, "big": 0, "born": "2001-02-03", "seen": "2024-01-01T00:00:00.5Z",
        "ok": True, "x": 1.5, "n": 3, "at": "2024-01-01T00:00:00Z",
    }  # fmt: skip
    nulls = {**row, "k`ey": None, "born": None, "seen": None, "ok": None, "x": None, "big": None, "d": -0.05}
    faults = [{**row, "n": 10}, {**row, "born": "12001-02-03"}, {**row, "at": None}, {**row, "d": 10**9}, "\t", "[]"]
    far = [{**row, "big": "9" * 26}, {**row, "seen": "9999-12-31T23:59:59.999999Z", "x": "Infinity"}]
    write(tmp_path / "in" / "odd name.jsonl", row, nulls, *faults, *far)
    write(tmp_path / "in" / "T.jsonl", {"n": 3, "at": "2024-01-01T00:00:10Z"}, {"n": 3, "at": "2024-01-01T00:00:11Z"})
    write(tmp_path / "in" / "R.jsonl", {"n": 3, "name": "three"})
    out, bad, _ = alike(spark, TYPED_SQL, TYPED, tmp_path)
    assert len(bad) == len(faults)
    assert len(out.splitlines()) >= 4
