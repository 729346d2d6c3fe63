"""A query over streams of rows with periods as operators: epochs are closed, and result rows are given when final."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from streambound_runtime.operators.epochs.fragments import (
    GREATEST,
    LEAST,
    Fragment,
    FragmentRow,
    clipped,
    coalesced,
    difference,
    distinct,
    in_order,
)
from streambound_runtime.operators.epochs.groups import PeriodGroups
from streambound_runtime.operators.epochs.joins import Passes, joining
from streambound_runtime.operators.epochs.lineages import LineageOperator
from streambound_runtime.operators.epochs.parts import ArrivingSide, JoinedParts, StaticSide, together
from streambound_runtime.operators.epochs.plan import (
    EpochDifference,
    EpochDistinct,
    EpochGroup,
    EpochJoin,
    EpochLineage,
    EpochMap,
    EpochMatched,
    EpochPlan,
    EpochQuery,
    EpochRelation,
    EpochScan,
    EpochUnion,
    is_arriving,
    is_static,
    only_latest,
)
from streambound_runtime.operators.epochs.rows import (
    Computed,
    DifferentRows,
    DistinctRows,
    Entry,
    Epoch,
    KeepsEntries,
    RelationRows,
    RelationTables,
    RowsOfEpoch,
    ValidRows,
    mapping,
    matching,
    saved_row,
    united,
)
from streambound_runtime.operators.values import integer

K = TypeVar("K", bound=KeepsEntries)


def query_operator(
    query: EpochQuery | EpochLineage, relations: RelationTables, computed: Computed, passes: Passes
) -> EpochQueryOperator | LineageOperator:
    """The operator of a block over streams."""
    if isinstance(query, EpochLineage):
        return LineageOperator(query, relations, computed, passes)
    return EpochQueryOperator(query, relations, computed, passes)


class EpochQueryOperator:
    """Closes epochs of an `EpochQuery`.

    ``open`` are the result rows that may still go on: begin and multiplicity by values, an entry each, unless rows
    carry their ends up to the result; then an open row is a counter of its value's entry with the latest end.
    """

    def __init__(self, query: EpochQuery, relations: RelationTables, computed: Computed, passes: Passes) -> None:
        self.query, self.relations, self.computed, self.passes = query, relations, computed, passes
        self.operators: list[KeepsEntries] = []
        self.last = LEAST if query.low is None else query.low
        self.top = self._top()
        self.open: dict[FragmentRow, tuple[int, int]] = {}
        self.since = LEAST if query.low is None else query.low

    def step(self, until: int | None, arrived: Mapping[str, Sequence[Fragment]]) -> list[Fragment]:
        """Close all before a frontier, None for all there is; returns result rows in order of their ends."""
        high = self.query.high
        given = {name: clipped(rows, self.query.low, high) for name, rows in arrived.items()}
        self.last = max([self.last, *(end for rows in given.values() for _, _, end, _ in rows)])
        over = until is None
        until = self.last if until is None else until
        if high is not None:
            until = high if over else min(until, high)
        epoch = Epoch(self.since, max(self.since, until), given)
        fragments = self.top(epoch)
        fragments = fragments if self.query.parts else list(coalesced(fragments))
        self.since = epoch.until
        if self.query.final and not self.query.parts:
            fragments = self._ended(fragments, epoch, over or (high is not None and epoch.until >= high))
        return sorted(fragments, key=in_order)

    def _ended(self, fragments: list[Fragment], epoch: Epoch, over: bool) -> list[Fragment]:
        """The result rows that do not go on after an epoch, where it is not ``over``; others stay open."""
        found = list[Fragment]()
        going: dict[FragmentRow, tuple[int, int]] = {}
        for row, begin, end, count in fragments:
            before = self.open.pop(row, None) if begin == epoch.since else None
            if before is not None:
                if before[1] == count:
                    begin = before[0]
                else:
                    found.append((row, before[0], begin, before[1]))
            if end == epoch.until and not over:
                going[row] = begin, count
            else:
                found.append((row, begin, end, count))
        if epoch.since < epoch.until or over:
            found += [(row, begin, epoch.since, count) for row, (begin, count) in self.open.items()]
            self.open = going
        return found

    def shown(self, fragment: Fragment) -> FragmentRow:
        """The columns of a result row."""
        row, begin, end, _ = fragment
        return row if self.query.as_of else (*row, begin, end)

    def open_since(self) -> int | None:
        """When the oldest row has begun that may still go on; None where there is none."""
        return min((begin for begin, _ in self.open.values()), default=None)

    def entries(self) -> int:
        """How many entries all operators have, with the result rows that are open."""
        kept = sum(operator.entries() for operator in self.operators)
        return kept + (0 if is_arriving(self.query.plan) else len(self.open))

    def dump(self) -> list[Entry]:
        """The frontier, the open rows, and the operators' entries, each with the operator's number."""
        opened: list[Entry] = [["open", [*row], begin, count] for row, (begin, count) in self.open.items()]
        kept: list[Entry] = [[n, *entry] for n, operator in enumerate(self.operators) for entry in operator.dump()]
        return [["time", self.since, self.last], *opened, *kept]

    def load(self, entries: Sequence[Entry]) -> None:
        """Take over what `dump` returned."""
        self.open = {}
        kept: dict[int, list[Entry]] = {}
        for kind, *entry in entries:
            match kind:
                case "time":
                    self.since, self.last = map(integer, entry)
                case "open":
                    self.open[saved_row(entry[0])] = integer(entry[1]), integer(entry[2])
                case _:
                    kept.setdefault(integer(kind), []).append(entry)
        for number, operator in enumerate(self.operators):
            operator.load(kept.get(number, []))

    # --- operators ----------------------------------------------------------------------------------------------------

    def _top(self) -> RowsOfEpoch:
        plan = self.query.plan
        if self.query.parts:
            rows = self._arrivals(plan)
            return lambda epoch: together(rows(epoch))
        if is_arriving(plan):
            return self._noted(ValidRows(self._arrivals(plan), ending=self.query.final)).fragments
        return self._operator(plan)

    def _noted(self, operator: K) -> K:
        self.operators.append(operator)
        return operator

    def _arrivals(self, plan: EpochPlan) -> RowsOfEpoch:
        """Rows with their whole periods, in the epoch in which they begin."""
        match plan:
            case EpochScan(block):
                return lambda epoch: list(epoch.arrived.get(block, ()))
            case EpochMap(input=input):
                return mapping(plan, self._arrivals(input), self.computed)
            case EpochMatched(input, relation):
                return matching(plan, self._arrivals(input), self._all(relation))
            case EpochUnion(left, right):
                return united(self._arrivals(left), self._arrivals(right))
            case EpochJoin(left=left, right=right) if self.query.parts:
                return self._noted(JoinedParts(plan, (self._side(left), self._side(right)), self.passes)).arriving
        raise AssertionError(f"the rows of {type(plan).__name__} do not carry their ends")

    def _side(self, plan: EpochPlan) -> ArrivingSide | StaticSide:
        if is_static(plan):
            return StaticSide(self._all(plan))
        return ArrivingSide(self._arrivals(plan))

    def _all(self, static: EpochPlan) -> list[Fragment]:
        """The rows of a relation, of all of time."""
        return self._operator(static)(Epoch(LEAST, GREATEST))

    def _operator(self, plan: EpochPlan) -> RowsOfEpoch:
        """The parts of rows that lie in an epoch."""
        if is_arriving(plan):
            return self._noted(ValidRows(self._arrivals(plan))).fragments
        match plan:
            case EpochRelation(table=table):
                relation = RelationRows(plan, self.relations.get(table, ()), self.query.low, self.query.high)
                self.last = max(self.last, relation.last)
                return relation.fragments
            case EpochMap(input=input):
                return mapping(plan, self._operator(input), self.computed)
            case EpochUnion(left, right):
                return united(self._operator(left), self._operator(right))
            case EpochDistinct(input=input) if is_arriving(input):
                return self._noted(DistinctRows(self._arrivals(input))).fragments
            case EpochDistinct(input=input):
                rows = self._operator(input)
                return lambda epoch: list(distinct(rows(epoch)))
            case EpochDifference(left, right) if is_arriving(left) and is_arriving(right):
                return self._noted(DifferentRows(plan, self._arrivals(left), self._arrivals(right))).fragments
            case EpochDifference(left, right, common):
                mine, theirs = only_latest(plan)
                first = self._limited(left, right) if mine else self._operator(left)
                second = self._limited(right, left) if theirs else self._operator(right)
                return lambda epoch: list(difference(first(epoch), second(epoch), common))
            case EpochGroup(input=input):
                arriving = is_arriving(input)
                rows = self._arrivals(input) if arriving else self._operator(input)
                return self._noted(PeriodGroups(plan, rows, arriving)).fragments
            case EpochJoin(left=left, right=right):
                return joining(plan, self._operator(left), self._operator(right), self.passes)
        raise AssertionError(f"no operator for {type(plan).__name__}")

    def _limited(self, plan: EpochPlan, static: EpochPlan) -> RowsOfEpoch:
        """Rows of which no more copies play a part than a static side has at all."""
        copies = Counter[FragmentRow]()
        for row, _, _, count in self._all(static):
            copies[row] += count
        return self._noted(ValidRows(self._arrivals(plan), most=copies.__getitem__)).fragments
