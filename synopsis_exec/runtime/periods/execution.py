"""A plan over periods as a DataFrame, operator by operator: lazily, but for small jobs over base rows.

They cut time into bins, and count rows of keys in a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from streambound_runtime.periods.coalescing import coalesced, coalesced_constant, set_operation
from streambound_runtime.periods.frames import BEGIN, COUNT, END, columns, normal
from streambound_runtime.periods.grouping import grouped
from streambound_runtime.periods.hot import borders_of
from streambound_runtime.periods.joining import joined, pairs
from streambound_runtime.periods.literals import literals
from streambound_runtime.periods.plan import (
    ConstantScan,
    PeriodCoalesce,
    PeriodDistinct,
    PeriodFilter,
    PeriodGroup,
    PeriodJoin,
    PeriodPlan,
    PeriodProject,
    PeriodSetOperation,
    PeriodUnion,
    SnapshotQuery,
    SnapshotScan,
    scans,
)
from streambound_runtime.periods.rows_of_key import has_few, sources
from streambound_runtime.periods.times import GREATEST, LEAST, decoded, encoded, literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class GoodRows:
    """The good rows of a relation, and its period columns if it has some, which have a type."""

    frame: DataFrame
    period: tuple[str, str] | None = None
    kind: str = "bigint"


Relations = Mapping[str, GoodRows]
"""The relations that a query reads, by their names in small letters."""


@dataclass
class PlanExecution:
    """Makes the DataFrames of a query's operators; ``bins`` is how many tasks share the rows of one group."""

    spark: SparkSession
    relations: Relations
    query: SnapshotQuery
    bins: int
    made: dict[int, DataFrame] = field(default_factory=dict)
    counted: dict[tuple[SnapshotScan, frozenset[int]], bool] = field(default_factory=dict)

    def result(self) -> DataFrame:
        """The rows of the result: the columns by their names, `_begin`, `_end` and `_mult`."""
        found = self.frame(self.query.plan)
        named = [f"c{place} AS {_quoted(name)}" for place, name in enumerate(self.query.columns)]
        kind = self.query.time_type
        period = [] if self.query.as_of else [f"{decoded(kind, BEGIN)} AS _begin", f"{decoded(kind, END)} AS _end"]
        return found.selectExpr(*named, *period, f"{COUNT} AS _mult")

    @cached_property
    def borders(self) -> list[int]:
        """Where time is cut into bins."""
        found = [scan for scan in scans(self.query.plan) if isinstance(scan, SnapshotScan)]
        return borders_of([self.frame(scan) for scan in found], self.bins)

    def frame(self, plan: PeriodPlan) -> DataFrame:
        """The rows of an operator, with columns as `frames` says."""
        if id(plan) not in self.made:
            self.made[id(plan)] = self._made(plan)
        return self.made[id(plan)]

    def _made(self, plan: PeriodPlan) -> DataFrame:
        match plan:
            case SnapshotScan():
                return self._scan(plan)
            case ConstantScan():
                return self._constant(plan)
            case PeriodFilter(input, condition):
                return self.frame(input).where(condition)
            case PeriodProject(input, items):
                listed = (f"{item} AS c{place}" for place, item in enumerate(items))
                return self.frame(input).selectExpr(*listed, BEGIN, END, COUNT)
            case PeriodUnion(left, right):
                return self.frame(left).unionAll(self.frame(right))
            case PeriodDistinct(input):
                return self._coalesced(input, distinct=True)
            case PeriodCoalesce(input):
                return self._coalesced(input, distinct=False)
            case PeriodSetOperation(kind, left, right):
                return set_operation(kind, self.frame(left), self.frame(right))
            case PeriodJoin(kind, left, right, keys, condition):
                borders = [] if keys else self.borders
                few = self._few(left, [key for key, _ in keys]) or self._few(right, [key for _, key in keys])
                return joined(kind, pairs(self.frame(left), self.frame(right), keys, condition, borders, few))
            case PeriodGroup(input, keys, aggregates, always):
                ends = self._ends() if always else None
                return grouped(self.frame(input), keys, aggregates, self.borders if always else [], ends)

    def _few(self, plan: PeriodPlan, keys: Sequence[str]) -> bool:
        """Whether keys of a side of a join have few rows each."""
        for scan, places in sources(plan, keys).items():
            if (scan, places) not in self.counted:
                self.counted[scan, places] = has_few(self.frame(scan), places)
            if self.counted[scan, places]:
                return True
        return False

    def _coalesced(self, plan: PeriodPlan, distinct: bool) -> DataFrame:
        values = literals(plan)
        if values is None:
            return coalesced(self.frame(plan), distinct)
        return coalesced_constant(self.frame(plan), values, self.borders, distinct)

    def _ends(self) -> tuple[int, int]:
        low, high = self.query.low, self.query.high
        assert low is not None and high is not None, "all-time results have a domain"
        return low, high

    def _scan(self, plan: SnapshotScan) -> DataFrame:
        given = self.relations[plan.table.lower()]
        assert given.period is not None, f"{plan.table} has periods"
        begin, end = (encoded(given.kind, _quoted(name)) for name in given.period)
        listed = (f"{_quoted(name)} AS c{place}" for place, name in enumerate(plan.columns))
        rows = given.frame.selectExpr(*listed, f"{begin} AS {BEGIN}", f"{end} AS {END}", f"1L AS {COUNT}")
        low, high = self.query.low, self.query.high
        if low is not None:
            rows = rows.where(f"{END} > {literal(low)}")
        if high is not None:
            rows = rows.where(f"{BEGIN} < {literal(high)}")
        since = BEGIN if low is None else f"greatest({BEGIN}, {literal(low)}) AS {BEGIN}"
        until = END if high is None else f"least({END}, {literal(high)}) AS {END}"
        return normal(rows.selectExpr(*columns(len(plan.columns)), since, until, COUNT))

    def _constant(self, plan: ConstantScan) -> DataFrame:
        rows = self.relations[plan.table.lower()].frame if plan.table else self.spark.range(1)
        low = LEAST if self.query.low is None else self.query.low
        high = GREATEST if self.query.high is None else self.query.high
        listed = [f"{_quoted(name)} AS c{place}" for place, name in enumerate(plan.columns)]
        made = rows.selectExpr(*listed, f"{literal(low)} AS {BEGIN}", f"{literal(high)} AS {END}", f"1L AS {COUNT}")
        return normal(made if low < high else made.where("false"))


def executed(spark: SparkSession, query: SnapshotQuery, relations: Relations) -> DataFrame:
    """The result of a query over relations, lazily."""
    bins = int(str(spark.conf.get("spark.sql.shuffle.partitions", "1")))
    return PlanExecution(spark, relations, query, bins).result()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
