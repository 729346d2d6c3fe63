"""The command line as a user meets it: output, exit status, one clear message and never a traceback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import IO

import pytest
from click.testing import CliRunner, Result

import cli
from analyzer.rules import RULES

ROOT = Path(__file__).resolve().parent.parent
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


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "streams.toml").write_text(CATALOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli.main, list(arguments), input=stdin)


def write(project: Path, sql: str, name: str = "q.sql") -> str:
    (project / name).write_text(sql)
    return name


def run_alone(
    project: Path, *arguments: str, stdout: IO[str] | int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "cli.py"), *arguments]
    return subprocess.run(command, cwd=project, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


# --- check -----------------------------------------------------------------------------------------------------


def test_a_bounded_query_passes(project: Path) -> None:
    result = call("check", write(project, BOUNDED))
    assert result.exit_code == 0
    assert "q: bounded (constant), at most 1 synopsis entry" in result.output


def test_an_unbounded_query_fails_with_carets_condition_and_help(project: Path) -> None:
    result = call("check", write(project, UNBOUNDED))
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0].startswith("error[SB201 unbounded-projection]: T.a is projected and unbounded")
    assert lines[1] == " --> q.sql:1:8"
    assert lines[3] == f"1 | {UNBOUNDED}"
    assert lines[4] == "  |        ^^^"
    assert lines[5] == " ::: streams.toml:7:13"
    assert lines[7] == '7 | columns = { a = "bigint", ts = "bigint" }'
    assert lines[8] == "  |             ------------ T.a is declared here as bigint, without a domain"
    assert lines[9] == "  |"
    assert lines[10] == "  = condition: bag criterion (i); Theorem 1 C3"
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
    write(project, f"{BOUNDED};\n-- name: second\n{UNBOUNDED};\nSELECT nope FROM S;\nSELECT COUNT(*) AS n FROM S")
    result = call("check", "q.sql", "--format", "json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["schema_version"] == 1
    assert document["summary"] == {"bounded": 1, "unbounded": 1, "unknown": 0, "unsupported": 1, "error": 1}
    first, second, third, fourth = document["queries"]
    assert [q["verdict"] for q in document["queries"]] == ["bounded", "unbounded", "error", "unsupported"]
    assert (first["name"], first["line"], first["projection"]) == ("q:1", 1, "bag")
    assert first["bound"] == {"entries": 1, "formula": "1"}
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


def test_a_name_that_fits_two_statements_is_refused(project: Path) -> None:
    write(project, f"-- name: x\n{BOUNDED};\n-- name: x\n{UNBOUNDED}")
    result = call("compile", "q.sql", "--name", "x")
    assert result.exit_code == 2
    assert "2 statements are called 'x': q.sql:2, q.sql:4" in result.output


def test_a_nearer_catalog_that_is_not_used_is_noted(project: Path) -> None:
    (project / "nearer").mkdir()
    (project / "nearer" / "streams.toml").write_text(CATALOG)
    file = write(project, BOUNDED, "nearer/q.sql")
    result = call("check", file)
    assert result.exit_code == 0
    assert "nearer/q.sql is checked against streams.toml" in result.stderr
    assert "nearer/streams.toml is not read" in result.stderr
    assert call("check", file, "--catalog", "streams.toml").stderr == ""
    assert call("check", write(project, BOUNDED)).stderr == ""


def test_an_output_that_takes_no_more_is_one_clear_message(project: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    write(project, BOUNDED)
    with full.open("w") as output:
        done = run_alone(project, "check", "q.sql", stdout=output)
    assert done.returncode == 3
    assert done.stderr == "streambound: error: cannot write the output: No space left on device\n"


def test_an_interruption_has_a_status_of_its_own(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("criteria.check.decide", interrupted)
    result = call("check", write(project, BOUNDED))
    assert result.exit_code == 130
    assert result.output == "streambound: interrupted\n"


def test_the_parser_prints_nothing_of_its_own(project: Path) -> None:
    write(project, "SHOW TABLES")
    done = run_alone(project, "check", "q.sql")
    assert done.returncode == 1
    assert done.stderr == ""


# --- bad input: the documented exit status, one message, no traceback ------------------------------------------

BAD_INPUT = [
    ("missing file", ["check", "nowhere.sql"], 3, "nowhere.sql"),
    ("binary file", ["check", "binary.sql"], 3, "not UTF-8"),
    ("file with a NUL", ["check", "nul.sql"], 3, "binary"),
    ("file without a statement", ["check", "empty.sql"], 3, "no SQL statement"),
    ("syntax error", ["check", "syntax.sql"], 3, "SB001"),
    ("unterminated string", ["check", "string.sql"], 3, "SB001"),
    ("empty directory", ["check", "empty"], 2, "no .sql file"),
    ("unknown stream", ["check", "unknown.sql"], 1, "SB101"),
    ("unknown option", ["check", "--nope"], 2, "--nope"),
    ("missing catalog", ["check", "q.sql", "--catalog", "none.toml"], 2, "none.toml"),
    ("catalog that is not TOML", ["check", "q.sql", "--catalog", "broken.toml"], 2, "not TOML"),
    (
        "unknown key in the catalog",
        ["check", "q.sql", "--catalog", "key.toml"],
        2,
        "key.toml:3:1: unknown key 'colums'",
    ),
    ("nothing registered", ["check"], 2, "registers no queries"),
    ("an empty path", ["check", ""], 2, "an empty path names nothing"),
    ("an empty query", ["explain", ""], 2, "an empty argument names no query"),
    ("an empty standard input", ["check", "-"], 3, "no SQL statement"),
    ("a directory as output", ["run", "q.sql", "--output", "."], 2, ". is a directory"),
    ("an output in no directory", ["run", "q.sql", "--output", "no/o.jsonl"], 2, "there is no directory no"),
    ("a job in no directory", ["compile", "q.sql", "-o", "no/job.py"], 2, "there is no directory no"),
    ("explaining a missing file", ["explain", "nowhere.sql"], 3, "nowhere.sql"),
    ("explaining an unknown code", ["explain", "SB999"], 2, "no diagnostic code SB999"),
    ("drawing the derivation", ["explain", "q.sql", "--format", "svg"], 2, "--emit graph or --emit tables"),
    (
        "drawing two things",
        ["explain", "q.sql", "--emit", "graph", "--emit", "tables", "-o", "x.svg"],
        2,
        "--emit graph",
    ),
    ("drawing into a missing directory", ["explain", "q.sql", "--emit", "graph", "-o", "no/x.svg"], 3, "cannot write"),
    ("explaining an unknown name", ["explain", "q.sql", "--name", "z"], 2, "no query is called 'z'"),
    ("compiling an unbounded query", ["compile", "unbounded.sql"], 1, "unbounded"),
    ("compiling a query that does not parse", ["compile", "syntax.sql"], 3, "SB001"),
    ("checking no job", ["compile", "q.sql", "--check"], 2, "--check compares with a file"),
    ("checking a job that is not there", ["compile", "q.sql", "--check", "-o", "job.py"], 3, "job.py: cannot read"),
    ("checking a file that is no job", ["compile", "q.sql", "--check", "-o", "q.sql"], 1, "it is no job that"),
    ("running without an input directory", ["run", "q.sql", "--input", "nowhere", "--output", "o.jsonl"], 3, "nowhere"),
]


@pytest.mark.parametrize(("arguments", "status", "says"), [c[1:] for c in BAD_INPUT], ids=[c[0] for c in BAD_INPUT])
def test_bad_input_is_one_clear_message(project: Path, arguments: list[str], status: int, says: str) -> None:
    write(project, BOUNDED)
    write(project, UNBOUNDED, "unbounded.sql")
    write(project, "SELEC S.a FROM S", "syntax.sql")
    write(project, "SELECT S.a FROM S WHERE 'x", "string.sql")
    write(project, "-- nothing here\n;", "empty.sql")
    write(project, "SELECT a FROM nope", "unknown.sql")
    (project / "binary.sql").write_bytes(bytes(range(128, 256)))
    (project / "nul.sql").write_bytes(b"SELECT\0")
    (project / "empty").mkdir()
    (project / "broken.toml").write_text("[streams")
    (project / "key.toml").write_text('[streams.S]\ntimestamp = "ts"\ncolums = { a = "bigint" }\n')
    result = call(*arguments)
    assert result.exit_code == status, result.output
    assert says in result.output
    assert "Traceback" not in result.output


def test_an_error_in_the_catalog_shows_its_line(project: Path) -> None:
    (project / "streams.toml").write_text(CATALOG + 'rows = { "é" = "漢" } # here\n')
    result = call("check", write(project, BOUNDED))
    assert result.exit_code == 2
    assert result.output.splitlines()[:4] == [
        "streambound: error: streams.toml:8:1: unknown key 'rows' in [streams.T]",
        "  |",
        '8 | rows = { "é" = "漢" } # here',
        "  | ^^^^^^^^^^^^^^^^^^^^^",
    ]


def test_an_internal_error_is_reported_without_a_traceback(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("gate.check_files.repeated_names", broken)
    result = call("check", write(project, BOUNDED))
    assert result.exit_code == 4
    assert "internal error: RuntimeError: boom" in result.output
    assert "Traceback" not in result.output


def test_a_closed_pipe_is_quiet(project: Path) -> None:
    write(project, ";\n".join([UNBOUNDED] * 300))
    command = f"{sys.executable} {ROOT / 'cli.py'} check q.sql | head -1"
    done = subprocess.run(command, shell=True, cwd=project, capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


# --- explain ---------------------------------------------------------------------------------------------------

STAGES = {
    "normal-form": "SELECT S.A, T.B",
    "split": "SELECT S.A, T.B",
    "merged": "SELECT S.A, T.B",
    "lto": "-- LTO query 1\n",
    "closure": "U.K - S.I <= -2   (redundant)",
    "graph": "S, T and U: a tree",
    "tables": "{T, U}: 1 <= T.B <= 4; at most 4\n  from {U} when T arrives\n",
    "derivation": "\n│   │   ├── T: remembered, because S may come later\n",
    "facts": "U: S and T may lag it",
    "bound": "{T, U}: 4\nM = 5",
    "verdict": "theorem-1: holds",
    "plan": "{T, U}",
    "job": "foreachBatch",
}


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_can_be_printed(stage: str) -> None:
    result = call("explain", str(FIGURE2 / "figure2.sql"), "--emit", stage, "--catalog", str(FIGURE2 / "streams.toml"))
    assert result.exit_code == 0, result.output
    assert STAGES[stage] in result.output


def test_explain_prints_the_synopses_after_each_step() -> None:
    arguments = ("explain", str(FIGURE2 / "figure2.sql"), "--catalog", str(FIGURE2 / "streams.toml"))
    result = call(*arguments, "--emit", "synopses", "--input", str(FIGURE2 / "data"))
    assert result.exit_code == 0, result.output
    assert "s_n^T = {(3)×2}" in result.output
    assert "s_p^T = {(1)×2, (2)×1}" in result.output
    assert "s_n^U = {}" in result.output
    assert "s_p^U = {()×2}" in result.output
    assert "(42, 1)×2" in result.output


def test_explain_names_the_clause_that_figure_2_with_distinct_violates() -> None:
    file = FIGURE2 / "figure2_distinct.sql"
    result = call("explain", str(file), "--emit", "verdict", "--catalog", str(FIGURE2 / "streams.toml"))
    assert "figure2_distinct: unbounded" in result.output
    assert "C1 at S.A (3:17)" in result.output


def test_explain_alone_gives_the_derivation_and_the_verdict(project: Path) -> None:
    result = call("explain", write(project, UNBOUNDED))
    assert result.exit_code == 0
    assert result.output.startswith("== derivation ==\nq, a bag\n├── query\n")
    assert "\n== verdict ==\nq: unbounded\n" in result.output
    assert "\x1b" not in result.output
    assert "\x1b[" in CliRunner().invoke(cli.main, ["explain", "q.sql", "--color"], color=True).output


DRAWN = {"mermaid": "flowchart TD\n", "dot": "digraph {\n", "svg": "<svg "}


@pytest.mark.parametrize("stage", ["graph", "tables"])
@pytest.mark.parametrize("form", DRAWN)
def test_explain_draws(project: Path, stage: str, form: str) -> None:
    result = call("explain", write(project, BOUNDED), "--emit", stage, "--format", form)
    assert result.exit_code == 0
    assert result.output.startswith(DRAWN[form])
    assert ("{T}" in result.output) == (stage == "tables")


@pytest.mark.parametrize(
    ("file", "start"), [("a.svg", "<svg "), ("a.DOT", "digraph"), ("a.mmd", "flow"), ("a.txt", "{T}")]
)
def test_the_suffix_of_the_output_chooses_the_format(project: Path, file: str, start: str) -> None:
    result = call("explain", write(project, BOUNDED), "--emit", "tables", "-o", file)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"wrote {file}\n")
    assert (project / file).read_text().startswith(start)


@pytest.mark.parametrize("sql", ["SELEC S.a FROM S", "SELECT nope FROM S", "SELECT COUNT(*) AS n FROM S"])
@pytest.mark.parametrize("more", [(), ("--emit", "facts"), ("--emit", "graph", "--format", "svg")])
def test_explaining_what_was_not_analysed_fails_as_check_does(project: Path, sql: str, more: tuple[str, ...]) -> None:
    file = write(project, sql)
    result = call("explain", file, *more)
    assert result.exit_code == call("check", file).exit_code
    assert call("check", file, "--format", "json").exit_code == result.exit_code != 0
    code = json.loads(call("check", file, "--format", "json").stdout)["queries"][0]["diagnostics"][0]["code"]
    assert code in result.output


def test_explain_lists_the_codes_when_there_is_no_such_one() -> None:
    result = call("explain", "SB999")
    assert result.exit_code == 2
    assert all(rule.code in result.output for rule in RULES)


# --- lightness -------------------------------------------------------------------------------------------------


def test_checking_imports_nothing_heavy() -> None:
    program = (
        "import sys; sys.argv = ['streambound', 'check', 'examples/figure2/figure2.sql']\n"
        "import cli\n"
        "try: cli.main()\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "heavy = {'pyspark', 'py4j', 'sympy', 'networkx', 'numpy', 'pandas', 'pyarrow', 'rich', 'duckdb'}\n"
        "loaded = heavy & {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_explaining_needs_no_data_library(project: Path) -> None:
    write(project, BOUNDED)
    program = (
        "import sys; sys.argv = ['streambound', 'explain', 'q.sql']\n"
        "import cli\n"
        "try: cli.main()\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "loaded = {'pyspark', 'sympy', 'networkx', 'numpy', 'duckdb'} & {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded, loaded\n"
    )
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_compile_check_says_whether_the_job_is_up_to_date(project: Path) -> None:
    write(project, BOUNDED)
    assert call("compile", "q.sql", "-o", "job.py").exit_code == 0
    written = (project / "job.py").read_bytes()
    result = call("compile", "q.sql", "-o", "job.py", "--check")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "job.py is up to date\n")
    write(project, BOUNDED + " AND S.a = 7")
    result = call("compile", "q.sql", "-o", "job.py", "--check")
    assert result.exit_code == 1
    assert "+#       S.ts > T.ts AND S.a = 7\n" in result.stdout
    assert "error: job.py: the job is out of date: the query changed" in result.stderr
    assert "streambound compile q.sql -o job.py" in result.stderr
    assert (project / "job.py").read_bytes() == written


def test_help_teaches_every_command() -> None:
    overview = call("--help").output
    for command in ("check", "explain", "compile", "run", "demo"):
        assert f"streambound {command}" in overview
        assert call(command, "--help").exit_code == 0


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
    assert re.search(r"bounded \(constant\), at most \d\.\de\+\d{4} synopsis entries", result.output)
    found = json.loads(CliRunner().invoke(cli.main, ["check", "q.sql", "--format", "json"]).output)
    assert found["queries"][0]["bound"]["entries"] > 10**5000
