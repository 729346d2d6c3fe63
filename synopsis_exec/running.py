"""A job in a program: in its own Spark session over paths and DataFrames, or without Spark over paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

from streambound.analyzer.errors import InputError, StreamboundError, UsageError
from streambound.synopsis_exec.job_file import CompiledJob
from streambound_runtime import embedded
from streambound_runtime.dataframes import Finished, ended, fold, over, start
from streambound_runtime.endpoints import FILES
from streambound_runtime.errors import JobError
from streambound_runtime.scratch import new_scratch
from streambound_runtime.settings import Settings
from streambound_runtime.spec import JobSpec, SourceSpec, Stream
from streambound_runtime.usage import checked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Inputs = str | Path | Mapping[str, str | Path | DataFrame] | None


def run(compiled: CompiledJob, spark: SparkSession | None, inputs: Inputs, base: str, checkpoint: str) -> Finished:
    """Run a job over what it is given (`streambound.Job.run`); raises StreamboundError for what it cannot be."""
    scratch = new_scratch()
    folder = scratch.folder
    settings = Settings(checkpoint or f"{folder}/checkpoint", base=base, output=f"{folder}/results.jsonl")
    job, frames = compiled.job, dict[str, "DataFrame"]()
    if isinstance(inputs, str | Path):
        settings = replace(settings, input=str(inputs))
    elif inputs is not None:
        _check_names(job, inputs)
        paths = {name: str(given) for name, given in inputs.items() if isinstance(given, str | Path)}
        frames = {name: given for name, given in inputs.items() if not isinstance(given, str | Path)}
        job = over(_from_paths(job, paths), frames)
    if spark is None and (why := embedded.needs_spark(job, settings)) is not None:
        scratch.remove()
        raise UsageError(f"{job.name} cannot run without Spark: {why}", remedy="give run a Spark session")
    streams = {stream.name for stream in job.streams}
    given = streams & frames.keys()
    flowing = {name for name in given if frames[name].isStreaming}
    if given and given != (flowing or streams):
        kind = "streaming" if flowing else "finite"
        others = (given if flowing else streams) - (flowing or given)
        what = f"{', '.join(sorted(flowing or given))} is a {kind} DataFrame, and {', '.join(sorted(others))} is none"
        raise InputError(what, remedy=f"give a {kind} DataFrame for every stream")
    try:
        if spark is None:
            driver, _ = embedded.ended(job, checked(job, settings), lambda report: None)
            found = Finished(driver, 0 if driver.batch is None else driver.batch + 1)
        elif flowing:
            settings = replace(settings, trigger="0 seconds")
            found = start(spark, job, settings, frames)
        elif given:
            found = fold(spark, job, checked(job, settings), frames)
        else:
            found = ended(spark, job, checked(job, settings), frames)
    except BaseException as error:
        scratch.remove()
        if isinstance(error, JobError | OverflowError):
            raise StreamboundError(str(error)) from error
        raise
    finalize(found, scratch.remove)
    return found


def _from_paths(job: JobSpec, paths: Mapping[str, str]) -> JobSpec:
    """The job with paths for the sources of these streams and relations."""

    def given(table: Stream | object) -> object:
        name = getattr(table, "name", "")
        if name not in paths:
            return table
        source = getattr(table, "source", None)
        declared = source if source is not None and source.format in FILES else SourceSpec("json", payload="value")
        return replace(table, source=replace(declared, path=str(Path(paths[name]).absolute())))  # type: ignore[type-var]

    return replace(job, streams=tuple(map(given, job.streams)), relations=tuple(map(given, job.relations)))  # type: ignore[arg-type]


def _check_names(job: JobSpec, inputs: Mapping[str, object]) -> None:
    known = [table.name for table in job.tables]
    unknown = next((name for name in inputs if name not in known), None)
    if unknown is not None:
        raise InputError(f"the query reads no {unknown}", remedy=f"it reads {', '.join(known)}")
