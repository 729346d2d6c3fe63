"""The 150 public snapshot cases through the runtime of `run`: results and quarantined rows, exactly."""

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
from streambound_runtime.text import printed, read
from support.temporal_cases import SNAPSHOTS, catalog_of, differences, record, sample


def compiled(case: dict[str, Any]) -> Any:
    catalog = catalog_from_mapping(catalog_of(case))
    (checked,) = check_source(SourceText("q.sql", case["sql"]), catalog)
    assert (checked.verdict, checked.diagnostics) == (Verdict.BOUNDED, ())
    return compiled_of(catalog, checked)


def test_there_are_150_cases() -> None:
    assert len(SNAPSHOTS) == len({case["id"] for case in SNAPSHOTS}) == 150


@pytest.mark.parametrize("case", SNAPSHOTS, ids=lambda case: case["id"])
def test_columns_and_plan(case: dict[str, Any]) -> None:
    from streambound.synopsis_exec import period_job

    found = compiled(case)
    assert [*found.job.blocks[0].columns] == case["output"]
    classes = [vars(period_job.MODULES[module])[name] for name, module in period_job.CLASSES.items()]
    assert read(printed(found.job), classes) == found.job


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("case", sample(SNAPSHOTS), ids=lambda case: case["id"])
def test_result_and_quarantine(case: dict[str, Any], spark: Any, tmp_path: Path) -> None:
    from streambound_runtime.periods.main import run, settings_of

    record(case, tmp_path / "in")
    job, files = compiled(case).job, (tmp_path / "out.jsonl", tmp_path / "bad.jsonl")
    arguments = ["--input", str(tmp_path / "in"), "--output", str(files[0]), "--quarantine", str(files[1])]
    summary = run(spark, job, settings_of(job, arguments))
    rows, bad = ([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files)
    assert differences(case, rows, bad) == []
    assert summary["results"] == len(rows)
    keys = [(row["_begin"], row["_end"]) for row in rows]
    assert keys == sorted(keys)
