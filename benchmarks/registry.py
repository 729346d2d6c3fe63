"""The registry example through the gate: cold, warm, and with several processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REGISTRY = Path(__file__).parents[1] / "examples" / "registry"
COMMAND = [sys.executable, "-m", "streambound", "check", "--baseline", "streambound-baseline.json"]


def registry(runs: int = 3) -> list[tuple[str, str]]:
    """Rows of the table: wall time of a check of 840 queries, medians; the ratio is of one run's medians."""
    cold = {jobs: [_check(jobs) for _ in range(runs)] for jobs in (1, os.cpu_count() or 1)}
    with tempfile.TemporaryDirectory() as cache:
        _check(None, cache)
        warm = [_check(None, cache) for _ in range(runs)]
    rows = [
        (f"840 registered queries, no cache, {jobs} process{'es' if jobs > 1 else ''}", f"{_median(times):.2f} s")
        for jobs, times in cold.items()
    ]
    ratio = _median(min(cold.values(), key=_median)) / _median(warm)
    return [*rows, ("840 registered queries, warm cache", f"{_median(warm):.2f} s"), ("ratio", f"{ratio:.1f}")]


def _median(times: list[float]) -> float:
    return statistics.median(times)


def _check(jobs: int | None, cache: str | None = None) -> float:
    options = [*(["-j", str(jobs)] if jobs else []), *(["--no-cache"] if cache is None else [])]
    environment = {**os.environ, "STREAMBOUND_CACHE_DIR": cache or ""}
    start = time.perf_counter()
    subprocess.run([*COMMAND, *options], cwd=REGISTRY, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    for what, figure in registry():
        print(f"| {what} | {figure} |")
