"""`check --watch`, and standard input that stands for a file."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from streambound import cli

CATALOG = """
queries = ["*.sql"]
[streams.S]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
"""
WAIT = 120


@contextmanager
def watching(directory: Path, *more: str) -> Iterator[Callable[[Callable[[str], bool]], None]]:
    """Runs `check --watch`; gives a function that waits for a line of its output. It ends on Ctrl+C with 130."""
    command = [sys.executable, "-u", "-m", "streambound", "check", "--watch", *more]
    environment = os.environ
    with subprocess.Popen(
        command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        lines: queue.Queue[str] = queue.Queue()
        assert process.stdout is not None
        reader = threading.Thread(target=lambda out=process.stdout: [lines.put(line) for line in out], daemon=True)
        reader.start()

        def until(holds: Callable[[str], bool]) -> None:
            while not holds(lines.get(timeout=WAIT)):
                pass

        try:
            yield until
            process.send_signal(signal.SIGINT)
            assert process.wait(WAIT) == 130
        finally:
            process.kill()
        reader.join(WAIT)


def test_a_change_is_checked_and_a_broken_catalog_waits_for_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "q.sql").write_text("SELECT a FROM S", encoding="utf-8")
    with watching(tmp_path) as until:
        until(lambda line: "1 query checked: 1 bounded" in line)
        until(lambda line: "watching" in line)
        (tmp_path / "q2.sql").write_text("SELECT nonsense FROM S", encoding="utf-8")
        until(lambda line: "2 queries checked: 1 bounded, 1 error" in line)
        until(lambda line: "watching" in line)
        (tmp_path / "streams.toml").write_text("streams = 1", encoding="utf-8")
        until(lambda line: "streambound: error: streams.toml" in line)
        until(lambda line: "watching" in line)
        (tmp_path / "streams.toml").write_text(CATALOG.replace(" a =", " nonsense ="), encoding="utf-8")
        until(lambda line: "2 queries checked: 1 bounded, 1 error" in line)
        until(lambda line: "watching" in line)
        (tmp_path / "link.sql").symlink_to("nowhere.sql")
        until(lambda line: "3 queries checked: 1 bounded, 2 error" in line)
        until(lambda line: "watching" in line)
        (tmp_path / "nowhere.sql").mkdir()
        until(lambda line: "4 queries checked: 1 bounded, 3 error" in line)


def test_settings_and_what_was_empty_are_watched_too(tmp_path: Path) -> None:
    catalog = CATALOG.replace('["*.sql"]', '["none/*.sql", "*.sql"]')
    (tmp_path / "streams.toml").write_text(catalog, encoding="utf-8")
    with watching(tmp_path, "--allow-empty") as until:
        until(lambda line: "0 queries checked" in line)
        until(lambda line: "watching" in line)
        (tmp_path / "q.sql").write_text("SELECT nonsense FROM S", encoding="utf-8")
        until(lambda line: "1 query checked: 1 error" in line)
        until(lambda line: "watching" in line)
        (tmp_path / "streams.toml").write_text(catalog + '[check]\nformats = ["jsonl"]', encoding="utf-8")
        until(lambda line: '"verdict": "error"' in line)
        until(lambda line: "watching" in line)
        (tmp_path / "streams.toml").write_text(catalog + '[check]\nformats = ["nope"]', encoding="utf-8")
        until(lambda line: "no format is called 'nope'" in line)


@pytest.mark.parametrize("more", [["-"], ["--fix"]])
def test_watching_needs_files_that_others_change(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(CATALOG, encoding="utf-8")
    assert CliRunner().invoke(cli.main, ["check", "--watch", *more]).exit_code == 2


def test_standard_input_stands_for_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inside = tmp_path / "team"
    inside.mkdir()
    (inside / "streams.toml").write_text(CATALOG, encoding="utf-8")
    command = ["check", "-", "--stdin-filename", "team/orders.sql", "--format", "json"]
    result = CliRunner().invoke(cli.main, command, input="SELECT a FROM S; SELECT b FROM S")
    report = json.loads(result.stdout)
    assert [query["name"] for query in report["queries"]] == ["orders:1", "orders:2"]
    assert {query["file"] for query in report["queries"]} == {"team/orders.sql"}
    assert [query["verdict"] for query in report["queries"]] == ["bounded", "error"]
    assert result.exit_code == 1


def test_an_interrupt_that_is_swallowed_ends_watching_all_the_same(tmp_path: Path) -> None:
    """As by a destructor: Python prints the exception and goes on."""
    (tmp_path / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "q.sql").write_text("SELECT a FROM S", encoding="utf-8")
    program = (
        "import streambound.commands.watching as w, contextlib, os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background processes ignore it
        "again = w._round\n"
        "def swallowed(*given):\n"
        "    with contextlib.suppress(KeyboardInterrupt):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return again(*given)\n"
        "w._round = swallowed\n"
        "from streambound import cli; cli.main(['check', '--watch'])"
    )
    environment = os.environ
    command = [sys.executable, "-c", program]
    options: dict[str, Any] = {"capture_output": True, "text": True, "timeout": WAIT}
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=False, **options)
    assert done.returncode == 130, done.stderr
    assert "1 query checked: 1 bounded" in done.stdout
