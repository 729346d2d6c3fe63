"""From files to what is reported of every statement in them: the whole of `streambound check` but for printing.

Files are judged in two steps, so that the result depends on neither cache nor processes: first every statement, then
the repairs of the first rejected ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.errors import InputError
from analyzer.lexical import is_blank
from analyzer.spans import SourceText
from gate.cache import Cache, digest
from gate.judging import unreadable
from gate.outcome_json import from_json
from gate.repeated_names import repeated_names
from gate.tasks import Task, results
from reports.outcome import Outcome

if TYPE_CHECKING:
    from analyzer.workspace import Sources

REPAIRED = 20
"""How many rejected statements of a run get repairs unless asked for."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How statements are judged.

    ``criteria`` is ``exact`` or ``paper``; ``repairs`` the most rejected statements that get repairs, None for all of
    them; ``details`` are those of `reports.outcome.DETAILS` that will be printed. ``jobs`` is how many processes work.
    With ``allow_empty`` a file without a statement is passed over; else it is an error.
    """

    criteria: str = "exact"
    repairs: int | None = REPAIRED
    details: frozenset[str] = frozenset()
    jobs: int = 1
    allow_empty: bool = False


def check_files(
    files: Iterable[Path],
    workspace: Sources,
    settings: Settings,
    progress: Callable[[str], None] = lambda _: None,
    cache: Cache | None = None,
) -> tuple[Outcome, ...]:
    """Every statement of some files, in their order; a file that cannot be read is itself an erroneous item.

    ``progress`` is told each file that is done.
    """
    sources = [_read(file, workspace) for file in files]
    if settings.allow_empty:
        sources = [source for source in sources if not (isinstance(source, SourceText) and is_blank(source.text))]
    return check_sources(sources, workspace, settings, progress, cache)


def check_sources(
    sources: Sequence[SourceText | Outcome],
    workspace: Sources,
    settings: Settings,
    progress: Callable[[str], None] = lambda _: None,
    cache: Cache | None = None,
) -> tuple[Outcome, ...]:
    """As `check_files`, of texts that need not be in the files that they are named after; outcomes are passed on."""
    run = _Run(workspace, settings, cache or Cache(None))
    tasks = [Task(source, settings.criteria, settings.details) for source in sources if isinstance(source, SourceText)]
    judged = iter(run.judge(tasks, progress))
    found = [list(next(judged)) if isinstance(source, SourceText) else [source] for source in sources]
    run.repair(found)
    run.cache.close()
    return repeated_names([item for items in found for item in items])


@dataclass(frozen=True, slots=True)
class _Run:
    workspace: Sources
    settings: Settings
    cache: Cache

    def judge(self, tasks: Sequence[Task], progress: Callable[[str], None]) -> Iterable[tuple[Outcome, ...]]:
        """The outcomes of each task: from the cache, else computed, and then in the cache."""
        keys = [self._key(task) for task in tasks]
        known = self.cache.find(keys)
        computed = results(
            [task for task, key in zip(tasks, keys, strict=True) if key not in known],
            self.workspace,
            self.settings.jobs,
        )
        for task, key in zip(tasks, keys, strict=True):
            value = known[key] if key in known else next(computed)
            found = tuple(from_json(item, task.source) for item in value)
            if key not in known and not any(item.traceback for item in found):
                self.cache.add(key, value)
            yield found
            progress(task.source.file)

    def _key(self, task: Task) -> str:
        """All that the outcomes of a task depend on."""
        catalog = self.workspace.catalog(Path(task.source.file))
        how = (task.criteria, sorted(task.details), task.repaired)
        return digest(task.source.file, task.source.text, catalog.file, catalog.text, *how)

    def repair(self, found: list[list[Outcome]]) -> None:
        """Put the repairs of the first rejected statements in their places."""
        wanted = [] if self.settings.criteria == "paper" else list(_rejected(found))[: self.settings.repairs]
        numbers: dict[int, list[int]] = {}
        for place, number in wanted:
            numbers.setdefault(place, []).append(number)
        tasks = [
            Task(found[place][0].source, self.settings.criteria, self.settings.details, tuple(mine))
            for place, mine in numbers.items()
        ]
        for (place, mine), repaired in zip(numbers.items(), self.judge(tasks, lambda _: None), strict=True):
            for number, item in zip(mine, repaired, strict=True):
                found[place][number] = item


def _rejected(found: list[list[Outcome]]) -> Iterable[tuple[int, int]]:
    """Where rejected statements are: the file's place and the statement's number in it."""
    return ((i, k) for i, items in enumerate(found) for k, item in enumerate(items) if item.rejected)


def _read(file: Path, workspace: Sources) -> SourceText | Outcome:
    """A file's text, or what is reported of one that cannot be read."""
    try:
        return workspace.read(file)
    except InputError as error:
        return unreadable(SourceText(error.file or str(file), ""), error)
