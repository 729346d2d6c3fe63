"""What a run reports depends on its input alone: not on cache, processes, or the order of hashes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from streambound import cli
from streambound.analyzer.spans import SourceText
from streambound.analyzer.workspace import Workspace
from streambound.criteria import check as criteria_module
from streambound.criteria.vocabulary import Verdict
from streambound.gate import cache as cache_module
from streambound.gate import judging, tasks
from streambound.gate.cache import Cache, digest
from streambound.gate.check_files import GateSettings, check_files
from streambound.gate.tasks import from_json, to_json
from streambound.reports.formats import FORMAT_NAMES
from streambound.reports.outcome import Outcome
from support.catalog_texts import BOUNDED
from support.catalog_texts import TWO_STREAMS as CATALOG

ROOT = Path(__file__).parents[2]
UNBOUNDED = "SELECT T.b FROM S, T WHERE S.ts > T.ts AND S.a = T.b"
TEXTS = {
    "bounded.sql": BOUNDED,
    "unbounded.sql": UNBOUNDED,
    "several.sql": f"-- name: one\n{BOUNDED};\n-- name: one\n{UNBOUNDED};\n"
    "SELECT kurtosis(S.a) AS n FROM S; SELECT FROM",
    "empty.sql": "-- nothing\n",
    "more.sql": ";\n".join([BOUNDED, UNBOUNDED] * 3),
}
SETTINGS = GateSettings(details=frozenset({"certificate", "drawings"}))


@pytest.fixture
def files(tmp_path: Path) -> Iterator[list[Path]]:
    (tmp_path / "streams.toml").write_text(CATALOG, encoding="utf-8")
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "latin1.sql").write_bytes(b"SELECT '\xe9'")
    yield [*(tmp_path / name for name in TEXTS), tmp_path / "latin1.sql", tmp_path / "missing.sql"]


def run(files: list[Path], settings: GateSettings = SETTINGS, cache: Cache | None = None) -> tuple[Outcome, ...]:
    return check_files(files, Workspace(files[0].parent / "streams.toml"), settings, cache=cache)


def test_an_outcome_survives_json(files: list[Path]) -> None:
    found = run(files)
    assert {item.verdict.value for item in found} == {"bounded", "unbounded", "unsupported", "error"}
    assert any(item.drawings for item in found) and any(item.certificate for item in found)
    assert any(fix.edits and fix.hunks for item in found for d in item.diagnostics for fix in d.fixes)
    for item in found:
        assert from_json(to_json(item), item.source) == item


def test_the_cache_gives_what_was_computed(files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(files, cache=Cache(tmp_path / "cache"))
    computed: list[tasks.Task] = []
    judge = tasks.result
    monkeypatch.setattr(tasks, "result", lambda task, workspace: computed.append(task) or judge(task, workspace))
    assert run(files, cache=Cache(tmp_path / "cache")) == first == run(files)
    assert len(computed) == len(TEXTS) + 3, "all by the run without a cache: every text, and the files with repairs"


@pytest.mark.parametrize("change", ["text", "catalog", "criteria", "details", "program"])
def test_whatever_a_verdict_depends_on_is_in_the_key(
    change: str, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(SETTINGS, repairs=0)
    run(files, settings, Cache(tmp_path / "cache"))
    match change:
        case "text":
            files[0].write_text(UNBOUNDED, encoding="utf-8")
        case "catalog":
            text = CATALOG.replace('b = "bigint", ts = "bigint" }', 'b = "bigint", ts = "bigint" }\ndomain.b = [0, 9]')
            (files[0].parent / "streams.toml").write_text(text, encoding="utf-8")
        case "criteria":
            settings = replace(settings, criteria="paper")
        case "details":
            settings = replace(settings, details=frozenset())
        case "program":
            monkeypatch.setattr(cache_module, "program", lambda: "another version")
    computed: list[tasks.Task] = []
    judge = tasks.result
    monkeypatch.setattr(tasks, "result", lambda task, workspace: computed.append(task) or judge(task, workspace))
    warm = run(files, settings, Cache(tmp_path / "cache"))
    assert len(computed) == (1 if change == "text" else len(TEXTS))
    assert warm == run(files, settings)
    keys = {digest("q.sql", "x"), digest("q.sql", "y"), digest("q.sqlx", "")}
    assert len(keys) == 3


@pytest.mark.parametrize("content", [b"", b"not a database", None])
def test_a_broken_cache_is_no_cache(content: bytes | None, files: list[Path], tmp_path: Path) -> None:
    directory = tmp_path / "cache"
    if content is None:
        directory.write_text("a file where the directory should be", encoding="utf-8")
    else:
        directory.mkdir()
        (directory / "outcomes.sqlite").write_bytes(content)
    assert run(files, cache=Cache(directory)) == run(files)
    if content is not None:
        run(files, cache=Cache(directory))
        assert Cache(directory).find([]) == {}
        with sqlite3.connect(directory / "outcomes.sqlite") as database:
            assert database.execute("SELECT count(*) FROM outcome").fetchone()[0] >= len(TEXTS)


def test_what_nobody_uses_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def at(day: int) -> None:
        monkeypatch.setattr(cache_module.time, "time", lambda: 1e9 + day * 86_400)

    at(0)
    cache = Cache(tmp_path)
    cache.add("used", 1)
    cache.add("unused", 2)
    cache.close()
    at(20)
    cache = Cache(tmp_path)
    assert cache.find(["used"]) == {"used": 1}
    cache.close()
    at(40)
    cache.add("new", 3)
    cache.close()
    assert Cache(tmp_path).find(["used", "unused", "new"]) == {"used": 1, "new": 3}


def test_any_number_of_processes_reports_the_same(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "WORTHWHILE", 0)
    alone = run(files)
    for jobs in (2, 5):
        assert run(files, replace(SETTINGS, jobs=jobs)) == alone


def in_all_formats(folder: Path) -> list[str]:
    """Options for every format at once, into files of a new folder."""
    folder.mkdir()
    return [word for name in FORMAT_NAMES for word in ("-o", f"{name}:{folder / name}")]


def written(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FORMAT_NAMES}


def test_every_format_is_the_same_for_any_processes_cache_and_order_of_directories(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "WORTHWHILE", 0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STREAMBOUND_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "streams.toml").write_text('queries = ["*.sql"]\n' + CATALOG, encoding="utf-8")

    def check(folder: str, *more: str) -> dict[str, bytes]:
        CliRunner().invoke(cli.main, ["check", *more, *in_all_formats(tmp_path / folder)])
        return written(tmp_path / folder)

    first = check("alone", "--no-cache", "-j", "1")
    assert b"unbounded" in first["text"]
    for folder, *more in (("cold", "-j", "3"), ("warm", "-j", "1"), ("directory", ".", "-j", "2")):
        assert check(folder, *more) == first, folder
    walk, glob = os.walk, Path.glob
    monkeypatch.setattr(os, "walk", lambda *a, **k: ((d, s, n[::-1]) for d, s, n in list(walk(*a, **k))[::-1]))
    monkeypatch.setattr(Path, "glob", lambda *a: list(glob(*a))[::-1])
    assert check("reversed") == check("reversed directory", ".") == first


def test_every_format_is_the_same_for_any_hash_seed(files: list[Path], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "streambound", "check", *map(str, files), "--no-cache", "--catalog"]
    outputs = []
    for seed in ("1", "2"):
        subprocess.run(
            [*command, str(files[0].parent / "streams.toml"), *in_all_formats(tmp_path / seed)],
            cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, check=False, capture_output=True,
        )  # fmt: skip
        outputs.append(written(tmp_path / seed))
    assert outputs[0] == outputs[1] and b'"unbounded"' in outputs[0]["json"]


def test_repairs_are_of_the_first_rejected_statements_of_the_run(files: list[Path]) -> None:
    rejected = [item for item in run(files, replace(SETTINGS, repairs=2)) if item.rejected]
    assert [item.repaired for item in rejected] == [True, True] + [False] * (len(rejected) - 2)
    assert all(item.repaired for item in run(files, replace(SETTINGS, repairs=None)) if item.rejected)


def test_a_statement_is_checked_once_and_repaired_as_if_it_were_checked_again(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, seen = criteria_module.check_statement, list[str]()

    def noted(statement: Any, *more: Any) -> Any:
        seen.append(f"{statement.source.file}:{statement.span.start}")
        return judge(statement, *more)

    monkeypatch.setattr(criteria_module, "check_statement", noted)
    every = replace(SETTINGS, repairs=None)
    found = run(files, every)
    assert len(seen) == len(set(seen)) and sum(item.repaired for item in found) == 6
    monkeypatch.setattr(judging, "MOST_KEPT", 1)
    assert [to_json(item) for item in run(files, every)] == [to_json(item) for item in found]
    assert len(seen) > 2 * len(set(seen))


def test_a_statement_with_another_catalog_is_checked_again(files: list[Path]) -> None:
    (unbounded,) = run(files[1:2], replace(SETTINGS, repairs=0))
    declared = CATALOG.replace('b = "bigint", ts = "bigint" }', 'b = "bigint", ts = "bigint" }\ndomain.b = [1, 3]')
    (files[0].parent / "streams.toml").write_text(declared, encoding="utf-8")
    (bounded,) = run(files[1:2])
    assert (unbounded.verdict, bounded.verdict) == (Verdict.UNBOUNDED, Verdict.BOUNDED)


def test_a_key_does_not_run_texts_together() -> None:
    source = SourceText("q.sql", "SELECT 1")
    assert digest(source.file, source.text) != digest(source.file + source.text, "")
