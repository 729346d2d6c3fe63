"""Random SEQ VT queries on Spark, against DuckDB's answer at every point of time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import pytest

from streambound.temporal import Temporal
from support.choices import Choices
from support.profiles import MORE
from support.snapshots import COLUMNS, HIGH, LOW, Generated, generated, history, plain


def frame(spark: Any, name: str, rows: list[tuple[Any, ...]]) -> Any:
    """The rows of a relation as a DataFrame."""
    kinds = {**COLUMNS[name], "vb": "bigint", "ve": "bigint"}
    listed = ", ".join(f"CAST({column} AS {kind}) AS {column}" for column, kind in kinds.items())
    values = ", ".join("(" + ", ".join(map(literal, row)) + ")" for row in rows or [(None,) * len(kinds)])
    found = spark.sql(f"SELECT {listed} FROM VALUES {values} AS t({', '.join(kinds)})")
    return found if rows else found.where("false")


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return '"' + value + '"'
    return f"{value!r}D" if isinstance(value, float) else str(value)


def answered(spark: Any, given: Generated) -> Counter[tuple[Any, ...]]:
    t = Temporal(spark, domain=(LOW, HIGH))
    for name, rows in given.rows.items():
        t.relation(name, frame(spark, name, rows), period=("vb", "ve"))
    return Counter(map(plain, t.sql(f"SEQ VT ({given.sql})").collect()))


@pytest.mark.parametrize("seed", range(6 * MORE))
def test_it_is_what_the_snapshots_are(seed: int, spark: Any) -> None:
    given = generated(Choices.seeded(seed))
    with duckdb.connect(config={"threads": 1}) as connection:
        wanted = history(given, connection)
    assert answered(spark, given) == wanted, given.sql


def test_the_sample_says_something() -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        results = [sum(history(generated(Choices.seeded(seed)), connection).values()) for seed in range(32)]
    assert sum(number > 0 for number in results) > 9
    assert sum(results) > 36


def test_sums_of_doubles_are_exact(spark: Any) -> None:
    """1e16 + 1 - 1e16 is 1 wherever the parts begin and end; what is not finite has no sum, as without Spark."""
    rows = [(1e16, 0, 6), (1.0, 2, 8), (-1e16, 4, 6), (0.1, 9, 12)]
    t = Temporal(spark, domain=(0, 12))
    for name, more in (("u", []), ("w", [(float("inf"), 9, 10)])):
        values = ", ".join(f"(CAST('{d}' AS DOUBLE), {b}, {e})" for d, b, e in [*rows, *more])
        t.relation(name, spark.sql(f"SELECT * FROM VALUES {values} AS t(d, vb, ve)"), period=("vb", "ve"))
    found = {(row[1], row[2]): row[0] for row in t.sql("SEQ VT (SELECT SUM(d) AS s FROM u)").collect()}
    assert found == {(0, 4): 1e16, (4, 8): 1.0, (8, 9): None, (9, 12): 0.1}
    with pytest.raises(Exception, match="a number that is added up is inf"):
        t.sql("SEQ VT (SELECT SUM(d) AS s FROM w)").collect()


def test_extremes_of_nested_values_are_those_of_spark(spark: Any) -> None:
    """Arrays and structures with NULLs and NaNs in them: at each point of time what Spark says of the rows there."""
    choices = Choices.seeded(7)
    numbers = [None, -1.5, 0.0, 2.0, float("nan")]
    rows = []
    for _ in range(60):
        begin = choices.integer(0, 11)
        items = [numbers[choices.integer(0, 4)] for _ in range(choices.integer(0, 3))]
        pair = (numbers[choices.integer(0, 4)], [None, "a", "b"][choices.integer(0, 2)])
        array, structure = ([items, None][choices.integer(0, 9) == 0], [pair, None][choices.integer(0, 9) == 0])
        rows.append((array, structure, begin, choices.integer(begin + 1, 12)))
    kinds = "a array<double>, s struct<x: double, y: string>, vb bigint, ve bigint"
    df = spark.createDataFrame(rows, kinds).repartition(2).persist()
    aggregates = "MIN(a), MAX(a), MIN(s), MAX(s), COUNT(DISTINCT a)"
    t = Temporal(spark, domain=(0, 12)).relation("r", df, period=("vb", "ve"))
    columns = ", ".join(f"{call} AS c{place}" for place, call in enumerate(aggregates.split(", ")))
    found = {(row["_begin"], row["_end"]): str(row[:5]) for row in t.sql(f"SEQ VT (SELECT {columns} FROM r)").collect()}
    points = spark.range(12).selectExpr("id AS at").join(df, on=spark_sql("vb <= at AND at < ve"), how="left")
    wanted = points.groupBy("at").agg(*map(spark_sql, aggregates.split(", "))).collect()
    assert len({str(row[1:]) for row in wanted}) > 5
    for row in wanted:
        (mine,) = [values for (begin, end), values in found.items() if begin <= row["at"] < end]
        assert mine == str(row[1:]), row["at"]


def spark_sql(text: str) -> Any:
    from pyspark.sql.functions import expr

    return expr(text)


def test_what_is_wrong_with_a_statement_is_shown_with_its_place_and_the_way_out(spark: Any) -> None:
    from streambound.analyzer.errors import InputError

    rows = spark.createDataFrame([("Ann", 1, 4)], "name STRING, vb BIGINT, ve BIGINT")
    with pytest.raises(InputError, match="SB102") as raised:
        Temporal(spark).relation("w", rows, period=("vb", "ve")).sql("SEQ VT (\n  SELECT nam FROM w)")
    assert (raised.value.line, raised.value.column) == (2, 10)
    assert any(note.endswith(":2:10") for note in raised.value.__notes__)
    assert any("name" in note for note in raised.value.__notes__[1:])
