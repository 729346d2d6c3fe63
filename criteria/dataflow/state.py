"""What operators must remember: the states that the rules of `criteria.dataflow` give, with their sizes and reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from streambound.analyzer.algebra.nodes import AggregateCall, Tree, WindowCall
from streambound.criteria.size import Number, Size, fewer, total


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
    """At most ``size`` entries, for one reason, which also says when they go."""

    size: Size
    reason: Reason
    retention: Retention = Retention.PRESENT


@dataclass(frozen=True, slots=True)
class OperatorState:
    """What an operator remembers of an input.

    ``key`` are columns of the input, by position. Without a ``count`` nothing bounds the state: ``blame`` is the column
    to limit, by position, None where there is no single one; ``words`` say what grows.
    """

    operator: Tree = field(repr=False)
    what: str
    proposition: str
    key: tuple[int, ...]
    entry: Entry
    count: StateCount | None
    blame: int | None = None
    words: str = ""

    @property
    def size(self) -> Size | None:
        """The most entries; None where nothing bounds them."""
        return None if self.count is None else self.count.size


@dataclass(frozen=True, slots=True)
class Undecided:
    """An operator, or a call of it, that no rule speaks of, in words."""

    operator: Tree | AggregateCall | WindowCall = field(repr=False)
    words: str


Remembered = tuple[OperatorState | Undecided, ...]
"""The states of an operator and of all below it, and the operators without a rule among them."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a statement remembers: it is bounded if every operator has a rule and each of its states a size."""

    remembered: Remembered

    @property
    def states(self) -> tuple[OperatorState, ...]:
        """The states."""
        return tuple(one for one in self.remembered if isinstance(one, OperatorState))

    @property
    def outside(self) -> tuple[Undecided, ...]:
        """The operators without a rule."""
        return tuple(one for one in self.remembered if isinstance(one, Undecided))

    @property
    def entries(self) -> Size | None:
        """M: the most entries between two timestamps; None where there is no bound, or no rule."""
        sizes = [state.size for state in self.states]
        known = [size for size in sizes if size is not None]
        return None if self.outside or len(known) < len(sizes) else total([Number(0), *known])


def better(one: Remembered, other: Remembered) -> Remembered:
    """The alternative that is bounded, or else has a rule; of two bounded ones that with fewer entries."""
    mine, theirs = Judgement(one), Judgement(other)
    if mine.entries is None or theirs.entries is None:
        if (mine.entries is None) is not (theirs.entries is None):
            return one if theirs.entries is None else other
        return one if len(mine.outside) <= len(theirs.outside) else other
    return other if smaller(theirs.entries, mine.entries) else one


def smaller(one: Size, other: Size) -> bool:
    """Whether a size is known to be less than another one: as numbers, or as it has a number and the other has none."""
    mine, theirs = one.value, other.value
    if mine is None or theirs is None:
        return mine is not None or (theirs is None and fewer(one, other))
    return mine < theirs
