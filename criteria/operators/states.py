"""What the operators of a circuit remember, and what is said of each of them: its number, or what fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.query import Query
from streambound.analyzer.spans import Span
from streambound.criteria.operators.parts import Closing, Part
from streambound.criteria.size import Number, Size, total
from streambound.criteria.violation import CriterionResult, Violation
from streambound.criteria.vocabulary import Tier

if TYPE_CHECKING:
    from streambound.criteria.dataflow.judge import Judgement

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
    back; ``closes`` are the columns that say when it does not any more. Without a ``part`` there are ``violations``;
    ``suspects`` are blocks, split, of which a witness may be made. ``clocks`` are the tables whose timestamps are those
    of the results, also where no row of theirs matters. Of a join there are so many rows of a ``side`` at a time.
    ``empty`` says
    why there never is a result.
    """

    part: Part | None
    states: tuple[State, ...] = ()
    violations: tuple[Violation, ...] = ()
    suspects: tuple[Query, ...] = ()
    rows: Size | None = None
    retracts: bool = False
    closes: tuple[ClosingRows, ...] = ()
    clocks: tuple[str, ...] = ()
    sides: tuple[RowsOfSide, ...] = ()
    empty: tuple[Diagnostic, ...] = ()
    judgement: Judgement | None = field(default=None, repr=False, compare=False)

    @property
    def criteria(self) -> tuple[CriterionResult, ...]:
        """The propositions that decide, each with what violates it."""
        broken = {violation: violation.condition.split(" (")[0] for violation in self.violations}
        names = dict.fromkeys((*(state.proposition for state in self.states), *broken.values()))
        found = {name: tuple(v for v, proposition in broken.items() if proposition == name) for name in names}
        return tuple(CriterionResult(name, not violated, violated) for name, violated in found.items())
