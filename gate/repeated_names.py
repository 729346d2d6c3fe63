"""Statements of one run that share a name which a comment gave, so that no command could tell them apart by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic, Related
from streambound.reports.outcome import Outcome


def repeated_names(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """The statements, with an ``SB402`` warning on each that repeats a name; a file's own name may come again."""
    first: dict[str, Outcome] = {}
    return tuple(_warned(item, first.setdefault(item.name, item)) for item in outcomes)


def _warned(item: Outcome, first: Outcome) -> Outcome:
    here, there = item, first
    if item is first or (here.named is None and there.named is None):
        return item
    at = here.named or here.source.span(here.span.start, here.span.start + 1)
    place = there.named or there.span
    message = f"two statements of this run are called {here.name!r}"
    related = (Related.at(there.source.excerpt(place), f"{here.name} is the name of this statement too"),)
    help = "give each a name of its own: -- name: …"
    warning = Diagnostic(Code.REPEATED_NAME, message, here.source.file, at, help, related=related)
    return replace(item, diagnostics=(*item.diagnostics, warning))
