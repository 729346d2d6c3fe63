"""docs/propositions*.md: each statement has the verdict, M and propositions beside it, and each file is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import streambound
from support.circuits import states_of

ROOT = Path(streambound.__file__).parent
PAGES = ("propositions.md", "propositions-views.md")
PAGE = "\n".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in PAGES)
CATALOG = re.search(r"```toml file=\S+\n(.*?)```", PAGE, re.DOTALL)
ROWS = re.findall(r"^\| `(.+?)` \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("sql", "verdict", "propositions"), ROWS)
def test_a_statement_is_decided_as_the_page_says(sql: str, verdict: str, propositions: str) -> None:
    assert CATALOG is not None
    (found,) = streambound.check(sql, streambound.load_catalog(CATALOG[1]), repairs=False)
    most = f", {found.bound.entries:,}" if found.bound is not None and found.bound.entries is not None else ""
    states = states_of(found.certificate) if found.certificate is not None else []
    shown = ", ".join(sorted({state["proposition"] for state in states}))
    assert (f"{found.verdict}{most}", shown) == (verdict, propositions.strip())


def test_the_page_has_every_proposition_and_its_files() -> None:
    assert len(ROWS) > 40
    told = set(re.findall(r"^\*\*([A-F]\d)\.\*\*", PAGE, re.MULTILINE))
    used = {
        one
        for file in (ROOT / "criteria" / "dataflow").rglob("*.py")
        for one in re.findall(r"\b[A-F]\d\b", file.read_text(encoding="utf-8"))
    }
    assert len(used) > 15 and used <= told
    files = set(re.findall(r"`((?:criteria|preprocess)/[\w/]+\.py)`", PAGE))
    assert len(files) > 15
    assert [file for file in sorted(files) if not (ROOT / file).is_file()] == []
