"""Plans of named queries, as `explain --emit plan` prints them, and the queries for which there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from streambound.analyzer.errors import NotExecutableError
from streambound.criteria.verdict import decide
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.plan_text import plan_text
from support.cases import Case, catalog, query_of, read_cases

CASES = read_cases("codegen_plan.cases")


def planned(sql: str) -> str:
    try:
        return plan_text(make_plan(decide(query_of(sql)), catalog())).rstrip("\n")
    except NotExecutableError as error:
        return f"refused: {error.message}\n  help: {error.remedy}"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    assert planned(case.text) == case.expected


def _many_newer(number: int, more: str = "", others: str = "") -> str:
    """Any of the streams that are newer than T may come first, and which did has to be remembered with T's tuple."""
    newer = [f"s{i}" for i in range(number)]
    order = " AND ".join(f"{s}.ts > T.ts" for s in newer)
    return f"SELECT 1 AS one FROM T, {', '.join(f'S AS {s}' for s in newer)}{others} WHERE {order}{more}"


def _many_newer_and_a_relation(number: int) -> str:
    """Which texts of the relation p.s and q.s come before matters, and only one of them can bring its rows."""
    texts = "p.s <= R.name AND T.s < p.s AND q.s <= R.name AND T.s < q.s"
    sql = _many_newer(number, f" AND T.a = R.a AND {texts}", ", S AS p, S AS q, R")
    return sql.replace("SELECT", "SELECT DISTINCT")


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (_many_newer(8), "more than 4096"),
        (_many_newer(11), "more than 1024 tables"),
        (_many_newer_and_a_relation(7), "more than 4096"),
        (_many_newer_and_a_relation(11), "more than 1024 tables"),
    ],
)
def test_of_too_many_streams_in_any_order_there_is_no_job(plan: str, why: str) -> None:
    assert why in planned(plan)


def test_cases_file_is_used() -> None:
    assert len(CASES) > 10
    assert (Path(__file__).parents[1] / "cases" / "codegen_plan.cases").is_file()
