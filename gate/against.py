"""`check --against`: what became of every query since a commit, and which line of the catalog is to blame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.byte_sizes import bytes_text
from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.diagnostics import ORDER, Diagnostic, Related
from streambound.analyzer.errors import CatalogError
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.values import decode
from streambound.analyzer.workspace import Sources, Workspace
from streambound.gate.exit_status import fails, not_judged
from streambound.gate.judging import judged
from streambound.gate.past import Past, past
from streambound.gate.policy import Policy, line_of
from streambound.gate.repository import Repository
from streambound.gate.transitions import compared, transitions
from streambound.reports.beside import ChangeKind, StatementChange
from streambound.reports.fingerprint import words
from streambound.reports.outcome import Outcome
from streambound_runtime.promises import Domain

if TYPE_CHECKING:
    from collections.abc import Mapping

Judge = Callable[[tuple[Path, ...], Sources], tuple[Outcome, ...]]
_CODES = (Code.GOT_WORSE, Code.BOUND_GREW)
_RESTORED = (ChangeKind.SAME, ChangeKind.BETTER, ChangeKind.SHRANK)


class Against(Struct, frozen=True):
    """The statements with a finding on each that got worse or whose bound grew; all transitions; broken catalogs."""

    outcomes: tuple[Outcome, ...]
    transitions: tuple[StatementChange, ...]
    broken: tuple[CatalogError, ...] = ()

    def exit_status(self, policy: Policy) -> int:
        """As of a check; where only transitions count, what got worse and new statements that do not pass fail."""
        changed = zip(self.transitions, self.outcomes, strict=False)
        status = not_judged(one for item in self.outcomes for one in item.diagnostics)
        return status or int(any(_failed(transition, item, policy) for transition, item in changed))


def _failed(transition: StatementChange, item: Outcome, policy: Policy) -> bool:
    over = transition.change is ChangeKind.GREW and any(one.code is Code.OVER_LIMIT for one in item.diagnostics)
    if transition.change is ChangeKind.NEW or over or not policy.value("transitions-only", item.source.file):
        return fails(item, policy.least)
    least = ORDER.index(policy.least(item.source.file))
    return any(ORDER.index(one.severity) >= least for one in item.diagnostics if one.code in _CODES)


def against(
    ref: str, outcomes: Sequence[Outcome], workspace: Workspace, files: Sequence[Path], paths: Sequence[Path],
    judge: Judge, policy: Policy,
) -> Against:  # fmt: skip
    """Compare the outcomes of ``files`` with those of a commit; ``judge`` checks files of other sources as they were.

    Raises UsageError where there is no repository, or not that commit.
    """
    repository = Repository.around(Path.cwd())
    then = past(repository, repository.commit(ref), workspace, files, paths)
    before = [item for item in judge(then.files, then) if not item.traceback]  # of which nothing is known
    found = transitions(before, outcomes, then.older)
    blaming = _Blaming(ref, then, workspace, policy, _numbers(outcomes))
    marked = tuple(
        replace(item, diagnostics=(*item.diagnostics, *blaming.diagnostics(transition)))
        for transition, item in zip(found, outcomes, strict=False)
    )
    return Against(marked, found, then.broken)


def _numbers(outcomes: Sequence[Outcome]) -> dict[tuple[str, Span], int]:
    """The number of each statement in its file."""
    seen: dict[str, int] = {}
    numbers: dict[tuple[str, Span], int] = {}
    for item in outcomes:
        numbers[item.source.file, item.span] = seen.get(item.source.file, 0)
        seen[item.source.file] = numbers[item.source.file, item.span] + 1
    return numbers


class _Blaming(Struct, frozen=True):
    """Makes the findings on transitions."""

    ref: str
    then: Past
    workspace: Workspace
    policy: Policy
    numbers: Mapping[tuple[str, Span], int]

    def diagnostics(self, transition: StatementChange) -> Iterator[Diagnostic]:
        """The finding on a statement that got worse, or whose bound grew."""
        old, new = transition.old, transition.new
        if old is None or new is None or transition.change not in (ChangeKind.WORSE, ChangeKind.GREW):
            return
        message, code = self._message(transition.change, old, new)
        edits = () if transition.touched else self._edits(old, new)
        if not edits:
            file = self.then.older.get(new.source.file, old.source.file)
            there = Related(file, old.span, f"the query at {self.ref}", old.source.line(old.span.line))
            help = "repair it, or accept the finding with a reason: see docs/gate.md"
            related = (*self._views(old.source, new.source), there)
            yield Diagnostic(code, message, new.source.file, new.span, help, related=related)
            return
        first, *others = edits
        catalog = self.workspace.catalog(Path(new.source.file))
        related = (
            Related.at(new.source.excerpt(new.span), f"{new.name}, which nobody touched"),
            *(Related(edit.file, line_of(catalog, edit.line), edit.message) for edit in others),
        )
        help = "take this edit of the catalog back, or repair the query"
        yield Diagnostic(code, f"{message}, because {first.message}", first.file, line_of(catalog, first.line), help,
                         related=related)  # fmt: skip

    def _views(self, old: SourceText, new: SourceText) -> Iterator[Related]:
        """The files that a query reads views of, and that are not as they were."""
        catalogs = self.then.catalog(Path(old.file)), self.workspace.catalog(Path(new.file))
        before, after = (
            {one.file: one for one in catalog.read_by(source)}
            for catalog, source in zip(catalogs, (old, new), strict=True)
        )
        for file, source in after.items():
            was = before.get(self.then.older.get(file, file))
            if was is None or was.text != source.text:
                place = source.excerpt(source.span(*_difference("" if was is None else was.text, source.text)))
                yield Related.at(place, f"it reads what this file creates, which is not what it was at {self.ref}")

    def _message(self, change: ChangeKind, old: Outcome, new: Outcome) -> tuple[str, Code]:
        if change is ChangeKind.WORSE:
            was = f"{old.verdict.value} (suppressed)" if old.suppressed else old.verdict.value
            return f"{new.name} was {was} at {self.ref} and is {new.verdict.value}", Code.GOT_WORSE
        least, most = old.kept_bytes, new.kept_bytes
        if old.engine is not None and new.engine is not None and least != most:
            both = ["what is not limited" if size is None else bytes_text(size) for size in (least, most)]
            growth = f" (+{bytes_text(most - least)})" if least is not None and most is not None else ""
            grew = f"what {new.engine.engine.version} keeps of {new.name} grew from {' to '.join(both)}{growth}"
            return f"{grew} since {self.ref}", Code.BOUND_GREW
        sizes = [item.bound.formula if item.bound and item.bound.formula else "a constant" for item in (old, new)]
        numbers = [item.bound.entries if item.bound else None for item in (old, new)]
        before, after = (f"{n:,}" if n is not None else text for n, text in zip(numbers, sizes, strict=True))
        in_bytes = [item.bound.bytes for item in (old, new) if item.bound and item.bound.bytes is not None]
        more = in_bytes[1] - in_bytes[0] if len(in_bytes) == len(numbers) else 0
        if before == after and more > 0:
            before, after = map(bytes_text, in_bytes)
        growth = f" (+{bytes_text(more)})" if more > 0 else ""
        return f"the bound of {new.name} grew from {before} to {after}{growth} since {self.ref}", Code.BOUND_GREW

    def _edits(self, old: Outcome, new: Outcome) -> tuple[CatalogEdit, ...]:
        """The edits of the catalog that are to blame for an untouched statement."""
        file = Path(new.source.file)
        before, after = self.then.catalog(Path(old.source.file)), self.workspace.catalog(file)
        text = words(new.source.text[new.span.start : new.span.end])
        number = self.numbers[new.source.file, new.span]

        def restored(catalog: Catalog) -> bool:
            engine = None if new.engine is None else new.engine.engine
            return compared(old, self._checked(new.source, catalog, number, engine)) in _RESTORED

        return to_blame(catalog_edits(before, after, text), after, restored)

    def _checked(self, source: SourceText, catalog: Catalog, number: int, engine: str | None) -> Outcome:
        (item,) = judged(source, catalog, self.policy.value("criteria", source.file), only=(number,), engine=engine)
        return item


def _difference(old: str, new: str) -> tuple[int, int]:
    """The first line of a text that differs from another text's: where it begins and ends."""
    lines, start = old.splitlines(), 0
    for number, line in enumerate(new.splitlines(keepends=True)):
        if number >= len(lines) or line.rstrip("\r\n") != lines[number]:
            return start, start + len(line.rstrip("\r\n"))
        start += len(line)
    return len(new), len(new)


MOST_TRIED = 60
"""Edits of the tables that one statement names; beyond them all are blamed."""


class CatalogEdit(Struct, frozen=True):
    """One difference between two catalogs: where it is now, what it is, and how to take it back."""

    file: str
    line: int
    message: str
    undo: Callable[[Catalog], Catalog]


def catalog_edits(old: Catalog, new: Catalog, words: str) -> tuple[CatalogEdit, ...]:
    """The differences in the tables that a text names (as `reports.fingerprint.words` has it)."""
    named = {word.strip("`") for word in words.lower().split("\x1f")}
    tables = [table for table in old.tables if table.name.lower() in named]
    return tuple(edit for table in tables for edit in _table_edits(table, new.table(table.name), old, new))


def to_blame(
    edits: Sequence[CatalogEdit], new: Catalog, restored: Callable[[Catalog], bool]
) -> tuple[CatalogEdit, ...]:
    """A smallest selection of edits that all must be taken back; ``restored`` says if a catalog gives the old outcome.

    None where not even all of them together explain it.
    """
    if not restored(_undone(new, edits)):
        return ()
    if len(edits) > MOST_TRIED:
        return tuple(edits)
    left = list(edits)
    for edit in edits:
        without = [other for other in left if other is not edit]
        if restored(_undone(new, without)):
            left = without
    return tuple(left)


def _undone(catalog: Catalog, edits: Sequence[CatalogEdit]) -> Catalog:
    for edit in edits:
        catalog = edit.undo(catalog)
    return catalog


def _table_edits(
    old: DeclaredTable, new: DeclaredTable | None, before: Catalog, after: Catalog
) -> Iterator[CatalogEdit]:
    was = f"({before.file}:{old.line} then)"
    if new is None:
        message = f"{old.name} is not declared any more {was}"
        yield CatalogEdit(after.file, 1, message, lambda catalog: replace(catalog, tables=(*catalog.tables, old)))
        return
    for name in ("kind", "timestamp", "max_per_timestamp", "max_rate", "ttl", "unique", "rows"):
        value, now = getattr(old, name), getattr(new, name)
        if value != now:
            label = f"{old.name}.{name}" if name != "kind" else old.name
            message = f"{label} is {_word(now)}, was {_word(value)} {was}"
            yield CatalogEdit(after.file, new.line, message, _undo_field(old.name, name, value))
    for column in old.columns:
        yield from _column_edits(old, new, column, after, before)
    for column in new.columns:
        if old.column(column.name) is None:
            message = f"{old.name}.{column.name} is declared here, and was not"
            yield CatalogEdit(after.file, column.line, message, _undo_added(old.name, column.name))


def _column_edits(
    old: DeclaredTable, new: DeclaredTable, column: Column, after: Catalog, before: Catalog
) -> Iterator[CatalogEdit]:
    label, now = f"{old.name}.{column.name}", new.column(column.name)
    undo = _undo_column(old.name, column)
    if now is None:
        message = f"{label} is not declared any more ({before.file}:{column.line} then)"
        yield CatalogEdit(after.file, new.line, message, undo)
        return
    if now.type != column.type:
        message = f"{label} is {now.type.name}, was {column.type.name} ({before.file}:{column.line} then)"
        yield CatalogEdit(after.file, now.line, message, undo)
    elif now.domain != column.domain:
        then = f"({before.file}:{column.domain_line or column.line} then)"
        message = f"the domain of {label} is {_domain(now)}, was {_domain(column)} {then}"
        yield CatalogEdit(after.file, now.domain_line or now.line, message, undo)


def _undo_field(table: str, name: str, value: object) -> Callable[[Catalog], Catalog]:
    return lambda catalog: _changed(catalog, table, lambda found: replace(found, **{name: value}))


def _undo_column(table: str, column: Column) -> Callable[[Catalog], Catalog]:
    def undone(found: DeclaredTable) -> DeclaredTable:
        names = [other.name.lower() for other in found.columns]
        if column.name.lower() not in names:
            return replace(found, columns=(*found.columns, column))
        return replace(found, columns=tuple(column if n == column.name.lower() else other
                                            for n, other in zip(names, found.columns, strict=True)))  # fmt: skip

    return lambda catalog: _changed(catalog, table, undone)


def _undo_added(table: str, name: str) -> Callable[[Catalog], Catalog]:
    def undone(found: DeclaredTable) -> DeclaredTable:
        return replace(found, columns=tuple(other for other in found.columns if other.name.lower() != name.lower()))

    return lambda catalog: _changed(catalog, table, undone)


def _changed(catalog: Catalog, table: str, change: Callable[[DeclaredTable], DeclaredTable]) -> Catalog:
    tables = (change(found) if found.name.lower() == table.lower() else found for found in catalog.tables)
    return replace(catalog, tables=tuple(tables))


def _word(value: object) -> str:
    return "not declared" if value is None else str(value)


def _domain(column: Column) -> str:
    domain = column.domain
    match domain:
        case None:
            return "not declared"
        case Domain(low, high, ()) if low is not None and high is not None:
            return f"[{decode(low, column.type)}, {decode(high, column.type)}]"
    return f"[{', '.join(decode(value, column.type) for value in domain.values)}]"
