"""`streambound demo`: everything on two examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commands.options import PathArgument, colored
from commands.running import run_job, spinner
from commands.statement import job_of, write_file


@click.command("demo")
@click.option("--keep", type=PathArgument(), metavar="DIR", help="Keep inputs, jobs and outputs in DIR.")
@click.option("--days", type=click.IntRange(1, 365), default=31, show_default=True, help="Days of flights.")
@click.option("--color/--no-color", default=None, help="Colour or not; by default only on a terminal.")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def demo(keep: Path | None, days: int, color: bool | None, debug: bool) -> None:
    """Analyse, compile and run the paper's example, then three queries over New York's flights of 2013."""
    import tempfile

    from synopsis_exec.java import require_java

    require_java()
    if keep is not None:
        _demo(keep, days, colored(color))
        return
    with tempfile.TemporaryDirectory(prefix="streambound-demo-") as directory:
        _demo(Path(directory), days, colored(color))


def _demo(directory: Path, days: int, color: bool) -> None:
    from analyzer.workspace import relative
    from criteria.check import find_statement
    from reports.outcome import outcome
    from reports.style import paint
    from reports.text_report import text_report
    from synopsis_exec.demo import scenarios
    from synopsis_exec.flights import write_flights

    directory.mkdir(parents=True, exist_ok=True)
    click.echo(f"preparing {days} days of flights and weather ...", err=True)
    write_flights(directory / "flights", days)
    for number, scenario in enumerate(scenarios(directory / "flights"), start=1):
        click.echo("\n" + paint(f"{number}. {scenario.title}", "bold", color))
        click.echo(f"{scenario.shows}\n")
        click.echo(scenario.query.read_text(encoding="utf-8"))
        query = relative(scenario.query)
        catalog, checked = find_statement(str(query), None, query.parent / "streams.toml")
        click.echo(text_report((outcome(checked),), color))
        if scenario.input_dir is not None:
            _demo_run(job_of(catalog, checked), directory / f"{checked.statement.name}", scenario.input_dir)


def _demo_run(job: str, stem: Path, input_dir: Path) -> None:
    """Run one compiled query and show its memory and the last of its results."""
    from reports.progress import entries_lines

    output = stem.with_name(stem.name + ".jsonl")
    write_file(stem.with_name(stem.name + "job_of.py"), job)
    click.echo(f"\ncompiled to {stem.name}job_of.py ({len(job.splitlines())} lines); running it on Spark:")
    reports: list[Any] = []
    quarantine = output.with_name(output.name + ".quarantine.jsonl")
    with spinner("micro-batches") as advance:

        def note(report: dict[str, Any]) -> None:
            reports.append(report)
            advance()

        lines = run_job(job, input_dir, input_dir, output, quarantine, None, note)
    click.echo("\n".join([*entries_lines(reports), *lines, "the last results:"]))
    for line in output.read_text(encoding="utf-8").splitlines()[-3:]:
        click.echo(f"  {line}")
