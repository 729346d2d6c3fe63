"""`streambound baseline`: records today's findings as accepted, so that a gate can start; it never adds new ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from streambound.commands.comparing import say_stale
from streambound.commands.configured import configured, files_of, inside_workspace, outside_option, policy_of
from streambound.commands.failures import tell_defects
from streambound.commands.options import PathArgument, SizeInBytes, common_options
from streambound.commands.saying import say

if TYPE_CHECKING:
    from streambound.analyzer.workspace import Workspace
    from streambound.gate.baseline import Baseline
    from streambound.gate.policy import Policy
    from streambound.gate.ratchet import Ratchet
    from streambound.reports.outcome import Outcome

_F = TypeVar("_F", bound=Callable[..., Any])
_LISTED = 20


@click.group("baseline")
def baseline() -> None:
    """Accept the findings that are there, so that a gate can begin, and let them only become fewer.

    \b
    streambound baseline create      record today's findings in streambound-baseline.json; commit that file
    streambound check --baseline streambound-baseline.json
                                     fail for findings that are not in it, and for entries that are stale
    streambound baseline update      remove the entries that are stale; nothing is ever added
    streambound baseline check       only compare: new findings and stale entries, without the report

    A finding is known by its file, code, statement and blamed text, not by its line: inserted lines, another layout
    and a renamed file make no new one. A statement with a -- name: stays the same when its query is edited. What was
    not analysed (syntax errors, unknown columns, unreadable files) cannot be recorded.
    """


def _options(command: _F) -> _F:
    """Add PATHS, --baseline, --allow-outside and what every command on queries has."""
    baseline_file = click.option(
        "--baseline", "baseline_file", type=PathArgument(), metavar="FILE", default="streambound-baseline.json",
        show_default=True, help="The baseline; what it names is relative to where it is.",
    )  # fmt: skip
    allow_empty = click.option("--allow-empty", is_flag=True, help="As for check.")
    most = click.option("--max-entries", type=click.IntRange(1), metavar="N", help="As for check.")
    budget = click.option("--budget", type=SizeInBytes(), metavar="SIZE", help="As for check.")
    paths = click.argument("paths", nargs=-1, type=PathArgument())
    return paths(baseline_file(most(budget(allow_empty(outside_option(common_options(command)))))))


@configured
@baseline.command("create")
@_options
@click.option("--criteria", type=click.Choice(("exact", "paper")), default="exact", show_default=True,
              help="As for check.")  # fmt: skip
@click.option("--fail-on", type=click.Choice(("error", "warning", "note")), default="error", show_default=True,
              help="Record findings of this severity or above.")  # fmt: skip
def create(
    paths: tuple[Path, ...], baseline_file: Path, max_entries: int | None, budget: str | None, allow_empty: bool,
    criteria: str, fail_on: str, catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Record the findings of PATHS, or of what the catalog registers, in a new baseline.

    Exit status: 0 when everything that would fail a check is recorded; 1 when some findings cannot be, 3 when something
    could not be read or parsed.
    """
    from streambound.analyzer.errors import UsageError
    from streambound.commands.saying import write_file
    from streambound.gate.baseline import Baseline, baseline_text
    from streambound.gate.exit_status import not_judged
    from streambound.gate.ratchet import entries, refused

    workspace, file = inside_workspace(catalog_file), baseline_file
    if file.exists():
        remedy = "streambound baseline update removes what is stale; remove the file to begin again"
        raise UsageError(f"{file} exists, and a baseline only shrinks", remedy=remedy)
    outcomes, policy = _outcomes(paths, criteria, workspace, allow_empty, debug)
    found = tuple(entries(outcomes, Baseline(file, criteria, ()), policy))
    write_file(file, baseline_text(criteria, found))
    click.echo(f"wrote {file}: {_count(len(found), 'finding')}")
    left = refused(outcomes, policy)
    for one in left[:_LISTED]:
        place = f"{one.file}:{one.span.line}:{one.span.column}"
        say(f"{place}: {one.code} cannot be recorded: {one.message}")
    if left:
        say(f"streambound: error: {_count(len(left), 'finding')} cannot be in a baseline")
        say("  help: correct them, or take the files out of what is checked")
    sys.exit(not_judged(left) or int(bool(left)))


@configured
@baseline.command("update")
@_options
def update(
    paths: tuple[Path, ...], baseline_file: Path, max_entries: int | None, budget: str | None, allow_empty: bool,
    catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Remove the entries that nothing needs any more; findings that are not in the baseline are never added.

    With PATHS only the entries of those files are looked at, and those of files that are gone. Entries of a file with
    a statement that cannot be analysed stay: whether they are stale is not known.
    """
    from streambound.gate.baseline import baseline_text
    from streambound.gate.writing import write_texts
    from streambound.reports.visible import visible

    file = baseline_file
    known, found, _ = _compared(paths, file, catalog_file, allow_empty, debug)
    text = baseline_text(known.criteria, found.held)
    if text != known.text:
        write_texts({str(file): (known.text, text)})
    for entry in found.stale:
        click.echo(visible(f"removed {entry.code} of {entry.query} in {entry.file}"))
    removed = len(known.entries) - len(found.held)
    click.echo(f"{file}: {_count(len(found.held), 'finding')} left, {removed} removed")


@configured
@baseline.command("check")
@_options
def check(
    paths: tuple[Path, ...], baseline_file: Path, max_entries: int | None, budget: str | None, allow_empty: bool,
    catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Compare: exit with 1 for a finding that is not in the baseline, or for an entry that is stale."""
    from streambound.analyzer.diagnostics import ORDER
    from streambound.gate.exit_status import exit_status, fails
    from streambound.reports.visible import visible

    file = baseline_file
    _, found, policy = _compared(paths, file, catalog_file, allow_empty, debug)
    new = [
        one
        for item in found.outcomes
        if fails(item, policy.least)
        for one in item.diagnostics
        if one.suppression is None and ORDER.index(one.severity) >= ORDER.index(policy.least(item.source.file))
    ]
    for one in new:
        click.echo(visible(f"{one.file}:{one.span.line}:{one.span.column}: new: {one.code} {one.message}"))
    say_stale(file, found.stale)
    click.echo(f"{file}: {_count(len(found.held), 'finding')} known, {len(new)} new, {len(found.stale)} stale")
    sys.exit(exit_status(found.outcomes, policy.least) or (1 if found.stale else 0))


def _compared(
    paths: tuple[Path, ...], file: Path, catalog_file: Path | None, allow_empty: bool, debug: bool
) -> tuple[Baseline, Ratchet, Policy]:
    from streambound.gate.baseline import read_baseline
    from streambound.gate.ratchet import ratchet

    workspace = inside_workspace(catalog_file)
    known = read_baseline(file)
    outcomes, policy = _outcomes(paths, known.criteria, workspace, allow_empty, debug)
    return known, ratchet(outcomes, known, policy), policy


def _outcomes(
    paths: tuple[Path, ...], criteria: str, workspace: Workspace, allow_empty: bool, debug: bool
) -> tuple[tuple[Outcome, ...], Policy]:
    from streambound.gate.cache import Cache, cache_directory
    from streambound.gate.check_files import GateSettings, check_files
    from streambound.gate.reported import reported
    from streambound.gate.suppressions import today
    from streambound.gate.tasks import processors

    files = files_of(workspace, paths, allow_empty)
    policy = policy_of(workspace, {"criteria": criteria}, repairs=False)
    settings = GateSettings(criteria, 0, jobs=processors(), allow_empty=allow_empty, policy=policy)
    found = reported(check_files(files, workspace, settings, cache=Cache(cache_directory())), policy, today())
    tell_defects(found, debug)
    return found, policy


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
