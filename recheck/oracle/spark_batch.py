"""A statement as one batch query in Spark, and what a run has printed against it, timestamp by timestamp.

Nothing here is shared with the executor: rows are read by Spark's own JSON reader, the statement is run as it is
written, and once more with a hidden column of timestamps (`stamped`); both must agree with each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.errors import StreamboundError
from streambound.analyzer.types import Family
from streambound.recheck.oracle.stamped import NUMBER, TIME, stamped
from streambound_runtime.scratch import JAVA_OPTIONS, java_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_SHOWN = 20
"""Differing results that are reported of one timestamp."""


class Snapshots(Struct, frozen=True):
    """The points of time of a SEQ statement: ``low`` to before ``high``, or ``as_of`` the first of them; encoded.

    Where ``high`` is not known time is over with the last row. ``whole``: rows of the output are the longest ones that
    there are, not parts of them. ``summed``: rows of one value may overlap, for it is their sum that is the result.
    ``lineages``: the statement is a SEQ TP one, of which rows are there in some worlds.
    """

    low: int | None
    high: int | None
    as_of: bool
    whole: bool
    summed: bool = False
    lineages: bool = False

    def has(self, point: int) -> bool:
        """Whether it is one of them."""
        return (self.low is None or self.low <= point) and (self.high is None or point < self.high)

    def points(self, ends: Set[int]) -> list[int]:
        """Where something may change, of rows with these ends, in order; the last one is where all is over."""
        if self.as_of:
            return [] if self.low is None else [self.low]
        last = self.high if self.high is not None else max(ends, default=self.low)
        if last is None:
            return []
        known = {*ends, last, *([] if self.low is None else [self.low])}
        return sorted(one for one in known if (self.low is None or one >= self.low) and one <= last)


class BatchStatement(Struct, frozen=True):
    """A statement as it is written and as a tree, its catalog, and the names of its select list.

    Of a SEQ VT statement it is what is inside of the block, and ``snapshots`` says when that is evaluated. A run in
    ``batches`` prints what changes from one micro-batch to the next, at any of its timestamps.
    """

    text: str
    tree: exp.Expr
    catalog: Catalog
    columns: tuple[str, ...]
    snapshots: Snapshots | None = None
    batches: bool = False


class Cell(Struct, frozen=True):
    """A result that batch SQL has ``expected`` times at a timestamp and the run has ``found`` times."""

    values: tuple[str, ...]
    """As Spark prints them as text; NULL is ``NULL``."""
    expected: int
    found: int


class BatchComparison(Struct, frozen=True):
    """How many results batch SQL has (with duplicates) and at how many timestamps; the first one that differs.

    ``cells`` are the first differing results of that ``timestamp``, a number as in `stamped`; it is None before
    all timestamps, where relations alone give a result.
    """

    results: int
    timestamps: int
    timestamp: int | None = None
    cells: tuple[Cell, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether every timestamp has the same multiset of results."""
        return not self.cells


def batch_session() -> SparkSession:
    """A session beside the others of this process, in UTC and ANSI mode; starts Spark where it does not run yet."""
    from pyspark.sql import SparkSession

    first = (
        SparkSession.builder.appName("streambound: batch SQL")
        .config(JAVA_OPTIONS, java_options())
        .config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False)
        .getOrCreate()
    )
    first.sparkContext.setLogLevel("OFF")
    spark = first.newSession()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.ansi.enabled", True)
    spark.conf.set("spark.sql.shuffle.partitions", 2)
    return spark


def compare(spark: SparkSession, statement: BatchStatement, folder: Path, output: Path) -> BatchComparison:
    """A run's output, JSON lines with ``_ts`` and ``_mult``, against the statement over the same rows.

    ``folder`` has a directory of JSON lines for each table. Raises StreamboundError for what Spark refuses.
    """
    with refusals():
        both = _Both.of(spark, statement, folder, output)
        both.expected.persist()
        try:
            _agree(both)
            size = both.expected.selectExpr(f"coalesce(sum({NUMBER}), 0) AS n", f"count(DISTINCT {TIME}) AS t").first()
            assert size is not None
            return BatchComparison(size.n, size.t, *(first_difference(both.names, both.expected, both.found) or ()))
        finally:
            both.expected.unpersist()


@contextmanager
def refusals() -> Iterator[None]:
    """Turn Spark's refusals into StreamboundError."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        message = (str(error).strip() or type(error).__name__).split("\n")[0]
        raise StreamboundError(f"Spark's batch query fails: {message}") from error


class _Both(Struct, frozen=True):
    """The statement as it is written, with timestamps, and what the run has printed; columns by position."""

    names: list[str]
    written: DataFrame
    expected: DataFrame
    found: DataFrame

    @staticmethod
    def of(spark: SparkSession, statement: BatchStatement, folder: Path, output: Path) -> _Both:
        tables = show(spark, statement.tree, statement.catalog, folder)
        names = [f"c{number}" for number in range(len(statement.columns))]
        written = spark.sql(statement.text)
        expected = spark.sql(stamped(statement.tree, statement.catalog, names).sql("spark"))
        found = printed(spark, statement, written, output, any(map(is_moment, tables)))
        return _Both(names, written.toDF(*names), expected, found.toDF(*names, TIME, NUMBER))


def _agree(both: _Both) -> None:
    """Raise StreamboundError unless the statement as written returns what the one with timestamps returns."""
    from pyspark.sql import functions as F

    counted = both.written.groupBy(*both.names).agg(F.count("*").alias(NUMBER))
    if differing(counted, both.expected.select(*both.names, NUMBER), both.names).limit(1).collect():
        message = (
            "the statement and its form with timestamps return different rows in Spark; this is a defect of verify"
        )
        raise StreamboundError(message)


def differing(expected: DataFrame, found: DataFrame, keys: Sequence[str]) -> DataFrame:
    """``keys``, ``expected`` and ``found``: where two counted multisets differ."""
    from pyspark.sql import functions as F

    left = expected.select(*keys, F.col(NUMBER).alias("expected"), F.lit(0).cast("bigint").alias("found"))
    right = found.select(*keys, F.lit(0).cast("bigint").alias("expected"), F.col(NUMBER).alias("found"))
    both = left.unionAll(right).groupBy(*keys).agg(F.sum("expected").alias("expected"), F.sum("found").alias("found"))
    return both.where("expected <> found")


def first_difference(
    names: Sequence[str], expected: DataFrame, found: DataFrame
) -> tuple[int | None, tuple[Cell, ...]] | None:
    """The first timestamp at which two counted multisets differ, and how; None where they are equal."""
    texts = [f"coalesce(CAST({name} AS STRING), 'NULL') AS {name}" for name in names]
    rows = (
        differing(expected, found, [*names, TIME])
        .selectExpr(*texts, TIME, "expected", "found")
        .orderBy(TIME, *names)
        .limit(MOST_SHOWN)
        .collect()
    )
    if not rows:
        return None
    first = rows[0][TIME]
    mine = [row for row in rows if row[TIME] == first]
    return first, tuple(Cell(tuple(row[name] for name in names), row["expected"], row["found"]) for row in mine)


# --- rows -------------------------------------------------------------------------------------------------------------


def show(spark: SparkSession, tree: exp.Expr, catalog: Catalog, folder: Path) -> list[DeclaredTable]:
    """A view of each table whose rows are there, under its name."""
    tables = [table for table in catalog.tables if (folder / table.name).is_dir()]
    read = {name.name.lower() for name in tree.find_all(exp.Identifier)}
    for table in tables:
        nested = {c.name for c in table.columns if c.type.family is Family.OTHER and c.name.lower() in read}
        mode = "PERMISSIVE" if nested else "FAILFAST"  # a row of no use may have a value that cannot be read
        schema = schema_of(table.columns, nested)
        rows = spark.read.schema(schema).option("mode", mode).json(str(folder / table.name))
        rows.createOrReplaceTempView(quoted(table.name))
    return tables


def schema_of(columns: Sequence[Column], read: Set[str] = frozenset()) -> str:
    """Columns as declared; of nested and other types that are not ``read`` it only matters that something is there."""
    return ", ".join(f"{quoted(column.name)} {_type(column, column.name in read)}" for column in columns)


def _type(column: Column, read: bool) -> str:
    if read:
        return column.type.name
    return "STRING" if column.type.family in (Family.OTHER, Family.STRING) else column.type.name


def printed(
    spark: SparkSession, statement: BatchStatement, written: DataFrame, output: Path, moment: bool
) -> DataFrame:
    """A run's output: its columns, of the types that Spark gives the statement's, and `_ts` as a number."""
    names = [quoted(column) for column in statement.columns]
    kinds = [_declared(field.dataType) for field in written.schema.fields]
    schema = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
    rows = spark.read.schema(f"{schema}, {TIME} STRING, {NUMBER} BIGINT").option("mode", "FAILFAST").json(str(output))
    time = f"unix_micros(CAST({TIME} AS TIMESTAMP))" if moment else f"CAST({TIME} AS BIGINT)"
    return rows.selectExpr(*names, f"{time} AS {TIME}", NUMBER)


def _declared(kind: Any) -> str:
    """A type as a schema names it; a column of NULLs alone has none."""
    name = str(kind.simpleString())
    return "STRING" if name == "void" else name


def is_moment(table: DeclaredTable) -> bool:
    """Whether the time of a stream, or of a relation's changes, is a timestamp."""
    if table.changes is not None:
        return table.changes.timestamp.type.family is Family.TIMESTAMP
    column = table.column(str(table.timestamp)) if table.kind is not Kind.RELATION else None
    return column is not None and column.type.family is Family.TIMESTAMP


def quoted(name: str) -> str:
    """A name as Spark's SQL has it."""
    return exp.to_identifier(name, quoted=True).sql("spark")
