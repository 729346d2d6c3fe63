"""A plan says how to build the witnesses of one query: what its elements differ in, and what its probes are."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import lcm

from msgspec import Struct, field

from streambound.analyzer.closure import FIRST_TIMES, Sort, in_order
from streambound.analyzer.query import Attribute, Branch, Comparison, Constant, OneOf, Query
from streambound.analyzer.types import Family
from streambound.analyzer.work import cached
from streambound.criteria.solution import VALUES, ConstraintSystem, DifferenceConstraint, conditions_of


class Reach(Struct, frozen=True):
    """How far the conditions of a whole query reach: of what lies beyond, they see the order alone.

    A witness is to work at any size, so that whether its rows satisfy a condition must depend on their elements' order
    only (docs/theory-witnesses.md, "A few elements stand for any number"). Hence its values and times are beyond all
    constants, and farther apart than all offsets: those of every branch, not only of the one that is to blame.

    No constant is farther from 0 than ``constant``, and no offset between two attributes greater than ``offset``.

    All of them are multiples of ``unit``. ``moments`` holds the last timestamp that a constant compares a type's
    timestamps with, and ``window`` is the greatest offset between two timestamps. ``texts`` are the query's strings.
    Of a statement beyond joins values are to be multiples of ``multiple``, distances of times of ``period``, and texts
    to have ``common`` equal letters at both ends.
    """

    constant: Fraction = Fraction(0)
    offset: Fraction = Fraction(0)
    unit: Fraction = Fraction(1)
    moments: tuple[tuple[Family, int], ...] = ()
    window: int = 0
    texts: tuple[str, ...] = ()
    multiple: int = 1
    period: int = 1
    common: int = 0

    def moment(self, clock: Family) -> int | None:
        """The last timestamp of a type that is compared with a constant; None where there is none."""
        return dict(self.moments).get(clock)


@cached(8)
def reach(query: Query) -> Reach:
    """How far the conditions of a split query, its catalog's domains and its selected constants reach."""
    texts = tuple(sorted({text for branch in query.branches for text in _texts(branch)}, key=in_order))
    every = [conditions_of(branch, texts) for branch in query.branches]
    values = [d for conditions in every for d in stated_differences(conditions, VALUES)]
    constants = [d.c for d in values if d.x is None or d.y is None]
    constants += [number for conditions in every for listed in conditions.options.values() for number in listed]
    constants += [number for branch in query.branches for number in _shown(branch)]
    return Reach(
        max((abs(number) for number in constants), default=Fraction(0)),
        _most(every, VALUES),
        Fraction(1, lcm(*(number.denominator for number in (*constants, *(d.c for d in values))))),
        tuple(_moments(every).items()),
        int(_most(every, (Sort.TIME,))),
        texts,
    )


def stated_differences(conditions: ConstraintSystem, sorts: tuple[Sort, ...]) -> Iterator[DifferenceConstraint]:
    """What a branch states of attributes of some sorts; ``x <> y + c`` as the two that it excludes."""
    for sort in sorts:
        yield from conditions.differences[sort]
    for x, y, c in conditions.unequal:
        if conditions.sorts[x] in sorts:
            yield DifferenceConstraint(x, y, c, strict=True)
            yield DifferenceConstraint(y, x, -c, strict=True)


def _most(every: list[ConstraintSystem], sorts: tuple[Sort, ...]) -> Fraction:
    """The greatest offset between two attributes; ``x < y`` of whole numbers has one of 1."""
    found = [Fraction(0)]
    for conditions, sort in product(every, sorts):
        between = (d for d in stated_differences(conditions, (sort,)) if d.x is not None and d.y is not None)
        found += [abs(d.c) + (d.strict and sort in (Sort.DISCRETE, Sort.TIME)) for d in between]
    return max(found)


def _moments(every: list[ConstraintSystem]) -> dict[Family, int]:
    """The last timestamp that a constant reaches, without the start of time."""
    found: dict[Family, int] = {}
    for conditions in every:
        for d in stated_differences(conditions, (Sort.TIME,)):
            if d.x is not None and d.y is not None:
                continue
            last = int(-d.c if d.x is None else d.c) + d.strict
            clock = conditions.branch.column(d.x or d.y).type.family  # type: ignore[arg-type]
            if last > FIRST_TIMES[clock]:
                found[clock] = max(last, found.get(clock, last))
    return found


def _texts(branch: Branch) -> Iterator[str]:
    """The strings that a branch compares with, lists, or shows."""
    values = [atom.offset for atom in branch.atoms if isinstance(atom, Comparison) and atom.right is None]
    values += [value for atom in branch.atoms if isinstance(atom, OneOf) for value in atom.values]
    domains = [column.domain for source in branch.sources for column in source.columns if column.domain is not None]
    values += [value for domain in domains for value in domain.values]
    shown = [output.value.value for output in branch.outputs if isinstance(output.value, Constant)]
    yield from (value for value in (*values, *shown) if isinstance(value, str))


def _shown(branch: Branch) -> Iterator[Fraction]:
    """The numbers in a branch's select list."""
    for output in branch.outputs:
        if isinstance(output.value, Constant) and isinstance(output.value.value, int | Fraction):
            yield Fraction(output.value.value)


class Kept(Struct, frozen=True):
    """An attribute that has another value in every element.

    ``upwards``: towards plus infinity, else towards minus infinity; ``rises``: the values grow with the element's
    number; ``level`` keeps the values of two attributes apart. ``tight`` holds the constraints that make a partner's
    value in probe ``k`` the last one that element ``k`` still joins with; a strict one is nearly reached.
    """

    attribute: Attribute
    upwards: bool
    rises: bool = True
    level: int = 0
    tight: tuple[DifferenceConstraint, ...] = ()


class WitnessPlan(Struct, frozen=True):
    """How to build the witnesses of one query, of any size.

    ``after`` are the streams whose tuples come in the probes; ``replay`` probes with a whole new match instead, to see
    whether its result is new. ``greatest`` and ``free`` choose among solutions; ``backwards`` reverses the order in
    time of the elements; ``all_differing`` makes all the tuples that differ parts of the elements, not only those of
    the attributes kept; ``early`` lets what is in no element and no probe come before the constants of time;
    ``frontier`` says that no proof covers it. ``reach`` is the whole query's, whose ``branches`` the branch is one of.
    """

    branch: Branch
    kept: tuple[Kept, ...]
    after: frozenset[str]
    reach: Reach = field(default_factory=Reach)
    replay: bool = False
    frontier: bool = False
    greatest: bool = False
    free: bool = False
    backwards: bool = False
    all_differing: bool = False
    early: bool = False
    branches: tuple[Branch, ...] = ()
