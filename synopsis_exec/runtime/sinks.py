"""Each batch's results and bad rows, handed to where the catalog wants them."""

from __future__ import annotations

import shutil
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from streambound_runtime.decoding.quoting import quoted
from streambound_runtime.decoding.sql_types import spark_name
from streambound_runtime.endpoints import in_words, local_path, located, options_of, with_remedy
from streambound_runtime.errors import unwritable, usage
from streambound_runtime.failures import in_one_line
from streambound_runtime.python_functions import function
from streambound_runtime.results import OP, UPSERT, result_types, typed_results
from streambound_runtime.session import pinned
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, SinkSpec
from streambound_runtime.table_sinks import TableSink
from streambound_runtime.visible import seen

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

    Call = Callable[[DataFrame, int], object]

BAD_ROW = (
    "stream STRING, relation STRING, reason STRING, detail STRING, file STRING, line BIGINT, `partition` INT, "
    "`offset` BIGINT, batch BIGINT, row STRING, length BIGINT"
)


_PARTS = "16"
"""Records are numbered within the parts that Spark cuts results into: more cores in a replay must not change these."""


class _Upserts:
    """The checks on upserts that sinks with and without Spark share."""

    job: JobSpec
    settings: Settings

    def check_again(self, batch: int, finished: bytes | None) -> None:
        """Raise JobError for a batch in the place of the one that closed all, where that cannot be taken back."""
        sink = self.job.sink
        kept = sink is not None and (sink.table or (self.job.key and sink.format == "kafka"))
        if sink is not None and kept and finished == str(batch).encode():
            what = f"{in_words(sink, self.settings)} has what was closed when the input ended, and there is more"
            raise usage(f"{what}: begin with a new checkpoint and an empty table, and use --trigger available")


class Sinks(_Upserts):
    """Writes what a batch left as lines of JSON to the catalog's sinks, by Spark, before the batch's state is saved.

    A batch that is replayed replaces what it wrote before: files are in a directory of their batch, and a function is
    told the batch's number. Kafka has no way to replace a record; there a replay sends the same records again, with
    the same headers.
    """

    def __init__(self, spark: SparkSession, job: JobSpec, settings: Settings) -> None:
        self.spark, self.job, self.settings = spark, job, settings
        self.call = (
            function("the sink", job.sink.call, settings.base) if job.sink is not None and job.sink.call else None
        )
        self.columns = result_columns(job)
        self.table = table_sink(job, settings)

    def check_new(self) -> None:
        """Raise JobError when the files of a job that begins would come among those of another one."""
        for sink in (self.job.sink, self.job.quarantine):
            path = located(sink.path, self.settings) if sink is not None else ""
            if path and sink is not None and not sink.table and self._holds_batches(path):
                raise usage(f"{path} holds the batches of another run; remove them, or name another path")
        if self.table is not None:
            self.table.check_new()

    def _holds_batches(self, path: str) -> bool:
        folder = local_path(path)
        if folder is not None:
            return folder.is_dir() and any(entry.name.startswith("batch=") for entry in folder.iterdir())
        files = self.spark.read.format("binaryFile").option("recursiveFileLookup", True)
        try:
            return not files.load(f"{path}/batch=*").select("path").limit(1).isEmpty()
        except Exception:  # nothing is there
            return False

    def results(self, rows: Callable[[], DataFrame], batch: int, number: int) -> None:
        """Hand over the results of a batch, ``number`` rows."""
        sink = self.job.sink
        if self.call is not None:
            self._called(self.call, rows(), batch)
        elif self.table is not None:
            self.table.write(rows().toArrow() if number else None, batch)
        elif sink is not None:
            self._write(sink, rows, batch, number, nulls=True)

    def bad_rows(self, part: str, batch: int, number: int) -> None:
        """Hand over the quarantined rows of a batch: a file of that number of lines of JSON."""
        if self.job.quarantine is not None:
            self._write(self.job.quarantine, lambda: self._rows(part, BAD_ROW), batch, number, nulls=False)

    def lines(self, part: str) -> DataFrame:
        """Results in a file of lines of JSON; in one part where punctuations among them have to come last."""
        rows = self._rows(part, self.columns)
        return rows if self.job.told is None else rows.coalesce(1)

    def _rows(self, part: str, schema: str) -> DataFrame:
        """A part as rows."""
        return self.spark.read.schema(schema).option("mode", "FAILFAST").option("recursiveFileLookup", True).json(part)

    def _called(self, call: Call, rows: DataFrame, batch: int) -> None:
        """Call the catalog's function; raises JobError when it fails."""
        try:
            call(rows, batch)
        except Exception as error:
            print(seen(traceback.format_exc()), file=sys.stderr)
            name = self.job.sink.call if self.job.sink is not None else ""
            raise unwritable(f"the sink {name} failed in batch {batch}: {in_one_line(error)}") from error

    def _write(self, sink: SinkSpec, of: Callable[[], DataFrame], batch: int, number: int, nulls: bool) -> None:
        """Write rows to a sink; raises JobError when that fails."""
        path = located(sink.path, self.settings)
        place = f"{path}/batch={batch:09d}"
        try:
            if not number:
                self._remove(place if path else "")
                return
            rows = kafka_records(of(), batch, nulls, self.job.key if nulls else ()) if sink.format == "kafka" else of()
            writer = rows.write.format(sink.format).options(**options_of(sink, self.settings))
            if sink.format == "kafka":
                with pinned(self.spark, parts=_PARTS):
                    writer.save()
            elif sink.format == "noop":
                writer.mode("overwrite").save()
            else:
                writer.mode("overwrite").save(place)
        except Exception as error:
            why = with_remedy(in_one_line(error), sink.format)
            raise unwritable(f"cannot write batch {batch} to {in_words(sink, self.settings)}: {why}") from error

    def _remove(self, place: str) -> None:
        """Remove what an earlier try of a batch without results wrote; elsewhere than here, empty it."""
        folder = local_path(place) if place else None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        elif place and self._holds_batches(place.rpartition("/")[0]):
            self.spark.createDataFrame([], "value STRING").write.mode("overwrite").text(place)


class SinksHere(_Upserts):
    """Of a run without Spark: results go to a table, or are files that its end writes, as bad rows are."""

    def __init__(self, job: JobSpec, settings: Settings) -> None:
        self.job, self.settings, self.table = job, settings, table_sink(job, settings)

    def check_new(self) -> None:
        """Raise JobError where the job begins and the table is none for it."""
        if self.table is not None:
            self.table.check_new()

    def results(self, rows: Callable[[], pa.Table], batch: int, number: int) -> None:
        """Write the results of a batch, ``number`` rows, to the table."""
        if self.table is not None:
            self.table.write(rows() if number else None, batch)

    def bad_rows(self, part: str, batch: int, number: int) -> None:
        """The batch's lines are in the checkpoint."""

    def lines(self, part: str) -> pa.Table:
        """Results in a file of lines of JSON."""
        file = local_path(part) or Path(part)
        return typed_results(self.job, file.read_text(encoding="utf-8").splitlines())


def table_sink(job: JobSpec, settings: Settings) -> TableSink | None:
    """The table of a database that results go to; None where they go elsewhere."""
    return TableSink(job.sink, job, settings) if job.sink is not None and job.sink.table else None


def result_columns(job: JobSpec) -> str:
    """The columns of results, as Spark declares them; a NULL that nothing gives a type is a string."""
    types = result_types(job).items()
    return ", ".join(f"{quoted(name)} {'STRING' if kind == 'void' else spark_name(kind)}" for name, kind in types)


def kafka_records(rows: DataFrame, batch: int, nulls: bool = True, key: Sequence[str] = ()) -> DataFrame:
    """Rows as JSON in Kafka's `value`, with or without NULLs; the headers `batch` and `row` are those of a replay.

    Upserts have their `key` as JSON, too, and no value where its row is gone.
    """
    from pyspark.sql import functions as F

    def in_json(*names: str) -> Column:
        return F.to_json(F.struct(*map(quoted, names)), {"ignoreNullFields": str(not nulls).lower()})

    headers = [("batch", F.lit(str(batch))), ("row", F.monotonically_increasing_id().cast("string"))]
    value = in_json(*(name for name in rows.columns if not key or name not in ("_ts", OP)))
    value = F.when(F.col(OP) == UPSERT, value) if key else value
    return rows.select(
        *([in_json(*key).alias("key")] if key else []),
        value.alias("value"),
        F.array(
            *(F.struct(F.lit(name).alias("key"), text.cast("binary").alias("value")) for name, text in headers)
        ).alias("headers"),
    )
