"""Select lists as values of columns, and conditions with values in the place of columns."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Named, Star
from streambound.analyzer.algebra.schema import starred_places
from streambound.analyzer.algebra.schema_columns import Schema, places_of
from streambound.analyzer.algebra.syntax import column_of


def values_of(items: Sequence[Named | Star], given: Schema) -> list[exp.Expr]:
    """The expressions of a select list, over its input's columns."""
    found: list[exp.Expr] = []
    for item in items:
        if isinstance(item, Star):
            found += [column_of(given[place]) for place in starred_places(item, given)]
        else:
            found.append(item.value.syntax)
    return found


def substituted(part: exp.Expr, columns: Schema, values: Sequence[exp.Expr]) -> exp.Expr | None:
    """A condition with values for columns; None where a name in it is not that of one column, or a value a subquery."""
    holder = exp.Paren(this=part.copy())
    for column in list(holder.find_all(exp.Column)):
        place, *others = (*places_of(column, columns), len(values))
        if len(others) != 1 or place >= len(values) or values[place].find(exp.Query) is not None:
            return None
        value = values[place]
        column.replace(value.copy() if isinstance(value, exp.Column) else exp.paren(value.copy()))
    found: exp.Expr = holder.this
    return found
