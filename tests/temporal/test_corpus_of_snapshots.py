"""The 150 public snapshot cases through the runtime of `run`: results and quarantined rows, exactly."""

from __future__ import annotations

import json
import re
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
from support.profiles import MORE
from support.temporal_cases import SNAPSHOTS, catalog_of, differences, record

ON_SPARK = {"s101-005", "s101-007", "s101-011", "s101-020", "s101-021", "s101-031", "s101-035", "s101-067"}
"""Cases that have all operators between them; all run without Spark, and `MORE` takes every one on it, too.

`tests/cases_by_command.py` runs every case, and random statements are compared with what DuckDB says of each point.
"""


def compiled(case: dict[str, Any]) -> Any:
    catalog = catalog_from_mapping(catalog_of(case))
    (checked,) = check_source(SourceText("q.sql", case["sql"]), catalog)
    assert (checked.verdict, checked.diagnostics) == (Verdict.BOUNDED, ())
    return compiled_of(catalog, checked)


def test_there_are_150_cases() -> None:
    assert len(SNAPSHOTS) == len({case["id"] for case in SNAPSHOTS}) == 150


@pytest.mark.parametrize("case", SNAPSHOTS, ids=lambda case: case["id"])
def test_columns_and_plan(case: dict[str, Any]) -> None:
    from streambound_runtime.job import NAMES
    from streambound_runtime.sql_parts import in_sql

    found = compiled(case)
    assert [*found.job.blocks[0].columns] == case["output"]
    assert read(printed(found.job, short=in_sql), NAMES.values()) == found.job


def of_plan(case: dict[str, Any]) -> set[str]:
    """The operators of a case, joins and aggregates by their kinds, its type of time and reasons for quarantine."""
    operators = re.findall(
        r"Slice(?!Relation)[A-Z]\w+\(\s*(?:'[a-z ]+')?|(?:always|common|distinct)=True", printed(compiled(case).job)
    )
    return {"".join(one.split()) for one in operators} | {case["time"]} | {bad["reason"] for bad in case["quarantined"]}


def test_the_cases_on_spark_have_whatever_any_has() -> None:
    every = {case["id"]: of_plan(case) for case in SNAPSHOTS}
    assert set().union(*every.values()) == set().union(*(every[name] for name in ON_SPARK))
    assert len(set().union(*every.values())) > 25


@pytest.mark.parametrize("case", SNAPSHOTS, ids=lambda case: case["id"])
def test_result_and_quarantine_without_spark(case: dict[str, Any], tmp_path: Path) -> None:
    record(case, tmp_path / "in")
    files = tmp_path / "out.jsonl", tmp_path / "bad.jsonl"
    summary = run_query(compiled(case), tmp_path / "in", *files, engine="embedded")
    rows, bad = ([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files)
    assert differences(case, rows, bad) == []
    assert (summary.results, summary.limit) == (len(rows), None)
    keys = [(row["_begin"], row["_end"]) for row in rows]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    "case", [case for case in SNAPSHOTS if MORE > 1 or case["id"] in ON_SPARK], ids=lambda case: case["id"]
)
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
