"""How a job keeps its bad rows: up to a limit, over batches and restarts, without files for batches that have none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streambound_runtime.errors import JobError
from streambound_runtime.promises import QuarantineLimit
from streambound_runtime.spec import JobSpec
from support.fed import Fed
from support.jobs import job_of

GOOD = '{"a": 1, "ts": %d}'


def limited(most: int, stops: bool = False, **more: Any) -> JobSpec:
    stream = {"timestamp": "ts", "columns": {"a": "int", "ts": "bigint"}, **more}
    relation = {"columns": {"a": "int"}}
    job = job_of("SELECT S.a FROM S, R WHERE S.a = R.a", {"streams": {"S": stream}, "relations": {"R": relation}})
    return replace(job, quarantine_limit=QuarantineLimit(most, stops))


def kept(fed: Fed) -> list[Any]:
    """Of the rows in the quarantine the batch and the text; those of a relation have no batch."""
    fed.driver.finish()
    lines = (fed.folder / "bad.jsonl").read_text(encoding="utf-8").splitlines()
    return [(row.get("batch"), row["row"]) for row in map(json.loads, lines)]


def files(fed: Fed) -> list[str]:
    return sorted(file.name for file in (fed.folder / "state" / "quarantine").glob("*"))


def test_the_first_bad_rows_are_kept_over_batches_and_restarts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fed = Fed(limited(4), tmp_path, {"R": ["no row", {"a": 1}]})
    fed.feed({"S": [GOOD % 1]}, 0)
    fed.feed({"S": [GOOD % 2]}, 1)
    fed.start()
    fed.feed({"S": ["x", GOOD % 3, "y"]}, 2)
    fed.feed({"S": ["x", GOOD % 3, "y"]}, 2)
    assert "quarantine.max" not in capsys.readouterr().err
    fed.feed({"S": ["z", GOOD % 4, GOOD % 1, "["]}, 3)
    assert files(fed) == ["000000000.jsonl", "000000002.jsonl", "000000003.jsonl"], "none without rows"
    assert (
        capsys.readouterr().err == "note: more rows than quarantine.max = 4 cannot be used: others are only counted\n"
    )
    fed.start()
    fed.feed({"S": ["{", GOOD % 5]}, 4)
    assert capsys.readouterr().err == "", "a note is written once"
    assert kept(fed) == [(None, '"no row"'), (2, "x"), (2, "y"), (3, "z")]
    assert files(fed)[3:] == []
    summary = fed.driver.finish()
    late = "late: its timestamp is closed already"
    assert summary["quarantined"] == {late: 1, "not a JSON object": 6} and summary["only_counted"] == 3


def test_too_many_bad_rows_stop_the_job_before_its_state_is_saved(tmp_path: Path) -> None:
    fed = Fed(limited(2, stops=True), tmp_path, {"R": [{"a": 1}]})
    fed.feed({"S": ["x", GOOD % 1, "y"]}, 0)
    with pytest.raises(JobError, match=r"3 rows cannot be used, .*quarantine\.max = 2 \(not a JSON object 3\)"):
        fed.feed({"S": ["z"]}, 1)
    assert fed.driver.batch == 0
    fed.start()
    fed.feed({"S": [GOOD % 2]}, 1)
    assert kept(fed) == [(0, "x"), (0, "y")]


def test_bad_rows_of_relations_count(tmp_path: Path) -> None:
    with pytest.raises(JobError, match=r"quarantine\.max = 1"):
        Fed(limited(1, stops=True), tmp_path, {"R": ["x", "y"]})


def test_rows_that_are_too_many_at_a_time_count(tmp_path: Path) -> None:
    fed = Fed(limited(2, max_per_timestamp=1), tmp_path, {"R": [{"a": 1}]})
    fed.feed({"S": [GOOD % 1] * 9}, 0)
    assert [batch for batch, _ in kept(fed)] == [0, 0]
    assert sum(fed.driver.rejected.values()) == 8
