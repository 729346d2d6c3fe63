"""What a report says of the paper's theorems, beside the verdict."""

from __future__ import annotations

from streambound.criteria.verdict import Decision
from streambound.criteria.violation import CriterionResult
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.wording import listed

_PAPER = {"theorem-1": "Theorem 1", "theorem-2": "Theorem 2"}


def paper_note(decision: Decision, result: CriterionResult) -> str:
    """A sentence on the paper's theorem, and on its disagreement with the verdict if there is one."""
    name = _PAPER[result.name]
    if result.holds:
        unsound = decision.verdict is not Verdict.BOUNDED
        return f"{name} of the paper holds" + (", but it is not sound: see docs/theory.md" if unsound else "")
    broken = listed(dict.fromkeys(violation.condition for violation in result.violations))
    unnecessary = decision.verdict is Verdict.BOUNDED
    return f"{name} of the paper is violated at {broken}" + (
        ", but it is not necessary: see docs/theory.md" if unnecessary else ""
    )
