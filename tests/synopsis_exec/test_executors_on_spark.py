"""Jobs that leave batches on the executors: the same files, reports and errors as on the driver."""

from __future__ import annotations

import json
import random
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from support.full_disk import full_disk, java
from support.jobs import kernel, read, write

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

COLUMNS = {"a": "bigint", "b": "string", "ts": "bigint"}
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": COLUMNS, "lateness": 6, "max_per_timestamp": 4},
        "T": {"timestamp": "ts", "columns": COLUMNS, "domain": {"a": [0, 5]}},
    },
    "relations": {"R": {"columns": {"a": "bigint", "name": "string"}, "rows": 9}},
}
COUNTS = "SELECT S.b, R.name FROM S, T, R WHERE S.ts > T.ts AND S.a >= T.a AND T.a = R.a"
WINDOWS = "SELECT DISTINCT S.a FROM S, T WHERE S.ts >= T.ts AND S.ts <= T.ts + 3 AND S.b = T.b AND S.a BETWEEN 0 AND 9"


def arrived(folder: Path, times: int = 1) -> None:
    """Three batches, of which some rows are late, too many, outside their domain or not JSON; T's come some times."""
    dice = random.Random(3)
    write(folder / "R.jsonl", *({"a": a, "name": f"n{a}"} for a in range(6)))
    for name in "ST":
        for number in range(3):
            rows = [
                {
                    "a": dice.randrange(7),
                    "b": dice.choice(["x", "y", "é", None]),
                    "ts": 40 * number + dice.randrange(40),
                }
                for _ in range(90)
            ]
            late = [{"a": 1, "b": "x", "ts": 3}, "no JSON", {"a": 2, "b": "y"}]
            rows = [*rows, *late] * (times if name == "T" else 1)
            write(folder / name / f"{number}.jsonl", *rows, modified=1_600_000_000 + number)


def ran(spark: Any, job: Any, folder: Path, rows: int, *more: str) -> tuple[str, list[str], list[dict[str, Any]]]:
    folder.mkdir(exist_ok=True)
    reports: list[dict[str, Any]] = []
    files = {"--output": folder / "out", "--quarantine": folder / "bad", "--checkpoint": folder / "checkpoint"}
    options = [part for name, file in files.items() for part in (name, str(file))]
    where = ["--input", str(folder.parent / "in"), "--driver-rows", str(rows), *more]
    job.run(spark, job.arguments([*where, *options]), reports.append)
    bad = sorted((folder / "bad").read_text(encoding="utf-8").splitlines())
    return (folder / "out").read_text(encoding="utf-8"), bad, reports


def fail_in_second_batch(spark: Any, job: Any, folder: Path) -> None:
    """Run a job on the executors until it fails before it saves the state after its second batch."""
    save = job.Job.save

    def failing(self: Any, batch: int) -> None:
        if batch == 1:
            raise RuntimeError("the machine is gone")
        save(self, batch)

    job.Job.save = failing
    with pytest.raises(RuntimeError, match="the machine is gone"):
        ran(spark, job, folder, 0)
    job.Job.save = save


def have_no_room_in_second_batch(spark: Any, job: Any, folder: Path) -> None:
    """Run a job on the executors until their disk is full in its second batch."""
    write_parts = job.Batches.write_parts

    def without_room(self: Any, batch: int, closing: Any, division: list[int]) -> None:
        with full_disk(java()) if batch == 1 else nullcontext():
            write_parts(self, batch, closing, division)

    job.Batches.write_parts = without_room
    with pytest.raises(job.JobError, match="File too large") as stopped:
        ran(spark, job, folder, 0)
    assert stopped.value.status == 3
    job.Batches.write_parts = write_parts


@pytest.mark.parametrize("sql", [COUNTS, WINDOWS], ids=["counts", "windows of a set"])
def test_the_same_files_and_reports_as_on_the_driver(spark: Any, tmp_path: Path, sql: str) -> None:
    arrived(tmp_path / "in")
    job = kernel(sql, CATALOG)
    driver = ran(spark, job, tmp_path / "driver", 10**9)
    folded: list[int] = []
    in_ranges = job.in_ranges
    job.in_ranges = lambda rows, cuts: (folded.append(len(cuts)), in_ranges(rows, cuts))[1]
    spread = ran(spark, job, tmp_path / "spread", 0)
    assert spread == driver
    assert len(folded) == 3
    assert min(folded) >= 1
    assert len(driver[0].splitlines()) > (5 if "DISTINCT" in sql else 50)
    assert driver[2][-1]["quarantined"]["not a JSON object"] == 6
    assert driver[2][-1]["quarantined"]["more than max_per_timestamp = 4 rows"] > 1
    assert not spark.sparkContext._jsc.sc().getPersistentRDDs().size()
    written = tmp_path / "spread" / "checkpoint" / "results" / "000000001.jsonl"
    assert written.is_dir() == ("DISTINCT" not in sql)


def test_a_batch_that_is_tried_again_is_cut_as_before(spark: Any, tmp_path: Path) -> None:
    """Also when it then would be fetched: its files stay the same, those of another cut would not be."""
    arrived(tmp_path / "in")
    job = kernel(COUNTS, CATALOG)
    expected = ran(spark, job, tmp_path / "driver", 10**9)
    fail_in_second_batch(spark, job, tmp_path / "spread")
    results = tmp_path / "spread" / "checkpoint" / "results"
    first = [file.read_text(encoding="utf-8") for file in sorted((results / "000000001.jsonl").glob("part-*"))]
    assert len(first) > 1
    output, bad, reports = ran(spark, job, tmp_path / "spread", 10**9)
    again = [file.read_text(encoding="utf-8") for file in sorted((results / "000000001.jsonl").glob("part-*"))]
    assert again == first
    assert (results / "000000002.jsonl").is_file()
    assert (output, bad) == expected[:2]
    assert reports[-1] == expected[2][-1]


@pytest.mark.parametrize("sql", [COUNTS, WINDOWS], ids=["counts", "windows of a set"])
def test_a_full_disk_of_the_executors_stops_the_job_and_room_lets_it_go_on(
    spark: Any, tmp_path: Path, sql: str
) -> None:
    """What Spark shuffles, or the results that executors write, find no room; nothing is lost or repeated."""
    arrived(tmp_path / "in")
    job = kernel(sql, CATALOG)
    expected = ran(spark, job, tmp_path / "driver", 10**9)
    have_no_room_in_second_batch(spark, job, tmp_path / "spread")
    assert not (tmp_path / "spread" / "out").exists()
    output, bad, reports = ran(spark, job, tmp_path / "spread", 0)
    assert (output, bad, reports[-1]) == (*expected[:2], expected[2][-1])


def test_more_entries_than_the_bound_stop_the_job_with_the_same_words(spark: Any, tmp_path: Path) -> None:
    arrived(tmp_path / "in")
    job = kernel(COUNTS, CATALOG)
    said = []
    for rows in (10**9, 0):
        with pytest.raises(job.JobError) as stopped:
            ran(spark, job, tmp_path / str(rows), rows, "--limit", "4")
        said.append(str(stopped.value))
    assert said[0] == said[1]
    assert "the synopsis has 5 entries at timestamp" in said[0]


def test_a_sink_reads_what_the_executors_wrote(spark: Any, tmp_path: Path) -> None:
    arrived(tmp_path / "in")
    sink = {"format": "json", "path": str(tmp_path / "sent")}
    job = kernel(COUNTS, {**CATALOG, "sinks": {"q": sink}})
    output, _, _ = ran(spark, job, tmp_path / "spread", 0)
    sent = [row for file in sorted((tmp_path / "sent").glob("batch=*/*.json")) for row in read(file)]
    results = [json.loads(line) for line in output.splitlines()]  # Spark's JSON leaves NULLs out
    whole = [{name: value for name, value in row.items() if value is not None} for row in results]
    assert sorted(map(json.dumps, sent)) == sorted(map(json.dumps, whole))


@pytest.mark.parametrize("rows", [10**9, 0], ids=["driver", "executors"])
def test_rows_that_are_the_same_are_counted_first(spark: Any, tmp_path: Path, rows: int) -> None:
    """In the batches after one that had many."""
    arrived(tmp_path / "in", times=9)
    job = kernel(COUNTS, CATALOG)
    expected = ran(spark, job, tmp_path / "single", 10**9)
    job.LEAST, counted, once = 1, [], job.once
    job.Reader.pays = lambda self, arrived: False  # lines are fetched as they are
    job.once = lambda rows: (counted.append(rows.columns), once(rows))[1]
    assert ran(spark, job, tmp_path / "counted", rows) == expected
    assert len(counted) >= 2
    assert expected[2][-1]["quarantined"]["not a JSON object"] == 3 + 9 * 3
    assert len(expected[0].splitlines()) > 50
