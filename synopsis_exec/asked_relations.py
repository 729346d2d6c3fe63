"""The relations that expressions ask in subqueries: which columns of them, and what the job calls them there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlglot import exp

from streambound.analyzer.columns import Column
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.rows import of_row
from streambound_runtime.reading.relation_views import view_of


@lru_cache(maxsize=256)
def asked_relations(expression: str) -> tuple[str, ...]:
    """The names of the relations that an expression, or a query, asks, in small letters.

    >>> asked_relations("EXISTS(SELECT 1 FROM `R` AS `r` WHERE `r`.`k` = `_row`.`a`)"), asked_relations("`a` + 1")
    (('r',), ())
    """
    return tuple(dict.fromkeys(table.name.lower() for table in _tree(expression).find_all(exp.Table)))


def _tree(text: str) -> exp.Expr:
    """The syntax of an expression, or of a query."""
    return parsed(f"({text})").unnest() if text.startswith(("SELECT ", "(SELECT ", "WITH ")) else parsed(text)


def asked_columns(expression: str, columns: Sequence[Column], relation: str) -> frozenset[str]:
    """The names of those of a relation's columns that an expression may ask for."""
    if relation.lower() not in asked_relations(expression):
        return frozenset()
    tree = _tree(expression)
    named = {column.name.lower() for column in tree.find_all(exp.Column) if not of_row(column)}
    every = any(isinstance(star.parent, exp.Select | exp.Column) for star in tree.find_all(exp.Star))
    return frozenset(column.name for column in columns if every or column.name.lower() in named)


def over_views(expression: str, names: dict[str, str]) -> str:
    """An expression over the job's views. ``names``: those of the relations, by them in small letters.

    >>> over_views("EXISTS(SELECT 1 FROM `R` AS `R`)", {"r": "R"})
    'EXISTS(SELECT 1 FROM `streambound_R` AS `R`)'
    """
    if not asked_relations(expression):
        return expression
    tree = _tree(expression).copy()
    for table in tree.find_all(exp.Table):
        table.set("this", exp.Identifier(this=view_of(names[table.name.lower()]), quoted=True))
    return tree.sql("spark")
