"""What a catalog names lies in its own directory or below: neither `..` nor a link leads out without an option."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import call
from support.settings import STREAMS

BOUNDED = "SELECT 1 AS one FROM S WHERE S.a = 1"
FIXED = '-- streambound: allow SB201 reason="x"\nSELECT 1 AS one FROM S WHERE S.a = 1\n'
"""A comment that nothing needs, which --fix removes."""
OUT = "leads out of the directory of streams.toml"


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A catalog in `inside`, with a query, and other files beside it."""
    (tmp_path / "inside" / "queries").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "q.sql").write_text(BOUNDED)
    monkeypatch.chdir(tmp_path / "inside")
    Path("queries", "q.sql").write_text(BOUNDED)


def declare(settings: str, queries: str = "queries/*.sql") -> None:
    Path("streams.toml").write_text(f'queries = ["{queries}"]\n{settings}\n{STREAMS}')


@pytest.mark.parametrize(
    "pattern", ["../outside/*.sql", "queries/../../outside/q.sql", "linked/*.sql", "queries/*.sql"]
)
def test_queries_lie_inside(pattern: str) -> None:
    Path("linked").symlink_to("../outside")
    Path("queries", "link.sql").symlink_to("../../outside/q.sql")
    declare("", pattern)
    for command in (["check"], ["baseline", "create"], ["explain", "q"]):
        result = call(*command)
        assert (result.exit_code, result.stdout) == (2, ""), command
        assert OUT in result.stderr and "--allow-outside" in result.stderr
    result = call("check", "--allow-outside")
    assert result.exit_code == 0 and "q: bounded" in result.stdout


def test_nothing_outside_is_looked_at_for_a_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    declare("", "../*/*.sql")
    monkeypatch.setattr(Path, "glob", lambda *_: pytest.fail("it was listed"))
    assert OUT in call("check").stderr


def test_links_that_stay_inside_are_followed() -> None:
    Path("queries", "link.sql").symlink_to("q.sql")
    declare("")
    assert call("check").exit_code == 0


@pytest.mark.parametrize("file", ["../outside/report.json", "out/report.json", "report.json"])
@pytest.mark.parametrize("settings", ['formats = ["text", "json:{}"]', 'baseline = "{}"'])
def test_files_of_check_lie_inside(settings: str, file: str) -> None:
    Path("out").symlink_to("../outside")
    Path("report.json").symlink_to("../outside/report.json")
    declare("[check]\n" + settings.format(file))
    command = ["baseline", "create"] if "baseline" in settings else ["check"]
    result = call(*command)
    assert result.exit_code == 2 and OUT in result.stderr
    assert not Path("../outside/report.json").exists()
    assert call(*command, "--allow-outside").exit_code == 0
    assert Path("../outside/report.json").exists()


def test_what_the_command_line_names_may_lie_anywhere() -> None:
    declare('[check]\nformats = ["json:../outside/a.json"]\nbaseline = "../outside/b.json"')
    result = call("check", "../outside/q.sql", "-o", "json:../outside/c.json", "--baseline", "../outside/d.json")
    assert "d.json: cannot read" in result.stderr
    assert call("baseline", "create", "--baseline", "../outside/d.json").exit_code == 0
    assert call("check", "-o", "json:../outside/c.json", "--baseline", "../outside/d.json").exit_code == 0
    assert call("check", "--format", "json", "--baseline", "../outside/d.json").exit_code == 0
    assert Path("../outside/c.json").exists() and not Path("../outside/a.json").exists()


def test_files_of_check_start_where_the_catalog_is(monkeypatch: pytest.MonkeyPatch) -> None:
    declare('[check]\nformats = ["json:report.json"]')
    monkeypatch.chdir("..")
    assert call("check", "--catalog", "inside/streams.toml").exit_code == 0
    assert Path("inside/report.json").exists() and not Path("report.json").exists()


@pytest.mark.parametrize("linked", ["a query", "the catalog"])
def test_fixes_stay_inside(linked: str) -> None:
    target = Path("../outside", "q.sql" if linked == "a query" else "streams.toml")
    if linked == "a query":
        declare("")
        target.write_text(FIXED)
        Path("queries", "q.sql").unlink()
        Path("queries", "q.sql").symlink_to("../../outside/q.sql")
        arguments = ["check", "queries", "--fix"]
    else:
        declare("")
        Path("streams.toml").unlink()
        with_kinds = STREAMS.replace('b = "bigint"', 'kind = "string"')
        ends = '[[streams.S.punctuations]]\nattributes = ["a"]\ncolumn = "kind"\nvalue = "closed"\n'
        target.write_text(f'queries = ["queries/*.sql"]\n{with_kinds}{ends}')
        Path("streams.toml").symlink_to(target)
        Path("queries", "q.sql").write_text("SELECT a, COUNT(*) AS n FROM S GROUP BY a")
        arguments = ["check", "--fix", "--unsafe"]
    before = target.read_text()
    result = call(*arguments)
    assert result.exit_code == 2 and "--fix would change" in result.stderr and OUT in result.stderr
    assert target.read_text() == before
    call(*arguments, "--allow-outside")
    assert target.read_text() != before
