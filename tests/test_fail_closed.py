"""Nothing that was not analysed passes, and nobody sees a traceback: from a shell, and on files made at random."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import example, given
from hypothesis import strategies as st

from streambound import cli
from streambound.criteria.vocabulary import Verdict
from support.catalog_texts import MIXED as CATALOG
from support.profiles import examples

PASSING = {"bounded", "no-query"}
BOUNDED = "SELECT S.a FROM S, T WHERE S.ts > T.ts"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "q.sql").write_text(BOUNDED, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli.main, ["check", "--no-cache", "-j", "1", *arguments], input=stdin)


def agrees(result: Result) -> None:
    """The counts sum to the statements, and the status is 0 only where each is bounded or has no query."""
    assert "Traceback" not in result.output
    assert "internal error" not in result.output
    assert result.exit_code in (0, 1, 2, 3), result.output
    if result.exit_code == 2:
        assert "error" in result.stderr.lower()
        return
    report = json.loads(result.stdout)
    verdicts = [query["verdict"] for query in report["queries"]]
    assert report["summary"] == {verdict.value: verdicts.count(verdict.value) for verdict in Verdict}
    assert (result.exit_code == 0) == (bool(verdicts) and set(verdicts) <= PASSING)
    for query in report["queries"]:
        errors = [found for found in query["diagnostics"] if found["severity"] == "error"]
        assert bool(errors) == (query["verdict"] not in PASSING)


# --- files made at random --------------------------------------------------------------------------------------


def words(text: str) -> list[str]:
    return text.split()


WORDS = st.sampled_from(
    [
        *words("""
        SELECT DISTINCT FROM WHERE AND OR NOT IN BETWEEN UNION ALL JOIN ON AS WITH LEFT GROUP BY HAVING LIMIT CASE WHEN
        THEN END NULL IS LIKE CAST INTERVAL DATE EXISTS OVER VALUES LATERAL TRUE INSERT CREATE EXPLAIN SHOW SET TABLE
        S T R S.a T.a S.ts T.ts R.a S.b a x é 漢 `q` 'it''s' "d" r'x' X'0F' 1 -1 2.5 1e9 99999999999999999999 ( ) ( ) ,
        , . ; ; * + - / % = < <= > >= <> ! || :: -- /* */ /*+ { } [ ] $ @ # ? \\ 😀
        """),
        *("-- name: x\n", "\0", "\t", "\r\n", "\ufeff", "\u200b"),
    ]
)
SQLISH = st.lists(WORDS, max_size=30).map(" ".join)
NEARLY = st.builds(lambda at, word: BOUNDED[:at] + word + BOUNDED[at:], st.integers(0, len(BOUNDED)), WORDS)


@examples(12)
@given(
    st.one_of(SQLISH, NEARLY, st.text(max_size=40)).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | st.binary(max_size=40)
)
@example(b"(" * 5000)
@example(b"SELECT S.a FROM S WHERE " + b"NOT " * 3000 + b"S.a = 1")
@example(b"SELECT S.a FROM S WHERE " + b" AND ".join([b"S.a = 1"] * 3000))
@example(b"SELECT " + b"1 + " * 3000 + b"1 AS x FROM S")
@example(b"SELECT S.a FROM S WHERE S.a = " + b"9" * 6000)
@example(b"/*" * 3000)
@example(b"\xef\xbb\xbf")
@example("SELECT S.a FROM S WHERE S.b = '\ud800'".encode("utf-8", "surrogatepass"))
def test_no_sql_breaks_a_check(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / "sql"
    folder.mkdir(exist_ok=True)
    (folder / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (folder / "q.sql").write_bytes(content)
    arguments = (str(folder / "q.sql"), "--catalog", str(folder / "streams.toml"), "--no-repairs", "--format", "json")
    agrees(check(*arguments))
    agrees(check("-", *arguments[1:], stdin=content))


TOML = st.sampled_from(
    [
        *words("""
        queries = [ "*.sql" ] [streams.S] [streams.T] [relations.R] timestamp = "ts" columns = { a = "bigint" , }
        domain.a [0,9] rows = 3 source = {format='json'} max_per_timestamp = 2 # é [ ] { } = , ' " . 1 -1 nan
        true 2020-01-01 [check] fail_on period [suppressions] on_violation counters sinks
        """),
        *("\n", "\n", "\n", "\0", "\ufeff"),
    ]
)


@examples(15)
@given(
    st.one_of(
        st.lists(TOML, max_size=30).map(" ".join).map(str.encode),
        st.lists(st.sampled_from(CATALOG.splitlines(keepends=True)), max_size=12).map("".join).map(str.encode),
        st.binary(max_size=30),
    )
)
@example(b"a = " + b"[" * 4000)
@example(b"a." * 4000 + b"b = 1")
def test_no_catalog_breaks_a_check(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / "toml"
    folder.mkdir(exist_ok=True)
    (folder / "streams.toml").write_bytes(content)
    (folder / "q.sql").write_text(BOUNDED, encoding="utf-8")
    catalog = str(folder / "streams.toml")
    agrees(check(str(folder / "q.sql"), "--catalog", catalog, "--no-repairs", "--format", "json"))


# --- from a shell ----------------------------------------------------------------------------------------------


def shell(project: Path, command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    script = f'streambound() {{ "{sys.executable}" -m streambound "$@"; }}; {command}'
    variables = {**os.environ, "STREAMBOUND_CACHE_DIR": str(project / "cache"), **environment}
    return subprocess.run(
        ["bash", "-c", script], cwd=project, env=variables, capture_output=True, check=False, stdin=subprocess.DEVNULL
    )


SHELL = [
    ("no input at all", "streambound check -", 3, b"no SQL statement"),
    ("an empty pipe", "true | streambound check -", 3, b"no SQL statement"),
    ("a pipe that is not UTF-8", r"printf '\377' | streambound check -", 3, b"not UTF-8"),
    ("a pipe with a NUL", r"printf 'SELECT\0' | streambound check -", 3, b"binary"),
    ("a closed standard input", "streambound check - <&-", 3, b"standard input"),
    ("a report from a closed standard input", "streambound recheck - <&-", 3, b"there is no standard input"),
    ("an editor that is not there", "streambound lsp <&-", 3, b"there is no standard input"),
    ("a directory of nothing", "mkdir d; streambound check d", 2, b"no .sql file"),
    ("an empty directory beside a good file", "mkdir d; streambound check q.sql d", 2, b"no .sql file"),
    ("a missing path beside a good one", "streambound check q.sql nope.sql", 3, b"nope.sql"),
    ("a broken link", "ln -s nowhere l.sql; streambound check .", 3, b"l.sql"),
    ("a directory called x.sql", "mkdir x.sql; streambound check x.sql", 2, b"no .sql file"),
    ("a suffix in capitals", "mkdir d; echo 'SELECT x' > d/Q.SQL; streambound check d", 1, b"Q.SQL"),
    ("a statement that ends too early", "echo 'SELECT S.a FROM S WHERE' > s.sql; streambound check s.sql", 3, b"SB001"),
    ("a word too many", "echo 'SELECT S.a FROM S x y' | streambound check -", 3, b"SB001"),
    ("a parenthesis too many", "echo 'SELECT S.a FROM S)' | streambound check -", 3, b"SB001"),
    ("a catalog that registers nothing", "streambound check", 2, b"registers no queries"),
    (
        "a pattern that no file fits, beside one that some do",
        'sed -i \'1i queries = ["*.sql", "none/*.sql"]\' streams.toml; streambound check',
        2,
        b"matches no file",
    ),
    ("a closed standard output", "streambound check q.sql >&-", 3, b"standard output is closed"),
    ("a working directory that is gone", "mkdir d; cd d; rmdir ../d; streambound check", 3, b"the working directory"),
    ("an unknown code", "streambound explain SB999", 2, b"SB999"),
    (
        "an unknown code in a comment",
        "echo '-- streambound: allow SB999 reason=\"x\"' | cat - q.sql > r.sql; streambound check r.sql",
        1,
        b"SB999",
    ),
    ("an unknown command", "streambound chekc", 2, b"chekc"),
    ("a file name that is not UTF-8", r"cp q.sql $'\377.sql'; echo x > $'\376.sql'; streambound check .", 1, b"SB110"),
]


@pytest.mark.parametrize(("command", "status", "says"), [case[1:] for case in SHELL], ids=[case[0] for case in SHELL])
def test_what_was_not_analysed_fails(project: Path, command: str, status: int, says: bytes) -> None:
    """Only what the shell does to the process itself needs one: else our command runs in this one, after the others."""
    before, _, ours = command.rpartition("streambound ")
    if "&-" in ours or "rmdir" in before or "$'" in before:
        done = shell(project, command)
        output, returned = done.stdout + done.stderr, done.returncode
    else:
        said = shell(project, before.rstrip(" |;")).stdout
        result = CliRunner().invoke(cli.main, shlex.split(ours), input=said)
        output, returned = result.output_bytes, result.exit_code
    assert returned == status, output
    assert says in output
    assert b"Traceback" not in output and b"internal error" not in output


EMPTY = ["mkdir d; streambound check d", "true | streambound check -", "echo '-- c' > e.sql; streambound check e.sql"]


@pytest.mark.parametrize("command", EMPTY)
def test_empty_input_passes_only_when_allowed(project: Path, command: str) -> None:
    assert shell(project, command).returncode in (2, 3)
    done = shell(project, f"rm -rf d; {command} --allow-empty")
    assert done.returncode == 0, done.stderr
    assert b"0 queries checked" in done.stdout


def test_allow_empty_allows_nothing_else(project: Path) -> None:
    (project / "bad.sql").write_bytes(b"\xff")
    (project / "e.sql").write_text("-- nothing")
    assert check("bad.sql", "--allow-empty").exit_code == 3
    assert check("nope.sql", "--allow-empty").exit_code == 3
    result = check("e.sql", "q.sql", "--allow-empty", "--format", "json")
    assert (result.exit_code, len(json.loads(result.stdout)["queries"])) == (0, 1)


@pytest.mark.parametrize("form", ["text", "jsonl", "html"])
def test_a_closed_pipe_is_quiet(project: Path, form: str) -> None:
    (project / "q.sql").write_text(";\n".join(["SELECT T.a FROM S, T WHERE S.ts > T.ts"] * 40), encoding="utf-8")
    done = shell(project, f"streambound check q.sql --no-repairs --format {form} | head -1; exit ${{PIPESTATUS[0]}}")
    assert done.stderr == b""
    assert done.stdout.count(b"\n") == 1
    assert done.returncode == 1


def test_an_encoding_without_our_signs_still_prints(project: Path) -> None:
    (project / "q.sql").write_text("INSERT INTO `é漢😀` SELECT S.漢 FROM S", encoding="utf-8")
    done = shell(project, "streambound check q.sql", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode in (1, 3), done.stderr
    assert done.stderr == b""
    found = shell(project, "streambound check q.sql --format json", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert json.loads(found.stdout.decode("utf-8"))["queries"][0]["name"] == "é漢😀"


def test_a_pipe_that_nobody_named_is_not_waited_for(project: Path) -> None:
    os.mkfifo(project / "pipe.sql")
    (project / "streams.toml").write_text(f'queries = ["*.sql"]\n{CATALOG}', encoding="utf-8")
    for arguments in (["."], []):
        result = check(*arguments)
        assert result.exit_code == 3
        assert "pipe.sql: neither a file nor a directory" in result.stderr


def test_every_file_counts_once(project: Path) -> None:
    (project / "link.sql").symlink_to("q.sql")
    result = check("q.sql", "./q.sql", str(project / "q.sql"), ".", "--format", "json")
    assert [query["file"] for query in json.loads(result.stdout)["queries"]] == ["q.sql", "link.sql"]
