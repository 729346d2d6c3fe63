"""Select lists of literals: all rows have the same values then, and one group would have them all."""

from __future__ import annotations

import re

from streambound_runtime.periods.plan import (
    ConstantScan,
    PeriodFilter,
    PeriodPlan,
    PeriodProject,
    PeriodUnion,
    SnapshotScan,
)

_LITERAL = re.compile(r"[+-]?\d+(\.\d+)?[A-Za-z]*|'[^'\\]*'|NULL|TRUE|FALSE", re.I)


def literals(plan: PeriodPlan) -> tuple[str, ...] | None:
    """The literals that all rows of an operator have; None where they may differ.

    >>> literals(PeriodProject(SnapshotScan("R", ("a",)), ("1", "'x'"))), literals(SnapshotScan("R", ("a",)))
    (('1', "'x'"), None)
    """
    match plan:
        case PeriodProject(items=items):
            return items if all(map(_LITERAL.fullmatch, items)) else None
        case PeriodFilter(input=input):
            return literals(input)
        case PeriodUnion(left=left, right=right):
            found = literals(left)
            return found if found is not None and found == literals(right) else None
        case SnapshotScan(columns=()) | ConstantScan(columns=()):
            return ()
    return None
