"""Recognises the maximal select-project-join blocks of a tree: what the paper's criteria decide."""

from __future__ import annotations

from itertools import product

from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.computed_relations import has_to_be_computed
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.work import by_identity


def blocks(tree: nodes.Tree, catalog: Catalog) -> nodes.Tree:
    """``Aggregate(Project(Join(S, T)))  ->  Aggregate(SpjBlock(Project(Join(S, T))))``.

    Duplicates are eliminated at a block's top only: a set below a bag is a block of its own.
    """
    if is_block(tree, catalog):
        return nodes.SpjBlock(tree)
    changed = {name: blocks(under, catalog) for name, under in nodes.named_inputs(tree).items()}
    return replace(tree, **changed)


@by_identity
def is_block(tree: nodes.Tree, catalog: Catalog) -> bool:
    """Whether a tree holds nothing but what a block does: selections, projections, inner joins and unions.

    Joins that keep rows without a partner, or ask for partners only, are decided when a row arrives if the side that
    is asked does not change; what is computed of relations alone is one more relation. A union of rows of streams and
    of rows of relations alone is none: a block's results come when rows of streams do.
    """
    return _is_block(tree, catalog, distinct=_is_set(tree)) and len(_kinds(tree, catalog)) < 2


def decided_on_arrival(join: nodes.Join, catalog: Catalog) -> tuple[nodes.Tree, nodes.Tree] | None:
    """The preserved side of a join and the side of its partners, if the latter does not change."""
    right = join.kind is nodes.JoinKind.RIGHT
    kept, asked = (join.right, join.left) if right else (join.left, join.right)
    decided = join.kind is not nodes.JoinKind.FULL and is_static(asked, catalog) and not (right and join.using)
    return (kept, asked) if decided else None


@by_identity
def _kinds(tree: nodes.Tree, catalog: Catalog) -> set[bool]:
    """Of the branches of a block, whether they read relations only."""
    match tree:
        case nodes.Join(kind=nodes.JoinKind.INNER):
            pairs = product(_kinds(tree.left, catalog), _kinds(tree.right, catalog))
            return {left and right for left, right in pairs}
        case nodes.Join():
            asking = decided_on_arrival(tree, catalog)
            return {False} if asking is None else _kinds(asking[0], catalog)
        case nodes.Union():
            return _kinds(tree.left, catalog) | _kinds(tree.right, catalog)
        case nodes.Alias(input) | nodes.Filter(input) | nodes.Project(input) | nodes.Distinct(input) if not is_static(
            tree, catalog
        ):
            return _kinds(input, catalog)
    return {is_static(tree, catalog)}


def _is_set(tree: nodes.Tree) -> bool:
    return isinstance(tree, nodes.Distinct) or (isinstance(tree, nodes.Union) and tree.distinct)


@by_identity
def _is_block(tree: nodes.Tree, catalog: Catalog, distinct: bool) -> bool:
    """Whether a tree is one block; ``distinct``: of a set, inside of which duplicates do not matter."""

    def holds(*trees: nodes.Tree) -> bool:
        return all(_is_block(under, catalog, distinct) for under in trees)

    match tree:
        case nodes.Scan():
            return not tree.changes
        case nodes.Alias(input) if has_to_be_computed(input, catalog, distinct):
            return True
        case nodes.Join(kind=nodes.JoinKind.SEMI | nodes.JoinKind.ANTI | nodes.JoinKind.LEFT | nodes.JoinKind.RIGHT):
            asking = decided_on_arrival(tree, catalog)
            if asking is None:
                return False
            pads = tree.kind in (nodes.JoinKind.LEFT, nodes.JoinKind.RIGHT) or tree.using
            return holds(*asking) if pads else holds(asking[0])
        case nodes.Join(nodes.JoinKind.INNER) | nodes.Alias() | nodes.Filter() | nodes.Project():
            return holds(*nodes.inputs(tree))
        case nodes.Union(distinct=each_once):
            return (distinct or not each_once) and holds(*nodes.inputs(tree))
        case nodes.Distinct(input):
            return distinct and holds(input)
    return False
