"""Applies the fixes of findings, round by round, until none is left that may be applied.

A round takes at most one repair of each statement; those of a catalog first, since one may help many statements, and
no two that touch. Then everything is checked again, so that each fix is judged on the texts that it will stand in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field

from streambound.analyzer.catalog import Catalog, parse_catalog
from streambound.analyzer.diagnostics import Diagnostic, Fix, FixKind
from streambound.analyzer.edits import Edit, applied
from streambound.analyzer.errors import CatalogError
from streambound.analyzer.other_files import among
from streambound.analyzer.spans import SourceText
from streambound.analyzer.workspace import Sources
from streambound.reports.outcome import Outcome

MOST_ROUNDS = 100
"""Each round repairs a statement or removes a comment, so only a defect would need as many."""

Judge = Callable[[Sources], tuple[Outcome, ...]]


class AppliedFix(Struct, frozen=True):
    """A fix that was applied, with its finding and statement."""

    statement: str
    diagnostic: Diagnostic
    fix: Fix


class Fixing(Struct, frozen=True):
    """The result of fixing: each changed file's text before and after, the fixes, the first and the remaining findings.

    ``unsafe`` counts statements that have only unsafe repairs, without `--unsafe`.
    """

    texts: dict[str, tuple[str, str]]
    fixes: tuple[AppliedFix, ...]
    first: tuple[Outcome, ...]
    outcomes: tuple[Outcome, ...]
    unsafe: int = 0


def fix_all(judge: Judge, sources: Sources, unsafe: bool = False) -> Fixing:
    """Apply every safe fix, and with ``unsafe`` the others; ``judge`` checks a state of the files."""
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    done: list[AppliedFix] = []
    first = outcomes = judge(sources)
    for _ in range(MOST_ROUNDS):
        state = Snapshot(sources, after)
        current = _texts(outcomes, state)
        round_ = _Round(current, _catalogs(outcomes, state))
        chosen = [*_candidates(outcomes, unsafe)]
        in_catalog = [one for one in chosen if any(edit.file in round_.catalogs for edit in one.fix.edits)]
        taken = [one for one in in_catalog or chosen if round_.take(one.fix)]
        if not taken:
            break
        done += taken
        for file, edits in round_.edits.items():
            before.setdefault(file, current[file])
            after[file] = applied(current[file], edits)
        outcomes = judge(Snapshot(sources, after))
    texts = {file: (before[file], after[file]) for file in after if before[file] != after[file]}
    left = 0 if unsafe else sum(1 for _ in _candidates(outcomes, unsafe=True))
    return Fixing(texts, tuple(done), first, outcomes, left)


def _candidates(outcomes: Iterable[Outcome], unsafe: bool) -> Iterator[AppliedFix]:
    """Of each statement the first repair that may be applied, and what its suppression comments need."""
    for item in outcomes:
        repaired = item.suppressed and _by_comment(item)
        for found in item.diagnostics:
            comment = found.code.startswith("SB41")
            fix = next((fix for fix in found.fixes if unsafe or fix.kind is FixKind.SAFE), None)
            if fix is None or found.suppression is not None or (repaired and not comment):
                continue
            repaired = repaired or not comment
            yield AppliedFix(item.name, found, fix)


def _by_comment(item: Outcome) -> bool:
    """Whether somebody decided to leave the statement as it is; a baseline only says that it was so."""
    return any(found.suppression and found.suppression.kind == "comment" for found in item.diagnostics)


def _texts(outcomes: Iterable[Outcome], state: Sources) -> dict[str, str]:
    """The current text of every file that was checked, and of every catalog."""
    texts = {item.source.file: item.source.text for item in outcomes}
    return {**texts, **{file: state.catalog(query).text for file, query in _catalogs(outcomes, state).items()}}


def _catalogs(outcomes: Iterable[Outcome], state: Sources) -> dict[str, Path]:
    """The catalogs that were used, each with a query file that uses it."""
    files = dict.fromkeys(item.source.file for item in outcomes if item.rejected)
    return {state.catalog(Path(file)).file: Path(file) for file in files}


class _Round(Struct):
    """The edits of one round, which do not touch each other; ``take`` adds those of a fix, if they fit."""

    texts: dict[str, str]
    catalogs: dict[str, Path]
    edits: dict[str, list[Edit]] = field(default_factory=dict)

    def take(self, fix: Fix) -> bool:
        """Add a fix; False where it has to wait, because it touches another one or breaks the catalog."""
        added: dict[str, list[Edit]] = {}
        for edit in fix.edits:
            others = self.edits.get(edit.file, [])
            if edit in others:
                continue
            if any(_touch(edit, other) for other in others) or edit.file not in self.texts:
                return False
            added.setdefault(edit.file, []).append(edit)
        together = {file: [*self.edits.get(file, []), *edits] for file, edits in added.items()}
        if not all(self._reads(file, edits) for file, edits in together.items()):
            return False
        self.edits.update(together)
        return True

    def _reads(self, file: str, edits: list[Edit]) -> bool:
        """Whether the edits apply, and leave a catalog one."""
        try:
            text = applied(self.texts[file], edits)
            if file in self.catalogs:
                parse_catalog(text, file)
        except (ValueError, CatalogError):
            return False
        return True


def _touch(one: Edit, other: Edit) -> bool:
    return one.span.start <= other.span.end and other.span.start <= one.span.end


class Snapshot:
    """Sources with other texts for some files, by the names that findings call them by.

    Raises CatalogError where a catalog's new text is none.
    """

    def __init__(self, base: Sources, texts: Mapping[str, str]) -> None:
        self._base = base
        self._texts = dict(texts)
        self._catalogs: dict[str, Catalog] = {}

    def read(self, file: Path) -> SourceText:
        """The new text of a query file, or else the one it has."""
        text = self._texts.get(str(file))
        return self._base.read(file) if text is None else SourceText(str(file), text)

    def catalog(self, file: Path | None = None) -> Catalog:
        """The catalog that a query file is checked against, with its new text."""
        found = self._base.catalog(file)
        if found.file not in self._catalogs:
            text = self._texts.get(found.file)
            changed = found if text is None else parse_catalog(text, found.file)
            self._catalogs[found.file] = among(changed, self.texts)
        return self._catalogs[found.file]

    def texts(self, catalog: Catalog) -> Iterator[SourceText]:
        """The texts that may read each other's views, as they are now."""
        for one in self._base.texts(catalog):
            yield SourceText(one.file, self._texts.get(one.file, one.text))
