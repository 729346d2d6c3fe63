"""Outcomes as a check reports them: settings and comments change severities and accept findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from math import inf
from typing import TYPE_CHECKING

from msgspec.structs import replace

from streambound.analyzer.byte_sizes import bytes_text, parse_bytes
from streambound.analyzer.codes import Code, Severity
from streambound.analyzer.diagnostics import Diagnostic, Related, Suppression
from streambound.analyzer.globs import matches
from streambound.analyzer.settings import OFF, Setting, SharedBudget
from streambound.criteria.vocabulary import Verdict
from streambound.gate.policy import Policy, line_of, relative_to_catalog
from streambound.gate.suppressions import suppressed, today
from streambound.reports.outcome import BoundText, Outcome

if TYPE_CHECKING:
    from streambound.analyzer.catalog import Catalog
    from streambound.criteria.check import Checked

_LISTED = 3
"""Statements that are named of those that exceed a budget together."""
_NARROWER = "narrow the window or the domains that it comes from"
_DECLARED = "declare max_rate or max_per_timestamp of its streams and rows of its relations in the catalog"
_ON_ENGINE = "let the engine forget (docs/engines.md), and declare max_rate of streams and lengths of strings"
_VALUES = "declare strings as varchar(n), or list their values, in the catalog; limit the entries (max-entries)"


def reported(outcomes: Iterable[Outcome], policy: Policy, day: date) -> tuple[Outcome, ...]:
    """The statements with bounds beyond the limit reported, what is accepted marked, and severities set."""
    found = within_budgets(tuple(within_limits(item, policy) for item in outcomes), policy)
    return leveled(allowed(suppressed(found, day, policy), policy), policy)


def acceptance(checked: Checked, catalog: Catalog) -> Suppression | None:
    """The suppression, by a comment or the catalog, that lets an unbounded statement pass; None if it fails."""
    from streambound.criteria.check import check_source
    from streambound.reports.outcome import outcome

    items = reported(map(outcome, check_source(checked.source, catalog)), Policy(catalog), today())
    mine = next(item for item in items if item.span == checked.statement.span)
    return next((found.suppression for found in mine.diagnostics if mine.suppressed and found.suppression), None)


def within_limits(item: Outcome, policy: Policy) -> Outcome:
    """A statement with ``SB210`` findings where it is bounded, but not known to be by the entries or bytes allowed."""
    if item.verdict is not Verdict.BOUNDED:
        return item
    most, budget = (policy.value(key, item.source.file) for key in ("max-entries", "budget"))
    bound = item.bound or BoundText()
    found = (
        None if most is None else _over_entries(bound, most),
        None if budget is None else _over_budget(item, bound, budget),
    )
    findings = (
        Diagnostic(Code.OVER_LIMIT, message, item.source.file, item.span, help)
        for message, help in (one for one in found if one is not None)
    )
    return replace(item, diagnostics=(*item.diagnostics, *findings))


def _over_entries(bound: BoundText, most: int) -> tuple[str, str] | None:
    formula, entries = bound.formula, bound.entries
    if entries is not None and entries <= most:
        return None
    limit = f"{most:,} {'entry is' if most == 1 else 'entries are'} allowed here (max-entries)"
    message = f"the bound is {entries:,} entries, and {limit}" if entries is not None else (
        f"the bound, {formula or 'a constant without a formula'}, is not a number, and {limit}"
    )  # fmt: skip
    return message, _NARROWER if entries is not None else _DECLARED


def _over_budget(item: Outcome, bound: BoundText, budget: str) -> tuple[str, str] | None:
    """Of the engine that runs it, where one is named, else of a job."""
    engine, size = item.engine, item.kept_bytes
    if size is not None:
        keeps = "it keeps up to" if engine is None else f"{engine.engine.version} keeps about"
        message = f"{keeps} {bytes_text(size)}, more than the budget of {budget}"
        return (message, _NARROWER) if size > (parse_bytes(budget) or 0) else None
    why = bound.no_bytes or f"the bound, {bound.formula or 'a constant without a formula'}, is not a number"
    help = _VALUES if bound.no_bytes else _DECLARED
    if engine is not None:
        why, help = f"on {engine.engine.version} {engine.no_bytes}", _ON_ENGINE
    return f"how many bytes it keeps is not known, and the budget is {budget}: {why}", help


def within_budgets(outcomes: tuple[Outcome, ...], policy: Policy) -> tuple[Outcome, ...]:
    """The statements, of each budget that some exceed together that with the most bytes with a ``SB210`` finding."""
    if policy.catalog is None or not policy.catalog.settings.budgets:
        return outcomes
    found = list(outcomes)
    for budget in policy.catalog.settings.budgets:
        covered = [place for place, item in enumerate(outcomes) if _covers(budget, item, policy.catalog)]
        covered.sort(key=lambda place: _bytes(outcomes[place]), reverse=True)
        finding = _shared(budget, [outcomes[place] for place in covered], policy.catalog)
        if finding is not None:
            most = found[covered[0]]
            found[covered[0]] = replace(most, diagnostics=(*most.diagnostics, finding))
    return tuple(found)


def _covers(budget: SharedBudget, item: Outcome, catalog: Catalog) -> bool:
    here = relative_to_catalog(catalog, item.source.file)
    in_files = not budget.files or any(matches(pattern, here) for pattern in budget.files)
    return item.verdict is Verdict.BOUNDED and in_files and (not budget.queries or item.name in budget.queries)


def _bytes(item: Outcome) -> float:
    """The bytes of a statement; what is not known is more than anything."""
    return inf if item.kept_bytes is None else item.kept_bytes


def _shared(budget: SharedBudget, items: Sequence[Outcome], catalog: Catalog) -> Diagnostic | None:
    """The finding on statements that exceed a budget together, the one with the most bytes first."""
    known = [size for item in items if (size := item.kept_bytes) is not None]
    if sum(known) <= (parse_bytes(budget.budget) or 0) and len(known) == len(items):
        return None
    if unknown := len(items) - len(known):
        many = (
            f"how many bytes {items[0].name}{f' and {unknown - 1} more keep' if unknown > 1 else ' keeps'} is not known"
        )
        message = f"{many}, and the budget of {budget.name} is {budget.budget}"
    else:
        each = [f"{item.name} {bytes_text(size)}" for item, size in zip(items, known, strict=True)]
        listed = ", ".join(each[:_LISTED]) + (f" and {len(each) - _LISTED} more" if len(each) > _LISTED else "")
        message = (
            f"{budget.name} keeps up to {bytes_text(sum(known))}, more than its budget of {budget.budget}: {listed}"
        )
    related = (Related.at(item.source.excerpt(item.span), item.name) for item in items[:_LISTED])
    return Diagnostic(
        Code.OVER_LIMIT, message, catalog.file, line_of(catalog, budget.line),
        _VALUES if unknown else _NARROWER, related=tuple(related),
    )  # fmt: skip


def allowed(outcomes: Iterable[Outcome], policy: Policy) -> tuple[Outcome, ...]:
    """The statements with the findings marked that the catalog allows in their files."""
    return tuple(_allowed(item, policy) for item in outcomes)


def _allowed(item: Outcome, policy: Policy) -> Outcome:
    here = policy.acceptance(item.source.file)
    if policy.catalog is None or not here:
        return item
    diagnostics = tuple(
        _marked(found, here.get(found.code, (None, ""))[0], policy.catalog.file) for found in item.diagnostics
    )
    return replace(item, diagnostics=diagnostics)


def unneeded(outcomes: Iterable[Outcome], catalog: Catalog) -> Iterator[tuple[str, int]]:
    """The codes that the catalog allows without need, with their lines: by the outcomes of all registered files."""
    found = (one for item in outcomes for one in item.diagnostics)
    used = {(one.code, one.suppression.where) for one in found if one.suppression is not None}
    tables = (catalog.settings.acceptance, *(override.acceptance for override in catalog.settings.overrides))
    for code, setting in (pair for table in tables for pair in table.items()):
        if setting.value is not None and (code, f"{catalog.file}:{setting.line}") not in used:
            yield code, setting.line


def _marked(found: Diagnostic, setting: Setting | None, catalog: str) -> Diagnostic:
    if setting is None or setting.value is None or found.suppression is not None:
        return found
    return replace(found, suppression=Suppression("catalog", setting.value, where=f"{catalog}:{setting.line}"))


def leveled(outcomes: Sequence[Outcome], policy: Policy) -> tuple[Outcome, ...]:
    """The statements with the severities that the catalog sets; what it switches off is not reported."""
    return tuple(replace(item, diagnostics=tuple(_leveled(item, policy))) for item in outcomes)


def _leveled(item: Outcome, policy: Policy) -> Iterator[Diagnostic]:
    here = policy.severities(item.source.file)
    for found in item.diagnostics:
        setting = here.get(found.code)
        if setting is None:
            yield found
        elif setting[0].value != OFF:
            yield replace(found, level=Severity(setting[0].value))
