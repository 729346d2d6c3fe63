"""The log of facts: what holds of a column at a node, each by one rule, of facts before it and atoms of a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from sqlglot import exp

from streambound.analyzer.algebra.nodes import (
    ONE_SIDED,
    Aggregate,
    AggregateCall,
    Alias,
    Apply,
    Bucket,
    BucketKind,
    Distinct,
    Except,
    Filter,
    Fixpoint,
    Intersect,
    Join,
    JoinKind,
    Over,
    Project,
    Recur,
    Scan,
    SpjBlock,
    Tree,
    Union,
)
from streambound.analyzer.algebra.row_expressions import is_null, may_be_null, row_expression
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.value_sets import ANYTHING, NULL, ValueSet, as_domain, between, of_domain
from streambound.analyzer.catalog import Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.evident import domain
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal, fields
from streambound.analyzer.expressions.function import ANY
from streambound.analyzer.types import Family
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.buckets import FunctionOfTime, begun, computed, end_values, window_end
from streambound.recheck.derivation.claims import (
    ClaimedFact,
    ClaimedPoint,
    ClaimedStep,
    ClaimedTime,
    ClaimedValues,
    NotCheckedError,
)
from streambound.recheck.derivation.trees import (
    PlanNode,
    PlanNodes,
    looks_back,
    names_in_pairs,
    never_changes,
    newest_of,
    only_adds,
    origin,
    pairs,
    sources,
)

LEFT, RIGHT = "left side", "right side"
"""Where a pair's facts are about the time at which the row of a side changes."""
_FIRST = {Family.INTEGER: 0, Family.DATE: -719_162, Family.TIMESTAMP: -62_135_596_800_000_000}
"""Where time starts: integers at 0, dates and timestamps at 0001-01-01, in days and in microseconds."""
_RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK")
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

    def check(self) -> None:
        """Check all of them."""
        for number, claim in enumerate(self.claimed):
            node = self.nodes.at(claim.node)
            if not 0 <= claim.column < node.width or (claim.values is None) == (claim.time is None):
                raise RejectedError(f"fact {number} is about nothing")
            before = claim.present if claim.rule == "recursive" else (*claim.uses, *claim.present)
            if any(not 0 <= one < number for one in before):
                raise RejectedError(f"fact {number} uses facts that are not before it")
            if claim.values is not None:
                self.sets[number] = _value_set(claim.values, node, claim.column)
                found = self._values(claim, node)
                if not found.within(self.sets[number]):
                    self._refuse_unknown(claim, node)
                    raise RejectedError(f"fact {number}: {node.schema[claim.column].name} has other values")
            elif claim.time is not None:
                time = self._time(claim, node)
                said = TimeFact(claim.time.source, claim.time.low, claim.time.high, time.function, claim.time.beside)
                if claim.time.function != time.function.name or claim.time.width != time.function.width:
                    raise RejectedError(f"fact {number}: the column is another function of time")
                if not time.within(said):
                    raise RejectedError(f"fact {number}: the time may be further away")
                self.times[number] = said

    def _refuse_unknown(self, claim: ClaimedFact, node: PlanNode) -> None:
        """Raises NotCheckedError where a part of a condition that a fact is by says values that are not known here."""
        for number in claim.atoms if claim.rule == "narrowed" else ():
            part = self._atom(node, number)
            if atoms.values(part, node.row, claim.column) in (ANYTHING, ANYTHING.not_null()):
                raise NotCheckedError(f"which values {part.sql('spark')} leaves")

    # --- what is read of the log ----------------------------------------------------------------------------------

    def values(self, number: int, node: PlanNode, column: int) -> ValueSet:
        """The value set that a fact gives to a column of a node."""
        self._about(number, node, column)
        if number not in self.sets:
            raise RejectedError(f"fact {number} is not about values")
        return self.sets[number]

    def time(self, number: int, node: PlanNode, column: int, beside: bool = False) -> TimeFact:
        """What a fact says of the time in a column of a node; ``beside``: it may be so only where there is a row."""
        self._about(number, node, column)
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
        return [one for one in self.sets if self._is_about(one, node, column)]

    def _about(self, number: int, node: PlanNode, column: int) -> None:
        if not 0 <= number < len(self.claimed):
            raise RejectedError(f"there is no fact {number}")
        if not self._is_about(number, node, column):
            raise RejectedError(f"fact {number} is about another column")

    def _is_about(self, number: int, node: PlanNode, column: int) -> bool:
        claim = self.claimed[number]
        found = claim.column == column and self.nodes.at(claim.node).same(node)
        self.used |= {number} if found else set()
        return found

    def unused(self) -> list[int]:
        """The facts that nothing uses."""
        return sorted({*range(len(self.claimed))} - self.used)

    # --- values ---------------------------------------------------------------------------------------------------

    def _values(self, claim: ClaimedFact, node: PlanNode) -> ValueSet:
        rules: dict[str, Callable[[ClaimedFact, PlanNode], ValueSet]] = {
            "declared": self._declared,
            "type": lambda claim, node: _of_type(node, claim.column),
            "passed": self._passed,
            "computed": self._computed,
            "narrowed": self._narrowed,
            "none": self._none,
            "paired": self._paired,
            "sides": self._of_sides,
            "both": self._of_both,
            "recursive": self._recursive,
            "function": self._of_function,
            "bucket": self._of_bucket,
        }
        if claim.rule not in rules:
            raise NotCheckedError(f"values by the rule {claim.rule!r}")
        return rules[claim.rule](claim, node)

    @staticmethod
    def _declared(claim: ClaimedFact, node: PlanNode) -> ValueSet:
        """What the catalog declares; a stream's timestamp is never NULL, and not before time starts."""
        table = node.catalog.table(node.tree.table) if isinstance(node.tree, Scan) else None
        if table is None:
            raise RejectedError("what is declared is of no table")
        column = table.columns[claim.column]
        if column.name != table.timestamp:
            return of_domain(column.domain, column.type, null=True)
        first = between(_FIRST[column.type.family], None, null=False)
        return of_domain(column.domain, column.type, null=False).meet(first)

    def _passed(self, claim: ClaimedFact, node: PlanNode) -> ValueSet:
        """A column of an input, as it is."""
        found = origin(node, claim.column)
        if found is None or found.column is None or len(claim.uses) != 1:
            raise RejectedError("a column that comes from no other one")
        below = self.values(claim.uses[0], found.node, found.column)
        return below.or_null() if found.missing else below

    def _computed(self, claim: ClaimedFact, node: PlanNode) -> ValueSet:
        """An expression over columns whose values are known: those that it has of these."""
        found = origin(node, claim.column)
        if found is None or found.expression is None:
            raise RejectedError("a column that is no expression")
        expression = row_expression(found.expression, found.node.schema)
        if isinstance(expression, Literal) and expression.constant.value is None:
            return NULL
        if expression is None or expression.kind == ANY or expression.kind.family is Family.OTHER:
            return ANYTHING
        return self._expression(expression, claim.uses, found.node)

    def _expression(self, expression: Expression, uses: Sequence[int], below: PlanNode) -> ValueSet:
        known = {self.claimed[one].column: self.values(one, below, self.claimed[one].column) for one in uses}
        if any(one.size == 0 for one in known.values()):
            return ValueSet(listed=frozenset(), null=False)  # there are no rows
        empty = frozenset(str(place) for place, one in known.items() if one.only_null)
        if is_null(expression, empty):
            return NULL
        expression = _without(expression, empty)
        if isinstance(expression, Literal):
            constant = expression.constant.value
            return NULL if constant is None else of_domain(domain(expression, {}), expression.kind, null=False)
        if isinstance(expression, Field):
            return ANYTHING
        read = {name: known.get(int(name), ANYTHING) for name in fields(expression)}
        declared = {
            name: Column(name, below.schema[int(name)].type or ANY, as_domain(one)) for name, one in read.items()
        }
        null = may_be_null(expression, [known.get(place, ANYTHING).null for place in range(below.width)])
        return of_domain(domain(expression, declared), expression.kind, null)

    def _none(self, claim: ClaimedFact, node: PlanNode) -> ValueSet:
        """There are no rows: another column has no value, an input no rows, or a path back to its begin is negative."""
        nothing = ValueSet(listed=frozenset(), null=False)
        if claim.high:
            first = claim.high[0].above
            self._there(first, claim.high, node, claim.present)
            if self.path(claim.high, first, first, node, claim.present) < 0:
                return nothing
        below = [node, *(node.input(name) for name in _needed_inputs(node.tree))]
        for number in claim.uses:
            column = self.column_of(number)
            if self.sets.get(number) == nothing and any(self._is_about(number, one, column) for one in below):
                return nothing
        raise RejectedError("there may be rows")

    def _narrowed(self, claim: ClaimedFact, node: PlanNode) -> ValueSet:
        """What facts of the input and atoms of the condition leave together; a path to and from 0 gives an end."""
        found, equal = ANYTHING, self._equal_columns(claim, node)
        for one in claim.uses:
            column = next((other for other in equal if self._is_about(one, *_below(node, other))), claim.column)
            values = self._of_row(one, node, column)
            found = found.meet(values if column == claim.column else values.not_null())
        for number in claim.atoms:
            found = atoms.values(self._atom(node, number), node.row, claim.column, found)
        mine, zero = ClaimedPoint(column=claim.column), ClaimedPoint()
        high = self.path(claim.high, mine, zero, node, claim.present) if claim.high else None
        low = self.path(claim.low, zero, mine, node, claim.present) if claim.low else None
        return found.meet(between(None if low is None else -low, high, null=True))

    def _equal_columns(self, claim: ClaimedFact, node: PlanNode) -> list[int]:
        """The columns that atoms make equal to one, of which what is known of these holds, too."""
        found, several = [claim.column], [atoms.equal(self._atom(node, one), node.row) for one in claim.atoms]
        for _ in several:
            found += [other for both in several if both & {*found} for other in sorted(both - {*found})]
        return found

    def _paired(self, claim: ClaimedFact, node: PlanNode) -> ValueSet:
        """A column of a join that is there with a partner only, or NULL."""
        padded = self._is_padded(node, claim.column)
        (one,) = claim.uses if len(claim.uses) == 1 else (-1,)
        found = self.values(one, pairs(node), claim.column)
        return found.or_null() if padded else found

    @staticmethod
    def _is_padded(node: PlanNode, column: int) -> bool:
        """Whether a column of a join is NULL without a partner; raises RejectedError where it is there without one."""
        assert isinstance(node.tree, Join), "pairs are of a join"
        kind, is_left = node.tree.kind, column < node.input("left").width
        if node.tree.using:
            raise NotCheckedError("a join with USING")
        if kind in (JoinKind.INNER, JoinKind.SEMI):
            return False
        if (kind, is_left) in ((JoinKind.LEFT, False), (JoinKind.RIGHT, True)):
            return True
        raise RejectedError("rows without a partner are no pairs")

    def _of_sides(self, claim: ClaimedFact, node: PlanNode) -> ValueSet:
        """What holds of both sides of a union, or of a recursion's base and step."""
        names = ("left", "right") if isinstance(node.tree, Union) else ("base", "step")
        if not isinstance(node.tree, Union | Fixpoint) or len(claim.uses) != 2:
            raise RejectedError("sides of what has none")
        sides = [node.input(name) for name in names]
        one, other = (self.values(use, side, claim.column) for use, side in zip(claim.uses, sides, strict=True))
        if one.only_null or other.only_null:  # which is of any type
            return one.join(other)
        kinds = [side.schema[claim.column].type for side in sides]
        if kinds[0] is None or kinds[1] is None or kinds[0].family is not kinds[1].family:
            raise NotCheckedError("sides of different types")
        if kinds[0].family is Family.DECIMAL and kinds[0] != kinds[1]:
            raise NotCheckedError("sides of different types")
        return one.join(other)

    def _of_both(self, claim: ClaimedFact, node: PlanNode) -> ValueSet:
        """What holds of a value that both sides have."""
        if not isinstance(node.tree, Intersect) or len(claim.uses) != 2:
            raise RejectedError("sides of what has none")
        sides = [node.input("left"), node.input("right")]
        if sides[0].schema[claim.column].type != sides[1].schema[claim.column].type:
            raise NotCheckedError("sides of different types")
        one, other = (self.values(use, side, claim.column) for use, side in zip(claim.uses, sides, strict=True))
        return one.meet(other)

    def _recursive(self, claim: ClaimedFact, node: PlanNode) -> ValueSet:
        """A row of a recursion, of which holds what the log claims of all of its rows, base and step.

        By induction over the rounds of the fixpoint: what is claimed of it is checked of what the step makes of these.
        """
        around = None if node.recursion is None else node.recursion.tree
        if not isinstance(node.tree, Recur) or node.recursion is None or len(claim.uses) != 1:
            raise RejectedError("a row of no recursion")
        if not isinstance(around, Fixpoint) or around.name != node.tree.name:
            raise NotCheckedError("a recursion in another one")
        (number,) = claim.uses
        self._about(number, node.recursion, claim.column)
        whole = self.claimed[number]
        if whole.rule != "sides" or whole.values is None:
            raise RejectedError("what is supposed of a recursion is not what is shown of its base and its step")
        return _value_set(whole.values, node.recursion, claim.column)

    def _of_bucket(self, claim: ClaimedFact, node: PlanNode) -> ValueSet:
        """An end of a bucket of time, by the times that there are."""
        if not isinstance(node.tree, Bucket) or node.tree.kind is BucketKind.SESSION or len(claim.uses) != 1:
            raise NotCheckedError("the ends of sessions")
        below = node.input("input")
        place, which = below.place_of(parsed(node.tree.time)), claim.column - below.width
        if place is None or which < 0:
            raise NotCheckedError("buckets of what is no column")
        low, high = self.values(claim.uses[0], below, place).ends
        first, last = end_values(node.tree, which, low, high)
        return between(first, last, null=False)

    def _of_function(self, claim: ClaimedFact, node: PlanNode) -> ValueSet:
        """Ranks begin with 1, counts with 0; aggregates are of their argument's values; buckets have ends."""
        anything = replace(ANYTHING, null=node.schema[claim.column].nullable)
        match node.tree:
            case Over(calls=calls) if claim.column >= node.input("input").width:
                function = calls[claim.column - node.input("input").width].function
                known = function in (*_RANKS, "COUNT")
                return between(1 if function in _RANKS else 0, None, anything.null) if known else anything
            case Aggregate(keys=keys, calls=calls) if claim.column >= len(keys):
                return self._aggregated(claim, node, calls[claim.column - len(keys)], bool(keys))
            case Bucket() if claim.column >= node.input("input").width:
                return ANYTHING.not_null()
        return ANYTHING

    def _aggregated(self, claim: ClaimedFact, node: PlanNode, call: AggregateCall, grouped: bool) -> ValueSet:
        """The values of an aggregate; if it is ``grouped``, there is a row, which a filter may not let pass."""
        below, column = node.input("input"), node.schema[claim.column]
        found = [row_expression(parsed(one), below.schema) for one in call.arguments]
        values = [
            ANYTHING if one is None or one.kind == ANY else self._argument(one, claim.uses, below) for one in found
        ]
        there = grouped and call.filter is None and not any(one.null for one in values)
        if call.function == "COUNT":
            return between(int(there), None, null=False)
        null = column.nullable and not there
        if len(values) == 1 and call.function in ("MAX", "MIN", "ANY_VALUE", "FIRST", "LAST"):
            return replace(values[0], null=null)
        low, high = values[0].ends if len(values) == 1 else (None, None)
        exact = found and found[0] is not None and found[0].kind.family in (Family.INTEGER, Family.DECIMAL)
        if call.function == "SUM" and exact:
            first, last = low is not None and low >= 0, high is not None and high <= 0
            return between(0 if first else None, 0 if last else None, null)
        return replace(ANYTHING, null=null)

    def _argument(self, expression: Expression, uses: Sequence[int], below: PlanNode) -> ValueSet:
        if isinstance(expression, Field):
            known = [self.values(one, below, int(expression.name)) for one in uses if self.sets.get(one) is not None]
            return known[0] if known else ANYTHING
        return self._expression(expression, uses, below)

    # --- times ----------------------------------------------------------------------------------------------------

    def _time(self, claim: ClaimedFact, node: PlanNode) -> TimeFact:
        rules: dict[str, Callable[[ClaimedFact, PlanNode, ClaimedTime], TimeFact]] = {
            "declared": self._declared_time,
            "passed": self._passed_time,
            "computed": self._computed_time,
            "window": self._window_time,
            "near": self._near,
            "side": self._side,
            "through": self._through,
            "equal": self._equal_time,
            "joined": self._joined,
            "newest": self._newest,
            "paired": self._paired_time,
            "kept": self._kept,
            "sides": self._time_of_sides,
            "none": self._no_time,
        }
        assert claim.time is not None, "it is about a time"
        if claim.rule not in rules:
            raise NotCheckedError(f"times by the rule {claim.rule!r}")
        if isinstance(node.tree, Join) and claim.time.source not in ("", LEFT, RIGHT, *sources(node)):
            raise RejectedError("a time of what no row is made of")
        return rules[claim.rule](claim, node, claim.time)

    def _no_time(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """Of no rows anything is true."""
        self._none(claim, node)
        return TimeFact(time.source, time.low, time.high, FunctionOfTime())

    @staticmethod
    def _declared_time(claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """A stream's row comes at the time that it carries."""
        table = node.catalog.table(node.tree.table) if isinstance(node.tree, Scan) else None
        if table is None or table.kind is not Kind.STREAM or table.columns[claim.column].name != table.timestamp:
            raise RejectedError("a time of no stream")
        if time.source not in ("", node.tree.alias):  # type: ignore[union-attr]
            raise RejectedError("a time of another source")
        return TimeFact(time.source, 0, 0, FunctionOfTime())

    def _passed_time(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """A column of an input, as it is; rows change when those of the input do, if the operator is such a one."""
        found = origin(node, claim.column)
        if found is None or found.column is None or len(claim.uses) != 1:
            raise RejectedError("a column that comes from no other one")
        fact = self.time(claim.uses[0], found.node, found.column, time.beside)
        if isinstance(node.tree, Over) and not fact.source:
            self._settled(claim, node, node.tree)
            return fact
        return self._moved_up(fact, node, found.node)

    def _settled(self, claim: ClaimedFact, node: PlanNode, tree: Over) -> None:
        """Rows of windows change with others of their partition, or with those before them: never with later ones."""
        below, column = node.input("input"), claim.column
        there = [not self.values(one, below, column).null for one in claim.present]
        partitions = [{below.place_of(parsed(one)) for one in call.partition} for call in tree.calls]
        orders = [below.place_of(parsed(call.order[0].value)) if looks_back(call) else None for call in tree.calls]
        by = all(column in one or column == order for one, order in zip(partitions, orders, strict=True))
        if not only_adds(node) and not all(column in one for one in partitions) and not (by and any(there)):
            raise RejectedError("rows of windows that change at other times")

    def _moved_up(self, below: TimeFact, node: PlanNode, side: PlanNode) -> TimeFact:
        source = below.source
        if not source:
            _require_now(node)
        elif isinstance(node.tree, Alias):
            source = f"{node.tree.alias}.{source}"
        elif isinstance(node.tree, Join) and node.tree.kind not in ONE_SIDED and side.tree is node.tree.right:
            source = names_in_pairs(node)[source]
        return replace(below, source=source)

    def _computed_time(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """A function of a time, as `buckets` knows them."""
        found = origin(node, claim.column)
        if found is None or found.expression is None or not claim.uses:
            raise RejectedError("a column that is no expression")
        first = claim.uses[0]
        column = self.claimed[first].column
        below = self._moved_up(self.time(first, found.node, column), node, found.node)
        lows = [self.values(one, found.node, column).ends[0] for one in claim.uses[1:]]
        least = max((one for one in lows if one is not None), default=None)
        expression = row_expression(found.expression, found.node.schema)
        made = None if expression is None else computed(expression, column, below.function, least)
        if made is None:
            raise NotCheckedError(f"the time {found.expression.sql('spark')}")
        function, more = made
        low, high = (None if end is None else end + more for end in (below.low, below.high))
        if not time.function and not below.function.name and function.unit is not None and _is_time(node, claim.column):
            return TimeFact(below.source, begun(function, low), high, FunctionOfTime())
        return TimeFact(below.source, low, high, function)

    def _window_time(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """An end of a bucket around a time, which is at most the bucket's size before or after."""
        if not isinstance(node.tree, Bucket) or len(claim.uses) != 1:
            raise RejectedError("an end of no bucket")
        below = node.input("input")
        place = below.place_of(parsed(node.tree.time))
        which = claim.column - below.width
        if place is None or which < 0:
            raise NotCheckedError("buckets of what is no column")
        fact = self.time(claim.uses[0], below, place)
        if node.tree.kind is BucketKind.SESSION:
            return _session_time(node.tree, which, fact)
        if fact.function.name:
            raise NotCheckedError("buckets of buckets")
        low, high, function = window_end(node.tree, which, fact.low, fact.high, exact=bool(time.function))
        return TimeFact(fact.source, low, high, function)

    def _near(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """A column that a path leads to a source's time, and back: how far the column is from it."""
        mine, source = ClaimedPoint(column=claim.column), ClaimedPoint(source=time.source)
        kind = node.schema[claim.column].type
        if not isinstance(node.tree, Filter | Join) or kind is None or kind.family not in _FIRST or not time.source:
            raise RejectedError("a path in what has no condition, or of what is no time")
        high = self.path(claim.high, mine, source, node, claim.present) if claim.high else None
        low = self.path(claim.low, source, mine, node, claim.present) if claim.low else None
        return TimeFact(time.source, None if low is None else -low, high, FunctionOfTime())

    def _side(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """A column of a pair, and the time at which the row of its side changes."""
        found = origin(node, claim.column)
        if not isinstance(node.tree, Join) or node.tree.kind is not JoinKind.INNER or found is None:
            raise RejectedError("a side of no pair")
        assert found.column is not None, "columns of pairs are those of their sides"
        fact = self.time(claim.uses[0] if claim.uses else -1, found.node, found.column)
        if fact.source:
            raise RejectedError("when a row of a side changes is not what a fact is about")
        name = LEFT if claim.column < node.input("left").width else RIGHT
        return TimeFact(name, fact.low, fact.high, fact.function)

    def _equal_time(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """A column that an atom makes equal to another one of its type, or so far from it, of which the fact is."""
        if len(claim.uses) != 1 or len(claim.atoms) != 1:
            raise RejectedError("a column that equals no other one")
        other, part = self.column_of(claim.uses[0]), self._atom(node, claim.atoms[0])
        fact, said = self.time(claim.uses[0], node, other), set(atoms.differences(part, node.row))
        more = next((c for x, y, c in said if (x, y) == (claim.column, other) and (y, x, -c) in said), None)
        if atoms.equal(part, node.row) == {claim.column, other}:
            more = 0
        length = 1 if not fact.function.name else fact.function.division
        exact = not more or (length is not None and length == fact.function.width)
        if more is None or not exact or node.row[claim.column].type != node.row[other].type:
            raise RejectedError("a column that equals no other one")
        low, high = (None if end is None else end + more * (length or 0) for end in (fact.low, fact.high))
        return replace(fact, low=low, high=high)

    def _through(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """What a time says of one row, or of a side's change, said of another one by how far these are apart."""
        fact = self.time(claim.uses[0] if claim.uses else -1, node, claim.column)
        if not fact.source or not time.source:
            raise RejectedError("times of no two rows")
        mine, other = ClaimedPoint(source=fact.source), ClaimedPoint(source=time.source)
        later = self.path(claim.low, other, mine, node, claim.present) if claim.low else None
        earlier = self.path(claim.high, mine, other, node, claim.present) if claim.high else None
        low = None if fact.low is None or later is None else fact.low - later
        high = None if fact.high is None or earlier is None else fact.high + earlier
        return TimeFact(time.source, low, high, fact.function)

    def _joined(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """A pair changes when one of its rows does, at the later one of their times, but for one that never does."""
        if not isinstance(node.tree, Join) or node.tree.kind is not JoinKind.INNER or time.source:
            raise RejectedError("a time at which no pair changes")
        changing = [name for name, side in ((LEFT, "left"), (RIGHT, "right")) if not never_changes(node.input(side))]
        return self._latest(claim, node, changing)

    def _newest(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """A row that only comes, with the newest of those that it is made of."""
        if not isinstance(node.tree, Filter | Join) or time.source:
            raise RejectedError("a time at which no row comes")
        return self._latest(claim, node, sorted(newest_of(node)))

    def _latest(self, claim: ClaimedFact, node: PlanNode, changing: Sequence[str]) -> TimeFact:
        """What holds of the latest of some times, by a fact for each of them."""
        facts = [self.time(one, node, claim.column) for one in claim.uses]
        if sorted(one.source for one in facts) != sorted(changing) or not facts:
            raise RejectedError("a row changes with each of those that it is made of")
        if len({one.function.name for one in facts}) > 1:
            raise RejectedError("different functions of time")
        lows = [one.low for one in facts if one.low is not None]
        highs = [one.high for one in facts if one.high is not None]
        widest = max((one.function for one in facts), key=lambda one: one.width)
        return TimeFact("", min(lows) if len(lows) == len(facts) else None, min(highs, default=None), widest)

    def _paired_time(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """A column of a join that is there with a partner only: what holds of pairs; of others, where there is one."""
        if time.beside:
            if not self._is_pair_beside(node, claim.column, time.source):
                raise RejectedError("rows without a partner are no pairs")
            return replace(self.time(claim.uses[0] if claim.uses else -1, pairs(node), claim.column), beside=True)
        self._is_padded(node, claim.column)
        fact = self.time(claim.uses[0] if claim.uses else -1, pairs(node), claim.column)
        if fact.source in (LEFT, RIGHT):
            raise RejectedError("sides are those of pairs")
        if isinstance(node.tree, Join) and node.tree.kind in ONE_SIDED and fact.source not in ("", *sources(node)):
            raise RejectedError("a source that is not shown")
        return fact

    @staticmethod
    def _is_pair_beside(node: PlanNode, column: int, source: str) -> bool:
        """Whether a row of an outer join that has a column, and a row of a source, is a pair."""
        if not isinstance(node.tree, Join) or node.tree.using:
            return False
        of_left, in_left = source in sources(node.input("left")), column < node.input("left").width
        kind, known = node.tree.kind, source in sources(pairs(node))
        sides = {JoinKind.LEFT: not of_left, JoinKind.RIGHT: of_left, JoinKind.FULL: of_left is not in_left}
        return known and sides.get(kind, False)

    def _kept(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """A row that is there without a partner, too: it changes at its own time, or when a pair of it does."""
        if not isinstance(node.tree, Join) or time.source or node.tree.using:
            raise RejectedError("a row of no join")
        is_left = node.tree.kind in (JoinKind.LEFT, JoinKind.ANTI, JoinKind.NOT_IN, JoinKind.FULL)
        is_right = node.tree.kind in (JoinKind.RIGHT, JoinKind.FULL)
        found = origin(node, claim.column)
        mine = found is not None and found.node.tree == node.tree.left and claim.column < node.input("left").width
        if found is None or found.column is None or not (is_left if mine else is_right):
            raise RejectedError("a row that is not kept")
        both, facts = pairs(node), list[TimeFact]()
        empty = {one for column in range(both.width) for one in self.about(both, column) if self.sets[one].size == 0}
        if not empty & {*claim.present}:
            facts.append(self.time(claim.uses[-1] if claim.uses else -1, both, claim.column))
        if not found.node.is_static:
            facts.append(self.time(claim.uses[0], found.node, found.column))
        if any(one.source for one in facts) or len(claim.uses) != len(facts):
            raise RejectedError("when a row changes is not what the facts are about")
        return _either(facts)

    def _time_of_sides(self, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
        """When the rows of both sides change: what is made of them changes then."""
        sides = [node.input(name) for name in ("left", "right") if isinstance(node.tree, Union | Except | Intersect)]
        changing = [side for side in sides if not side.is_static]
        if not changing or time.source or len(claim.uses) != len(changing):
            raise RejectedError("sides of what has none")
        facts = [self.time(use, side, claim.column) for use, side in zip(claim.uses, changing, strict=True)]
        if any(one.source for one in facts) or sides[0].schema[claim.column].type != sides[1].schema[claim.column].type:
            raise RejectedError("times of different kinds")
        return _either(facts)

    # --- paths ----------------------------------------------------------------------------------------------------

    def path(
        self,
        steps: Sequence[ClaimedStep],
        first: ClaimedPoint,
        last: ClaimedPoint,
        node: PlanNode,
        there: Sequence[int],
    ) -> int:
        """The sum of a path: the most by which its first point is above its last one.

        Points between must be there: sources without which no row is, and columns that are not NULL, as a part of the
        condition says, a fact of the path, or one of those that say what is ``there``.
        """
        if not steps or steps[0].above != first or steps[-1].below != last:
            raise RejectedError("a path between other points")
        if any(one.below != other.above for one, other in pairwise(steps)):
            raise RejectedError("a path with a gap")
        for point in [step.above for step in steps[1:]]:
            self._there(point, steps, node, there)
        for step in steps:
            self._step(step, node)
        return sum(step.most for step in steps)

    def _there(self, point: ClaimedPoint, steps: Sequence[ClaimedStep], node: PlanNode, there: Sequence[int]) -> None:
        if point.source is not None:
            found = {} if point.source in (LEFT, RIGHT) else sources(node)
            if point.source not in (LEFT, RIGHT) and (point.source not in found or found[point.source].missing):
                raise NotCheckedError("a path by a source that may be missing")
        elif point.column is not None:
            if any(point.column in atoms.present(one, node.row) for one in node.conditions):
                return
            mine = [s.fact for s in steps if s.fact is not None and s.fact in self.sets and point in (s.above, s.below)]
            below, column = _below(node, point.column)
            mine += [one for one in there if self._is_about(one, below, column)]
            if all(self._of_row(one, node, point.column).null for one in mine):
                raise RejectedError("a path by a column that may be NULL")

    def _step(self, step: ClaimedStep, node: PlanNode) -> None:
        above, below = step.above, step.below
        if step.atom is not None and step.fact is None:
            part = self._atom(node, step.atom)
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
        low, high = self._ends(step.fact, column.column, other, node)
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

    def _ends(self, fact: int, column: int, other: ClaimedPoint, node: PlanNode) -> tuple[int | None, int | None]:
        """How far a column is from 0, or from a source's time, as a fact about a row of the condition says."""
        kind = node.row[column].type
        if kind is None or not kind.discrete:
            raise RejectedError("a distance of what has values between whole numbers")
        if other.source is None:
            low, high = self._of_row(fact, node, column).ends
            return None if low is None else ceil(low), None if high is None else floor(high)
        if other.source in (LEFT, RIGHT):
            time = self.time(fact, node, column)
        else:
            below = _below(node, column)
            time = self._moved_up(self.time(fact, *below), node, below[0])
        if time.source != other.source or time.function.name:
            raise RejectedError(f"fact {fact} is about another time")
        return time.low, time.high

    def _of_row(self, number: int, node: PlanNode, column: int) -> ValueSet:
        """The values of a column that a condition reads, as a fact about the input has them."""
        return self.values(number, *_below(node, column))

    @staticmethod
    def _atom(node: PlanNode, number: int | None) -> exp.Expr:
        if number is None or not 0 <= number < len(node.conditions):
            raise RejectedError(f"there is no part {number} of a condition")
        return node.conditions[number]


def _without(expression: Expression, nulls: frozenset[str]) -> Expression:
    """An expression with NULL for the fields that have no other value."""
    match expression:
        case Field(name, kind) if name in nulls:
            return Literal(Folded(None, kind))
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(_without(argument, nulls) for argument in arguments))
    return expression


def _below(node: PlanNode, column: int) -> tuple[PlanNode, int]:
    """The column of an input that a condition reads."""
    if isinstance(node.tree, Filter):
        return node.input("input"), column
    if isinstance(node.tree, Join) and node.tree.kind is JoinKind.INNER and not node.tree.using:
        width = node.input("left").width
        return (node.input("left"), column) if column < width else (node.input("right"), column - width)
    raise RejectedError("a condition of nothing")


def _needed_inputs(tree: Tree) -> tuple[str, ...]:
    """The inputs without whose rows an operator has none."""
    match tree:
        case Join(kind=JoinKind.INNER | JoinKind.SEMI) | Intersect():
            return "left", "right"
        case Join(kind=JoinKind.LEFT | JoinKind.ANTI | JoinKind.NOT_IN) | Except():
            return ("left",)
        case Join(kind=JoinKind.RIGHT):
            return ("right",)
        case Filter() | Project() | Alias() | Distinct() | SpjBlock() | Over() | Bucket() | Apply():
            return ("input",)
        case Aggregate(keys=keys) if keys:
            return ("input",)
    return ()


def _is_time(node: PlanNode, column: int) -> bool:
    kind = node.schema[column].type
    return kind is not None and kind.family is Family.TIMESTAMP


def _session_time(tree: Bucket, which: int, fact: TimeFact) -> TimeFact:
    """A session changes when a row of it comes, which is before its end, and after its begin."""
    if fact.source or fact.function.name:
        raise RejectedError("when a session changes is said of its rows")
    if which == 0:
        return TimeFact("", None, fact.high, FunctionOfTime())
    more = -1 if which == 2 else 0
    low, high = (
        None if fact.low is None else fact.low + more,
        None if fact.high is None else fact.high + tree.size + more,
    )
    return TimeFact("", low, high, FunctionOfTime())


def _require_now(node: PlanNode) -> None:
    """Raises NotCheckedError where rows may change at other times than those that they are made of."""
    fine = isinstance(node.tree, _KEEP_NOW)
    if isinstance(node.tree, Bucket):
        fine = node.tree.kind is not BucketKind.SESSION
    if isinstance(node.tree, Apply):
        fine = node.input("subquery").is_static
    if not fine:
        raise NotCheckedError(f"when rows of a {type(node.tree).__name__} change")


def _either(facts: Iterable[TimeFact]) -> TimeFact:
    """What holds where one of some facts does."""
    several = list(facts)
    if len({one.function.name for one in several}) > 1:
        raise RejectedError("different functions of time")
    lows, highs = [one.low for one in several], [one.high for one in several]
    low = None if None in lows else min(one for one in lows if one is not None)
    high = None if None in highs else max(one for one in highs if one is not None)
    return TimeFact("", low, high, max((one.function for one in several), key=lambda one: one.width))


def _of_type(node: PlanNode, column: int) -> ValueSet:
    """All values of a type."""
    kind = node.schema[column].type
    return ANYTHING if kind is None else of_domain(None, kind, null=True)


def _value_set(claim: ClaimedValues, node: PlanNode, column: int) -> ValueSet:
    """A claimed set; ends are whole numbers where the type has no others."""
    kind = node.schema[column].type
    if claim.numbers is not None or claim.texts is not None:
        if claim.low is not None or claim.high is not None:
            raise RejectedError("values that are listed have no range")
        numbers = [int(one) if one.denominator == 1 else one for one in claim.numbers or ()]
        return ValueSet(listed=frozenset((*numbers, *(claim.texts or ()))), null=claim.null)
    discrete = kind is not None and kind.discrete

    def end(value: Fraction | None) -> int | Fraction | None:
        return int(value) if value is not None and discrete and value.denominator == 1 else value

    return ValueSet(end(claim.low), end(claim.high), null=claim.null)
