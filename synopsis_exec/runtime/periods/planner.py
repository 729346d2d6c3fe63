"""Operators of a plan over periods, put together to what one task evaluates, and their rows' way there.

Operators that need the same rows together are one step. What has no key is distributed by bins of time, at which rows
may be cut.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.operators.period_plan import SliceJoin, SlicePlan, SliceProject, SliceScan, scans
from streambound_runtime.operators.plan import JoinType
from streambound_runtime.periods.frames import BIN, PERIOD, borders_of, columns_of, in_bins, normal
from streambound_runtime.periods.tasks import TaskInput, TaskPlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

_LEFT_OUT = -1
"""The place of a column that an operator does not show: its equal values lie together all the same."""


@dataclass
class TaskPlanner(ABC):
    """Makes the DataFrames of a plan's operators; ``bins`` is how many tasks share rows that have no key."""

    spark: SparkSession
    plan: SlicePlan
    bins: int
    made: dict[int, DataFrame] = field(default_factory=dict, init=False)
    inputs: int = field(default=0, init=False)

    @abstractmethod
    def frame(self, plan: SlicePlan) -> DataFrame:
        """The rows of an operator, with columns as `frames` says."""

    def task(self, plan: SlicePlan) -> TaskPlan:
        """An operator as tasks evaluate it."""
        return self.read(self.frame(plan))

    @cached_property
    def borders(self) -> list[int]:
        """Where time is cut into bins."""
        found = [scan for scan in scans(self.plan) if scan.period]
        return borders_of([self.frame(scan) for scan in found], self.bins)

    def read(self, frame: DataFrame) -> TaskPlan:
        """The rows of a DataFrame."""
        self.inputs += 1
        one = TaskInput(f"delta_{self.inputs}", normal(frame))
        return TaskPlan(SliceScan(one.table, len(one.types)), tuple(one.types), (one,))

    def alike(self, left: DataFrame, right: DataFrame) -> tuple[TaskPlan, TaskPlan]:
        """The rows of two DataFrames, whose columns are of the types that both can have."""
        kinds = left.unionAll(right).selectExpr(*columns_of(left)).dtypes
        cast = [f"CAST({name} AS {kind}) AS {name}" for name, kind in kinds]
        return self.read(left.selectExpr(*cast, *PERIOD)), self.read(right.selectExpr(*cast, *PERIOD))

    def together(self, task: TaskPlan, places: Sequence[int]) -> TaskPlan:
        """The same rows, those that are equal in some columns in one task."""
        if task.together is not None and set(task.together) <= set(places):
            return task
        return self.by_columns(task, tuple(places))

    def by_columns(self, task: TaskPlan, places: tuple[int, ...]) -> TaskPlan:
        """The same rows, distributed by some columns."""
        if task.together == places:
            return task
        if task.together is not None:
            task = self.read(task.frame())
        return replace(task, inputs=(replace(task.inputs[0], keys=places),), together=places)

    def beside(self, left: TaskPlan, right: TaskPlan, pairs: Sequence[tuple[int, int]]) -> tuple[TaskPlan, TaskPlan]:
        """Two sides, of which rows that are equal in pairs of columns are in one task."""
        of_left, of_right = dict(pairs), {theirs: mine for mine, theirs in pairs}
        wanted = tuple(of_left)
        if left.together is not None and set(left.together) <= set(of_left):
            wanted = left.together
        elif right.together is not None and set(right.together) <= set(of_right):
            wanted = tuple(of_right[place] for place in right.together)
        return self.by_columns(left, wanted), self.by_columns(right, tuple(of_left[place] for place in wanted))

    def picked(self, task: TaskPlan, places: Sequence[int]) -> TaskPlan:
        """Some columns of each row."""
        if task.together is None:
            shown = (f"c{place} AS c{n}" for n, place in enumerate(places))
            return self.read(task.frame().selectExpr(*shown, *PERIOD))
        plan = SliceProject(task.plan, tuple(f"c{place}" for place in places))
        types, at = tuple(task.types[place] for place in places), {place: n for n, place in enumerate(places)}
        return replace(
            task, plan=plan, types=types, together=tuple(at.get(place, _LEFT_OUT) for place in task.together)
        )

    def sides(self, plan: SliceJoin) -> tuple[TaskPlan, TaskPlan, list[tuple[int, int]]]:
        """The sides of a join, and which columns are equal in a pair: more columns where expressions are, or bins."""
        left, right = self.task(plan.left), self.task(plan.right)
        pairs = [(picks([mine]), picks([theirs])) for mine, theirs in plan.keys]
        places = [(mine[0], theirs[0]) for mine, theirs in pairs if mine and theirs]
        comparable = (_carried_alike(left.types[mine], right.types[theirs]) for mine, theirs in places)
        if len(places) == len(plan.keys) and all(comparable) and (plan.keys or not self.borders):
            return left, right, places
        frames, keys = (left.frame(), right.frame()), [*plan.keys]
        if not keys:
            frames, keys = (in_bins(frames[0], self.borders), in_bins(frames[1], self.borders)), [(BIN, BIN)]
        kinds = [_common([frame.selectExpr(one[n]) for n, frame in enumerate(frames)]) for one in keys]
        read = []
        for side, frame in enumerate(frames):
            own = (f"CAST({one[side]} AS {kind})" for one, kind in zip(keys, kinds, strict=True))
            read.append(self.read(with_columns(frame, *own)))
        return read[0], read[1], [(len(left.types) + n, len(right.types) + n) for n in range(len(keys))]

    def pairs(self, kind: JoinType, left: TaskPlan, right: TaskPlan, pairs: Sequence[tuple[int, int]]) -> TaskPlan:
        """A join of rows that are equal in pairs of columns."""
        left, right = self.beside(left, right, pairs)
        by = len(left.types)
        plan = SliceJoin(kind, left.plan, right.plan, tuple((f"c{mine}", f"c{theirs}") for mine, theirs in pairs))
        types = left.types if kind in ("semi", "anti") else (*left.types, *right.types)
        together = left.together
        if kind == "right" and right.together is not None:
            together = tuple(by + place for place in right.together)
        found = TaskPlan(plan, types, (*left.inputs, *right.inputs), together)
        return self.read(found.frame()) if kind == "full" else found  # rows of either side have NULLs for the other's


def picks(items: Sequence[str]) -> list[int] | None:
    """The positions of the columns in a list of expressions; None unless all are plain columns."""
    return [int(item[1:]) for item in items] if all(re.fullmatch(r"c\d+", item) for item in items) else None


def with_columns(frame: DataFrame, *items: str) -> DataFrame:
    """The rows with more columns."""
    values = [name for name in columns_of(frame) if name != BIN]
    return frame.selectExpr(*values, *(f"{item} AS c{len(values) + n}" for n, item in enumerate(items)), *PERIOD)


def _carried_alike(left: DataType, right: DataType) -> bool:
    """Whether values that are equal are carried as equal ones."""
    families = {sql_type(kind.simpleString()).family for kind in (left, right)}
    return left == right or families in ({"integer"}, {"float"})


def _common(keys: Sequence[DataFrame]) -> str:
    """The type in which Spark compares the values of two columns."""
    listed = ", ".join(f"CAST(NULL AS {kind})" for key in keys for _, kind in key.dtypes)
    return keys[0].selectExpr(f"coalesce({listed}) AS k").dtypes[0][1]
