"""USING between queries as ON: the columns that it names are shown once, and first, as the left side has them.

SELECT * FROM a LEFT JOIN b USING (k)  ->  SELECT a.k, a.…, b.… FROM a LEFT JOIN b ON a.k = b.k

Joins of streams and relations keep USING (`analyzer.using`), as do those of which a right row may be alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Item, Named, Project, Scalar, Star, Tree
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.algebra.window_structs import Node, nodes_of

Pair = tuple[ViewColumn, ViewColumn]
"""The columns of both sides that are one."""


def pairs_of(names: Sequence[str], left: Schema, right: Schema) -> tuple[list[Pair], str]:
    """The columns that USING names, and the first name that is not one of both sides, if there is one."""
    found = list[Pair]()
    for name in names:
        mine, other = (next((one for one in side if one.called(name)), None) for side in (left, right))
        if mine is None or other is None:
            return [], name
        found.append((mine, other))
    return found, ""


def condition_of(pairs: Sequence[Pair]) -> exp.Expr:
    """What ON says for USING."""
    return exp.and_(*(exp.EQ(this=_column(mine), expression=_column(other)) for mine, other in pairs))


def with_owners(node: Node, pairs: Sequence[Pair]) -> Node:
    """A SELECT, or a condition, in which the columns that USING names belong to the left side; a copy."""
    owners = {mine.name.lower(): mine.alias for mine, _ in reversed(pairs)}
    node = node.copy()
    for column in nodes_of(node, (exp.Column,), top=True):
        if not column.text("table") and owners.get(column.name.lower()):
            column.set("table", exp.to_identifier(owners[column.name.lower()], quoted=True))
    return node


def starred_once(tree: Tree, given: Schema, pairs: Sequence[Pair]) -> Tree:
    """A list over such columns, in which ``*`` shows them once, and first."""
    if not isinstance(tree, Project):
        return tree
    hidden = [(one.alias, one.name) for pair in pairs for one in pair]
    shown = [*dict.fromkeys(mine for mine, _ in pairs), *(one for one in given if (one.alias, one.name) not in hidden)]
    items = list[Item]()
    for item in tree.items:
        if not isinstance(item, Star) or item.alias:
            items.append(item)
            continue
        named = [one for one in shown if not any(map(one.called, item.without))]
        items += [Named(one.name, Scalar(node.sql("spark"), node)) for one in named for node in (_column(one),)]
    return replace(tree, items=tuple(items))


def _column(column: ViewColumn) -> exp.Column:
    return exp.column(column.name, table=column.alias or None, quoted=True)
