"""Limits of values as sizes: constants, and relations' and finite streams' extreme values."""

from __future__ import annotations

from streambound.analyzer.boundedness import Facts, Limit
from streambound.analyzer.query import Attribute
from streambound.analyzer.symbols import symbol
from streambound.criteria.size import Addition, Maximum, Minimum, Number, Size, Symbol, negative

_Shifted = tuple[Size | None, int]
"""A size, if any, and a number that is added to it."""


def width(facts: Facts, lows: tuple[Limit, ...], highs: tuple[Limit, ...], fewest: int) -> Size:
    """``high − low + 1``, but not below ``fewest``: how many values an interval has."""
    (high, plus), (low, minus) = _upper(facts, highs), _lower(facts, lows)
    more = plus - minus + 1
    if high is None and low is None:
        return Number(max(fewest, more))
    if low is None:
        many = _shift(high, more)
    elif high is None:
        many = Addition((Number(more), negative(low)))
    else:
        many = _shift(Addition((high, negative(low))), more)
    return Maximum((Number(fewest), many))


def _lower(facts: Facts, limits: tuple[Limit, ...]) -> _Shifted:
    """The least of some lower limits, each the greatest of its parts."""
    return _extreme(Minimum, [_extreme(Maximum, _parts(facts, limit, "min")) for limit in limits])


def _upper(facts: Facts, limits: tuple[Limit, ...]) -> _Shifted:
    """The greatest of some upper limits, each the least of its parts."""
    return _extreme(Maximum, [_extreme(Minimum, _parts(facts, limit, "max")) for limit in limits])


def _parts(facts: Facts, limit: Limit, extreme: str) -> list[_Shifted]:
    constant: list[_Shifted] = [] if limit.constant is None else [(None, int(limit.constant))]
    return [*constant, *((_extreme_symbol(facts, extreme, a), int(offset)) for a, offset in limit.relations)]


def _extreme_symbol(facts: Facts, extreme: str, attribute: Attribute) -> Symbol:
    """The symbol of the least (``min``) or greatest (``max``) value of an attribute."""
    return Symbol(symbol(extreme, facts.branch.source(attribute.source).table, attribute.column))


def _extreme(choice: type[Minimum] | type[Maximum], parts: list[_Shifted]) -> _Shifted:
    best: dict[str, _Shifted] = {}
    for size, offset in parts:
        text = "" if size is None else size.text
        _, other = best.get(text, (size, offset))
        best[text] = size, (min if choice is Minimum else max)(offset, other)
    if len(best) == 1:
        return next(iter(best.values()))
    return choice(tuple(_shift(*best[text]) for text in sorted(best))), 0


def _shift(size: Size | None, offset: int) -> Size:
    if size is None or offset == 0:
        return size or Number(offset)
    return Addition((*(size.parts if isinstance(size, Addition) else (size,)), Number(offset)))
