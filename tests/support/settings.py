"""A project whose catalog has settings, and what `config show` and `check` say of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.command_line import call

STREAMS = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
"""
WARNED = "SELECT 1 AS one FROM S WHERE S.a < 1 AND S.a > 1"
UNBOUNDED = "SELECT T.a FROM S, T WHERE S.ts > T.ts"


def configure(settings: str) -> None:
    Path("streams.toml").write_text(f'queries = ["queries/**/*.sql"]\n{settings}\n{STREAMS}')


def write(name: str, sql: str) -> None:
    Path("queries", name).write_text(sql)


def shown(*arguments: str) -> dict[str, tuple[object, str]]:
    lines = call("config", "show", "--json", *arguments).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    return {row["name"]: (row["value"], row["origin"]) for row in rows}


def verdicts(*arguments: str) -> dict[str, str]:
    return {query["file"]: query["verdict"] for query in report(*arguments)["queries"]}


def report(*arguments: str) -> Any:
    return json.loads(call("check", "--format", "json", *arguments).stdout)


def override(settings: str, everywhere: str = "") -> None:
    configure(f'[check]\n{everywhere}\n[[check.overrides]]\nfiles = ["queries/legacy/**"]\n{settings}')


def twice(sql: str) -> None:
    for name in ("q.sql", "legacy/q.sql"):
        write(name, f"-- name: {name[:-4]}\n{sql}")
