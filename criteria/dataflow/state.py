"""What operators must remember: the states that the rules of `criteria.dataflow` give, with their sizes and reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from streambound.analyzer.algebra.nodes import AggregateCall, Scan, Tree, WindowCall
from streambound.analyzer.block_queries import Monomial
from streambound.analyzer.query import Query
from streambound.criteria.bound import QueryBound
from streambound.criteria.dataflow.closing import ClosingTime
from streambound.criteria.dataflow.demand import Demand
from streambound.criteria.size import Number, Size, fewer, total
from streambound.criteria.violation import Violation
from streambound.preprocess.pipeline import Derivation


class Entry(StrEnum):
    """What an entry of a state holds beside its key."""

    NUMBER = "number"
    """How many rows there are."""
    SUMS = "sums"
    """Sums of the rows, and how many there are."""
    BEST = "best"
    """The least or the greatest value."""
    VALUES = "values"
    """A value, and how often it is there: the key has it."""
    ROW = "row"
    """A row, of which the key has what is read."""


class Retention(StrEnum):
    """When an entry goes."""

    PRESENT = "when its rows are taken back"
    TIME = "when its time is over"
    KEY = "when its key ends"
    EVER = "never"


class Reason(StrEnum):
    """Why a state has at most so many entries."""

    BLOCK = "tables of a select-project-join block"
    ROWS = "rows of the input"
    VALUES = "values of the key's columns"
    OPEN = "rows that are open"
    OPEN_KEYS = "keys that are open"


@dataclass(frozen=True, slots=True)
class StateCount:
    """At most ``size`` entries, for one reason, which also says when they go; ``closing`` is the time that does."""

    size: Size
    reason: Reason
    retention: Retention = Retention.PRESENT
    closing: ClosingTime | None = None


@dataclass(frozen=True, slots=True)
class OperatorState:
    """What an operator remembers of an input.

    ``key`` are columns of the input, by position. Without a ``count`` nothing bounds the state: ``blame`` is the column
    to limit, by position, None where there is no single one; ``words`` say what grows; ``violations`` are those of a
    block's criterion.
    """

    operator: Tree = field(repr=False)
    what: str
    proposition: str
    key: tuple[int, ...]
    entry: Entry
    count: StateCount | None
    blame: int | None = None
    words: str = ""
    violations: tuple[Violation, ...] = field(default=(), repr=False)

    @property
    def size(self) -> Size | None:
        """The most entries; None where nothing bounds them."""
        return None if self.count is None else self.count.size


@dataclass(frozen=True, slots=True)
class Undecided:
    """An operator, or a call of it, that no rule speaks of, in words."""

    operator: Tree | AggregateCall | WindowCall = field(repr=False)
    words: str


@dataclass(frozen=True, slots=True)
class BlockRows:
    """The rows of a block: its query as it was split, and the tables that its synopsis has; ``best`` of extrema (A3).

    A query with ``sums`` gives these after its columns. Without ``sizes`` nothing bounds the tables.
    """

    read: Derivation = field(repr=False)
    sizes: QueryBound | None = field(repr=False)
    best: Query | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SummedCall:
    """A linear aggregate, with the places of the sums that it is computed of.

    These are how many values there are (-1: rows), then what is added up; ``squares`` are those of the squares' sum.
    """

    call: AggregateCall
    sums: tuple[int, ...]
    squares: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockSums:
    """Sums of ``products`` over a block's rows, and the aggregates that are computed of them (A1)."""

    products: tuple[Monomial, ...]
    calls: tuple[SummedCall, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator as it was decided: its states, over the operations whose rows it reads.

    ``rows`` are a block's, where it is one; ``sums`` those that groups of a block are computed of; ``undecided`` says
    that no rule speaks of it.
    """

    tree: Tree = field(repr=False)
    states: tuple[OperatorState, ...] = ()
    inputs: tuple[Operation, ...] = ()
    demand: Demand = field(default_factory=Demand, repr=False)
    rows: BlockRows | None = field(default=None, repr=False)
    sums: BlockSums | None = field(default=None, repr=False)
    undecided: tuple[Undecided, ...] = ()

    def every(self) -> Iterator[Operation]:
        """The operations below, then this one."""
        for one in self.inputs:
            yield from one.every()
        yield self

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


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a statement remembers: it is bounded if every operator has a rule and each of its states a size."""

    operation: Operation
    keys: tuple[OperatorState, ...] = ()
    """The keys of punctuations by which entries go."""

    @property
    def states(self) -> tuple[OperatorState, ...]:
        """The states."""
        return (*self.operation.remembered, *self.keys)

    @property
    def outside(self) -> tuple[Undecided, ...]:
        """The operators without a rule."""
        return self.operation.outside

    @property
    def entries(self) -> Size | None:
        """M: the most entries between two timestamps; None where there is no bound, or no rule."""
        found = self.operation.entries
        sizes = [key.size for key in self.keys if key.size is not None]
        return None if found is None else total([found, *sizes])


def without_rule(tree: Tree, words: str) -> Operation:
    """An operator that no rule speaks of."""
    return Operation(tree, undecided=(Undecided(tree, words),))


def better(one: Operation, other: Operation) -> Operation:
    """The alternative that is bounded, or else has a rule; of two bounded ones that with fewer entries."""
    mine, theirs = one.entries, other.entries
    if mine is None or theirs is None:
        if (mine is None) is not (theirs is None):
            return one if theirs is None else other
        return one if len(one.outside) <= len(other.outside) else other
    return other if smaller(theirs, mine) else one


def smaller(one: Size, other: Size) -> bool:
    """Whether a size is known to be less than another one: as numbers, or as it has a number and the other has none."""
    mine, theirs = one.value, other.value
    if mine is None or theirs is None:
        return mine is not None or (theirs is None and fewer(one, other))
    return mine < theirs
