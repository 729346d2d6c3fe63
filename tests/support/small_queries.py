"""Small conjunctive integer queries as difference constraints, and witnesses that they need unbounded memory.

Everything here is worked out from the constraints as written, without the analyzer: a query is generated as a list of
``x − y <= c`` and rendered to SQL, so that no parser is needed either. A *witness* is a set of histories of a stream S
that an executor must tell apart, because the same continuation makes DuckDB print different results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf
from typing import Any

from support.choices import Choices
from support.encoding import Row, frozen
from support.oracle import Oracle

ZERO = "0"
TIME = "ts"
PHASE = 100
"""When everything that is remembered has arrived; the continuation comes later."""
STEP = 5


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


def fixed(matrix: Matrix | None, name: str, value: int) -> Matrix | None:
    """A closed matrix with a variable's value."""
    for constraint in (Constraint(name, ZERO, value), Constraint(ZERO, name, -value)):
        matrix = tightened(matrix, constraint) if matrix is not None else None
    return matrix


@dataclass(frozen=True)
class Histories:
    """Tuples of ``stream`` (the histories to tell apart), what is always there, and the continuation."""

    stream: str
    candidates: list[Row]
    always: dict[str, list[Row]]

    def rows(self, chosen: Sequence[int]) -> dict[str, list[Row]]:
        """Everything an executor receives when only some of the candidates came."""
        return {**self.always, self.stream: [self.candidates[i] for i in chosen]}


def histories(query: SmallQuery, attribute: str, number: int) -> Iterator[Histories]:
    """Candidate witnesses for an attribute: for every stream that may lag, values up or down, solved least or most."""
    stream = attribute.split(".", maxsplit=1)[0]
    matrix = closed(query.variables, query.constraints)
    if matrix is None:
        return
    for later, upwards, least in product(query.streams, (True, False), (True, False)):
        if later != stream and _may_lag(matrix, later, stream):
            after = [s for s in query.streams if s == later or not _may_lag(matrix, later, s)]
            found = _histories(query, attribute, later, after, number, upwards, least)
            if found is not None:
                yield found


def _may_lag(matrix: Matrix, later: str, earlier: str) -> bool:
    return matrix[f"{later}.{TIME}"][f"{earlier}.{TIME}"] == inf


def _histories(
    query: SmallQuery, attribute: str, later: str, after: list[str], number: int, upwards: bool, least: bool
) -> Histories | None:
    stream = attribute.split(".", maxsplit=1)[0]
    phases = [
        Constraint(ZERO, f"{s}.{TIME}", -2 * PHASE) if s in after else Constraint(f"{s}.{TIME}", ZERO, PHASE)
        for s in query.streams
    ]
    matrix = closed(query.variables, [*query.constraints, *phases])
    values = _values(matrix, attribute, number, upwards) if matrix is not None else None
    if matrix is None or values is None:
        return None
    solutions = []
    for i, value in enumerate(values):
        own_time = fixed(fixed(matrix, attribute, value), f"{later}.{TIME}", 3 * PHASE + 10 * i)
        solution = _solution(own_time, value, least) if own_time is not None else None
        if solution is None:
            return None
        solutions.append(solution)
    tuples = {s: [_tuple(query, s, solution) for solution in solutions] for s in query.streams}
    return Histories(stream, tuples[stream], {s: rows for s, rows in tuples.items() if s != stream})


def _values(matrix: Matrix, attribute: str, number: int, upwards: bool) -> list[int] | None:
    """Spread values that an attribute can take, or None when there are not so many."""
    low, high = -matrix[ZERO][attribute], matrix[attribute][ZERO]
    if upwards and high == inf:
        start = int(low) if low > -inf else -STEP
        return [start + STEP * i for i in range(number)]
    if not upwards and low == -inf:
        start = int(high) if high < inf else STEP
        return [start - STEP * i for i in range(number)]
    return None


def _solution(matrix: Matrix, value: int, least: bool) -> dict[str, int] | None:
    """A solution, every variable as small (or as great) as it can be, or as near to ``value`` where it can be any."""
    found = {}
    closure: Matrix | None = matrix
    for name in matrix:
        if closure is None:
            return None
        low, high = -closure[ZERO][name], closure[name][ZERO]
        extreme = low if least else high
        near = min(max(3 * PHASE if name.endswith(f".{TIME}") else value, low), high)
        found[name] = int(near if abs(extreme) == inf else extreme)
        closure = fixed(closure, name, found[name])
    return found if closure is not None else None


def _tuple(query: SmallQuery, stream: str, solution: dict[str, int]) -> Row:
    return {column: solution[f"{stream}.{column}"] for column in (*query.columns, TIME)}


def printed_later(query: SmallQuery, found: Histories, chosen: Sequence[int]) -> Counter[Any]:
    """What DuckDB says the query prints after everything that is remembered has arrived."""
    output = Oracle(query.catalog, found.rows(chosen)).expected(query.sql)
    return Counter({frozen({**row, "_mult": 0}): row["_mult"] for row in output if row["_ts"] > PHASE})


def states(query: SmallQuery, found: Histories) -> int:
    """How many of the 2^N histories print something different in the same continuation.

    A bag query that uses a stream once is linear in its tuples, so that N runs give what all histories print; the
    whole history is run as well, and compared.
    """
    number = len(found.candidates)
    singles = [printed_later(query, found, [i]) for i in range(number)]
    whole = sum(singles, Counter())
    assert whole == printed_later(query, found, range(number))
    sums = {
        frozenset(sum((single for i, single in enumerate(singles) if mask >> i & 1), Counter()).items())
        for mask in range(2**number)
    }
    return len(sums)


def grows_exponentially(query: SmallQuery, attribute: str, number: int) -> bool:
    """Whether all 2^N histories of N tuples must be told apart, in one of the candidate witnesses."""
    return any(states(query, found) == 2**number for found in histories(query, attribute, number))


def singles_told_apart(query: SmallQuery, attribute: str, number: int) -> int:
    """The most of N single tuples that must be told apart: of a bounded query, no more than its tables' keys."""
    return max(
        (
            len({frozenset(printed_later(query, found, [i]).items()) for i in range(number)})
            for found in histories(query, attribute, number)
        ),
        default=0,
    )
