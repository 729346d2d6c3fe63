"""Statements that read no stream: a note in every format, a failure in none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streambound.reports.formats import FORMAT_NAMES
from support.command_line import BOUNDED, CATALOG, UNBOUNDED, call, write

OTHERS = "CREATE TABLE t (a BIGINT);\nSET spark.x = 1;\n"


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, CATALOG, "streams.toml")


def test_they_are_notes_beside_the_queries(tmp_path: Path) -> None:
    write(tmp_path, f"{OTHERS}INSERT INTO t {BOUNDED}")
    result = call("check", "q.sql")
    assert result.exit_code == 0
    assert "CREATE TABLE reads no stream" in result.stdout
    assert "1 query checked: 1 bounded; 2 other statements read no stream" in result.stdout
    write(tmp_path, f"{OTHERS}INSERT INTO t {UNBOUNDED}")
    assert call("check", "q.sql").exit_code == 1


@pytest.mark.parametrize("form", FORMAT_NAMES)
def test_they_are_in_every_format_and_fail_in_none(form: str, tmp_path: Path) -> None:
    write(tmp_path, OTHERS)
    result = call("check", "q.sql", "--format", form)
    assert result.exit_code == 0, result.output
    assert "reads no stream" in result.stdout
    if form == "json":
        document = json.loads(result.stdout)
        assert document["summary"]["no-query"] == 2
        assert [query["verdict"] for query in document["queries"]] == ["no-query"] * 2
    if form == "junit":
        assert 'failures="0" errors="0"' in result.stdout
    if form == "sarif":
        levels = [found["level"] for found in json.loads(result.stdout)["runs"][0]["results"]]
        assert levels == ["note", "note"]
    if form == "github":
        assert result.stdout.count("::notice ") == 2
        assert "::error" not in result.stdout


def test_what_a_note_weighs_can_be_set(tmp_path: Path) -> None:
    write(tmp_path, OTHERS)
    assert call("check", "q.sql", "--fail-on", "note").exit_code == 1
    write(tmp_path, CATALOG + '[check]\nseverity = { SB403 = "off" }\n', "streams.toml")
    result = call("check", "q.sql", "--fail-on", "note")
    assert (result.exit_code, "SB403" in result.stdout) == (0, False)


def test_a_directory_without_sql_and_a_file_without_a_statement_still_fail(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert call("check", "empty").exit_code == 2
    write(tmp_path, "-- nothing\n;")
    assert call("check", "q.sql").exit_code == 3


def test_a_file_with_one_query_needs_no_name(tmp_path: Path) -> None:
    write(tmp_path, f"{OTHERS}INSERT INTO t {BOUNDED}")
    assert call("compile", "q.sql").exit_code == 0
    assert "\nt, a bag\n" in call("explain", "q.sql").stdout
    write(tmp_path, OTHERS)
    result = call("compile", "q.sql")
    assert result.exit_code == 1
    assert "CREATE TABLE reads no stream" in result.stderr
