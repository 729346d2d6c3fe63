"""From one text to what is reported of its statements; whatever goes wrong with one is reported of it, too."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.catalog import Catalog
from analyzer.diagnostics import Diagnostic
from analyzer.errors import InputError
from analyzer.spans import SourceText, Span
from criteria.vocabulary import Verdict
from reports.outcome import Outcome

if TYPE_CHECKING:
    from analyzer.statements import Statement

_SHOWN = 200
"""Characters of an exception's message that a finding shows."""


def judged(
    source: SourceText, catalog: Catalog, criteria: str, details: frozenset[str] = frozenset(),
    only: Sequence[int] | None = None, repaired: bool = False,
) -> tuple[Outcome, ...]:  # fmt: skip
    """Every statement of a text, or some, by their numbers from 0; with their repairs if asked for.

    A text without a statement is one erroneous item. A defect of this program that one statement meets is an error of
    that statement alone (``SB901``): it did not pass, and the others are judged.
    """
    from analyzer.statements import some_statements

    try:
        statements = some_statements(source, only)
    except InputError as error:
        return (unreadable(source, error),)
    except Exception as error:
        return (_internal(source, source.span(0, 0), _stem(source), error),)
    return tuple(_judged(statements, catalog, criteria, details, repaired))


def unreadable(source: SourceText, error: InputError) -> Outcome:
    """What is reported of a file that cannot be read, or that holds no statement (``SB401``)."""
    whole = source.span(0, len(source.text))
    finding = Diagnostic("SB401", error.message, source.file, whole, error.remedy)
    return Outcome(_stem(source), source, whole, Verdict.ERROR, (finding,))


def _judged(
    statements: Sequence[Statement], catalog: Catalog, criteria: str, details: frozenset[str], repaired: bool
) -> Iterator[Outcome]:
    from criteria import check
    from reports.outcome import outcome

    for statement in statements:
        try:
            item = check.check_statement(statement, catalog)
            if criteria == "paper":
                from criteria.paper_verdict import by_the_paper

                item = by_the_paper(item)
            elif repaired:
                item = check.with_repairs(item)
            yield outcome(item, details)
        except Exception as error:
            yield _internal(statement.source, statement.span, statement.name, error, statement.named)


def _internal(source: SourceText, span: Span, name: str, error: Exception, named: Span | None = None) -> Outcome:
    said = " ".join(f"{type(error).__name__}: {error}".split())[:_SHOWN]
    help = "please report it with the query, the catalog and the output of --debug; nothing is known of this statement"
    finding = Diagnostic(
        "SB901", f"a defect of streambound kept it from judging {name}: {said}", source.file, span, help
    )
    trace = "".join(traceback.format_exception(error))
    return Outcome(name, source, span, Verdict.ERROR, (finding,), named, traceback=trace)


def _stem(source: SourceText) -> str:
    return Path(source.file).stem or source.file
