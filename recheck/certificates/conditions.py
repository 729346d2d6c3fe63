"""What the conditions of a branch say, declared domains and the start of time included."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from math import ceil, floor

from streambound.analyzer.query import (
    Attribute,
    Branch,
    Comparison,
    Computed,
    Kind,
    NullTest,
    OneOf,
    Op,
    OutputValue,
    Source,
    TimeValue,
    Truth,
)
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value

Node = Hashable
Edge = tuple[Node, Node, Fraction | int, bool]
"""``(x, y, c, strict)``: ``x − y ≤ c``, or ``< c``."""
Bound = tuple[Fraction | int, int]
"""``(c, 0)`` is ``≤ c``, ``(c, −1)`` is ``< c``; the lesser bound is the stronger one."""


class ContradictionError(Exception):
    """The constraints have no solution."""


class Distances:
    """The closure of some difference constraints. Raises ContradictionError at a negative cycle."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self._edges: dict[Node, dict[Node, Bound]] = {}
        for x, y, c, strict in edges:
            to, bound = self._edges.setdefault(x, {}), (c, -int(strict))
            to[y] = min(bound, to.get(y, bound))
        self._known: dict[Node, dict[Node, Bound]] = {}

    def bound(self, x: Node, y: Node) -> Bound | None:
        """The strongest bound on ``x − y`` that follows; None when there is none."""
        if x not in self._known:
            self._known[x] = self._from(x)
        return self._known[x].get(y)

    def implies(self, x: Node, y: Node, c: Fraction | int, strict: bool = False) -> bool:
        """Whether ``x − y ≤ c`` follows (``< c`` when strict)."""
        bound = self.bound(x, y)
        return bound is not None and bound <= (c, -int(strict))

    def fixed(self, x: Node, y: Node) -> Fraction | int | None:
        """The one value of ``x − y``; None when there are several."""
        above, below = self.bound(x, y), self.bound(y, x)
        return above[0] if above and below and above[0] == -below[0] else None

    def _from(self, start: Node) -> dict[Node, Bound]:
        """The bounds on ``start − y`` for every y: rounds of relaxation until nothing changes."""
        found: dict[Node, Bound] = {start: (0, 0)}
        changed: dict[Node, None] = {start: None}
        rounds = 0
        while changed:
            rounds += 1
            if rounds > len(self._edges) + 2 or found[start] < (0, 0):
                raise ContradictionError
            nodes, changed = changed, {}
            for x in nodes:
                c, strict = found[x]
                for y, (more, too) in self._edges.get(x, {}).items():
                    bound = (c + more, min(strict, too))
                    if y not in found or bound < found[y]:
                        found[y] = bound
                        changed[y] = None
        return found


# --- difference constraints -------------------------------------------------------------------------------------------


_RATIONAL = re.compile(r"-?\d+(/[1-9]\d*)?")
_TYPES = {
    "boolean": (0, 1),
    "tinyint": (-128, 127),
    "byte": (-128, 127),
    "smallint": (-32_768, 32_767),
    "short": (-32_768, 32_767),
}
"""The least and greatest values of the types that are domains by themselves."""
_FIRST = {Family.INTEGER: 0, Family.DATE: -719_162, Family.TIMESTAMP: -62_135_596_800_000_000}
"""Where time starts: integers at 0, dates and timestamps at 0001-01-01, in days and in microseconds."""


class Conditions:
    """The conditions of one branch of a split query, and everything that follows from them (``follows``).

    Values of different kinds are never compared: each kind has its own node for the constant 0.
    """

    def __init__(self, branch: Branch) -> None:
        self.branch = branch
        self.false = isinstance(branch.where, Truth) and not branch.where.value
        self.atoms = () if self.false else branch.atoms
        self.comparisons = tuple(atom for atom in self.atoms if isinstance(atom, Comparison))
        tests = tuple(atom for atom in self.atoms if isinstance(atom, NullTest))
        self.null = frozenset(test.attribute for test in tests if test.is_null)
        self.stated_lists = tuple(atom for atom in self.atoms if isinstance(atom, OneOf))
        present = [test.attribute for test in tests if not test.is_null]
        present += [a for atom in self.comparisons for a in atom.attributes]
        present += [stated.attribute for stated in self.stated_lists]
        self.present = frozenset([*present, *map(self.time, self.streams)])

    def one_of(self, attribute: Attribute, by_values: bool = False) -> str | None:
        """What has one value of an attribute that there is one of: a stream's one row, or one key; None for others.

        ``by_values``: the key only, as a row may have any other values.
        """
        source = self.branch.source(attribute.source)
        key = source.one_key
        if key is None or not ((key.once and not by_values) or attribute.column in key.attributes):
            return None
        return source.alias if key.once and not by_values else f"{source.alias}.{attribute.column}"

    # --- attributes ------------------------------------------------------------------------------------------------

    def time(self, stream: str) -> Attribute:
        """A stream's timestamp."""
        return Attribute(stream, self.branch.source(stream).timestamp or "")

    @cached_property
    def streams(self) -> tuple[str, ...]:
        """The aliases of the streams."""
        return tuple(source.alias for source in self.branch.sources if source.kind is not Kind.RELATION)

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """The aliases of the relations."""
        return tuple(source.alias for source in self.branch.sources if source.kind is Kind.RELATION)

    @cached_property
    def outputs(self) -> tuple[Attribute, ...]:
        """The attributes of the select list, and those and the timestamps that values of it are made of."""
        return self.outputs_but(())

    def outputs_but(self, kept: Collection[OutputValue]) -> tuple[Attribute, ...]:
        """The same of the values that are not ``kept`` as they are."""
        values = (output.value for output in self.branch.outputs if output.value not in kept)
        parts = (value.attributes if isinstance(value, Computed | TimeValue) else (value,) for value in values)
        return tuple(dict.fromkeys(part for own in parts for part in own if isinstance(part, Attribute)))

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """All that is compared or projected, and the timestamps."""
        mentioned = [a for atom in self.atoms for a in atom.attributes]
        return tuple(dict.fromkeys([*mentioned, *self.outputs, *map(self.time, self.streams)]))

    def kind(self, attribute: Attribute) -> str:
        """Which values the attribute's can be compared with."""
        column = self.branch.column(attribute)
        if self.branch.is_time(attribute):
            return "time"
        if column.type.discrete:
            return "integer"
        return "text" if column.type.family is Family.STRING else "dense"

    def is_integer(self, attribute: Attribute) -> bool:
        """Whether the attribute's values are integers."""
        return self.kind(attribute) in ("time", "integer")

    def zero(self, attribute: Attribute) -> Node:
        """The node of the constant 0 of the attribute's kind."""
        return f"0 of {self.kind(attribute)}"

    # --- constraints -----------------------------------------------------------------------------------------------

    @cached_property
    def follows(self) -> Distances:
        """The closure of all constraints; raises ContradictionError when there is no solution."""
        if self.false or self.null & self.present:
            raise ContradictionError
        edges = [*self._declared(), *(edge for atom in self.comparisons for edge in self.edges(atom))]
        while True:
            found = Distances(edges)
            more = [edge for edge in (*self._unequal(found), *self._listed(found)) if not found.implies(*edge)]
            if not more:
                return found
            edges.extend(more)

    @cached_property
    def contradictory(self) -> bool:
        """Whether nothing satisfies them."""
        try:
            return any(self.follows.bound(a, a) is None for a in self.attributes)
        except ContradictionError:
            return True

    def edges(self, atom: Comparison) -> Iterator[Edge]:
        """A comparison (not ``<>``) as difference constraints."""
        x, y, offset = atom.left, atom.right or self.zero(atom.left), self._number(atom)
        if atom.op in (Op.LT, Op.LE, Op.EQ):
            yield self._edge(x, y, offset, atom.op is Op.LT, self.is_integer(atom.left))
        if atom.op in (Op.GT, Op.GE, Op.EQ):
            yield self._edge(y, x, -offset, atom.op is Op.GT, self.is_integer(atom.left))

    @staticmethod
    def _edge(x: Node, y: Node, c: Fraction | int, strict: bool, integer: bool) -> Edge:
        return (x, y, ceil(c) - 1 if strict else floor(c), False) if integer else (x, y, c, strict)

    def _number(self, atom: Comparison) -> Fraction | int:
        """A comparison's constant; for a text its place among the texts."""
        return 0 if isinstance(atom.offset, str) and atom.right is not None else self.number(atom.offset)

    def number(self, value: Value) -> Fraction | int:
        """A value's place in order; for a text its place among the texts."""
        return self._texts.index(value) if isinstance(value, str) else value

    def text(self, place: int) -> str:
        """The text at a place among the texts."""
        return self._texts[place]

    def constant(self, attribute: Attribute, text: str) -> Fraction | int | None:
        """The number that a text stands for, as a value of an attribute; None for none that the conditions mention."""
        if self.kind(attribute) == "text":
            return self._texts.index(text) if text in self._texts else None
        return Fraction(text) if _RATIONAL.fullmatch(text) else None

    @cached_property
    def _texts(self) -> list[str]:
        found = {atom.offset for atom in self.comparisons if atom.right is None}
        found |= {value for attribute in self.attributes for value in self.values(attribute)}
        return sorted((text for text in found if isinstance(text, str)), key=str.encode)

    def _declared(self) -> Iterator[Edge]:
        for attribute in self.attributes:
            yield from self._shifted(attribute)
            low, high = self._domain(attribute)
            if low is not None:
                yield self.zero(attribute), attribute, -Fraction(low), False
            if high is not None:
                yield attribute, self.zero(attribute), Fraction(high), False

    def _shifted(self, attribute: Attribute) -> Iterator[Edge]:
        """A derived column that is another one and a constant more."""
        shift = self.branch.column(attribute).shift
        base = Attribute(attribute.source, shift[0]) if shift else None
        if shift and base in self.attributes and base != self.branch.source(attribute.source).time:
            yield attribute, base, shift[1], False
            yield base, attribute, -shift[1], False

    def _domain(self, attribute: Attribute) -> tuple[Value | None, Value | None]:
        column = self.branch.column(attribute)
        if self.branch.is_time(attribute):
            return _FIRST[column.type.family], None
        lows, highs = list[int | Fraction](), list[int | Fraction]()
        if column.type.family is Family.STRING and "" in self._texts:
            lows.append(0)
        for ends in (_TYPES.get(column.type.name), self._range(attribute), self._numbers(attribute)):
            if ends:
                lows.append(min(ends))
                highs.append(max(ends))
        return max(lows, default=None), min(highs, default=None)

    def _range(self, attribute: Attribute) -> list[int | Fraction]:
        """The two ends of a declared range."""
        domain = self.branch.column(attribute).domain
        ends = (domain.low, domain.high) if domain else ()
        return [end for end in ends if end is not None and not isinstance(end, str)]

    def listed(self, attribute: Attribute) -> bool:
        """Whether a declared or a stated list gives the attribute's values."""
        domain = self.branch.column(attribute).domain
        return bool(domain and domain.values) or any(attribute == stated.attribute for stated in self.stated_lists)

    def values(self, attribute: Attribute) -> list[Value]:
        """The values that are in all lists of an attribute."""
        domain = self.branch.column(attribute).domain
        lists = [stated.values for stated in self.stated_lists if stated.attribute == attribute]
        first, *others = [*lists, *([domain.values] if domain and domain.values else [])] or [()]
        return [value for value in dict.fromkeys(first) if all(value in other for other in others)]

    def _numbers(self, attribute: Attribute) -> list[int | Fraction]:
        """The values of lists in order; texts by their places among the texts."""
        return sorted(map(self.number, self.values(attribute)))

    def _unequal(self, found: Distances) -> Iterator[Edge]:
        """``x <> y + c`` sharpens the bound ``x − y ≤ c``."""
        for atom in self.comparisons:
            if atom.op is Op.NE:
                x, y, c = atom.left, atom.right or self.zero(atom.left), self._number(atom)
                for one, other, value in ((x, y, c), (y, x, -c)):
                    if found.bound(one, other) == (value, 0):
                        yield self._edge(one, other, value, True, self.is_integer(atom.left))

    def _listed(self, found: Distances) -> Iterator[Edge]:
        """Bounds move to the nearest listed value that no ``<>`` excludes."""
        for attribute in self.attributes:
            if self.listed(attribute):
                mine = (atom for atom in self.comparisons if atom.left == attribute and atom.right is None)
                excluded = {self._number(atom) for atom in mine if atom.op is Op.NE}
                possible = [number for number in self.possible(attribute, found) if number not in excluded]
                if not possible:
                    raise ContradictionError
                yield self.zero(attribute), attribute, -possible[0], False
                yield attribute, self.zero(attribute), possible[-1], False

    def possible(self, attribute: Attribute, found: Distances) -> list[Fraction | int]:
        """The numbers of lists that the constraints leave, least first."""
        zero = self.zero(attribute)
        above, below = found.bound(attribute, zero), found.bound(zero, attribute)
        numbers = dict.fromkeys(self._numbers(attribute))
        return [n for n in numbers if (not above or (n, 0) <= above) and (not below or (-n, 0) <= below)]

    # --- which sources are linked ----------------------------------------------------------------------------------

    @cached_property
    def links(self) -> frozenset[frozenset[str]]:
        """The pairs of sources with a condition between them, even unstated, that does not follow through others."""
        return frozenset(frozenset((x.source, y.source)) for x, y in self.linked)

    @cached_property
    def linked(self) -> tuple[tuple[Attribute, Attribute], ...]:
        """The pairs of attributes, timestamps among them, with such a condition between them."""
        unequal = (atom.attributes for atom in self.comparisons if atom.op is Op.NE and atom.right is not None)
        pairs = ((x, y) for x in self.attributes for y in self.attributes if x.source != y.source)
        return (*((pair[0], pair[-1]) for pair in unequal), *((x, y) for x, y in pairs if self._related(x, y)))

    def _related(self, x: Attribute, y: Attribute) -> bool:
        """Whether ``x − y`` is bounded, for values other than through constants or what is at no fixed distance."""
        bound, follows = self.follows.bound(x, y), self.follows
        if bound is None or self.branch.is_time(x):
            return bound is not None
        zero = self.zero(x)
        for z in (zero, *self.attributes):
            first = follows.bound(x, z)
            second = None if first is None else follows.bound(z, y)
            apart = z == zero or (follows.fixed(x, z) is None and follows.fixed(z, y) is None)
            if first and second and apart and (first[0] + second[0], min(first[1], second[1])) <= bound:
                return False
        return True

    # --- what else follows -----------------------------------------------------------------------------------------

    def equal(self, x: Attribute, y: Attribute) -> Fraction | int | None:
        """The constant by which two attributes that are not NULL differ; None when they may differ by several."""
        if x == y:
            return 0
        if self.kind(x) != self.kind(y) or not {x, y} <= self.present:
            return None
        offset = self.follows.fixed(x, y)
        return offset if offset == 0 or self.is_integer(x) else None

    def forced(self, older: str, newer: str) -> bool:
        """Whether a stream's tuple is never newer than another one's."""
        return self.follows.implies(self.time(older), self.time(newer), 0)

    def source(self, alias: str) -> Source:
        """The source of an alias."""
        return self.branch.source(alias)
