"""What a decided circuit is made of: the operators that a job executes, and what each needs to know."""

from __future__ import annotations

from dataclasses import dataclass, field

from streambound.analyzer.algebra.percentiles import Percentile
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.types import DataType
from streambound.criteria.parts import BestPart, BlockPart, PairPart, RowTest, RowTests, StepPart
from streambound_runtime.operators.asked_rows import AskedRows


@dataclass(frozen=True, slots=True)
class ChangesPart:
    """The rows of a relation that changes (E1), with all its columns."""

    name: str
    table: DeclaredTable = field(repr=False)
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class RelationPart:
    """The rows of a relation that does not change, or of one that is computed of such: some of its columns."""

    name: str
    table: DeclaredTable = field(repr=False)
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class AggregateColumn:
    """An aggregate of a SELECT: ``SUM(DISTINCT argument)``, with the types of its argument and of its value.

    ``sums`` are those of the block's sums that it is computed of: how many values there are, then what is added up, and
    ``squares`` those that the squares' sum is; ``values`` the number of the group's argument whose
    values it is computed of (`GroupPart.arguments`), of which it may be a ``percentile``.
    """

    name: str
    function: str
    distinct: bool
    argument: Column | None
    column: Column
    sums: tuple[int, ...] = ()
    squares: tuple[int, ...] = ()
    values: int | None = None
    percentile: Percentile | None = None


@dataclass(frozen=True, slots=True)
class Closing:
    """A key that is a bucket of the application time, and how long after its end a group may still change.

    ``how`` says what the value at ``key`` is: "div" is ``ts DIV size``, others are as for `buckets.TimeFunction`, or
    "session", where it is the end of one. ``size`` is in units of the time; ``delay`` is W (proposition A5).
    """

    key: int
    size: int
    how: str
    delay: int = 0


@dataclass(frozen=True, slots=True)
class EndingKey:
    """Columns, by their places, with the values of these ``attributes`` of a stream, which its punctuations end."""

    stream: str
    attributes: tuple[str, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BucketPart:
    """Rows once for every bucket of time that they are in; of a session those that a row alone would make.

    ``items`` are places of the input's columns, or the ends of the bucket around the column at ``time``: "start",
    "end", "last". Buckets are of ``size`` every ``slide``, from ``offset`` on; ``slide`` is 0 for sessions.
    """

    name: str
    input: Part
    time: int
    size: int
    slide: int
    offset: int
    items: tuple[int | str, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class GroupPart:
    """Aggregates of groups: of the results of a block, whose first ``keys`` columns are the group's key.

    ``arguments`` are blocks of a group's key and a value, for aggregates that need values; ``best`` says of each
    whether its greatest (True) or least (False) value is enough, None where all are counted. Columns are the keys, then
    the calls' values. Groups that differ only in the ends of a ``session``, at these places, are one if they touch.
    Those of a key that ``ends`` are dropped. ``closing_values`` say of an argument when its rows are taken back no
    more, so that of those its best value is enough; empty for none.
    """

    name: str
    rows: Part
    keys: int
    calls: tuple[AggregateColumn, ...]
    arguments: tuple[Part, ...]
    best: tuple[bool | None, ...]
    closing: Closing | None
    columns: tuple[Column, ...]
    session: tuple[int, int] | None = None
    ends: EndingKey | None = None
    closing_values: tuple[Closing | None, ...] = ()


@dataclass(frozen=True, slots=True)
class MapPart:
    """Rows that Spark computes of other rows: an expression for each column, of those rows for which ``where`` is."""

    name: str
    input: Part
    columns: tuple[Column, ...]
    expressions: tuple[str, ...]
    where: str = ""


@dataclass(frozen=True, slots=True)
class ClippedColumn:
    """Between which values a column that is compared is kept: those beyond count as the nearest; None for no limit."""

    column: str
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class SetPart:
    """EXCEPT, INTERSECT (``all``, or of distinct rows), semi and anti join by whole rows, or one part's distinct rows.

    ``open`` says of each side which rows may still change the result, None for all; ``grows`` that neither side takes
    rows back; rows go when the bucket that they have is ``closing``, or their key ``ends``.
    """

    name: str
    operation: str
    left: Part
    right: Part | None
    columns: tuple[Column, ...]
    all: bool = False
    grows: bool = False
    open: tuple[RowTests | None, ...] = (None, None)
    closing: Closing | None = None
    ends: EndingKey | None = None


@dataclass(frozen=True, slots=True)
class UnionPart:
    """The rows of several parts, by position."""

    name: str
    inputs: tuple[Part, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class OverColumn:
    """A function over windows of rows: the places of what it is of, and of what LAG and LEAD are without such a row.

    A ``frame`` is of rows, or else of values, from and to so far from the current row, None without end; ``offset`` is
    that of LAG and LEAD.
    """

    function: str
    type: DataType
    value: int | None
    default: int | None
    offset: int
    frame: tuple[bool, int | None, int | None] | None


@dataclass(frozen=True, slots=True)
class OverPart:
    """Functions over the same windows of rows: each row's first ``width`` columns, with their values.

    ``partition`` are places of the input's columns, ``order`` those with whether values fall and whether NULL comes
    first. ``asked`` says which rows are kept; those that are ``closing`` by the partition go together, others in turn,
    as they close. Where it is None, functions are running: only open rows are kept, and the values after all others.
    """

    name: str
    input: Part
    width: int
    partition: tuple[int, ...]
    order: tuple[tuple[int, bool, bool], ...]
    calls: tuple[OverColumn, ...]
    asked: AskedRows | None
    closing: Closing | None
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class ViewJoinPart:
    """A join of two views that change: the pairs that pass ``tests`` of columns called ``l0`` …, ``r0`` ….

    ``open`` says which left rows can have a partner; ``shown`` are the columns of the results by these names. With
    ``as_of`` left rows are joined with the right ones of their time, and that is all. Rows of a side go when the bucket
    that they have is ``closing``. Left rows are remembered with the ``clips`` of their columns.
    """

    name: str
    kind: str
    left: Part
    right: Part
    tests: tuple[RowTest, ...]
    open: RowTests
    shown: tuple[str, ...]
    columns: tuple[Column, ...]
    as_of: bool = False
    closing: tuple[Closing | None, Closing | None] = (None, None)
    clips: tuple[ClippedColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class FixpointPart:
    """The least relation r with the rows of ``base`` and what ``steps`` make of it and of ``inputs``, each row once.

    ``retracts`` says that base or inputs may take rows back.
    """

    name: str
    base: Part
    inputs: tuple[Part, ...]
    steps: tuple[StepPart, ...]
    columns: tuple[Column, ...]
    retracts: bool


@dataclass(frozen=True, slots=True)
class KeyedPart:
    """A part of which there is one for each value of a key that ends, with its own state, which goes with the key.

    ``streams`` says in which columns the streams have the key that it reads; ``places`` where its inputs, in order,
    have it.
    """

    name: str
    part: BlockPart | BestPart | PairPart | OverPart | ViewJoinPart
    key: EndingKey
    streams: tuple[tuple[str, tuple[str, ...]], ...]
    places: tuple[tuple[int, ...], ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the part."""
        return self.part.columns


Part = (
    KeyedPart
    | OverPart
    | BlockPart
    | BestPart
    | BucketPart
    | ChangesPart
    | GroupPart
    | MapPart
    | SetPart
    | UnionPart
    | PairPart
    | RelationPart
    | ViewJoinPart
    | FixpointPart
)
"""An operator of a decided circuit."""
