"""How many processes a check starts: no more than a container lets it run, and none of a user without a home fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from streambound.gate import tasks
from streambound.gate.cache import cache_directory


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 16),
        ({"cpu.max": "max 100000\n"}, 16),
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "5000 100000\n"}, 1),
        ({"cpu.max": "9000000 100000\n"}, 16),
        ({"cpu.max": "nonsense"}, 16),
        ({"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}, 16),
        ({"cpu.cfs_quota_us": "300000\n", "cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu.cfs_quota_us": "300000\n"}, 16),
    ],
)
def test_a_container_sets_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: int
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="ascii")
    monkeypatch.setattr(tasks, "_QUOTAS", (tmp_path / "cpu.max", tmp_path / "cpu.cfs_quota_us"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    assert tasks.processors() == expected


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("STREAMBOUND_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", none)
    assert cache_directory() is None
