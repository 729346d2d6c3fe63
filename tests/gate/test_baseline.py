"""The baseline: it accepts what was there, nothing new, and only ever shrinks."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from support.command_line import call
from support.profiles import MORE

CATALOG = """
queries = ["queries/*.sql"]
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
"""
BASELINE = "streambound-baseline.json"
UNBOUNDED = "SELECT T.a FROM S, T WHERE S.ts > T.ts"
OTHER = "SELECT T.b FROM S, T WHERE S.ts > T.ts AND S.a > T.a"
BOUNDED = "SELECT S.a FROM S, T WHERE S.ts > T.ts"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "queries").mkdir()
    (tmp_path / "streams.toml").write_text(CATALOG)
    write(tmp_path, "a.sql", f"{UNBOUNDED};\n{BOUNDED};\n-- name: other\n{OTHER}")
    write(tmp_path, "b.sql", f"{UNBOUNDED};\n{UNBOUNDED}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(project: Path, name: str, text: str) -> None:
    (project / "queries" / name).write_text(text)


def entries(project: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((project / BASELINE).read_text())["findings"]
    return found


def gated(*arguments: str) -> int:
    """The exit status, which `check --baseline` and `baseline check` agree on."""
    status = call("check", "--baseline", BASELINE, "--no-repairs", *arguments).exit_code
    assert call("baseline", "check", *arguments).exit_code == status
    return status


def test_what_is_recorded_passes_and_nothing_else(project: Path) -> None:
    assert call("check", "--no-repairs").exit_code == 1
    result = call("baseline", "create")
    assert (result.exit_code, result.output) == (0, f"wrote {BASELINE}: 5 findings\n")
    assert sorted((e["file"], e["code"]) for e in entries(project)) == [
        ("queries/a.sql", "SB201"),
        ("queries/a.sql", "SB201"),
        ("queries/a.sql", "SB202"),
        ("queries/b.sql", "SB201"),
        ("queries/b.sql", "SB201"),
    ]
    shown = call("check", "--baseline", BASELINE, "--no-repairs")
    assert shown.exit_code == 0
    assert "5 queries checked: 1 bounded, 4 unbounded; 4 of them suppressed" in shown.output
    assert f"SB201 at queries/b.sql:2:8 is allowed by {BASELINE}:" in shown.output
    assert gated() == 0
    write(project, "c.sql", "SELECT S.a, T.a FROM S, T WHERE S.ts > T.ts")
    assert gated() == 1
    assert "queries/c.sql:1:13: new: SB201 nothing bounds T.a" in call("baseline", "check").output


def test_a_third_twin_is_new(project: Path) -> None:
    call("baseline", "create")
    write(project, "b.sql", ";\n".join([UNBOUNDED] * 3))
    assert gated() == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda sql: "-- a comment\n" * 100 + sql,
        lambda sql: re.sub(r"(?<!--)(?<!name:) ", "\n  ", sql),
        lambda sql: sql.replace("SELECT", "select").replace("FROM", "from"),
        lambda sql: f"{BOUNDED} AND S.b = 1;\n{sql}",
        lambda sql: sql.replace("\n", "\r\n"),
        lambda sql: sql.replace("AND S.a > T.a", "AND S.a > T.a AND S.b > 3"),
    ],
    ids=["lines above", "another layout", "another case", "a query above", "CRLF", "a named query edited"],
)
def test_neither_layout_nor_place_makes_a_new_finding(project: Path, change) -> None:  # type: ignore[no-untyped-def]
    call("baseline", "create")
    for name in ("a.sql", "b.sql"):
        write(project, name, change((project / "queries" / name).read_text()))
    assert gated() == 0, call("baseline", "check").output


def test_a_stale_entry_fails_until_an_update_removes_it(project: Path) -> None:
    call("baseline", "create")
    before = entries(project)
    write(project, "b.sql", f"{UNBOUNDED};\n{BOUNDED}")
    assert gated() == 1
    result = call("check", "--baseline", BASELINE, "--no-repairs")
    pattern = rf"error: {BASELINE}:(\d+): stale: there is no SB201 of b:2 in queries/b.sql any more"
    (line,) = re.findall(pattern, result.stderr)
    assert '"query": "b:2"' in (project / BASELINE).read_text().splitlines()[int(line) - 1]
    assert "streambound baseline update" in result.stderr
    result = call("baseline", "update")
    assert (result.exit_code, "4 findings left, 1 removed" in result.output) == (0, True)
    assert [e for e in before if e in entries(project)] == entries(project)
    assert gated() == 0


def test_an_update_never_adds(project: Path) -> None:
    call("baseline", "create")
    text = (project / BASELINE).read_text()
    write(project, "c.sql", OTHER)
    assert call("baseline", "update").exit_code == 0
    assert (project / BASELINE).read_text() == text
    assert gated() == 1
    result = call("baseline", "create")
    assert (result.exit_code, "a baseline only shrinks" in result.stderr) == (2, True)
    assert (project / BASELINE).read_text() == text


def test_only_what_was_checked_is_judged_stale(project: Path) -> None:
    call("baseline", "create")
    write(project, "b.sql", BOUNDED)
    assert gated("queries/a.sql") == 0
    call("baseline", "update", "queries/a.sql")
    assert len(entries(project)) == 5
    assert gated("queries/b.sql") == 1
    (project / "queries" / "b.sql").unlink()
    assert gated("queries/a.sql") == 1
    call("baseline", "update", "queries/a.sql")
    assert len(entries(project)) == 3


def test_a_renamed_file_is_the_same_one_and_an_update_writes_its_new_name(project: Path) -> None:
    call("baseline", "create")
    (project / "queries" / "b.sql").rename(project / "queries" / "c.sql")
    assert gated() == 0
    write(project, "c.sql", ";\n".join([UNBOUNDED] * 3))
    assert gated() == 1
    write(project, "c.sql", ";\n".join([UNBOUNDED] * 2))
    result = call("baseline", "update")
    assert "5 findings left, 0 removed" in result.output
    assert {e["file"] for e in entries(project)} == {"queries/a.sql", "queries/c.sql"}
    assert gated() == 0


def test_entries_of_a_file_that_does_not_parse_stay(project: Path) -> None:
    call("baseline", "create")
    write(project, "b.sql", f"{UNBOUNDED} AND;\n{UNBOUNDED}")
    assert gated() == 3
    call("baseline", "update")
    assert len(entries(project)) == 5


def test_what_was_not_analysed_cannot_be_recorded(project: Path) -> None:
    write(project, "c.sql", "SELECT nope FROM S")
    result = call("baseline", "create")
    assert result.exit_code == 1
    assert "queries/c.sql:1:8: SB102 cannot be recorded" in result.stderr
    assert len(entries(project)) == 5
    assert gated() == 1
    (project / BASELINE).unlink()
    write(project, "c.sql", "SELECT SELECT FROM S")
    assert call("baseline", "create").exit_code == 3
    assert gated() == 3


def test_an_entry_made_by_hand_accepts_nothing_that_was_not_analysed(project: Path) -> None:
    call("baseline", "create")
    write(project, "c.sql", "SELECT nope FROM S")
    from streambound.analyzer.workspace import Workspace
    from streambound.gate.baseline import (
        BaselineEntry,
        baseline_text,
        read_baseline,
    )
    from streambound.gate.check_files import GateSettings, check_files
    from streambound.reports.fingerprint import fingerprints

    (item,) = check_files([Path("queries/c.sql")], Workspace(), GateSettings(repairs=0))
    known = read_baseline(project / BASELINE)
    forged = BaselineEntry("queries/c.sql", "c", "SB102", fingerprints([item])[0][0])
    (project / BASELINE).write_text(baseline_text("exact", [*known.entries, forged]))
    assert gated() == 1


def test_a_comment_takes_over_from_an_entry(project: Path) -> None:
    call("baseline", "create")
    write(project, "b.sql", f'-- streambound: allow-file SB201 reason="x"\n{UNBOUNDED};\n{UNBOUNDED}')
    assert gated() == 1
    call("baseline", "update")
    assert (len(entries(project)), gated()) == (3, 0)


def test_warnings_are_recorded_when_asked_for(project: Path) -> None:
    write(project, "c.sql", "SELECT 1 AS one FROM S WHERE S.a < 1 AND S.a > 1")
    call("baseline", "create")
    assert call("check", "--baseline", BASELINE, "--fail-on", "warning", "--no-repairs").exit_code == 1
    (project / BASELINE).unlink()
    call("baseline", "create", "--fail-on", "warning")
    assert call("check", "--baseline", BASELINE, "--fail-on", "warning", "--no-repairs").exit_code == 0


def test_it_is_found_from_another_directory(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call("baseline", "create")
    monkeypatch.chdir(project / "queries")
    result = call("check", "a.sql", "b.sql", "--baseline", f"../{BASELINE}", "--no-repairs")
    assert result.exit_code == 0, result.output


def test_fixing_what_is_recorded_makes_it_stale(project: Path) -> None:
    call("baseline", "create")
    result = call("check", "--baseline", BASELINE, "--fix", "--unsafe")
    assert "5 queries checked: 5 bounded" in result.stdout
    assert (result.exit_code, result.stderr.count(": stale: ")) == (1, 5)
    call("baseline", "update")
    assert (entries(project), gated()) == ([], 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", ":1:2: not JSON"),
        ("[]", ":1: not a baseline"),
        ('{"schema_version": 1}', ":1: not a baseline"),
        (
            '{"schema_version": 2, "scheme": "streambound/v1", "criteria": "exact", "findings": []}',
            ":1: the baseline is of another version",
        ),
        (
            '{"schema_version": 1, "scheme": "streambound/v1", "criteria": "exact", "findings": [\n'
            '{"file": "a.sql", "query": "q",\n "code": 1, "fingerprint": "f"}]}',
            ":3:10: not a baseline: 1 is not a text at findings[0].code",
        ),
        (
            '{"schema_version": 1, "scheme": "streambound/v1", "criteria": "all", "findings": []}',
            ':1:63: not a baseline: "all" is not one of "exact", "paper" at criteria',
        ),
        (
            '{"schema_version": 1, "scheme": "streambound/v1", "criteria": "paper", "findings": []}',
            "the baseline was created with --criteria paper",
        ),
    ],
)
def test_what_is_no_baseline_is_refused_with_its_place(project: Path, text: str, message: str) -> None:
    (project / BASELINE).write_text(text)
    result = call("check", "--baseline", BASELINE)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_a_missing_baseline_says_how_to_begin(project: Path) -> None:
    for arguments in (["check", "--baseline", BASELINE], ["baseline", "check"], ["baseline", "update"]):
        result = call(*arguments)
        assert (result.exit_code, "streambound baseline create writes one" in result.stderr) == (2, True)


@pytest.mark.parametrize("seed", range(4 * MORE))
def test_random_edits_the_baseline_only_shrinks_and_never_hides_a_new_finding(project: Path, seed: int) -> None:
    """Beside a count of texts: a statement's text passes at most as often as it was recorded."""
    choose = random.Random(seed)
    pool = [UNBOUNDED, OTHER, BOUNDED, f"{UNBOUNDED} AND T.b > 3", f"{UNBOUNDED} AND T.a BETWEEN 0 AND 9"]

    def drawn() -> list[str]:
        return [choose.choice(pool) for _ in range(choose.randint(1, 5))]

    state = {name: drawn() for name in ("a.sql", "b.sql")}
    for name, statements in state.items():
        write(project, name, ";\n".join(statements))
    call("baseline", "create")
    recorded = {(name, text): statements.count(text) for name, statements in state.items() for text in statements}
    for _ in range(3):
        name = choose.choice(list(state))
        state[name] = drawn()
        write(project, name, "\n" * choose.randint(0, 3) + ";\n".join(state[name]))
        unbounded = [t for t in pool if t != BOUNDED and "BETWEEN" not in t]
        new = any(state[n].count(t) > recorded.get((n, t), 0) for n in state for t in unbounded)
        stale = any(state[n].count(t) < recorded.get((n, t), 0) for n in state for t in unbounded)
        result = call("baseline", "check")
        assert result.exit_code == int(new or stale)
        assert (": new: " in result.output, ": stale: " in result.output) == (new, stale)
        before = entries(project)
        call("baseline", "update")
        assert all(entry in before for entry in entries(project))
        recorded = {key: min(count, state[key[0]].count(key[1])) for key, count in recorded.items()}
