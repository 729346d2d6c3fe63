"""The language server over its protocol: what an editor shows is what `streambound check` prints."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from lsprotocol import types

from streambound import cli
from support.catalog_texts import BOUNDED
from support.catalog_texts import TWO_STREAMS as CATALOG
from support.editor import Editor, covered, edited, play

UNBOUNDED = "SELECT T.b AS `é漢😀`, T.b AS c FROM S, T\r\nWHERE S.ts > T.ts AND S.a > T.b"
TEXT = f"-- 😀\n{BOUNDED};\n{UNBOUNDED};\nSELECT T.b, count(*) FROM T\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "q.sql").write_bytes(TEXT.encode())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed() -> list[dict[str, Any]]:
    """What the command line says of the file, finding by finding."""
    result = CliRunner().invoke(cli.main, ["check", "q.sql", "--format", "json", "--repairs"])
    return [found for query in json.loads(result.stdout)["queries"] for found in query["diagnostics"]]


def test_findings_verdicts_and_repairs_are_those_of_the_command_line(folder: Path) -> None:
    expected = printed()
    assert {found["code"] for found in expected} >= {"SB201", "SB202"}

    async def scene(editor: Editor) -> None:
        editor.open("q.sql", TEXT)
        await editor.until(lambda: editor.uri("q.sql") in editor.shown)
        shown = editor.shown[editor.uri("q.sql")]
        assert [(d.code, d.message.split("\n")[0]) for d in shown] == [
            (found["code"], f"{found['name']}: {found['message']}") for found in expected
        ]
        for one, other in zip(shown, expected, strict=True):
            lines = TEXT.split("\n")
            start = sum(len(line) + 1 for line in lines[: other["line"] - 1]) + other["column"] - 1
            end = sum(len(line) + 1 for line in lines[: other["end_line"] - 1]) + other["end_column"] - 1
            assert covered(TEXT, one.range) == TEXT[start:end] != ""
        assert "unbounded" in await editor.hover("q.sql", 2)
        assert "**q:1: bounded (constant), at most 3 entries, 51 B**" in await editor.hover("q.sql", 1)
        assert await editor.hover("q.sql", 0) == ""
        with_fixes = next(i for i, found in enumerate(expected) if found["fixes"])
        actions = await editor.actions("q.sql", shown[with_fixes].range)
        fixes = [fix for found in expected for fix in found["fixes"]]
        assert [action.title.rsplit(" (", 1)[0] for action in actions] == [fix["title"] for fix in fixes]
        for action, fix in zip(actions, fixes, strict=True):
            files = {Path(edit["file"]).name for edit in fix["edits"]}
            assert {Path(uri).name for uri in action.edit.changes} == files
            repaired = folder / f"repaired{len(list(folder.iterdir()))}"
            repaired.mkdir()
            for name in ("q.sql", "streams.toml"):
                text = (folder / name).read_bytes().decode()
                text = edited(text, list(action.edit.changes.get(editor.uri(name), [])))
                (repaired / name).write_bytes(text.encode())
            arguments = [
                "check",
                str(repaired / "q.sql"),
                "--catalog",
                str(repaired / "streams.toml"),
                "--format",
                "json",
            ]
            report = json.loads(CliRunner().invoke(cli.main, arguments).stdout)
            assert [query["verdict"] for query in report["queries"]] == ["bounded", "bounded", "unsupported"]

    play(folder, scene)


def test_findings_follow_the_text_and_the_catalog(folder: Path) -> None:
    async def scene(editor: Editor) -> None:
        uri = editor.uri("new.sql")
        editor.open("new.sql", BOUNDED)
        await editor.until(lambda: editor.shown.get(uri) == [])
        document = types.VersionedTextDocumentIdentifier(2, uri)
        change = types.TextDocumentContentChangeWholeDocument(UNBOUNDED)
        editor.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await editor.until(lambda: {d.code for d in editor.shown[uri]} >= {"SB201"})
        domain = "domain.b = [0, 9]\n"
        (folder / "streams.toml").write_text(CATALOG + domain, encoding="utf-8")
        saved = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(editor.uri("streams.toml")))
        editor.client.text_document_did_save(saved)
        await editor.until(lambda: editor.shown[uri] == [])
        (folder / "streams.toml").write_text(CATALOG + "domain.c = [0, 9]\n", encoding="utf-8")
        editor.client.text_document_did_save(saved)
        catalog = editor.uri("streams.toml")
        await editor.until(lambda: bool(editor.shown.get(catalog)) and bool(editor.shown[uri]))
        assert editor.shown[catalog][0].range.start.line == CATALOG.count("\n")
        (folder / "streams.toml").write_text(CATALOG + domain, encoding="utf-8")
        editor.client.text_document_did_save(saved)
        await editor.until(lambda: editor.shown[catalog] == [] and editor.shown[uri] == [])

    play(folder, scene)


def test_files_that_another_program_changes_are_watched(folder: Path) -> None:
    async def scene(editor: Editor) -> None:
        await editor.until(lambda: "**/*.toml" in editor.watched)
        uri = editor.uri("new.sql")
        editor.open("new.sql", "SELECT T.b FROM S, T WHERE S.ts > T.ts")
        await editor.until(lambda: bool(editor.shown.get(uri)))
        (folder / "streams.toml").write_text(CATALOG + "domain.b = [0, 9]\n", encoding="utf-8")
        change = types.FileEvent(editor.uri("streams.toml"), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        await editor.until(lambda: editor.shown[uri] == [])

    able = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    workspace = types.WorkspaceClientCapabilities(did_change_watched_files=able)
    play(folder, scene, types.ClientCapabilities(workspace=workspace))


def test_without_pygls_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    monkeypatch.delitem(sys.modules, "streambound.gate.language_server", raising=False)
    result = CliRunner().invoke(cli.main, ["lsp"])
    assert result.exit_code == 2
    assert "pip install 'streambound[lsp]'" in result.stderr


SETTINGS = """
[check]
baseline = "known.json"
severity = { SB150 = "error" }
deny = ["SB202"]
[[check.overrides]]
files = ["team/**"]
allow = { SB203 = "until the team's new job" }
max-entries = 2
severity.SB150 = "off"
[[check.overrides]]
files = ["paper/**"]
criteria = "paper"
[[check.overrides]]
files = ["drafts/**"]
allow-empty = true
"""
NEVER = "SELECT 1 AS one FROM S WHERE S.a < 1 AND S.a > 1"
EQUAL = "SELECT 1 AS one FROM S, T WHERE S.ts > T.ts AND S.a = T.b"
SET = {
    "q.sql": f"{UNBOUNDED};\n-- streambound: allow SB202 reason='x'\n{UNBOUNDED}".replace("'", '"'),
    "team/a.sql": f"{EQUAL};\n{NEVER};\n{BOUNDED}",
    "never.sql": f"{NEVER};\n{EQUAL}",
    "known.sql": "SELECT T.b FROM S, T WHERE S.ts > T.ts",
    "paper/p.sql": "SELECT 1 AS one FROM S AS x, S AS y, S AS z WHERE x.ts > z.ts AND y.ts > z.ts",
    "drafts/empty.sql": "-- nothing yet",
    "empty.sql": "-- nothing yet",
}


def levels(found: dict[str, Any]) -> types.DiagnosticSeverity:
    if found["suppression"]:
        return types.DiagnosticSeverity.Hint
    names = {"error": "Error", "warning": "Warning", "note": "Information"}
    return types.DiagnosticSeverity[names[found["severity"]]]


def test_settings_and_baselines_hold_as_on_the_command_line(folder: Path) -> None:
    for name, text in SET.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(text.encode())
    run = CliRunner().invoke
    assert run(cli.main, ["baseline", "create", "--baseline", "known.json", "known.sql"]).exit_code == 0
    (folder / "streams.toml").write_text(SETTINGS + CATALOG, encoding="utf-8")
    seen = set()

    async def scene(editor: Editor) -> None:
        for name, text in SET.items():
            queries = json.loads(run(cli.main, ["check", name, "--format", "json", "--repairs"]).stdout)["queries"]
            printed = run(cli.main, ["check", name, "--no-repairs"]).stdout
            expected = [found for query in queries for found in query["diagnostics"]]
            editor.open(name, text)
            await editor.until(lambda name=name: editor.uri(name) in editor.shown)
            shown = editor.shown[editor.uri(name)]
            assert [(d.code, d.severity, d.message.split("\n")[0]) for d in shown] == [
                (found["code"], levels(found), f"{found['name']}: {found['message']}") for found in expected
            ]
            for one, other in zip(shown, expected, strict=True):
                reason = (other["suppression"] or {}).get("where", "")
                assert reason in one.message
                titles = [action.title.rsplit(" (", 1)[0] for action in await editor.actions(name, one.range)]
                assert {fix["title"] for fix in other["fixes"]} <= set(titles)
                assert bool(titles) <= any(found["fixes"] for found in expected)
            for query in queries:
                head, *rest = (await editor.hover(name, query["line"] - 1)).split("\n\n")
                assert head.strip("*") in printed.splitlines()
                assert all(f"  {line}" in printed.splitlines() for line in rest if "witness" not in line)
                seen.add((query["verdict"], query["suppressed"]))
            seen.update((found["code"], found["severity"], bool(found["suppression"])) for found in expected)

    play(folder, scene)
    assert seen >= {
        ("SB150", "error", False), ("SB203", "error", True), ("SB203", "error", False), ("SB210", "error", False),
        ("SB201", "error", True), ("SB202", "error", False), ("SB411", "error", False), ("SB301", "error", False),
        ("SB401", "error", False), ("unbounded", True), ("unbounded", False),
    }  # fmt: skip


def test_a_baseline_that_cannot_be_read_is_shown_where_it_is_wrong(folder: Path) -> None:
    (folder / "streams.toml").write_text('[check]\nbaseline = "known.json"\n' + CATALOG, encoding="utf-8")
    (folder / "known.json").write_text("{\n<<<<", encoding="utf-8")

    async def scene(editor: Editor) -> None:
        editor.open("q.sql", TEXT)
        await editor.until(lambda: bool(editor.shown.get(editor.uri("known.json"))))
        (found,) = editor.shown[editor.uri("known.json")]
        assert found.range.start.line == 1 and "not JSON" in found.message
        assert editor.shown[editor.uri("q.sql")][0].message == found.message

    play(folder, scene)
