"""A select-project-join block with the tables of its bound, as a job has it."""

from __future__ import annotations

from dataclasses import dataclass, field

from streambound.analyzer.columns import Column
from streambound.analyzer.query import Query
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
