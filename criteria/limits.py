"""Limits of values as formulas: constants, relations' and finite streams' extreme values, as Python expressions."""

from __future__ import annotations

from collections.abc import Mapping

from streambound.analyzer.boundedness import Facts, Limit
from streambound.analyzer.query import Attribute
from streambound.analyzer.symbols import symbol
from streambound.criteria.size import Size

Values = Mapping[Attribute, str]
"""What stands for the values of some attributes, instead of the symbol of their extreme value."""
NO_VALUES: Values = {}


def lower_text(facts: Facts, limits: tuple[Limit, ...], values: Values = NO_VALUES) -> str:
    """The least of some lower limits, each the greatest of its parts, as a Python expression."""
    return _shift(*_lower(facts, limits, values))


def upper_text(facts: Facts, limits: tuple[Limit, ...], values: Values = NO_VALUES) -> str:
    """The greatest of some upper limits, each the least of its parts, as a Python expression."""
    return _shift(*_upper(facts, limits, values))


def width(facts: Facts, lows: tuple[Limit, ...], highs: tuple[Limit, ...], fewest: int) -> Size:
    """``high − low + 1``, but not below ``fewest``: how many values an interval has."""
    (high, plus), (low, minus) = _upper(facts, highs), _lower(facts, lows)
    more = plus - minus + 1
    if not high and not low:
        return Size.number(max(fewest, more))
    text = f"{high} - {low}" if high and low else high or f"{more} - {low}"
    return Size(f"max({fewest}, {_shift(text, more) if high else text})")


def _lower(facts: Facts, limits: tuple[Limit, ...], values: Values = NO_VALUES) -> tuple[str, int]:
    return _extreme("min", [_extreme("max", _parts(facts, limit, "min", values)) for limit in limits])


def _upper(facts: Facts, limits: tuple[Limit, ...], values: Values = NO_VALUES) -> tuple[str, int]:
    return _extreme("max", [_extreme("min", _parts(facts, limit, "max", values)) for limit in limits])


def _parts(facts: Facts, limit: Limit, extreme: str, values: Values) -> list[tuple[str, int]]:
    """Each part as a formula (empty for a constant) and an offset."""
    constant = [] if limit.constant is None else [("", int(limit.constant))]
    named = ((values.get(a) or extreme_symbol(facts, extreme, a), int(offset)) for a, offset in limit.relations)
    return [*constant, *named]


def extreme_symbol(facts: Facts, extreme: str, attribute: Attribute) -> str:
    """The symbol of the least (``min``) or greatest (``max``) value of an attribute."""
    return symbol(extreme, facts.branch.source(attribute.source).table, attribute.column)


def _extreme(name: str, parts: list[tuple[str, int]]) -> tuple[str, int]:
    best = {text: (min if name == "min" else max)(n for other, n in parts if other == text) for text, _ in parts}
    if len(best) == 1:
        return next(iter(best.items()))
    return f"{name}({', '.join(_shift(text, offset) for text, offset in sorted(best.items()))})", 0


def _shift(text: str, offset: int) -> str:
    """A sum as people write it: nothing for 0, a subtraction for a negative number."""
    if not text:
        return str(offset)
    return text if offset == 0 else f"{text} {'+' if offset > 0 else '-'} {abs(offset)}"
