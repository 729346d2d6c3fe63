"""Part of every job: where the catalog's sources and sinks are, and with which options, in this run."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from streambound.synopsis_exec.job.given import BAD, RELATIONS, SINK, STREAMS
from streambound.synopsis_exec.job.source import JobError, Source, Target

FROM_ENVIRONMENT = re.compile(r"\$\{env:(\w+)\}")
"""What a path or an option leaves to the environment, such as a password: it is in no catalog and no job."""
MISTYPED = re.compile(r"\$\{\s*env\b[^}]*\}?", re.IGNORECASE)
"""What seems to be meant so."""
TOPICS = ("assign", "subscribe", "subscribePattern")
"""Options that say which records a source has."""
OF_TOPICS = (*(name.lower() for name in TOPICS), "topic")
"""The same, and what other sources call it, without a difference of case: Spark makes none."""
BEGINNINGS = ("startingoffsets", "startingoffsetsbytimestamp", "startingtimestamp")
"""Options that say where in its topics a new job starts."""
PACKAGES = {"avro": "spark-avro_2.13", "kafka": "spark-sql-kafka-0-10_2.13"}
"""What Spark reads and writes only with a package of its own."""
SERVERS = "kafka.bootstrap.servers"


def filled(text: str) -> str:
    """A path or an option with the values of the variables that it names; raises JobError for one without."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if not os.environ.get(name):
            raise JobError("usage", f"the catalog has {found[0]}, but no variable {name} is set where the job runs", 2)
        return os.environ[name]

    if wrong := MISTYPED.search(FROM_ENVIRONMENT.sub("", text)):
        raise JobError("usage", f"the catalog has {wrong[0]}; a variable is written ${{env:NAME}}", 2)
    return FROM_ENVIRONMENT.sub(value, text)


def located(path: str, options: argparse.Namespace) -> str:
    """A path of the catalog: a relative one starts at `--base`, one that names its file system is as it is."""
    path = filled(path)
    return str(Path(options.base or ".") / path) if path and ":" not in path else path


def of_files(source: Source, options: argparse.Namespace) -> bool:
    """Whether a source's JSON objects are lines of files."""
    return bool(options.input) or source.format in ("json", "text")


def settings(where: Source | Target, options: argparse.Namespace) -> dict[str, str]:
    """The options for Spark.

    What is there is read from its beginning: without this, Spark would start a stream of Kafka's behind it.
    """
    given = {key: filled(value) for key, value in where.options.items()}
    whole = isinstance(where, Source) and where.format == "kafka" and options.trigger in ("end", "available")
    if whole and not {key.lower() for key in given} & {*BEGINNINGS}:
        given["startingOffsets"] = "earliest"
    return given


def lowered(where: Source | Target, options: argparse.Namespace) -> dict[str, str]:
    """The options by their names in small letters: Spark sees no difference of case."""
    return {key.lower(): value for key, value in settings(where, options).items()}


def identity(source: Source, options: argparse.Namespace) -> list[str]:
    """What makes a source another one for a checkpoint."""
    if options.input:
        return [source.name, str(Path(options.input).absolute())]
    path = located(source.path, options)
    given = sorted(settings(source, options).items())
    topics = [f"{key}={value}" for key, value in given if key.lower() in OF_TOPICS]
    beside = [f"{column}={theirs}" for column, theirs, _ in source.metadata]
    place = str(Path(path).absolute()) if path and ":" not in path else path
    return [source.name, source.format or "", place, *topics, *beside]


def in_short(source: Source, options: argparse.Namespace) -> str:
    """Where a source is, with nothing in it that is only in the environment."""
    if options.input:
        return str(Path(options.input).absolute())
    path = source.path
    place = str(Path(options.base or ".").absolute() / path) if path and ":" not in path else path
    topics = [f"{key}={value}" for key, value in sorted(source.options.items()) if key.lower() in OF_TOPICS]
    beside = [f"{column}={theirs}" for column, theirs, _ in source.metadata]
    return " ".join(filter(None, [source.format, place, *topics, *beside]))


def in_words(target: Target, options: argparse.Namespace) -> str:
    """Where results or bad rows go."""
    if target.format != "kafka":
        return located(target.path, options) or target.format
    given = lowered(target, options)
    return f"Kafka's topic {given['topic']} at {given[SERVERS]}"


def with_remedy(message: str, kind: str | None) -> str:
    """What Spark says of a source or a sink of a format, and what to do where it lacks that format's package."""
    if kind not in PACKAGES or "Failed to find data source" not in message:
        return message
    import pyspark

    package = f"org.apache.spark:{PACKAGES[kind]}:{pyspark.__version__}"
    python = f"PYSPARK_SUBMIT_ARGS='--packages {package} pyspark-shell' where Python is started"
    return f"Spark has no {kind} without its package: spark-submit --packages {package}, or {python}"


def with_servers(message: str, error: BaseException, options: argparse.Namespace) -> str:
    """What is said of an error, and, of one of Kafka's, who should have answered: Kafka does not name them."""
    if "org.apache.kafka" not in str(error) or options.input:
        return message
    servers = {lowered(source, options)[SERVERS] for source in (*STREAMS, *RELATIONS) if source.format == "kafka"}
    return f"{message} (Kafka's servers are {', '.join(sorted(servers))})"


def check_endpoints(options: argparse.Namespace) -> None:
    """Raise JobError, before anything begins, for variables that are not set, and for topics that are nowhere."""
    for target in (SINK, BAD):
        if target is not None:
            settings(target, options)
            located(target.path, options)
    for source in () if options.input else (*STREAMS, *RELATIONS):
        located(source.path, options)
        given = lowered(source, options)
        if source.format == "kafka" and (SERVERS not in given or sum(name.lower() in given for name in TOPICS) != 1):
            needs = f"needs the option {SERVERS!r} and one of {', '.join(map(repr, TOPICS))}"
            raise JobError("input", f"{source.name} cannot be read: its source is kafka and {needs}", 3)
