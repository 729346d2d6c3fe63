"""SEQ TP from Python: random queries against all possible worlds, the limit, and what a result has on request."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from streambound.analyzer.errors import UsageError
from streambound.temporal import Temporal, timeline
from support.tp_queries import drawn_count, drawn_query, drawn_rows, drawn_set_operation
from support.tp_worlds import Row, differences

QUERIES = 4 * int(os.environ.get("STREAMBOUND_TEST_FACTOR", "1"))


def given(spark: Any, relations: dict[str, list[Row]], **options: Any) -> Temporal:
    found = Temporal(spark, **options)
    for name, columns in (("a", "n string, k int"), ("b", "h string, j int"), ("c", "g string, l int")):
        rows = [(*row.fact, row.key, float(row.p), row.begin, row.end) for row in relations.get(name, [])]
        df = spark.createDataFrame(rows, f"{columns}, id int, p double, vb int, ve int")
        found.relation(name, df, period=("vb", "ve"), key="id", probability="p")
    return found


@pytest.mark.parametrize("drawing", [drawn_query, drawn_set_operation, drawn_count])
@pytest.mark.parametrize("seed", range(QUERIES))
def test_random_queries_are_what_possible_worlds_say(seed: int, drawing: Any, spark: Any) -> None:
    rng = random.Random(seed)
    query = drawing(rng)
    relations = {"a": drawn_rows(rng, 4), "b": drawn_rows(rng, 3), "c": drawn_rows(rng, 2)}
    rows = given(spark, relations).sql(f"SEQ TP ({query.select})").collect()
    assert differences(map(tuple, rows), query, relations) == [], (query.select, relations)


def test_a_join_by_name_and_its_lineage_as_an_array(spark: Any) -> None:
    relations = {"a": [Row(("x", 1), 1, "0.5", 0, 4)], "b": [Row(("y", 1), 2, "0.25", 1, 3)]}
    found = given(spark, relations).tp_join("a", "b", on="k = j", how="anti", lineage_dag=True)
    assert found.columns == ["n", "k", "_begin", "_end", "_lineage", "_p", "_lineage_dag"]
    rows = sorted(found.collect(), key=lambda row: row._begin)
    assert [tuple(row)[2:6] for row in rows] == [
        (0, 1, "a.1", 0.5), (1, 3, "a.1 & !b.2", 0.375), (3, 4, "a.1", 0.5)
    ]  # fmt: skip
    assert [(part.op, part["var"], part.args) for part in rows[1]._lineage_dag] == [
        ("var", "a.1", []), ("var", "b.2", []), ("!", None, [1]), ("&", None, [0, 2])
    ]  # fmt: skip
    with pytest.raises(UsageError, match="there is no join 'semi'"):
        given(spark, relations).tp_join("a", "b", on="k = j", how="semi")


def test_bad_rows_are_left_out_and_told(spark: Any) -> None:
    rows = [
        ("x", 1, 1, 0.5, 0, 4), ("x", 1, 2, 0.5, 3, 5), ("y", 1, 3, 0.5, 0, 2), ("z", 1, 3, 0.5, 0, 2),
        ("u", 1, 4, 1.5, 0, 2), ("v", 1, None, 0.5, 0, 2), ("w", 1, 5, 0.5, 2, 2), ("ok", 1, 6, 1.0, 0, 2),
    ]  # fmt: skip
    df = spark.createDataFrame(rows, "n string, k int, id int, p double, vb int, ve int")
    found = Temporal(spark).relation("a", df, period=("vb", "ve"), key="id", probability="p")
    assert [tuple(row) for row in found.sql("SEQ TP (SELECT * FROM a)").collect()] == [("ok", 1, 0, 2, "a.6", 1.0)]
    assert {row.n: row.reason for row in found.quarantined("a").select("n", "reason").collect()} == {
        "y": "key", "z": "key", "u": "probability", "v": "key", "w": "empty-period", "x": "overlapping-fact"
    }  # fmt: skip


def test_what_means_nothing_is_told_with_the_way_out(spark: Any) -> None:
    df = spark.createDataFrame([(1, 0, 2)], "k int, b int, e int")
    found = Temporal(spark)
    for period in (("b",), ("b", "e", "k"), ("b", "B")):
        with pytest.raises(UsageError, match="a period is two columns"):
            found.relation("r", df, period=period)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="there is no column 'z'") as caught:
        found.split(df, ("b", "e"), by=["z"])
    assert caught.value.remedy == "there are k, b, e"
    with pytest.raises(UsageError, match="there is no column 'k'"):
        found.split(df, ("b", "e"), by=["k"], at=df.select("b", "e"))
    with pytest.raises(UsageError, match="by is a list of columns"):
        found.split(df, ("b", "e"), by="k")
    with pytest.raises(UsageError, match="of dictionaries"):
        timeline(df)
    for nodes in (0, -1):
        with pytest.raises(UsageError, match=f"lineage_nodes is at least 1, not {nodes}"):
            Temporal(spark, lineage_nodes=nodes)


def test_columns_that_both_sides_have_are_called_after_their_relations(spark: Any) -> None:
    found = Temporal(spark)
    for name, columns in (("a", "n string, k int"), ("b", "h string, K int")):
        df = spark.createDataFrame([("x", 1, 7, 0.5, 0, 3)], f"{columns}, id int, p double, vb int, ve int")
        found.relation(name, df, period=("vb", "ve"), key="id", probability="p")
    assert found.tp_join("a", "b AS y", on="a.k = y.k").columns[:4] == ["n", "a_k", "h", "y_K"]
    assert found.tp_join("a", "a AS y", on="a.k = y.k", how="full").count() == 1
    assert found.tp_join("a", "b", on="a.k = b.k", how="anti").columns[:2] == ["n", "k"]


def test_a_lineage_that_is_too_large_is_an_error_with_its_row(spark: Any) -> None:
    """r(x), s(x, y), t(y) projected to nothing: nothing splits it."""
    from streambound_runtime.tp.limits import too_large

    found = Temporal(spark, lineage_nodes=50)
    ends = [(i, 1, f"{i}", 0.5) for i in range(8)]
    pairs = [(i, j, f"{i}_{j}", 0.5) for i in range(8) for j in range(8)]
    for name, columns, rows in (
        ("r", "x int, one int", ends),
        ("s", "x2 int, y2 int", pairs),
        ("t", "y int, o int", ends),
    ):
        df = spark.createDataFrame([(*row, 0, 3) for row in rows], f"{columns}, id string, p double, vb int, ve int")
        found.relation(name, df, period=("vb", "ve"), key="id", probability="p")
    joined = "SELECT * FROM r JOIN s ON r.x = s.x2"
    rows = found.sql(f"SEQ TP (SELECT q.one FROM ({joined}) AS q JOIN t ON q.y2 = t.y)")
    with pytest.raises(Exception, match="lineage-too-large") as caught:
        rows.collect()
    told = too_large(str(caught.value))
    assert told is not None
    assert str(told).startswith("lineage-too-large: the lineage of (1) from 0 to 3 has 80 variables, and to decide it")
    assert "more than 50 nodes: raise lineage_nodes" in str(told)


def test_parts_of_time_and_what_is_expected(spark: Any) -> None:
    relations = {"a": [Row(("x", 1), 1, "0.5", 0, 4), Row(("x", 2), 2, "0.25", 1, 6), Row(("y", 2), 3, "1", 2, 3)]}
    found = given(spark, relations)

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, found.sql(sql).collect()))

    assert rows("SEQ TP AS OF 3 (SELECT n FROM a)") == [("x", "a.1 | a.2", 0.625)]
    expected = "SELECT n, EXPECTED(COUNT(*)) AS c, EXPECTED(SUM(k)) AS s FROM a GROUP BY n"
    assert rows(f"SEQ TP FROM 2 TO 5 ({expected})") == [
        ("x", 0.25, 0.5, 4, 5, "a.2", 0.25), ("x", 0.75, 1.0, 2, 4, "a.1 | a.2", 0.625),
        ("y", 1.0, 2.0, 2, 3, "a.3", 1.0),
    ]  # fmt: skip
