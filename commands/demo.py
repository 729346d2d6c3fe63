"""`streambound demo`: everything on two examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from streambound.commands.options import Folder, colored
from streambound.commands.run import run_job
from streambound.commands.saying import doing, show, writing
from streambound.jobs import job_of

if TYPE_CHECKING:
    from streambound.analyzer.job_reports import BatchReport
    from streambound.synopsis_exec.job_file import CompiledJob


@click.command("demo")
@click.option("--keep", type=Folder("inputs, jobs and results"), metavar="DIR", help="Keep inputs, jobs and results.")
@click.option("--days", type=click.IntRange(1, 365), default=31, show_default=True, help="Days of flights.")
@click.option("--color/--no-color", default=None, help="Colour or not; by default only on a terminal.")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def demo(keep: Path | None, days: int, color: bool | None, debug: bool) -> None:
    """Analyse, compile and run the paper's example, then three queries over New York's flights of 2013.

    The jobs run in this process; where there is Java, the first one runs on Spark, too.
    """
    from streambound_runtime.scratch import scratch_folder

    if keep is not None:
        _demo(keep, days, colored(color))
        click.echo(f"\ninputs, jobs and results are in {keep}")
        return
    with scratch_folder("demo-") as directory:
        _demo(directory, days, colored(color))
    click.echo("\nThe jobs and their results were temporary: streambound demo --keep DIR keeps them.")


def _demo(directory: Path, days: int, color: bool) -> None:
    from streambound.analyzer.workspace import relative
    from streambound.criteria.check import find_statement
    from streambound.reports.outcome import outcome
    from streambound.reports.style import paint
    from streambound.reports.text_report import text_report
    from streambound.synopsis_exec.demo import scenarios, write_flights

    click.echo(f"preparing {days} days of flights and weather ...", err=True)
    with writing(directory), doing("writing flights and weather"):
        directory.mkdir(parents=True, exist_ok=True)
        write_flights(directory / "flights", days)
    for number, scenario in enumerate(scenarios(directory / "flights"), start=1):
        click.echo("\n" + paint(f"{number}. {scenario.title}", "bold", color))
        click.echo(f"{scenario.shows}\n")
        click.echo(scenario.query.read_text(encoding="utf-8"))
        query = relative(scenario.query)
        catalog, checked = find_statement(str(query), None, query.parent / "streams.toml")
        click.echo(text_report((outcome(checked),), color))
        if scenario.input_dir is not None:
            job = job_of(catalog, checked)
            output = _demo_run(job, directory, checked.statement.name, scenario.input_dir)
            if number == 1:
                _on_spark(job, directory, scenario.input_dir, output)


def _demo_run(job: CompiledJob, directory: Path, name: str, input_dir: Path) -> Path:
    """Run one compiled query and show its memory and the last of its results; the file of these."""
    from streambound.reports.progress import entries_lines

    folder, output, quarantine = (directory / f"{name}{end}" for end in ("_job", ".jsonl", ".quarantine.jsonl"))
    with writing(folder):
        file = job.write(folder)
    size = len(job.text.splitlines())
    click.echo(f"\ncompiled to {folder.name}/{file.name} ({size:,} lines); running it in this process:")
    reports: list[BatchReport] = []
    with doing("") as shown:
        lines = run_job(job, (input_dir, input_dir, output, quarantine, None), shown, reports.append)
    last = output.read_text(encoding="utf-8").splitlines()[-3:]
    show(*entries_lines(reports), *lines, "the last results:", *(f"  {line}" for line in last))
    return output


def _on_spark(job: CompiledJob, directory: Path, input_dir: Path, output: Path) -> None:
    """Run a job on Spark, too, and say whether it gives the same results; or why it cannot run there."""
    from streambound.analyzer.errors import UsageError

    theirs, quarantine = (directory / f"on_spark.{end}" for end in ("jsonl", "quarantine.jsonl"))
    try:
        with doing("starting Spark") as shown:
            files = (input_dir, input_dir, theirs, quarantine, None)
            run_job(job, files, shown, lambda report: None, engine="spark")
    except UsageError as error:
        show("", f"not run on Spark: {error.message}")
        return
    same = sorted(output.read_text(encoding="utf-8").splitlines()) == sorted(theirs.read_text("utf-8").splitlines())
    show("", f"the same job on Spark: {'the same results' if same else 'OTHER RESULTS: please report this'}")
