"""What conditions are where some columns are NULL: those that are not true then drop such rows."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

Missing = Callable[[exp.Column], bool]
"""Whether a column is one of those that are NULL."""
_STRICT = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Add, exp.Sub, exp.Mul)
"""Operators that are NULL where one of two operands is."""


def rejects_null(condition: exp.Expr, missing: Missing) -> bool:
    """Whether a condition is not true of rows in which some columns, all that are missing, are NULL."""
    return True not in _truths(condition, missing)


def _truths(node: exp.Expr, missing: Missing) -> set[bool | None]:
    """The possible values of a condition; None is unknown."""
    match node.unnest():
        case exp.And(this=one, expression=other):
            return _both(_truths(one, missing), _truths(other, missing))
        case exp.Or(this=one, expression=other):
            pairs = [{a, b} for a in _truths(one, missing) for b in _truths(other, missing)]
            return {True if True in pair else None if None in pair else False for pair in pairs}
        case exp.Not(this=inner):
            return {None if truth is None else not truth for truth in _truths(inner, missing)}
        case exp.Is(this=value, expression=exp.Null()):
            return {True} if is_null(value, missing) else {True, False}
        case exp.Between(this=value, args=found):
            low, high = (_of_strict(is_null(value, missing) or is_null(found[e], missing)) for e in ("low", "high"))
            return _both(low, high)
        case found:
            return _of_strict(is_null(found, missing))


def _of_strict(null: bool) -> set[bool | None]:
    return {None} if null else {True, False, None}


def _both(one: set[bool | None], other: set[bool | None]) -> set[bool | None]:
    pairs = [{a, b} for a in one for b in other]
    return {False if False in pair else None if None in pair else True for pair in pairs}


def is_null(node: exp.Expr, missing: Missing) -> bool:
    """Whether an expression is NULL where all columns that are missing are."""
    match node.unnest():
        case exp.Column() as column:
            return missing(column)
        case exp.Neg(this=value) | exp.Like(this=value):
            return is_null(value, missing)
        case exp.Between(this=value):
            return is_null(value, missing)
        case exp.In(this=value, args=found):
            return bool(found.get("expressions")) and is_null(value, missing)
        case exp.Binary(this=one, expression=other) as both if isinstance(both, _STRICT):
            return is_null(one, missing) or is_null(other, missing)
    return False
