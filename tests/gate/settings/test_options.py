"""`[check]` in the catalog: what it sets for a whole run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.settings import KEYS
from streambound.commands.check import check
from streambound.commands.configured import OPTIONS
from support.command_line import call
from support.settings import UNBOUNDED, WARNED, configure, shown, write

ROOT = Path(__file__).resolve().parents[3]


def test_every_setting_is_an_option_of_check() -> None:
    options = {parameter.name for parameter in check.params}
    assert {key.name for key in KEYS} == set(OPTIONS)
    assert set(OPTIONS.values()) <= options


def test_fail_on_comes_from_the_catalog_unless_it_is_given(project: Path) -> None:
    write("q.sql", WARNED)
    assert call("check").exit_code == 0
    configure('[check]\nfail-on = "warning"')
    assert call("check").exit_code == 1
    assert call("check", "--fail-on", "error").exit_code == 0


def test_an_empty_file_passes_only_where_the_catalog_or_the_option_allows_it(project: Path) -> None:
    write("q.sql", "-- nothing")
    assert call("check").exit_code != 0
    configure("[check]\nallow-empty = true")
    assert call("check").exit_code == 0


@pytest.mark.parametrize(
    ("severity", "status", "printed"),
    [("error", 1, "error[SB150"), ("warning", 0, "warning[SB150"), ("note", 0, "note[SB150"), ("off", 0, None)],
)
def test_severities_of_warnings_can_be_set(project: Path, severity: str, status: int, printed: str | None) -> None:
    write("q.sql", WARNED)
    configure(f'[check]\nseverity = {{ SB150 = "{severity}" }}')
    result = call("check")
    assert result.exit_code == status
    assert (printed or "q: bounded") in result.stdout
    assert ("SB150" in result.stdout) is (severity != "off")
    configure(f'[check.severity]\nSB150 = "{severity}"\n[[check.overrides]]\nfiles = ["**"]\nseverity.SB150 = "note"')
    assert "note[SB150" in call("check").stdout


def test_a_baseline_and_flags_can_be_set(project: Path) -> None:
    write("q.sql", UNBOUNDED)
    configure('[check]\nbaseline = "known.json"\nrepairs = false\ntransitions-only = true\ncache = false\njobs = 1')
    assert call("check").exit_code == 2
    assert call("baseline", "create").exit_code == 0
    assert Path("known.json").is_file()
    result = call("check")
    assert (result.exit_code, "= fix:" in result.stdout) == (0, False)
    assert call("baseline", "check").exit_code == 0
    assert call("check", "--diff", "--unsafe").stdout.startswith("---"), "what is asked for goes before repairs = false"


def test_formats_can_be_set_and_what_is_asked_for_goes_before_them(project: Path) -> None:
    write("q.sql", WARNED)
    configure('[check]\nformats = ["jsonl", "json:out.json"]')
    assert json.loads(call("check").stdout.splitlines()[0])["name"] == "q"
    assert json.loads(Path("out.json").read_text())["summary"]["bounded"] == 1
    assert shown()["formats"] == (["jsonl", "json:out.json"], "streams.toml:3")
    assert "1 query checked" in call("check", "--format", "text").stdout
    assert "1 query checked" in call("check", "-o", "text").stdout
    assert shown("-o", "text")["formats"] == (["text"], "command line")
    configure('[check]\nformats = ["nope"]')
    result = call("check")
    assert (result.exit_code, "no format is called 'nope'" in result.stderr) == (2, True)


def test_the_documents_example_is_a_catalog() -> None:
    text = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, flags=re.S)
    settings = parse_catalog(example).settings
    assert settings.values["fail-on"].value == "warning"
    assert settings.overrides[0].files == ("queries/legacy/**",)


def test_empty_files_are_passed_over_where_that_is_allowed(project: Path) -> None:
    write("empty.sql", "-- nothing")
    assert call("baseline", "create").exit_code == 3
    Path("streambound-baseline.json").unlink()
    write("q.sql", UNBOUNDED)
    assert call("baseline", "create", "--allow-empty").exit_code == 0
    assert call("baseline", "check").exit_code == 3
    assert call("baseline", "check", "--allow-empty").exit_code == 0
    assert call("baseline", "update", "--allow-empty").exit_code == 0
    configure("[check]\nallow-empty = true")
    assert call("baseline", "check").exit_code == 0
