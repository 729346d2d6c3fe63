"""What the demo prints and keeps, with a stand-in for the runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from streambound.synopsis_exec import runner
from streambound.synopsis_exec.job_file import CompiledJob, job_in
from support.command_line import call


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(
        compiled: CompiledJob, folder: Path, output: Path, quarantine: Path, *more: Any, **options: Any
    ) -> runner.RunSummary:
        runner.check_input(compiled.job, folder)
        output.write_text('{"A":1}\n')
        return runner.RunSummary(compiled.job.name, {"S": 2}, {}, 1, 1, 5, output, quarantine)

    monkeypatch.setattr(runner, "run_query", run)


def test_what_the_demo_names_is_there(tmp_path: Path) -> None:
    result = call("demo", "--keep", str(tmp_path / "kept"), "--days", "1")
    assert result.exit_code == 0, result.output
    jobs = re.findall(r"^compiled to (\S+) \([\d,]+ lines\)", result.output, re.M)
    assert jobs == [f"{name}_job/job.py" for name in ("figure2", "fog_before_departure", "late_tally_at_fog")]
    for job, results in zip(jobs, re.findall(r"^results: 1 in (.+)$", result.output, re.M), strict=True):
        found = job_in((tmp_path / "kept" / job).read_text())
        assert found is not None and Path(results) == tmp_path / "kept" / f"{found.name}.jsonl"
        assert Path(results).is_file()
    assert "the same job on Spark: the same results" in result.output
    assert f"inputs, jobs and results are in {tmp_path / 'kept'}" in result.output


def test_the_demo_says_how_to_keep_what_is_gone_when_it_ends() -> None:
    result = call("demo", "--days", "1")
    assert result.exit_code == 0, result.output
    assert "temporary: streambound demo --keep DIR keeps them" in result.output
    assert not any(Path(results).exists() for results in re.findall(r"^results: 1 in (.+)$", result.output, re.M))
