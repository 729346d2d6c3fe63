"""Jobs over several micro-batches on Spark: what each closes, restarts, and checkpoints that do not fit."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streambound_runtime.driver import Driver
from streambound_runtime.errors import JobError
from support.jobs import FIGURE2, batches, figure2, read, run


def test_batches_close_what_every_stream_has_passed(spark: Any, tmp_path: Path) -> None:
    batches(tmp_path / "in")
    events: list[dict[str, Any]] = []
    summary = run(spark, figure2().job, tmp_path, report=events.append)
    assert read(tmp_path / "output") == read(FIGURE2 / "expected.jsonl")
    assert [event["closed"] for event in events[:-1]] == [0, 2, 3]  # timestamps 0 and 1 of S and 0 of T join nothing
    assert [event["rows"] for event in events[:-1]] == [4, 4, 4]
    assert events[-1] == summary
    assert read(tmp_path / "quarantine") == [
        {
            "stream": "S",
            "reason": "late",
            "detail": "late: its timestamp is closed already",
            "file": str(tmp_path / "in" / "S" / "part-2.jsonl"),
            "line": 2,
            "batch": 2,
            "row": '{"A": 42, "I": 1}',
        }
    ]


def test_a_restart_repeats_nothing_and_loses_nothing(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a batch that Spark has not committed, whose state is saved; `test_placements_on_spark` stops earlier."""
    batches(tmp_path / "in")
    expected = read(FIGURE2 / "expected.jsonl")
    job, save = figure2().job, Driver.save

    def fail_in_second_batch(self: Driver, batch: int) -> None:
        save(self, batch)
        if batch == 1:
            raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(Driver, "save", fail_in_second_batch)
        with pytest.raises(RuntimeError, match="killed"):
            run(spark, job, tmp_path)
    events: list[dict[str, Any]] = []
    summary = run(spark, job, tmp_path, report=events.append)
    assert [event["batch"] for event in events[:-1]] == [1, 2]
    assert read(tmp_path / "output") == expected
    assert summary["rows"] == {"S": 4, "T": 5, "U": 3}
    assert len(read(tmp_path / "quarantine")) == 1
    again = run(spark, job, tmp_path)
    assert again == summary
    assert read(tmp_path / "output") == expected


def test_a_damaged_checkpoint_is_a_clear_error(spark: Any, tmp_path: Path) -> None:
    """Nothing runs where Spark's part is cut, changed or missing; `test_checkpoint` damages the job's own."""
    batches(tmp_path / "in")
    job = figure2().job
    run(spark, job, tmp_path)
    damages: list[tuple[str, Callable[[Path], object]]] = [
        ("spark/commits", shutil.rmtree),
        ("spark/offsets/2", lambda file: file.write_text(file.read_text()[:-5])),
        ("spark/sources/1/0", lambda file: file.write_bytes(b"\xff")),
    ]
    for number, (file, damage) in enumerate(damages):
        checkpoint = shutil.copytree(tmp_path / "checkpoint", tmp_path / f"copy {number}")
        damage(checkpoint / file)
        with pytest.raises(JobError, match=f"the checkpoint is damaged: .*{file} is missing or was") as caught:
            run(spark, job, tmp_path, "--checkpoint", str(checkpoint), "--output", str(tmp_path / "never"))
        assert (caught.value.kind, caught.value.status) == ("state", 3)
    assert not (tmp_path / "never").exists()
    for file in ("commits/2", "metadata"):  # Spark repeats the one, and nothing depends on the other
        (tmp_path / "checkpoint" / "spark" / file).write_text("")
    run(spark, job, tmp_path)
    assert read(tmp_path / "output") == read(FIGURE2 / "expected.jsonl")
    assert b'"peak": 4' in (tmp_path / "checkpoint" / "state" / "0").read_bytes()
