"""Part of every job: the files of a batch that the driver reads by itself, because Spark runs on its machine alone.

To fetch a batch Spark plans a second query, starts tasks and sends rows from Java to Python, which takes several times
as long as reading so many rows does. Which files a batch has Spark says: those that its own scan would read.
"""

from __future__ import annotations

import argparse
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import numpy as np

from streambound.synopsis_exec.job.arrivals import PLACES, Arrived, as_columns, as_lines, declared_kinds
from streambound.synopsis_exec.job.endpoints import located, of_files
from streambound.synopsis_exec.job.given import STREAMS
from streambound.synopsis_exec.job.places import PLAIN
from streambound.synopsis_exec.job.reading import OF_PATTERNS, is_local
from streambound.synopsis_exec.job.source import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_BYTES = 1 << 27
"""Files and lines of more are left to Spark, which reads them with all processors."""
FEED = ord("\n")
DEEPEST = 16
"""Steps from a batch to the files that are followed."""
MOST_FILES = 64
"""Files of a batch; to ask for each takes about a millisecond."""
CHOOSING = (
    "maxfilespertrigger",
    "maxbytespertrigger",
    "maxfileage",
    "latestfirst",
    "filenameonly",
    "pathglobfilter",
    "recursivefilelookup",
    "modifiedbefore",
    "modifiedafter",
    "cleansource",
    "sourcearchivedir",
)
"""Options that say which files are read, not how."""
FIRST_YEAR = 1900
"""Dates and times before it may be of another calendar; Spark knows of which."""


def paths_near(arrived: Arrived) -> list[dict[str, int]] | None:
    """The files of each stream's rows, with their sizes; None where they are not all whole, on this machine, and few.

    Spark's classic sessions say what they would read; where it is said otherwise than expected, nothing is read here.
    """
    try:
        if not is_near(arrived.frame.sparkSession, arrived.options):
            return None
        scans = scans_of(arrived.frame._jdf.queryExecution().logical().rdd(), DEEPEST)
        found = [whole_files(scan) for scan in scans or ()]
    except Exception:  # another version of Spark, or something else than files
        return None
    known = [files for files in found if files is not None]
    if not known or len(known) < len(found) or sum(size for files in known for size in files.values()) > MOST_BYTES:
        return None
    return known if len(known) == len(STREAMS) else by_home(known, arrived.options)


def is_near(spark: SparkSession, options: argparse.Namespace) -> bool:
    """Whether all streams are files of this machine, as far as the job says: of lines or columns, read as they are."""
    if not is_local(spark):
        return False
    used = [] if options.input else [option.lower() for source in STREAMS for option in source.options]
    if {*used} - {*CHOOSING}:
        return False
    return as_columns(options) or (as_lines(options) and all(of_files(source, options) for source in STREAMS))


def by_home(found: list[dict[str, int]], options: argparse.Namespace) -> list[dict[str, int]] | None:
    """The files of each stream by where they are, as Spark scans only streams that bring some; None if unclear."""
    of_stream = [dict[str, int]() for _ in STREAMS]
    for files in found:
        mine = [n for n, source in enumerate(STREAMS) if all(may_be_of(source, path, options) for path in files)]
        if len(mine) != 1 or of_stream[mine[0]]:
            return None
        of_stream[mine[0]] = files
    return of_stream


def may_be_of(source: Source, file: str, options: argparse.Namespace) -> bool:
    """Whether a file is where a stream's are: anywhere, where that is a pattern. Spark resolves `..`, and no links."""
    if options.input:
        folder = Path(os.path.normpath(Path(options.input).absolute()))
        return Path(file) == folder / f"{source.name}.jsonl" or Path(file).parent == folder / source.name
    path = re.sub("^file:/+", "/", located(source.path, options))
    return bool(set(path) & {*OF_PATTERNS, ":"}) or Path(file).is_relative_to(os.path.normpath(Path(path).absolute()))


def scans_of(rdd: Any, steps: int) -> list[Any] | None:
    """What scans files for a batch, in the order of the streams; None where something else brings its rows."""
    kind = rdd.getClass().getSimpleName()
    if kind == "FileScanRDD":
        return [rdd]
    before = rdd.dependencies()
    if not steps or not before.size() or (before.size() > 1 and kind != "UnionRDD"):
        return None
    found = [scans_of(before.apply(place).rdd(), steps - 1) for place in range(before.size())]
    return None if None in found else [scan for scans in found for scan in scans or ()]


def whole_files(scan: Any) -> dict[str, int] | None:
    """The files of a scan and their sizes; None where one is not on this machine, or not all of it is read."""
    sizes: dict[str, int] = {}
    left: dict[str, int] = {}
    for file in files_of(scan):
        uri = urlparse(str(file.urlEncodedPath()))
        if uri.scheme != "file" or uri.netloc or file.partitionValues().numFields():
            return None
        path = unquote(uri.path)
        sizes[path] = int(file.fileSize())
        left[path] = left.get(path, sizes[path]) - int(file.length())
    return None if any(left.values()) else sizes


def files_of(scan: Any) -> Iterator[Any]:
    """The parts of files that a scan reads."""
    partitions = scan.filePartitions()
    found = [partitions.apply(place).files() for place in range(min(partitions.size(), MOST_FILES))]
    if partitions.size() > MOST_FILES or sum(map(len, found)) > MOST_FILES:
        raise ValueError("too many files")
    for files in found:
        yield from files


# --- lines ------------------------------------------------------------------------------------------------------------


def lines_near(arrived: Arrived) -> list[Any] | None:
    """The lines of each stream that are not blank, as Spark splits files; None where Spark has to."""
    paths = arrived.near
    if paths is None or any(Path(path).suffix not in PLAIN for files in paths for path in files):
        return None
    import pyarrow as pa

    found = []
    for files in paths:
        parts = [pa.array([], pa.string())]
        for path, size in files.items():
            try:
                text = Path(path).read_bytes()
            except OSError:
                return None
            parts.append(lines_of_file(text) if len(text) == size else None)
        if any(part is None for part in parts):
            return None
        found.append(pa.concat_arrays(parts))
    return found


def lines_of_file(text: bytes) -> Any:
    r"""The lines of a file that are not blank, be they UTF-8 or not; None where one may end otherwise than by a feed.

    >>> lines_of_file(b"{}\\n \\n{ }").to_pylist()
    ['{}', '{ }']
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    if b"\r" in text or text.startswith(BOM_UTF8):
        return None
    characters = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(characters == FEED)
    if text and not text.endswith(b"\n"):
        ends = np.append(ends, len(text))
    offsets = np.concatenate([[0], ends - np.arange(len(ends))]).astype(np.int32)
    body = characters[characters != FEED]
    lines = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(body))
    blank = np.diff(offsets) == 0
    blank[~blank] = body[offsets[:-1][~blank]] == ord(" ")
    if blank.any():
        blank[blank] = pc.equal(pc.ascii_trim(lines.filter(pa.array(blank)), " "), "").to_numpy(False)
        lines = lines.filter(pa.array(~blank))
    return lines


# --- Parquet ----------------------------------------------------------------------------------------------------------


def columns_near(arrived: Arrived, wanted: list[set[str]]) -> list[Any] | None:
    """Some columns of each stream, in their places, from files of Parquet; None where Spark has to read them."""
    if any(source.format != "parquet" for source in STREAMS):
        return None
    paths = arrived.near
    if paths is None:
        return None
    import pyarrow as pa

    tables = []
    for source, places, names, files in zip(STREAMS, PLACES, wanted, paths, strict=True):
        types = {name: arrow_type(kind) for name, kind in declared_kinds(source).items()}
        schema = pa.schema([(name, types[name]) for name in places if name in names])
        parts = [schema.empty_table()]
        for path, size in files.items():
            try:
                parts.append(columns_of_file(path, size, types, schema.names))
            except (OSError, pa.ArrowException):  # of which Spark says what it is
                return None
        if any(part is None for part in parts):
            return None
        tables.append(pa.concat_tables(parts).rename_columns([places[name] for name in schema.names]))
    return tables


def columns_of_file(path: str, size: int, types: dict[str, Any], names: list[str]) -> Any:
    """Some columns of a file; None where one that is declared is not there, or not as Spark would write it."""
    import pyarrow as pa
    from pyarrow import parquet

    if Path(path).stat().st_size != size:
        return None
    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        there = [name.lower() for name in schema.names]
        for name, kind in types.items():
            place = schema.get_field_index(name)
            if place < 0 or schema.field(place).type != kind or there.count(name.lower()) > 1:
                return None
        found = file.read(columns=names)
    if not all(map(of_our_calendar, found.columns)):
        return None
    return pa.table({name: found.column(name) for name in names})  # whether NULL may be there differs between files


def arrow_type(kind: str) -> Any:
    """A type as Arrow has it where Spark needs no conversion."""
    import pyarrow as pa

    names = {
        "tinyint": pa.int8(), "byte": pa.int8(), "smallint": pa.int16(), "short": pa.int16(), "int": pa.int32(),
        "integer": pa.int32(), "bigint": pa.int64(), "long": pa.int64(), "double": pa.float64(), "boolean": pa.bool_(),
        "string": pa.string(), "date": pa.date32(), "timestamp": pa.timestamp("us", "UTC"),
        "timestamp_ltz": pa.timestamp("us", "UTC"), "timestamp_ntz": pa.timestamp("us"),
    }  # fmt: skip
    return names.get(kind)


def of_our_calendar(column: Any) -> bool:
    """Whether a column has no dates or times before `FIRST_YEAR`."""
    import pyarrow as pa
    from pyarrow import compute as pc

    if not (pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)):
        return True
    first = pa.scalar(datetime(FIRST_YEAR, 1, 1, tzinfo=UTC if getattr(column.type, "tz", None) else None))
    least = pc.min(column)
    return not least.is_valid or bool(pc.greater_equal(least, first.cast(column.type)).as_py())
