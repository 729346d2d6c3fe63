"""A SEQ TP statement as batch queries in Spark in possible worlds, and the rows with lineages of a run.

A world is a choice of the rows that there are. At a point of time the SQL inside of the block is run over the rows that
are valid then and in the world, without periods, keys and probabilities; a fact must be among its results if and only
if the run has a row of it that is valid then, whose lineage is true in the world. That is the definition (Papaioannou,
Theobald, Böhlen, Section III), and nothing is shared with what evaluates windows or lineages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.errors import StreamboundError
from streambound.recheck.oracle.spark_batch import BatchComparison, BatchStatement, Cell, quoted, refusals, show
from streambound.recheck.oracle.spark_prefixes import comparable
from streambound.recheck.oracle.spark_snapshots import as_number, bounds, visible

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_POINTS, WORLDS = 16, 4
"""Points of time that are compared; of more, that many at random. In each so many worlds: one has all rows."""
MOST_VARIABLES = 14
"""Probabilities of lineages with more variables are not computed again, which takes all their worlds."""
_VARIABLE = re.compile(r'(?:\w+|"(?:[^"]|"")*")\.(?:\w+|"(?:[^"]|"")*")')
_TOKEN = re.compile(_VARIABLE.pattern + r"|[!&|()]")
_TOLERANCE = 1e-9
_WORLD = "_world"
Fact = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Variable:
    """A row of a table: its variable's name, and what it has in the table's columns."""

    table: str
    name: str
    key: str
    begin: int
    end: int
    p: float


@dataclass(frozen=True, slots=True)
class _Printed:
    """A row of the run."""

    fact: Fact
    begin: int
    end: int
    lineage: str
    p: float


def compare_lineages(
    spark: SparkSession, statement: BatchStatement, folder: Path, output: Path, seed: int = 0
) -> BatchComparison:
    """A run's output, JSON lines with ``_begin``, ``_end``, ``_lineage`` and ``_p``, against worlds of the same rows.

    ``folder`` has a directory of JSON lines for each table. Raises StreamboundError for what Spark refuses.
    """
    with refusals():
        try:
            return _Worlds.of(spark, statement, folder, output).compared(Random(f"worlds {seed}"))
        finally:
            spark.catalog.clearCache()


@dataclass(frozen=True)
class _Worlds:
    """The rows of each table, and what the run has printed."""

    spark: SparkSession
    statement: BatchStatement
    tables: list[tuple[DeclaredTable, DataFrame]]
    variables: list[_Variable]
    printed: list[_Printed]

    @staticmethod
    def of(spark: SparkSession, statement: BatchStatement, folder: Path, output: Path) -> _Worlds:
        shown = show(spark, statement.tree, statement.catalog, folder)
        tables = [(table, spark.table(quoted(table.name)).persist()) for table in shown]
        variables = [one for table, rows in tables for one in _variables(table, rows)]
        for table, rows in tables:
            visible(table, rows, probabilistic=True).createOrReplaceTempView(quoted(table.name))
        written = spark.sql(statement.text)
        kind = bounds(shown[0])[0].type.name
        names = [quoted(name) for name in written.columns]
        given = ", ".join(
            [*(f"{n} {f.dataType.simpleString()}" for n, f in zip(names, written.schema, strict=True)),
             f"_begin {kind}", f"_end {kind}", "_lineage STRING", "_p DOUBLE"]
        )  # fmt: skip
        rows = spark.read.schema(given).option("mode", "FAILFAST").json(str(output))
        periods = [f"{as_number(name, bounds(shown[0])[0].type.family)} AS {name}" for name in ("_begin", "_end")]
        found = comparable(rows.selectExpr(*names, *periods, "_lineage", "_p")).collect()
        printed = [_Printed(_fact(row[:-4]), row[-4], row[-3], row[-2], float(row[-1])) for row in found]
        return _Worlds(spark, statement, tables, variables, printed)

    def compared(self, random: Random) -> BatchComparison:
        """Points of time and worlds; then probabilities, and whether rows could be longer."""
        spans = [(one.begin, one.end) for one in self.variables] + [(one.begin, one.end) for one in self.printed]
        points = sorted({time for span in spans for time in span})
        chosen = sorted(random.sample(points, MOST_POINTS)) if len(points) > MOST_POINTS else points
        worlds = [(point, world) for point in chosen for world in self._chosen(point, random)]
        expected = self._expected(worlds)
        results = 0
        for number, (point, world) in enumerate(worlds):
            wanted = expected.get(number, set())
            valid = [row for row in self.printed if row.begin <= point < row.end]
            found = [row.fact for row in valid if _holds(row.lineage, world)]
            found += [row.fact for row in valid if not world.keys() >= {*_VARIABLE.findall(row.lineage)}]  # of no row
            results += len(wanted) if all(world.values()) else 0
            if len(valid) != len({row.fact for row in valid}) or {*found} != wanted:
                facts = sorted({*found} ^ wanted) or sorted({row.fact for row in valid})
                cells = (Cell((*fact, _told(world)), int(fact in wanted), found.count(fact)) for fact in facts)
                return BatchComparison(results, len(chosen), point, tuple(cells))
        return BatchComparison(results, len(chosen), *(self._improbable() or self._longest() or ()))

    def _chosen(self, point: int, random: Random) -> Iterator[dict[str, bool]]:
        """Worlds of the rows that are valid: what is certain is in each."""
        valid = [one for one in self.variables if one.begin <= point < one.end]
        yield {one.name: True for one in valid}
        for _ in range(WORLDS - 1 if valid else 0):
            yield {one.name: one.p == 1 or random.random() < 0.5 for one in valid}

    def _expected(self, worlds: Sequence[tuple[int, Mapping[str, bool]]]) -> dict[int, set[Fact]]:
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
        found: dict[int, set[Fact]] = {}
        for *values, number in comparable(self.spark.sql(_in_worlds(self.statement.tree))).distinct().collect():
            found.setdefault(number, set()).add(_fact(values))
        return found

    def _improbable(self) -> tuple[int, tuple[Cell, ...]] | None:
        """A row whose probability is not that of its lineage, summed up over all worlds of its variables."""
        chances = {one.name: one.p for one in self.variables}
        for row in self.printed:
            names = sorted(set(_VARIABLE.findall(row.lineage)))
            if len(names) > MOST_VARIABLES:
                continue
            total = 0.0
            for world in (dict(zip(names, there, strict=True)) for there in product((False, True), repeat=len(names))):
                if _holds(row.lineage, world):
                    weight = 1.0
                    for name, there in world.items():
                        weight *= chances[name] if there else 1 - chances[name]
                    total += weight
            if abs(total - row.p) > _TOLERANCE:
                return row.begin, (Cell((*row.fact, f"_p = {total}"), 1, 0), Cell((*row.fact, f"_p = {row.p}"), 0, 1))
        return None

    def _longest(self) -> tuple[int, tuple[Cell, ...]] | None:
        """A row that goes on as the same one, where rows are the longest ones."""
        line = self.statement.snapshots
        before: dict[tuple[Fact, str, int], _Printed] = {(row.fact, row.lineage, row.end): row for row in self.printed}
        cut = next((row for row in self.printed if (row.fact, row.lineage, row.begin) in before), None)
        if cut is None or line is None or not line.whole:
            return None
        return cut.begin, (Cell((*cut.fact, cut.lineage), 1, 2),)


def _variables(table: DeclaredTable, rows: DataFrame) -> Iterator[_Variable]:
    period = table.period
    assert period is not None, "rows with lineages have periods"
    ends = [as_number(quoted(one.name), one.type.family) for one in bounds(table)]
    key, p = (quoted(name or "") for name in (period.key, period.probability))
    for name, *rest in rows.selectExpr(
        f"CAST({key} AS STRING)", *ends, f"CAST(CAST({p} AS STRING) AS DOUBLE)"
    ).collect():
        yield _Variable(table.name, f"{_named(table.name)}.{_named(name)}", name, *rest)


def _in_worlds(tree: exp.Expr) -> str:
    """The SQL over rows of many worlds, of which those of one world meet; the world is its last column."""
    found = tree.copy()
    for select in found.find_all(exp.Select):
        first, *others = [one.this for one in (select.args["from_"], *select.args.get("joins", ()))]
        names = [one.alias_or_name for one in (first, *others)]
        worlds = [exp.column(_WORLD, table=name) for name in names]
        shared = any(join.args.get("using") for join in select.args.get("joins", ()))
        for join in select.args.get("joins", ()):
            anti = join.side == "LEFT" and join.kind == "ANTI"
            if join.args.get("using"):
                join.args["using"].append(exp.to_identifier(_WORLD))
            else:
                join.set("kind", None if join.kind == "CROSS" else join.kind)
                same = worlds[0].eq(worlds[1])
                on = join.args.get("on")
                join.set("on", exp.and_(exp.paren(on), same) if on is not None else same)
            worlds = worlds[:1] if anti else worlds
            names = names[:1] if anti else names
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
        world = worlds[0] if len(worlds) == 1 else exp.func("coalesce", *worlds)
        world = exp.column(_WORLD) if shared else world
        select.set("expressions", [*items, exp.alias_(world.copy(), _WORLD)])
    return found.sql("spark")


def _named(part: str) -> str:
    return part if re.fullmatch(r"[A-Za-z0-9_]+", part) else '"' + part.replace('"', '""') + '"'


def _fact(values: Sequence[Any]) -> Fact:
    return tuple("NULL" if value is None else str(value) for value in values)


def _told(world: Mapping[str, bool]) -> str:
    return f"where there is {', '.join(sorted(name for name, there in world.items() if there)) or 'nothing'}"


def _holds(lineage: str, world: Mapping[str, bool]) -> bool:
    """Whether a lineage is true in a world, which has no row that it does not name."""
    tokens = _TOKEN.findall(lineage)
    if "".join(tokens) != lineage.replace(" & ", "&").replace(" | ", "|"):
        raise StreamboundError(f"{lineage} is no lineage")
    tokens.append("")
    value = _any_of(tokens, world)
    if tokens != [""]:
        raise StreamboundError(f"{lineage} is no lineage")
    return value


def _any_of(tokens: list[str], world: Mapping[str, bool]) -> bool:
    values = [_all_of(tokens, world)]
    while tokens[0] == "|":
        tokens.pop(0)
        values.append(_all_of(tokens, world))
    return any(values)


def _all_of(tokens: list[str], world: Mapping[str, bool]) -> bool:
    values = [_one(tokens, world)]
    while tokens[0] == "&":
        tokens.pop(0)
        values.append(_one(tokens, world))
    return all(values)


def _one(tokens: list[str], world: Mapping[str, bool]) -> bool:
    token = tokens.pop(0)
    if token == "!":
        return not _one(tokens, world)
    if token != "(":
        return world.get(token, False)
    value = _any_of(tokens, world)
    tokens.pop(0)
    return value
