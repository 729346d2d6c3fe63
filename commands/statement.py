"""What commands do with one statement: its decision, its job, texts to a file or to the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from streambound.analyzer.catalog import Catalog
    from streambound.criteria.check import Checked
    from streambound.synopsis_exec.job_file import CompiledJob


def job_of(catalog: Catalog, checked: Checked) -> CompiledJob:
    """The job of a bounded statement; raises NotExecutableError for any other.

    What a comment or the catalog accepts passes a check, and is not run for that: the message says so.
    """
    from streambound.analyzer.errors import StreamboundError
    from streambound.gate.reported import acceptance
    from streambound.synopsis_exec.job_file import compiled
    from streambound.synopsis_exec.plan import make_plan

    try:
        return compiled(make_plan(decision_of(checked), catalog))
    except StreamboundError as error:
        if accepted := acceptance(checked, catalog):
            error.message += f"; {accepted.where} allows that in a check ({accepted.reason}), not in a run"
        raise


def decision_of(checked: Checked) -> Any:
    """How a statement was decided; raises InputError with its first diagnostic where it means nothing."""
    from streambound.analyzer.codes import Code
    from streambound.analyzer.errors import InputError

    if checked.decision is None:
        first = checked.diagnostics[0]
        file, span = first.file, first.span
        status = InputError(
            f"{first.code} {first.message}", file=file, line=span.line, column=span.column, remedy=first.help
        )
        status.exit_status = 3 if first.code is Code.SYNTAX_ERROR else 1
        raise status
    return checked.decision


def put(text: str, output: Path | None) -> None:
    """Print a text, or write it to a file and say so."""
    if output is None:
        click.echo(text)
        return
    write_file(output, text + "\n")
    click.echo(f"wrote {output}", err=True)


def write_file(path: Path, text: str) -> None:
    """Write a text; raises InputError where that fails."""
    from streambound.analyzer.errors import InputError

    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=str(path)) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure to write below a path into InputError."""
    from streambound.analyzer.errors import InputError

    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=str(path)) from error
