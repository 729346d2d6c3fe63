"""The 80 public temporal-probabilistic cases through the runtime of `run`: rows, lineages, quarantine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict
from streambound.jobs import compiled_of
from streambound.synopsis_exec.runner import run_query
from streambound_runtime.text import printed, read
from support.temporal_cases import LINEAGES, catalog_of, differences, record, sample


def compiled(case: dict[str, Any]) -> Any:
    catalog = catalog_from_mapping(catalog_of(case))
    (checked,) = check_source(SourceText("q.sql", case["sql"]), catalog)
    assert (checked.verdict, checked.diagnostics) == (Verdict.BOUNDED, ())
    assert checked.blocks is not None
    assert checked.blocks.projection == "tp"
    return compiled_of(catalog, checked)


def test_there_are_80_cases() -> None:
    assert len(LINEAGES) == len({case["id"] for case in LINEAGES}) == 80


@pytest.mark.parametrize("case", LINEAGES, ids=lambda case: case["id"])
def test_columns_and_plan(case: dict[str, Any]) -> None:
    from streambound_runtime.job import NAMES
    from streambound_runtime.sql_parts import in_sql

    found = compiled(case)
    assert [*found.job.blocks[0].columns] == case["output"]
    assert read(printed(found.job, short=in_sql), NAMES.values()) == found.job


def test_result_and_quarantine_without_spark(tmp_path: Path) -> None:
    """Joins of base rows that show all columns; others say that they need Spark."""
    found = [(case, compiled(case)) for case in LINEAGES]
    base = [(case, job) for case, job in found if not isinstance(job.in_process, str)]
    assert len(base) == 80
    for case, job in base:
        folder = tmp_path / case["id"]
        record(case, folder / "in")
        files = folder / "out.jsonl", folder / "bad.jsonl"
        summary = run_query(job, folder / "in", *files, engine="embedded")
        rows, bad = ([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files)
        assert differences(case, rows, bad) == [], case["id"]
        assert summary.results == len(rows)
        keys = [(row["_begin"], row["_end"]) for row in rows]
        assert keys == sorted(keys)


@pytest.mark.parametrize("case", sample(LINEAGES), ids=lambda case: case["id"])
def test_result_and_quarantine(case: dict[str, Any], spark: Any, tmp_path: Path) -> None:
    from streambound_runtime.periods.main import run, settings_of

    record(case, tmp_path / "in")
    job, files = compiled(case).job, (tmp_path / "out.jsonl", tmp_path / "bad.jsonl")
    arguments = ["--input", str(tmp_path / "in"), "--output", str(files[0]), "--quarantine", str(files[1])]
    summary = run(spark, job, settings_of(job, arguments))
    rows, bad = ([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files)
    assert all([*row][-4:] == ["_begin", "_end", "_lineage", "_p"] for row in rows)
    assert differences(case, rows, bad) == []
    assert summary["results"] == len(rows)
