"""The gate as a whole on files, settings, comments and options made at random: only what was analysed passes."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streambound import cli
from streambound.reports.formats import FORMAT_NAMES
from support.catalog_texts import MIXED as CATALOG
from support.profiles import MORE

SETTINGS = (
    'fail-on = "warning"', 'fail-on = "note"', 'criteria = "paper"', "allow-empty = true",
    "repairs = false", 'severity = { SB150 = "off" }', 'severity = { SB150 = "error" }', "max-entries = 5",
    'budget = "1 kB"',
    'allow = { SB201 = "x" }', 'deny = ["SB201"]', 'baseline = "base.json"', "transitions-only = true",
    '[[check.overrides]]\nfiles = ["sub/*"]\nfail-on = "note"\nallow-empty = true',
    '[[check.overrides]]\nfiles = ["**"]\nallow = { SB202 = "y" }\nmax-entries = 1\ncriteria = "paper"',
)  # fmt: skip
STATEMENTS = (
    *["SELECT S.a FROM S, T WHERE S.ts > T.ts"] * 6, "SELECT T.a FROM S, T WHERE S.ts > T.ts", "SELECT count(*) FROM S",
    "SELECT nope FROM S", "SELECT SELECT", "SELECT DISTINCT S.a FROM S, T WHERE S.ts > T.ts AND S.a < T.a",
    "SELECT S.a FROM S WHERE S.a = 1 AND S.a > 3", "SELECT S.b FROM S, R WHERE S.a = R.a",
    "SELECT T.a FROM S, T WHERE S.ts BETWEEN T.ts AND T.ts + 99",
)  # fmt: skip
COMMENTS = (
    "-- streambound: allow SB201 reason=\"ok\"\n", '/* streambound: allow-file SB201, SB203 reason="f" */',
    '-- streambound: allow SB201 until=2020-01-01 reason="over"\n', "-- name: q\n", "-- streambound: allow SB901\n",
)  # fmt: skip
WORDS = (
    "streambound:", "--", "/*", "*/", "allow", "allow-file", "SB201", "SB999", "sb201", "unbounded-projection",
    "until=", 'reason="x"', "reason=", 'reason="', "until=2999-01-01", "until=2020-01-01", ",", ";", '"', "\\", "\n",
    "\r\n", "\t", "😀", "\u2028", "\f", "\0",
)  # fmt: skip
OPTIONS = (
    *(f"--format {name}" for name in FORMAT_NAMES), "--criteria paper", "--criteria exact", "--fail-on note",
    "--repairs", "--no-repairs", "--no-cache", "--allow-empty", "--max-entries 3", "--budget 90B",
    "--stdin-filename sub/x.sql",
    "--fix", "--fix --unsafe", "--diff --unsafe", "--baseline base.json", "--against HEAD", "--transitions-only",
    "-o json:o.json",
)  # fmt: skip
PATHS = ("a.sql", "b.sql", "sub", "./a.sql", "sub/c.sql", "-", ".")
WRONG = ("nope.sql", "", "streams.toml", "/dev/null", "a.sql/", "x" * 300, "-o nope", "--catalog nope.toml", "-j 0")
CHANGING = ("--fix", "--unsafe", "--diff")


def _comment(choose: random.Random) -> str:
    if choose.random() < 0.5:
        return choose.choice(COMMENTS)
    words = " ".join(choose.choice(WORDS) for _ in range(choose.randrange(6)))
    return choose.choice(("-- streambound: ", "/* streambound: ", "-- ")) + words + choose.choice(("\n", "*/", "*/\n"))


def _sql(choose: random.Random) -> bytes:
    parts = [
        "".join(_comment(choose) for _ in range(choose.randrange(2))) + choose.choice(STATEMENTS)
        for _ in range(choose.choice((0, 1, 1, 1, 1, 2, 2)))
    ]
    content = bytearray(choose.choice((";", ";\n", ";;", " ; -- x\n")).join(parts).encode())
    if content and choose.random() < 0.05:
        content[choose.randrange(len(content))] = choose.randrange(256)
    return bytes(content)


def _catalog(choose: random.Random) -> str:
    settings = sorted(choose.sample(SETTINGS, choose.choice((0, 0, 1, 2))), key=lambda text: text.startswith("[["))
    return "\n".join(('queries = ["*.sql", "sub/*.sql"]\n[check]', *settings, CATALOG))


def _write(choose: random.Random) -> None:
    Path("streams.toml").write_text(_catalog(choose), encoding="utf-8")
    for name in ("a.sql", "b.sql", "sub/c.sql"):
        if choose.random() < 0.8:
            Path(name).write_bytes(_sql(choose))


def _arguments(choose: random.Random) -> list[str]:
    paths = choose.sample(PATHS, choose.choice((0, 0, 1, 2)))
    options = choose.sample(OPTIONS, choose.choice((0, 1, 1, 2)))
    wrong = choose.sample(WRONG, choose.random() < 0.15)
    return ["check", *paths, *(word for option in (*options, *wrong) for word in option.split(" "))]


def _run(arguments: list[str], stdin: bytes) -> Result:
    return CliRunner().invoke(cli.main, arguments, input=stdin)


def _plain(arguments: list[str]) -> Iterator[str]:
    """The arguments without those that write or choose a format."""
    skip = False
    for word in arguments:
        if not skip and word not in (*CHANGING, "--format", "-o"):
            yield word
        skip = word in ("--format", "-o")


def _passes(arguments: list[str], stdin: bytes) -> bool:
    """Whether a run may pass: by its JSON report, every statement is bounded or accepted, without an error."""
    result = _run([*_plain(arguments), "--format", "json"], stdin)
    report = json.loads(result.stdout)
    queries = report["queries"]
    assert sum(report["summary"].values()) == len(queries)
    settings = Path("streams.toml").read_text(encoding="utf-8")
    if not queries:
        return "--allow-empty" in arguments or "allow-empty = true" in settings
    only = "--transitions-only" in arguments or "transitions-only = true" in settings
    if "--against" in arguments and only:
        return not any(found["code"] in ("SB001", "SB401") for query in queries for found in query["diagnostics"])
    open_errors = any(
        found["severity"] == "error" and not found["suppression"] for query in queries for found in query["diagnostics"]
    )
    return not open_errors and all(query["verdict"] == "bounded" or query["suppressed"] for query in queries)


@pytest.mark.parametrize("part", range(4))
def test_what_passes_was_analysed_and_nothing_breaks_a_check(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses: list[int] = []
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    for seed in range(part, 80 * MORE, 4):
        choose = random.Random(seed)
        folder = tmp_path / str(seed)
        (folder / "sub").mkdir(parents=True)
        monkeypatch.chdir(folder)
        _write(choose)
        if choose.random() < 0.2:
            for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
                subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *command], check=True)
            _write(choose)
        if choose.random() < 0.3:
            _run(["baseline", "create", "--baseline", "base.json"], b"")
        arguments, stdin = _arguments(choose), _sql(choose)
        result = _run(arguments, stdin)
        told = (seed, arguments, result.output[-2000:])
        assert result.exit_code in (0, 1, 2, 3), told
        assert "Traceback" not in result.output and "internal error" not in result.output, told
        assert result.exit_code or _passes(arguments, stdin), told
        statuses.append(result.exit_code)
    assert 0 in statuses and 1 in statuses, f"a test of nothing but wrong usage shows little: {statuses}"
