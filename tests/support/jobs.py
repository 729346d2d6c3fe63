"""Generated jobs and their files: a query's job, its input and output, a run on Spark; figure 2's tuples in batches."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.synopsis_exec.codegen import job_text
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.simulate import load_kernel
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


def kernel(sql: str, catalog: dict[str, Any]) -> Any:
    return load_kernel(job_text(make_plan(decided(sql, catalog), catalog_from_mapping(catalog))))


def write(file: Path, *rows: object, modified: float | None = None) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    if modified is not None:
        os.utime(file, (modified, modified))


def read(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def run(
    spark: Any, job: Any, tmp_path: Path, *more: str, report: Callable[[dict[str, Any]], None] = lambda event: None
) -> dict[str, Any]:
    folders = {name: str(tmp_path / name) for name in ("checkpoint", "output", "quarantine")}
    options = [part for name, value in folders.items() for part in (f"--{name}", value)]
    summary: dict[str, Any] = job.run(spark, job.arguments(["--input", str(tmp_path / "in"), *options, *more]), report)
    return summary


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
