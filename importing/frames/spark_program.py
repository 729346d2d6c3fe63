"""Runs a PySpark program so that no streaming query starts, and takes the plan of each that would.

The one place that uses what PySpark does not document: `DataFrame._jdf`, whose analysed plan is read, the message that
a DataFrame of Spark Connect is, and methods of its classes, which are replaced while the program runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from inspect import isfunction
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct, field

from streambound.analyzer.errors import UsageError
from streambound.importing.frames.catalyst import SOURCE, CallSite, CatalystNode, NodeFacts, plan_of
from streambound.synopsis_exec.java import require_java

_TAG = "streambound.call"
_REMOTE = ("SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_API_MODE")
"""What makes a new session one of Spark Connect."""
_KAFKA = "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int"
"""The columns of Kafka's source."""
_UNMARKED = {
    "Project": re.compile(r"precisetimestampconversion\([^()#]*#(\d+),"),
    "Expand": re.compile(r"precisetimestampconversion\([^()#]*#(\d+),"),
    "Aggregate": re.compile(r"#(\d+)L?+(?!-T)"),
}
"""Where an operator's text has a column without ``-T600000ms``: it was taken from a frame before its watermark."""
_CALLED = ("subscribe", "topic", "subscribePattern", "dbtable", "path")
"""Options that say what a source is called."""


class FrameQuery(Struct, frozen=True):
    """A streaming query: its plan, its output mode, where it starts, and Spark's own words if it refuses it."""

    plan: CatalystNode
    mode: str
    line: int | None = None
    name: str = ""
    refusal: str = ""
    policy: str = "min"


class Program(Struct):
    """What a run of a program gave: its queries, and the error that ended it, at a line, if one did."""

    queries: list[FrameQuery] = field(default_factory=list)
    error: str = ""
    line: int | None = None


def query_of(frame: Any, mode: str = "append", line: int | None = None, name: str = "") -> FrameQuery:
    """A DataFrame as a streaming query that would be written in an output mode."""
    session, executed = (frame.sparkSession, frame._jdf) if hasattr(frame, "_jdf") else _read_here(frame)
    jvm, analyzed = session._jvm, executed.queryExecution().analyzed()
    facts = list(_facts(analyzed, jvm, _tag(jvm)))
    plan = plan_of(json.loads(analyzed.toJSON()), facts)
    policy = session.conf.get("spark.sql.streaming.multipleWatermarkPolicy", "min")
    return FrameQuery(plan, mode.lower(), line, name, _refusal(jvm, analyzed, mode), policy)


def _read_here(frame: Any) -> tuple[Any, Any]:
    """A DataFrame of Spark Connect on this machine, in a session of its own: its message is read, and no server asked.

    Raises UsageError where it has what only the server knows.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        message = frame._plan.plan(frame.sparkSession.client)
        with _without_server():
            session: Any = SparkSession.builder.master("local[1]").getOrCreate().newSession()
            for number, read in enumerate(_sources(message)):
                _put_here(read, session, number)
            connect = session._jvm.org.apache.spark.sql.connect
            holder = connect.service.SessionHolder("streambound", "streambound", session._jsparkSession)
            planner = connect.planner.SparkConnectPlanner(holder, session._jvm.scala.Option.empty())
            relation = session._jvm.org.apache.spark.connect.proto.Relation.parseFrom(message.SerializeToString())
            rows = session._jvm.org.apache.spark.sql.classic.Dataset
            return session, rows.ofRows(session._jsparkSession, planner.transformRelation(relation))
    except (PySparkException, Py4JError) as error:
        raise UsageError(
            f"the DataFrame of Spark Connect is not read without its server: {first_line(str(error))}",
            remedy="make it in a session without .remote(), and check that",
        ) from error


@contextlib.contextmanager
def _without_server() -> Iterator[None]:
    """As long as it lasts, sessions are of this machine."""
    saved = {name: os.environ.pop(name) for name in _REMOTE if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(saved)


def _sources(message: Any) -> Iterator[Any]:
    """What a message of Spark Connect reads from outside."""
    if message.DESCRIPTOR.name == "Read" and message.HasField("data_source"):
        yield message
    for found, value in message.ListFields():
        if found.message_type is not None and not found.message_type.GetOptions().map_entry:
            for part in (value,) if hasattr(value, "DESCRIPTOR") else value:
                yield from _sources(part)


def _put_here(read: Any, session: Any, number: int) -> None:
    """Let a message read a view of this session in the place of a source; it has the columns of the source."""
    from pyspark.errors import PySparkException

    source = read.data_source
    seen = {**source.options, "format": source.format, "schema": source.schema or None}
    try:
        reader = session.readStream if read.is_streaming else session.read
        reader = reader.format(source.format).options(**source.options)
        made = (reader.schema(source.schema) if source.schema else reader).load(*source.paths[:1])
    except PySparkException:
        made = _stand_in(session, seen, read.is_streaming)
        if made is None:
            raise
    name = _called(seen, tuple(source.paths))
    made.alias(SOURCE + name).createOrReplaceTempView(f"{name}_{number}" if number else name)
    read.named_table.unparsed_identifier = f"`{name}_{number}`" if number else f"`{name}`"
    read.is_streaming = False


def _tag(jvm: Any) -> Any:
    return jvm.org.apache.spark.sql.catalyst.trees.TreeNodeTag(_TAG)


def _facts(node: Any, jvm: Any, tag: Any) -> Iterator[NodeFacts]:
    """What is known of each operator, in preorder."""
    call, delay = node.getTagValue(tag), None
    if node.nodeName() == "EventTimeWatermark":
        watermark = jvm.org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
        delay = int(watermark.getDelayMs(node.delay()))
    types = ()
    if delay is not None or node.nodeName() == "SubqueryAlias":
        types = tuple(one["type"] for one in json.loads(node.schema().json())["fields"])
    unmarked = _UNMARKED[node.nodeName()].findall(node.simpleString(1_000)) if node.nodeName() in _UNMARKED else ()
    made_of = {"StreamingRelation": "dataSource", "StreamingRelationV2": "table"}.get(node.nodeName())
    identity = jvm.java.lang.System.identityHashCode(getattr(node, made_of)()) if made_of else 0
    yield NodeFacts(
        _site(call.get()) if call.isDefined() else None, delay, types, frozenset(map(int, unmarked)), identity
    )
    children = node.children().iterator()
    while children.hasNext():
        yield from _facts(children.next(), jvm, tag)


def _site(text: str) -> CallSite:
    line, *end = map(int, text.split())
    return CallSite(line, (end[0], end[1]))


def _refusal(jvm: Any, analyzed: Any, mode: str) -> str:
    """What Spark says when it would start; nothing if it would."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    output = getattr(jvm.org.apache.spark.sql.streaming.OutputMode, mode.capitalize())()
    try:
        jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker.checkForStreaming(analyzed, output)
    except (PySparkException, Py4JJavaError) as error:
        return first_line(str(error))
    return ""


def first_line(text: str) -> str:
    """An error of Spark without its plan and its stack."""
    return " ".join(text.split(";\n", maxsplit=1)[0].split("\nJVM", maxsplit=1)[0].split("\n", maxsplit=1)[0].split())


# --- running a program ------------------------------------------------------------------------------------------------


class _NotStarted:
    """In the place of a query that was not started."""

    id = runId = name = lastProgress = None
    isActive, recentProgress = False, ()
    status: dict[str, Any]

    def __getattr__(self, _: str) -> Callable[..., bool]:
        return lambda *_, **__: True


def run(file: str, text: str, declared: Mapping[str, str]) -> Program:
    """Run a program of that text; raises UsageError where there is no PySpark, and JavaError without a Java.

    What it prints goes to standard error. It runs on this machine, whichever master it names; a source that is not here
    has the columns that are ``declared`` of its name, in small letters, as Spark's DDL.
    """
    try:
        import pyspark.sql  # noqa: F401
    except ImportError as error:
        raise UsageError("pyspark is not installed", remedy="pip install 'streambound[spark]'") from error
    require_java()
    found = Program()
    module = ModuleType("__main__")
    module.__dict__.update(__file__=file, __name__="__main__")
    before = sys.argv, sys.path[:], sys.modules["__main__"]
    sys.argv, sys.path[0:0], sys.modules["__main__"] = [file], [str(Path(file).resolve().parent)], module
    try:
        with _without_server(), _replaced(found, file, declared), contextlib.redirect_stdout(sys.stderr):
            exec(compile(text, file, "exec"), module.__dict__)
    except SystemExit:
        pass
    except Exception as error:  # whatever the user's program raises
        found.error = first_line(f"{type(error).__name__}: {error}")
        found.line = (
            error.lineno
            if isinstance(error, SyntaxError)
            else _line_of(traceback.extract_tb(error.__traceback__), file)
        )
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"] = before
    return found


def _line_of(frames: Any, file: str) -> int | None:
    return next((one.lineno for one in reversed(frames) if one.filename == file), None)


@contextlib.contextmanager
def _replaced(found: Program, file: str, declared: Mapping[str, str]) -> Iterator[None]:
    """Methods of PySpark as they are while a program runs: nothing starts, and every frame knows its call."""
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame
    from pyspark.sql.group import GroupedData
    from pyspark.sql.readwriter import DataFrameReader
    from pyspark.sql.streaming.query import StreamingQueryManager
    from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

    saved: list[tuple[Any, str, Any]] = []
    sources: dict[str, list[str]] = {}

    def replace(owner: Any, name: str, value: Any) -> None:
        if name in vars(owner):
            saved.append((owner, name, vars(owner)[name]))
            setattr(owner, name, value)

    def here() -> CallSite | None:
        """The call of the program that is running."""
        frame = sys._getframe(1)
        while frame.f_code.co_filename != file:
            if frame.f_back is None:
                return None
            frame = frame.f_back
        _, line, _, column = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
        return CallSite(frame.f_lineno, (line or 0, column or 0))

    def marked(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            made = method(*given, **named)
            return _marked(made, here()) if isinstance(made, DataFrame) else made

        return call

    def noted(method: Callable[..., Any], key: str | None) -> Callable[..., Any]:
        """Options of a reader or a writer, which Spark keeps where Python cannot read them."""

        def call(self: Any, *given: Any, **named: Any) -> Any:
            seen = self.__dict__.setdefault("_streambound", {})
            pair = (key, given[0] if given else next(iter(named.values()), None)) if key else given[:2]
            seen.update([pair] if len(pair) == 2 else [], **({} if key else named))
            return method(self, *given, **named)

        return call

    def numbered(name: str, options: str) -> str:
        """The name of a source that no other one has: one that is read in the same way is the same."""
        others = sources.setdefault(name, [])
        others += [] if options in others else [options]
        number = others.index(options) + 1
        return name if number == 1 else f"{name}_{number}"

    def loaded(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *given: Any, **named: Any) -> Any:
            seen = {"format": method.__name__, **getattr(self, "_streambound", {}), **named}
            called = _called(seen, given)
            name = numbered(called, repr((given, seen)))
            try:
                made = method(self, *given, **named)
            except PySparkException:
                seen = {"schema": declared.get(called.lower()), **seen}
                made = _stand_in(self._spark, seen, isinstance(self, DataStreamReader))
                if made is None:
                    raise
            return _marked(made.alias(SOURCE + name), here())

        return call

    def start(self: Any, *given: Any, **named: Any) -> _NotStarted:
        seen = {**getattr(self, "_streambound", {}), **named}
        mode = str(seen.get("outputMode") or "append")
        call = here()
        found.queries.append(
            query_of(self._df, mode, None if call is None else call.line, str(seen.get("queryName") or ""))
        )
        return _NotStarted()

    try:
        bases = [one for owner in (ClassicFrame, GroupedData, SparkSession) for one in owner.__mro__]
        for owner in dict.fromkeys(one for one in bases if one.__module__.startswith("pyspark.")):
            for name, method in list(vars(owner).items()):
                if isfunction(method) and not name.startswith("_"):
                    replace(owner, name, marked(method))
        for reader in (DataStreamReader, DataFrameReader):
            for name in ("load", "table", "csv", "json", "parquet", "orc", "text", "xml"):
                replace(reader, name, loaded(vars(reader).get(name, _nothing)))
            replace(reader, "format", noted(reader.format, "format"))
            replace(reader, "schema", noted(reader.schema, "schema"))
            replace(reader, "option", noted(reader.option, None))
            replace(reader, "options", noted(reader.options, None))
        for name in ("outputMode", "queryName"):
            replace(DataStreamWriter, name, noted(vars(DataStreamWriter)[name], name))
        replace(DataStreamWriter, "start", start)
        replace(DataStreamWriter, "toTable", start)
        replace(SparkSession, "stop", lambda _: None)
        replace(SparkSession.Builder, "master", lambda builder, _: builder)
        replace(SparkSession.Builder, "remote", lambda builder, _: builder)
        replace(StreamingQueryManager, "awaitAnyTermination", lambda *_: True)
        yield
    finally:
        for owner, name, value in reversed(saved):
            setattr(owner, name, value)


def _stand_in(spark: Any, seen: dict[str, Any], streaming: bool) -> Any:
    """A source with the same columns as one that cannot be loaded here; None where these are not known.

    Kafka's connector is not part of PySpark, and the folder of the input may be on another machine.
    """
    schema = _KAFKA if str(seen.get("format")).lower() == "kafka" else seen.get("schema")
    if schema is None:
        return None
    empty = spark.createDataFrame([], schema)
    if not streaming:
        return empty
    columns = (f"CAST(NULL AS {one.dataType.simpleString()}) AS `{one.name}`" for one in empty.schema.fields)
    return spark.readStream.format("rate").load().selectExpr(*columns)


def _nothing() -> None:
    """In the place of a method that a version of PySpark lacks, and that is not replaced."""


def _marked(frame: Any, call: CallSite | None) -> Any:
    """A frame whose operator knows the call that made it."""
    if call is not None and hasattr(frame, "_jdf"):
        plan = frame._jdf.queryExecution().analyzed()
        tag = _tag(frame.sparkSession._jvm)
        if not plan.getTagValue(tag).isDefined():
            plan.setTagValue(tag, f"{call.line} {call.end[0]} {call.end[1]}")
    return frame


def _called(seen: dict[str, Any], given: tuple[Any, ...]) -> str:
    """What a source is called: by its topic, the last part of its path, or its format.

    >>> _called({"format": "kafka", "subscribe": "orders"}, ()), _called({}, ("/data/in/clicks/*.json",))
    ('orders', 'clicks')
    """
    places = [seen.get(key) for key in _CALLED] + [one for one in given[:1] if isinstance(one, str)]
    known = next((str(one) for one in places if one), "")
    parts = [part for part in re.split(r"[/,]", known) if part and not set(part) & set("*?[:")]
    last = parts[-1] if parts else ""
    name = last.partition(".")[0] if "/" in known else last.rpartition(".")[2]
    return name or str(seen.get("format") or "events")
