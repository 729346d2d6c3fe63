"""`streambound check` as a user meets it: verdicts, carets, exit status, JSON."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound import cli
from support.command_line import BOUNDED, CATALOG, UNBOUNDED, call, write


def test_a_bounded_query_passes(project: Path) -> None:
    result = call("check", write(project, BOUNDED))
    assert result.exit_code == 0
    assert "q: bounded (constant), at most 1 entry" in result.output


def test_an_unbounded_query_fails_with_its_verdict_carets_and_help(project: Path) -> None:
    result = call("check", write(project, UNBOUNDED))
    assert result.exit_code == 1
    assert result.output.startswith(
        "q: unbounded\n  streambound witness q.sql shows streams that cannot be forgotten\n\n"
    )
    lines = result.output.splitlines()[3:]
    assert lines[0].startswith("error[SB201 unbounded-projection]: nothing bounds T.a, which is shown")
    assert lines[1] == " --> q.sql:1:8"
    assert lines[3] == f"1 | {UNBOUNDED}"
    assert lines[4] == "  |        ^^^"
    assert lines[5] == " ::: streams.toml:7:13"
    assert lines[7] == '7 | columns = { a = "bigint", ts = "bigint" }'
    assert lines[8] == "  |             ------------ T.a is declared here as bigint, without a domain"
    assert lines[9] == "  |"
    assert "Theorem" not in result.output and "Theorem 1 C3" in call("explain", "q.sql").output
    assert "domain.a = [low, high]" in result.output


def test_the_catalogs_globs_are_what_a_bare_check_gates(project: Path) -> None:
    (project / "streams.toml").write_text('queries = ["queries/*.sql"]\n' + CATALOG)
    (project / "queries").mkdir()
    write(project, BOUNDED, "queries/a.sql")
    write(project, UNBOUNDED, "queries/b.sql")
    result = call("check")
    assert result.exit_code == 1
    assert "2 queries checked: 1 bounded, 1 unbounded" in result.output


def test_standard_input_is_checked(project: Path) -> None:
    result = call("check", "-", stdin=UNBOUNDED)
    assert result.exit_code == 1
    assert "--> <stdin>:1:8" in result.output


def test_warnings_fail_only_when_asked(project: Path) -> None:
    file = write(project, "SELECT 1 AS one FROM S WHERE S.a < 1 AND S.a > 1")
    assert call("check", file).exit_code == 0
    assert call("check", file, "--fail-on", "warning").exit_code == 1


def test_both_sides_of_an_equality_are_one_finding(project: Path) -> None:
    file = write(project, "SELECT 1 AS one FROM S AS x, S AS y WHERE x.a = y.a")
    (query,) = json.loads(call("check", file, "--format", "json").stdout)["queries"]
    assert query["verdict"] == "unbounded"
    assert len(query["criteria"][0]["violations"]) == 2
    errors = [d for d in query["diagnostics"] if d["severity"] == "error"]
    assert [(d["code"], d["column"]) for d in errors] == [("SB203", 43)]
    assert errors[0]["related"][-1]["message"] == "every value of y.a must be remembered, too"


@pytest.mark.parametrize(("window", "notes"), [("1 MILLISECOND", []), ("1 DAY", [("SB208", "note", 50)])])
def test_a_bound_beyond_memory_is_noted_at_its_window(project: Path, window: str, notes: list[object]) -> None:
    catalog = CATALOG.replace('ts = "bigint"', 'ts = "timestamp"')
    (project / "streams.toml").write_text(catalog)
    file = write(project, f"SELECT S.a, T.a FROM S, T WHERE S.ts <= T.ts AND T.ts <= S.ts + INTERVAL {window}")
    result = call("check", file, "--format", "json")
    (query,) = json.loads(result.stdout)["queries"]
    assert (query["verdict"], result.exit_code) == ("bounded", 0)
    assert [(d["code"], d["severity"], d["column"]) for d in query["diagnostics"]] == notes


@pytest.mark.parametrize(
    ("sql", "exact", "paper"),
    [
        ("SELECT S.a FROM S, T WHERE S.ts > T.ts", "bounded", "bounded"),
        (
            "SELECT V.a FROM S, T, T AS V WHERE S.ts > T.ts AND T.ts > V.ts AND V.a IN (1)",
            "bounded",
            "unknown",
        ),
        ("SELECT T.a FROM S, T WHERE S.ts > T.ts", "unbounded", "unbounded"),
        ("SELECT DISTINCT T.a FROM S, T WHERE S.ts > T.ts", "unbounded", "unknown"),
        ("SELECT S.a FROM S, T WHERE S.ts > T.ts + 5", "bounded", "unknown"),
    ],
)
def test_the_papers_theorems_can_judge_alone(project: Path, sql: str, exact: str, paper: str) -> None:
    file = write(project, sql)
    for criteria, verdict in (("exact", exact), ("paper", paper)):
        result = call("check", file, "--criteria", criteria, "--format", "json")
        assert json.loads(result.stdout)["queries"][0]["verdict"] == verdict
        assert result.exit_code == (verdict != "bounded")


def test_json_has_the_documented_shape(project: Path) -> None:
    write(
        project, f"{BOUNDED};\n-- name: second\n{UNBOUNDED};\nSELECT nope FROM S;\nSELECT COLLECT_LIST(S.a) AS n FROM S"
    )
    result = call("check", "q.sql", "--format", "json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["schema_version"] == 3
    assert document["summary"] == {
        "bounded": 1,
        "unbounded": 1,
        "unknown": 0,
        "unsupported": 1,
        "error": 1,
        "no-query": 0,
    }
    first, second, third, fourth = document["queries"]
    assert [q["verdict"] for q in document["queries"]] == ["bounded", "unbounded", "error", "unsupported"]
    assert (first["name"], first["line"], first["projection"]) == ("q:1", 1, "bag")
    assert first["bound"] == {"entries": 1, "bytes": 8, "formula": "1", "promises": []}
    assert [c["name"] for c in first["criteria"]] == ["bag", "theorem-1"]
    assert isinstance(first["lto_queries"], int)
    assert second["name"] == "second"
    (violation,) = second["criteria"][0]["violations"]
    assert {k: violation[k] for k in ("condition", "stream", "attribute", "line", "column")} == {
        "condition": "(i)",
        "stream": "T",
        "attribute": "a",
        "line": 3,
        "column": 8,
    }
    (diagnostic,) = second["diagnostics"]
    assert (diagnostic["line"], diagnostic["column"], diagnostic["end_line"], diagnostic["end_column"]) == (3, 8, 3, 11)
    assert third["diagnostics"][0]["code"] == "SB102"
    assert fourth["diagnostics"][0]["code"] == "SB110"
    assert sum(document["summary"].values()) == len(document["queries"])


def test_every_file_is_checked_and_those_that_cannot_be_read_are_errors(project: Path) -> None:
    write(project, UNBOUNDED)
    write(project, "-- nothing", "none.sql")
    (project / "binary.sql").write_bytes(b"\xff")
    result = call("check", "binary.sql", "missing.sql", "none.sql", "q.sql", "--format", "json")
    assert result.exit_code == 3
    document = json.loads(result.stdout)
    assert [(q["name"], q["verdict"]) for q in document["queries"]] == [
        ("binary", "error"),
        ("missing", "error"),
        ("none", "error"),
        ("q", "unbounded"),
    ]
    assert [d["code"] for q in document["queries"][:3] for d in q["diagnostics"]] == ["SB401"] * 3
    assert sum(document["summary"].values()) == 4
    text = call("check", "binary.sql", "missing.sql", "q.sql").output
    assert "the file is not UTF-8 text" in text
    assert "missing.sql" in text
    assert "q: unbounded" in text


def test_a_repeated_name_is_a_warning_at_the_second(project: Path) -> None:
    named = f"-- name: x\n{BOUNDED}"
    write(project, named, "a.sql")
    write(project, f"{BOUNDED};\n{named}", "b.sql")
    result = call("check", "a.sql", "b.sql", "--format", "json")
    assert result.exit_code == 0
    assert call("check", "a.sql", "b.sql", "--fail-on", "warning").exit_code == 1
    found = [q["diagnostics"] for q in json.loads(result.stdout)["queries"]]
    assert found[:2] == [[], []]
    ((diagnostic,),) = found[2:]
    assert (diagnostic["code"], diagnostic["line"], diagnostic["column"]) == ("SB402", 2, 10)
    assert diagnostic["related"][0]["file"] == "a.sql"


def test_files_of_one_name_in_two_directories_are_no_repetition(project: Path) -> None:
    for folder in ("a", "b"):
        (project / folder).mkdir()
        write(project, BOUNDED, f"{folder}/q.sql")
    assert call("check", "a", "b", "--fail-on", "note").exit_code == 0


def test_the_catalog_nearest_to_a_file_is_its_own(project: Path) -> None:
    (project / "nearer" / "deep").mkdir(parents=True)
    (project / "nearer" / "streams.toml").write_text(CATALOG.replace("[streams.S]", "[streams.Mine]"))
    other, file = write(project, BOUNDED), write(project, re.sub(r"\bS\b", "Mine", BOUNDED), "nearer/deep/q.sql")
    assert [call("check", *names).exit_code for names in ((file,), (other, file))] == [0, 0]
    assert call("check", file, "--catalog", "streams.toml").exit_code == 1
    (project / "streams.toml").write_text(f'queries = ["**/*.sql"]\n{CATALOG}')
    assert "2 queries checked: 2 bounded" in call("check").output
    assert call("check", "--registered", file).exit_code == 0


def test_a_bound_of_thousands_of_digits_is_printed_by_its_magnitude(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = [f"c{i}" for i in range(20)]
    declared = ", ".join(f'{column} = "bigint"' for column in columns)
    domains = ", ".join(f"{column} = [0, {2**62}]" for column in columns)
    names = [f"S{i}" for i in range(16)]
    tables = [
        f'[streams.{name}]\ntimestamp = "ts"\ncolumns = {{ {declared}, ts = "bigint" }}\ndomain = {{ {domains} }}\n'
        for name in names
    ]
    outputs = ", ".join(f"{name}.{column} AS {name}_{column}" for name in names for column in columns)
    times = " AND ".join(f"{newer}.ts > {older}.ts" for newer, older in pairwise(names))
    (tmp_path / "streams.toml").write_text("".join(tables))
    (tmp_path / "q.sql").write_text(f"SELECT {outputs} FROM {', '.join(names)} WHERE {times}")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli.main, ["check", "q.sql"])
    assert result.exit_code == 0, result.output
    assert re.search(r"bounded \(constant\), at most \d\.\de\+\d{4} entries", result.output)
    found = json.loads(CliRunner().invoke(cli.main, ["check", "q.sql", "--format", "json"]).output)
    assert found["queries"][0]["bound"]["entries"] > 10**5000


@pytest.mark.parametrize(("option", "colors"), [("--color", True), ("--no-color", False)])
def test_colors_that_are_asked_for_need_no_terminal(project: Path, option: str, colors: bool) -> None:
    file = write(project, UNBOUNDED)
    assert ("\x1b[" in call("check", file, option).output) is colors
    assert ("\x1b[" in call("explain", "SB201", option).output) is colors
    assert "\x1b[" not in call("check", file, option, "--format", "json").output
