"""The documentation site is built without a warning: each page is in it, and every link and anchor leads somewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from support.program import ROOT
from support.webdriver import browser, installed

PAGES = ("index.html", "docs/sql.html", "docs/reference.html", "docs/engines.html", "docs/theory-bags.html")
WIDTHS = (390, 820, 1400)
SIZES = "const all = document.documentElement; return [all.scrollWidth, all.clientWidth]"
BROKEN = "[nowhere](docs/run.md#no-such-section)\n"


def build(folder: Path, more: str = "") -> subprocess.CompletedProcess[str]:
    pages = folder / "pages"
    subprocess.run([sys.executable, ROOT / "docs" / "write_site.py", pages], check=True)
    with (pages / "README.md").open("a", encoding="utf-8") as page:
        page.write(more)
    settings = folder / "mkdocs.yml"
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings.write_text(text.replace("build/pages", str(pages)).replace("build/site", str(folder / "site")))
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", settings]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.slow
def test_the_site_is_built_and_a_link_that_leads_nowhere_fails(tmp_path: Path) -> None:
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr
    if installed() is not None or "CI" in os.environ:
        no_page_is_wider_than_the_window(tmp_path)
    assert build(tmp_path, BROKEN).returncode == 1


def no_page_is_wider_than_the_window(folder: Path) -> None:
    """No page needs to be moved to the side, on a phone, a tablet or a desk; its code and tables are, by themselves."""
    with browser(folder / "profile") as session:
        for name, width in product(PAGES, WIDTHS):
            session.width(width)
            session.open((folder / "site" / name).as_uri())
            page, window = session.run(SIZES)
            assert page <= window, (name, width)
