"""Promises that rows no longer matter to joins after a while: `ttl` of a stream.

S ⋈_p T  ->  S ⋈_{p ∧ T.ts <= S.ts + ttl} T, where ttl is that of S: of rows that come later than that nothing is
joined with it, as if each join had that window: also outer joins, EXISTS and NOT EXISTS.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.calls import interval_syntax
from streambound.analyzer.algebra.nodes import JoinKind
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import meant
from streambound.analyzer.algebra.substitution import values_of
from streambound.analyzer.algebra.syntax import column_of, conjunction, conjuncts
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.types import Family

Times = dict[int, DeclaredTable]
"""The columns, by place, that are times of streams' rows which each row is made of."""
_LEFT_ALONE = (JoinKind.LEFT, *nodes.ONE_SIDED)


def with_waiting_times(tree: nodes.Tree, catalog: Catalog) -> nodes.Tree:
    """A tree whose joins have the windows that streams promise; the same one where there are none."""
    if all(table.ttl is None for table in catalog.tables):
        return tree
    below = {name: with_waiting_times(one, catalog) for name, one in nodes.named_inputs(tree).items()}
    if any(one is not getattr(tree, name) for name, one in below.items()):
        tree = replace(tree, **below)
    if not isinstance(tree, nodes.Join) or (tree.using and tree.kind is not JoinKind.INNER):
        return tree
    more = [window for _, window in _windows(tree, catalog)]
    if tree.using and (above := conjunction(more)) is not None:
        return nodes.Filter(tree, above, syntax=tree.syntax, at=tree.at)
    return replace(tree, condition=conjunction([*conjuncts(tree.condition), *more])) if more else tree


def waiting_streams(tree: nodes.Tree, catalog: Catalog) -> Iterator[DeclaredTable]:
    """The streams whose rows wait in joins for as long as they promise."""
    if isinstance(tree, nodes.Join) and (not tree.using or tree.kind is JoinKind.INNER):
        yield from (table for table, _ in _windows(tree, catalog))
    for below in nodes.inputs(tree):
        yield from waiting_streams(below, catalog)


def _windows(tree: nodes.Join, catalog: Catalog) -> Iterator[tuple[DeclaredTable, exp.Expr]]:
    """How much later a row of each side's streams may come than one of the other side's."""
    width, both = len(schema(tree.left, catalog)), (*schema(tree.left, catalog), *schema(tree.right, catalog))
    mine = _times(tree.left, catalog)
    theirs = {place + width: table for place, table in _times(tree.right, catalog).items()}
    for waiting, coming in ((mine, theirs), (theirs, mine)):
        for (first, table), second in product(waiting.items(), coming):
            columns = column_of(both[first]), column_of(both[second])
            if table.ttl is not None and [meant(one, both) for one in columns] == [first, second]:
                until = exp.Add(this=columns[0], expression=_length(table))
                yield table, exp.LTE(this=columns[1], expression=until)


def _length(table: DeclaredTable) -> exp.Expr:
    """The promise of a stream, as what is added to its time."""
    assert table.ttl is not None and table.timestamp is not None, "a stream with a promise"
    time = table.column(table.timestamp)
    is_timestamp = time is not None and time.type.family is Family.TIMESTAMP
    return interval_syntax(table.ttl.length) if is_timestamp else exp.Literal.number(table.ttl.length)


def _times(tree: nodes.Tree, catalog: Catalog) -> Times:
    match tree:
        case nodes.Scan():
            table = catalog.table(tree.table)
            if table is None or table.kind is not Kind.STREAM or table.has_dates:
                return {}
            return {p: table for p, column in enumerate(schema(tree, catalog)) if column.name == table.timestamp}
        case nodes.Filter(input) | nodes.Alias(input) | nodes.Distinct(input):
            return _times(input, catalog)
        case nodes.Project(input, items):
            given, below = schema(input, catalog), _times(input, catalog)
            plain = [meant(one, given) if isinstance(one, exp.Column) else None for one in values_of(items, given)]
            return {place: below[one] for place, one in enumerate(plain) if one in below}
        case nodes.Join(using=(), kind=kind, left=left, right=right):
            width = len(schema(left, catalog)) if kind not in nodes.ONE_SIDED else 0
            mine = {} if kind in (JoinKind.RIGHT, JoinKind.FULL) else _times(left, catalog)
            theirs = {} if kind in (*_LEFT_ALONE, JoinKind.FULL) else _times(right, catalog)
            return mine | {place + width: table for place, table in theirs.items()}
    return {}
