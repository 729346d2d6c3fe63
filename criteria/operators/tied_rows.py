"""Functions that are alike for rows which the order leaves equal: of these only what is read is told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Filter, Item, Named, Over, Project, Scalar, Tree, WindowCall
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.flatten import written
from streambound.criteria.operators.judge import Context
from streambound.criteria.operators.written_columns import called, names_in
from streambound.criteria.witnesses.ranked_schemes import TIED

Names = Mapping[tuple[str, str], exp.Column]
_NOTHING = Named("_1", Scalar("1", exp.Literal.number(1)), alias=True)
"""An item of a list of which nothing is read but how many rows it has."""


def is_tied(tree: Over) -> bool:
    """Whether the order decides all functions, and not the other columns of rows that it leaves equal."""
    return all(call.function in TIED for call in tree.calls)


def columns_shown(tree: Over, context: Context) -> Schema:
    """The columns of a block's rows beside which the functions stand: those that are read, if these need no more."""
    given = schema(tree.input, context.catalog)
    return tuple(view for view in given if not is_tied(tree) or called(view, context.needed))


def calls_shown(tree: Over, context: Context) -> tuple[WindowCall, ...]:
    """The functions of these that are read, so that what nobody reads is not among an operator's columns."""
    return tree.calls if context.needed is None or not is_tied(tree) else _calls(tree, context.needed)


def _calls(tree: Over, needed: Names) -> tuple[WindowCall, ...]:
    asked = {name.lower() for name, table in needed if not table}
    return tuple(call for call in tree.calls if call.name.lower() in asked)


def only_read(tree: Tree, needed: Names | None) -> Tree:
    """A subquery of such functions with those columns and functions that are read; any other as it is."""
    if needed is None:
        return tree
    match tree:
        case Alias(input, alias, columns=()):
            mine = {(name, ""): node for (name, table), node in needed.items() if table.lower() in ("", alias.lower())}
            found = only_read(input, mine)
        case Filter(input, condition):
            found = only_read(input, {**needed, **names_in([written(condition)])})
        case Over(calls=calls) if is_tied(tree):
            return replace(tree, calls=_calls(tree, needed) or calls[:1])
        case Project(input, items):
            shown = _items(items, needed)
            found = only_read(input, names_in(written(one.value) for one in shown))
            return replace(tree, input=found, items=shown) if found is not input else tree
        case _:
            return tree
    return tree if found is input else replace(tree, input=found)


def _items(items: tuple[Item, ...], needed: Names) -> tuple[Named, ...]:
    """The items of a select list that are read, with those columns for which a star stands."""
    asked = {name.lower(): node for (name, _), node in needed.items()}
    given = tuple(one for one in items if isinstance(one, Named))
    found = tuple(one for one in given if one.name.lower() in asked)
    if len(given) < len(items):
        rest = asked.keys() - {one.name.lower() for one in given}
        found += tuple(_plain(node) for name, node in asked.items() if name in rest)
    return found or given[:1] or (_NOTHING,)


def _plain(column: exp.Column) -> Named:
    node = column.copy()
    node.set("table", None)
    return Named(column.name, Scalar(node.sql("spark"), node))
