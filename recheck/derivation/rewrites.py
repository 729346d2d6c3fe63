"""Named rewrites of a tree that keep its meaning. The code shared with `check` needs no facts; tests run both forms.

The facts on which a rewrite depends are checked here, on the tree before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace
from sqlglot import exp
from sqlglot.errors import SqlglotError

from streambound.analyzer.algebra.nodes import Join, JoinKind, Tree, named_inputs
from streambound.analyzer.algebra.value_sets import NOTHING
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog
from streambound.preprocess.trees.arguments import arguments_down
from streambound.preprocess.trees.conditions import conditions_down, filtered
from streambound.preprocess.trees.distinct_rows import distinct_rows
from streambound.preprocess.trees.flatten import flat_aggregates
from streambound.preprocess.trees.greatest_counts import greatest_counts
from streambound.preprocess.trees.hidden_keys import hidden_keys
from streambound.preprocess.trees.late_conditions import late_conditions
from streambound.preprocess.trees.late_values import values_in_blocks
from streambound.preprocess.trees.not_in import compared, split
from streambound.preprocess.trees.padding import padded_rows
from streambound.preprocess.trees.plain_conditions import plain_conditions
from streambound.preprocess.trees.running_groups import running_groups
from streambound.preprocess.trees.scalars import scalars_joined
from streambound.preprocess.trees.streams_together import streams_together
from streambound.preprocess.trees.sums import sums_below
from streambound.preprocess.trees.unions import in_both, one_selection
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.claims import ClaimedRewrite, NotCheckedError
from streambound.recheck.derivation.facts import CheckedFacts
from streambound.recheck.derivation.log import checked_facts
from streambound.recheck.derivation.plan import PlanNode, PlanNodes, pairs

_MEET = {
    "left": (JoinKind.INNER, JoinKind.RIGHT, JoinKind.SEMI),
    "right": (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI, JoinKind.NOT_IN),
}
"""Joins of whose side rows without a partner are nothing."""
_PASSES: Mapping[str, Callable[[Tree, Catalog], Tree]] = {
    one.__name__: one
    for one in (
        plain_conditions, padded_rows, scalars_joined, flat_aggregates, arguments_down, hidden_keys, conditions_down,
        streams_together, running_groups, distinct_rows, greatest_counts,
    )
}  # fmt: skip
"""Rewrites of a whole tree."""
_OF_BLOCKS: Mapping[str, Callable[[Tree, BlockReader, Catalog], Tree]] = {
    one.__name__: one for one in (late_conditions, values_in_blocks)
}
"""Those of blocks, by how these are read."""


def rewritten(root: PlanNode, rewrites: Sequence[ClaimedRewrite], blocks: BlockReader) -> PlanNode:
    """The tree after some rewrites, each of the whole, or of the operator at a path by what facts say."""
    for one in rewrites:
        if one.rule in _PASSES:
            root = root.of(_PASSES[one.rule](root.tree, root.catalog))
        elif one.rule in _OF_BLOCKS:
            root = root.of(_OF_BLOCKS[one.rule](root.tree, blocks, root.catalog))
        elif one.rule in _STEPS:
            facts = checked_facts(PlanNodes(root, one.nodes), one.facts)
            changed = _STEPS[one.rule](root.along(one.path), one, facts)
            facts.require_used()
            root = root.of(with_at(root.tree, one.path, changed))
        else:
            raise NotCheckedError(f"the rewrite {one.rule!r}")
    return root


def with_at(tree: Tree, path: tuple[str, ...], changed: Tree) -> Tree:
    """A tree with another one at a path."""
    if not path:
        return changed
    return replace(tree, **{path[0]: with_at(named_inputs(tree)[path[0]], path[1:], changed)})


def _selection(node: PlanNode, rewrite: ClaimedRewrite, facts: CheckedFacts) -> Tree:
    """Selections of the same rows as one: a column of the rows that are in both has no value."""
    both = in_both(node.tree)
    if both is None or not facts.is_empty(node.of(both)):
        raise RejectedError("a row may satisfy both conditions")
    return one_selection(node.tree)


def _not_in(node: PlanNode, rewrite: ClaimedRewrite, facts: CheckedFacts) -> Tree:
    """B5: NOT IN as anti joins; a fact says of each side that it is not NULL."""
    sides = compared(node.tree)
    if sides is None:
        raise RejectedError("no NOT IN")
    members, values = (
        [all(facts.sets[fact].null for fact in facts.about(one, place)) for place in range(one.width)]
        for one in map(node.of, sides)
    )
    return split(node.tree, members, values, node.catalog)


def _limited(node: PlanNode, rewrite: ClaimedRewrite, facts: CheckedFacts) -> Tree:
    """D4: ``S ⋈ T  ->  S ⋈ σ_p(T)``, where p is true of all pairs, of a side whose other rows are nothing."""
    tree, both = node.tree, pairs(node)
    if not isinstance(tree, Join) or tree.using or tree.kind not in _MEET.get(rewrite.side, ()) or rewrite.fact is None:
        raise RejectedError("a side whose rows are there without a partner")
    side, column, part = node.input(rewrite.side), facts.column_of(rewrite.fact), _parsed(rewrite.condition)
    place = column - (0 if rewrite.side == "left" else node.input("left").width)
    known, inverse = facts.values(rewrite.fact, both, column), exp.Not(this=exp.paren(part.copy()))
    if side.read_by(part) != {place} or known.null or not atoms.is_atom(part, side.schema):
        raise RejectedError("a limit of another side, or of NULL, or of several comparisons")
    if atoms.left_of(inverse, side.schema, {place: known})[place] != NOTHING:
        raise RejectedError(f"{rewrite.condition} need not be true of pairs")
    return with_at(tree, (rewrite.side,), filtered(side.tree, part, node.catalog))


def _parsed(text: str) -> exp.Expr:
    try:
        return exp.condition(text, dialect="spark")
    except SqlglotError as error:
        raise RejectedError(f"{text!r} is no condition") from error


def _sums(node: PlanNode, rewrite: ClaimedRewrite, facts: CheckedFacts) -> Tree:
    """Aggregates of a join as those of one side's groups."""
    made = sums_below(node.tree, rewrite.side == "left", node.catalog)
    if made is None or rewrite.side not in ("left", "right"):
        raise RejectedError("aggregates that are not of sums of groups")
    return made


_STEPS: Mapping[str, Callable[[PlanNode, ClaimedRewrite, CheckedFacts], Tree]] = {
    "disjoint_unions": _selection,
    "anti_joins": _not_in,
    "limit": _limited,
    "sums_down": _sums,
}
"""Rewrites of one operator."""
REWRITES = frozenset((*_PASSES, *_OF_BLOCKS, *_STEPS))
"""The names of all rewrites."""
