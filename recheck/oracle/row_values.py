"""The values of expressions that our interpreter does not know, by DuckDB: candidates for the rows of a witness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

from sqlglot import exp

from streambound.analyzer.columns import Column
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.function import NotKnown
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value, encode_number, encode_text, to_json
from streambound.recheck.oracle.batch_sql import duckdb_type, open_database, quoted
from streambound.recheck.oracle.duckdb_text import duckdb_text


class RowValues:
    """Evaluates derived columns of single rows, each value once; raises UsageError where DuckDB is not installed."""

    def __init__(self) -> None:
        self._database = open_database()
        self._known: dict[tuple[object, ...], Value | NotKnown | None] = {}

    def __call__(self, column: Column, read: Sequence[Column], row: Mapping[str, Value | None]) -> Value | None:
        """The value of a column in a row, by the columns that it reads; raises NotKnown where DuckDB has none."""
        given = [to_json(row[one.name], one.type) for one in read]
        key = (column.expression, column.type, *((one.name, one.type) for one in read), *given)
        if key not in self._known:
            self._known[key] = self._value(column, read, given)
        found = self._known[key]
        if isinstance(found, NotKnown):
            raise found
        return found

    def _value(self, column: Column, read: Sequence[Column], given: list[object]) -> Value | NotKnown | None:
        import duckdb

        shown = duckdb_text(exp.select(parsed(column.expression).copy()))
        names = [f"CAST(? AS {duckdb_type(one.type.name)}) AS {quoted(one.name)}" for one in read]
        source = f" FROM (SELECT {', '.join(names)}) AS one_row" if names else ""
        try:
            (value,) = self._database.execute(shown + source, given).fetchall()[0]
            return None if value is None else _encoded(value, column.type)
        except (duckdb.Error, ValueError) as error:
            return NotKnown(str(error))

    def close(self) -> None:
        """Drop the database."""
        self._database.close()


def _encoded(value: object, kind: DataType) -> Value:
    """A value that DuckDB gives as one of a type; raises ValueError where it is none."""
    match value:
        case bool():
            return int(value)
        case int() | float() | Decimal():
            number = encode_number(Fraction(value), kind)
            return number if kind.family is Family.FLOAT else _whole(number)
        case str():
            return encode_text(value, kind)
        case date() | datetime():
            return encode_text(str(value), kind)
    raise ValueError(f"{value!r} is no {kind.name}")


def _whole(number: Value) -> Value:
    if not isinstance(number, Fraction) or number.denominator != 1:
        raise ValueError(f"{number} is not in units of its type")
    return int(number)
