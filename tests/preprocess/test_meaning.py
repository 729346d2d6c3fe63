"""Each pass executed before and after: in DuckDB the same multiset of rows, and disjoint branches, NULLs included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest
import sqlglot
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Query
from streambound.analyzer.render import render
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.preprocess.normalise import normalise, not_true
from streambound.preprocess.pipeline import derive
from streambound.preprocess.split_disjunctions import split_disjunctions
from streambound.preprocess.split_unequal import split_unequal

COLUMNS = 'row = "bigint", a = "bigint", b = "bigint", x = "double", f = "boolean", s = "string", ts = "bigint"'
CATALOG = parse_catalog(
    "".join(f'[streams.{name}]\ntimestamp = "ts"\ncolumns = {{ {COLUMNS} }}\n' for name in ("S", "T"))
)
SELECT = "SELECT S.row, T.row AS other FROM S, T WHERE "
Row = tuple[object, ...]


def query_of(sql: str) -> Query:
    (statement,) = split_statements(SourceText("q.sql", sql))
    result = lower(statement, CATALOG)
    assert result.query is not None, result.diagnostics
    return result.query


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET threads TO 1")
        for name in ("S", "T"):
            types = "row BIGINT, a BIGINT, b BIGINT, x DOUBLE, f BOOLEAN, s VARCHAR, ts BIGINT"
            connection.execute(f"CREATE TABLE {name} ({types})")
        yield connection


def run(database: duckdb.DuckDBPyConnection, sql: str) -> Counter[Row]:
    if sql.startswith("-- no branch"):
        return Counter()
    (statement,) = sqlglot.transpile(sql, read="spark", write="duckdb")
    return Counter(database.execute(statement).fetchall())


def fill(database: duckdb.DuckDBPyConnection, rows: dict[str, list[Row]]) -> None:
    for name, content in rows.items():
        database.execute(f"DELETE FROM {name}")
        for number, row in enumerate(content):
            database.execute(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?, ?, ?)", [number, *row])


integers = st.none() | st.integers(-1, 4)
rows = st.lists(
    st.tuples(
        integers,
        integers,
        st.none() | st.sampled_from([0.5, 1.0, 2.5]),
        st.none() | st.booleans(),
        st.none() | st.sampled_from(["", "a", "ab", "b"]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=4,
)
tables = st.fixed_dictionaries({"S": rows, "T": rows})

numbers = st.sampled_from(["S.a", "S.b", "T.a", "T.b"])
constants = st.sampled_from(["0", "1", "2", "3", "1.5", "NULL"])
ops = st.sampled_from(["<", "<=", "=", ">=", ">", "<>"])
texts = st.sampled_from(["S.s", "T.s"])
atoms = (
    st.tuples(numbers, ops, constants).map(" ".join)
    | st.tuples(numbers, ops, numbers).map(" ".join)
    | st.tuples(numbers, ops, numbers, st.sampled_from(["+ 1", "- 2"])).map(" ".join)
    | st.tuples(numbers, st.lists(st.sampled_from(["0", "1", "2", "NULL"]), min_size=1, max_size=3)).map(
        lambda drawn: f"{drawn[0]} IN ({', '.join(drawn[1])})"
    )
    | st.tuples(numbers, constants, constants).map(lambda drawn: f"{drawn[0]} BETWEEN {drawn[1]} AND {drawn[2]}")
    | st.tuples(numbers | texts, st.sampled_from(["IS NULL", "IS NOT NULL"])).map(" ".join)
    | st.tuples(st.sampled_from(["S.x", "T.x"]), ops, st.sampled_from(["1.0D", "2.5D", "S.x"])).map(" ".join)
    | st.tuples(texts, ops, st.sampled_from(["'a'", "'aa'", "'b'", "S.s", "T.s"])).map(" ".join)
    | st.tuples(st.sampled_from(["S.ts", "T.ts"]), ops, st.sampled_from(["1", "S.ts", "T.ts + 1"])).map(" ".join)
    | st.sampled_from(["S.f", "T.f", "S.f = T.f", "S.f <> FALSE", "TRUE", "FALSE", "NULL"])
)
formulas = st.recursive(
    atoms,
    lambda part: (
        st.tuples(part, st.sampled_from([" AND ", " OR "]), part).map("".join).map("({})".format)
        | part.map("NOT ({})".format)
    ),
    max_leaves=6,
)


def steps(query: Query) -> dict[str, Query]:
    split = split_disjunctions(query)
    return {
        "lowered": query,
        "normalised": replace(query, branches=tuple(replace(b, where=normalise(b.where)) for b in query.branches)),
        "split_disjunctions": split,
        "split_unequal": split_unequal(split),
        "derived": derive(query).split,
    }


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(formulas, tables)
@example(
    "S.a = 1 OR S.b = 2",
    {"S": [(1, None, None, None, None, 0), (None, 2, None, None, None, 0)], "T": [(None,) * 5 + (0,)]},
)
@example(
    "S.a >= 1 AND S.a <> 1 AND (S.b = 0 OR S.b = 1)", {"S": [(1, 0, None, None, None, 0)], "T": [(None,) * 5 + (0,)]}
)
@example("S.f OR NOT S.f", {"S": [(1, 0, None, None, None, 0), (1, 0, None, True, None, 0)], "T": [(None,) * 5 + (0,)]})
@example("NOT (S.a < S.a)", {"S": [(None,) * 5 + (0,)], "T": [(None,) * 5 + (0,)]})
def test_every_pass_keeps_the_rows(
    database: duckdb.DuckDBPyConnection, formula: str, content: dict[str, list[Row]]
) -> None:
    fill(database, content)
    wanted = run(database, SELECT + formula)
    for name, query in steps(query_of(SELECT + formula)).items():
        found = run(database, render(query))
        assert found == wanted, f"{name}: {render(query)}"
        assert all(count == 1 for count in found.values()), f"{name}: the branches overlap: {render(query)}"


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(formulas, tables)
def test_not_true_is_the_complement(
    database: duckdb.DuckDBPyConnection, formula: str, content: dict[str, list[Row]]
) -> None:
    fill(database, content)
    query = query_of(SELECT + formula)
    (branch,) = query.branches
    complement = replace(query, branches=(replace(branch, where=not_true(normalise(branch.where))),))
    assert run(database, render(query)) + run(database, render(complement)) == run(database, SELECT + "TRUE")


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(formulas, tables)
def test_sets(database: duckdb.DuckDBPyConnection, formula: str, content: dict[str, list[Row]]) -> None:
    fill(database, content)
    sql = f"SELECT DISTINCT S.a, T.b FROM S, T WHERE {formula} UNION SELECT S.b, T.a FROM S, T WHERE S.a < T.a"
    for name, query in steps(query_of(sql)).items():
        assert run(database, render(query)) == run(database, sql), f"{name}: {render(query)}"
