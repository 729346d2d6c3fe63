"""From one text to what is reported of its statements; whatever goes wrong with one is reported of it, too."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.engine_profiles import EngineProfile, asked_profile
from streambound.analyzer.errors import InputError
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.work import STATEMENT, Allowance, at_most, share, spend
from streambound.criteria.vocabulary import Verdict
from streambound.reports.outcome import Outcome

if TYPE_CHECKING:
    from streambound.analyzer.emission import Emission
    from streambound.analyzer.statement import Statement
    from streambound.criteria.check import Checked

FILE = 4 * STATEMENT
"""Steps of work for all statements of a file that is no longer than ``LENGTH``, or of each such length of it."""
LENGTH = 100_000
REPAIRS = STATEMENT
"""Steps of work for the repairs of all statements of a file."""
MOST_KEPT = 20
"""How many rejected statements are kept as they were checked, until their repairs are looked for."""
_SHOWN = 200
"""Characters of an exception's message that a finding shows."""


def judged(
    source: SourceText, catalog: Catalog, criteria: str, details: frozenset[str] = frozenset(),
    only: Sequence[int] | None = None, repaired: bool = False, emit_mode: str | None = None,
    engine: str | None = None,
) -> tuple[Outcome, ...]:  # fmt: skip
    """Every statement of a text, or some, by their numbers from 0; with their repairs if asked for.

    ``engine`` is in the place of the catalog's: what it keeps is said, too.

    A text without a statement is one erroneous item. A defect of this program that one statement meets is an error of
    that statement alone (``SB901``): it did not pass, and the others are judged.
    """
    from streambound.analyzer.statements import some_statements

    try:
        statements = [one.emitting(emit_mode) for one in some_statements(source, only, catalog.readable)]
    except InputError as error:
        return (unreadable(source, error),)
    except Exception as error:
        return (_internal(source, source.span(0, 0), _stem(source), error),)
    profile = asked_profile(catalog.engine, engine)
    return tuple(_judged(statements, catalog, criteria, details, repaired, profile))


def unreadable(source: SourceText, error: InputError) -> Outcome:
    """The outcome of a file that cannot be read, or that has no statement (``SB401``)."""
    whole = source.span(0, len(source.text))
    finding = Diagnostic(Code.UNREADABLE_FILE, error.message, source.file, whole, error.remedy)
    return Outcome(_stem(source), source, whole, Verdict.ERROR, (finding,))


def _judged(
    statements: Sequence[Statement],
    catalog: Catalog,
    criteria: str,
    details: frozenset[str],
    repaired: bool,
    profile: EngineProfile | None,
) -> Iterator[Outcome]:
    work, repairs = Allowance(_work(statements)), Allowance(REPAIRS)
    for statement in statements:
        try:
            with work.spent(STATEMENT) as most:
                item = _checked(statement, catalog, most)
            if criteria == "paper":
                from streambound.criteria.paper_verdict import by_the_paper

                item = by_the_paper(item)
            elif repaired:
                item = _with_repairs(item, repairs)
            yield _outcome(item, details) if profile is None else _on_engine(item, catalog, profile, details)
        except Exception as error:
            yield _internal(statement.source, statement.span, statement.name, error, statement.named)


_kept: dict[tuple[SourceText, Span, Emission | None, float], tuple[Catalog, Checked, float]] = {}
"""Rejected statements with the steps of work that they took, by all that these depend on but the catalog."""


def _checked(statement: Statement, catalog: Catalog, most: float) -> Checked:
    """A statement, checked in a limited number of steps; a rejected one is not checked again before its repair.

    Nothing else differs then: the steps that it took count again.
    """
    from streambound.criteria import check

    key = (statement.source, statement.span, statement.emit, most)
    before, item, steps = _kept.pop(key, (None, None, 0.0))
    if item is not None and before is catalog:
        spend(steps)
        return item
    with at_most(most) as spent:
        item = check.check_statement(statement, catalog, most)
    if item.rejected:
        while len(_kept) >= MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[key] = (catalog, item, spent.steps)
    return item


def _work(statements: Sequence[Statement]) -> float:
    """Steps of work that the statements of a file are given together: more for a longer one."""
    length = len(statements[0].source.text) if statements else 0
    return FILE * max(1, length / LENGTH)


def _with_repairs(item: Checked, work: Allowance) -> Checked:
    """A rejected statement with its repairs; with those that were found where there is no more work for others."""
    from streambound.criteria.repairs.repair import with_repairs

    with work.spent(STATEMENT), suppress(RecursionError):
        return with_repairs(item)
    return item


def _outcome(item: Checked, details: frozenset[str]) -> Outcome:
    """The outcome of a statement, without details if these are too much work."""
    from streambound.reports.outcome import outcome

    with share(STATEMENT), suppress(RecursionError):
        return outcome(item, details)
    return outcome(item, frozenset())


def _on_engine(item: Checked, catalog: Catalog, profile: EngineProfile, details: frozenset[str]) -> Outcome:
    """The outcome of a statement, with what an engine does with it as it is written."""
    from streambound.criteria.engines.profile import EngineReading
    from streambound.criteria.engines.reported import findings, read_on

    with share(STATEMENT):
        reading = read_on(item, catalog, profile)
        found = findings(reading, item.source, item.statement.span) if reading is not None else ()
        told = replace(item, diagnostics=(*item.diagnostics, *found))
        return replace(_outcome(told, details), engine=reading)
    return replace(_outcome(item, details), engine=EngineReading(profile.engine, unread="it takes too much work"))


def _internal(source: SourceText, span: Span, name: str, error: Exception, named: Span | None = None) -> Outcome:
    said = " ".join(f"{type(error).__name__}: {error}".split())[:_SHOWN]
    help = "please report it with the query, the catalog and the output of --debug; nothing is known of this statement"
    finding = Diagnostic(
        Code.INTERNAL_ERROR, f"a defect of streambound kept it from judging {name}: {said}", source.file, span, help
    )
    trace = "".join(traceback.format_exception(error))
    return Outcome(name, source, span, Verdict.ERROR, (finding,), named, traceback=trace)


def _stem(source: SourceText) -> str:
    return Path(source.file).stem or source.file
