"""A test run ends with its last line: DuckDB's types are released before the interpreter goes.

Evaluated annotations in tests that Hypothesis wraps would keep them alive, and DuckDB would print a page of leaks; so
every file that imports duckdb postpones annotations.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_nothing_is_printed_after_the_tests() -> None:
    command = [sys.executable, "-m", "pytest", "tests/preprocess/test_meaning.py", "-k", "test_sets"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stderr == ""
    assert "leaked" not in done.stdout
