"""Witnesses: every rejected query has one, and batch SQL in DuckDB tells all of its prefixes apart."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import pytest
from hypothesis import given

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.criteria.distinguishing import distinguishes
from streambound.criteria.results import results
from streambound.criteria.solution import ConstraintSystem, solve
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.witness import Witness, build
from streambound.recheck.oracle.batch_sql import BatchSql
from streambound.recheck.oracle.prove import WitnessProof, prove
from streambound.reports.witness_report import json_rows
from support.cases import read_queries
from support.catalogs import streams, with_relation
from support.choices import drawn
from support.encoding import encode_result
from support.keyed_queries import make_keyed_statement
from support.product import NotAnalysed, decided, parsed
from support.profiles import examples
from support.queries import Features, Statement, make_statement


def proof_of(sql: str, catalog: dict[str, Any], size: int) -> WitnessProof | None:
    """DuckDB's count of the states that a witness of a size needs; None where the contracts allow none so large."""
    decision = decided(sql, catalog)
    assert decision.witness is not None, sql
    witness = build(decision.witness.plan, size)
    return None if witness is None else _proof(sql, catalog, decision, witness)


def _proof(sql: str, catalog: dict[str, Any], decision: Decision, witness: Witness) -> WitnessProof:
    split = decision.derivation.split
    elements, probes = ([json_rows(split, rows) for rows in part] for part in (witness.elements, witness.probes))
    always = json_rows(split, witness.always)
    return prove(parsed(sql), catalog_from_mapping(catalog), always, elements, probes)


# --- plans of random queries --------------------------------------------------------------------------------------


def _decided(statement: Statement) -> Decision | None:
    try:
        return decided(statement.sql, statement.catalog)
    except NotAnalysed:
        return None


@examples(20)
@given(statement=drawn(lambda choices: make_statement(choices, Features())))
def test_a_plan_works_at_another_size(statement: Statement) -> None:
    _works_at(statement, 5)


@examples(15)
@given(statement=drawn(lambda choices: make_keyed_statement(choices, distinct=True)))
def test_a_frontier_works_at_another_size(statement: Statement) -> None:
    _works_at(statement, 6)


def _works_at(statement: Statement, size: int) -> None:
    decision = _decided(statement)
    if decision is not None and decision.witness is not None:
        proof = proof_of(statement.sql, statement.catalog, size)
        assert proof is None or proof.holds, statement.sql


# --- known constructions -----------------------------------------------------------------------------------------

PLAIN = streams("W X Y Z", a="bigint", b="bigint")
KNOWN = read_queries("witness.sql")


@pytest.mark.parametrize("name", KNOWN)
def test_known_constructions(name: str) -> None:
    assert proof_of(KNOWN[name], PLAIN, 5) == WitnessProof(2**5, 2**5)


def test_bounded_queries_have_none_and_no_plan_fools_the_check() -> None:
    """Two extrema of a set that one maximum decides: the plans are tried, built and refused."""
    from streambound.criteria.witness_search import plans

    bounded = "SELECT DISTINCT 1 AS one FROM Y, Z WHERE Y.ts > Z.ts AND Y.a < Z.a AND Y.b < Z.a"
    decision = decided(bounded, PLAIN)
    assert decision.verdict is Verdict.BOUNDED and decision.witness is None
    split = decision.derivation.split
    built = [build(plan, 4) for plan in islice(plans(split, split.branches[0]), 50)]
    assert all(witness is None or not distinguishes(split, witness) for witness in built)


def test_values_of_a_relation_do_not_grow_with_a_witness() -> None:
    """M is a formula in them: with them in reach, Y's intervals are finitely many."""
    from streambound.criteria.witness_search import plans

    bounded = "Y.a < X.a AND X.a < Y.b AND Y.a <= R.a AND Y.b >= R.b"
    catalog = with_relation(PLAIN)
    decision = decided(f"SELECT DISTINCT 1 AS one FROM X, Y, R WHERE X.ts > Y.ts AND {bounded}", catalog)
    assert decision.verdict is Verdict.BOUNDED and decision.witness is None
    split = decision.derivation.split
    built = [build(plan, 3) for plan in plans(split, split.branches[0])]
    assert not any(witness is not None and distinguishes(split, witness) for witness in built)


def test_contracts_of_the_catalog_hold_in_a_witness() -> None:
    catalog = streams("Y Z", a="bigint", b="bigint", c="string")
    catalog["streams"]["Z"].update(max_per_timestamp=1, domain={"b": [7, 9], "c": ["u", "v", "w"]})
    decision = decided("SELECT Z.a FROM Y, Z WHERE Y.ts > Z.ts", catalog)
    assert decision.witness is not None
    witness = build(decision.witness.plan, 6)
    assert witness is not None
    rows = [row for part in witness.elements for row in part]
    assert len({row.values["ts"] for row in rows}) == 6
    assert {(row.values["b"], row.values["c"]) for row in rows} == {(7, "u")}


LIMITED = (
    "SELECT 1 AS one FROM S, U, T WHERE U.B = T.B AND S.B <= U.B",
    "SELECT DISTINCT T.B FROM S, T WHERE T.ts < S.ts AND S.B = T.B",
    "SELECT 1 AS one FROM T, S, U WHERE U.ts > S.ts AND U.ts > T.ts AND S.B = T.B AND U.B = S.B",
)


@pytest.mark.parametrize("most", [1, 2, 3, 4])
@pytest.mark.parametrize("sql", LIMITED)
def test_a_witness_has_no_more_rows_at_a_timestamp_the_larger_it_is(sql: str, most: int) -> None:
    """Else there would be none of a size above `max_per_timestamp`."""
    catalog = streams("S T U")
    catalog["streams"]["T"] = {**catalog["streams"]["T"], "max_per_timestamp": most}
    witness = decided(sql, catalog).witness
    assert witness is not None
    larger = build(witness.plan, 12)
    assert larger is not None
    rows = Counter(row.values["ts"] for row in (*larger.prefix(range(12)), *larger.probes[0]) if row.table == "T")
    assert 0 < max(rows.values()) <= most
    proof = proof_of(sql, catalog, 5)
    assert proof is not None and proof.holds


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("int", "> 2147480000"),
        ("bigint", "> 5000000000000000000"),
        ("bigint", "< -9000000000000000000"),
        ("date", "> '9000-01-01'"),
        ("decimal(6,2)", "> 5000"),
    ],
)
def test_constants_near_the_end_of_a_type_leave_room_for_a_witness(kind: str, condition: str) -> None:
    catalog = streams("S T", b=kind)
    sql = f"SELECT T.B FROM S, T WHERE S.ts > T.ts AND T.B {condition}"
    assert decided(sql, catalog).verdict is Verdict.UNBOUNDED
    proof = proof_of(sql, catalog, 5)
    assert proof is not None and proof.holds


def test_a_type_without_so_many_values_allows_no_large_witness() -> None:
    catalog = streams("Y Z", a="decimal(2,0)")
    decision = decided("SELECT Z.a FROM Y, Z WHERE Y.ts > Z.ts", catalog)
    assert decision.witness is not None and build(decision.witness.plan, 300) is None


# --- the parts ---------------------------------------------------------------------------------------------------


@examples(20)
@given(statement=drawn(lambda choices: make_statement(choices, Features())))
def test_results_are_those_of_sql(statement: Statement) -> None:
    """The evaluation that checks witnesses, on a witness's rows, against DuckDB."""
    decision = _decided(statement)
    if decision is None or decision.witness is None:
        return
    split = decision.derivation.split
    witness = decision.witness
    rows = (*witness.prefix(range(witness.size)), *witness.probes[0])
    database = BatchSql(catalog_from_mapping(statement.catalog))
    database.add(json_rows(split, rows), 0)
    expected = database.results(parsed(statement.sql).sql(dialect="duckdb"), 0)
    database.close()
    found = Counter(tuple(map(encode_result, result.values)) for result in results(split, rows))
    expected = Counter({tuple(map(encode_result, values)): n for values, n in expected.items()})
    assert (set(found) if statement.distinct else found) == (set(expected) if statement.distinct else expected)


@pytest.mark.parametrize("greatest", [False, True])
@examples(30)
@given(statement=drawn(lambda choices: make_statement(choices, Features())))
def test_solutions_satisfy_every_condition(statement: Statement, greatest: bool) -> None:
    decision = _decided(statement)
    for branch in decision.derivation.split.branches if decision else ():
        conditions = ConstraintSystem(branch)
        point = solve(conditions, greatest=greatest, far=1000)
        if point is None:
            continue
        for sort, mine in conditions.differences.items():
            for d in mine if sort != "time" else ():
                x, y = (point[a] if a is not None else 0 for a in (d.x, d.y))
                if x is not None and y is not None:
                    assert x - y < d.c if d.strict else x - y <= d.c
        assert all(point[x] != (point[y] if y else 0) + c for x, y, c in conditions.unequal if x in point)
