"""USING between queries as ON: the columns that it names are shown once, and first, as the side that is kept has them.

SELECT * FROM a LEFT JOIN b USING (k)  ->  SELECT a.k, a.…, b.… FROM a LEFT JOIN b ON a.k = b.k

Of a FULL JOIN they are COALESCE(a.k, b.k). Joins of streams and relations keep USING (`analyzer.flatten`).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Item, JoinKind, Named, Project, Scalar, Star, Tree
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.algebra.syntax import column_of
from streambound.analyzer.algebra.window_structs import Node, nodes_of


class Pair(Struct, frozen=True):
    """The columns of both sides that are one of a join of this kind; the left one may be that of an earlier pair."""

    left: ViewColumn | Pair
    right: ViewColumn
    kind: JoinKind

    @property
    def name(self) -> str:
        """Its name."""
        return self.left.name

    @property
    def sides(self) -> tuple[ViewColumn, ...]:
        """The columns that are one."""
        return (*(self.left.sides if isinstance(self.left, Pair) else (self.left,)), self.right)

    @property
    def left_value(self) -> exp.Expr:
        """The column of the left side."""
        return self.left.value if isinstance(self.left, Pair) else column_of(self.left)

    @property
    def value(self) -> exp.Expr:
        """The column, of the side that is kept."""
        left, right = self.left_value, column_of(self.right)
        match self.kind:
            case JoinKind.RIGHT:
                return right
            case JoinKind.FULL:
                return exp.Anonymous(this="COALESCE", expressions=[left, right])
        return left


def shared_columns(name: str, given: Schema, pairs: Sequence[Pair]) -> list[ViewColumn]:
    """The columns that a name without an alias may mean: of those that an earlier USING made one, the first."""
    found = [one for one in given if one.called(name)]
    known = [(side.alias, side.name) for pair in pairs for side in pair.sides if side.called(name)]
    once = [one for one in found if (one.alias, one.name) in known]
    return [one for one in found if one not in once[1:]]


def condition_of(pairs: Sequence[Pair], written: Sequence[exp.Expr]) -> exp.Expr:
    """The ON condition for a USING, at the places of its ``written`` names."""
    places = {name.name.lower(): name.meta for name in written}
    equal = [exp.EQ(this=one.left_value, expression=column_of(one.right)) for one in pairs]
    for column in (side for one in equal for side in one.find_all(exp.Column)):
        column.this.meta.update(places.get(column.name.lower(), written[0].meta))
    return exp.and_(*equal, copy=False)


def with_owners(node: Node, pairs: Sequence[Pair], given: Schema) -> Node:
    """A SELECT, or a condition, in which the columns that USING names belong to the side that is kept; a copy.

    Names that another column of those ``given`` has, too, are left as they are: they are ambiguous.
    """
    plain = [pair for pair in pairs if len(shared_columns(pair.name, given, pairs)) == 1]
    owners = {pair.name.lower(): pair.value for pair in reversed(plain)}
    node = node.copy()
    for column in nodes_of(node, (exp.Column,), top=True):
        value = owners.get(column.name.lower()) if not column.text("table") else None
        if isinstance(value, exp.Column):
            column.set("table", value.args.get("table") and value.args["table"].copy())
        elif value is not None and isinstance(column.parent, exp.Select) and column.arg_key == "expressions":
            column.replace(exp.alias_(value.copy(), column.this.copy()))
        elif value is not None:
            column.replace(value.copy())
    return node


def starred_once(tree: Tree, given: Schema, pairs: Sequence[Pair]) -> Tree:
    """A list over such columns, in which ``*`` shows them once, and first."""
    if not isinstance(tree, Project):
        return tree
    hidden = [(one.alias, one.name) for pair in pairs for one in pair.sides]
    shown = dict[ViewColumn, exp.Expr]()
    for pair in pairs:
        shown.setdefault(pair.sides[0], pair.value)
    shown.update((one, column_of(one)) for one in given if (one.alias, one.name) not in hidden)
    items = list[Item]()
    for item in tree.items:
        if not isinstance(item, Star) or item.alias:
            items.append(item)
            continue
        named = [(one.name, node) for one, node in shown.items() if not any(map(one.called, item.without))]
        items += [Named(name, Scalar(node), alias=not isinstance(node, exp.Column)) for name, node in named]
    return replace(tree, items=tuple(items))
