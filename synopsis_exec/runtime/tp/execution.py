"""The plan of a SEQ TP block as a DataFrame: lazily, one shuffle a join, one more where facts of several rows meet.

The only thing that is done at once is a small job that cuts time into bins, for a join without an equality. After their
values rows have the columns of a lineage and its probability, as `rows` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.lineage.bounds import Bounds, chances
from streambound_runtime.lineage.encoding import lineage_dag
from streambound_runtime.lineage.formulas import LineageTooLargeError
from streambound_runtime.lineage.formulas import quoted as variable_part
from streambound_runtime.operators.period_plan import (
    LineageRows,
    SliceDifference,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SliceLineage,
    SlicePlan,
    SliceProject,
    SliceRelation,
    SliceUnion,
    chance_columns,
    width,
)
from streambound_runtime.operators.plan import JoinType
from streambound_runtime.periods.frames import BEGIN, COUNT, END, PERIOD, normal, within
from streambound_runtime.periods.planner import TaskPlanner, with_columns
from streambound_runtime.periods.tasks import TaskPlan
from streambound_runtime.periods.times import decoded, encoded
from streambound_runtime.tp.limits import OR_BOUNDS, Limits
from streambound_runtime.tp.plan import independent, keeps_facts, merges
from streambound_runtime.tp.rows import formula_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

BINS = 16
"""How many tasks at most share a join without an equality: a row is in every bin that it touches."""
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_DAG_TYPE = "ARRAY<STRUCT<op: STRING, var: STRING, args: ARRAY<INT>>>"


@dataclass(frozen=True, slots=True)
class LineageRelation:
    """The good rows of a relation, the name that its variables have, and which columns are what."""

    frame: DataFrame
    name: str
    period: tuple[str, str]
    kind: str
    key: str
    probability: str


@dataclass
class LineageExecution(TaskPlanner):
    """Makes the DataFrames of a query's operators over rows with lineages."""

    relations: Mapping[str, LineageRelation]
    query: SliceLineage

    def result(self) -> DataFrame:
        """The rows of the result: the columns by their names, `_begin`, `_end`, `_lineage` and its probability."""
        found, number = self._found(self.plan, finished=not self.query.dag), len(self.query.columns)
        if self.query.dag:
            found = self._with_dags(found, number)
        named = [f"c{place} AS {quoted(name)}" for place, name in enumerate(self.query.columns)]
        kind, own = self.query.time_type, [f"c{number} AS _lineage"]
        own += [f"c{number + 1 + n} AS {name}" for n, name in enumerate(chance_columns(self.query))]
        period = [] if self.query.as_of else [f"{decoded(kind, BEGIN)} AS _begin", f"{decoded(kind, END)} AS _end"]
        return found.selectExpr(*named, *period, *own, *((DAG,) if self.query.dag else ()))

    def _with_dags(self, rows: DataFrame, number: int) -> DataFrame:
        from pyspark.sql.types import DataType, DoubleType, StructField, StructType

        limits = Limits(self.query.nodes, self.query.time_type, self.query.bounds)
        more = [StructField(f"c{number + 2}", DoubleType())] * self.query.bounds
        schema = StructType([*rows.schema.fields, *more, StructField(DAG, DataType.fromDDL(_DAG_TYPE))])
        return rows.mapInArrow(partial(with_dags, number, limits), schema)

    def frame(self, plan: SlicePlan) -> DataFrame:
        """The rows of an operator, free of duplicates, for another one."""
        if id(plan) not in self.made:
            self.made[id(plan)] = self._found(plan, finished=False)
        return self.made[id(plan)]

    def _found(self, plan: SlicePlan, finished: bool) -> DataFrame:
        """The rows of an operator, free of duplicates; ``finished`` as the result has them."""
        if self._meet(plan):
            rows = self.read(self._loose(plan))
            moved = self.by_columns(rows, tuple(range(width(plan))))
            return self._lineages(moved, width(plan), finished, derived=True)
        if isinstance(plan, SliceJoin):
            return self._joined(plan, finished)
        if not finished:
            return self._loose(plan)
        rows = self.read(self._loose(plan))
        return self._lineages(rows, width(plan), finished)

    def _loose(self, plan: SlicePlan) -> DataFrame:
        """The rows of an operator, of which several may be one fact."""
        match plan:
            case SliceRelation():
                return self._scan(plan)
            case SliceFilter(input, condition):
                return self._loose(input).where(condition)
            case SliceProject(input):
                return self._projected(plan, self._loose(input))
            case SliceUnion(left, right):
                return self._loose(left).unionAll(self._loose(right))
            case SliceDifference():
                return self._difference(plan)
            case SliceGroup():
                return self._groups(plan)
            case SliceJoin():
                return self._joined(plan, finished=False)
        raise AssertionError(f"{type(plan).__name__} has no lineage")

    def _projected(self, plan: SliceProject, rows: DataFrame) -> DataFrame:
        own = (f"c{width(plan.input) + n} AS c{len(plan.items) + n}" for n in range(2))
        return rows.selectExpr(*(f"{item} AS c{n}" for n, item in enumerate(plan.items)), *own, *PERIOD)

    def _meet(self, plan: SlicePlan) -> bool:
        """Whether several rows can be of one fact: derivations, neighbours that are equivalent, or pieces of a row."""
        match plan:
            case SliceFilter(input=input):
                return self._meet(input)
            case SliceProject(input=input):
                return not keeps_facts(plan) or self._meet(input)
            case SliceUnion() | SliceGroup():
                return True
            case SliceJoin(kind=kind, keys=keys):
                # Of a full join, rows without any value of either side, and without a match, are one fact.
                # One without any value that is joined with itself has the same lineage whatever else matches it.
                same = kind in ("left", "right") and not independent(plan)
                return merges(plan) or kind == "full" or same or bool(not keys and self.borders)
        return False

    def _lineages(self, rows: TaskPlan, at: int, finished: bool, derived: bool = False) -> DataFrame:
        """Rows whose lineages are ``at`` a place: those of one fact as one, or as the result has them."""
        plan = LineageRows(rows.plan, at)
        found = replace(self.query, plan=plan, derived=derived, final=False)
        types = (*rows.types, *self._more(finished))
        return TaskPlan(plan, types, rows.inputs, rows.together or (), finished, found).frame()

    def _more(self, finished: bool) -> list[DataType]:
        """The types of the columns that a result has more than rows with lineages: upper bounds of probabilities."""
        from pyspark.sql.types import DoubleType

        return [DoubleType()] * (finished and self.query.bounds)

    def _difference(self, plan: SliceDifference) -> DataFrame:
        """EXCEPT or INTERSECT: what both sides say of a fact."""
        number = width(plan)
        pairs = [(place, place) for place in range(number)]
        left, right = self.beside(*self.alike(self._loose(plan.left), self._loose(plan.right)), pairs)
        made = replace(plan, left=LineageRows(left.plan, number), right=LineageRows(right.plan, number))
        found = replace(self.query, plan=made, derived=True, final=False)
        return TaskPlan(made, left.types, (*left.inputs, *right.inputs), left.together, False, found).frame()

    def _groups(self, plan: SliceGroup) -> DataFrame:
        """GROUP BY: rows that are one fact are one row before."""
        from pyspark.sql.types import DoubleType, LongType, StringType

        under, number = plan.input, width(plan.input)
        assert isinstance(under, SliceProject), "what is grouped is computed first"
        rows = self.read(self._projected(under, self.frame(under.input)))
        moved = self.by_columns(rows, tuple(range(plan.keys)))
        kinds = [DoubleType() if one.result == "double" else LongType() for one in plan.aggregates]
        made = replace(plan, input=LineageRows(moved.plan, number))
        found = replace(self.query, plan=made, derived=True, final=False)
        types = (*moved.types[: plan.keys], *kinds, StringType(), DoubleType())
        return TaskPlan(made, types, moved.inputs, moved.together, False, found).frame()

    # --- joins --------------------------------------------------------------------------------------------------------

    def _joined(self, plan: SliceJoin, finished: bool) -> DataFrame:
        left, right, keys = self.sides(plan)
        if plan.condition:
            return self._conditional(plan, self._known(left), self._known(right), keys, finished)
        return self._windows(plan, plan.kind, (left, right), keys, finished)

    def _windows(
        self, plan: SliceJoin, kind: JoinType, sides: tuple[TaskPlan, TaskPlan], keys: Sequence[tuple[int, int]],
        finished: bool,
    ) -> DataFrame:  # fmt: skip
        """A join of a ``kind`` of rows that are equal in pairs of columns, of which values are shown."""
        from pyspark.sql.types import DoubleType, StringType

        left, right = self.beside(*sides, keys)
        own = width(plan.left), width(plan.right)
        by = len(left.types) - 2
        equal = tuple((_without_lineage(mine, own[0]), _without_lineage(theirs, own[1])) for mine, theirs in keys)
        join = SliceJoin(kind, LineageRows(left.plan, own[0]), LineageRows(right.plan, own[1]), equal)
        shown, kinds = [*range(own[0])], [*left.types[: own[0]]]
        if kind != "anti":
            shown, kinds = [*shown, *range(by, by + own[1])], [*kinds, *right.types[: own[1]]]
        blanks, derived = (tuple(range(own[0])), tuple(range(own[1]))), plan.kind == "full"
        apart = independent(plan) and finished  # else they are formulas
        made = SliceProject(join, tuple(f"c{place}" for place in shown))
        found = replace(self.query, plan=made, blanks=blanks, independent=apart, derived=derived, final=False)
        inputs, types = (*left.inputs, *right.inputs), (*kinds, StringType(), DoubleType(), *self._more(finished))
        return TaskPlan(found.plan, types, inputs, left.together, finished, found).frame()

    def _known(self, side: TaskPlan) -> TaskPlan:
        """The rows of a side, with what each is known by: its values, its lineage and its period."""
        frame = side.frame()
        return self.read(with_columns(frame, f"struct({', '.join(frame.columns[:-1])})"))

    def _conditional(
        self, plan: SliceJoin, left: TaskPlan, right: TaskPlan, keys: Sequence[tuple[int, int]], finished: bool
    ) -> DataFrame:
        """A join on more than equal columns: of the rows of a side with those pairs that they are in."""
        own, by, last = (width(plan.left), width(plan.right)), len(left.types), len(left.types) + len(right.types) - 1
        pairs = self.pairs("inner", left, right, keys).frame()
        values = [*range(own[0]), *range(by, by + own[1])]
        seen = [f"c{place} AS c{n}" for n, place in enumerate(values)]
        pairs = pairs.selectExpr(*(f"c{n} AS _p{n}" for n in range(last + 1)), *seen, *PERIOD).where(plan.condition)

        def partners(start: int, number: int, known: int) -> TaskPlan:
            listed = [*range(start, start + number + 2), known]
            return self.read(pairs.selectExpr(*(f"_p{place} AS c{n}" for n, place in enumerate(listed)), *PERIOD))

        if plan.kind == "right":
            sides, equal = (partners(0, own[0], last), right), [(own[0] + 2, len(right.types) - 1)]
            return self._windows(plan, "right", sides, equal, finished)
        sides, equal = (left, partners(by, own[1], by - 1)), [(by - 1, own[1] + 2)]
        found = self._windows(plan, "left" if plan.kind == "full" else plan.kind, sides, equal, finished)
        if plan.kind != "full":
            return found
        other = replace(plan, left=plan.right, right=plan.left)
        equal = [(len(right.types) - 1, own[0] + 2)]
        rest = self._windows(other, "anti", (right, partners(0, own[0], last)), equal, finished)
        nothing = (f"CAST(NULL AS {kind}) AS {name}" for name, kind in found.dtypes[: own[0]])
        moved = (f"c{n} AS c{own[0] + n}" for n in range(own[1] + 2))
        return found.unionAll(rest.selectExpr(*nothing, *moved, *PERIOD))

    # --- relations ----------------------------------------------------------------------------------------------------

    def _scan(self, plan: SliceRelation) -> DataFrame:
        from pyspark.sql import functions as F

        given = self.relations[plan.table.lower()]
        begin, end = (encoded(given.kind, quoted(name)) for name in given.period)
        key, p = F.col(quoted(given.key)), F.col(quoted(given.probability))
        (_, key_kind), (_, p_kind) = given.frame.select(key, p).dtypes
        plain = key >= 0 if key_kind in _INTEGERS else key.cast("string").rlike(r"\A[A-Za-z0-9_]+\z")
        text = key.cast("string")
        escaped = F.concat(F.lit('"'), F.replace(text, F.lit('"'), F.lit('""')), F.lit('"'))
        named = F.when(plain, text).otherwise(escaped)
        if p_kind != "double":
            p = p.cast("string").cast("double")  # a number of 32 bits is read by its shortest decimal text, too
        values = [F.col(quoted(name)) for name in plan.columns]
        values += [F.concat(F.lit(f"{variable_part(given.name)}."), named), p]
        period = [F.expr(begin).alias(BEGIN), F.expr(end).alias(END), F.lit(1).cast("bigint").alias(COUNT)]
        rows = given.frame.select(*(value.alias(f"c{n}") for n, value in enumerate(values)), *period)
        return normal(within(rows, self.query.low, self.query.high))


def executed_lineage(
    spark: SparkSession, query: SliceLineage, relations: Mapping[str, LineageRelation]
) -> DataFrame:  # fmt: skip
    """The result of a block over relations, by their names in small letters, lazily."""
    tasks = int(str(spark.conf.get("spark.sql.shuffle.partitions", "1")))
    return LineageExecution(spark, query.plan, min(tasks, BINS), relations, query).result()


def _without_lineage(place: int, at: int) -> str:
    """A column once a lineage and its probability are none any more."""
    return f"c{place if place < at else place - 2}"


DAG = "_lineage_dag"
"""The column that a result has after those of `rows`, on request."""
DAG_TYPE = pa.list_(pa.struct([("op", pa.string()), ("var", pa.string()), ("args", pa.list_(pa.int32()))]))


def with_dags(width: int, limits: Limits, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows with the text, probability and array of each lineage that is true in a possible world."""
    for batch in batches:
        rows, texts, found, dags = list[int](), list[str](), list[Bounds](), list[list[dict[str, object]]]()
        for place, row in enumerate(batch.to_pylist()):
            lineage = formula_of(row[f"c{width}"], row[f"c{width + 1}"])
            try:
                p = chances(lineage, limits.nodes, limits.bounds)
            except LineageTooLargeError as error:
                fact = [row[f"c{n}"] for n in range(width)]
                raise limits.error(error, fact, row[BEGIN], row[END], OR_BOUNDS) from error
            if p is not None:
                rows.append(place)
                texts.append(lineage.text)
                found.append(p)
                dags.append(lineage_dag(lineage))
        kept, made = batch.take(pa.array(rows, pa.int64())), {f"c{width}": pa.array(texts, pa.string())}
        ends = [f"c{width + 1 + n}" for n in range(1 + limits.bounds)]
        made |= {name: pa.array([p[n] for p in found], pa.float64()) for n, name in enumerate(ends)}
        made |= {DAG: pa.array(dags, DAG_TYPE)}
        names = [*batch.schema.names, *ends[1:], DAG]
        yield pa.RecordBatch.from_arrays([made[name] if name in made else kept.column(name) for name in names], names)
