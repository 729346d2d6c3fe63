"""Z-sets: finite maps from rows to integer weights (DBSP, section 4.1); and finite maps from keys to sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction

Value = Fraction | str | None
"""A value of a row, as the evaluator of expressions has it: None for NULL, a number exactly, a text."""

Row = tuple[Value, ...]
"""A row: its values by position."""


class ZSet:
    """A finite map from rows to weights other than 0; a commutative group under ``+``.

    A bag is one without negative weights, a set one whose weights are all 1.

    >>> ZSet({("a",): 2}) - ZSet({("a",): 2, ("b",): 1})
    ZSet({('b',): -1})
    """

    __slots__ = ("_weights",)

    def __init__(self, weights: Mapping[Row, int] | Iterable[tuple[Row, int]] = ()) -> None:
        pairs = weights.items() if isinstance(weights, Mapping) else weights
        summed: dict[Row, int] = {}
        for row, weight in pairs:
            known = len(summed)
            before = summed.setdefault(row, weight)  # rows are hashed slowly: a new one only once
            if len(summed) == known:
                summed[row] = before + weight
        self._weights = summed if all(summed.values()) else {row: weight for row, weight in summed.items() if weight}

    @classmethod
    def made(cls, weights: dict[Row, int]) -> ZSet:
        """The Z-set that has these weights, none of which is 0; they are not copied."""
        made = cls()
        made._weights = weights
        return made

    @classmethod
    def of(cls, rows: Iterable[Row]) -> ZSet:
        """The bag of some rows."""
        return cls((row, 1) for row in rows)

    def __getitem__(self, row: Row) -> int:
        return self._weights.get(row, 0)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._weights)

    def items(self) -> Iterable[tuple[Row, int]]:
        """The rows with their weights."""
        return self._weights.items()

    def __len__(self) -> int:
        return len(self._weights)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZSet) and self._weights == other._weights

    def __hash__(self) -> int:
        return hash(frozenset(self._weights.items()))

    def __repr__(self) -> str:
        return f"ZSet({self._weights!r})"

    def __add__(self, other: ZSet) -> ZSet:
        if not other:
            return self
        if not self:
            return other
        summed = self._weights.copy()
        for row, weight in other.items():
            if total := summed.get(row, 0) + weight:
                summed[row] = total
            else:
                del summed[row]
        return ZSet.made(summed)

    def __neg__(self) -> ZSet:
        return ZSet.made({row: -weight for row, weight in self.items()})

    def __sub__(self, other: ZSet) -> ZSet:
        return self + -other if other else self

    def distinct(self) -> ZSet:
        """Each row of positive weight once (definition 4.4)."""
        return ZSet.made({row: 1 for row, weight in self.items() if weight > 0})

    def positive(self) -> ZSet:
        """The rows of positive weight, with it: what is left of a difference of bags."""
        return ZSet.made({row: weight for row, weight in self.items() if weight > 0})

    def map(self, change: Callable[[Row], Row]) -> ZSet:
        """The Z-set of changed rows; weights of rows that become equal are summed."""
        return ZSet((change(row), weight) for row, weight in self.items())

    def filter(self, keep: Callable[[Row], bool]) -> ZSet:
        """The rows that a condition keeps."""
        return ZSet.made({row: weight for row, weight in self.items() if keep(row)})


class KeyedSums:
    """A finite map from keys to vectors of numbers that are not all 0; a commutative group under ``+``.

    What a linear aggregate keeps of its groups (DBSP, section 7.2).

    >>> KeyedSums(1, {("x",): (3,)}) + KeyedSums(1, {("x",): (-3,)})
    KeyedSums({})
    """

    __slots__ = ("_sums", "width")

    def __init__(self, width: int, sums: Mapping[Row, tuple[Fraction | int, ...]] | None = None) -> None:
        self.width = width
        self._sums = {key: tuple(map(Fraction, vector)) for key, vector in (sums or {}).items() if any(vector)}

    def __getitem__(self, key: Row) -> tuple[Fraction, ...]:
        return self._sums.get(key, (Fraction(0),) * self.width)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._sums)

    def __len__(self) -> int:
        return len(self._sums)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyedSums) and self._sums == other._sums

    def __hash__(self) -> int:
        return hash(frozenset(self._sums.items()))

    def __repr__(self) -> str:
        return f"KeyedSums({self._sums!r})"

    def _combined(self, other: KeyedSums, sign: int) -> KeyedSums:
        sums = dict(self._sums)
        for key in other:
            sums[key] = tuple(a + sign * b for a, b in zip(self[key], other[key], strict=True))
        return KeyedSums(self.width, sums)

    def __add__(self, other: KeyedSums) -> KeyedSums:
        return self._combined(other, 1)

    def __sub__(self, other: KeyedSums) -> KeyedSums:
        return self._combined(other, -1)

    def __neg__(self) -> KeyedSums:
        return KeyedSums(self.width) - self
