"""Jobs without Spark: every public case that can, files in batches, and crashes at every write."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from test_circuit_corpus import CASES

import streambound
from streambound_runtime import embedded
from streambound_runtime.checkpoint import store
from streambound_runtime.checkpoint.owner import opened, sealed
from streambound_runtime.errors import JobError
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, SourceSpec
from support.corpus import ANSWERED
from support.embedded import CATALOG, FILTER, JOIN, counted, run_here, streams, write_input
from support.jobs import batches, figure2, job_of, read, write

BOUNDED = [case for case in (*ANSWERED[::12], *CASES[::5]) if case["verdict"] == "bounded"]
"""Few: `test_corpus` and `test_engine` run the operators of each."""


@pytest.mark.parametrize("case", BOUNDED, ids=lambda case: case["name"])
def test_public_cases_print_the_output_without_spark(case: dict[str, Any], tmp_path: Path) -> None:
    mode = "-- streambound: emit final\n" if case.get("mode") == "final" else ""
    job = streambound.compile(mode + case["sql"], case["catalog"], tick="timestamp").compiled.job
    write_input(job, tmp_path, case["input"])
    assert embedded.needs_spark(job, Settings(input=str(tmp_path / "in"))) is None
    summary = run_here(job, tmp_path)
    assert counted(read(tmp_path / "output")) == counted(case["expected"])
    assert summary["limit"] is None or summary["peak"] <= summary["limit"]


@pytest.mark.parametrize("sql", [JOIN, FILTER, "SELECT DISTINCT a FROM S", "SELECT a, COUNT(*) AS n FROM S GROUP BY a"])
def test_batches_make_no_difference(sql: str, tmp_path: Path) -> None:
    job = job_of_any(sql)
    found = []
    for name, more in (("one", ("--files-per-batch", "9")), ("several", ())):
        streams(tmp_path / name, late=False)  # which rows are late depends on the batches
        events = list[dict[str, Any]]()
        run_here(job, tmp_path / name, *more, report=events.append)
        assert sum("batch" in event for event in events) == (1 if more else 3)
        found.append(counted([{**row, "_ts": 0} for row in read(tmp_path / name / "output")]))
    assert found[0] == found[1]
    assert found[0]


def job_of_any(sql: str) -> JobSpec:
    return streambound.compile(sql, CATALOG).compiled.job


def test_results_of_a_stateless_job_are_in_order_of_time_and_added_up(tmp_path: Path) -> None:
    write(tmp_path / "in" / "S" / "0.jsonl", {"a": 5, "b": "x", "ts": 9}, {"a": 4, "b": None, "ts": 3}, modified=1e9)
    rows = [{"a": 4, "b": "y", "ts": 3}, {"a": 4, "b": None, "ts": 3}, {"a": 1, "b": "y", "ts": 3}]
    write(tmp_path / "in" / "S" / "1.jsonl", *rows, modified=1e9 + 1)
    job = job_of_any(FILTER)
    assert job.placement.where == "stateless"
    assert run_here(job, tmp_path)["late"] == 2
    lines = [(row["_ts"], row["a"], row["b"], row["_mult"]) for row in read(tmp_path / "output")]
    assert lines == [(3, 4, None, 2), (3, 4, "y", 1), (9, 5, "x", 1)]


def test_a_relation_without_rows_has_no_partners(tmp_path: Path) -> None:
    """Though the results of none have texts."""
    catalog = {**CATALOG, "relations": {"R": {"columns": {"a": "bigint", "c": "string"}}}}
    job = streambound.compile("SELECT S.a, S.b, R.c FROM S JOIN R ON R.a = S.a", catalog).compiled.job
    write_input(job, tmp_path, {"S": [{"a": 5, "b": "x", "ts": 9}]})
    assert run_here(job, tmp_path)["results"] == 0


# --- crashes ---------------------------------------------------------------------------------------------------------


def written(folder: Path) -> list[str]:
    """What a run has written, wherever its input was."""
    return [(folder / name).read_text().replace(str(folder), "") for name in ("output", "quarantine")]


class Crash(BaseException):
    """What a run that is killed does not catch."""


@contextmanager
def crashing(patch: pytest.MonkeyPatch, fatal: int, done: bool) -> Iterator[None]:
    """Crash at a write of the checkpoint: before the file takes its place, or right after."""
    original, writes = store.replaced, [0]

    @contextmanager
    def replaced(path: Path, *guards: Any) -> Iterator[BinaryIO]:
        writes[0] += 1
        mine = writes[0]
        with original(path, *guards) as file:
            yield file
            if mine == fatal and not done:
                raise Crash
        if mine == fatal:
            raise Crash

    with patch.context() as patched:
        patched.setattr(store, "replaced", replaced)
        yield


@pytest.mark.parametrize(("sql", "after"), [(JOIN, 0), (FILTER, 1), ("SELECT a, COUNT(*) AS n FROM S GROUP BY a", 1)])
def test_a_crash_at_any_write_loses_and_repeats_nothing(
    sql: str, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In turn before a file takes its place, and right after."""
    job = job_of_any(sql)
    streams(tmp_path / "whole")
    whole = run_here(job, tmp_path / "whole")
    assert whole["results"] > 10
    crashes = 0
    for fatal in range(1, 100):
        folder = tmp_path / str(fatal)
        streams(folder)
        try:
            with crashing(monkeypatch, fatal, done=fatal % 2 == after):
                run_here(job, folder)
            break
        except Crash:
            crashes += 1
        summary = run_here(job, folder)
        assert written(folder) == written(tmp_path / "whole"), fatal
        assert summary == whole
    assert crashes > 10


KILLED = """
import json, os, signal, sys
from pathlib import Path
from streambound_runtime.checkpoint.checkpoint import Checkpoint
from support.embedded import run_here
import streambound
from support.embedded import JOIN

save = Checkpoint.save
def killed(self, batch, *state):
    save(self, batch, *state)
    if batch == 1:
        os.kill(os.getpid(), signal.SIGKILL)
Checkpoint.save = killed
run_here(streambound.compile(JOIN, json.loads(sys.argv[2])).compiled.job, Path(sys.argv[1]))
"""


@pytest.mark.parametrize("promise", [{}, {"unique": ["a"], "within": 12}], ids=["", "keys that come once"])
def test_a_process_that_is_killed_goes_on_where_it_stopped(tmp_path: Path, promise: dict[str, Any]) -> None:
    streams(tmp_path / "whole")
    streams(tmp_path / "killed")
    catalog = {"streams": {name: body | promise for name, body in CATALOG["streams"].items()}}
    job = streambound.compile(JOIN, catalog).compiled.job
    whole = run_here(job, tmp_path / "whole")
    assert any("comes once" in reason for reason in whole["quarantined"]) is bool(promise)
    path = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", KILLED, str(tmp_path / "killed"), json.dumps(catalog)]
    assert subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": path}).returncode == -9
    events = list[dict[str, Any]]()
    assert run_here(job, tmp_path / "killed", report=events.append) == whole
    assert [event["batch"] for event in events if "batch" in event] == [2]
    assert written(tmp_path / "killed") == written(tmp_path / "whole")


def test_a_run_goes_on_with_files_that_have_come_since(tmp_path: Path) -> None:
    batches(tmp_path / "whole" / "in")
    batches(tmp_path / "parts" / "in")
    job = figure2().job
    later = {}
    for file in sorted((tmp_path / "parts" / "in").glob("*/part-2.jsonl")):
        later[file] = file.read_text(), file.stat().st_mtime
        file.unlink()
    run_here(job, tmp_path / "parts", "--trigger", "available")
    for file, (text, modified) in later.items():
        file.write_text(text)
        os.utime(file, (modified, modified))
    assert run_here(job, tmp_path / "parts") == run_here(job, tmp_path / "whole")
    assert written(tmp_path / "parts") == written(tmp_path / "whole")


def test_a_damaged_state_is_made_again_from_the_files_of_its_batch(tmp_path: Path) -> None:
    streams(tmp_path)
    job = job_of_any(JOIN)
    first = run_here(job, tmp_path)
    (tmp_path / "checkpoint" / "state" / "0").write_bytes(b"broken")
    assert run_here(job, tmp_path) == first


def test_a_checkpoint_of_spark_is_no_one_elses(tmp_path: Path) -> None:
    streams(tmp_path)
    job = job_of_any(JOIN)
    run_here(job, tmp_path)
    owner = tmp_path / "checkpoint" / "job.json"
    said = opened(owner.read_bytes())
    assert said is not None and said["engine"] == "embedded"
    owner.write_bytes(sealed({**said, "engine": "spark"}))
    with pytest.raises(JobError, match="the job ran on Spark, and now runs without Spark; run it with --engine spark"):
        run_here(job, tmp_path)


# --- what needs Spark ------------------------------------------------------------------------------------------------


def with_source(job: JobSpec, source: SourceSpec) -> JobSpec:
    return replace(job, streams=tuple(replace(stream, source=source) for stream in job.streams))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (SourceSpec("csv", "in"), "S is read from csv"),
        (SourceSpec("kafka", options=(("subscribe", "s"),)), "S is read from kafka"),
        (SourceSpec("json", "in", (("multiLine", "true"),), "value"), "with the options multiLine"),
        (SourceSpec("json", "in", (("pathGlobFilter", "*.log"),), "value"), "the option pathGlobFilter of S"),
        (SourceSpec("json", "s3a://b/in", payload="value"), "S is read from s3a://b/in"),
        (SourceSpec("json", "in/*.jsonl", payload="value"), "S is read from "),
        (SourceSpec("json", "days", payload="value"), "directories in .* say values"),
        (SourceSpec("json", "in", payload="value"), None),
        (SourceSpec("parquet", "in"), None),
    ],
)
def test_sources_that_need_spark_are_told(source: SourceSpec, words: str | None, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "days" / "day=1").mkdir(parents=True)
    found = embedded.needs_spark(with_source(job_of(FILTER, CATALOG), source), Settings(base=str(tmp_path)))
    if words is None:
        assert found is None
    else:
        assert found is not None
        assert re.search(words, found), found
