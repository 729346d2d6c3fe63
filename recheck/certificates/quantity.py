"""A size that depends on symbols: which function of them it is, the number it never exceeds, and what it grows with.

Two formulas are one function of their symbols if they are one polynomial in symbols and in minima and maxima of such
polynomials. They are compared at a random point of a prime field (Schwartz 1980, Zippel 1979): different ones agree
there with a probability of about their degree divided by `_PRIME`. The point is chosen when the process starts, so
that no certificate can be made to fit it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

_PRIME = 2**521 - 1
_SMALL = 2**256
"""A random quotient in the field is one of two integers with a smaller product in about one of 2^256 cases."""
_POINT = secrets.token_bytes(32)


class Quantity(Struct, frozen=True):
    """A function of symbols: its value where all are 0 (minima and maxima of them, too), and at the random point.

    ``most`` is its greatest value for the numbers that the catalog declares, None where it declares too few. ``rated``
    says that it grows with the tuples per timestamp of some stream, ``signed`` that it may be negative.
    """

    at_zero: int
    at_point: int
    most: int | None
    rated: bool = False
    signed: bool = False

    @classmethod
    def number(cls, value: int) -> Quantity:
        """A constant."""
        return cls(value, value % _PRIME, value, signed=value < 0)

    @classmethod
    def symbol(cls, name: str, declared: int | None = None) -> Quantity:
        """A symbol, with the number that the catalog declares."""
        return cls(
            0, _random("symbol", name), declared, name.startswith(("c_", "rate_")), name.startswith(("min_", "max_"))
        )

    def __add__(self, other: Quantity) -> Quantity:
        most = None if self.most is None or other.most is None else self.most + other.most
        return self._with(other, self.at_zero + other.at_zero, self.at_point + other.at_point, most)

    def __sub__(self, other: Quantity) -> Quantity:
        """A difference that is known to grow with all symbols: its greatest value is that of the greatest ones."""
        most = None if self.most is None or other.most is None else self.most - other.most
        return self._with(other, self.at_zero - other.at_zero, self.at_point - other.at_point, most)

    def __mul__(self, other: Quantity) -> Quantity:
        if self.same(_NOTHING) or other.same(_NOTHING):
            return _NOTHING
        most = None if self.most is None or other.most is None else self.most * other.most
        return self._with(other, self.at_zero * other.at_zero, self.at_point * other.at_point, most)

    def _with(self, other: Quantity, at_zero: int, at_point: int, most: int | None) -> Quantity:
        constant = (at_point - at_zero) % _PRIME == 0
        signed = at_zero < 0 if constant else self.signed or other.signed
        return Quantity(at_zero, at_point % _PRIME, most, self.rated or other.rated, signed)

    def same(self, other: Quantity) -> bool:
        """Whether it is the same function of the symbols."""
        return (self.at_zero, self.at_point) == (other.at_zero, other.at_point)

    @property
    def constant(self) -> int | None:
        """The number that it is; None where it depends on symbols."""
        return self.at_zero if self._shape == 0 else None

    @property
    def unlimited(self) -> Quantity:
        """The same function where nothing is known of its values."""
        return replace(self, most=None)

    @property
    def _shape(self) -> int:
        """What it has in common with the functions that differ from it by a constant."""
        return (self.at_point - self.at_zero) % _PRIME


_NOTHING = Quantity.number(0)


def least(parts: Iterable[Quantity]) -> Quantity:
    """The least of some; one that is never exceeded is enough for all."""
    several = list(parts)
    known = [part.most for part in several if part.most is not None]
    return _extreme("min", several, min(known, default=None), all(part.rated for part in several))


def greatest(parts: Iterable[Quantity]) -> Quantity:
    """The greatest of some."""
    several = list(parts)
    known = [part.most for part in several if part.most is not None]
    return _extreme(
        "max",
        several,
        max(known) if len(known) == len(several) else None,
        any(part.rated for part in several),
    )


def _extreme(name: str, parts: list[Quantity], most: int | None, rated: bool) -> Quantity:
    """A minimum or maximum; of parts that differ by a constant only one counts, and a single one is itself."""
    better = min if name == "min" else max
    shapes: dict[int, int] = {}
    for part in _without_multiples(parts) if name == "min" else parts:
        shapes[part._shape] = better(part.at_zero, shapes.get(part._shape, part.at_zero))
    positive = [part for part in parts if not part.signed]
    signed = len(positive) < len(parts) if name == "min" else not positive
    if len(shapes) == 1:
        ((shape, at_zero),) = shapes.items()
        return Quantity(at_zero, (shape + at_zero) % _PRIME, most, rated, signed)
    point = _random(name, *(f"{shape}+{number}" for shape, number in sorted(shapes.items())))
    return Quantity(0, point, most, rated, signed)


def _without_multiples(parts: Iterable[Quantity]) -> list[Quantity]:
    """Those that are not a multiple of another by more than 1, which is never less where neither is negative."""
    kept: list[Quantity] = []
    for part in parts:
        times = [None if part.signed or one.signed else _times(part, one) for one in kept]
        if all(more is None or more < 1 for more in times):
            kept = [one for one, more in zip(kept, times, strict=True) if more is None] + [part]
    return kept


def _times(part: Quantity, other: Quantity) -> Fraction | None:
    """How many times the other one a part is, if that is a positive number."""
    if not part.at_point or not other.at_point:
        return None
    found = _fraction(part.at_point * pow(other.at_point, -1, _PRIME) % _PRIME)
    return found if found is not None and part.at_zero == found * other.at_zero else None


@lru_cache(maxsize=4096)
def _fraction(residue: int) -> Fraction | None:
    """The small fraction that an element of the field is (Wang 1981, by Euclid's algorithm), if it is one."""
    one, other = (_PRIME, 0), (residue, 1)
    while other[0]:
        if other[0] * abs(other[1]) < _SMALL:
            return Fraction(*other) if other[1] > 0 else None
        quotient = one[0] // other[0]
        one, other = other, (one[0] - quotient * other[0], one[1] - quotient * other[1])
    return None


def product(parts: Iterable[Quantity]) -> Quantity:
    """The product; 1 of none."""
    found = Quantity.number(1)
    for part in parts:
        found = found * part
    return found


def total(parts: Iterable[Quantity]) -> Quantity:
    """The sum; 0 of none."""
    found = _NOTHING
    for part in parts:
        found = found + part
    return found


def _random(*names: str) -> int:
    """A coordinate of the random point."""
    text = "\0".join(names).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, key=_POINT, digest_size=64).digest()) % _PRIME
