"""What a run comes to: how many queries have each verdict, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from types import MappingProxyType

from streambound.analyzer.byte_sizes import bytes_text
from streambound.analyzer.codes import Severity
from streambound.criteria.engines.profile import StateClass
from streambound.criteria.vocabulary import Verdict
from streambound.reports.outcome import BoundText, Outcome

_LONG = 60


def counts(outcomes: Iterable[Outcome]) -> dict[Verdict, int]:
    """The number of statements of each verdict; they sum to the number of statements."""
    verdicts = [item.verdict for item in outcomes]
    return {verdict: verdicts.count(verdict) for verdict in Verdict}


def total_text(outcomes: tuple[Outcome, ...], words: Mapping[str, str] = MappingProxyType({})) -> str:
    """``3 queries checked: 1 bounded, 2 unbounded; 1 of them suppressed``; ``words`` may paint the verdicts."""
    numbers = counts(outcomes)
    others = numbers.pop(Verdict.NO_QUERY)
    parts = ", ".join(f"{n} {words.get(verdict.value, verdict.value)}" for verdict, n in numbers.items() if n)
    total = len(outcomes) - others
    queries = f"{total} {'query' if total == 1 else 'queries'} checked"
    accepted = sum(item.suppressed for item in outcomes)
    text = queries + (f": {parts}" if parts else "") + (f"; {accepted} of them suppressed" if accepted else "")
    beside = "another statement reads" if others == 1 else f"{others} other statements read"
    return f"{text}; {beside} no stream" if others else text


BY_VERDICT = (Verdict.ERROR, Verdict.UNBOUNDED, Verdict.UNKNOWN, Verdict.UNSUPPORTED, Verdict.BOUNDED, Verdict.NO_QUERY)


def by_attention(outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """By verdict, accepted ones behind the others; of those that are bounded, those with errors and warnings first."""
    return tuple(sorted(outcomes, key=_rank))


def _rank(item: Outcome) -> tuple[int, bool, bool, bool]:
    open_ = {found.severity for found in item.diagnostics if found.suppression is None}
    return BY_VERDICT.index(item.verdict), item.suppressed, Severity.ERROR not in open_, Severity.WARNING not in open_


def by_state(outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """Statements by what they keep, the most first: what has no limit in numbers comes before all that has."""
    return tuple(sorted(outcomes, key=_state_size, reverse=True))


def _state_size(item: Outcome) -> tuple[bool, bool, float, int]:
    bound = item.bound or BoundText()
    size = inf if bound.bytes is None and bound.entries else bound.bytes or 0
    return item.bound is None, bound.entries is None, size, bound.entries or 0


def engine_of(outcomes: Iterable[Outcome]) -> str:
    """The engine whose state is said, too; nothing where none is."""
    return next((item.engine.engine.version for item in outcomes if item.engine is not None), "")


def engine_text(item: Outcome) -> str:
    """The state of the engine for a statement as written: bytes, or why there is no number."""
    if item.engine is None or item.engine.unread:
        return ""
    if item.engine.refusals:
        return "refused"
    unknown = "grows" if item.engine.kept is StateClass.GROWS else "not known"
    return unknown if item.kept_bytes is None else bytes_text(item.kept_bytes)


def state_texts(item: Outcome) -> tuple[str, str]:
    """The entries that a statement keeps, as a number or a formula, and their bytes, where these are known."""
    bound = item.bound or BoundText("no limit" if item.verdict is Verdict.UNBOUNDED else None)
    entries = (bound.formula or "") if bound.entries is None else f"{bound.entries:,}"
    short = entries if len(entries) <= _LONG else f"{entries[:_LONG]}…"
    return short, "" if bound.bytes is None else bytes_text(bound.bytes)
