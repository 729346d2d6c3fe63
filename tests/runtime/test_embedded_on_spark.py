"""The same jobs without Spark and on it: the same results, quarantine and figures, batch by batch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import streambound
from streambound_runtime.spec import JobSpec
from support.embedded import CATALOG, FILTER, JOIN, counted, run_here, streams
from support.jobs import batches, figure2, read, run

LATE = {**CATALOG["streams"]["S"], "lateness": 5, "max_rate": {"rows": 9, "per": 4}}
STATEMENTS = {
    "a join": (JOIN, CATALOG),
    "a filter": (FILTER, CATALOG),
    "a set": ("SELECT DISTINCT a FROM S", CATALOG),
    "groups": ("SELECT a, COUNT(*) AS n, MAX(ts) AS last FROM S GROUP BY a", CATALOG),
    "rows that may be late, and too many": (JOIN, {"streams": {"S": LATE, "T": LATE}}),
}


def jobs() -> dict[str, JobSpec]:
    found = {name: streambound.compile(*statement).compiled.job for name, statement in STATEMENTS.items()}
    return {**found, "the paper's example": figure2().job}


@pytest.mark.parametrize("name", [*STATEMENTS, "the paper's example"])
def test_both_engines_give_the_same(spark: Any, name: str, tmp_path: Path) -> None:
    job, found = jobs()[name], []
    for engine in ("spark", "embedded"):
        folder, events = tmp_path / engine, list[dict[str, Any]]()
        (batches if name == "the paper's example" else lambda where: streams(where.parent))(folder / "in")
        if engine == "spark":
            summary = run(spark, job, folder, report=events.append)
        else:
            summary = run_here(job, folder, report=events.append)
        bad = [json.dumps(row).replace(str(folder), "") for row in read(folder / "quarantine")]
        figures = [{key: event[key] for key in event if key != "bytes"} for event in events if "batch" in event]
        found.append((counted(read(folder / "output")), sorted(bad), figures, summary))
    assert found[0] == found[1]
    assert found[0][0]
