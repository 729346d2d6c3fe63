"""An editor shows of every file what `streambound check` reports of it, over a workspace with all kinds of findings."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from lsprotocol import types

from streambound import cli
from streambound.analyzer.codes import Code
from support.code_pages import Page
from support.editor import Editor, play

BASELINE = "known.json"
NOT_HERE = {
    "SB221": "of an engine, which is one for all files",
    "SB222": "of an engine, which is one for all files",
    "SB223": "of an engine, which is one for all files",
    "SB224": "of an engine, which is one for all files",
    "SB421": "beside another commit",
    "SB422": "beside another commit",
    "SB901": "a defect of this program",
}
SETTINGS = f"""
queries = ["codes/*.sql", "queries/**/*.sql"]
[check]
baseline = "{BASELINE}"
severity = {{ SB150 = "error" }}
[[check.overrides]]
files = ["codes/SB210.sql"]
max-entries = 1000
[[check.overrides]]
files = ["codes/SB30*.sql"]
criteria = "paper"
[[check.overrides]]
files = ["queries/team/**"]
allow = {{ SB201 = "until the team's new job", SB204 = "needed by nobody" }}
severity.SB150 = "off"
[[check.overrides]]
files = ["queries/drafts/**"]
allow-empty = true

[streams.S]
timestamp = "ts"
columns = {{ a = "bigint", ts = "bigint" }}
[streams.T]
timestamp = "ts"
columns = {{ b = "bigint", ts = "bigint" }}
"""
PASSES = "SELECT S.a FROM S, T WHERE S.ts > T.ts"
FAILS = "SELECT T.b FROM S, T WHERE S.ts > T.ts"
NEVER = "SELECT 1 AS one FROM S WHERE S.a < 1 AND S.a > 1"
QUERIES = {
    "queries/first.sql": f"-- name: large\n{PASSES};\n-- name: x\n{PASSES}",
    "queries/zz_last.sql": f"-- name: large\n{PASSES};\n-- name: x\n{FAILS};\n-- name: plain\n{PASSES}",
    "queries/plain.sql": PASSES,
    "queries/team/plain.sql": f"{FAILS};\n{NEVER}",
    "queries/accepted.sql": f'-- streambound: allow SB201 until=2099-12-31 reason="é漢😀"\n{FAILS};\n{FAILS}',
    "queries/known.sql": f"{FAILS};\n-- name: gone\n{FAILS}",
    "queries/lines.sql": f"-- 😀\tx\r\n{FAILS};\r\n\t/* é漢😀 */ {FAILS};\r\nSELECT 😀 FROM S\r\n",
    "queries/ends.sql": f"-- a\u2028b\x0bc\x0cd\x85e\n{FAILS};\n-- a\rb\n/* \u2029 */ {FAILS}",
    "queries/drafts/empty.sql": "-- nothing yet",
    "queries/deep/er/link.sql": FAILS,
    "other/alone.sql": f"-- name: large\n{FAILS}",
}
"""Registered ones, and one that is not."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with the codes that its settings name, and one that several files have together."""
    return workspace(tmp_path, monkeypatch, ["SB210", "SB301", "SB402"])


@pytest.fixture
def every(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with all codes."""
    return workspace(tmp_path, monkeypatch, [rule for rule in Code if rule not in NOT_HERE])


def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: Iterable[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    settings, texts = SETTINGS, dict(QUERIES)
    for rule in codes:
        tables, texts[f"codes/{rule}.sql"] = example(rule)
        settings += tables
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "queries/mark.sql").write_bytes(b"\xef\xbb\xbf" + FAILS.encode())
    (tmp_path / "queries/binary.sql").write_bytes(b"\xff")
    (tmp_path / "queries/link.sql").symlink_to("plain.sql")
    (tmp_path / "streams.toml").write_text(settings, encoding="utf-8")
    created = call("baseline", "create", "--baseline", BASELINE, "queries/known.sql", "queries/mark.sql")
    assert created.exit_code == 0, created.output
    (tmp_path / "queries/known.sql").write_text(FAILS, encoding="utf-8")
    return tmp_path


def example(code: str) -> tuple[str, str]:
    """The example of a code's page: its streams and its query, the streams with names of their own."""
    catalog, sql = Page.of(next(rule for rule in Code if rule == code)).example
    first = re.search(r"^\[(streams|relations)\.", catalog, re.M)
    assert first is not None
    tables = "\n" + catalog[first.start() :]
    declared = tomllib.loads(tables)
    for name in [*declared.get("streams", ()), *declared.get("relations", ())]:
        tables = re.sub(rf"\[(streams|relations)\.{name}\]", rf"[\1.{code}_{name}]", tables)
        sql = re.sub(rf"\b{name}\b(?!\.)", f"{code}_{name}", sql)
    return tables, sql


def call(*arguments: str) -> Any:
    return CliRunner().invoke(cli.main, list(arguments))


def registered(folder: Path) -> list[Path]:
    """The files that can be opened as they are."""
    files = [*folder.glob("codes/*.sql"), *folder.glob("queries/**/*.sql")]
    return sorted(file for file in files if file.name != "binary.sql")


Row = tuple[str | None, int, types.Range, str, tuple[tuple[str, int, str], ...]]
"""Code, severity, place, message, related places."""


def printed(folder: Path, *more: str) -> tuple[dict[str, list[Row]], list[tuple[int, str]]]:
    """What the command line reports of each file, as an editor would have it; the stale entries, by line."""
    arguments = ["check", "--format", "json", "--baseline", BASELINE, *more]
    result = call(*arguments)
    rows: dict[str, list[Row]] = {str(file.relative_to(folder)): [] for file in registered(folder)}
    report = json.loads(result.stdout)
    for query in report["queries"]:
        rows.setdefault(query["file"], []).extend(row(found, folder) for found in query["diagnostics"])
    said = re.findall(rf"^streambound: error: {BASELINE}:(\d+): (stale: .*)$", result.stderr, re.M)
    stale = [(int(line), text) for line, text in said]
    assert [line for line, _ in stale] == [entry["line"] for entry in report["baseline"]["stale"]]
    return rows, stale


def row(found: dict[str, Any], folder: Path) -> Row:
    severity = {"error": 1, "warning": 2, "note": 3}[found["severity"]]
    text = [f"{found['name']}: {found['message']}", *([f"help: {found['help']}"] if found["help"] else [])]
    if accepted := found["suppression"]:
        severity = 4
        until = f" until {accepted['until']}" if accepted["until"] else ""
        place = f"{found['code']} at {found['file']}:{found['line']}:{found['column']}"
        reason = f": {accepted['reason']}" if accepted["reason"] else ""
        text.append(f"suppressed: {place} is allowed by {accepted['where']}{until}{reason}")
    source = text_of(folder, found["file"])
    area = types.Range(
        position(source, found["line"], found["column"]), position(source, found["end_line"], found["end_column"])
    )
    related = tuple(
        (other["file"], position(text_of(folder, other["file"]), other["line"], 1).line, other["message"])
        for other in found["related"]
    )
    return found["code"], severity, area, "\n".join(text), related


def text_of(folder: Path, file: str) -> str:
    return (folder / file).read_bytes().decode("utf-8-sig", "replace")


def position(text: str, line: int, column: int) -> types.Position:
    """A line and column of the command line, which only LF separates, as an editor counts: CR alone, too, in UTF-16."""
    before = "\n".join([*text.split("\n")[: line - 1], text.split("\n")[line - 1][: column - 1]])
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return types.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)


def shown(editor: Editor, folder: Path, name: str) -> list[Row]:
    found = []
    for one in editor.shown.get(editor.uri(name), []):
        places = [(other.location, other.message) for other in one.related_information or []]
        related = tuple((name_of(at.uri, folder), at.range.start.line, said) for at, said in places)
        found.append((str(one.code), int(one.severity or 0), one.range, one.message, related))
    return found


def name_of(uri: str, folder: Path) -> str:
    return str(Path(uri.removeprefix("file://")).relative_to(folder))


def stale_shown(editor: Editor) -> list[tuple[int, str]]:
    found = editor.shown.get(editor.uri(BASELINE), [])
    return [(one.range.start.line + 1, one.message.split("\n")[0]) for one in found]


async def equal(editor: Editor, folder: Path, files: list[str]) -> None:
    """Wait until the editor shows what the command line prints; what differs where it never does."""
    rows, stale = printed(folder, "--no-repairs")
    try:
        await editor.until(
            lambda: all(shown(editor, folder, file) == rows[file] for file in files) and stale_shown(editor) == stale
        )
    except TimeoutError:
        for file in files:
            assert shown(editor, folder, file) == rows[file], file
        assert stale_shown(editor) == stale


def test_an_editor_shows_what_the_command_line_prints(every: Path) -> None:
    """Of every kind of finding."""
    rows, stale = printed(every, "--no-repairs")
    found = {code for items in rows.values() for code, *_ in items}
    assert found == set(Code) - NOT_HERE.keys()
    assert {severity for items in rows.values() for _, severity, *_ in items} == {1, 2, 3, 4}
    assert len(stale) == 1 and "there is no SB201 of gone in queries/known.sql any more" in stale[0][1]
    assert sum(code == "SB402" for items in rows.values() for code, *_ in items) > 3
    files = [str(file.relative_to(every)) for file in registered(every)]

    async def scene(editor: Editor) -> None:
        for name in files:
            editor.open(name, (every / name).read_bytes().decode("utf-8-sig"))
        await equal(editor, every, files)
        editor.open("other/alone.sql", (every / "other/alone.sql").read_text(encoding="utf-8"))
        uri = editor.uri("other/alone.sql")
        await editor.until(lambda: bool(editor.shown.get(uri)))
        alone, _ = printed(every, "other/alone.sql")
        assert shown(editor, every, "other/alone.sql") == alone["other/alone.sql"], "it is a run of its own"
        (needless,) = editor.shown[editor.uri("streams.toml")]
        said = call("check", "--no-repairs").stderr
        line = needless.range.start.line + 1
        assert f"streambound: note: streams.toml:{line}: {needless.message}\n" in said

    play(every, scene)


def test_what_one_file_changes_in_others_is_shown_at_once(folder: Path) -> None:
    files = ["queries/zz_last.sql", "queries/first.sql", "codes/SB402.sql", "queries/known.sql"]

    async def scene(editor: Editor) -> None:
        for name in files[:2]:
            editor.open(name, (folder / name).read_text(encoding="utf-8"))
        await equal(editor, folder, files[:2])
        assert [code for code, *_ in shown(editor, folder, files[0])].count("SB402") == 3
        editor.change("queries/first.sql", PASSES)
        await editor.until(lambda: [code for code, *_ in shown(editor, folder, files[0])].count("SB402") == 2)
        editor.close("queries/first.sql")
        await equal(editor, folder, files[:1])
        (folder / "queries/first.sql").write_text(PASSES, encoding="utf-8")
        (folder / "codes/SB402.sql").unlink()
        editor.tell("queries/first.sql")
        await equal(editor, folder, files[:1])
        editor.open("queries/known.sql", f"{FAILS};\n-- name: gone\n{FAILS}")
        await editor.until(lambda: stale_shown(editor) == [])
        editor.change("queries/known.sql", FAILS)
        await equal(editor, folder, [files[0], files[3]])
        assert len(stale_shown(editor)) == 1

    play(folder, scene)


def test_a_pattern_that_fits_no_file_is_shown_in_the_catalog(folder: Path) -> None:
    catalog = (folder / "streams.toml").read_text(encoding="utf-8")
    (folder / "streams.toml").write_text(catalog.replace("codes/*.sql", "none/*.sql"), encoding="utf-8")

    async def scene(editor: Editor) -> None:
        editor.open("queries/plain.sql", FAILS)
        await editor.until(lambda: bool(editor.shown.get(editor.uri("streams.toml"))))
        (wrong,) = editor.shown[editor.uri("streams.toml")]
        assert wrong.range.start.line == 1
        assert wrong.message in call("check").stderr
        assert [code for code, *_ in shown(editor, folder, "queries/plain.sql")] == ["SB201"]

    play(folder, scene)


def test_a_text_that_is_in_no_file_is_a_run_of_its_own(folder: Path) -> None:
    """An untitled one, and an older version of a file, which another scheme names by the same path."""
    uris = ["untitled:Untitled-1", editor_uri(folder, "queries/plain.sql", "git")]

    async def scene(editor: Editor) -> None:
        editor.open("queries/plain.sql", PASSES)
        for uri in uris:
            item = types.TextDocumentItem(uri, "sql", 1, f"-- name: large\n{FAILS}")
            editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
            await editor.until(lambda uri=uri: bool(editor.shown.get(uri)))
            (found,) = editor.shown[uri]
            assert (found.code, found.range.start) == ("SB201", types.Position(1, 7))
        await equal(editor, folder, ["queries/plain.sql"])

    play(folder, scene)


def editor_uri(folder: Path, name: str, scheme: str) -> str:
    return (folder / name).as_uri().replace("file:", f"{scheme}:", 1)


def test_a_folder_below_the_catalog_is_part_of_its_workspace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = folder / "queries"
    monkeypatch.chdir(below)
    report = json.loads(call("check", "--format", "json").stdout)["queries"]
    file = str(below / "zz_last.sql")
    expected = [(found["code"], found["line"]) for query in report if query["file"] == file
                for found in query["diagnostics"]]  # fmt: skip
    assert [code for code, _ in expected].count("SB402") == 3

    async def scene(editor: Editor) -> None:
        editor.open("zz_last.sql", (below / "zz_last.sql").read_text(encoding="utf-8"))
        uri = editor.uri("zz_last.sql")
        found = lambda: [(one.code, one.range.start.line + 1) for one in editor.shown.get(uri, [])]  # noqa: E731
        await editor.until(lambda: found() == expected)
        await editor.until(lambda: bool(editor.shown.get((folder / BASELINE).as_uri())))

    play(below, scene)


def test_each_file_has_its_own_catalog_where_the_folder_has_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    above = folder / "above"
    for name in ("one", "two"):
        (above / name).mkdir(parents=True)
        (above / name / "q.sql").write_text(FAILS, encoding="utf-8")
    tables = SETTINGS[SETTINGS.index("[streams.S]") :]
    (above / "one" / "streams.toml").write_text(tables, encoding="utf-8")
    (above / "two" / "streams.toml").write_text(tables.replace('b = "bigint"', 'c = "bigint"'), encoding="utf-8")
    (folder / "streams.toml").unlink()
    (above / "q.sql").write_text(FAILS, encoding="utf-8")
    monkeypatch.chdir(above)

    async def scene(editor: Editor) -> None:
        for name in ("one/q.sql", "two/q.sql", "q.sql"):
            editor.open(name, FAILS)
            await editor.until(lambda name=name: bool(editor.shown.get(editor.uri(name))))
        codes = {name: [one.code for one in editor.shown[editor.uri(name)]] for name in ("one/q.sql", "two/q.sql")}
        assert codes == {"one/q.sql": ["SB201"], "two/q.sql": ["SB102"]}
        (lost,) = editor.shown[editor.uri("q.sql")]
        assert lost.message.startswith("no streams.toml in ")
        (above / "two" / "streams.toml").write_text(tables, encoding="utf-8")
        editor.tell("two/streams.toml")
        await editor.until(lambda: editor.shown[editor.uri("two/q.sql")][0].code == "SB201")

    play(above, scene)
