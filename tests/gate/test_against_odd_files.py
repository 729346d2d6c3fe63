"""`check --against` over links, submodules and file names that nobody expects: their past is what they led to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound import cli
from support.git import commit, git

CATALOG = """\
queries = ["queries/**/*.sql"]
[streams.S]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
domain.a = [0, 9]
"""
OF_T = "SELECT T.a FROM S, T WHERE S.ts > T.ts"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "queries").mkdir()
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "main")
    (tmp_path / "streams.toml").write_text(CATALOG)
    (tmp_path / "t.sql").write_text(OF_T)
    return tmp_path


def compared(*arguments: str) -> tuple[int, dict[str, tuple[str, str | None]]]:
    """The exit status, and what became of each query: how, and its old verdict."""
    command = ["check", "--no-repairs", "--against", "HEAD", "--format", "json", *arguments]
    result = CliRunner().invoke(cli.main, command)
    changed = json.loads(result.stdout)["against"]["transitions"]
    return result.exit_code, {
        one["name"]: (one["change"], one["old"] and one["old"]["verdict"]) for one in changed
    }  # fmt: skip


def unbound() -> None:
    Path("streams.toml").write_text(CATALOG.replace("domain.a = [0, 9]", ""))


@pytest.mark.parametrize("target", ["../t.sql", "../links/a.sql"])
def test_a_link_was_what_it_led_to(project: Path, target: str) -> None:
    (project / "links").mkdir()
    (project / "links" / "a.sql").symlink_to("b.sql")
    (project / "links" / "b.sql").symlink_to("../t.sql")
    (project / "queries" / "q.sql").symlink_to(target)
    commit()
    assert compared() == (0, {})
    unbound()
    assert compared("--transitions-only") == (1, {"q": ("worse", "bounded")})
    result = CliRunner().invoke(cli.main, ["check", "--no-repairs", "--against", "HEAD"])
    assert "SB421" in result.stdout and "streams.toml:8" in result.stdout, "the catalog is to blame"


def test_what_a_link_leads_to_changes_it(project: Path) -> None:
    (project / "queries" / "q.sql").symlink_to("../t.sql")
    commit()
    (project / "t.sql").write_text(OF_T.replace("T.a", "T.a, T.ts"))
    assert compared()[1] == {"q": ("worse", "bounded")}


@pytest.mark.parametrize("target", ["/nowhere/t.sql", "../../t.sql", "../none.sql", "q.sql", ".", "../queries"])
def test_a_link_that_led_nowhere_is_new_when_it_leads_somewhere(project: Path, target: str) -> None:
    (project / "queries" / "q.sql").symlink_to(target)
    commit()
    (project / "queries" / "q.sql").unlink()
    (project / "queries" / "q.sql").symlink_to("../t.sql")
    assert compared("--transitions-only") == (0, {"q": ("new", None)})
    unbound()
    assert compared("--transitions-only") == (1, {"q": ("new", None)}), "it was no error that it is better than"


def test_a_catalog_may_be_a_link(project: Path) -> None:
    (project / "queries" / "q.sql").symlink_to("../t.sql")
    (project / "streams.toml").rename(project / "shared.toml")
    (project / "streams.toml").symlink_to("shared.toml")
    commit()
    assert compared() == (0, {})
    (project / "shared.toml").write_text(CATALOG.replace("domain.a = [0, 9]", ""))
    assert compared() == (1, {"q": ("worse", "bounded")})


def test_a_link_to_a_directory_leads_to_its_files(project: Path) -> None:
    (project / "shared").mkdir()
    (project / "t.sql").rename(project / "shared" / "t.sql")
    (project / "queries" / "team").symlink_to("../shared")
    (project / "streams.toml").write_text(CATALOG.replace("**/*.sql", "*/*.sql"))
    commit()
    assert compared() == (0, {})


def test_a_submodule_is_no_file(project: Path) -> None:
    other = project / "other"
    other.mkdir()
    git("-C", "other", "init", "-q", "-b", "main")
    (other / "q.sql").write_text(OF_T)
    git("-C", "other", "add", "-A")
    git("-C", "other", "commit", "-qm", "state")
    git("submodule", "add", "-q", str(other), "queries/sub")
    (project / "streams.toml").write_text(CATALOG.replace("**/*.sql", "**/*"))
    git("add", "streams.toml", "t.sql", "queries")
    git("commit", "-qm", "state")
    status, changed = compared("queries")
    assert (status, changed) == (0, {"q": ("new", None)}), "its files are in another repository"


def test_a_name_with_a_line_break_is_a_name(project: Path) -> None:
    (project / "queries" / "a\nb.sql").write_text(OF_T)
    commit()
    assert compared() in [(0, {}), (0, {"a\nb": ("new", None)})]


def test_a_repository_of_another_user_is_said_to_be_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "queries" / "q.sql").write_text(OF_T)
    commit()
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(project / "none"))
    result = CliRunner().invoke(cli.main, ["check", "--against", "HEAD"])
    assert result.exit_code == 2
    assert "dubious ownership" in result.stderr and "safe.directory" in result.stderr
