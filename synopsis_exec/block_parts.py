"""What a job's operators are made of that are more than a block: the best values of one, and a join of two streams."""

from __future__ import annotations

from dataclasses import dataclass, field

from streambound.analyzer.columns import Column
from streambound.analyzer.query import Query
from streambound.criteria.block_part import BlockPart
from streambound.criteria.bound import QueryBound


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
