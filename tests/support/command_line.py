"""The command line as a test calls it, and a project that it is called in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import IO

from click.testing import CliRunner, Result

from streambound import cli

ROOT = Path(__file__).resolve().parents[2]
FIGURE2 = ROOT / "examples" / "figure2"
CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
"""
BOUNDED = "SELECT S.a FROM S, T WHERE S.ts > T.ts"
UNBOUNDED = "SELECT T.a FROM S, T WHERE S.ts > T.ts"


def call(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli.main, list(arguments), input=stdin)


def write(project: Path, sql: str, name: str = "q.sql") -> str:
    (project / name).write_text(sql)
    return name


def run_alone(
    project: Path, *arguments: str, stdout: IO[str] | int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "streambound", *arguments]
    return subprocess.run(command, cwd=project, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
