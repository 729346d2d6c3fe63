"""How many values an expression has over the rows of a tree: by what its blocks leave of the columns that it reads.

Every operator shows values of the rows below it, a join perhaps NULL beside them. Conditions that stand above count
where they are of the same columns; what is left out of them only makes the number larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import prod

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Aggregate,
    AsOf,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    Named,
    Project,
    Scan,
    SpjBlock,
    Star,
    Tree,
    Union,
    named_inputs,
)
from streambound.analyzer.algebra.schema import parsed, schema, starred_places
from streambound.analyzer.algebra.schema_columns import Schema, meant
from streambound.analyzer.findings import Finding
from streambound.analyzer.relation_queries import is_static
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.distances import ContradictionError
from streambound.recheck.circuits.changes import values_of
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.evidence import different_values
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import (
    all_of,
    columns_in,
    conjuncts,
    joined,
    plain_aliases,
    scalar,
    under_filter,
)

_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_STRICT = (*_COMPARED, exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Mod, exp.IntDiv, exp.Paren, exp.Column, exp.Literal)
"""What is NULL of a column that is NULL."""
_MATCHED = ((JoinKind.INNER, "left"), (JoinKind.INNER, "right"), (JoinKind.SEMI, "left"), (JoinKind.LEFT, "right"),
            (JoinKind.RIGHT, "left"))  # fmt: skip
"""Sides of joins whose rows all satisfy the condition, but for NULLs in their place."""


def most_values(
    tree: Tree, node: exp.Expr, states: States, where: Sequence[exp.Expr] = (), padded: bool = False
) -> int:
    """The most values of an expression over a tree's rows for which conditions are true.

    ``padded``: there are rows of NULLs among them. Raises NotRecheckedError where it knows no number.
    """
    if is_block(tree, states.catalog):
        with suppress(Finding):  # one that is read as an operator is
            return _of_block(tree, node, states, where, padded)
    match tree:
        case Filter(input, condition):
            parts = [part for part in conjuncts(condition) if not part.find(exp.Query)]
            return most_values(input, node, states, [*where, *parts], padded)
        case SpjBlock(input) | Distinct(input):
            return most_values(input, node, states, where, padded)
        case Join():
            return _of_join(tree, node, states, where, padded)
        case Union(left, right):
            return sum(_below(tree, one, node, states, where, padded) for one in (left, right))
        case AsOf(Scan() as scan) | (Scan() as scan):
            return _of_relation(scan, node, states)
        case Except() | Intersect():
            return _below(tree, tree.left, node, states, where, padded)
    below = named_inputs(tree).get("input")
    if below is None:
        raise NotRecheckedError("aggregates of views without a number of rows")
    return _below(tree, below, node, states, where, padded)


def rejects_null(condition: exp.Expr) -> bool:
    """Whether a condition compares a column as it is, so that it is not true of NULL."""
    return isinstance(condition, _COMPARED) and any(isinstance(one, exp.Column) for one in condition.args.values())


def _below(tree: Tree, below: Tree, node: exp.Expr, states: States, where: Sequence[exp.Expr], padded: bool) -> int:
    """By the operator's input, of whose columns the expression is."""
    own = _over(tree, below, node, states)
    if own is None:
        raise NotRecheckedError("aggregates of views without a number of rows")
    parts = (_over(tree, below, part, states) for part in where)
    return most_values(below, own, states, [part for part in parts if part is not None], padded)


def _over(tree: Tree, below: Tree, node: exp.Expr, states: States) -> exp.Expr | None:
    """An expression over an operator's columns as one over those of its input; None where it is none."""
    shown, given = schema(tree, states.catalog), schema(below, states.catalog)
    found = {id(one): _column_of(tree, meant(one, shown), given) for one in node.find_all(exp.Column)}
    if any(one is None for one in found.values()):
        return None
    if isinstance(node, exp.Column):
        return found[id(node)]
    copy = node.copy()
    for old, one in zip(list(node.find_all(exp.Column)), list(copy.find_all(exp.Column)), strict=True):
        if (value := found[id(old)]) is not None:
            one.replace(value if isinstance(value, exp.Column) else exp.paren(value))
    return copy


def _column_of(tree: Tree, place: int | None, given: Schema) -> exp.Expr | None:
    """What a column of an operator, by its place, is over the columns of its input."""
    if place is None:
        return None
    match tree:
        case Project(items=items):
            shown = list[exp.Expr]()
            for item in items:
                places = starred_places(item, given) if isinstance(item, Star) else ()
                shown += [_named(given, n) for n in places] if isinstance(item, Star) else [parsed(item.value).copy()]
            return shown[place]
        case Aggregate(keys=keys):
            return parsed(keys[place].value).copy() if place < len(keys) else None
    return _named(given, place) if place < len(given) else None


def _qualified(node: exp.Expr, given: Schema) -> exp.Expr:
    """An expression that means the same beside other sources."""

    def by_alias(one: exp.Expr) -> exp.Expr:
        place = meant(one, given) if isinstance(one, exp.Column) else None
        return one if place is None else _named(given, place)

    return node.copy().transform(by_alias)


def _named(given: Schema, place: int) -> exp.Column:
    return exp.column(given[place].name, table=given[place].alias or None, quoted=True)


def _of_join(tree: Join, node: exp.Expr, states: States, where: Sequence[exp.Expr], padded: bool) -> int:
    """By the side whose columns it reads, and by what the condition says where all of its rows have a partner."""
    read = columns_in([node])
    sides = [
        name for name in ("left", "right")[: 1 if tree.kind in ONE_SIDED else 2] if _reads(tree, name, read, states)
    ]
    if tree.using or len(sides) != 1:
        if tree.using or isinstance(node, exp.Column):
            raise NotRecheckedError("aggregates of views without a number of rows")
        return prod(most_values(tree, one, states, where, padded) for one in read)
    (name,) = sides
    side: Tree = getattr(tree, name)
    node = _qualified(node, schema(side, states.catalog))
    own = [part for part in where if _reads(tree, name, columns_in([part]), states)]
    filled = tree.kind is JoinKind.FULL or (tree.kind, name) in ((JoinKind.LEFT, "right"), (JoinKind.RIGHT, "left"))
    padded = (padded or filled) and not any(map(rejects_null, own))
    if (tree.kind, name) not in _MATCHED:
        return most_values(side, node, states, own, padded)
    on = [part for part in conjuncts(tree.condition) if not part.find(exp.Query)]
    there = [exp.Not(this=exp.Is(this=one.copy(), expression=exp.Null())) for part in on for one in _compared(part)]
    mine = [part for part in [*on, *there] if _reads(tree, name, columns_in([part]), states)]
    found, ways = list[int](), [(side, [*own, *mine])]
    if is_block(tree.left, states.catalog) and is_block(tree.right, states.catalog):
        ways.append((joined(tree.left, tree.right, tree.condition, states.catalog, tree.syntax), own))
    for rows, parts in ways:
        with suppress(NotRecheckedError, Finding):
            found.append(most_values(rows, node, states, parts, padded))
    if not found:
        raise NotRecheckedError("rows of a join without a number of values")
    return min(found)


def _reads(tree: Join, side: str, columns: Sequence[exp.Column], states: States) -> bool:
    """Whether columns are those of a side."""
    given = schema(getattr(tree, side), states.catalog)
    return bool(columns) and all(meant(one, given) is not None for one in columns)


def _compared(part: exp.Expr) -> list[exp.Column]:
    return [one for one in part.args.values() if isinstance(one, exp.Column)] if isinstance(part, _COMPARED) else []


def _of_relation(scan: Scan, node: exp.Expr, states: States) -> int:
    """By the declared domains of a relation that changes."""
    table, found = states.catalog.table(scan.table), 1
    for one in {column.name.lower() for column in columns_in([node])}:
        column = None if table is None else table.column(one)
        size = None if column is None else values_of(column)
        if size is None:
            raise NotRecheckedError("columns of a relation without a domain")
        found *= size + 1
    return found


def _rows_of_relation(tree: Tree, states: States) -> int | None:
    """How many rows a relation has that does not change; None for another tree, or where nothing says so."""
    scan = plain_aliases(tree)
    table = states.catalog.table(scan.table) if isinstance(scan, Scan) and is_static(scan, states.catalog) else None
    return None if table is None else table.rows


def _of_block(tree: Tree, node: exp.Expr, states: States, where: Sequence[exp.Expr], padded: bool) -> int:
    """By what the conditions leave of a column, or of those that it is computed of."""
    below, known = under_filter(tree)
    while isinstance(below, Filter):
        below, more = under_filter(below)
        where = [*conjuncts(more), *where]
    every = all_of([*conjuncts(known), *where])
    rows = below if every is None else Filter(below, every, syntax=tree.syntax)
    strict = all(isinstance(one, (*_STRICT, exp.Identifier)) for one in node.walk())
    found = 0
    try:
        split = derive(states.blocks.query(rows, [Named("c", scalar(node), alias=True)], distinct=True)).split
        for branch in split.branches:
            with suppress(ContradictionError):
                found += different_values(Conditions(branch), padded and strict)
    except (NotRecheckedError, Finding):
        if isinstance(node.unnest(), exp.Predicate | exp.Connector | exp.Not):
            return 3  # with NULL
        if (rows_of := _rows_of_relation(below, states)) is not None:
            return rows_of + padded
        if isinstance(node, exp.Column):
            raise
        columns = {one.sql(): one for one in columns_in([node])}.values()
        return prod(_of_block(tree, one, states, where, padded) for one in columns)
    return max(found, 1) if padded and strict else found + padded
