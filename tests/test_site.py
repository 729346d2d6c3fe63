"""The documentation site is built without a warning: each page is in it, and every link and anchor leads somewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.program import ROOT

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
    assert (tmp_path / "site" / "docs" / "run.html").is_file()
    assert build(tmp_path, BROKEN).returncode == 1
