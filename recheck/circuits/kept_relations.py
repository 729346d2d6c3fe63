"""Joins that keep rows of a relation which does not change: beside the inner join, an entry for each row of it (E1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Named, Project, Tree
from streambound.analyzer.algebra.schema import parsed, qualified, schema
from streambound.analyzer.algebra.schema_columns import ViewColumn
from streambound.analyzer.relation_queries import is_static
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.rows import static_rows
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import ONE, Names, all_of, called, names_in, node_of, scalar, under_filter
from streambound.recheck.circuits.view import JoinedSide, View

_ASKING = (JoinKind.SEMI, JoinKind.ANTI)


def keeps_relation(tree: Join, states: States) -> bool:
    """Whether the side of which all rows are shown, or those with or without a partner, is such a relation."""
    if tree.using or tree.kind in (JoinKind.INNER, JoinKind.NOT_IN):
        return False
    sides = {JoinKind.RIGHT: [tree.right], JoinKind.FULL: [tree.left, tree.right]}.get(tree.kind, [tree.left])
    return any(is_static(side, states.catalog) for side in sides)


def kept_relation(tree: Join, states: States) -> View:
    """The states of the inner join, the relation's rows, and of FULL JOIN those of the other side's rows alone."""
    first = tree.kind is not JoinKind.RIGHT and is_static(tree.left, states.catalog)
    kept, other = (tree.left, tree.right) if first else (tree.right, tree.left)
    needed = states.needed
    names: Names | None = None if needed is None else {**names_in([tree.condition]), **needed}
    left, right = schema(tree.left, states.catalog), schema(tree.right, states.catalog)
    given, beside = (left, right) if first else (right, left)
    own = [one for one in given if called(one, names)] or list(given[:1])
    theirs = [one for one in beside if called(one, needed) and tree.kind not in _ASKING]
    every = [*left, *right]

    def states_of(body: Tree, columns: Sequence[ViewColumn]) -> View:
        nodes: list[exp.Expr] = [node_of(one, names, every) for one in columns]
        nodes = nodes or [ONE]
        items = tuple(Named(f"c{n}", scalar(node), alias=True) for n, node in enumerate(nodes))
        return states.under(Project(body, items, syntax=tree.syntax), None)

    pairs = states_of(_inner(tree, states), [*own, *theirs])
    states.needed = names
    relation = static_rows(kept, states)
    states.needed = needed
    rows = relation.view.rows
    assert rows is not None, "a relation has a number of rows"
    states.line("E1", relation.columns, rows, "never: the relation does not change")
    if tree.kind in _ASKING:
        return View(rows)
    most = None if pairs.rows is None else pairs.rows + rows
    if tree.kind is JoinKind.FULL:  # beside which there is one row that is NULL in all columns
        states_of(replace(tree, kind=JoinKind.ANTI, left=other, right=kept), theirs)
        rows, most = rows + Quantity.number(1), None
    of_relation = frozenset(range(len(left)) if first else range(len(left), len(every)))
    return View(most, (), (JoinedSide(of_relation, lambda _: rows),))


def without_member(tree: Join) -> Join:
    """``x NOT IN (SELECT y …)`` of a relation's rows: those without a partner that is x, or NULL, or any where x is."""
    assert tree.member is not None, "what NOT IN compares"
    member = parsed(tree.member)
    null = [exp.Is(this=side.copy(), expression=exp.Null()) for side in (member.this, member.expression)]
    partner = exp.or_(member.copy(), *null)
    parts = [*([] if tree.condition is None else [parsed(tree.condition)]), partner]
    return replace(tree, kind=JoinKind.ANTI, member=None, condition=all_of(parts))


def _inner(tree: Join, states: States) -> Tree:
    """The inner join, with the conditions of both sides above it."""
    sides = [under_filter(side) for side in (tree.left, tree.right)]
    conditions = [
        qualified(condition, schema(below, states.catalog)) for below, condition in sides if condition is not None
    ]
    body: Tree = Join(JoinKind.INNER, sides[0][0], sides[1][0], tree.condition, syntax=tree.syntax)
    every = all_of(conditions)
    return body if every is None else Filter(body, every, syntax=tree.syntax)
