"""What Spark tells of sources: the paths of their files, or, of those that are no files, their rows."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.raw import own, selected
from streambound_runtime.endpoints import (
    FILES,
    is_uri,
    local_path,
    located,
    options_of,
    with_remedy,
    with_servers,
)
from streambound_runtime.errors import JobError, unreadable
from streambound_runtime.failures import in_one_line
from streambound_runtime.reading.inputs import ignored, input_files, is_hidden
from streambound_runtime.reading.lines import expansion
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, Relation, Stream
from streambound_runtime.visible import as_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

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
    "path",
)
"""Options that say which files are read, not how, in small letters."""
_LIMITS = {"maxfilespertrigger", "maxbytespertrigger"}
_BYTES = {"parquet": 32 << 20, "orc": 32 << 20}
"""Of a million rows, about."""
_BYTES_OF_TEXT = 128 << 20
QUEUE_PLACES = {"kafka": ("partition", "offset")}
"""Format of a queue -> the columns that say where a record is."""
_PATHS = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
_OF_PATTERNS = "\\{}[]*?"
"""Characters that Spark takes for parts of a pattern in a path."""
_BRACES, _AUTHORITY = re.compile(r"\{[^}]*"), re.compile(r"\A[^/:]*:(//[^/]*)?")
_ANY_AGE = f"{2**63 - 1}ms"
"""By default Spark skips files that are seven days older than the newest one that it has seen."""
_OWN_CHOICE = {"recursivefilelookup", "cleansource"}
"""Options with which Spark alone says which files are read: it may remove what it has listed."""


def by_path(table: Stream | Relation, settings: Settings) -> bool:
    """Whether a source is read file by file."""
    return bool(settings.input) or (table.source is not None and table.source.format in FILES)


def arriving(spark: SparkSession, job: JobSpec, settings: Settings, frames: Mapping[str, DataFrame]) -> DataFrame:
    """All streams as one: `source` (the stream's number), and `path`, of a file, or `raw_n`, a row of stream n.

    What is in a file is not read: Spark only lists files, and remembers which have been read.
    """
    parts = []
    for number, stream in enumerate(job.streams):
        with failing(stream, job, settings):
            if by_path(stream, settings):
                part = _paths(spark, stream, settings, streaming=True).selectExpr(f"{number} AS source", "path")
            else:
                rows = raw_rows(spark.readStream, stream, settings, frames)
                names = ", ".join(map(quoted, rows.columns))
                part = rows.selectExpr(f"{number} AS source", f"struct({names}) AS raw_{number}")
            parts.append(part)
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)


def paths_now(spark: SparkSession, table: Stream | Relation, settings: Settings) -> list[str]:
    """The paths of the files that a source has at the moment, sorted."""
    if settings.input:
        return [f"file:{file.absolute()}" for file in input_files(table.name, Path(settings.input))]
    listed = _paths(spark, table, settings, streaming=False).select("path").toArrow()
    return sorted(listed.column("path").to_pylist())


class _Listing(NamedTuple):
    """Where a source's files are, the options that choose among them, and a regular expression for their paths.

    Without an expression Spark alone chooses.
    """

    path: str
    options: dict[str, str]
    files: str = ""


def _paths(spark: SparkSession, table: Stream | Relation, settings: Settings, streaming: bool) -> DataFrame:
    """A source's files, as `path`, `modificationTime` and `length`."""
    place = _place(table, settings)
    if not streaming:
        return _listed(spark.read, place)
    limits = {} if {key.lower() for key in place.options} & _LIMITS else _limit(spark, table, settings, place)
    options = {"maxFileAge": _ANY_AGE, **place.options, **limits}
    return _listed(spark.readStream.schema(_PATHS), place._replace(options=options))


def _listed(reader: DataFrameReader | DataStreamReader, place: _Listing) -> DataFrame:
    """The files at a place.

    Spark lists all files below it. Its own choice among them leaves out those beside directories that say a column's
    value, and lists files twice where a name has signs of a pattern.
    """
    from pyspark.sql import functions as F

    below = {"recursiveFileLookup": "true"} if place.files else {}
    rows: DataFrame = reader.format("binaryFile").options(**below, **place.options).load(place.path or None)
    return rows.where(F.col("path").rlike(place.files)) if place.files else rows


def _place(table: Stream | Relation, settings: Settings) -> _Listing:
    if settings.input:
        files = input_files(table.name, Path(settings.input))
        several = len(files) > 1 or files[0].parent.name == table.name
        return _in_folder(files[0].parent, {"pathGlobFilter": "*.jsonl" if several else escaped(files[0].name)}, False)
    assert table.source is not None
    given = {key: text for key, text in options_of(table.source, settings).items() if key.lower() in CHOOSING}
    path = located(table.source.path, settings)
    file = Path(path)
    if path and file.is_file():  # Spark streams directories only
        if is_hidden(file):
            raise unreadable(f"{table.name} cannot be read: {ignored(file)}")
        return _in_folder(file.parent, given | {"pathGlobFilter": escaped(file.name)}, False)
    if path and file.exists():
        return _in_folder(file, given)
    options = {"basePath": base_of(path)} | given if is_pattern(path) else given
    return _Listing(path, options, _expression(path, options))


def _in_folder(folder: Path, options: dict[str, str], deep: bool = True) -> _Listing:
    """The files of a directory; ``deep``: also of those below it that say a column's value.

    Spark has to be told where such directories begin: of what it takes for a pattern, as it does any escaped path, it
    would not know.
    """
    path = os.path.normpath(folder.absolute())
    options = {"basePath": path} | options
    return _Listing(escaped(path), options, _expression(path, options, deep))


def _expression(path: str, options: Mapping[str, str], deep: bool = True) -> str:
    r"""The paths of the files that a path stands for: files, those in directories, and in ones that say a value.

    >>> re.fullmatch(_expression("/in/*", {}), "file:/in/a/day=1/b") is not None
    True
    >>> re.fullmatch(_expression("/in/*", {}), "file:/in/a/old/b") is not None
    False
    """
    if not path or "/" in "".join(_BRACES.findall(path)) or {key.lower() for key in options} & _OWN_CHOICE:
        return ""
    below = _AUTHORITY.sub("", path) if is_uri(path) else str(Path(path).absolute())
    depth = len(list(filter(None, os.path.normpath(below).split("/"))))
    within = "((/[^/=]+=[^/]*)*/[^/]+)?" if deep else "/[^/]+"
    return rf"^[^/]+(//[^/]*)?(/[^/]+){{{depth}}}{within}$"


def is_pattern(path: str) -> bool:
    """Whether a path stands for others: it has signs of a pattern, and nothing here is called so."""
    return bool({*path} & {*_OF_PATTERNS}) and not Path(path).exists()


def base_of(path: str) -> str:
    """The directory below which directories may say a column's value: of a pattern what is before it.

    >>> base_of("/a/b*/c"), base_of("s3a://b/in")
    ('/a', 's3a://b/in')
    """
    if is_pattern(path):
        path = path[: min(path.index(sign) for sign in _OF_PATTERNS if sign in path)].rpartition("/")[0] or "/"
    return path if is_uri(path) else os.path.normpath(Path(path).absolute())


def escaped(path: str) -> str:
    r"""A path that is no pattern, as Spark takes it.

    >>> escaped("/a[1]/b")
    '/a\\[1\\]/b'
    """
    return "".join(f"\\{sign}" if sign in _OF_PATTERNS else sign for sign in path)


def _limit(spark: SparkSession, table: Stream | Relation, settings: Settings, place: _Listing) -> dict[str, str]:
    """How much of a source is in a micro-batch: nothing is said of files whose order Spark would not keep."""
    files = _files_now(spark, table, settings, place)
    if not in_order(table, settings, files):
        return {}
    if settings.files_per_batch is not None:
        return {"maxFilesPerTrigger": str(settings.files_per_batch)}
    most = bytes_per_batch(table, settings) / max([1.0, *map(_expansion, files)])
    return {"maxBytesPerTrigger": str(max(1, int(most)))}


def bytes_per_batch(table: Stream | Relation, settings: Settings) -> int:
    """How many bytes of what is in a source's files are a micro-batch: about a million rows."""
    kind = "" if settings.input or table.source is None else table.source.format
    return _BYTES.get(kind, _BYTES_OF_TEXT)


class ListedFile(NamedTuple):
    """A file, and when it was changed."""

    path: str
    modified: float


def _files_now(spark: SparkSession, table: Stream | Relation, settings: Settings, place: _Listing) -> list[ListedFile]:
    """The files that are there: of recorded streams by name, of others by modification time."""
    if settings.input:
        there = input_files(table.name, Path(settings.input))
        return [ListedFile(str(file), file.stat().st_mtime_ns // 1_000_000) for file in there]
    rows = _listed(spark.read, place).select("path", "modificationTime").toArrow().to_pylist()
    files = [ListedFile(row["path"], row["modificationTime"].timestamp()) for row in rows]
    return sorted(files, key=lambda file: file.modified)


def _expansion(file: ListedFile) -> float:
    """How many times as large what is in a file is as the file, as far as this machine can see it."""
    there = local_path(file.path)
    return 1.0 if there is None else expansion(there)


def in_order(table: Stream | Relation, settings: Settings, files: Sequence[ListedFile]) -> bool:
    """Whether Spark, which goes by modification times, reads files one after the other as they were written."""
    what = "do not follow the names of the files" if settings.input else "of some files are the same"
    fine = all(one.modified < other.modified for one, other in pairwise(files))
    if not fine:
        print(f"note: {as_line(table.name)}: modification times {what}, so they are read as one batch", file=sys.stderr)
    return fine


def raw_rows(
    reader: DataFrameReader | DataStreamReader | None,
    table: Stream | Relation,
    settings: Settings,
    frames: Mapping[str, DataFrame] = {},
) -> DataFrame:
    """The raw rows of a source that is no files, or is given, with where each is, as far as the source says it."""
    assert table.source is not None
    rows = frames.get(table.name)
    if rows is None:
        assert reader is not None, "what is not given is read"
        path = located(table.source.path, settings)
        rows = reader.format(table.source.format).options(**options_of(table.source, settings)).load(path or None)
    if not table.source.payload:
        check_columns(table, list(rows.columns))
    places = [name for name in QUEUE_PLACES.get(table.source.format, ()) if name in rows.columns]
    where = [f"{quoted(name)} AS {quoted(own(table, name))}" for name in places]
    return rows.selectExpr(*selected(table, dict(rows.dtypes)), *where)


def check_columns(table: Stream | Relation, found: Sequence[str]) -> None:
    """Raise JobError for a declared column that a source does not have."""
    there = {name.lower() for name in found}
    absent = next((column.name for column in table.columns if column.name.lower() not in there), None)
    if absent is not None:
        why = f"its source has no column {absent}, only {', '.join(found) or 'none'}"
        raise unreadable(f"{table.name} cannot be read: {why}")


@contextmanager
def failing(table: Stream | Relation, job: JobSpec, settings: Settings) -> Iterator[None]:
    """Turn Spark's or the system's errors about a source into JobError."""
    try:
        yield
    except JobError:
        raise
    except Exception as error:
        kind = table.source.format if table.source is not None else ""
        why = with_servers(with_remedy(in_one_line(error), kind), error, job, settings)
        raise unreadable(f"{table.name} cannot be read: {why}") from error
