"""P2, an equality with a relation: rows of a stream without a partner in a relation play no part, whenever it is valid.

So an inner or semi join with a static relation says how many keys its stream's rows have, as a list in WHERE does, and
other streams' rows that are joined with these by the same key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.catalog import Catalog
from streambound.criteria.periods.views import MaybeSize, PartnerKeys, PeriodView, every, smallest
from streambound.temporal.inferring import KEPT, NARROWED, equal_columns, place_of
from streambound_runtime.operators.period_plan import (
    SliceCoalesce,
    SliceDistinct,
    SliceFilter,
    SliceJoin,
    SlicePlan,
    SliceProject,
    SliceRelation,
    scans,
    width,
)


class RelationPartners(Struct, frozen=True):
    """The rows of a static relation, one of which rows must agree with.

    ``number`` tells the places apart where the relation is read. ``equal`` are places of the rows' columns, each with
    the place of the relation's column.
    """

    number: int
    view: PeriodView
    relation: str
    columns: tuple[str | None, ...]
    equal: tuple[tuple[int, int], ...]

    def at(self, places: Iterable[tuple[int, int]]) -> RelationPartners:
        """The same of columns at other places: pairs of a place until now and a new one."""
        equal = dict.fromkeys((new, its) for old, new in places for mine, its in self.equal if mine == old)
        return replace(self, equal=tuple(sorted(equal)))


Asked = Sequence[RelationPartners]
"""Rows without these partners play no part."""


class PartnerSearch(Struct, frozen=True):
    """Where equalities with static relations hold; ``view`` gives the rows of one, ``order`` numbers the scans."""

    catalog: Catalog
    view: Callable[[SlicePlan], PeriodView]
    order: Mapping[int, int]

    def of_rows(self, plan: SlicePlan) -> list[RelationPartners]:
        """The partners that all rows of a plan have: a relation's rows themselves, and rows joined with these."""
        static = static_columns(plan, self.catalog)
        if static is not None:
            (scan,) = scans(plan)
            same = tuple((place, place) for place in range(width(plan)))
            return [RelationPartners(self.order[id(scan)], self.view(plan), *static, same)]
        match plan:
            case SliceFilter(input=input) | SliceDistinct(input=input) | SliceCoalesce(input=input):
                return self.of_rows(input)
            case SliceProject(input, items):
                below = [(mine, place) for place, item in enumerate(items) if (mine := place_of(item)) is not None]
                return [one.at(below) for one in self.of_rows(input)]
            case SliceJoin(kind=kind, left=left, right=right):
                found, own = list[RelationPartners](), (self.of_rows(left), self.of_rows(right))
                for side in KEPT.get(kind, ()):
                    moved = _moved(plan, side)
                    found += [one.at(moved) for one in own[side]]
                    if side in NARROWED[kind]:
                        across = equal_columns(plan, side, self.catalog)
                        found += [one.at(across).at(moved) for one in own[1 - side]]
                return merged(found)
        return []

    def of_sides(self, plan: SliceJoin, asked: Asked) -> tuple[list[RelationPartners], list[RelationPartners]]:
        """The partners that the rows of each side of a join must agree with, given those ``asked`` of its rows."""
        back = [[(new, old) for old, new in _moved(plan, side)] for side in (0, 1)]
        above = [[one.at(back[side]) for one in asked] if side in KEPT.get(plan.kind, ()) else [] for side in (0, 1)]
        found = list(map(list, above))
        for side in NARROWED.get(plan.kind, ()):
            theirs = [*above[1 - side], *self.of_rows((plan.left, plan.right)[1 - side])]
            found[side] += [one.at(equal_columns(plan, side, self.catalog)) for one in theirs]
        return merged(found[0]), merged(found[1])


def _moved(plan: SliceJoin, side: int) -> list[tuple[int, int]]:
    """The places of a side's columns, each with its place in a pair."""
    start = width(plan.left) if side else 0
    return [(place, place + start) for place in range(width((plan.left, plan.right)[side]))]


def merged(found: Iterable[RelationPartners]) -> list[RelationPartners]:
    """The conditions on each relation together, in order: one of its rows must have all of these values."""
    together: dict[int, RelationPartners] = {}
    for one in found:
        known = together.get(one.number)
        equal = dict.fromkeys((*(known.equal if known is not None else ()), *one.equal))
        together[one.number] = replace(one, equal=tuple(sorted(equal)))
    return [together[number] for number in sorted(together) if together[number].equal]


def static_columns(plan: SlicePlan, catalog: Catalog) -> tuple[str, tuple[str | None, ...]] | None:
    """The relation of which a plan is σ and Π, and the columns that it has of it; None for what is something else."""
    match plan:
        case SliceRelation(table=name, columns=columns):
            table = catalog.table(name) if name else None
            return None if table is None or table.timestamp is not None else (table.name, columns)
        case SliceFilter(input=input):
            return static_columns(input, catalog)
        case SliceProject(input, items):
            found = static_columns(input, catalog)
            if found is None:
                return None
            places = map(place_of, items)
            return found[0], tuple(None if place is None else found[1][place] for place in places)
    return None


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
