"""Patterns of DATE_FORMAT whose texts are buckets of time: they are in the order of their times."""

from __future__ import annotations

import re
from itertools import groupby

_FIELDS = (("yyyy", "year"), ("MM", "month"), ("dd", "day"), ("HH", "hour"), ("mm", "minute"), ("ss", "second"))
"""The fields of texts that are buckets of time, each with the period that it tells apart after those before it."""
_BESIDE_FIELDS = re.compile(r"'[^\d']+'|[^A-Za-z\d'\[\]{}#]")
"""What may separate fields: a quoted word without digits, or a character that stands for itself."""


def unit_of_pattern(pattern: str) -> str | None:
    """The period of the calendar that a text of DATE_FORMAT stands for; None where it is a text like any other.

    The year comes first, in four digits, then smaller units in two, none left out. Times are of the years 1 to 9999, so
    that all texts of a pattern are equally long, with digits at the same places: they are in the order of their times.

    >>> [unit_of_pattern(pattern) for pattern in ("yyyy-MM-dd", "yyyy1MM", "yyyy-M-M", "yyyydd")]
    ['day', None, None, None]
    """
    fields = tuple(_BESIDE_FIELDS.sub(" ", pattern).split())
    runs = tuple("".join(run) for field in fields for _, run in groupby(field))
    known = {tuple(field for field, _ in _FIELDS[:n]): unit for n, (_, unit) in enumerate(_FIELDS, 1)}
    return known.get(runs) if pattern.startswith("yyyy") else None
