"""The exit status of a check."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from analyzer.diagnostics import ORDER, Severity
from criteria.vocabulary import Verdict
from reports.outcome import Outcome

UNREADABLE = ("SB001", "SB401")
"""What was not read did not pass, whatever the rest comes to."""


def exit_status(outcomes: Iterable[Outcome], fail_on: Severity | Callable[[str], Severity]) -> int:
    """3 where something could not be read or parsed; 1 where something fails; else 0.

    ``fail_on`` is the least severity that fails, or a function from a file to it.
    """
    items = tuple(outcomes)
    if any(found.code in UNREADABLE for item in items for found in item.diagnostics):
        return 3
    return 1 if any(fails(item, fail_on) for item in items) else 0


def fails(item: Outcome, fail_on: Severity | Callable[[str], Severity]) -> bool:
    """Whether a statement fails: it is not bounded, or has a finding of that severity, and nobody accepted it."""
    least = ORDER.index(fail_on if isinstance(fail_on, Severity) else fail_on(item.source.file))
    found = any(ORDER.index(one.severity) >= least for one in item.diagnostics if one.suppression is None)
    return found or (item.verdict is not Verdict.BOUNDED and not item.suppressed)
