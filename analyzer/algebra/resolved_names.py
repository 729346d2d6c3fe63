"""Whether each name in a statement beyond joins means one column: what `analyzer.scopes` does for joins."""

from __future__ import annotations

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.algebra.schema_columns import Schema, meant, places_of
from streambound.analyzer.algebra.verify import ColumnName, names
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.toml_reader import suggest


def check_names(tree: Tree, catalog: Catalog, positions: Positions) -> None:
    """Raises Finding for the first name, from the bottom of the tree, that no column has, or several have."""
    for name in names(tree, catalog):
        mine = [name.given[place] for place in places_of(name.column, name.given)]
        if not mine and meant(name.column, name.around) is None:
            raise _unknown(name, positions)
        if len(mine) > 1 and not name.sorts:
            raise _ambiguous(name, tuple(mine), positions)


def _unknown(name: ColumnName, positions: Positions) -> Finding:
    column, given = name.column, (*name.given, *name.around)
    aliases = dict.fromkeys(found.alias for found in given if found.alias)
    if column.table and column.table.lower() not in map(str.lower, aliases):
        message = f"no stream, relation or subquery {column.table!r} in this FROM"
        field = f"a field of a subquery's struct has a name there: … {column.table}.{column.name} AS {column.name}"
        is_struct = any(found.called(column.table) for found in given)
        help = field if is_struct else suggest(column.table, aliases)
        return positions.finding(Code.UNKNOWN_STREAM, message, column, help)
    if column.table:
        known = [f"{found.alias}.{found.name}" for found in given if found.alias]
        message, help = f"{column.table} has no column {column.name!r}", suggest(f"{column.table}.{column.name}", known)
    else:
        message = f"nothing in this FROM has a column {column.name!r}"
        help = suggest(column.name, [found.name for found in given])
    return positions.finding(Code.UNKNOWN_COLUMN, message, column, help)


def _ambiguous(name: ColumnName, found: Schema, positions: Positions) -> Finding:
    aliases = list(dict.fromkeys(one.alias for one in found if one.alias))
    if len(aliases) < 2:
        message = f"{len(found)} columns are called {name.column.name!r}"
        help = "give each of them a name of its own, with AS"
    else:
        message = f"column {name.column.name!r} is ambiguous: {' and '.join(aliases)} have it"
        help = f"write {aliases[0]}.{name.column.name}"
    return positions.finding(Code.AMBIGUOUS_COLUMN, message, name.column, help)
