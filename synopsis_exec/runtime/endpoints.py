"""Where the catalog's sources and sinks are, and with which options, in this run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from streambound_runtime.errors import JobError, unreadable, usage
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, Relation, SinkSpec, SourceSpec, Stream

FROM_ENVIRONMENT = re.compile(r"\$\{env:(\w+)\}")
"""What a path or an option leaves to the environment, such as a password: it is in no catalog and no job."""
MISTYPED = re.compile(r"\$\{\s*env\b[^}]*\}?", re.IGNORECASE)
"""What seems to be meant so."""
FILES = ("avro", "csv", "json", "orc", "parquet", "text")
"""Formats of files: they are nothing without a path."""
TOPICS = ("assign", "subscribe", "subscribePattern")
"""Options that say which records a source has."""
_OF_TOPICS = (*(name.lower() for name in TOPICS), "topic")
"""The same, and what other sources call it, without a difference of case: Spark makes none."""
_BEGINNINGS = ("startingoffsets", "startingoffsetsbytimestamp", "startingtimestamp")
"""Options that say where in its topics a new job starts."""
_PACKAGES = {"avro": "spark-avro_2.13:4.2.0", "kafka": "spark-sql-kafka-0-10_2.13:4.2.0"}
"""What Spark reads and writes only with a package of its own: the newest that is published, which Spark 4.3 takes."""
SERVERS = "kafka.bootstrap.servers"


def is_uri(path: str) -> bool:
    """Whether a path names its file system, as in hdfs://…, s3a://… and file:/…."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", path) is not None


def local_path(path: str) -> Path | None:
    """A path that this machine opens by itself; None for one of another file system.

    >>> local_path("file:///a b/c"), local_path("hdfs://h/c")
    (PosixPath('/a b/c'), None)
    """
    if path.startswith("file:"):
        return Path("/" + path.removeprefix("file:").lstrip("/"))
    return None if is_uri(path) else Path(path).absolute()


def filled(text: str) -> str:
    """A path or an option with the values of the variables that it names; raises JobError for one without."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if not os.environ.get(name):
            raise usage(f"the catalog has {found[0]}, but no variable {name} is set where the job runs")
        return os.environ[name]

    if wrong := MISTYPED.search(FROM_ENVIRONMENT.sub("", text)):
        raise usage(f"the catalog has {wrong[0]}; a variable is written ${{env:NAME}}")
    return FROM_ENVIRONMENT.sub(value, text)


def located(path: str, settings: Settings) -> str:
    """A path of the catalog: a relative one starts at ``base``, one that names its file system is as it is."""
    path = filled(path)
    return str(Path(settings.base or ".") / path) if path and ":" not in path else path


def options_of(where: SourceSpec | SinkSpec, settings: Settings) -> dict[str, str]:
    """The options for Spark.

    What is there is read from its beginning: without this, Spark would start a stream of Kafka's behind it.
    """
    given = {key: filled(value) for key, value in where.options}
    from_beginning = isinstance(where, SourceSpec) and where.format == "kafka" and settings.ends
    if from_beginning and not {key.lower() for key in given} & {*_BEGINNINGS}:
        given["startingOffsets"] = "earliest"
    return given


def lowered(where: SourceSpec | SinkSpec, settings: Settings) -> dict[str, str]:
    """The options by their names in small letters: Spark sees no difference of case."""
    return {key.lower(): value for key, value in options_of(where, settings).items()}


def identity(table: Stream | Relation, settings: Settings) -> list[str]:
    """The properties that identify a source for a checkpoint."""
    if settings.input or table.source is None:
        return [table.name, str(Path(settings.input).absolute())]
    source = table.source
    path = located(source.path, settings)
    topics = _topics(options_of(source, settings))
    place = str(Path(path).absolute()) if path and ":" not in path else path
    return [table.name, source.format, place, *topics, *_beside(source)]


def in_short(table: Stream | Relation, settings: Settings) -> str:
    """Where a source is, with nothing in it that is only in the environment."""
    if settings.input or table.source is None:
        return str(Path(settings.input).absolute())
    source, path = table.source, table.source.path
    place = str(Path(settings.base or ".").absolute() / path) if path and ":" not in path else path
    return " ".join(filter(None, [source.format, place, *_topics(dict(source.options)), *_beside(source)]))


def _topics(options: dict[str, str]) -> list[str]:
    return [f"{key}={value}" for key, value in sorted(options.items()) if key.lower() in _OF_TOPICS]


def _beside(source: SourceSpec) -> list[str]:
    return [f"{column}={theirs}" for column, theirs in source.metadata]


def in_words(sink: SinkSpec, settings: Settings) -> str:
    """Where results or bad rows go."""
    if sink.table:
        place = located(sink.path, settings) or lowered(sink, settings).get("dbname", "")
        return f"the table {sink.table} of {sink.format} {place}".rstrip()
    if sink.format != "kafka":
        return located(sink.path, settings) or sink.format
    given = lowered(sink, settings)
    return f"Kafka's topic {given['topic']} at {given[SERVERS]}"


def with_remedy(message: str, kind: str) -> str:
    """Spark's message about a source or a sink, with advice where the format's package is missing."""
    if kind not in _PACKAGES or "Failed to find data source" not in message:
        return message
    package = f"org.apache.spark:{_PACKAGES[kind]}"
    python = f"PYSPARK_SUBMIT_ARGS='--packages {package} pyspark-shell' where Python is started"
    return f"Spark has no {kind} without its package: spark-submit --packages {package}, or {python}"


def with_servers(message: str, error: BaseException, job: JobSpec, settings: Settings) -> str:
    """An error's message, for Kafka's with the servers that should have answered, which Kafka does not name."""
    if "org.apache.kafka" not in str(error) or settings.input:
        return message
    sources = (table.source for table in job.tables)
    servers = {lowered(source, settings)[SERVERS] for source in sources if source and source.format == "kafka"}
    return f"{message} (Kafka's servers are {', '.join(sorted(servers))})"


def check_endpoints(job: JobSpec, settings: Settings) -> None:
    """Raise JobError, before anything begins, for variables that are not set, and for what is nowhere."""
    for sink in (job.sink, job.quarantine):
        if sink is not None:
            options_of(sink, settings)
            located(sink.path, settings)
    check_sources(job.tables, settings)


def check_sources(tables: Iterable[Stream | Relation], settings: Settings) -> None:
    """Raise JobError for a table that is read where its source is, which is nowhere."""
    for table in tables if not settings.input else ():
        if table.source is None:
            raise unreadable(f"{table.name} has no source in the catalog; run the job with --input DIR")
        _check_source(table.name, table.source, settings)


def _check_source(name: str, source: SourceSpec, settings: Settings) -> None:
    path, given = located(source.path, settings), lowered(source, settings)
    if source.format == "kafka" and (SERVERS not in given or sum(topic.lower() in given for topic in TOPICS) != 1):
        needs = f"needs the option {SERVERS!r} and one of {', '.join(map(repr, TOPICS))}"
        raise _cannot(name, f"its source is kafka and {needs}")
    if not path and source.format in FILES and "path" not in given:
        raise _cannot(name, "its source in the catalog has no path")
    if path and not _exists(path):
        raise _cannot(name, f"there is no {path}, its source in the catalog")


def _cannot(name: str, why: str) -> JobError:
    return unreadable(f"{name} cannot be read: {why}")


def _exists(path: str) -> bool:
    """Whether a file, a directory or something that fits a pattern is there; taken for granted on other machines."""
    if set(path) & set(":{\\"):
        return True
    found = Path(path)
    return found.exists() or any(Path(found.anchor).glob(str(found.relative_to(found.anchor))))
