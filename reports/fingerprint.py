"""Fingerprints of findings: what a baseline and a code host know a finding by when its lines have moved.

A finding is its file, its code, its statement and the blamed text, none of them by position or by layout, so that
neither lines inserted above nor another line break, another case, backticks or redundant parentheses change it. A
statement is known by the name that a comment gives it, which survives edits of the query, or else by its words. Equal
findings are counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from hashlib import sha256
from pathlib import Path

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.lexical import stretches
from streambound.reports.outcome import Outcome
from streambound.reports.plain_words import plain_words, written_words

VERSION = "streambound/v1"
"""The scheme; another one gives other fingerprints, so that a baseline of this one is not read as one of that."""

_SEPARATOR = "\x1f"
_LENGTH = 32


def stable_path(file: str) -> str:
    """A file's name on every machine: relative to the working directory, with slashes.

    >>> stable_path("queries/../queries/q.sql")
    'queries/q.sql'
    """
    return file if file.startswith("<") else Path(os.path.relpath(file)).as_posix()


def fingerprints(
    outcomes: Iterable[Outcome], name: Callable[[str], str] = stable_path, known: Collection[str] = ()
) -> tuple[tuple[str, ...], ...]:
    """For each statement the fingerprints of its diagnostics, in their order; those of one run are all different.

    ``name`` says what a file is called: another mapping follows renamed files or starts at another directory. A
    finding keeps the fingerprint among the ``known`` that it had when backticks and redundant parentheses counted.
    """
    counts, former_counts = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    used = set[str]()
    found = []
    for item in outcomes:
        mine = []
        for diagnostic in item.diagnostics:
            own = _numbered(_identity(item, diagnostic, name, words), counts)
            if known and own not in known:
                former = _numbered(_identity(item, diagnostic, name, _former_words), former_counts)
                own = former if former in known and former not in used else own
            used.add(own)
            mine.append(own)
        found.append(tuple(mine))
    return tuple(found)


def _numbered(identity: tuple[str, ...], counts: Counter[tuple[str, ...]]) -> str:
    counts[identity] += 1
    return _hash((*identity, str(counts[identity] - 1)))


def fingerprint(item: Outcome, diagnostic: Diagnostic, twins: int = 0, name: Callable[[str], str] = stable_path) -> str:
    """The fingerprint of one diagnostic of which so many ``twins`` stand before it in the run."""
    return _hash((*_identity(item, diagnostic, name, words), str(twins)))


def words(text: str) -> str:
    r"""A SQL text without what changes nothing (`plain_words`), as one text.

    >>> words("SELECT ('A b') -- c") == words("select\n  'A b'")
    True
    """
    return _SEPARATOR.join(plain_words(text))


def _former_words(text: str) -> str:
    """As `words` were when backticks and redundant parentheses counted."""
    return _SEPARATOR.join(written_words(text))


def _hash(parts: tuple[str, ...]) -> str:
    text = "".join(f"{len(part)}:{part}" for part in (VERSION, *parts))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def _identity(
    item: Outcome, diagnostic: Diagnostic, name: Callable[[str], str], words: Callable[[str], str]
) -> tuple[str, ...]:
    elsewhere = "" if diagnostic.file == item.source.file else name(item.source.file)
    return name(diagnostic.file), diagnostic.code, elsewhere, _blamed(item, diagnostic, words), _statement(item, words)


def _statement(item: Outcome, words: Callable[[str], str]) -> str:
    """What a statement is known by: the name in its comment, or its words; nothing where a file could not be split."""
    return f"name {item.name}" if item.named else "" if _unsplit(item) else words(_text(item))


def _unsplit(item: Outcome) -> bool:
    """Whether this stands for a whole file, which could not be read or split into statements."""
    return any(d.code is Code.UNREADABLE_FILE for d in item.diagnostics) or not all(
        s.closed for s in stretches(_text(item))
    )


def _text(item: Outcome) -> str:
    return item.source.text[item.span.start : item.span.end]


def _blamed(item: Outcome, diagnostic: Diagnostic, words: Callable[[str], str]) -> str:
    """The blamed words, or text where they are in a comment; the rest of the line for a quote that nothing closes."""
    span, source = diagnostic.span, item.source
    if diagnostic.file != source.file or diagnostic.code is Code.UNREADABLE_FILE:
        return ""
    if _unsplit(item):
        return " ".join(source.line(span.line)[span.column - 1 :].split())
    text = source.text[span.start : span.end]
    return words(text) or " ".join(text.split())
