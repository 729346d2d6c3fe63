"""Unbounded statements that ask relations have witnesses, which DuckDB confirms; bounded ones have none."""

from __future__ import annotations

import pytest

from streambound.commands.proving import prove_witness
from streambound.criteria.check import Checked
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.witnesses.witness import same_relations
from streambound.reports.circuit_witness_report import tables_of
from support.cases import read_queries
from support.circuits import checked_circuit

CATALOG = {
    "streams": {
        "S": {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "name": "string", "ts": "bigint"}},
        "T": {"timestamp": "ts", "columns": {"c": "bigint", "ts": "bigint"}},
    },
    "relations": {"R": {"columns": {"a": "bigint", "k": "bigint", "name": "string"}, "rows": 5}},
}
UNBOUNDED = read_queries("relation_witness.sql")


@pytest.mark.parametrize("case", UNBOUNDED)
def test_a_witness_has_rows_of_the_relations_that_are_asked(case: str) -> None:
    checked = checked_circuit(UNBOUNDED[case], CATALOG)
    assert checked.verdict is Verdict.UNBOUNDED
    assert all(found.code != "SB207" for found in checked.diagnostics)
    found = checked.circuit_witness
    assert found is not None and checked.catalog is not None
    small, larger = found.of_size(2), found.of_size(4)
    assert small is not None and (
        case == "shown" or any(row.table == "R" for row in small.always)
    )  # NULL tells as well
    assert larger is not None and same_relations(small, larger)
    tables = tables_of(found.statement, checked.statement)
    several = [one for one in map(found.of_size, (4, 3, 5, 8)) if one is not None]
    assert prove_witness(checked, checked.catalog, tables, several).startswith("16 of 16 prefixes")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT S.a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a = S.a)",
        "SELECT DISTINCT S.a FROM S WHERE S.a IN (SELECT k FROM R)",
        "SELECT DISTINCT S.a FROM S WHERE S.a = (SELECT max(k) FROM R)",
        "SELECT DISTINCT S.a FROM S LEFT SEMI JOIN R ON S.a = R.k",
        "SELECT DISTINCT q.n FROM S JOIN (SELECT name, count(*) AS n FROM R GROUP BY name) q ON q.name = S.name",
        "SELECT DISTINCT S.a FROM S WHERE S.a BETWEEN (SELECT min(k) FROM R) AND (SELECT max(k) FROM R)",
    ],
)
def test_what_relations_bound_is_bounded(sql: str) -> None:
    checked: Checked = checked_circuit(sql, CATALOG)
    assert checked.verdict is Verdict.BOUNDED
