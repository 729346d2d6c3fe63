"""A job over DataFrames that a program has, in place of the catalog's sources."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO, TypeVar

from streambound_runtime.driver import Driver
from streambound_runtime.main import Frames, prepare, query_of, running
from streambound_runtime.reading.files import Raw
from streambound_runtime.reading.sources import raw_rows
from streambound_runtime.results import typed_results
from streambound_runtime.row_values import JsonObject
from streambound_runtime.scratch import scratch_folder
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, Relation, SourceSpec, Stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

T = TypeVar("T", Stream, Relation)
GIVEN = "DataFrame"
"""The format of a source that a program gives."""


def over(job: JobSpec, names: Frames) -> JobSpec:
    """The job with DataFrames for the sources of these streams and relations."""

    def given(table: T) -> T:
        return replace(table, source=SourceSpec(GIVEN)) if table.name in names else table

    return replace(job, streams=tuple(map(given, job.streams)), relations=tuple(map(given, job.relations)))


class StaticInput:
    """All rows of finite DataFrames, as one batch (`reading.batch.Arrived`)."""

    def __init__(self, job: JobSpec, settings: Settings, frames: Frames) -> None:
        self.job, self.settings, self.frames = job, settings, frames

    def rows(self, number: int) -> DataFrame:
        """The raw rows of a stream, where they are."""
        return raw_rows(None, self.job.streams[number], self.settings, self.frames)

    def raws(self, number: int) -> Iterator[Raw]:
        """The raw rows of a stream, on the driver."""
        yield Raw(self.rows(number).toArrow())

    def paths(self, number: int) -> list[str]:
        """No stream is read by path."""
        raise AssertionError(number)


class Finished:
    """The outcome of a run, of a streaming one so far; ``last`` is its last batch."""

    def __init__(self, driver: Driver, last: int | None, query: StreamingQuery | None = None) -> None:
        self.driver, self.last, self.query = driver, last, query

    def rows(self) -> list[JsonObject]:
        """The results in order of `_ts`, each as a line of `--output` has it."""
        return [json.loads(line) for line in self._written(self.driver.owner.write_output).splitlines()]

    def quarantined(self) -> list[JsonObject]:
        """The rows that could not be used."""
        return [json.loads(line) for line in self._written(self.driver.bad_rows).splitlines()]

    def to_arrow(self) -> pa.Table:
        """The results with their types."""
        if self.driver.context.spark is None:
            return typed_results(self.driver.job, self._written(self.driver.owner.write_output).splitlines())
        with scratch_folder() as folder:
            file = folder / "results.jsonl"
            file.write_text(self._written(self.driver.owner.write_output), encoding="utf-8")
            return self.driver.sinks.lines(str(file)).toArrow()

    def _written(self, write: Callable[[int, TextIO], None]) -> str:
        last, text = self.driver.batch if self.last is None else self.last, io.StringIO()
        write(-1 if last is None else last, text)
        return text.getvalue()


def fold(spark: SparkSession, job: JobSpec, settings: Settings, frames: Frames) -> Finished:
    """Run a job over a finite DataFrame for each stream, in order of time."""
    driver = prepare(spark, job, settings, lambda report: None, frames)
    with running(job, settings, driver):
        driver.fold(StaticInput(job, settings, frames), 0)
        driver.finish()
    return Finished(driver, 1)


def ended(spark: SparkSession, job: JobSpec, settings: Settings, frames: Frames) -> Finished:
    """Run a job over all there is in its streams' sources; relations may be given."""
    driver = prepare(spark, job, settings, lambda report: None, frames)
    with running(job, settings, driver):
        query_of(spark, job, settings, driver).start().awaitTermination()
        driver.finish()
    return Finished(driver, 0 if driver.batch is None else driver.batch + 1)


def start(spark: SparkSession, job: JobSpec, settings: Settings, frames: Frames) -> Finished:
    """Start a job over streaming DataFrames; it goes on until its query is stopped."""
    driver = prepare(spark, job, settings, lambda report: None, frames)
    return Finished(driver, None, query_of(spark, job, settings, driver, frames).start())
