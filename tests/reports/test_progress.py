"""What a run prints of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.endpoints import Sink, Target
from streambound.reports.progress import run_summary_lines
from streambound.synopsis_exec.runner import RunSummary

KAFKA = Target("kafka", options=(("kafka.bootstrap.servers", "k:9092"), ("topic", "late")))
FILES = Target("json", "bad")


def summary(output: str | None, quarantine: str | None, checkpoint: str | None = None) -> RunSummary:
    files: Any = [path and Path(path) for path in (output, quarantine, checkpoint)]
    return RunSummary("q", {"S": 4}, {"a is missing": 2}, 3, 1, 5, files[0], files[1], checkpoint=files[2])


@pytest.mark.parametrize(
    ("found", "sink", "results", "bad"),
    [
        (summary("out", "bad.jsonl"), None, "out", "bad.jsonl"),
        (summary(None, None), Sink("q", KAFKA, "", FILES), "the catalog's sink (kafka late)",
         "the catalog's sink (json bad)"),
        (summary("out", "bad.jsonl"), Sink("q", None, "m:f"), "out and the catalog's sink (m:f)", "bad.jsonl"),
        (summary(None, None, "state"), Sink("q", None, "m:f"), "the catalog's sink (m:f)", "state/quarantine"),
        (summary(None, None), Sink("q", KAFKA), "the catalog's sink (kafka late)",
         "no file: --quarantine FILE keeps them"),
    ],
)  # fmt: skip
def test_a_summary_says_where_results_and_bad_rows_went(
    found: RunSummary, sink: Sink | None, results: str, bad: str
) -> None:
    lines = list(run_summary_lines(found, sink))
    assert f"results: 3 in {results}" in lines
    assert f"quarantined: 2 rows (a is missing 2) in {bad}" in lines
