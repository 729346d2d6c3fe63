"""The exit status of a check."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from streambound.analyzer.codes import Code, Severity
from streambound.analyzer.diagnostics import ORDER, Diagnostic
from streambound.reports.outcome import Outcome

_NOT_JUDGED = {Code.INTERNAL_ERROR: 4, Code.SYNTAX_ERROR: 3, Code.UNREADABLE_FILE: 3}
"""What was not read, or not judged for a defect of this program, did not pass, whatever the rest comes to."""


def exit_status(outcomes: Iterable[Outcome], fail_on: Callable[[str], Severity]) -> int:
    """4 for a defect of this program; 3 where something could not be read or parsed; 1 where something fails; else 0.

    ``fail_on`` gives the least severity that fails in a file.
    """
    items = tuple(outcomes)
    return not_judged(one for item in items for one in item.diagnostics) or int(any(fails(i, fail_on) for i in items))


def not_judged(found: Iterable[Diagnostic]) -> int:
    """The status that findings give which nobody can accept: 4 or 3 as in `exit_status`; else 0."""
    return max((_NOT_JUDGED.get(one.code, 0) for one in found), default=0)


def fails(item: Outcome, fail_on: Callable[[str], Severity]) -> bool:
    """Whether a statement fails: it is not bounded, or has a finding of that severity, and nobody accepted it."""
    least = ORDER.index(fail_on(item.source.file))
    found = any(ORDER.index(one.severity) >= least for one in item.diagnostics if one.suppression is None)
    return found or (not item.verdict.fits and not item.suppressed)
