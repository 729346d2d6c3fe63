"""Each public case of a SEQ statement through `streambound run`, a process each, as a user would: which are exact.

    .venv/bin/python tests/cases_by_command.py

The tests run the same cases in one Spark session, in a small part of the time. Exit status 1: a case is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.progress import track

from support.patching import CATALOG, catalog_text
from support.quick_java import run_java_quickly
from support.temporal_cases import CASES, catalog_of, differences, record


def by_command(case: dict[str, Any]) -> list[str]:
    """How what a case's command writes is wrong; no text: it is what the case expects."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / CATALOG).write_text(catalog_text(catalog_of(case)), encoding="utf-8")
        (folder / "q.sql").write_text(case["sql"] + "\n", encoding="utf-8")
        record(case, folder / "in")
        command = [sys.executable, "-m", "streambound", "run", "q.sql", "--input", "in"]
        command += ["--output", "out.jsonl", "--quarantine", "bad.jsonl"]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if ended.returncode:
            return [f"exit status {ended.returncode}: {ended.stderr[-400:]}"]
        return differences(case, *(_rows(folder / file) for file in ("out.jsonl", "bad.jsonl")))


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def main() -> int:
    """Run the cases, or those that are named; print what is wrong, and how many are exact."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="cases; all of them by default")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="so many commands at once")
    given = parser.parse_args()
    cases = [case for case in CASES if not given.ids or case["id"] in given.ids]
    run_java_quickly()
    wrong, console = 0, Console()
    with ThreadPoolExecutor(given.processes) as pool:
        running = {pool.submit(by_command, case): case["id"] for case in cases}
        for one in track(as_completed(running), "cases", len(running), console=console):
            if found := one.result():
                wrong += 1
                console.print(f"{running[one]}: {'; '.join(found)}", markup=False, highlight=False)
    console.print(f"{len(cases) - wrong} of {len(cases)} exact")
    return int(wrong > 0 or not cases)


if __name__ == "__main__":
    sys.exit(main())
