"""A project with queries in directories, one of them legacy."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.settings import configure


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "queries" / "legacy" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    configure("")
    return tmp_path
