"""What is known of the rows of an operator, by position: the facts of `analyzer.algebra`, with symbolic sizes.

Each row is made of at most one row of each *source* below, and no two rows are made of the same ones. So the rows that
are open are at most as many as there are combinations of sources' rows that they can be made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Bucket, BucketKind, Filter, Project, Scalar, Tree
from streambound.analyzer.algebra.schema_columns import Schema, meant, read_by
from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, TimePromise, ViewKind, promises
from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.criteria.size import Size

Places = frozenset[int]
ONLY_ROW = "the only row of the "
"""Sources that stand for the row of a join's side, the right or the left one, which is made of no others'."""
VALUES_OF_SESSION = "values of a session"
"""A source that stands for those rows of a session of which nothing is known but some values."""
BUCKET_ENDS = ("start", "end", "last")
"""What a bucket's columns are: its start, its end, and its last microsecond."""


class BucketEnd(Struct, frozen=True):
    """That a column is one of the ``BUCKET_ENDS`` of a bucket of time; ``left``: whether in a join's left side."""

    bucket: Bucket
    which: str
    left: tuple[bool, ...] = ()


class RisingColumn(Struct, frozen=True):
    """A column, by its place, that is never less in a later row of those that agree in the columns ``within``.

    It is a function over a window of the rows ``of`` an operator, in the order of its column number ``order``, and sums
    up ``summed`` columns that are never negative.
    """

    place: int
    within: Places
    of: Tree
    order: int
    summed: tuple[int, ...] = ()


class RowSource(Struct, frozen=True):
    """A source of rows: a stream, a relation of at most ``rows`` rows at a time, or buckets of time,
    one of which begins every ``every`` timestamps.

    ``missing``: a row may be made without it, as in an outer join. Rows of the sources ``by`` leave at most ``fan`` of
    this one's; so do rows beside a ``version`` of a relation.
    """

    table: DeclaredTable | None = None
    rows: Size | None = None
    missing: bool = False
    by: frozenset[str] | None = None
    fan: int = 1
    every: int | None = None
    version: bool = False

    @property
    def stream(self) -> DeclaredTable | None:
        """The stream that its rows are of."""
        return self.table if self.table is not None and self.table.kind is Kind.STREAM else None


class OperatorView(Struct, frozen=True):
    """The rows of an operator.

    ``keys`` are places of columns in which no two rows agree; ``rows`` the most there are at a time, None without
    limit; ``origins`` are the sources whose rows say a column's value. A union has ``parts``, whose columns are at the
    same places. ``near`` are promises of columns, by place, about sources that a row may be made without: where there
    is such a row. A select list is of the rows ``below``, of whose columns those by these places are shown at others.
    Values of columns that are ``clipped`` count as the nearest that is told apart: they say nothing of times. Rows
    come in an order in which some columns are ``rising``. In each row the columns of a set of ``equal`` ones are equal.
    """

    tree: Tree
    schema: Schema
    columns: tuple[ColumnFacts, ...]
    change: ViewKind
    keys: tuple[Places, ...]
    rows: Size | None
    sources: Mapping[str, RowSource]
    origins: tuple[frozenset[str], ...]
    parts: tuple[OperatorView, ...] = ()
    near: tuple[tuple[int, TimePromise], ...] = ()
    below: tuple[OperatorView, Mapping[int, int]] | None = None
    clipped: Places = frozenset()
    rising: tuple[RisingColumn, ...] = ()
    equal: tuple[Places, ...] = ()

    def ways_to_say(self, place: int) -> frozenset[frozenset[str]]:
        """The sources whose rows say a column's value, its own and those of columns that are equal to it."""
        same = frozenset((place,)).union(*(places for places in self.equal if place in places))
        return frozenset(self.origins[one] for one in same)

    @property
    def is_static(self) -> bool:
        """Whether its rows never change."""
        return self.change is ViewKind.STATIC

    @property
    def every(self) -> Places:
        """The places of all columns."""
        return frozenset(range(len(self.schema)))

    def read_by(self, *nodes: exp.Expr | Scalar | None) -> Places:
        """The places of the columns that expressions read, in their subqueries, too."""
        syntax = [one.syntax if isinstance(one, Scalar) else one for one in nodes if one is not None]
        return read_by(self.schema, *syntax)

    def narrowed(self, columns: Sequence[ColumnFacts]) -> OperatorView:
        """The same, of whose columns more is known; of its parts that, and when rows of all change."""
        parts = [
            part.narrowed([known_of_part(own, one) for own, one in zip(part.columns, columns, strict=True)])
            for part in self.parts
        ]
        below = self.below
        if below is not None:
            rows, shown = below
            inner = [
                known_of_part(own, columns[shown[place]] if place in shown else _ANYTHING)
                for place, own in enumerate(rows.columns)
            ]
            below = rows.narrowed(inner), shown
        return replace(self, columns=tuple(columns), parts=tuple(parts), below=below)


_ANYTHING = ColumnFacts()


def known_of_part(own: ColumnFacts, whole: ColumnFacts) -> ColumnFacts:
    """A column of a part: its own promises about sources, and the whole's about when rows change.

    Rows of other parts may come later: a group of rows of one part alone is open as long as any of the union is.
    """
    times = (*(one for one in own.times if one.source != NOW), *(one for one in whole.times if one.source == NOW))
    return ColumnFacts(own.values.meet(whole.values), promises(times))


def place_of(node: exp.Expr, given: OperatorView) -> int | None:
    """The place of the column that an expression is; None for another one."""
    inner = node.unnest()
    return meant(inner, given.schema) if isinstance(inner, exp.Column) else None


def session_of(tree: Tree) -> Bucket | None:
    """The sessions whose keys a select list has."""
    below = tree.input if isinstance(tree, Project) else None
    below = below.input if isinstance(below, Filter) else below
    return below if isinstance(below, Bucket) and below.kind is BucketKind.SESSION else None
