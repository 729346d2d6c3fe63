"""Alternatives of an OR or IN that can never hold: splitting drops them, and they are worth a warning.

``a IN (1, 20) AND a < 10``: the 20 can never hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analyzer.closure import close
from analyzer.diagnostics import Diagnostic
from analyzer.query import And, Branch, Comparison, NullTest, Or, Query, conjunction, first_span
from analyzer.spans import Span
from preprocess.normalise import normalise

_MESSAGE = "this alternative can never hold: it contradicts the conditions beside it"


def contradictory_alternatives(query: Query) -> tuple[Diagnostic, ...]:
    """A warning for every written alternative that contradicts the conditions beside it."""
    return tuple(
        Diagnostic("SB151", _MESSAGE, query.file, span, "remove it, or correct a condition")
        for branch in query.branches
        for span in _never_true(branch)
    )


def _never_true(branch: Branch) -> Iterator[Span]:
    where = normalise(branch.where)
    parts = where.parts if isinstance(where, And) else (where,)
    if not any(isinstance(part, Or) for part in parts):
        return
    atoms = tuple(part for part in parts if isinstance(part, Comparison | NullTest))
    if not close(replace(branch, where=conjunction(atoms))).satisfiable:
        return
    for choice in parts:
        if isinstance(choice, Or):
            for option in choice.parts:
                inner = option.parts if isinstance(option, And) else (option,)
                added = tuple(part for part in inner if isinstance(part, Comparison | NullTest))
                span = first_span(option)
                if span and not close(replace(branch, where=conjunction((*atoms, *added)))).satisfiable:
                    yield span
