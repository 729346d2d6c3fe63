"""Small conjunctive integer queries as difference constraints, without the analyzer.

A query is generated as a list of ``x − y <= c`` and rendered to SQL, so that no parser is needed either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from support.choices import Choices

ZERO = "0"
TIME = "ts"


@dataclass(frozen=True)
class Constraint:
    """``x − y <= c``; a variable is ``S.a``, ``S.ts`` or the constant 0."""

    x: str
    y: str
    c: int


@dataclass(frozen=True)
class SmallQuery:
    """A bag query over some streams: their columns, the constraints, the projected attributes."""

    streams: tuple[str, ...]
    columns: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    outputs: tuple[str, ...]
    sql: str
    catalog: dict[str, Any]

    @property
    def variables(self) -> tuple[str, ...]:
        """All attributes and timestamps, after the constant."""
        return (ZERO, *(f"{s}.{column}" for s in self.streams for column in (*self.columns, TIME)))


def make_small_query(choices: Choices) -> SmallQuery:
    """A random small query; its constraints need not be satisfiable."""
    c = choices
    streams = ("S", "T", "U")[: c.weighted([(60, 2), (40, 3)])]
    columns = ("a", "b") if c.chance(50) else ("a",)
    atoms = [*_time_atoms(c, streams), *_bound_atoms(c, streams, columns), *_join_atoms(c, streams, columns)]
    attributes = [f"{s}.{column}" for s in streams for column in columns]
    outputs = tuple(dict.fromkeys(c.pick(attributes) for _ in range(c.weighted([(40, 0), (40, 1), (20, 2)]))))
    catalog = {
        "streams": {s: {"timestamp": TIME, "columns": dict.fromkeys((*columns, TIME), "bigint")} for s in streams}
    }
    return small_query(streams, columns, atoms, outputs, catalog)


def as_set(query: SmallQuery) -> SmallQuery:
    """The query that asks for each result once."""
    return replace(query, sql=query.sql.replace("SELECT", "SELECT DISTINCT", 1))


def small_query(
    streams: Sequence[str],
    columns: Sequence[str],
    atoms: Sequence[tuple[str, str, str, int]],
    outputs: Sequence[str],
    catalog: dict[str, Any],
) -> SmallQuery:
    """A query from atoms ``(x, op, y, c)``, which say ``x op y + c``."""
    constraints = [Constraint(ZERO, f"{s}.{TIME}", 0) for s in streams]
    for x, op, y, offset in atoms:
        if op in ("<", "<=", "="):
            constraints.append(Constraint(x, y, offset - (op == "<")))
        if op in (">", ">=", "="):
            constraints.append(Constraint(y, x, -offset - (op == ">")))
    select = ", ".join(f"{name} AS {name.replace('.', '_')}" for name in outputs) or "1 AS one"
    where = " AND ".join(_text(atom) for atom in atoms) or "TRUE"
    sql = f"SELECT {select} FROM {', '.join(streams)} WHERE {where}"
    return SmallQuery(tuple(streams), tuple(columns), tuple(constraints), tuple(outputs), sql, catalog)


def _text(atom: tuple[str, str, str, int]) -> str:
    x, op, y, offset = atom
    if y == ZERO:
        return f"{x} {op} {offset}"
    return f"{x} {op} {y}" + (f" {'+' if offset > 0 else '-'} {abs(offset)}" if offset else "")


def _time_atoms(c: Choices, streams: Sequence[str]) -> Iterator[tuple[str, str, str, int]]:
    for i, stream in enumerate(streams[1:], start=1):
        newer, older = (f"{s}.{TIME}" for s in (streams[c.integer(0, i - 1)], stream))
        kind = c.weighted([(55, ">"), (8, ">="), (8, "="), (12, "window"), (12, ""), (5, "<=")])
        if kind == "window":
            yield newer, ">=", older, c.integer(0, 1)
            yield newer, "<=", older, c.integer(1, 3)
        elif kind:
            yield newer, kind, older, c.integer(0, 2) if kind == "<=" else 0


def _bound_atoms(c: Choices, streams: Sequence[str], columns: Sequence[str]) -> Iterator[tuple[str, str, str, int]]:
    level = c.pick([50, 30, 70])
    for attribute in (f"{s}.{column}" for s in streams for column in columns):
        if c.chance(level):
            yield attribute, ">", ZERO, c.integer(-1, 1)
        if c.chance(level):
            yield attribute, "<", ZERO, c.integer(4, 6)


def _join_atoms(c: Choices, streams: Sequence[str], columns: Sequence[str]) -> Iterator[tuple[str, str, str, int]]:
    for _ in range(c.weighted([(40, 1), (35, 2), (15, 3), (10, 0)])):
        left = c.pick(streams)
        right = c.pick([s for s in streams if s != left])
        op = c.weighted([(50, "<"), (25, "="), (15, ">="), (10, ">")])
        offset = c.integer(-2, 2) if c.chance(20) else 0
        yield f"{left}.{c.pick(columns)}", op, f"{right}.{c.pick(columns)}", offset


Matrix = dict[str, dict[str, float]]
"""``matrix[x][y]`` is the least ``d`` with ``x − y <= d`` that follows; infinite when none does."""


def closed(variables: Sequence[str], constraints: Sequence[Constraint]) -> Matrix | None:
    """Everything that follows; None when there is no integer solution."""
    matrix: Matrix | None = {x: {y: 0 if x == y else inf for y in variables} for x in variables}
    for constraint in constraints:
        matrix = tightened(matrix, constraint) if matrix is not None else None
    return matrix


def tightened(matrix: Matrix, constraint: Constraint) -> Matrix | None:
    """A closed matrix with one more constraint; None when it contradicts the others."""
    x, y, c = constraint.x, constraint.y, constraint.c
    if matrix[x][y] <= c:
        return matrix
    if matrix[y][x] + c < 0:
        return None
    to = matrix[y]
    return {
        u: {w: min(old, through + to[w]) for w, old in row.items()}
        for u, row in matrix.items()
        for through in (row[x] + c,)
    }
