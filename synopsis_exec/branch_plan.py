"""One branch of a query as data for the runtime's synopsis: scans, tables, and how partial matches grow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain

from streambound.analyzer.boundedness import Limit
from streambound.analyzer.catalog import Kind
from streambound.analyzer.query import Attribute, Comparison, Constant, NullTest, Op, Output, TimeValue
from streambound.criteria.cuts import representatives
from streambound.criteria.extremum import Extremum
from streambound.criteria.tables import Stored, SynopsisTable
from streambound.criteria.ways import Part, Way
from streambound.synopsis_exec.plan_ir import BranchPlan, Plan, PlanSource
from streambound.synopsis_exec.variables import Variables
from streambound_runtime.operators import formula, plan

OPERATORS = {Op.LT: "<", Op.LE: "<=", Op.EQ: "==", Op.GE: ">=", Op.GT: ">", Op.NE: "!="}
Values = Mapping[Attribute, plan.Term]
"""What gives the value of an attribute, among the variables that have one so far."""
Bound = type[formula.Least] | type[formula.Greatest]


@dataclass
class Participant:
    """A participant of a transition: its source, the values that it gives, and the tests of its own variables."""

    join: plan.JoinStep
    values: dict[Attribute, plan.Term]
    tests: tuple[plan.Test, ...] = ()


@dataclass
class _Open:
    """The values that the participants so far give, and the checks still to make."""

    checks: list[Comparison]
    values: dict[Attribute, plan.Term] = field(default_factory=dict)

    def connection(self, participant: Participant) -> tuple[bool, bool]:
        """Whether an equality, or any check, connects a participant with what is there."""
        met = [
            check
            for check in self.checks
            if any(a in participant.values for a in check.attributes)
            and any(a in self.values for a in check.attributes)
        ]
        return any(check.op is Op.EQ for check in met), bool(met)

    def joined(self, chosen: Participant) -> plan.JoinStep:
        """One more participant: its columns that equalities fix, and the checks that can then be made."""
        equal: dict[str, plan.Term] = {}
        for check in list(self.checks):
            found = _equality(check, chosen.values, self.values)
            if found is not None and found[0] not in equal:
                equal[found[0]] = found[1]
                self.checks.remove(check)
        self.values |= chosen.values
        ready = [check for check in self.checks if all(a in self.values for a in check.attributes)]
        self.checks = [check for check in self.checks if check not in ready]
        tests = dict.fromkeys((*chosen.tests, *(comparison(check, self.values) for check in ready)))
        return replace(chosen.join, equal=tuple(equal.items()), tests=tuple(tests))


def joins(
    participants: list[Participant], checks: tuple[Comparison, ...]
) -> tuple[tuple[plan.JoinStep, ...], dict[Attribute, plan.Term]]:
    """Participants in an order in which each is connected to those before, and what gives each attribute's value."""
    waiting, state, found = list(participants), _Open(list(checks)), []
    while waiting:
        chosen = max(waiting, key=state.connection)
        waiting.remove(chosen)
        found.append(state.joined(chosen))
    return tuple(found), state.values


def _equality(check: Comparison, mine: Values, there: Values) -> tuple[str, plan.Term] | None:
    """For ``column + x = other + y`` the column of a participant, and the term that it equals."""
    left, right, offset = check.left, check.right, number(check.offset)
    if check.op is not Op.EQ or right is None:
        return None
    if right in mine and left in there:
        left, right, offset = right, left, -offset
    if left not in mine or right not in there:
        return None
    own, other = mine[left], there[right]
    return str(own.variable), term(other, offset - exact(own.offset))


def comparison(check: Comparison, values: Values) -> plan.Test:
    """A check of two attributes."""
    assert check.right is not None, "checks between sources have two sides"
    left, right = values[check.left], values[check.right]
    offset = exact(right.offset) - exact(left.offset) + number(check.offset)
    return plan.Test(str(left.variable), OPERATORS[check.op], str(right.variable), plain(offset) or None)


def term(found: plan.Term, offset: int | Fraction = 0) -> plan.Term:
    """``found + offset``."""
    return plan.Term(found.variable, plain(exact(found.offset) + offset))


def exact(offset: object) -> int | Fraction:
    """An offset as an exact number."""
    assert isinstance(offset, int | float | Fraction)
    return offset if isinstance(offset, int) else Fraction(offset)


def plain(offset: object) -> int | float:
    """A number as the runtime has it: an integer where it is one."""
    assert isinstance(offset, int | float | Fraction)
    return int(offset) if Fraction(offset).denominator == 1 and not isinstance(offset, float) else float(offset)


def number(offset: int | Fraction | str) -> int | Fraction:
    """The offset between two attributes; strings have none."""
    return 0 if isinstance(offset, str) else offset


def constant(value: object) -> plan.Constant:
    """A constant of a comparison as the plan has it."""
    return plain(value) if isinstance(value, Fraction) else value  # type: ignore[return-value]


class BranchLowering:
    """The plan of one branch as data."""

    def __init__(self, query: Plan, branch: BranchPlan, variables: Variables | None = None) -> None:
        self.query, self.branch, self.facts = query, branch, branch.facts
        self.streams = [source for source in branch.sources if source.kind is not Kind.RELATION]
        self.places = {source.alias: place for place, source in enumerate(self.streams)}
        self.variables = variables or Variables()

    def lowered(self) -> plan.Subplan:
        """The branch."""
        scans = tuple(self.scan(source) for source in self.streams)
        relations = tuple(self.relations(group) for group in self.branch.groups)
        tables = tuple(self._table(table) for table in self.branch.tables)
        transitions = tuple(self._transition(way) for way in self.branch.ways)
        return plan.Subplan(scans, relations, tables, transitions)

    # --- rows ----------------------------------------------------------------------------------------------------

    def scan(self, source: PlanSource) -> plan.TableScan:
        """The rows of a source that the branch can use."""
        attributes = dict.fromkeys(Attribute(source.alias, column) for column in source.columns)
        attributes |= dict.fromkeys(a for test in source.filters for a in test.attributes)
        attributes |= dict.fromkeys(extreme.attribute for extreme in source.extremes)
        attributes |= dict.fromkeys(member.attribute for member in source.members)
        factors = [[Attribute(source.alias, name) for name in names] for names in source.factors]
        attributes |= dict.fromkeys(chain(*factors))
        return plan.TableScan(
            source.table,
            tuple((self.variables.of(a), a.column) for a in attributes),
            tuple(self.variables.of(Attribute(source.alias, column)) for column in source.columns),
            tuple(self._filters(source)),
            tuple(plan.Test("now", OPERATORS[check.op], None, constant(check.offset)) for check in source.times),
            tuple(tuple(map(self.variables.of, several)) for several in factors),
        )

    def _filters(self, source: PlanSource) -> list[plan.Test]:
        tests = []
        for check in source.filters:
            if isinstance(check, NullTest):
                word = "is null" if check.is_null else "is not null"
                tests.append(plan.Test(self.variables.of(check.attribute), word))
            elif check.right is None:
                tests.append(
                    plan.Test(self.variables.of(check.left), OPERATORS[check.op], None, constant(check.offset))
                )
            else:
                left, right = self.variables.of(check.left), self.variables.of(check.right)
                tests.append(plan.Test(left, OPERATORS[check.op], right, plain(number(check.offset)) or None))
        for member in source.members:
            values = tuple(map(constant, member.values))
            tests.append(plan.Test(self.variables.of(member.attribute), "in", None, values))
        for extreme in source.extremes:
            table = self.branch.source(extreme.relation.source).table
            limit = formula.Extreme(table, extreme.relation.column, not extreme.lower)
            op = ">=" if extreme.lower else "<="
            tests.append(
                plan.Test(self.variables.of(extreme.attribute), op, None, formula.added(limit, extreme.offset))
            )
        return tests

    def relations(self, group: tuple[str, ...]) -> plan.Relations:
        """Relations that are joined with each other, once."""
        checks = tuple(j for j in self.branch.joins if {a.source for a in j.attributes} <= set(group))
        scans = tuple(self.scan(self.branch.source(alias)) for alias in group)
        rows = [Participant(plan.JoinStep(scan=place), self._values(alias)) for place, alias in enumerate(group)]
        found, _ = joins(rows, checks)
        return plan.Relations(scans, tuple(self.variables.of(a) for a in self.group_columns(group)), found)

    def group_columns(self, group: tuple[str, ...]) -> list[Attribute]:
        """The columns of a group of relations that are used outside of it."""
        outside = {
            attribute
            for join in self.branch.joins
            if not {a.source for a in join.attributes} <= set(group)
            for attribute in join.attributes
        }
        outside |= {attribute for output in self.branch.outputs for attribute in output.attributes}
        return [
            attribute
            for alias in group
            for column in self.branch.source(alias).columns
            if (attribute := Attribute(alias, column)) in outside
        ]

    def _values(self, alias: str) -> dict[Attribute, plan.Term]:
        """The values that a source's row gives."""
        attributes = (Attribute(alias, column) for column in self.branch.source(alias).columns)
        return {attribute: plan.Term(self.variables.of(attribute)) for attribute in attributes}

    # --- what takes part in a transition -----------------------------------------------------------------------------

    def arriving(self, alias: str) -> Participant:
        """The rows of a stream that arrive, at the timestamp that is closed."""
        values = self._values(alias) | {self.facts.time(alias): plan.Term("now")}
        return Participant(plan.JoinStep(scan=self.places[alias]), values)

    def related(self, group: tuple[str, ...]) -> Participant:
        """The rows of relations that are joined with each other."""
        values = {a: plan.Term(self.variables.of(a)) for a in self.group_columns(group)}
        return Participant(plan.JoinStep(relations=self.branch.groups.index(group)), values)

    def remembered(self, table: SynopsisTable) -> dict[Attribute, plan.Term]:
        """The values that an entry of a table gives: of its columns, of what equals them, of its extrema."""
        values: dict[Attribute, plan.Term] = {}
        for stored in table.key:
            found = plan.Term(self.variables.of(stored.attribute))
            values[stored.attribute] = found
            values |= {other: term(found, offset) for other, offset in stored.equal}
        for extremum in table.extrema:
            values[best_value(extremum)] = plan.Term(self.variables.of(best_value(extremum)))
        exact = (age.stream for age in table.ages if age.exact)
        return values | {self.facts.time(stream): plan.Term(plan.age(self.places[stream])) for stream in exact}

    def _part(self, way: Way, part: Part) -> Participant:
        """A table that takes part, with the ages that its entries may have."""
        table = self.branch.table(part.streams)
        ages = tuple(self._ages(way, part))
        join = plan.JoinStep(table=self.branch.tables.index(table), ages=ages, now=part.now)
        return Participant(join, self.remembered(table))

    def _ages(self, way: Way, part: Part) -> Iterator[tuple[int, int | None, int | None]]:
        """Per remembered stream the tightest of what the arriving streams ask of its age: the least, the greatest.

        Where several tables are joined, entries too old to be completed would not be of one match: they are passed
        over.
        """
        synopsis = self.branch.synopsis
        expires = synopsis.expiries(part.streams) if len(way.parts) > 1 else {}
        for old in part.streams:
            asked = [*(synopsis.times.age_checks(new, old) for new in way.arriving), (None, expires.get(old))]
            least = max((low for low, _ in asked if low is not None), default=None)
            greatest = min((high for _, high in asked if high is not None), default=None)
            if least is not None or greatest is not None:
                yield self.places[old], least, greatest

    # --- tables ------------------------------------------------------------------------------------------------------

    def _table(self, table: SynopsisTable) -> plan.Table:
        columns = [self.variables.of(stored.attribute) for stored in table.key]
        ages = tuple((self.places[age.stream], age.expires, age.saturates) for age in table.ages)
        return plan.Table(
            self.query.table_name(self.branch.number, table),
            (*columns, *(self.variables.of(best_value(extremum)) for extremum in table.extrema)),
            ages,
            table.deadline,
            len(table.streams) == 1,
            tuple(extremum.greatest for extremum in table.extrema),
        )

    def kept(self, stored: Stored, values: Values) -> plan.Term:
        """A value as the table keeps it: outside the limits the future cannot tell values apart."""
        found = values[stored.attribute]
        if stored.cuts:
            return replace(found, places=tuple(representatives(self.facts, stored.attribute, stored.cuts)))
        if any(map(self.of_stream, stored.limiting)):
            lows = tuple(self._limits(limit, values, lower=True) for limit in stored.low)
            highs = tuple(self._limits(limit, values, lower=False) for limit in stored.high)
            return replace(found, lows=lows, highs=highs)
        return replace(
            found,
            low=self._limit(stored.low, formula.Least, formula.Greatest, greatest=False),
            high=self._limit(stored.high, formula.Greatest, formula.Least, greatest=True),
        )

    def _limit(self, limits: tuple[Limit, ...], outer: Bound, inner: Bound, greatest: bool) -> formula.Formula | None:
        """The least (greatest) of some limits, each the greatest (least) of its parts."""
        if not limits:
            return None
        return formula.combined(outer, [formula.combined(inner, self._parts(limit, greatest)) for limit in limits])

    def _parts(self, limit: Limit, greatest: bool) -> list[formula.Formula]:
        found: list[formula.Formula] = [] if limit.constant is None else [int(limit.constant)]
        return [*found, *(self._extreme(a, greatest, int(offset)) for a, offset in limit.relations)]

    def _extreme(self, attribute: Attribute, greatest: bool, offset: int) -> formula.Formula:
        table = self.branch.source(attribute.source).table
        return formula.added(formula.Extreme(table, attribute.column, greatest), offset)

    def _limits(self, limit: Limit, values: Values, lower: bool) -> tuple[plan.Term, ...]:
        """The parts of a limit that depends on the partial match."""
        parts = [] if limit.constant is None else [plan.Term(None, plain(limit.constant))]
        for attribute, offset in limit.relations:
            if self.of_stream(attribute):
                parts.append(term(values[attribute], offset))
            else:
                parts.append(plan.Term(None, self._extreme(attribute, not lower, int(offset))))
        return tuple(parts)

    def of_stream(self, attribute: Attribute) -> bool:
        """Whether an attribute is a stream's, not a relation's."""
        return self.branch.source(attribute.source).kind is not Kind.RELATION

    # --- transitions -------------------------------------------------------------------------------------------------

    def _transition(self, way: Way) -> plan.Transition:
        groups, checks = self.branch.met(way)
        before = [self.branch.table(part.streams) for part in way.parts]
        waiting = [self.arriving(alias) for alias in way.arriving]
        waiting += [self._part(way, part) for part in way.parts]
        waiting += [self.related(group) for group in groups]
        found, values = joins(waiting, self._compared(checks, before))
        if self.branch.is_output(way):
            read = {time.source for value in self.branch.branch.time_values for time in value.attributes}
            kept = tuple(self.places[stream] for stream in way.before if stream in read)
            return plan.Transition(target=None, joins=found, values=self.results(values), kept=kept)
        table = self.branch.table(way.target)
        keys = [self.kept(stored, values) for stored in table.key]
        keys += [self._best(extremum, before[0] if len(before) == 1 else None, values) for extremum in table.extrema]
        kept = tuple(self.places[age.stream] for age in table.ages if age.stream in way.before)
        return plan.Transition(target=self.branch.tables.index(table), joins=found, values=tuple(keys), kept=kept)

    def results(self, values: Values) -> tuple[plan.Term, ...]:
        """The select list of a match of all streams."""
        return tuple(self._output(output, values) for output in self.branch.outputs)

    @staticmethod
    def _output(output: Output, values: Values) -> plan.Term:
        match output.value:
            case Attribute():
                return values[output.value]
            case TimeValue(plus, minus, offset):
                earlier = None if minus is None else values[minus].variable
                return plan.Term(values[plus].variable, offset, minus=earlier)
            case Constant(value):
                return plan.Term(None, constant(value))
        raise AssertionError("results that are computed are kept by their parts")

    def _compared(self, checks: tuple[Comparison, ...], tables: Sequence[SynopsisTable]) -> tuple[Comparison, ...]:
        """Joins to check; where a table holds only an attribute's extremum, they compare with that."""
        for table in tables:
            if table.extrema:
                checks = tuple(dict.fromkeys(self._by_extremum(table, check) for check in checks))
        return checks

    def _by_extremum(self, table: SynopsisTable, check: Comparison) -> Comparison:
        """A join of a table, which may hold an extremum only, with what arrives."""
        own, other = (check.left, check.right) if check.left.source in table.streams else (check.right, check.left)
        if own is None or other is None or own.source not in table.streams:
            return check
        return self.by_extremum(table, check, own, other)

    def by_extremum(self, table: SynopsisTable, check: Comparison, own: Attribute, other: Attribute) -> Comparison:
        """``x < b`` where the table has the greatest ``b``  ->  ``x < greatest_b``."""
        if own in table.exact:
            return check
        for extremum in table.extrema:
            limit = extremum.limit(other)
            if limit is not None and extremum.greatest == (own == check.right) and self._is_part(extremum, own):
                return _limit_check(other, best_value(extremum), extremum.greatest, *limit, check.op)
        return check

    def _is_part(self, extremum: Extremum, own: Attribute) -> bool:
        return any(attribute in self.facts.alike(own) for attribute, _ in extremum.of)

    def _best(self, extremum: Extremum, before: SynopsisTable | None, values: Values) -> plan.Term:
        """The value of an extremum for a partial match: by the values at hand, and by what was remembered of others."""
        found = [self._best_part(extremum, part, before, values) for part in extremum.of]
        return best_of(tuple(dict.fromkeys(found)), extremum.greatest)

    def _best_part(
        self, extremum: Extremum, part: tuple[Attribute, Fraction], before: SynopsisTable | None, values: Values
    ) -> plan.Term:
        attribute, offset = part
        known = (a for a in self.facts.alike(attribute) if before is None or self._at_hand(a, before))
        found = next((a for a in known if a in values), None)
        if found is not None:
            return term(values[found], self.facts.difference(attribute, found) + offset)
        limited, target, strict = extremum.limits[0]
        for old in before.extrema if before else ():
            limit = old.limit(limited)
            if limit is not None and limit[1] == strict and old.greatest == extremum.greatest:
                return term(plan.Term(self.variables.of(best_value(old))), limit[0] - target)
        raise AssertionError(f"nothing is remembered of {attribute}")

    @staticmethod
    def _at_hand(attribute: Attribute, before: SynopsisTable) -> bool:
        """Whether the value of an attribute is known as it is: its tuple arrives, or the table holds it."""
        return attribute.source not in (*before.streams, *before.relations) or attribute in before.exact


def best_value(extremum: Extremum) -> Attribute:
    """The attribute that stands for the value of an extremum."""
    return Attribute("", extremum.name)


def best_of(parts: tuple[plan.Term, ...], greatest: bool) -> plan.Term:
    """The least of some terms, for what is to be as great as possible; else the greatest."""
    first, rest = parts[0], parts[1:]
    if not rest:
        return first
    return replace(first, highs=(rest,)) if greatest else replace(first, lows=(rest,))


def _limit_check(
    other: Attribute, extreme: Attribute, greatest: bool, offset: Fraction, strict: bool, op: Op
) -> Comparison:
    """``x <= extreme + offset`` (``>=``), strict where that says the same: ``x <= b - 1  ->  x < b``."""
    step = -1 if greatest else 1
    if op is Op.LT and not strict and offset.denominator == 1:
        strict, offset = True, offset - step
    weak, sharp = (Op.LE, Op.LT) if greatest else (Op.GE, Op.GT)
    return Comparison(other, sharp if strict else weak, extreme, offset)
