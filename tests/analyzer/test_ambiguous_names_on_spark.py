"""A name is ambiguous exactly where it is for Spark, in any nesting of subqueries, CTEs and lists of columns."""

from __future__ import annotations

import random
from typing import Any

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from support.profiles import MORE

STREAM = {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"}}
CATALOG = catalog_from_mapping({"streams": {"S": STREAM, "T": STREAM}})
QUERIES = 75 * MORE


def query(rng: random.Random, depth: int) -> str:
    """A SELECT whose names may be ambiguous, or missing."""
    sources = rng.sample(("x", "Y", "z"), rng.choice((1, 1, 2)))
    items = ", ".join(source(rng, name, depth) for name in sources)
    names = [*(f"{name}.{column}" for name in sources for column in ("a", "A", "b")), "a", "b", "(a)", "`A`"]
    outputs = rng.choices([*names, *(f"{name} AS {alias}" for name in names for alias in ("a", "B")), "*"], k=2)
    condition = rng.choice(("", f" WHERE {rng.choice(names)} > 1"))
    return f"SELECT {', '.join(outputs)} FROM {items}{condition}"


def source(rng: random.Random, name: str, depth: int) -> str:
    if depth == 0:
        return f"{rng.choice('ST')} AS {name}"
    columns = "(a, a)" if rng.random() < 0.1 else "(b, a)" if rng.random() < 0.1 else ""
    return f"({query(rng, depth - 1)}) AS {name}{columns}"


def statement(rng: random.Random) -> str:
    if rng.random() < 0.6:
        return query(rng, rng.choice((1, 2)))
    columns = rng.choice(("", "", "(a, A)", "(a, b)"))
    return f"WITH c{columns} AS ({query(rng, 1)}) SELECT {rng.choice(('d.a', 'a', 'd.B'))} FROM c AS d"


def ours(sql: str) -> str:
    (found,) = split_statements(SourceText("q.sql", sql))
    codes = {diagnostic.code for diagnostic in lower(found, CATALOG).diagnostics}
    return "wrong" if codes & {"SB102", "SB106"} else "ambiguous" if "SB103" in codes else "right"


def sparks(spark: Any, sql: str) -> str:
    try:
        spark.sql(sql).schema  # noqa: B018  Spark Connect analyses only when asked
    except Exception as error:
        return "ambiguous" if "AMBIGUOUS_REFERENCE" in str(error) else "wrong"
    return "right"


def test_names_are_ambiguous_where_they_are_for_spark(spark: Any) -> None:
    for name in "ST":
        spark.sql("SELECT 1L AS a, 2L AS b, 3L AS ts").createOrReplaceTempView(name)
    rng = random.Random(7)
    compared = {"ambiguous": 0, "right": 0}
    for sql in (statement(rng) for _ in range(QUERIES)):
        verdict = ours(sql)
        if verdict != "wrong" and (spoken := sparks(spark, sql)) != "wrong":
            assert verdict == spoken, sql
            compared[verdict] += 1
    assert min(compared.values()) > QUERIES // 10
