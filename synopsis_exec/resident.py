"""Resident memory of processes, in bytes, as the operating system counts it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """A process: the one that started it, the name of its program, and its resident memory in bytes."""

    parent: int
    program: str
    resident: int


def resident(root: int, processes: Mapping[int, Process] | None = None) -> dict[str, int]:
    """Resident bytes of a process and all that it started, by program: ``java``, ``python`` (and all others).

    Java that Java has started is a copy that is about to become another program, and shares its memory until then.
    """
    processes = running() if processes is None else processes
    children: dict[int, list[int]] = {}
    for number, process in processes.items():
        children.setdefault(process.parent, []).append(number)
    found, waiting = {"java": 0, "python": 0}, [root]
    while waiting:
        number = waiting.pop()
        if number in processes and not _is_copy(processes, number):
            program = "java" if processes[number].program == "java" else "python"
            found[program] += processes[number].resident
        waiting.extend(children.get(number, ()))
    return found


def _is_copy(processes: Mapping[int, Process], number: int) -> bool:
    parent = processes.get(processes[number].parent)
    return parent is not None and parent.program == processes[number].program == "java"


def running() -> dict[int, Process]:
    """All processes: from /proc where there is one (it starts no process), else from `ps`."""
    return _from_proc() if Path("/proc/self/status").is_file() else _from_ps()


def _from_proc() -> dict[int, Process]:
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            text = (folder / "status").read_text(encoding="utf-8", errors="replace")
            fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
            size = int(fields.get("VmRSS", "0 kB").split()[0]) * 1024
            program = (folder / "exe").readlink().name  # the name in `status` is that of a thread after a fork
            found[int(folder.name)] = Process(int(fields["PPid"]), program, size)
    return found


def _from_ps() -> dict[int, Process]:
    listed = subprocess.run(["ps", "-axo", "pid=,ppid=,rss=,comm="], capture_output=True, text=True, check=True)
    found = {}
    for line in listed.stdout.splitlines():
        number, parent, size, program = line.split(None, 3)
        found[int(number)] = Process(int(parent), Path(program).name, int(size) * 1024)
    return found
