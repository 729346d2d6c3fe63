"""Where `check` prints what it found: one or several formats, to files or to standard output."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from streambound.commands.options import OutputFile
from streambound.reports.formats import FORMAT_NAMES, Format, format_named

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from streambound.reports.beside import Beside
    from streambound.reports.outcome import Outcome

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The file that GitHub Actions shows as the summary of a step."""


class Destination(Struct, frozen=True):
    """A format and the file it goes to; None is standard output."""

    form: Format
    file: Path | None = None


class OutputOption(click.ParamType[Destination]):
    """``FORMAT``, or ``FORMAT:FILE`` with a file in a directory that exists."""

    name = "FORMAT[:FILE]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The output; fails for an unknown format and for a file that cannot be there."""
        if isinstance(value, Destination):
            return value
        name, colon, file = value.partition(":")
        if name not in FORMAT_NAMES:
            self.fail(f"no format is called {name!r}; there are: {', '.join(FORMAT_NAMES)}", param, ctx)
        return Destination(format_named(name), OutputFile().convert(file, param, ctx) if colon else None)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The formats that begin so."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in FORMAT_NAMES if name.startswith(incomplete)]


def outputs(format_name: str | None, named: tuple[Destination, ...]) -> tuple[Destination, ...]:
    """The outputs of --format and -o, or text without either. No two may have one destination."""
    asked = (
        (Destination(format_named(format_name)), *named)
        if format_name
        else named or (Destination(format_named("text")),)
    )
    places = [output.file and output.file.absolute() for output in asked]
    for place in places:
        if places.count(place) > 1:
            where = "standard output" if place is None else str(place)
            raise click.UsageError(f"two formats go to {where}: give one of them a file, as in -o sarif:out.sarif")
    return asked


def details(asked: tuple[Destination, ...]) -> frozenset[str]:
    """The details that the formats print and that cost time."""
    return frozenset().union(*(output.form.details for output in asked))


def put(asked: tuple[Destination, ...], found: tuple[Outcome, ...], color: bool, beside: Beside) -> None:
    """Write every output, files first; where none goes to standard output, the totals go to standard error."""
    from streambound.commands.saying import write_file
    from streambound.reports.totals import total_text
    from streambound.reports.visible import visible

    for output in sorted(asked, key=lambda output: output.file is None):
        text = output.form.render(found, color and output.file is None, beside) + "\n"
        if output.file is not None:
            write_file(output.file, text)
        elif output.form.for_people:
            click.echo(visible(text, color), nl=False)
        else:
            _binary(_without_commands(output.form, text))
        if output.form.name == "github":
            _step_summary(found, beside)
    if all(output.file for output in asked):
        click.echo(f"streambound: {total_text(found)}", err=True)


def _without_commands(form: Format, text: str) -> str:
    """A report whose text cannot be taken for commands to CI, except the report's own."""
    from streambound_runtime.visible import literal_without_commands, without_commands

    if form.commands:
        return text
    return literal_without_commands(text) if form.json else without_commands(text)


def _binary(text: str) -> None:
    """Print for a program, in UTF-8 whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def _step_summary(found: tuple[Outcome, ...], beside: Beside) -> None:
    """Append the findings to the summary of the step, in GitHub Actions."""
    if file := os.environ.get(STEP_SUMMARY):
        with Path(file).open("a", encoding="utf-8", errors="backslashreplace") as summary:
            summary.write(format_named("markdown").render(found, beside=beside) + "\n")
