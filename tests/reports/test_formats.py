"""Every format against its schema, and every place in every format against the text it blames."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from streambound import cli
from streambound.analyzer.codes import Code
from streambound.reports.formats import FORMAT_NAMES
from support.profiles import examples

SCHEMAS = Path(__file__).parent.parent / "data" / "schemas"
CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", s = "string", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", s = "string", ts = "bigint" }
"""
BLAMED = (
    "SELECT «T.a» FROM S, T WHERE S.ts > T.ts",
    "SELECT S.a FROM S, T WHERE S.ts > T.ts AND «S.a < T.a»",
    "SELECT «S.nope» FROM S",
    "SELECT S.a FROM «nowhere»",
    "SELECT «COLLECT_LIST(S.a)» FROM S",
    "SELECT S.a FROM S WHERE «S.a = true»",
    "SELECT «5 - S.ts» AS x FROM S",
    "SELECT «S.a» FROM S WHERE S.a = 1 AND S.a > 3",
    "SELECT S.a S«.»b FROM S",
)
BOUNDED = "SELECT S.a FROM S"
NOISE = st.lists(
    st.sampled_from(["\n", "\r\n", "\t", "  ", "-- é漢😀 e\u0301\n", "/* 😀\r\n\té */", "/*漢字 */ "]), max_size=5
).map("".join)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "streams.toml").write_text(CATALOG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


def check(*arguments: str) -> Result:
    result = CliRunner().invoke(cli.main, ["check", "--no-cache", "-j", "1", *arguments])
    assert result.exit_code in (0, 1, 3), result.output
    return result


def reports(folder: Path, *arguments: str) -> dict[str, str]:
    """One run, all formats."""
    places = {name: folder / f"out.{name}" for name in FORMAT_NAMES}
    check(*arguments, *(part for name, file in places.items() for part in ("-o", f"{name}:{file}")))
    return {name: file.read_bytes().decode("utf-8") for name, file in places.items()}


# --- places ----------------------------------------------------------------------------------------------------


def cut(text: str, line: int, column: int, end_line: int, end_column: int) -> str:
    """The text between two 1-based places in code points, the end exclusive."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    return text[starts[line - 1] + column - 1 : starts[end_line - 1] + end_column - 1]


def of_json(report: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    for query in json.loads(report)["queries"]:
        yield from _of_query(query)


def of_jsonl(report: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    for line in report.splitlines():
        yield from _of_query(json.loads(line))


def _of_query(query: dict[str, Any]) -> Iterator[tuple[str, tuple[int, ...]]]:
    for found in query.get("diagnostics", ()):
        yield found["code"], (found["line"], found["column"], found["end_line"], found["end_column"])


def of_sarif(report: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    (run,) = json.loads(report)["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    for result in run["results"]:
        region = result["locations"][0]["physicalLocation"]["region"]
        yield result["ruleId"], tuple(region[key] for key in ("startLine", "startColumn", "endLine", "endColumn"))


def of_github(report: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    for command, properties, _ in commands(report):
        assert command in ("error", "warning", "notice")
        if "col" in properties:
            places = tuple(int(properties[key]) for key in ("line", "col", "endLine", "endColumn"))
            yield properties["title"].split()[0], places


def of_gitlab(report: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    for issue in json.loads(report):
        begin, end = (issue["location"]["positions"][key] for key in ("begin", "end"))
        assert issue["location"]["lines"] == {"begin": begin["line"], "end": end["line"]}
        yield issue["check_name"].split()[0], (begin["line"], begin["column"], end["line"], end["column"])


def commands(report: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Workflow commands as GitHub's runner reads them."""
    for line in report.splitlines():
        if match := re.fullmatch(r"::(\w+)(?: ([^:]*))?::(.*)", line):
            pairs = (pair.partition("=") for pair in (match[2] or "").split(",") if pair)
            properties = {key: _decoded(value).replace("%3A", ":").replace("%2C", ",") for key, _, value in pairs}
            yield match[1], properties, _decoded(match[3])


def _decoded(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


READERS: dict[str, Callable[[str], Iterator[tuple[str, tuple[int, ...]]]]] = {
    "json": of_json,
    "jsonl": of_jsonl,
    "sarif": of_sarif,
    "github": of_github,
    "gitlab": of_gitlab,
}


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A file's text, and the tokens that must be blamed, in order."""
    parts, tokens = [], []
    for template in draw(st.lists(st.sampled_from((*BLAMED, BOUNDED)), min_size=1, max_size=4)):
        before, opened, rest = template.partition("«")
        token, _, after = rest.partition("»")
        tokens += [token] if opened else []
        spaced = [part.replace(" FROM", draw(NOISE) + " FROM") for part in (before, after)]
        parts.append(f"{draw(NOISE)}{spaced[0]}{token}{spaced[1]}{draw(NOISE)}")
    return ";".join(parts) + draw(st.sampled_from(["", ";\n"])), tokens


@examples(25)
@given(files(), st.booleans())
def test_every_place_in_every_format_is_the_blamed_token(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[str, list[str]], bom: bool
) -> None:
    text, tokens = made
    folder = tmp_path_factory.mktemp("places")
    (folder / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (folder / "é q.sql").write_bytes((b"\xef\xbb\xbf" if bom else b"") + text.encode())
    found = reports(folder, str(folder / "é q.sql"), "--catalog", str(folder / "streams.toml"), "--no-repairs")
    for name, reader in READERS.items():
        places = [place for code, place in reader(found[name]) if code != "SB402"]
        if name == "github":
            assert sorted(cut(text, *place) for place in places) == sorted(tokens)
        else:
            assert [cut(text, *place) for place in places] == tokens, name
    marked = re.findall("<mark>(.*?)</mark>", found["html"])
    assert sorted(html.unescape(mark) for mark in marked) == sorted(tokens)
    for line, column, *_ in (place for _, place in of_json(found["json"])):
        for name in ("text", "junit", "markdown"):
            assert f"é q.sql:{line}:{column}" in found[name], name


# --- schemas ---------------------------------------------------------------------------------------------------

EVERYTHING = f"""-- name: fine
{BOUNDED};
INSERT INTO `a]]>b<&"😀`
SELECT T.a FROM S, T WHERE S.ts > T.ts;
-- streambound: allow SB201 until=2999-12-31 reason="agreed | with <b>everyone</b>, see `x`"
SELECT T.a AS x FROM S, T WHERE S.ts > T.ts;
SELECT S.a FROM S WHERE S.a = 1 AND S.a > 3;
SELECT S.nope FROM S;
SELECT COLLECT_LIST(S.a) AS `%0A::error::x` FROM S;
SELECT DISTINCT S.a FROM S, T WHERE S.ts > T.ts AND S.s = '\x07\x1b[31m' AND S.a < T.a
"""


@pytest.fixture
def everything(project: Path) -> dict[str, str]:
    (project / "q").mkdir()
    (project / "q" / "a b.sql").write_text(EVERYTHING, encoding="utf-8")
    (project / "q" / "bad.sql").write_bytes(b"\xff")
    (project / "q" / "open.sql").write_text("SELECT S.a FROM S WHERE S.s = 'x", encoding="utf-8")
    return reports(project, "q")


def test_sarif_follows_its_schema(everything: dict[str, str]) -> None:
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    log = json.loads(everything["sarif"])
    jsonschema.Draft7Validator(schema | {"$schema": "http://json-schema.org/draft-07/schema#"}).validate(log)
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(Code)
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place["uriBaseId"] == "%SRCROOT%" and not place["uri"].startswith("/")
        assert run["artifacts"][place["index"]]["location"]["uri"] == place["uri"]
    by_query = {result["properties"]["query"]: result for result in run["results"]}
    assert by_query["a b:3"]["suppressions"][0]["kind"] == "inSource"
    assert "agreed" in by_query["a b:3"]["suppressions"][0]["justification"]
    assert all(result["suppressions"] == [] for name, result in by_query.items() if name != "a b:3")
    unbounded = by_query['a]]>b<&"😀']
    assert unbounded["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "q/a%20b.sql"
    assert unbounded["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "streams.toml"
    assert unbounded["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 7
    assert unbounded["fixes"]
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    assert sum(run["properties"]["queries"].values()) == 9


def test_a_fix_in_sarif_makes_the_query_bounded(project: Path) -> None:
    text = "SELECT é.a, T.a AS x -- 😀\r\nFROM S AS é, T WHERE é.a > T.a"
    (project / "q.sql").write_bytes(text.encode())
    (run,) = json.loads(reports(project, "q.sql")["sarif"])["runs"]
    applied = 0
    for fix in run["results"][0]["fixes"]:
        (project / "streams.toml").write_text(CATALOG, encoding="utf-8")
        (project / "q.sql").write_bytes(text.encode())
        for change in fix["artifactChanges"]:
            _apply(project / change["artifactLocation"]["uri"], change["replacements"])
        assert check("q.sql").exit_code == 0, fix
        applied += 1
    assert applied >= 2


def _apply(file: Path, replacements: list[dict[str, Any]]) -> None:
    text = file.read_bytes().decode()
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for replacement in sorted(replacements, key=lambda r: -starts[r["deletedRegion"]["startLine"] - 1]):
        region = replacement["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:start] + replacement["insertedContent"]["text"] + text[end:]
    file.write_bytes(text.encode())


def test_gitlab_follows_its_schema(everything: dict[str, str]) -> None:
    schema = json.loads((SCHEMAS / "gitlab-code-quality.json").read_text(encoding="utf-8"))
    issues = json.loads(everything["gitlab"])
    jsonschema.Draft202012Validator(schema).validate(issues)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) >= 6
    assert {issue["location"]["path"] for issue in issues} == {"q/a b.sql", "q/bad.sql", "q/open.sql"}
    assert not any("agreed" in issue["description"] for issue in issues)


def test_junit_follows_its_schema(everything: dict[str, str]) -> None:
    schema = etree.XMLSchema(etree.parse(str(SCHEMAS / "junit-10.xsd")))
    root = etree.fromstring(everything["junit"].encode("utf-8"))
    schema.assertValid(root)
    assert [suite.get("name") for suite in root] == ["q/a b.sql", "q/bad.sql", "q/open.sql"]
    results = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert results["fine"] == ["system-out"]
    assert results['a]]>b<&"😀'] == ["failure"]
    assert results["a b:3"] == ["skipped"]
    assert results["a b:5"] == results["bad"] == results["open"] == ["error"]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("9", "3", "3")


def test_github_commands_are_one_line_each_and_keep_what_they_quote(everything: dict[str, str]) -> None:
    found = list(commands(everything["github"]))
    assert len(found) == len(everything["github"].splitlines()) - 1
    assert everything["github"].splitlines()[-1].startswith("9 queries checked: ")
    first, properties, message = found[0]
    assert (first, properties["file"]) == ("error", "q/a b.sql")
    assert message.startswith('a]]>b<&"😀 is unbounded: ')
    assert not any("agreed" in message for *_, message in found)


def test_github_counts_what_the_platform_would_drop(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "SELECT S.nope FROM S"
    never = "SELECT S.a FROM S WHERE S.a = 1 AND S.a > 3"
    (project / "q.sql").write_text(";\n".join([wrong] * 10 + [never] * 12), encoding="utf-8")
    summary = project / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    found = list(commands(check("q.sql", "-o", "github").stdout))
    assert [command for command, *_ in found] == ["error"] * 10 + ["warning"] * 10
    assert "nope" in found[9][2]
    assert found[-1][2].startswith("3 more warnings")
    assert "file" not in found[-1][1]
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("<!-- streambound -->\n")
    assert text.count("** SB102 ") == 10 and text.count("** SB150 ") == 12
    check("q.sql", "-o", "github")
    assert len(summary.read_text(encoding="utf-8")) == 2 * len(text)


def test_markdown_quotes_what_sql_could_break_out_with(everything: dict[str, str]) -> None:
    text = everything["markdown"]
    outside = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", text, flags=re.S | re.M)
    assert "```" not in outside
    assert "<b>" not in outside
    tags = set(re.findall(r"(?<!\\)</?[a-z]+", outside))
    assert tags == {"<details", "<summary", "</summary", "</details"}
    assert "6 of 9 queries do not pass" in outside.splitlines()[1]


def test_markdown_fits_a_comment(project: Path) -> None:
    (project / "q.sql").write_text(";\n".join([BLAMED[2].strip("«»")] * 600), encoding="utf-8")
    text = check("q.sql", "--format", "markdown").stdout
    assert len(text) < 65_536
    shown = text.count("#### ")
    assert 100 < shown < 600
    assert f"… and {600 - shown} more findings" in text


def test_html_is_one_file_that_asks_for_nothing(everything: dict[str, str]) -> None:
    text = everything["html"]
    root = etree.fromstring(text.encode(), etree.HTMLParser(huge_tree=True))
    assert len(root.findall(".//details[@data-is]")) == 9
    table = root.xpath("//table[@id='states']/tbody/tr")
    assert len(table) >= 4 and {row.get("data-query") for row in table} <= {
        one.get("id") for one in root.iter("details")
    }
    assert not root.xpath("//*[@src] | //link | //iframe | //object | //form")
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest", text)
    (policy,) = root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'")


# --- several formats -------------------------------------------------------------------------------------------


def test_fingerprints_agree_between_formats_and_ignore_lines_above(project: Path) -> None:
    (project / "q.sql").write_text(EVERYTHING, encoding="utf-8")
    before = reports(project, "q.sql")
    (project / "q.sql").write_text("\n" * 100 + EVERYTHING.replace(" FROM", "\r\n\tFROM"), encoding="utf-8")
    after = reports(project, "q.sql")
    marks = [_sarif_marks(report["sarif"]) for report in (before, after)]
    assert marks[0] == marks[1] and len(marks[0]) >= 6
    issues = [issue["fingerprint"] for issue in json.loads(after["gitlab"])]
    assert set(issues) < set(marks[0])


def _sarif_marks(report: str) -> list[str]:
    (run,) = json.loads(report)["runs"]
    return [result["partialFingerprints"]["streambound/v1"] for result in run["results"]]


def test_paths_start_at_the_repository_wherever_the_command_runs(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "deep" / "er").mkdir(parents=True)
    (project / "deep" / "q.sql").write_text("SELECT S.nope FROM S", encoding="utf-8")
    above = reports(project, "deep/q.sql")
    monkeypatch.chdir(project / "deep" / "er")
    below = reports(project, "../q.sql")
    for name in ("sarif", "gitlab"):
        assert above[name] == below[name]
    assert json.loads(below["gitlab"])[0]["location"]["path"] == "deep/q.sql"


def test_several_formats_share_no_place(project: Path) -> None:
    (project / "q.sql").write_text(BOUNDED, encoding="utf-8")
    result = CliRunner().invoke(cli.main, ["check", "q.sql", "-o", "sarif", "-o", "github"])
    assert (result.exit_code, "two formats go to standard output" in result.output) == (2, True)
    result = CliRunner().invoke(cli.main, ["check", "q.sql", "-o", "sarif:x", "-o", "json:./x"])
    assert (result.exit_code, "two formats go to" in result.output) == (2, True)
    assert not (project / "x").exists()


WRONG_OUTPUTS = [
    ("sarfi", "no format is called 'sarfi'"),
    ("sarif:", "an empty path"),
    ("sarif:no/x.sarif", "there is no directory no"),
    ("sarif:.", "is a directory"),
]


@pytest.mark.parametrize(("output", "says"), WRONG_OUTPUTS)
def test_an_output_that_cannot_be_is_refused_before_anything_is_checked(project: Path, output: str, says: str) -> None:
    result = CliRunner().invoke(cli.main, ["check", "nowhere.sql", "-o", output])
    assert result.exit_code == 2
    assert says in result.output


def test_files_only_leave_the_totals_to_standard_error(project: Path) -> None:
    (project / "q.sql").write_text(BOUNDED, encoding="utf-8")
    result = check("q.sql", "-o", "sarif:out.sarif")
    assert result.stdout == ""
    assert result.stderr == "streambound: 1 query checked: 1 bounded\n"
    assert check("q.sql", "-o", "sarif:out.sarif", "--format", "text").stdout.startswith("q: bounded")
