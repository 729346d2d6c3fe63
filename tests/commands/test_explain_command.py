"""`streambound explain`: every stage, drawings, codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound import cli
from streambound.analyzer.codes import Code
from support.command_line import BOUNDED, FIGURE2, UNBOUNDED, call, write

STAGES = {
    "normal-form": "SpjBlock()\n  Project(items=['S.A', 'T.B'])\n    Filter(",
    "split": "SpjBlock()\n  Project(items=['S.A', 'T.B'])\n    Filter(",
    "merged": "SpjBlock()\n  Project(items=['S.A', 'T.B'])\n    Filter(",
    "lto": "# LTO query 1\nSpjBlock()\n",
    "closure": "U.K - S.I <= -2   (redundant)",
    "graph": "S, T and U: a tree",
    "tables": "{T, U}: 1 <= T.B <= 4; at most 4\n  from {U} when T arrives\n",
    "derivation": "\n│   │   ├── T: remembered, because S may come later\n",
    "facts": "U: S and T may lag it",
    "bound": "{T, U}: 4\nM = 5\nbytes of the state: 76",
    "verdict": "theorem-1: holds",
    "plan": "Transition(target=1, joins=(JoinStep(scan=1), JoinStep(table=0)), values=(Term('t_b'),)),",
    "job": '\nif __name__ == "__main__":\n    sys.exit(main(JOB))\n',
}


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_can_be_printed(stage: str) -> None:
    result = call("explain", str(FIGURE2 / "figure2.sql"), "--emit", stage, "--catalog", str(FIGURE2 / "streams.toml"))
    assert result.exit_code == 0, result.output
    assert STAGES[stage] in result.output


@pytest.mark.parametrize("stage", ["tree", "normal-form", "split", "merged", "lto"])
def test_a_stage_that_is_a_query_can_be_printed_as_sql(stage: str) -> None:
    command = ("explain", str(FIGURE2 / "figure2.sql"), "--emit", stage, "--format", "sql")
    result = call(*command, "--catalog", str(FIGURE2 / "streams.toml"))
    assert result.exit_code == 0, result.output
    assert "SELECT S.A, T.B FROM S" in result.output.replace("`", "")


def test_a_stage_that_is_no_query_is_no_sql() -> None:
    result = call("explain", str(FIGURE2 / "figure2.sql"), "--emit", "closure", "--format", "sql")
    assert result.exit_code == 2
    assert "sql is for stages that are queries" in result.output


def test_explain_prints_the_synopses_after_each_step() -> None:
    arguments = ("explain", str(FIGURE2 / "figure2.sql"), "--catalog", str(FIGURE2 / "streams.toml"))
    result = call(*arguments, "--emit", "synopses", "--input", str(FIGURE2 / "data"))
    assert result.exit_code == 0, result.output
    assert "s_n^T = {(3)×2}" in result.output
    assert "s_p^T = {(1)×2, (2)×1}" in result.output
    assert "s_n^U = {}" in result.output
    assert "s_p^U = {()×2}" in result.output
    assert "(42, 1)×2" in result.output


def test_explain_names_the_clause_that_figure_2_with_distinct_violates() -> None:
    file = FIGURE2 / "figure2_distinct.sql"
    result = call("explain", str(file), "--emit", "verdict", "--catalog", str(FIGURE2 / "streams.toml"))
    assert "figure2_distinct: unbounded" in result.output
    assert "C1 at S.A (3:17)" in result.output


def test_explain_alone_gives_the_derivation_and_the_verdict(project: Path) -> None:
    result = call("explain", write(project, UNBOUNDED))
    assert result.exit_code == 0
    assert result.output.startswith("== derivation ==\nq, a bag\n├── query\n")
    assert "\n== verdict ==\nq: unbounded\n" in result.output
    assert "\x1b" not in result.output
    assert "\x1b[" in CliRunner().invoke(cli.main, ["explain", "q.sql", "--color"], color=True).output


DRAWN = {"mermaid": "flowchart TD\n", "dot": "digraph {\n", "svg": "<svg "}


@pytest.mark.parametrize("stage", ["graph", "tables"])
@pytest.mark.parametrize("form", DRAWN)
def test_explain_draws(project: Path, stage: str, form: str) -> None:
    result = call("explain", write(project, BOUNDED), "--emit", stage, "--format", form)
    assert result.exit_code == 0
    assert result.output.startswith(DRAWN[form])
    assert ("{T}" in result.output) == (stage == "tables")


@pytest.mark.parametrize(
    ("file", "start"), [("a.svg", "<svg "), ("a.DOT", "digraph"), ("a.mmd", "flow"), ("a.txt", "{T}")]
)
def test_the_suffix_of_the_output_chooses_the_format(project: Path, file: str, start: str) -> None:
    result = call("explain", write(project, BOUNDED), "--emit", "tables", "-o", file)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"wrote {file}\n")
    assert (project / file).read_text().startswith(start)


@pytest.mark.parametrize(
    "sql", ["SELEC S.a FROM S", "SELECT nope FROM S", "SELECT S.a FROM S TABLESAMPLE (10 PERCENT)"]
)
@pytest.mark.parametrize("more", [(), ("--emit", "facts"), ("--emit", "graph", "--format", "svg")])
def test_explaining_what_was_not_analysed_fails_as_check_does(project: Path, sql: str, more: tuple[str, ...]) -> None:
    file = write(project, sql)
    result = call("explain", file, *more)
    assert result.exit_code == call("check", file).exit_code
    assert call("check", file, "--format", "json").exit_code == result.exit_code != 0
    code = json.loads(call("check", file, "--format", "json").stdout)["queries"][0]["diagnostics"][0]["code"]
    assert code in result.output


@pytest.mark.parametrize("stage", [("graph", "svg"), ("tables", "dot")])
def test_operators_beyond_joins_have_no_drawing_yet(project: Path, stage: tuple[str, str]) -> None:
    result = call("explain", write(project, "SELECT COUNT(*) AS n FROM S"), "--emit", stage[0], "--format", stage[1])
    assert result.exit_code == 2
    assert "operators beyond joins, of which there is no such drawing" in result.stderr
    assert "--emit tree, states and verdict" in result.stderr and "--emit circuit" in result.stderr


def test_the_plan_of_operators_beyond_joins_is_what_their_job_runs(project: Path) -> None:
    file = write(project, "SELECT S.ts DIV 10 AS t, COUNT(*) AS n FROM S GROUP BY S.ts DIV 10")
    plan, job = (call("explain", file, "--emit", stage).output for stage in ("plan", "job"))
    first, compute, keep, placement, _, tree, *_ = plan.splitlines()
    assert f"# Spark computes {compute.removeprefix('  compute ')}." in job.splitlines()
    assert first.startswith("plan of q: circuit, M = ")
    kept = keep.removeprefix("  keep ")
    assert kept.startswith("groups 2: one for each ") and f"#   {kept}" in job.splitlines()
    assert f"# P{placement.strip()[1:]}." in job.splitlines()
    assert tree == "CircuitPlan(" and any(line.startswith("    plan=CircuitPlan(") for line in job.splitlines())


def test_an_unbounded_statement_beyond_joins_has_no_plan(project: Path) -> None:
    result = call("explain", write(project, "SELECT a, COUNT(*) AS n FROM S GROUP BY a"), "--emit", "plan")
    assert result.exit_code == 1 and "SB201" in result.stderr


def test_explain_lists_the_codes_when_there_is_no_such_one() -> None:
    result = call("explain", "SB999")
    assert result.exit_code == 2
    assert all(rule in result.output for rule in Code)


def test_the_states_of_functions_over_windows_say_how_equal_rows_are_ordered(project: Path) -> None:
    file = write(project, "SELECT S.a, LAG(S.a) OVER (ORDER BY S.ts) AS l FROM S")
    assert "equal are in order of their other columns, NULL first" in call("explain", file, "--emit", "states").output
