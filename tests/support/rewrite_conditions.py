"""Rewrites of one condition, wherever it stands: same truth value on every row, unknown included."""

from __future__ import annotations

from sqlglot import exp

from support.choices import Choices
from support.syntax import (
    BOOLEAN,
    FLIPPED,
    NEGATED,
    Kinds,
    Tree,
    alternatives,
    closed,
    comparisons,
    conditions,
    conjuncts,
    either,
    ends,
    integer,
    is_bound,
    is_integer,
    negated,
    numeral,
    plus,
    shuffled,
    somewhere,
)


def flip_sides(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < y  ->  y > x``"""
    return somewhere(tree, choices, comparisons(tree), lambda c: FLIPPED[type(c)](this=c.right, expression=c.left))


def move_offset(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x + 2 < y  ->  x < y - 2``, and from the right to the left"""
    moves = {exp.Add: exp.Sub, exp.Sub: exp.Add}
    found = [c for c in comparisons(tree) if type(c.left) in moves or type(c.right) in moves]

    def moved(atom: Tree) -> Tree:
        side, other = ("this", "expression") if type(atom.left) in moves else ("expression", "this")
        term = atom.args[side]
        atom.set(other, moves[type(term)](this=closed(atom.args[other]), expression=term.expression))
        atom.set(side, term.this)
        return atom

    return somewhere(tree, choices, found, moved)


def shift_both_sides(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < y  ->  x + 2 < y + 2``"""
    found = [c for c in comparisons(tree) if is_integer(c, kinds)]
    shift = str(choices.integer(1, 3))

    def shifted(atom: Tree) -> Tree:
        sides = (exp.Add(this=closed(side), expression=exp.Literal.number(shift)) for side in (atom.left, atom.right))
        return type(atom)(this=next(sides), expression=next(sides))

    return somewhere(tree, choices, found, shifted)


def negate_twice(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``c  ->  NOT (NOT (c))``"""
    return somewhere(tree, choices, conditions(tree), lambda c: negated(negated(c)))


def negate_opposite(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < y  ->  NOT (x >= y)``, ``x <> y  ->  NOT (x = y)``"""
    opposite = lambda c: negated(NEGATED[type(c)](this=c.left, expression=c.right))  # noqa: E731
    return somewhere(tree, choices, comparisons(tree), opposite)


def push_not_inwards(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``NOT (x < y)  ->  x >= y``, ``NOT (a AND b)  ->  NOT a OR NOT b``, ``NOT NOT c  ->  c``"""
    inner = {node: node.this.unnest() for node in tree.find_all(exp.Not)}
    found = [node for node, part in inner.items() if type(part) in NEGATED or isinstance(part, exp.Connector | exp.Not)]

    def pushed(node: Tree) -> Tree:
        part = inner[node]
        if isinstance(part, exp.Not):
            return closed(part.this)
        if isinstance(part, exp.Connector):
            other = exp.Or if isinstance(part, exp.And) else exp.And
            return exp.Paren(this=other(this=negated(part.left), expression=negated(part.right)))
        return NEGATED[type(part)](this=part.left, expression=part.right)

    return somewhere(tree, choices, found, pushed)


def pull_not_outwards(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a OR b  ->  NOT (NOT a AND NOT b)``"""
    demorgan = lambda c: negated(exp.And(this=negated(c.left), expression=negated(c.right)))  # noqa: E731
    return somewhere(tree, choices, list(tree.find_all(exp.Or)), demorgan)


def open_between(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x BETWEEN a AND b  ->  x >= a AND x <= b``"""

    def opened(node: Tree) -> Tree:
        low = exp.GTE(this=node.this.copy(), expression=node.args["low"])
        return exp.Paren(this=exp.And(this=low, expression=exp.LTE(this=node.this, expression=node.args["high"])))

    return somewhere(tree, choices, list(tree.find_all(exp.Between)), opened)


def close_between(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x = 3  ->  x BETWEEN 3 AND 3``"""
    found = [c for c in comparisons(tree) if isinstance(c, exp.EQ)]
    return somewhere(
        tree, choices, found, lambda c: exp.Between(this=c.left, low=closed(c.right), high=closed(c.right.copy()))
    )


def strict_or_weak(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < y  ->  x <= y - 1``, ``x >= 3  ->  x > 2``: over integers"""
    step: dict[type[Tree], tuple[type[Tree], str]] = {
        exp.LT: (exp.LTE, "-1"), exp.LTE: (exp.LT, "1"), exp.GT: (exp.GTE, "1"), exp.GTE: (exp.GT, "-1"),
    }  # fmt: skip
    found = [c for c in comparisons(tree) if type(c) in step and is_integer(c, kinds)]

    def stepped(atom: Tree) -> Tree:
        op, offset = step[type(atom)]
        return op(this=atom.left, expression=plus(atom.right, int(offset)))

    return somewhere(tree, choices, found, stepped)


def equality_as_two(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x = y  ->  x <= y AND x >= y``"""
    found = [c for c in comparisons(tree) if isinstance(c, exp.EQ)]

    def both(atom: Tree) -> Tree:
        weak = exp.LTE(this=atom.left.copy(), expression=atom.right.copy())
        return exp.Paren(this=exp.And(this=weak, expression=exp.GTE(this=atom.left, expression=atom.right)))

    return somewhere(tree, choices, found, both)


def in_as_or(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x IN (1, 2)  ->  x = 1 OR x = 2``"""

    def spelled(node: Tree) -> Tree:
        options = shuffled(node.expressions, choices)
        return exp.Paren(this=either([exp.EQ(this=node.this.copy(), expression=option) for option in options]))

    return somewhere(tree, choices, list(tree.find_all(exp.In)), spelled)


def repeat_in(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x IN (1, 2)  ->  x IN (2, 1, 2)``"""

    def repeated(node: Tree) -> Tree:
        node.set("expressions", shuffled([*node.expressions, node.expressions[0].copy()], choices))
        return node

    return somewhere(tree, choices, list(tree.find_all(exp.In)), repeated)


def range_as_in(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x BETWEEN 1 AND 3  ->  x IN (1, 2, 3)``: over integers"""
    found = [
        node
        for node in tree.find_all(exp.Between)
        if is_integer(node, kinds) and None not in (found_ends := ends(node)) and 0 <= found_ends[1] - found_ends[0] < 6
    ]

    def listed(node: Tree) -> Tree:
        low, high = ends(node)
        values = [numeral(value) for value in range(low, high + 1)]
        return exp.In(this=node.this, expressions=shuffled(values, choices))

    return somewhere(tree, choices, found, listed)


def in_as_range(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x IN (1, 3)  ->  x BETWEEN 1 AND 3 AND x <> 2``: over integers"""
    found = [
        node
        for node in tree.find_all(exp.In)
        if is_integer(node, kinds)
        and None not in (values := [integer(value) for value in node.expressions])
        and 0 < max(values) - min(values) < 9
    ]

    def ranged(node: Tree) -> Tree:
        values = {integer(value) for value in node.expressions}
        low, high = min(values), max(values)
        ends = exp.Between(this=node.this.copy(), low=numeral(low), high=numeral(high))
        holes = [value for value in range(low, high) if value not in values]
        found: Tree = ends
        for hole in shuffled(holes, choices):
            found = exp.And(this=found, expression=exp.NEQ(this=node.this.copy(), expression=numeral(hole)))
        return exp.Paren(this=found)

    return somewhere(tree, choices, found, ranged)


def split_range(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < 3  ->  (x < 1 OR x >= 1 AND x < 3)``, ``x <= 3  ->  (x <= 3 OR x < 2)``: they touch, or overlap"""
    found = [c for c in comparisons(tree) if is_bound(c, kinds) and isinstance(c, exp.LT | exp.LTE)]
    touching = choices.chance(50)

    def halves(atom: Tree) -> Tree:
        middle = integer(atom.right) - choices.integer(1, 2)
        below = exp.LT(this=atom.left.copy(), expression=numeral(middle))
        above: Tree = atom.copy()
        if touching:
            above = exp.And(this=exp.GTE(this=atom.left.copy(), expression=numeral(middle)), expression=above)
        return exp.Paren(this=either(shuffled([below, above], choices)))

    return somewhere(tree, choices, found, halves)


def boolean_form(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``b  ->  b = TRUE``, ``b = TRUE  ->  NOT b = FALSE``, ``b  ->  b <> FALSE``"""
    flags = [node for node in tree.find_all(exp.Column) if kinds.get(node.name) == "boolean"]
    bare = [node for node in flags if isinstance(node.parent, BOOLEAN)]
    pick = choices.integer(0, 2)

    def stated(node: Tree) -> Tree:
        if pick == 0:
            return exp.EQ(this=node.copy(), expression=exp.true())
        if pick == 1:
            return exp.NEQ(this=node.copy(), expression=exp.false())
        return negated(exp.EQ(this=node.copy(), expression=exp.false()))

    return somewhere(tree, choices, bare, stated)


def bare_boolean(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``b = TRUE  ->  b``, ``b = FALSE  ->  NOT b``"""
    found = [c for c in comparisons(tree) if isinstance(c, exp.EQ) and isinstance(c.right, exp.Boolean)]
    found = [c for c in found if isinstance(c.left, exp.Column)]
    return somewhere(tree, choices, found, lambda c: c.left if c.right.this else negated(c.left))


def reorder_alternatives(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a OR b OR c  ->  c OR a OR b``"""
    found = [node for node in tree.find_all(exp.Or) if not isinstance(node.parent, exp.Or)]
    shuffle = lambda node: exp.Paren(this=either(shuffled(alternatives(node), choices)))  # noqa: E731
    return somewhere(tree, choices, found, shuffle)


def absorbed_alternative(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a  ->  (a OR a AND b)``, ``b`` being another condition of the WHERE"""
    wheres = [node for node in tree.find_all(exp.Where) if isinstance(node.this.unnest(), exp.And)]
    if not wheres:
        return None
    parts = conjuncts(choices.pick(wheres))
    first, second = choices.pick(parts), choices.pick(parts)
    more = exp.And(this=closed(first.copy()), expression=closed(second.copy()))
    first.replace(exp.Paren(this=either(shuffled([first.copy(), exp.Paren(this=more)], choices))))
    return tree


def distribute(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a AND (b OR c)  ->  a AND b OR a AND c``"""
    for where in shuffled(list(tree.find_all(exp.Where)), choices):
        parts = conjuncts(where)
        choice = next((part for part in parts if isinstance(part.unnest(), exp.Or)), None)
        others = [part for part in parts if part is not choice]
        if choice is None or not others:
            continue
        common = choices.pick(others)
        rest = [part for part in others if part is not common]
        options = [
            exp.Paren(this=exp.And(this=closed(common.copy()), expression=closed(option)))
            for option in alternatives(choice.unnest())
        ]
        where.set("this", exp.and_(*rest, exp.Paren(this=either(options))))
        return tree
    return None
