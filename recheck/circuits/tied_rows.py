"""What is read of rows to which the order gives one rank: nothing else of them has to be remembered."""

from __future__ import annotations

from collections.abc import Iterable

from streambound.analyzer.algebra.nodes import Alias, Filter, Named, Over, Project, Star, Tree, WindowCall
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import names_in

Names = Iterable[tuple[str, str]]


def same_for_ties(calls: Iterable[WindowCall]) -> bool:
    """Whether functions say the same of all rows that the order leaves equal."""
    return all(call.function in ("RANK", "DENSE_RANK") for call in calls)


def note_read(tree: Tree, names: Names | None, states: States) -> None:
    """Note what is read of such functions' rows, where there are some below subqueries that only name columns."""
    while names is not None:
        if isinstance(tree, Over):
            for call in tree.calls:
                states.read.setdefault(id(call), frozenset(names))
            return
        if isinstance(tree, Alias) and not tree.columns:
            names = [(name, "") for name, table in names if table.lower() in ("", tree.alias.lower())]
        elif isinstance(tree, Filter):
            names = [*names, *names_in([tree.condition])]
        elif isinstance(tree, Project):
            names = _below(tree, {name.lower() for name, _ in names}, [*names])
        else:
            return
        tree = tree.input


def _below(tree: Project, asked: set[str], names: Names) -> Names | None:
    """What a select list reads of which so much is asked; None for all."""
    items = [item for item in tree.items if isinstance(item, Named)]
    stars = any(isinstance(item, Star) for item in tree.items)
    mine = [item for item in items if item.name.lower() in asked]
    if not mine and not stars:
        return None
    rest = [(n, t) for n, t in names if stars and n.lower() not in {item.name.lower() for item in items}]
    return [*rest, *names_in([item.value for item in mine])]
