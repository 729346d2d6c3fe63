"""Part of every job: why rows are quarantined, each reason with its code and its words."""

from __future__ import annotations

REASONS = (
    ("no-value", "the record has no value"),
    ("not-utf8", "not UTF-8"),
    ("not-json", "not a JSON object"),
    ("not-columns", "not a row of the declared columns"),
    ("missing-column", "{column} is missing"),
    ("wrong-type", "{column} is not {kind}"),
    ("out-of-range", "{column} is out of the range of {kind}"),
    ("text-not-utf8", "{column} is not UTF-8"),
    ("no-timestamp", "{column}, the timestamp, is NULL"),
    ("negative-timestamp", "{column} is before 0, where time starts"),
    ("outside-years", "{column} is outside the years 1 to 9999"),
    ("not-a-number", "{column} is NaN"),
    ("outside-domain", "{column} is outside its domain"),
    ("unknown-partition", "{column} is none of the declared partitions"),
    ("late", "late: its timestamp is closed already"),
    ("beyond-lateness", "late: by more than the lateness"),
    ("after-punctuation", "late: a punctuation has ended its timestamp"),
    ("after-idle", "late: its stream was idle for longer than idle_after"),
    ("max-per-timestamp", "more than max_per_timestamp = {most} rows"),
)
"""All of them: the code, and the words with what a row's are about."""
WORDS = dict(REASONS)


def reason_text(code: str, **about: object) -> str:
    """A reason as one text, which conditions in Spark SQL give.

    >>> reason_text("wrong-type", column="k", kind="an int")
    'wrong-type: k is not an int'
    """
    return f"{code}: {WORDS[code].format(**about)}"


def code_and_detail(reason: str) -> tuple[str, str]:
    """The code and the words of a reason.

    >>> code_and_detail("wrong-type: k: is not an int")
    ('wrong-type', 'k: is not an int')
    """
    code, _, detail = reason.partition(": ")
    return code, detail
