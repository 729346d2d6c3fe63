"""Expressions in DuckDB's SQL over Arrow tables, computed in this process.

What the expressions are was decided at compile time: those that DuckDB computes as Spark does (`Derived.engine`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from inspect import Parameter, Signature
from typing import TYPE_CHECKING

from streambound_runtime.database import instance
from streambound_runtime.decoding.sql_types import SqlType, sql_type

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

_ROWS = "streambound rows"
"""What the rows are called: DuckDB finds other tables and Python's variables by name, and none has this one."""
_NUMBER = "streambound number"
_NOT_EXACT = "expression_rewriter, common_subexpressions, statistics_propagation, filter_pullup, filter_pushdown"
"""Of DuckDB's optimizers those that may move an expression, or leave one out that raises an error."""
_NAMED = re.compile(r"['\"]([A-Z][A-Z_]+_[A-Z_]+)['\"]")
_ERRORS = (
    ("More than one row returned by a subquery", "SCALAR_SUBQUERY_TOO_MANY_ROWS", ""),
    ("Type INT128", "ARITHMETIC_OVERFLOW", "try_sum"),
    ("Overflow in addition", "ARITHMETIC_OVERFLOW", "try_add"),
    ("Overflow in subtraction", "ARITHMETIC_OVERFLOW", "try_subtract"),
    ("Overflow in multiplication", "ARITHMETIC_OVERFLOW", "try_multiply"),
    ("Overflow", "ARITHMETIC_OVERFLOW", ""),
    ("NEEDS_SPARK", "", ""),
    ("DIVIDE_BY_ZERO", "", "try_divide"),
    ("REMAINDER_BY_ZERO", "", "try_mod"),
    ("CAST_INVALID_INPUT", "", "try_cast"),
    ("out of range", "CAST_OVERFLOW", "try_cast"),
    ("Could not convert", "CAST_INVALID_INPUT", "try_cast"),
)
"""What DuckDB's messages say, Spark's name for that, and the function that gives NULL instead."""


_OF_PYTHON = "Python exception occurred while executing the UDF: "

NEEDS_SPARK = "NEEDS_SPARK"
"""The error of an expression that DuckDB does not compute as Spark of some values, such as capitals of rare letters."""


class Raises(Exception):
    """An expression raised an error; ``place`` is its index in the list, ``words`` the message."""

    def __init__(self, place: int, words: str) -> None:
        super().__init__(words)
        self.place, self.words = place, words


def without_value(what: str, error: Raises) -> str:
    """Why there is no value of something, in words."""
    if NEEDS_SPARK in error.words:
        return f"{what} is computed by Spark only: run the job on Spark"
    return f"{what} cannot be computed: {error.words}"


def _database() -> DuckDBPyConnection:
    return instance("expressions are computed", _NOT_EXACT, memory_limit="1GB")


PlainValue = bool | int | float | str | date | None
"""What a function of the user's gives."""


def with_function(name: str, function: Callable[..., PlainValue], arguments: Sequence[str], result: str) -> None:
    """Let expressions call a function, instead of one of its name."""
    import duckdb
    from duckdb.func import SPECIAL

    database = _database()
    *given, kind = (database.type(_of_function(one)) for one in (*arguments, result))
    with suppress(duckdb.InvalidInputException):
        database.remove_function(name)

    def called(*values: object) -> PlainValue:
        return function(*values)

    each = [Parameter(f"a{place}", Parameter.POSITIONAL_ONLY) for place in range(len(given))]
    called.__signature__ = Signature(each)  # type: ignore[attr-defined]  # DuckDB reads how many there are
    database.create_function(name, called, [*given], kind, null_handling=SPECIAL)


def _of_function(kind: str) -> str:
    """A type of a function's argument or result in DuckDB."""
    known = sql_type(kind)
    whole = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}
    other = {"boolean": "BOOLEAN", "float": "DOUBLE", "date": "DATE", "string": "VARCHAR"}
    return whole[known.bits] if known.family == "integer" else other[known.family]


def query(sql: str, **tables: pa.Table) -> pa.Table:
    """A query over tables by their names, in which the rows of another query have no place."""
    cursor = _database().cursor()
    try:
        for name, table in tables.items():
            cursor.register(name, table)
        return cursor.sql(sql).to_arrow_table()
    finally:
        cursor.close()


def computed(rows: pa.Table, expressions: Sequence[str], kinds: Sequence[str]) -> list[pa.Array]:
    """The values of expressions over rows, of types by their names in Spark; raises `Raises` where one has none."""
    import duckdb

    given = without_zones(rows)
    try:
        return _values(_selected(given, expressions), kinds) if expressions else []
    except duckdb.Error as error:
        for place, text in enumerate(expressions):
            if words := _error_of(given, text):
                raise Raises(place, words) from error
        raise


def tried(rows: pa.Table, expressions: Sequence[str], kinds: Sequence[str]) -> tuple[list[pa.Array], list[pa.Array]]:
    """As `computed`, with NULL where an expression raises an error, and which rows these are."""
    given = without_zones(rows)
    values = _values(_selected(given, [f"TRY({text})" for text in expressions]), kinds)
    raising = _selected(given, [f"TRY(({text}) IS NULL) IS NULL" for text in expressions])
    return values, [column.combine_chunks() for column in raising.columns]


def with_subqueries(
    rows: pa.Table, called: str, subqueries: Sequence[tuple[str, str]], relations: Mapping[str, pa.Table]
) -> pa.Table:
    """Rows with a column more for each subquery, by its name: what it says of the row, which is ``called`` so there.

    Raises `Raises` where it has no value.
    """
    import pyarrow as pa

    if not subqueries:
        return rows
    given = without_zones(rows)
    numbered = given.append_column(_NUMBER, pa.array(range(rows.num_rows), pa.int64()))
    values = ", ".join(f'{text} AS "{name}"' for name, text in subqueries)
    text = f'SELECT {values} FROM "{_ROWS}" AS "{called}" ORDER BY "{called}"."{_NUMBER}"'
    found = _queried(text, {_ROWS: numbered, **relations})
    for (name, _), column in zip(subqueries, found.columns, strict=True):
        given = given.append_column(name, column)
    return given


def selected(sql: str, kinds: Sequence[str], relations: Mapping[str, pa.Table]) -> pa.Table:
    """The rows of a query over relations, of types by their names in Spark; raises `Raises` where one has no value."""
    import pyarrow as pa

    found = _queried(sql, relations)
    return pa.table(_values(found, kinds), names=found.column_names)


def _queried(sql: str, tables: Mapping[str, pa.Table]) -> pa.Table:
    import duckdb

    try:
        return query(sql, **tables)
    except duckdb.Error as error:
        raise Raises(0, in_words(error)) from error


def error_of(rows: pa.Table, expression: str) -> str:
    """The error that an expression raises of some of the rows, in words; empty where it raises none."""
    return _error_of(without_zones(rows), expression)


def of_any_row(expressions: Iterable[str]) -> bool:
    """Whether DuckDB computes all expressions as Spark does, of whatever row; an empty one it does not compute."""
    return all(text and NEEDS_SPARK not in text for text in expressions)


def needs_spark(rows: pa.Table, expression: str) -> bool:
    """Whether it is `NEEDS_SPARK` that an expression raises of some row; it raises an error of each of these rows."""
    if NEEDS_SPARK not in expression:
        return False
    return any(NEEDS_SPARK in error_of(rows.slice(place, 1), expression) for place in range(rows.num_rows))


def _error_of(rows: pa.Table, expression: str) -> str:
    import duckdb

    try:
        _selected(rows, [expression])
    except duckdb.Error as error:
        return in_words(error)
    return ""


def _selected(rows: pa.Table, expressions: Sequence[str]) -> pa.Table:
    """The values of expressions, of which each has a name that no column has."""
    shown = ", ".join(f'{text} AS "streambound {place}"' for place, text in enumerate(expressions))
    return query(f'SELECT {shown} FROM "{_ROWS}"', **{_ROWS: rows})


def _values(found: pa.Table, kinds: Sequence[str]) -> list[pa.Array]:
    return [_typed(one.combine_chunks(), sql_type(kind)) for one, kind in zip(found.columns, kinds, strict=True)]


def without_zones(rows: pa.Table) -> pa.Table:
    """Rows whose moments are told in UTC, as DuckDB computes with them."""
    import pyarrow as pa

    moment = pa.timestamp("us")
    fields = [field.with_type(moment) if pa.types.is_timestamp(field.type) else field for field in rows.schema]
    return rows.cast(pa.schema(fields))


def _typed(values: pa.Array, kind: SqlType) -> pa.Array:
    """DuckDB's values with the type that they have in Spark's tables."""
    import pyarrow as pa

    if kind.family == "other":
        return pa.nulls(len(values), pa.string())
    return values.cast(kind.arrow)


def in_words(error: Exception) -> str:
    """An error by Spark's name for it, and the function that returns NULL instead, where there is one."""
    text = str(error)
    named = _NAMED.search(text)
    for words, name, other in _ERRORS:
        if words in text:
            told = named[1] if named else name
            return f"it raises {told}" + (f", and {other} gives NULL instead" if other else "")
    first = text.splitlines()[0].removesuffix("!").rpartition(_OF_PYTHON)[2]
    return f"it raises {first}"
