"""Alternatives of an OR or IN that can never hold: splitting drops them, and they are worth a warning.

``a IN (1, 20) AND a < 10``: the 20 can never hold. Only what is written as an alternative is reported, so that its text
can be removed: ``a NOT BETWEEN 3 AND 4 AND a > 3`` needs its ``NOT BETWEEN``, though one half of it can never hold.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from streambound.analyzer.closure import close
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.query import And, Branch, Comparison, Formula, NullTest, Or, Query, conjunction
from streambound.analyzer.spans import Span
from streambound.preprocess.normalise import normalise

_MESSAGE = "this alternative can never hold: it contradicts the conditions beside it"


def contradictory_alternatives(query: Query) -> tuple[Diagnostic, ...]:
    """A warning for every written alternative that contradicts the conditions beside it.

    What is written once may stand in several branches, as a CTE's conditions do: it is to contradict those of all.
    """
    found: dict[Span, bool] = {}
    for branch in query.branches:
        for span, possible in _alternatives(branch):
            found[span] = possible or found.get(span, False)
    return tuple(
        Diagnostic(Code.NEVER_TRUE_ALTERNATIVE, _MESSAGE, query.file, span, "remove it, or correct a condition")
        for span, possible in found.items()
        if not possible
    )


def _alternatives(branch: Branch) -> Iterator[tuple[Span, bool]]:
    """The written alternatives of a branch, each with whether it can hold beside the other conditions."""
    where = normalise(branch.where)
    parts = where.parts if isinstance(where, And) else (where,)
    if not any(isinstance(part, Or) for part in parts):
        return
    atoms = tuple(part for part in parts if isinstance(part, Comparison | NullTest))
    if not close(replace(branch, where=conjunction(atoms))).satisfiable:
        return

    def possible(option: Formula) -> bool:
        if isinstance(option, Or):
            return any(map(possible, option.parts))
        inner = option.parts if isinstance(option, And) else (option,)
        added = tuple(part for part in inner if isinstance(part, Comparison | NullTest))
        return close(replace(branch, where=conjunction((*atoms, *added)))).satisfiable

    def listed(formula: Formula) -> Iterator[tuple[Span, bool]]:
        match formula:
            case And(inner):
                for part in inner:
                    yield from listed(part)
            case Or(options, operands):
                for option, span in zip(options, operands, strict=False):
                    yield span, (holds := possible(normalise(option)))
                    if holds and isinstance(option, Or):
                        yield from listed(option)

    yield from listed(branch.where)
