"""Rewrites of a tree that mean the same, each named, by its side condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Join, JoinKind, Tree, named_inputs
from streambound.analyzer.algebra.syntax import column_of
from streambound.analyzer.algebra.value_sets import ValueSet, between
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.types import Family
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation.claims import ClaimedRewrite, ClaimedValues, NotCheckedError
from streambound.recheck.derivation.conditions import conditions_down, over_inputs, passed_down, plain_conditions
from streambound.recheck.derivation.fact_log import CheckedFacts
from streambound.recheck.derivation.facts import checked_facts
from streambound.recheck.derivation.flattening import arguments_down, flat_aggregates, hidden_keys, scalars_joined
from streambound.recheck.derivation.join_forms import (
    anti_joins,
    conditions_above,
    one_selection,
    padded_rows,
    streams_together,
    values_in_block,
)
from streambound.recheck.derivation.pushed_sums import sums_down
from streambound.recheck.derivation.trees import PlanNode, PlanNodes, compared, in_both, pairs

_MEET = {
    "left": (JoinKind.INNER, JoinKind.RIGHT, JoinKind.SEMI),
    "right": (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI, JoinKind.NOT_IN),
}
"""Joins of whose side rows without a partner are nothing."""


def _bottom_up(changed: Callable[[Tree, Catalog], Tree]) -> Callable[[Tree, Catalog], Tree]:
    """A rewrite of each operator of a tree, of those below it first."""

    def rewritten_tree(tree: Tree, catalog: Catalog) -> Tree:
        below = {name: rewritten_tree(one, catalog) for name, one in named_inputs(tree).items()}
        return changed(over_inputs(tree, below), catalog)

    return rewritten_tree


_PASSES: Mapping[str, Callable[[Tree, Catalog], Tree]] = {
    "plain_conditions": _bottom_up(plain_conditions),
    "padded_rows": _bottom_up(padded_rows),
    "scalars_joined": _bottom_up(scalars_joined),
    "flat_aggregates": _bottom_up(flat_aggregates),
    "arguments_down": _bottom_up(arguments_down),
    "hidden_keys": _bottom_up(hidden_keys),
    "conditions_down": conditions_down,
    "streams_together": streams_together,
}
"""Rewrites of a whole tree."""


def rewritten(root: PlanNode, rewrites: Sequence[ClaimedRewrite]) -> PlanNode:
    """The tree after some rewrites, each of the whole, or of the operator at a path by what facts say."""
    for one in rewrites:
        if one.rule in _PASSES:
            root = root.of(_PASSES[one.rule](root.tree, root.catalog))
        elif one.rule in _STEPS:
            facts = checked_facts(PlanNodes(root, one.nodes), one.facts)
            changed = _STEPS[one.rule](root.along(one.path), one, facts)
            if facts.unused() or len(facts.nodes.used) < len(one.nodes):
                raise RejectedError("a rewrite by more facts than it uses")
            root = root.of(_with(root.tree, one.path, changed))
        else:
            raise NotCheckedError(f"the rewrite {one.rule!r}")
    return root


def _with(tree: Tree, path: tuple[str, ...], changed: Tree) -> Tree:
    """A tree with another one at a path."""
    if not path:
        return changed
    return replace(tree, **{path[0]: _with(getattr(tree, path[0]), path[1:], changed)})  # type: ignore[arg-type]


def _late(node: PlanNode, rewrite: ClaimedRewrite, facts: CheckedFacts) -> Tree:
    """Conditions of a block that are tested of its rows."""
    return conditions_above(node, rewrite.late)


def _shown_values(node: PlanNode, rewrite: ClaimedRewrite, facts: CheckedFacts) -> Tree:
    """Values that a block computes for what is above it."""
    return values_in_block(node, rewrite.columns, rewrite.expressions)


def _selection(node: PlanNode, rewrite: ClaimedRewrite, facts: CheckedFacts) -> Tree:
    """Selections of the same rows as one: a column of the rows that are in both has no value."""
    both = in_both(node)
    if not any(facts.sets[one].size == 0 for column in range(both.width) for one in facts.about(both, column)):
        raise RejectedError("a row may satisfy both conditions")
    return one_selection(node)


def _not_in(node: PlanNode, rewrite: ClaimedRewrite, facts: CheckedFacts) -> Tree:
    """B5: NOT IN as anti joins; a fact says of each side that it is not NULL."""
    if node.input("left").is_static:
        return anti_joins(node, True, True)
    sides = [compared(node, name) for name in ("member", "values")]
    member, values = (all(facts.sets[one].null for one in facts.about(side, 0)) for side in sides)
    return anti_joins(node, member, values)


def _limited(node: PlanNode, rewrite: ClaimedRewrite, facts: CheckedFacts) -> Tree:
    """D4: ``S ⋈ T  ->  S ⋈ σ_p(T)``, where p is true of all pairs, of a side whose other rows are nothing."""
    tree, both = node.tree, pairs(node)
    if not isinstance(tree, Join) or tree.using or tree.kind not in _MEET.get(rewrite.side, ()) or rewrite.fact is None:
        raise RejectedError("a side whose rows are there without a partner")
    side, column = node.input(rewrite.side), facts.column_of(rewrite.fact)
    place = column - (0 if rewrite.side == "left" else node.input("left").width)
    known = facts.values(rewrite.fact, both, column)
    if not 0 <= place < side.width:
        raise RejectedError("a limit of another side")
    kind = side.schema[place].type
    part, true = _condition(column_of(side.schema[place]), rewrite.values, None if kind is None else kind.family)
    if not known.within(true):
        raise RejectedError(f"{part.sql('spark')} need not be true of pairs")
    below = passed_down(side.tree, part, node.catalog)
    return replace(tree, left=below) if rewrite.side == "left" else replace(tree, right=below)


def _sums(node: PlanNode, rewrite: ClaimedRewrite, facts: CheckedFacts) -> Tree:
    """Aggregates of a join as those of one side's groups."""
    return sums_down(node, rewrite.side)


_STEPS: Mapping[str, Callable[[PlanNode, ClaimedRewrite, CheckedFacts], Tree]] = {
    "late_conditions": _late,
    "values_in_blocks": _shown_values,
    "disjoint_unions": _selection,
    "anti_joins": _not_in,
    "limit": _limited,
    "sums_down": _sums,
}
"""Rewrites of one operator."""
REWRITES = frozenset((*_PASSES, *_STEPS))
"""The names of all rewrites."""


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
