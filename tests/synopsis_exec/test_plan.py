"""Plans of named queries, as `explain --emit plan` prints them, and the queries for which there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from streambound.analyzer.errors import NotExecutableError
from streambound.criteria import bound as bound_module
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


@pytest.mark.parametrize("number", [9, 11, 30])
def test_one_table_holds_all_sets(number: int) -> None:
    names = [f"s{i}" for i in range(number)]
    plan = planned(_many_newer(number))
    assert f"M = {2**number - 1}" in plan
    assert plan.count("Member(") == len(["T", *names])


def test_a_family_keeps_an_extremum() -> None:
    plan = planned(_many_newer(11, " AND s0.a < T.a").replace("SELECT", "SELECT DISTINCT"))
    assert f"M = {2**11}" in plan and "with the greatest T.a" in plan


@pytest.mark.parametrize(("number", "most"), [(7, "514*rows_R + 1"), (11, "8194*rows_R + 1")])
def test_a_family_of_streams_that_are_compared_with_a_relation(number: int, most: str) -> None:
    assert f"M = {most}" in planned(_many_newer_and_a_relation(number))


@pytest.mark.parametrize(("number", "why"), [(7, "more than 4096"), (11, "more than 1024 tables")])
def test_without_a_family_too_much_is_refused(number: int, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If its entries had several best matches, which no query is known to have that is bounded."""
    monkeypatch.setattr(bound_module, "fixed_in_family", lambda facts, family: None)
    assert why in planned(_many_newer_and_a_relation(number))


def test_cases_file_is_used() -> None:
    assert len(CASES) > 10
    assert (Path(__file__).parents[1] / "cases" / "codegen_plan.cases").is_file()
