"""How many processes this one may run at a time."""

from __future__ import annotations

import os
from pathlib import Path

_QUOTAS = (Path("/sys/fs/cgroup/cpu.max"), Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
"""Where Linux says how much of the processors a container may use: as ``quota period``, or the quota alone."""


def processors() -> int:
    """The processors that this process may use: fewer than the machine has where a container, or taskset, says so."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([allowed, *(quota for file in _QUOTAS if (quota := _quota(file)) is not None)]))


def _quota(file: Path) -> int | None:
    """A container's share of the processors, rounded up; None where there is no limit."""
    try:
        quota, *period = file.read_text(encoding="ascii").split()
        length = int(period[0] if period else file.with_name("cpu.cfs_period_us").read_text(encoding="ascii"))
        return -(-int(quota) // length) if int(quota) > 0 and length > 0 else None
    except (OSError, ValueError):  # "max": all of them
        return None
