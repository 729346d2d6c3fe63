"""`check --baseline` and `--against`: findings beside recorded ones, and beside another state in git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct
from msgspec.structs import replace

from streambound.commands.options import PathArgument
from streambound.commands.saying import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streambound.analyzer.errors import CatalogError
    from streambound.analyzer.workspace import Workspace
    from streambound.gate.against import Judge
    from streambound.gate.policy import Policy
    from streambound.reports.beside import BaselineEntry, Beside
    from streambound.reports.outcome import Outcome

_F = TypeVar("_F", bound=Callable[..., Any])
_LISTED, _STALE_LISTED = 20, 10


def compare_options(command: _F) -> _F:
    """Add --baseline, --against and --transitions-only."""
    options = (
        click.option("--baseline", "baseline_file", type=PathArgument(), metavar="FILE",
                     help="Findings to accept, as streambound baseline create recorded them; an entry that nothing "
                          "needs any more fails the check."),
        click.option("--against", metavar="REF",
                     help="Compare with a commit, as in --against origin/main: fail for queries that got worse "
                          "(SB421), at the line of the catalog that broke one nobody touched; warn of bounds that "
                          "grew (SB422)."),
        click.option("--transitions-only", is_flag=True,
                     help="With --against: fail only for what got worse, and for new queries that do not pass, not for "
                          "what was so already."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


class ComparedWith(Struct, frozen=True):
    """The baseline and the commit with which the findings of a check are compared."""

    baseline_file: Path | None
    against: str | None
    policy: Policy

    def require_sense(self, fixing: bool, transitions_given: bool) -> None:
        """Raise UsageError where the options contradict each other, CatalogError for what is no baseline."""
        from streambound.analyzer.errors import UsageError

        if transitions_given and self.against is None:
            raise UsageError("--transitions-only needs another state", remedy="add --against REF, as in origin/main")
        if self.against is not None and fixing:
            raise UsageError("--against compares the files as they are", remedy="run --fix first, then --against")
        self._baseline()

    def compare(
        self, found: tuple[Outcome, ...], workspace: Workspace, files: Sequence[Path], paths: Sequence[Path],
        judge: Judge,
    ) -> tuple[tuple[Outcome, ...], Beside, int]:  # fmt: skip
        """The findings, those known marked and those on what changed added; what they are beside; the exit status."""
        from streambound.gate.exit_status import exit_status

        if self.baseline_file is None and self.against is None:
            from streambound.reports.beside import NOTHING

            return found, NOTHING, exit_status(found, self.policy.least)
        from streambound.gate.reported import leveled
        from streambound.gate.transitions import beside

        known, held = self._baseline(), None
        if known is not None:
            from streambound.gate.ratchet import ratchet

            held = ratchet(found, known, self.policy)
            found = held.outcomes
            say_stale(known.file, held.stale)
            plain, recorded = judge, known

            def judge(then: tuple[Path, ...], sources: Any) -> tuple[Outcome, ...]:
                return ratchet(plain(then, sources), recorded, self.policy).outcomes

        stale = int(held is not None and bool(held.stale))
        if self.against is None:
            return found, beside(None, (), known, held), exit_status(found, self.policy.least) or stale
        from streambound.gate.against import against

        since = against(self.against, found, workspace, files, paths, judge, self.policy)
        since = replace(since, outcomes=leveled(since.outcomes, self.policy))
        compared = beside(self.against, since.transitions, known, held)
        _say(compared, since.broken)
        return since.outcomes, compared, since.exit_status(self.policy) or stale

    def _baseline(self) -> Any:
        if self.baseline_file is None:
            return None
        from streambound.gate.baseline import read_baseline

        return read_baseline(self.baseline_file, self.policy.value("criteria"))


def _say(compared: Beside, broken: Sequence[CatalogError]) -> None:
    """Print the transitions of the queries on standard error."""
    for error in broken:
        note = f"the catalog of {compared.ref} cannot be used, so its queries count as new: {error.placed}"
        say(f"streambound: note: {note}")
    for one in compared.changed[:_LISTED]:
        say(f"  {one}")
    if len(compared.changed) > _LISTED:
        say(f"  and {len(compared.changed) - _LISTED} more")
    counted = ", ".join(f"{number} {change}" for change, number in compared.counts.items() if number)
    say(f"streambound: against {compared.ref}: {counted or 'no query'}")


def say_stale(file: Path, stale: Sequence[BaselineEntry]) -> None:
    """Name the stale entries on standard error, the first of them one by one."""
    from streambound.gate.baseline import stale_remedy, stale_text

    for entry in stale[:_STALE_LISTED]:
        say(f"streambound: error: {file}:{entry.line}: {stale_text(entry)}")
    if len(stale) > _STALE_LISTED:
        say(f"streambound: error: {file}: {len(stale) - _STALE_LISTED} more entries are stale")
    if stale:
        say(f"  help: {stale_remedy(file)}")
