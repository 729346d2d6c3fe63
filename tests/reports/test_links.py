"""The page of a code: the command that prints it, or a link where the pages have an address."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.codes import DOCS_VARIABLE, Code
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.reports.outcome import outcome

ROOT = Path(__file__).resolve().parent.parent.parent
CATALOG = '[streams.S]\ntimestamp = "ts"\ncolumns = { a = "bigint", ts = "bigint" }\n'


def check(folder: Path, *arguments: str, terminal: bool = False, **variables: str) -> str:
    (folder / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (folder / "q.sql").write_text("SELECT S.nope FROM S", encoding="utf-8")
    command = [sys.executable, "-m", "streambound", "check", "q.sql", "--no-cache", *arguments]
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", DOCS_VARIABLE)}
    environment |= {"TERM": "xterm", **variables}
    if not terminal:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        return done.stdout
    master, slave = pty.openpty()
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=slave, stderr=slave, stdin=slave) as process:
        os.close(slave)
        parts = []
        try:
            while part := os.read(master, 65536):
                parts.append(part)
        except OSError:  # Linux says so when the other end is closed
            pass
        process.wait()
    os.close(master)
    return b"".join(parts).decode("utf-8")


ADDRESS = "https://docs.example/codes"
COMMAND = "streambound explain SB102"
FORMATS = ("text", "sarif", "github", "gitlab", "junit", "markdown", "html", "json", "jsonl")


def test_a_terminal_shows_a_hyperlink_where_the_pages_have_an_address(tmp_path: Path) -> None:
    shown = check(tmp_path, terminal=True, STREAMBOUND_DOCS=f"{ADDRESS}/")
    assert f"\x1b]8;;{ADDRESS}/SB102.md\x1b\\" in shown
    assert shown.count("\x1b]8;;") == 2
    assert "docs:" not in shown
    shown = check(tmp_path, terminal=True)
    assert "\x1b]8" not in shown
    assert f"docs: {COMMAND}" in shown


@pytest.mark.parametrize("arguments", [(), ("--color",)])
def test_a_pipe_shows_the_command_or_the_address(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    shown = check(tmp_path, *arguments)
    assert "\x1b]8" not in shown
    assert f"docs: {COMMAND}" in shown
    assert f"docs: {ADDRESS}/SB102.md" in check(tmp_path, *arguments, STREAMBOUND_DOCS=ADDRESS)


def test_no_format_has_an_address_that_nobody_gave(tmp_path: Path) -> None:
    """But for those of schemas and XML names; where pages are spoken of, the command or the address is there."""
    everything = [part for name in FORMATS for part in ("-o", f"{name}:{name}")]
    check(tmp_path, *everything)
    shown = {name: (tmp_path / name).read_text(encoding="utf-8") for name in FORMATS}
    check(tmp_path, *everything, STREAMBOUND_DOCS=ADDRESS)
    for name, text in shown.items():
        assert "SB102" in text, name
        assert not re.search(r"github\.com|SB\d+\.md", text), name
        linked = (tmp_path / name).read_text(encoding="utf-8")
        assert (COMMAND in text) == (f"{ADDRESS}/SB102.md" in linked) == (name not in ("json", "jsonl")), name
    assert COMMAND not in linked


def test_sarif_leaves_out_what_has_no_address(tmp_path: Path) -> None:
    for variables in ({}, {"STREAMBOUND_DOCS": ADDRESS}):
        driver = json.loads(check(tmp_path, "-o", "sarif", **variables))["runs"][0]["tool"]["driver"]
        assert driver.get("informationUri") == variables.get("STREAMBOUND_DOCS")
        for rule in driver["rules"]:
            expected = f"{ADDRESS}/{rule['id']}.md" if variables else None
            assert rule.get("helpUri") == expected
            links = re.findall(r"\]\(([^)]*)\)", rule["help"]["markdown"])
            assert all(link.startswith("https://docs.example/") for link in links)
            assert links or not variables or rule["id"] == "SB001"


def test_an_editor_gets_the_address_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from streambound.gate.lsp_values import diagnostics

    item = outcome(check_source(SourceText("q.sql", "SELECT S.nope FROM S"), parse_catalog(CATALOG))[0])
    nowhere = lambda *_: types.Range(types.Position(0, 0), types.Position(0, 0))  # noqa: E731
    monkeypatch.delenv(DOCS_VARIABLE, raising=False)
    assert [found.code_description for found in diagnostics([item], nowhere, str)] == [None]
    monkeypatch.setenv(DOCS_VARIABLE, ADDRESS)
    assert [found.code_description for found in diagnostics([item], nowhere, str)] == [
        types.CodeDescription(f"{ADDRESS}/SB102.md")
    ]


def test_every_address_ends_in_a_page_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DOCS_VARIABLE, ADDRESS)
    for rule in Code:
        assert (ROOT / "docs" / "codes" / rule.docs.rpartition("/")[2]).is_file()
