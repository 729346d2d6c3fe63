"""Sizes that are numbers when the catalog gives them and formulas otherwise: what the bound M is made of.

A size is a tree of numbers, symbols, sums, products, minima and maxima. `product`, `total` and `least` compose sizes in
a canonical order, so that equivalent ways to write a query give the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import product as cartesian
from math import prod
from typing import TYPE_CHECKING

from msgspec import Struct

from streambound.analyzer.work import spend

if TYPE_CHECKING:
    import sympy

_CHARACTERS_AT_ONCE = 40
_MOST_FREE, _TRIED = 6, (1, 10**6)
"""Symbols without a number for which `fewer` tries some, and these numbers."""


class Size(Struct, frozen=True, dict=True):
    """A non-negative size."""

    @property
    def parts(self) -> tuple[Size, ...]:
        """Its parts; empty for a number or a symbol."""
        return self.of if isinstance(self, Composed) else ()

    @cached_property
    def text(self) -> str:
        """The formula in Python syntax: over symbols, with ``min`` and ``max``."""
        spend(1 + sum(len(part.text) for part in self.parts) / _CHARACTERS_AT_ONCE)
        match self:
            case Number(number):
                return str(number)
            case Symbol(name):
                return name
            case Addition((first, *rest)):
                return first.text + "".join(f" {'-' if _number(term) < 0 else '+'} {_absolute(term)}" for term in rest)
            case Multiplication(factors):
                return "*".join(map(_as_factor, factors))
        return f"{'min' if isinstance(self, Minimum) else 'max'}({', '.join(part.text for part in self.parts)})"

    @cached_property
    def value(self) -> int | None:
        """A number that it never exceeds: exact when every symbol is known, None when too few are."""
        return self._worth(lambda symbol: symbol.most)

    def at(self, numbers: Mapping[str, int]) -> int:
        """Its value where the symbols have these; raises KeyError for a symbol that has none."""
        value = self._worth(lambda symbol: numbers[symbol.name])
        assert value is not None, "every symbol has a number"
        return value

    def _worth(self, known: Callable[[Symbol], int | None]) -> int | None:
        """Its value, or a number that it never exceeds, by what is known of its symbols."""
        spend()
        match self:
            case Number(number):
                return number
            case Symbol():
                return known(self)
            # It is an interval's width: a lower limit is subtracted, for which a number that is too large will not do.
            case Maximum() if any(known(leaf) is None for leaf in self.leaves if isinstance(leaf, Symbol)):
                return None
        found = [part._worth(known) for part in self.parts]
        values = [value for value in found if value is not None]
        match self:
            case Minimum():
                return min(values, default=None)
            case _ if len(values) < len(found):
                return None
            case Addition():
                return sum(values)
            case Multiplication():
                return prod(values)
        return max(values)

    @property
    def rated(self) -> bool:
        """Whether no number can be given without a stream's rate, ``c_S`` or ``rate_S``: the bound grows with it."""
        spend()
        if isinstance(self, Symbol):
            return self.name.startswith(("c_", "rate_"))
        return (all if isinstance(self, Minimum) else any)(part.rated for part in self.parts)

    @property
    def leaves(self) -> Iterator[Size]:
        """Its numbers and symbols, from left to right."""
        spend()
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves

    @property
    def symbols(self) -> frozenset[str]:
        """The names of its symbols."""
        return frozenset(leaf.name for leaf in self.leaves if isinstance(leaf, Symbol))


class Number(Size, frozen=True):
    """A known size; within an `Addition` it may be negative."""

    number: int


class Symbol(Size, frozen=True):
    """A named size, and ``most``, the number that the catalog declares for it.

    ``c_S`` tuples of stream S per timestamp; ``rows_R`` rows of relation R; ``min_R_a`` and ``max_R_a`` the extreme
    values of its column a; for a stream that is finite in the query, those until its end.
    """

    name: str
    most: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbol) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


class Composed(Size, frozen=True):
    """A size made of others, one or more."""

    of: tuple[Size, ...]


class Addition(Composed, frozen=True):
    """A sum; what has a negative number is subtracted."""


class Multiplication(Composed, frozen=True):
    """A product; of a single sum it is that sum in parentheses."""


class Minimum(Composed, frozen=True):
    """The smallest of several sizes; one known among them is enough for a number."""


class Maximum(Composed, frozen=True):
    """The greatest of several sizes."""


def product(sizes: Iterable[Size]) -> Size:
    """The product; numbers are multiplied.

    >>> product([Number(3), Symbol("c_S"), Number(2)]).text
    '6*c_S'
    """
    factors = list(sizes)
    return factors[0] if len(factors) == 1 else _multiplied(part for size in factors for part in factors_of(size))


def total(sizes: Iterable[Size]) -> Size:
    """The sum; like terms are collected, a number comes last.

    >>> total([Number(3), Symbol("c_S"), Number(4), product([Number(2), Symbol("c_S")])]).text
    '3*c_S + 7'
    """
    counted: dict[str, int] = {}
    rest: dict[str, list[Size]] = {}
    for term in (term for size in sizes for term in terms_of(size)):
        symbols = [factor for factor in factors_of(term) if not isinstance(factor, Number)]
        key = "*".join(map(_as_factor, symbols))
        counted[key] = counted.get(key, 0) + _number(term)
        rest[key] = symbols
    terms = [_multiplied([Number(counted[key]), *rest[key]]) for key in sorted(counted) if key and counted[key]]
    number = Number(counted.get("", 0))
    terms += [number] if number.number or not terms else []
    return terms[0] if len(terms) == 1 else Addition(tuple(terms))


def least(sizes: Iterable[Size]) -> Size:
    """The smallest of some sizes; of those that are multiples of the same one is left. A number comes first.

    >>> least([product([Number(257), Symbol("rows_R")]), product([Number(3), Symbol("rows_R")]), Number(9)]).text
    'min(9, 3*rows_R)'
    """
    best: dict[str, Size] = {}
    for size in sizes:
        symbols = "*".join(_as_factor(factor) for factor in factors_of(size) if not isinstance(factor, Number))
        best[symbols] = min(best.get(symbols, size), size, key=_number)
    terms = sorted(best.values(), key=lambda size: (not isinstance(size, Number), size.text))
    return terms[0] if len(terms) == 1 else Minimum(tuple(terms))


def fewer(one: Size, other: Size) -> bool:
    """Whether one size is less than another, and more in no case, as far as some numbers show for symbols without one.

    What has no number is not less than what has one.

    >>> fewer(Number(5), Symbol("rows_R")), fewer(Number(5), Symbol("rows_R", 6))
    (False, True)
    >>> fewer(Symbol("c_S"), product([Symbol("c_S"), Symbol("rows_R")]))
    True
    """
    symbols = {leaf.name: leaf.most for size in (one, other) for leaf in size.leaves if isinstance(leaf, Symbol)}
    free = [name for name, most in symbols.items() if most is None]
    if len(free) > _MOST_FREE or (one.value is None and other.value is not None):
        return False
    declared = {name: most for name, most in symbols.items() if most is not None}
    points = (declared | dict(zip(free, numbers, strict=True)) for numbers in cartesian(_TRIED, repeat=len(free)))
    pairs = [(one.at(point), other.at(point)) for point in points]
    return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)


def slower(one: Size, other: Size) -> bool:
    """Whether of two sizes without a number one is less than the other, if all that has none is as large.

    >>> S, T, U = map(Symbol, "STU")
    >>> slower(total([S, T, U]), product([S, T])), slower(product([S, T]), total([S, T, U]))
    (True, False)
    """
    if one.value is not None or other.value is not None:
        return False
    symbols = {leaf.name: leaf.most for size in (one, other) for leaf in size.leaves if isinstance(leaf, Symbol)}
    point = {name: max(_TRIED) if most is None else most for name, most in symbols.items()}
    return one.at(point) < other.at(point)


def negative(size: Size) -> Size:
    """The negation of a size."""
    return _multiplied([Number(-1), *factors_of(size)])


def grouped(size: Size) -> Size:
    """A sum in parentheses, so that it stays one term."""
    return Multiplication((size,)) if isinstance(size, Addition) else size


def _multiplied(factors: Iterable[Size]) -> Size:
    parts = list(factors)
    number = prod(part.number for part in parts if isinstance(part, Number))
    symbols = sorted((part for part in parts if not isinstance(part, Number)), key=_as_factor)
    if not number or not symbols:
        return Number(number)
    if number != 1:
        return Multiplication((Number(number), *symbols))
    return Multiplication(tuple(symbols)) if len(symbols) > 1 else grouped(symbols[0])


def _as_factor(size: Size) -> str:
    return f"({size.text})" if isinstance(size, Addition) else size.text


def _absolute(term: Size) -> str:
    return (negative(term) if _number(term) < 0 else term).text


def terms_of(size: Size) -> tuple[Size, ...]:
    """The summands of a size."""
    return size.of if isinstance(size, Addition) else (size,)


def factors_of(size: Size) -> tuple[Size, ...]:
    """The factors of a size."""
    return size.of if isinstance(size, Multiplication) else (size,)


def _number(size: Size) -> int:
    """The number that a term has for a factor."""
    return prod(factor.number for factor in factors_of(size) if isinstance(factor, Number))


def symbolic(size: Size) -> sympy.Expr:
    """A size as an expression over the symbols `c_S`, `rows_R`, `min_R_a`, `max_R_a`, all integers.

    >>> str(symbolic(total([product([Number(3), Symbol("c_S")]), Symbol("c_S")])))
    '4*c_S'
    """
    import sympy

    operations: dict[type[Size], sympy.Expr] = {
        Addition: sympy.Add,
        Multiplication: sympy.Mul,
        Minimum: sympy.Min,
        Maximum: sympy.Max,
    }

    def expression(size: Size) -> sympy.Expr:
        match size:
            case Number(number):
                return sympy.Integer(number)
            case Symbol(name):
                return sympy.Symbol(name, integer=True, nonnegative=name.startswith(("c_", "rate_", "rows_")) or None)
        return operations[type(size)](*map(expression, size.parts))

    return sympy.simplify(expression(size))
