"""A SEQ TP statement as batch queries in Spark in possible worlds, and the rows with lineages of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.catalog import DeclaredTable
from streambound.recheck.oracle.lineage_worlds import Fact, Facts, PrintedRow, Variable, World, Worlds, probabilities
from streambound.recheck.oracle.spark_batch import BatchComparison, BatchStatement, quoted, refusals, show
from streambound.recheck.oracle.spark_prefixes import comparable
from streambound.recheck.oracle.spark_snapshots import as_number, bounds, visible

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WORLD = "_world"


def compare_lineages(
    spark: SparkSession, statement: BatchStatement, folder: Path, output: Path, seed: int = 0
) -> BatchComparison:
    """A run's output, lines with ``_begin``, ``_end``, ``_lineage`` and its probability, against worlds of its rows.

    ``folder`` has a directory of JSON lines for each table. Raises StreamboundError for what Spark refuses.
    """
    with refusals():
        try:
            return _worlds(spark, statement, folder, output).compared(Random(f"worlds {seed}"))
        finally:
            spark.catalog.clearCache()


def _worlds(spark: SparkSession, statement: BatchStatement, folder: Path, output: Path) -> Worlds:
    """The rows of each table, and what the run has printed."""
    shown = show(spark, statement.tree, statement.catalog, folder)
    tables = [(table, spark.table(quoted(table.name)).persist()) for table in shown]
    variables = [one for table, rows in tables for one in _variables(table, rows)]
    for table, rows in tables:
        visible(table, rows, probabilistic=True).createOrReplaceTempView(quoted(table.name))
    written = spark.sql(statement.text)
    kind = bounds(shown[0])[0].type.name
    names = [quoted(name) for name in written.columns]
    line = statement.snapshots
    assert line is not None, "the statement is evaluated at points of time"
    own = [] if line.as_of else [f"_begin {kind}", f"_end {kind}"]
    given = [f"{n} {f.dataType.simpleString()}" for n, f in zip(names, written.schema, strict=True)]
    chances = probabilities(statement.catalog)
    given += [*own, "_lineage STRING", *(f"{name} DOUBLE" for name in dict.fromkeys(chances))]
    rows = spark.read.schema(", ".join(given)).option("mode", "FAILFAST").json(str(output))
    periods = [f"{as_number(name, bounds(shown[0])[0].type.family)} AS {name}" for name in ("_begin", "_end")]
    if line.as_of and line.low is not None:
        periods = [f"{line.low}L AS _begin", f"{line.low + 1}L AS _end"]
    ends = (f"{name} AS _p{n}" for n, name in enumerate(chances))
    found = comparable(rows.selectExpr(*names, *periods, "_lineage", *ends)).collect()
    printed = [PrintedRow(_fact(row[:-5]), *row[-5:-2], *map(float, row[-2:])) for row in found]
    expected = _Expected(spark, statement.tree, tables, variables)
    return Worlds(variables, printed, line, expected.facts)


class _Expected(Struct, frozen=True):
    """The SQL, and the rows of each table."""

    spark: SparkSession
    tree: exp.Expr
    tables: list[tuple[DeclaredTable, DataFrame]]
    variables: list[Variable]

    def facts(self, worlds: Sequence[tuple[int, World]]) -> Facts:
        """The facts that the SQL gives at a point of time in a world, by the place of these: of all in one query."""
        from pyspark.sql import functions as F

        for table, rows in self.tables:
            there = [
                (number, one.key, one.begin)
                for number, (point, world) in enumerate(worlds)
                for one in self.variables
                if one.table == table.name and one.begin <= point < one.end and world[one.name]
            ]
            members = self.spark.createDataFrame(there, f"{_WORLD} INT, _key STRING, _since BIGINT")
            assert table.period is not None
            begin = as_number(quoted(table.period.begin), table.period.kind.family)
            same = F.expr(f"CAST({quoted(table.period.key or '')} AS STRING) = _key AND {begin} = _since")
            chosen = rows.join(members, same).drop("_key", "_since")
            visible(table, chosen, probabilistic=True).createOrReplaceTempView(quoted(table.name))
        found: Facts = {}
        for *values, number in comparable(self.spark.sql(_in_worlds(self.tree))).distinct().collect():
            found.setdefault(number, set()).add(_fact(values))
        return found


def _variables(table: DeclaredTable, rows: DataFrame) -> Iterator[Variable]:
    period = table.period
    assert period is not None, "rows with lineages have periods"
    ends = [as_number(quoted(one.name), one.type.family) for one in bounds(table)]
    key, p = (quoted(name or "") for name in (period.key, period.probability))
    columns = (f"CAST({key} AS STRING)", *ends, f"CAST(CAST({p} AS STRING) AS DOUBLE)")
    for row in rows.selectExpr(*columns).collect():
        yield Variable.of(table.name, *row)


def _in_worlds(tree: exp.Expr) -> str:
    """The SQL over rows of many worlds, of which those of one world meet; the world is its last column."""
    found = tree.copy()
    for select in found.find_all(exp.Select):
        joins, names = select.args.get("joins", ()), [select.args["from_"].this.alias_or_name]
        shared = any(join.args.get("using") for join in joins)
        for join in joins:
            own = join.this.alias_or_name
            if join.args.get("using"):
                join.args["using"].append(exp.to_identifier(_WORLD))
            else:
                same = _world(names).eq(exp.column(_WORLD, table=own))
                on = join.args.get("on")
                join.set("on", exp.and_(exp.paren(on), same) if on is not None else same)
                join.set("kind", None if join.kind == "CROSS" else join.kind)
            if (join.side, join.kind) != ("LEFT", "ANTI"):
                names.append(own)
        items = []
        for item in select.expressions:
            star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
            if not isinstance(star, exp.Star):
                items.append(item)
                continue
            without = exp.Star(except_=[exp.to_identifier(_WORLD)])
            given = names if item is star else [item.table]
            if item is star and shared:
                items.append(without)
            else:
                items += [exp.Column(this=without.copy(), table=exp.to_identifier(name)) for name in given]
        world = exp.column(_WORLD) if shared else _world(names)
        select.set("expressions", [*items, exp.alias_(world, _WORLD)])
    return found.sql("spark")


def _world(names: Sequence[str]) -> exp.Expr:
    """The world of a row of some tables joined, of which an outer join may have none."""
    worlds = [exp.column(_WORLD, table=name) for name in names]
    return worlds[0] if len(worlds) == 1 else exp.func("coalesce", *worlds)


def _fact(values: Sequence[Any]) -> Fact:
    return tuple("NULL" if value is None else str(value) for value in values)
