"""Runs a PySpark program so that no streaming query starts, and takes the plan of each that would.

The one place that uses what PySpark does not document: `DataFrame._jdf`, whose analysed plan is read, and methods of
its classes, which are replaced while the program runs.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import Any

from streambound.analyzer.errors import UsageError
from streambound.importing.frames.catalyst import SOURCE, CatalystNode, NodeFacts, plan_of
from streambound.synopsis_exec.java import require_java

_TAG = "streambound.line"
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


@dataclass(frozen=True)
class FrameQuery:
    """A streaming query: its plan, its output mode, where it starts, and Spark's own words if it refuses it."""

    plan: CatalystNode
    mode: str
    line: int | None = None
    name: str = ""
    refusal: str = ""
    policy: str = "min"


@dataclass
class Program:
    """What a run of a program gave: its queries, and the error that ended it, at a line, if one did."""

    queries: list[FrameQuery] = field(default_factory=list)
    error: str = ""
    line: int | None = None


def query_of(frame: Any, mode: str = "append", line: int | None = None, name: str = "") -> FrameQuery:
    """A DataFrame as a streaming query that would be written in an output mode."""
    if not hasattr(frame, "_jdf"):
        raise UsageError(
            "the DataFrame is one of Spark Connect", remedy="make it in a session without .remote(), and check that"
        )
    jvm = frame.sparkSession._jvm
    analyzed = frame._jdf.queryExecution().analyzed()
    facts = list(_facts(analyzed, jvm, _tag(jvm)))
    plan = plan_of(json.loads(analyzed.toJSON()), facts)
    policy = frame.sparkSession.conf.get("spark.sql.streaming.multipleWatermarkPolicy", "min")
    return FrameQuery(plan, mode.lower(), line, name, _refusal(jvm, analyzed, mode), policy)


def _tag(jvm: Any) -> Any:
    return jvm.org.apache.spark.sql.catalyst.trees.TreeNodeTag(_TAG)


def _facts(node: Any, jvm: Any, tag: Any) -> Iterator[NodeFacts]:
    """What is known of each operator, in preorder."""
    line, delay = node.getTagValue(tag), None
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
        int(line.get()) if line.isDefined() else None, delay, types, frozenset(map(int, unmarked)), identity
    )
    children = node.children().iterator()
    while children.hasNext():
        yield from _facts(children.next(), jvm, tag)


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


def run(file: str, text: str) -> Program:
    """Run a program of that text; raises UsageError where there is no PySpark, and JavaError without a Java.

    What it prints goes to standard error. It runs on this machine, whichever master it names.
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
        with _replaced(found, file), contextlib.redirect_stdout(sys.stderr):
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
def _replaced(found: Program, file: str) -> Iterator[None]:
    """Methods of PySpark as they are while a program runs: nothing starts, and every frame knows its line."""
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

    def here() -> int | None:
        return _line_of(traceback.extract_stack(), file)

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
            name = numbered(_called(seen, given), repr((given, seen)))
            try:
                made = method(self, *given, **named)
            except PySparkException:
                made = _stand_in(self._spark, seen, isinstance(self, DataStreamReader))
                if made is None:
                    raise
            return _marked(made.alias(SOURCE + name), here())

        return call

    def start(self: Any, *given: Any, **named: Any) -> _NotStarted:
        seen = {**getattr(self, "_streambound", {}), **named}
        mode = str(seen.get("outputMode") or "append")
        found.queries.append(query_of(self._df, mode, here(), str(seen.get("queryName") or "")))
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


def _marked(frame: Any, line: int | None) -> Any:
    """A frame whose operator knows the line that made it."""
    if line is not None and hasattr(frame, "_jdf"):
        plan = frame._jdf.queryExecution().analyzed()
        tag = _tag(frame.sparkSession._jvm)
        if not plan.getTagValue(tag).isDefined():
            plan.setTagValue(tag, str(line))
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
