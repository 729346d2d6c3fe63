"""A batch that fails, after others that did not, is done again: the same results."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from streambound_runtime.engine.loop import Engine
from streambound_runtime.spec import JobSpec
from support.embedded import run_here
from support.jobs import job_of, write

COLUMNS = {"a": "bigint", "b": "string", "ts": "bigint"}
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": COLUMNS, "lateness": 6, "max_per_timestamp": 4},
        "T": {"timestamp": "ts", "columns": COLUMNS, "domain": {"a": [0, 5]}},
    },
    "relations": {"R": {"columns": {"a": "bigint", "name": "string"}, "rows": 9}},
}
SQL = "SELECT S.b, R.name FROM S, T, R WHERE S.ts > T.ts AND S.a >= T.a AND T.a = R.a"


def arrived(folder: Path) -> None:
    """Three batches, of which some rows are late, too many, outside their domain or not JSON."""
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
            write(folder / name / f"{number}.jsonl", *rows, *late, modified=1_600_000_000 + number)


def ran(job: JobSpec, folder: Path) -> tuple[str, list[str], list[dict[str, Any]]]:
    reports: list[dict[str, Any]] = []
    folder.mkdir(exist_ok=True)
    run_here(job, folder, "--input", str(folder.parent / "in"), report=reports.append)
    bad = sorted((folder / "quarantine").read_text(encoding="utf-8").splitlines())
    return (folder / "output").read_text(encoding="utf-8"), bad, reports


def test_a_batch_that_fails_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrived(tmp_path / "in")
    job = job_of(SQL, CATALOG)
    whole = ran(job, tmp_path / "whole")
    step, calls = Engine.step, list[int]()

    def failing(self: Any, *given: Any) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise RuntimeError("the machine is gone")
        return step(self, *given)

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="the machine is gone"):
        patch.setattr(Engine, "step", failing)
        ran(job, tmp_path / "again")
    output, bad, reports = ran(job, tmp_path / "again")
    assert (output, bad, reports[-1]) == (*whole[:2], whole[2][-1])
    assert len(output.splitlines()) > 1 and reports[-1]["quarantined"]["not a JSON object"] == 6
    assert "more than max_per_timestamp = 4 rows" in reports[-1]["quarantined"]
