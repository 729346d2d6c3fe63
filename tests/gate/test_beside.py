"""What became of queries since a commit, and stale entries of a baseline, in the formats that programs read."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from lxml import etree

from support.command_line import call

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
CATALOG = """
queries = ["*.sql"]
[streams.S]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
max_per_timestamp = 2
[streams.T]
timestamp = "ts"
columns = { b = "bigint", ts = "bigint" }
max_per_timestamp = 2
"""
WINDOW = "SELECT T.b FROM S, T WHERE S.ts BETWEEN T.ts AND T.ts + "
UNBOUNDED = "SELECT T.b FROM S, T WHERE S.ts > T.ts"
BEFORE = {
    "better.sql": UNBOUNDED,
    "worse.sql": WINDOW + "10",
    "grew.sql": WINDOW + "20",
    "shrank.sql": WINDOW + "30",
    "removed.sql": WINDOW + "40",
    "same.sql": WINDOW + "50",
}
AFTER = {
    "better.sql": WINDOW + "11",
    "worse.sql": UNBOUNDED,
    "grew.sql": WINDOW + "21",
    "shrank.sql": WINDOW + "29",
    "new.sql": "SELECT S.a FROM S",
    "same.sql": WINDOW + "50",
}


def write(files: dict[str, str]) -> None:
    for file in Path().glob("*.sql"):
        file.unlink()
    for name, sql in files.items():
        Path(name).write_text(f"-- name: {name[:-4]}\n{sql}")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    Path("streams.toml").write_text(CATALOG)
    write(BEFORE)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "before"]):
        subprocess.run([*git, *arguments], check=True)
    write(AFTER)
    return tmp_path


def document(*arguments: str) -> Any:
    found = json.loads(call("check", "--no-repairs", "--format", "json", *arguments).stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    lines = call("check", "--no-repairs", "--format", "jsonl", *arguments).stdout.splitlines()
    last = json.loads(lines[-1])
    assert (last["against"], last["baseline"]) == (found["against"], found["baseline"])
    return found


def test_a_run_that_is_compared_with_nothing_says_so(project: Path) -> None:
    found = document()
    assert (found["against"], found["baseline"]) == (None, None)


def test_every_transition_is_in_the_report(project: Path) -> None:
    found = document("--against", "HEAD")["against"]
    assert found["ref"] == "HEAD"
    changes = ["worse", "grew", "new", "better", "shrank", "removed", "same"]
    assert found["counts"] == dict.fromkeys(changes, 1)
    by_name = {one["name"]: one for one in found["transitions"]}
    assert {name: one["change"] for name, one in by_name.items()} == {name: name for name in changes if name != "same"}
    assert by_name["new"]["old"] is None and by_name["removed"]["new"] is None
    worse, grew = by_name["worse"], by_name["grew"]
    assert (worse["old"]["verdict"], worse["new"]["verdict"]) == ("bounded", "unbounded")
    assert grew["old"]["bound"]["entries"] < grew["new"]["bound"]["entries"]
    assert by_name["removed"]["old"] | {"bound": None} == {
        "file": "removed.sql", "line": 2, "verdict": "bounded", "suppressed": False, "bound": None,
    }  # fmt: skip
    assert all(one["touched"] for one in found["transitions"])


def test_queries_that_nobody_touched_are_told_apart(project: Path) -> None:
    Path("streams.toml").write_text(CATALOG.replace("max_per_timestamp = 2", "max_per_timestamp = 3"))
    (same,) = (one for one in document("--against", "HEAD")["against"]["transitions"] if one["name"] == "same")
    assert (same["change"], same["touched"]) == ("grew", False)


def test_stale_entries_are_in_the_report(project: Path) -> None:
    write(BEFORE | {"known.sql": UNBOUNDED})
    assert call("baseline", "create").exit_code == 0
    baseline = "streambound-baseline.json"
    assert document("--baseline", baseline)["baseline"] == {"file": baseline, "known": 2, "stale": []}
    write(AFTER | {"worse.sql": WINDOW + "10", "known.sql": UNBOUNDED})
    found = document("--baseline", baseline)["baseline"]
    (stale,) = found["stale"]
    line = next(i for i, text in enumerate(Path(baseline).read_text().splitlines(), 1) if "better" in text)
    assert stale == {"file": "better.sql", "query": "better", "code": "SB201", "line": line}
    assert found["known"] == 1
    annotations = call("check", "--baseline", baseline, "--format", "github").stdout
    assert f"::error file={baseline},line={line},title=stale baseline entry::there is no SB201 of better" in annotations
    comment = call("check", "--baseline", baseline, "--format", "markdown").stdout
    assert comment.splitlines()[1] == "### ❌ streambound: 1 entry of the baseline must be removed"
    assert "- stale in streambound-baseline.json: SB201 of better in better.sql" in comment


def test_a_comment_on_a_pull_request_lists_what_changed(project: Path) -> None:
    text = call("check", "--against", "HEAD", "--format", "markdown").stdout
    listed = re.findall(r"^- (\w+): (\w+) in", text, flags=re.M)
    assert sorted(listed) == sorted((name, name) for name in ("worse", "grew", "new", "better", "shrank", "removed"))


def test_a_bounded_query_with_an_error_passes_in_no_format(project: Path) -> None:
    write({"same.sql": "SELECT S.a FROM S -- streambound: allow SB201"})
    assert call("check").exit_code == 1
    root = etree.fromstring(call("check", "--format", "junit").stdout.encode())
    assert (root.get("failures"), root.get("tests")) == ("1", "1")
    assert "❌ streambound: 1 of 1 query does not pass" in call("check", "--format", "markdown").stdout
