"""What a SEQ block gives for rows of a witness, by its meaning: its query at every point of time, on what is valid.

These rows are few, and no engine is started to judge a statement.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from streambound.criteria.periods.amounts import NOTHING, amount, made
from streambound_runtime.lineage.absorption import absorbed
from streambound_runtime.lineage.formulas import Formula, conjunction, disjunction, negation, variable, variable_name
from streambound_runtime.lineage.probability import possible
from streambound_runtime.operators.period_plan import (
    LineageColumn,
    LineageRows,
    RandomRows,
    SliceAggregate,
    SliceCoalesce,
    SliceDifference,
    SliceDistinct,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SliceLineage,
    SliceMatched,
    SliceParts,
    SlicePlan,
    SliceProject,
    SliceQuery,
    SliceRelation,
    SliceScan,
    SliceUnion,
    width,
)
from streambound_runtime.row_values import Value
from streambound_runtime.tp.plan import WINDOWS

FragmentRow = tuple[Value, ...]
Fragment = tuple[FragmentRow, int, int, int]
"""Values, begin, end and how many copies."""
RandomRow = tuple[FragmentRow, Formula]
"""Values and the lineage."""
Bag = Counter[FragmentRow]
"""How often each row is there."""


class PeriodHistory:
    """The results of a block over the rows of its streams, none of which is a relation.

    ``computed`` evaluates a filter or select list on a row, ``passes`` a join's condition on a pair.
    """

    def __init__(
        self,
        query: SliceQuery | SliceLineage,
        arrived: Mapping[str, Sequence[Fragment]],
        computed: Callable[[SliceFilter | SliceProject, FragmentRow], FragmentRow | None],
        passes: Callable[[SliceJoin, FragmentRow], bool],
    ) -> None:
        self.query, self.arrived, self.computed, self.passes = query, arrived, computed, passes
        self.known: dict[tuple[int, FragmentRow], FragmentRow | None] = {}

    def printed_from(self, frontier: int) -> frozenset[Fragment]:
        """The rows that are printed after the frontier, once all rows have begun before it."""
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
        return self._bag(self.query.plan, valid) if isinstance(self.query, SliceQuery) else self._facts(valid)

    # --- operators ----------------------------------------------------------------------------------------------------

    def _bag(self, plan: SlicePlan, valid: Mapping[str, Bag]) -> Bag:
        match plan:
            case SliceScan(block):
                return valid.get(block, Bag())
            case SliceRelation(table=table):
                return Bag() if table else Bag({(): 1})
            case SliceMatched():
                return Bag()  # without rows of the relation
            case SliceFilter(input=input) | SliceProject(input=input):
                return self._mapped(plan, self._bag(input, valid))
            case SliceUnion(left, right):
                return self._bag(left, valid) + self._bag(right, valid)
            case SliceDistinct(input=input):
                return Bag(dict.fromkeys(self._bag(input, valid), 1))
            case SliceDifference(left, right, common):
                mine, theirs = self._bag(left, valid), self._bag(right, valid)
                return mine & theirs if common else mine - theirs
            case SliceGroup(input=input):
                return _grouped(plan, self._bag(input, valid))
            case SliceJoin(left=left, right=right):
                return self._joined(plan, self._bag(left, valid), self._bag(right, valid))
            case RandomRows() | LineageRows() | LineageColumn() | SliceParts() | SliceCoalesce():
                raise AssertionError(f"the rows of {type(plan).__name__} are no bag")

    def _mapped(self, plan: SliceFilter | SliceProject, rows: Bag) -> Bag:
        found = Bag()
        for row, n in rows.items():
            key = id(plan), row
            if key not in self.known:
                self.known[key] = self.computed(plan, row)
            made = self.known[key]
            if made is not None:
                found[made] += n
        return found

    def _joined(self, plan: SliceJoin, left: Bag, right: Bag) -> Bag:
        pairs = Bag()
        matched: tuple[set[FragmentRow], set[FragmentRow]] = (set(), set())
        for mine, n in left.items():
            for theirs, m in right.items():
                if self._match(plan, mine, theirs):
                    pairs[(*mine, *theirs)] += n * m
                    matched[0].add(mine)
                    matched[1].add(theirs)
        if plan.kind in ("semi", "anti"):
            return Bag({row: n for row, n in left.items() if (row in matched[0]) == (plan.kind == "semi")})
        nothing: tuple[FragmentRow, FragmentRow] = ((None,) * width(plan.left), (None,) * width(plan.right))
        if plan.kind in ("left", "full"):
            pairs += Bag({(*row, *nothing[1]): n for row, n in left.items() if row not in matched[0]})
        if plan.kind in ("right", "full"):
            pairs += Bag({(*nothing[0], *row): n for row, n in right.items() if row not in matched[1]})
        return pairs

    def _match(self, plan: SliceJoin, left: FragmentRow, right: FragmentRow) -> bool:
        keys = ((left[int(mine[1:])], right[int(theirs[1:])]) for mine, theirs in plan.keys)
        equal = all(one is not None and one == other for one, other in keys)
        return equal and (not plan.condition or self.passes(plan, (*left, *right)))

    # --- lineages -----------------------------------------------------------------------------------------------------

    def _facts(self, valid: Mapping[str, Bag]) -> Bag:
        """Each fact with the disjunction of its derivations and its probability, where a possible world has it."""
        assert isinstance(self.query, SliceLineage), "rows without lineages are a bag"
        facts = defaultdict[FragmentRow, list[Formula]](list)
        for fact, lineage in self._random(self.query.plan, valid):
            facts[fact].append(lineage)
        made = [(fact, absorbed(disjunction(lineages))) for fact, lineages in facts.items()]
        chances = [possible(lineage, self.query.nodes) for _, lineage in made]
        found = zip(made, chances, strict=True)
        return Bag({(*fact, lineage.text, p): 1 for (fact, lineage), p in found if p is not None})

    def _random(self, plan: SlicePlan, valid: Mapping[str, Bag]) -> list[RandomRow]:
        """Rows with lineages, several of which may be one fact; all of a witness are there for certain."""
        match plan:
            case RandomRows(input, relation):
                rows = valid.get(input.block, Bag()) if isinstance(input, SliceScan) else Bag()
                return [(row[:-2], variable(variable_name(relation, str(row[-2])), 1.0)) for row in rows]
            case SliceFilter(input=input) | SliceProject(input=input):
                made = ((self.computed(plan, row), lineage) for row, lineage in self._random(input, valid))
                return [(row, lineage) for row, lineage in made if row is not None]
            case SliceJoin(left=left, right=right):
                return list(self._pairs(plan, self._random(left, valid), self._random(right, valid)))
        raise AssertionError(f"{type(plan).__name__} has no lineage")

    def _pairs(self, plan: SliceJoin, left: Sequence[RandomRow], right: Sequence[RandomRow]) -> Iterator[RandomRow]:
        """Pairs, and rows without a match in the worlds that have none of those that match."""
        matches = [defaultdict[int, list[Formula]](list), defaultdict[int, list[Formula]](list)]
        for i, (mine, one) in enumerate(left):
            for j, (theirs, other) in enumerate(right):
                if self._match(plan, mine, theirs):
                    matches[0][i].append(other)
                    matches[1][j].append(one)
                    if plan.kind != "anti":
                        yield (*mine, *theirs), conjunction((one, other))
        for side, (rows, wanted) in enumerate(zip((left, right), WINDOWS[plan.kind], strict=True)):
            nothing = () if plan.kind == "anti" else (None,) * width((plan.right, plan.left)[side])
            for place, (row, lineage) in enumerate(rows if wanted else ()):
                alone = conjunction((lineage, negation(disjunction(matches[side][place]))))
                yield ((*row, *nothing) if side == 0 else (*nothing, *row)), alone


def coalesced(fragments: Iterable[Fragment]) -> Iterator[Fragment]:
    """Maximal periods of constant multiplicity: the unique encoding (Dignös et al., Definition 5.3), in order of time.

    >>> list(coalesced([(("a",), 0, 10, 1), (("a",), 4, 6, 1)]))
    [(('a',), 0, 4, 1), (('a',), 4, 6, 2), (('a',), 6, 10, 1)]
    """
    changes: dict[FragmentRow, Counter[int]] = defaultdict(Counter)
    for row, begin, end, count in fragments:
        changes[row][begin] += count
        changes[row][end] -= count
    for row, mine in changes.items():
        count, since = 0, 0
        for time in sorted(time for time, change in mine.items() if change):
            if count:
                yield row, since, time, count
            count, since = count + mine[time], time


def _grouped(plan: SliceGroup, rows: Bag) -> Bag:
    groups: dict[FragmentRow, Bag] = defaultdict(Bag)
    if plan.always:
        groups[()] = Bag()
    for row, n in rows.items():
        groups[row[: plan.keys]][row] += n
    return Bag({(*key, *(_aggregate(one, mine) for one in plan.aggregates)): 1 for key, mine in groups.items()})


def _aggregate(one: SliceAggregate, rows: Bag) -> Value:
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
