"""The plan of a query over rows with periods: operators that are executed over slices of time, not at every point.

A slice is the time from one frontier to the next; of relations alone there is one. Every operator gives rows ``(c0, c1,
…, begin, end, multiplicity)``: the values, which have no names but their places, are there in so many copies at every
point from begin to before end; with a lineage in the place of multiplicity, rows are free of duplicates, and a
projection is the disjunction of its derivations. Expressions are Spark SQL over the columns of the operator's input,
``c0`` and so on; of a join over those of the left side, then of the right one, counted on.

SQL is rewritten to such a plan. Where it is executed without Spark, streams are blocks, and what expressions are over
(``given``) and what they give has types, so that Spark can compute what DuckDB does not compute alike (``engine``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import cast

from streambound_runtime.lineage.formulas import NODES
from streambound_runtime.operators.plan import JoinType

ColumnTypes = tuple[tuple[str, str], ...]
"""Names of columns with their Spark SQL types."""


@dataclass(frozen=True, slots=True)
class SliceScan:
    """The rows of a block over one stream, when they begin: its first ``columns``; the last one is their end."""

    block: str
    columns: int


@dataclass(frozen=True, slots=True)
class SliceRelation:
    """The good rows of a relation: these columns, valid in its period, or always where it has none.

    Without a ``table`` one row of no columns. In a rewriting it may be a stream.
    """

    table: str = ""
    columns: tuple[str, ...] = ()
    period: tuple[str, str] | None = None
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SliceFilter:
    """Rows for which a condition is true; ``engine`` is the same in DuckDB's SQL, empty where it computes another."""

    input: SlicePlan
    condition: str
    given: ColumnTypes = ()
    engine: str = ""


@dataclass(frozen=True, slots=True)
class SliceProject:
    """Other columns of each row, of these ``types``; ``engine`` as of `SliceFilter`, for each."""

    input: SlicePlan
    items: tuple[str, ...]
    given: ColumnTypes = ()
    types: tuple[str, ...] = ()
    engine: tuple[str, ...] = ()

    @property
    def picks(self) -> list[int] | None:
        """The places of the columns that it gives, where it is nothing else."""
        if not all(text.startswith("c") and text[1:].isdigit() for text in self.items):
            return None
        return [int(text[1:]) for text in self.items]


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
    """EXCEPT ALL, or with ``common`` INTERSECT ALL: what is left of two sides' multiplicities.

    With ``distinct`` EXCEPT and INTERSECT, in a rewriting; executed are those of δ of both sides.
    """

    left: SlicePlan
    right: SlicePlan
    common: bool = False
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class SliceJoin:
    """Pairs of rows that are valid together, where they are.

    ``keys`` are expressions over each side's own columns that are equal in a pair, columns where it is executed;
    ``condition`` is what else holds of it, over the columns of both sides, which are ``given``; ``engine`` as of
    `SliceFilter`.
    """

    kind: JoinType
    left: SlicePlan
    right: SlicePlan
    keys: tuple[tuple[str, str], ...] = ()
    condition: str = ""
    given: ColumnTypes = ()
    engine: str = ""


EXPECTED_COUNT, EXPECTED_SUM = "expected count", "expected sum"
"""Aggregates of rows with lineages."""


@dataclass(frozen=True, slots=True)
class SliceAggregate:
    """COUNT, SUM, AVG, MIN or MAX of a column, by its place, of this type, with its own; of rows without a column.

    Of rows with lineages it is COUNT, or what is expected of COUNT or SUM.
    """

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
class SliceCoalesce:
    """The unique encoding: maximal periods of constant multiplicity; executed at the top only, where it is implied."""

    input: SlicePlan


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


@dataclass(frozen=True, slots=True)
class LineageColumn:
    """Rows with the texts of their lineages in one more column, the last, that are there in every possible world."""

    input: SlicePlan


SlicePlan = (
    SliceScan
    | SliceRelation
    | SliceFilter
    | SliceProject
    | SliceMatched
    | SliceUnion
    | SliceDistinct
    | SliceDifference
    | SliceJoin
    | SliceGroup
    | SliceParts
    | SliceCoalesce
    | RandomRows
    | LineageRows
    | LineageColumn
)
"""An operator with those under it."""


@dataclass(frozen=True, slots=True)
class SliceQuery:
    """A SEQ VT block.

    ``columns`` are the names of the result's columns, ``time_type`` is the type of its periods. ``low`` and ``high``
    are the points of time that there are, encoded, from the first to before the second; None where there is no limit.
    ``as_of`` says that they are one, and that the result has no periods. Over streams, ``final``: a result row is given
    once it has ended, else its part in each slice. ``parts``: the rows that are summed up to the result, each with its
    whole period, once it is known that there is one.
    """

    name: str
    plan: SlicePlan
    columns: tuple[str, ...]
    time_type: str
    low: int | None = None
    high: int | None = None
    as_of: bool = False
    final: bool = True
    parts: bool = False


@dataclass(frozen=True, slots=True)
class SliceLineage:
    """A SEQ TP block: σ, Π and joins of random rows; the kinds of joins are as in `tp.plan`.

    A decision about a lineage may take at most ``nodes``; with ``bounds`` the result has bounds of a probability that
    takes more, `_p_low` and `_p_high`, in the place of `_p`. ``dag``: it has `_lineage_dag`, too. Where the result
    is ``derived`` a row may come of several: operands are joins themselves, or columns are left out. Else it is of one
    stream or relation, or a join of two, which are ``independent`` if they are different ones; ``blanks`` are the
    places of those columns of each side that tell its rows from none. The rest is as of a `SliceQuery`.
    """

    name: str
    plan: SlicePlan
    columns: tuple[str, ...]
    time_type: str
    nodes: int = NODES
    bounds: bool = False
    dag: bool = False
    blanks: tuple[tuple[int, ...], ...] = ()
    independent: bool = False
    derived: bool = False
    low: int | None = None
    high: int | None = None
    as_of: bool = False
    final: bool = True
    parts: bool = False


def chance_columns(query: SliceLineage) -> tuple[str, ...]:
    """The columns of a result with the probability of its lineage."""
    return ("_p_low", "_p_high") if query.bounds else ("_p",)


def inputs_of(plan: SlicePlan) -> tuple[SlicePlan, ...]:
    """The operators right under one, from left to right."""
    below = (getattr(plan, field.name) for field in fields(plan))
    return tuple(cast("SlicePlan", part) for part in below if is_dataclass(part))


def operators_of(plan: SlicePlan) -> Iterator[SlicePlan]:
    """An operator and all under it."""
    yield plan
    for part in inputs_of(plan):
        yield from operators_of(part)


def scans(plan: SlicePlan) -> list[SliceRelation]:
    """The relations that a plan reads, each as often as it does."""
    return [part for part in operators_of(plan) if isinstance(part, SliceRelation)]


def width(plan: SlicePlan) -> int:
    """How many columns an operator gives."""
    match plan:
        case SliceScan(columns=number):
            return number
        case SliceRelation(columns=columns):
            return len(columns)
        case SliceProject(items=items):
            return len(items)
        case SliceJoin(kind="inner" | "left" | "right" | "full", left=left, right=right):
            return width(left) + width(right)
        case SliceGroup(keys=keys, aggregates=aggregates):
            return keys + len(aggregates)
        case SliceParts(keys=keys, aggregates=aggregates):
            return keys + 2 * len({one.column for one in aggregates if one.column is not None})
        case RandomRows(input) | LineageRows(input):
            return width(input) - 2
        case LineageColumn(input):
            return width(input) + 1
    return width(inputs_of(plan)[0])


def is_arriving(plan: SlicePlan) -> bool:
    """Whether an operator's rows come when they begin and carry their ends: of streams, of σ, Π and ∪ of such rows."""
    match plan:
        case SliceScan():
            return True
        case SliceFilter(input=input) | SliceProject(input=input) | SliceMatched(input=input):
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
        case SliceFilter(input=input) | SliceProject(input=input) | SliceMatched(input=input):
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
    return isinstance(plan, SliceRelation) or (isinstance(plan, SliceFilter | SliceProject) and is_static(plan.input))
