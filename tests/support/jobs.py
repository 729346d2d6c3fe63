"""Generated jobs and their files: a query's job, its input and output, a run on Spark; figure 2's tuples in batches."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from streambound.analyzer.catalog import catalog_from_mapping, load_catalog
from streambound.analyzer.lower import lower
from streambound.analyzer.statements import split_statements
from streambound.analyzer.workspace import read_sql
from streambound.criteria.verdict import decide
from streambound.synopsis_exec.job_file import CompiledJob, compiled
from streambound.synopsis_exec.plan import make_plan
from streambound_runtime import main
from streambound_runtime.settings import settings_of
from streambound_runtime.spec import JobSpec
from streambound_runtime.usage import checked
from support.product import decided

TYPED: dict[str, Any] = {
    "streams": {
        "odd name": {
            "timestamp": "at",
            "columns": {
                "k`ey": "string", "d": "decimal(9,2)", "big": "decimal(30,4)", "born": "date", "seen": "timestamp",
                "ok": "boolean", "x": "double", "n": "int", "at": "timestamp",
            },
            "domain": {"n": [0, 9]},
        },
        "T": {"timestamp": "at", "columns": {"n": "int", "at": "timestamp"}},
    },
    "relations": {"R": {"columns": {"n": "int", "name": "string"}}},
}  # fmt: skip

TYPED_SQL = (
    'SELECT o.`k``ey` AS `the "key"`, o.d, o.big, o.born, o.seen, o.ok, o.x, R.name, -1.5 AS c FROM `odd name` o, T, R '
    "WHERE o.at <= T.at AND T.at <= o.at + INTERVAL 10 SECONDS AND o.n = R.n AND T.n = o.n AND o.d <> 1.5"
)


ROOT = Path(__file__).parents[2]
FIGURE2 = ROOT / "examples" / "figure2"


def figure2() -> CompiledJob:
    """The paper's example."""
    (statement,) = split_statements(read_sql(FIGURE2 / "figure2.sql"))
    declared = load_catalog(FIGURE2 / "streams.toml")
    query = lower(statement, declared).query
    assert query is not None
    return compiled(make_plan(decide(query), declared))


def compiled_of(sql: str, catalog: dict[str, Any], placement: str | None = "driver") -> CompiledJob:
    """The plan and the job of one statement; None leaves the placement to the compiler."""
    return compiled(make_plan(decided(sql, catalog), catalog_from_mapping(catalog)), placement)


def job_of(sql: str, catalog: dict[str, Any], placement: str | None = "driver") -> JobSpec:
    """The job of one statement, as `streambound_runtime.main.main` runs it."""
    return compiled_of(sql, catalog, placement).job


def write(file: Path, *rows: object, modified: float | None = None) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    if modified is not None:
        os.utime(file, (modified, modified))


def read(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def run_with(
    spark: Any, job: JobSpec, options: list[str], report: Callable[[dict[str, Any]], None] = lambda event: None
) -> dict[str, Any]:
    """Run a job with some options; returns its summary."""
    return main.run(spark, job, checked(job, settings_of(job, options)), report)


def run(
    spark: Any, job: JobSpec, tmp_path: Path, *more: str, report: Callable[[dict[str, Any]], None] = lambda event: None
) -> dict[str, Any]:
    """Run a job over the input in ``in``, a batch per file; its files are beside that. Returns its summary."""
    folders = {name: str(tmp_path / name) for name in ("checkpoint", "output", "quarantine")}
    options = [part for name, value in folders.items() for part in (f"--{name}", value)]
    if "--files-per-batch" not in more:
        options += ["--files-per-batch", "1"]
    return run_with(spark, job, ["--input", str(tmp_path / "in"), *options, *more], report)


def told(job: JobSpec, argv: list[str]) -> tuple[int, str]:
    """A job's exit status, and what it says."""
    with redirect_stdout(StringIO()) as text, redirect_stderr(text):
        return main.main(job, argv), text.getvalue()


def batches(folder: Path) -> None:
    """Figure 2's tuples over three files per stream, one of them late."""
    rows = {
        "S": [[{"A": 42, "I": 0}], [{"A": 42, "I": 5}], [{"A": 1, "I": 9}, {"A": 42, "I": 1}]],
        "T": [[{"B": 7, "J": 0}, {"B": 2, "J": 2}], [{"B": 3, "J": 5}, {"B": 1, "J": 4}], [{"B": 1, "J": 9}]],
        "U": [[{"C": 0, "K": 1}], [{"C": 0, "K": 3}], [{"C": 0, "K": 9}]],
    }
    for name, files in rows.items():
        for number, content in enumerate(files):
            write(folder / name / f"part-{number}.jsonl", *content, modified=1_600_000_000 + number)
