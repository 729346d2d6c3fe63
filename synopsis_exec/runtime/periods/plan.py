"""The plan of a query over rows with periods: operators that are executed over periods, not at every point of time.

Every operator gives rows ``(c0, c1, …, begin, end, multiplicity)``: the values, which have no names but their places,
are there in so many copies at every point from begin to before end. Expressions are Spark SQL over the columns of the
operator's input, ``c0`` and so on; of a join over those of the left side, then of the right one, counted on.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SnapshotScan:
    """The good rows of a relation with periods: these columns of it."""

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConstantScan:
    """A relation without periods, valid over all of time; without a ``table`` one row of no columns."""

    table: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PeriodFilter:
    """Rows for which a condition is true."""

    input: PeriodPlan
    condition: str


@dataclass(frozen=True, slots=True)
class PeriodProject:
    """Other columns of each row."""

    input: PeriodPlan
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PeriodJoin:
    """Pairs of rows that are valid together, where they are.

    ``kind`` is inner, left, right, full, semi or anti. ``keys`` are expressions over each side's own columns that are
    equal in a pair; ``condition`` is what else holds of it.
    """

    kind: str
    left: PeriodPlan
    right: PeriodPlan
    keys: tuple[tuple[str, str], ...] = ()
    condition: str = ""


@dataclass(frozen=True, slots=True)
class PeriodUnion:
    """The rows of both sides."""

    left: PeriodPlan
    right: PeriodPlan


@dataclass(frozen=True, slots=True)
class PeriodDistinct:
    """Each row once at a time."""

    input: PeriodPlan


@dataclass(frozen=True, slots=True)
class PeriodSetOperation:
    """What is left of two sides' multiplicities; ``kind`` is except all, except, intersect all or intersect."""

    kind: str
    left: PeriodPlan
    right: PeriodPlan


@dataclass(frozen=True, slots=True)
class PeriodAggregate:
    """An aggregate: count, sum, avg, min or max of a column, by its place; of rows where there is none."""

    function: str
    column: int | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class PeriodGroup:
    """A row for each group that has rows at a time: the first ``keys`` columns of the input, then the aggregates.

    With ``always`` there are no keys, and a row at every point of time, whether there are rows or not.
    """

    input: PeriodPlan
    keys: int
    aggregates: tuple[PeriodAggregate, ...]
    always: bool = False


@dataclass(frozen=True, slots=True)
class PeriodCoalesce:
    """The unique encoding: maximal periods of constant multiplicity."""

    input: PeriodPlan


PeriodPlan = (
    SnapshotScan | ConstantScan | PeriodFilter | PeriodProject | PeriodJoin | PeriodUnion | PeriodDistinct
    | PeriodSetOperation | PeriodGroup | PeriodCoalesce
)  # fmt: skip
"""An operator with those under it."""


@dataclass(frozen=True, slots=True)
class SnapshotQuery:
    """A SEQ VT block.

    ``columns`` are the names of the result's columns, ``time_type`` is the type of its periods. ``low`` and ``high``
    are the points of time that there are, encoded, from the first to before the second; None where there is no limit.
    ``as_of`` says that they are one, and that the result has no periods.
    """

    name: str
    plan: PeriodPlan
    columns: tuple[str, ...]
    time_type: str
    low: int | None = None
    high: int | None = None
    as_of: bool = False


def width(plan: PeriodPlan) -> int:
    """How many columns an operator gives."""
    match plan:
        case SnapshotScan(columns=columns) | ConstantScan(columns=columns):
            return len(columns)
        case PeriodProject(items=items):
            return len(items)
        case PeriodJoin(kind=("semi" | "anti"), left=left):
            return width(left)
        case PeriodJoin(left=left, right=right):
            return width(left) + width(right)
        case PeriodGroup(keys=keys, aggregates=aggregates):
            return keys + len(aggregates)
        case PeriodUnion(left=left) | PeriodSetOperation(left=left):
            return width(left)
        case PeriodFilter(input=input) | PeriodDistinct(input=input) | PeriodCoalesce(input=input):
            return width(input)


def inputs_of(plan: PeriodPlan) -> tuple[PeriodPlan, ...]:
    """The operators under one, from left to right."""
    return tuple(getattr(plan, name) for name in ("input", "left", "right") if hasattr(plan, name))


def scans(plan: PeriodPlan) -> list[SnapshotScan | ConstantScan]:
    """The relations that a plan reads, each as often as it does."""
    if isinstance(plan, SnapshotScan | ConstantScan):
        return [plan]
    return [found for under in inputs_of(plan) for found in scans(under)]
