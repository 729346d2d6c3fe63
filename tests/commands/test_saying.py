"""What a command is doing: shown on a terminal only, and never mixed with what it prints."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import time
from streambound.commands.saying import doing, spinner
with doing("starting", {shown}) as shown:
    time.sleep(0.3)
    shown.now("reading [b]")
    time.sleep(0.3)
    print("a result")
    shown.say("a message")
    time.sleep(0.3)
with spinner("prefixes") as advance:
    advance()
    time.sleep(0.3)
"""


def on_terminal(program: str, folder: Path, **environment: str) -> tuple[str, str]:
    """What a program prints to a pipe, and what to a terminal that is its standard error."""
    ours, its = pty.openpty()
    with (folder / "out").open("w") as output:
        started = subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=output,
            stderr=its,
            env={**os.environ, "TERM": "xterm", **environment},
        )
        os.close(its)
        seen = b""
        while select.select([ours], [], [], 30)[0]:
            try:
                more = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            seen += more
        assert started.wait() == 0
    os.close(ours)
    return (folder / "out").read_text(), seen.decode()


def test_a_terminal_shows_what_is_being_done(tmp_path: Path) -> None:
    printed, shown = on_terminal(PROGRAM.format(shown=True), tmp_path)
    assert printed == "a result\n"
    places = [shown.find(what) for what in ("starting", "reading [b]", "a message", "1 prefixes")]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize(("shown", "terminal"), [(False, "xterm"), (True, "dumb")])
def test_nothing_is_shown_where_it_is_unwanted_or_the_terminal_cannot(
    tmp_path: Path, shown: bool, terminal: str
) -> None:
    program = PROGRAM.format(shown=shown).partition("with spinner")[0]
    assert on_terminal(program, tmp_path, TERM=terminal) == ("a result\n", "a message\r\n")


def test_a_file_gets_messages_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(shown=True)], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("a result\n", "a message\n")
