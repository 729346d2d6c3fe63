"""What the conditions of a branch say of one row: the filters that run before anything is joined or remembered."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import FIRST_TIMES, Sort, implied
from streambound.analyzer.query import Atom, Attribute, Comparison, NullTest, Op
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value


@dataclass(frozen=True, slots=True)
class ExtremeLimit:
    """``attribute >= MIN(relation) + offset`` (``lower``) or ``attribute <= MAX(relation) + offset``.

    It must be checked on its own while the relation, or a third source through which it follows, is missing.
    """

    attribute: Attribute
    lower: bool
    relation: Attribute
    offset: int


@dataclass(frozen=True, slots=True)
class Membership:
    """``attribute IN values``: what the declared list of an attribute that it equals says of it."""

    attribute: Attribute
    values: tuple[Value, ...]


def members(facts: Facts, alias: str) -> tuple[Membership, ...]:
    """The lists of values that attributes without a declared list inherit from attributes equal to them."""
    own = (a for a in facts.closure.nodes if a.source == alias and not facts.branch.is_time(a))
    found = []
    for attribute in own:
        domain = facts.branch.column(attribute).domain
        values = facts.listed(attribute)
        if values is not None and (domain is None or not domain.values):
            found.append(Membership(attribute, tuple(sorted(set(values)))))
    return tuple(found)


def local_filters(facts: Facts, alias: str) -> tuple[Atom, ...]:
    """The conditions on the values of one source's row alone, derived ones included; timestamps are left out.

    ``S.a <= T.b AND T.b = 3  ->  S.a IS NOT NULL AND S.a <= 3``. Equalities within a row that follow through other
    sources are checked here too, because a table keeps only one of two equal attributes.
    """
    closure = facts.closure
    own = [a for a in closure.nodes if a.source == alias and not facts.branch.is_time(a)]
    compared = [a for a in own if a in closure.compared]
    found: list[Atom] = [NullTest(a, False) for a in compared]
    for attribute in compared:
        found.extend(_bounds(facts, attribute))
    found.extend(_within(facts, compared))
    for atom in facts.branch.atoms:
        if {a.source for a in atom.attributes} != {alias} or facts.branch.is_time(atom.attributes[0]):
            continue
        if isinstance(atom, NullTest) and (atom.is_null or atom.attribute not in compared):
            found.append(NullTest(atom.attribute, atom.is_null))
        if isinstance(atom, Comparison) and atom.op is Op.NE and not implied(closure, atom):
            found.append(Comparison(atom.left, atom.op, atom.right, atom.offset))
    return tuple(dict.fromkeys(found))


def _bounds(facts: Facts, attribute: Attribute) -> Iterator[Comparison]:
    matrix, node = facts.closure.node(attribute)
    low, high = matrix.limit(0, node), matrix.limit(node, 0)
    least = None if low is None else _constant(facts, attribute, -low[0], low[1], lower=True)
    most = None if high is None else _constant(facts, attribute, high[0], high[1], lower=False)
    if least is not None and least == most:
        yield Comparison(attribute, Op.EQ, None, least[0])
        return
    if least is not None:
        yield Comparison(attribute, Op.GT if least[1] else Op.GE, None, least[0])
    if most is not None:
        yield Comparison(attribute, Op.LT if most[1] else Op.LE, None, most[0])


def _constant(facts: Facts, attribute: Attribute, value: Fraction, strict: bool, lower: bool) -> tuple[Value, bool]:
    """A bound as a value of the attribute's type, and whether the value itself is excluded."""
    if facts.closure.sort(attribute) is Sort.STRING:
        return facts.closure.strings[int(value)], strict
    if not _integral(facts, attribute):
        return value, strict
    return (floor(value) + 1 if strict else ceil(value)) if lower else _most(value, strict), False


def _most(value: Fraction, strict: bool) -> int:
    """The greatest integer at most (below, when strict) a value."""
    return ceil(value) - 1 if strict else floor(value)


def _integral(facts: Facts, attribute: Attribute) -> bool:
    """Whether an attribute's encoded values are integers: all but strings and floating-point numbers."""
    return facts.branch.column(attribute).type.family not in (Family.FLOAT, Family.STRING)


def _within(facts: Facts, own: list[Attribute]) -> Iterator[Comparison]:
    """The constraints between two attributes of one row that do not follow from others of the same row."""
    closure = facts.closure
    for i, x in enumerate(own):
        for y in own[i + 1 :]:
            pair = closure.pair(x, y)
            if pair is None:
                continue
            matrix, a, b = pair
            if matrix.equal(a, b):
                yield constraint(facts, x, y)
                continue
            for first, second in ((x, y), (y, x)):
                p, q = closure.nodes[first][1], closure.nodes[second][1]
                middles = [0, *(closure.nodes[m][1] for m in own if m not in (x, y) and closure.pair(m, x))]
                through = (
                    m
                    for m in middles
                    if matrix.implied_through(p, m, q) and (m == 0 or not (matrix.equal(p, m) or matrix.equal(m, q)))
                )
                if matrix.finite(p, q) and next(through, None) is None:
                    yield constraint(facts, first, second)


def constraint(facts: Facts, x: Attribute, y: Attribute) -> Comparison:
    """The closure's ``x − y ≤ c`` as a comparison; ``x = y + c`` where the difference is fixed."""
    matrix, i = facts.closure.node(x)
    j = facts.closure.nodes[y][1]
    limit = matrix.limit(i, j)
    assert limit is not None, "only finite constraints are asked for"
    value, strict = limit
    if matrix.equal(i, j):
        return Comparison(x, Op.EQ, y, int(value) if value.denominator == 1 else value)
    if not _integral(facts, x):
        return Comparison(x, Op.LT if strict else Op.LE, y, value)
    most = _most(value, strict)
    return Comparison(x, Op.LT, y, 0) if most == -1 else Comparison(x, Op.LE, y, most)


def time_filters(facts: Facts, alias: str) -> tuple[Comparison, ...] | None:
    """The conditions on a stream's timestamp alone; None when no timestamp satisfies them."""
    time = facts.time(alias)
    low, high = facts.closure.interval(time)
    first = FIRST_TIMES[facts.branch.column(time).type.family]
    found = []
    if low is not None and low > first:
        found.append(Comparison(time, Op.GE, None, int(low)))
    if high is not None:
        found.append(Comparison(time, Op.LE, None, int(high)))
    for atom in facts.branch.atoms:
        if set(atom.attributes) == {time}:
            if isinstance(atom, NullTest) and atom.is_null:
                return None
            if isinstance(atom, Comparison) and atom.op is Op.NE and not implied(facts.closure, atom):
                found.append(Comparison(time, Op.NE, None, atom.offset))
    return tuple(dict.fromkeys(found))


def extremes(facts: Facts, alias: str, late: Collection[str] = ()) -> tuple[ExtremeLimit, ...]:
    """The bounds of a stream's attributes by relations that its tuples are not joined with as soon as they arrive.

    These are joined to it only through other sources, or ``late``: when all streams are there.
    """
    closure = facts.closure
    found = []
    for attribute in closure.compared:
        if attribute.source != alias or facts.branch.is_time(attribute) or attribute not in closure.nodes:
            continue
        if closure.sort(attribute) is not Sort.DISCRETE:
            continue
        for lower, limit in zip((True, False), facts.limits(attribute), strict=True):
            for relation, offset in limit.relations:
                if relation.source != alias and (relation.source in late or not _joined(facts, attribute, relation)):
                    found.append(ExtremeLimit(attribute, lower, relation, int(offset)))
    return tuple(sorted(found, key=lambda e: (e.attribute, not e.lower, e.relation)))


def _joined(facts: Facts, attribute: Attribute, relation: Attribute) -> bool:
    """Whether the bound of a stream's attribute by a relation's follows from joins of the two and their rows."""
    ends = {facts.alike(attribute), facts.alike(relation)}
    joins = (join for _, join in facts.joins_of(attribute.source, (relation.source,)))
    return any({facts.alike(join.attribute), facts.alike(join.other)} <= ends for join in joins)
