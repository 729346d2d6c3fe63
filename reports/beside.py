"""What a run was compared with, as plain values: another state in git, and a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streambound.criteria.vocabulary import Verdict
from streambound.reports.outcome import BoundText, Outcome


@dataclass(frozen=True, slots=True)
class QueryState:
    """A query in one of two states."""

    file: str
    line: int
    verdict: Verdict
    suppressed: bool
    bound: BoundText | None

    @classmethod
    def of(cls, item: Outcome) -> QueryState:
        """The state of an outcome."""
        return cls(item.source.file, item.span.line, item.verdict, item.suppressed, item.bound)

    def __str__(self) -> str:
        """``bounded, M = 1,000``."""
        size = ""
        if self.verdict is Verdict.BOUNDED and self.bound is not None and self.bound.formula:
            entries = self.bound.entries
            size = f", M = {self.bound.formula if entries is None else f'{entries:,}'}"
        return f"{self.verdict.value}{' (suppressed)' if self.suppressed else ''}{size}"


@dataclass(frozen=True, slots=True)
class Changed:
    """A query that is not as it was: ``change`` is a word of `gate.transitions.Change`; None where it was, or is, not.

    ``touched`` is whether its text changed; else the catalog did.
    """

    change: str
    name: str
    touched: bool
    old: QueryState | None
    new: QueryState | None

    def __str__(self) -> str:
        """``worse: late in queries/a.sql: bounded -> unbounded``."""
        states = [state for state in (self.old, self.new) if state is not None]
        return f"{self.change}: {self.name} in {states[-1].file}: {' -> '.join(dict.fromkeys(map(str, states)))}"


@dataclass(frozen=True, slots=True)
class Stale:
    """An entry of a baseline that nothing needs any more, and its line there."""

    file: str
    query: str
    code: str
    line: int


@dataclass(frozen=True, slots=True)
class Beside:
    """The comparisons of a run: with the commit ``ref``, and with the file ``baseline``; None where there was none.

    ``counts`` has how many queries each change has, *same* among them; ``known`` how many entries hold.
    """

    ref: str | None = None
    changed: tuple[Changed, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    baseline: str | None = None
    known: int = 0
    stale: tuple[Stale, ...] = ()


NOTHING = Beside()
"""A run that was compared with nothing."""
