"""Time of the clock and of the processor, and memory, of this process and all that it started."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def children(pid: int) -> Iterator[int]:
    """A process and all that it started."""
    yield pid
    with suppress(FileNotFoundError, ProcessLookupError):  # one that has just ended
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from children(int(child))


def processor_seconds() -> float:
    """Seconds of processor time of this process and all that it started and that still run."""
    ticks = 0
    for pid in children(os.getpid()):
        with suppress(FileNotFoundError, ProcessLookupError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / TICK


def resident_mib(pid: int | str = "self") -> float:
    """Resident memory of a process, by default this one, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory() -> dict[str, float]:
    """Resident memory of this process and of Java, in MiB."""
    java = 0.0
    for pid in children(os.getpid()):
        with suppress(FileNotFoundError, ProcessLookupError):
            if Path(f"/proc/{pid}/comm").read_text().strip() == "java":
                java += resident_mib(pid)
    return {"Python": resident_mib(), "Java": java}


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
