"""Functions over windows: of each partition all rows, the first or the last ones, or the rows that came of late."""

from __future__ import annotations

from msgspec import Struct

from streambound.analyzer.algebra.nodes import Over, Side, Unit, WindowCall
from streambound.analyzer.algebra.window_functions import (
    Looks,
    continues,
    is_beside,
    is_decided,
    is_rank,
    number_of,
    operands,
    window_function,
)  # fmt: skip
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity, product, total
from streambound.recheck.derivation.claims import ClaimedOperation, ClaimedStateCount, ClaimedWindow
from streambound.recheck.derivation.counts import CountedColumns, counted
from streambound.recheck.derivation.operations import ExpectedState, Needed, OperationChecker, needed_of
from streambound.recheck.derivation.plan import Places, PlanNode, partitions
from streambound.recheck.derivation.rows import keys, only_grows


def over(operations: OperationChecker, node: PlanNode, claim: ClaimedOperation) -> None:
    """Check the state of each window, and that each function belongs to one of them."""
    tree, below, needed = node.tree, node.below, needed_of(claim)
    assert isinstance(tree, Over), "its rule"
    if not all(map(is_decided, tree.calls)):
        raise RejectedError("a function over a window that no rule speaks of")
    shown = needed.columns & below.every if all(window_function(call).ties for call in tree.calls) else below.every
    states, seen = list[ExpectedState](), list[int]()
    for place, state in enumerate(claim.states):
        if state.window is None or not state.window.calls or not {*state.window.calls} <= {*range(len(tree.calls))}:
            raise RejectedError("a window without functions")
        seen += state.window.calls
        kept = _KeptRows(operations, node, tree, needed, shown, state.window)
        states.append(ExpectedState("rows", "OVER", kept.size(claim.count(place))))
    if sorted(seen) != [*range(len(tree.calls))]:
        raise RejectedError("functions of no window, or of several")
    operations.states(claim, *states)
    own = below.read_by(*(one for c in tree.calls for one in (*c.partition, *(key.value for key in c.order))))
    operations.inputs(claim, (below, Needed(shown | own)))


class _Reach(Struct, frozen=True):
    """How far functions look: rows before and after, or distances in the order's values. None: to the end."""

    before: int | None
    after: int | None
    unit: Unit = Unit.ROWS


def _reach(call: WindowCall) -> _Reach:
    if is_rank(call):
        return _Reach(None, 0)
    if is_beside(call):
        back = window_function(call).looks is Looks.BACK
        return _Reach(number_of(call), 0) if back else _Reach(0, number_of(call))
    if call.frame is None:
        return _Reach(None, None)
    ends = [
        (0 if end.side is Side.CURRENT else end.distance, end.side is away)
        for end, away in ((call.frame.start, Side.FOLLOWING), (call.frame.end, Side.PRECEDING))
    ]
    (before, _), (after, behind) = ends
    if before is None and not continues(call):
        return _Reach(None, None, call.frame.unit)
    if before is None and behind and (call.frame.unit, after) != (Unit.ROWS, 1):
        return _Reach(None, None, call.frame.unit)  # the value so far is not that of rows further back
    before, after = (None if n is None else max(0, -n if turned else n) for n, turned in ends)
    return _Reach(before, after, call.frame.unit)


class _KeptRows(Struct, dict=True):
    """The rows that some functions over one window keep."""

    operations: OperationChecker
    node: PlanNode
    tree: Over
    needed: Needed
    shown: Places
    window: ClaimedWindow

    def __post_init__(self) -> None:
        self.below, self.counts = self.node.below, self.operations.counts
        self.calls = [self.tree.calls[number] for number in self.window.calls]
        self.first = self.calls[0]
        if any((one.partition, one.order) != (self.first.partition, self.first.order) for one in self.calls):
            raise RejectedError("functions over different windows")

    def size(self, count: ClaimedStateCount) -> Quantity:
        """How many rows are kept."""
        kinds = {"all": self._all, "first": self._first, "last": self._near, "running": self._near}
        kinds |= {"within": self._of_late}
        if self.window.keeps not in kinds:
            raise RejectedError("rows that nobody asks for")
        return self.counts.agreed(count.size, kinds[self.window.keeps](count))

    def _all(self, count: ClaimedStateCount) -> Quantity:
        """All rows: as many as there are, or, where partitions close, those of open ones."""
        if count.rule == "whole":
            return self.counts.most(count, counted(self.below))
        whole = partitions(self.node, self.window.calls[0], whole=True)
        return self.counts.most(count, counted(whole, by=frozenset(range(self.below.width, whole.width))))

    # --- the first rows -----------------------------------------------------------------------------------------------

    def _first(self, count: ClaimedStateCount) -> Quantity:
        """The closed rows of the first ranks, which a condition above selects."""
        number, width = count.number, self.below.width
        limits = [
            call
            for place, call in zip(self.window.calls, self.calls, strict=True)
            if is_rank(call) and number is not None
            if self.needed.limits.get((width + place, None), number + 1) <= number
        ]
        looking = [_reach(call) for call in self.calls if not is_rank(call)]
        if not limits or any(one.after != 0 or one.unit is not Unit.ROWS for one in looking):
            raise RejectedError("the first rows of what looks further")
        open_rows = None if only_grows(self.below) else counted(self.below, by=self.below.every)
        return self._counted(count, open_rows, tied=all(window_function(call).ties for call in limits))

    def _counted(self, count: ClaimedStateCount, open_rows: CountedColumns | None, tied: bool = False) -> Quantity:
        """Open rows, and a number of each partition, with all of one rank."""
        if count.rule != "window" or count.number is None or (open_rows is None) is not (count.open is None):
            raise RejectedError("rows of windows that are counted as others")
        sizes = [self.counts.most(count.open, open_rows)] if count.open is not None and open_rows is not None else []
        if count.number == 0 and count.each is None:
            return total(sizes)
        if count.each is None:
            raise RejectedError("rows of partitions that nothing counts")
        factors = [Quantity.number(count.number), self._partitions(count.each, tied and count.ties is None)]
        if count.ties is not None:
            self._newest_order(either=True)
            factors.append(self.counts.recent(count.ties, self.below, 1))
        return total([*sizes, product(factors)])

    def _partitions(self, each: ClaimedStateCount, tied: bool) -> Quantity:
        """The partitions; where rows of a rank are told apart, with the columns that tell them."""
        width, claimed = len(self.first.partition), self.counts.facts.nodes.claimed
        more = claimed[each.node].columns if each.node is not None and 0 <= each.node < len(claimed) else ()
        same = (*self.first.partition, *(key.value for key in self.first.order))
        told = {*more, *map(self.below.place_of, same)}
        if tied and not any(one <= told for one in (self.shown, *keys(self.below))):
            raise RejectedError("rows of one rank that differ in other columns")
        rows = partitions(self.node, self.window.calls[0], tuple(more))
        return self.counts.most(each, counted(rows, by=frozenset(range(width))))

    # --- rows near others ---------------------------------------------------------------------------------------------

    def _near(self, count: ClaimedStateCount) -> Quantity:
        """The last rows of each partition, or a value so far, where rows come, or close, in the window's order."""
        reach = self._reach_of_all()
        running = self.window.keeps == "running"
        if reach.after is None or (reach.before is None) is not running or (running and reach.after):
            raise RejectedError("the last rows of what looks further")
        if reach.unit is Unit.RANGE and not running:
            raise RejectedError("the last rows of what looks at values")
        if count.number != (1 if reach.before is None else reach.before + reach.after):
            raise RejectedError("fewer rows than functions look at")
        place, newest = self._order()
        return self._counted(count, None if newest else counted(self.below, by=frozenset((place,))))

    def _reach_of_all(self) -> _Reach:
        reaches = [_reach(call) for call in self.calls]
        if len({one.unit for one in reaches if one.before is not None}) > 1:
            raise RejectedError("rows and values in one window")
        before = [one.before for one in reaches]
        after = [one.after for one in reaches]
        unit = next((one.unit for one in reaches if one.before is not None), Unit.ROWS)
        return _Reach(
            None if None in before else max(n for n in before if n is not None),
            None if None in after else max(n for n in after if n is not None),
            unit,
        )

    def _order(self, either: bool = False) -> tuple[int, bool]:
        """The column of the order by which rows come, or close; and whether they come by it, and none is taken back.

        ``either``: that may be from the last to the first.
        """
        order, facts = self.first.order, self.counts.facts
        known = bool(order) and (either or not order[0].descending)
        place = self.below.place_of(order[0].value) if known else None
        if place is None or len(self.window.order) != 2:
            raise RejectedError("rows that come in no order")
        time = facts.time(self.window.order[0], self.below, place)
        if time.source or time.low is None or facts.values(self.window.order[1], self.below, place).null:
            raise RejectedError("rows that come in another order")
        return place, time.is_now and only_grows(self.below)

    def _newest_order(self, either: bool = False) -> None:
        if not self._order(either)[1]:
            raise RejectedError("rows that do not come in the window's order")

    def _of_late(self, count: ClaimedStateCount) -> Quantity:
        """Rows within a length of time: those that frames of values look at, or whose row before is so near."""
        self._newest_order()
        asked = self._asked_range() if self._reach_of_all().unit is Unit.RANGE else self._asked_beside()
        if count.rule != "window" or count.open is None or count.number is not None:
            raise RejectedError("rows of another length of time")
        return self.counts.recent(count.open, self.below, asked)

    def _asked_range(self) -> int:
        reach = self._reach_of_all()
        if reach.unit is not Unit.RANGE or reach.before is None or reach.after is None or len(self.first.order) > 1:
            raise RejectedError("functions that look further than a length of time")
        return reach.before + reach.after

    def _asked_beside(self) -> int:
        """How long rows matter, as that of a LAG or LEAD must be so near which looks as far as any other function."""
        reach = self._reach_of_all()
        return self._apart(Looks.BACK, reach.before) + self._apart(Looks.AHEAD, reach.after)

    def _apart(self, looks: Looks, rows: int | None) -> int:
        """How far apart in time the rows before, or after, that matter are at most."""
        if rows == 0:
            return 0
        order, limits = self.below.place_of(self.first.order[0].value), list[int]()
        for place, call in zip(self.window.calls, self.calls, strict=True):
            given, of = self.below.width + place, operands(call)
            if rows is None or order is None or window_function(call).looks is not looks or number_of(call) < rows:
                continue
            if len(of) == 1 and self.below.place_of(of[0]) == order:
                pair = (order, given) if looks is Looks.BACK else (given, order)
                limits += [most for one, most in self.needed.limits.items() if one == pair]
        if not limits:
            raise RejectedError("rows beside others that may be of any time")
        return max(0, min(limits))
