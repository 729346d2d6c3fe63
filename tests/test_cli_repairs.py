"""Repairs as a user meets them: in the text and JSON of `check`, in `explain`, and not where they are not wanted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streambound import cli

CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", k = "tinyint", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", k = "tinyint", ts = "bigint" }
"""
UNBOUNDED = "SELECT T.a FROM S, T WHERE S.ts > T.ts"
EITHER = "SELECT T.a FROM S, T WHERE S.a > T.a"
"""Rows of either stream may come first."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "streams.toml").write_text(CATALOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _call(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, list(arguments))


def _write(project: Path, sql: str) -> str:
    (project / "q.sql").write_text(sql)
    return "q.sql"


def _json(*arguments: str) -> Any:
    return json.loads(_call("check", *arguments, "--format", "json").stdout)["queries"]


def test_check_shows_the_two_best_as_patches_under_the_first_error(project: Path) -> None:
    lines = _call("check", _write(project, f"-- a comment\n{EITHER} -- behind")).output.splitlines()
    fixes = [i for i, line in enumerate(lines) if line.startswith("  = fix: ")]
    assert len(fixes) == 2
    assert "changes results; the width is an example: choose yours" in " ".join(line.strip() for line in lines)
    patches = [lines[i + 1 : i + 3] for i, line in enumerate(lines) if line == "         q.sql:2"]
    removed = f"         - {EITHER} -- behind"
    assert patches == [
        [removed, f"         + {EITHER} AND {added} -- behind"]
        for added in ("T.ts BETWEEN S.ts AND S.ts + 10", "S.ts BETWEEN T.ts AND T.ts + 10")
    ]


def test_explain_shows_all(project: Path) -> None:
    file = _write(project, EITHER)
    shown = _call("explain", file, "--emit", "verdict").output
    assert shown.count("= fix: ") == len(_json(file)[0]["diagnostics"][0]["fixes"]) + 1 == 3
    assert "S.ts AND S.ts + 10" in shown and "S.ts - 10 AND S.ts + 10" in shown


def test_what_a_type_excludes_is_no_repair(project: Path) -> None:
    """All values of a TINYINT are in a domain that the analysis has used: what is left to change are results."""
    file = _write(project, "SELECT T.k, T.a FROM S, T WHERE S.ts > T.ts")
    fixes = _json(file)[0]["diagnostics"][0]["fixes"]
    assert fixes and {fix["kind"] for fix in fixes} == {"changes-results"}
    assert all("T.k" not in fix["title"] and "127" not in fix["sql"] for fix in fixes)


def test_the_edits_in_json_make_the_query_bounded(project: Path) -> None:
    file = _write(project, f"SELECT 1 AS one FROM S;\n/* é漢😀 */\t{EITHER};")
    _, query = _json(file)
    fixes = query["diagnostics"][0]["fixes"]
    assert len(fixes) == 2
    for fix in fixes:
        assert set(fix) == {"title", "kind", "sql", "changes", "note", "edits"}
        texts = {name: (project / name).read_text() for name in ("q.sql", "streams.toml")}
        for edit in sorted(fix["edits"], key=lambda edit: (edit["line"], edit["column"]), reverse=True):
            lines = texts[edit["file"]].split("\n")
            assert edit["line"] == edit["end_line"]
            line = lines[edit["line"] - 1]
            lines[edit["line"] - 1] = line[: edit["column"] - 1] + edit["replacement"] + line[edit["end_column"] - 1 :]
            texts[edit["file"]] = "\n".join(lines)
        (project / "patched").mkdir(exist_ok=True)
        for name, text in texts.items():
            (project / "patched" / name).write_text(text)
        assert fix["sql"] in texts["q.sql"]
        result = _call("check", "patched/q.sql", "--catalog", "patched/streams.toml")
        assert result.exit_code == 0, result.output


def test_only_the_first_findings_have_repairs_unless_all_are_wanted(project: Path) -> None:
    file = _write(project, ";\n".join([UNBOUNDED] * 22))
    assert sum(bool(query["diagnostics"][0]["fixes"]) for query in _json(file)) == 20
    assert all(query["diagnostics"][0]["fixes"] for query in _json(file, "--repairs"))
    assert not any(query["diagnostics"][0]["fixes"] for query in _json(file, "--no-repairs"))
    assert "repairs were looked for in the first 20 of the rejected queries" in _call("check", file).output
    assert "repairs were looked for" not in _call("check", file, "--repairs").output
    assert "= fix:" not in _call("check", file, "--no-repairs").output


def test_the_papers_verdict_has_no_repairs(project: Path) -> None:
    assert "= fix:" not in _call("check", _write(project, UNBOUNDED), "--criteria", "paper").output


def test_no_repair_is_explained(project: Path) -> None:
    body = 'timestamp = "ts"\ncolumns = { x = "double", ts = "bigint" }\ndomain.x = [0.0, 1.0]\n'
    (project / "streams.toml").write_text(f"[streams.S]\n{body}[streams.T]\n{body}")
    file = _write(project, "SELECT 1 AS one FROM (SELECT x FROM S) AS p, (SELECT x FROM T) AS q WHERE p.x = q.x")
    result = _call("check", file)
    assert result.exit_code == 1
    assert "no repair was found: what would make it bounded has no certain place in this text" in result.output


def test_looking_for_repairs_imports_nothing_heavy(project: Path) -> None:
    file = _write(project, UNBOUNDED)
    program = (
        f"import sys; sys.argv = ['streambound', 'check', {file!r}]\n"
        "from streambound import cli\n"
        "try: cli.main()\n"
        "except SystemExit as stop: assert stop.code == 1, stop.code\n"
        "heavy = {'pyspark', 'py4j', 'sympy', 'networkx', 'numpy', 'pandas', 'pyarrow', 'rich', 'duckdb'}\n"
        "loaded = heavy & {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "= fix:" in done.stdout
