"""Diagnostics as values: what was found, where, why, and what would help."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from msgspec import Struct

from streambound.analyzer.codes import Code, Severity
from streambound.analyzer.edits import Edit, Hunk
from streambound.analyzer.spans import Excerpt, Span

ORDER = (Severity.NOTE, Severity.WARNING, Severity.ERROR)


class Related(Struct, frozen=True):
    """A second place that explains a diagnostic, such as a declaration in the catalog.

    ``text`` is the span's first line, where the place is in another file than the diagnostic.
    """

    file: str
    span: Span
    message: str
    text: str = ""

    @classmethod
    def at(cls, place: Excerpt, message: str) -> Related:
        """A place in another file."""
        return cls(place.file, place.span, message, place.text)

    @property
    def line(self) -> int:
        """The 1-based line on which it starts."""
        return self.span.line


class FixKind(StrEnum):
    """The effects of a fix on results, the least change first.

    ``SAFE``: no input that fits the catalog gives another result. ``CONTRACT``: nor does one that keeps what the
    catalog then promises, too; the input must, or rows are quarantined, or the job stops.
    """

    SAFE = "safe"
    CONTRACT = "contract"
    CHANGES_RESULTS = "changes-results"

    @property
    def words(self) -> str:
        """As reports say it."""
        return "a contract of the input" if self is FixKind.CONTRACT else self.value.replace("-", " ")


class Fix(Struct, frozen=True):
    """A change that would help, and what it does to results (``kind``); ``sql`` is the changed statement.

    ``changes`` names the kinds of change it is made of; ``edits`` are those of the SQL file and of the catalog,
    ``hunks`` the lines they change; ``note`` says what the change means, and which of its numbers are an example.
    """

    title: str
    kind: FixKind
    sql: str
    changes: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    note: str = ""

    @property
    def remarks(self) -> str:
        """Its effect on results, and its note, as one text."""
        return "; ".join(filter(None, (self.kind.words, self.note)))


class Repairs(Struct, frozen=True):
    """The repairs of one statement, the best first; ``why_none`` says why there is none.

    ``cut_short`` says why the search ended before as many were found as are shown at most; empty where it did not.
    """

    fixes: tuple[Fix, ...] = ()
    why_none: str = ""
    cut_short: str = ""


class Suppression(Struct, frozen=True):
    """Why a finding does not count: ``kind`` is ``comment`` for one beside the SQL, ``baseline`` for a recorded one.

    ``until`` is the last day on which it holds; None where it has no end. ``where`` is ``file:line:column`` of what
    says so.
    """

    kind: str
    reason: str = ""
    until: date | None = None
    where: str = ""


class Diagnostic(Struct, frozen=True):
    """One finding at one place.

    A finding with a ``suppression`` is still reported, and fails no check.
    """

    code: Code
    message: str
    file: str
    span: Span
    help: str = ""
    condition: str = ""
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    suppression: Suppression | None = None
    level: Severity | None = None

    @property
    def severity(self) -> Severity:
        """The code's severity, unless the catalog sets another one."""
        return self.level or self.code.severity
