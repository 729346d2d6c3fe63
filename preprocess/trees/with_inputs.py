"""Changing trees: the same operator over other inputs."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from streambound.analyzer.algebra.nodes import Tree, named_inputs


def with_inputs(tree: Tree, changed: Callable[[Tree], Tree]) -> Tree:
    """An operator over changed inputs; itself where none changes."""
    below = named_inputs(tree)
    made = {name: changed(one) for name, one in below.items()}
    return tree if all(made[name] is below[name] for name in below) else replace(tree, **made)
