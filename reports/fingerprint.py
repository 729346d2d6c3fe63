"""Fingerprints of findings: what a baseline and a code host know a finding by when its lines have moved.

A finding is its file, its code, its statement and the blamed text, none of them by position or by layout, so that
neither lines inserted above nor another line break nor another case of keywords changes it. A statement is known by
the name that a comment gives it, which survives edits of the query, or else by its words. Equal findings are counted.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from analyzer.diagnostics import Diagnostic
from analyzer.lexical import Kind, stretches
from reports.outcome import Outcome

VERSION = "streambound/v1"
"""The scheme; another one gives other fingerprints, so that a baseline of this one is not read as one of that."""

_COMMENTS = (Kind.LINE_COMMENT, Kind.BLOCK_COMMENT)
_WORD = re.compile(r"\w+|[^\w\s]")
_LENGTH = 32


def stable_path(file: str) -> str:
    """A file's name on every machine: relative to the working directory, with slashes.

    >>> stable_path("queries/../queries/q.sql")
    'queries/q.sql'
    """
    return file if file.startswith("<") else Path(os.path.relpath(file)).as_posix()


def fingerprints(outcomes: Iterable[Outcome], name: Callable[[str], str] = stable_path) -> tuple[tuple[str, ...], ...]:
    """For each statement the fingerprints of its diagnostics, in their order; those of one run are all different.

    ``name`` says what a file is called: another mapping follows renamed files or starts at another directory.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for item in outcomes:
        mine = []
        for diagnostic in item.diagnostics:
            identity = _identity(item, diagnostic, name)
            mine.append(_hash((*identity, str(seen[identity]))))
            seen[identity] += 1
        found.append(tuple(mine))
    return tuple(found)


def fingerprint(item: Outcome, diagnostic: Diagnostic, twins: int = 0, name: Callable[[str], str] = stable_path) -> str:
    """The fingerprint of one diagnostic of which so many ``twins`` stand before it in the run."""
    return _hash((*_identity(item, diagnostic, name), str(twins)))


def words(text: str) -> str:
    r"""A SQL text without the blanks and comments between its words; Spark tells no case apart, but in strings.

    >>> words("SELECT 'A b' -- c") == words("select\n  'A b'")
    True
    """
    return "\x1f".join(_words(text))


def _words(text: str) -> Iterator[str]:
    at = 0
    for stretch in stretches(text):
        yield from _WORD.findall(text[at : stretch.start].lower())
        quoted = text[stretch.start : stretch.end]
        if stretch.kind not in _COMMENTS:
            yield quoted if stretch.kind is Kind.STRING else quoted.lower()
        at = stretch.end
    yield from _WORD.findall(text[at:].lower())


def _hash(parts: tuple[str, ...]) -> str:
    text = "".join(f"{len(part)}:{part}" for part in (VERSION, *parts))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def _identity(item: Outcome, diagnostic: Diagnostic, name: Callable[[str], str]) -> tuple[str, ...]:
    elsewhere = "" if diagnostic.file == item.source.file else name(item.source.file)
    return name(diagnostic.file), diagnostic.code, elsewhere, _blamed(item, diagnostic), _statement(item)


def _statement(item: Outcome) -> str:
    """What a statement is known by: the name in its comment, or its words; nothing where a file could not be split."""
    return f"name {item.name}" if item.named else "" if _unsplit(item) else words(_text(item))


def _unsplit(item: Outcome) -> bool:
    """Whether this stands for a whole file, which could not be read or split into statements."""
    return any(d.code == "SB401" for d in item.diagnostics) or not all(s.closed for s in stretches(_text(item)))


def _text(item: Outcome) -> str:
    return item.source.text[item.span.start : item.span.end]


def _blamed(item: Outcome, diagnostic: Diagnostic) -> str:
    """The blamed words, or text where they are in a comment; the rest of the line for a quote that nothing closes."""
    span, source = diagnostic.span, item.source
    if diagnostic.file != source.file or diagnostic.code == "SB401":
        return ""
    if _unsplit(item):
        return " ".join(source.line(span.line)[span.column - 1 :].split())
    text = source.text[span.start : span.end]
    return words(text) or " ".join(text.split())
