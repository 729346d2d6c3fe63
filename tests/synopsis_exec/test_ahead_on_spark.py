"""Batches that are folded while Spark commits them: whatever stops a job then, the next start makes them up."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from synopsis_exec.test_codegen import FIGURE2, figure2_job

from streambound.synopsis_exec.simulate import load_kernel
from support.jobs import batches, kernel, read, run, write

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

COLUMNS = {"k": "bigint", "ts": "bigint"}
SQL = "SELECT S.k FROM S, T WHERE S.k = T.k AND S.ts > T.ts"
ODD = "a b%20c+é [1].{2}*"
"""A part of a file's name that is no pattern, and not encoded."""


def failing(job: Any, batch: int, again: Callable[[], object] = lambda: None) -> None:
    """Let a batch fail before its state is saved, when Spark may have committed it."""
    save = job.Checkpoint.save

    def saved(self: Any, number: int, state: Any) -> None:
        if number == batch:
            again()
            raise RuntimeError("stopped")
        save(self, number, state)

    job.Checkpoint.save = saved


def job_of(folder: Path, source: dict[str, Any], **more: Any) -> Any:
    """A job over files of two streams, of which the second may have none."""
    options = {"maxFilesPerTrigger": "1", **source.get("options", {})}
    domain = {"k": [0, 9]}
    return kernel(
        SQL,
        {
            "streams": {
                name: {
                    "timestamp": "ts",
                    "columns": COLUMNS,
                    "domain": domain,
                    **more,
                    "source": {**source, "options": options, "path": str(folder / "in" / name)},
                }
                for name in "ST"
            }
        },
    )


def prepare(folder: Path, kind: str) -> None:
    """Four files of S and three of T, which has none in the last batch; with a row outside its domain in each."""
    import pyarrow as pa
    from pyarrow import parquet

    for name, files in (("S", 4), ("T", 3)):
        for number in range(files):
            rows = [{"k": k, "ts": 10 * number + k % 5} for k in (*range(9), 10)]
            file = folder / "in" / name / f"{ODD if kind == 'json' else 'part'} {number}.{kind}"
            if kind == "json":
                write(file, *rows)
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                parquet.write_table(pa.Table.from_pylist(rows), file)
            os.utime(file, (1_600_000_000 + number,) * 2)


def ran(spark: Any, job: Any, folder: Path, *more: str) -> tuple[list[int], dict[str, Any]]:
    """The batches that a run has reported, and its summary."""
    names = ("checkpoint", "output", "quarantine")
    options = [part for name in names for part in (f"--{name}", str(folder / name))]
    events: list[dict[str, Any]] = []
    summary: dict[str, Any] = job.run(spark, job.arguments([*options, *more]), events.append)
    return [event["batch"] for event in events if "batch" in event], summary


@pytest.mark.parametrize("batch", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_a_batch_that_was_only_begun_is_made_up(spark: Any, tmp_path: Path, kind: str, batch: int) -> None:
    prepare(tmp_path, kind)
    job = job_of(tmp_path, {"format": kind})
    (tmp_path / "whole").mkdir()
    numbers, expected = ran(spark, job, tmp_path / "whole")
    assert numbers == [0, 1, 2, 3]
    assert expected["results"] > 10
    assert sum(expected["quarantined"].values()) == 7
    failed = job_of(tmp_path, {"format": kind})
    failing(failed, batch)
    with pytest.raises(RuntimeError, match="stopped"):
        ran(spark, failed, tmp_path)
    assert (tmp_path / "checkpoint" / "spark" / "commits" / f"{batch}").exists()
    assert (tmp_path / "checkpoint" / "begun.json").exists()
    assert ran(spark, job, tmp_path) == ([0, 1, 2, 3][batch:], expected)
    assert not (tmp_path / "checkpoint" / "begun.json").exists()
    for name in ("output", "quarantine"):
        assert sorted((tmp_path / name).read_text().splitlines()) == sorted(
            (tmp_path / "whole" / name).read_text().splitlines()
        )


def test_files_that_are_gone_are_a_clear_error(spark: Any, tmp_path: Path) -> None:
    prepare(tmp_path, "json")
    job = job_of(tmp_path, {"format": "json"})
    file = tmp_path / "in" / "S" / f"{ODD} 1.json"
    text = file.read_text()
    failed = job_of(tmp_path, {"format": "json"})
    failing(failed, 1)
    with pytest.raises(RuntimeError, match="stopped"):
        ran(spark, failed, tmp_path)
    file.unlink()
    with pytest.raises(job.JobError, match="is gone, and the job was stopped before it had folded it; rest") as caught:
        ran(spark, job, tmp_path)
    assert str(file) in str(caught.value)
    assert (caught.value.kind, caught.value.status) == ("input", 3)
    file.write_text(text)
    note = tmp_path / "checkpoint" / "begun.json"
    written = note.read_text()
    note.write_text(written.replace("json", "jsno"))
    with pytest.raises(job.JobError, match=r"the checkpoint is damaged: .*/begun\.json is missing or was changed"):
        ran(spark, job, tmp_path)
    note.write_text(written)
    assert ran(spark, job, tmp_path)[0] == [1, 2, 3]


def test_files_that_a_source_removes_are_folded_before_spark_goes_on(spark: Any, tmp_path: Path) -> None:
    prepare(tmp_path, "json")
    committed = []

    def look() -> None:
        committed.append([file.name for file in (tmp_path / "checkpoint" / "spark").glob("commits/[0-9]*")])

    for clean in (None, "delete"):
        source = {"format": "json", "options": {"cleanSource": clean} if clean else {}}
        job = job_of(tmp_path, source)
        failing(job, 1, look)
        with pytest.raises(RuntimeError, match="stopped"):
            ran(spark, job, tmp_path)
        assert (tmp_path / "checkpoint" / "begun.json").exists() == (clean is None)
        (tmp_path / "checkpoint").rename(tmp_path / f"checkpoint {clean}")
    assert committed[1] == ["0"]
    job = job_of(tmp_path, {"format": "json", "options": {"cleanSource": "delete"}})
    (tmp_path / "checkpoint delete").rename(tmp_path / "checkpoint")
    assert ran(spark, job, tmp_path)[0] == [1, 2, 3]


def test_a_failure_while_nothing_more_comes_stops_the_job(spark: Any, tmp_path: Path) -> None:
    """Spark asks for no other batch, which would tell it."""
    batches(tmp_path / "in")
    job = load_kernel(figure2_job())
    failing(job, 2)
    with pytest.raises(RuntimeError, match="stopped"):
        run(spark, job, tmp_path, "--trigger", "1 second")
    assert not spark.streams.active
    summary = run(spark, load_kernel(figure2_job()), tmp_path)
    assert read(tmp_path / "output") == read(FIGURE2 / "expected.jsonl")
    assert summary["rows"] == {"S": 4, "T": 5, "U": 3}


def test_a_batch_that_broke_a_contract_is_made_up_from_what_was_corrected(spark: Any, tmp_path: Path) -> None:
    prepare(tmp_path, "json")
    job = job_of(tmp_path, {"format": "json"}, on_violation="stop")
    with pytest.raises(job.JobError, match=r"breaks its contract in .*, line 10: k is outside its domain"):
        ran(spark, job, tmp_path)
    for file in (tmp_path / "in").glob("*/*"):
        at = file.stat().st_mtime
        file.write_text(file.read_text().replace('"k": 10', '"k": 9'))
        os.utime(file, (at, at))
    numbers, summary = ran(spark, job, tmp_path)
    assert numbers == [0, 1, 2, 3]
    assert summary["rows"] == {"S": 40, "T": 30}


def test_a_state_that_is_cut_off_is_made_up(spark: Any, tmp_path: Path) -> None:
    """A checkpoint that Hadoop's file system holds has no rename; neither state nor report of batch 1 are complete."""
    prepare(tmp_path, "parquet")
    anywhere = ("--checkpoint", f"file:{tmp_path}/checkpoint")
    failed = job_of(tmp_path, {"format": "parquet"})
    state = tmp_path / "checkpoint" / "state" / "1.json"
    failing(failed, 1, lambda: state.write_text("{"))
    with pytest.raises(RuntimeError, match="stopped"):
        ran(spark, failed, tmp_path, *anywhere)
    assert ran(spark, job_of(tmp_path, {"format": "parquet"}), tmp_path, *anywhere)[0] == [1, 2, 3]


def test_each_batch_is_reported(spark: Any, tmp_path: Path) -> None:
    """Also one whose state was saved when the job was stopped."""
    prepare(tmp_path, "json")
    failed, reported = job_of(tmp_path, {"format": "json"}), list[int]()

    def report(event: dict[str, Any]) -> None:
        if event.get("batch") == 1:
            raise RuntimeError("stopped")
        reported.append(event.get("batch", -1))

    options = [part for name in ("checkpoint", "output") for part in (f"--{name}", str(tmp_path / name))]
    with pytest.raises(RuntimeError, match="stopped"):
        failed.run(spark, failed.arguments(options), report)
    assert (tmp_path / "checkpoint" / "state" / "1.json").exists()
    assert reported == [0]
    assert ran(spark, job_of(tmp_path, {"format": "json"}), tmp_path)[0] == [1, 2, 3]


def test_names_that_spark_cannot_read(spark: Any, tmp_path: Path) -> None:
    prepare(tmp_path, "json")
    for file in (tmp_path / "in").glob("*/*"):
        file.rename(file.with_name(f"2024-01-01T12:00:0{file.stem[-1]}.json"))
    failed = job_of(tmp_path, {"format": "json"})
    failing(failed, 1)
    with pytest.raises(RuntimeError, match="stopped"):
        ran(spark, failed, tmp_path)
    assert ran(spark, job_of(tmp_path, {"format": "json"}), tmp_path)[0] == [1, 2, 3]


def test_one_thread_folds_all_batches(spark: Any, tmp_path: Path) -> None:
    """Those that Spark waits for, the one that is made up, and what the end closes, too."""
    prepare(tmp_path, "json")
    threads = []
    for number in range(2):
        job = job_of(tmp_path, {"format": "json"})
        hand_over, stays_near = job.Job.hand_over, job.stays_near
        used: list[int] = []

        def handed(*given: Any, used: list[int] = used, hand_over: Any = hand_over) -> None:
            used.append(threading.get_ident())
            hand_over(*given)

        job.Job.hand_over = handed
        job.stays_near = lambda arrived, stays=stays_near, used=used: stays(arrived) and len(used) != 1
        if not number:
            failing(job, 1)
            with pytest.raises(RuntimeError, match="stopped"):
                ran(spark, job, tmp_path)
        else:
            ran(spark, job, tmp_path)
        threads.append(used)
    assert [len(set(used)) for used in threads] == [1, 1]
    assert [len(used) for used in threads] == [2, 4]
    assert threading.get_ident() not in threads[1]


def test_an_interrupted_job_does_not_wait(spark: Any, tmp_path: Path) -> None:
    ahead = job_of(tmp_path, {"format": "json"}).Ahead(spark)
    goes_on = threading.Event()
    with pytest.raises(KeyboardInterrupt), ahead:
        ahead.begin(goes_on.wait)
        raise KeyboardInterrupt
    assert not ahead.begun.done()
    goes_on.set()
    assert ahead.begun.result()
