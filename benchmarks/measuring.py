"""Time of the clock and of the processor, and memory, of this process and all that it started; tables of figures."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from streambound.synopsis_exec.measuring import resident, running, started_by

TICK = os.sysconf("SC_CLK_TCK")
README = Path(__file__).with_name("README.md")
Rows = list[tuple[str, str]]
"""What was measured, and the figure."""


def processor_seconds() -> float:
    """Seconds of processor time of this process and all that it started and that still run."""
    ticks = 0
    for pid in started_by(os.getpid(), running()):
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / TICK


def memory() -> dict[str, float]:
    """Resident memory of this process and of Java, in MiB."""
    return {name.title(): size / 2**20 for name, size in sorted(resident(os.getpid()).items(), reverse=True)}


@dataclass
class Timed:
    """Seconds of the clock and of the processor."""

    clock: float
    processor: float


def timed(action: Callable[[], object], processor: Callable[[], float]) -> Timed:
    clock, spent = time.perf_counter(), processor()
    action()
    return Timed(time.perf_counter() - clock, processor() - spent)


def in_turn(
    actions: dict[str, Callable[[], object]], rounds: int, processor: Callable[[], float] = processor_seconds
) -> dict[str, Timed]:
    """Medians of actions run in turn, so that noise hits all."""
    found: dict[str, list[Timed]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            found[name].append(timed(action, processor))
    return {
        name: Timed(statistics.median(t.clock for t in times), statistics.median(t.processor for t in times))
        for name, times in found.items()
    }


def rate(rows: int, seconds: float) -> str:
    return f"{rows / seconds / 1000:,.0f} k rows/s"


# --- tables -----------------------------------------------------------------------------------------------------------


def show(rows: Rows) -> None:
    for what, figure in rows:
        print(f"| {what} | {figure} |", flush=True)


def table_lines(rows: Rows) -> list[str]:
    """A table of figures, with its head."""
    return ["| what | figure |", "| --- | --- |", *(f"| {what} | {figure} |" for what, figure in rows)]


def write_table(rows: Rows, start: str, end: str, *before: str) -> None:
    """Put a table in the README, between two marks, below some lines."""
    text = README.read_text(encoding="utf-8")
    head, rest = text[: text.index(start) + len(start)], text[text.index(end) :]
    README.write_text("\n".join([head, *before, *table_lines(rows), rest]), encoding="utf-8")
