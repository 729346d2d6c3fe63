"""Which results a query prints: a comment before it says so, ``-- streambound: emit final``."""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.lexical import LexicalKind, stretches
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.toml_reader import suggest

_COMMENT = re.compile(r"--[ \t]*streambound:[ \t]*emit\b[ \t]*(\S*)[ \t]*(.*)", re.I | re.S)


class EmitMode(StrEnum):
    """When results are printed that may still change."""

    CHANGES = "changes"
    """Each change, when it happens: rows come, and are taken back."""
    FINAL = "final"
    """What does not change any more, once."""
    UPSERT = "upsert"
    """Changes, by the result's key: the row that there is from now on, or that there is none."""
    FRAGMENTS = "fragments"
    """Of rows with periods: the parts of a period that are known, as they become known."""
    PARTS = "parts"
    """Of rows with periods: whole parts of a result, as they become known."""


class Emission(Struct, frozen=True):
    """A mode, and the place of its comment."""

    mode: EmitMode
    at: Span


def is_emission(text: str) -> bool:
    """Whether a comment chooses a mode."""
    return _COMMENT.fullmatch(text.rstrip()) is not None


def emission(source: SourceText, start: int, end: int) -> Emission | Diagnostic | None:
    """The mode of the last such comment in a stretch of text, or a diagnostic if the comment is wrong."""
    text = source.text[start:end]
    for comment in reversed([found for found in stretches(text) if found.kind is LexicalKind.LINE_COMMENT]):
        match = _COMMENT.fullmatch(text[comment.start : comment.end].rstrip())
        if match is None:
            continue
        at = start + comment.start
        word, modes = match.group(1), tuple(EmitMode)
        span = source.span(at + match.start(1), at + max(match.end(1), match.end(2)))
        if word.lower() in modes and not match.group(2):
            return Emission(EmitMode(word.lower()), span)
        message = f"emit is followed by {', '.join(modes[:-1])} or {modes[-1]}, and nothing else"
        place = span if span.start < span.end else source.span(at, start + comment.end)
        return Diagnostic(Code.UNSUPPORTED, message, source.file, place, suggest(word, modes) if word else "")
    return None
