"""The trees of a recursion as its blocks are read: r, and relations that change, are streams that stand for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Named, Project, Recur, Scalar, Scan, Tree, inputs, named_inputs
from streambound.analyzer.catalog import Catalog


def standing(tree: Tree, catalog: Catalog) -> Tree:
    """A tree whose relations that change are selects from the streams that stand for them."""
    if isinstance(tree, Scan) and tree.changes:
        table = catalog.table(tree.table)
        assert table is not None, "a relation of the catalog"
        pairs = [(column.name, column.name) for column in table.columns]
        return Alias(_select(replace(tree, changes=False), pairs), tree.alias, syntax=tree.syntax)
    return _with_inputs(tree, lambda below: standing(below, catalog))


def _select(scan: Scan, pairs: list[tuple[str, str]]) -> Project:
    """The columns of a table, with other names: ``SELECT column AS name, …``."""
    nodes = [(name, exp.column(column, quoted=True)) for name, column in pairs]
    items = tuple(Named(name, Scalar(node.sql("spark"), node), alias=True) for name, node in nodes)
    return Project(scan, items, syntax=scan.syntax)


def reading(tree: Tree, names: list[str], table: str) -> Tree:
    """A step whose occurrences of r are selects from the stream that stands for it."""
    pairs = [(name, f"_{n}") for n, name in enumerate(names, 1)]

    def made(recur: Recur, columns: tuple[str, ...]) -> Tree:
        select = _select(Scan(table, recur.alias, syntax=exp.to_table(table)), pairs)
        return Alias(replace(select, syntax=recur.syntax), recur.alias, columns, syntax=recur.syntax)

    return _replaced(tree, made)


def with_base(tree: Tree, base: Tree) -> Tree:
    """A step whose occurrences of r are its base."""

    def made(recur: Recur, columns: tuple[str, ...]) -> Tree:
        inner, own = (base.input, base.columns) if isinstance(base, Alias) else (base, ())
        return Alias(inner, recur.alias, columns or own, syntax=recur.syntax)

    return _replaced(tree, made)


def _replaced(tree: Tree, made: Callable[[Recur, tuple[str, ...]], Tree]) -> Tree:
    match tree:
        case Recur():
            return made(tree, ())
        case Alias(Recur() as recur, alias, columns):
            return made(replace(recur, alias=alias), columns)
    return _with_inputs(tree, lambda below: _replaced(below, made))


def _with_inputs(tree: Tree, made: Callable[[Tree], Tree]) -> Tree:
    below = {name: made(under) for name, under in named_inputs(tree).items()}
    return replace(tree, **below) if below else tree  # type: ignore[arg-type]


def changing_scans(tree: Tree) -> Iterator[Scan]:
    """The relations that change of a tree."""
    if isinstance(tree, Scan) and tree.changes:
        yield tree
    for below in inputs(tree):
        yield from changing_scans(below)
