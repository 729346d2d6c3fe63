"""Recognises the maximal select-project-join blocks of a tree: what the paper's criteria decide."""

from __future__ import annotations

from dataclasses import replace

from streambound.analyzer.algebra.nodes import (
    Alias,
    Distinct,
    Filter,
    Join,
    JoinKind,
    Project,
    Scan,
    SpjBlock,
    Tree,
    Union,
    inputs,
    named_inputs,
)


def blocks(tree: Tree) -> Tree:
    """``Aggregate(Project(Join(S, T)))  ->  Aggregate(SpjBlock(Project(Join(S, T))))``.

    Duplicates are eliminated at a block's top only: a set below a bag is a block of its own.
    """
    if is_block(tree):
        return SpjBlock(tree)
    changed = {name: blocks(under) for name, under in named_inputs(tree).items()}
    return replace(tree, **changed)  # type: ignore[arg-type]


def is_block(tree: Tree) -> bool:
    """Whether a tree holds nothing but selections, projections, inner joins and unions, as a block does."""
    return _is_block(tree, distinct=_is_set(tree))


def _is_set(tree: Tree) -> bool:
    return isinstance(tree, Distinct) or (isinstance(tree, Union) and tree.distinct)


def _is_block(tree: Tree, distinct: bool) -> bool:
    """Whether a tree is one block; ``distinct``: of a set, inside of which duplicates do not matter."""
    match tree:
        case Scan():
            return not tree.changes
        case Join(JoinKind.INNER) | Alias() | Filter() | Project():
            return all(_is_block(under, distinct) for under in inputs(tree))
        case Union(distinct=each_once):
            return (distinct or not each_once) and all(_is_block(under, distinct) for under in inputs(tree))
        case Distinct(input):
            return distinct and _is_block(input, distinct)
    return False
