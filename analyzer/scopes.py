"""FROM: names in scope, flattening of CTEs and subqueries, expansion of unions inside FROM."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from analyzer.catalog import Catalog, Table
from analyzer.diagnostics import Related
from analyzer.findings import Positions
from analyzer.query import TRUE, Attribute, Formula, Source, conjunction
from analyzer.terms import Term
from analyzer.toml_reader import suggest


@dataclass(frozen=True)
class Visible:
    """One column that a FROM item offers: its name and what it stands for."""

    name: str
    term: Term


@dataclass(frozen=True)
class Item:
    """One FROM item in scope: its alias and visible columns."""

    alias: str
    columns: tuple[Visible, ...]

    def find(self, name: str) -> Visible | None:
        """The visible column of that name, case-insensitive."""
        lowered = name.lower()
        return next((column for column in self.columns if column.name.lower() == lowered), None)


@dataclass(frozen=True)
class Scope:
    """The items of one FROM, the sources behind them, and the conditions that flattening brought along."""

    items: tuple[Item, ...] = ()
    sources: tuple[Source, ...] = ()
    where: Formula = TRUE

    def join(self, other: Scope) -> Scope:
        """The cross product of two scopes."""
        where = conjunction((self.where, other.where))
        return Scope(self.items + other.items, self.sources + other.sources, where)


def table_scope(node: exp.Table, table: Table, alias: str, unique: str, positions: Positions) -> Scope:
    """The scope of one catalog table."""
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
    )
    columns = tuple(
        Visible(
            column.name,
            Term(
                plus=(Attribute(unique, column.name),),
                type=column.type,
                is_time=column.name == table.timestamp,
            ),
        )
        for column in table.columns
    )
    return Scope((Item(alias, columns),), (source,))


def find_table(node: exp.Table, catalog: Catalog, positions: Positions) -> Table:
    """The catalog entry a FROM names; raises Finding when there is none."""
    if node.args.get("db"):
        raise positions.finding("SB110", "qualified names are outside the query language", node)
    if not isinstance(node.this, exp.Identifier):
        raise positions.finding("SB110", "a table function in FROM is outside the query language", node)
    table = catalog.table(node.name)
    if table is None:
        known = ", ".join(catalog.names) or "nothing"
        help = suggest(node.name, catalog.names) or f"{catalog.file} declares {known}"
        raise positions.finding("SB101", f"unknown stream or relation {node.name!r}", node.this, help)
    return table


def resolve(scope: Scope, node: exp.Column, catalog: Catalog, positions: Positions) -> Visible:
    """The visible column that a name refers to; raises Finding when unknown or ambiguous."""
    qualifier, name = node.table, node.name
    if node.args.get("db") or node.args.get("catalog"):
        raise positions.finding("SB110", "nested or qualified names are outside the query language", node)
    items = [item for item in scope.items if not qualifier or item.alias.lower() == qualifier.lower()]
    if qualifier and not items:
        help = suggest(qualifier, [item.alias for item in scope.items])
        raise positions.finding("SB101", f"no stream or relation {qualifier!r} in this FROM", node, help)
    found = [column for item in items if (column := item.find(name))]
    if len(found) > 1:
        owners = " and ".join(item.alias for item in items if item.find(name))
        help = f"write {items[0].alias}.{name}"
        raise positions.finding("SB103", f"column {name!r} is ambiguous: {owners} have it", node, help)
    if not found:
        names = [f"{item.alias}.{column.name}" for item in items for column in item.columns]
        help = suggest(f"{qualifier}.{name}", names) if qualifier else _suggest_column(name, items)
        where = f"{qualifier} has" if qualifier else "the streams and relations in this FROM have"
        raise positions.finding("SB102", f"{where} no column {name!r}", node, help, _declared(scope, items, catalog))
    return found[0]


def _suggest_column(name: str, items: list[Item]) -> str:
    return suggest(name, [column.name for item in items for column in item.columns])


def _declared(scope: Scope, items: list[Item], catalog: Catalog) -> tuple[Related, ...]:
    aliases = {item.alias.lower() for item in items}
    return tuple(
        Related.at(source.at, f"{source.table} is declared here")
        for source in scope.sources
        if source.alias.rpartition("#")[0].lower() in aliases and source.at
    )
