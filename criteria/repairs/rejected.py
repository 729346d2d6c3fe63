"""A rejected query as the kinds of change see it: its violating branches with their facts, and the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from streambound.analyzer.boundedness import Facts, JoinConstraint
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.closure import close
from streambound.analyzer.codes import Code
from streambound.analyzer.query import Attribute, Branch, Query
from streambound.criteria.projected_time import stamp
from streambound.criteria.repairs.meaning import changed
from streambound.criteria.repairs.steps import Step
from streambound.criteria.verdict import branch_violations
from streambound.criteria.violation import Violation
from streambound.preprocess.pipeline import Derivation, derive

BRANCH_WORK = 100
"""What the analysis of a branch takes however few attributes it has."""
Key = tuple[int, Code | None, str, str | None, int]
"""What makes a violation the same one in a changed query: SELECT, code, culprit and position."""


@dataclass(frozen=True)
class Culprits:
    """One violating branch: its facts and its violations."""

    facts: Facts
    violations: tuple[Violation, ...]

    @property
    def branch(self) -> Branch:
        """The branch."""
        return self.facts.branch

    @property
    def streams(self) -> tuple[str, ...]:
        """The aliases of the streams to blame."""
        return tuple(dict.fromkeys(violation.stream for violation in self.violations))

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes to blame, and those that their harmful joins compare them with."""
        blamed = [Attribute(v.stream, v.attribute) for v in self.violations if v.attribute is not None]
        partners = [x for _, join in self.joins for x in (join.attribute, join.other)]
        values = (x for x in (*blamed, *partners) if not self.branch.is_time(x))
        return tuple(dict.fromkeys(x for x in values if not self.facts.bounded(x)))

    @property
    def times(self) -> tuple[Attribute, ...]:
        """The application times to blame, which the select list has."""
        blamed = (Attribute(v.stream, v.attribute) for v in self.violations if v.attribute is not None)
        return tuple(dict.fromkeys(x for x in blamed if self.branch.is_time(x)))

    @property
    def declared(self) -> tuple[Attribute, ...]:
        """Those of them that the catalog declares: derived ones have no names to write conditions with."""
        return tuple(x for x in self.attributes if not self.branch.column(x).expression)

    @cached_property
    def wholly(self) -> frozenset[Attribute]:
        """The attributes that must be bounded from both sides: projected ones, and those joined for equality."""
        both = (
            v
            for v in self.violations
            if v.code in (Code.UNBOUNDED_PROJECTION, Code.UNBOUNDED_EQUALITY) and v.attribute is not None
        )
        return frozenset(Attribute(v.stream, v.attribute or "") for v in both)

    @cached_property
    def joins(self) -> tuple[tuple[Attribute, JoinConstraint], ...]:
        """The joins with later streams that are not harmless, each with the attribute to remember."""
        return tuple(
            (own, join)
            for stream in self.facts.infinite
            for own, join in self.facts.joins_of(stream, self.facts.later[stream])
            if not self.facts.harmless(own, join)
        )


@dataclass(frozen=True)
class Rejected:
    """A query that is not bounded as it stands, with its stages."""

    derivation: Derivation
    catalog: Catalog

    @property
    def query(self) -> Query:
        """The query."""
        return self.derivation.query

    @cached_property
    def culprits(self) -> tuple[Culprits, ...]:
        """The violating branches."""
        split, stamped = self.derivation.split, stamp(self.derivation.split)
        found = ((Facts.of(b), branch_violations(b, split.distinct, stamped)) for b in split.branches)
        return tuple(Culprits(facts, violations) for facts, violations in found if violations)

    @cached_property
    def violations(self) -> frozenset[Key]:
        """What is wrong, comparable with what is wrong with a changed query; empty when it is bounded."""
        return frozenset(
            (culprits.branch.statement, v.code, v.stream, v.attribute, v.span.start)
            for culprits in self.culprits
            for v in culprits.violations
        )

    @cached_property
    def warnings(self) -> int:
        """How many conditions can never hold: a repair that makes more contradicts the query."""
        return len(self.derivation.warnings)

    @cached_property
    def work(self) -> int:
        """About how long one analysis takes: more than linear in the attributes, as the benchmarks show."""
        return sum(BRANCH_WORK + int(len(close(branch).nodes) ** 1.5) for branch in self.derivation.split.branches)

    def after(self, steps: tuple[Step, ...]) -> Rejected | None:
        """The query after some steps; None where one of them would have several meanings."""
        query = changed(self.query, steps)
        return None if query is None else Rejected(derive(query), self.catalog)

    def places(self) -> Iterator[tuple[Culprits, Attribute]]:
        """Every attribute that a bound may help, with its branch."""
        return ((culprits, x) for culprits in self.culprits for x in culprits.declared)
