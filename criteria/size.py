"""Sizes that are numbers when the catalog gives them and formulas otherwise: what the bound M is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class Size:
    """A non-negative size: ``text``, a formula in Python syntax over symbols, and ``value``, a number it never exceeds.

    The value is exact when every symbol in the formula is known, and None when too few are.

    Symbols: ``c_S`` tuples of stream S per timestamp; ``rows_R`` rows of relation R; ``min_R_a`` and ``max_R_a`` the
    extreme values of its column a.
    """

    text: str
    value: int | None = None

    @classmethod
    def number(cls, value: int) -> Size:
        """A known size."""
        return cls(str(value), value)

    @classmethod
    def symbol(cls, name: str, value: int | None = None) -> Size:
        """A named size, with its value where the catalog declares it."""
        return cls(name, value)


def product(sizes: Iterable[Size]) -> Size:
    """The product; factors of 1 are left out.

    >>> product([Size.number(3), Size("c_S"), Size.number(1)]).text
    '3*c_S'
    """
    factors = [size for size in sizes if size.text != "1"]
    if not factors:
        return Size.number(1)
    numbers = [size.value for size in factors if size.text == str(size.value) and size.value is not None]
    symbols = [size for size in factors if size.text != str(size.value)]
    head = [str(prod(numbers))] if numbers and (prod(numbers) != 1 or not symbols) else []
    texts = [size.text if len(factors) == 1 else _grouped(size.text) for size in symbols]
    return Size("*".join([*head, *texts]), _all_known(factors, prod))


def total(sizes: Iterable[Size]) -> Size:
    """The sum; numbers are added up.

    >>> total([Size.number(3), Size("c_S"), Size.number(4)]).text
    'c_S + 7'
    """
    terms = list(sizes)
    number = sum(size.value for size in terms if size.text == str(size.value) and size.value is not None)
    symbols = [size.text for size in terms if size.text != str(size.value)]
    parts = [*symbols, *([str(number)] if number or not symbols else [])]
    return Size(" + ".join(parts), _all_known(terms, sum))


def least(sizes: Iterable[Size]) -> Size:
    """The smallest of some sizes; one known among them is enough for a number."""
    terms = list(dict.fromkeys(sizes))
    if len(terms) == 1:
        return terms[0]
    known = [size.value for size in terms if size.value is not None]
    if len(known) == len(terms) and all(size.text == str(size.value) for size in terms):
        return Size.number(min(known))
    return Size(f"min({', '.join(size.text for size in terms)})", min(known, default=None))


def _grouped(text: str) -> str:
    plain = text.replace("_", "").replace("*", "").isalnum() or (
        text.startswith(("min(", "max(")) and text.endswith(")")
    )
    return text if plain else f"({text})"


def _all_known(sizes: list[Size], combine: object) -> int | None:
    values = [size.value for size in sizes]
    return combine(values) if None not in values else None  # type: ignore[operator]
