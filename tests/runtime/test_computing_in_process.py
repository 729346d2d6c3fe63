"""What DuckDB computes of rows in this process: values, which rows raise an error, and what becomes of them."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from streambound.analyzer.constants import kind_of
from streambound.analyzer.expressions.engine_sql import engine_sql
from streambound_runtime import database, expressions
from streambound_runtime.embedded import why_not_embedded
from streambound_runtime.engine.arrow import table_of
from streambound_runtime.engine.plan import CircuitPlan, ComputedRows
from streambound_runtime.engine.tables import BIGINT, DOUBLE, VARCHAR
from streambound_runtime.errors import JobError
from streambound_runtime.operators import plan
from streambound_runtime.operators.circuit_plan import MapNode
from streambound_runtime.operators.delta import Delta, delta_of
from streambound_runtime.placement.on_driver import operator_of, rows_computed
from streambound_runtime.reading.computing import DerivingDecoder, decoder_of
from streambound_runtime.spec import Derived, JobSpec, Relation, Stream, TableColumn
from support.jobs import job_of

COLUMNS = (
    TableColumn("a", "bigint"), TableColumn("b", "int"), TableColumn("s", "string"), TableColumn("d", "decimal(9,2)"),
    TableColumn("at", "timestamp"), TableColumn("day", "date"), TableColumn("ts", "bigint"),
)  # fmt: skip
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": {"a": "bigint", "b": "int", "s": "string", "ts": "bigint"}},
        "T": {"timestamp": "ts", "columns": {"a": "bigint", "b": "int", "ts": "bigint"}},
    },
    "relations": {"R": {"columns": {"k": "bigint"}}},
}
DIVIDED = "CASE WHEN b = 0 THEN CAST('DIVIDE_BY_ZERO' AS BIGINT) ELSE a // b END"


def raw(*rows: dict[str, Any]) -> pa.Table:
    """Lines of rows, which have NULL where nothing is said."""
    nothing = dict.fromkeys(column.name for column in COLUMNS)
    return pa.table({"value": pa.array([json.dumps(nothing | row).encode() for row in rows], pa.binary())})


def stream(*derived: Derived, needs: tuple[str, ...] = ()) -> Stream:
    return Stream("S", COLUMNS, "ts", needs or tuple(one.name for one in derived), derived=derived)


def decoded(table: Stream | Relation, *rows: dict[str, Any]) -> Any:
    return decoder_of(None, table, True, 100, {}).decode(raw(*rows))


# --- expressions over a table -----------------------------------------------------------------------------------------


def test_values_have_the_types_of_sparks_tables() -> None:
    moment = pa.array([0, None], pa.timestamp("us", "UTC"))
    rows = pa.table({"n": pa.array([1, 2], pa.int8()), "at": moment})
    found = expressions.computed(rows, ['"n" + 1', '"at"', "NULL"], ["int", "timestamp", "void"])
    assert [values.type for values in found] == [pa.int32(), pa.timestamp("us", "UTC"), pa.string()]
    assert found[0].to_pylist() == [2, 3]
    assert found[1].equals(moment)


def test_the_rows_that_raise_are_found_wherever_they_are() -> None:
    """All of them, among so many that DuckDB computes them in several pieces."""
    size, wrong = 10_000, {0, 17, 2_047, 2_048, 5_000, 9_999}
    rows = pa.table({"a": pa.array(range(size)), "b": pa.array([0 if n in wrong else 1 for n in range(size)])})
    with pytest.raises(expressions.Raises, match="it raises DIVIDE_BY_ZERO, and try_divide gives NULL instead") as told:
        expressions.computed(rows, ["a", DIVIDED], ["bigint", "bigint"])
    assert told.value.place == 1
    (values,), (raising,) = expressions.tried(rows, [DIVIDED], ["bigint"])
    assert set(np.flatnonzero(raising.to_numpy(zero_copy_only=False)).tolist()) == wrong
    assert values.to_pylist() == [None if n in wrong else n for n in range(size)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a + 1", "it raises ARITHMETIC_OVERFLOW, and try_add gives NULL instead"),
        ("-2 - a", "it raises ARITHMETIC_OVERFLOW, and try_subtract gives NULL instead"),
        ("a * 2", "it raises ARITHMETIC_OVERFLOW, and try_multiply gives NULL instead"),
        ("CAST(a AS INT)", "it raises CAST_OVERFLOW, and try_cast gives NULL instead"),
        ("CAST('CAST_INVALID_INPUT' AS DATE)", "it raises CAST_INVALID_INPUT, and try_cast gives NULL instead"),
        ("a", ""),
    ],
)
def test_an_error_is_told_by_sparks_name_for_it(text: str, words: str) -> None:
    assert expressions.error_of(pa.table({"a": [2**63 - 1]}), text) == words


def test_an_overflow_is_not_simplified_away() -> None:
    """DuckDB would compare a with a smaller number instead."""
    rows = pa.table({"a": pa.array([2**63 - 1, 4], pa.int64())})
    assert expressions.error_of(rows, "a + 1 = 5") == "it raises ARITHMETIC_OVERFLOW, and try_add gives NULL instead"
    (values,), _ = expressions.tried(rows, ["a + 1 = 5"], ["boolean"])
    assert values.to_pylist() == [None, True]


def test_names_of_python_and_of_files_mean_nothing(tmp_path: Path) -> None:
    import duckdb

    other = pa.table({"a": [1]})
    (tmp_path / "x.csv").write_text("a\n1\n")
    assert other.num_rows == 1
    with pytest.raises(duckdb.Error, match="other"):
        expressions.query("SELECT * FROM other")


# --- derived columns --------------------------------------------------------------------------------------------------


def test_derived_columns_are_those_of_good_rows_and_others_are_quarantined() -> None:
    found = decoded(
        stream(
            Derived("share", "`a` DIV `b`", "bigint", engine=DIVIDED),
            Derived("hour", "hour(`at`)", "int", engine='CAST(hour("at") AS INT)'),
            Derived("price", "`d` * 2", "decimal(11,2)", engine='CAST("d" * 2 AS DECIMAL(11, 2))'),
            Derived("next", "date_add(`day`, 1)", "date", engine='"day" + 1'),
            Derived("start", "date_trunc('HOUR', `at`)", "timestamp", engine="""date_trunc('hour', "at")"""),
        ),
        {"a": 7, "b": 2, "d": 1.25, "at": "2024-01-01T05:06:07Z", "day": "2024-02-28", "ts": 1},
        {"a": 7, "b": 0, "d": 1.25, "at": "2024-01-01T05:06:07Z", "day": "2024-02-28", "ts": 2},
        {"a": None, "b": 1, "ts": 3},
        {"a": 7, "b": 1, "day": "9999-12-31", "ts": 4},
    )
    hour = 1704085200 * 10**6
    assert found.good.to_pydict() == {
        "part": [0, 0], "ts": [1, 3], "share": [3, None], "hour": [5, None], "price": [250, None],
        "next": [19782, None], "start": [hour, None],
    }  # fmt: skip
    assert [(row["reason"], row["detail"]) for row in found.rejected.to_pylist()] == [
        ("expression", "a DIV b cannot be computed: it raises DIVIDE_BY_ZERO, and try_divide gives NULL instead"),
        ("expression", "date_add(day, 1) cannot be computed: it is outside the years 1 to 9999"),
    ]
    assert json.loads(found.rejected.column("row")[0].as_py())["a"] == 7


def test_a_row_of_which_no_use_needs_an_expression_is_not_asked() -> None:
    guarded = Derived("share", "`a` DIV `b`", "bigint", ((plan.Test("b", "!=", offset=0),),), engine=DIVIDED)
    found = decoded(stream(guarded), {"a": 7, "b": 0, "ts": 1}, {"a": 7, "b": 7, "ts": 2})
    assert found.good.column("share").to_pylist() == [None, 1]
    assert found.rejected.num_rows == 0


def test_every_expression_has_its_own_error() -> None:
    columns = (
        Derived("share", "`a` DIV `b`", "bigint", engine=DIVIDED),
        Derived("more", "`a` + 1", "bigint", engine='"a" + 1'),
    )
    rows = [{"a": 2**63 - 1, "b": 1, "ts": 1}, {"a": 1, "b": 0, "ts": 2}, {"a": 2**63 - 1, "b": 0, "ts": 3}]
    found = decoded(stream(*columns), *rows, {"a": 1, "b": 1, "ts": 4})
    assert found.good.column("ts").to_pylist() == [4]
    divided, more = (
        "a DIV b cannot be computed: it raises DIVIDE_BY_ZERO, and try_divide gives NULL instead",
        "a + 1 cannot be computed: it raises ARITHMETIC_OVERFLOW, and try_add gives NULL instead",
    )
    assert found.rejected.column("detail").to_pylist() == [more, divided, divided]


def test_no_rows_and_no_derived_columns() -> None:
    assert not isinstance(decoder_of(None, replace(stream(needs=("a",)), derived=()), True, 100, {}), DerivingDecoder)
    found = decoded(stream(Derived("share", "`a` DIV `b`", "bigint", engine=DIVIDED)), {"a": "x", "ts": 1})
    assert found.good.num_rows == 0
    assert found.rejected.column("reason").to_pylist() == ["wrong-type"]


def test_what_spark_alone_computes_is_refused_with_its_text() -> None:
    with pytest.raises(JobError, match="S: soundex\\(s\\) is computed by Spark only: run the job on Spark"):
        decoded(stream(Derived("sound", "soundex(`s`)", "string")), {"s": "x", "ts": 1})


def test_a_letter_that_only_spark_knows_stops_the_job_whatever_else_is_wrong() -> None:
    engine = engine_sql("CAST(lower(`s`) AS INT)", {"s": kind_of("string")}, kind_of("int"))
    table = stream(Derived("n", "CAST(lower(`s`) AS INT)", "int", engine=str(engine)))
    found = decoded(table, {"s": "x", "ts": 1}, {"s": "7", "ts": 2})
    assert found.good.column("n").to_pylist() == [7]
    assert found.rejected.column("reason").to_pylist() == ["expression"]
    with pytest.raises(
        JobError, match="S: CAST\\(lower\\(s\\) AS INT\\) of a row is computed by Spark only: run the job"
    ):
        decoded(table, {"s": "x", "ts": 1}, {"s": "İ", "ts": 2})


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.setattr(database, "_instance", database._instance.__wrapped__)
    with pytest.raises(JobError, match="computed by DuckDB, which is not installed: pip install duckdb"):
        expressions.query("SELECT 1")


# --- rows of circuits and results -------------------------------------------------------------------------------------


NODE = MapNode(
    "m", "s", (("k", "bigint"), ("x", "double"), ("t", "string")), (("n", "bigint"), ("y", "double"), ("u", "string")),
    ("`k` DIV 2", "`x`", "`t`"), "`k` > 0", ('"k" // 2', '"x"', '"t"'), '"k" > 0',
)  # fmt: skip


def circuit(*nodes: MapNode) -> JobSpec:
    job = job_of("SELECT S.a FROM S", CATALOG)
    operators = tuple(ComputedRows(node, (BIGINT, DOUBLE, VARCHAR), True) for node in nodes)
    return replace(job, plan=CircuitPlan(("n", "y", "u"), 0, operators))


def rows_of(delta: Delta) -> list[tuple[Any, ...]]:
    return list(zip(delta.time.tolist(), delta.weights().tolist(), delta.rows(), strict=True))


def node_rows(*rows: tuple[Any, ...]) -> pa.Table:
    """Rows of the node's input: a time, the values and a weight."""
    return table_of(
        delta_of([(time, n, tuple(row)) for time, *row, n in rows], ("k", "x", "t")), [BIGINT, DOUBLE, VARCHAR]
    )


def test_rows_of_a_node_are_computed_and_filtered() -> None:
    rows = node_rows((1, 2, 0.5, "b", 1), (1, 3, None, None, 2), (1, -2, 1.0, "x", 1), (2, 2, -0.0, "é", -1))
    found = rows_computed(circuit(NODE), None, NODE, rows)
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        (1, 1, 0.5, "b", 1), (1, 1, None, None, 2), (2, 1, 0.0, "é", -1),
    ]  # fmt: skip
    assert str(found.column("c1").to_pylist()[2]) == "0.0"
    assert found.column_names == ["t", "c0", "c1", "c2", "w"]
    assert rows_computed(circuit(NODE), None, NODE, node_rows()).num_rows == 0


def test_an_error_above_operators_stops_the_job_with_the_column_and_its_text() -> None:
    node = replace(NODE, expressions=("`k` DIV 0", "`x`", "`t`"), engine=(DIVIDED.replace("b", "0", 1), '"x"', '"t"'))
    node = replace(node, engine=("CASE WHEN k > 1 THEN CAST('DIVIDE_BY_ZERO' AS BIGINT) END", '"x"', '"t"'))
    with pytest.raises(JobError) as told:
        rows_computed(circuit(node), None, node, node_rows((1, 2, 0.5, "b", 1)))
    words = "n cannot be computed of a result: it raises DIVIDE_BY_ZERO, and try_divide gives NULL instead"
    assert (told.value.kind, str(told.value)) == ("expression", f"{words}; in k DIV 0")
    assert rows_computed(circuit(node), None, node, node_rows((1, -2, 0.5, "b", 1))).num_rows == 0


def test_an_operator_without_a_session_computes_by_duckdb() -> None:
    sql = "SELECT n + 1 AS n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS g WHERE a > 1"
    compiled = streambound_job(sql)
    assert isinstance(compiled.plan, CircuitPlan)
    (rows,) = [one for one in compiled.plan.operators if isinstance(one, ComputedRows)]
    assert "" not in rows.node.engine
    assert why_not_embedded(compiled) is None
    assert operator_of(compiled, {}, None) is not None


def streambound_job(sql: str, unbounded: bool = True) -> JobSpec:
    import streambound

    return streambound.compile(sql, CATALOG, unbounded=unbounded).compiled.job


def test_results_of_several_rows_and_those_of_a_set() -> None:
    sql = "SELECT {}S.a + R.k AS n FROM S, R WHERE S.a >= R.k AND S.a <= 3 AND R.k BETWEEN 1 AND 2"
    relations = {"R": pa.table({"k": [1, 2]})}
    ticks = [[(1, 1, (2,)), (2, 1, (3,)), (3, 1, (2,))], [(5, 1, (1,)), (6, 1, (3,))]]
    found = {}
    for kind in ("", "DISTINCT "):
        job = job_of(sql.format(kind), CATALOG)
        operator = operator_of(job, relations)
        found[kind] = [rows_of(operator.step({"S": delta_of(rows, ("a",))})) for rows in ticks]
    assert found[""][0] == [(1, 1, (3,)), (1, 1, (4,)), (2, 1, (4,)), (2, 1, (5,)), (3, 1, (3,)), (3, 1, (4,))]
    assert found["DISTINCT "] == [[(1, 1, (3,)), (1, 1, (4,)), (2, 1, (5,))], [(5, 1, (2,))]]


# --- what keeps a job from running without Spark ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT S.a + 1 AS n FROM S", None),
        ("SELECT S.a FROM S", None),
        ("SELECT soundex(S.s) AS n FROM S", "SOUNDEX(s), of each row of S, is computed by Spark only"),
        ("SELECT sin(S.a + R.k) AS n FROM S, R", "SIN(_1 + _2), of each result, is computed by Spark only"),
        ("SELECT sin(n) AS n FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS g",
         "SIN(…), of each result, is computed by Spark only"),
    ],
)  # fmt: skip
def test_the_first_expression_that_needs_spark_is_named(sql: str, words: str | None) -> None:
    assert why_not_embedded(streambound_job(sql)) == words
