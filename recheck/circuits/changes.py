"""Relations that change: how many rows one has by the values of its key (E1)."""

from __future__ import annotations

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.types import Family
from streambound.recheck.certificates.quantity import Quantity

TIME = "(time)"
"""The time of the virtual streams that stand for views."""
_WIDTHS = {"boolean": 2, "tinyint": 2**8, "byte": 2**8, "smallint": 2**16, "short": 2**16}


def rows_of_relation(table: DeclaredTable) -> Quantity | None:
    """One row for each value of the key; None where there is no key, or no end of its values."""
    assert table.changes is not None, "a relation that changes"
    if not table.changes.key:
        return None
    found = Quantity.number(1)
    for name in table.changes.key:
        column = table.column(name)
        width = None if column is None else values_of(column)
        if width is None:
            return None
        found = found * Quantity.number(width + 1)  # and NULL
    return found


def values_of(column: Column) -> int | None:
    """How many values a column has by its type and its declared domain; None for no end of them."""
    domain, widths = column.domain, [_WIDTHS[column.type.name]] if column.type.name in _WIDTHS else []
    if domain is not None and domain.values:
        widths.append(len(set(domain.values)))
    elif domain is not None and column.type.family is Family.INTEGER:
        low, high = domain.low, domain.high
        if isinstance(low, int) and isinstance(high, int):
            widths.append(max(0, high - low + 1))
    return min(widths, default=None)
