"""Derived columns without Spark: what it is given, what becomes of its answer, and how a job says them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from streambound.synopsis_exec.job_file import job_in
from streambound.synopsis_exec.plan_text import plan_text
from streambound.synopsis_exec.stale import causes
from streambound_runtime.decoding.decoder import Decoded, Decoder
from streambound_runtime.decoding.derived import ComputedColumns, typed_values
from streambound_runtime.decoding.reasons import shown
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.decoding.typed_columns import TypedColumn
from streambound_runtime.operators import plan
from streambound_runtime.spec import Derived, Relation, Stream, TableColumn
from support.derived import derived_job

COLUMNS = (TableColumn("a", "bigint"), TableColumn("b", "int"), TableColumn("s", "string"), TableColumn("ts", "bigint"))
SHARE, SIZE = "`a` DIV `b`", "length(`s`)"


def stream(needs: tuple[str, ...], *derived: Derived, useful: tuple[tuple[plan.Test, ...], ...] = ((),)) -> Stream:
    return Stream("S", COLUMNS, "ts", needs, useful, derived=derived)


def decoded(table: Stream | Relation, *lines: str) -> Decoded:
    raw = pa.table({"value": pa.array([line.encode() for line in lines], pa.binary())})
    return Decoder(ComputedColumns(table).first, lines=True).decode(raw)


def told(at: Any) -> tuple[list[str | None], list[dict[str, Any]]]:
    return [f"row {place}" for place in at], [{} for _ in at]


LINES = [
    '{"a": 6, "b": 2, "s": "x", "ts": 1}',
    '{"a": 6, "b": 0, "s": "xx", "ts": 2}',
    '{"a": 9, "b": 0, "s": "x", "ts": 3}',
    "bad",
]


def test_only_columns_that_are_used_are_decoded() -> None:
    table = stream(("share",), Derived("share", SHARE, "bigint"))
    assert ComputedColumns(table).first.needs == ("a", "b")
    assert ComputedColumns(stream(("s",), Derived("n", "`TS` % 2", "bigint"))).first.needs == ("s", "ts")


def test_spark_is_given_types_and_asked_of_rows_that_need_an_answer() -> None:
    guarded = Derived("share", SHARE, "bigint", ((plan.Test("b", "!=", offset=0), plan.Test("share", ">", offset=1)),))
    table = stream(
        ("share",), guarded, useful=((plan.Test("b", "!=", offset=0), plan.Test("share", ">", offset=1)), ())
    )
    given = ComputedColumns(table).arguments(decoded(table, *LINES))
    assert given.to_pydict() == {"a": [6, 6, 9], "b": [2, 0, 0], "when 0": [True, False, False]}
    assert given.schema.field("b").type == pa.int32()


def test_a_row_is_rejected_where_no_other_test_rules_out_the_use_that_fails() -> None:
    long = plan.Test("size", "==", offset=2)
    table = stream(
        ("a", "share"),
        Derived("share", SHARE, "bigint", ((long, plan.Test("share", "==", offset=3)),)),
        Derived("size", SIZE, "int", ((long, plan.Test("share", "==", offset=3)), ())),
        useful=((long, plan.Test("share", "==", offset=3)), (plan.Test("size", "==", offset=1),)),
    )
    answer = pa.table(
        {
            "value 0": pa.array([3, None, None], pa.int64()),
            "raises 0": [False, True, True],
            "value 1": pa.array([1, 2, 1], pa.int32()),
            "raises 1": [False] * 3,
        }
    )
    found = ComputedColumns(table).finished(decoded(table, *LINES), answer, {"share": "it raises X"}, told)
    assert found.good.to_pydict() == {"part": [0, 0], "ts": [1, 3], "a": [6, 9], "share": [3, None]}
    assert found.good_at.tolist() == [0, 2]
    assert found.rejected_at.tolist() == [1, 3]
    assert found.rejected.to_pylist()[0] == {
        "reason": "expression",
        "detail": "a DIV b cannot be computed: it raises X",
        "row": "row 1",
        "length": None,
        "part": None,
        "ts": None,
    }
    assert found.rejected.column("reason").to_pylist() == ["expression", "not-json"]


@pytest.mark.parametrize(
    ("kind", "values", "why"),
    [
        ("double", [1.0, float("nan")], "it is NaN"),
        ("date", [0, 3_000_000], "it is outside the years 1 to 9999"),
    ],
)
def test_a_value_that_a_declared_column_may_not_have_is_none(kind: str, values: list[Any], why: str) -> None:
    table = Relation("R", COLUMNS[:1], ("x",), derived=(Derived("x", "f(`a`)", kind),))
    encoded = pa.array(values, sql_type(kind).encoded)
    answer = pa.table({"value 0": typed_values(encoded, sql_type(kind))})
    found = ComputedColumns(table).finished(decoded(table, '{"a": 1}', '{"a": 2}'), answer, {}, told)
    assert found.good.num_rows == 1
    assert found.rejected.column("detail").to_pylist() == [f"f(a) cannot be computed: {why}"]


VALUES = {
    "tinyint": [-128, None], "bigint": [2**62, 0], "boolean": [1, 0, None], "date": [-1, 19_000], "float": [0.5, None],
    "timestamp": [-1, 10**15], "timestamp_ntz": [5, None], "decimal(5,2)": [-99_999, None], "string": ["é", None],
    "decimal(38,10)": [10**37, -1, None],
}  # fmt: skip


@pytest.mark.parametrize("kind", VALUES)
def test_encoded_values_get_their_types_and_are_encoded_again(kind: str) -> None:
    encoded = pa.array(VALUES[kind], sql_type(kind).encoded)
    typed = typed_values(encoded.slice(0), sql_type(kind))
    assert TypedColumn(typed, TableColumn("c", kind)).values.equals(encoded)
    assert typed_values(encoded.slice(1), sql_type(kind)).equals(typed.slice(1))


CATALOG: dict[str, Any] = {
    "streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "b": "int", "s": "string", "ts": "bigint"}}},
    "relations": {"R": {"columns": {"name": "string"}}},
}
EXPRESSIONS = {
    "S": {"share": ("bigint", SHARE), "unused": ("bigint", "`a` + 1")},
    "R": {"length": ("int", "length(`name`)")},
}


def test_a_job_says_what_spark_computes_and_is_read_back() -> None:
    found = derived_job(
        "SELECT S.share FROM {S} AS S, {R} AS R WHERE S.b <> 0 AND S.share = R.length", CATALOG, EXPRESSIONS
    )
    (table,), (relation,) = found.job.streams, found.job.relations
    (tests,) = table.derived[0].when
    (share,) = table.derived
    assert replace(share, engine="") == Derived("share", SHARE, "bigint", (tests,))
    assert share.engine.startswith('CASE WHEN CAST("b" AS BIGINT) = 0 AND NOT "a" IS NULL THEN')
    assert {test.left for test in tests} == {"b", "share"}
    assert relation.derived[0].expression == "length(`name`)"
    assert job_in(found.text) == found.job
    assert "# Spark computes of each row of S: a DIV b, a bigint." in found.text
    assert "  compute of each row of R: length(name), an int" in plan_text(found.plan)
    other = derived_job(
        "SELECT S.share FROM {S} AS S, {R} AS R WHERE S.b <> 0 AND S.share = R.length",
        CATALOG,
        {**EXPRESSIONS, "S": {"share": ("bigint", "`a` DIV (`b` + 1)")}},
    )
    assert causes(found.text, other.job)
    assert found.job.saved.tables != other.job.saved.tables


def test_quotes_stay_where_names_need_them() -> None:
    assert shown("`a` + `the b`") == "a + `the b`"


def test_no_rows_need_no_spark() -> None:
    table = stream(("share",), Derived("share", SHARE, "bigint"))
    first = decoded(table, "bad")
    found = ComputedColumns(table).finished(first, ComputedColumns(table).nothing(), {}, told)
    assert found.good.num_rows == 0
    assert found.rejected.column("reason").to_pylist() == ["not-json"]
    assert np.array_equal(found.rejected_at, first.rejected_at)
