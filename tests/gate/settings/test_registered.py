"""Which files a catalog registers: its `queries`, without `[check] exclude`; what `check --registered` leaves out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.errors import CatalogError
from support.command_line import call
from support.settings import STREAMS, UNBOUNDED, configure, shown, write

EXCLUDED = '[check]\nexclude = ["queries/drafts/**", "**/tmp_*.sql"]\n'


@pytest.fixture(autouse=True)
def _files(project: Path) -> None:
    Path("queries", "drafts").mkdir()
    Path("other").mkdir()
    write("good.sql", "SELECT 1 AS one FROM S")
    for name in ("drafts/new.sql", "tmp_x.sql", "../other/q.sql"):
        write(name, UNBOUNDED)
    configure(EXCLUDED)


ALL = ("queries/good.sql", "queries/drafts/new.sql", "queries/tmp_x.sql", "other/q.sql")


def checked(*arguments: str) -> list[str]:
    return [query["file"] for query in json.loads(call("check", "--format", "json", *arguments).stdout)["queries"]]


def test_what_is_excluded_is_not_registered() -> None:
    assert checked() == ["queries/good.sql"]
    configure("")
    assert checked() == ["queries/drafts/new.sql", "queries/good.sql", "queries/tmp_x.sql"]


def test_a_hook_checks_what_is_registered_and_a_person_what_they_name() -> None:
    assert checked(*ALL) == list(ALL)
    assert checked("--registered", *ALL) == ["queries/good.sql"]
    assert checked("--registered", ".") == ["queries/good.sql"]
    assert checked("--registered") == ["queries/good.sql"]


def test_where_all_are_left_out_the_hook_passes_and_says_so() -> None:
    result = call("check", "--registered", *ALL[1:])
    assert result.exit_code == 0
    assert "3 files are left out: the catalog does not register them" in result.stderr
    assert "0 queries checked" in result.stdout
    assert call("check", "--registered", *ALL).exit_code == 0
    configure("")
    assert call("check", "--registered", *ALL).exit_code == 1


def test_a_catalog_without_queries_registers_all_that_it_does_not_exclude() -> None:
    Path("streams.toml").write_text(f"{EXCLUDED}\n{STREAMS}")
    assert checked("--registered", *ALL) == ["queries/good.sql", "other/q.sql"]


def test_a_catalog_elsewhere_names_files_from_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("queries")
    assert checked("--registered", "good.sql", "tmp_x.sql", "../other/q.sql") == ["good.sql"]


def test_a_link_is_registered_by_its_own_place() -> None:
    Path("other", "linked.sql").symlink_to(Path("queries", "good.sql").absolute())
    assert checked("--registered", "other/linked.sql", "queries/good.sql") == ["queries/good.sql"]


def test_to_exclude_everything_is_no_way_to_pass() -> None:
    configure('[check]\nexclude = ["queries/**"]')
    result = call("check")
    assert result.exit_code == 2
    assert "exclude in streams.toml leaves out all" in result.stderr
    assert call("check", "--allow-empty").exit_code == 0


def test_it_is_shown_with_its_line() -> None:
    assert shown()["exclude"] == (["queries/drafts/**", "**/tmp_*.sql"], "streams.toml:3")
    configure("")
    assert shown()["exclude"] == ([], "default")


def test_it_is_a_list_of_patterns_of_the_whole_run() -> None:
    with pytest.raises(CatalogError, match=r"check\.exclude must be a list of strings"):
        parse_catalog('[check]\nexclude = "a"\n' + STREAMS)
    with pytest.raises(CatalogError, match="unknown key 'exclude'"):
        parse_catalog('[[check.overrides]]\nfiles = ["a"]\nexclude = ["a"]\n' + STREAMS)
