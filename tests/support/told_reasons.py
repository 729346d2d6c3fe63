"""Why a row is quarantined, as its code and its words: what the decoder's reasons are compared with."""

from __future__ import annotations

from streambound.analyzer.calendar_text import parse_date, parse_timestamp

FIRST_DAY, LAST_DAY = parse_date("0001-01-01"), parse_date("9999-12-31")
FIRST_MOMENT, LAST_MOMENT = parse_timestamp("0001-01-01"), parse_timestamp("9999-12-31 23:59:59.999999")
"""What Python and Spark's text formats can hold, encoded."""
NO_VALUE = "no-value: the record has no value"
NOT_UTF8 = "not-utf8: not UTF-8"
NOT_JSON = "not-json: not a JSON object"
NOT_COLUMNS = "not-columns: not a row of the declared columns"


def missing(column: str, kind: str) -> str:
    """The row does not have the column (a NULL is there)."""
    return f"missing-column: {column} is missing"


def not_of_type(column: str, kind: str) -> str:
    """The value cannot be read as the column's type."""
    return f"wrong-type: {column} is not {'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def out_of_range(column: str, kind: str) -> str:
    """The value has more bits than the type."""
    return f"out-of-range: {column} is out of the range of {kind}"


def not_utf8(column: str, kind: str) -> str:
    """A text of a binary format holds bytes that are no text."""
    return f"text-not-utf8: {column} is not UTF-8"


def without_time(column: str, kind: str) -> str:
    """The application time is not known."""
    return f"no-timestamp: {column}, the timestamp, is NULL"


def too_early(column: str, kind: str) -> str:
    """An integer timestamp is negative."""
    return f"negative-timestamp: {column} is before 0, where time starts"


def outside_years(column: str, kind: str) -> str:
    """A date or timestamp could not be written."""
    return f"outside-years: {column} is outside the years 1 to 9999"


def not_a_number(column: str, kind: str) -> str:
    """NaN compares with nothing."""
    return f"not-a-number: {column} is NaN"


def beyond_length(column: str, kind: str) -> str:
    """A text is longer than its type says."""
    return f"beyond-length: {column} is longer than a {kind}"


def outside_domain(column: str, kind: str) -> str:
    """The catalog declares other values."""
    return f"outside-domain: {column} is outside its domain"


def no_partition(column: str, kind: str) -> str:
    """The catalog declares other partitions."""
    return f"unknown-partition: {column} is none of the declared partitions"
