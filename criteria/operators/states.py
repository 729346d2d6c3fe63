"""What a decided circuit is made of, and what its operators remember: the plan that a job executes, with its bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from streambound.analyzer.algebra.percentiles import Percentile
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.query import Condition, Constant, Query
from streambound.analyzer.spans import Span
from streambound.analyzer.types import DataType
from streambound.criteria.bound import QueryBound
from streambound.criteria.size import Number, Size, total
from streambound.criteria.violation import CriterionResult, Violation
from streambound.criteria.vocabulary import Tier
from streambound_runtime.operators.epochs.plan import EpochLineage, EpochQuery

CLOSED = "when its window has closed"
"""When what is kept for a window goes."""


@dataclass(frozen=True, slots=True)
class State:
    """What an operator remembers: at most ``size`` entries, one for each value of its ``keys``.

    ``proposition`` is the one that bounds it; ``freed`` says when an entry goes; ``span`` is the operator's. Where the
    size is the number of different results of ``counted`` blocks, these are the evidence for it.
    """

    name: str
    proposition: str
    size: Size
    keys: tuple[str, ...]
    freed: str
    span: Span
    counted: tuple[Query, ...] = field(default=(), repr=False, compare=False)


def numbered(name: str, number: int) -> str:
    """The name of one of several states of an operator, which differ by their names: ``values``, ``values 2``, …."""
    return name if number == 1 else f"{name} {number}"


@dataclass(frozen=True, slots=True)
class BlockPart:
    """A select-project-join block: its query, split as its synopsis reads it, and its tables.

    Its results have these ``columns``, then a column for each of the query's sums.
    """

    name: str
    query: Query = field(repr=False)
    split: Query = field(repr=False)
    bound: QueryBound = field(repr=False)
    columns: tuple[Column, ...]


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
class BestPart:
    """A block of keys and a value of which only the best matters: the ``split`` set query has a virtual newest stream.

    Results are as the ``query``'s, but for values that cannot be the best of their keys.
    """

    name: str
    query: Query = field(repr=False)
    split: Query = field(repr=False)
    bound: QueryBound = field(repr=False)
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
class RowsOfSide:
    """The columns of a join, by their places, that one row of a side has: rows that are open have so many of these."""

    columns: frozenset[int]
    open: Callable[[int], Size] = field(repr=False, compare=False)

    @classmethod
    def at_a_time(cls, side: str, shown: Sequence[str], rows: Size) -> RowsOfSide:
        """So many rows of a side, ``l`` or ``r``, of a join whose columns are called so in its pairs."""
        return cls(frozenset(n for n, name in enumerate(shown) if name.startswith(side)), lambda _: rows)

    def earlier(self, before: int) -> RowsOfSide:
        """The rows that were open so much earlier already."""
        return replace(self, open=lambda more: self.open(more + before))


@dataclass(frozen=True, slots=True)
class ClosingRows:
    """When a row of a view does not change any more: each of these columns says so, all the same.

    ``open(more)`` is the most different rows that were not closed ``more`` before the last closed timestamp, in units
    of the time; ``open(0)`` those that may still change. It raises NoRule where there is no number. ``buckets`` is the
    most different values of these columns that such rows have; None where only the rows have a number. Of a join the
    rows of a ``side`` are fewer, those of its own sides first.
    """

    columns: tuple[Closing, ...]
    open: Callable[[int], Size] = field(repr=False, compare=False)
    buckets: int | None = None
    sides: tuple[RowsOfSide, ...] = ()

    def different(self, places: Iterable[int]) -> Callable[[int], Size]:
        """The most open rows that differ in the columns at these places."""
        read = set(places)
        return next((side.open for side in self.sides if read <= side.columns), self.open)


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
class RowTest:
    """``column op other + value`` of a row's columns; ``column op value`` where there is no other one."""

    column: str
    op: str
    other: str | None = None
    value: int | float | str | tuple[int | float | str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ClippedColumn:
    """Between which values a column that is compared is kept: those beyond count as the nearest; None for no limit."""

    column: str
    low: int | None
    high: int | None


RowTests = tuple[tuple[RowTest, ...], ...]
"""Alternatives, of each of which a row passes all tests or not."""


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
class PairPart:
    """A semi, anti or outer join of two streams: the inner join as a block, and each side alone, by its own conditions.

    ``left`` and ``right`` are the aliases that the sides have in the block. Columns are the block's.
    """

    name: str
    kind: str
    joint: BlockPart
    left: str
    right: str
    left_alone: Query = field(repr=False)
    right_alone: Query = field(repr=False)
    columns: tuple[Column, ...]

    @property
    def waiting(self) -> tuple[tuple[str, str], ...]:
        """The sides of which a row is a result for want of a partner, each with the other side."""
        both = (self.left, self.right), (self.right, self.left)
        return {"semi": (), "right": both[1:], "full": both}.get(self.kind, both[:1])


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
    first. ``keep`` says which rows are kept: "all", the "first" so many of a partition, the "last" so many, those
    "near", of so much time before, the "open" ones with so many before them, or with the first so many of others, "open
    first"; or none, but what the functions are of all rows so far, "running", or the open ones with what the functions
    are of those before, "running open". Of the last ones and those near, values may change of the last ``after`` rows,
    or of those of so much time before.
    """

    name: str
    input: Part
    width: int
    partition: tuple[int, ...]
    order: tuple[tuple[int, bool, bool], ...]
    calls: tuple[OverColumn, ...]
    keep: tuple[str, int]
    after: int
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
class StepValue:
    """A value that a case of a recursion's step reads: a column of one of its participants, plus ``more``.

    These are its rows of r, in turn, then those of its inputs.
    """

    participant: int
    place: int
    more: int = 0


@dataclass(frozen=True, slots=True)
class StepPart:
    """One case of a recursion's step: so many rows of r, and one of each of the `FixpointPart.inputs` at these places.

    ``tests`` are conditions with what their attributes are; ``outputs`` the new row.
    """

    recursive: int
    inputs: tuple[int, ...]
    tests: tuple[tuple[Condition, tuple[StepValue, ...]], ...]
    outputs: tuple[StepValue | Constant, ...]


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
class OfRelation:
    """A condition on a stream's row: its column has a value that some row of a static relation has in another one."""

    column: str
    relation: str
    values: str


@dataclass(frozen=True, slots=True)
class PeriodPart:
    """A SEQ block over streams of rows with periods (`criteria.periods`): blocks of one stream each, and operators.

    ``relations`` are static, with the columns that are needed; ``streams`` are those that are read. ``judged`` says
    among which rows of a stream its snapshot key is: those that satisfy one of some conjunctions; else among all.
    """

    name: str
    blocks: tuple[BlockPart, ...]
    relations: tuple[tuple[DeclaredTable, tuple[str, ...]], ...] = field(repr=False)
    streams: tuple[DeclaredTable, ...] = field(repr=False)
    query: EpochQuery | EpochLineage
    columns: tuple[Column, ...]
    judged: tuple[tuple[str, tuple[tuple[Condition | OfRelation, ...], ...]], ...] = ()


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
    | PeriodPart
    | RelationPart
    | ViewJoinPart
    | FixpointPart
)
"""An operator of a decided circuit."""


@dataclass(frozen=True, slots=True)
class CircuitBound:
    """M: the states of all operators, and their total."""

    states: tuple[State, ...]
    grows: bool = False

    @property
    def entries(self) -> Size:
        """The most entries between two timestamps."""
        return total([Number(0), *(state.size for state in self.states)])

    @property
    def tier(self) -> Tier:
        """What M depends on."""
        return Tier.RATE_WINDOW if self.entries.rated else Tier.CONSTANT


@dataclass(frozen=True, slots=True)
class Judged:
    """What the propositions say of an operator and all below: how it is executed, what it remembers, what fails.

    ``rows`` is the most rows of the view at a time, None where there is no number; ``retracts`` that it may take rows
    back; ``closes`` are the columns that say when it does not any more. Without a ``part`` there are
    ``violations``; ``suspects`` are blocks, split, of which a witness may be made, with elements so far ``apart`` in
    time that they are in different buckets of it. ``clocks`` are the tables whose timestamps are those of the results,
    also where no row of theirs matters. Of a join there are so many rows of a ``side`` at a time. ``empty`` says
    why there never is a result.
    """

    part: Part | None
    states: tuple[State, ...] = ()
    violations: tuple[Violation, ...] = ()
    suspects: tuple[Query, ...] = ()
    rows: Size | None = None
    retracts: bool = False
    apart: int = 0
    closes: tuple[ClosingRows, ...] = ()
    clocks: tuple[str, ...] = ()
    sides: tuple[RowsOfSide, ...] = ()
    empty: tuple[Diagnostic, ...] = ()

    @property
    def criteria(self) -> tuple[CriterionResult, ...]:
        """The propositions that decide, each with what violates it."""
        broken = {violation: violation.condition.split(" (")[0] for violation in self.violations}
        names = dict.fromkeys((*(state.proposition for state in self.states), *broken.values()))
        found = {name: tuple(v for v, proposition in broken.items() if proposition == name) for name in names}
        return tuple(CriterionResult(name, not violated, violated) for name, violated in found.items())
