"""`streambound check`: the verdict of every query."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streambound.commands.comparing import ComparedWith, compare_options
from streambound.commands.configured import (
    configured,
    files_of,
    given,
    inside_workspace,
    outside_allowed,
    outside_option,
    policy_of,
)
from streambound.commands.failures import tell_defects
from streambound.commands.fixing import FixOptions, fix_options, fixed
from streambound.commands.options import (
    PathArgument,
    SizeInBytes,
    colored,
    common_options,
    emit_mode_option,
    profile_option,
)
from streambound.commands.outputs import Destination, OutputOption, details, outputs, put
from streambound.commands.saying import say
from streambound.commands.streams import reporting
from streambound.commands.watching import Watchable, watched
from streambound.reports.formats import FORMAT_NAMES

if TYPE_CHECKING:
    from streambound.analyzer.workspace import Sources, Workspace
    from streambound.reports.outcome import Outcome

_CRITERIA = ("exact", "paper")
_SEVERITIES = ("error", "warning", "note")
_MANY = 50
"""Files that take long enough for a progress bar."""


@configured
@click.command("check", cls=Watchable)
@click.argument("paths", nargs=-1, type=PathArgument())
@click.option("--format", "format_name", type=click.Choice(FORMAT_NAMES),
              help="How to print the verdicts; by default as text, unless -o asks for something.")  # fmt: skip
@click.option("-o", "--output", "named", type=OutputOption(), multiple=True, metavar="FORMAT[:FILE]",
              help="A format to print, or to write to FILE; repeatable: -o sarif:out.sarif -o github.")  # fmt: skip
@click.option("--criteria", type=click.Choice(_CRITERIA), default="exact", show_default=True,
              help="Judge by this project's criteria, or by the paper's theorems alone.")  # fmt: skip
@click.option("--fail-on", type=click.Choice(_SEVERITIES), default="error", show_default=True,
              help="The least severity that makes the exit status 1.")  # fmt: skip
@click.option(
    "--max-entries",
    type=click.IntRange(1),
    metavar="N",
    help="The greatest bound M that passes: a larger one, or one that is no number, is a finding (SB210).",
)
@click.option("--budget", type=SizeInBytes(), metavar="SIZE",
              help="The most bytes of state that pass, such as '2 GB': more, or a state whose bytes are not known, is "
                   "a finding (SB210).")  # fmt: skip
@click.option("--repairs/--no-repairs", default=None,
              help="Look for repairs of all rejected queries, or of none; by default of the first 20.")  # fmt: skip
@click.option("-j", "--jobs", type=click.IntRange(1), metavar="N", help="Processes; by default one per processor.")
@click.option("--cache/--no-cache", "use_cache", default=True, show_default=True,
              help="Reuse what was found for the same text, catalog, options and version; kept in the user's cache "
                   "directory, or in STREAMBOUND_CACHE_DIR.")  # fmt: skip
@click.option("--allow-empty", is_flag=True,
              help="Let directories without .sql files, and files without a statement, pass.")  # fmt: skip
@click.option("--registered", is_flag=True,
              help="Of PATHS, check those that the catalog registers: by queries, without [check] exclude. For hooks, "
                   "which pass every file of a commit.")  # fmt: skip
@click.option("--stdin-filename", "stdin_name", type=PathArgument(), metavar="FILE",
              help="The file that standard input (-) stands for: its name in reports, and its catalog.")  # fmt: skip
@click.option("--watch", is_flag=True, help="Check again whenever a query or the catalog changes, until interrupted.")
@outside_option
@compare_options
@fix_options
@emit_mode_option
@profile_option
@common_options
def check(
    paths: tuple[Path, ...], format_name: str | None, named: tuple[Destination, ...], criteria: str, fail_on: str,
    max_entries: int | None, budget: str | None, repairs: bool | None, jobs: int | None, use_cache: bool,
    allow_empty: bool, registered: bool, stdin_name: Path | None, watch: bool, baseline_file: Path | None,
    against: str | None, transitions_only: bool, fix: bool, unsafe: bool, diff: bool, emit_mode: str | None,
    catalog_file: Path | None, engine: str | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Give the verdict of every query in PATHS: files, directories (all *.sql below), or - for standard input.

    A file of Python, *.py, is a PySpark program: it is run, though no streaming query of it starts, and each of them
    is checked as the SQL that its plan is, with what Spark keeps for it as it is written, at the lines of the program.

    Without PATHS it checks what the catalog registers: queries = ["queries/*.sql"]. The catalog's table [check] sets
    defaults of these options, also per directory; streambound config show says which, and where.

    \b
    A query is bounded when its memory has a constant bound, unbounded when it provably has none, unknown
    when neither is proved, unsupported when it is outside the query language, and error when it is wrong.
    Everything but bounded is a finding.
    """
    from streambound.gate.cache import Cache, cache_directory
    from streambound.gate.check_files import REPAIRED, GateSettings, check_files
    from streambound.gate.reported import reported
    from streambound.gate.suppressions import today
    from streambound.gate.tasks import processors

    if watch:
        watched(click.get_current_context())
    asked = outputs(format_name, () if given("format_name") and not given("named") else named)
    most = {None: REPAIRED, True: None, False: 0}[repairs]
    workspace = inside_workspace(catalog_file, stdin_name)
    files = files_of(workspace, paths, allow_empty)
    files = _registered(workspace, files) if registered else files
    _note_unseen(workspace, paths)
    fixes = FixOptions(fix, diff, unsafe, outside_allowed())
    fixes.require_sense(files, criteria, repairs if given("repairs") else None)
    policy = policy_of(workspace, repairs=True) if fixes.wanted else policy_of(workspace)
    comparison = ComparedWith(baseline_file, against, policy)
    comparison.require_sense(fixes.wanted, given("transitions_only"))
    most = None if fixes.wanted else most
    settings = GateSettings(
        criteria, most, details(asked), jobs or processors(), allow_empty, policy, emit_mode, engine
    )
    cache = Cache(cache_directory() if use_cache else None)

    def judge(sources: Sources) -> tuple[Outcome, ...]:
        with _progress(files) as advance:
            return reported(check_files(files, sources, settings, advance, cache), policy, today())

    def judge_then(then: tuple[Path, ...], sources: Sources) -> tuple[Outcome, ...]:
        plain = GateSettings(
            criteria, 0, jobs=settings.jobs, policy=policy_of(workspace, repairs=False), emit_mode=emit_mode,
            engine=engine,
        )  # fmt: skip
        return reported(check_files(then, sources, plain, cache=cache), policy, today())

    found = fixed(fixes, judge, workspace) if fixes.wanted else judge(workspace)
    tell_defects(found, debug)
    if not paths:
        _note_unneeded(workspace, found)
    found, beside, status = comparison.compare(found, workspace, files, paths, judge_then)
    if not diff:
        with reporting(status):
            put(asked, found, colored(color), beside)
    sys.exit(status)


def _registered(workspace: Workspace, files: list[Path]) -> list[Path]:
    """Those files that their catalogs register; how many others there are is said."""
    found = [file for file in files if workspace.is_registered(file)]
    if left_out := len(files) - len(found):
        many = "1 file is" if left_out == 1 else f"{left_out} files are"
        say(f"streambound: note: {many} left out: the catalog does not register {'it' if left_out == 1 else 'them'}")
    return found


def _note_unseen(workspace: Workspace, paths: tuple[Path, ...]) -> None:
    """Say which linked directories nobody looked into."""
    for link in workspace.unseen(paths):
        note = f"{link} leads to a directory with SQL files and is not followed; name it to check them"
        say(f"streambound: note: {note}")


def _note_unneeded(workspace: Workspace, found: tuple[Outcome, ...]) -> None:
    """Say what the catalog allows and no registered query needs."""
    from streambound.gate.reported import unneeded

    catalog = workspace.catalog()
    for code, line in unneeded(found, catalog):
        say(f"streambound: note: {catalog.file}:{line}: {code} is allowed, and no query needs it")


@contextmanager
def _progress(files: list[Path]) -> Iterator[Callable[[str], None]]:
    """A progress bar when there are many files and someone is watching."""
    if len(files) < _MANY or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=len(files), label="checking", file=sys.stderr) as bar:
        yield lambda _: bar.update(1)
