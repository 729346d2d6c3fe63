"""The tutorial's files and commands, one after the other as a reader would type them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from support.program import ROOT, install_program

TUTORIAL = (ROOT / "docs" / "gate-tutorial.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", flags=re.S | re.M)


def matches(shown: str, printed: str) -> bool:
    """Whether the output is what is shown, where a line ``…`` stands for any lines."""
    pattern = "\n".join(".*" if line == "…" else re.escape(line) for line in shown.strip().split("\n"))
    return re.fullmatch(pattern, printed.strip(), flags=re.S) is not None


def test_an_ellipsis_stands_for_lines_and_nothing_else_does() -> None:
    assert matches("a\n…\nb", "a\nx\ny\nb") and matches("…\nb", "x\nb")
    assert not matches("a\nb", "a\nx\nb") and not matches("…\nb", "x\nc")


def test_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs, shop = tmp_path / "programs", tmp_path / "shop"
    install_program(programs)
    shop.mkdir()
    names = {f"GIT_{who}_{what}": "shop@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **names, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    status, run = 0, 0
    for language, file, text in BLOCK.findall(TUTORIAL):
        if file:
            (shop / file).parent.mkdir(parents=True, exist_ok=True)
            (shop / file).write_text(text, encoding="utf-8")
        if language != "console":
            continue
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, flags=re.M):
            if command == "echo $?":
                printed = str(status)
            else:
                done = subprocess.run(
                    ["bash", "-c", command], cwd=shop, env=environment, capture_output=True, check=False, text=True
                )
                status, printed = done.returncode, done.stdout
                assert status in (0, 1), f"{command}: {done.stderr}"
            assert matches(shown, printed), f"{command} prints\n{printed}"
            run += 1
    assert run > 15
