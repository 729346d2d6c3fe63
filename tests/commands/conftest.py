"""A project to call commands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import CATALOG


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "streams.toml").write_text(CATALOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path
