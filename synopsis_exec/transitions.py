"""The names and the transitions of one branch in the generated kernel: how new tuples extend partial matches."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from streambound.analyzer.catalog import Kind
from streambound.analyzer.query import Attribute, Comparison, Op
from streambound.analyzer.symbols import symbol, symbols_in
from streambound.criteria.cuts import representatives
from streambound.criteria.extremum import Extremum
from streambound.criteria.limits import extreme_symbol, lower_text, upper_text
from streambound.criteria.tables import Stored, Table
from streambound.criteria.ways import Part
from streambound.synopsis_exec.emit import Names, literal
from streambound.synopsis_exec.family_text import FamilyText
from streambound.synopsis_exec.filters import Extreme
from streambound.synopsis_exec.loops import Participant, Term, exact, join_loops, plus
from streambound.synopsis_exec.plan_ir import BranchPlan, Plan, PlanSource, PlanTransition

_LOCALS = ("self", "now", "row", "rows", "results", "relations", "key", "n", "grouped", "min", "max", "floor", "deeper")


class BranchText:
    """The names and transitions of one branch; ``members`` gives names of the class's attributes.

    ``indexes`` maps a mapping's name and some columns of its keys to the name of the mapping grouped by them;
    ``limits`` maps limits that depend on relations to the attributes that hold them, ``places`` what stands for the
    values between cuts.
    """

    def __init__(self, plan: Plan, branch: BranchPlan, members: Names) -> None:
        self.plan, self.branch = plan, branch
        self.members = members
        self.locals = Names(_LOCALS)
        self.suffix = f"_{branch.number}" if plan.several else ""
        several = [t for t in self.branch.tables if not t.members]
        self.tables = {t.streams: members.new("_".join(t.streams) + self.suffix) for t in several}
        self.families = {t.streams: members.new("subsets" + self.suffix) for t in self.branch.families}
        self.groups = {g: members.new("_".join(g) + self.suffix) for g in self.branch.groups}
        self.arrived = {s.alias: self.locals.new(f"{s.alias}_rows") for s in self._streams()}
        self.variables: dict[Attribute, str] = {}
        self.others: dict[tuple[str, tuple[str, ...]], str] = {}
        self.indexes: dict[tuple[str, tuple[int, ...]], str] = {}
        self.limits: dict[str, str] = {}
        self.places: dict[tuple[float | int | str, ...], str] = {}
        self.keepers = {t.streams: "_" + members.new(f"keep_{self.name_of(t)}") for t in self._extremal()}
        self.best = {t.streams: self._best_index(t) for t in self._extremal() if t.key or t.ages or t.members}
        self.transitions = [(t, self._transition(t)) for t in self.branch.transitions]
        self.growth = [line for t in self.branch.families for line in FamilyText(self, t).lines]

    def name_of(self, table: Table) -> str:
        """The name of a table among the attributes of the class."""
        return (self.families if table.members else self.tables)[table.streams]

    def new_of(self, table: Table) -> str:
        """The variable of a table's additions."""
        return self._other("grown", table.streams, "new_subsets") if table.members else self.new(table.streams)

    def _streams(self) -> list[PlanSource]:
        return [source for source in self.branch.sources if source.kind is not Kind.RELATION]

    def _extremal(self) -> list[Table]:
        return [table for table in self.branch.tables if table.extrema]

    def _best_index(self, table: Table) -> str:
        """The name of a table with extrema, grouped by all other columns."""
        attributes = [Attribute("", "streams")] if table.members else []
        attributes += [stored.attribute for stored in table.key]
        attributes += [self.branch.facts.time(age.stream) for age in table.ages]
        return self.index(f"self.{self.name_of(table)}", attributes)(tuple(range(len(attributes))))

    def indexes_of(self, owner: str) -> tuple[tuple[tuple[int, ...], str], ...]:
        """The names under which a mapping is grouped, with the columns that it is grouped by."""
        return tuple((columns, name) for (mine, columns), name in self.indexes.items() if mine == owner)

    def variable(self, attribute: Attribute) -> str:
        """The variable of an attribute's value."""
        if attribute not in self.variables:
            self.variables[attribute] = self.locals.new(f"{attribute.source}_{attribute.column}".strip("_"))
        return self.variables[attribute]

    def count(self, members: tuple[str, ...]) -> str:
        """The variable of the multiplicity of arriving tuples or of relations' rows."""
        return self._other("n", members, f"{'_'.join(members)}_n")

    def before(self, streams: tuple[str, ...]) -> str:
        """The variable of the multiplicity of a remembered entry."""
        return self._other("before", streams, f"{'_'.join(streams)}_before")

    def after(self, streams: tuple[str, ...]) -> str:
        """The variable of a table with what the timestamp adds to it."""
        return self._other("after", streams, f"{'_'.join(streams)}_after")

    def new(self, target: tuple[str, ...]) -> str:
        """The variable of a table's additions."""
        return self._other("new", target, f"new_{'_'.join(target)}")

    def _other(self, what: str, members: tuple[str, ...], wanted: str) -> str:
        """A local name that stands for no attribute, the same for the same thing."""
        if (what, members) not in self.others:
            self.others[what, members] = self.locals.new(wanted)
        return self.others[what, members]

    def index(self, owner: str, attributes: list[Attribute]) -> Callable[[tuple[int, ...]], str]:
        """How an owner's mapping is called when it is grouped by some columns of its keys."""

        def name(columns: tuple[int, ...]) -> str:
            if (owner, columns) not in self.indexes:
                names = self.members if owner.startswith("self.") else self.locals
                by = "_".join(attributes[column].column for column in columns)
                wanted = f"{owner.removeprefix('self.')}_by_{by}"
                prefix = "self." if owner.startswith("self.") else ""
                self.indexes[owner, columns] = prefix + names.new(wanted)
            return self.indexes[owner, columns]

        return name

    # --- transitions ---------------------------------------------------------------------------------------------

    def _transition(self, transition: PlanTransition) -> list[str]:
        participants = [self.arriving(alias) for alias in transition.arriving]
        participants += [self.relations(group) for group in transition.groups]
        parts = sorted(transition.parts, key=lambda part: not part.new)
        remembered = [self._remembered(transition, part) for part in parts]
        participants[len(transition.arriving) : len(transition.arriving)] = remembered
        body = self.result if transition.output else self._addition(transition)
        return join_loops(participants, self._checks(transition), body, counted=not self.plan.distinct)

    def _checks(self, transition: PlanTransition) -> tuple[Comparison, ...]:
        """The joins to check, those with attributes of which the table holds an extremum as comparisons with it."""
        checks = transition.checks
        for table in (self.branch.table(part.streams) for part in transition.parts):
            if table.extrema:
                checks = tuple(dict.fromkeys(self._by_extremum(table, check) for check in checks))
        return checks

    def _by_extremum(self, table: Table, check: Comparison) -> Comparison:
        """A join of a table, which may hold an extremum only, with what arrives."""
        own, other = (check.left, check.right) if check.left.source in table.streams else (check.right, check.left)
        if own is None or other is None or own.source not in table.streams:
            return check
        return self.by_extremum(table, check, own, other)

    def by_extremum(self, table: Table, check: Comparison, own: Attribute, other: Attribute) -> Comparison:
        """``x < b`` where the table has the greatest ``b``  ->  ``x < greatest_b``."""
        if own in table.exact:
            return check
        for extremum in table.extrema:
            limit = extremum.limit(other)
            if limit is not None and extremum.greatest == (own == check.right) and self._part(extremum, own):
                return _limit_check(other, self.best_value(extremum), extremum.greatest, *limit, check.op)
        return check

    def _part(self, extremum: Extremum, own: Attribute) -> bool:
        return any(attribute in self.branch.facts.alike(own) for attribute, _ in extremum.of)

    @staticmethod
    def best_value(extremum: Extremum) -> Attribute:
        """What stands for the value of an extremum among the attributes."""
        return Attribute("", extremum.name)

    def arriving(self, alias: str) -> Participant:
        """The rows of a stream that arrive."""
        source = self.branch.source(alias)
        attributes = [Attribute(alias, column) for column in source.columns]
        name = self.arrived[alias]
        return self._participant(name, attributes, self.count((alias,)))

    def relations(self, group: tuple[str, ...]) -> Participant:
        """The rows of relations that are joined with each other."""
        return self._participant(f"self.{self.groups[group]}", self.group_columns(group), self.count(group))

    def group_columns(self, group: tuple[str, ...]) -> list[Attribute]:
        """What is kept of a group of relations: the columns used outside of it."""
        outside = {
            attribute
            for join in self.branch.joins
            if not {a.source for a in join.attributes} <= set(group)
            for attribute in join.attributes
        }
        outside |= {o.value for o in self.branch.outputs if isinstance(o.value, Attribute)}
        return [
            attribute
            for alias in group
            for column in self.branch.source(alias).columns
            if (attribute := Attribute(alias, column)) in outside
        ]

    def _participant(self, counts: str, attributes: list[Attribute], count: str) -> Participant:
        pattern = tuple(self.variable(attribute) for attribute in attributes)
        values = {attribute: Term(name) for attribute, name in zip(attributes, pattern, strict=True)}
        return Participant(counts, pattern, count, values, self.index(counts, attributes))

    def _remembered(self, transition: PlanTransition, part: Part) -> Participant:
        table = self.branch.table(part.streams)
        name = self.after(table.streams) if part.now else f"self.{self.tables[table.streams]}"
        name = self.new(table.streams) if part.new else name
        values = {a: term for stored in table.key for a, term in self.values_of(stored).items()}
        conditions = []
        for check in (check for check in transition.ages if check.stream in part.streams):
            age = f"now - {self.age(check.stream)}"
            if check.least is not None and check.greatest is not None:
                conditions.append(f"{check.least} <= {age} <= {check.greatest}")
            elif check.least is not None:
                conditions.append(f"{age} >= {check.least}")
            else:
                conditions.append(f"{age} <= {check.greatest}")
        pattern = [self.variable(stored.attribute) for stored in table.key]
        pattern += [self.age(age.stream) for age in table.ages]
        for extremum in table.extrema:
            variable = self.variable(self.best_value(extremum))
            values[self.best_value(extremum)] = Term(variable)
            pattern.append(variable)
        attributes = [stored.attribute for stored in table.key]
        count, index = self.before(table.streams), self.index(name, attributes)
        return Participant(name, tuple(pattern), count, values, index, tuple(conditions))

    def values_of(self, stored: Stored) -> dict[Attribute, Term]:
        """The values that a column of a key gives: of its attribute, and of those that equal it."""
        variable = self.variable(stored.attribute)
        others = {other: Term(variable, exact(offset)) for other, offset in stored.equal}
        return {stored.attribute: Term(variable), **others}

    def age(self, stream: str) -> str:
        """The variable of a remembered timestamp."""
        timestamp = self.branch.branch.source(stream).timestamp or ""
        return self.variable(Attribute(stream, timestamp))

    def _addition(self, transition: PlanTransition) -> Callable[[dict[Attribute, Term], list[str]], list[str]]:
        table = self.branch.table(transition.target)
        tables = [self.branch.table(part.streams) for part in transition.parts]
        before = tables[0] if len(tables) == 1 else None
        ages = {age.stream: self.age(age.stream) for remembered in tables for age in remembered.ages}

        def body(values: dict[Attribute, Term], counts: list[str]) -> list[str]:
            key = [self.clipped(stored, values) for stored in table.key]
            key += [ages.get(age.stream, "now") for age in table.ages]
            key += [self._extreme_value(extremum, before, values) for extremum in table.extrema]
            return [self.counted(self.new(transition.target), key, counts)]

        return body

    def _extreme_value(self, extremum: Extremum, before: Table | None, values: dict[Attribute, Term]) -> str:
        """The value of an extremum for a partial match: by the values at hand, and by what was remembered of others."""
        terms = dict.fromkeys(self._extreme_term(extremum, part, before, values) for part in extremum.of)
        if len(terms) == 1:
            return next(iter(terms))
        return f"{'min' if extremum.greatest else 'max'}({', '.join(terms)})"

    def _extreme_term(
        self, extremum: Extremum, part: tuple[Attribute, Fraction], before: Table | None, values: dict[Attribute, Term]
    ) -> str:
        attribute, offset = part
        known = (a for a in self.branch.facts.alike(attribute) if before is None or self._at_hand(a, before))
        found = next((a for a in known if a in values), None)
        if found is not None:
            term = values[found]
            apart = self.branch.facts.difference(attribute, found)
            return plus(term.variable, exact(term.offset + apart + offset))
        limited, target, strict = extremum.limits[0]
        for old in before.extrema if before else ():
            limit = old.limit(limited)
            if limit is not None and limit[1] == strict and old.greatest == extremum.greatest:
                return plus(self.variable(self.best_value(old)), exact(limit[0] - target))
        raise AssertionError(f"nothing is remembered of {attribute}")

    @staticmethod
    def _at_hand(attribute: Attribute, before: Table) -> bool:
        """Whether the value of an attribute is known as it is: its tuple arrives, or the table holds it."""
        return attribute.source not in (*before.streams, *before.relations) or attribute in before.exact

    def result(self, values: dict[Attribute, Term], counts: list[str]) -> list[str]:
        """The line that adds a match of all streams to the results."""
        row = [
            str(values[o.value]) if isinstance(o.value, Attribute) else literal(o.value.value)
            for o in self.branch.outputs
        ]
        return [self.counted("results", row, counts)]

    def counted(self, target: str, key: list[str], counts: list[str]) -> str:
        """The line that adds a match to a mapping."""
        where = f"{target}[{', '.join(key) + (',' if len(key) == 1 else '') if key else '()'}]"
        return f"{where} = 1" if self.plan.distinct else f"{where} += {' * '.join(counts)}"

    def clipped(self, stored: Stored, values: dict[Attribute, Term]) -> str:
        """A value as the table keeps it: outside the limits the future cannot tell values apart."""
        value = str(values[stored.attribute])
        if stored.cuts:
            return f"placed({value}, {self.places_of(stored)})"
        limits = self.clip_limits(stored, values)
        if "low" in limits:
            value = f"max({value}, {limits['low']})"
        if "high" in limits:
            value = f"min({value}, {limits['high']})"
        return value

    def clip_limits(self, stored: Stored, values: dict[Attribute, Term]) -> dict[str, str]:
        """The least and the greatest value that a table tells apart from those beyond, as text.

        Limits by finite streams' values depend on the partial match, whose ``values`` are given.
        """
        limits, names = {}, self._limit_names(stored, values)
        if stored.low:
            text = lower_text(self.branch.facts, stored.low, names)
            limits["low"] = text if names else self._limit("least", stored, text)
        if stored.high:
            text = upper_text(self.branch.facts, stored.high, names)
            limits["high"] = text if names else self._limit("most", stored, text)
        return limits

    def _limit_names(self, stored: Stored, values: dict[Attribute, Term]) -> dict[Attribute, str]:
        """The text of every attribute in the limits, where some are values of the match; else nothing."""
        if not self.by_match(stored):
            return {}
        return {
            a: str(values[a]) if self.of_stream(a) else self.relations_extreme(a, lower=bool(stored.low))
            for a in stored.limiting
        }

    def by_match(self, stored: Stored) -> bool:
        """Whether an attribute is clipped to what a finite stream brought to the same partial match."""
        return any(map(self.of_stream, stored.limiting))

    def of_stream(self, attribute: Attribute) -> bool:
        """Whether an attribute is a stream's, not a relation's."""
        return self.branch.source(attribute.source).kind is not Kind.RELATION

    def relations_extreme(self, attribute: Attribute, lower: bool) -> str:
        """The name of the least or greatest value of a relation's attribute."""
        word, extreme = ("least", "min") if lower else ("most", "max")
        return self.limit(
            f"{word}_{attribute.source}_{attribute.column}", extreme_symbol(self.branch.facts, extreme, attribute)
        )

    def extreme(self, extreme: Extreme) -> str:
        """The bound of an attribute by a relation's values, as text."""
        table = self.branch.source(extreme.relation.source).table
        text = symbol("min" if extreme.lower else "max", table, extreme.relation.column)
        if extreme.offset:
            text = f"{text} {'+' if extreme.offset > 0 else '-'} {abs(extreme.offset)}"
        word = "least" if extreme.lower else "most"
        return self.limit(f"{word}_{extreme.attribute.source}_{extreme.attribute.column}", text)

    def _limit(self, word: str, stored: Stored, text: str) -> str:
        return self.limit(f"{word}_{stored.attribute.source}_{stored.attribute.column}", text)

    def places_of(self, stored: Stored) -> str:
        """The name of the values that stand for all those between two cuts."""
        attribute = stored.attribute
        values = representatives(self.branch.facts, attribute, stored.cuts)
        if values not in self.places:
            self.places[values] = self.members.new(f"places_{attribute.source}_{attribute.column}{self.suffix}")
        return f"self.{self.places[values]}"

    def limit(self, wanted: str, text: str) -> str:
        """A limit's text: a constant, or the name of what is computed from the relations at the start."""
        if not symbols_in(text):
            return text
        if text not in self.limits:
            self.limits[text] = self.members.new(wanted + self.suffix)
        return f"self.{self.limits[text]}"


def _limit_check(
    other: Attribute, extreme: Attribute, greatest: bool, offset: Fraction, strict: bool, op: Op
) -> Comparison:
    """``x <= extreme + offset`` (``>=``), strict where that says the same: ``x <= b - 1  ->  x < b``."""
    step = -1 if greatest else 1
    if op is Op.LT and not strict and offset.denominator == 1:
        strict, offset = True, offset - step
    plain, sharp = (Op.LE, Op.LT) if greatest else (Op.GE, Op.GT)
    return Comparison(other, sharp if strict else plain, extreme, exact(offset))
