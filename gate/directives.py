"""Suppression comments: ``-- streambound: allow SB201 until=2027-01-31 reason="…"``, read and placed.

Whatever looks like one and cannot be read is a finding (SB411): a suppression is never silently ignored.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date

from msgspec import Struct

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.emission import is_emission
from streambound.analyzer.lexical import LexicalKind, Stretch, semicolons, stretches
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.toml_reader import suggest

ALLOW, ALLOW_FILE = "allow", "allow-file"
FORM = 'write -- streambound: allow SB201 until=2027-01-31 reason="…"; until= may be left out'

_COMMENTS = (LexicalKind.LINE_COMMENT, LexicalKind.BLOCK_COMMENT)
_OPENING = re.compile(r"(?:--|/\*)\s*streambound\s*:\s*", re.I)
_MEANT = re.compile(
    r"streambound\s*:\s*(?:allow|ignore|disable|suppress|noqa)\b|(?:--|/\*)\s*streambound\s+allow\b", re.I
)
_WORD = re.compile(r"[^\s,]+")
_SPACE = re.compile(r"[\s,]*")
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_OPTION = re.compile(r"([A-Za-z_-]+)\s*=\s*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class Allowed(Struct, frozen=True):
    """A code that a comment allows, and where."""

    code: Code
    span: Span


class Directive(Struct, frozen=True):
    """A suppression comment: what it allows, why, until which day (and where that stands), and if in the whole file."""

    comment: Span
    allowed: tuple[Allowed, ...]
    reason: str
    until: date | None = None
    until_span: Span | None = None
    whole_file: bool = False


class _MalformedError(Exception):
    """The fault of a comment, with its place."""

    def __init__(self, message: str, start: int, end: int, help: str = FORM) -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.help = message, start, end, help


def directives(source: SourceText) -> Iterator[Directive | Diagnostic]:
    """The suppression comments of a text, in order; for one that cannot be read its ``SB411`` diagnostic."""
    if "streambound" not in source.text.lower():
        return
    for comment in stretches(source.text):
        if comment.kind not in _COMMENTS:
            continue
        try:
            found = _directive(source, comment)
        except _MalformedError as wrong:
            yield Diagnostic(
                Code.MALFORMED_SUPPRESSION, wrong.message, source.file, source.span(wrong.start, wrong.end), wrong.help
            )
        else:
            if found is not None:
                yield found


def _directive(source: SourceText, comment: Stretch) -> Directive | None:
    """The suppression that a comment is; None where it is none."""
    text = source.text
    opening = _OPENING.match(text, comment.start, comment.end)
    if opening is None:
        if meant := _MEANT.search(text, comment.start, comment.end):
            message = "this looks like a suppression, and is none: its comment must start with streambound:"
            raise _MalformedError(message, *meant.span())
        return None
    if is_emission(text[comment.start : comment.end]):
        return None
    end = comment.end - 2 * (comment.kind is LexicalKind.BLOCK_COMMENT and comment.closed)
    end = opening.end() + len(text[opening.end() : end].rstrip())
    return _DirectiveReader(source, comment, opening.end(), end).directive()


class _DirectiveReader:
    """Reads what follows ``streambound:``, from left to right."""

    def __init__(self, source: SourceText, comment: Stretch, at: int, end: int) -> None:
        self.source, self.comment, self.at, self.end = source, comment, at, end

    def directive(self) -> Directive:
        """The suppression; raises _MalformedError for anything else."""
        whole_file = self._verb() == ALLOW_FILE
        allowed = tuple(self._codes())
        options = dict(self._options())
        span = self.source.span(self.comment.start, self.end)
        if not allowed:
            raise _MalformedError("this suppression names no code", span.start, span.end)
        if not options.get("reason", ("", 0, 0))[0].strip():
            where = options["reason"][1:] if "reason" in options else (span.start, span.end)
            raise _MalformedError("a suppression needs a reason", *where)
        reason = " ".join(options["reason"][0].split())
        comment = self.source.span(self.comment.start, self.comment.end)
        if "until" not in options:
            return Directive(comment, allowed, reason, whole_file=whole_file)
        until, at = self._date(*options["until"]), self.source.span(*options["until"][1:])
        return Directive(comment, allowed, reason, until, at, whole_file)

    def _verb(self) -> str:
        word = self._match(_WORD)
        verb = word.group().lower() if word else ""
        if verb not in (ALLOW, ALLOW_FILE):
            start, end = word.span() if word else (self.comment.start, self.end)
            raise _MalformedError(f"streambound: must be followed by {ALLOW} or {ALLOW_FILE}", start, end)
        return verb

    def _codes(self) -> Iterator[Allowed]:
        while not self._match(_OPTION, peek=True) and (word := self._match(_CODE)):
            yield Allowed(self._known(word), self.source.span(*word.span()))

    def _known(self, word: re.Match[str]) -> Code:
        """A code that exists and may be allowed."""
        code = Code.named(word.group().upper())
        if code is None:
            named = next((code for code in Code if code.slug == word.group().lower()), None)
            known = suggest(word.group().upper(), [other for other in Code if other.acceptable])
            help = f"write {named}" if named else known or "docs/codes lists the codes"
            raise _MalformedError(f"unknown code {word.group()}", *word.span(), help)
        if not code.acceptable:
            message = f"{code} ({code.slug}) cannot be allowed: what was not analysed does not pass"
            raise _MalformedError(message, *word.span(), "correct it; or remove the statement from what is checked")
        return code

    def _options(self) -> Iterator[tuple[str, tuple[str, int, int]]]:
        """Each option with its value and where that stands."""
        seen = set[str]()
        while self._skipped() < self.end:
            option = self._match(_OPTION)
            if option is None:
                raise _MalformedError("this is neither a code nor until= nor reason=", self.at, self.end)
            key = option.group(1).lower()
            if key not in ("reason", "until"):
                help = suggest(key, ("reason", "until")) or FORM
                raise _MalformedError(f"unknown option {option.group(1)}=", *option.span(1), help)
            if key in seen:
                raise _MalformedError(f"{key}= is there twice", *option.span(1))
            seen.add(key)
            yield key, self._quoted() if key == "reason" else self._bare()

    def _quoted(self) -> tuple[str, int, int]:
        value = self._match(_QUOTED)
        if value is None:
            raise _MalformedError('the reason stands in double quotes: reason="…"', self.at, max(self.end, self.at + 1))
        return re.sub(r"\\(.)", r"\1", value.group(1)), *value.span()

    def _bare(self) -> tuple[str, int, int]:
        value = self._match(_WORD)
        if value is None:
            raise _MalformedError("until= needs a day, as in until=2027-01-31", self.at - 1, self.at)
        return value.group().strip('"'), *value.span()

    def _date(self, text: str, start: int, end: int) -> date:
        try:
            if _DATE.fullmatch(text):
                return date.fromisoformat(text)
        except ValueError:
            pass
        raise _MalformedError(f"{text} is not a day", start, end, "write year-month-day, as in until=2027-01-31")

    def _match(self, pattern: re.Pattern[str], peek: bool = False) -> re.Match[str] | None:
        """The next match, after spaces and commas."""
        found = pattern.match(self.source.text, self._skipped(), self.end)
        if found and not peek:
            self.at = found.end()
        return found

    def _skipped(self) -> int:
        space = _SPACE.match(self.source.text, self.at, self.end)
        self.at = space.end() if space else self.at
        return self.at


class Owners(Struct, frozen=True):
    """The statements of a text, by their places in it, and the semicolons between them."""

    source: SourceText
    statements: tuple[Span, ...]
    ends: tuple[int, ...]
    """Where the semicolons are; there may be more of them than statements."""

    @classmethod
    def of(cls, source: SourceText, statements: Sequence[Span]) -> Owners:
        """The owners in a text whose statements stand there, in order."""
        return cls(source, tuple(statements), tuple(semicolons(source.text)))

    def of_comment(self, comment: Span) -> int | None:
        """The number of the statement that a comment is about; None where it stands between semicolons alone.

        It is the statement before where the comment follows its semicolon, and the next one starts below.
        """
        piece = bisect_right(self.ends, comment.start)
        around = bisect_right(self.statements, comment.start, key=lambda span: span.start) - 1
        if around >= 0 and comment.start < self.statements[around].end:
            return around
        mine = self._statement(piece)
        if piece and self.source.position(self.ends[piece - 1])[0] == comment.line:
            beside = mine is not None and self.statements[mine].line <= comment.end_line
            return mine if beside else self._statement(piece - 1)
        return mine

    def _statement(self, piece: int) -> int | None:
        """The statement that ends with a semicolon, by its number, or behind the last one; None where none does."""
        start = self.ends[piece - 1] if piece else -1
        end = self.ends[piece] if piece < len(self.ends) else len(self.source.text)
        first = bisect_right(self.statements, start, key=lambda span: span.start)
        return first if first < len(self.statements) and self.statements[first].start < end else None
