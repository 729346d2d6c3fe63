"""The plan of a query over rows with periods, as a job has it: operators over slices of time.

A slice is the time from one frontier to the next. Rows are as `periods.plan` says: values, which have no names but
their places, from begin to before end, in so many copies. Types are named where Spark computes values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import cast

ColumnTypes = tuple[tuple[str, str], ...]
"""Names of columns with their Spark SQL types."""


@dataclass(frozen=True, slots=True)
class SliceScan:
    """The rows of a block over one stream, when they begin; the block's last column is their end."""

    block: str


@dataclass(frozen=True, slots=True)
class SliceRelation:
    """The rows of a static relation: these columns, valid in its period, or always where it has none.

    Without a ``table`` one row of no columns.
    """

    table: str = ""
    columns: tuple[str, ...] = ()
    period: tuple[str, str] | None = None
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SliceMap:
    """Expressions of each row for which ``where`` is true: Spark SQL over the columns that are ``given``.

    ``engine`` and ``engine_where`` are the same in DuckDB's SQL, empty where it does not compute that as Spark does.
    """

    input: SlicePlan
    given: ColumnTypes
    columns: ColumnTypes
    expressions: tuple[str, ...]
    where: str = ""
    engine: tuple[str, ...] = ()
    engine_where: str = ""

    @property
    def picks(self) -> list[int] | None:
        """The places of the columns that it gives, where it is nothing else."""
        if self.where or not all(text.startswith("c") and text[1:].isdigit() for text in self.expressions):
            return None
        return [int(text[1:]) for text in self.expressions]


@dataclass(frozen=True, slots=True)
class SliceMatched:
    """Rows that agree with some row of a static relation, whenever that is valid, in ``keys``: places of both."""

    input: SlicePlan
    relation: SlicePlan
    keys: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SliceUnion:
    """The rows of both sides."""

    left: SlicePlan
    right: SlicePlan


@dataclass(frozen=True, slots=True)
class SliceDistinct:
    """Each row once at a time."""

    input: SlicePlan


@dataclass(frozen=True, slots=True)
class SliceDifference:
    """EXCEPT ALL, or with ``common`` INTERSECT ALL: what is left of two sides' multiplicities."""

    left: SlicePlan
    right: SlicePlan
    common: bool = False


@dataclass(frozen=True, slots=True)
class SliceJoin:
    """Pairs of rows that are valid together, where they are; ``kind`` is inner, left, right, full, semi or anti.

    ``keys`` are places of each side's columns that are equal in a pair; ``condition`` is what else holds of it, over
    the columns of both sides, which are ``given``; ``engine`` is the same in DuckDB's SQL, empty where it does not
    compute that as Spark does. ``widths`` are how many columns the sides have.
    """

    kind: str
    left: SlicePlan
    right: SlicePlan
    widths: tuple[int, int]
    keys: tuple[tuple[int, int], ...] = ()
    given: ColumnTypes = ()
    condition: str = ""
    engine: str = ""


@dataclass(frozen=True, slots=True)
class SliceAggregate:
    """An aggregate of a column, by its place, of this type, with its own; of rows where there is no column."""

    function: str
    column: int | None = None
    type: str = "bigint"
    distinct: bool = False
    result: str = "bigint"

    def type_of(self, columns: Sequence[str]) -> str:
        """The type of its result, where that is its column's; else empty."""
        return columns[self.column] if self.function in ("min", "max") and self.column is not None else ""


@dataclass(frozen=True, slots=True)
class SliceGroup:
    """A row for each group that has rows at a time: the first ``keys`` columns of the input, then the aggregates.

    With ``always`` there is a row at every point of time, whether there are rows or not. Where ``most`` is no 0, the
    only aggregate is COUNT(*), of which nothing is asked but whether it is at least that. ``of_parts``: the input's
    columns are those of `SliceParts`.
    """

    input: SlicePlan
    keys: int
    aggregates: tuple[SliceAggregate, ...]
    always: bool = False
    most: int = 0
    of_parts: bool = False


@dataclass(frozen=True, slots=True)
class SliceParts:
    """The rows of groups that have one period as one row: the keys, then what they add to each sum."""

    input: SlicePlan
    keys: int
    aggregates: tuple[SliceAggregate, ...]


@dataclass(frozen=True, slots=True)
class RandomRows:
    """Rows of a stream or relation, each of which is a variable of this ``relation``'s name.

    The types are those of its key and its probability, the columns after a row's values.
    """

    input: SlicePlan
    relation: str
    key: str
    probability: str


@dataclass(frozen=True, slots=True)
class LineageRows:
    """Rows with a lineage and its probability in two columns, from ``at`` on, as another task has written them."""

    input: SlicePlan
    at: int


SlicePlan = (
    SliceScan
    | SliceRelation
    | SliceMap
    | SliceMatched
    | SliceUnion
    | SliceDistinct
    | SliceDifference
    | SliceJoin
    | SliceGroup
    | SliceParts
    | RandomRows
    | LineageRows
)
"""An operator with those under it."""


@dataclass(frozen=True, slots=True)
class SliceQuery:
    """A SEQ VT block over streams.

    ``low`` and ``high`` are the points of time that there are, from the first to before the second; None where there is
    no limit. ``final``: a result row is given once it has ended, else its part in each slice. ``parts``: the rows that
    are summed up to the result, each with its whole period, once it is known that there is one.
    """

    plan: SlicePlan
    low: int | None = None
    high: int | None = None
    as_of: bool = False
    final: bool = True
    parts: bool = False


@dataclass(frozen=True, slots=True)
class SliceLineage:
    """A SEQ TP block: σ, Π and joins of random rows; the kinds of joins are as in `tp.plan`.

    Where the result is ``derived`` a row may come of several: operands are joins themselves, or columns are left out.
    Else it is of one stream or relation, or a join of two, which are ``independent`` if they are different ones;
    ``blanks`` are the places of those columns of each side that tell its rows from none. A decision about a lineage may
    take so many ``nodes``; the rest is as of an `SliceQuery`.
    """

    plan: SlicePlan
    blanks: tuple[tuple[int, ...], ...]
    independent: bool
    derived: bool
    time_type: str
    nodes: int
    low: int | None = None
    high: int | None = None
    final: bool = True
    parts: bool = False
    as_of: bool = False


def operators_of(plan: SlicePlan) -> Iterator[SlicePlan]:
    """An operator and all under it."""
    yield plan
    for field in fields(plan):
        below = getattr(plan, field.name)
        if is_dataclass(below):
            yield from operators_of(cast("SlicePlan", below))


def is_arriving(plan: SlicePlan) -> bool:
    """Whether an operator's rows come when they begin and carry their ends: of streams, of σ, Π and ∪ of such rows."""
    match plan:
        case SliceScan():
            return True
        case SliceMap(input=input) | SliceMatched(input=input):
            return is_arriving(input)
        case SliceUnion(left=left, right=right):
            return is_arriving(left) and is_arriving(right)
    return False


def is_whole(plan: SlicePlan) -> bool:
    """Whether an operator's rows are known with their whole periods as soon as what they are made of has begun.

    Of streams, of σ, Π and ∪ of such rows, of inner joins of them, with static relations too.
    """
    match plan:
        case SliceScan():
            return True
        case SliceMap(input=input) | SliceMatched(input=input):
            return is_whole(input)
        case SliceUnion(left=left, right=right):
            return is_whole(left) and is_whole(right)
        case SliceJoin(kind="inner", left=left, right=right):
            sides = is_whole(left), is_whole(right)
            return any(sides) and all(one or is_static(side) for one, side in zip(sides, (left, right), strict=True))
    return False


def only_latest(plan: SliceDifference) -> tuple[bool, bool]:
    """Of which sides the latest ends of each value are enough: as many as a static other side has copies of it.

    That is the right side of EXCEPT ALL, and each side of INTERSECT ALL.
    """
    left = plan.common and is_arriving(plan.left) and is_static(plan.right)
    return left, is_arriving(plan.right) and is_static(plan.left)


def is_static(plan: SlicePlan) -> bool:
    """Whether an operator's rows are those of a static relation."""
    return isinstance(plan, SliceRelation) or (isinstance(plan, SliceMap) and is_static(plan.input))
