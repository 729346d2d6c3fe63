"""Why a row of a stream or relation is quarantined: what the generated job and a replay without Spark both say."""

from __future__ import annotations

from streambound.analyzer.calendar_text import parse_date, parse_timestamp
from streambound.analyzer.catalog import Column
from streambound.synopsis_exec.job.reasons import reason_text

NOT_UTF8 = reason_text("not-utf8")
NOT_JSON = reason_text("not-json")
TINY = ("tinyint", "byte")
FIRST_DAY, LAST_DAY = parse_date("0001-01-01"), parse_date("9999-12-31")
FIRST_MOMENT, LAST_MOMENT = parse_timestamp("0001-01-01"), parse_timestamp("9999-12-31 23:59:59.999999")
"""What Python and Spark's text formats can hold, encoded."""


def missing(column: Column) -> str:
    """The row does not have the column (a NULL is there)."""
    return reason_text("missing-column", column=column.name)


def not_of_type(column: Column) -> str:
    """The value cannot be read as the column's type."""
    kind = column.type.name
    return reason_text("wrong-type", column=column.name, kind=f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}")


def out_of_range(column: Column) -> str:
    """The value has more bits than the type."""
    return reason_text("out-of-range", column=column.name, kind=column.type.name)


def without_time(column: Column) -> str:
    """The application time is not known."""
    return reason_text("no-timestamp", column=column.name)


def too_early(column: Column) -> str:
    """An integer timestamp is negative."""
    return reason_text("negative-timestamp", column=column.name)


def outside_years(column: Column) -> str:
    """A date or timestamp could not be written."""
    return reason_text("outside-years", column=column.name)


def not_a_number(column: Column) -> str:
    """NaN compares with nothing."""
    return reason_text("not-a-number", column=column.name)


def not_utf8(column: Column) -> str:
    """A text of a binary format holds bytes that are no text."""
    return reason_text("text-not-utf8", column=column.name)


def outside_domain(column: Column) -> str:
    """The catalog declares other values."""
    return reason_text("outside-domain", column=column.name)


def no_partition(column: Column) -> str:
    """The catalog declares other partitions."""
    return reason_text("unknown-partition", column=column.name)


def too_many_rows(relation: str, rows: int, most: int) -> str:
    """A relation breaks the catalog's `rows`."""
    return f"relation {relation} has {rows} rows, more than the catalog's rows = {most}"


def too_many_at_once(most: int) -> str:
    """A stream breaks the catalog's `max_per_timestamp`."""
    return reason_text("max-per-timestamp", most=most)
