"""P1: what is known of a point of time is final once the frontier has passed it; so each result row is given once.

`parts` are rows with their whole periods, as soon as they are known; the result at a time is what is valid of them
together. Pairs of rows are known when the later one begins, so of these the rows that are valid are enough.
"""

from __future__ import annotations

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.emission import EmitMode
from streambound.analyzer.statement import Statement
from streambound_runtime.operators.period_plan import SlicePlan, is_whole

_HELP = "final gives each result row once it has ended, fragments the part of it in each slice of time"
_PARTS = "emit parts is outside the query language here: rows may not have their whole periods when they begin"
_WHOLE = "parts are of SELECT, WHERE, UNION ALL and inner joins; others are given as final or fragments"


def refused_emission(statement: Statement) -> Diagnostic | None:
    """Why an emission cannot be had: Q(τ_t(D)) is final once w > t, so nothing that was printed changes.

    Rows with b <= t only are valid at t, and later ones have b >= w > t.
    """
    asked = statement.emit
    if asked is None or asked.mode is not EmitMode.CHANGES:
        return None
    message = f"emit {asked.mode} is outside the query language here: what SEQ VT prints never changes"
    return Diagnostic(Code.UNSUPPORTED, message, statement.source.file, asked.at, _HELP)


def refused_parts(statement: Statement, plan: SlicePlan) -> Diagnostic | None:
    """Why the rows of a result are not known with their whole periods when they begin; None where they are."""
    asked = statement.emit
    if asked is None or asked.mode is not EmitMode.PARTS or is_whole(plan):
        return None
    return Diagnostic(Code.UNSUPPORTED, _PARTS, statement.source.file, asked.at, _WHOLE)
