"""The page of a code: a hyperlink on a terminal, a line elsewhere; both lead to a page that exists."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer.rules import DOCS, DOCS_VARIABLE, RULES

ROOT = Path(__file__).resolve().parent.parent.parent
CATALOG = '[streams.S]\ntimestamp = "ts"\ncolumns = { a = "bigint", ts = "bigint" }\n'


def check(folder: Path, *arguments: str, terminal: bool = False, **variables: str) -> str:
    (folder / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (folder / "q.sql").write_text("SELECT S.nope FROM S", encoding="utf-8")
    command = [sys.executable, str(ROOT / "cli.py"), "check", "q.sql", "--no-cache", *arguments]
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", DOCS_VARIABLE)}
    environment |= {"TERM": "xterm", **variables}
    if not terminal:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        return done.stdout
    master, slave = pty.openpty()
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=slave, stderr=slave, stdin=slave) as process:
        os.close(slave)
        parts = []
        try:
            while part := os.read(master, 65536):
                parts.append(part)
        except OSError:  # Linux says so when the other end is closed
            pass
        process.wait()
    os.close(master)
    return b"".join(parts).decode("utf-8")


def test_a_terminal_shows_a_hyperlink(tmp_path: Path) -> None:
    shown = check(tmp_path, terminal=True)
    assert f"\x1b]8;;{DOCS}/SB102.md\x1b\\" in shown
    assert shown.count("\x1b]8;;") == 2
    assert "= docs:" not in shown


@pytest.mark.parametrize("arguments", [(), ("--color",)])
def test_a_pipe_shows_the_address(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    shown = check(tmp_path, *arguments)
    assert "\x1b]8" not in shown
    assert f"docs: {DOCS}/SB102.md" in shown


def test_the_address_can_be_elsewhere(tmp_path: Path) -> None:
    assert "docs: https://docs.example/codes/SB102.md" in check(tmp_path, STREAMBOUND_DOCS="https://docs.example/codes")


def test_every_address_ends_in_a_page_of_the_repository() -> None:
    for rule in RULES:
        assert (ROOT / "docs" / "codes" / rule.docs.rpartition("/")[2]).is_file()
