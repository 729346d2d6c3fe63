"""`check --fix` and `--diff`: applies or shows the fixes of findings, and says what was done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from streambound.commands.saying import say

if TYPE_CHECKING:
    from streambound.analyzer.workspace import Sources
    from streambound.gate.fixing import Fixing, Judge
    from streambound.reports.outcome import Outcome

_F = TypeVar("_F", bound=Callable[..., Any])


class FixOptions(Struct, frozen=True):
    """Whether to apply fixes, to show them instead, and whether those that change results are among them.

    ``outside``: also in files that are not below their catalog.
    """

    fix: bool
    diff: bool
    unsafe: bool
    outside: bool = False

    @property
    def wanted(self) -> bool:
        """Whether anything is to be fixed or shown."""
        return self.fix or self.diff

    def require_sense(self, files: list[Path], criteria: str, repairs: bool | None) -> None:
        """Raise UsageError where the options contradict each other or the rest."""
        from streambound.analyzer.errors import UsageError
        from streambound.analyzer.query_files import STDIN

        if self.unsafe and not self.wanted:
            raise UsageError("--unsafe says which fixes to apply", remedy="add --fix, or --diff to see them first")
        if not self.wanted:
            return
        if repairs is False:
            raise UsageError("--no-repairs looks for nothing that --fix could apply", remedy="leave one of them out")
        if criteria == "paper":
            remedy = "leave --criteria paper out: what the paper's theorems reject may be bounded as it is"
            raise UsageError("repairs are for the exact criteria", remedy=remedy)
        if any(str(file) == STDIN for file in files):
            raise UsageError("standard input cannot be fixed", remedy="name a file")


def fix_options(command: _F) -> _F:
    """Add --fix, --unsafe and --diff."""
    options = (
        click.option("--fix", is_flag=True,
                     help="Make the changes that keep all results: safe repairs, and suppressions that nothing "
                          "needs are removed; then check again and report what is left."),
        click.option("--unsafe", is_flag=True,
                     help="With --fix or --diff: also the repairs that change results or are a contract of the "
                          "input, of each query the first one. Their values are examples: look at the diff."),
        click.option("--diff", is_flag=True,
                     help="Print what --fix would change as a unified diff, and change nothing."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def fixed(options: FixOptions, judge: Judge, sources: Sources) -> tuple[Outcome, ...]:
    """The outcomes after fixing; with `--diff` the diff is printed, and the outcomes are unchanged."""
    from streambound.gate.fixing import fix_all

    fixing = fix_all(judge, sources, options.unsafe)
    if options.diff:
        from streambound.gate.writing import unified_diff

        click.echo(unified_diff(fixing.texts), nl=False)
        _say(fixing, "would be")
        return fixing.first
    from streambound.analyzer.registration import require_inside
    from streambound.gate.check_files import catalog_of
    from streambound.gate.writing import write_texts

    for file in () if options.outside else map(Path, fixing.texts):
        if (catalog := catalog_of(file, sources)) is not None:
            require_inside(catalog, file, f"--fix would change {file}, which")
    write_texts(fixing.texts)
    _say(fixing, "")
    return fixing.outcomes


def _say(fixing: Fixing, would: str) -> None:
    """Print the fixes, made or possible, on standard error: standard output has the report, or the diff."""
    for applied in fixing.fixes:
        found, fix = applied.diagnostic, applied.fix
        at = f"{found.file}:{found.span.line}:{found.span.column}"
        say(f"{at}: {found.code} {would} fixed: {fix.title} ({fix.kind.words})".replace("  ", " "))
    fixes, files = len(fixing.fixes), len(fixing.texts)
    counted = f"{fixes} {'fix' if fixes == 1 else 'fixes'} in {files} {'file' if files == 1 else 'files'}"
    say(f"streambound: {counted} {would + ' ' if would else ''}applied" if fixes else "streambound: nothing to fix")
    if fixing.unsafe:
        queries = "1 query has" if fixing.unsafe == 1 else f"{fixing.unsafe} queries have"
        say(f"  {queries} repairs that change results or are a contract: --unsafe --diff shows them")
