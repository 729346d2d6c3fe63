"""A synopsis that closes one timestamp after the other, row by row: the plan as it reads, the reference of all tests.

It also runs what the kernel of columns does not: extrema, whose entries replace each other, and families.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod

from streambound_runtime.operators import plan
from streambound_runtime.operators.counted import Counted, Key, Together
from streambound_runtime.operators.formula import resolved, value
from streambound_runtime.operators.row_tests import Passes, ValueOf, every_test, one_test, term_value
from streambound_runtime.operators.sums import Sums, Weight
from streambound_runtime.operators.values import COMPARISONS, factor, greatest, integer, least, less
from streambound_runtime.row_values import Row, Value

Env = list[Value]
"""The values of a branch's variables, each at its place."""
Then = Callable[[Env, Weight], None]
"""What to do with a match: the values, and how often it is there."""
_STREAMS, _FRESH = "streams", "fresh"
"""Which streams an entry of a family has, and which of them came at the timestamp that is being closed."""


class RowSynopsis:
    """What is remembered between two timestamps: partial matches, counted per value that still matters.

    ``relations`` are the encoded rows of each static relation; ``limit`` is the bound M, None where it depends on what
    the streams will bring.
    """

    def __init__(self, synopsis: plan.SynopsisPlan, relations: Mapping[str, list[dict[str, Value]]]) -> None:
        self.plan: plan.SynopsisPlan = resolved(synopsis, relations)
        self.limit = value(synopsis.bound, relations)
        self.branches = [BranchByRows(branch, self.plan.distinct, relations) for branch in self.plan.branches]
        self.written: dict[Key, Weight] = {}

    def close(self, now: int, rows: Mapping[str, Sequence[Row]]) -> list[tuple[Key, Weight]]:
        """The results that become true at a timestamp, in order, each with its multiplicity.

        ``rows`` are all rows of that timestamp, by stream; timestamps are closed in order. Raises OverflowError for
        more duplicates than the output has room for.
        """
        results: dict[Key, Weight] = {}
        for branch in self.branches:
            branch.close(now, rows, results)
        if self.plan.distinct:
            results = {key: 1 for key in results if key not in self.written}
            self.written |= {} if self.plan.repeats else results
            self._forget(now)
        if any(isinstance(n, int) and n > self.plan.most for n in results.values()):
            raise OverflowError(f"a result at timestamp {now} has more than {self.plan.most} duplicates")
        return sorted(results.items(), key=lambda result: [(item is not None, item) for item in result[0]])

    def _forget(self, now: int) -> None:
        """Forget the results of a set that cannot come again."""
        if (gone := self.plan.forgetting) is not None:
            self.written = {key: n for key, n in self.written.items() if integer(key[gone.place]) > now - gone.lag}

    def tables(self) -> dict[str, dict[Key, Weight]]:
        """The tables by name: key -> number of partial matches; of a set, also the results returned."""
        found = {
            table.name: dict(entries.entries)
            for branch in self.branches
            for table, entries in zip(branch.plan.tables, branch.tables, strict=True)
        }
        return found | ({"results": dict(self.written)} if self.plan.distinct else {})

    def entries(self) -> int:
        """How many entries the tables have now; never more than ``limit``."""
        return len(self.written) + sum(len(table) for branch in self.branches for table in branch.tables)

    def load(self, tables: Mapping[str, Mapping[Key, Weight]]) -> None:
        """Take over what `tables` returned."""
        self.written = dict(tables.get("results", {}))
        for branch in self.branches:
            branch.tables = [Counted(tables[table.name]) for table in branch.plan.tables]


class BranchByRows:
    """One branch: its tables, and its transitions as functions."""

    def __init__(self, branch: plan.Subplan, distinct: bool, relations: Mapping[str, list[dict[str, Value]]]) -> None:
        self.plan, self.distinct = branch, distinct
        self.places: dict[str, int] = {}
        self.now = self._place("now")
        self.tables = [Counted() for _ in branch.tables]
        self.arrived: list[Counted] = []
        self.new: list[dict[Key, Weight]] = []
        self.fresh = Counted()
        self.grown: dict[Key, Weight] = {}
        self.gathered: dict[tuple[int, bool], Counted | Together] = {}
        self.results: dict[Key, Weight] = {}
        self.related = [self._relations(group, relations) for group in branch.relations]
        self.scans = [self._scan(scan) for scan in branch.scans]
        self.transitions = [self._transition(transition) for transition in branch.transitions]
        self.families = [self._family(family) for family in branch.families]
        self.keepers = [self._keeper(place) for place in range(len(branch.tables))]

    def close(self, now: int, rows: Mapping[str, Sequence[Row]], results: dict[Key, Weight]) -> None:
        """Add the results of a timestamp, then keep what later ones need."""
        if not all(map(len, self.related)):
            return  # a relation is empty, so there are no results
        self.results = results
        self.new = [{} for _ in self.tables]
        scans = zip(self.scans, self.plan.scans, strict=True)
        self.arrived = [Counted(counts(rows.get(scan.table, ()), now)) for counts, scan in scans]
        env: Env = [None] * len(self.places)
        env[self.now] = now
        for grow in self.families:
            grow(env)
        for extend in self.transitions:
            self.gathered = {}  # nothing reads the table that it extends itself
            extend(env, 1)
        for keep in self.keepers:
            keep(now)

    def _place(self, variable: str) -> int:
        return self.places.setdefault(variable, len(self.places))

    # --- rows ----------------------------------------------------------------------------------------------------

    def _scan(self, scan: plan.TableScan) -> Callable[[Sequence[Row], int], dict[Key, Weight]]:
        """How often the rows of a timestamp that pass a scan's tests have each value of what is kept."""
        columns = dict(scan.columns)
        mine = {variable: place for place, variable in enumerate(("now", *columns))}
        passes = every_test([one_test(test, mine) for test in (*scan.times, *scan.tests)])
        kept = [mine[variable] for variable in scan.kept]
        factors = [[mine[variable] for variable in variables] for variables in scan.factors]

        def counts(rows: Sequence[Row], now: int) -> dict[Key, Weight]:
            found: dict[Key, Weight] = {}
            for row in rows:
                env = [now, *(row[column] for column in columns.values())]
                if passes is None or passes(env):
                    key = tuple([env[place] for place in kept])
                    found[key] = found.get(key, 0) + (_sums(env, factors) if factors else 1)
            return found

        return counts

    def _relations(self, group: plan.Relations, relations: Mapping[str, list[dict[str, Value]]]) -> Counted:
        """Relations that are joined with each other, once."""
        rows = [Counted(self._scan(scan)(relations[scan.table], 0)) for scan in group.scans]
        kept = [self._place(variable) for variable in group.columns]
        found: dict[Key, Weight] = {}

        def keep(env: Env, n: Weight) -> None:
            key = tuple([env[place] for place in kept])
            found[key] = found.get(key, 0) + n

        self.arrived = rows
        joined = self._joined(group.joins, keep, group.scans)
        joined([None] * len(self.places), 1)
        return Counted(found)

    # --- matches -------------------------------------------------------------------------------------------------

    def _joined(self, joins: tuple[plan.JoinStep, ...], then: Then, scans: tuple[plan.TableScan, ...]) -> Then:
        """What finds all matches of some participants, one inside the other."""
        for join in reversed(joins):
            then = self._join(join, then, scans)
        return then

    def _join(self, join: plan.JoinStep, then: Then, scans: tuple[plan.TableScan, ...]) -> Then:
        source, pattern = self._participant(join, scans)
        places = {variable: place for place, variable in enumerate(pattern)}
        gives = [(places[name], self._place(name)) for name in pattern if name not in join.without]
        fixed = tuple(places[name] for name, _ in join.equal)
        terms = [self._term(term) for _, term in join.equal]
        useful = every_test([_bits(test, places) for test in join.bits])
        holds = every_test([self._test(test) for test in (*_age_tests(join), *join.tests)])

        def run(env: Env, n: Weight) -> None:
            entries = source()
            found = entries.of(fixed, tuple([term(env) for term in terms])) if fixed else entries.entries
            for key, times in found.items():
                if useful is None or useful(key):
                    for place, mine in gives:
                        env[mine] = key[place]
                    if holds is None or holds(env):
                        then(env, n * times)

        return run

    def _participant(
        self, join: plan.JoinStep, scans: tuple[plan.TableScan, ...]
    ) -> tuple[Callable[[], Counted | Together], tuple[str, ...]]:
        """Where the rows or entries of a participant are, and the variables of their values."""
        if join.scan is not None:
            scan = join.scan
            return lambda: self.arrived[scan], scans[scan].kept
        if join.relations is not None:
            related = join.relations
            return lambda: self.related[related], self.plan.relations[related].columns
        assert join.table is not None, "a participant is rows, relations or a table"
        place, pattern = join.table, _entry(self.plan.tables[join.table])
        if any(family.table == place for family in self.plan.families) and join.new:
            return lambda: self.fresh, (_FRESH, *pattern)
        if join.new or join.now:
            return lambda: self._gathered(place, bool(join.new)), pattern
        return lambda: self.tables[place], pattern

    def _gathered(self, place: int, new: bool) -> Counted | Together:
        """A table's new entries, or all of them, however many matches are looked up in it."""
        found = self.gathered.get((place, new))
        if found is None:
            more = self.new[place]
            found = Counted(more) if new else Together(self.tables[place], more, self.distinct)
            self.gathered[place, new] = found
        return found

    def _transition(self, transition: plan.Transition) -> Then:
        if transition.target is None:
            values = [self._term(term) for term in transition.values]
        else:
            table = self.plan.tables[transition.target]
            ages = (plan.age(stream) if stream in transition.kept else "now" for stream, *_ in table.ages)
            values = [self._term(term) for term in (*transition.values, *map(plan.Term, ages))]
        target = transition.target

        def add(env: Env, n: Weight) -> None:
            self._count(self.results if target is None else self.new[target], tuple([v(env) for v in values]), n)

        return self._joined(transition.joins, add, self.plan.scans)

    def _count(self, found: dict[Key, Weight], key: Key, n: Weight) -> None:
        found[key] = 1 if self.distinct else found.get(key, 0) + n

    # --- values and tests ----------------------------------------------------------------------------------------

    def _term(self, term: plan.Term) -> ValueOf:
        """The value of a term. NULL stays NULL."""
        for variable in (term.variable, term.minus):
            if variable is not None:
                self._place(variable)
        unlimited, places, low, high = term_value(term, self.places), term.places, term.low, term.high
        if term.variable is None or term.minus is not None:
            return unlimited
        if not (places or term.lows or term.highs) and low is None and high is None:
            return unlimited
        assert isinstance(low, int | float | None) and isinstance(high, int | float | None), "formulas are resolved"
        lows = [[self._term(part) for part in limit] for limit in term.lows]
        highs = [[self._term(part) for part in limit] for limit in term.highs]

        def clipped(env: Sequence[Value]) -> Value:
            found = unlimited(env)
            if places:
                return greatest(each for each in places if not less(found, each))
            if low is not None:
                found = greatest((found, low))
            if high is not None:
                found = least((found, high))
            if lows:
                found = greatest((found, least(greatest(part(env) for part in limit) for limit in lows)))
            if highs:
                found = least((found, greatest(least(part(env) for part in limit) for limit in highs)))
            return found

        return clipped

    def _test(self, test: plan.Test) -> Passes:
        for variable in (test.left, test.right):
            if variable is not None:
                self._place(variable)
        return one_test(test, self.places)

    # --- families ------------------------------------------------------------------------------------------------

    def _family(self, family: plan.FamilyPlan) -> Callable[[Env], None]:
        """How a family grows at a timestamp, one member after the other."""
        streams, fresh = self._place(_STREAMS), self._place(_FRESH)
        joins = [join for member in family.members for growth in member.growths for join in growth.joins]
        asked = [test.mask for join in joins for test in join.bits if test.fresh]
        watched = reduce(operator.or_, asked, 0)  # entries that differ in other streams of this timestamp are one
        members = [
            (member.scans, [self._growth(growth, member, family, watched) for growth in member.growths])
            for member in family.members
        ]

        def grow(env: Env) -> None:
            self.fresh = Counted()
            for scans, growths in members:
                self.grown = {}
                if all(len(self.arrived[scan]) for scan in scans):
                    for growth in growths:
                        env[streams] = env[fresh] = 0
                        self.gathered = {}
                        growth(env, 1)
                for key, n in self.grown.items():
                    self.fresh.put(key, 1 if self.distinct else self.fresh.entries.get(key, 0) + n)
            for key, n in self.fresh.entries.items():
                self._count(self.new[family.table], key[1:], n)

        return grow

    def _growth(self, growth: plan.Growth, member: plan.FamilyMember, family: plan.FamilyPlan, watched: int) -> Then:
        streams, fresh = self._place(_STREAMS), self._place(_FRESH)
        came = member.bits & watched
        optional = [(mask, self._test(test)) for mask, test in growth.optional]
        values = [self._held(held, streams, member.bits) for held in growth.values or ()]
        result = [self._term(term) for term in growth.result or ()]
        completes = growth.result is not None
        bits = growth.bits

        def add(env: Env, n: Weight) -> None:
            held = integer(env[streams])
            if not all(test(env) for mask, test in optional if held & mask):
                return
            if completes and (bits is None or (held & bits.mask == bits.equals) != bits.negated):
                table = self.results if family.full is None else self.new[family.full]
                self._count(table, tuple([term(env) for term in result]), n)
            else:
                entry = [value(env) for value in values]
                self._count(self.grown, (integer(env[fresh]) | came, held | member.bits, *entry), n)

        joined = self._joined(growth.joins, add, self.plan.scans)
        alone = not any(join.table is not None for join in growth.joins)

        def run(env: Env, n: Weight) -> None:
            if alone or not any(join.new for join in growth.joins):
                env[fresh] = 0
            joined(env, n)

        return run

    def _held(self, held: plan.Held, streams: int, bits: int) -> ValueOf:
        """What an entry holds of a value."""
        terms = [self._term(term) for term in held.terms]
        before = None if held.before is None else self._place(held.before)
        better = least if held.greatest else greatest

        def value(env: Sequence[Value]) -> Value:
            if held.until and (integer(env[streams]) | bits) & held.until == held.until:
                return None
            found = [term(env) for term in terms]
            if before is not None and env[before] is not None:
                found.append(env[before])
            return better(found) if found[1:] else found[0] if found else None

        return value

    # --- what is kept --------------------------------------------------------------------------------------------

    def _keeper(self, place: int) -> Callable[[int], None]:
        """How a table ends a timestamp: what is new is kept, what is of no use is dropped."""
        table = self.plan.tables[place]
        lapses = next((family.lapses for family in self.plan.families if family.table == place), ())
        pattern = {variable: column for column, variable in enumerate(_entry(table))}
        ages = [(pattern[plan.age(stream)], expires, saturates) for stream, expires, saturates in table.ages]
        expiring = [(column, expires) for column, expires, _ in ages if expires is not None]
        oldest = {
            column: saturates - 1 for column, expires, saturates in ages if expires is None and saturates is not None
        }

        def end(key: Key) -> int | None:
            ends = [integer(key[column]) + age for column, age in expiring if key[column] is not None]
            return min(ends, default=None)

        def keep(now: int) -> None:
            entries = self.tables[place]
            self._add(entries, table, self.new[place])
            if expiring:
                entries.remove(entries.ended(end, now))
            if lapses:
                entries.remove(
                    [key for key in entries.entries if any(_lapsed(lapse, key, pattern, now) for lapse in lapses)]
                )
            old = [
                key
                for key in (entries.entries if oldest else ())
                if any(_older(key[column], now - age) for column, age in oldest.items())
            ]
            if old:
                aged: dict[Key, Weight] = {}
                for key in old:
                    one = tuple([_aged(item, now - oldest[c]) if c in oldest else item for c, item in enumerate(key)])
                    self._count(aged, one, entries.entries[key])
                entries.remove(old)
                self._add(entries, table, aged)
            if table.deadline is not None and now >= table.deadline:
                self.tables[place] = Counted()

        return keep

    def _add(self, entries: Counted, table: plan.Table, more: dict[Key, Weight]) -> None:
        if not table.best:
            for key, n in more.items():
                entries.put(key, 1 if self.distinct else entries.entries.get(key, 0) + n)
            return
        end = len(table.columns)
        best = list(zip(range(end - len(table.best), end), table.best, strict=True))
        group = tuple(place for place in range(end + len(table.ages)) if not end - len(best) <= place < end)
        for key in more:
            same = entries.of(group, tuple([key[place] for place in group]))
            if not any(_as_good(other, key, best) for other in same):
                entries.remove([other for other in same if _as_good(key, other, best)])
                entries.put(key, 1)


def _sums(env: Env, factors: list[list[int]]) -> Sums:
    """What a row contributes to each sum: the product of its factors."""
    return Sums([1, *(prod([factor(env[place]) for place in places]) for places in factors)])


def _entry(table: plan.Table) -> tuple[str, ...]:
    """The variables of an entry's values: its columns, then the kept timestamps."""
    return (*table.columns, *(plan.age(stream) for stream, *_ in table.ages))


def _as_good(one: Key, other: Key, best: list[tuple[int, bool]]) -> bool:
    """Whether one entry's extrema are at least as good as another's; one that limits nothing is."""
    return all(
        one[place] is None or COMPARISONS[">=" if rising else "<="](one[place], other[place]) for place, rising in best
    )


def _older(timestamp: Value, than: int) -> bool:
    return timestamp is not None and integer(timestamp) < than


def _aged(timestamp: Value, oldest: int) -> int | None:
    return None if timestamp is None else max(integer(timestamp), oldest)


def _lapsed(lapse: plan.Expiry, key: Key, pattern: dict[str, int], now: int) -> bool:
    """Whether an entry is of no use, since a stream is missing that its values are held for."""
    streams = integer(key[0])
    if streams & lapse.awaited == lapse.awaited:
        return False
    if lapse.age is None:
        return bool(lapse.deadline is not None and now >= lapse.deadline and streams & lapse.having)
    came = key[pattern[plan.age(lapse.age)]]
    return lapse.expires is not None and _older(came, now - lapse.expires + 1)


def _age_tests(join: plan.JoinStep) -> list[plan.Test]:
    """How old an entry's tuples must be, and may be."""
    found = []
    for stream, low, high in join.ages:
        if low is not None:
            found.append(plan.Test("now", ">=", plan.age(stream), low))
        if high is not None:
            found.append(plan.Test("now", "<=", plan.age(stream), high))
    return found


def _bits(test: plan.Bits, places: dict[str, int]) -> Passes:
    place, mask, equals = places[_FRESH if test.fresh else _STREAMS], test.mask, test.equals
    if test.negated:
        return lambda key: integer(key[place]) & mask != equals
    return lambda key: integer(key[place]) & mask == equals
