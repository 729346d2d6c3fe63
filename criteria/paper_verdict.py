"""The verdict by Theorems 1 and 2 alone, as the paper claims them: `check --criteria paper`.

Theorem 1 is claimed necessary and sufficient for bags, Theorem 2 sufficient for sets. Neither claim holds
(docs/theory-paper.md), so this verdict is for comparison and gates nothing by default.
"""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.criteria.check import Checked
from streambound.criteria.verdict import Decision
from streambound.criteria.violation import CriterionResult
from streambound.criteria.vocabulary import Verdict


def by_the_paper(checked: Checked) -> Checked:
    """The statement as the paper's theorems judge it; unchanged where it has no meaning in the query language."""
    if checked.decision is None:
        return checked
    result = next(iter(checked.decision.criteria[1:]), None)
    verdict = _verdict(checked.decision, result)
    warnings = tuple(d for d in checked.diagnostics if d.severity.value == "warning")
    diagnostics = (*_diagnostics(checked.decision, result), *warnings)
    return replace(checked, verdict=verdict, diagnostics=diagnostics)


def _verdict(decision: Decision, result: CriterionResult | None) -> Verdict:
    """A violation proves something only for one bag query that uses no stream twice: a union may still be bounded."""
    if result is None:
        return Verdict.UNKNOWN
    if result.holds:
        return Verdict.BOUNDED
    several = len(decision.query.branches) > 1 or any(
        len({source.table for source in branch.streams}) < len(branch.streams) for branch in decision.query.branches
    )
    return Verdict.UNKNOWN if decision.query.distinct or several else Verdict.UNBOUNDED


def _diagnostics(decision: Decision, result: CriterionResult | None) -> tuple[Diagnostic, ...]:
    query = decision.query
    if result is None:
        message = "the paper's theorems do not speak of windows and offsets, or this query has too many cases for them"
        return (Diagnostic(Code.PAPER_SILENT, message, query.file, query.span),)
    code, name = (Code.THEOREM_2, "Theorem 2") if query.distinct else (Code.THEOREM_1, "Theorem 1")
    return tuple(
        Diagnostic(code, violation.message, query.file, violation.span, condition=f"{name} {violation.condition}")
        for violation in result.violations
    )
