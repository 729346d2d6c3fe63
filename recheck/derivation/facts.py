"""The log of facts, what is read of it, and paths of differences that facts and atoms of a condition add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil, floor

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import JoinKind
from streambound.analyzer.algebra.value_sets import ValueSet
from streambound.analyzer.expressions.expression import Expression, fields
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.buckets import THE_TIME, FunctionOfTime, computed
from streambound.recheck.derivation.claims import ClaimedFact, ClaimedPoint, ClaimedStep, NotCheckedError
from streambound.recheck.derivation.plan import Origin, PlanNode, PlanNodes, is_session, origin
from streambound.recheck.derivation.rows import sources

SIDES = ("left.", "right.")
"""In facts about pairs: the time at which the row of a side changes."""
_KEEP_NOW = (
    nodes.Filter, nodes.Alias, nodes.Project, nodes.Distinct, nodes.SpjBlock, nodes.Aggregate, nodes.Bucket,
)  # fmt: skip
"""The operators whose rows change when those do that they are made of."""


class TimeFact(Struct, frozen=True):
    """``function(u)`` of a time u with ``low <= u - t <= high``, t of a source's row, or, of "", of the change.

    ``beside``: where there is such a row; without it a row has the column, too.
    """

    source: str
    low: int | None
    high: int | None
    function: FunctionOfTime = THE_TIME
    beside: bool = False

    def within(self, other: TimeFact) -> bool:
        """Whether it says at least as much as another one."""
        low = other.low is None or (self.low is not None and other.low <= self.low)
        high = other.high is None or (self.high is not None and other.high >= self.high)
        same = (self.source, self.function.name) == (other.source, other.function.name) and self.beside <= other.beside
        return same and low and high and self.function.width <= other.function.width

    def moved(self, source: str, earlier: int | None, later: int | None) -> TimeFact:
        """The same of another time, which is so far before and after; None for any distance."""
        low = None if self.low is None or earlier is None else self.low + earlier
        high = None if self.high is None or later is None else self.high + later
        return replace(self, source=source, low=low, high=high)

    @property
    def is_now(self) -> bool:
        """Whether the column is the time at which a row comes."""
        return (self.source, self.low, self.high, self.function.name) == ("", 0, 0, "")


class CheckedFacts(Struct):
    """The facts of a derivation, each checked in its turn; raises RejectedError for one that does not follow."""

    nodes: PlanNodes
    claimed: tuple[ClaimedFact, ...]
    times: dict[int, TimeFact] = field(default_factory=dict)
    sets: dict[int, ValueSet] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)

    # --- what is read of the log ----------------------------------------------------------------------------------

    def values(self, number: int | None, node: PlanNode, column: int) -> ValueSet:
        """The value set that a fact gives to a column of a node."""
        if number not in self.sets or not self.is_about(number, node, column):
            raise RejectedError(f"fact {number} is not about the values of that column")
        return self.sets[number]

    def time(self, number: int | None, node: PlanNode, column: int, beside: bool = False) -> TimeFact:
        """The fact about the time in a column of a node; with ``beside`` it may hold only where there is a row."""
        if number not in self.times or not self.is_about(number, node, column):
            raise RejectedError(f"fact {number} is not about the time of that column")
        if self.times[number].beside and not beside:
            raise RejectedError(f"fact {number} is about rows that may be missing")
        return self.times[number]

    def column_of(self, number: int | None) -> int:
        """The column that a fact is about."""
        if number is None or not 0 <= number < len(self.claimed):
            raise RejectedError(f"there is no fact {number}")
        return self.claimed[number].column

    def about(self, node: PlanNode, column: int) -> list[int]:
        """The facts about the values of a column of a node."""
        return [one for one in self.sets if self.is_about(one, node, column)]

    def _is_of(self, number: int, node: PlanNode) -> bool:
        return self.is_about(number, node, self.column_of(number))

    def is_about(self, number: int, node: PlanNode, column: int) -> bool:
        """Whether a fact is about a column of a node, which then uses it."""
        claim = self.claimed[number]
        found = claim.column == column and self.nodes.at(claim.node).same(node)
        self.used |= {number} if found else set()
        return found

    def is_empty(self, node: PlanNode, among: Sequence[int] | None = None) -> bool:
        """Whether a fact, of some, says that a column of a node has no value, so that there are no rows."""
        known = [one for one in (self.sets if among is None else among) if one in self.sets]
        return bool([one for one in known if self.sets[one].size == 0 and self._is_of(one, node)])

    def require_used(self) -> None:
        """Raises RejectedError where nothing uses a fact, or a node."""
        if len(self.used) < len(self.claimed) or len(self.nodes.used) < len(self.nodes.claimed):
            raise RejectedError("it says more than it uses")

    # --- paths ----------------------------------------------------------------------------------------------------

    def path(
        self, steps: Sequence[ClaimedStep], first: ClaimedPoint, last: ClaimedPoint, node: PlanNode,
        there: Sequence[int], beside: bool = False,
    ) -> int | None:  # fmt: skip
        """The sum of a path: the most by which its first point is above its last one; None where there is no path.

        ``beside``: where the source that it leads to is there.
        Points between must be there: sources without which no row is, and columns that are not NULL, as a part of the
        condition says, a fact of the path, or one of those that say what is ``there``.
        """
        if not steps:
            return None
        known, point = [*there, *(step.fact for step in steps if step.fact is not None)], first
        for number, step in enumerate(steps):
            if number:
                self.require_there(point, node, known)
            most = self._most(point, step, node, beside)
            if most is None or most > step.most:
                raise RejectedError("a step of a path that nothing says")
            point = step.to
        if point != last:
            raise RejectedError("a path between other points")
        return sum(step.most for step in steps)

    def require_there(self, point: ClaimedPoint, node: PlanNode, known: Sequence[int]) -> None:
        """Raises an error where a point of a path may not be there."""
        if point.source is not None and point.source not in ("", *SIDES):
            found = sources(node)
            if point.source not in found or found[point.source].missing:
                raise NotCheckedError("a path by a source that may be missing")
        if point.column is None or any(point.column in atoms.present(one, node.row) for one in node.conditions):
            return
        below = row_of(node, point.column)
        mine = [one for one in known if one in self.sets and self.is_about(one, below.node, below.column or 0)]
        if all(self.sets[one].null for one in mine):
            raise RejectedError("a path by a column that may be NULL")

    def _most(self, above: ClaimedPoint, step: ClaimedStep, node: PlanNode, beside: bool) -> int | None:
        """How far a point is above the next one at most, as an atom says, or a fact about a row of the condition."""
        below = step.to
        if above.source is not None and below.source is not None and step.fact is None:
            return self._most_of_buckets(above.source, step, node)
        column, other = (above, below) if above.column is not None else (below, above)
        if column.column is None or (step.atom is None) is (step.fact is None):
            raise RejectedError("a step between no column and another point, or by no one thing")
        kind, part = node.row[column.column].type, None if step.fact is not None else self.atom(node, step.atom)
        if part is not None and other.column is not None:
            wanted = above.column, below.column
            return min((c for x, y, c in atoms.differences(part, node.row) if (x, y) == wanted), default=None)
        if kind is None or not kind.discrete or other.column is not None or (part is not None and other.source):
            raise RejectedError("a distance that nothing says")
        if part is not None:
            low, high = atoms.values(part, node.row, column.column).ends
        elif other.source is None:
            low, high = self.of_row(step.fact, node, column.column).ends
        else:
            row = row_of(node, column.column)
            time = moved_up(self.time(step.fact, row.node, row.column or 0, beside), node, row)
            low, high = time.low, time.high
            if time.source != other.source or time.function.name:
                raise RejectedError(f"fact {step.fact} is about another time")
        if column is above:
            return None if high is None else floor(high)
        return None if low is None else -ceil(low)

    def _most_of_buckets(self, above: str, step: ClaimedStep, node: PlanNode) -> int | None:
        """How far a source's time is above another one, as an atom says of buckets of both, which are of one kind."""
        found = list[int]()
        for left, right, strict in atoms.in_order(self.atom(node, step.atom), node.row):
            for x, y in product(self._times_of(left, step, node), self._times_of(right, step, node)):
                alike = (x.source, y.source) == (above, step.to.source) and x.function.name == y.function.name != ""
                if alike and x.low is not None and y.high is not None:
                    width = max(x.function.width, y.function.width)
                    found.append((-1 if strict else width - 1) - x.low + y.high)
        return min(found, default=None)

    def _times_of(self, expression: Expression, step: ClaimedStep, node: PlanNode) -> Iterator[TimeFact]:
        """What an expression that a condition has says of times, by the facts that a step uses."""
        for place in map(int, fields(expression)):
            row = row_of(node, place)
            about = [one for one in step.uses if self.is_about(one, row.node, row.column or 0)]
            for one in about:
                if one in self.times:
                    values = [other for other in about if other in self.sets]
                    found = self.computed(expression, place, row, [one, *values], node)
                    yield from [] if found is None else [found]

    def computed(
        self, expression: Expression, place: int, row: Origin, uses: Sequence[int], node: PlanNode
    ) -> TimeFact | None:
        """The time that an expression over one column of a row is, by a fact about it, and facts about its values."""
        column = row.column or 0
        fact = moved_up(self.time(uses[0], row.node, column), node, row)
        lows = [self.values(one, row.node, column).ends[0] for one in uses[1:]]
        least = max((one for one in lows if one is not None), default=None)
        function = computed(expression, place, fact.function, least)
        if function is None:
            return None
        return replace(fact.moved(fact.source, function.later, function.later), function=replace(function, later=0))

    def of_row(self, number: int | None, node: PlanNode, column: int) -> ValueSet:
        """The values of a column that a condition reads, as a fact about the input has them."""
        row = row_of(node, column)
        return self.values(number, row.node, row.column or 0)

    @staticmethod
    def atom(node: PlanNode, number: int | None) -> exp.Expr:
        """A part of a node's condition."""
        if number is None or not 0 <= number < len(node.conditions):
            raise RejectedError(f"there is no part {number} of a condition")
        return node.conditions[number]


def row_of(node: PlanNode, column: int) -> Origin:
    """The column of an input that a condition reads."""
    inner = isinstance(node.tree, nodes.Join) and node.tree.kind is JoinKind.INNER
    found = origin(node, column) if isinstance(node.tree, nodes.Filter) or inner else None
    if found is None:
        raise RejectedError("a condition of nothing")
    return found


def moved_up(below: TimeFact, node: PlanNode, row: Origin) -> TimeFact:
    """A fact about a row of an input, for the operator's row; for pairs when the row of that side changes."""
    if below.source or (isinstance(node.tree, nodes.Join) and node.tree.kind is JoinKind.INNER):
        return replace(below, source=f"{row.name}.{below.source}")
    fine = isinstance(node.tree, _KEEP_NOW) and not is_session(node.tree)
    if not fine and not (isinstance(node.tree, nodes.Apply) and node.input("subquery").is_static):
        raise NotCheckedError(f"when rows of a {type(node.tree).__name__} change")
    return below
