"""The log of facts: what is read of it, and paths of differences that facts and atoms of a condition add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil, floor

from sqlglot import exp

from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Aggregate,
    Alias,
    Apply,
    Bucket,
    BucketKind,
    Distinct,
    Filter,
    Join,
    JoinKind,
    Project,
    SpjBlock,
)
from streambound.analyzer.algebra.value_sets import ValueSet
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.buckets import FunctionOfTime
from streambound.recheck.derivation.claims import (
    ClaimedFact,
    ClaimedPoint,
    ClaimedStep,
    NotCheckedError,
)
from streambound.recheck.derivation.trees import (
    PlanNode,
    PlanNodes,
    names_in_pairs,
    sources,
)

LEFT, RIGHT = "left side", "right side"
"""Where a pair's facts are about the time at which the row of a side changes."""
_KEEP_NOW = (Filter, Alias, Project, Distinct, SpjBlock, Aggregate, Bucket, Apply)
"""The operators whose rows change when those do that they are made of."""


@dataclass(frozen=True, slots=True)
class TimeFact:
    """``function(u)`` of a time u with ``low <= u - t <= high``, t of a source's row, or, of "", of the change.

    ``beside``: where there is such a row; without it a row has the column, too.
    """

    source: str
    low: int | None
    high: int | None
    function: FunctionOfTime
    beside: bool = False

    def within(self, other: TimeFact) -> bool:
        """Whether it says at least as much as another one."""
        low = other.low is None or (self.low is not None and other.low <= self.low)
        high = other.high is None or (self.high is not None and other.high >= self.high)
        same = (self.source, self.function.name) == (other.source, other.function.name) and self.beside <= other.beside
        return same and low and high and self.function.width <= other.function.width


@dataclass
class CheckedFacts:
    """The facts of a derivation, each checked in its turn; raises RejectedError for one that does not follow."""

    nodes: PlanNodes
    claimed: tuple[ClaimedFact, ...]
    times: dict[int, TimeFact] = field(default_factory=dict)
    sets: dict[int, ValueSet] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)

    # --- what is read of the log ----------------------------------------------------------------------------------

    def values(self, number: int, node: PlanNode, column: int) -> ValueSet:
        """The value set that a fact gives to a column of a node."""
        self.require_about(number, node, column)
        if number not in self.sets:
            raise RejectedError(f"fact {number} is not about values")
        return self.sets[number]

    def time(self, number: int, node: PlanNode, column: int, beside: bool = False) -> TimeFact:
        """What a fact says of the time in a column of a node; ``beside``: it may be so only where there is a row."""
        self.require_about(number, node, column)
        if number not in self.times or (self.times[number].beside and not beside):
            raise RejectedError(f"fact {number} is not about a time")
        return self.times[number]

    def column_of(self, number: int) -> int:
        """The column that a fact is about."""
        if not 0 <= number < len(self.claimed):
            raise RejectedError(f"there is no fact {number}")
        return self.claimed[number].column

    def about(self, node: PlanNode, column: int) -> list[int]:
        """The facts about the values of a column of a node."""
        return [one for one in self.sets if self.is_about(one, node, column)]

    def require_about(self, number: int, node: PlanNode, column: int) -> None:
        """Raises RejectedError where a fact is about another column."""
        if not 0 <= number < len(self.claimed):
            raise RejectedError(f"there is no fact {number}")
        if not self.is_about(number, node, column):
            raise RejectedError(f"fact {number} is about another column")

    def is_about(self, number: int, node: PlanNode, column: int) -> bool:
        """Whether a fact is about a column of a node, which then uses it."""
        claim = self.claimed[number]
        found = claim.column == column and self.nodes.at(claim.node).same(node)
        self.used |= {number} if found else set()
        return found

    def is_empty(self, node: PlanNode) -> bool:
        """Whether a fact says that a column of a node has no value, so that there are no rows."""
        return any(self.sets[one].size == 0 for column in range(node.width) for one in self.about(node, column))

    def require_used(self) -> None:
        """Raises RejectedError where nothing uses a fact, or a node."""
        if len(self.used) < len(self.claimed) or len(self.nodes.used) < len(self.nodes.claimed):
            raise RejectedError("it says more than it uses")

    def path(
        self,
        steps: Sequence[ClaimedStep],
        first: ClaimedPoint,
        last: ClaimedPoint,
        node: PlanNode,
        there: Sequence[int],
        beside: bool = False,
    ) -> int:
        """The sum of a path: the most by which its first point is above its last one; ``beside``: where that is there.

        Points between must be there: sources without which no row is, and columns that are not NULL, as a part of the
        condition says, a fact of the path, or one of those that say what is ``there``.
        """
        if not steps or steps[0].above != first or steps[-1].below != last:
            raise RejectedError("a path between other points")
        if any(one.below != other.above for one, other in pairwise(steps)):
            raise RejectedError("a path with a gap")
        for point in [step.above for step in steps[1:]]:
            self.require_there(point, steps, node, there)
        for step in steps:
            self._step(step, node, beside)
        return sum(step.most for step in steps)

    def require_there(
        self, point: ClaimedPoint, steps: Sequence[ClaimedStep], node: PlanNode, there: Sequence[int]
    ) -> None:
        """Raises an error where a point of a path may not be there."""
        if point.source is not None:
            found = {} if point.source in (LEFT, RIGHT) else sources(node)
            if point.source not in (LEFT, RIGHT) and (point.source not in found or found[point.source].missing):
                raise NotCheckedError("a path by a source that may be missing")
        elif point.column is not None:
            if any(point.column in atoms.present(one, node.row) for one in node.conditions):
                return
            mine = [s.fact for s in steps if s.fact is not None and s.fact in self.sets and point in (s.above, s.below)]
            below, column = below_condition(node, point.column)
            mine += [one for one in there if self.is_about(one, below, column)]
            if all(self.of_row(one, node, point.column).null for one in mine):
                raise RejectedError("a path by a column that may be NULL")

    def _step(self, step: ClaimedStep, node: PlanNode, beside: bool) -> None:
        above, below = step.above, step.below
        if step.atom is not None and step.fact is None:
            part = self.atom(node, step.atom)
            wanted, end = (above.column, below.column), self._end_by_atom(part, above, below, node)
            limits = [c for x, y, c in atoms.differences(part, node.row) if (x, y) == wanted]
            limits += [] if end is None else [end]
            if not any(one <= step.most for one in limits):
                raise RejectedError(f"{part.sql('spark')} does not say so")
            return
        if step.fact is None:
            raise NotCheckedError("a step that nothing says")
        if step.atom is not None:
            raise RejectedError("a step by two things")
        column, other = (above, below) if above.column is not None else (below, above)
        if column.column is None or other.column is not None:
            raise RejectedError("a step between no column and another point")
        low, high = self._ends(step.fact, column.column, other, node, beside)
        most = high if column is above else None if low is None else -low
        if most is None or most > step.most:
            raise RejectedError(f"fact {step.fact} does not say so")

    @staticmethod
    def _end_by_atom(part: exp.Expr, above: ClaimedPoint, below: ClaimedPoint, node: PlanNode) -> int | None:
        """How far a column is from 0 at most, as one part of a condition says."""
        column = above.column if above.column is not None else below.column
        other = below if above.column is not None else above
        kind = None if column is None else node.row[column].type
        if column is None or other != ClaimedPoint() or kind is None or not kind.discrete:
            return None
        low, high = atoms.values(part, node.row, column).ends
        if above.column is not None:
            return None if high is None else floor(high)
        return None if low is None else -ceil(low)

    def _ends(
        self, fact: int, column: int, other: ClaimedPoint, node: PlanNode, beside: bool
    ) -> tuple[int | None, int | None]:
        """How far a column is from 0, or from a source's time, as a fact about a row of the condition says."""
        kind = node.row[column].type
        if kind is None or not kind.discrete:
            raise RejectedError("a distance of what has values between whole numbers")
        if other.source is None:
            low, high = self.of_row(fact, node, column).ends
            return None if low is None else ceil(low), None if high is None else floor(high)
        if other.source in (LEFT, RIGHT):
            time = self.time(fact, node, column)
        else:
            below = below_condition(node, column)
            time = moved_up(self.time(fact, *below, beside), node, below[0])
        if time.source != other.source or time.function.name:
            raise RejectedError(f"fact {fact} is about another time")
        return time.low, time.high

    def of_row(self, number: int, node: PlanNode, column: int) -> ValueSet:
        """The values of a column that a condition reads, as a fact about the input has them."""
        return self.values(number, *below_condition(node, column))

    @staticmethod
    def atom(node: PlanNode, number: int | None) -> exp.Expr:
        """A part of a node's condition."""
        if number is None or not 0 <= number < len(node.conditions):
            raise RejectedError(f"there is no part {number} of a condition")
        return node.conditions[number]


def below_condition(node: PlanNode, column: int) -> tuple[PlanNode, int]:
    """The column of an input that a condition reads."""
    if isinstance(node.tree, Filter):
        return node.input("input"), column
    if isinstance(node.tree, Join) and node.tree.kind is JoinKind.INNER and not node.tree.using:
        width = node.input("left").width
        return (node.input("left"), column) if column < width else (node.input("right"), column - width)
    raise RejectedError("a condition of nothing")


def moved_up(below: TimeFact, node: PlanNode, side: PlanNode) -> TimeFact:
    """What is said of a row of an input, said of the operator's row."""
    source = below.source
    if not source:
        _require_now(node)
    elif isinstance(node.tree, Alias):
        source = f"{node.tree.alias}.{source}"
    elif isinstance(node.tree, Join) and node.tree.kind not in ONE_SIDED and side.tree is node.tree.right:
        source = names_in_pairs(node)[source]
    return replace(below, source=source)


def _require_now(node: PlanNode) -> None:
    """Raises NotCheckedError where rows may change at other times than those that they are made of."""
    fine = isinstance(node.tree, _KEEP_NOW)
    if isinstance(node.tree, Bucket):
        fine = node.tree.kind is not BucketKind.SESSION
    if isinstance(node.tree, Apply):
        fine = node.input("subquery").is_static
    if not fine:
        raise NotCheckedError(f"when rows of a {type(node.tree).__name__} change")
