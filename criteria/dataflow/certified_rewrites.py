"""The rewrites of a certificate: the passes that change the tree, of some each change with the facts that it is by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import Tree, named_inputs
from streambound.analyzer.catalog import Catalog
from streambound.criteria.dataflow.certified_nodes import nodes_of, with_nodes
from streambound.criteria.dataflow.explained import FactLog
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.rewrites.not_in import anti_joins, without_not_in
from streambound.criteria.dataflow.rewrites.pipeline import FORMS, Pass
from streambound.criteria.dataflow.rewrites.ranges import LEFT_MEETS, RIGHT_MEETS, limits, meets_others, ranges_down
from streambound.criteria.dataflow.rewrites.sums import above_groups, sums_down
from streambound.criteria.dataflow.rewrites.unions import disjoint_unions, is_disjoint
from streambound.criteria.dataflow.tree_nodes import Json, pairs_of
from streambound.criteria.dataflow.views import Views, statement_views
from streambound.preprocess.trees.conditions import filtered
from streambound.preprocess.trees.late_conditions import late_conditions
from streambound.preprocess.trees.late_values import values_in_blocks
from streambound.preprocess.trees.not_in import compared
from streambound.preprocess.trees.unions import in_both, one_selection


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
            tree, made = _BY_FACTS[one](tree, catalog)
            found += made
            continue
        changed = one(tree, catalog)
        if not _same(changed, tree):
            found.append({"rule": one.__name__})
        tree = changed
    return tree, found


def _same(one: Tree, other: Tree) -> bool:
    return one == other and _places(one) == _places(other)


def _upwards(tree: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of a tree, those below an operator first."""
    for name, one in named_inputs(tree).items():
        yield from _upwards(one, (*path, name))
    yield path


def _selections(tree: Tree, catalog: Catalog) -> tuple[Tree, list[Json]]:
    """What `disjoint_unions` does, union by union."""
    found = list[Json]()
    for path in _upwards(tree):
        here = _at(tree, path)
        both = in_both(here) if is_disjoint(here, catalog) else None
        if both is None:
            continue
        registered = nodes_of(tree, catalog, path, {"both": both})
        log, node = FactLog(registered.number), registered.at(both)
        empty = next(place for place, column in enumerate(node.view.columns) if column.values.size == 0)
        log.values(node, empty)
        made: Json = {"rule": "disjoint_unions", "path": list(path), "facts": log.facts}
        found.append(with_nodes(made, registered.claims))
        tree = _with(tree, path, one_selection(here))
    return tree, found


def _not_in(tree: Tree, catalog: Catalog) -> tuple[Tree, list[Json]]:
    """What `anti_joins` does, join by join."""
    found = list[Json]()
    for path in _upwards(tree):
        here = _at(tree, path)
        compared_values = compared(here)
        if compared_values is None:
            continue
        sides = dict(zip(("member", "values"), compared_values, strict=True))
        registered = nodes_of(tree, catalog, path, sides)
        log = FactLog(registered.number)
        for node in map(registered.at, sides.values()):
            for place, column in enumerate(node.view.columns):
                if not column.values.null:
                    log.values(node, place)
        made: Json = {"rule": "anti_joins", "path": list(path), "facts": log.facts}
        found.append(with_nodes(made, registered.claims))
        tree = _with(tree, path, without_not_in(here, catalog))
    return tree, found


def _sums(tree: Tree, catalog: Catalog) -> tuple[Tree, list[Json]]:
    """What `sums_down` does, select list by select list."""
    found, todo = list[Json](), list[tuple[str, ...]]([()])
    while todo:
        path = todo.pop()
        here = _at(tree, path)
        pushed = above_groups(here, catalog)
        if pushed is not None:
            is_left, changed = pushed
            found.append({"rule": "sums_down", "path": list(path), "side": "left" if is_left else "right"})
            tree = _with(tree, path, changed)
        todo += [(*path, name) for name in reversed(named_inputs(_at(tree, path)))]
    return tree, found


def _limits(tree: Tree, catalog: Catalog) -> tuple[Tree, list[Json]]:
    """What `ranges_down` does, limit by limit, each of the tree after those before it."""
    found = list[Json]()
    todo: list[tuple[tuple[str, ...], Views]] = [((), statement_views(catalog))]
    while todo:
        path, views = todo.pop()
        here = _at(tree, path)
        for name, part, column in _limits_of(here, views):
            registered = nodes_of(tree, catalog, path, {})
            log, pair = FactLog(registered.number), registered.at(pairs_of(_at(tree, path)))
            made: Json = {"rule": "limit", "path": list(path), "side": name, "condition": part.sql("spark")}
            made |= {"fact": log.values(pair, column), "facts": log.facts}
            found.append(with_nodes(made, registered.claims))
            changed = filtered(getattr(_at(tree, path), name), part, catalog)
            tree = _with(tree, (*path, name), changed)
        here = _at(tree, path)
        inside = views.inside(here) if isinstance(here, nodes.Fixpoint) else views
        todo += [((*path, name), inside if name == "step" else views) for name in reversed(named_inputs(here))]
    return tree, found


def _limits_of(tree: Tree, views: Views) -> list[tuple[str, exp.Expr, int]]:
    """The limits of a join's sides, with the columns of pairs that they are of."""
    if not meets_others(tree, views.catalog):
        return []
    left, right, pair = views.of(tree.left), views.of(tree.right), views.of(pairs_of(tree))
    width, found = len(left.schema), list[tuple[str, exp.Expr, int]]()
    if tree.kind in LEFT_MEETS:
        of_left = limits(tree.left, left, pair.columns[:width], views.catalog)
        found += [("left", part, place) for place, part in of_left]
    if tree.kind in RIGHT_MEETS:
        of_right = limits(tree.right, right, pair.columns[width:], views.catalog)
        found += [("right", part, place + width) for place, part in of_right]
    return found


def _at(tree: Tree, path: tuple[str, ...]) -> Tree:
    for name in path:
        tree = named_inputs(tree)[name]
    return tree


def _with(tree: Tree, path: tuple[str, ...], changed: Tree) -> Tree:
    """A tree with another one at a path."""
    if not path:
        return changed
    return replace(tree, **{path[0]: _with(named_inputs(tree)[path[0]], path[1:], changed)})  # type: ignore[arg-type]


def _places(tree: Tree) -> list[object]:
    """Where the operators of a tree stand, which trees are not compared by."""
    return [tree.at, *(at for below in named_inputs(tree).values() for at in _places(below))]


_BY_FACTS: Mapping[Pass, Callable[[Tree, Catalog], tuple[Tree, list[Json]]]] = {
    ranges_down: _limits,
    disjoint_unions: _selections,
    anti_joins: _not_in,
    sums_down: _sums,
}
"""Passes of which each change is certified by itself."""
