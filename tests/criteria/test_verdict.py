"""The verdict of a whole statement: unions, splits, streams used twice, contradictions; and what must not change it."""

from __future__ import annotations

import pytest

from streambound.criteria.verdict import Decision
from support.catalogs import PLAIN, streams, with_relation
from support.choices import Choices
from support.product import blamed, decided, spanned
from support.queries import Features, make_statement

RELATION = with_relation(PLAIN)
UNBOUNDED = "SELECT T.a FROM S, T WHERE S.ts > T.ts"
BOUNDED = "SELECT S.a FROM S, T WHERE S.ts > T.ts"


def _codes(decision: Decision) -> list[str]:
    return [diagnostic.code for diagnostic in decision.diagnostics]


# --- unions, splits, streams used twice --------------------------------------------------------------------------


def test_a_union_is_bounded_if_every_branch_is() -> None:
    assert decided(f"{BOUNDED} UNION ALL SELECT U.a FROM U", PLAIN).verdict == "bounded"


def test_a_witness_for_one_branch_of_a_union_counts_when_the_others_do_not_hide_it() -> None:
    sql = f"{BOUNDED} UNION ALL {UNBOUNDED}"
    decision = decided(sql, PLAIN)
    assert decision.verdict == "unbounded"
    assert _codes(decision) == ["SB201"]
    assert decision.criteria[0].violations[0].span.start == len(BOUNDED) + len(" UNION ALL SELECT ")


@pytest.mark.parametrize("word", ["ALL", ""])
def test_a_branch_of_a_union_may_make_up_for_another_one(word: str) -> None:
    select = "SELECT 1 AS one" if word else "SELECT DISTINCT 1 AS one"
    halves = [f"{select} FROM S, T WHERE S.ts > T.ts AND S.a {op} T.a" for op in ("=", "<>")]
    decision = decided(f"{halves[0]} UNION {word} {halves[1]}", PLAIN)
    assert decision.verdict == "unknown"
    assert _codes(decision)[0] == "SB205"


@pytest.mark.parametrize("condition", ["T.b <> 3", "(T.b < 1 OR T.b > 5)", "T.b IN (1, 5)", "NOT T.b BETWEEN 2 AND 4"])
def test_a_split_by_the_analyzer_keeps_the_proof(condition: str) -> None:
    decision = decided(f"{UNBOUNDED} AND {condition}", PLAIN)
    assert decision.verdict == "unbounded"
    assert blamed(decision) == [("(i)", "T.a")]


def test_one_side_of_an_or_may_be_bounded_and_the_other_not() -> None:
    sql = "SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.a > 0 AND (T.a < 5 OR T.b = 1)"
    assert decided(sql, PLAIN).verdict == "unbounded"
    assert decided(sql.replace("T.b = 1", "T.a < 7"), PLAIN).verdict == "bounded"


def test_a_stream_used_twice_is_rejected_with_a_proof_only() -> None:
    decision = decided("SELECT y.a FROM S AS x, S AS y WHERE x.ts > y.ts", PLAIN)
    assert decision.verdict == "unbounded"
    assert _codes(decision) == ["SB201"]
    assert decided("SELECT 1 AS one FROM S AS x, S AS y WHERE x.a < y.a", PLAIN).verdict == "unbounded"
    assert decided("SELECT x.a FROM S AS x, S AS y WHERE x.ts > y.ts", PLAIN).verdict == "bounded"


def test_a_stream_used_once_in_every_branch_is_not_used_twice() -> None:
    decision = decided(f"{UNBOUNDED} AND (T.b < 1 OR T.b > 5)", PLAIN)
    assert "SB206" not in _codes(decision)


def test_a_relation_used_twice_is_no_obstacle_to_a_proof() -> None:
    sql = "SELECT T.a FROM S, T, R AS p, R AS q WHERE S.ts > T.ts AND T.b > p.a AND T.b < q.a"
    assert decided(sql, RELATION).verdict == "unbounded"


# --- contradictions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "condition",
    [
        "T.a < 1 AND T.a > 1",
        "T.a > 1 AND T.a < 2",
        "S.ts < T.ts",
        "T.a < S.a AND S.a < T.b AND T.b < T.a",
        "T.a IS NULL AND T.a = 3",
        "T.a = 3 AND T.a <> 3",
        "T.a = NULL",
        "1 = 2",
        "T.ts = S.ts + 1",
        "T.a IN (1, 2) AND T.a > 5",
        "T.a >= 3 AND T.a <= 3 AND T.b = T.a AND T.b <> 3",
    ],
)
def test_a_contradiction_is_bounded_and_worth_a_warning(condition: str) -> None:
    decision = decided(f"{UNBOUNDED} AND {condition}", PLAIN)
    assert decision.verdict == "bounded"
    assert _codes(decision) == ["SB150"]
    assert decision.diagnostics[0].severity == "warning"


@pytest.mark.parametrize("condition", ["T.a < 5 AND T.a > 3", "T.b IS NULL", "S.a <> T.b", "NOT (T.a = 3)", "1 = 1"])
def test_no_warning_without_a_contradiction(condition: str) -> None:
    assert "SB150" not in _codes(decided(f"{BOUNDED} AND {condition}", PLAIN))


def test_doubles_leave_room_between_any_two() -> None:
    decision = decided("SELECT S.d FROM S WHERE S.d > 1D AND S.d < 2D", streams(d="double"))
    assert _codes(decision) == []


# --- stronger conditions -------------------------------------------------------------------------------------------


def test_a_stronger_condition_never_makes_a_bag_unbounded() -> None:
    """Fewer solutions need no more memory: a range on every attribute makes every bag bounded."""
    for seed in range(80):
        statement = make_statement(Choices.seeded(seed), Features(unions=0, distinct=0))
        if statement.sql.startswith("WITH") or "(SELECT" in statement.sql or " JOIN " in statement.sql:
            continue
        aliases = [part.split()[-1] for part in statement.sql.split("\n")[1].removeprefix("FROM ").split(", ")]
        columns = next(iter(statement.catalog["streams"].values()))["columns"]
        integers = [f"{alias}.{name}" for alias in aliases if alias != "R" for name in ("a", "b")]
        others = [name for name in columns if name not in ("a", "b", "ts")]
        pinned = {"double": "1.5D", "string": "'a'", "boolean": "TRUE", "date": "DATE '2024-01-02'"}
        extra = [f"{name} BETWEEN 0 AND 3" for name in integers]
        extra += [f"{alias}.{name} = {pinned.get(columns[name], '1.25')}" for alias in aliases for name in others]
        joiner = "\n  AND " if "\nWHERE " in statement.sql else "\nWHERE "
        stronger = statement.sql + joiner + " AND ".join(extra)
        assert decided(stronger, statement.catalog).verdict == "bounded", stronger


def test_the_first_diagnostic_names_the_culprit() -> None:
    decision = decided(f"{UNBOUNDED} AND T.b > 3", PLAIN)
    assert spanned(f"{UNBOUNDED} AND T.b > 3", decision.diagnostics[0].span) == "T.a"
    assert "T.a" in decision.diagnostics[0].message
    assert decision.diagnostics[0].severity == "error"


@pytest.mark.parametrize(
    "condition", ["T.b < 3 OR S.a <> 1", "T.b <> 3 OR S.a <> 1 OR T.a <> S.b", "NOT (T.a = 1 AND S.a = 1)"]
)
def test_an_inequality_inside_an_or(condition: str) -> None:
    assert decided(f"{BOUNDED} AND ({condition})", PLAIN).verdict in ("bounded", "unbounded")
