"""Jobs whose executors fold large batches by key: the same files, reports and errors as on the driver."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from synopsis_exec.test_executors_on_spark import (
    COLUMNS,
    arrived,
    fail_in_second_batch,
    have_no_room_in_second_batch,
    ran,
)

from support.jobs import kernel, read, write

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TEXTS = {"b": {"values": ["x", "y", "é"]}}
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": COLUMNS, "lateness": 6, "max_per_timestamp": 4, "domain": TEXTS},
        "T": {"timestamp": "ts", "columns": COLUMNS, "domain": TEXTS},
    },
    "relations": {"R": {"columns": {"a": "bigint", "name": "string"}, "rows": 9}},
}
LEAST = "SELECT DISTINCT T.b FROM S, T WHERE S.b = T.b AND S.a < T.a"
"""It keeps a greatest and a least number per text, which no ranges of time can do."""
SAME = "SELECT DISTINCT 1 AS one, R.name FROM S, T, R WHERE S.b = T.b AND S.a < T.a AND T.a > R.a AND R.a < 3"
"""Different keys have the same results."""
COUNTS = "SELECT R.a, S.b FROM S, T, R WHERE S.ts > T.ts AND S.a = T.a AND S.a = R.a"
SUMS = "SELECT S.b FROM S, T, R WHERE S.ts > T.ts AND S.a = T.a AND S.a = R.a"
"""Different keys have the same results at the same timestamps."""
QUERIES = {"least": LEAST, "same results": SAME, "counts": COUNTS, "sums": SUMS}
BAGS = (COUNTS, SUMS)


Ran = tuple[str, list[str], list[dict[str, Any]]]


def in_order(found: Ran) -> Ran:
    """The results of a timestamp in the order of their texts, which is that of results of several keys."""
    lines = sorted(found[0].splitlines(), key=lambda line: (json.loads(line)["_ts"], line))
    return "\n".join(lines), *found[1:]


@pytest.mark.parametrize("sql", QUERIES.values(), ids=QUERIES)
def test_the_same_files_and_reports_as_on_the_driver(spark: Any, tmp_path: Path, sql: str) -> None:
    arrived(tmp_path / "in")
    job = kernel(sql, CATALOG)
    driver = ran(spark, job, tmp_path / "driver", 10**9)
    folded: list[int] = []
    by_key = job.by_key
    job.by_key = lambda rows, parts: (folded.append(parts), by_key(rows, parts))[1]
    job.BYTES_OF_TIMES = 2 if sql is SAME else job.BYTES_OF_TIMES  # then Spark counts the timestamps
    assert in_order(ran(spark, job, tmp_path / "keys", 0)) == in_order(driver)
    assert folded == [2, 2, 2]
    assert len(driver[0].splitlines()) > (40 if sql in BAGS else 2)
    assert driver[2][-1]["quarantined"]["more than max_per_timestamp = 4 rows"] > 1
    assert not spark.sparkContext._jsc.sc().getPersistentRDDs().size()
    written = tmp_path / "keys" / "checkpoint" / "results" / "000000001.jsonl"
    assert written.is_dir() == (sql in BAGS)


def test_a_batch_that_is_tried_again_is_divided_as_before(spark: Any, tmp_path: Path) -> None:
    """Also when it then would be fetched: its files stay the same."""
    arrived(tmp_path / "in")
    job = kernel(SUMS, CATALOG)
    expected = ran(spark, job, tmp_path / "driver", 10**9)
    fail_in_second_batch(spark, job, tmp_path / "keys")
    checkpoint = tmp_path / "keys" / "checkpoint"
    assert [read(file) for file in (checkpoint / "keys").glob("*.jsonl")] == [[[2]]]
    folded: list[int] = []
    by_key = job.by_key
    job.by_key = lambda rows, parts: (folded.append(parts), by_key(rows, parts))[1]
    output, bad, reports = ran(spark, job, tmp_path / "keys", 10**9)
    assert folded == [2]
    assert in_order((output, bad, reports[-1:])) == in_order((*expected[:2], expected[2][-1:]))
    assert not list((checkpoint / "keys").glob("*.jsonl"))


def test_a_full_disk_of_the_executors_stops_the_job_and_room_lets_it_go_on(spark: Any, tmp_path: Path) -> None:
    arrived(tmp_path / "in")
    job = kernel(COUNTS, CATALOG)
    expected = ran(spark, job, tmp_path / "driver", 10**9)
    have_no_room_in_second_batch(spark, job, tmp_path / "keys")
    output, bad, reports = ran(spark, job, tmp_path / "keys", 0)
    assert in_order((output, bad, reports[-1:])) == in_order((*expected[:2], expected[2][-1:]))


def test_more_entries_than_the_bound_stop_the_job_with_the_same_words(spark: Any, tmp_path: Path) -> None:
    """The results of a set are entries, too."""
    arrived(tmp_path / "in")
    job = kernel(LEAST, CATALOG)
    said = []
    for rows in (10**9, 0):
        with pytest.raises(job.JobError) as stopped:
            ran(spark, job, tmp_path / str(rows), rows, "--limit", "7")
        said.append(str(stopped.value))
    assert said[0] == said[1]
    assert "more than its bound M = 7" in said[0]


def test_a_result_of_all_keys_with_too_many_duplicates_stops_the_job(spark: Any, tmp_path: Path) -> None:
    """Of each key there are few enough; their sum is too much."""
    write(tmp_path / "in" / "R.jsonl", *({"a": a, "name": "n"} for a in range(3)))
    write(tmp_path / "in" / "S.jsonl", *({"a": a, "b": "x", "ts": 9} for a in range(3)))
    write(tmp_path / "in" / "T.jsonl", *({"a": a, "b": "x", "ts": now} for a in range(3) for now in range(4)))
    job = kernel(SUMS, CATALOG)
    job.MOST = 11
    for rows in (10**9, 0):
        with pytest.raises(OverflowError, match="a result at timestamp 9 has more than 11 duplicates"):
            ran(spark, job, tmp_path / str(rows), rows, "--trigger", "end")
    job.MOST = 12
    output, _, _ = ran(spark, job, tmp_path / "enough", 0)
    assert [json.loads(line)["_mult"] for line in output.splitlines()] == [12]


def test_results_as_rows(spark: Any, tmp_path: Path) -> None:
    arrived(tmp_path / "in")
    job = kernel(SUMS, CATALOG)
    driver = ran(spark, job, tmp_path / "driver", 10**9, "--multiplicity", "rows")
    keys = ran(spark, job, tmp_path / "keys", 0, "--multiplicity", "rows")
    assert in_order(keys) == in_order(driver)
    assert len(driver[0].splitlines()) > 500


def test_rows_that_are_the_same_are_counted_first(spark: Any, tmp_path: Path) -> None:
    arrived(tmp_path / "in", times=9)
    job = kernel(COUNTS, CATALOG)
    expected = ran(spark, job, tmp_path / "single", 10**9)
    job.LEAST, counted, once = 1, [], job.once
    job.Reader.pays = lambda self, arrived: False  # lines are fetched as they are
    job.once = lambda rows: (counted.append(rows.columns), once(rows))[1]
    assert in_order(ran(spark, job, tmp_path / "counted", 0)) == in_order(expected)
    assert len(counted) >= 2


def test_keys_of_many_digits(spark: Any, tmp_path: Path) -> None:
    """They travel as texts, which begin with zeros, and are kept as numbers."""
    columns = {"k": "decimal(30,2)", "v": "bigint", "ts": "bigint"}
    stream = {"timestamp": "ts", "columns": columns, "domain": {"k": [-9, 9]}}
    for place, name in enumerate("ST"):
        rows = [{"k": f"{(7 * now + place) % 17 - 8 + now % 4 / 4:.2f}", "v": now % 5, "ts": now} for now in range(90)]
        for number in range(2):
            part = rows[45 * number : 45 * number + 45]
            write(tmp_path / "in" / name / f"{number}.jsonl", *part, modified=1_600_000_000 + number)
    job = kernel("SELECT DISTINCT S.k FROM S, T WHERE S.k = T.k AND S.v < T.v", {"streams": {"S": stream, "T": stream}})
    expected = ran(spark, job, tmp_path / "driver", 10**9)
    assert ran(spark, job, tmp_path / "keys", 0) == expected
    assert len(expected[0].splitlines()) > 5
