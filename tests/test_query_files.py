"""Which files a check looks at: nothing that it was asked for is passed over in silence."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.catalog_texts import BOUNDED, TWO_STREAMS
from support.command_line import call


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    register("queries/**/*.sql")
    for name in ("a/q.sql", "b/q.sql", "b/deep/q.sql"):
        (tmp_path / "queries" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "queries" / name).write_text(BOUNDED, encoding="utf-8")
    return tmp_path


def register(*patterns: str) -> None:
    Path("streams.toml").write_text(f"queries = {list(patterns)!r}\n{TWO_STREAMS}", encoding="utf-8")


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make a directory one that cannot be listed, for root, too."""
    scan = os.scandir

    def lock(locked: str) -> None:
        def scandir(path: Any = ".") -> Any:
            if os.path.normpath(path) == os.path.normpath(locked):
                raise PermissionError(13, "Permission denied", str(path))
            return scan(path)

        monkeypatch.setattr(os, "scandir", scandir)

    return lock


PATTERNS = [
    ("queries/**/*.sql", "queries/b/deep"), ("queries/**/*.sql", "queries"), ("queries/*/*.sql", "queries/b"),
    ("**/q.sql", "queries/a"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "locked"), PATTERNS)
@pytest.mark.parametrize("command", [("check",), ("baseline", "create"), ("check", "--fix")])
def test_a_directory_that_cannot_be_listed_may_hold_queries(
    project: Path, lock: Callable[[str], None], pattern: str, locked: str, command: tuple[str, ...]
) -> None:
    register(pattern)
    assert call("check").exit_code == 0
    lock(locked)
    result = call(*command)
    assert result.exit_code == 3
    assert f"{locked}: cannot list the directory: Permission denied" in result.stderr


def test_a_directory_beyond_the_pattern_is_not_searched(project: Path, lock: Callable[[str], None]) -> None:
    register("queries/*/*.sql")
    lock("queries/b/deep")
    assert call("check").exit_code == 0


def test_a_link_to_a_directory_is_not_followed_and_said(project: Path) -> None:
    (project / "elsewhere" / "deep").mkdir(parents=True)
    (project / "elsewhere" / "deep" / "other.sql").write_text("SELECT nope FROM S", encoding="utf-8")
    (project / "queries" / "link").symlink_to("../elsewhere")
    (project / "queries" / "nothing").symlink_to("../none")
    (project / "queries" / "seen").symlink_to("b")
    note = (
        "streambound: note: queries/link leads to a directory with SQL files and is not followed; name it to check them"
    )
    for arguments in ([], ["queries"]):
        result = call("check", *arguments)
        assert (result.exit_code, result.stderr) == (0, f"{note}\n")
    assert call("check", "queries/link").exit_code == 1
    (project / "elsewhere" / "deep" / "other.sql").unlink()
    assert call("check").stderr == ""
    (project / "elsewhere" / "other.sql").write_text("SELECT nope FROM S", encoding="utf-8")
    register("queries/*/*.sql")
    assert call("check").exit_code == 1, "a pattern for one directory follows links"


@pytest.mark.parametrize("pattern", ["", ".", "/absolute/*.sql", "queries/**.sql"])
def test_what_is_no_pattern_is_an_error(project: Path, pattern: str) -> None:
    register(pattern)
    result = call("check")
    assert result.exit_code == 2
    assert f"queries = [{pattern!r}] is no pattern" in result.stderr


def test_a_file_that_cannot_be_read_is_reported_with_the_others(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path.name == "locked.sql":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    (project / "locked.sql").write_text(BOUNDED, encoding="utf-8")
    (project / "locked.sql").chmod(0)
    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    result = call("check", "locked.sql", "queries")
    assert result.exit_code == 3
    assert "cannot read the file: Permission denied" in result.stdout
    assert "4 queries checked: 3 bounded, 1 error" in result.stdout
