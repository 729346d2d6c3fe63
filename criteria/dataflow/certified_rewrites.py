"""The rewrites of a certificate: the passes that change the tree, of some each change with the facts that it is by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import Tree, named_inputs
from streambound.analyzer.catalog import Catalog
from streambound.criteria.dataflow.certified_nodes import CertifiedNodes, nodes_of, with_nodes
from streambound.criteria.dataflow.explained import FactLog
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.rewrites import (
    FORMS,
    Pass,
    above_groups,
    anti_joins,
    disjoint_unions,
    limited,
    limits_of,
    ranges_down,
    sums_down,
    without_not_in,
    without_union,
)
from streambound.criteria.dataflow.tree_nodes import Json, TreeNode
from streambound.criteria.dataflow.views import Views, pairs_of, statement_views
from streambound.preprocess.trees.late_conditions import late_conditions
from streambound.preprocess.trees.late_values import values_in_blocks
from streambound.preprocess.trees.not_in import compared
from streambound.preprocess.trees.unions import in_both

ByFacts = Callable[[Tree, Catalog, str], tuple[Tree, list[Json]]]
"""A tree after a pass of that name, with each change."""


def certified_rewrites(tree: Tree, judgement: Judgement, catalog: Catalog) -> Iterator[Json]:
    """The passes that change the tree, of some each change with the facts that it is by."""
    for one in (late_conditions, values_in_blocks):
        changed = one(tree, judgement.context.blocks, catalog)
        if changed is not tree:
            yield {"rule": one.__name__}
        tree = changed
    for passes in FORMS:
        found, rewrites = _after(tree, passes, catalog)
        if _same(found, judgement.operation.tree):
            yield from rewrites
            return
    raise RuntimeError("a judgement is of a normal form")


def _after(tree: Tree, passes: Iterable[Pass], catalog: Catalog) -> tuple[Tree, list[Json]]:
    """A tree after some passes, and those that change it."""
    found = list[Json]()
    for one in passes:
        if one in _BY_FACTS:
            tree, made = _BY_FACTS[one](tree, catalog, one.__name__)
            found += made
            continue
        changed = one(tree, catalog)
        if not _same(changed, tree):
            found.append({"rule": one.__name__})
        tree = changed
    return tree, found


def _same(one: Tree, other: Tree) -> bool:
    return one == other and _places(one) == _places(other)


def _paths(tree: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of a tree, those below an operator first."""
    for name, one in named_inputs(tree).items():
        yield from _paths(one, (*path, name))
    yield path


def _everywhere(
    local: Pass, made_of: Callable[[Tree], dict[str, Tree]], add: Callable[[FactLog, TreeNode], None]
) -> ByFacts:
    """A pass as a rule for one operator, with facts about the trees that ``made_of`` gives."""

    def steps(tree: Tree, catalog: Catalog, rule: str) -> tuple[Tree, list[Json]]:
        found = list[Json]()
        for path in _paths(tree):
            here = _at(tree, path)
            changed = local(here, catalog)
            if changed is not here:
                made = made_of(here)
                registered = nodes_of(tree, catalog, path, made)
                log = FactLog(registered.number)
                for node in map(registered.at, made.values()):
                    add(log, node)
                found.append(_claim(rule, path, log, registered))
                tree = _with(tree, path, changed)
        return tree, found

    return steps


def _claim(rule: str, path: tuple[str, ...], log: FactLog, registered: CertifiedNodes, **more: Any) -> Json:
    """A change of one operator, by facts about the tree before it."""
    return with_nodes({"rule": rule, "path": list(path), **more, "facts": log.facts}, registered.claims)


def _both(tree: Tree) -> dict[str, Tree]:
    both = in_both(tree)
    assert both is not None, "it is a union of selections"
    return {"both": both}


def _sides(tree: Tree) -> dict[str, Tree]:
    """The sides of a NOT IN."""
    return dict(zip(("member", "values"), compared(tree) or (), strict=True))


def _is_empty(log: FactLog, node: TreeNode) -> None:
    log.values(node, next(place for place, column in enumerate(node.view.columns) if column.values.size == 0))


def _are_values(log: FactLog, node: TreeNode) -> None:
    for place, column in enumerate(node.view.columns):
        if not column.values.null:
            log.values(node, place)


def _sums(tree: Tree, catalog: Catalog, rule: str) -> tuple[Tree, list[Json]]:
    """`sums_down`, select list by select list."""
    found, todo = list[Json](), list[tuple[str, ...]]([()])
    while todo:
        path = todo.pop()
        pushed = above_groups(_at(tree, path), catalog)
        if pushed is not None:
            found.append({"rule": rule, "path": list(path), "side": pushed[0]})
            tree = _with(tree, path, pushed[1])
        todo += [(*path, name) for name in reversed(named_inputs(_at(tree, path)))]
    return tree, found


def _limits(tree: Tree, catalog: Catalog, _: str) -> tuple[Tree, list[Json]]:
    """`ranges_down`, limit by limit, each on the tree after the ones before."""
    found = list[Json]()
    todo: list[tuple[tuple[str, ...], Views]] = [((), statement_views(catalog))]
    while todo:
        path, views = todo.pop()
        for side, part, column in limits_of(_at(tree, path), views):
            registered = nodes_of(tree, catalog, path, {})
            log, pair = FactLog(registered.number), registered.at(pairs_of(_at(tree, path)))
            fact, text = log.values(pair, column), part.sql("spark")
            found.append(_claim("limit", path, log, registered, side=side, condition=text, fact=fact))
            tree = _with(tree, path, limited(_at(tree, path), side, part, catalog))
        here = _at(tree, path)
        inside = views.inside(here) if isinstance(here, nodes.Fixpoint) else views
        todo += [((*path, name), inside if name == "step" else views) for name in reversed(named_inputs(here))]
    return tree, found


def _at(tree: Tree, path: tuple[str, ...]) -> Tree:
    for name in path:
        tree = named_inputs(tree)[name]
    return tree


def _with(tree: Tree, path: tuple[str, ...], changed: Tree) -> Tree:
    """A tree with another one at a path."""
    if not path:
        return changed
    return replace(tree, **{path[0]: _with(named_inputs(tree)[path[0]], path[1:], changed)})


def _places(tree: Tree) -> list[object]:
    """Where the operators of a tree stand, which trees are not compared by."""
    return [tree.at, *(at for below in named_inputs(tree).values() for at in _places(below))]


_BY_FACTS: Mapping[Pass, ByFacts] = {
    ranges_down: _limits,
    disjoint_unions: _everywhere(without_union, _both, _is_empty),
    anti_joins: _everywhere(without_not_in, _sides, _are_values),
    sums_down: _sums,
}
"""Passes of which each change is certified by itself."""
