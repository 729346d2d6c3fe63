"""What each SELECT of a statement reads by name, with what its conditions say of the streams among it.

SELECT … FROM S WHERE NOT EXISTS (SELECT … FROM T WHERE T.a = S.a)   ->   S;  T, with S around it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Attribute
from streambound.analyzer.render import identifier
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements

_COMPARISONS = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_NO_VALUES = (exp.Query, exp.AggFunc, exp.Window)


@dataclass(frozen=True)
class FromItem:
    """A stream or relation that a FROM names, by its alias; ``join`` is what it is the right side of, if anything."""

    alias: str
    table: DeclaredTable
    node: exp.Table
    join: exp.Join | None

    @property
    def side(self) -> str:
        """``LEFT``, ``RIGHT``, ``FULL``, ``SEMI`` or ``ANTI``; empty for the first item, and for an inner join."""
        if self.join is None:
            return ""
        kind = self.join.text("kind").upper()
        return kind if kind in ("SEMI", "ANTI") else self.join.text("side").upper()

    @property
    def time(self) -> Attribute:
        """The application time of a stream."""
        return Attribute(self.alias, self.table.timestamp or "")

    @property
    def written_time(self) -> str:
        """The application time as it is written."""
        return self.written(self.time.column)

    def written(self, column: str) -> str:
        """A column of it as it is written."""
        alias = self.node.args.get("alias")
        named = alias.this if alias is not None else self.node.this
        return f"{named.sql('spark')}.{_name(column)}"


@dataclass(frozen=True)
class SelectScope:
    """A SELECT, what its FROM names, and the SELECT around it whose names it sees, if it is a subquery."""

    select: exp.Select
    items: tuple[FromItem, ...]
    around: SelectScope | None
    catalog: Catalog

    @cached_property
    def seen(self) -> tuple[FromItem, ...]:
        """All that it sees by name, its own first."""
        outer = self.around.seen if self.around is not None else ()
        own = {item.alias.lower() for item in self.items}
        return (*self.items, *(item for item in outer if item.alias.lower() not in own))

    @cached_property
    def streams(self) -> tuple[FromItem, ...]:
        """The streams among it."""
        return tuple(item for item in self.seen if item.table.kind is Kind.STREAM)

    @cached_property
    def conditions(self) -> tuple[exp.Expr, ...]:
        """The comparisons that pairs of its rows, and of those around it, satisfy."""
        joins = self.select.args.get("joins") or ()
        written = [self.select.args.get("where"), *(join.args.get("on") for join in joins)]
        own = [part for one in written if one is not None for part in _conjuncts(one)]
        return (*own, *(self.around.conditions if self.around is not None else ()))

    @cached_property
    def facts(self) -> Facts | None:
        """What the comparisons say of the values of its streams; None where there are none."""
        known = [text for one in self.conditions if (text := self._understood(one))]
        return self._facts(self.streams, known) or self._facts(self.streams)

    def facts_of(self, item: FromItem) -> Facts | None:
        """What is known of a stream's values here; of a relation's what the catalog says."""
        return self.facts if item in self.streams else self._facts((item,))

    def _understood(self, condition: exp.Expr) -> str:
        """A comparison of values of the streams; nothing for another one."""
        names = {item.alias.lower(): item for item in self.streams}
        for column in condition.find_all(exp.Column):
            item = names.get(column.table.lower())
            if item is None or item.table.column(column.name) is None:
                return ""
        text = str(condition.sql("spark"))
        return text if self._facts(self.streams, [text]) is not None else ""

    def _facts(self, items: Sequence[FromItem], conditions: Sequence[str] = ()) -> Facts | None:
        if not items:
            return None
        tables = ", ".join(f"{_name(item.table.name)} AS {_name(item.alias)}" for item in items)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        values = [item.written(c.name) for item in items for c in item.table.columns]
        source = SourceText("", f"SELECT {', '.join(values)} FROM {tables}{where}")
        # what a relation is like does not depend on whether it changes
        tables_of = replace(self.catalog, tables=tuple(replace(table, changes=None) for table in self.catalog.tables))
        query = lower(split_statements(source)[0], tables_of).query
        return Facts.of(query.branches[0]) if query is not None else None


def scopes(tree: exp.Expr, catalog: Catalog) -> tuple[SelectScope, ...]:
    """Every SELECT of a statement, outer ones first."""
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    found: dict[int, SelectScope] = {}
    for select in tree.find_all(exp.Select):
        around = _around(select)
        outer = found.get(id(around)) if around is not None else None
        found[id(select)] = SelectScope(select, tuple(_items(select, named, catalog)), outer, catalog)
    return tuple(found.values())


def _items(select: exp.Select, named: set[str], catalog: Catalog) -> Iterator[FromItem]:
    start = select.args.get("from_")
    for join, node in ((None, start and start.this), *((join, join.this) for join in select.args.get("joins") or ())):
        if not isinstance(node, exp.Table) or node.name.lower() in named:
            continue
        table = catalog.table(node.name)
        if table is not None:
            yield FromItem(node.alias or node.name, table, node, join)


def _around(select: exp.Select) -> exp.Select | None:
    """The SELECT whose names a subquery sees; None for one that stands in a FROM, or a WITH."""
    node: exp.Expr = select
    while node.parent is not None:
        parent = node.parent
        if isinstance(parent, exp.From | exp.CTE) or (isinstance(parent, exp.Join) and node.arg_key == "this"):
            return None
        if isinstance(parent, exp.Select):
            return parent
        node = parent
    return None


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.this)
        yield from _conjuncts(condition.expression)
    elif isinstance(condition, exp.Where | exp.Paren):
        yield from _conjuncts(condition.this)
    elif isinstance(condition, _COMPARISONS) and not condition.find(*_NO_VALUES):
        yield condition


def _name(name: str) -> str:
    return identifier(name).sql("spark")
