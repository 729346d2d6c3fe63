"""What the catalog allows and denies, and what baselines make of its severities."""

from __future__ import annotations

import json
from pathlib import Path

from support.command_line import call
from support.settings import UNBOUNDED, WARNED, configure, override, report, shown, twice, write


def test_the_catalog_allows_and_denies_codes_per_directory(project: Path) -> None:
    twice(UNBOUNDED)
    assert call("check").exit_code == 1
    override('allow = { SB201 = "a sandbox" }')
    found = {query["file"]: query for query in report()["queries"]}
    assert not found["queries/q.sql"]["suppressed"]
    legacy = found["queries/legacy/q.sql"]
    assert (legacy["verdict"], legacy["suppressed"]) == ("unbounded", True)
    assert legacy["diagnostics"][0]["suppression"] == {
        "kind": "catalog", "reason": "a sandbox", "until": None, "where": "streams.toml:6",
    }  # fmt: skip
    assert call("check", "queries/legacy").exit_code == 0
    assert call("check", "queries/q.sql").exit_code == 1
    refused = call("compile", "queries/legacy/q.sql")
    assert refused.exit_code == 1, "what is allowed is still not compiled"
    assert "streams.toml:6 allows that in a check (a sandbox), not in a run" in refused.stderr


def test_what_the_catalog_allows_without_need_is_said(project: Path) -> None:
    twice(UNBOUNDED)
    override('allow = { SB201 = "needed", SB203 = "not needed" }')
    assert call("check").stderr == "streambound: note: streams.toml:6: SB203 is allowed, and no query needs it\n"
    assert call("check", "queries/legacy").stderr == "", "of some files nothing is known"
    override('allow = { SB201 = "needed" }')
    assert call("check").stderr == ""


def test_what_is_denied_nothing_accepts(project: Path) -> None:
    twice(f'-- streambound: allow SB201 reason="please"\n{UNBOUNDED}')
    assert call("check").exit_code == 0
    override('deny = ["SB201"]', 'allow = { SB201 = "everywhere" }')
    result = call("check", "--format", "json", "queries/legacy")
    codes = [one["code"] for one in json.loads(result.stdout)["queries"][0]["diagnostics"]]
    assert (result.exit_code, codes) == (1, ["SB201", "SB411"])
    assert "streams.toml:6 denies it" in result.stdout
    assert call("check", "queries/q.sql").exit_code == 0
    write("legacy/q.sql", UNBOUNDED)
    configure("")
    assert call("baseline", "create").exit_code == 0
    assert call("check", "--baseline", "streambound-baseline.json").exit_code == 0
    override('deny = ["SB201"]')
    assert call("check", "--baseline", "streambound-baseline.json").exit_code == 1
    Path("streambound-baseline.json").unlink()
    refused = call("baseline", "create")
    assert refused.exit_code == 1 and "SB201 cannot be recorded" in refused.stderr
    assert shown("queries/legacy/q.sql")["deny"] == (["SB201"], "streams.toml:6, override for queries/legacy/**")
    assert "deny" not in shown()


def test_a_baseline_holds_what_fails_by_the_catalogs_severities(project: Path) -> None:
    write("q.sql", WARNED)
    configure('[check]\nseverity = { SB150 = "error" }')
    assert call("check").exit_code == 1
    assert "1 finding" in call("baseline", "create").stdout
    assert call("check", "--baseline", "streambound-baseline.json").exit_code == 0
    assert call("baseline", "check").exit_code == 0
