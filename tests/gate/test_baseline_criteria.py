"""A baseline and the criteria by which its findings were found: of a whole run, and of single directories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.catalog_texts import TWO_STREAMS
from support.command_line import call

BASELINE = "streambound-baseline.json"
REJECTED = "SELECT T.b FROM S, T WHERE S.ts > T.ts"
"""By both: SB201 and SB301."""
PAPER = '[[check.overrides]]\nfiles = ["queries/old/**"]\ncriteria = "paper"\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "queries" / "old").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    configure("")
    for name in ("q.sql", "old/q.sql"):
        (tmp_path / "queries" / name).write_text(REJECTED, encoding="utf-8")
    return tmp_path


def configure(settings: str) -> None:
    Path("streams.toml").write_text(f'queries = ["queries/**/*.sql"]\n{settings}\n{TWO_STREAMS}', encoding="utf-8")


def recorded() -> dict[str, str]:
    return {entry["file"]: entry["code"] for entry in json.loads(Path(BASELINE).read_text())["findings"]}


COMMANDS = [
    ("check", "--no-repairs", "--baseline", BASELINE), ("baseline", "check"), ("baseline", "update"),
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("before", "after", "code"), [("", PAPER, "SB201"), (PAPER, "", "SB301")])
def test_an_entry_of_other_criteria_is_neither_stale_nor_known(
    project: Path, before: str, after: str, code: str, command: tuple[str, ...]
) -> None:
    configure(before)
    assert call("baseline", "create").exit_code == 0
    assert recorded() == {"queries/q.sql": "SB201", "queries/old/q.sql": code}
    assert call(*command).exit_code == 0
    text = Path(BASELINE).read_text()
    configure(after)
    result = call(*command)
    assert result.exit_code == 2
    line = next(number for number, found in enumerate(text.splitlines(), 1) if "queries/old" in found)
    assert f"error: {BASELINE}:{line}: {code} of q was found with criteria" in result.stderr
    assert Path(BASELINE).read_text() == text, "what is not known to be repaired stays"
    assert call(*command, "queries/q.sql").exit_code == 0, "of files that are not checked nothing is said"


def test_the_command_line_that_goes_before_overrides_is_seen(project: Path) -> None:
    configure(PAPER)
    assert call("baseline", "create").exit_code == 0
    result = call("check", "--no-repairs", "--criteria", "exact", "--baseline", BASELINE)
    assert (result.exit_code, "SB301 of q was found with criteria paper" in result.stderr) == (2, True)


def test_the_criteria_of_a_renamed_file_are_those_of_its_new_place(project: Path) -> None:
    configure(PAPER)
    assert call("baseline", "create").exit_code == 0
    Path("queries/old/q.sql").rename("queries/moved.sql")
    assert call("baseline", "check").exit_code == 1, "SB301 is gone with its file, and SB201 is new"
    assert call("baseline", "update").exit_code == 0
    assert recorded() == {"queries/q.sql": "SB201"}


def test_what_both_criteria_find_is_known_by_both(project: Path) -> None:
    for name in ("q.sql", "old/q.sql"):
        (project / "queries" / name).write_text("SELECT COLLECT_LIST(S.a) AS n FROM S", encoding="utf-8")
    assert call("baseline", "create").exit_code == 0
    configure(PAPER)
    assert call("baseline", "check").exit_code == 0
