"""The order in which a reader wants statements: what needs attention first, of each kind as they were checked."""

from __future__ import annotations

from streambound.analyzer.codes import Severity
from streambound.criteria.vocabulary import Verdict
from streambound.reports.outcome import Outcome

BY_VERDICT = (Verdict.ERROR, Verdict.UNBOUNDED, Verdict.UNKNOWN, Verdict.UNSUPPORTED, Verdict.BOUNDED, Verdict.NO_QUERY)


def by_attention(outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """By verdict, accepted ones behind the others; of those that are bounded, those with errors and warnings first."""
    return tuple(sorted(outcomes, key=_rank))


def _rank(item: Outcome) -> tuple[int, bool, bool, bool]:
    open_ = {found.severity for found in item.diagnostics if found.suppression is None}
    return BY_VERDICT.index(item.verdict), item.suppressed, Severity.ERROR not in open_, Severity.WARNING not in open_
