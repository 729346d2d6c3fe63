"""Formulas of different variables, made in normal form and with their probabilities: what joins of relations give."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from streambound_runtime.lineage.formulas import AND, NOT, OR, Formula

_text = attrgetter("text")


def both(left: Formula, right: Formula) -> Formula:
    """``a & b``, of two variables.

    >>> from streambound_runtime.lineage.formulas import variable
    >>> both(variable("b.1", 0.5), variable("a.1", 0.5))[2:]
    ('a.1 & b.1', 0.25)
    """
    if right.text < left.text:
        left, right = right, left
    return Formula(AND, (left, right), f"{left.text} & {right.text}", left.p * right.p)


def without(row: Formula, others: Iterable[Formula]) -> Formula:
    """``a & !(b | c | …)``, of variables."""
    args = tuple(sorted(others, key=_text))
    none = 1.0
    for arg in args:
        none *= 1.0 - arg.p
    if len(args) == 1:
        missing = Formula(NOT, args, f"!{args[0].text}", none)
    else:
        any_of = Formula(OR, args, " | ".join(map(_text, args)))
        missing = Formula(NOT, (any_of,), f"!({any_of.text})", none)
    return Formula(AND, (row, missing), f"{row.text} & {missing.text}", row.p * none)
