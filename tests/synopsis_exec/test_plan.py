"""Plans of named queries, as `explain --emit plan` prints them, and the queries for which there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.errors import NotExecutableError
from criteria.verdict import decide
from synopsis_exec.plan import make_plan, plan_text
from tests.support.cases import Case, catalog, query_of, read_cases

CASES = read_cases("codegen_plan.cases")


def planned(sql: str) -> str:
    try:
        return plan_text(make_plan(decide(query_of(sql)), catalog())).rstrip("\n")
    except NotExecutableError as error:
        return f"refused: {error.message}\n  help: {error.remedy}"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    assert planned(case.text) == case.expected


def _many_newer(number: int) -> str:
    """Any of the streams that are newer than T may come first, and which did has to be remembered with T's tuple."""
    newer = [f"s{i}" for i in range(number)]
    order = " AND ".join(f"{s}.ts > T.ts" for s in newer)
    return f"SELECT 1 AS one FROM T, {', '.join(f'S AS {s}' for s in newer)} WHERE {order}"


def test_too_many_tables_are_refused() -> None:
    assert "more than 1024 tables" in planned(_many_newer(11))


def test_too_many_transitions_are_refused() -> None:
    assert "more than 4096" in planned(_many_newer(9))


def test_cases_file_is_used() -> None:
    assert len(CASES) > 10
    assert (Path(__file__).parents[1] / "cases" / "codegen_plan.cases").is_file()
