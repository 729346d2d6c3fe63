"""A defect of this program that one statement meets: an error of that statement, never a pass, never cached."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streambound import cli
from streambound.analyzer import statements
from streambound.analyzer.statement import Statement
from streambound.criteria import check as criteria
from streambound.criteria.repairs import repair
from streambound.gate import tasks
from streambound.reports import outcome as reports

STREAMS = """
queries = ["*.sql"]
[streams.S]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
"""
GOOD = "SELECT a FROM S WHERE a > 1"
BAD = "-- name: broken\nSELECT a FROM S WHERE a > 666"
UNBOUNDED = "SELECT x.a FROM S AS x, S AS y WHERE y.ts > x.ts AND x.a < 666"


class UnforeseenError(Exception):
    """What nobody thought of."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(STREAMS)
    (tmp_path / "a.sql").write_text(f"{GOOD};\n{BAD};\n{GOOD} AND a < 9")
    (tmp_path / "b.sql").write_text(GOOD)
    return tmp_path


@pytest.fixture
def defect(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """A program that cannot judge statements with a 666, as long as that is in the set."""
    judge, broken = criteria.check_statement, {"666"}

    def fails(statement: Statement, *more: Any) -> Any:
        if any(token.text in broken for token in statement.tokens):
            raise UnforeseenError("a\nwheel came off")
        return judge(statement, *more)

    monkeypatch.setattr(criteria, "check_statement", fails)
    return broken


def check(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, ["check", *arguments])


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_the_statement_is_an_error_and_the_others_are_judged(
    jobs: str, project: Path, defect: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "WORTHWHILE", 0)
    result = check("-j", jobs, "--format", "json")
    assert result.exit_code == 4
    report = json.loads(result.stdout)
    assert [query["verdict"] for query in report["queries"]] == ["bounded", "error", "bounded", "bounded"]
    (found,) = report["queries"][1]["diagnostics"]
    assert (found["code"], found["file"], found["line"], found["column"]) == ("SB901", "a.sql", 3, 1)
    assert found["message"] == "a defect of streambound kept it from judging broken: UnforeseenError: a wheel came off"
    assert "report it" in found["help"]
    assert report["summary"]["error"] == 1
    assert "Traceback" not in result.output


def test_debug_shows_where_it_happened(project: Path, defect: set[str]) -> None:
    assert "Traceback" not in check().stderr
    trace = check("--debug").stderr
    assert trace.startswith("a.sql:3: broken:\nTraceback") and "test_internal_errors.py" in trace


def test_it_is_not_cached(project: Path, defect: set[str]) -> None:
    assert check("--cache").exit_code == 4
    assert check("--cache").exit_code == 4
    defect.clear()
    assert check("--cache").exit_code == 0


@pytest.mark.parametrize("more", [[], ["--repairs"], ["--fix"], ["--fix", "--unsafe"], ["--diff"]])
def test_nothing_accepts_it(more: list[str], project: Path, defect: set[str]) -> None:
    allowed = '-- streambound: allow-file SB901, SB201 reason="x"\n'
    (project / "a.sql").write_text(allowed + BAD)
    result = check("--fail-on", "error", *more)
    assert result.exit_code == 4
    assert "SB901" in result.output or "--diff" in more
    assert CliRunner().invoke(cli.main, ["baseline", "create"]).exit_code == 4
    assert "SB901" not in Path("streambound-baseline.json").read_text()
    assert check("--baseline", "streambound-baseline.json").exit_code == 4
    assert CliRunner().invoke(cli.main, ["baseline", "check"]).exit_code == 4


@pytest.mark.parametrize(
    ("where", "name"),
    [(statements, "some_statements"), (repair, "with_repairs"), (reports, "outcome")],
    ids=["reading", "repairing", "reporting"],
)
def test_wherever_it_happens(where: Any, name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> Any:
        raise UnforeseenError("no")

    (project / "a.sql").write_text(UNBOUNDED)
    monkeypatch.setattr(where, name, fails)
    result = check("--format", "json", "--no-cache", "a.sql")
    assert result.exit_code == 4
    (query,) = json.loads(result.stdout)["queries"]
    assert (query["verdict"], [found["code"] for found in query["diagnostics"]]) == ("error", ["SB901"])


def test_beside_a_commit_that_it_kept_from_being_judged_a_query_is_new(project: Path, defect: set[str]) -> None:
    (project / "a.sql").write_text(UNBOUNDED)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "before"]):
        subprocess.run([*git, *arguments], check=True)
    (project / "a.sql").write_text(UNBOUNDED.replace("666", "667"))
    result = check("--against", "HEAD", "--transitions-only")
    assert result.exit_code == 1 and "new: a in a.sql" in result.stderr
