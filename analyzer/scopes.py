"""FROM: names in scope, flattening of CTEs and subqueries, expansion of unions inside FROM."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.codes import Code
from streambound.analyzer.constants import Folded
from streambound.analyzer.diagnostics import Related
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.models import Described
from streambound.analyzer.query import TRUE, Attribute, Formula, Source
from streambound.analyzer.terms import LinearTerm
from streambound.analyzer.toml_reader import suggest
from streambound.analyzer.work import spend

_PLAIN = "leave the database out: the catalog's names have none"
_FUNCTION = "declare what it gives as a stream or relation; of Flink's, TUMBLE, HOP, CUMULATE and SESSION are decided"
_STEPS = 10
"""What it takes to find what a name means, beside the items that have to be asked."""


class Visible(Described, frozen=True):
    """One column that a FROM item offers: its name and what it stands for.

    ``computed`` numbers the expressions with a name of their own: two of them are two columns, even of one meaning,
    as for Spark. A column that is only passed on stays the one that it was, 0 for those of the catalog. ``tree`` is the
    expression that it stands for, over columns of the catalog; None where it is one of them.
    ``several``: it is computed of several rows, so that ``term`` has no more than its type.
    """

    DESCRIPTION = ("tree",)

    name: str
    term: LinearTerm
    computed: int = 0
    tree: exp.Expr | None = None
    several: bool = False


class Item(Struct, frozen=True, dict=True):
    """One FROM item in scope: its alias and visible columns."""

    alias: str
    columns: tuple[Visible, ...]

    def find(self, name: str) -> tuple[Visible, ...]:
        """The visible columns of that name, case-insensitive; one that is there twice is one."""
        return self._by_name.get(name.lower(), ())

    @cached_property
    def _by_name(self) -> dict[str, tuple[Visible, ...]]:
        found: dict[str, dict[tuple[LinearTerm, int], Visible]] = {}
        for column in self.columns:
            found.setdefault(column.name.lower(), {}).setdefault((column.term, column.computed), column)
        return {name: tuple(columns.values()) for name, columns in found.items()}


class Scope(Struct, frozen=True, dict=True):
    """The items of one FROM, the sources behind them, and the conditions that flattening brought along.

    USING makes one of two columns: ``merged`` are names in small letters with the aliases of the items that share them,
    ``shown`` is what ``*`` then shows.
    """

    items: tuple[Item, ...] = ()
    sources: tuple[Source, ...] = ()
    where: Formula = TRUE
    shown: tuple[Visible, ...] | None = None
    merged: frozenset[tuple[str, str]] = frozenset()

    @property
    def star(self) -> tuple[Visible, ...]:
        """The columns of ``*``."""
        every = tuple(column for item in self.items for column in item.columns)
        return every if self.shown is None else self.shown

    def is_merged(self, name: str, items: Sequence[Item]) -> bool:
        """Whether all of some items have a name in common that USING made one column."""
        return all((name.lower(), item.alias.lower()) in self.merged for item in items)

    def called(self, alias: str) -> tuple[Item, ...]:
        """The items of that alias, case-insensitive."""
        return self._by_alias.get(alias.lower(), ())

    @cached_property
    def _by_alias(self) -> dict[str, tuple[Item, ...]]:
        found: dict[str, tuple[Item, ...]] = {}
        for item in self.items:
            found[item.alias.lower()] = (*found.get(item.alias.lower(), ()), item)
        return found


def table_scope(node: exp.Expr, table: DeclaredTable, alias: str, unique: str, positions: Positions) -> Scope:
    """The scope of one catalog table, or of a relation that is computed of others."""
    source = Source(
        unique,
        table.name,
        table.kind,
        table.columns,
        table.timestamp,
        positions.of(node),
        table.max_per_timestamp,
        table.rows,
        table.at,
        table.max_rate,
        query=table.query,
        punctuations=table.punctuations,
        ending=table.ending,
        one_key=table.one_key,
        unique=table.unique,
    )
    columns = tuple(
        Visible(
            column.name,
            LinearTerm(
                Folded(Fraction(0), column.type),
                plus=(Attribute(unique, column.name),),
                type=column.type,
                is_time=column.name == table.timestamp,
            ),
        )
        for column in table.columns
    )
    return Scope((Item(alias, columns),), (source,))


def find_table(node: exp.Table, catalog: Catalog, positions: Positions) -> DeclaredTable:
    """The catalog entry a FROM names; raises Finding when there is none."""
    if node.args.get("db"):
        raise positions.finding(Code.UNSUPPORTED, "qualified names are outside the query language", node, _PLAIN)
    if not isinstance(node.this, exp.Identifier):
        message = "a table function in FROM is outside the query language"
        raise positions.finding(Code.UNSUPPORTED, message, node, _FUNCTION)
    table = catalog.table(node.name)
    if table is None:
        help = _created(node.name, positions) or suggest(node.name, catalog.names)
        help = help or f"{catalog.file} declares {', '.join(catalog.names) or 'nothing'}"
        raise positions.finding(Code.UNKNOWN_STREAM, f"unknown stream or relation {node.name!r}", node.this, help)
    return table


_CREATE = re.compile(
    r"\bCREATE\s++(?:TEMPORARY\s++)?+(?:TABLE|STREAM|SOURCE)\s++(?:IF\s++NOT\s++EXISTS\s++)?+[`\"]?+(\w++)",
    re.IGNORECASE,
)


def _created(name: str, positions: Positions) -> str:
    """How a table is declared that the file itself creates, as a script of Flink does; empty for another one."""
    file = positions.source.file
    names = (found.lower() for found in _CREATE.findall(positions.source.text))
    return f"`streambound catalog import {file}` declares what the file creates" if name.lower() in names else ""


def resolve(scope: Scope, node: exp.Column, catalog: Catalog, positions: Positions) -> tuple[Item, Visible]:
    """The column that a name refers to, and the FROM item that has it; raises Finding when unknown or ambiguous."""
    qualifier, name = node.table, node.name
    if node.args.get("db") or node.args.get("catalog"):
        raise positions.finding(
            Code.UNSUPPORTED, "nested or qualified names are outside the query language", node, _PLAIN
        )
    items = scope.called(qualifier) if qualifier else scope.items
    spend(_STEPS + len(items))
    if qualifier and not items:
        help = suggest(qualifier, [item.alias for item in scope.items])
        raise positions.finding(Code.UNKNOWN_STREAM, f"no stream or relation {qualifier!r} in this FROM", node, help)
    found = [(item, column) for item in items for column in item.find(name)]
    if len(found) > 1 and not scope.is_merged(name, [item for item, _ in found]):
        raise _ambiguous(items, node, positions)
    if not found:
        names = [f"{item.alias}.{column.name}" for item in items for column in item.columns]
        help = suggest(f"{qualifier}.{name}", names) if qualifier else _suggest_column(name, items)
        where = f"{qualifier} has" if qualifier else "the streams and relations in this FROM have"
        raise positions.finding(
            Code.UNKNOWN_COLUMN, f"{where} no column {name!r}", node, help, _declared(scope, items, catalog)
        )
    return found[0]


def _ambiguous(items: Sequence[Item], node: exp.Column, positions: Positions) -> Finding:
    owners = [item for item in items if item.find(node.name)]
    twice = next((item for item in owners if len(item.find(node.name)) > 1), None)
    if twice is not None:
        message = f"column {node.name!r} is ambiguous: {twice.alias or 'the subquery'} has several of that name"
        return positions.finding(Code.AMBIGUOUS_COLUMN, message, node, "give each of them a name of its own, with AS")
    names = " and ".join(item.alias or "a subquery" for item in owners)
    qualifier = next((item.alias for item in owners if item.alias), "")
    help = (
        f"write {qualifier}.{node.name}" if qualifier else "give the subqueries names, and write one before the column"
    )
    return positions.finding(Code.AMBIGUOUS_COLUMN, f"column {node.name!r} is ambiguous: {names} have it", node, help)


def _suggest_column(name: str, items: Sequence[Item]) -> str:
    return suggest(name, [column.name for item in items for column in item.columns])


def _declared(scope: Scope, items: Sequence[Item], catalog: Catalog) -> tuple[Related, ...]:
    aliases = {item.alias.lower() for item in items}
    return tuple(
        Related.at(source.at, f"{source.table} is declared here")
        for source in scope.sources
        if source.alias.rpartition("#")[0].lower() in aliases and source.at
    )
