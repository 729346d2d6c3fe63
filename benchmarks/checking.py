"""How long checking takes: `python benchmarks/checking.py`; `--write` puts the table in benchmarks/README.md.

Machines differ and are noisy, so ratios of medians taken in one run are what counts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.query import Query
from streambound.analyzer.spans import SourceText
from streambound.benchmarks.measuring import show, write_table
from streambound.benchmarks.wide_query import SHAPES, Shape, wide_query
from streambound.criteria.check import check_source
from streambound.criteria.paper import PaperBranch, preprocessed
from streambound.criteria.theorem1 import CLAUSES
from streambound.preprocess.derive_lto import derive_lto

ROOT = Path(__file__).resolve().parent.parent
STREAMS = (5, 10, 15, 20, 25, 30)
PATIENCE = 10
"""Seconds after which the paper's pipeline is given up."""
RELATED = Shape("the paper's fragment", operators=("<", "=", ">"), offsets=False, ranges=0.3, domains=False)
CHECK = ("-m", "streambound", "check", "--no-cache", "-j1")
"""A check as the first one is, in one process."""
START, END = "<!-- results -->", "<!-- end -->"


REGISTRY = ROOT / "examples" / "registry"
COMMAND = [sys.executable, "-m", "streambound", "check", "--baseline", "streambound-baseline.json"]


def registry(runs: int = 3) -> list[tuple[str, str]]:
    """Rows of the table: wall time of a check of 840 queries, medians; the ratio is of one run's medians."""
    cold = {jobs: [_check(jobs) for _ in range(runs)] for jobs in (1, os.cpu_count() or 1)}
    with tempfile.TemporaryDirectory() as cache:
        _check(None, cache)
        warm = [_check(None, cache) for _ in range(runs)]
    rows = [
        (
            f"840 registered queries, no cache, {jobs} process{'es' if jobs > 1 else ''}",
            f"{statistics.median(times):.2f} s",
        )
        for jobs, times in cold.items()
    ]
    ratio = statistics.median(min(cold.values(), key=statistics.median)) / statistics.median(warm)
    return [
        *rows,
        ("840 registered queries, warm cache", f"{statistics.median(warm):.2f} s"),
        ("ratio", f"{ratio:.1f}"),
    ]


def _check(jobs: int | None, cache: str | None = None) -> float:
    options = [*(["-j", str(jobs)] if jobs else []), *(["--no-cache"] if cache is None else [])]
    environment = {**os.environ, "STREAMBOUND_CACHE_DIR": cache or ""}
    start = time.perf_counter()
    subprocess.run([*COMMAND, *options], cwd=REGISTRY, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


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
    """Median seconds of processor time of a call."""
    times = []
    for _ in range(rounds):
        begun = time.process_time()
        action()
        times.append(time.process_time() - begun)
    return statistics.median(times)


def startup(rounds: int) -> list[tuple[str, str]]:
    """`check` on one file against importing sqlglot."""
    check = [sys.executable, *CHECK, "examples/figure2/figure2.sql"]
    floor, cost = alternating([sys.executable, "-c", "import sqlglot"], check, rounds)
    return [
        ("`python -c 'import sqlglot'`", f"{floor * 1000:.0f} ms"),
        ("`streambound check` on one file", f"{cost * 1000:.0f} ms"),
        ("ratio", f"{cost / floor:.2f}"),
    ]


def width_seconds(streams: int, shape: Shape, distinct: bool, rounds: int, attributes: int = 20) -> float:
    """Median seconds to parse and decide a query of a shape: verdict, bound M, and the number of LTO queries."""
    sql, mapping = wide_query(streams, attributes, shape, distinct)
    catalog, source = catalog_from_mapping(mapping), SourceText("wide.sql", sql)
    return median_of(partial(check_source, source, catalog), rounds)


def width(rounds: int) -> list[tuple[str, str]]:
    """How the cost of one query grows with its streams, and what the shape of the widest changes."""
    rows = []
    for distinct in (False, True):
        kind = "set" if distinct else "bag"
        seconds = {n: width_seconds(n, SHAPES[0], distinct, rounds) for n in STREAMS}
        rows += [
            (f"{kind}: {n} streams × 20 attributes, {20 * n} predicates", f"{s * 1000:.0f} ms")
            for n, s in seconds.items()
        ]
        rows.append((f"{kind}: fitted exponent, {STREAMS[0]} to {STREAMS[-1]} streams", f"{exponent(seconds):.2f}"))
        rows += [
            (f"{kind}: 30 × 20, {shape.name}", f"{width_seconds(30, shape, distinct, rounds) * 1000:.0f} ms")
            for shape in SHAPES[1:]
        ]
    return rows


def exponent(seconds: dict[int, float]) -> float:
    """The slope of a straight line through the logarithms: 3 for a cubic cost."""
    return statistics.linear_regression([math.log(n) for n in seconds], [math.log(s) for s in seconds.values()]).slope


def cold_width(rounds: int) -> list[tuple[str, str]]:
    """The widest query from the command line, with starting Python, against importing sqlglot."""
    sql, mapping = wide_query(30, 20)
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "wide.sql").write_text(sql, encoding="utf-8")
        (Path(directory) / "streams.toml").write_text(_toml(mapping), encoding="utf-8")
        check = [sys.executable, *CHECK, f"{directory}/wide.sql", "--catalog", f"{directory}/streams.toml"]
        floor, cost = alternating([sys.executable, "-c", "import sqlglot"], check, rounds)
    what = "`streambound check` on 30 streams × 20 attributes, 600 predicates"
    return [(what, f"{cost * 1000:.0f} ms"), ("ratio", f"{cost / floor:.2f}")]


def _toml(mapping: dict[str, Any]) -> str:
    """A catalog's mapping as TOML; JSON's scalars and lists are TOML's."""
    lines = []
    for kind in ("streams", "relations"):
        for name, table in mapping[kind].items():
            lines.append(f"[{kind}.{name}]")
            for key, value in table.items():
                pairs = [(f"{key}.{k}", v) for k, v in value.items()] if isinstance(value, dict) else [(key, value)]
                lines += [f"{path} = {json.dumps(item)}" for path, item in pairs]
    return "\n".join(lines) + "\n"


def enumeration(rounds: int) -> list[tuple[str, str]]:
    """The paper's pipeline, its theorem tried on every LTO query, beside this project's criterion."""
    rows = []
    for attributes in range(1, 7):
        sql, mapping = wide_query(2, attributes, RELATED)
        catalog, source = catalog_from_mapping(mapping), SourceText("lto.sql", sql)
        (checked,) = check_source(source, catalog)
        assert checked.decision is not None
        found, seconds = enumerated(checked.decision.derivation.split)
        done = "" if seconds < PATIENCE else " so far, given up"
        ours = median_of(partial(check_source, source, catalog), rounds)
        what = f"2 streams × {attributes} attributes: the paper's pipeline; ours"
        rows.append((what, f"{found} LTO queries in {seconds:.2f} s{done}; {ours * 1000:.0f} ms"))
    return rows


def enumerated(split: Query) -> tuple[int, float]:
    """How many LTO queries Theorem 1 has been tried on when that is done, or takes too long; and the seconds."""
    begun, found = time.process_time(), 0
    for paper in preprocessed(split):
        for lto in derive_lto(paper.facts.branch):
            branch = PaperBranch(Facts.of(lto))
            for clause in CLAUSES:
                list(clause(branch))
            found += 1
            if time.process_time() - begun > PATIENCE:
                return found, time.process_time() - begun
    return found, time.process_time() - begun


def many_statements(rounds: int) -> list[tuple[str, str]]:
    """A file of many statements: the cost of each must not grow with their number."""
    statement = (ROOT / "examples/figure2/figure2.sql").read_text(encoding="utf-8").strip().rstrip(";")
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        for count in (1000, 2000, 4000, 8000):
            file = Path(directory) / f"{count}.sql"
            different = [statement.replace("T.B < 5", f"T.B < {5 + i}") for i in range(count)]
            file.write_text(";\n".join(different), encoding="utf-8")
            command = [sys.executable, *CHECK, str(file), "--catalog", "examples/figure2/streams.toml"]
            seconds = statistics.median(wall(command) for _ in range(rounds))
            each = f"{seconds / count * 1000:.2f} ms each"
            rows.append((f"`check` on {count} statements in one file", f"{seconds:.2f} s, {each}"))
        warm = _warm([part for part in command if part != "--no-cache"], directory)
        rows.append(
            (f"the same {count} statements, from the cache", f"{warm:.2f} s, {seconds / warm:.0f} times faster")
        )
    return rows


def _warm(command: list[str], directory: str) -> float:
    """Median seconds of a command whose outcomes are in the cache."""
    os.environ["STREAMBOUND_CACHE_DIR"] = f"{directory}/cache"
    return statistics.median([wall(command) for _ in range(4)][1:])


def main() -> None:
    """Run everything and print the table; with --write, put it in the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table to benchmarks/README.md")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    rounds = arguments.rounds
    rows = startup(rounds) + cold_width(rounds) + width(rounds) + many_statements(1) + registry() + enumeration(rounds)
    title = f"Python {platform.python_version()}, {platform.machine()}, medians of {rounds}."
    print(title)
    show(rows)
    if arguments.write:
        write_table(rows, START, END, title, "")


if __name__ == "__main__":
    main()
