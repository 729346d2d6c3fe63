"""Long lists of values stay one condition, so that they split nothing: ``a = 1 OR a = 5 OR …  ->  a IN (1, 5, …)``.

A list bounds its attribute from both sides, so that to the criteria it is what a declared list is (theory §4, "Types").
Short lists are split like any other OR: then each of their values is a constant of its branch.
"""

from __future__ import annotations

from analyzer.closure import in_order
from analyzer.query import And, Attribute, Branch, Comparison, Formula, NullTest, OneOf, Op, Or
from analyzer.spans import Span
from analyzer.values import Value
from preprocess.normalise import normalise

LONGEST_SPLIT = 4
"""Values up to which a list is split."""


def gather_lists(branch: Branch, formula: Formula) -> Formula:
    """A normalised formula with the long lists of every OR gathered; TRUE on the same rows."""
    match formula:
        case And(parts):
            return normalise(And(tuple(gather_lists(branch, part) for part in parts)))
        case Or(parts):
            return normalise(Or(tuple(gather_lists(branch, part) for part in _gathered(branch, parts))))
    return formula


def _gathered(branch: Branch, parts: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The options of an OR, those of a long list as one at the place of its first."""
    lists: dict[Attribute, dict[Value, Span | None]] = {}
    for part in parts:
        if (attribute := _listed(branch, part)) is not None and isinstance(part, Comparison):
            lists.setdefault(attribute, {}).setdefault(part.offset, part.span)
    conditions = {
        attribute: _condition(branch, attribute, tuple(sorted(values, key=in_order)), next(iter(values.values())))
        for attribute, values in lists.items()
        if len(values) > LONGEST_SPLIT
    }
    options = (conditions.get(attribute) if (attribute := _listed(branch, p)) is not None else None for p in parts)
    return tuple(dict.fromkeys(option or part for option, part in zip(options, parts, strict=True)))


def _listed(branch: Branch, part: Formula) -> Attribute | None:
    """The attribute that an option sets equal to a constant; timestamps stay apart."""
    if not isinstance(part, Comparison) or part.op is not Op.EQ or part.right is not None or branch.is_time(part.left):
        return None
    return part.left


def _condition(branch: Branch, attribute: Attribute, values: tuple[Value, ...], span: Span | None) -> Formula:
    """``attribute IN (values)`` in the shortest form: a range of adjacent ones, or what a declared list has besides."""

    def atom(op: Op, value: Value) -> Comparison:
        return Comparison(attribute, op, None, value, span)

    column = branch.column(attribute)
    if column.domain is not None and column.domain.values:
        others = tuple(atom(Op.NE, value) for value in column.domain.values if value not in values)
        return And((NullTest(attribute, False, span), *others))
    least, greatest = values[0], values[-1]
    if column.type.discrete and not isinstance(least, str) and greatest - least == len(values) - 1:  # type: ignore[operator]
        return And((atom(Op.GE, least), atom(Op.LE, greatest)))
    return OneOf(attribute, values, span)
