"""Why a row is quarantined, in words: what the generated job and a replay without Spark both say."""

from __future__ import annotations

from analyzer.catalog import Column
from analyzer.values import parse_date, parse_timestamp

NOT_UTF8 = "not UTF-8"
TINY = ("tinyint", "byte")
NOT_JSON = "not a JSON object"
FIRST_DAY, LAST_DAY = parse_date("0001-01-01"), parse_date("9999-12-31")
FIRST_MOMENT, LAST_MOMENT = parse_timestamp("0001-01-01"), parse_timestamp("9999-12-31 23:59:59.999999")
"""What Python and Spark's text formats can hold, encoded."""


def missing(column: Column) -> str:
    """The row does not have the column (a NULL is there)."""
    return f"{column.name} is missing"


def not_of_type(column: Column) -> str:
    """The value cannot be read as the column's type."""
    kind = column.type.name
    return f"{column.name} is not {'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def out_of_range(column: Column) -> str:
    """The value has more bits than the type."""
    return f"{column.name} is out of the range of {column.type.name}"


def without_time(column: Column) -> str:
    """The application time is not known."""
    return f"{column.name}, the timestamp, is NULL"


def too_early(column: Column) -> str:
    """An integer timestamp is negative."""
    return f"{column.name} is before 0, where time starts"


def outside_years(column: Column) -> str:
    """A date or timestamp could not be written."""
    return f"{column.name} is outside the years 1 to 9999"


def not_a_number(column: Column) -> str:
    """NaN compares with nothing."""
    return f"{column.name} is NaN"


def not_utf8(column: Column) -> str:
    """A text of a binary format holds bytes that are no text."""
    return f"{column.name} is {NOT_UTF8}"


def outside_domain(column: Column) -> str:
    """The catalog declares other values."""
    return f"{column.name} is outside its domain"


def no_partition(column: Column) -> str:
    """The catalog declares other partitions."""
    return f"{column.name} is none of the declared partitions"


def too_many_rows(relation: str, rows: int, most: int) -> str:
    """A relation breaks the catalog's `rows`."""
    return f"relation {relation} has {rows} rows, more than the catalog's rows = {most}"


def too_many_at_once(most: int) -> str:
    """A stream breaks the catalog's `max_per_timestamp`."""
    return f"more than max_per_timestamp = {most} rows"
