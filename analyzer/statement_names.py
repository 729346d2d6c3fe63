"""How the statements of a file are called: by a comment, else by the target of CREATE or INSERT, else by the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.enclosed_queries import Enclosed
from streambound.analyzer.lexical import LexicalKind, stretches
from streambound.analyzer.names import LETTERS, as_name, is_name
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.syntax_errors import syntax_error

_COMMENT = re.compile(r"--[ \t]*name:[ \t]*(\S.*)", re.S)


@dataclass(frozen=True, slots=True)
class Name:
    """A statement's name, and where it is given, None where the file's name is; what is ``wrong`` with the comment."""

    text: str
    at: Span | None = None
    wrong: Diagnostic | None = None


def statement_names(
    source: SourceText, gaps: Sequence[tuple[int, int]], queries: Sequence[Enclosed | Diagnostic]
) -> list[Name]:
    """The names of all statements of a file; names that several have are numbered from 1: ``file:2``, ``target:1``.

    The gap of each is the text from the statement before it to its query, where the comment is looked for.
    """
    stem = Path(source.file).stem or "query"
    given = [_comment(source, *gap) for gap in gaps]
    comments = [None if isinstance(comment, Diagnostic) else comment for comment in given]
    targets = [
        Name(query.target, query.at) if comment is None and isinstance(query, Enclosed) and query.target else None
        for comment, query in zip(comments, queries, strict=True)
    ]
    totals, seen = Counter(target.text for target in targets if target), Counter[str]()
    found = []
    for i, (comment, target) in enumerate(zip(comments, targets, strict=True), 1):
        if target is not None and totals[target.text] > 1:
            seen[target.text] += 1
            target = Name(f"{target.text}:{seen[target.text]}", target.at)
        name = comment or target or Name(stem if len(gaps) == 1 else f"{stem}:{i}")
        wrong = given[i - 1]
        found.append(replace(name, wrong=wrong) if isinstance(wrong, Diagnostic) else name)
    return found


def _comment(source: SourceText, start: int, end: int) -> Name | Diagnostic | None:
    """The name that the last ``-- name: …`` in a stretch of text gives, or why it is none."""
    text = source.text[start:end]
    for comment in reversed([c for c in stretches(text) if c.kind is LexicalKind.LINE_COMMENT]):
        if match := _COMMENT.fullmatch(text[comment.start : comment.end]):
            at, name = start + comment.start + match.start(1), match.group(1).rstrip()
            span = source.span(at, at + len(name))
            if is_name(name):
                return Name(name, span)
            message = f"a name is one word of {LETTERS}, since a job's directory is called by it"
            return syntax_error(source, span, message, f"write -- name: {as_name(name)}")
    return None
