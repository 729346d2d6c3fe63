"""Rewrites of a tree that mean the same, each named, by its side condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Join, JoinKind, Tree
from streambound.analyzer.algebra.syntax import column_of
from streambound.analyzer.algebra.value_sets import ValueSet, between
from streambound.analyzer.types import Family
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.claims import ClaimedRewrite, ClaimedValues, NotCheckedError
from streambound.recheck.derivation.conditions import conditions_down, passed_down
from streambound.recheck.derivation.facts import CheckedFacts
from streambound.recheck.derivation.flattening import flat_aggregates, scalars_joined
from streambound.recheck.derivation.trees import PlanNode, PlanNodes, pairs

_MEET = {
    "left": (JoinKind.INNER, JoinKind.RIGHT, JoinKind.SEMI),
    "right": (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI, JoinKind.NOT_IN),
}
"""Joins of whose side rows without a partner are nothing."""


_PASSES = {
    "scalars_joined": scalars_joined,
    "flat_aggregates": flat_aggregates,
    "conditions_down": conditions_down,
}
"""Rewrites of a whole tree."""


def rewritten(root: PlanNode, rewrites: Sequence[ClaimedRewrite]) -> PlanNode:
    """The tree after some rewrites."""
    for one in rewrites:
        root = replace(root, tree=_rewritten(root, one))
    return root


def _rewritten(root: PlanNode, rewrite: ClaimedRewrite) -> Tree:
    match rewrite.rule:
        case name if name in _PASSES:
            return _PASSES[name](root.tree, root.catalog)
        case "limit":
            node = root
            for name in rewrite.path:
                node = node.input(name)
            return _with(root.tree, rewrite.path, _limited(root, node, rewrite))
    raise NotCheckedError(f"the rewrite {rewrite.rule!r}")


def _with(tree: Tree, path: tuple[str, ...], changed: Tree) -> Tree:
    """A tree with another one at a path."""
    if not path:
        return changed
    return replace(tree, **{path[0]: _with(getattr(tree, path[0]), path[1:], changed)})  # type: ignore[arg-type]


def _limited(root: PlanNode, node: PlanNode, rewrite: ClaimedRewrite) -> Tree:
    """D4: ``S ⋈ T  ->  S ⋈ σ_p(T)``, where p is true of all pairs, of a side whose other rows are nothing."""
    tree, both, facts = node.tree, pairs(node), CheckedFacts(PlanNodes(root, rewrite.nodes), rewrite.facts)
    facts.check()
    if not isinstance(tree, Join) or tree.using or tree.kind not in _MEET.get(rewrite.side, ()) or not facts.claimed:
        raise RejectedError("a side whose rows are there without a partner")
    side, last = node.input(rewrite.side), len(facts.claimed) - 1
    column = facts.claimed[last].column
    place = column - (0 if rewrite.side == "left" else node.input("left").width)
    known = facts.values(last, both, column)
    if not 0 <= place < side.width or facts.unused() or len(facts.nodes.used) < len(rewrite.nodes):
        raise RejectedError("a limit of another side, or more facts than it uses")
    kind = side.schema[place].type
    part, true = _condition(column_of(side.schema[place]), rewrite.values, None if kind is None else kind.family)
    if not known.within(true):
        raise RejectedError(f"{part.sql('spark')} need not be true of pairs")
    below = passed_down(side.tree, part, node.catalog)
    return replace(tree, left=below) if rewrite.side == "left" else replace(tree, right=below)


def _condition(column: exp.Column, values: ClaimedValues | None, family: Family | None) -> tuple[exp.Expr, ValueSet]:
    """A condition on a column, and the values of which it is true."""
    if values is not None and not values.null:
        low, high, texts = values.low, values.high, values.texts
        if texts is not None and family is Family.STRING and values.numbers is None and low is None and high is None:
            items = [exp.Literal.string(one) for one in texts]
            return exp.In(this=column, expressions=items), ValueSet(listed=frozenset(texts), null=False)
        if texts is None and values.numbers is None and family is Family.INTEGER:
            if low is not None and high is None and low.denominator == 1:
                return exp.GTE(this=column, expression=_number(int(low))), between(int(low), None, null=False)
            if high is not None and low is None and high.denominator == 1:
                return exp.LTE(this=column, expression=_number(int(high))), between(None, int(high), null=False)
            if low is None and high is None:
                return exp.Not(this=exp.Is(this=column, expression=exp.Null())), between(None, None, null=False)
    raise RejectedError("a limit that is none")


def _number(value: int) -> exp.Expr:
    literal = exp.Literal.number(abs(value))
    return exp.Neg(this=literal) if value < 0 else literal
