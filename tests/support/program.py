"""The program as a shell finds it: of this checkout, whatever is installed."""

from __future__ import annotations

import sys
from pathlib import Path

from support.catalog_texts import TWO_STREAMS

ROOT = Path(__file__).parents[2]


def install_program(directory: Path) -> None:
    """Put `streambound`, and `python` with what it needs, into a new directory, to be named in PATH."""
    directory.mkdir()
    programs = {
        "streambound": f"#!{sys.executable}\nfrom streambound.cli import main\nmain()\n",
        "python": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n',
    }
    for name, script in programs.items():
        program = directory / name
        program.write_text(script, encoding="utf-8")
        program.chmod(0o755)


CATALOG = f'\nqueries = ["*.sql"]{TWO_STREAMS}'
UNBOUNDED = "SELECT T.b FROM S, T WHERE S.ts > T.ts AND S.a > T.b"
