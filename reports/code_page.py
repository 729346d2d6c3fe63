"""The page of a diagnostic code: what it means, why, an example that triggers it, and what repairs it.

A page is Markdown, so that it also reads well in a browser; the examples in it are executed by the tests.
"""

from __future__ import annotations

from pathlib import Path

from streambound.analyzer.codes import Code
from streambound.analyzer.errors import InputError


def code_page(code: Code) -> str:
    """The Markdown page of a code; raises InputError where the pages are not installed."""
    return (pages_directory() / f"{code}.md").read_text(encoding="utf-8")


def pages_directory() -> Path:
    """Where the pages are; raises InputError where they are not installed."""
    pages = Path(__file__).resolve().parents[1] / "docs" / "codes"
    if (pages / "README.md").is_file():
        return pages
    raise InputError("the pages of the codes are not installed", remedy="reinstall streambound")
