"""P+: everything a branch's conditions imply, one difference-bound matrix per sort (docs/theory-conditions.md).

Sorts are never compared with each other: application time, discrete values, dense numbers, strings.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from enum import StrEnum
from fractions import Fraction

from msgspec import Struct

from streambound.analyzer.difference_bounds import DifferenceBounds, Edge
from streambound.analyzer.query import (
    And,
    Attribute,
    Branch,
    Comparison,
    Condition,
    Formula,
    NullTest,
    OneOf,
    Op,
    Truth,
)
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound.analyzer.work import cached, spend

_STEPS = 10
"""What a condition, a source and an output cost a closure, beside its matrices."""

FIRST_TIMES = {Family.INTEGER: 0, Family.DATE: -719_162, Family.TIMESTAMP: -62_135_596_800_000_000}
"""Where time starts: at 0, or at 0001-01-01 00:00 UTC, in days or microseconds."""


class Sort(StrEnum):
    """A group of values that can be compared with each other."""

    TIME = "time"
    DISCRETE = "discrete"
    DENSE = "dense"
    STRING = "string"


class Closure(Struct, frozen=True):
    """The closed conditions of a branch.

    ``nodes`` maps each attribute to its node in its sort's matrix (node 0 is the constant 0); ``strings`` are
    the string constants in order, so that node values of the sort STRING are ranks; ``null`` are the
    attributes that must be NULL; ``compared`` those that some condition compares, which are therefore never
    NULL in a result.
    """

    nodes: dict[Attribute, tuple[Sort, int]]
    bounds: dict[Sort, DifferenceBounds]
    strings: tuple[str, ...]
    null: frozenset[Attribute]
    compared: frozenset[Attribute]
    satisfiable: bool

    @property
    def ranks(self) -> dict[str, int]:
        """The place of each string constant among them."""
        return {text: rank for rank, text in enumerate(self.strings)}

    def pair(self, x: Attribute, y: Attribute) -> tuple[DifferenceBounds, int, int] | None:
        """The matrix and nodes of two attributes; None when their sorts differ."""
        spend()
        (sort, i), (other, j) = self.nodes[x], self.nodes[y]
        return (self.bounds[sort], i, j) if sort is other else None

    def node(self, x: Attribute) -> tuple[DifferenceBounds, int]:
        """The matrix and node of an attribute."""
        spend()
        sort, node = self.nodes[x]
        return self.bounds[sort], node

    def implies_less(self, x: Attribute, y: Attribute) -> bool:
        """Whether ``x < y`` is in P+."""
        pair = self.pair(x, y)
        return pair is not None and pair[0].implies(pair[1], pair[2], 0, strict=True)

    def equal(self, x: Attribute, y: Attribute) -> bool:
        """Whether ``x = y + c`` is in P+ for some constant ``c``."""
        pair = self.pair(x, y)
        return pair is not None and pair[0].equal(pair[1], pair[2])

    def interval(self, x: Attribute) -> tuple[Fraction | None, Fraction | None]:
        """The greatest lower and least upper bound of an attribute by constants (ranks for strings)."""
        matrix, node = self.node(x)
        low, high = matrix.limit(0, node), matrix.limit(node, 0)
        return (-low[0] if low else None, high[0] if high else None)

    def sort(self, x: Attribute) -> Sort:
        """The sort of an attribute."""
        return self.nodes[x][0]

    def attributes(self, sort: Sort) -> tuple[Attribute, ...]:
        """The attributes of a sort, in node order."""
        return tuple(attribute for attribute, (own, _) in self.nodes.items() if own is sort)

    def with_less(self, x: Attribute, y: Attribute | None, strict: bool, offset: Fraction | int = 0) -> Closure:
        """The closure with ``x < y + offset`` (``<=`` when not strict) added; y None is the constant 0."""
        sort, i = self.nodes[x]
        j = self.nodes[y][1] if y is not None else 0
        return self._replaced(sort, self.bounds[sort].tightened(i, j, offset, strict))

    def with_greater(self, x: Attribute, strict: bool, offset: Fraction | int) -> Closure:
        """The closure with ``x > offset`` (``>=`` when not strict) added."""
        sort, i = self.nodes[x]
        return self._replaced(sort, self.bounds[sort].tightened(0, i, -offset, strict))

    def restricted(self, attributes: Iterable[Attribute]) -> Closure:
        """The closure restricted to some attributes: smaller, and so faster to tighten."""
        of_sort: dict[Sort, dict[Attribute, None]] = {sort: {} for sort in Sort}
        for attribute in attributes:
            of_sort[self.sort(attribute)][attribute] = None
        nodes = {x: (sort, node) for sort, own in of_sort.items() for node, x in enumerate(own, start=1)}
        bounds = {s: self.bounds[s].restricted((0, *(self.nodes[x][1] for x in own))) for s, own in of_sort.items()}
        return Closure(nodes, bounds, self.strings, self.null, self.compared, self.satisfiable)

    def _replaced(self, sort: Sort, matrix: DifferenceBounds) -> Closure:
        if matrix is self.bounds[sort]:
            return self
        bounds = {**self.bounds, sort: matrix}
        satisfiable = self.satisfiable and matrix.satisfiable
        return Closure(self.nodes, bounds, self.strings, self.null, self.compared, satisfiable)


def sort_of(kind: DataType, is_time: bool) -> Sort | None:
    """The sort of a column; None for types that cannot be compared."""
    if is_time:
        return Sort.TIME
    if kind.discrete:
        return Sort.DISCRETE
    match kind.family:
        case Family.FLOAT | Family.DECIMAL:
            return Sort.DENSE
        case Family.STRING:
            return Sort.STRING
    return None


def close(branch: Branch, tighten: bool = True) -> Closure:
    """P+ of a branch whose condition is a conjunction, with the catalog's domains and the start of time.

    ``x <> y`` tightens a bound that it touches (``x <= 3 AND x <> 3`` gives ``x <= 2`` over integers) and is
    otherwise left to `split_unequal`; bounds move to the nearest values of lists. Without ``tighten`` no ``<>``
    tightens anything.
    """
    spend(_STEPS * (5 + len(branch.sources) + len(branch.outputs) + _size(branch.where)))
    return closed(branch, tighten)


def _size(formula: Formula) -> int:
    """How long a conjunction is, as far as its closure's cost is concerned."""
    match formula:
        case And(parts):
            return sum(map(_size, parts))
        case OneOf(_, values):
            return 1 + len(values)
    return 1


@cached(64)
def closed(branch: Branch, tighten: bool) -> Closure:
    """As `close`, which accounts for the work whether or not the result is here still."""
    atoms = _conjuncts(branch)
    nodes = _number_nodes(branch)
    allowed = value_lists(branch)
    strings = _string_constants(branch, allowed)
    ranks = {text: rank for rank, text in enumerate(strings)}
    edges: dict[Sort, list[Edge]] = {sort: [] for sort in Sort}
    for attribute, op, other, offset in (*_declared(branch, allowed, strings), *_compared(atoms)):
        value = _number(offset, other, ranks)
        edges[nodes[attribute][0]].extend(_edges(nodes[attribute][1], op, nodes[other][1] if other else 0, value))
    unequal = tuple(atom for atom in atoms if tighten and isinstance(atom, Comparison) and atom.op is Op.NE)
    bounds = {}
    for sort in Sort:
        lists = _lists(allowed, sort, nodes, ranks)
        excluded = [_excluded(atom, nodes, ranks) for atom in unequal if nodes[atom.left][0] is sort]
        bounds[sort] = _narrowed(_matrix(sort, nodes, edges[sort], lists), excluded, lists)
    null, compared, consistent = _nulls(branch, atoms)
    satisfiable = consistent and all(matrix.satisfiable for matrix in bounds.values())
    satisfiable = satisfiable and not any(isinstance(part, Truth) for part in _false_parts(branch))
    return Closure(nodes, bounds, strings, null, compared, satisfiable)


def _false_parts(branch: Branch) -> tuple[Truth, ...]:
    where = branch.where
    return (where,) if isinstance(where, Truth) and not where.value else ()


def _conjuncts(branch: Branch) -> tuple[Condition, ...]:
    return () if _false_parts(branch) else branch.atoms


def _number_nodes(branch: Branch) -> dict[Attribute, tuple[Sort, int]]:
    nodes: dict[Attribute, tuple[Sort, int]] = {}
    counts = dict.fromkeys(Sort, 1)
    used = used_attributes(branch)
    for source in branch.sources:
        for column in source.columns:
            attribute = Attribute(source.alias, column.name)
            sort = sort_of(column.type, column.name == source.timestamp)
            if sort is not None and (attribute in used or sort is Sort.TIME):
                nodes[attribute] = sort, counts[sort]
                counts[sort] += 1
    return nodes


def used_attributes(branch: Branch) -> frozenset[Attribute]:
    """Attributes that a condition or the select list mentions; the others cannot matter."""
    in_atoms = {attribute for atom in _conjuncts(branch) for attribute in atom.attributes}
    return frozenset(in_atoms.union(branch.projected))


_Allowed = dict[Attribute, tuple[Value, ...]]
"""What `value_lists` finds."""


def _string_constants(branch: Branch, allowed: _Allowed) -> tuple[str, ...]:
    found: set[Value] = {value for values in allowed.values() for value in values}
    found |= {atom.offset for atom in _conjuncts(branch) if isinstance(atom, Comparison) and atom.right is None}
    return tuple(sorted((text for text in found if isinstance(text, str)), key=in_order))


def value_lists(branch: Branch) -> _Allowed:
    """The values that declared lists and `OneOf` conditions leave the attributes in use, least first."""
    allowed: dict[Attribute, set[Value]] = {}
    domains = ((a, branch.column(a).domain) for a in sorted(used_attributes(branch)))
    declared = ((a, domain.values) for a, domain in domains if domain is not None and domain.values)
    stated = ((atom.attribute, atom.values) for atom in _conjuncts(branch) if isinstance(atom, OneOf))
    for attribute, values in (*declared, *stated):
        allowed[attribute] = allowed.get(attribute, set(values)) & set(values)
    return {attribute: tuple(sorted(values, key=in_order)) for attribute, values in allowed.items()}


def in_order(value: Value) -> int | Fraction | bytes:
    """The sort key of values of one type: strings are in the order of their UTF-8 bytes, as in Spark."""
    return value.encode() if isinstance(value, str) else value


def _declared(
    branch: Branch, allowed: _Allowed, strings: tuple[str, ...]
) -> Iterator[tuple[Attribute, Op, Attribute | None, Value]]:
    """Bounds that hold without being written: domains, the ends of lists, booleans, the start of time, of strings."""
    used = used_attributes(branch)
    for source in branch.sources:
        for column in source.columns:
            attribute = Attribute(source.alias, column.name)
            if attribute == source.time:
                yield attribute, Op.GE, None, FIRST_TIMES[column.type.family]
            elif attribute in used:
                values = allowed.get(attribute)
                low, high = (values[0], values[-1]) if values else column.ends
                if low is not None:
                    yield attribute, Op.GE, None, low
                if high is not None:
                    yield attribute, Op.LE, None, high
                base = Attribute(source.alias, column.shift[0]) if column.shift else None
                if column.shift and base in used and base != source.time:
                    yield attribute, Op.EQ, base, column.shift[1]
    if "" in strings:
        for attribute in sorted(used):
            if branch.column(attribute).type.family is Family.STRING:
                yield attribute, Op.GE, None, ""


def _compared(atoms: Iterable[Condition]) -> Iterator[tuple[Attribute, Op, Attribute | None, Value]]:
    for atom in atoms:
        if isinstance(atom, Comparison) and atom.op is not Op.NE:
            yield atom.left, atom.op, atom.right, atom.offset


def stated(branch: Branch) -> tuple[Comparison, ...]:
    """The comparisons that `close` closes: of the condition, without ``<>``, and of the catalog, with time's start."""
    allowed = value_lists(branch)
    known = _declared(branch, allowed, _string_constants(branch, allowed))
    declared = (Comparison(x, op, y, offset) for x, op, y, offset in known)
    written = (Comparison(x, op, y, offset) for x, op, y, offset in _compared(_conjuncts(branch)))
    return (*declared, *written)


def _edges(x: int, op: Op, y: int, offset: Fraction | int | float) -> Iterator[Edge]:
    """``x op y + offset`` as difference constraints."""
    value = Fraction(offset)
    if op in (Op.LT, Op.LE, Op.EQ):
        yield x, y, value, op is Op.LT
    if op in (Op.GT, Op.GE, Op.EQ):
        yield y, x, -value, op is Op.GT


def _number(offset: Value, other: Attribute | None, ranks: dict[str, int]) -> Fraction:
    """The constant of a comparison: the rank of a string; between two strings there is none."""
    if isinstance(offset, str):
        return Fraction(ranks[offset] if other is None else 0)
    return Fraction(offset)


_Excluded = tuple[int, int, Fraction]
"""``x <> y + c``, by nodes."""

_Lists = dict[int, tuple[Fraction, ...]]
"""The values that lists leave a node, least first."""


def _matrix(sort: Sort, nodes: dict[Attribute, tuple[Sort, int]], edges: list[Edge], lists: _Lists) -> DifferenceBounds:
    size = 1 + sum(own is sort for own, _ in nodes.values())
    constants = tuple(value for values in lists.values() for value in values)
    return DifferenceBounds(size, edges, dense=sort in (Sort.DENSE, Sort.STRING), constants=constants)


def _excluded(atom: Comparison, nodes: dict[Attribute, tuple[Sort, int]], ranks: dict[str, int]) -> _Excluded:
    other = nodes[atom.right][1] if atom.right else 0
    return nodes[atom.left][1], other, _number(atom.offset, atom.right, ranks)


def _lists(allowed: _Allowed, sort: Sort, nodes: dict[Attribute, tuple[Sort, int]], ranks: dict[str, int]) -> _Lists:
    return {
        nodes[attribute][1]: tuple(sorted(_number(value, None, ranks) for value in values))
        for attribute, values in allowed.items()
        if attribute in nodes and nodes[attribute][0] is sort
    }


def _narrowed(matrix: DifferenceBounds, excluded: list[_Excluded], lists: _Lists) -> DifferenceBounds:
    """Bounds that no ``<>`` and no list tightens further: ``a IN [1, 3, 5] AND a > 1 AND a <> 3`` gives ``a = 5``."""
    constants = {(x, c) for x, y, c in excluded if y == 0}
    left = {node: tuple(v for v in values if (node, v) not in constants) for node, values in lists.items()}
    before = None
    while matrix is not before and matrix.satisfiable:
        before = matrix
        matrix = _tighten_listed(_tighten_unequal(matrix, excluded), left)
    return matrix


def _tighten_unequal(matrix: DifferenceBounds, excluded: list[_Excluded]) -> DifferenceBounds:
    """Apply each ``x <> y + c`` that touches a bound, until none does."""
    changed = True
    while changed and matrix.satisfiable:
        changed = False
        for x, y, c in excluded:
            for i, j, value in ((x, y, c), (y, x, -c)):
                if matrix.limit(i, j) == (value, False):
                    matrix = matrix.tightened(i, j, value, strict=True)
                    changed = True
                    if not matrix.satisfiable:
                        return matrix
    return matrix


def _tighten_listed(matrix: DifferenceBounds, lists: _Lists) -> DifferenceBounds:
    """Move bounds to the nearest listed values: ``a IN [1, 5, 9] AND a > 2`` gives ``a >= 5``."""
    changed = bool(lists)
    while changed and matrix.satisfiable:
        changed = False
        for node, values in lists.items():
            possible = _between(values, matrix.limit(0, node), matrix.limit(node, 0))
            most, least = (possible[-1], possible[0]) if possible else (Fraction(0), Fraction(1))
            for x, y, c in ((node, 0, most), (0, node, -least)):
                if not matrix.implies(x, y, c):
                    matrix, changed = matrix.tightened(x, y, c), True
    return matrix


def _between(
    values: tuple[Fraction, ...], below: tuple[Fraction, bool] | None, above: tuple[Fraction, bool] | None
) -> tuple[Fraction, ...]:
    """The values that satisfy both limits; ``below`` bounds the negated value."""
    first = 0 if below is None else (bisect_right if below[1] else bisect_left)(values, -below[0])
    last = len(values) if above is None else (bisect_left if above[1] else bisect_right)(values, above[0])
    return values[first:last]


def _nulls(branch: Branch, atoms: tuple[Condition, ...]) -> tuple[frozenset[Attribute], frozenset[Attribute], bool]:
    """The attributes that must be NULL, those that cannot be, and whether no attribute is both."""
    tests = [atom for atom in atoms if isinstance(atom, NullTest)]
    null = frozenset(test.attribute for test in tests if test.is_null)
    present = {test.attribute for test in tests if not test.is_null}
    present |= {attribute for atom in atoms if not isinstance(atom, NullTest) for attribute in atom.attributes}
    present |= {source.time for source in branch.sources if source.time is not None}
    return null, frozenset(present), null.isdisjoint(present)


def implied(closure: Closure, atom: Comparison) -> bool:
    """Whether a comparison of attributes that occur in the conditions (and so are not NULL) already holds."""
    if not closure.compared.issuperset(atom.attributes) or any(a not in closure.nodes for a in atom.attributes):
        return False
    spend(_STEPS / 4)
    matrix, x = closure.node(atom.left)
    y = closure.nodes[atom.right][1] if atom.right is not None else 0
    if isinstance(atom.offset, str) and atom.right is None and atom.offset not in closure.strings:
        return _implied_between(closure, atom, atom.offset)
    value = _number(atom.offset, atom.right, closure.ranks)
    if matrix.dense and atom.right is None and not isinstance(atom.offset, str) and not matrix.represents(value):
        return False
    edges = list(_edges(x, atom.op, y, value))
    if atom.op is Op.NE:
        return matrix.implies(x, y, value, strict=True) or matrix.implies(y, x, -value, strict=True)
    return all(matrix.implies(i, j, c, strict) for i, j, c, strict in edges)


def admits(closure: Closure, atom: Comparison) -> bool:
    """Whether ``x < y + c`` or ``x > y + c`` leaves a closure satisfiable, without working out what follows then."""
    if atom.right is None or atom.op not in (Op.LT, Op.GT):
        raise ValueError("only a strict comparison of two attributes can be asked for")
    matrix, x = closure.node(atom.left)
    (edge,) = _edges(x, atom.op, closure.nodes[atom.right][1], _number(atom.offset, atom.right, closure.ranks))
    return closure.satisfiable and matrix.admits(*edge)


def with_comparison(closure: Closure, atom: Comparison) -> Closure:
    """The closure with one more comparison of two attributes (not ``<>``)."""
    if atom.right is None or (isinstance(atom.offset, str) and atom.offset):
        raise ValueError("only comparisons of two attributes can be added")
    offset = 0 if isinstance(atom.offset, str) else atom.offset
    if atom.op in (Op.LT, Op.LE, Op.EQ):
        closure = closure.with_less(atom.left, atom.right, atom.op is Op.LT, offset)
    if atom.op in (Op.GT, Op.GE, Op.EQ):
        closure = closure.with_less(atom.right, atom.left, atom.op is Op.GT, -offset)
    return closure


def _implied_between(closure: Closure, atom: Comparison, text: str) -> bool:
    """Whether a comparison with a text that no condition mentions follows from one with its neighbours in order."""
    matrix, x = closure.node(atom.left)
    rank = sum(other.encode() < text.encode() for other in closure.strings)
    below, above = matrix.implies(x, 0, rank - 1), matrix.implies(0, x, -rank)
    return (below and atom.op in (Op.LT, Op.LE, Op.NE)) or (above and atom.op in (Op.GT, Op.GE, Op.NE))
