"""A plan over periods as a DataFrame, operator by operator: lazily, but for a small job that cuts time into bins.

Spark reads, filters and computes; the operators over periods are evaluated in tasks (`tasks`, `planner`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.operators.period_plan import (
    SliceAggregate,
    SliceCoalesce,
    SliceDifference,
    SliceDistinct,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SliceParts,
    SlicePlan,
    SliceProject,
    SliceQuery,
    SliceRelation,
    SliceUnion,
    width,
)
from streambound_runtime.operators.plan import JoinType
from streambound_runtime.periods.frames import (
    BEGIN,
    BIN,
    COUNT,
    END,
    PERIOD,
    columns,
    columns_of,
    in_bins,
    normal,
    within,
)
from streambound_runtime.periods.planner import TaskPlanner, picks, with_columns
from streambound_runtime.periods.tasks import TaskPlan
from streambound_runtime.periods.times import GREATEST, LEAST, decoded, encoded, literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

_OF_ROWS = (SliceRelation, SliceFilter, SliceUnion)
"""What Spark does row by row."""
_SUMMED = ("sum", "avg")


@dataclass(frozen=True, slots=True)
class GoodRows:
    """The good rows of a relation, and its period columns if it has some, which have a type."""

    frame: DataFrame
    period: tuple[str, str] | None = None
    kind: str = "bigint"


Relations = Mapping[str, GoodRows]
"""The relations that a query reads, by their names in small letters."""


@dataclass
class PlanExecution(TaskPlanner):
    """Makes the DataFrames of a query over rows with multiplicities."""

    relations: Relations
    query: SliceQuery

    def result(self) -> DataFrame:
        """The rows of the result: the columns by their names, `_begin`, `_end` and `_mult`."""
        found = self.frame(self.query.plan)
        named = [f"c{place} AS {quoted(name)}" for place, name in enumerate(self.query.columns)]
        kind = self.query.time_type
        period = [] if self.query.as_of else [f"{decoded(kind, BEGIN)} AS _begin", f"{decoded(kind, END)} AS _end"]
        return found.selectExpr(*named, *period, f"{COUNT} AS _mult")

    def frame(self, plan: SlicePlan) -> DataFrame:
        """The rows of an operator, with columns as `frames` says."""
        if id(plan) not in self.made:
            self.made[id(plan)] = self._made(plan)
        return self.made[id(plan)]

    def _made(self, plan: SlicePlan) -> DataFrame:
        match plan:
            case SliceRelation():
                return self._scan(plan) if plan.period else self._constant(plan)
            case SliceFilter(input, condition):
                return self.frame(input).where(condition)
            case SliceProject(input, items) if picks(items) is None or isinstance(input, _OF_ROWS):
                listed = (f"{item} AS c{place}" for place, item in enumerate(items))
                return self.frame(input).selectExpr(*listed, *PERIOD)
            case SliceUnion(left, right):
                return self.frame(left).unionAll(self.frame(right))
            case SliceJoin(kind="inner", condition=condition) if condition:
                return self.task(replace(plan, condition="")).frame().where(condition)
            case SliceJoin(condition=condition) if condition:
                return self._conditional(plan)
        return self.task(plan).frame()

    # --- operators of tasks -------------------------------------------------------------------------------------------

    def task(self, plan: SlicePlan) -> TaskPlan:
        """An operator as tasks evaluate it, with those under it that need the same rows together."""
        match plan:
            case SliceProject(input, items) if (places := picks(items)) is not None and not isinstance(input, _OF_ROWS):
                return self.picked(self.task(input), places)
            case SliceCoalesce(input):
                under = self.task(input)
                return replace(self.together(under, range(len(under.types))), finished=True)
            case SliceDistinct(input):
                return self._distinct(self.task(input))
            case SliceDifference():
                return self._set_operation(plan)
            case SliceGroup():
                return self._grouped(plan)
            case SliceJoin(condition=""):
                return self._joined(plan)
        return self.read(self.frame(plan))

    def _distinct(self, task: TaskPlan) -> TaskPlan:
        found = self.together(task, range(len(task.types)))
        return replace(found, plan=SliceDistinct(found.plan))

    def _set_operation(self, plan: SliceDifference) -> TaskPlan:
        left, right = self.task(plan.left), self.task(plan.right)
        if left.types != right.types:
            left, right = self.alike(self.frame(plan.left), self.frame(plan.right))
        left, right = self.beside(left, right, [(place, place) for place in range(len(left.types))])
        if plan.distinct:
            left, right = self._distinct(left), self._distinct(right)
        made = SliceDifference(left.plan, right.plan, plan.common)
        return replace(left, plan=made, inputs=(*left.inputs, *right.inputs))

    def _grouped(self, plan: SliceGroup) -> TaskPlan:
        under, aggregates = self.task(plan.input), plan.aggregates
        given = {one: text for one in aggregates if (text := _argument(one, under.types))}
        if not given:
            return self._of_all(under, plan, aggregates)
        texts = {text: len(under.types) + n for n, text in enumerate(dict.fromkeys(given.values()))}
        read = self.read(with_columns(under.frame(), *texts))
        moved = [replace(one, column=texts[given[one]]) if one in given else one for one in aggregates]
        found = self._of_all(read, plan, moved)
        values = [f"c{n}" for n in range(plan.keys)]
        for n, one in enumerate(aggregates, start=plan.keys):
            ordered = one in given and one.column is not None and one.function not in _SUMMED
            values.append(in_order(f"c{n}", under.types[one.column or 0], back=True) if ordered else f"c{n}")
        if all(value == f"c{n}" for n, value in enumerate(values)):
            return found
        shown = (f"{value} AS c{n}" for n, value in enumerate(values))
        return self.read(found.frame().selectExpr(*shown, *PERIOD))

    def _of_all(self, under: TaskPlan, plan: SliceGroup, aggregates: Sequence[SliceAggregate]) -> TaskPlan:
        return self._always(under, aggregates) if plan.always else self._groups(under, plan.keys, aggregates)

    def _groups(
        self, under: TaskPlan, keys: int, aggregates: Sequence[SliceAggregate], always: bool = False
    ) -> TaskPlan:
        made = tuple(_aggregate(one, under.types) for one in aggregates)
        types, parts = (*under.types[:keys], *(one for _, one in made)), False
        if under.together is not None and not set(under.together) <= set(range(keys)) and _add_up(aggregates, under):
            parts, under = True, self._parts(under, keys, tuple(one for one, _ in made))
        under = self.together(under, range(keys))
        plan = SliceGroup(under.plan, keys, tuple(one for one, _ in made), always, of_parts=parts)
        return replace(under, plan=plan, types=types)

    def _parts(self, under: TaskPlan, keys: int, aggregates: tuple[SliceAggregate, ...]) -> TaskPlan:
        """Rows that are not together yet, added up where they are: there are fewer to move."""
        from pyspark.sql.types import DecimalType

        numbers = 2 * len({one.column for one in aggregates if one.column is not None})
        types = (*under.types[:keys], *[DecimalType(38, 0)] * numbers)
        return self.read(replace(under, plan=SliceParts(under.plan, keys, aggregates), types=types).frame())

    def _always(self, under: TaskPlan, aggregates: Sequence[SliceAggregate]) -> TaskPlan:
        """All rows as one group, at all of time: that is a group for each bin, in which it has a row of no copies."""
        low, high = self.query.low, self.query.high
        assert low is not None and high is not None, "all-time results have a domain"
        inner = [border for border in self.borders if low < border < high]
        rows = under.frame()
        values = columns_of(rows)
        ends = zip([low, *inner], [*inner, high], strict=True)
        bins = ", ".join(f"struct({literal(b)} AS b, {literal(e)} AS e, {n} AS n)" for n, (b, e) in enumerate(ends))
        nothing = (f"CAST(NULL AS {kind}) AS {name}" for name, kind in rows.dtypes if name in values)
        marks = self.spark.range(1).selectExpr(f"explode(array({bins})) AS _p")
        marks = marks.selectExpr(*nothing, f"_p.b AS {BEGIN}", f"_p.e AS {END}", f"0L AS {COUNT}", f"_p.n AS {BIN}")
        both = in_bins(rows, inner).unionAll(marks.where(f"{BEGIN} < {END}"))
        both = both.selectExpr(*(f"{name} AS c{n}" for n, name in enumerate([BIN, *values])), *PERIOD)
        moved = [replace(one, column=None if one.column is None else one.column + 1) for one in aggregates]
        found = self._groups(self.read(both), 1, moved, always=True)
        return self.picked(found, range(1, len(found.types)))

    # --- joins --------------------------------------------------------------------------------------------------------

    def _joined(self, plan: SliceJoin) -> TaskPlan:
        left, right, pairs = self.sides(plan)
        found, by = self.pairs(plan.kind, left, right, pairs), len(left.types)
        mine, theirs = range(width(plan.left)), range(by, by + width(plan.right))
        own = [*mine] if plan.kind in ("semi", "anti") else [*mine, *theirs]
        return found if len(own) == len(found.types) else self.picked(found, own)

    def _conditional(self, plan: SliceJoin) -> DataFrame:
        """A join on more than equal columns: rows beside its pairs are what these leave of the time of each row.

        A row is known by its values and its period.
        """
        left, right, pairs = self.sides(plan)
        frames = left.frame(), right.frame()
        sides = [self.read(with_columns(frame, f"struct({', '.join(frame.columns[:-1])})")) for frame in frames]
        own, ids = [width(plan.left), width(plan.right)], [len(side.types) - 1 for side in sides]
        found, by = self.pairs("inner", sides[0], sides[1], pairs).frame(), len(sides[0].types)
        shown = [*range(own[0]), *range(by, by + own[1])]
        named = [f"c{place} AS c{n}" for n, place in enumerate(shown)]
        found = found.selectExpr(*named, f"c{ids[0]} AS _l", f"c{by + ids[1]} AS _r", *PERIOD).where(plan.condition)
        kinds = [f"CAST(NULL AS {kind}) AS {name}" for name, kind in found.dtypes[: sum(own)]]
        names = columns(own[0])
        if plan.kind in ("semi", "anti"):
            return self._partners(plan.kind, sides[0], ids[0], found, "_l").selectExpr(*names, *PERIOD)
        parts = [found.selectExpr(*columns(sum(own)), *PERIOD)]
        if plan.kind in ("left", "full"):
            rest = self._partners("anti", sides[0], ids[0], found, "_l")
            parts.append(rest.selectExpr(*names, *kinds[own[0] :], *PERIOD))
        if plan.kind in ("right", "full"):
            rest = self._partners("anti", sides[1], ids[1], found, "_r")
            theirs = (f"c{n} AS c{own[0] + n}" for n in range(own[1]))
            parts.append(rest.selectExpr(*kinds[: own[0]], *theirs, *PERIOD))
        return reduce(lambda one, other: one.unionAll(other), parts)

    def _partners(self, kind: JoinType, side: TaskPlan, place: int, pairs: DataFrame, name: str) -> DataFrame:
        """The rows of a side where they are in some of the pairs, or where they are in none."""
        others = self.read(pairs.selectExpr(f"{name} AS c0", *PERIOD))
        return self.pairs(kind, side, others, [(place, 0)]).frame()

    # --- relations ----------------------------------------------------------------------------------------------------

    def _scan(self, plan: SliceRelation) -> DataFrame:
        given = self.relations[plan.table.lower()]
        assert given.period is not None, f"{plan.table} has periods"
        begin, end = (encoded(given.kind, quoted(name)) for name in given.period)
        listed = (f"{quoted(name)} AS c{place}" for place, name in enumerate(plan.columns))
        rows = given.frame.selectExpr(*listed, f"{begin} AS {BEGIN}", f"{end} AS {END}", f"1L AS {COUNT}")
        return normal(within(rows, self.query.low, self.query.high))

    def _constant(self, plan: SliceRelation) -> DataFrame:
        rows = self.relations[plan.table.lower()].frame if plan.table else self.spark.range(1)
        low, high = literal(LEAST), literal(GREATEST)
        listed = [f"{quoted(name)} AS c{place}" for place, name in enumerate(plan.columns)]
        made = rows.selectExpr(*listed, f"{low} AS {BEGIN}", f"{high} AS {END}", f"1L AS {COUNT}")
        return normal(within(made, self.query.low, self.query.high).where(f"{BEGIN} < {END}"))


def executed(spark: SparkSession, query: SliceQuery, relations: Relations) -> DataFrame:
    """The result of a query over relations, lazily."""
    bins = int(str(spark.conf.get("spark.sql.shuffle.partitions", "1")))
    return PlanExecution(spark, query.plan, bins, relations, query).result()


def _add_up(aggregates: Sequence[SliceAggregate], rows: TaskPlan) -> bool:
    """Whether aggregates are of sums of integers, of which there are some."""
    kinds = [sql_type(rows.types[one.column].simpleString()).family for one in aggregates if one.column is not None]
    sums = all(one.function in ("count", *_SUMMED) and not one.distinct for one in aggregates)
    return bool(aggregates) and sums and all(kind in ("integer", "decimal") for kind in kinds)


def _argument(one: SliceAggregate, types: Sequence[DataType]) -> str:
    """The argument in the place of a column: a string's number, a nested value's order; else empty."""
    if one.column is None or one.function == "count":
        return ""
    name, kind = f"c{one.column}", types[one.column]
    if one.function in _SUMMED:
        return f"CAST({name} AS DOUBLE)" if sql_type(kind.simpleString()).family == "string" else ""
    found = in_order(name, kind)
    return "" if found == name else found


def in_order(value: str, kind: DataType, back: bool = False) -> str:
    """A nested value of which each part says first whether it is NULL, which is before all others; and ``back``."""
    from pyspark.sql.types import ArrayType, StructType

    def part(text: str, own: DataType) -> str:
        if back:
            return in_order(f"{text}.b", own, back)
        return f"struct({text} IS NOT NULL AS a, {in_order(text, own)} AS b)"

    match kind:
        case ArrayType():
            return f"transform({value}, _x -> {part('_x', kind.elementType)})"
        case StructType():
            names = [(quoted(field.name), field.dataType) for field in kind.fields]
            parts = ", ".join(f"{part(f'{value}.{name}', own)} AS {name}" for name, own in names)
            return f"CASE WHEN {value} IS NOT NULL THEN struct({parts}) END"
    return value


def _aggregate(one: SliceAggregate, types: Sequence[DataType]) -> tuple[SliceAggregate, DataType]:
    """An aggregate as tasks compute it, with the type that it has for Spark."""
    from pyspark.sql.types import DecimalType, DoubleType, LongType

    kind = LongType() if one.column is None else types[one.column]
    result: DataType = DoubleType()
    if one.function == "count":
        result = LongType()
    elif one.function in ("min", "max"):
        result = kind
    elif isinstance(kind, DecimalType):
        more, digits = (10, 0) if one.function == "sum" else (4, 4)
        result = DecimalType(min(38, kind.precision + more), min(38, kind.scale + digits))
    elif one.function == "sum" and sql_type(kind.simpleString()).family == "integer":
        result = LongType()
    own, found = kind.simpleString(), result.simpleString()
    return SliceAggregate(one.function, one.column, own, one.distinct, found), result
