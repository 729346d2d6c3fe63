"""Phrases that several criteria share."""

from __future__ import annotations

from collections.abc import Iterable

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute


def listed(names: Iterable[str], word: str = "and") -> str:
    """Names as a person would list them.

    >>> listed(["S", "T", "U"], "or")
    'S, T or U'
    """
    items = list(names)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {word} {items[-1]}" if items else "nothing"


def bound_help(facts: Facts, attribute: Attribute) -> str:
    """Advice for bounding an attribute, in the query or in the catalog."""
    source = facts.branch.source(attribute.source)
    above, below = facts.bounded_above(attribute), facts.bounded_below(attribute)
    return limits_help(str(attribute), source.column(attribute.column), f"streams.{source.table}", above, below)


def limits_help(name: str, column: Column, section: str, above: bool, below: bool) -> str:
    """Advice for bounding a column that has a limit ``above`` or ``below``, or none.

    ``section`` is the table's in the catalog.
    """
    if column.expression:
        equal = "let it equal a constant or a relation's column"
        return f"bound {column.name} in WHERE, or what it is computed of; or {equal}"
    domain = f"domain.{column.name}"
    if not column.type.discrete:
        return (
            f"a range does not bound a {column.type.name}: compare {name} for equality with a constant or a "
            f"relation's column, or list its values as {domain} = {{ values = [...] }} under [{section}] in "
            f"the catalog"
        )
    missing = (
        "a lower and an upper bound" if not above and not below else "an upper bound" if below else "a lower bound"
    )
    return (
        f"{name} lacks {missing}: add it to WHERE, join it by = with a relation's column, or declare {domain} = "
        f"[low, high] under [{section}] in the catalog"
    )
