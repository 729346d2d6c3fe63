"""A plan says how to build the witnesses of one query: what its elements differ in, and what its probes are."""

from __future__ import annotations

from dataclasses import dataclass, field

from streambound.analyzer.query import Attribute, Branch
from streambound.criteria.reach import Reach
from streambound.criteria.solution import DifferenceConstraint


@dataclass(frozen=True, slots=True)
class Kept:
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


@dataclass(frozen=True, slots=True)
class WitnessPlan:
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
