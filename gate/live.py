"""What a check of the whole workspace says while its files change: every text is judged once, until it is another one.

The registered queries of the catalog are one run, as `streambound check` without arguments makes it; a text that is not
registered is a run of its own, as `streambound check FILE`. Texts that an editor holds stand for their files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from streambound.analyzer.catalog import find_catalog
from streambound.analyzer.errors import CatalogError, StreamboundError
from streambound.analyzer.spans import SourceText
from streambound.analyzer.workspace import Workspace
from streambound.gate.baseline import Baseline, read_baseline
from streambound.gate.cache import Cache, cache_directory
from streambound.gate.check_files import GateSettings, judged_sources, repeated_names, source_of
from streambound.gate.policy import Policy
from streambound.gate.ratchet import ratchet
from streambound.gate.reported import reported, unneeded
from streambound.gate.suppressions import today
from streambound.reports.beside import BaselineEntry
from streambound.reports.outcome import Outcome

Source = SourceText | Outcome
"""A text, or what is reported of a file that cannot be read."""


class WorkspaceState(Struct, frozen=True):
    """The texts of a workspace at one moment, by file, and what holds for them.

    ``held`` names the files whose texts an editor holds; ``wrong`` is why the registered queries are not known, if that
    is not because there are none; ``failed`` has the texts that have no catalog.
    """

    workspace: Workspace
    policy: Policy
    registered: Mapping[str, Source]
    alone: Mapping[str, SourceText]
    held: frozenset[str] = frozenset()
    wrong: StreamboundError | None = None
    failed: Mapping[str, CatalogError] = field(default_factory=dict)

    @property
    def sources(self) -> dict[str, Source]:
        """All texts that can be judged."""
        return {**self.registered, **self.alone}


class Found(Struct, frozen=True):
    """The outcomes of every file, the baseline's stale entries, and the codes that are allowed without need."""

    outcomes: Mapping[str, tuple[Outcome, ...]]
    baseline: Baseline | None = None
    stale: tuple[BaselineEntry, ...] = ()
    unneeded: tuple[tuple[str, int], ...] = ()


class Live:
    """Remembers the catalog, the files and what was judged, while they stay as they are."""

    def __init__(self, catalog: Path | None = None) -> None:
        self._named = catalog
        self._workspace: tuple[object, Workspace] | None = None
        self._others: dict[Path, object] = {}
        self._files: dict[Path, tuple[object, Source]] = {}
        self._judged: dict[str, tuple[object, tuple[Outcome, ...]]] = {}

    def state(self, texts: Mapping[str, str]) -> WorkspaceState:
        """The workspace now, with these texts in place of the files that they are named after; raises CatalogError."""
        workspace = self._current()
        policy = Policy(workspace.default, {"repairs": False})
        held = {_place(file): (file, text) for file, text in texts.items()}
        files, wrong = _registered(workspace, policy)
        registered, open_ones = dict[str, Source](), set[str]()
        for file in files:
            mine = held.pop(_place(file), None)
            registered[str(file)] = self._read(file, workspace) if mine is None else SourceText(str(file), mine[1])
            open_ones |= {str(file)} if mine is not None else set()
        alone, failed = dict[str, SourceText](), dict[str, CatalogError]()
        for name, text in held.values():
            try:
                workspace.catalog(Path(name))
                alone[name] = SourceText(name, text)
            except CatalogError as error:
                failed[name] = error
        workspace.hold(tuple(one for one in (*registered.values(), *alone.values()) if isinstance(one, SourceText)))
        return WorkspaceState(workspace, policy, registered, alone, frozenset(open_ones | alone.keys()), wrong, failed)

    def missing(self, state: WorkspaceState) -> list[SourceText]:
        """The texts that were not judged as they are."""
        return [
            one for one in state.sources.values() if isinstance(one, SourceText) and self._items(one, state) is None
        ]

    def judge(self, state: WorkspaceState, sources: Sequence[SourceText]) -> None:
        """Judge some of the texts, and remember what was found."""
        for source, items in zip(sources, _judge(sources, state, state.policy, 0), strict=True):
            self._judged[source.file] = (_identity(source, state), items)

    def found(
        self, state: WorkspaceState, whole: bool, instead: Mapping[str, tuple[Outcome, ...]] | None = None
    ) -> Found:
        """The findings of all texts; ``instead`` has outcomes with repairs for some of them.

        The registered queries are one run if the ``whole`` of it was judged; else each text that an editor holds is
        a run of its own. Raises CatalogError for a baseline that cannot be used.
        """
        judged = dict(instead or {})
        for file, source in state.sources.items():
            if (whole or file in state.held) and (items := self._items(source, state)) is not None:
                judged.setdefault(file, items)
        runs = [[*judged[file]] for file in judged if not whole or file in state.alone]
        if whole and state.registered:
            runs.insert(0, [item for file in state.registered for item in judged[file]])
        return _reported(runs, state, whole and bool(state.registered))

    def repaired(self, state: WorkspaceState, file: str) -> tuple[Outcome, ...]:
        """The outcomes of a text, with repairs."""
        source = state.sources[file]
        if not isinstance(source, SourceText):
            return (source,)
        return _judge([source], state, Policy(state.workspace.default, {"repairs": True}), None)[0]

    def _current(self) -> Workspace:
        """The workspace, read again where the catalog is another one."""
        stamp = _stamp_of_catalog(self._named)
        others = {} if self._workspace is None else {file: _stamp(file) for file in self._workspace[1].catalogs}
        self._others = {file: self._others.get(file, found) for file, found in others.items()}
        if self._workspace is None or stamp is None or self._workspace[0] != stamp or self._others != others:
            self._workspace, self._others = (stamp, Workspace(self._named)), {}
        return self._workspace[1]

    def _read(self, file: Path, workspace: Workspace) -> Source:
        stamp = _stamp(file)
        known = self._files.get(file)
        if known is None or stamp is None or known[0] != stamp:
            known = self._files[file] = (stamp, source_of(file, workspace))
        return known[1]

    def _items(self, source: Source, state: WorkspaceState) -> tuple[Outcome, ...] | None:
        """The outcomes of a text as it is; None if it was not judged yet."""
        if not isinstance(source, SourceText):
            return (source,)
        known = self._judged.get(source.file)
        return known[1] if known is not None and known[0] == _identity(source, state) else None


def _reported(runs: Sequence[Sequence[Outcome]], state: WorkspaceState, whole: bool) -> Found:
    """The findings of each run; the first may be that of all registered queries.

    A run of one file says nothing of the entries of others.
    """
    policy, catalog = state.policy, state.workspace.default
    known = None if policy.baseline is None else read_baseline(policy.baseline, policy.value("criteria"))
    found: list[Outcome] = []
    stale: list[BaselineEntry] = []
    needless: tuple[tuple[str, int], ...] = ()
    for number, run in enumerate(runs):
        items = reported(repeated_names(run), policy, today())
        of_all = whole and number == 0
        if of_all and catalog is not None:
            needless = tuple(unneeded(items, catalog))
        if known is not None:
            held = ratchet(items, known, policy)
            items = held.outcomes
            mine = {known.relative(item.source.file) for item in items}
            stale += (entry for entry in held.stale if of_all or entry.file in mine)
        found += items
    by_file: dict[str, list[Outcome]] = {}
    for item in found:
        by_file.setdefault(item.source.file, []).append(item)
    outcomes = {file: tuple(items) for file, items in by_file.items()}
    return Found(outcomes, known, tuple(dict.fromkeys(stale)), needless)


def _judge(
    sources: Sequence[SourceText], state: WorkspaceState, policy: Policy, repairs: int | None
) -> list[tuple[Outcome, ...]]:
    criteria, allow_empty = policy.value("criteria"), policy.value("allow-empty")
    settings = GateSettings(criteria, repairs, allow_empty=allow_empty, policy=policy)
    return judged_sources(sources, state.workspace, settings, cache=Cache(cache_directory()))


def _identity(source: SourceText, state: WorkspaceState) -> object:
    """All that the judgement of a text depends on; equal texts are most often the same one, which is quick to see."""
    catalog, policy, file = state.workspace.catalog(Path(source.file)), state.policy, source.file
    how = policy.value("criteria", file), policy.value("allow-empty", file)
    return source.text, catalog.file, catalog.text, *how, *((one.file, one.text) for one in catalog.read_by(source))


def _registered(workspace: Workspace, policy: Policy) -> tuple[list[Path], StreamboundError | None]:
    """The files that the catalog registers, or what is wrong with them; none where it registers none."""
    if workspace.default is None or not workspace.default.queries:
        return [], None
    try:
        return workspace.registered(policy.value("allow-empty")), None
    except StreamboundError as error:
        return [], error


def _place(file: str | Path) -> str:
    """A file, however it is written; links are not followed: each is a query of its own."""
    return os.path.normpath(Path(file).absolute())


def _stamp_of_catalog(named: Path | None) -> object:
    try:
        file = named or find_catalog(Path.cwd())
    except CatalogError:
        return None
    stamp = _stamp(file)
    return None if stamp is None else (file, stamp)


def _stamp(file: Path) -> object:
    """The identity of a file's current version; None if it does not exist."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
