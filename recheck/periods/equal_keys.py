"""Which columns of a stream equal those of a relation in all rows that matter: read off the joins of a SEQ block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.types import DataType, Family
from streambound.recheck.periods.sizes import Limit, smaller, times
from streambound_runtime.operators.period_plan import (
    SliceCoalesce,
    SliceDistinct,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SlicePlan,
    SliceProject,
    SliceRelation,
    inputs_of,
    scans,
    width,
)

_MATCHED = {"inner": (0, 1), "left": (1,), "right": (0,), "semi": (0, 1), "anti": (1,), "full": ()}
_PASSED_ON = {"inner": (0, 1), "left": (0,), "right": (1,), "semi": (0,), "anti": (0,), "full": ()}
Equal = dict[int, set[tuple[int, str]]]
"""Columns, by their places, that equal columns of one row of a relation, by the number of the relation's scan."""


class EqualKeys(Struct, frozen=True):
    """Columns of a stream, each with the column of the relation of which some row has all their values."""

    relation: str
    columns: Mapping[str, str]


def equal_keys(plan: SlicePlan, catalog: Catalog) -> dict[int, list[EqualKeys]]:
    """Those of the scans of streams, by their identity, in the order in which the relations are read."""
    found = _Equalities(catalog, scans(plan))
    found.ask(plan, {})
    return found.of_streams


class _Equalities:
    """The equalities that operators above demand of rows, and those that all rows of an operator satisfy."""

    def __init__(self, catalog: Catalog, read: Sequence[SliceRelation]) -> None:
        self.catalog, self.read = catalog, read
        self.numbers = {id(scan): number for number, scan in enumerate(read)}
        self.of_streams: dict[int, list[EqualKeys]] = {}

    def told(self, plan: SlicePlan) -> Equal:
        """The equalities that all rows of an operator satisfy."""
        match plan:
            case SliceRelation(table=name, columns=columns):
                table = self.catalog.table(name) if name else None
                fixed = table is not None and table.timestamp is None
                return {self.numbers[id(plan)]: set(enumerate(columns))} if fixed else {}
            case SliceFilter(input=input) | SliceDistinct(input=input) | SliceCoalesce(input=input):
                return self.told(input)
            case SliceProject(input, items):
                return _changed(self.told(input), [(_place(item), new) for new, item in enumerate(items)])
            case SliceJoin(kind=kind, left=left, right=right):
                by, found = width(left), list[Equal]()
                for side in _PASSED_ON[kind]:
                    mine, theirs = (left, right)[side], (left, right)[1 - side]
                    parts = [self.told(mine)]
                    if side in _MATCHED[kind]:
                        parts.append(_changed(self.told(theirs), self._pairs(plan, side)))
                    found += [_changed(one, [(n, n + by * side) for n in range(width(mine))]) for one in parts]
                return _both(found)
        return {}

    def ask(self, plan: SlicePlan, asked: Equal) -> None:
        """Note for the streams below an operator the equalities demanded of its rows."""
        match plan:
            case SliceRelation():
                self._note(plan, asked)
            case SliceProject(input, items):
                self.ask(
                    input,
                    _changed(asked, [(n, old) for n, item in enumerate(items) if (old := _place(item)) is not None]),
                )
            case SliceGroup(input, keys):
                self.ask(input, _changed(asked, [(n, n) for n in range(keys)]))
            case SliceJoin(kind=kind, left=left, right=right):
                by, sides = width(left), (left, right)
                above = list[Equal]()
                for side in (0, 1):
                    moved = [(n + by * side, n) for n in range(width(sides[side]))] if side in _PASSED_ON[kind] else []
                    above.append(_changed(asked, moved))
                for side in (0, 1):
                    parts = [above[side]]
                    if side in _MATCHED[kind]:
                        other = _both([above[1 - side], self.told(sides[1 - side])])
                        parts.append(_changed(other, self._pairs(plan, side)))
                    self.ask(sides[side], _both(parts))
            case _:
                for input in inputs_of(plan):
                    self.ask(input, asked)

    def _note(self, scan: SliceRelation, asked: Equal) -> None:
        table = self.catalog.table(scan.table) if scan.table else None
        if table is None or table.timestamp is None:
            return
        for number in sorted(asked):
            columns: dict[str, str] = {}
            for place, theirs in sorted(asked[number], key=lambda pair: pair[0]):
                if self._comparable((scan, place), (self.read[number], self.read[number].columns.index(theirs))):
                    columns.setdefault(scan.columns[place], theirs)
            if columns:
                self.of_streams.setdefault(id(scan), []).append(EqualKeys(self.read[number].table, columns))

    def _pairs(self, join: SliceJoin, side: int) -> list[tuple[int | None, int]]:
        """Columns of the other side, each with the one of this side that equals it."""
        sides, found = (join.left, join.right), list[tuple[int | None, int]]()
        for pair in join.keys:
            mine, theirs = _place(pair[side]), _place(pair[1 - side])
            if (
                mine is not None
                and theirs is not None
                and self._comparable((sides[side], mine), (sides[1 - side], theirs))
            ):
                found.append((theirs, mine))
        return found

    def _comparable(self, one: tuple[SlicePlan, int], other: tuple[SlicePlan, int]) -> bool:
        """Whether two columns have equal values where SQL says they are equal: both are integers, or of one type."""
        kinds = [self._type(*one), self._type(*other)]
        types = [kind for kind in kinds if kind is not None]
        same = len({kind.name for kind in types}) == 1 or all(kind.family is Family.INTEGER for kind in types)
        return same and len(types) == len(kinds)

    def _type(self, plan: SlicePlan, place: int | None) -> DataType | None:
        """The declared type of the column that a column is."""
        if place is None:
            return None
        match plan:
            case SliceRelation(table=name, columns=columns):
                table = self.catalog.table(name)
                column = None if table is None else table.column(columns[place])
                return None if column is None else column.type
            case SliceProject(input, items):
                return self._type(input, _place(items[place]))
            case SliceJoin(left=left, right=right):
                by = width(left)
                return self._type(left, place) if place < by else self._type(right, place - by)
            case SliceGroup(input, keys):
                return self._type(input, place if place < keys else None)
            case SliceFilter(input=input) | SliceDistinct(input=input) | SliceCoalesce(input=input):
                return self._type(input, place)
        several = {self._type(input, place) for input in inputs_of(plan)}
        return several.pop() if len(several) == 1 else None


def _changed(equal: Equal, places: Sequence[tuple[int | None, int]]) -> Equal:
    """The same of columns at other places: pairs of an old place and a new one."""
    found = {
        number: {(new, column) for old, new in places for place, column in pairs if place == old}
        for number, pairs in equal.items()
    }
    return {number: pairs for number, pairs in found.items() if pairs}


def _both(several: Sequence[Equal]) -> Equal:
    found: Equal = {}
    for equal in several:
        for number, pairs in equal.items():
            found.setdefault(number, set()).update(pairs)
    return found


def fewest(
    equal: Sequence[EqualKeys],
    names: Sequence[str],
    rows: Callable[[str], Limit],
    count: Callable[[tuple[int, ...]], Limit],
) -> Limit:
    """How many values some items have together, of which these are the columns; ``count`` knows of no relation."""
    left, factors = tuple(range(len(names))), list[Limit]()
    for one in equal:
        others = tuple(place for place in left if names[place] not in one.columns)
        if others != left:
            factors.append(rows(one.relation))
        left = others
    alone = count(tuple(range(len(names))))
    if not factors:
        return alone
    return smaller(alone, times([*factors, count(left)] if left else factors))


def _place(text: str) -> int | None:
    return int(text[1:]) if text[:1] == "c" and text[1:].isdigit() else None
