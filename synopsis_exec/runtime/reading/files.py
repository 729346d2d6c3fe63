"""What is in files, as raw rows (`decoding.raw`): read by Arrow, or by Spark where Arrow would read something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.raw import LONGEST_LINE, own, selected
from streambound_runtime.decoding.sql_types import spark_name, sql_type
from streambound_runtime.decoding.typed_columns import columns_read, columns_wanted, readable
from streambound_runtime.endpoints import local_path, located, options_of
from streambound_runtime.errors import unreadable
from streambound_runtime.reading.lines import ENDS, lines_of
from streambound_runtime.reading.sources import CHOOSING, base_of, check_columns, escaped
from streambound_runtime.settings import Settings
from streambound_runtime.spec import Relation, Stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile
    from pyspark.sql import DataFrame, SparkSession

AT_ONCE = 1 << 20
"""Rows of a file that are read at a time."""
_WITH_COLUMNS = ("avro", "orc", "parquet")
"""Formats whose files say which columns they have; of those that they do not have Spark would read NULLs."""
_PARTITION = re.compile(r"/[^/=]+=[^/]*(?=/)")
"""A directory that says a column's value."""


class Raw(NamedTuple):
    """Raw rows, and the file that they all are of, if that is not said by a column.

    Where ``rows`` have no more columns than are wanted, ``all_columns`` reads those at some places with all of them.
    """

    rows: pa.Table
    file: str = ""
    all_columns: Callable[[Integers], pa.Table] | None = None


class LocalFiles:
    """Reads the files of one source, where Arrow reads what Spark would; it needs no Spark, so executors have it, too.

    ``kind`` is the format, that of lines "text"; ``options`` say how Spark reads them.
    """

    def __init__(self, table: Stream | Relation, settings: Settings) -> None:
        self.table = table
        source = None if settings.input else table.source
        self.kind = "text" if source is None or source.format == "json" else source.format
        base = "" if source is None else located(source.path, settings)
        self.base = base_of(base) if base else ""
        given = {} if source is None else options_of(source, settings)
        self.options = {key: text for key, text in given.items() if key.lower() not in CHOOSING}
        self.lines = self.kind == "text" and (source is None or (source.payload == "value" and not source.metadata))
        parquet = self.kind == "parquet" and source is not None and not source.payload
        self.ours = not self.options and (self.lines or parquet)

    def opened(self, path: str) -> Iterator[Raw] | None:
        """The rows of a file, in chunks; None if Spark has to read it."""
        file = local_path(path) if self.ours and (self.lines or not self.in_partition(path)) else None
        if file is None or not self.lines:
            return None if file is None else self._columns(file, shown(path))
        lines = self._lines(file)
        return None if lines is None else (Raw(rows, shown(path)) for rows in lines)

    def in_partition(self, path: str) -> bool:
        """Whether a directory below the source's says a column's value."""
        return bool(_PARTITION.search(path[max(path.find(self.base), 0) + len(self.base) :] if self.base else ""))

    def _lines(self, file: Path) -> Iterator[pa.Table] | None:
        """The lines of a file with their numbers; None for one that is compressed otherwise than by gzip."""
        return self._numbered(file) if file.suffix in ENDS else None

    def _numbered(self, file: Path) -> Iterator[pa.Table]:
        import pyarrow as pa

        names, start = [own(self.table, "value"), own(self.table, "line")], 1
        for lines, length in lines_of(file):
            numbers = pa.array(np.arange(start, start + len(lines)))
            rows = pa.Table.from_arrays([lines, numbers], names)
            if length > LONGEST_LINE:
                rows = rows.append_column(own(self.table, "length"), [pa.array([length, *[None] * (len(lines) - 1)])])
            start += len(lines)
            yield from (rows.slice(place, AT_ONCE) for place in range(0, len(lines), AT_ONCE))

    def _columns(self, file: Path, name: str) -> Iterator[Raw] | None:
        """The columns of a file of Parquet that are wanted; None where Spark has to read it."""
        import pyarrow as pa
        from pyarrow import parquet

        try:
            opened = parquet.ParquetFile(file)
        except pa.ArrowInvalid:  # of which Spark says what it is
            return None
        if readable(opened.schema_arrow, self.table) is not None:
            return None
        return self._batches(opened, file, name)

    def _batches(self, opened: ParquetFile, file: Path, name: str) -> Iterator[Raw]:
        import pyarrow as pa

        every, names = ([column.name for column in of(self.table)] for of in (columns_read, columns_wanted))
        start = 0
        for batch in opened.iter_batches(AT_ONCE, columns=names):
            all_columns = partial(rows_at, file, every, start) if len(names) < len(every) else None
            yield Raw(pa.Table.from_batches([batch]), name, all_columns)
            start += batch.num_rows


def rows_at(file: Path, names: Sequence[str], start: int, places: Integers) -> pa.Table:
    """The rows of a file of Parquet at some places, in order, counted from ``start``: a row group at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    opened = parquet.ParquetFile(file)
    sizes = [opened.metadata.row_group(group).num_rows for group in range(opened.num_row_groups)]
    ends, wanted = np.cumsum(sizes), start + np.asarray(places)
    groups, found = np.searchsorted(ends, wanted, side="right"), []
    for group in np.unique(groups).tolist():
        mine = wanted[groups == group] - (ends[group] - sizes[group])
        found.append(opened.read_row_group(group, columns=list(names)).take(pa.array(mine, pa.int64())))
    return pa.concat_tables(found)


class Files:
    """Reads the files of one source, on the driver; without Spark those alone that need none."""

    def __init__(self, spark: SparkSession | None, table: Stream | Relation, settings: Settings) -> None:
        self.spark, self.table, self.local = spark, table, LocalFiles(table, settings)

    def raws(self, paths: Sequence[str]) -> Iterator[Raw]:
        """The rows of files: first of those that Arrow can open, one by one, then of those that Spark must read."""
        left = []
        for path in paths:
            found = self.local.opened(path)
            if found is None:
                left.append(path)
            else:
                yield from found
        if left:
            yield Raw(self.by_spark(left).toArrow())

    def apart(self, paths: Sequence[str]) -> tuple[list[str], list[str]]:
        """Those files that `local` reads, and those that Spark has to read."""
        ours = [path for path in paths if self.local.opened(path) is not None]
        return ours, [path for path in paths if path not in {*ours}]

    def by_spark(self, paths: Sequence[str]) -> DataFrame:
        """The rows of files, with the name of each row's file; raises JobError without Spark."""
        if self.spark is None:
            raise unreadable(f"{self.table.name} cannot be read: {shown(paths[0])} needs Spark: --engine spark")
        apart: dict[bool, list[str]] = {}
        for path in paths:
            apart.setdefault(not self.local.lines and self.local.in_partition(path), []).append(escaped(path))
        parts = [self._read(self.spark, *part) for part in apart.items()]
        return reduce(lambda one, other: one.unionByName(other), parts)

    def _read(self, spark: SparkSession, partitions: bool, there: list[str]) -> DataFrame:
        """The rows of files, all of them below directories that say a column's value (``partitions``), or none."""
        local = self.local
        reader = spark.read.format(local.kind).options(**local.options)
        if not partitions:  # else Spark reads files twice beside one whose name has signs of a pattern
            reader = reader.option("recursiveFileLookup", True)
        elif "basepath" not in {key.lower() for key in local.options}:
            reader = reader.option("basePath", local.base)
        if local.kind in _WITH_COLUMNS:
            check_columns(self.table, reader.load(there).columns)
        if local.kind != "text":
            reader = reader.schema(self._schema())
        if local.kind == "csv" and local.options.get("header") == "true":
            reader = reader.option("enforceSchema", local.options.get("enforceSchema", "false"))
        rows = reader.load(there)
        if local.lines:
            columns = [f"value AS {quoted(own(self.table, 'value'))}"]
        else:
            columns = selected(self.table, dict(rows.dtypes))
        return rows.selectExpr(*columns, f"input_file_name() AS {quoted(own(self.table, 'file'))}")

    def _schema(self) -> str:
        """The declared columns, and that of CSV which says that a line is no row."""
        if self.local.kind != "csv":
            return ", ".join(f"{quoted(column.name)} {spark_name(column.type)}" for column in columns_read(self.table))
        nested = {column.name for column in self.table.columns if sql_type(column.type).family == "other"}
        kinds = {c.name: "STRING" if c.name in nested else spark_name(c.type) for c in self.table.columns}
        return ", ".join([*(f"{quoted(name)} {kind}" for name, kind in kinds.items()), "_corrupt_record STRING"])


def check_files(spark: SparkSession, table: Stream | Relation, settings: Settings) -> None:
    """Raise JobError for files without a declared column, as far as some are there already."""
    source = table.source
    if settings.input or source is None or source.format not in _WITH_COLUMNS or source.payload:
        return
    path = located(source.path, settings)
    reader = spark.read.format(source.format).options(**options_of(source, settings))
    try:
        names = reader.load(escaped(path) if path and Path(path).exists() else path or None).columns
    except Exception:  # no file is there yet, or none that can be read: the run itself says so
        return
    check_columns(table, names)


def shown(path: str) -> str:
    """A file of this machine by its path, any other by its URI."""
    file = local_path(path)
    return path if file is None else str(file)
