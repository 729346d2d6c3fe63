"""`streambound compile`: writes the Spark job of a bounded query."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streambound.commands.options import Folder, QueryArgument, common_options, emit_mode_option, tick_option
from streambound.commands.saying import doing, say, show, show_literal, writing
from streambound.jobs import compiled_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streambound.criteria.check import Checked
    from streambound.synopsis_exec.job_file import CompiledJob
    from streambound.synopsis_exec.period_job import CompiledPeriodJob


class JobFolder(Folder):
    """The directory of a job."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The directory; fails for what once was the file of a job."""
        path = Path(value)
        if path.suffix == ".py":
            what = f"a job is a directory with job.py and its runtime: -o {path.with_suffix('')}"
            self.fail(f"{path} names a file; {what}", param, ctx)
        return super().convert(value, param, ctx)


@click.command("compile")
@click.argument("query", type=QueryArgument())
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("-o", "--output", type=JobFolder("a job and its runtime"), metavar="DIR",
              help="Where to: a directory, made if there is none; default: print job.py.")  # fmt: skip
@click.option("--placement", type=click.Choice(("driver", "buckets", "stateless")), metavar="WHERE",
              help="Where its state is: driver, buckets (on executors, where an equality spans all streams) or "
                   "stateless (nothing is remembered); by default what explain --emit plan says.")  # fmt: skip
@click.option("--check", is_flag=True,
              help="Write nothing; exit with 1 if the job in DIR is not what would be written.")  # fmt: skip
@tick_option
@emit_mode_option
@common_options
def compile_(
    query: str, name: str | None, output: Path | None, placement: str | None, check: bool, tick: str,
    emit_mode: str | None, catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Write the Spark Structured Streaming job of a bounded QUERY: job.py, and the runtime that it needs as a zip.

    job.py holds the SQL, the tables in words, and the plan as one literal; it needs pyspark, numpy and pyarrow, and
    nothing of ours installed. Of a file of several statements each gets a directory of its own in DIR. The same query,
    catalog and version of streambound give the same files, byte for byte.

    \b
    streambound compile q.sql -o job        writes job/job.py and job/streambound_runtime-VERSION.zip
    python job/job.py --help                runs it on this machine
    spark-submit --py-files job/*.zip job/job.py    runs it on a cluster
    """
    from streambound.analyzer.errors import UsageError
    from streambound.criteria.check import find_statements

    if check and output is None:
        raise UsageError("--check compares with a directory", remedy="name the job's with -o DIR")
    with doing("compiling the query"):
        catalog, found = find_statements(query, name, catalog_file, several=output is not None, emit_mode=emit_mode)
        jobs = [compiled_of(catalog, checked, placement, tick) for checked in found]
    if output is None:
        show_literal(jobs[0].text.removesuffix("\n"))
        return
    folders = _folders(output, found) if found[1:] else [output]
    for folder, job in zip(folders, jobs, strict=True):
        if check:
            _check(folder, job, query)
            continue
        with writing(folder):
            file = job.write(folder)
        say(f"wrote {file} and its runtime: run it with python {file} --help, or through spark-submit")


def _folders(output: Path, found: Sequence[Checked]) -> list[Path]:
    """A directory for each statement; raises UsageError for a name that is none, or that of another one."""
    from streambound.analyzer.errors import UsageError
    from streambound.analyzer.names import alike, as_directory

    names: dict[str, str] = {}
    for statement in (checked.statement for checked in found):
        name, span = as_directory(statement.name), statement.named or statement.span
        why = "is no name of a directory"
        if name is not None and names.setdefault(alike(name), name) is not name:
            why = f"and another statement have one directory, {names[alike(name)]}"
        elif name is not None:
            continue
        remedy, file = "give the statement a name of its own: -- name: …", statement.source.file
        what = f"{statement.name!r} {why}"
        raise UsageError(what, remedy=remedy, file=file, line=span.line, column=span.column)
    return [output / name for name in names.values()]


def _check(folder: Path, job: CompiledJob | CompiledPeriodJob, query: str) -> None:
    """Compare a written job with the job; raises StaleJobError where it differs, and as `stale` does."""
    from streambound.analyzer.errors import StaleJobError
    from streambound.synopsis_exec.job_file import JOB
    from streambound.synopsis_exec.stale import stale

    file = folder / JOB
    why, shown = stale(folder, job)
    if shown:
        show(*shown)
    if why:
        remedy = f"compile it again: streambound compile {query} -o {folder}"
        raise StaleJobError(f"the job is out of date: {'; '.join(why)}", file=str(file), remedy=remedy)
    say(f"{file} is up to date")
