"""What a SEQ VT block gives for rows of a witness, by its meaning: its query at every point of time, on what is valid.

These rows are few, and no engine is started to judge a statement.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from streambound.criteria.periods.amounts import NOTHING, amount, made
from streambound_runtime.operators.epochs.fragments import Fragment, FragmentRow, coalesced
from streambound_runtime.operators.epochs.plan import (
    EpochAggregate,
    EpochDifference,
    EpochDistinct,
    EpochGroup,
    EpochJoin,
    EpochMap,
    EpochMatched,
    EpochPlan,
    EpochQuery,
    EpochRelation,
    EpochScan,
    EpochUnion,
)
from streambound_runtime.row_values import Value

Bag = Counter[FragmentRow]
"""How often each row is there."""


class PeriodHistory:
    """The results of a block without relations over rows of its streams; ``computed`` and ``passes`` are of a row."""

    def __init__(
        self,
        query: EpochQuery,
        arrived: Mapping[str, Sequence[Fragment]],
        computed: Callable[[EpochMap, FragmentRow], FragmentRow | None],
        passes: Callable[[EpochJoin, FragmentRow], bool],
    ) -> None:
        self.query, self.arrived, self.computed, self.passes = query, arrived, computed, passes
        self.known: dict[tuple[int, FragmentRow], FragmentRow | None] = {}

    def printed_from(self, frontier: int) -> frozenset[Fragment]:
        """What is printed after all rows have begun before a frontier, up to which results are given already."""
        query = self.query
        if query.parts or (query.high is not None and frontier >= query.high):
            return frozenset()
        rows = ((row, begin if query.final else max(begin, frontier), end, n) for row, begin, end, n in self.results())
        return frozenset(one for one in rows if one[2] >= frontier and one[1] < one[2])

    def results(self) -> list[Fragment]:
        """Maximal periods of equal values and multiplicity."""
        ends = {time for rows in self.arrived.values() for _, begin, end, _ in rows for time in (begin, end)}
        ends |= {time for time in (self.query.low, self.query.high) if time is not None}
        low, high = self.query.low, self.query.high
        times = sorted(t for t in ends if (low is None or t >= low) and (high is None or t <= high))
        found = ((row, begin, end, n) for begin, end in pairwise(times) for row, n in self._at(begin).items())
        return list(coalesced(found))

    def _at(self, time: int) -> Bag:
        valid = dict[str, Bag]()
        for block, rows in self.arrived.items():
            valid[block] = Bag()
            for row, begin, end, n in rows:
                if begin <= time < end:
                    valid[block][row] += n
        return self._bag(self.query.plan, valid)

    # --- operators ----------------------------------------------------------------------------------------------------

    def _bag(self, plan: EpochPlan, valid: Mapping[str, Bag]) -> Bag:
        match plan:
            case EpochScan(block):
                return valid.get(block, Bag())
            case EpochRelation(table=table):
                return Bag() if table else Bag({(): 1})
            case EpochMatched():
                return Bag()  # without rows of the relation
            case EpochMap(input=input):
                return self._mapped(plan, self._bag(input, valid))
            case EpochUnion(left, right):
                return self._bag(left, valid) + self._bag(right, valid)
            case EpochDistinct(input=input):
                return Bag(dict.fromkeys(self._bag(input, valid), 1))
            case EpochDifference(left, right, common):
                mine, theirs = self._bag(left, valid), self._bag(right, valid)
                return mine & theirs if common else mine - theirs
            case EpochGroup(input=input):
                return _grouped(plan, self._bag(input, valid))
            case EpochJoin(left=left, right=right):
                return self._joined(plan, self._bag(left, valid), self._bag(right, valid))

    def _mapped(self, plan: EpochMap, rows: Bag) -> Bag:
        found = Bag()
        for row, n in rows.items():
            key = id(plan), row
            if key not in self.known:
                self.known[key] = self.computed(plan, row)
            made = self.known[key]
            if made is not None:
                found[made] += n
        return found

    def _joined(self, plan: EpochJoin, left: Bag, right: Bag) -> Bag:
        pairs = Bag()
        matched: tuple[set[FragmentRow], set[FragmentRow]] = (set(), set())
        for mine, n in left.items():
            for theirs, m in right.items():
                equal = all(mine[a] is not None and mine[a] == theirs[b] for a, b in plan.keys)
                if equal and (not plan.condition or self.passes(plan, (*mine, *theirs))):
                    pairs[(*mine, *theirs)] += n * m
                    matched[0].add(mine)
                    matched[1].add(theirs)
        if plan.kind in ("semi", "anti"):
            return Bag({row: n for row, n in left.items() if (row in matched[0]) == (plan.kind == "semi")})
        nothing: tuple[FragmentRow, FragmentRow] = ((None,) * plan.widths[0], (None,) * plan.widths[1])
        if plan.kind in ("left", "full"):
            pairs += Bag({(*row, *nothing[1]): n for row, n in left.items() if row not in matched[0]})
        if plan.kind in ("right", "full"):
            pairs += Bag({(*nothing[0], *row): n for row, n in right.items() if row not in matched[1]})
        return pairs


def _grouped(plan: EpochGroup, rows: Bag) -> Bag:
    groups: dict[FragmentRow, Bag] = defaultdict(Bag)
    if plan.always:
        groups[()] = Bag()
    for row, n in rows.items():
        groups[row[: plan.keys]][row] += n
    return Bag({(*key, *(_aggregate(one, mine) for one in plan.aggregates)): 1 for key, mine in groups.items()})


def _aggregate(one: EpochAggregate, rows: Bag) -> Value:
    if one.column is None:
        return sum(rows.values())
    values = Counter[Value]()
    for row, n in rows.items():
        if row[one.column] is not None:
            values[row[one.column]] += n
    if one.function in ("min", "max"):
        best = min if one.function == "min" else max
        return best(values, default=None)  # type: ignore[type-var]  # they are of one type
    total = list(NOTHING)
    for value, n in values.items():
        total = [a + b for a, b in zip(total, amount(value, 1 if one.distinct else n), strict=True)]
    return made(one.function, one.type, total)
