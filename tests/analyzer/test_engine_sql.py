"""Expressions in DuckDB's SQL, without Spark: their texts, what is refused and with which words, and the documents."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streambound.analyzer.constants import kind_of
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.engine_functions import (
    ARITHMETIC,
    CASTS,
    CHOICES,
    CONDITIONS,
    NOT_EXACT,
    REWRITINGS,
    TEXTS,
    TIMES,
)
from streambound.analyzer.expressions.engine_sql import NotInEngine, engine_sql
from streambound.analyzer.expressions.expression import value_of
from streambound.analyzer.expressions.function import Fails, NotKnown
from streambound.analyzer.expressions.reading import read
from streambound.analyzer.expressions.registry import BY_NAME
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.decoding.typed_columns import TypedColumn
from streambound_runtime.expressions import tried
from streambound_runtime.spec import TableColumn
from support.engine_expressions import COLUMNS, random_expressions, rows
from support.profiles import MORE

KINDS = {name: kind_of(kind) for name, kind in {**COLUMNS, 'odd `"name': "bigint", "ar": "array<int>"}.items()}
DOCUMENT = Path(__file__).parents[2] / "docs" / "expressions.md"


def engine(text: str, kind: str) -> str:
    found = engine_sql(text, KINDS, kind_of(kind))
    assert isinstance(found, str), found
    return found


def refused(text: str, kind: str = "bigint") -> str:
    found = engine_sql(text, KINDS, kind_of(kind))
    assert isinstance(found, NotInEngine), found
    return found.words


@pytest.mark.parametrize(
    ("text", "kind", "sql"),
    [
        ("CASE WHEN NOT (l) IS NULL THEN 1 ELSE 0 END", "int", 'CASE WHEN NOT ("l" IS NULL) THEN 1 ELSE 0 END'),
        ("l + 1", "bigint", '"l" + 1'),
        ("t + i", "int", 'CAST("t" AS INT) + "i"'),
        ("1 + 2", "int", "3"),
        ("`odd ``\"name` + 1", "bigint", '"odd `""name" + 1'),
        ("0.908 * d", "decimal(13,5)", "CAST(CAST('0.908' AS DECIMAL(3, 3)) * \"d\" AS DECIMAL(13, 5))"),
        ("l % 7", "bigint", '"l" % 7'),
        ("i / 4", "double", 'CAST("i" AS DOUBLE) / 4'),
        ("CAST(d AS INT)", "int", 'CAST(TRUNC("d") AS INT)'),
        ("ts - INTERVAL 5 MINUTES", "timestamp", '"ts" - TO_MICROSECONDS(300000000)'),
        ("ts > '2024-01-01'", "boolean", "\"ts\" > CAST('2024-01-01 00:00:00' AS TIMESTAMP)"),
        ("da BETWEEN DATE '2024-01-01' AND db", "boolean",
         '("da" >= CAST(\'2024-01-01\' AS DATE)) AND ("da" <= "db")'),
        ("c LIKE 'a\\\\_%'", "boolean", "\"c\" LIKE 'a\\_%' ESCAPE '\\'"),
        ("c || 'it''s' || i", "string", "(\"c\" || 'it''s') || CAST(\"i\" AS TEXT)"),
        ("date_format(ts, 'yyyy-MM-dd')", "string", "STRFTIME(\"ts\", '%Y-%m-%d')"),
        ("coalesce(l, 0)", "bigint", 'COALESCE("l", 0)'),
        ("coalesce(t, 10 DIV i)", "bigint",
         'CASE WHEN NOT CAST("t" AS BIGINT) IS NULL THEN CAST("t" AS BIGINT) ELSE CASE WHEN CAST("i" AS BIGINT) = 0 '
         "AND NOT 10 IS NULL THEN CAST('DIVIDE_BY_ZERO' AS BIGINT) WHEN CAST(\"i\" AS BIGINT) <> 0 "
         'THEN 10 // CAST("i" AS BIGINT) END END'),
        ("b OR l + 1 > 0", "boolean",
         'CASE WHEN "b" THEN TRUE ELSE "b" OR (("l" + 1) > 0) END'),
        ("regexp_extract(c, '(a.b)$', 1)", "string",
         "REGEXP_EXTRACT(\"c\", '(a[^\\n\\r\\x{85}\\x{2028}\\x{2029}]b)(?:\\r\\n|"
         "[\\n\\r\\x{85}\\x{2028}\\x{2029}])?\\z', 1)"),
        ("NULL", "bigint", "CAST(NULL AS BIGINT)"),
        ("-9223372036854775808L", "bigint", "-9223372036854775808"),
    ],
)  # fmt: skip
def test_an_expression_has_a_text_for_duckdb(text: str, kind: str, sql: str) -> None:
    assert engine(text, kind) == sql


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sin(x)", "sin: it is not among the functions that were compared with Spark's"),
        ("round(x, 1)", "round: Spark rounds the digits that Java shows of a double: cast it to a decimal first"),
        ("reverse(c)", "reverse: DuckDB keeps letters and their accents together"),
        ("d / 3", "/ of decimal(9,2), int: it was not compared with Spark's for these types, or for constants only"),
        ("h * h * g", "* of decimal(38,0), decimal(20,10): it was not compared with Spark's for these types, "
                      "or for constants only"),
        ("CAST(c AS DOUBLE)", "a cast of string to double for CAST: it was not compared with Spark's"),
        ("CAST(x AS STRING)", "a cast of double to string for CAST: it was not compared with Spark's"),
        ("CAST(c AS DATE)", "a cast of string to date for CAST: it was not compared with Spark's"),
        ("c > 3", "> of string and int: cast one side to the type of the other"),
        ("c LIKE e", "like of string, string: it was not compared with Spark's for these types, "
                     "or for constants only"),
        ("c RLIKE '\\\\bx'", "rlike of string, string: it was not compared with Spark's for these types, "
                             "or for constants only"),
        ("regexp_extract(c, '(a)', 2)", "regexp_extract of string, string, int: it was not compared with Spark's for "
                                        "these types, or for constants only"),
        ("size(ar)", "the column ar: DuckDB is given no array<int>"),
        ("EXISTS (SELECT 1 FROM R WHERE R.k = _row.l)", "a subquery: it is not among the functions that were compared "
                                                        "with Spark's"),
        ("CAST(ts + INTERVAL 1 DAY AS STRING)", "a computed time as a text: texts of times beyond the years 1 to 9999 "
                                                "differ"),
        ("rand()", "RAND(): rand gives another value whenever it is evaluated"),
        ("l +", "its syntax: "),
        ("CAST(300 AS TINYINT)", "cast of constants: write its value: 300 is out of range for a tinyint"),
        ("l + 1 DIV 0", "div of constants: write its value: division by zero"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_words(text: str, words: str) -> None:
    assert refused(text).startswith(words)


def test_arguments_that_are_written_twice_end_where_a_text_is_too_long() -> None:
    text = "l"
    for _ in range(30):
        text = f"(m DIV {text})"
    assert refused(text) == "its length: DuckDB's text of it is too long: split it"


def test_what_the_table_says_fits_the_registry() -> None:
    for entry in REWRITINGS:
        function = BY_NAME[entry.name]
        least, most = function.arguments
        assert len(entry.takes) <= most and (least <= len(entry.takes) or entry.takes[-1].endswith("*")), entry
        letters = [letter for place, letter in enumerate("abc") if place >= len(entry.takes)]
        assert not any(f"({letter}" in entry.sql for letter in letters), entry
    assert set(NOT_EXACT) <= set(BY_NAME)
    assert len({(cast.source, cast.target) for cast in CASTS}) == len(CASTS)


def table() -> str:
    groups = {"numbers": ARITHMETIC, "conditions": CONDITIONS, "choices": CHOICES, "texts": TEXTS, "times": TIMES}
    lines = []
    for group, entries in groups.items():
        names = dict.fromkeys(entry.name.upper() if entry.name.isascii() else entry.name for entry in entries)
        lines.append(f"| {group} | {', '.join(f'`{name}`'.replace('|', chr(92) + '|') for name in names)} |")
    for source in dict.fromkeys(cast.source for cast in CASTS):
        targets = dict.fromkeys(cast.target for cast in CASTS if cast.source == source)
        lines.append(f"| casts of {source} | to {', '.join(map(str, targets))} |")
    return "\n".join(lines)


def test_the_document_has_the_table() -> None:
    assert table() in DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.parametrize(("moment", "seconds"), [(1_500_000, 1), (-1_500_000, -1), (-86_399_999_999, -86_399)])
def test_parts_of_a_second_are_cut_off_towards_1970(moment: int, seconds: int) -> None:
    """As Spark does in `unix_timestamp`, and not in `unix_seconds`."""
    assert value_of(read(parsed("unix_timestamp(ts)"), KINDS), {"ts": Fraction(moment)}).value == seconds
    assert value_of(read(parsed("unix_seconds(ts)"), KINDS), {"ts": Fraction(moment)}).value == moment // 1_000_000


def plain(value: Any) -> Any:
    """A value of Arrow's as expressions have it."""
    match value:
        case bool() | int() | float() | Decimal():
            return Fraction(value) if math.isfinite(value) else None
        case datetime():
            return Fraction((value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))
        case date():
            return Fraction((value - date(1970, 1, 1)).days)
    return value


def test_duckdb_computes_what_is_known_of_sparks_values() -> None:
    """Of nested expressions, wherever a value is known without Spark (`value_of`), and of finite numbers."""
    given = rows(60, seed=3)
    for name in ("x", "y", "f"):
        given[name] = [None if value is None or not math.isfinite(value) else value + 0.0 for value in given[name]]
    table = pa.table({name: pa.array(given[name], sql_type(kind).arrow) for name, kind in COLUMNS.items()})
    data = [{name: plain(value) for name, value in row.items()} for row in table.to_pylist()]
    compared, wrong = 0, []
    for text, kind in random_expressions(75 * MORE, 11):
        expression = read(parsed(f"CAST({text} AS {kind})"), KINDS)
        (values,), (raising,) = tried(table, [engine(text, kind)], [kind])
        encoded, one = TypedColumn(values, TableColumn("v", kind)).values, 10 ** sql_type(kind).scale
        for row, value, raises in zip(data, encoded.to_pylist(), raising.to_pylist(), strict=True):
            try:
                known = value_of(expression, row).value
            except (Fails, NotKnown):
                continue
            compared += 1
            if raises or (known * one if isinstance(known, Fraction) else known) != value:
                wrong.append(f"{text} of {row}: {known}, but DuckDB says {value}, {raises}")
    assert wrong == []
    assert compared > 1500 * MORE
