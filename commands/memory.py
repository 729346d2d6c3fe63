"""`streambound memory`: measures whether a job's memory stays constant, beside Spark's own operators."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streambound.commands.options import PathArgument, QueryArgument, common_options, emit_mode_option, engine_option
from streambound.commands.saying import show, show_literal, write_file, writing
from streambound.jobs import batch_statement, plan_of

if TYPE_CHECKING:
    pass

_STAGES = {"writing": "writing the streams", "job": "running the job", "native": "running Spark's own operators"}


class Share(click.ParamType[tuple[str, float]]):
    """``NAME=NUMBER``."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """A stream's name and a positive number; fails for anything else."""
        name, _, number = str(value).rpartition("=")
        try:
            share = float(number)
        except ValueError:
            share = 0
        if not name or not 0 < share < float("inf"):
            self.fail(f"{value!r} is not NAME=NUMBER with a positive number, as in S=0.01", param, ctx)
        return name, share


class Heap(click.ParamType[str]):
    """A size as Java takes it: ``512m``, ``2g``."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The size in lower case; fails below what Spark starts with."""
        found = re.fullmatch(r"(\d{1,6})([mg])", str(value).lower())
        if found is None or int(found[1]) * (1024 if found[2] == "g" else 1) < 480:
            self.fail(f"{value!r} is not a size of at least 480m, as in 512m or 2g", param, ctx)
        return found[0]


@click.command("memory")
@click.argument("query", type=QueryArgument())
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("--tuples", type=click.IntRange(1, 1_000_000_000), default=100_000, show_default=True, metavar="N",
              help="How many tuples the job reads.")  # fmt: skip
@click.option("--adversarial/--random", default=True, show_default=True,
              help="Streams that fill the tables, or random ones.")  # fmt: skip
@click.option("--share", "shares", type=Share(), multiple=True, metavar="NAME=NUMBER",
              help="With --random: how frequent a stream is beside the others, which have 1.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="What --random follows.")
@click.option("--batches", type=click.IntRange(1, 100_000), default=20, show_default=True, help="Micro-batches.")
@click.option(
    "--heap", type=Heap(), default="512m", show_default=True, help="On Spark: Java's heap, for each of the two."
)
@click.option("--native-tuples", type=click.IntRange(0), metavar="N",
              help="On Spark: how many of them its own operators read; by default up to 1,000,000.")  # fmt: skip
@click.option("--native-seconds", type=click.IntRange(1), default=120, show_default=True, metavar="N",
              help="Spark's own operators are stopped after that time.")  # fmt: skip
@click.option("--out", type=PathArgument(), metavar="DIR",
              help="Write memory.json, and the plot as memory.png and memory.svg.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@engine_option
@emit_mode_option
@common_options
def memory(
    query: str, name: str | None, tuples: int, adversarial: bool, shares: tuple[tuple[str, float], ...], seed: int,
    batches: int, heap: str, native_tuples: int | None, native_seconds: int, out: Path | None, form: str,
    engine: str | None, emit_mode: str | None, catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Measure whether the job of a bounded QUERY needs constant memory.

    Generates streams that fit the query and the catalog, and runs the job over them. Reported after each micro-batch:
    entries against the bound M, and resident memory.

    With --engine spark the job runs on Spark, and then Spark's own stream-stream join, or its own operators of a
    statement beyond joins, over the same rows, where Spark takes it. Results of the latter are compared with the
    statement as batch SQL. The rows that Spark keeps as state and Java's heap are reported, too.

    \b
    Exit status 1: there were more entries than M; or there were fewer, and more and more of them until the end, so that
    nothing shows that memory stays constant; or the job's results were compared, and differ; or the query is not
    bounded.
    """
    from streambound.criteria.check import find_statement
    from streambound.reports.memory_report import memory_json, memory_lines
    from streambound.synopsis_exec.feeds import feed, in_order
    from streambound.synopsis_exec.job_file import compiled
    from streambound.synopsis_exec.memory import measure
    from streambound.synopsis_exec.memory_processes import Load
    from streambound.synopsis_exec.runner import runs_on_spark

    catalog, checked = find_statement(query, name, catalog_file, emit_mode=emit_mode)
    plan, assumed = in_order(replace(plan_of(checked, catalog), sink=None))  # generated rows must not reach the sink
    beside = batch_statement(checked, catalog, plan) if checked.blocks is None else None
    _check_shares(shares, [stream.name for stream in plan.streams], adversarial)
    if out is not None:
        _check_plot()
    stream = "adversarial" if adversarial else "random"
    sent = feed(plan, None if adversarial else seed, tuples, dict(shares))
    native = min(tuples, 1_000_000) if native_tuples is None else min(tuples, native_tuples)
    load = Load(tuples, min(batches, tuples), heap, native, native_seconds)
    job = compiled(plan)
    on_spark = runs_on_spark(job, {"input": "in"}, engine)
    stages = {"writing": tuples, "job": tuples} | ({"native": native} if on_spark else {})
    with _progress(stages) as on_rows:
        found = measure(job, beside, sent, stream, load, on_rows, assumed, on_spark)
    if form == "json":
        show_literal(memory_json(found))
    else:
        show(*memory_lines(found))
    if out is not None:
        _write(out, found)
    if not (found.constant and found.right):
        raise SystemExit(1)


def _check_shares(shares: tuple[tuple[str, float], ...], streams: list[str], adversarial: bool) -> None:
    from streambound.analyzer.errors import UsageError
    from streambound.analyzer.toml_reader import suggest

    if shares and adversarial:
        raise UsageError("--share goes with --random: the adversary sends as many tuples as there may be")
    for name, _ in shares:
        if name not in streams:
            remedy = suggest(name, streams) or f"the query reads {', '.join(streams)}"
            raise UsageError(f"--share names {name!r}, which the query does not read", remedy=remedy)


def _check_plot() -> None:
    from importlib.util import find_spec

    from streambound.analyzer.errors import UsageError

    if find_spec("matplotlib") is None:
        raise UsageError("the plot needs matplotlib, which is not installed", remedy="pip install 'streambound[plot]'")


def _write(out: Path, found: Any) -> None:
    from streambound.reports.memory_plot import write_plots
    from streambound.reports.memory_report import memory_json

    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        write_file(out / "memory.json", memory_json(found) + "\n")
        write_plots(found, out)
    click.echo(f"wrote {out}/memory.json, memory.png and memory.svg", err=True)


@contextmanager
def _progress(totals: dict[str, int]) -> Iterator[Callable[[str, int], None]]:
    """A bar per stage on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda stage, rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks = {stage: progress.add_task(_STAGES[stage], total=total, start=False) for stage, total in totals.items()}

        def on_rows(stage: str, rows: int) -> None:
            progress.start_task(tasks[stage])
            progress.advance(tasks[stage], rows)

        yield on_rows
