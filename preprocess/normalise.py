"""Negation normal form: NOT pushed down to the atoms, also under three-valued logic.

``NOT (x < y AND z = 1)  ->  x >= y OR z <> 1``
"""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.query import FALSE, TRUE, And, Comparison, Formula, Not, NullTest, OneOf, Op, Or, Truth


def normalise(formula: Formula) -> Formula:
    """A formula without NOT, flattened, with constants folded; TRUE on the same rows as the original."""
    match formula:
        case And(parts):
            return conjoined(tuple(normalise(part) for part in parts))
        case Or(parts):
            return disjoined(tuple(normalise(part) for part in parts))
        case Not(part):
            return negate(part)
        case Truth(value):
            return TRUE if value else FALSE
    return formula


def negate(formula: Formula) -> Formula:
    """``NOT formula`` in negation normal form: true where the formula is false, not where it is unknown."""
    match formula:
        case Comparison(op=op):
            return replace(formula, op=op.negated)
        case NullTest(is_null=is_null):
            return replace(formula, is_null=not is_null)
        case OneOf(attribute, values, span):
            return And(tuple(Comparison(attribute, Op.NE, None, value, span) for value in values))
        case And(parts):
            return disjoined(tuple(negate(part) for part in parts))
        case Or(parts):
            return conjoined(tuple(negate(part) for part in parts))
        case Not(part):
            return normalise(part)
        case Truth(value, unknown):
            return FALSE if value or unknown else TRUE


def not_true(formula: Formula) -> Formula:
    """Where a normalised formula is false or unknown: ``x < y  ->  x >= y OR x IS NULL OR y IS NULL``."""
    match formula:
        case Comparison(op=op, span=span):
            nulls = tuple(NullTest(attribute, True, span) for attribute in dict.fromkeys(formula.attributes))
            return Or((replace(formula, op=op.negated), *nulls))
        case OneOf(attribute, span=span):
            return Or((negate(formula), NullTest(attribute, True, span)))
        case And(parts):
            return disjoined(tuple(not_true(part) for part in parts))
        case Or(parts):
            return conjoined(tuple(not_true(part) for part in parts))
    return negate(formula)


def conjoined(parts: tuple[Formula, ...]) -> Formula:
    """The conjunction of formulas, flattened, with constants folded."""
    return _gather(And, parts)


def disjoined(parts: tuple[Formula, ...]) -> Formula:
    """The disjunction of formulas, flattened, with constants folded."""
    return _gather(Or, parts)


def _gather(kind: type[And] | type[Or], parts: tuple[Formula, ...]) -> Formula:
    neutral, absorbing = (TRUE, FALSE) if kind is And else (FALSE, TRUE)
    flat: list[Formula] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, And | Or) and isinstance(part, kind) else (part,))
    kept = tuple(dict.fromkeys(part for part in flat if part != neutral))
    if absorbing in kept:
        return absorbing
    return kept[0] if len(kept) == 1 else kind(kept) if kept else neutral
