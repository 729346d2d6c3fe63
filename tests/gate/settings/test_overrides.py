"""`[[check.overrides]]`: what holds for the files that fit a pattern."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.command_line import call
from support.settings import UNBOUNDED, WARNED, configure, override, report, shown, twice, verdicts, write


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


WINDOW = "SELECT T.a FROM S, T WHERE S.ts BETWEEN T.ts AND T.ts + 100"


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


def test_a_budget_of_bytes_per_directory(project: Path) -> None:
    twice("SELECT S.a FROM S, T WHERE T.ts BETWEEN S.ts AND S.ts + 1000")
    override('budget = "52 kB"', 'budget = "50 kB"')
    rated = Path("streams.toml").read_text().replace("[streams.S]", "[streams.S]\nmax_per_timestamp = 2")
    Path("streams.toml").write_text(rated)
    found = {query["name"]: query for query in report()["queries"]}
    assert {query["bound"]["bytes"] for query in found.values()} == {2000 * 26}
    assert not found["legacy-q"]["diagnostics"]
    (finding,) = found["q"]["diagnostics"]
    assert (finding["code"], finding["message"]) == ("SB210", "it keeps up to 52 kB, more than the budget of 50 kB")
    assert call("check", "--budget", "52kB").exit_code == 0
    assert call("check", "--budget", "51.9 KB").exit_code == 1
    assert call("check", "--budget", "much").exit_code == 2


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT S.a FROM S, T WHERE T.ts BETWEEN S.ts AND S.ts + 10", "the bound, 10*c_S, is not a number"),
        ("SELECT U.s FROM U, T WHERE T.ts BETWEEN U.ts AND U.ts + 10", "U.s is a string of any length"),
        ("SELECT U.s, COUNT(*) AS n FROM U GROUP BY U.s, U.ts DIV 10", "U.s is a string of any length"),
        ("SELECT COUNT(DISTINCT S.a) AS n FROM S GROUP BY S.ts DIV 10", "the bound, 9*c_S + 1, is not a number"),
    ],
)
def test_a_state_of_unknown_bytes_is_beyond_every_budget(project: Path, sql: str, why: str) -> None:
    texts = '[streams.U]\ntimestamp = "ts"\ncolumns = { s = "string", ts = "bigint" }'
    configure(f'[check]\nbudget = "9 PB"\n{texts}')
    write("q.sql", sql)
    (finding,) = report()["queries"][0]["diagnostics"]
    assert (finding["code"], finding["message"]) == (
        "SB210",
        f"how many bytes it keeps is not known, and the budget is 9 PB: {why}",
    )


def test_a_budget_of_several_queries_together(project: Path) -> None:
    """By file, by name, or of all: one finding at the budget, which names those with the most bytes first."""
    for name, length in (("q.sql", 1000), ("p.sql", 2000), ("legacy/q.sql", 500), ("r.sql", 0)):
        query = (
            f"-- name: {name[:-4].replace('/', '-')}\nSELECT S.a FROM S, T WHERE T.ts BETWEEN S.ts AND S.ts + {length}"
        )
        write(name, query)
    budgets = {
        "old": '"13 kB"\nfiles = ["queries/legacy/**"]',
        "pair": '"155 kB"\nqueries = ["q", "p"]',
        "all": '"170 kB"',
    }

    def found(**more: str) -> dict[str, str]:
        tables = (f'[[check.budgets]]\nname = "{name}"\nbudget = {it}' for name, it in {**budgets, **more}.items())
        configure("\n".join(tables))
        catalog = Path("streams.toml").read_text().replace("[streams.S]", "[streams.S]\nmax_per_timestamp = 2")
        Path("streams.toml").write_text(catalog)
        findings = [(query["name"], one) for query in report()["queries"] for one in query["diagnostics"]]
        assert all((one["code"], one["file"]) == ("SB210", "streams.toml") for _, one in findings)
        lines = Path("streams.toml").read_text().splitlines()
        assert all("budget = " in lines[one["line"] - 1] for _, one in findings)
        return {one["message"]: name for name, one in findings}

    assert found() == {
        "old keeps up to 26 kB, more than its budget of 13 kB: legacy-q 26 kB": "legacy-q",
        "pair keeps up to 160 kB, more than its budget of 155 kB: p 110 kB, q 52 kB": "p",
        "all keeps up to 190 kB, more than its budget of 170 kB: p 110 kB, q 52 kB, legacy-q 26 kB and 1 more": "p",
    }
    assert call("check").exit_code == 1
    assert (
        found(old='"26 kB"\nfiles = ["queries/legacy/**"]', pair='"156 kB"\nqueries = ["q", "p"]', all='"1 MB"') == {}
    )
    assert call("check").exit_code == 0
    write("texts.sql", "SELECT U.s FROM U, T WHERE T.ts BETWEEN U.ts AND U.ts + 10")
    texts = '"1 MB"\n[streams.U]\ntimestamp = "ts"\ncolumns = { s = "string", ts = "bigint" }\nmax_per_timestamp = 1'
    assert found(old='"1 MB"', pair='"1 MB"\nqueries = ["q"]', all=texts) == {
        f"how many bytes texts keeps is not known, and the budget of {name} is 1 MB": "texts" for name in ("old", "all")
    }


def test_a_bound_that_is_a_number_is_compared_with_the_limit(project: Path) -> None:
    configure("")
    catalog = Path("streams.toml")
    catalog.write_text(catalog.read_text().replace("[streams.T]\n", "[streams.T]\nmax_per_timestamp = 3\n"))
    write("q.sql", "SELECT 1 AS one FROM S, T WHERE S.ts BETWEEN T.ts AND T.ts + 100")
    entries = report()["queries"][0]["bound"]["entries"]
    assert entries
    assert call("check", "--max-entries", str(entries)).exit_code == 0
    assert call("check", "--max-entries", str(entries - 1)).exit_code == 1


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
