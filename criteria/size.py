"""Sizes that are numbers when the catalog gives them and formulas otherwise: what the bound M is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class Size:
    """A non-negative size: ``text``, a formula in Python syntax over symbols, and ``value``, a number it never exceeds.

    The value is exact when every symbol in the formula is known, and None when too few are. Sizes are composed in a
    canonical order, so that equivalent ways to write a query give the same text.

    ``rated`` says that no number can be given without the tuples per timestamp, ``c_S``: the bound grows with them.

    Symbols: ``c_S`` tuples of stream S per timestamp; ``rows_R`` rows of relation R; ``min_R_a`` and ``max_R_a`` the
    extreme values of its column a; for a stream that is finite in the query, those until its end.
    """

    text: str
    value: int | None = None
    rated: bool = False

    @classmethod
    def number(cls, value: int) -> Size:
        """A known size."""
        return cls(str(value), value)

    @classmethod
    def symbol(cls, name: str, value: int | None = None) -> Size:
        """A named size, with its value where the catalog declares it."""
        return cls(name, value, name.startswith("c_"))


def product(sizes: Iterable[Size]) -> Size:
    """The product; numbers are multiplied.

    >>> product([Size.number(3), Size("c_S"), Size.number(2)]).text
    '6*c_S'
    """
    factors = list(sizes)
    texts = [part for size in factors for part in _factors(size.text)]
    number = prod(int(text) for text in texts if _is_number(text))
    symbols = sorted(text for text in texts if not _is_number(text))
    if len(factors) == 1 or number == 0:
        return factors[0] if number else Size.number(0)
    head = [str(number)] if number != 1 or not symbols else []
    return Size("*".join([*head, *symbols]), _all_known(factors, prod), any(size.rated for size in factors))


def total(sizes: Iterable[Size]) -> Size:
    """The sum; like terms are collected, a number comes last.

    >>> total([Size.number(3), Size("c_S"), Size.number(4), Size("2*c_S")]).text
    '3*c_S + 7'
    """
    terms = list(sizes)
    counted: Counter[str] = Counter()
    for size in terms:
        for term in _split(size.text, " + "):
            symbols = [factor for factor in _factors(term) if not _is_number(factor)]
            counted["*".join(symbols)] += prod(int(factor) for factor in _factors(term) if _is_number(factor))
    number = counted.pop("", 0)
    parts = [rest if n == 1 else f"{n}*{rest}" for rest, n in sorted(counted.items()) if n]
    text = " + ".join([*parts, *([str(number)] if number or not parts else [])])
    return Size(text, _all_known(terms, sum), any(size.rated for size in terms))


def least(sizes: Iterable[Size]) -> Size:
    """The smallest of some sizes; one known among them is enough for a number."""
    terms = sorted(dict.fromkeys(sizes), key=lambda size: (not _is_number(size.text), size.text))
    numbers = [size for size in terms if _is_number(size.text)]
    terms = [*([min(numbers, key=lambda size: int(size.text))] if numbers else []), *terms[len(numbers) :]]
    if len(terms) == 1:
        return terms[0]
    known = [size.value for size in terms if size.value is not None]
    text = f"min({', '.join(size.text for size in terms)})"
    return Size(text, min(known, default=None), all(size.rated for size in terms))


def _is_number(text: str) -> bool:
    return text.isdigit()


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators that are in no parentheses."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and text.startswith(separator, place):
            parts.append(text[start:place])
            start = place + len(separator)
    return [*parts, text[start:]]


def _factors(text: str) -> list[str]:
    """What a formula multiplies; a sum is one factor, in parentheses."""
    return [f"({text})"] if len(_split(text, " + ")) > 1 else _split(text, "*")


def _all_known(sizes: list[Size], combine: Callable[[list[int]], int]) -> int | None:
    values = [size.value for size in sizes if size.value is not None]
    return combine(values) if len(values) == len(sizes) else None
