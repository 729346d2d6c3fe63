"""What an operator of the engine is: the states that it keeps, and the SQL of a tick.

A *delta* is a Z-set as a table (Budiu et al., *DBSP*, §4): an operator's columns by position, ``c0``, ``c1`` …, a
weight ``w``, and, of an operator that is ``timed``, the application time ``t`` of each row. Values are encoded as
everywhere (`streambound_runtime.spec`): as BIGINT, as HUGEINT beyond 64 bits, as DOUBLE or as VARCHAR.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from streambound_runtime.decoding.sql_types import sql_type

BIGINT, HUGEINT, DOUBLE, VARCHAR = "BIGINT", "HUGEINT", "DOUBLE", "VARCHAR"
EXACT = VARCHAR
"""The type of exact sums of doubles (`engine.exact_sums`)."""
CLOSED = "getvariable('closed')"
"""The frontier in a statement: the largest timestamp of which it is known that no row with it, or before, can come."""
LAST = "getvariable('last')"
"""The largest timestamp that has had a row."""


@dataclass(frozen=True, slots=True)
class StateTable:
    """A table that an operator keeps: its columns with their types, and when an entry goes.

    ``expired`` is a predicate over the columns and the frontier (`CLOSED`); an entry for which it IS TRUE is deleted at
    the end of the tick. Empty: entries go only as rows are taken back, or a key's better ones come. ``ending`` are the
    columns of a key that punctuations end: an entry goes when its key is over.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    expired: str = ""
    ending: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(name for name, _ in self.columns)

    @property
    def text_of_time(self) -> str:
        """The column, if it is a text, that says when an entry goes; empty where none does."""
        found = [name for name, kind in self.columns if kind == VARCHAR and re.search(rf"\b{name}\b", self.expired)]
        return found[0] if found else ""

    @property
    def lasts(self) -> str:
        """Whether an entry is still there after the tick, as far as that is asked quickly."""
        return f"({self.expired}) IS NOT TRUE" if self.expired and not self.text_of_time else "true"


@dataclass(frozen=True, slots=True)
class TickStatement:
    """One step of a tick: a query whose result is kept as a table until the next tick, or what changes a state.

    A ``view`` is not kept, but is part of the queries that read it. In a tick with more than ``longer`` timestamps
    an equivalent query is run.
    """

    sql: str
    table: str = ""
    view: bool = False
    longer: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class TickTables:
    """The names of the tables that an operator's statements may read and write."""

    number: int
    inputs: tuple[str, ...]

    @property
    def delta(self) -> str:
        """The operator's own delta, which its statements make."""
        return f"delta_{self.number}"

    def state(self, name: str) -> str:
        """The table of a state."""
        return f"state_{self.number}_{name}"

    def temporary(self, name: str) -> str:
        """A table for something in between."""
        return f"tick_{self.number}_{name}"


def engine_type(name: str) -> str:
    """The type of encoded values of a Spark SQL type.

    >>> engine_type("date"), engine_type("double")
    ('BIGINT', 'DOUBLE')
    """
    kind = sql_type(name)
    if kind.large:
        return HUGEINT
    return {"float": DOUBLE, **dict.fromkeys(("string", "nested", "list"), VARCHAR)}.get(kind.family, BIGINT)


def columns(number: int, prefix: str = "", start: int = 0) -> str:
    """Columns by position.

    >>> columns(2, "l.")
    'l.c0, l.c1'
    """
    return ", ".join(f"{prefix}c{place}" for place in range(start, start + number))


def listed(*parts: str) -> str:
    """Parts of a list, without those that are empty."""
    return ", ".join(part for part in parts if part)


def same(names: Sequence[str], left: str, right: str) -> str:
    """The condition that two rows agree in some columns, in which NULL equals NULL."""
    return " AND ".join(f"{left}.{name} IS NOT DISTINCT FROM {right}.{name}" for name in names) or "true"


def places(number: int) -> tuple[str, ...]:
    """The names of a number of columns."""
    return tuple(f"c{place}" for place in range(number))


def summed(names: Sequence[str], rows: str, weight: str = "w") -> str:
    """Rows with the sums of their weights, without those that cancel out."""
    keys = ", ".join(names)
    return f"SELECT {listed(keys, f'sum({weight}) AS w')} FROM ({rows}) GROUP BY ALL HAVING sum({weight}) <> 0"


def exchanged(state: str, touched: str, names: Sequence[str], rows: str) -> list[TickStatement]:
    """The statements that put rows in the place of those of a state that agree with touched ones in some columns."""
    return [
        TickStatement(f"DELETE FROM {state} s USING {touched} t WHERE {same(names, 's', 't')}"),
        TickStatement(f"INSERT INTO {state} {rows}"),
    ]


def replaced(state: StateTable, came: str, at: TickTables, names: Sequence[str]) -> list[TickStatement]:
    """The statements that add rows that came, and last, to the rows of a state."""
    table, new = at.state(state.name), at.temporary(f"new_{state.name}")
    shown, rows = listed(*names, "w"), f"(SELECT * FROM {came} WHERE {state.lasts})"
    old = f"SELECT {shown} FROM {table} s SEMI JOIN {rows} t ON {same(names, 's', 't')}"
    made = TickStatement(summed(names, f"{old} UNION ALL SELECT {shown} FROM {rows}"), new)
    return [made, *exchanged(table, rows, names, f"SELECT * FROM {new}")]


def deleted(state: StateTable, at: TickTables) -> tuple[TickStatement, ...]:
    """The statements that delete a state's expired entries, and those of keys that are over: the last input."""
    found, table = [], at.state(state.name)
    if state.expired:
        which = state.expired
        if name := state.text_of_time:  # it is read once, not of each entry
            texts = at.temporary(f"{state.name}_times")
            found.append(TickStatement(f"SELECT DISTINCT {name} FROM {table}", texts))
            which = f"{name} IN (SELECT {name} FROM {texts} WHERE {which})"
        found.append(TickStatement(f"DELETE FROM {table} WHERE {which}"))
    if state.ending:
        found.append(TickStatement(f"DELETE FROM {table} s WHERE {key_is_over(state.ending, 's', at)}"))
    return tuple(found)


def key_is_over(columns: Sequence[str], alias: str, at: TickTables) -> str:
    """Whether a key, in these columns, is among those that are over: the operator's last input."""
    agree = " AND ".join(f"{alias}.{name} IS NOT DISTINCT FROM k.c{place}" for place, name in enumerate(columns))
    return f"EXISTS (FROM {at.inputs[-1]} k WHERE {agree})"
