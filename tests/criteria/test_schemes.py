"""Witnesses by schemes: what no plan of a block finds, DuckDB's word on it, and that what only adds up is never one."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations
from typing import Any

import duckdb
import pytest

from streambound.analyzer.work import share
from streambound.criteria.check import Checked, executed
from streambound.criteria.witnesses.witness import CircuitWitness, find_scheme
from streambound.recheck.oracle.prove import prove
from streambound.reports.circuit_witness_report import tables_of
from streambound.reports.witness_report import json_rows
from support.circuits import checked_circuit

STREAM = {
    "timestamp": "ts",
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
    "max_per_timestamp": 2,
    "domain": {"b": [0, 2]},
}
CHANGING = {"columns": {"k": "bigint", "y": "bigint"}, "rows": 2, "changes": {"timestamp": "ts", "op": "op"}}
FIXED = {"columns": {"k": "bigint"}, "rows": 40}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}, "relations": {"R": CHANGING, "Q": FIXED}}
SIZE = 4
OF_GROUPS = "SELECT {} AS r FROM (SELECT S.a AS g, {} AS m FROM S {} GROUP BY S.a) AS q"
AS_OF = "SELECT {} FROM S JOIN R FOR SYSTEM_TIME AS OF S.ts AS R ON S.a = R.k {}"
UNBOUNDED = [
    OF_GROUPS.format("MIN(q.m)", "MAX(S.v)", ""),
    OF_GROUPS.format("MIN(q.m)", "SUM(S.v)", "WHERE S.a <= 3"),
    OF_GROUPS.format("AVG(q.m)", "AVG(S.v)", ""),
    OF_GROUPS.format("COUNT(DISTINCT q.m)", "SUM(S.v)", "WHERE S.b > 0"),
    "SELECT AVG(DISTINCT S.v) AS r FROM S",
    "SELECT S.b FROM S WHERE S.v > (SELECT AVG(T.v) AS n FROM T)",
    "SELECT S.v FROM S WHERE S.v < (SELECT AVG(T.b) AS n FROM T)",
    "SELECT MIN(S.v) AS r FROM S WHERE S.v > (SELECT COUNT(*) AS n FROM T)",
]
BOUNDED = [
    "SELECT SUM(S.v) AS x, VAR_POP(S.v) AS y, COUNT(*) AS n FROM S",
    "SELECT * FROM (SELECT S.v, ROW_NUMBER() OVER (ORDER BY S.v) AS r FROM S) AS q WHERE q.r <= 6",
    "SELECT SUM(S.v) AS x FROM S HAVING COUNT(*) < 12",
    "SELECT S.b, SUM(S.v * T.v) AS x FROM S, T WHERE S.b = T.b GROUP BY S.b",
    "SELECT MAX(S.v) AS r FROM S WHERE S.v > (SELECT COUNT(*) AS n FROM T)",
    AS_OF.format("SUM(R.y) AS n, MAX(S.v) AS m", ""),
    # a relation that does not change has the same rows for prefixes of every size, though it has room for many
    "SELECT S.a, COUNT(*) AS n FROM S WHERE S.a IN (SELECT k FROM Q) GROUP BY S.a",
]


@cache
def checked_once(sql: str) -> Checked:
    return checked_circuit(sql, CATALOG)


def witness_of(sql: str) -> CircuitWitness:
    checked = checked_once(sql)
    assert str(checked.verdict) == "unbounded"
    assert checked.circuit_witness is not None
    return checked.circuit_witness


@pytest.mark.parametrize("sql", UNBOUNDED)
def test_duckdb_tells_all_prefixes_apart(sql: str) -> None:
    found, checked = witness_of(sql), checked_once(sql)
    witness, tables = found.of_size(SIZE), tables_of(found.statement, checked.statement)
    assert witness is not None and checked.statement.tree is not None and checked.catalog is not None
    parts = [[json_rows(tables, rows) for rows in part] for part in (witness.elements, witness.probes)]
    proof = prove(checked.statement.tree, checked.catalog, json_rows(tables, witness.always), *parts)
    assert proof.states == proof.prefixes == 1 << SIZE


@pytest.mark.parametrize("sql", BOUNDED)
def test_what_a_few_numbers_hold_is_no_witness(sql: str) -> None:
    statement = executed(checked_circuit(sql, CATALOG))
    assert statement is not None
    found = None
    with share(150_000):
        found = find_scheme(statement)
    assert found is None


@pytest.mark.parametrize("rows, limited", [(None, False), (200, True)])
def test_a_relation_has_no_more_rows_than_it_may_however_many_elements_there_are(
    rows: int | None, limited: bool
) -> None:
    """Few elements fit into a relation of 200 rows, which are remembered whole, and other numbers do not."""
    relation = {"columns": {"k": "bigint"}, "changes": {"timestamp": "ts", "op": "op"}, "rows": rows}
    tables = {"R": {name: value for name, value in relation.items() if value is not None}}
    statement = executed(checked_circuit("SELECT DISTINCT k FROM R", {"streams": {"S": STREAM}, "relations": tables}))
    assert statement is not None
    found = None
    with share(4_000_000):
        found = find_scheme(statement)
    assert (found is None) is limited


FEW_VALUES = {
    "a range of decimals": ("SELECT S.d FROM S WHERE {} AND S.d > (SELECT AVG(T.d) FROM T)", "S.d BETWEEN 0 AND 10"),
    "a range of quotients": (
        "SELECT S.v FROM S WHERE {} AND S.v > (SELECT AVG(T.v) FROM T)",
        "S.v DIV 1000 BETWEEN 0 AND 900",
    ),
    "groups above which a range is": (
        "SELECT S.a, COUNT(*) AS n FROM S GROUP BY S.a HAVING {}",
        "S.a BETWEEN 1 AND 9000",
    ),
    "rows of an outer join": (
        "SELECT S.v FROM S LEFT JOIN T ON S.v = T.v WHERE {}",
        "S.v DIV 1000 BETWEEN 0 AND 900",
    ),
}


@pytest.mark.parametrize("sql, condition", FEW_VALUES.values(), ids=FEW_VALUES)
def test_what_only_few_values_pass_is_not_unbounded(sql: str, condition: str) -> None:
    """However far its end is: a witness must be one for any number of elements."""
    table = {**STREAM, "columns": {**STREAM["columns"], "d": "decimal(10,2)"}}
    catalog = {"streams": {"S": table, "T": table}}
    assert str(checked_circuit(sql.format(condition), catalog).verdict) in ("unknown", "bounded")
    assert str(checked_circuit(sql.format("1 = 1"), catalog).verdict) == "unbounded"


@pytest.mark.parametrize("condition", ["T.k = 'x'", "T.k > 'x'"])
def test_schemes_have_texts_for_texts(condition: str) -> None:
    table = {"timestamp": "ts", "columns": {"a": "bigint", "k": "string", "ts": "bigint"}}
    checked = checked_circuit(
        f"SELECT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE {condition}", {"streams": {"S": table, "T": table}}
    )
    statement = executed(checked)
    assert statement is not None and str(checked.verdict) in ("unbounded", "unknown")
    with share(400_000):
        find_scheme(statement)


@pytest.mark.parametrize(
    "sql",
    [
        AS_OF.format("R.y, COUNT(*) AS n", "GROUP BY R.y"),
        AS_OF.format("S.a, COUNT(*) AS n", "WHERE S.b = 1 GROUP BY S.a"),
    ],
)
def test_past_versions_of_a_relation_tell_prefixes_apart(sql: str) -> None:
    """Rows of the relation come and go, so that there are never more than it may have; DuckDB joins the versions."""
    found = witness_of(sql)
    witness = found.of_size(3)
    assert witness is not None
    stated = sql.replace("R FOR SYSTEM_TIME AS OF S.ts AS R ON", "R ON R.begin <= S.ts AND S.ts < R.until AND")
    states = set()
    for subset in (chosen for n in range(4) for chosen in combinations(range(3), n)):
        prefix = list(witness.prefix(subset))
        before = batch(stated, prefix) if prefix else Counter[Any]()
        after = [batch(stated, [*prefix, *probe]) for probe in witness.probes]
        states.add(tuple(frozenset(((one - before) + Counter()).items()) for one in after))
    assert len(states) == 8


def batch(sql: str, rows: list[Any]) -> Counter[Any]:
    """A statement's results in DuckDB, with the versions of R as rows with the time from which and until which."""
    database = duckdb.connect(config={"threads": 1})
    database.execute("CREATE TABLE S (a BIGINT, b BIGINT, v BIGINT, ts BIGINT)")
    database.execute('CREATE TABLE R (k BIGINT, y BIGINT, "begin" BIGINT, until BIGINT)')
    open_rows: dict[tuple[Any, ...], list[int]] = {}
    for row in sorted(rows, key=lambda row: row.values["ts"]):
        if row.table == "S":
            database.execute("INSERT INTO S VALUES (?, ?, ?, ?)", [row.values[name] for name in ("a", "b", "v", "ts")])
            continue
        values = (row.values["k"], row.values["y"])
        if row.values["op"] == "insert":
            open_rows.setdefault(values, []).append(row.values["ts"])
        else:
            begun = open_rows[values].pop()
            database.execute("INSERT INTO R VALUES (?, ?, ?, ?)", [*values, begun, row.values["ts"]])
    for values, times in open_rows.items():
        for begun in times:
            database.execute("INSERT INTO R VALUES (?, ?, ?, ?)", [*values, begun, 1 << 60])
    return Counter(database.execute(sql).fetchall())
