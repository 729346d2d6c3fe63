"""The command of a job of SEQ blocks: what `python job.py` runs. It reads all there is, writes the result, and ends."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streambound_runtime import __version__
from streambound_runtime.checkpoint.store import written_atomically
from streambound_runtime.endpoints import check_sources, located, options_of
from streambound_runtime.errors import JobError, unreadable, unwritable, usage
from streambound_runtime.failures import in_one_line, of_full_disk, stopped
from streambound_runtime.main import failed, reporter
from streambound_runtime.operators.period_plan import SliceQuery
from streambound_runtime.periods.execution import Relations, executed
from streambound_runtime.periods.job import BlockQuery, PeriodJob
from streambound_runtime.periods.lines import in_order, repeated, write_lines
from streambound_runtime.periods.reading import BAD, good_rows, read_relation
from streambound_runtime.python_functions import function
from streambound_runtime.quarantine import check_limit, json_lines
from streambound_runtime.session import check_workers, is_local, session
from streambound_runtime.settings import Settings
from streambound_runtime.signals import signals_raised
from streambound_runtime.sinks import BAD_ROW
from streambound_runtime.spec import SinkSpec
from streambound_runtime.tp.execution import LineageRelation, executed_lineage
from streambound_runtime.tp.limits import too_large
from streambound_runtime.zipped import give_to_executors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Report = dict[str, object]
_MOST_OF_SPARK = 2**31 - 1
"""Rows that Spark limits a DataFrame to."""


def main(job: PeriodJob, argv: Sequence[str] | None = None) -> int:
    """Run a job; returns its exit status."""
    settings = settings_of(job, argv)
    report = reporter(settings.report)
    try:
        with signals_raised():  # so that no temporary file is left
            _check(job, settings)
            report({"doing": "starting Spark"})
            spark = session(job.name)
            report({"doing": "running the query"})
            report(run(spark, job, settings))
    except JobError as error:
        return failed(error, settings.report, report)
    except OSError as error:
        return failed(of_full_disk(error), settings.report, report)
    return 0


def settings_of(job: PeriodJob, argv: Sequence[str] | None = None) -> Settings:
    """The command line; exits with 2 where it is none."""
    parser = argparse.ArgumentParser(description=f"Run the SEQ statement {job.name} on Spark.")
    parser.add_argument(
        "--input", metavar="DIR", default="", help="read NAME.jsonl or NAME/*.jsonl here, not the catalog's sources"
    )
    parser.add_argument("--base", metavar="DIR", default="", help="where relative paths of the catalog's sources start")
    parser.add_argument(
        "--output", metavar="FILE", default="", help="the result (default: out.jsonl where the catalog has no sink)"
    )
    parser.add_argument("--quarantine", metavar="FILE", default="", help="rows that are malformed or have a bad period")
    parser.add_argument(
        "--multiplicity",
        choices=("count", "rows"),
        default="count",
        help="write a row once with _mult, how many there are, or as so many rows",
    )
    parser.add_argument("--report", choices=("text", "json"), default="text", help="how what is done is reported")
    found = Settings(**vars(parser.parse_args(argv)))
    return found if found.output or job.sink is not None else replace(found, output="out.jsonl")


def run(spark: SparkSession, job: PeriodJob, settings: Settings) -> Report:
    """Run a job over all the input there is; returns the summary. Raises JobError."""
    check_workers(spark)
    if not is_local(spark):
        give_to_executors(spark)
    check_sources([one.relation for one in job.relations], settings)
    try:
        read = {one.relation.name: read_relation(spark, one, settings).persist() for one in job.relations}
    except JobError:
        raise
    except Exception as error:
        raise unreadable(f"the input cannot be read: {in_one_line(error)}") from error
    try:
        counted = _counted(read)
        bad = _put_aside(job, settings, read, [name for name, (_, wrong) in counted.items() if wrong])
        relations = {one.relation.name.lower(): good_rows(one, read[one.relation.name]) for one in job.relations}
        rows = result(spark, job, relations)
        if settings.multiplicity == "rows":
            rows = repeated(rows)
        results = _write(job, settings, rows)
    except JobError:
        raise
    except Exception as error:
        if type(error).__module__.partition(".")[0] in ("pyspark", "py4j"):
            if (refused := too_large(str(error))) is not None:
                raise refused from error
            raise stopped(in_one_line(error)) from error
        raise
    finally:
        for frame in read.values():
            frame.unpersist()
    counts = {name: rows for name, (rows, _) in counted.items()}
    return {
        "summary": job.name, "rows": counts, "quarantined": bad,
        "only_counted": max(sum(bad.values()) - job.quarantine_limit.most, 0),
        "results": results, "peak": None, "limit": None,
        "waited_for": {},
    }  # fmt: skip


def result(spark: SparkSession, job: PeriodJob, relations: Relations) -> DataFrame:
    """The rows of a statement, lazily."""
    blocks = {block.name: block_rows(spark, job, block, relations) for block in job.blocks}
    if not job.outer:
        return blocks[job.blocks[0].name]
    frames: dict[str, Any] = {name: rows.frame for name, rows in relations.items()} | blocks
    return spark.sql(job.outer, **{name: frame for name, frame in frames.items() if f"{{{name}}}" in job.outer})


def block_rows(spark: SparkSession, job: PeriodJob, block: BlockQuery, relations: Relations) -> DataFrame:
    """The rows of a block, lazily."""
    if isinstance(block, SliceQuery):
        return executed(spark, block, relations)
    found = {}
    for one in job.relations:
        name = one.relation.name
        if one.key and one.period is not None:
            frame = relations[name.lower()].frame
            found[name.lower()] = LineageRelation(frame, name, one.period, one.time_type, one.key, one.probability)
    return executed_lineage(spark, block, found)


def _counted(read: Mapping[str, DataFrame]) -> dict[str, tuple[int, int]]:
    """How many rows each relation has, and how many of them are quarantined: read and counted by one job of Spark."""
    parts = [frame.selectExpr(f"{place} AS at", BAD) for place, frame in enumerate(read.values())]
    if not parts:
        return {}
    counts = ((f"count_if(at = {place})", f"count({BAD}) FILTER (WHERE at = {place})") for place in range(len(parts)))
    (row,) = reduce(lambda one, other: one.unionAll(other), parts).selectExpr(*chain(*counts)).collect()
    return dict(zip(read, zip(row[::2], row[1::2], strict=True), strict=True))


def _put_aside(
    job: PeriodJob, settings: Settings, read: Mapping[str, DataFrame], some: Sequence[str]
) -> dict[str, int]:
    """Write the quarantined rows, the first of them, and count them by reason; of ``some`` relations only.

    Raises JobError where one stops the job, or there are too many.
    """
    counts, most = Counter[str](), job.quarantine_limit.most
    with written_atomically(Path(settings.quarantine or os.devnull)) as lines:
        for one in (one for one in job.relations if one.relation.name in some):
            rows = read[one.relation.name].where(f"{BAD} IS NOT NULL").select(BAD)
            for row in rows.toLocalIterator():
                record = json.loads(row[0])
                if one.relation.stops:
                    what = f"{one.relation.name} breaks its contract: {record['detail']}: {record['row']}"
                    raise JobError("contract", what, 1)
                counts[record["reason"]] += 1
                if counts.total() <= most:
                    lines.writelines(json_lines([record]))
    check_limit(job.quarantine_limit, counts)
    if job.quarantine is not None:
        told = [f"from_json({BAD}, '{BAD_ROW}') AS told"]
        parts = [frame.where(f"{BAD} IS NOT NULL").selectExpr(*told) for frame in read.values()]
        refused = reduce(lambda one, other: one.unionAll(other), parts).limit(min(most, _MOST_OF_SPARK))
        _save(job.quarantine, refused.select("told.*"), settings)
    return dict(counts)


def _write(job: PeriodJob, settings: Settings, rows: DataFrame) -> int:
    """Write the result to a file, to the catalog's sink, or to both; returns how many rows there are."""
    number = None
    if settings.output:
        with written_atomically(Path(settings.output)) as file:
            number = write_lines(file, rows if job.ordered else in_order(rows))
    if job.sink is not None:
        if job.sink.call:
            function("the sink", job.sink.call, settings.base)(rows, 0)
        else:
            _save(job.sink, rows, settings)
    return rows.count() if number is None else number


def _save(sink: SinkSpec, rows: DataFrame, settings: Settings) -> None:
    path = located(sink.path, settings)
    writer = rows.write.format(sink.format).options(**options_of(sink, settings))
    try:
        writer.mode("overwrite" if sink.format == "noop" else "append").save(path or None)
    except Exception as error:
        raise unwritable(f"cannot write to {path or sink.format}: {in_one_line(error)}") from error


def _check(job: PeriodJob, settings: Settings) -> None:
    """Raise JobError for a job of another version, and for results that cannot be written."""
    if job.runtime != __version__:
        what = f"the job {job.name} was written for streambound_runtime {job.runtime}, and this is {__version__}"
        raise usage(f"{what}: run it with the zip that it was compiled with, or compile it again")
    for file in map(Path, filter(None, (settings.output, settings.quarantine))):
        if file.is_dir() or not file.parent.is_dir():
            raise usage(f"{file} cannot be written: it is a directory, or there is none that it could be in")
