"""P2, an equality with a relation: rows of a stream without a partner in a relation play no part, whenever it is valid.

So an inner or semi join with a static relation says how many keys its stream's rows have, as a list in WHERE does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.types import DataType, Family
from streambound.criteria.periods.views import MaybeSize, PartnerKeys, PeriodView, every, smallest
from streambound_runtime.periods.plan import (
    ConstantScan,
    PeriodFilter,
    PeriodJoin,
    PeriodPlan,
    PeriodProject,
    SnapshotScan,
    width,
)

_NARROWED = {"inner": (0, 1), "left": (1,), "right": (0,), "semi": (0, 1), "anti": (1,)}
"""The sides of a join of which rows without a partner play no part."""
_KEPT = {"inner": (0, 1), "left": (0,), "right": (1,), "semi": (0,), "anti": (0,)}
"""The sides of which each row of the result has one: what is asked of the result's rows is asked of these."""


@dataclass(frozen=True, slots=True)
class RelationPartners:
    """The rows of a static relation, one of which rows must agree with.

    ``equal`` are places of these rows' columns, each with the place of the relation's column.
    """

    view: PeriodView
    relation: str
    columns: tuple[str | None, ...]
    equal: tuple[tuple[int, int], ...]

    def below(self, items: Sequence[str]) -> RelationPartners:
        """What is asked of the rows that expressions are of."""
        places = {place: column for place, item in enumerate(items) if (column := place_of(item)) is not None}
        return replace(self, equal=tuple((places[mine], theirs) for mine, theirs in self.equal if mine in places))

    def of_side(self, places: range) -> RelationPartners:
        """What is asked of the rows that have these places in a pair."""
        return replace(self, equal=tuple((mine - places.start, its) for mine, its in self.equal if mine in places))


def static_columns(plan: PeriodPlan, catalog: Catalog) -> tuple[str, tuple[str | None, ...]] | None:
    """The relation of which a plan is σ and Π, and the columns that it has of it; None for what is something else."""
    match plan:
        case SnapshotScan(table=name, columns=columns) | ConstantScan(table=name, columns=columns):
            table = catalog.table(name) if name else None
            return None if table is None or table.timestamp is not None else (table.name, columns)
        case PeriodFilter(input=input):
            return static_columns(input, catalog)
        case PeriodProject(input, items):
            found = static_columns(input, catalog)
            if found is None:
                return None
            places = map(place_of, items)
            return found[0], tuple(None if place is None else found[1][place] for place in places)
    return None


def sides_of(
    plan: PeriodJoin, views: Sequence[PeriodView | None], partners: Sequence[RelationPartners], catalog: Catalog
) -> tuple[list[RelationPartners], list[RelationPartners]]:
    """What is asked of the rows of each side of a join; ``views`` are those of static sides.

    That is what ``partners`` say of the join's rows, and what the other side says.
    """
    by = width(plan.left)
    ranges = range(by), range(by, by + width(plan.right))
    found: tuple[list[RelationPartners], list[RelationPartners]] = ([], [])
    for side in _KEPT.get(plan.kind, ()):
        found[side].extend(one.of_side(ranges[side]) for one in partners)
    for side in _NARROWED.get(plan.kind, ()):
        view, told = views[1 - side], static_columns((plan.left, plan.right)[1 - side], catalog)
        if view is None or told is None:
            continue
        pairs = [(place_of(pair[side]), place_of(pair[1 - side])) for pair in plan.keys]
        equal = tuple((mine, its) for mine, its in pairs if mine is not None and its is not None)
        found[side].append(RelationPartners(view, *told, equal))
    return found


def values_beside(
    partners: Sequence[PartnerKeys],
    columns: Sequence[str],
    places: tuple[int, ...],
    count: Callable[[tuple[int, ...]], MaybeSize],
) -> MaybeSize:
    """How many different values some of the columns have together: ``count`` tells it without a look at relations.

    Columns that equal those of a relation's row have as many as that has rows, times those of the others.
    """
    rest, sizes = places, list[MaybeSize]()
    for one in partners:
        mine = {place for place in rest if columns[place] in dict(one.columns)}
        if mine:
            sizes.append(one.rows)
            rest = tuple(place for place in rest if place not in mine)
    if rest and sizes:
        sizes.append(count(rest))
    return smallest(count(places), every(sizes) if sizes else None)


def place_of(text: str) -> int | None:
    """The place of the column that an expression is; None for other expressions."""
    return int(text[1:]) if text.startswith("c") and text[1:].isdigit() else None


def same_values(left: DataType, right: DataType) -> bool:
    """Whether values that are equal are encoded as the same ones."""
    return left.name == right.name or Family.INTEGER is left.family is right.family
