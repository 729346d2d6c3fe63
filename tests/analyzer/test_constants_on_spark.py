"""Constants mean what Spark 4 says: each condition on them is refused with words, or holds for Spark's rows exactly."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from streambound.analyzer.catalog import Catalog, parse_catalog
from streambound.analyzer.columns import Column
from streambound.analyzer.lower import lower
from streambound.analyzer.query import And, Comparison, Constant, Formula, Not, NullTest, Op, Or, Output, Query, Truth
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.analyzer.types import Family
from support.constant_texts import CONSTANTS, INTERVALS, OPERATORS, random_constant
from support.profiles import MORE
from support.row_sql import cell, encoded

COLUMNS = {
    "t": "tinyint", "s": "smallint", "i": "int", "l": "bigint", "f": "float", "x": "double", "n": "decimal",
    "d": "decimal(9,2)", "e": "decimal(38,0)", "g": "decimal(38,18)", "c": "string", "b": "boolean", "da": "date",
    "ts": "timestamp", "tn": "timestamp_ntz",
}  # fmt: skip
VALUES = {
    name: text.split()
    for name, text in {
        "t": "0 1 2 7 -128 127 NULL",
        "s": "0 1 2 7 -32768 32767 NULL 100",
        "i": "0 1 2 7 -2147483648 2147483647 NULL 16777217 100",
        "l": "0 1 2 7 -9223372036854775808 9223372036854775807 NULL 9007199254740992 9007199254740993 2147483648",
        "f": "0 0.1 0.5 1.24 -1 7 1e30 1e-40 NULL 16777216 '-0.0' 'Infinity' '-Infinity' 100",
        "x": "0 0.1 0.5 1.24 0.3 0.30000000000000004 7 1e300 NULL '-0.0' 'Infinity' '-Infinity' 0.10000000149011612",
        "n": "0 1 2 7 3 -9999999999 9999999999 NULL 100",
        "d": "0 1 1.23 1.24 1.25 -1.24 0.1 0.3 -9999999.99 9999999.99 NULL 7 4.35 100",
        "e": "0 1 2 7 9223372036854775808 99999999999999999999999999999999999999 NULL 100",
        "g": "0 1 1.24 0.1 0.3 0.000000000000000001 99999999999999999999.999999999999999999 NULL 7",
        "c": "'' 'a' 'B' '7' 'a_' 'é' 'true' NULL '2024-01-02'",
        "b": "true false NULL",
        "da": "'2024-01-01' '2024-01-02' '1969-12-31' '0001-01-01' '9999-12-31' NULL '2024-01-03'",
        "ts": "'2024-01-02' '2024-01-01T22:00' '2024-01-01T23:00' '1969-12-31T23:59:59.5' NULL '9999-12-31T23:59'",
        "tn": "'2024-01-02' '2024-01-01T22:00' '2024-01-02T02:00' '1969-12-31T23:59:59.5' NULL '0001-01-01T00:00'",
    }.items()
}
ROWS = max(map(len, VALUES.values()))
MILD = {
    "t": "1",
    "s": "2",
    "i": "7",
    "l": "-3",
    "n": "7",
    "d": "1.24",
    "g": "0.3",
    "da": "'2024-01-01'",
    "ts": "'2024-01-02'",
}
"""Values whose sums with constants fit their types."""
RAISED = ("CAST_INVALID_INPUT", "OVERFLOW", "OUT_OF_RANGE", "long overflow", "integer overflow")
"""What Spark says of a sum of a row's value that does not fit, and of a text: which rows there are decides."""
WRONG_IN_SPARK = ("TRY_CAST(TRY_CAST(300 AS TINYINT) AS INT) < 9223372036854775808",)
"""Spark 4.3 compares the argument of a cast, which it takes for one without NULL: NULL, and not true, is right."""
BATCH = 200


def catalog() -> Catalog:
    columns = ", ".join(f'{name} = "{kind}"' for name, kind in {**COLUMNS, "m": "bigint"}.items())
    return parse_catalog(f'[streams.V]\ntimestamp = "m"\ncolumns = {{ {columns} }}\n')


CATALOG = catalog()


@dataclass(frozen=True)
class Asked:
    """An expression that was accepted, and what its value should be in each row; ``sums`` says that rows may raise."""

    sql: str
    expected: tuple[Any, ...]
    sums: bool = False


def read(select: str) -> Query | None:
    """The query; None where it is refused: with words, at a place in it, and in no other way."""
    (statement,) = split_statements(SourceText("case.sql", select))
    if statement.tree is None:
        return None
    found = lower(statement, CATALOG)
    if found.query is not None:
        return found.query
    for diagnostic in found.diagnostics:
        assert diagnostic.code in ("SB104", "SB110"), (select, diagnostic)
        assert diagnostic.message and select[diagnostic.span.start : diagnostic.span.end].strip(), (select, diagnostic)
    return None


Row = dict[str, Any]
Logic = bool | None
_HOLDS: dict[Op, Callable[[Any, Any], bool]] = {
    Op.LT: lambda a, b: a < b, Op.LE: lambda a, b: a <= b, Op.EQ: lambda a, b: a == b,
    Op.GE: lambda a, b: a >= b, Op.GT: lambda a, b: a > b, Op.NE: lambda a, b: a != b,
}  # fmt: skip


def value(formula: Formula, row: Row) -> Logic:
    """A condition's value in a row, in SQL's three-valued logic."""
    match formula:
        case Truth(truth, unknown):
            return None if unknown else truth
        case NullTest(attribute, is_null):
            return (row[attribute.column] is None) == is_null
        case Comparison(left, op, None, offset):
            mine = row[left.column]
            return None if mine is None else _HOLDS[op](mine, offset)
        case Comparison(left, op, right, offset) if right is not None:
            mine, other = row[left.column], row[right.column]
            if mine is None or other is None:
                return None
            return _HOLDS[op](mine, other + offset if offset else other)
        case Not(part):
            inner = value(part, row)
            return None if inner is None else not inner
        case And(parts) | Or(parts):
            decisive = isinstance(formula, Or)
            values = [value(part, row) for part in parts]
            return decisive if decisive in values else None if None in values else not decisive
    raise AssertionError(formula)


def conditions(sql: str, rows: list[Row], sums: bool = False) -> Iterator[Asked]:
    """A condition as asked, if it is accepted, and read: what is not, Spark evaluates for each row."""
    query = read(f"SELECT c FROM V WHERE {sql}")
    if query is not None and not any(column.expression for column in query.branches[0].sources[0].columns):
        yield Asked(sql, tuple(value(query.branches[0].where, row) for row in rows), sums or sql.startswith("c "))


def outputs(sql: str, rows: list[Row]) -> Iterator[Asked]:
    """A constant of the select list as asked: its encoded value, if it is accepted."""
    query = read(f"SELECT {sql} AS k FROM V")
    if query is not None:
        (output,) = query.branches[0].outputs
        assert isinstance(output, Output) and isinstance(output.value, Constant)
        found, kind = output.value.value, output.value.type
        if kind.family is Family.OTHER:
            yield Asked(f"({sql}) IS NULL", (True,) * len(rows))
        else:
            named = encoded(Column("k", kind)).replace(cell(Column("k", kind)), f"({sql})")
            named = f"CAST({named} AS DECIMAL(38,0))" if named.startswith("REPLACE") else named
            yield Asked(named, (found,) * len(rows))


def view(spark: Any, values: dict[str, list[str]], size: int) -> list[Row]:
    """A view V of the values, each NULL where a column has fewer; its rows, encoded as a job encodes them."""
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    lines = [
        ", ".join(f"CAST({(values[name] + ['NULL'] * size)[place]} AS {COLUMNS[name]})" for name in COLUMNS)
        for place in range(size)
    ]
    names = ", ".join(f"`{name}`" for name in COLUMNS)
    spark.sql(
        f"SELECT * FROM VALUES {', '.join(f'({line})' for line in lines)} AS row({names})"
    ).createOrReplaceTempView("V")
    columns = [column for column in CATALOG.tables[0].columns if column.name in COLUMNS]
    found = spark.sql(f"SELECT {', '.join(f'{encoded(c)} AS `{c.name}`' for c in columns)} FROM V AS row").collect()
    large = {"e", "g"}
    return [{n: int(v) if n in large and v is not None else v for n, v in row.asDict().items()} for row in found]


def differing(spark: Any, asked: list[Asked]) -> list[str]:
    """Where Spark's values differ from what was expected, or it raises instead."""
    if not asked:
        return []
    try:
        found = spark.sql(f"SELECT {', '.join(f'({one.sql}) AS q{i}' for i, one in enumerate(asked))} FROM V").collect()
    except Exception as error:
        if len(asked) == 1:
            raised = asked[0].sums and any(word in str(error) for word in RAISED)
            return [] if raised else [f"{asked[0].sql} raises {str(error).splitlines()[0][:150]}"]
        half = len(asked) // 2
        return differing(spark, asked[:half]) + differing(spark, asked[half:])
    columns = zip(*(tuple(row) for row in found), strict=True)
    return [
        f"{one.sql}: Spark {column}, expected {one.expected}"
        for one, column in zip(asked, columns, strict=True)
        if tuple(map(plain, column)) != one.expected and one.sql not in WRONG_IN_SPARK
    ]


def plain(found: Any) -> Any:
    return found if isinstance(found, bool | str | None) else Fraction(found)


def check(spark: Any, asked: list[Asked], least: int) -> None:
    wrong = [text for at in range(0, len(asked), BATCH) for text in differing(spark, asked[at : at + BATCH])]
    assert not wrong, f"{len(wrong)} of {len(asked)}:\n" + "\n".join(wrong[:40])
    assert len(asked) >= least, f"only {len(asked)} were accepted"


def test_every_constant_with_every_type(spark: Any) -> None:
    """By ``=`` and by ``>=`` in turn; random conditions have all operators."""
    rows = view(spark, VALUES, ROWS)
    asked = [
        one
        for number, constant in enumerate(CONSTANTS)
        for place, column in enumerate(COLUMNS)
        for op in (("=", ">=") if MORE > 1 else ("=", ">=")[(number + place) % 2 :][:1])
        for one in conditions(f"{column} {op} {constant}", rows)
    ]
    check(spark, asked, 800)


TEXTS = {
    "whole numbers": ("'5' ' 7 ' '-2' NULL '+5'", "5 7L -2S i l"),
    "numbers": ("'5.0' '1e1' '.5' NULL '7D' 'Infinity'", "5.0 10D .5F 0.50BD d x f"),
    "booleans": ("'true' 'n' NULL ' F '", "TRUE FALSE b"),
    "dates": ("'2024-01-01' NULL '2024-01' '1969-12-31'", "DATE'2024-01-01' DATE'1970-01-01' da"),
    "timestamps": ("'2024-01-02' NULL '2024-01-01T22:00'", "TIMESTAMP'2024-01-02' ts"),
}
"""Texts that are cast to a type, and values of such types."""


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_beside_another_type_is_what_spark_reads_in_it(spark: Any, name: str) -> None:
    texts, others = TEXTS[name]
    rows = view(spark, {**VALUES, "c": re.findall(r"'.*?'|NULL", texts)}, ROWS)
    shapes = ["c {} %s", "%s {} c", "c IN (%s, NULL)", "c NOT IN (%s)", "c BETWEEN %s AND %s", "%s IN (c)"]
    asked = []
    for other in others.split():
        for shape in dict.fromkeys(shape.format(op) for shape in shapes for op in OPERATORS):
            sql = shape.replace("%s", other)
            query = read(f"SELECT l FROM V WHERE {sql}")
            assert query is not None, sql
            asked.append(
                Asked(sql, tuple(value(query.branches[0].where, row) for row in with_derived(spark, query, rows)))
            )
    check(spark, asked, 20)


def with_derived(spark: Any, query: Query, rows: list[Row]) -> list[Row]:
    """The rows with the columns that Spark computes of them."""
    columns = [column for column in query.branches[0].sources[0].columns if column.expression]
    assert columns
    made = ", ".join(f"{column.expression} AS `{column.name}`" for column in columns)
    names = ", ".join(f"{encoded(column)} AS `{column.name}`" for column in columns)
    found = spark.sql(f"SELECT {names} FROM (SELECT *, {made} FROM V) AS row").collect()
    return [{**row, **more.asDict()} for row, more in zip(rows, found, strict=True)]


def test_constants_of_the_select_list(spark: Any) -> None:
    rows = view(spark, VALUES, 1)
    check(spark, [one for constant in CONSTANTS for one in outputs(constant, rows)], 100)


def test_comparisons_of_constants(spark: Any) -> None:
    rows = view(spark, VALUES, 1)
    dice = random.Random(11)
    pairs = [(dice.choice(CONSTANTS), dice.choice(CONSTANTS)) for _ in range(1000 * MORE)]
    asked = [one for a, b in pairs for one in conditions(f"{a} {dice.choice(OPERATORS)} {b}", rows)]
    check(spark, asked, 150)


def test_random_conditions(spark: Any) -> None:
    rows = view(spark, VALUES, ROWS)
    dice = random.Random(12)
    asked = [one for _ in range(1000 * MORE) for one in conditions(random_condition(dice), rows)]
    check(spark, asked, 125)


def random_condition(dice: random.Random) -> str:
    column, constants = dice.choice(list(COLUMNS)), [constant(dice) for _ in range(dice.choice([2, 3]))]
    shape = dice.random()
    if shape < 0.4:
        return f"{column} {dice.choice(OPERATORS)} {constants[0]}"
    if shape < 0.5:
        return f"{constants[0]} {dice.choice(OPERATORS)} {column}"
    if shape < 0.6:
        return f"{column} BETWEEN {constants[0]} AND {constants[1]}"
    if shape < 0.65:
        return f"{column} NOT IN ({', '.join(constants)})"
    return f"{column} IN ({', '.join(constants)})"


def constant(dice: random.Random) -> str:
    return dice.choice([dice.choice(CONSTANTS), random_constant(dice)])


def test_random_sums(spark: Any) -> None:
    rows = view(spark, {name: [MILD[name]] if name in MILD else [] for name in COLUMNS}, 1)
    dice = random.Random(13)
    asked = [one for _ in range(1000 * MORE) for one in conditions(random_sum(dice), rows, sums=True)]
    check(spark, asked, 50)


def random_sum(dice: random.Random) -> str:
    column, other = dice.choice(list(MILD)), dice.choice(list(MILD))
    parts = [dice.choice(["1", "0.5", "1.5D", "2L", "0.25F", "3", "'1'", *INTERVALS, constant(dice)]) for _ in range(2)]
    sum_ = f"{column} {dice.choice('+-')} {dice.choice([parts[0], parts[0], other])}"
    return f"{sum_} {dice.choice(OPERATORS)} {dice.choice([parts[1], other, constant(dice)])}"
