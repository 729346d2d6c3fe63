"""Whether a table stores too little, worked out from a small query's constraints alone.

It does if there are *twins*: two partial matches with the same key, one of which some later tuples complete while they
do not complete the other, or complete it to another result. Where the table keeps extrema, the other one has them as
good. That is a system of difference constraints over the tuples of the one, of the other, and the later ones. It also
stores too little if an entry is dropped that can be completed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from streambound.analyzer.query import Attribute
from streambound.criteria.extremum import Extremum
from streambound.criteria.tables import Age, Stored, SynopsisTable
from support.small_queries import TIME, ZERO, Constraint, SmallQuery, closed

Case = tuple[Constraint, ...]


def stores_too_little(query: SmallQuery, table: SynopsisTable) -> bool:
    """Whether a table that keeps so much cannot tell apart what has different futures."""
    inside = frozenset(table.streams)
    wrong = any(not _equals(query, str(other), str(s.attribute), int(n)) for s in table.key for other, n in s.equal)
    return wrong or _dropped_too_early(query, table, inside) or _twins(query, table, inside)


def _equals(query: SmallQuery, x: str, y: str, offset: int) -> bool:
    matrix = closed(query.variables, query.constraints)
    return matrix is None or matrix[x][y] == offset == -matrix[y][x]


def _satisfiable(variables: list[str], constraints: list[Constraint]) -> bool:
    return closed(variables, constraints) is not None


def _outside(query: SmallQuery, inside: frozenset[str]) -> list[str]:
    return [f"{stream}.{TIME}" for stream in query.streams if stream not in inside]


def _in_order(query: SmallQuery, inside: frozenset[str], mark: str = "") -> list[Constraint]:
    """All that is inside came before all that is outside."""
    return [Constraint(f"{s}.{TIME}{mark}", later, -1) for s in inside for later in _outside(query, inside)]


def _dropped_too_early(query: SmallQuery, table: SynopsisTable, inside: frozenset[str]) -> bool:
    variables, base = list(query.variables), [*query.constraints, *_in_order(query, inside)]
    outside = _outside(query, inside)
    for age in table.ages:
        if age.expires is not None:
            late = [Constraint(f"{age.stream}.{TIME}", later, -age.expires - 1) for later in outside]
            if _satisfiable(variables, [*base, *late]):
                return True
    if table.deadline is None:
        return False
    return _satisfiable(variables, [*base, *(Constraint(ZERO, later, -table.deadline - 1) for later in outside)])


def _twins(query: SmallQuery, table: SynopsisTable, inside: frozenset[str]) -> bool:
    matrix = closed(query.variables, query.constraints)
    if matrix is None:
        return False
    mine = [v for v in query.variables if v.partition(".")[0] in inside]
    twin = {v: f"{v}'" for v in mine} | {ZERO: ZERO}
    base = [*query.constraints, *_in_order(query, inside), *_in_order(query, inside, "'")]
    base += [Constraint(twin[x], twin[y], int(c)) for x in twin for y, c in matrix[x].items() if y in twin and c < 1e18]
    keys = product(
        *(_same_value(stored) for stored in table.key),
        *(_same_age(query, inside, age) for age in table.ages),
        *(_as_good(extremum) for extremum in table.extrema),
    )
    variables = [*query.variables, *(twin[v] for v in mine)]
    different = list(_different(query, inside, twin))
    for cases in keys:
        same = [*base, *(constraint for case in cases for constraint in case)]
        if _satisfiable(variables, same) and any(_satisfiable(variables, [*same, one]) for one in different):
            return True
    return False


def _same_value(stored: Stored) -> list[Case]:
    """The ways in which two values are stored as one."""
    x = str(stored.attribute)
    if stored.limiting:
        return [
            (*mine, *twins, _at_most(one, other), _at_most(other, one))
            for (mine, one), (twins, other) in product(_kept(stored, ""), _kept(stored, "'"))
        ]
    found: list[Case] = [(Constraint(x, f"{x}'", 0), Constraint(f"{x}'", x, 0))]
    if stored.low:
        low = min(int(limit.constant or 0) for limit in stored.low)
        found.append((Constraint(x, ZERO, low), Constraint(f"{x}'", ZERO, low)))
    if stored.high:
        high = max(int(limit.constant or 0) for limit in stored.high)
        found.append((Constraint(ZERO, x, -high), Constraint(ZERO, f"{x}'", -high)))
    return found


Sum = tuple[str, int]
"""A variable and a number, added up."""


def _kept(stored: Stored, mark: str) -> list[tuple[Case, Sum]]:
    """The ways in which a value is clipped to what its own match holds, each with what is kept of it."""
    value, upwards = (f"{stored.attribute}{mark}", 0), bool(stored.low)
    limits = stored.low or stored.high
    options = [_extreme([_sum(a, n, mark) for a, n in limit.relations], greatest=upwards) for limit in limits]
    found = []
    for chosen in product(*options):
        for case, limit in _extreme([limit for _, limit in chosen], greatest=not upwards):
            both = tuple(constraint for part, _ in chosen for constraint in part)
            found += [((*both, *case, *more), kept) for more, kept in _extreme([value, limit], greatest=upwards)]
    return found


def _sum(attribute: Attribute, offset: Fraction, mark: str) -> Sum:
    return f"{attribute}{mark}", int(offset)


def _extreme(sums: list[Sum], greatest: bool) -> list[tuple[Case, Sum]]:
    """Which of some sums is the greatest, or the least, and when."""
    return [
        (tuple(_at_most(other, one) if greatest else _at_most(one, other) for other in sums if other != one), one)
        for one in dict.fromkeys(sums)
    ]


def _at_most(one: Sum, other: Sum) -> Constraint:
    return Constraint(one[0], other[0], other[1] - one[1])


def _same_age(query: SmallQuery, inside: frozenset[str], age: Age) -> list[Case]:
    """The ways in which two timestamps are stored as one: both are equal, or old when the next tuple arrives."""
    time = f"{age.stream}.{TIME}"
    found: list[Case] = [(Constraint(time, f"{time}'", 0), Constraint(f"{time}'", time, 0))]
    if age.expires is None and age.saturates is not None:
        outside = _outside(query, inside)
        found.append(tuple(Constraint(t, later, -age.saturates) for t in (time, f"{time}'") for later in outside))
    return found


def _as_good(extremum: Extremum) -> list[Case]:
    """The ways in which the twin's extremum is as good: all its sums are, compared with one sum of the other."""
    parts = [(str(attribute), int(offset)) for attribute, offset in extremum.of]
    if extremum.greatest:
        return [tuple(Constraint(x, f"{y}'", m - n) for y, m in parts) for x, n in parts]
    return [tuple(Constraint(f"{y}'", x, n - m) for y, m in parts) for x, n in parts]


def _different(query: SmallQuery, inside: frozenset[str], twin: dict[str, str]) -> Iterator[Constraint]:
    """What makes the twin's future another one: a condition that fails for it, or another value in the result."""
    for constraint in query.constraints:
        x, y = twin.get(constraint.x, constraint.x), twin.get(constraint.y, constraint.y)
        yield Constraint(y, x, -constraint.c - 1)
    for output in query.outputs:
        if output in twin:
            yield Constraint(twin[output], output, -1)
            yield Constraint(output, twin[output], -1)
