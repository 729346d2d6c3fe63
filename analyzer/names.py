"""What names may be: those of statements are directories of jobs, those of streams and relations are files of rows."""

from __future__ import annotations

import re
import unicodedata

LETTERS = "letters, digits, _ and -"
_NAME = re.compile(r"[\w-]+")
_OTHER = re.compile(r"[^\w-]+")
_UNFIT = re.compile(r"[/\\\x00-\x1f\x7f]|^\.|[. ]$")


def is_name(text: str) -> bool:
    """Whether a text may be a statement's name: one word of letters, digits, ``_`` and ``-``."""
    return _NAME.fullmatch(text) is not None


def as_name(text: str) -> str:
    """A name that is like a text.

    >>> as_name("../../daily report"), as_name("?")
    ('daily_report', 'late_payments')
    """
    return _OTHER.sub("_", text).strip("_") or "late_payments"


def is_file_name(text: str) -> bool:
    """Whether a text names a file in every directory: it leads nowhere else, and no system changes it."""
    return bool(text) and _UNFIT.search(text) is None


def as_directory(text: str) -> str | None:
    """The directory that a statement's name stands for; None where it stands for none.

    >>> as_directory("q:1"), as_directory("db.orders"), as_directory("../evil")
    ('q-1', 'db-orders', None)
    """
    found = re.sub("[.:]", "-", text)
    return found if is_name(found) else None


def alike(text: str) -> str:
    """The same for all names that some file system takes for one: those that differ by case or in their encoding."""
    return unicodedata.normalize("NFKC", text).casefold()
