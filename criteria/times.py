"""How timestamps limit what can match: windows between streams, and how long one must wait for another (theory §4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from streambound.analyzer.boundedness import Facts


@dataclass(frozen=True)
class TimeLimits:
    """The windows of one branch."""

    facts: Facts

    @cached_property
    def _streams(self) -> tuple[str, ...]:
        return tuple(source.alias for source in self.facts.branch.streams)

    @cached_property
    def windows(self) -> dict[str, dict[str, int]]:
        """For every stream how much newer each other one can be, as far as that is limited."""
        pairs = {s: {other: self.window(other, s) for other in self._streams if other != s} for s in self._streams}
        return {s: {other: lag for other, lag in lags.items() if lag is not None} for s, lags in pairs.items()}

    @cached_property
    def waits(self) -> dict[str, dict[str, int]]:
        """For every stream how much older than each other one it must be, where that is more than older."""
        pairs = {s: {other: self.stated_lag(s, other) for other in self._streams if other != s} for s in self._streams}
        return {s: {o: -lag for o, lag in lags.items() if lag is not None and lag <= -2} for s, lags in pairs.items()}

    def window(self, newer: str, older: str) -> int | None:
        """The largest ``newer.ts − older.ts``, where it does not follow from the end of a finite stream alone."""
        matrix, i = self.facts.closure.node(self.facts.time(newer))
        j = self.facts.closure.nodes[self.facts.time(older)][1]
        return None if matrix.implied_through(i, 0, j) else matrix.bound(i, j)

    def stated_lag(self, newer: str, older: str) -> int | None:
        """The largest ``newer.ts − older.ts``, where it does not follow through a third stream or constants."""
        matrix, i = self.facts.closure.node(self.facts.time(newer))
        j = self.facts.closure.nodes[self.facts.time(older)][1]
        if not matrix.finite(i, j) or matrix.implied_through(i, 0, j) or matrix.redundant(i, j):
            return None
        return matrix.bound(i, j)

    def age_checks(self, new: str, old: str) -> tuple[int | None, int | None]:
        """What to check when ``new`` arrives and ``old`` is remembered: the least and greatest age of ``old``.

        Both are None where being older is enough, as it always is without windows.
        """
        least = self.stated_lag(old, new)
        greatest = self.stated_lag(new, old)
        return (-least if least is not None and least <= -2 else None), greatest
