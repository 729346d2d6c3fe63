"""A select-project-join block with the tables of its bound, as a job has it."""

from __future__ import annotations

from msgspec import Struct

from streambound.analyzer.columns import Column
from streambound.analyzer.query import Query
from streambound.criteria.bound import QueryBound


class BlockPart(Struct, frozen=True):
    """A select-project-join block: its query, split as its synopsis reads it, and its tables.

    Its results have these ``columns``, then a column for each of the query's sums.
    """

    name: str
    query: Query
    split: Query
    bound: QueryBound
    columns: tuple[Column, ...]
