"""An input of an operator as a transfer rule sees it: its columns, and what is known of its rows."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.algebra.narrowing import RowFacts
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, Key, Times, ViewFacts, ViewKind, promises


class OperatorInput(Struct, frozen=True):
    """The schema of an operator's input and its facts."""

    schema: Schema
    facts: ViewFacts

    @property
    def columns(self) -> tuple[ColumnFacts, ...]:
        """The facts of its columns, with one for each."""
        found = self.facts.columns
        return (*found, *(ColumnFacts() for _ in range(len(self.schema) - len(found))))[: len(self.schema)]

    @property
    def row(self) -> RowFacts:
        """One of its rows."""
        return RowFacts(self.schema, self.columns, latest=self.facts.latest)

    @property
    def whole(self) -> Key:
        """All of its columns as a key."""
        return frozenset(map(called, self.schema))

    @property
    def is_static(self) -> bool:
        """Whether its rows never change."""
        return self.facts.change is ViewKind.STATIC


def called(column: ViewColumn) -> str:
    """A column's name in keys."""
    return f"{column.alias}.{column.name}".strip(".").lower()


def passed_on(keys: tuple[Key, ...], pairs: Iterable[tuple[ViewColumn, ViewColumn]]) -> tuple[Key, ...]:
    """The keys whose columns are all kept, with their columns' new names."""
    renamed = {called(old): called(new) for old, new in pairs}
    return tuple(frozenset(renamed[name] for name in key) for key in keys if key <= renamed.keys())


def unless_static(found: ViewFacts, change: ViewKind) -> ViewKind:
    """How the rows of what is made of a view change; not at all, if the view does not."""
    return ViewKind.STATIC if found.change is ViewKind.STATIC else change


def without_now(columns: Iterable[ColumnFacts]) -> tuple[ColumnFacts, ...]:
    """Columns whose rows may change at any time."""
    return tuple(replace(one, times=tuple(time for time in one.times if time.source != NOW)) for one in columns)


def sourced(times: Times, name: str, source: str) -> Times:
    """Promises about one source as promises about another one."""
    return promises(replace(one, source=source) if one.source == name else one for one in times)
