"""Rewrites of a WHERE as a whole: order, repetition, and conditions that follow from the others."""

from __future__ import annotations

from sqlglot import exp

from support.choices import Choices
from support.syntax import (
    NEGATED,
    Kinds,
    Tree,
    conjuncts,
    integer,
    is_bound,
    is_leaf,
    negated,
    numeral,
    shuffled,
    with_conjuncts,
)


def repeat_conjunct(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a AND b  ->  a AND b AND a``"""
    return with_conjuncts(tree, choices, lambda parts: [choices.pick(parts)])


def shuffle_conjuncts(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``a AND b AND c  ->  c AND a AND b``"""
    wheres = [where for where in tree.find_all(exp.Where) if len(conjuncts(where)) > 1]
    for where in wheres:
        where.set("this", exp.and_(*shuffled(conjuncts(where), choices)))
    return tree if wheres else None


def add_weaker(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < 5  ->  x < 5 AND x < 7``, ``x < y  ->  x < y AND x <> y``"""

    def weaker(parts: list[Tree]) -> list[Tree]:
        found = []
        for part in parts:
            if isinstance(part, exp.LT | exp.GT):
                weak = exp.LTE if isinstance(part, exp.LT) else exp.GTE
                found.append(choices.pick([weak, exp.NEQ])(this=part.left.copy(), expression=part.right.copy()))
            if is_bound(part, kinds) and isinstance(part, exp.LT | exp.LTE | exp.GT | exp.GTE):
                away = choices.integer(1, 3) * (1 if isinstance(part, exp.LT | exp.LTE) else -1)
                op = choices.pick([type(part), exp.NEQ])
                found.append(op(this=part.left.copy(), expression=numeral(integer(part.right) + away * 2)))
        return [choices.pick(found)] if found else []

    return with_conjuncts(tree, choices, weaker)


def add_not_null(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < 5  ->  x < 5 AND x IS NOT NULL``"""

    def present(parts: list[Tree]) -> list[Tree]:
        columns = [column for part in parts if type(part) in NEGATED for column in part.find_all(exp.Column)]
        return [negated(exp.Is(this=choices.pick(columns).copy(), expression=exp.null()))] if columns else []

    return with_conjuncts(tree, choices, present)


def add_transitive_time(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``S.ts > T.ts AND T.ts > U.ts  ->  … AND S.ts > U.ts``"""
    return with_conjuncts(tree, choices, lambda parts: _transitive(parts, choices, time=True))


def add_transitive(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x < y AND y <= z  ->  … AND x < z``"""
    return with_conjuncts(tree, choices, lambda parts: _transitive(parts, choices, time=False))


def _transitive(parts: list[Tree], choices: Choices, time: bool) -> list[Tree]:
    less = []
    for part in parts:
        sides = [part.left, part.right] if type(part) in NEGATED else []
        if sides and all(isinstance(side, exp.Column | exp.Literal) for side in sides):
            x, y = sides
            if isinstance(part, exp.LT | exp.LTE | exp.EQ):
                less.append((x, y, isinstance(part, exp.LT)))
            if isinstance(part, exp.GT | exp.GTE | exp.EQ):
                less.append((y, x, isinstance(part, exp.GT)))
    found: list[Tree] = []
    for x, y, strict in less:
        for u, z, also_strict in less:
            columns = isinstance(x, exp.Column) and isinstance(y, exp.Column) and x != z
            if y == u and columns and (x.name == "ts") is time:
                op = exp.LT if strict or also_strict else exp.LTE
                found.append(op(this=x.copy(), expression=z.copy()))
    return [choices.pick(found)] if found else []


def other_spanning_tree(tree: Tree, kinds: Kinds, choices: Choices) -> Tree | None:
    """``x = y AND y = z  ->  x = y AND x = z``, constants included"""
    changed = False
    for where in list(tree.find_all(exp.Where)):
        parts = conjuncts(where)
        equal = [p for p in parts if isinstance(p, exp.EQ) and all(is_leaf(side) for side in (p.left, p.right))]
        chains: list[list[Tree]] = []
        for part in equal:
            mine = [chain for chain in chains if part.left in chain or part.right in chain]
            merged = [side for chain in mine for side in chain]
            merged += [side for side in (part.left, part.right) if side not in merged]
            chains = [chain for chain in chains if chain not in mine] + [merged]
        if not any(len(chain) > 2 for chain in chains):
            continue
        rest = [part for part in parts if part not in equal]
        for chain in chains:
            chain = shuffled(chain, choices)
            for place, side in enumerate(chain[1:], start=1):
                other = chain[choices.integer(0, place - 1)]
                if isinstance(side, exp.Column) or isinstance(other, exp.Column):
                    rest.append(exp.EQ(this=other.copy(), expression=side.copy()))
                else:
                    return None  # two constants: a contradiction, or the same one written twice
        where.set("this", exp.and_(*rest))
        changed = True
    return tree if changed else None
