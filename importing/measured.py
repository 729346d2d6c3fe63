"""What recorded rows show of the streams and relations of a catalog: rates, values, how late rows come, as suggestions.

A contract says what will hold, and a sample what has held: each line has what was seen, for whoever knows better.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.algebra.clock import time_of
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.durations import UNITS, length_text
from streambound.analyzer.errors import InputError, UsageError
from streambound.analyzer.types import Family
from streambound.importing.tables import toml_key, toml_value
from streambound.recheck.oracle.batch_sql import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_READERS = {
    ".jsonl": "read_json({files}, columns = {columns}, format = 'newline_delimited', ignore_errors = true)",
    ".parquet": "read_parquet({files}, union_by_name = true)",
}
_TIMES = {
    Family.TIMESTAMP: "epoch_us(TRY_CAST({} AS TIMESTAMPTZ))",
    Family.DATE: "TRY_CAST({} AS DATE) - DATE '1970-01-01'",
    Family.INTEGER: "TRY_CAST({} AS HUGEINT)",
}
_PERS = (UNITS["SECOND"], UNITS["MINUTE"], UNITS["HOUR"])
"""The lengths of time in which rows are counted."""
_SPANS = 20
"""How many of such a length a sample lasts at least, if it says anything about the next one."""
_MOST_LISTED = 20
"""Values of a column that may be its domain,"""
_REPEATED = 10
"""if there is each of them so many times."""


class RecordedSample(Struct, frozen=True):
    """The recorded rows of a table, as a table of DuckDB: the columns as texts, ``t`` the time as the catalog has it.

    ``number`` is a row's place in its files.
    """

    database: DuckDBPyConnection
    table: DeclaredTable
    files: tuple[Path, ...]

    def one(self, select: str) -> tuple[int | None, ...]:
        """The only row of a query of numbers."""
        (row,) = self.database.execute(f"SELECT {select}").fetchall()
        return tuple(None if value is None else int(value) for value in row)

    @property
    def is_in_microseconds(self) -> bool:
        """Whether its time is a timestamp."""
        time = time_of(self.table)
        return time is not None and time.type.family is Family.TIMESTAMP


def measured(catalog: Catalog, folder: Path) -> str:
    """Suggestions for a catalog, as TOML, from `NAME.jsonl`, `NAME.parquet` or the files of a directory `NAME`.

    Raises InputError where there is no input, or it cannot be read, and UsageError without duckdb.
    """
    try:
        import duckdb
    except ImportError as error:
        raise UsageError("measuring needs duckdb, which is not installed", remedy="pip install duckdb") from error
    found = [(table, files) for table in catalog.tables if (files := _files(table.name, folder))]
    if not found:
        known = ", ".join(catalog.names)
        raise InputError(
            f"there are no rows of {known}", file=str(folder), remedy="name them NAME.jsonl or NAME.parquet"
        )
    parts = []
    for table, files in found:
        try:
            with duckdb.connect(config={"threads": 1}) as database:
                parts.append("\n".join(_suggested(_sample(database, table, files))))
        except duckdb.Error as error:
            raise InputError(f"cannot read the rows of {table.name}: {error}", file=str(files[0])) from error
    return "\n\n".join(parts)


def _files(name: str, folder: Path) -> tuple[Path, ...]:
    """The files of one format of a table."""
    for suffix in _READERS:
        single, several = folder / f"{name}{suffix}", sorted((folder / name).glob(f"*{suffix}"))
        if single.is_file() or several:
            return (single,) if single.is_file() else tuple(several)
    return ()


def _sample(database: DuckDBPyConnection, table: DeclaredTable, files: tuple[Path, ...]) -> RecordedSample:
    names = [column.name for column in table.columns]
    listed = exp.convert([str(file) for file in files]).sql("duckdb")
    columns = "{" + ", ".join(f"{exp.convert(name).sql('duckdb')}: 'VARCHAR'" for name in names) + "}"
    source = _READERS[files[0].suffix].format(files=listed, columns=columns)
    time = time_of(table)
    at = _TIMES[time.type.family].format(quoted(time.name)) if time is not None and time.name in names else "NULL"
    shown = ", ".join(f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}" for name in names)
    database.execute("SET TimeZone = 'UTC'")
    database.execute(f"CREATE TABLE sample AS SELECT row_number() OVER () AS number, {at} AS t, {shown} FROM {source}")
    return RecordedSample(database, table, files)


def _suggested(sample: RecordedSample) -> Iterator[str]:
    """The lines of a table."""
    rows, first, last = sample.one("count(*), min(t), max(t) FROM sample")
    span = (last or 0) - (first or 0)
    lasting = f", over {length_text(_rounded(span))}" if sample.is_in_microseconds and span else ""
    stream = sample.table.kind is Kind.STREAM
    yield f"# {rows:,} row{'' if rows == 1 else 's'} of {', '.join(file.name for file in sample.files)}{lasting}"
    yield f"[{'streams' if stream else 'relations'}.{toml_key(sample.table.name)}]"
    if time_of(sample.table) is None:
        yield f"rows = {rows}"
    elif sample.is_in_microseconds:
        yield from _rate(sample, span)
    else:
        (most,) = sample.one("max(n) FROM (SELECT count(*) AS n FROM sample WHERE t IS NOT NULL GROUP BY t)")
        yield f"max_per_timestamp = {most or 1}"
    (late,) = sample.one("max(m - t) FROM (SELECT t, max(t) OVER (ORDER BY number) AS m FROM sample)")
    if late:
        length = toml_value(length_text(late)) if sample.is_in_microseconds else str(late)
        yield f"lateness = {length}  # the latest row after a newer one"
    for column in sample.table.columns:
        time = time_of(sample.table)
        if time is None or column.name != time.name:
            yield from _values(sample, column.name, column.type.family)


def _rate(sample: RecordedSample, span: int) -> Iterator[str]:
    """The most rows in any second, minute and hour; the longest of which there are some is suggested."""
    seen = {}
    for per in _PERS:
        frame = f"RANGE BETWEEN {per - 1} PRECEDING AND CURRENT ROW"
        counted = f"SELECT count(*) OVER (ORDER BY t {frame}) AS n FROM sample WHERE t IS NOT NULL"
        (seen[per],) = sample.one(f"max(n) FROM ({counted})")
    best = max((per for per in _PERS if span >= _SPANS * per), default=_PERS[0])
    others = ", ".join(f"{seen[per]:,} in {length_text(per)}" for per in _PERS if per != best and seen[per])
    yield f"max_rate = {{ rows = {seen[best] or 1}, per = {toml_value(length_text(best))} }}  # {others}"


def _values(sample: RecordedSample, column: str, family: Family) -> Iterator[str]:
    """A column's domain, where it has few values, else what is known of them."""
    name, key = quoted(column), toml_key(column)
    rows, number, longest = sample.one(f"count({name}), count(DISTINCT {name}), max(strlen({name})) FROM sample")
    few = number and number <= _MOST_LISTED and rows and rows >= _REPEATED * number
    if few and family in (Family.INTEGER, Family.STRING) and sample.table.kind is Kind.STREAM:
        order = f"CAST({name} AS HUGEINT)" if family is Family.INTEGER else name
        found = sample.database.execute(f"SELECT DISTINCT {name} FROM sample WHERE {name} IS NOT NULL ORDER BY {order}")
        texts = [text for (text,) in found.fetchall()]
        values = [int(text) for text in texts] if family is Family.INTEGER else texts
        yield f"domain.{key} = {{ values = {toml_value(values)} }}"
    elif number and family is Family.STRING:
        yield f"# {column}: {number:,} different text{'' if number == 1 else 's'} of up to {longest:,} bytes"
    elif number:
        yield f"# {column}: {number:,} different value{'' if number == 1 else 's'}"


def _rounded(length: int) -> int:
    """A length of time, in whole units of which it has some."""
    unit = max((size for size in UNITS.values() if size <= length and size != UNITS["WEEK"]), default=1)
    return length // unit * unit
