"""All benchmarks, and the table of benchmarks/README.md: `make bench`, or `python benchmarks/run.py --write`.

Machines differ and are noisy, so ratios of medians taken in one run are what counts.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from analyzer.catalog import Catalog, catalog_from_mapping  # noqa: E402
from analyzer.closure import close  # noqa: E402
from analyzer.spans import SourceText  # noqa: E402
from benchmarks.wide_query import wide_query  # noqa: E402
from criteria.check import check_source  # noqa: E402

README = ROOT / "benchmarks" / "README.md"
START, END = "<!-- results -->", "<!-- end -->"


def wall(command: list[str]) -> float:
    """Seconds of one run of a command."""
    begun = time.perf_counter()
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    return time.perf_counter() - begun


def alternating(first: list[str], second: list[str], rounds: int) -> tuple[float, float]:
    """Median seconds of two commands run in turn, so that noise hits both."""
    times = [(wall(first), wall(second)) for _ in range(rounds)]
    return statistics.median(t for t, _ in times), statistics.median(t for _, t in times)


def median_of(action: Callable[[], object], rounds: int) -> float:
    """Median seconds of a call."""
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        action()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def startup(rounds: int) -> list[tuple[str, str]]:
    """`check` on one file against importing sqlglot."""
    check = [sys.executable, "cli.py", "check", "examples/figure2/figure2.sql"]
    floor, cost = alternating([sys.executable, "-c", "import sqlglot"], check, rounds)
    return [
        ("`python -c 'import sqlglot'`", f"{floor * 1000:.0f} ms"),
        ("`streambound check` on one file", f"{cost * 1000:.0f} ms"),
        ("ratio", f"{cost / floor:.2f}"),
    ]


def check_cold(source: SourceText, catalog: Catalog) -> None:
    """One check without what an earlier one has closed."""
    close.cache_clear()
    check_source(source, catalog)


def width(rounds: int) -> list[tuple[str, str]]:
    """Deciding one query of n streams with 8 attributes each."""
    rows = []
    for streams in (2, 5, 10):
        sql, mapping = wide_query(streams, 8)
        catalog, source = catalog_from_mapping(mapping), SourceText("wide.sql", sql)
        seconds = median_of(partial(check_cold, source, catalog), rounds)
        rows.append((f"deciding {streams} streams × 8 attributes", f"{seconds * 1000:.0f} ms"))
    return rows


def many_statements(rounds: int) -> list[tuple[str, str]]:
    """A file of many statements: the cost of each must not grow with their number."""
    statement = (ROOT / "examples/figure2/figure2.sql").read_text(encoding="utf-8").strip().rstrip(";")
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        for count in (100, 400):
            file = Path(directory) / f"{count}.sql"
            file.write_text(";\n".join([statement] * count), encoding="utf-8")
            command = [sys.executable, "cli.py", "check", str(file), "--catalog", "examples/figure2/streams.toml"]
            seconds = statistics.median(wall(command) for _ in range(rounds))
            rows.append((f"`check` on {count} statements in one file", f"{seconds:.2f} s"))
    return rows


def main() -> None:
    """Run everything and print the table; with --write, put it in the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table to benchmarks/README.md")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    rows = startup(arguments.rounds) + width(arguments.rounds) + many_statements(3)
    title = f"Python {platform.python_version()}, {platform.machine()}, medians of {arguments.rounds}."
    table = "\n".join(
        [title, "", "| what | figure |", "| --- | --- |", *(f"| {what} | {value} |" for what, value in rows)]
    )
    print(table)
    if arguments.write:
        text = README.read_text(encoding="utf-8")
        head, rest = text.split(START)
        README.write_text(f"{head}{START}\n{table}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
