"""Pieces of trees that the rules take apart and put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Alias,
    Apply,
    ApplyKind,
    Filter,
    Join,
    JoinKind,
    Named,
    Project,
    Scalar,
    Scan,
    Tree,
)
from streambound.analyzer.algebra.schema import parsed, qualified, schema, starred_places
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.algebra.verify import outer_columns
from streambound.analyzer.catalog import Catalog

Names = Mapping[tuple[str, str], exp.Column]
"""Columns by name and alias, as they are written."""
ONE = exp.Literal.number(1)
_MOVED = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)


def scalar(node: exp.Expr) -> Scalar:
    """An expression of a tree."""
    return Scalar(node.sql("spark"), node)


def conjuncts(condition: Scalar | None) -> list[exp.Expr]:
    """The parts of a condition that must all be true."""

    def parts(node: exp.Expr) -> Iterator[exp.Expr]:
        inner = node.unnest()
        if isinstance(inner, exp.And):
            yield from parts(inner.left)
            yield from parts(inner.right)
        else:
            yield inner.copy()

    return [] if condition is None else list(parts(parsed(condition)))


def all_of(parts: Iterable[exp.Expr]) -> Scalar | None:
    """The condition that all of some are true; None of none."""
    several = [part.copy() for part in parts]
    return scalar(exp.and_(*several)) if several else None


def columns_in(nodes: Iterable[exp.Expr]) -> list[exp.Column]:
    """The columns that expressions read."""
    return [column for node in nodes for column in node.find_all(exp.Column)]


def names_in(scalars: Iterable[Scalar | None]) -> Names:
    """What expressions read, by name: as it is written first."""
    nodes = [parsed(one) for one in scalars if one is not None]
    return {(c.name, c.table): c for node in reversed(nodes) for c in node.find_all(exp.Column)}


def called(column: ViewColumn, names: Iterable[tuple[str, str]] | None) -> bool:
    """Whether some of the names mean a column; None means all."""
    return names is None or any(column.called(*name) for name in names)


def read_by(tree: Project, where: Scalar | None, given: Schema) -> Names | None:
    """The columns that a SELECT reads, in its list and in a condition; None for all of those ``given`` below it."""
    read = list[Scalar | None]()
    for item in tree.items:
        if isinstance(item, Named):
            read.append(item.value)
            continue
        shown = [given[place] for place in starred_places(item, given)]
        if len(shown) == len(given) or any(sum(o.called(c.name, c.alias) for o in given) > 1 for c in shown):
            return None
        read += [scalar(exp.column(column.name, table=column.alias or None, quoted=True)) for column in shown]
    return names_in([*read, where])


def under_filter(tree: Tree) -> tuple[Tree, Scalar | None]:
    """A tree without the condition above it, and that."""
    return (tree.input, tree.condition) if isinstance(tree, Filter) else (tree, None)


def joined(
    left: Tree, right: Tree, condition: Scalar | None, catalog: Catalog, syntax: exp.Expr | None, on: bool = False
) -> Tree:
    """The inner join of two sides, with the left one's condition, and then that of the join, above it."""
    below, own = under_filter(left)
    body: Tree = Join(JoinKind.INNER, below, right, condition if on else None, syntax=syntax)
    mine = [qualified(own, schema(below, catalog))] if own else []
    every = all_of([*mine, *([parsed(condition)] if condition and not on else [])])
    return body if every is None else Filter(body, every, syntax=syntax)


def plain_aliases(tree: Tree) -> Tree:
    """A tree without subqueries' names around it, where these rename no columns."""
    while isinstance(tree, Alias) and not tree.columns:
        tree = tree.input
    return tree


def aggregate_of(tree: Tree) -> tuple[Aggregate | None, list[Named]]:
    """The aggregate that a view is a SELECT of, and its select list; None where it is no such view."""
    while isinstance(tree, Alias):
        tree = tree.input
    if not isinstance(tree, Project):
        return None, []
    below, _ = under_filter(tree.input)
    items = [item for item in tree.items if isinstance(item, Named)]
    return (below, items) if isinstance(below, Aggregate) and len(items) == len(tree.items) else (None, [])


def call_named(item: Named, aggregate: Aggregate) -> AggregateCall | None:
    """The aggregate that an item of a select list is."""
    node = parsed(item.value)
    if not isinstance(node, exp.Column) or node.table:
        return None
    return next((call for call in aggregate.calls if call.name.lower() == node.name.lower()), None)


def with_input(tree: Tree, old: Tree, new: Tree) -> Tree:
    """A SELECT over another operator than the one that it is of."""
    if tree is old:
        return new
    assert isinstance(tree, Alias | Project | Filter), "a view is a SELECT"
    return replace(tree, input=with_input(tree.input, old, new))


# --- conditions above joins ------------------------------------------------------------------------------------------


def with_conditions_moved(tree: Tree, where: Scalar | None, catalog: Catalog) -> tuple[Tree, Scalar | None]:
    """A join with a view, in which the conditions above are as far down as they can be; and those that are left.

    A scalar subquery that always has one row is the join with it.
    """
    if isinstance(tree, Apply) and always_one_row(tree, catalog):
        named = Alias(tree.subquery, tree.name, (tree.name,), syntax=tree.syntax)
        tree = Join(JoinKind.INNER, tree.input, named, syntax=tree.syntax)
    if not isinstance(tree, Join) or tree.using or where is None:
        return tree, where
    if is_block(tree.right, catalog):
        first = plain_aliases(tree.left)
        around = tree.kind is JoinKind.INNER and isinstance(first, Scan) and first.changes
        if not around or parsed(where).find(exp.Query):
            return tree, where
        known_on = [parsed(tree.condition)] if tree.condition is not None else []
        return replace(tree, condition=all_of([*known_on, *conjuncts(where)])), None
    if tree.kind not in _MOVED or not (is_block(tree.left, catalog) or isinstance(tree.left, Join)):
        return tree, where
    parts = conjuncts(where)
    if any(part.find(exp.Query) for part in parts):
        return tree, where
    given = schema(tree.left, catalog)
    own = [part for part in parts if all(_is_of(column, given) for column in columns_in([part]))]
    rest = [part for part in parts if part not in own]
    left = tree.left
    if own and not is_block(left, catalog):
        moved, over = with_conditions_moved(left, all_of(own), catalog)
        left, rest = (moved, rest) if over is None else (left, [*own, *rest])
    elif own:
        below, known = under_filter(left)
        every = all_of([*([parsed(known)] if known else []), *own])
        assert every is not None
        left = Filter(below, every, syntax=tree.syntax)
    if tree.kind is JoinKind.INNER and rest:
        known_on = [parsed(tree.condition)] if tree.condition is not None else []
        return replace(tree, left=left, condition=all_of([*known_on, *rest])), None
    return replace(tree, left=left), all_of(rest)


def turned(tree: Join, catalog: Catalog) -> Join:
    """An inner join with its sides the other way round, and its conditions as far down as they can be."""
    around = replace(tree, left=tree.right, right=tree.left, condition=None)
    made, left = with_conditions_moved(around, tree.condition, catalog)
    assert isinstance(made, Join), "a join stays one"
    return made if left is None else replace(made, condition=left)


def always_one_row(tree: Apply, catalog: Catalog) -> bool:
    """Whether a scalar subquery is of an aggregate without keys, and of no column of the row outside."""
    below = tree.subquery
    while isinstance(below, Alias | Project):
        below = below.input
    one_row = tree.kind is ApplyKind.SCALAR and isinstance(below, Aggregate) and not below.keys
    return one_row and not outer_columns(tree.subquery, catalog)


def _is_of(column: exp.Column, given: Schema) -> bool:
    return any(one.called(column.name, column.table) for one in given)


def node_of(
    column: ViewColumn, needed: Names | None, shown: Sequence[ViewColumn], condition: Scalar | None = None
) -> exp.Column:
    """A column of a join's side as a query of its own writes it: as it is written above, or in the condition."""
    found = next((node for name, node in (needed or {}).items() if column.called(*name)), None)
    if found is None and condition is not None:
        nodes = columns_in([parsed(condition)])
        found = next((node for node in nodes if column.called(node.name, node.table)), None)
    if found is None:
        return exp.column(column.name, table=column.alias or None, quoted=True)
    if found.table or not column.alias or sum(one.called(found.name) for one in shown) > 1:
        return found
    node = found.copy()
    node.set("table", exp.to_identifier(column.alias, quoted=True))
    return node
