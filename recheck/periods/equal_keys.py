"""Which columns of a stream equal those of a relation in all rows that matter: read off the joins of a SEQ block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.types import Family
from streambound.recheck.periods.sizes import Limit, smaller, times
from streambound_runtime.periods.plan import (
    ConstantScan,
    PeriodFilter,
    PeriodJoin,
    PeriodPlan,
    PeriodProject,
    SnapshotScan,
    inputs_of,
    width,
)

_MATCHED = {"inner": (0, 1), "left": (1,), "right": (0,), "semi": (0, 1), "anti": (1,), "full": ()}
_PASSED_ON = {"inner": (0, 1), "left": (0,), "right": (1,), "semi": (0,), "anti": (0,), "full": ()}
Scan = SnapshotScan | ConstantScan
Traced = tuple[Scan, str] | None


@dataclass(frozen=True, slots=True)
class EqualKeys:
    """Columns of a stream, each with the column of the relation of which some row has all their values."""

    relation: str
    columns: Mapping[str, str]


def equal_keys(plan: PeriodPlan, catalog: Catalog) -> dict[int, list[EqualKeys]]:
    """Those of the scans of streams, by their identity: of outer joins of the text before those in them."""
    found: dict[int, list[EqualKeys]] = {}
    for join in _joins(plan):
        for side in _MATCHED[join.kind]:
            mine, other = (join.left, join.right)[side], (join.left, join.right)[1 - side]
            if not _is_of_relation(other, catalog):
                continue
            columns: dict[int, dict[str, str]] = {}
            relation = ""
            for pair in join.keys:
                here, there = _traced(mine, _place(pair[side])), _traced(other, _place(pair[1 - side]))
                if here is not None and there is not None and _comparable(here, there, catalog):
                    relation = there[0].table
                    columns.setdefault(id(here[0]), {}).setdefault(here[1], there[1])
            for scan, equal in columns.items():
                found.setdefault(scan, []).append(EqualKeys(relation, equal))
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


def _joins(plan: PeriodPlan) -> Iterator[PeriodJoin]:
    if isinstance(plan, PeriodJoin):
        yield plan
    for input in inputs_of(plan):
        yield from _joins(input)


def _is_of_relation(plan: PeriodPlan, catalog: Catalog) -> bool:
    while isinstance(plan, PeriodFilter | PeriodProject):
        plan = plan.input
    table = catalog.table(plan.table) if isinstance(plan, Scan) and plan.table else None
    return table is not None and table.timestamp is None


def _traced(plan: PeriodPlan, place: int | None) -> Traced:
    """The scan and its column that a column is, of whose rows all that play a part come through."""
    if place is None:
        return None
    match plan:
        case SnapshotScan(columns=columns) | ConstantScan(columns=columns):
            return plan, columns[place]
        case PeriodFilter(input=input):
            return _traced(input, place)
        case PeriodProject(input, items):
            return _traced(input, _place(items[place]))
        case PeriodJoin(kind=kind, left=left, right=right):
            side = int(place >= width(left))
            if side in _PASSED_ON[kind]:
                return _traced((left, right)[side], place - side * width(left))
    return None


def _place(text: str) -> int | None:
    return int(text[1:]) if text[:1] == "c" and text[1:].isdigit() else None


def _comparable(here: tuple[Scan, str], there: tuple[Scan, str], catalog: Catalog) -> bool:
    """Whether two columns have equal values where SQL says that these are equal: both are integers, or of one type."""
    tables = (catalog.table(scan.table) for scan, _ in (here, there))
    names = here[1], there[1]
    kinds = [table.column(name) for table, name in zip(tables, names, strict=True) if table is not None]
    types = [column.type for column in kinds if column is not None]
    return len({one.name for one in types}) == 1 or all(one.family is Family.INTEGER for one in types)
