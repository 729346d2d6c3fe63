"""The tables of one branch in words: what each keeps, how much that can be, and what of it has no bound."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.codes import Code
from streambound.analyzer.query import Attribute, Branch
from streambound.analyzer.values import decode
from streambound.criteria.bound import table_size
from streambound.criteria.check import Checked
from streambound.criteria.order_search import Reference
from streambound.criteria.projected_time import Stamp, forgotten_at_once, result_ages, result_distances, stamp
from streambound.criteria.set import harmful_references
from streambound.criteria.size import Size
from streambound.criteria.synopsis import Synopsis
from streambound.criteria.tables import Stored, SynopsisTable
from streambound.criteria.verdict import Decision, branch_violations
from streambound.criteria.violation import Violation
from streambound.criteria.vocabulary import Verdict
from streambound.reports.phrases import age_text, distance_text, stored_text, values_text


class TableWords(Struct, frozen=True, dict=True):
    """The tables of one branch of a split query, or of a case of it.

    ``sizes`` is what the bound M says of them, by ``prefix`` and name; ``proved`` says that there is a witness: what
    violates a clause is not only not known to be bounded. ``stamped`` says when a set's results are forgotten.
    """

    synopsis: Synopsis
    distinct: bool
    violations: tuple[Violation, ...]
    proved: bool
    sizes: dict[str, Size]
    prefix: str
    stamped: Stamp | None = None

    @classmethod
    def of(cls, checked: Checked, decision: Decision, number: int, branch: Branch) -> TableWords:
        """The words for one branch of a decided statement."""
        distinct = decision.query.distinct
        stamped = stamp(decision.derivation.split)
        violations = () if decision.verdict is Verdict.BOUNDED else branch_violations(branch, distinct, stamped)
        sizes = {} if checked.bound is None else {table.table: table.size for table in checked.bound.tables}
        prefix = f"{number}:" if len(parts(checked, decision)) > 1 else ""
        proved = decision.verdict is Verdict.UNBOUNDED
        synopsis = Synopsis(Facts.of(branch)) if checked.bound is None else checked.bound.branches[number - 1].synopsis
        return cls(synopsis, distinct, violations, proved, sizes, prefix, stamped)

    @property
    def facts(self) -> Facts:
        """The branch's facts."""
        return self.synopsis.facts

    @property
    def tables(self) -> tuple[SynopsisTable, ...] | None:
        """The tables; None where they are too many. Those for many sets of streams are only there with their sizes."""
        return None if self.synopsis.sets is None and not self.sizes else self.synopsis.tables

    def lines(self, table: SynopsisTable) -> tuple[str, ...]:
        """A table in words: a line per part of its key, and its size."""
        keys = [self._key_line(table, stored) for stored in table.key]
        endless = {*self.culprits(table)}
        ages = [
            f"every {time}" if (time := self.facts.time(age.stream)) in endless else age_text(self.facts, age)
            for age in table.ages
        ]
        extrema = [f"the {extremum.name}" for extremum in table.extrema]
        single = "whether there is one" if self.distinct else "one counter"
        until = [] if table.deadline is None else [f"until {self._moment(table.deadline)}"]
        return (*(keys + ages + extrema or [single]), *until, self.size(table))

    def _key_line(self, table: SynopsisTable, stored: Stored) -> str:
        reference = next((r for r in self._extrema(table) if r.own == stored.attribute), None)
        if reference is not None:
            return f"the {'greatest' if reference.maximum else 'least'} {stored.attribute}"
        if stored.attribute in self.culprits(table):
            return f"every {stored.attribute}"
        return stored_text(self.facts, stored, table.sources)

    def size(self, table: SynopsisTable) -> str:
        """How many entries a table can have."""
        if self.culprits(table):
            return self._without_bound
        size = self.sizes.get(self.prefix + table.name)
        if size is None and not self._extrema(table):
            size = table_size(self.synopsis, table)
        return "bounded" if size is None else size_text(size)

    @property
    def _without_bound(self) -> str:
        return "unbounded" if self.proved else "may be unbounded"

    def culprits(self, table: SynopsisTable) -> tuple[Attribute, ...]:
        """The attributes in a table's key of which a violated clause would have unboundedly many values kept."""
        blamed = {_attribute(violation) for violation in self.violations}
        return (*self._values_blamed(table, blamed), *self._times_blamed(table, blamed))

    def _times_blamed(self, table: SynopsisTable, blamed: set[Attribute | None]) -> Iterator[Attribute]:
        endless = (self.facts.time(age.stream) for age in table.ages if age.exact and age.expires is None)
        return (time for time in endless if time in blamed)

    def _values_blamed(self, table: SynopsisTable, blamed: set[Attribute | None]) -> tuple[Attribute, ...]:
        keys = [s.attribute for s in table.key if not s.low and not s.high and not s.cuts and s.attribute in blamed]
        keys = [key for key in keys if not self.facts.bounded(key)]
        extrema = self._extrema(table) if keys else ()
        if not keys or (not extrema and table_size(self.synopsis, table) is not None):
            return ()
        several = len({(reference.own, reference.maximum) for reference in extrema}) > 1
        single = set() if several else {reference.own for reference in extrema}
        return tuple(key for key in keys if key not in single)

    def _extrema(self, table: SynopsisTable) -> tuple[Reference, ...]:
        """The joins for which a set query keeps one extreme value in this table."""
        if not self.distinct:
            return ()
        inside = set(table.streams)
        return tuple(
            r
            for r in harmful_references(self.facts)
            if r.own.source in inside and not {r.lesser.source, r.greater.source} <= inside
        )

    def _moment(self, timestamp: int) -> str:
        time = self.facts.time(self.synopsis.streams[0])
        return decode(timestamp, self.facts.branch.column(time).type)

    # --- results -------------------------------------------------------------------------------------------------

    @property
    def result_lines(self) -> tuple[str, ...]:
        """The kept results in words: none for a bag, every distinct row for a set."""
        if not self.distinct:
            return ("written at once",)
        if forgotten_at_once(self.facts, self.stamped):
            return ("forgotten when their timestamp is closed, since none comes again",)
        culprits = self.result_culprits
        rows = [f"every {a}" if a in culprits else values_text(self.facts, a) for a in self._projected()]
        rows += [age_text(self.facts, age) for age in result_ages(self.facts, self.stamped)]
        rows += [distance_text(self.facts, apart) for apart in result_distances(self.facts, self.stamped)]
        size = self.sizes.get(f"{self.prefix}results")
        known = self._without_bound if culprits else "bounded" if size is None else size_text(size)
        return (*rows, known)

    @cached_property
    def result_culprits(self) -> tuple[Attribute, ...]:
        """The projected attributes of which a set would have to remember every value."""
        if not self.distinct:
            return ()
        blamed = {_attribute(v) for v in self.violations if v.code is Code.UNBOUNDED_PROJECTION}
        return tuple(attribute for attribute in self._projected() if attribute in blamed)

    def _projected(self) -> tuple[Attribute, ...]:
        return self.facts.branch.projected


def parts(checked: Checked, decision: Decision) -> tuple[Branch, ...]:
    """The branches that have tables of their own: those of the split query, or cases of them."""
    if checked.bound is not None:
        return tuple(part.branch for part in checked.bound.branches)
    return decision.derivation.split.branches


def _attribute(violation: Violation) -> Attribute | None:
    """The culprit of a violation."""
    return None if violation.attribute is None else Attribute(violation.stream, violation.attribute)


def size_text(size: Size) -> str:
    """A size in words: ``at most 4``, ``at most 3*rows_R = 48``."""
    known = "" if size.value is None or size.text == str(size.value) else f" = {size.value:,}"
    return f"at most {size.text}{known}"
