"""What a run refuses before Spark starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import streambound
from streambound_runtime.errors import JobError
from streambound_runtime.settings import settings_of
from streambound_runtime.usage import checked

CATALOG = {
    "streams": {
        "S": {
            "timestamp": "ts",
            "columns": {"ts": "bigint", "k": "bigint"},
            "max_per_timestamp": 3,
            "domain": {"k": {"low": 0, "high": 9}},
        }
    }
}


@pytest.mark.parametrize(
    ("sql", "refused"),
    [
        ("SELECT k, COUNT(*) AS n FROM S GROUP BY k", True),
        ("SELECT k FROM S UNION SELECT k + 1 AS k FROM S", False),
        ("SELECT k FROM S", False),
        ("SELECT a.k FROM S a LEFT JOIN S b ON b.k = a.k AND b.ts BETWEEN a.ts AND a.ts + 5", True),
        ("SELECT a.k FROM S a LEFT JOIN S b ON b.k = a.k AND b.ts BETWEEN a.ts - 5 AND a.ts", False),
        ("SELECT b.k FROM S a RIGHT JOIN S b ON b.k = a.k AND b.ts BETWEEN a.ts + 1 AND a.ts + 5", False),
        ("SELECT a.k FROM S a FULL JOIN S b ON b.k = a.k AND b.ts BETWEEN a.ts - 5 AND a.ts - 1", True),
        (
            "SELECT k FROM S a WHERE NOT EXISTS (SELECT 1 FROM S b WHERE b.k = a.k AND b.ts BETWEEN a.ts AND a.ts + 5)",
            True,
        ),
    ],
)
def test_lines_without_multiplicities_are_refused_where_results_are_taken_back(
    sql: str, refused: bool, tmp_path: Path
) -> None:
    job = streambound.compile(sql, CATALOG).compiled.job
    (tmp_path / "S.jsonl").write_text("")
    settings = settings_of(job, ["--input", str(tmp_path), "--output", str(tmp_path / "out.jsonl")])
    checked(job, settings)
    lines = replace(settings, multiplicity="rows")
    if refused:
        with pytest.raises(JobError, match="takes results back"):
            checked(job, lines)
    else:
        checked(job, lines)
