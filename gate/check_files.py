"""From files to the findings of their statements: all of `streambound check` except printing.

Files are judged in two steps, so that the result depends on neither cache nor processes: first every statement, then
the repairs of the first rejected ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic, Related
from streambound.analyzer.errors import CatalogError, InputError
from streambound.analyzer.lexical import is_blank
from streambound.analyzer.names import alike
from streambound.analyzer.spans import SourceText
from streambound.gate.cache import Cache, digest
from streambound.gate.judging import unreadable
from streambound.gate.policy import NO_POLICY, Policy
from streambound.gate.tasks import Task, from_json, results
from streambound.reports.outcome import Outcome

if TYPE_CHECKING:
    from streambound.analyzer.catalog import Catalog
    from streambound.analyzer.workspace import Sources

PROGRAM = ".py"
"""How the name of a PySpark program ends."""
REPAIRED = 20
"""How many rejected statements of a run get repairs unless asked for."""
LONGEST = 20_000
"""The longest statement, in characters, whose repairs are looked for unless asked for."""


class GateSettings(Struct, frozen=True):
    """How statements are judged.

    ``criteria`` is ``exact`` or ``paper``; ``repairs`` the most rejected statements that get repairs, None for all of
    them; ``details`` are those of `reports.outcome.DETAILS` that will be printed. ``jobs`` is how many processes work.
    With ``allow_empty`` a file without a statement is passed over; else it is an error. ``policy`` has what single
    files have instead: their criteria, their repairs (all or none), whether they may be empty. ``emit_mode`` replaces
    the one that a statement's comment asks for, ``engine`` the catalog's.
    """

    criteria: str = "exact"
    repairs: int | None = REPAIRED
    details: frozenset[str] = frozenset()
    jobs: int = 1
    allow_empty: bool = False
    policy: Policy = NO_POLICY
    emit_mode: str | None = None
    engine: str | None = None

    def of_file(self, file: str) -> tuple[str, bool, bool | None]:
        """A file's criteria, whether it may be empty, and whether its repairs are wanted; None as in the others."""
        mine = self.policy.of_file(file)
        return mine.get("criteria", self.criteria), mine.get("allow-empty", self.allow_empty), mine.get("repairs")


def check_files(
    files: Iterable[Path],
    workspace: Sources,
    settings: GateSettings,
    progress: Callable[[str], None] = lambda _: None,
    cache: Cache | None = None,
) -> tuple[Outcome, ...]:
    """Every statement of some files, in their order; a file that cannot be read is itself an erroneous item.

    ``progress`` is told each file that is done.
    """
    sources = [one for file in files for one in _sources_of(file, workspace, settings)]
    return check_sources(sources, workspace, settings, progress, cache)


def check_sources(
    sources: Sequence[SourceText | Outcome],
    workspace: Sources,
    settings: GateSettings,
    progress: Callable[[str], None] = lambda _: None,
    cache: Cache | None = None,
) -> tuple[Outcome, ...]:
    """As `check_files`, of texts that need not be in the files that they are named after; outcomes are passed on."""
    found = judged_sources(sources, workspace, settings, progress, cache)
    return repeated_names([item for items in found for item in items])


def judged_sources(
    sources: Sequence[SourceText | Outcome],
    workspace: Sources,
    settings: GateSettings,
    progress: Callable[[str], None] = lambda _: None,
    cache: Cache | None = None,
) -> list[tuple[Outcome, ...]]:
    """The outcomes of each text by itself, as `check_sources` finds them; none for an empty one that is allowed."""
    run = _Run(workspace, settings, cache or Cache(None))
    tasks = [
        Task(
            source,
            settings.of_file(source.file)[0],
            settings.details,
            emit_mode=settings.emit_mode,
            engine=settings.engine,
        )
        for source in sources
        if isinstance(source, SourceText) and not _passed_over(source, settings)
    ]
    judged = iter(run.judge(tasks, progress))
    found = [_items(source, judged, settings) for source in sources]
    run.repair(found)
    run.cache.close()
    return [tuple(items) for items in found]


def _items(
    source: SourceText | Outcome, judged: Iterator[tuple[Outcome, ...]], settings: GateSettings
) -> list[Outcome]:
    if not isinstance(source, SourceText):
        return [source]
    return [] if _passed_over(source, settings) else list(next(judged))


class _Run(Struct, frozen=True):
    workspace: Sources
    settings: GateSettings
    cache: Cache
    digests: dict[tuple[str, str], str] = field(default_factory=dict)
    """The digest of each catalog, and of each file that others read: many have the same one, and it is long."""

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
        read = [self._digest(one.file, one.text) for one in catalog.read_by(task.source)]
        how = (task.criteria, sorted(task.details), task.repaired, task.emit_mode, task.engine)
        declared = self._digest(catalog.file, catalog.text)
        return digest(task.source.file, task.source.text, declared, read, *how)

    def _digest(self, file: str, text: str) -> str:
        """The digest of a file's name and text, made once."""
        if (file, text) not in self.digests:
            self.digests[file, text] = digest(file, text)
        return self.digests[file, text]

    def repair(self, found: list[list[Outcome]]) -> None:
        """Put the repairs of the first rejected statements in their places."""
        how, numbers = self.settings, dict[int, list[int]]()
        for place, number in self._wanted(found):
            numbers.setdefault(place, []).append(number)
        tasks = [
            Task(found[place][0].source, "exact", how.details, tuple(mine), how.emit_mode, how.engine)
            for place, mine in numbers.items()
        ]
        for (place, mine), repaired in zip(numbers.items(), self.judge(tasks, lambda _: None), strict=True):
            for number, item in zip(mine, repaired, strict=True):
                found[place][number] = item

    def _wanted(self, found: list[list[Outcome]]) -> Iterable[tuple[int, int]]:
        """Whose repairs are looked for: all of files that ask for it, and of the others the first of the run."""
        others = 0
        for place, number in _rejected(found):
            item = found[place][number]
            criteria, _, repairs = self.settings.of_file(item.source.file)
            asked = repairs or self.settings.repairs is None
            if criteria == "paper" or (not asked and item.span.end - item.span.start > LONGEST):
                continue
            others += repairs is None
            if repairs or (repairs is None and (self.settings.repairs is None or others <= self.settings.repairs)):
                yield place, number


def _passed_over(source: SourceText, settings: GateSettings) -> bool:
    return is_blank(source.text) and settings.of_file(source.file)[1]


def _rejected(found: list[list[Outcome]]) -> Iterable[tuple[int, int]]:
    """Where rejected statements are: the file's place and the statement's number in it."""
    return ((i, k) for i, items in enumerate(found) for k, item in enumerate(items) if item.rejected)


def _sources_of(file: Path, workspace: Sources, settings: GateSettings) -> Iterable[SourceText | Outcome]:
    """A file's text, or what is reported of a PySpark program, which has been run."""
    source = source_of(file, workspace)
    if isinstance(source, Outcome) or file.suffix != PROGRAM:
        return [source]
    from streambound.gate.spark_frames import program_outcomes

    return program_outcomes(source, catalog_of(file, workspace), settings.of_file(source.file)[0])


def catalog_of(file: Path, workspace: Sources) -> Catalog | None:
    """The catalog of a file; None for a program beside which there is none."""
    try:
        return workspace.catalog(file)
    except CatalogError as error:
        if error.file or file.suffix != PROGRAM:
            raise
        return None


def source_of(file: Path, workspace: Sources) -> SourceText | Outcome:
    """A file's text, or what is reported of one that cannot be read."""
    try:
        return workspace.read(file)
    except InputError as error:
        return unreadable(SourceText(error.file or str(file), ""), error)


def repeated_names(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """The statements, with an ``SB402`` warning on each that repeats a name; a file's own name may come again."""
    first: dict[str, Outcome] = {}
    return tuple(_warned(item, first.setdefault(alike(item.name), item)) for item in outcomes)


def _warned(item: Outcome, first: Outcome) -> Outcome:
    here, there = item, first
    if item is first or (here.named is None and there.named is None):
        return item
    at = here.named or here.source.span(here.span.start, here.span.start + 1)
    place = there.named or there.span
    message = f"two statements of this run are called {here.name!r}"
    if here.name != there.name:
        message = f"{here.name!r} and {there.name!r} are one directory where case does not count"
    related = (Related.at(there.source.excerpt(place), f"{there.name} is the name of this statement too"),)
    help = "give each a name of its own: -- name: …"
    warning = Diagnostic(Code.REPEATED_NAME, message, here.source.file, at, help, related=related)
    return replace(item, diagnostics=(*item.diagnostics, warning))
