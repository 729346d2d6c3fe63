"""`[check]` in the catalog: what it sets, for which files, where `config show` says it comes from, what is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import cli
from analyzer.catalog import parse_catalog
from analyzer.errors import CatalogError
from analyzer.rules import RULES
from analyzer.settings import KEYS
from commands.check import check
from commands.configured import OPTIONS

ROOT = Path(__file__).resolve().parent.parent.parent
STREAMS = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", ts = "bigint" }
"""
WARNED = "SELECT 1 AS one FROM S WHERE S.a < 1 AND S.a > 1"
UNBOUNDED = "SELECT T.a FROM S, T WHERE S.ts > T.ts"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "queries" / "legacy" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    configure("")
    return tmp_path


def configure(settings: str) -> None:
    Path("streams.toml").write_text(f'queries = ["queries/**/*.sql"]\n{settings}\n{STREAMS}')


def write(name: str, sql: str) -> None:
    Path("queries", name).write_text(sql)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, list(arguments))


def shown(*arguments: str) -> dict[str, tuple[object, str]]:
    lines = call("config", "show", "--json", *arguments).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    return {row["name"]: (row["value"], row["origin"]) for row in rows}


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


def test_overrides_are_for_the_files_that_fit(project: Path) -> None:
    for name in ("q.sql", "legacy/q.sql", "legacy/deep/q.sql"):
        write(name, WARNED)
    configure('[check]\nfail-on = "warning"\n[[check.overrides]]\nfiles = ["queries/legacy/*.sql"]\nfail-on = "error"')
    status = {
        name: call("check", f"queries/{name}").exit_code for name in ("q.sql", "legacy/q.sql", "legacy/deep/q.sql")
    }
    assert status == {"q.sql": 1, "legacy/q.sql": 0, "legacy/deep/q.sql": 1}
    configure(
        '[[check.overrides]]\nfiles = ["queries/**"]\nfail-on = "warning"\n'
        '[[check.overrides]]\nfiles = ["nothing/*", "**/deep/*"]\nfail-on = "error"'
    )
    status = {name: call("check", f"queries/{name}").exit_code for name in status}
    assert status == {"q.sql": 1, "legacy/q.sql": 1, "legacy/deep/q.sql": 0}, "the last that fits counts"
    assert call("check", "queries/q.sql", "--fail-on", "error").exit_code == 0
    assert call("check").exit_code == 1


def test_overrides_fit_from_any_directory(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("legacy/q.sql", WARNED)
    configure('[check]\nfail-on = "warning"\n[[check.overrides]]\nfiles = ["queries/legacy/*"]\nfail-on = "error"')
    monkeypatch.chdir("queries")
    assert call("check", "legacy").exit_code == 0
    assert call("check", str(project / "queries")).exit_code == 0


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


def test_config_show_says_where_each_value_comes_from(project: Path) -> None:
    assert shown()["fail-on"] == ("error", "default")
    configure(
        '[check]\nfail-on = "warning"\nseverity = { SB402 = "off" }\n\n'
        '[[check.overrides]]\nfiles = ["queries/legacy/**"]\nfail-on = "note"\nseverity.SB208 = "error"'
    )
    everywhere = {
        "catalog": ("streams.toml", "found from the working directory upwards"),
        "queries": (["queries/**/*.sql"], "streams.toml:1"),
        "fail-on": ("warning", "streams.toml:3"),
        "formats": (None, "default"),
        "criteria": ("exact", "default"),
        "max-entries": (None, "default"),
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
    for rule in RULES:
        text = f"[check.severity]\n{rule.code} = 'off'"
        if rule.severity != "error":
            assert parse_catalog(text).settings.severity[rule.code].value == "off"
            continue
        with pytest.raises(CatalogError, match="stays one"):
            parse_catalog(text)


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


# --- what else overrides may set -----------------------------------------------------------------------------------

WINDOW = "SELECT T.a FROM S, T WHERE S.ts BETWEEN T.ts AND T.ts + 100"


def verdicts(*arguments: str) -> dict[str, str]:
    return {query["file"]: query["verdict"] for query in report(*arguments)["queries"]}


def report(*arguments: str) -> Any:
    return json.loads(call("check", "--format", "json", *arguments).stdout)


def override(settings: str, everywhere: str = "") -> None:
    configure(f'[check]\n{everywhere}\n[[check.overrides]]\nfiles = ["queries/legacy/**"]\n{settings}')


def twice(sql: str) -> None:
    for name in ("q.sql", "legacy/q.sql"):
        write(name, f"-- name: {name[:-4]}\n{sql}")


def test_criteria_per_directory(project: Path) -> None:
    chain = "SELECT 1 AS one FROM S AS x, S AS y, S AS z WHERE x.ts > z.ts AND y.ts > z.ts"
    twice(chain)
    assert set(verdicts("--criteria", "paper").values()) != {"bounded"} == set(verdicts().values())
    override('criteria = "paper"')
    found = verdicts()
    assert found["queries/q.sql"] == "bounded" != found["queries/legacy/q.sql"]
    assert set(verdicts("--criteria", "exact").values()) == {"bounded"}, "the command line goes before overrides"
    assert shown("queries/legacy/q.sql")["criteria"][0] == "paper" != shown("queries/q.sql")["criteria"][0]
    assert call("baseline", "create").exit_code == 0
    assert call("check", "--baseline", "streambound-baseline.json").exit_code == 0
    assert call("baseline", "check").exit_code == 0
    write("legacy/p.sql", f"-- streambound: allow SB301 reason='x'\n{chain}".replace("'", '"'))
    assert "SB413" not in call("check", "queries/legacy/p.sql").stdout, "what the criteria of the file find is used"


def test_a_limit_of_entries_per_directory(project: Path) -> None:
    bound = "max_per_timestamp = 2\n[streams.T]"
    twice(WINDOW)
    Path("streams.toml").write_text(Path("streams.toml").read_text().replace("[streams.T]", bound))
    assert call("check").exit_code == 0
    assert call("check", "--max-entries", "1").exit_code == 1
    found = report("--max-entries", "1")["queries"][0]
    assert (found["verdict"], [one["code"] for one in found["diagnostics"]]) == ("bounded", ["SB210"])
    override("max-entries = 1")
    assert [bool(q["diagnostics"]) for q in report()["queries"]] == [True, False]
    assert "is not a number" in call("check").stdout, "T may have any number of tuples per timestamp"
    override("max-entries = 1000\nallow.SB210 = 'ends in 2027'", "max-entries = 1")
    rows = shown("queries/legacy/q.sql")
    assert rows["max-entries"][0] == 1000
    assert rows["allow.SB210"] == ("ends in 2027", "streams.toml:7, override for queries/legacy/**")
    assert call("check", "queries/legacy").exit_code == 0
    assert call("check", "queries/q.sql").exit_code == 1
    assert call("check", "--max-entries", "1000000000", "queries/q.sql").exit_code == 1


def test_a_bound_that_is_a_number_is_compared_with_the_limit(project: Path) -> None:
    configure("")
    catalog = Path("streams.toml")
    catalog.write_text(catalog.read_text().replace("[streams.T]\n", "[streams.T]\nmax_per_timestamp = 3\n"))
    write("q.sql", "SELECT 1 AS one FROM S, T WHERE S.ts BETWEEN T.ts AND T.ts + 100")
    entries = report()["queries"][0]["bound"]["entries"]
    assert entries
    assert call("check", "--max-entries", str(entries)).exit_code == 0
    assert call("check", "--max-entries", str(entries - 1)).exit_code == 1


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


def test_empty_files_and_repairs_per_directory(project: Path) -> None:
    twice(UNBOUNDED)
    write("legacy/empty.sql", "-- nothing")
    assert call("check").exit_code == 3
    override("allow-empty = true\nrepairs = false")
    result = report()
    assert len(result["queries"]) == 2
    fixes = {query["file"]: bool(query["diagnostics"][0]["fixes"]) for query in result["queries"]}
    assert fixes == {"queries/q.sql": True, "queries/legacy/q.sql": False}
    assert all(query["diagnostics"][0]["fixes"] for query in report("--repairs")["queries"])
    override("allow-empty = true\nrepairs = true", "repairs = false")
    fixes = {query["file"]: bool(query["diagnostics"][0]["fixes"]) for query in report()["queries"]}
    assert fixes == {"queries/q.sql": False, "queries/legacy/q.sql": True}
    write("empty.sql", "-- nothing")
    assert call("check").exit_code == 3


def test_transitions_alone_count_per_directory(project: Path) -> None:
    twice(UNBOUNDED)
    override("transitions-only = true")
    git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "before"]):
        subprocess.run([*git, *arguments], check=True)
    assert call("check", "--against", "HEAD", "queries/legacy").exit_code == 0
    assert call("check", "--against", "HEAD", "queries/q.sql").exit_code == 1
    write("legacy/new.sql", UNBOUNDED)
    assert call("check", "--against", "HEAD", "queries/legacy").exit_code == 1


def test_a_bound_beyond_the_limit_may_not_grow(project: Path) -> None:
    write("q.sql", WINDOW)
    override("", "max-entries = 1\ntransitions-only = true")
    git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "before"]):
        subprocess.run([*git, *arguments], check=True)
    assert call("check", "--against", "HEAD").exit_code == 0
    write("q.sql", WINDOW.replace("100", "200"))
    assert call("check", "--against", "HEAD").exit_code == 1


def test_a_baseline_holds_what_fails_by_the_catalogs_severities(project: Path) -> None:
    write("q.sql", WARNED)
    configure('[check]\nseverity = { SB150 = "error" }')
    assert call("check").exit_code == 1
    assert "1 finding" in call("baseline", "create").stdout
    assert call("check", "--baseline", "streambound-baseline.json").exit_code == 0
    assert call("baseline", "check").exit_code == 0


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
        ("[[check.overrides]]\nfiles = ['a']\nbaseline = 'b'", 4, "baseline is for the whole run"),
    ],
)
def test_what_is_wrong_with_acceptance_is_blamed_on_its_line(
    project: Path, settings: str, line: int, message: str
) -> None:
    test_what_is_wrong_is_blamed_on_its_line(project, settings, line, message)
