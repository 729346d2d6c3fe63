"""The plan of a SEQ TP block as a DataFrame: lazily, one shuffle a join, one more where facts of several rows meet.

The only thing that is done at once is a small job that cuts time into bins, for a join without an equality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.lineage.formulas import quoted as variable_part
from streambound_runtime.periods.frames import normal
from streambound_runtime.periods.hot import borders_of
from streambound_runtime.periods.plan import PeriodFilter, PeriodJoin, PeriodPlan, PeriodProject, SnapshotScan, scans
from streambound_runtime.periods.times import decoded, encoded
from streambound_runtime.tp.derivations import derivations
from streambound_runtime.tp.limits import Limits
from streambound_runtime.tp.overlaps import OverlapScan, overlaps
from streambound_runtime.tp.plan import WINDOWS, LineageQuery, independent, keeps_facts, merges
from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, P
from streambound_runtime.tp.sides import OWN, pairs, tagged, value_fields
from streambound_runtime.tp.swept import Swept
from streambound_runtime.tp.windows import WindowJoin, windows
from streambound_runtime.tp.written import DAG, as_operand, as_result, as_swept

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField

Sweep = Callable[["Iterator[pa.RecordBatch]"], Iterator[Swept]]
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


@dataclass(frozen=True, slots=True)
class _Sweeping:
    """Rows that a sweep makes of a DataFrame: written as what reads them wants it."""

    frame: DataFrame
    sweep: Sweep
    fields: tuple[StructField, ...]

    def operand(self) -> DataFrame:
        """The rows for another operator."""
        from pyspark.sql.types import StructType

        write = partial(as_operand, tuple(field.name for field in self.fields))
        return self.frame.mapInArrow(partial(_run, self.sweep, write), StructType([*self.fields, *_own_fields()]))

    def result(self, limits: Limits, dag: bool) -> DataFrame:
        """The rows as a result: lineages as texts, with probabilities."""
        from pyspark.sql.types import DataType, StructField, StructType

        write = partial(as_result, tuple(field.name for field in self.fields), limits, dag)
        more = [StructField(DAG, DataType.fromDDL(_DAG_TYPE))] if dag else []
        schema = StructType([*self.fields, *_own_fields(), *more])
        return self.frame.mapInArrow(partial(_run, self.sweep, write), schema)


@dataclass(frozen=True)
class _Execution:
    """Makes the DataFrames of a query's operators."""

    spark: SparkSession
    relations: Mapping[str, LineageRelation]
    query: LineageQuery

    def result(self) -> DataFrame:
        """The rows of the result: the columns by their names, `_begin`, `_end`, `_lineage` and `_p`."""
        found = self._rows(self.query.plan)
        if not isinstance(found, _Sweeping):
            fields = tuple(found.schema[name] for name in found.columns if name not in OWN)
            found = _Sweeping(found, partial(as_swept, tuple(field.name for field in fields)), fields)
        rows = found.result(self._limits, self.query.dag)
        named = [f"c{place} AS {quoted(name)}" for place, name in enumerate(self.query.columns)]
        kind = self.query.time_type
        period = [f"{decoded(kind, BEGIN)} AS _begin", f"{decoded(kind, END)} AS _end"]
        return rows.selectExpr(*named, *period, LINEAGE, P, *((DAG,) if self.query.dag else ()))

    @property
    def _limits(self) -> Limits:
        return Limits(self.query.nodes, self.query.time_type)

    @cached_property
    def _borders(self) -> list[int]:
        """Where time is cut into bins: about as many base rows begin between any two."""
        found = [self._scan(scan) for scan in scans(self.query.plan) if isinstance(scan, SnapshotScan)]
        tasks = int(str(self.spark.conf.get("spark.sql.shuffle.partitions", "1")))
        return borders_of(found, min(tasks, BINS))

    def _frame(self, plan: PeriodPlan) -> DataFrame:
        """The rows of an operator, free of duplicates, for another one."""
        found = self._rows(plan)
        return found.operand() if isinstance(found, _Sweeping) else found

    def _rows(self, plan: PeriodPlan) -> DataFrame | _Sweeping:
        if self._meet(plan):
            return self._merged(self._loose(plan))
        return self._joined(plan) if isinstance(plan, PeriodJoin) else self._loose(plan)

    def _loose(self, plan: PeriodPlan) -> DataFrame:
        """The rows of an operator, of which several may be one fact."""
        match plan:
            case SnapshotScan():
                return self._scan(plan)
            case PeriodFilter(input, condition):
                return self._loose(input).where(condition)
            case PeriodProject(input, items):
                return self._loose(input).selectExpr(*(f"{item} AS c{i}" for i, item in enumerate(items)), *OWN)
            case PeriodJoin():
                return self._joined(plan).operand()
        raise AssertionError(f"{type(plan).__name__} has no lineage")

    def _meet(self, plan: PeriodPlan) -> bool:
        """Whether several rows can be of one fact: derivations, neighbours that are equivalent, or pieces of a row."""
        match plan:
            case PeriodFilter(input=input):
                return self._meet(input)
            case PeriodProject(input=input):
                return not keeps_facts(plan) or self._meet(input)
            case PeriodJoin(kind=kind, keys=keys):
                # Of a full join, rows without any value of either side, and without a match, are one fact.
                # One without any value that is joined with itself has the same lineage whatever else matches it.
                same = kind in ("left", "right") and not independent(plan)
                return merges(plan) or kind == "full" or same or bool(not keys and self._borders)
        return False

    def _joined(self, join: PeriodJoin) -> _Sweeping:
        left, right = self._frame(join.left), self._frame(join.right)
        rows, scan = tagged(join, left, right, [] if join.keys else self._borders)
        blanks = {"left": (False, True), "right": (True, False)}.get(join.kind, (False, False))
        apart = independent(join)
        made = WindowJoin(scan.widths, join.kind != "anti", WINDOWS[join.kind], blanks, apart)
        fields = tuple(value_fields(rows, scan, made.sides_shown))
        if not join.condition:
            return _Sweeping(rows, partial(_scanned, scan, made), fields)
        return _Sweeping(pairs(rows, scan, join.condition), partial(windows, made), fields)

    def _merged(self, rows: DataFrame) -> _Sweeping:
        """One row for each fact and maximal period."""
        names = [name for name in rows.columns if name not in OWN]
        together = normal(rows).repartition(*names).sortWithinPartitions(*names, BEGIN)
        fields = tuple(rows.schema[name] for name in names)
        return _Sweeping(together, partial(derivations, tuple(names), self._limits), fields)

    def _scan(self, plan: SnapshotScan) -> DataFrame:
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
        values = [F.col(quoted(name)).alias(f"c{place}") for place, name in enumerate(plan.columns)]
        variable = F.concat(F.lit(f"{variable_part(given.name)}."), named)
        own = [F.expr(begin).alias(BEGIN), F.expr(end).alias(END), variable.alias(LINEAGE), p.alias(P)]
        return normal(given.frame.select(*values, *own))


def executed_lineage(
    spark: SparkSession, query: LineageQuery, relations: Mapping[str, LineageRelation]
) -> DataFrame:  # fmt: skip
    """The result of a block over relations, by their names in small letters, lazily."""
    return _Execution(spark, relations, query).result()


def _own_fields() -> list[StructField]:
    """The columns of `tp.rows` after the values."""
    from pyspark.sql.types import DoubleType, LongType, StringType, StructField

    kinds = (LongType(), LongType(), StringType(), DoubleType())
    return [StructField(name, kind) for name, kind in zip(OWN, kinds, strict=True)]


def _run(
    sweep: Sweep, write: Callable[[Iterator[Swept]], Iterator[pa.RecordBatch]], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What `mapInArrow` does with a partition."""
    return write(sweep(batches))


def _scanned(scan: OverlapScan, join: WindowJoin, batches: Iterator[pa.RecordBatch]) -> Iterator[Swept]:
    """A join whose condition is its keys: no pair is tested."""
    return windows(join, overlaps(scan, batches))
