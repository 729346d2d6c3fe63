"""Every code has a page, and every page keeps its word: its examples are checked as a user would check them."""

from __future__ import annotations

import re
import subprocess
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from streambound import cli
from streambound.analyzer.catalog import load_catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.spans import SourceText
from streambound.analyzer.workspace import Workspace
from streambound.criteria import check as check_module
from streambound.criteria.check import Checked, check_source
from streambound.criteria.paper_verdict import by_the_paper
from streambound.gate.against import against
from streambound.gate.check_files import GateSettings, check_files
from streambound.gate.policy import NO_POLICY, Policy
from streambound.gate.reported import reported
from streambound.gate.suppressions import today
from streambound.reports.code_page import code_page, pages_directory
from streambound.reports.outcome import Outcome, outcome
from support.code_pages import BEYOND_JOINS, BLOCK, Page

ROOT = Path(__file__).resolve().parent.parent.parent
HEADINGS = ["What it means", "Why", "Example", "Repair"]
ALSO_BEYOND_JOINS = (
    Code.UNSUPPORTED,
    Code.UNBOUNDED_PROJECTION,
    Code.UNBOUNDED_JOIN,
    Code.UNBOUNDED_EQUALITY,
    Code.SEVERAL_EXTREMA,
    Code.LARGE_BOUND,
    Code.NEVER_PAST,
)
MARK = re.compile(r"-- *(\^+)")

every_rule = pytest.mark.parametrize("rule", Code, ids=lambda rule: rule)


def headings(rule: Code) -> list[str]:
    return [*HEADINGS, BEYOND_JOINS] if rule in ALSO_BEYOND_JOINS else HEADINGS


def check(rule: Code, files: tuple[str, str], directory: Path) -> Outcome:
    catalog, sql = files
    (directory / "streams.toml").write_text(catalog, encoding="utf-8")
    if rule.startswith("SB42"):
        return check_against(Page.of(rule).repairs[0][1], sql, directory)
    if rule.startswith("SB4") or rule == "SB210" or rule.by_engine:
        return check_run(sql, directory)
    if rule == "SB901":
        return check_with_a_defect(sql, directory)
    (item,) = check_source(SourceText("q.sql", sql), load_catalog(directory / "streams.toml"))
    return outcome(by_the_paper(item) if rule.startswith("SB3") else item)


def check_run(sql: str, directory: Path) -> Outcome:
    """The first statement of a run with a finding, or else the last: these codes are about files of any content."""
    file = directory / "q.sql"
    file.write_text(sql, encoding="utf-8")
    workspace = Workspace(directory / "streams.toml")
    items = reported(check_files([file], workspace, GateSettings(repairs=0)), Policy(workspace.default), today())
    return next((item for item in items if item.diagnostics), items[-1])


def check_with_a_defect(sql: str, directory: Path) -> Outcome:
    """As `check_run`, with the defect that the page imagines."""
    judge = check_module.check_statement

    def judge_no_between(*given: Any) -> Checked:
        assert "BETWEEN" not in sql
        return judge(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_module, "check_statement", judge_no_between)
        return check_run(sql, directory)


def check_against(before: str, sql: str, directory: Path) -> Outcome:
    """The statement beside a commit that had another one: these codes are about what changed."""
    file = directory / "q.sql"
    file.write_text(before, encoding="utf-8")
    git = ["git", "-C", str(directory), "-c", "user.name=n", "-c", "user.email=e"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "before"]):
        subprocess.run([*git, *arguments], check=True)
    file.write_text(sql, encoding="utf-8")
    workspace, settings = Workspace(directory / "streams.toml"), GateSettings(repairs=0)
    with chdir(directory):
        found = check_files([file], workspace, settings)
        judge = lambda files, sources: check_files(files, sources, settings)  # noqa: E731
        (item,) = against("HEAD", found, workspace, [file], [file], judge, NO_POLICY).outcomes
    return item


def place(diagnostic: Diagnostic) -> tuple[int, int, int, int]:
    span = diagnostic.span
    return span.line, span.column, span.end_line, span.end_column


def marked(sql: str) -> set[tuple[int, int, int, int]]:
    """The places that the carets in comments point at: on the line above."""
    found = set()
    for number, line in enumerate(sql.splitlines(), start=1):
        if mark := MARK.fullmatch(line):
            found.add((number - 1, mark.start(1) + 1, number - 1, mark.end(1) + 1))
    return found


def test_there_is_a_page_per_code_and_no_other() -> None:
    assert {path.name for path in pages_directory().iterdir()} == {"README.md"} | {f"{r}.md" for r in Code}


def test_the_index_lists_every_code_in_order() -> None:
    index = (pages_directory() / "README.md").read_text(encoding="utf-8")
    rows = [line for line in index.splitlines() if line.startswith("| [")]
    assert rows == [f"| [{r}]({r}.md) | {r.slug} | {r.severity} | {r.summary} |" for r in Code]


@every_rule
def test_a_page_has_its_parts(rule: Code) -> None:
    page = Page.of(rule)
    assert page.head == f"# {rule} {rule.slug}\n\n*{rule.severity}*: {rule.summary}\n\n"
    assert list(page.sections) == headings(rule)
    assert "docs/theory" in page.sections["Why"] or rule == "SB001"


@every_rule
def test_links_lead_somewhere(rule: Code) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", code_page(rule)):
        assert (pages_directory() / target).is_file(), target
    reasons = " ".join(Page.of(rule).sections["Why"].split())
    for page, sections in re.findall(r'\.\./(theory[\w-]*\.md)\), ("[^"]+"(?: and "[^"]+")*)', reasons):
        headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.M)
        assert set(re.findall(r'"([^"]+)"', sections)) <= set(headings)
    assert len(re.findall(r'theory[\w-]*\.md\), "', reasons)) == len(re.findall(r"theory[\w-]*\.md\)", reasons))


@every_rule
def test_the_example_triggers_the_code_at_the_mark(rule: Code, tmp_path: Path) -> None:
    page = Page.of(rule)
    item = check(rule, page.example, tmp_path)
    assert {diagnostic.code for diagnostic in item.diagnostics} == {rule} | page.companions()
    places = {place(diagnostic) for diagnostic in item.diagnostics if diagnostic.code == rule}
    if marked(page.example[1]):
        assert places == marked(page.example[1])
    else:
        assert all(start == 1 and end > start for start, _, end, _ in places), "only whole statements go unmarked"


@every_rule
def test_each_repair_leaves_a_bounded_query_without_findings(rule: Code, tmp_path: Path) -> None:
    repairs = Page.of(rule).repairs
    assert repairs
    for files in repairs:
        item = check(rule, files, tmp_path)
        assert item.diagnostics == ()
        assert item.verdict == "bounded"


@pytest.mark.parametrize("rule", ALSO_BEYOND_JOINS, ids=lambda rule: rule)
def test_a_statement_beyond_joins_has_the_code_and_its_way_out_is_bounded(rule: Code, tmp_path: Path) -> None:
    page = Page.of(rule)
    rejected, way_out = page.beyond_joins
    item = check(rule, rejected, tmp_path)
    assert {diagnostic.code for diagnostic in item.diagnostics} == {rule} | page.companions(BEYOND_JOINS)
    marks = marked(rejected[1])
    assert marks
    assert {place(diagnostic) for diagnostic in item.diagnostics if diagnostic.code == rule} == marks
    item = check(rule, way_out, tmp_path)
    assert item.diagnostics == ()
    assert item.verdict == "bounded"


@every_rule
def test_explain_shows_the_page_in_100_columns(rule: Code) -> None:
    result = CliRunner().invoke(cli.main, ["explain", rule.lower()])
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].strip() == f"{rule} {rule.slug}"
    assert max(map(len, lines)) <= 100
    assert "\x1b" not in result.output
    assert [line for line in lines if line in (*HEADINGS, BEYOND_JOINS)] == headings(rule)
    shown = "".join(result.output.split())
    for _, text in BLOCK.findall(code_page(rule)):
        assert "".join(text.split()) in shown


def test_colour_is_there_when_asked_for() -> None:
    assert "\x1b[" in CliRunner().invoke(cli.main, ["explain", "SB201", "--color"], color=True).output


def test_a_page_can_be_written_to_a_file(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli.main, ["explain", "SB201", "-o", str(tmp_path / "page.txt")])
    assert result.exit_code == 0
    assert "SB201 unbounded-projection" in (tmp_path / "page.txt").read_text(encoding="utf-8")
