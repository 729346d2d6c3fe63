"""Where a plan's state is makes no difference to its results: on the driver, in buckets, or nowhere."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import streambound
from streambound.analyzer.errors import UsageError
from streambound_runtime.driver import Driver
from streambound_runtime.embedded import run_embedded
from streambound_runtime.errors import JobError
from streambound_runtime.placement import on_driver, state_owner
from streambound_runtime.settings import settings_of
from streambound_runtime.spec import JobSpec
from streambound_runtime.usage import checked
from support.jobs import job_of, read, run_with, write

COLUMNS = {"k": "bigint", "s": "string", "d": "decimal(30,2)", "x": "double", "v": "int", "ts": "bigint"}
CATALOG: dict[str, Any] = {
    "streams": {name: {"timestamp": "ts", "columns": COLUMNS} for name in "STU"},
    "relations": {"R": {"columns": {"k": "bigint", "name": "string"}}},
}
SOON = "A.ts < B.ts AND B.ts <= A.ts + 3"
WINDOW = "S.ts <= T.ts AND T.ts <= S.ts + 7"
JOINS = {
    "integers": f"SELECT S.k, S.s, T.v, R.name FROM S, T, R WHERE S.k = T.k AND R.k = S.k AND {WINDOW}",
    "texts and floats": f"SELECT A.s, B.v, B.d FROM S A, S B WHERE A.s = B.s AND {SOON} UNION ALL "
                        f"SELECT A.s, B.v, A.d FROM T A, T B WHERE A.x = B.x AND {SOON}",
    "decimals": f"SELECT S.d, T.d AS more, T.v FROM S, T WHERE S.d = T.d AND {WINDOW}",
    "a set": f"SELECT DISTINCT T.k, S.s FROM S, T WHERE S.k = T.k AND {WINDOW} AND S.k < 9 AND S.k > 1 AND S.s = 'a'",
    "other numbers of streams": f"SELECT A.k, B.v FROM S A, S B WHERE A.k = B.k AND {SOON} UNION ALL "
                                "SELECT S.v, U.v FROM S, T, U "
                                f"WHERE S.k = T.k AND T.k = U.k AND {WINDOW} AND U.ts = T.ts",
}  # fmt: skip
PAIRS = f"SELECT S.k, T.v FROM S, T WHERE S.k = T.k AND {WINDOW}"
FILTERS = {
    "rows": "SELECT S.k, S.s, S.d, S.v FROM S WHERE S.v > 2",
    "with a relation": "SELECT S.k, S.s, S.d, R.name FROM S, R WHERE S.k = R.k AND S.v > 2",
    "a union": "SELECT S.s, S.v FROM S WHERE S.v > 3 UNION ALL SELECT T.s, T.v FROM T WHERE T.v < 4",
}
FILES = 3


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files of each stream, in order, with broken lines and equal rows."""
    folder, dice = tmp_path_factory.mktemp("recorded"), random.Random(3)
    for name in "STU":
        for part in range(FILES):
            rows: list[Any] = [
                {
                    "k": dice.choice([*range(12), None]), "s": dice.choice("abé"), "x": dice.choice([0.0, -0.0, 2.5]),
                    "d": dice.choice([1.5, 99.25, None]), "v": dice.randrange(7), "ts": 20 * part + dice.randrange(20),
                }
                for _ in range(60)
            ]  # fmt: skip
            rows.sort(key=lambda row: row["ts"])
            write(folder / name / f"{part}.jsonl", *rows, "bad", modified=1_600_000_000 + part)
    write(folder / "R.jsonl", *({"k": k, "name": f"n{k}"} for k in range(10)), {"k": "x", "name": ""})
    return folder


def arguments(recorded: Path, folder: Path, *more: str) -> list[str]:
    folder.mkdir(exist_ok=True)
    files = [f"--{name}={folder / name}" for name in ("output", "quarantine", "checkpoint")]
    return ["--input", str(recorded), "--files-per-batch", "1", *files, *more]


def without_spark(recorded: Path, folder: Path, job: JobSpec) -> dict[str, Any]:
    """The summary of a job's run in this process; its files are as those of a run on Spark."""
    return run_embedded(job, checked(job, settings_of(job, arguments(recorded, folder))), lambda event: None)


def texts(folder: Path) -> list[str]:
    """What a run has written."""
    return [(folder / name).read_text() for name in ("output", "quarantine")]


def counts(summary: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key not in ("peak", "waited_for")}


@pytest.mark.parametrize("name", sorted({*JOINS} - {"integers"}))
def test_buckets_give_what_the_driver_gives(spark: Any, recorded: Path, tmp_path: Path, name: str) -> None:
    """The driver is this process: `test_embedded_on_spark` compares it with that of Spark.

    Keys of integers are those of batches that are tried again.
    """
    here = without_spark(recorded, tmp_path / "driver", job_of(JOINS[name], CATALOG))
    job = job_of(JOINS[name], CATALOG, "buckets")
    there = run_with(spark, job, arguments(recorded, tmp_path / "buckets"))
    assert texts(tmp_path / "buckets") == texts(tmp_path / "driver")
    assert counts(here) == counts(there)
    assert here["results"] > 5
    assert len(list((tmp_path / "buckets" / "checkpoint" / "buckets").iterdir())) == 4


def test_nothing_remembered_gives_the_same_of_rows_in_order(spark: Any, recorded: Path, tmp_path: Path) -> None:
    """Of two streams; those beside a relation are in the test of batches that are tried again."""
    here = without_spark(recorded, tmp_path / "driver", job_of(FILTERS["a union"], CATALOG))
    there = run_with(spark, job_of(FILTERS["a union"], CATALOG, "stateless"), arguments(recorded, tmp_path / "here"))
    assert texts(tmp_path / "here") == texts(tmp_path / "driver")
    assert counts(here) == counts(there)
    assert here["results"] > 50


def test_a_row_that_comes_late_is_a_result_where_nothing_is_remembered(spark: Any, tmp_path: Path) -> None:
    """It is counted: the stream has not kept its order."""
    columns = {"a": "bigint", "ts": "bigint"}
    for part, times in enumerate(([1, 5], [3, 3, 7], [9])):
        rows = ({"a": ts, "ts": ts} for ts in times)
        write(tmp_path / "in" / "S" / f"{part}.jsonl", *rows, modified=1_600_000_000 + part)
    job = job_of("SELECT S.a FROM S", {"streams": {"S": {"timestamp": "ts", "columns": columns}}}, None)
    assert job.placement.where == "stateless"
    events: list[dict[str, Any]] = []
    summary = run_with(spark, job, arguments(tmp_path / "in", tmp_path / "out"), events.append)
    assert [(row["a"], row["_mult"]) for row in read(tmp_path / "out" / "output")] == [
        (1, 1),
        (3, 2),
        (5, 1),
        (7, 1),
        (9, 1),
    ]
    assert (summary["late"], summary["quarantined"], summary["results"]) == (2, {}, 5)
    assert [event.get("late", 0) for event in events[:-1]] == [0, 2, 0]


@pytest.mark.parametrize("placement", ["buckets", "stateless"])
def test_a_batch_that_is_tried_again_repeats_nothing(
    spark: Any, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, placement: str
) -> None:
    """The job stops in its second batch: once results are made and buckets saved, and once the sink has them, too."""
    sql = JOINS["integers"] if placement == "buckets" else FILTERS["with a relation"]
    without_spark(recorded, tmp_path / "driver", job_of(sql, CATALOG))
    catalog = {**CATALOG, "sinks": {"q": {"format": "parquet", "path": "sink"}}}
    folder = tmp_path / "again"
    job, options = job_of(sql, catalog, placement), arguments(recorded, folder, "--base", str(folder))
    for name in ("hand_over", "save"):
        original = getattr(Driver, name)

        def failing(self: Driver, batch: int, *more: Any, original: Any = original) -> Any:
            if batch == 1:
                raise RuntimeError("killed")
            return original(self, batch, *more)

        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="killed"):
            patch.setattr(Driver, name, failing)
            run_with(spark, job, options)
    run_with(spark, job, options)
    assert texts(folder) == texts(tmp_path / "driver")
    sent = spark.read.parquet(str(folder / "sink")).drop("batch")
    printed = spark.read.schema(sent.schema).json(str(folder / "output"))
    rows = [sorted(map(str, frame.collect())) for frame in (sent, printed)]
    assert rows[0] == rows[1] and len(rows[0]) > 20


def test_rows_beyond_the_rate_are_the_same_wherever_rows_are_decoded(
    spark: Any, recorded: Path, tmp_path: Path
) -> None:
    contracts = {"S": {"max_per_timestamp": 4}, "T": {"max_rate": {"rows": 9, "per": 3}}}
    catalog = {**CATALOG, "streams": {name: {**CATALOG["streams"][name], **contracts[name]} for name in "ST"}}
    here = without_spark(recorded, tmp_path / "driver", job_of(JOINS["integers"], catalog))
    there = run_with(spark, job_of(JOINS["integers"], catalog, "buckets"), arguments(recorded, tmp_path / "buckets"))
    for words in ("more than max_per_timestamp = 4 rows", "more than max_rate = 9 rows per 3"):
        assert here["quarantined"][words] > 3
    assert here["quarantined"] == there["quarantined"]
    assert texts(tmp_path / "buckets") == texts(tmp_path / "driver")


def test_executors_combine_equal_rows_for_the_driver(
    spark: Any, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a cluster: what comes to the driver stands for several rows."""
    here = without_spark(recorded, tmp_path / "here", job_of(PAIRS, CATALOG))
    monkeypatch.setattr(state_owner, "is_local", lambda spark: False)
    seen: list[int] = []
    add = on_driver.OnDriver.add

    def noted(self: Any, stream: int, rows: Any) -> None:
        seen.extend(table.column(table.num_columns - 1).to_numpy().max() for table in rows)
        add(self, stream, rows)

    monkeypatch.setattr(on_driver.OnDriver, "add", noted)
    there = run_with(spark, job_of(PAIRS, CATALOG), arguments(recorded, tmp_path / "there"))
    assert texts(tmp_path / "there") == texts(tmp_path / "here")
    assert counts(there) == counts(here)
    assert max(seen) > 1


def test_a_checkpoint_in_buckets_goes_on_where_it_was_and_a_damaged_one_is_told(
    spark: Any, recorded: Path, tmp_path: Path
) -> None:
    """State on the driver and in buckets are two things: the job with the other placement refuses it."""
    sql, options = JOINS["integers"], arguments(recorded, tmp_path / "run", "--files-per-batch", "9")
    job, available = job_of(sql, CATALOG, "buckets"), [*options, "--trigger", "available"]
    run_with(spark, job, available)
    with pytest.raises(JobError, match="cannot be continued: its state is in buckets, and this job's on the driver"):
        run_with(spark, job_of(sql, CATALOG, "driver"), available)
    assert isinstance(run_with(spark, job, available)["results"], int)
    for slot in (tmp_path / "run" / "checkpoint" / "buckets" / "0003").iterdir():
        slot.write_bytes(slot.read_bytes()[:-1])
    with pytest.raises(JobError, match=r"the checkpoint is damaged: .*buckets/0003/\d+\.\w+ is missing or was changed"):
        run_with(spark, job, options)


def test_what_cannot_be_placed_so_is_refused(spark: Any) -> None:
    with pytest.raises(UsageError, match="cannot be placed in stateless: partial matches are remembered"):
        job_of(JOINS["integers"], CATALOG, "stateless")
    for sql, why in (
        (FILTERS["rows"], "no partial matches are remembered"),
        (f"SELECT S.v FROM S, T WHERE {WINDOW}", "no equality spans all streams"),
        (f"SELECT S.v FROM S, T WHERE S.k = T.k + 1 AND {WINDOW}", "no equality spans all streams"),
        (
            f"SELECT DISTINCT S.v FROM S, T WHERE S.k = T.k AND {WINDOW} AND S.v IN (1, 2)",
            "equal rows of result do not agree",
        ),
    ):
        with pytest.raises(UsageError, match=f"cannot be placed in buckets: {re.escape(why)}"):
            job_of(sql, CATALOG, "buckets")


def test_a_worker_that_cannot_read_a_file_names_it_and_says_why(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "S.jsonl.gz").write_bytes(b"no gzip")
    source = {"format": "json", "path": str(tmp_path / "in")}
    stream = {"timestamp": "ts", "columns": {"k": "bigint", "ts": "bigint"}, "source": source}
    sql = "SELECT S.k FROM S, T WHERE S.k = T.k AND S.ts < T.ts"
    job = streambound.compile(sql, {"streams": {"S": stream, "T": stream}}, placement="buckets", unbounded=True)
    with pytest.raises(JobError) as failed:
        run_with(spark, job.compiled.job, ["--checkpoint", str(tmp_path / "c"), "--output", str(tmp_path / "o")])
    why = f"{tmp_path}/in/S.jsonl.gz: BadGzipFile: Not a gzipped file (b'no')"
    assert str(failed.value) == f"Spark stopped the job: a Python worker failed: {why}"
