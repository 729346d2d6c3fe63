"""`streambound memory` without Spark, end to end: a job that keeps to its bound, and jobs that do not and say so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streambound import cli
from streambound.synopsis_exec import job_file
from streambound.synopsis_exec.job_file import CompiledJob, compiled
from streambound.synopsis_exec.plan_ir import Plan
from support.figure import FIGURE, FIGURE_CATALOG, toml
from support.plans import plan_of


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(toml(FIGURE_CATALOG))
    (tmp_path / "figure.sql").write_text(FIGURE)
    return tmp_path


def _memory(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, ["memory", "figure.sql", "--random", *arguments])


def test_a_job_that_keeps_to_its_bound(place: Path) -> None:
    result = _memory("--tuples", "900", "--batches", "3", "--format", "json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["constant"] and report["stopped"] == "" and report["quarantined"] == 0
    assert (report["limit"], report["peak"], sum(report["rows"].values())) == (5, 5, 900)
    assert [sample["tuples"] for sample in report["samples"]] == [300, 600, 900]
    assert all(20 < sample["bytes"] <= report["limit_bytes"] < 500 for sample in report["samples"])
    assert all(sample["python"] > 2**20 and sample["heap"] == sample["java"] == 0 for sample in report["samples"])
    assert report["native"] is None


def test_the_table_has_no_columns_of_java(place: Path) -> None:
    result = _memory("--tuples", "200", "--batches", "2")
    assert result.exit_code == 0, result.output
    assert ["tuples", "entries", "bytes", "python", "MiB", "seconds"] in map(str.split, result.output.splitlines())


@pytest.mark.parametrize("wrong", ["its limit is lower", "it keeps more than it should"])
def test_a_job_with_more_entries_than_its_bound(place: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    def lower(plan: Plan) -> CompiledJob:
        job = compiled(plan).job
        return CompiledJob(plan, replace(job, plan=replace(job.plan, bound=3)))

    wider = compiled(plan_of(FIGURE.replace("T.B < 5", "T.B < 7"), FIGURE_CATALOG)).job
    other = lower if wrong.endswith("lower") else lambda plan: CompiledJob(plan, wider)
    monkeypatch.setattr(job_file, "compiled", other)
    result = _memory("--tuples", "300", "--batches", "2")
    assert result.exit_code == 1, result.output
    said = {
        "its limit is lower": "NOT CONSTANT: the job was stopped: the synopsis has 5 entries at timestamp ",
        "it keeps more than it should": "NOT CONSTANT: 7 entries, more than M = 5",
    }
    assert said[wrong] in result.output.replace("\n", " ")
