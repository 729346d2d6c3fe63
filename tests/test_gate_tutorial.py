"""The tutorial's files and commands, one after the other as a reader would type them."""

from __future__ import annotations

from pathlib import Path

from support.transcripts import blocks_of, follow


def test_the_tutorial(tmp_path: Path) -> None:
    assert follow(blocks_of("docs/gate-tutorial.md"), tmp_path) > 15
