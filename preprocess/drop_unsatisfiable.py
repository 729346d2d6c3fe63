"""Branches whose condition contradicts itself can never produce a row: they cost nothing and are reported."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.query import Query
from streambound.preprocess.contradictory import contradictory


def drop_unsatisfiable(query: Query, false: Collection[int] = ()) -> tuple[Query, tuple[Diagnostic, ...]]:
    """The query without contradictory branches, and a warning for every SELECT of which nothing is left.

    ``false`` are the SELECTs whose condition is false, or NULL, whatever the rows are: ``WHERE a = NULL``.
    """
    kept = tuple(branch for branch in query.branches if not contradictory(branch))
    alive = {branch.statement for branch in kept}
    warnings = []
    for branch in query.branches:
        if branch.statement not in alive:
            alive.add(branch.statement)
            what = "this query" if len({b.statement for b in query.branches}) == 1 else "this branch of the union"
            why = "its condition is never true" if branch.statement in false else "its conditions contradict each other"
            message = f"{what} can never produce a row: {why}"
            warnings.append(
                Diagnostic(Code.NEVER_TRUE, message, query.file, branch.span, "remove or correct a condition")
            )
    return replace(query, branches=kept), tuple(warnings)
