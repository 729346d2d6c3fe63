"""What is known of Spark's functions is what Spark 4 does: the types and values of one SELECT of all of them."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from streambound.analyzer.constants import kind_of
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.expression import Expression, calls, value_of
from streambound.analyzer.expressions.function import Fails, NotKnown
from streambound.analyzer.expressions.reading import read
from streambound.analyzer.expressions.registry import FUNCTIONS
from support.expression_texts import COLUMNS, ROWS, expressions

KINDS = {name: kind_of(kind) for name, kind in COLUMNS.items()}
SKIP, FAILED = object(), object()
NESTED = ("ar", "m", "st")


def read_all() -> dict[str, Expression]:
    return {text: read(parsed(text), KINDS) for text in expressions()}


def test_every_function_with_a_value_is_tried() -> None:
    tried = {call.function.name for found in read_all().values() for call in calls(found)}
    valued = {function.name for function in FUNCTIONS if function.value or function.lazy}
    assert valued - tried == set()


def plain(value: Any) -> Any:
    """A value of Spark's as an expression's value."""
    match value:
        case bool() | int() | float() | Decimal():
            return Fraction(value)
        case datetime():
            raise AssertionError("timestamps come as microseconds")
        case date():
            return Fraction((value - date(1970, 1, 1)).days)
    return value


def told(found: Expression, row: dict[str, Any]) -> Any:
    try:
        return value_of(found, row).value
    except Fails:
        return FAILED
    except (NotKnown, KeyError):
        return SKIP


def test_types_and_values_are_those_of_spark(spark: Any) -> None:
    names = [*COLUMNS, "r"]
    rows = ", ".join(f"({row}, {number})" for number, row in enumerate(ROWS))
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in COLUMNS.items())
    spark.sql(f"SELECT {casts}, r FROM VALUES {rows} AS v({', '.join(names)})").createOrReplaceTempView("expressions")
    shown = ", ".join("unix_micros(ts) AS ts" if name == "ts" else name for name in COLUMNS if name not in NESTED)
    data = [
        {name: plain(value) for name, value in row.asDict().items()}
        for row in spark.sql(f"SELECT {shown} FROM expressions ORDER BY r").collect()
    ]
    ours = {text: [told(found, row) for row in data] for text, found in read_all().items()}
    written = []
    for number, (text, values) in enumerate(ours.items()):
        failed = [str(place) for place, value in enumerate(values) if value is FAILED]
        guarded = f"CASE WHEN r NOT IN ({', '.join(failed)}) THEN {text} END" if failed else text
        written.append(f"{guarded} AS e{number}")
    frame = spark.sql(f"SELECT {', '.join(written)} FROM expressions ORDER BY r")
    wrong, counts = [], Counter[str]()
    kinds = {text: found.kind.name for text, found in read_all().items()}
    for field, (text, kind) in zip(frame.schema.fields, kinds.items(), strict=True):
        if field.dataType.simpleString() != kind:
            wrong.append(f"{text}: {kind}, for Spark {field.dataType.simpleString()}")
    whole = [f"unix_micros({f.name})" if f.dataType.simpleString() == "timestamp" else f.name for f in frame.schema]
    for place, row in enumerate(frame.selectExpr(*whole).collect()):
        for text, value in zip(ours, row, strict=True):
            mine = ours[text][place]
            counts["skipped" if mine is SKIP else "failed" if mine is FAILED else "compared"] += 1
            if mine not in (SKIP, FAILED) and mine != plain(value):
                wrong.append(f"{text} in row {place}: {mine!r}, for Spark {value!r}")
    assert wrong == []
    assert counts["compared"] > 1_000


@pytest.mark.parametrize(
    "text", ["1 / (i - 7)", "CAST(l + 300 AS TINYINT)", "t * CAST(100 AS TINYINT)", "CAST(c AS INT)", "10 % (i - 7)"]
)
def test_what_fails_fails_in_spark(spark: Any, text: str) -> None:
    row = {"i": Fraction(7), "l": Fraction(40), "t": Fraction(5), "c": "Spark"}
    assert told(read(parsed(text), KINDS), row) is FAILED
    frame = spark.sql("SELECT 7 AS i, 40L AS l, CAST(5 AS TINYINT) AS t, 'Spark' AS c")
    with pytest.raises(Exception, match=r"DIVIDE_BY_ZERO|REMAINDER_BY_ZERO|OVERFLOW|MALFORMED|INVALID_INPUT"):
        frame.selectExpr(text).collect()
