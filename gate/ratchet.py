"""Findings against a baseline: which are known, which are new, and which entries are stale."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import ORDER, Diagnostic, Suppression
from streambound.analyzer.errors import CatalogError
from streambound.criteria.vocabulary import Verdict
from streambound.gate.baseline import Baseline
from streambound.gate.policy import NO_POLICY, Policy
from streambound.reports.beside import BaselineEntry
from streambound.reports.fingerprint import fingerprints
from streambound.reports.outcome import Outcome


class Ratchet(Struct, frozen=True):
    """A run beside a baseline: the statements, known findings marked; the entries that hold, and those that are stale.

    ``held`` has the entries as they would be written now: an entry of a file that was renamed has its new name.
    """

    outcomes: tuple[Outcome, ...]
    held: tuple[BaselineEntry, ...]
    stale: tuple[BaselineEntry, ...]


def ratchet(outcomes: Sequence[Outcome], baseline: Baseline, policy: Policy = NO_POLICY) -> Ratchet:
    """Mark what the baseline knows, and find the entries that nothing needs any more.

    An entry is judged where its file was checked and every statement of it could be analysed, or where the file is
    gone; one for what a comment accepts by now is stale. The findings of a file that was renamed are those of the old
    one, if that is gone. Raises CatalogError for an entry of criteria by which its file is not checked any more:
    whether there is still such a finding is not known then.
    """
    renamed = _renamed(outcomes, baseline)
    _require_same_criteria(outcomes, baseline, policy, renamed)
    known = {entry.fingerprint: entry for entry in baseline.entries}
    prints = fingerprints(outcomes, _named(renamed, baseline), known)
    marked, present = [], set[str]()
    for item, mine in zip(outcomes, prints, strict=True):
        found = tuple(
            _marked(one, known[key], baseline) if key in known and not _denied(one, policy) else one
            for one, key in zip(item.diagnostics, mine, strict=True)
        )
        present.update(key for one, key in zip(item.diagnostics, mine, strict=True) if one.suppression is None)
        marked.append(replace(item, diagnostics=found))
    judged = _judged(outcomes, baseline, renamed)
    stale = tuple(entry for entry in baseline.entries if entry.fingerprint not in present and judged(entry))
    return Ratchet(tuple(marked), tuple(_held(baseline, stale, renamed, outcomes)), stale)


def entries(outcomes: Sequence[Outcome], baseline: Baseline, policy: Policy = NO_POLICY) -> Iterator[BaselineEntry]:
    """The entries of a new baseline: each finding that would fail, may be accepted, and is not yet."""
    for item, mine in zip(outcomes, fingerprints(outcomes, baseline.relative), strict=True):
        for found, key in zip(item.diagnostics, mine, strict=True):
            if found.suppression is None and _fails(found, policy) and _acceptable(found, policy):
                yield BaselineEntry(baseline.relative(item.source.file), item.name, found.code, key)


def refused(outcomes: Iterable[Outcome], policy: Policy = NO_POLICY) -> tuple[Diagnostic, ...]:
    """The findings that no baseline accepts: of what was not analysed, of suppression comments, and what is denied."""
    return tuple(
        found
        for item in outcomes
        for found in item.diagnostics
        if found.suppression is None and _fails(found, policy) and not _acceptable(found, policy)
    )


def _fails(found: Diagnostic, policy: Policy) -> bool:
    return ORDER.index(found.severity) >= ORDER.index(policy.least(found.file))


def _acceptable(found: Diagnostic, policy: Policy) -> bool:
    return found.code.acceptable and not _denied(found, policy)


def _denied(found: Diagnostic, policy: Policy) -> bool:
    setting = policy.acceptance(found.file).get(found.code)
    return setting is not None and setting[0].value is None


def _marked(found: Diagnostic, entry: BaselineEntry, baseline: Baseline) -> Diagnostic:
    """A known finding; a comment's suppression says more, and an entry for what cannot be accepted says nothing."""
    if found.suppression is not None or not found.code.acceptable:
        return found
    return replace(found, suppression=Suppression("baseline", where=f"{baseline.file}:{entry.line}"))


def _require_same_criteria(
    outcomes: Sequence[Outcome], baseline: Baseline, policy: Policy, renamed: dict[str, str]
) -> None:
    names = {item.source.file: baseline.relative(item.source.file) for item in outcomes}
    criteria = {renamed.get(name, name): policy.value("criteria", file) for file, name in names.items()}
    for entry in baseline.entries:
        code, now = Code.named(entry.code), criteria.get(entry.file)
        mine = None if code is None else code.criteria
        if mine is not None and now is not None and mine != now:
            found = f"{entry.code} of {entry.query} was found with criteria {mine}"
            message = f"{found}; {entry.file} is checked with {now}"
            remedy = "check it with the same criteria, or remove what is recorded of it and decide again"
            raise CatalogError(message, file=str(baseline.file), line=entry.line, remedy=remedy)


def _judged(
    outcomes: Sequence[Outcome], baseline: Baseline, renamed: dict[str, str]
) -> Callable[[BaselineEntry], bool]:
    checked: dict[str, bool] = {}
    for item in outcomes:
        here = baseline.relative(item.source.file)
        name = renamed.get(here, here)
        checked[name] = checked.get(name, True) and item.verdict is not Verdict.ERROR
    return lambda entry: checked[entry.file] if entry.file in checked else not baseline.exists(entry)


def _renamed(outcomes: Sequence[Outcome], baseline: Baseline) -> dict[str, str]:
    """Files that the baseline knows by another name, which is gone: new name to old name."""
    gone = {entry.file for entry in baseline.entries if not baseline.exists(entry)}
    if not gone:
        return {}
    known = {entry.file for entry in baseline.entries}
    by_file: dict[str, list[Outcome]] = {}
    for item in outcomes:
        by_file.setdefault(baseline.relative(item.source.file), []).append(item)
    found: dict[str, str] = {}
    for old in sorted(gone):
        wanted = {entry.fingerprint for entry in baseline.entries if entry.file == old}
        for new, items in by_file.items():
            if new in known or new in found:
                continue
            if wanted & {key for mine in fingerprints(items, _named({new: old}, baseline), wanted) for key in mine}:
                found[new] = old
                break
    return found


def _named(renamed: Mapping[str, str], baseline: Baseline) -> Callable[[str], str]:
    """How the baseline called a file."""
    return lambda file: renamed.get(baseline.relative(file), baseline.relative(file))


def _held(
    baseline: Baseline, stale: tuple[BaselineEntry, ...], renamed: dict[str, str], outcomes: Sequence[Outcome]
) -> Iterator[BaselineEntry]:
    """The entries that are not stale, those of renamed files under their new names and fingerprints."""
    moved: dict[str, tuple[str, str]] = {}
    if renamed:
        old = fingerprints(outcomes, _named(renamed, baseline), {entry.fingerprint for entry in baseline.entries})
        new = fingerprints(outcomes, baseline.relative)
        for item, mine, theirs in zip(outcomes, old, new, strict=True):
            here = baseline.relative(item.source.file)
            if here in renamed:
                moved.update((key, (here, other)) for key, other in zip(mine, theirs, strict=True))
    for entry in baseline.entries:
        if entry in stale:
            continue
        file, fingerprint = moved.get(entry.fingerprint, (entry.file, entry.fingerprint))
        yield replace(entry, file=file, fingerprint=fingerprint)
