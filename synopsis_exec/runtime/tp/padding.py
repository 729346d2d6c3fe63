"""The lineages of windows: of a row with a match, and of a row without one."""

from __future__ import annotations

from collections.abc import Sequence

from streambound_runtime.lineage.absorption import absorbed
from streambound_runtime.lineage.formulas import Formula, both, conjunction, disjunction, negation, without
from streambound_runtime.tp.segments import Valid


def paired(left: Formula, right: Formula, independent: bool) -> Formula:
    """The lineage of two rows that match."""
    return both(left, right) if independent else absorbed(conjunction((left, right)))


def padded(row: Formula, independent: bool, valid: Sequence[Valid]) -> Formula:
    """The lineage of a row without a match, or with one that has no values; ``b | !(b | s)`` is ``b | !s``.

    ``valid`` are the matches; ``independent``: all are different variables.
    """
    if not valid:
        return row
    others = [one.lineage for one in valid if not one.blank]
    if independent and len(others) == len(valid):
        return without(row, others)
    blank = (one.lineage for one in valid if one.blank)
    return absorbed(conjunction((row, disjunction((negation(disjunction(others)), *blank)))))
