"""The plan of a job as values: what to filter, what to remember, and how partial matches grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Counters, Kind, OnViolation
from streambound.analyzer.changes import KeyPunctuation, StreamKey
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import BIGINT
from streambound.analyzer.endpoints import Sink, SourceOptions
from streambound.analyzer.query import Atom, Branch, Comparison, Output
from streambound.analyzer.symbols import symbol
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.user_functions import UserFunction
from streambound.analyzer.values import Value
from streambound.criteria.bound import QueryBound
from streambound.criteria.judged import CircuitBound
from streambound.criteria.large_bound import rows_in_words
from streambound.criteria.periods.parts import JudgedConditions
from streambound.criteria.projected_time import Stamp
from streambound.criteria.size import Size
from streambound.criteria.synopsis import Synopsis
from streambound.criteria.tables import SynopsisTable
from streambound.criteria.ways import Way
from streambound.synopsis_exec.filters import ExtremeLimit, Membership
from streambound.synopsis_exec.kept_results import KeptResults
from streambound_runtime.operators import circuit_plan
from streambound_runtime.promises import (
    KEPT_BY_DEFAULT,
    STRICT,
    Arrival,
    ChangeRecords,
    PeriodContract,
    QuarantineLimit,
    Rate,
    UniqueKey,
)


@dataclass(frozen=True, slots=True)
class Input:
    """A stream or relation of the catalog that the job reads: its declared columns, and those that it needs.

    These are declared ones, and those derived by expressions. ``rows`` is the declared size of a relation.
    ``query`` gives the rows of one that is computed of others. Records that are ``punctuations`` are no rows; the plan
    uses them if it ``ends_keys``. ``ending`` are the keys that some stream's punctuations end. Changes of a relation
    may be in ``records`` that are no rows. ``period`` says which rows are good, where it is asked when they are valid.
    Keys that are ``unique`` come once.
    """

    name: str
    kind: Kind
    declared: tuple[Column, ...]
    columns: tuple[Column, ...]
    timestamp: str | None
    max_per_timestamp: int | None
    source: SourceOptions | None
    rows: int | None = None
    on_violation: OnViolation = OnViolation.QUARANTINE
    arrival: Arrival[Value] = STRICT
    max_rate: Rate | None = None
    query: str = ""
    punctuations: tuple[KeyPunctuation, ...] = ()
    ending: tuple[StreamKey, ...] = ()
    ends_keys: bool = False
    records: ChangeRecords | None = None
    period: PeriodContract | None = None
    unique: tuple[UniqueKey, ...] = ()

    @property
    def derived(self) -> tuple[Column, ...]:
        """The columns that Spark computes."""
        return tuple(column for column in self.columns if column.expression)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """What a job does: the streams and relations that it reads, and the bound of what it remembers.

    ``contract_sha256`` covers what of the declarations that the query uses a saved state depends on: not where rows
    come from or go, or what becomes of bad ones. ``computed`` are relations that are computed of others.
    """

    name: str
    sql: str
    query_sha256: str
    contract_sha256: str
    columns: tuple[Column, ...]
    inputs: tuple[Input, ...]
    bound: QueryBound | CircuitBound
    computed: tuple[Input, ...] = ()
    sink: Sink | None = None
    quarantine: QuarantineLimit = KEPT_BY_DEFAULT
    functions: tuple[UserFunction, ...] = ()

    @property
    def streams(self) -> tuple[Input, ...]:
        """The streams that the job reads, and the changes of relations."""
        return tuple(item for item in self.inputs if item.timestamp is not None)

    @property
    def relations(self) -> tuple[Input, ...]:
        """The static relations that the job reads."""
        return tuple(item for item in self.inputs if item.timestamp is None)

    def rows_in_words(self, size: Size) -> str:
        """How many rows a size counts, by how long they are kept; empty where its formula says it better."""
        moments = self.streams if self.time_family is Family.TIMESTAMP else ()
        return rows_in_words(size, {symbol("c", one.name): one.name for one in moments if one.max_rate is None})

    def at_most(self, size: Size) -> str:
        """The most that there are of what a size counts."""
        return f"at most {self.rows_in_words(size) or size.text}"

    @property
    def time_type(self) -> DataType:
        """The type of `_ts`: that of the first stream's timestamps; of relations alone there is none."""
        if not self.streams:
            return BIGINT
        first = self.streams[0]
        return next(column.type for column in first.columns if column.name == first.timestamp)

    @property
    def time_family(self) -> Family:
        """Whether application time is an integer or a timestamp."""
        return self.time_type.family

    # What joins alone do not have:

    @property
    def blocks(self) -> tuple[Plan, ...]:
        """The joins that it is made of: itself, where it is nothing more."""
        return ()

    @property
    def distinct(self) -> bool:
        """Whether each result comes once; else results have multiplicities."""
        return False

    @property
    def final(self) -> bool:
        """Whether results are printed when they no longer change, and not their changes."""
        return False

    @property
    def changing(self) -> Sequence[circuit_plan.ChangesNode]:
        """The relations that change."""
        return ()

    @property
    def closing(self) -> Sequence[circuit_plan.TimeBucket]:
        """The buckets of time after which groups, or rows of a set, are forgotten."""
        return ()

    @property
    def watched(self) -> tuple[circuit_plan.EndedKeysNode, ...]:
        """The keys that punctuations end."""
        return ()

    @property
    def periods(self) -> Mapping[str, PeriodContract]:
        """The contracts that a SEQ block needs of its streams and relations, by name; empty for other statements."""
        return {}

    @property
    def judged(self) -> Mapping[str, JudgedConditions]:
        """The conditions under which a SEQ block judges rows of a stream beside others, by its name."""
        return {}

    @property
    def ends(self) -> Mapping[str, int]:
        """The streams that are finite in the query, each with its last timestamp wherever it is."""
        return {}


@dataclass(frozen=True, slots=True)
class PlanSource:
    """One source of a branch: filters on its rows, and the columns that joins and the select list use.

    ``times`` are conditions on a stream's timestamp alone; ``factors`` the columns that are multiplied for
    each of the query's sums.
    """

    alias: str
    table: str
    kind: Kind
    columns: tuple[str, ...]
    filters: tuple[Atom, ...]
    times: tuple[Comparison, ...]
    extremes: tuple[ExtremeLimit, ...]
    members: tuple[Membership, ...] = ()
    factors: tuple[tuple[str, ...], ...] = ()

    @property
    def used(self) -> frozenset[str]:
        """The columns that filters, joins and the select list mention."""
        found = {*self.columns, *(a.column for atom in self.filters for a in atom.attributes)}
        found |= {limit.attribute.column for limit in self.extremes}
        found |= {name for names in self.factors for name in names}
        return frozenset(found | {member.attribute.column for member in self.members})


@dataclass(frozen=True, slots=True)
class BranchPlan:
    """One select-project-join branch: its synopsis, sources, joins and select list.

    ``number`` is its 1-based place among the branches of the split query.
    """

    number: int
    synopsis: Synopsis = field(repr=False, compare=False)
    sources: tuple[PlanSource, ...]
    joins: tuple[Comparison, ...]
    outputs: tuple[Output, ...]

    @property
    def facts(self) -> Facts:
        """The facts of the branch."""
        return self.synopsis.facts

    @property
    def branch(self) -> Branch:
        """The branch as a query."""
        return self.facts.branch

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The relations that are joined with each other."""
        return self.synopsis.relation_groups

    @property
    def tables(self) -> tuple[SynopsisTable, ...]:
        """The tables of partial matches."""
        return self.synopsis.tables

    @property
    def ways(self) -> tuple[Way, ...]:
        """How partial matches grow."""
        assert self.synopsis.transitions is not None, "a plan has all of them"
        return self.synopsis.transitions

    def source(self, alias: str) -> PlanSource:
        """The source of that alias."""
        return next(source for source in self.sources if source.alias == alias)

    def table(self, streams: tuple[str, ...]) -> SynopsisTable:
        """The table of a set of streams."""
        return next(table for table in self.tables if table.streams == streams)

    def is_output(self, way: Way) -> bool:
        """Whether a way completes results."""
        return set(way.target) == set(self.synopsis.streams)

    def met(self, way: Way) -> tuple[tuple[tuple[str, ...], ...], tuple[Comparison, ...]]:
        """The groups of relations that are joined in a way, and the joins whose two ends first meet there."""
        of = self.synopsis.relations_of
        parts = [frozenset((*part.streams, *of(part.streams))) for part in way.parts]
        before = frozenset[str]().union(*parts)
        groups = tuple(g for g in self.groups if g[0] in of(way.target) and g[0] not in before)
        present = {*way.arriving, *before, *(alias for group in groups for alias in group)}

        def first_meet(join: Comparison) -> bool:
            ends = {attribute.source for attribute in join.attributes}
            together = any(ends <= part for part in parts) or any(ends <= set(group) for group in groups)
            return ends <= present and not together

        return groups, tuple(filter(first_meet, self.joins))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(JobPlan):
    """The plan of a select-project-join query.

    ``stamp`` says when a set's results are forgotten. ``kept`` is of what results are computed. Of a block below an
    aggregate, results carry ``sums``. ``order`` as of `Query`.
    """

    distinct: bool
    branches: tuple[BranchPlan, ...]
    bound: QueryBound
    stamp: Stamp | None = None
    counters: Counters = Counters.BIGINT
    kept: KeptResults | None = None
    sums: tuple[str, ...] = ()
    order: str = ""

    @property
    def blocks(self) -> tuple[Plan, ...]:
        """Itself."""
        return (self,)

    @property
    def kept_columns(self) -> tuple[Column, ...]:
        """The columns that matches give: those of results, unless Spark computes these."""
        return self.columns if self.kept is None else self.kept.columns

    @property
    def ends(self) -> dict[str, int]:
        """Those of all branches."""
        ends: dict[str, int] = {}
        for branch in self.branches:
            for alias, end in branch.facts.finite_streams.items():
                name = branch.branch.source(alias).table
                ends[name] = max(end, ends.get(name, end))
        return ends

    @property
    def static(self) -> tuple[Input, ...]:
        """All static relations: those that the job reads, and those that it computes of these."""
        return (*self.relations, *self.computed)

    def table_name(self, number: int, table: SynopsisTable) -> str:
        """A table's name, with its branch's 1-based number where there are several branches."""
        return f"{number}:{table.name}" if len(self.bound.branches) > 1 else table.name
