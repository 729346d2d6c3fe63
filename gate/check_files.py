"""From files to what is reported of every statement in them: the whole of `streambound check` but for printing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gate.repeated_names import repeated_names
from reports.outcome import Outcome, outcome

if TYPE_CHECKING:
    from analyzer.workspace import Workspace
    from criteria.check import Checked

REPAIRED = 20
"""How many rejected statements of a run get repairs unless asked for."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How statements are judged.

    ``criteria`` is ``exact`` or ``paper``; ``repairs`` the most rejected statements that get repairs, None for all of
    them; ``details`` are those of `reports.outcome.DETAILS` that will be printed.
    """

    criteria: str = "exact"
    repairs: int | None = REPAIRED
    details: frozenset[str] = frozenset()


def check_files(
    files: Iterable[Path], workspace: Workspace, settings: Settings, progress: Callable[[Path], None] = lambda _: None
) -> tuple[Outcome, ...]:
    """Every statement of some files, in their order; a file that cannot be read is itself an erroneous item."""
    found: list[Outcome] = []
    left = settings.repairs
    for file in files:
        judged = _judged(file, workspace, settings, left)
        if left is not None:
            left -= sum(item.repaired for item in judged)
        found.extend(judged)
        progress(file)
    return repeated_names(found)


def _judged(file: Path, workspace: Workspace, settings: Settings, repairs: int | None) -> tuple[Outcome, ...]:
    from criteria.check import check_file, with_first_repairs

    checked = check_file(file, workspace)
    judged = _by_the_paper(checked) if settings.criteria == "paper" else with_first_repairs(checked, repairs)
    return tuple(outcome(item, settings.details) for item in judged)


def _by_the_paper(checked: tuple[Checked, ...]) -> tuple[Checked, ...]:
    from criteria.paper_verdict import by_the_paper

    return tuple(map(by_the_paper, checked))
