"""The README is short, and what it shows is what the commands print."""

from __future__ import annotations

import tomllib
from pathlib import Path

from support.program import ROOT
from support.transcripts import blocks_of, follow

README = "README.md"
MOST_LINES, MOST_COLUMNS = 170, 120


def test_it_is_short() -> None:
    lines = (ROOT / README).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    assert [line for line in lines if len(line) > MOST_COLUMNS] == []


def test_five_minutes(tmp_path: Path) -> None:
    """All of its commands, one after the other, but the one that starts Spark, which `test_documents.py` follows."""
    blocks = [block for block in blocks_of(README) if not block.spark]
    assert follow(blocks, tmp_path, by_shell=True) == sum(len(block.commands) for block in blocks) > 9


def test_its_catalog_is_that_of_the_example_that_was_measured() -> None:
    """`docs/memory.svg` is of `examples/orders`."""
    (catalog,) = blocks_of(README, "toml")
    mine = tomllib.loads(catalog.text)
    measured = tomllib.loads((ROOT / "examples" / "orders" / "streams.toml").read_text(encoding="utf-8"))
    assert [mine[key] for key in ("streams", "relations")] == [measured[key] for key in ("streams", "relations")]
