"""sqlglot's syntax trees, for the rewrites: places in them, and pieces to build them from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from support.choices import Choices

Tree = exp.Expression
Kinds = Mapping[str, str]
"""The type of a column by its name: generated catalogs give a name one type."""

FLIPPED: dict[type[Tree], type[Tree]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.EQ: exp.EQ, exp.GTE: exp.LTE, exp.GT: exp.LT, exp.NEQ: exp.NEQ,
}  # fmt: skip
NEGATED: dict[type[Tree], type[Tree]] = {
    exp.LT: exp.GTE, exp.LTE: exp.GT, exp.EQ: exp.NEQ, exp.GTE: exp.LT, exp.GT: exp.LTE, exp.NEQ: exp.EQ,
}  # fmt: skip
BOOLEAN = (exp.Where, exp.And, exp.Or, exp.Not, exp.Paren, exp.Join)


def somewhere(tree: Tree, choices: Choices, places: list[Any], change: Callable[[Any], Tree]) -> Tree | None:
    """The tree with one of the places changed; None where there is none."""
    if not places:
        return None
    place = choices.pick(places)
    place.replace(closed(change(place.copy() if place.parent is None else place)))
    return tree


def comparisons(tree: Tree) -> list[Any]:
    return [node for node in tree.walk() if type(node) in NEGATED]


def conditions(tree: Tree) -> list[Any]:
    kinds = (*NEGATED, exp.Between, exp.In, exp.Is, exp.Or, exp.Not)
    return [node for node in tree.walk() if isinstance(node, kinds) and isinstance(node.parent, BOOLEAN)]


def conjuncts(where: Tree) -> list[Any]:
    """The conjuncts of a WHERE."""
    found: list[Tree] = []
    pending = [where.this]
    while pending:
        node = pending.pop(0)
        inner = node.unnest()
        if isinstance(inner, exp.And):
            pending[:0] = [inner.left, inner.right]
        else:
            found.append(inner if type(inner) in NEGATED else node)
    return found


def with_conjuncts(tree: Tree, choices: Choices, more: Callable[[list[Any]], list[Tree]]) -> Tree | None:
    """The tree with conjuncts added to one WHERE."""
    for where in shuffled(list(tree.find_all(exp.Where)), choices):
        parts = conjuncts(where)
        added = [closed(part.copy()) for part in more(parts)]
        if added:
            place = choices.integer(0, len(parts))
            where.set("this", exp.and_(*parts[:place], *added, *parts[place:]))
            return tree
    return None


def joining(tree: Tree) -> list[exp.Select]:
    return [select for select in tree.find_all(exp.Select) if select.args.get("joins")]


def entries(select: Tree) -> list[Any]:
    return [select.args["from_"].this, *(join.this for join in select.args.get("joins") or ())]


def all_conditions(select: Tree) -> list[Any]:
    """The conjuncts of a SELECT's WHERE and ON clauses."""
    clauses = [exp.Where(this=join.args["on"]) for join in select.args.get("joins") or () if join.args.get("on")]
    if select.args.get("where"):
        clauses.append(select.args["where"])
    return [part for clause in clauses for part in conjuncts(clause)]


def set_from(select: Tree, entries: list[Any], parts: list[Any]) -> None:
    select.set("from_", exp.From(this=entries[0]))
    select.set("joins", [exp.Join(this=entry) for entry in entries[1:]])
    set_where(select, parts)


def set_where(select: Tree, parts: list[Any]) -> None:
    select.set("where", exp.Where(this=exp.and_(*(closed(part) for part in parts))) if parts else None)


def alternatives(node: Tree) -> list[Any]:
    return [part for side in node.flatten() for part in (alternatives(side) if isinstance(side, exp.Or) else [side])]


def either(options: list[Any]) -> Tree:
    return exp.or_(*(closed(option) for option in options))


def closed(node: Tree) -> Tree:
    """The node in parentheses where it is neither a leaf nor one comparison."""
    plain = (exp.Column, exp.Literal, exp.Paren, exp.Boolean, exp.Cast, exp.In, exp.Is, *NEGATED)
    return node if isinstance(node, plain) else exp.Paren(this=node)


def negated(node: Tree) -> Tree:
    return exp.Not(this=exp.Paren(this=node.copy()))


def shuffled(items: list[Any], choices: Choices) -> list[Any]:
    left, found = list(items), []
    while left:
        found.append(left.pop(choices.integer(0, len(left) - 1)))
    return found


def is_leaf(node: Tree) -> bool:
    return isinstance(node, exp.Column | exp.Literal | exp.Boolean | exp.Cast) or integer(node) is not None


def is_integer(node: Tree, kinds: Kinds) -> bool:
    """Whether a condition compares integer attributes."""
    columns = list(node.find_all(exp.Column))
    return bool(columns) and all(kinds.get(column.name) == "bigint" for column in columns)


def is_bound(node: Tree, kinds: Kinds) -> bool:
    """Whether a condition compares an integer attribute with a constant on the right."""
    return (
        type(node) in NEGATED
        and isinstance(node.left, exp.Column)
        and integer(node.right) is not None
        and is_integer(node, kinds)
    )


def integer(node: Tree) -> Any:
    """An integer literal's value."""
    if isinstance(node, exp.Neg):
        inner = integer(node.this)
        return None if inner is None else -inner
    return int(node.this) if isinstance(node, exp.Literal) and node.is_int else None


def ends(node: Tree) -> Any:
    return integer(node.args["low"]), integer(node.args["high"])


def numeral(value: int) -> Tree:
    literal = exp.Literal.number(abs(value))
    return exp.Neg(this=literal) if value < 0 else literal


def plus(node: Tree, offset: int) -> Tree:
    if (value := integer(node)) is not None:
        return numeral(value + offset)
    op = exp.Sub if offset < 0 else exp.Add
    return op(this=closed(node), expression=numeral(abs(offset)))
