"""Why rows are quarantined, each reason with its code for programs and its words for people."""

from __future__ import annotations

import re

from streambound_runtime.spec import Derived, TableColumn

REASONS = (
    ("no-value", "the record has no value"),
    ("too-long", "longer than 16 MiB"),
    ("not-utf8", "not UTF-8"),
    ("not-json", "not a JSON object"),
    ("not-a-change", "not a change of a row, as {per} has it"),
    ("not-columns", "not a row of the declared columns"),
    ("missing-column", "{column} is missing"),
    ("wrong-type", "{column} is not {kind}"),
    ("out-of-range", "{column} is out of the range of {kind}"),
    ("text-not-utf8", "{column} is not UTF-8"),
    ("no-timestamp", "{column}, the timestamp, is NULL"),
    ("negative-timestamp", "{column} is before 0, where time starts"),
    ("outside-years", "{column} is outside the years 1 to 9999"),
    ("not-a-number", "{column} is NaN"),
    ("beyond-length", "{column} is longer than a {kind}"),
    ("outside-domain", "{column} is outside its domain"),
    ("unknown-partition", "{column} is none of the declared partitions"),
    ("expression", "{expression} cannot be computed: {why}"),
    ("late", "late: its timestamp is closed already"),
    ("beyond-lateness", "late: by more than the lateness"),
    ("after-punctuation", "late: a punctuation has ended its timestamp"),
    ("after-idle", "late: its stream was idle for longer than idle_after"),
    ("null-bound", "{column}, a bound of the period, is NULL"),
    ("empty-period", "the period ends before it begins, or where it does"),
    ("contract", "the period breaks {per}"),
    ("probability", "the probability is not above 0 and up to 1"),
    ("key", "the key is NULL, or that of another row, too"),
    ("overlapping-fact", "another row of the same fact is valid at a common time"),
    ("max-per-timestamp", "more than max_per_timestamp = {most} rows"),
    ("absent-row", "a delete of a row that is not there"),
    ("ambiguous-change", "several inserts of one key at one timestamp, which have no order"),
    ("repeated-key", "a second row of a key that has one row"),
    ("not-unique", "a second row of a key that comes once: {per}"),
    ("max-rate", "more than max_rate = {most} rows per {per}"),
)
"""All of them: the code, and the words with what a row's are about. What is late is told by who knows the promises."""
_WORDS = dict(REASONS)


def detail(
    reason: str, column: TableColumn | Derived | None = None, most: int = 0, per: str = "", why: str = ""
) -> str:
    """The words of a reason.

    >>> detail("wrong-type", TableColumn("n", "int")), detail("max-per-timestamp", most=3)
    ('n is not an int', 'more than max_per_timestamp = 3 rows')
    """
    name, kind = (column.name, column.type) if column is not None else ("", "")
    expression = computed_in_words(column) if isinstance(column, Derived) else ""
    kind = a_type(kind) if reason == "wrong-type" else kind
    return _WORDS[reason].format(column=name, kind=kind, most=most, per=per, expression=expression, why=why)


def computed_in_words(column: Derived) -> str:
    """A computed expression in words; calls of the user's own functions as they were written."""
    return shown(column.name if "`(" in column.expression else column.expression)


def a_type(kind: str) -> str:
    """A type with its article.

    >>> a_type("int"), a_type("string")
    ('an int', 'a string')
    """
    return f"{'an' if kind[:1] in [*'aeiou'] else 'a'} {kind}"


def shown(expression: str) -> str:
    """An expression with quotes around those names only that need them.

    >>> shown("`a` / `the b`")
    'a / `the b`'
    """
    return re.sub(r"`([A-Za-z_]\w*)`", r"\1", expression)


AFTER_KEY = "a punctuation has ended its key"
"""What is said of a row that is not late, but after the punctuation of its key."""
AGAIN = detail("repeated-key")
"""What is said of another row of a key of which the catalog promises one."""
LATE = frozenset(map(detail, ("late", "beyond-lateness", "after-punctuation", "after-idle")))
"""What is said of rows whose timestamps are closed."""
