"""A job in this process, without Spark: the same decoders, frontier, operators and checkpoints, over files here.

What keeps a job from running so is said in words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from streambound_runtime.decoding.reasons import computed_in_words, shown
from streambound_runtime.driver import Driver, Report
from streambound_runtime.engine.plan import ComputedRows, NativeNode
from streambound_runtime.operators.circuit_plan import MapNode, PeriodNode
from streambound_runtime.operators.period_plan import SliceFilter, SliceJoin, SlicePlan, SliceProject, operators_of
from streambound_runtime.reading.input_log import InputLog, ListedFiles, why_not_local
from streambound_runtime.settings import Settings
from streambound_runtime.sinks import table_sink
from streambound_runtime.spec import JobSpec


def needs_spark(job: JobSpec, settings: Settings) -> str | None:
    """The part of a job that needs Spark, in words; None if it can run without."""
    if job.quarantine is not None or (job.sink is not None and table_sink(job, settings) is None):
        return "its sink in the catalog is written by Spark"
    if not settings.ends:
        return "it runs on, with a micro-batch at each interval"
    sources = (why for table in job.tables if (why := why_not_local(table, settings)) is not None)
    return next(sources, None) or why_not_embedded(job)


def run_embedded(job: JobSpec, settings: Settings, report: Callable[[Report], None]) -> Report:
    """Run a job over all the input there is; returns the summary, which is also the last report.

    Raises JobError, or OverflowError for more duplicates than `_mult` can hold.
    """
    return ended(job, settings, report)[1]


def ended(job: JobSpec, settings: Settings, report: Callable[[Report], None]) -> tuple[Driver, Report]:
    """As `run_embedded`, with what has folded the batches: it knows the results."""
    driver = Driver(None, job, settings, report)
    try:
        for batch, listed in InputLog(driver.checkpoint.store, job, settings).batches(driver.batch):
            driver.fold(ListedFiles(listed, job, driver.context.files), batch)
        summary = driver.finish()
    finally:
        driver.checkpoint.lock.release()
    report(summary)
    return driver, summary


_COLUMN = re.compile(r"`?\bc\d+\b`?")
"""A column of an operator, which has no name in the query."""


def why_not_embedded(job: JobSpec) -> str | None:
    """The first expression of a job that only Spark computes, in words; None where DuckDB computes all of them."""
    return next(_only_spark(job), None)


def _only_spark(job: JobSpec) -> Iterator[str]:
    for table in (*job.tables, *(query.relation for query in job.queries)):
        for column in table.derived:
            if not column.engine:
                yield f"{computed_in_words(column)}, of each row of {table.name}, is computed by Spark only"
    for query in job.queries:
        if not query.engine:
            yield f"the relation {query.relation.name} is computed of others by Spark only"
    for node in _nodes(job):
        match node:
            case MapNode() if node.picks is None:
                yield from _of_results([*node.expressions, node.where], [*node.engine, node.engine_where])
            case PeriodNode():
                for part in operators_of(node.query.plan):
                    yield from _of_periods(part)


def _nodes(job: JobSpec) -> Iterator[object]:
    """The nodes of a circuit that may compute rows."""
    yield from (one.node for one in job.plan.operators if isinstance(one, ComputedRows | NativeNode))


def _of_periods(part: SlicePlan) -> Iterator[str]:
    match part:
        case SliceProject(items=items, engine=engine) if part.picks is None:
            yield from _of_results([*items], [*engine])
        case SliceFilter(condition=condition, engine=text) | SliceJoin(condition=condition, engine=text):
            yield from _of_results([condition], [text])


def _of_results(texts: list[str], engine: list[str]) -> Iterator[str]:
    for place, text in enumerate(texts):
        if text and (len(engine) != len(texts) or not engine[place]):
            yield f"{_COLUMN.sub('…', shown(text))}, of each result, is computed by Spark only"
