"""Blocks, pairs of streams and steps of recursions, as a judge has decided them and a job has them."""

from __future__ import annotations

from dataclasses import dataclass, field

from streambound.analyzer.columns import Column
from streambound.analyzer.query import Condition, Constant, Query
from streambound.criteria.bound import QueryBound


@dataclass(frozen=True, slots=True)
class BlockPart:
    """A select-project-join block: its query, split as its synopsis reads it, and its tables.

    Its results have these ``columns``, then a column for each of the query's sums.
    """

    name: str
    query: Query = field(repr=False)
    split: Query = field(repr=False)
    bound: QueryBound = field(repr=False)
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class BestPart:
    """A block of keys and a value of which only the best matters: the ``split`` set query has a virtual newest stream.

    Results are as the ``query``'s, but for values that cannot be the best of their keys.
    """

    name: str
    query: Query = field(repr=False)
    split: Query = field(repr=False)
    bound: QueryBound = field(repr=False)
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class PairPart:
    """A semi, anti or outer join of two streams: the inner join as a block, and each side alone, by its own conditions.

    ``left`` and ``right`` are the aliases that the sides have in the block. Columns are the block's.
    """

    name: str
    kind: str
    joint: BlockPart
    left: str
    right: str
    left_alone: Query = field(repr=False)
    right_alone: Query = field(repr=False)
    columns: tuple[Column, ...]

    @property
    def waiting(self) -> tuple[tuple[str, str], ...]:
        """The sides of which a row is a result for want of a partner, each with the other side."""
        both = (self.left, self.right), (self.right, self.left)
        return {"semi": (), "right": both[1:], "full": both}.get(self.kind, both[:1])


@dataclass(frozen=True, slots=True)
class RowTest:
    """``column op other + value`` of a row's columns; ``column op value`` where there is no other one.

    ``or_null``: a NULL passes as well.
    """

    column: str
    op: str
    other: str | None = None
    value: int | float | str | tuple[int | float | str, ...] | None = None
    or_null: bool = False


RowTests = tuple[tuple[RowTest, ...], ...]
"""Alternatives, of each of which a row passes all tests or not."""


@dataclass(frozen=True, slots=True)
class StepValue:
    """A value that a case of a recursion's step reads: a column of one of its participants, plus ``more``.

    These are its rows of r, in turn, then those of its inputs.
    """

    participant: int
    place: int
    more: int = 0


@dataclass(frozen=True, slots=True)
class StepPart:
    """One case of a recursion's step: so many rows of r, and one of each of the `FixpointPart.inputs` at these places.

    ``tests`` are conditions with what their attributes are; ``outputs`` the new row.
    """

    recursive: int
    inputs: tuple[int, ...]
    tests: tuple[tuple[Condition, tuple[StepValue, ...]], ...]
    outputs: tuple[StepValue | Constant, ...]
