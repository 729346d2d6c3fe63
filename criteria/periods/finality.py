"""P1: what is known of a point of time is final once the frontier has passed it; so each result row is given once."""

from __future__ import annotations

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.emission import EmitMode
from streambound.analyzer.statement import Statement

_HELP = "final gives each result row once it has ended, fragments the part of it in each epoch"


def refused_emission(statement: Statement) -> Diagnostic | None:
    """Why an emission cannot be had: Q(τ_t(D)) is final once w > t, so nothing that was printed changes.

    Rows with b <= t only are valid at t, and later ones have b >= w > t. `parts` would be summed up by who reads them.
    """
    asked = statement.emit
    if asked is None or asked.mode in (EmitMode.FINAL, EmitMode.FRAGMENTS):
        return None
    message = f"emit {asked.mode} is outside the query language here: what SEQ VT prints never changes"
    return Diagnostic(Code.UNSUPPORTED, message, statement.source.file, asked.at, _HELP)
