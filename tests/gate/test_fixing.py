"""`check --fix`: what it changes, what it leaves, that a second run changes nothing, and how files are written."""

from __future__ import annotations

import errno
import os
import random
import re
import stat
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound import cli
from streambound.analyzer.errors import InputError
from streambound.gate.writing import write_texts
from support.command_line import call
from support.profiles import MORE

CATALOG = """\
# the streams of a shop
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", k = "string", ts = "bigint" }

[streams.T]
timestamp = "ts"   # seconds
columns = { a = "bigint", k = "string", ts = "bigint" }

[streams.P]
timestamp = "ts"
columns = { a = "bigint", kind = "string", ts = "bigint" }

[[streams.P.punctuations]]
attributes = ["a"]
column = "kind"
value = "closed"
"""
DECLARED = "SELECT P.a, COUNT(*) AS n FROM P GROUP BY P.a"
"""Its best repair is one of the catalog: how many keys are open at most."""
UNSAFE = "SELECT T.a FROM S, T WHERE S.ts > T.ts"
BOUNDED = "SELECT S.a FROM S, T WHERE S.ts > T.ts"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "streams.toml").write_text(CATALOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(project: Path, text: str, name: str = "q.sql") -> str:
    (project / name).write_bytes(text.encode())
    return name


def contents(project: Path) -> dict[str, bytes]:
    return {str(path.relative_to(project)): path.read_bytes() for path in project.rglob("*") if path.is_file()}


def test_fix_applies_what_is_safe_and_reports_what_is_left(project: Path) -> None:
    """A suppression that nothing needs is safe to remove; whatever makes a query bounded changes its results."""
    write(
        project, f'-- streambound: allow SB201 reason="x"\n-- name: one\n{BOUNDED};\n-- name: two\n{UNSAFE} -- behind\n'
    )
    result = call("check", "q.sql", "--fix")
    assert result.exit_code == 1
    assert "one: bounded" in result.stdout and "two: unbounded" in result.stdout
    assert "fixed: remove the unused suppression (safe)" in result.stderr
    assert "1 query has repairs that change results or are a contract: --unsafe --diff shows them" in result.stderr
    assert (project / "q.sql").read_text() == f"-- name: one\n{BOUNDED};\n-- name: two\n{UNSAFE} -- behind\n"
    assert (project / "streams.toml").read_text() == CATALOG


def test_a_safe_repair_is_applied_and_a_contract_is_not(project: Path) -> None:
    """Of two statements beyond joins one is bounded without its DISTINCT; the other one needs values or times."""
    safe = "SELECT MAX(x.a) AS m FROM (SELECT DISTINCT a, b FROM S) AS x"
    counted = "SELECT COUNT(*) AS n FROM (SELECT DISTINCT a FROM S WHERE b > 0) AS x"
    write(project, f"-- name: one\n{safe};\n-- name: two\n{counted}")
    result = call("check", "q.sql", "--fix")
    assert "one: bounded" in result.stdout and "two: unbounded" in result.stdout
    assert "fixed: leave out a DISTINCT (safe)" in result.stderr
    assert (project / "q.sql").read_text() == f"-- name: one\n{safe.replace('DISTINCT ', '')};\n-- name: two\n{counted}"
    assert (project / "streams.toml").read_text() == CATALOG


def test_unsafe_applies_the_others(project: Path) -> None:
    write(project, f"-- a comment\n{UNSAFE}   -- behind\n;\n{BOUNDED}  ;\n")
    result = call("check", "q.sql", "--fix", "--unsafe")
    assert (result.exit_code, "2 queries checked: 2 bounded" in result.stdout) == (0, True)
    assert "(changes results)" in result.stderr
    assert call("check", "q.sql").exit_code == 0


def test_a_bounded_query_and_its_file_stay_as_they_are(project: Path) -> None:
    write(project, f"{BOUNDED}  -- x")
    before = contents(project)
    result = call("check", "q.sql", "--fix", "--unsafe")
    assert (result.exit_code, contents(project)) == (0, before)
    assert "nothing to fix" in result.stderr


@pytest.mark.parametrize("unsafe", [[], ["--unsafe"]])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_diff_changes_nothing_and_is_what_fix_does(project: Path, unsafe: list[str], newline: str) -> None:
    sql = f'\ufeff-- streambound: allow SB203 reason="x"\n{DECLARED}\n  HAVING COUNT(*) > 3;\n\n\n\n{UNSAFE}'
    write(project, sql.replace("\n", newline))
    before = contents(project)
    shown = call("check", "q.sql", "--diff", *unsafe)
    assert (shown.exit_code, contents(project)) == (1, before)
    assert shown.stdout.startswith("--- a/")
    assert "would be fixed" in shown.stderr
    (project / "fix.diff").write_bytes(shown.stdout_bytes)
    subprocess.run(["git", "apply", "--whitespace=nowarn", "fix.diff"], cwd=project, check=True)
    (project / "fix.diff").unlink()
    patched = contents(project)
    assert patched != before
    for name, content in before.items():
        (project / name).write_bytes(content)
    call("check", "q.sql", "--fix", *unsafe)
    assert contents(project) == patched
    assert patched["q.sql"].startswith(b"\xef\xbb\xbf")
    for name, content in patched.items():
        assert content.count(b"\r\n") == (content.count(b"\n") if newline == "\r\n" and name == "q.sql" else 0)


def test_what_a_comment_accepts_is_left_alone(project: Path) -> None:
    allow = '-- streambound: allow SB201{} reason="x"\n'
    write(project, f"{allow.format('')}{DECLARED};\n{allow.format('')}{UNSAFE}")
    before = contents(project)
    assert call("check", "q.sql", "--fix", "--unsafe").exit_code == 0
    assert contents(project) == before


def test_an_unused_suppression_goes_also_from_an_accepted_query(project: Path) -> None:
    write(project, f'-- streambound: allow SB201, SB202 reason="x"\n{UNSAFE}')
    assert call("check", "q.sql", "--fix").exit_code == 0
    assert (project / "q.sql").read_text() == f'-- streambound: allow SB201 reason="x"\n{UNSAFE}'


def test_two_queries_that_want_the_same_of_the_catalog_share_it(project: Path) -> None:
    """Both want a number of open keys of P: the catalog must not get it twice."""
    write(project, f"{DECLARED};\nSELECT P.a, MAX(P.ts) AS t FROM P GROUP BY P.a;\n{UNSAFE} AND S.a > T.a")
    assert call("check", "q.sql", "--fix", "--unsafe").exit_code == 0
    assert (project / "streams.toml").read_text().count("max_open") == 1
    before = contents(project)
    assert call("check", "q.sql", "--fix", "--unsafe").exit_code == 0
    assert contents(project) == before


def test_files_that_cannot_be_read_do_not_keep_the_others_from_being_fixed(project: Path) -> None:
    write(project, DECLARED)
    result = call("check", "q.sql", "missing.sql", "--fix", "--unsafe")
    assert result.exit_code == 3
    assert "max_open" in (project / "streams.toml").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--unsafe"], "--unsafe says which fixes to apply"),
        (["--fix", "--no-repairs"], "--no-repairs looks for nothing"),
        (["--diff", "--criteria", "paper"], "repairs are for the exact criteria"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(project: Path, options: list[str], message: str) -> None:
    write(project, DECLARED)
    before = contents(project)
    result = call("check", "q.sql", *options)
    assert (result.exit_code, message in result.stderr) == (2, True)
    assert contents(project) == before


def test_standard_input_cannot_be_fixed(project: Path) -> None:
    result = CliRunner().invoke(cli.main, ["check", "-", "--fix"], input=DECLARED)
    assert (result.exit_code, "standard input cannot be fixed" in result.stderr) == (2, True)


# --- random files ----------------------------------------------------------------------------------------------

COMMENT = re.compile(r"/\*.*?\*/|--[^\r\n]*", re.S)


def _random_file(choose: random.Random) -> str:
    newline = choose.choice(["\n", "\r\n"])

    def space() -> str:
        return choose.choice([" ", "  ", newline, "\t", f" -- é漢😀{newline}", " /* a, b */ ", f"{newline}  "])

    def query() -> str:
        columns = choose.sample(["T.a", "T.k", "S.a", "S.k"], choose.randint(1, 3))
        distinct = choose.choice(["", "", "DISTINCT "])
        conditions = ["S.ts > T.ts", *choose.sample(["S.a > T.a", "S.k = T.k", "T.a > 3", "S.b <= T.a"], 2)]
        words = f"SELECT|{distinct}{',|'.join(columns)}|FROM|S,|T|WHERE|{'|AND|'.join(conditions)}".split("|")
        return "".join(word + space() for word in words)

    return f";{newline}".join(query() for _ in range(choose.randint(1, 4)))


@pytest.mark.parametrize("seed", range(6 * MORE))
def test_a_second_fix_changes_nothing_and_comments_stay(project: Path, seed: int) -> None:
    choose = random.Random(seed)
    for name in ("a.sql", "b.sql"):
        write(project, _random_file(choose), name)
    before = contents(project)
    for options in (["--fix"], ["--fix", "--unsafe"]):
        first = call("check", "a.sql", "b.sql", *options)
        assert first.exit_code in (0, 1), first.output
        after = contents(project)
        again = call("check", "a.sql", "b.sql", *options)
        assert contents(project) == after
        assert (again.exit_code, again.stdout) == (first.exit_code, first.stdout)
        assert "nothing to fix" in again.stderr
    for name in ("a.sql", "b.sql"):
        old, new = before[name].decode(), after[name].decode()
        assert COMMENT.findall(new) == COMMENT.findall(old)
        assert new.count("\r\n") == (new.count("\n") if "\r\n" in old else 0)
    assert "no repair was found" in first.stdout or first.exit_code == 0


# --- writing ---------------------------------------------------------------------------------------------------


def test_a_file_that_changed_meanwhile_is_not_overwritten(project: Path) -> None:
    write(project, "one", "a.sql")
    write(project, "changed", "b.sql")
    with pytest.raises(InputError, match="changed while it was checked"):
        write_texts({"a.sql": ("one", "ONE"), "b.sql": ("two", "TWO")})
    assert contents(project) == {"streams.toml": CATALOG.encode(), "a.sql": b"one", "b.sql": b"changed"}


def test_a_file_that_may_not_be_written_is_an_error_and_nothing_is(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, DECLARED)
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "streams.toml" and allowed(path, mode))
    before = contents(project)
    result = call("check", "q.sql", "--fix", "--unsafe")
    assert (result.exit_code, "may not be written" in result.stderr) == (3, True)
    assert contents(project) == before


def test_a_full_disk_leaves_every_file_as_it_was(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, f'-- streambound: allow SB202 reason="x"\n{DECLARED}')
    before, files = contents(project), []

    def synced(handle: int) -> None:
        files.append(handle)
        if len(files) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", synced)
    result = call("check", "q.sql", "--fix", "--unsafe")
    assert (result.exit_code, "No space left on device; nothing was written" in result.stderr) == (3, True)
    assert len(files) == 2
    assert contents(project) == before


def test_mode_and_link_stay(project: Path) -> None:
    (project / "real").mkdir()
    (project / "streams.toml").rename(project / "real" / "streams.toml")
    (project / "streams.toml").symlink_to("real/streams.toml")
    (project / "real" / "streams.toml").chmod(0o640)
    write(project, DECLARED)
    assert call("check", "q.sql", "--fix", "--unsafe").exit_code == 0
    assert (project / "streams.toml").is_symlink()
    assert "max_open" in (project / "real" / "streams.toml").read_text()
    assert stat.S_IMODE((project / "real" / "streams.toml").stat().st_mode) == 0o640
