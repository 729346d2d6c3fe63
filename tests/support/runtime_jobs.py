"""Jobs that the runtime runs: of one statement, of the paper's example, and a run on Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from streambound.analyzer.catalog import catalog_from_mapping, load_catalog
from streambound.analyzer.lower import lower
from streambound.analyzer.sql_files import read_sql
from streambound.analyzer.statements import split_statements
from streambound.criteria.verdict import decide
from streambound.synopsis_exec.job_file import CompiledJob, compiled
from streambound.synopsis_exec.plan import make_plan
from streambound_runtime import main
from streambound_runtime.settings import settings_of
from streambound_runtime.spec import Job
from streambound_runtime.usage import checked
from support.product import decided

ROOT = Path(__file__).parents[2]
FIGURE2 = ROOT / "examples" / "figure2"


def figure2() -> CompiledJob:
    """The paper's example."""
    (statement,) = split_statements(read_sql(FIGURE2 / "figure2.sql"))
    declared = load_catalog(FIGURE2 / "streams.toml")
    query = lower(statement, declared).query
    assert query is not None
    return compiled(make_plan(decide(query), declared))


def compiled_of(sql: str, catalog: dict[str, Any]) -> CompiledJob:
    """The plan and the job of one statement."""
    return compiled(make_plan(decided(sql, catalog), catalog_from_mapping(catalog)))


def job_of(sql: str, catalog: dict[str, Any]) -> Job:
    """The job of one statement, as `streambound_runtime.main.main` runs it."""
    return compiled_of(sql, catalog).job


def run_with(
    spark: Any, job: Job, options: list[str], report: Callable[[dict[str, Any]], None] = lambda event: None
) -> dict[str, Any]:
    """Run a job with some options; returns its summary."""
    return main.run(spark, job, checked(job, settings_of(job, options)), report)


def run(
    spark: Any, job: Job, tmp_path: Path, *more: str, report: Callable[[dict[str, Any]], None] = lambda event: None
) -> dict[str, Any]:
    """Run a job over the input in ``in``, a batch per file; its files are beside that. Returns its summary."""
    folders = {name: str(tmp_path / name) for name in ("checkpoint", "output", "quarantine")}
    options = [part for name, value in folders.items() for part in (f"--{name}", value)]
    if "--files-per-batch" not in more:
        options += ["--files-per-batch", "1"]
    return run_with(spark, job, ["--input", str(tmp_path / "in"), *options, *more], report)
