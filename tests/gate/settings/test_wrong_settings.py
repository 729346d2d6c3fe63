"""What is wrong in `[check]` is an error at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.errors import CatalogError
from support.command_line import call
from support.settings import configure


@pytest.mark.parametrize(
    ("settings", "line", "message"),
    [
        ("check = 3", 2, "check must be a table"),
        ("[check]\nfail_on = 'error'", 3, "unknown key 'fail_on' in [check]"),
        ("[check]\nfail-on = 'fatal'", 3, 'fail-on must be "error" or "warning" or "note"'),
        ("[check]\ncriteria = 3", 3, "criteria must be"),
        ("[check]\nrepairs = 1", 3, "repairs must be true or false"),
        ("[check]\njobs = 0", 3, "jobs must be an integer of at least 1"),
        ("[check]\njobs = true", 3, "jobs must be an integer of at least 1"),
        ("[check]\nbaseline = ''", 3, "baseline must be a text"),
        ("[check]\nseverity = { SB999 = 'off' }", 3, "unknown code 'SB999'"),
        ("[check.severity]\nSB208 = 'error'\nSB201 = 'off'", 4, "SB201 is an error, and stays one"),
        ("[check.severity]\nSB208 = 'fatal'", 3, "a severity is one of error, warning, note, off"),
        ("[check]\noverrides = 3", 3, "check.overrides must be tables"),
        ("[check]\noverrides = [\n  3,\n]", 4, "check.overrides.0 must be a table"),
        ("[[check.overrides]]\nfail-on = 'error'", 2, "an override names no files"),
        ("[[check.overrides]]\nfiles = ['a']\n[[check.overrides]]\nfiles = 'a'", 5, "must be a list of strings"),
        ("[[check.overrides]]\nfiles = ['a']\njobs = 3", 4, "jobs is for the whole run, not for some files"),
        ("[[check.overrides]]\nfiles = ['a']\nfile = 3", 4, "unknown key 'file'"),
        ("[[check.overrides]]\nfiles = ['a']\nseverity.SB001 = 'off'", 4, "SB001 is an error, and stays one"),
    ],
)
def test_what_is_wrong_is_blamed_on_its_line(project: Path, settings: str, line: int, message: str) -> None:
    configure(settings)
    result = call("check")
    assert result.exit_code == 2
    assert f"streambound: error: streams.toml:{line}:" in result.stderr
    assert message in result.stderr


def test_no_error_can_be_lowered() -> None:
    for rule in Code:
        text = f"[check.severity]\n{rule} = 'off'"
        if rule.severity != "error":
            assert parse_catalog(text).settings.severity[rule].value == "off"
            continue
        with pytest.raises(CatalogError, match="stays one"):
            parse_catalog(text)


@pytest.mark.parametrize(
    ("settings", "line", "message"),
    [
        ("[check]\nallow = { SB201 = '' }", 3, "SB201 is allowed without a reason"),
        ("[check]\nallow = { SB201 = true }", 3, "SB201 is allowed without a reason"),
        ("[check]\nallow = { SB001 = 'x' }", 3, "SB001 can be neither allowed nor denied"),
        ("[check]\nallow = { SB901 = 'x' }", 3, "SB901 can be neither allowed nor denied"),
        ("[check]\nallow = { SB999 = 'x' }", 3, "unknown code 'SB999'"),
        ("[check]\nallow = 3", 3, "must be a table"),
        ("[check]\ndeny = 'SB201'", 3, "must be a list of strings"),
        ("[check]\ndeny = ['SB2']", 3, "unknown code 'SB2'"),
        ("[check]\nallow = { SB201 = 'x' }\ndeny = ['SB201']", 4, "SB201 is both allowed and denied"),
        ("[check]\nmax-entries = 0", 3, "max-entries must be an integer of at least 1"),
        ("[check]\nbudget = '2 gigs'", 3, "budget must be a size in bytes"),
        ("[[check.budgets]]\nbudget = '2 GB'", 2, "a budget has no name"),
        ("[[check.budgets]]\nname = 'a'", 2, "the budget of a has no size"),
        ("[[check.budgets]]\nname = 'a'\nbudget = 'all'", 4, "budget must be a size in bytes"),
        ("[check]\nbudgets = 3", 3, "check.budgets must be tables"),
        ("[[check.overrides]]\nfiles = ['a']\nbaseline = 'b'", 4, "baseline is for the whole run"),
    ],
)
def test_what_is_wrong_with_acceptance_is_blamed_on_its_line(
    project: Path, settings: str, line: int, message: str
) -> None:
    test_what_is_wrong_is_blamed_on_its_line(project, settings, line, message)
