"""`config show`: every setting, and where it comes from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from support.command_line import call
from support.settings import configure, shown


def test_config_show_says_where_each_value_comes_from(project: Path) -> None:
    assert shown()["fail-on"] == ("error", "default")
    configure(
        '[check]\nfail-on = "warning"\nseverity = { SB402 = "off" }\n\n'
        '[[check.overrides]]\nfiles = ["queries/legacy/**"]\nfail-on = "note"\nseverity.SB208 = "error"'
    )
    everywhere = {
        "catalog": ("streams.toml", "found from the working directory upwards"),
        "queries": (["queries/**/*.sql"], "streams.toml:1"),
        "exclude": ([], "default"),
        "fail-on": ("warning", "streams.toml:3"),
        "formats": (None, "default"),
        "criteria": ("exact", "default"),
        "max-entries": (None, "default"),
        "budget": (None, "default"),
        "allow-empty": (False, "default"),
        "repairs": (None, "default"),
        "baseline": (None, "default"),
        "transitions-only": (False, "default"),
        "jobs": (None, "default"),
        "cache": (True, "default"),
        "severity.SB402": ("off", "streams.toml:4"),
    }
    assert shown() == everywhere
    override = "override for queries/legacy/**"
    assert shown("queries/legacy/q.sql") == {
        **everywhere,
        "fail-on": ("note", f"streams.toml:8, {override}"),
        "severity.SB208": ("error", f"streams.toml:9, {override}"),
    }
    given = shown("queries/legacy/q.sql", "--fail-on", "error", "--catalog", "streams.toml", "--baseline", "b.json")
    assert given["fail-on"] == ("error", "command line")
    assert given["catalog"] == ("streams.toml", "command line")
    assert given["baseline"] == ("b.json", "command line")


def test_what_config_show_prints_is_toml_with_the_origin_beside_it(project: Path) -> None:
    configure('[check]\nfail-on = "warning"\nbaseline = "b.json"')
    text = call("config", "show").stdout
    assert tomllib.loads(text)["baseline"] == "b.json"
    assert re.search(r'^fail-on = "warning" +# streams.toml:3$', text, flags=re.M)
    assert re.search(r"^# jobs is not set +# default$", text, flags=re.M)


def test_without_a_catalog_there_are_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown()["catalog"][0] is None
    assert shown("--fail-on", "note")["fail-on"] == ("note", "command line")
