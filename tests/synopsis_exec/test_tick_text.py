"""The statements that `explain --emit sql` prints are those of a tick: DuckDB runs them as they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

import streambound
from streambound import cli
from streambound.analyzer.catalog import parse_catalog
from streambound_runtime.engine.loop import Engine
from streambound_runtime.engine.plan import CircuitPlan

CATALOG = """
[streams.S]
timestamp = "ts"
columns = { k = "bigint", v = "bigint", ts = "bigint" }
domain = { k = [0, 9], v = [0, 9] }
"""


def printed(folder: Path, sql: str) -> str:
    (folder / "streams.toml").write_text(CATALOG)
    (folder / "q.sql").write_text(sql)
    given = ["explain", str(folder / "q.sql"), "--emit", "sql", "--catalog", str(folder / "streams.toml")]
    result = CliRunner().invoke(cli.main, given)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.k, b.v FROM S a, S b WHERE a.k = b.k AND a.ts > b.ts",
        "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM S GROUP BY k",
        "SELECT DISTINCT v % 2 AS c FROM (SELECT v FROM S EXCEPT SELECT k FROM S) x",
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS r FROM S) q WHERE r <= 1",
    ],
)
def test_they_are_those_that_an_engine_runs_and_duckdb_takes_them(tmp_path: Path, sql: str) -> None:
    statements = printed(tmp_path, sql).rstrip(";\n").split(";\n")
    with duckdb.connect() as database:
        for statement in statements:
            database.execute(statement)
    plan = streambound.compile(sql, parse_catalog(CATALOG)).compiled.job.plan
    assert isinstance(plan, CircuitPlan)
    run = [one.target for statements in Engine(plan, {}, nothing).statements.values() for one in statements]
    made = re.findall(
        r"^(?:CREATE OR REPLACE TEMPORARY (?:TABLE|VIEW)|INSERT INTO|DELETE FROM) (\w+)", "\n".join(statements), re.M
    )
    assert made == run
    assert len(made) > 5


def nothing(*given: Any) -> Any:
    raise AssertionError("nothing is computed beside the operators")
