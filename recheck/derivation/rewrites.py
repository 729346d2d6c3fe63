"""Rewrites of a tree that mean the same, each named, by its side condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.catalog import Catalog
from streambound.recheck.derivation.claims import ClaimedRewrite, NotCheckedError
from streambound.recheck.derivation.conditions import conditions_down
from streambound.recheck.derivation.trees import Node


def rewritten(root: Node, rewrites: Sequence[ClaimedRewrite]) -> Node:
    """The tree after some rewrites."""
    for one in rewrites:
        root = replace(root, tree=_rewritten(root.tree, one, root.catalog))
    return root


def _rewritten(tree: Tree, rewrite: ClaimedRewrite, catalog: Catalog) -> Tree:
    match rewrite.rule:
        case "conditions_down":
            return conditions_down(tree, catalog)
    raise NotCheckedError(f"the rewrite {rewrite.rule!r}")
