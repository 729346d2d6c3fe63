"""A select-project-join block whose streams' rows are kept apart, and joined again when a row comes.

It remembers no partial matches: a row of a stream is kept as long as it can be part of a result that is still to come.
Of three streams that follow each other within an hour these are the rows of each, not their product.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct, field

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.query import Query
from streambound.criteria.bound import BranchBound, QueryBound
from streambound.criteria.cases import Case
from streambound.criteria.size import Size
from streambound.criteria.synopsis import Synopsis
from streambound.criteria.tables import SynopsisTable
from streambound.criteria.ways import Way


class KeptRows(Struct, frozen=True):
    """The number of ``timestamps`` for which the rows of a stream are kept (None: for ever), and the most rows."""

    timestamps: int | None
    size: Size


class RowsApart(Synopsis, frozen=True, dict=True):
    """A branch without tables of partial matches: its streams' rows are kept, as it says by their aliases."""

    rows: Mapping[str, KeptRows] = field(default_factory=dict)

    @cached_property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """None of which there are partial matches."""
        return ()

    @cached_property
    def tables(self) -> tuple[SynopsisTable, ...]:
        """None."""
        return ()

    @cached_property
    def transitions(self) -> tuple[Way, ...]:
        """None: a result is made of all its rows at once."""
        return ()


def bound_apart(split: Query, kept: Mapping[str, KeptRows], entries: Size) -> QueryBound:
    """A split query, of whose streams rows are kept apart; all its branches are of the same sources."""
    branches = tuple(
        BranchBound(number, Case(branch), RowsApart(Facts.of(branch), rows=kept), ())
        for number, branch in enumerate(split.branches)
    )
    return QueryBound(branches, entries)


def kept_apart(sizes: QueryBound) -> Mapping[str, KeptRows] | None:
    """How long the rows of a block's streams are kept; None where its tables have partial matches."""
    parts = [one.synopsis for one in sizes.branches]
    return parts[0].rows if parts and isinstance(parts[0], RowsApart) else None
