"""`verify` and `memory`: how they end where there is nothing to run."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from streambound import cli

CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
"""
BOUNDED = "SELECT S.a FROM S, T WHERE S.ts > T.ts"
UNBOUNDED = "SELECT T.a FROM S, T WHERE S.ts > T.ts"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(CATALOG)
    (tmp_path / "q.sql").write_text(BOUNDED)
    (tmp_path / "bad.sql").write_text(UNBOUNDED)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("verify", "bad.sql"), 1, "cannot be run in constant memory, its verdict is unbounded"),
        (("verify", "q.sql", "--input", "nowhere"), 3, "there is no input for S"),
        (("verify", "q.sql", "--runs", "0"), 2, "--runs"),
        (("verify", "none.sql"), 3, "no such file"),
        (("memory", "bad.sql"), 1, "cannot be run in constant memory, its verdict is unbounded"),
        (("memory", "q.sql", "--tuples", "0"), 2, "--tuples"),
        (("memory", "q.sql", "--heap", "12"), 2, "'12' is not a size of at least 480m"),
        (("memory", "q.sql", "--heap", "256m"), 2, "'256m' is not a size of at least 480m"),
        (("memory", "q.sql", "--random", "--share", "S"), 2, "'S' is not NAME=NUMBER"),
        (("memory", "q.sql", "--random", "--share", "S=-1"), 2, "'S=-1' is not NAME=NUMBER"),
        (("memory", "q.sql", "--random", "--share", "U=2"), 2, "the query reads S, T"),
        (("memory", "q.sql", "--share", "S=2"), 2, "--share goes with --random"),
    ],
)
def test_wrong_usage(place: Path, arguments: tuple[str, ...], status: int, message: str) -> None:
    result = CliRunner().invoke(cli.main, arguments)
    assert result.exit_code == status, result.output
    assert message in result.output
    assert "Traceback" not in result.output


def test_without_matplotlib_the_remedy_is_named_before_anything_runs(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: Any = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "matplotlib" else found(name))
    result = CliRunner().invoke(cli.main, ["memory", "q.sql", "--out", "plots"])
    assert result.exit_code == 2
    assert "streambound[plot]" in result.output
    assert not (place / "plots").exists()
