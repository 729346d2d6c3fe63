"""The search for a witness ends after so many steps, which are the same on every machine, and says so."""

from __future__ import annotations

from itertools import pairwise

import pytest

from streambound.analyzer.work import STATEMENT, at_most
from streambound.criteria import witness_search
from streambound.criteria.verdict import search_longer
from streambound.criteria.vocabulary import Verdict
from support.catalogs import streams
from support.product import decided

COLUMNS = {"a": "bigint", "b": "bigint"}
TABLES = [f"S{number}" for number in range(9)]
NINE = streams(" ".join(TABLES), **COLUMNS)


def _chain(width: int, condition: str, distinct: bool = True, table: str = "") -> str:
    """``condition`` between neighbours of so many streams, or uses of one."""
    names = [f"s{number}" for number in range(width)]
    sources = ", ".join(f"{table or TABLES[number]} AS {name}" for number, name in enumerate(names))
    joins = [condition.format(x=x, y=y) for x, y in pairwise(names)]
    return f"SELECT {'DISTINCT ' if distinct else ''}1 AS one FROM {sources} WHERE {' AND '.join(joins)}"


WIDE = {
    "a chain of inequalities": _chain(7, "{x}.a < {y}.a"),
    "of other columns": _chain(7, "{x}.a < {y}.b"),
    "and in order of time": _chain(7, "{x}.a < {y}.b AND {x}.ts > {y}.ts"),
    "alternatives at every join": _chain(6, "{x}.a <> {y}.a"),
    "one stream used often": _chain(25, "{x}.a < {y}.a", table="S0"),
    "and equal to itself": _chain(25, "{x}.a = {y}.a", distinct=False, table="S0"),
}


@pytest.mark.parametrize("name", WIDE)
def test_no_query_takes_more_steps_than_are_allowed(name: str) -> None:
    with at_most(STATEMENT):
        decision = decided(WIDE[name], NINE)
    assert decision.verdict in (Verdict.UNKNOWN, Verdict.BOUNDED)


PARETO = (
    "SELECT DISTINCT 1 AS one FROM S0, S1, S2, S3 WHERE S0.ts > S1.ts AND S1.ts > S2.ts AND S2.ts > S3.ts "
    "AND S1.a < S3.b AND S0.a < S2.a"
)


def test_a_search_that_is_given_up_is_unknown_and_a_longer_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert decided(PARETO, NINE).verdict is Verdict.UNBOUNDED
    monkeypatch.setattr(witness_search, "MOST_STEPS", 50)
    given_up = decided(PARETO, NINE)
    assert given_up.verdict is Verdict.UNKNOWN and given_up.witness is None
    assert given_up.diagnostics[0].code == "SB207"
    assert "given up before its end" in given_up.diagnostics[0].message
    assert "witness --longer" in given_up.diagnostics[0].help
    assert search_longer(given_up, 1).given_up
    assert search_longer(given_up, 10_000).witness is not None


def test_plans_that_are_left_out_are_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    union = (
        "SELECT 1 AS one FROM S0, S1 WHERE S0.ts > S1.ts AND S0.a = S1.a UNION ALL "
        "SELECT 1 AS one FROM S0, S1 WHERE S0.ts > S1.ts AND S0.a <> S1.a"
    )
    complete = decided(union, NINE).diagnostics[0]
    assert complete.code == "SB205" and "given up" not in complete.message
    monkeypatch.setattr(witness_search, "MOST_PLANS", 1)
    cut = decided(union, NINE).diagnostics[0]
    assert cut.code == "SB205" and "given up" in cut.message
