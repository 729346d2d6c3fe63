"""Statements in DuckDB choose the rows that Spark chooses: floats are widened, and constants have Spark's values."""

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.recheck.oracle.batch_sql import BatchSql
from streambound.recheck.oracle.duckdb_text import duckdb_text
from support.product import parsed

CATALOG = parse_catalog('[relations.R]\ncolumns = { f = "float", d = "decimal(9,2)", at = "timestamp_ntz" }\n')
ROW = {"f": 0.1, "d": 2.0, "at": "2024-01-01 00:00:00"}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("f = 0.1F", True),
        ("f = CAST('0.1' AS FLOAT)", True),
        ("f = 0.1", False),
        ("f > .1D", True),
        ("d = CAST(1.5 AS DECIMAL)", True),
        ("d = 2BD AND -d < -1.5BD", True),
        ("d = TRY_CAST(300 AS TINYINT)", False),
        ("at = TIMESTAMP_NTZ '2024-01-01 00:00:00+02:00'", True),
        ("at = TIMESTAMP '2024-01-01 02:00:00+02:00'", True),
        ("at < DATE '2024-1-2'", True),
    ],
)
def test_conditions(condition: str, holds: bool) -> None:
    database = BatchSql(CATALOG)
    try:
        database.add({"R": [ROW]}, 0)
        found = database.results(duckdb_text(parsed(f"SELECT 1 FROM R WHERE {condition}")), 0)
    finally:
        database.close()
    assert found.total() == holds
