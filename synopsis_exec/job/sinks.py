"""Part of every job: each batch's results and bad rows, handed to where the catalog wants them."""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from streambound.synopsis_exec.job.endpoints import in_words, located, settings, with_remedy
from streambound.synopsis_exec.job.files import SharedFiles
from streambound.synopsis_exec.job.given import BAD, CALL, RESULT, SINK
from streambound.synopsis_exec.job.reading import in_one_line
from streambound.synopsis_exec.job.source import JobError, Target

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BAD_ROW = (
    "stream STRING, relation STRING, reason STRING, detail STRING, file STRING, line BIGINT, `partition` INT, "
    "`offset` BIGINT, batch BIGINT, row STRING"
)


class Sinks:
    """Writes what a batch left as lines of JSON to the catalog's sinks, by Spark, before the batch's state is saved.

    A batch that is replayed replaces what it wrote before: files are in a directory of their batch, and a function is
    told the batch's number. Kafka has no way to replace a record; there a replay sends the same records again, with
    the same headers.
    """

    def __init__(self, spark: SparkSession, options: argparse.Namespace) -> None:
        self.spark, self.options = spark, options
        self.call = function(CALL) if CALL else None

    def check_new(self) -> None:
        """Raise JobError when the files of a job that begins would come among those of another one."""
        for target in (SINK, BAD):
            if target is not None and target.path:
                path = located(target.path, self.options)
                if any(name.startswith("batch=") for name in SharedFiles(self.spark, path).names("")):
                    message = f"{path} holds the batches of another run; remove them, or name another path"
                    raise JobError("usage", message, 2)

    def results(self, part: str, batch: int, number: int) -> None:
        """Hand over the results of a batch: a file of so many lines of JSON."""
        if self.call is not None:
            self.called(self.call, self.rows(part, RESULT), batch)
        elif SINK is not None:
            self.write(SINK, part, RESULT, batch, number)

    def bad_rows(self, part: str, batch: int, number: int) -> None:
        """Hand over the quarantined rows of a batch."""
        if BAD is not None:
            self.write(BAD, part, BAD_ROW, batch, number)

    def rows(self, part: str, schema: str) -> DataFrame:
        """A part as rows."""
        return self.spark.read.schema(schema).option("mode", "FAILFAST").json(part)

    def called(self, call: Callable[[DataFrame, int], Any], rows: DataFrame, batch: int) -> None:
        """Call the catalog's function; raises JobError when it fails."""
        try:
            call(rows, batch)
        except Exception as error:
            traceback.print_exc()
            raise JobError("output", f"the sink {CALL} failed in batch {batch}: {in_one_line(error)}", 3) from error

    def write(self, target: Target, part: str, schema: str, batch: int, number: int) -> None:
        """Write a part to a target; raises JobError when that fails."""
        path = located(target.path, self.options)
        try:
            if not number:
                if path:
                    SharedFiles(self.spark, path).remove(f"batch={batch:09d}")
                return
            rows = self.rows(part, schema)
            if target.format == "kafka":
                rows = kafka_records(rows, batch, nulls=schema != BAD_ROW)
            writer = rows.write.format(target.format).options(**settings(target, self.options))
            if target.format == "kafka":
                writer.save()
            elif target.format == "noop":
                writer.mode("overwrite").save()
            else:
                writer.mode("overwrite").save(f"{path}/batch={batch:09d}")
        except Exception as error:
            why = with_remedy(in_one_line(error), target.format)
            where = in_words(target, self.options)
            raise JobError("output", f"cannot write batch {batch} to {where}: {why}", 3) from error


def kafka_records(rows: DataFrame, batch: int, nulls: bool = True) -> DataFrame:
    """Rows as JSON in Kafka's `value`, with or without NULLs; the headers `batch` and `row` are those of a replay."""
    from pyspark.sql import functions as F

    headers = [("batch", F.lit(str(batch))), ("row", F.monotonically_increasing_id().cast("string"))]
    return rows.select(
        F.to_json(F.struct("*"), {"ignoreNullFields": str(not nulls).lower()}).alias("value"),
        F.array(
            *(F.struct(F.lit(name).alias("key"), text.cast("binary").alias("value")) for name, text in headers)
        ).alias("headers"),
    )


def function(name: str) -> Callable[[DataFrame, int], Any]:
    """The function that `module:function` names; raises JobError when it cannot be imported."""
    module, _, attribute = name.partition(":")
    try:
        found: Callable[[DataFrame, int], Any] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        path = "give spark-submit its module with --py-files, or start where it is"
        raise JobError("usage", f"the sink {name} cannot be imported: {error}; {path}", 2) from error
    return found


def importable(options: argparse.Namespace) -> None:
    """Let a sink's module be imported from where the catalog is."""
    if CALL and options.base:
        sys.path.insert(0, options.base)
