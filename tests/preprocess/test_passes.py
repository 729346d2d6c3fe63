"""Each pass on named cases, compared as canonical text."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from streambound.analyzer.errors import UsageError
from streambound.analyzer.query import Query
from streambound.analyzer.render import render
from streambound.preprocess.contradictory import drop_unsatisfiable
from streambound.preprocess.contradictory_alternatives import contradictory_alternatives
from streambound.preprocess.merge_timestamps import merge_timestamps
from streambound.preprocess.normalise import normalise
from streambound.preprocess.pipeline import PASSES, derive
from streambound.preprocess.rename_finite import rename_finite
from streambound.preprocess.split_disjunctions import MOST_BRANCHES, split_disjunctions
from streambound.preprocess.split_unequal import split_unequal
from support.cases import Case, finding, query_of, read_cases
from support.meaning import meaning


def normalised(query: Query) -> Query:
    return replace(query, branches=tuple(replace(b, where=normalise(b.where)) for b in query.branches))


STEPS: dict[str, tuple[Callable[[Query], Query], ...]] = {
    "normalise": (normalised,),
    "split_disjunctions": (split_disjunctions,),
    "split_unequal": (split_disjunctions, split_unequal),
    "merge_timestamps": (split_disjunctions, merge_timestamps),
    "rename_finite": (split_disjunctions, merge_timestamps, rename_finite),
}


def described(name: str, sql: str) -> str:
    """A query after a pass, and after those that the pass requires."""
    query = query_of(sql)
    if name == "drop_unsatisfiable":
        kept, warnings = drop_unsatisfiable(split_disjunctions(query))
        return "\n".join([render(kept), *(f"{finding(warning, sql)} {warning.message}" for warning in warnings)])
    for step in STEPS[name]:
        query = step(query)
    return render(query)


CASES = [
    pytest.param(name, case, id=f"{name}: {case}")
    for name in (*STEPS, "drop_unsatisfiable")
    for case in read_cases(f"{name}.cases")
]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_case(name: str, case: Case) -> None:
    assert described(name, case.text) == case.expected


@pytest.mark.parametrize(("name", "case"), CASES)
def test_passes_change_nothing_the_second_time(name: str, case: Case) -> None:
    query = query_of(case.text)
    for step in STEPS.get(name, (split_disjunctions,)):
        query = step(query)
    for step in STEPS.get(name, (split_disjunctions,)):
        assert step(query) == query


@pytest.mark.parametrize(("name", "case"), CASES)
def test_the_pipeline_runs_the_passes_in_order(name: str, case: Case) -> None:
    query = query_of(case.text)
    derivation = derive(query)
    assert derivation.query == query
    kept, warnings = drop_unsatisfiable(split_disjunctions(query))
    assert meaning(derivation.split, ignored=("part",)) == meaning(split_unequal(kept), ignored=("part",))
    never_true = [warning.span for warning in derivation.warnings if warning.code == "SB150"]
    assert never_true == [warning.span for warning in warnings]
    assert derivation.renamed == rename_finite(merge_timestamps(derivation.split))


def test_the_registry_is_the_papers_order() -> None:
    assert [step.name for step in PASSES] == [
        "split_disjunctions",
        "satisfiable_branches",
        "split_unequal",
        "merge_timestamps",
        "rename_finite",
    ]


def test_a_pass_out_of_order_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streambound.preprocess.pipeline.PASSES", PASSES[1:])
    with pytest.raises(ValueError, match=r"satisfiable_branches needs \['conjunctive'\] first"):
        _ = derive(query_of("SELECT a FROM S")).split


NEVER = [
    ("SELECT a FROM S WHERE a IN (1, 20) AND a < 10", ["20"]),
    ("SELECT a FROM S WHERE a < 10 AND (a > 11 AND b = 1 OR a = 3)", ["a > 11 AND b = 1"]),
    ("SELECT a FROM S WHERE (a = 1 OR b = 2) AND (a = 3 OR b = 4)", []),
    ("SELECT a FROM S WHERE a < 1 AND a > 1 AND b IN (1, 2)", []),
    ("SELECT a FROM S WHERE a IS NULL AND (a = 3 OR b = 4)", ["a = 3"]),
    ("SELECT a FROM S WHERE a NOT BETWEEN 3 AND 4 AND a BETWEEN 3 AND 9", []),
    ("SELECT a FROM S WHERE a NOT BETWEEN 11 AND 20 AND a <= 10", []),
    ("SELECT a FROM S WHERE NOT (a >= 3 AND b = 1) AND a > 4", []),
    ("SELECT a FROM S WHERE a <> 3 AND a >= 3 AND (b = 1 OR b = 2)", []),
    ("SELECT a FROM S WHERE a = 3 AND (a NOT BETWEEN 1 AND 9 OR b = 1)", ["a NOT BETWEEN 1 AND 9"]),
    ("SELECT a FROM S WHERE a < 9 AND ((NOT (a <= 9)) OR b = 1)", ["(NOT (a <= 9))"]),
    ("SELECT a FROM S WHERE a = 3 AND (b = 2 OR a IS NULL)", ["a IS NULL"]),
    (
        "SELECT a FROM S WHERE a IS NULL AND (NOT a IS NULL OR b = 1 OR (a IS NOT NULL))",
        [
            "NOT a IS NULL",
            "(a IS NOT NULL)",
        ],
    ),
    ("SELECT a FROM S WHERE a > 0 AND (a IN (-1, - 2, 3) OR (b = 2 OR -1 = a))", ["-1", "- 2", "-1 = a"]),
    ("SELECT a FROM S WHERE a > 9 AND (b = 1 OR a NOT IN (11, 12) AND a < 8)", ["a NOT IN (11, 12) AND a < 8"]),
    ("WITH c AS (SELECT a FROM S WHERE a IN (1, 20)) SELECT c.a FROM c WHERE c.a < 9", ["20"]),
    (
        "WITH c AS (SELECT a FROM S WHERE a IN (1, 20)) "
        "SELECT c.a FROM c WHERE c.a < 9 UNION ALL SELECT c.a FROM c WHERE c.a > 9",
        [],
    ),
]


@pytest.mark.parametrize(("sql", "marked"), NEVER)
def test_alternatives_that_can_never_hold_are_marked(sql: str, marked: list[str]) -> None:
    found = contradictory_alternatives(query_of(sql))
    assert [sql[d.span.start : d.span.end] for d in found] == marked
    assert {d.code for d in found} <= {"SB151"}


def test_too_many_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ("a", "b")
    clauses = [f"(S{i}.{c} = 1 OR S{i}.{c} = 5)" for i in range(8) for c in columns]
    sql = f"SELECT S0.a FROM {', '.join(f'S AS S{i}' for i in range(8))} WHERE {' AND '.join(clauses)}"
    assert 2 ** len(clauses) > MOST_BRANCHES
    monkeypatch.setattr("streambound.preprocess.split_disjunctions.MOST_BRANCHES", 100)
    with pytest.raises(UsageError, match="more than 100 disjoint branches") as caught:
        split_disjunctions(query_of(sql))
    assert caught.value.line == 1 and caught.value.remedy


@pytest.mark.parametrize(
    "values", [[f"'{i}'" for i in range(100, 250)], [str(2 * i) for i in range(150)]], ids=["texts", "numbers"]
)
def test_a_long_list_splits_nothing(values: list[str]) -> None:
    column = "s" if values[0].startswith("'") else "a"
    where = f"S.{column} IN ({', '.join(values)})"
    assert render(split_disjunctions(query_of(f"SELECT a FROM S WHERE {where}"))) == f"SELECT S.a FROM S WHERE {where}"
    negated = " AND ".join(f"S.{column} <> {value}" for value in values)
    split = split_disjunctions(query_of(f"SELECT a FROM S WHERE NOT {where}"))
    assert render(split) == f"SELECT S.a FROM S WHERE {negated}"


def test_warnings_speak_of_what_was_written() -> None:
    _, (whole,) = drop_unsatisfiable(query_of("SELECT a FROM S WHERE FALSE"))
    assert whole.message.startswith("this query can never produce a row")
    _, (part,) = drop_unsatisfiable(query_of("SELECT a FROM S WHERE FALSE UNION ALL SELECT a FROM T"))
    assert part.message.startswith("this branch of the union can never produce a row")
