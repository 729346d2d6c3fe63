"""`streambound recheck`: validates the certificates of a JSON report."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from streambound.analyzer.registration import ALLOW_OUTSIDE
from streambound.commands.options import common_options
from streambound.commands.saying import show


@click.command("recheck")
@click.argument("report", type=click.Path(path_type=Path))
@click.option(
    ALLOW_OUTSIDE,
    is_flag=True,
    help="Let the files that REPORT names lie outside of the current directory and that of --catalog.",
)
@common_options
def recheck_(report: Path, allow_outside: bool, catalog_file: Path | None, color: bool | None, debug: bool) -> None:
    """Validate the certificates in REPORT (from check --format json; - for standard input) against the queries.

    The checker shares no code with the criteria. The exit status is 1 unless every bounded query's certificate holds.
    """
    from streambound.analyzer.errors import InputError, UsageError
    from streambound.analyzer.json_models import parsed
    from streambound.recheck.certificates.report import recheck

    try:
        text = sys.stdin.read() if str(report) == "-" else report.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror}", file=str(report)) from error
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8 text", file=str(report)) from error
    found = recheck(parsed(text, "<stdin>" if str(report) == "-" else str(report)), catalog_file, allow_outside)
    if not found:
        raise UsageError("the report has no bounded query", remedy="nothing was checked, so nothing passed")
    for item in found:
        if item.unknown:
            show(f"{item.name}: not checked, no code of its own for {item.unknown}")
            continue
        show(f"{item.name}: certificate {'rejected' if item.faults else 'holds'}")
        for fault in item.faults:
            show(f"  {fault}")
    sys.exit(1 if any(item.faults or item.unknown for item in found) else 0)
