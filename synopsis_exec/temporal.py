"""SEQ statements from Python, over DataFrames: `streambound.temporal.Temporal`.

Nothing runs before a result is asked for, but for a small job that looks at where rows begin, where one group has them
all or a join has no equality.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs
from sqlglot import exp

from streambound.analyzer.catalog import (
    Catalog,
    DeclaredTable,
    Kind,
    catalog_from_mapping,
    load_catalog,
    parse_catalog,
)
from streambound.analyzer.columns import Column
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.errors import InputError, UsageError
from streambound.analyzer.periods import PeriodRows, TimeDomain
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import some_statements
from streambound.analyzer.types import DataType, Family, parse_type
from streambound.analyzer.version import __version__
from streambound.synopsis_exec.period_job import period_relation
from streambound.temporal.lineage import LineageBlock
from streambound.temporal.statement import SeqStatement, read_statement
from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.periods.job import PeriodJob

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Period = tuple[str, str]
RESULT: Period = ("_begin", "_end")
"""The period of the rows that a SEQ statement gives."""
_OTHER = DataType("other", Family.OTHER)
_JOINS = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "anti": "LEFT ANTI JOIN",
}


class Temporal:
    """Relations with periods in a Spark session, and SQL that is evaluated at every point of time.

    >>> Temporal(spark).relation("works", df, period=("vb", "ve"))  # doctest: +SKIP
    """

    def __init__(
        self, spark: SparkSession, catalog: Catalog | str | Path | Mapping[str, Any] | None = None,
        *, domain: tuple[object, object] | None = None, lineage_nodes: int | None = None,
        probability_bounds: bool = False,
    ) -> None:  # fmt: skip
        """``catalog`` is a `streams.toml`: a path, its text or what it holds. ``domain`` is that of `[time]`,
        ``lineage_nodes`` what a decision about one lineage may take; with ``probability_bounds`` results have `_p_low`
        and `_p_high` in the place of `_p`, which differ where it takes more.

        Relations of the catalog are read from the sources that it names for them.
        """
        if lineage_nodes is not None and lineage_nodes < 1:
            raise UsageError(f"lineage_nodes is at least 1, not {lineage_nodes}", remedy="leave it out for the default")
        self.spark = spark
        self.catalog = _catalog(catalog)
        if domain is not None:
            self.catalog = structs.replace(self.catalog, time=TimeDomain(*domain))
        if lineage_nodes is not None:
            self.catalog = structs.replace(self.catalog, lineage_nodes=lineage_nodes)
        if probability_bounds:
            self.catalog = structs.replace(self.catalog, probability_bounds=True)
        self._frames: dict[str, DataFrame] = {}

    def relation(
        self, name: str, df: DataFrame, period: Period | None = None, *, key: str | None = None,
        probability: str | None = None,
    ) -> Temporal:  # fmt: skip
        """Let a name stand for a DataFrame; with ``period`` for its rows from the first column to before the second.

        SEQ TP needs the ``key`` that names a row's random variable, and its ``probability``, above 0 and up to 1.
        Returns this object. Raises UsageError for columns that it has not, or that are no times of one type.
        """
        rows = _period(df, period)
        if key is not None or probability is not None:
            rows = _random(df, rows, key, probability)
        declared = DeclaredTable(name, Kind.RELATION, _columns(df), period=rows)
        others = tuple(table for table in self.catalog.tables if table.name.lower() != name.lower())
        self.catalog = structs.replace(self.catalog, tables=(*others, declared))
        self._frames[name.lower()] = df
        return self

    def sql(self, text: str, *, multiplicity: str = "count", lineage_dag: bool = False) -> DataFrame:
        """The result of one SEQ statement: its columns, `_begin`, `_end` and `_mult`, how many of the row there are.

        ``multiplicity="rows"`` repeats rows instead. Of SEQ TP a row has `_lineage` and `_p` in its place, and
        with ``lineage_dag`` also `_lineage_dag`, the lineage as an array in postorder with shared parts once. Raises
        InputError for a statement that means nothing, with its place and code.
        """
        from streambound_runtime.periods.lines import repeated
        from streambound_runtime.periods.main import result
        from streambound_runtime.periods.validity import good

        if multiplicity not in ("count", "rows"):
            raise UsageError(f'multiplicity is "count" or "rows", not {multiplicity!r}')
        statement = self._read(text)
        random = {table.name for one in statement.blocks if isinstance(one, LineageBlock) for table in one.tables}
        given = tuple(period_relation(table, self.catalog, table.name in random) for table in statement.tables)
        blocks = tuple(
            replace(block.query, dag=lineage_dag) if isinstance(block, LineageBlock) else block.query
            for block in statement.blocks
        )
        job = PeriodJob("sql", __version__, given, blocks, statement.outer, statement.ordered)
        relations = {one.relation.name.lower(): good(one, self._frame(one.relation.name)) for one in job.relations}
        rows = result(self.spark, job, relations)
        return repeated(rows) if multiplicity == "rows" else rows

    def tp_join(self, left: str, right: str, *, on: str, how: str = "inner", lineage_dag: bool = False) -> DataFrame:
        """A join of two temporal-probabilistic relations, by their names, with an alias after them where they need one.

        ``how`` is inner, left, right, full or anti. Columns of the result: theirs, `_begin`, `_end`, `_lineage`, `_p`;
        those with a name that both have are called after the relation, too, as in `wants_loc` and `hotels_loc`.
        """
        if how not in _JOINS:
            raise UsageError(f"there is no join {how!r}", remedy=f"choose one of {', '.join(_JOINS)}")
        items = "*" if how == "anti" else self._items(left, right)
        text = f"SEQ TP (SELECT {items} FROM {left} {_JOINS[how]} {right} ON {on})"
        return self.sql(text, lineage_dag=lineage_dag)

    def _items(self, *sides: str) -> str:
        """All columns of the facts of two relations, so that no two have one name."""
        given = [exp.maybe_parse(f"FROM {side}", into=exp.From, dialect="spark").this for side in sides]
        tables = [self.catalog.table(one.name) for one in given]
        names = [[] if one is None or one.period is None else one.period.fact(one.columns) for one in tables]
        shared = {name.lower() for name in names[0]} & {name.lower() for name in names[1]}
        found = []
        for one, mine in zip(given, names, strict=True):
            for name in mine:
                alone = name if name.lower() not in shared else f"{one.alias_or_name}_{name}"
                found.append(f"{quoted(one.alias_or_name)}.{quoted(name)} AS {quoted(alone)}")
        return ", ".join(found) if shared else "*"

    def explain(self, text: str) -> str:
        """The rewriting of a SEQ statement, operator by operator, with what is moved for each."""
        from streambound.temporal.plan_text import rewriting_text

        return rewriting_text(self._read(text))

    def quarantined(self, name: str) -> DataFrame:
        """The rows of a relation whose period is bad, with the `reason`: they are left out of all results."""
        from streambound_runtime.periods.validity import bad

        table = self.catalog.table(name)
        if table is None or table.period is None:
            raise UsageError(f"{name} is no relation with periods")
        return bad(period_relation(table, self.catalog, table.period.key is not None), self._frame(table.name))

    def coalesce(self, df: DataFrame, period: Period = RESULT) -> DataFrame:
        """Maximal periods of equal rows, with `_mult`: the unique encoding of what there is at every point of time."""
        given = Temporal(self.spark).relation("rows", df, period)
        names = [column for column in df.columns if column not in period]
        found = given.sql("SEQ VT (SELECT * FROM rows)")
        begin, end = map(quoted, period)
        return found.selectExpr(*map(quoted, names), f"_begin AS {begin}", f"_end AS {end}", "_mult")

    def split(
        self, df: DataFrame, period: Period = RESULT, by: Sequence[str] = (), at: DataFrame | None = None
    ) -> DataFrame:
        """Each row cut at all end points of rows, of ``df`` and of ``at``, that agree with it in the columns ``by``.

        Equal pieces stay as many as they were (Dignös et al., Definition 8.3). ``at`` has the same period columns.
        """
        from streambound_runtime.periods.splitting import split

        if isinstance(by, str):
            raise UsageError("by is a list of columns", remedy=f"write by=[{by!r}]")
        for frame in (df, at):
            if frame is not None:
                _period(frame, period)
                _there(frame, by)
        return split(df, period, tuple(by), at)

    def _read(self, text: str) -> SeqStatement:
        statements = some_statements(SourceText("<sql>", text))
        if len(statements) != 1 or not statements[0].blocks:
            found = next((wrong for one in statements for wrong in one.diagnostics), None)
            raise _error(found) if found else UsageError("write one SEQ statement: SEQ VT (SELECT …)")
        read = read_statement(statements[0], self.catalog)
        if isinstance(read, Diagnostic):
            raise _error(read)
        stream = next((table.name for table in read.tables if table.kind is Kind.STREAM), None)
        if stream is not None and stream.lower() not in self._frames:
            remedy = f"give its rows as a relation, or compile the statement: streambound.compile reads {stream}"
            raise UsageError(f"{stream} is a stream, and this evaluates relations", remedy=remedy)
        return read

    def _frame(self, name: str) -> DataFrame:
        found = self._frames.get(name.lower())
        if found is not None:
            return found
        table = self.catalog.table(name)
        if table is None or table.source is None:
            remedy = f"give it: relation({name!r}, df), or declare its source in the catalog"
            raise UsageError(f"nothing says where the rows of {name} are", remedy=remedy)
        reader = self.spark.read.format(table.source.format).options(**dict(table.source.options))
        return reader.load(table.source.path or None)


def _catalog(given: Catalog | str | Path | Mapping[str, Any] | None) -> Catalog:
    if given is None:
        return Catalog("the catalog", ())
    if isinstance(given, Catalog):
        return given
    if isinstance(given, Mapping):
        return catalog_from_mapping(given)
    is_text = isinstance(given, str) and ("\n" in given or "=" in given)
    return parse_catalog(str(given)) if is_text else load_catalog(Path(given))


def _columns(df: DataFrame) -> tuple[Column, ...]:
    return tuple(Column(name, parse_type(kind) or _OTHER) for name, kind in df.dtypes)


def _period(df: DataFrame, period: Sequence[str] | None) -> PeriodRows | None:
    if period is None:
        return None
    if len(period) != 2 or period[0].lower() == period[1].lower():
        raise UsageError(f"a period is two columns, not {period!r}", remedy='write period=("begin", "end")')
    _there(df, period)
    kinds = {name.lower(): (name, kind) for name, kind in df.dtypes}
    (begin, kind), (end, other) = (kinds[name.lower()] for name in period)
    found = parse_type(kind)
    if kind != other or found is None or found.family not in (Family.INTEGER, Family.DATE, Family.TIMESTAMP):
        raise UsageError(f"a period has integers, dates or timestamps of one type, not {kind} and {other}")
    return PeriodRows(begin, end, found)


def _there(df: DataFrame, names: Sequence[str]) -> None:
    absent = next((name for name in names if name.lower() not in map(str.lower, df.columns)), None)
    if absent is not None:
        raise UsageError(f"there is no column {absent!r}", remedy=f"there are {', '.join(df.columns)}")


def _random(df: DataFrame, rows: PeriodRows | None, key: str | None, probability: str | None) -> PeriodRows:
    """The declaration of rows with a key and a probability."""
    if rows is None or key is None or probability is None:
        raise UsageError("rows with a lineage have a period, a key and a probability")
    kinds = {name.lower(): (name, parse_type(kind)) for name, kind in df.dtypes}
    _there(df, (key, probability))
    name, kind = kinds[probability.lower()]
    if kind is None or kind.family not in (Family.FLOAT, Family.DECIMAL):
        raise UsageError("a probability is a double or a decimal")
    return structs.replace(rows, key=kinds[key.lower()][0], probability=name)


def _error(found: Diagnostic) -> InputError:
    """The error of a statement; a traceback shows the place and the way out below it."""
    message, span = f"{found.code} {found.message}", found.span
    error = InputError(message, file=found.file, line=span.line, column=span.column, remedy=found.help)
    error.add_note(f"  --> {error.where}")
    if error.remedy:
        error.add_note(f"  = help: {error.remedy}")
    return error
