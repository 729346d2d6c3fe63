"""A source line with carets under a span, as compilers show it."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from pathlib import Path

from streambound.analyzer.diagnostics import Diagnostic, Related
from streambound.analyzer.spans import Excerpt, SourceText
from streambound.reports.outcome import Outcome
from streambound.reports.style import paint

TAB = 4
MOST_CHARACTERS = 160
"""Longer lines are cut around the carets."""
_CONTEXT = 40
_CUT = "…"


def snippet(
    place: Excerpt, style: str, color: bool, mark: str = "^", label: str = "", width: int = 0
) -> tuple[str, ...]:
    """The line a span starts on, numbered, and the marks under it with a label; nothing where there is no text.

    Wide characters and tabs are accounted for, and a long line is cut around the span. ``width`` is the least width of
    the line's number.
    """
    if not place.text:
        return ()
    span = place.span
    end = span.end_column - 1 if span.end_line == span.line else len(place.text)
    line, start, end = _cut(place.text, span.column - 1, max(end, span.column))
    before, marked = line[:start], line[start:end]
    marks = mark * max(1, _width(marked, _width(before)))
    number = str(span.line).rjust(width)
    gutter = " " * len(number)
    bar = paint("|", "frame", color)
    more = paint(" …", "dim", color) if span.end_line > span.line else ""
    shown = f"{paint(number, 'frame', color)} {bar} {_expanded(line)}{more}"
    under = f"{gutter} {bar} {' ' * _width(before)}"
    if not label:
        return (f"{gutter} {bar}", shown, f"{under}{paint(marks, style, color)}")
    fits = _width(before) + len(marks) + len(label) < MOST_CHARACTERS
    labelled = [f"{marks} {label}"] if fits else [marks, label]
    return (f"{gutter} {bar}", shown, *(f"{under}{paint(text, style, color)}" for text in labelled))


def _cut(line: str, start: int, end: int) -> tuple[str, int, int]:
    """A line of bearable length around ``line[start:end]``, and where that stands in it."""
    if len(line) <= MOST_CHARACTERS:
        return line, start, end
    first = 0 if end <= MOST_CHARACTERS else max(0, start - _CONTEXT)
    last = first + MOST_CHARACTERS
    head, tail = _CUT if first else "", _CUT if last < len(line) else ""
    moved = len(head) - first
    return head + line[first:last] + tail, start + moved, min(end, last) + moved


def _expanded(line: str) -> str:
    shown: list[str] = []
    for character in line:
        shown.append(" " * (TAB - _width("".join(shown)) % TAB) if character == "\t" else character)
    return "".join(shown)


def _width(text: str, start: int = 0) -> int:
    """Terminal columns of a text that starts at a column."""
    column = start
    for character in text:
        if character == "\t":
            column += TAB - column % TAB
        elif not unicodedata.combining(character):
            column += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return column - start


def excerpt(item: Outcome, place: Diagnostic | Related) -> Excerpt:
    """A place with its line: of the statement's file, or of another, such as the catalog; no text if unreadable."""
    if isinstance(place, Related) and place.text:
        return Excerpt(place.file, place.span, place.text)
    if place.file == item.source.file:
        return item.source.excerpt(place.span)
    with suppress(OSError, UnicodeDecodeError):
        return SourceText(place.file, Path(place.file).read_bytes().decode("utf-8-sig")).excerpt(place.span)
    return Excerpt(place.file, place.span, "")
