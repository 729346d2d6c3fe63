"""Documents as a reader follows them: files that blocks hold, and commands with what they print.

A block is fenced; behind its language ``file=NAME`` says which file it is, ``spark`` that a command of it starts Spark.
In blocks of ``console`` a command follows ``$ ``, and what it prints, on standard error and output, follows it.
A line ``…`` stands for any lines, ``…`` within a line for any text.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from types import MappingProxyType

from click.testing import CliRunner

from streambound import cli
from support.program import ROOT, install_program

_BLOCK = re.compile(r"^```(\w+)(?: file=(\S+)| (spark))?\n(.*?)^```$", flags=re.S | re.M)
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", flags=re.M)
_OURS = re.compile(r"(?:cd (\S+) && )?streambound ([^|&;<>$`\\]*)")
_STATUS = "echo $?"
EXAMPLES = ("auctions", "figure2", "fraud", "orders")
"""Of the examples, those that a project has where commands are followed."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the file that it is (or nothing), whether it starts Spark, its text."""

    language: str
    file: str
    spark: bool
    text: str

    @property
    def commands(self) -> list[tuple[str, str]]:
        """The commands of a ``console`` block, each with what is shown of its output."""
        return _COMMAND.findall(self.text) if self.language == "console" else []


def blocks_of(document: str, language: str = "") -> list[Block]:
    """The fenced blocks of a document, which is named from the root, or those of a language."""
    found = blocks_in((ROOT / document).read_text(encoding="utf-8"))
    return [block for block in found if language in ("", block.language)]


def blocks_in(text: str) -> list[Block]:
    """The fenced blocks of a text."""
    return [Block(language, file, spark == "spark", inner) for language, file, spark, inner in _BLOCK.findall(text)]


def matches(shown: str, printed: str) -> bool:
    """Whether the output is what is shown."""
    pattern = "\n".join(
        ".*" if line == "…" else "[^\n]*".join(map(re.escape, line.split("…"))) for line in shown.strip().split("\n")
    )
    return re.fullmatch(pattern, printed.strip(), flags=re.S) is not None


def follow(
    blocks: Iterable[Block],
    folder: Path,
    files: Mapping[str, str] = MappingProxyType({}),
    before: str = "",
    by_shell: bool = False,
) -> int:
    """Write the files and run the commands, in their order, in a new project; how many commands were run.

    Fails where one prints something else, or ends with another status than 0 or 1. The project has ``files`` that the
    document does not show, and some of the examples; a command that it does not show is run ``before``. Our own
    commands are run in this process, which takes a tenth of the time, or ``by_shell`` as the others are.
    """
    programs, project = folder / "programs", folder / "project"
    install_program(programs)
    project.mkdir()
    for name in EXAMPLES:
        copytree(ROOT / "examples" / name, project / "examples" / name)
    for name, text in files.items():
        _write(project / name, text)
    names = {f"GIT_{who}_{what}": "shop@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **names, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    if before:
        status, printed = from_a_shell(before, project, environment)
        assert status == 0, printed
    status, run = 0, 0
    for block in blocks:
        if block.file:
            _write(project / block.file, block.text)
        for command, shown in block.commands:
            if command == _STATUS:
                printed = str(status)
            else:
                status, printed = (from_a_shell if by_shell else in_this_process)(command, project, environment)
                assert status in (0, 1), f"{command} ends with {status} and prints\n{printed}"
            assert matches(shown, printed), f"{command} prints\n{printed}"
            run += 1
    return run


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def in_this_process(command: str, project: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a plain command of ours; others from a shell. Its status, and what it prints."""
    ours = _OURS.fullmatch(command)
    if ours is None:
        return from_a_shell(command, project, environment)
    with chdir(project / (ours[1] or "")):
        done = CliRunner().invoke(cli.main, shlex.split(ours[2], comments=True), env=environment)
    return done.exit_code, done.output


def from_a_shell(command: str, project: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a command; its status, and what it prints."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=project, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False, text=True,
    )  # fmt: skip
    return done.returncode, done.stdout
