"""What a run was compared with: another state in git, and a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from streambound.criteria.vocabulary import Verdict
from streambound.reports.outcome import Outcome


class ChangeKind(StrEnum):
    """The transition of a statement; ``grew`` and ``shrank`` are about the bound M."""

    WORSE = "worse"
    GREW = "grew"
    NEW = "new"
    BETTER = "better"
    SHRANK = "shrank"
    REMOVED = "removed"
    SAME = "same"


class StatementChange(Struct, frozen=True):
    """A statement in two states; None where it is not there. ``touched`` is whether its text changed."""

    change: ChangeKind
    old: Outcome | None
    new: Outcome | None
    touched: bool = False

    @property
    def last(self) -> Outcome:
        """The state that it is in, or was in last."""
        item = self.new or self.old
        assert item is not None, "a change has a state"
        return item

    @property
    def name(self) -> str:
        """The name of the statement."""
        return self.last.name

    def __str__(self) -> str:
        """``worse: late in queries/a.sql: bounded -> unbounded``."""
        states = dict.fromkeys(_state_text(item) for item in (self.old, self.new) if item is not None)
        return f"{self.change}: {self.name} in {self.last.source.file}: {' -> '.join(states)}"


def _state_text(item: Outcome) -> str:
    """``bounded, M = 1,000``."""
    size = ""
    if item.verdict is Verdict.BOUNDED and item.bound is not None and item.bound.formula:
        entries = item.bound.entries
        size = f", M = {item.bound.formula if entries is None else f'{entries:,}'}"
    return f"{item.verdict.value}{' (suppressed)' if item.suppressed else ''}{size}"


class BaselineEntry(Struct, frozen=True, order=True):
    """A finding of a baseline; ``file`` is relative to the baseline, ``line`` is that of the entry, 0 for a new one."""

    file: str
    query: str
    code: str
    fingerprint: str
    line: int = 0


class Beside(Struct, frozen=True):
    """The comparisons of a run: with the commit ``ref``, and with the file ``baseline``; None where there was none.

    ``counts`` has how many queries each change has, *same* among them; ``known`` how many entries hold.
    """

    ref: str | None = None
    changed: tuple[StatementChange, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    baseline: str | None = None
    known: int = 0
    stale: tuple[BaselineEntry, ...] = ()


NOTHING = Beside()
"""A run that was compared with nothing."""
