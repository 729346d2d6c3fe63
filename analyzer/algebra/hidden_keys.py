"""Groups with all of their keys shown, also those that the select list leaves out: `SELECT COUNT(*) … GROUP BY w`."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.made_columns import made_column
from streambound.analyzer.algebra.nodes import Aggregate, Alias, Filter, Named, Project, Scalar, Star, Tree
from streambound.analyzer.findings import Positions

_HIDDEN = "_hidden{}"


def with_hidden_keys(tree: Tree, positions: Positions) -> Tree | None:
    """``Project(Aggregate(R, keys), items)  ->  Project(Aggregate(R, keys), items + keys)``, below aliases and filters.

    What is above must not ask for all columns. None where no groups are below, or nothing is left out.
    """
    match tree:
        case Filter(input=below) | Alias(input=below, columns=()):
            found = with_hidden_keys(below, positions)
            return None if found is None else replace(tree, input=found)
        case Project(input=below, items=items):
            groups = below.input if isinstance(below, Filter) else below
            if not isinstance(groups, Aggregate) or any(isinstance(item, Star) for item in items):
                return None
            shown = {item.value.text for item in items if isinstance(item, Named)}
            keys = [_column(key, positions) for key in groups.keys]
            hidden = [
                Named(_HIDDEN.format(n), key, alias=True) for n, key in enumerate(keys, 1) if key.text not in shown
            ]
            return replace(tree, items=(*items, *hidden)) if hidden else None
    return None


def _column(key: Named, positions: Positions) -> Scalar:
    """A key as a column of the groups."""
    if not key.alias:
        return key.value
    node = made_column(key.name, positions.of(key.value.syntax or exp.Null()))
    return Scalar(node.sql("spark"), node)
