"""What operators must remember: the states that the rules of `criteria.dataflow` give, with their sizes and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from streambound.analyzer.algebra.nodes import AggregateCall, Scan, Side, Tree, WindowCall
from streambound.analyzer.algebra.window_functions import Looks, window_function
from streambound.analyzer.block_queries import Monomial
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.models import Described
from streambound.analyzer.query import Query
from streambound.criteria.bound import QueryBound
from streambound.criteria.dataflow.closing import ClosingTime
from streambound.criteria.dataflow.demand import Demand
from streambound.criteria.dataflow.view import OperatorView, RisingColumn
from streambound.criteria.rows_apart import kept_apart
from streambound.criteria.size import Number, Size, fewer, slower, total
from streambound.criteria.violation import Violation
from streambound.preprocess.pipeline import Derivation
from streambound_runtime.operators.asked_rows import AskedRows


class Entry(StrEnum):
    """The content of an entry beside its key."""

    NUMBER = "number"
    """How many rows there are."""
    SUMS = "sums"
    """Sums of the rows, and how many there are."""
    BEST = "best"
    """The least or the greatest value."""
    VALUES = "values"
    """A value, and how often it is there: the key has it."""
    SOURCES = "rows of sources"
    """A row of one of the streams that a block joins."""
    OPEN_VALUES = "open values"
    """A value of those that are open, or the best of those that are not."""
    ROW = "row"
    """A row, of which the key has what is read."""


class Retention(StrEnum):
    """When an entry goes."""

    PRESENT = "when its rows are taken back"
    TIME = "when its time is over"
    KEY = "when its key ends"
    LAST_ENDED = "when as many more have ended"
    PASSED = "when a later group of its other keys begins"
    EVER = "never"


class ColumnCount(Struct, frozen=True):
    """How many values a column has: those of its value set, or, of a time, as many as the open rows leave.

    ``near``: the place in the column's promises of the one that a closing time limits. ``finer``: it is a bucket in the
    closing one.
    """

    place: int
    size: int
    closed: bool = False
    near: int | None = None
    finer: bool = False


class SourceCount(Struct, frozen=True):
    """The number of rows of a source: of a relation, at a number of ``timestamps``, or by the values of a time at
    ``lifetime``; ``fan``: the most beside those of other sources; those ``beside`` a row of another one, by a time at
    ``near`` to both.
    """

    source: str
    size: Size
    timestamps: int | None = None
    lifetime: int | None = None
    fan: bool = False
    beside: str | None = None
    near: int | None = None


class Combinations(Struct, frozen=True):
    """Combinations of sources' rows, and of the values of columns that these do not say; or the sources' rows apart."""

    view: OperatorView
    sources: tuple[SourceCount, ...]
    columns: tuple[ColumnCount, ...] = ()
    apart: bool = False


class WholeView(Struct, frozen=True):
    """All rows of a view, or none, as a column has no value."""

    view: OperatorView
    empty: int | None = None


class SumOfCounts(Struct, frozen=True):
    """The rows of parts, or those of the view below a select list."""

    view: OperatorView
    counts: tuple[StateCount, ...]
    below: bool = False


class BlockResults(Struct, frozen=True):
    """The different results of blocks, as they were split; ``by_values``: of all there can be, whichever rows come."""

    queries: tuple[Query, ...]
    by_values: bool = False


class WindowCount(Struct, frozen=True):
    """Rows that are open, or that came of late, and ``number`` of each partition, with all ``ties`` of one rank."""

    rows: StateCount
    number: int = 0
    each: StateCount | None = None
    ties: StateCount | None = None


class PassedGroups(Struct, frozen=True):
    """A group for each value of its other keys, ``key`` being the position of the one whose greatest value stays,
    as that column is ``rising``.
    """

    others: StateCount
    key: int
    rising: RisingColumn


CountReason = Combinations | WholeView | SumOfCounts | BlockResults | WindowCount | PassedGroups
"""Why there are no more entries, as a certificate says it."""


class HeldKey(Struct, frozen=True):
    """Columns, by their places, that hold the attributes of a key which punctuations end."""

    key: StreamKey
    places: tuple[int, ...]


class StateCount(Described, frozen=True):
    """At most ``size`` entries, ``why`` there are no more, and when they go.

    ``closing`` is the time by which they do, or ``held`` the key.
    """

    DESCRIPTION = ("why",)

    size: Size
    retention: Retention = Retention.PRESENT
    closing: ClosingTime | None = None
    held: HeldKey | None = None
    why: CountReason | None = None


class BestValue(Struct, frozen=True):
    """A column, by its place, of which the ``greatest`` or least value is enough, by the others."""

    place: int
    greatest: bool


class WindowRows(Struct, frozen=True):
    """Functions over a window, and the rows that are kept for them; None where only their values so far are kept."""

    calls: tuple[WindowCall, ...]
    asked: AskedRows | None

    @property
    def takes_back(self) -> bool:
        """Whether a row that comes changes what has been said of others."""
        return self.asked is not None and (self.asked.last is None or self._looks_ahead)

    @property
    def takes_changes(self) -> bool:
        """Whether rows that have been given may be taken back, at any time."""
        return self.asked == AskedRows()

    @property
    def _looks_ahead(self) -> bool:
        return any(
            window_function(one).looks is Looks.AHEAD
            or (one.frame is not None and one.frame.end.side is Side.FOLLOWING)
            for one in self.calls
        )


class OperatorState(Struct, frozen=True):
    """The state that an operator keeps of an input.

    ``key`` are columns of the input, by position. Without a ``count`` nothing bounds the state: ``blame`` is the column
    to limit, by position, None where there is no single one; ``words`` say what grows; ``violations`` are those of a
    block's criterion. Of a column the ``best`` may be enough.
    """

    operator: Tree
    what: str
    proposition: str
    key: tuple[int, ...]
    entry: Entry
    count: StateCount | None
    blame: int | None = None
    words: str = ""
    window: WindowRows | None = None
    best: BestValue | None = None
    violations: tuple[Violation, ...] = ()

    @classmethod
    def of(
        cls,
        operator: Tree,
        what: str,
        proposition: str,
        key: Iterable[int],
        entry: Entry,
        count: StateCount | None,
        given: OperatorView,
        words: str,
        **other: Any,
    ) -> OperatorState:
        """A state of a view's rows; without a count, ``words`` say what grows, and a column is blamed."""
        places = tuple(sorted(key))
        if count is not None:
            return cls(operator, what, proposition, places, entry, count, **other)
        blame = next((place for place in places if given.columns[place].values.size is None), None)
        return cls(operator, what, proposition, places, entry, None, blame, words, **other)

    @property
    def reads_apart(self) -> bool:
        """Whether these are the rows of a block's sources."""
        return self.entry is Entry.SOURCES

    @property
    def size(self) -> Size | None:
        """The most entries; None where nothing bounds them."""
        return None if self.count is None else self.count.size


class Undecided(Struct, frozen=True):
    """An operator, or a call of it, that no rule speaks of, in words, if it has any; ``help`` is the way out.

    A ``finding`` says what is wrong with its SQL.
    """

    operator: Tree | AggregateCall | WindowCall
    words: str
    help: str = ""
    finding: Diagnostic | None = None


class DecidedBlock(Struct, frozen=True):
    """The rows of a block: its query as it was split, and the tables that its synopsis has; ``best`` of extrema (A3).

    A query with ``sums`` gives these after its columns. Without ``sizes`` nothing bounds the tables.
    """

    read: Derivation
    sizes: QueryBound | None
    best: Query | None = None

    @property
    def keeps(self) -> bool:
        """Whether something is remembered beside results."""
        tables = self.sizes is not None and (self.sizes.tables or kept_apart(self.sizes) is not None)
        return self.best is not None or bool(tables)


class SummedCall(Struct, frozen=True):
    """A linear aggregate, with the places of the sums that it is computed of.

    These are how many values there are (-1: rows), then what is added up; ``squares`` are those of the squares' sum.
    """

    call: AggregateCall
    sums: tuple[int, ...]
    squares: tuple[int, ...] = ()


class BlockSums(Struct, frozen=True):
    """Sums of ``products`` over a block's rows, and the aggregates that are computed of them (A1)."""

    products: tuple[Monomial, ...]
    calls: tuple[SummedCall, ...]


class EachKey(Struct, frozen=True):
    """That an operation is done for each value of a ``key`` that is open, on the rows of that value (K3).

    ``operation`` is that of one value, with what it remembers for it.
    """

    key: StreamKey
    operation: Operation


class Operation(Struct, frozen=True):
    """An operator as it was decided: its states, over the operations whose rows it reads.

    ``rows`` are a block's, where it is one; ``sums`` those that groups of a block are computed of; ``undecided`` says
    that no rule speaks of it. With ``each_key`` it is done for each key alone, its ``states`` are those of all open
    keys, and it has no inputs.
    """

    tree: Tree
    states: tuple[OperatorState, ...] = ()
    inputs: tuple[Operation, ...] = ()
    demand: Demand = field(default_factory=Demand)
    rows: DecidedBlock | None = None
    sums: BlockSums | None = None
    undecided: tuple[Undecided, ...] = ()
    each_key: EachKey | None = None

    @property
    def is_apart(self) -> bool:
        """Whether it is a block whose sources' rows are kept apart, and joined again."""
        return any(state.reads_apart for state in self.states)

    def every(self) -> Iterator[Operation]:
        """The operations below, then this one."""
        for one in self.inputs:
            yield from one.every()
        yield self

    def leaves(self) -> Iterator[Operation]:
        """The operations below that read no others, from left to right."""
        yield from (leaf for one in self.inputs for leaf in one.leaves()) if self.inputs else (self,)

    @property
    def remembered(self) -> tuple[OperatorState, ...]:
        """The states of this operation and of all below; of a relation that is read several times once."""
        found, relations = list[OperatorState](), set[str]()
        for state in (state for one in self.every() for state in one.states):
            scan = state.operator
            if isinstance(scan, Scan):
                if scan.table in relations:
                    continue
                relations.add(scan.table)
            found.append(state)
        return tuple(found)

    @property
    def outside(self) -> tuple[Undecided, ...]:
        """The operators without a rule, of this one and of all below."""
        return tuple(undecided for one in self.every() for undecided in one.undecided)

    @property
    def entries(self) -> Size | None:
        """The most entries between two timestamps; None where there is no bound, or no rule."""
        sizes = [state.size for state in self.remembered]
        known = [size for size in sizes if size is not None]
        return None if self.outside or len(known) < len(sizes) else total([Number(0), *known])


def without_rule(tree: Tree, words: str, help: str = "") -> Operation:
    """An operator that no rule speaks of."""
    return Operation(tree, undecided=(Undecided(tree, words, help),))


def better(one: Operation, other: Operation) -> Operation:
    """The alternative that is bounded, or else has a rule; of two bounded ones that with fewer entries."""
    mine, theirs = one.entries, other.entries
    if mine is None or theirs is None:
        if (mine is None) is not (theirs is None):
            return one if theirs is None else other
        return one if len(one.outside) <= len(other.outside) else other
    return other if smaller(theirs, mine) or slower(theirs, mine) else one


def smaller(one: Size, other: Size) -> bool:
    """Whether a size is known to be less than another one: as numbers, or as it has a number and the other has none.

    Of equal numbers that which some symbols make less: ``min(4, c_S)`` than 4.
    """
    mine, theirs = one.value, other.value
    if mine == theirs:
        return fewer(one, other)
    return mine is not None and (theirs is None or mine < theirs)
