"""The search for changes that leave no violation: single ones; where those are few, pairs, then as many as it takes.

A candidate is judged by the deciding criterion on the changed query; only what is found is written as a patch and
analysed from its text. The budget counts analyses, not time, so that every machine finds the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations, islice
from operator import add
from typing import Any, Generic, Protocol, Self, TypeVar

from streambound.analyzer.diagnostics import Fix
from streambound.criteria.repairs.steps import Change, SetDistinct, Step

FEW = 2
"""With fewer single changes than that, pairs are looked for too, and then several together."""
MOST_PAIRS = 4
TIMES = frozenset({"window", "order", "simultaneous"})
"""The kinds of change that say when tuples come."""
MOST_CHANGES = 8
"""Changes taken together at most."""
LEAST_ANALYSES = 3


class Analysed(Protocol):
    """What is rejected, and what it is after some steps: a query of joins, or a statement beyond them."""

    @property
    def violations(self) -> frozenset[Any]:
        """What is wrong, comparable with what is wrong after some steps; empty when it is bounded."""

    @property
    def warnings(self) -> int:
        """How many conditions can never hold: a repair that makes more contradicts the query."""

    @property
    def work(self) -> int:
        """About how long one analysis takes, in units of `Effort.work`."""

    def after(self, steps: tuple[Step, ...]) -> Self | None:
        """The same after some steps; None where one of them would have several meanings."""


A = TypeVar("A", bound=Analysed)


@dataclass(frozen=True, slots=True)
class Effort:
    """How many repairs are wanted, in all and of one kind, and how much their search may cost.

    ``work`` limits how long all analyses may take together, for queries so large that fewer are afforded: in units of
    `UNIT` steps of work.
    """

    repairs: int
    of_a_kind: int
    analyses: int
    work: int


UNIT = 50
QUICK = Effort(repairs=5, of_a_kind=2, analyses=200, work=30_000)
THOROUGH = Effort(repairs=20, of_a_kind=20, analyses=1000, work=300_000)


@dataclass
class RepairSearch(Generic[A]):
    """The search from one rejected query; ``write`` makes a patch of a change, or None where the text has no place.

    ``candidates`` are the single changes worth trying, the best first, at most so many of a kind. After it,
    ``exhausted`` says that the budget ended it, ``unplaced`` that some change helped but has no patch; ``tried`` are
    the changes and combinations that were analysed.
    """

    rejected: A
    candidates: Callable[[A, int], tuple[Change, ...]]
    write: Callable[[Change], Fix | None]
    effort: Effort
    analyses: int = field(init=False)
    unplaced: bool = field(init=False, default=False)
    tried: set[Change] = field(init=False, default_factory=set)
    _insufficient: list[Change] = field(init=False, default_factory=list)
    _partial: dict[Change, frozenset[Any]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        afforded = self.effort.work // self.rejected.work
        self.analyses = min(self.effort.analyses, max(LEAST_ANALYSES, afforded))

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent."""
        return self.analyses <= 0

    def found(self) -> Iterator[tuple[Change, Fix]]:
        """Changes that make the query bounded with their patches, the best first."""
        singles = self._singles()
        first = list(islice(singles, FEW))
        if len(first) == FEW:
            yield from first
            yield from singles
            return
        found = [*first, *islice(self._pairs(), MOST_PAIRS)]
        if len(found) < FEW:
            found += self._several(tuple(change for change, _ in found))
        yield from sorted(found, key=lambda pair: _rank(pair[0]))

    def _singles(self) -> Iterator[tuple[Change, Fix]]:
        helped: list[Change] = []
        for change in self.candidates(self.rejected, self.analyses):
            if _contains(change, helped):
                continue
            remaining = self._remaining(change)
            if remaining == frozenset():
                for fix in self._written(change):
                    helped.append(change)
                    yield change, fix
            elif remaining is not None:
                self._insufficient.append(change)
                if remaining != self.rejected.violations:
                    self._partial[change] = remaining

    def _pairs(self) -> Iterator[tuple[Change, Fix]]:
        """Pairs of changes that each remove some violation and together all of them; DISTINCT with times in any case.

        A set and a bag have violations of their own: what DISTINCT alone, or times alone, leave does not tell of both.
        """
        pairs = [
            first + second
            for first, second in combinations(self._partial, 2)
            if not self._partial[first] & self._partial[second] & self.rejected.violations
            and _compatible(first, second)
        ]
        both = (first + second for first, second in combinations(self._insufficient, 2))
        pairs += [pair for pair in both if "distinct" in pair.kinds and TIMES.intersection(pair.kinds)]
        for pair in sorted(dict.fromkeys(pairs), key=_rank):
            if self._remaining(pair) == frozenset():
                yield from ((pair, fix) for fix in self._written(pair))

    def _several(self, known: tuple[Change, ...]) -> Iterator[tuple[Change, Fix]]:
        """The change that leaves least, then the next, until nothing is left; other ones than those known to help."""
        rejected, taken = self.rejected, tuple[Change, ...]()
        for _ in range(MOST_CHANGES):
            ranked = [
                (len(remaining), both.weight, number, (*taken, more))
                for number, (more, both) in enumerate(_continued(taken, self.candidates(rejected, self.analyses)))
                if not _contains(both, known) and (remaining := self._remaining(both)) is not None
            ]
            if not ranked or min(ranked)[0] >= len(rejected.violations):
                return
            left, _, _, taken = min(ranked)
            if left == 0:
                needed = self._needed(taken)
                yield from ((needed, fix) for fix in self._written(needed))
                return
            rejected = self.rejected.after(_together(taken).steps) or rejected

    def _needed(self, taken: tuple[Change, ...]) -> Change:
        """Changes taken together, without those that later ones made needless."""
        for change in taken:
            others = tuple(other for other in taken if other != change)
            if others and self._remaining(_together(others)) == frozenset():
                taken = others
        return _together(taken)

    def _written(self, change: Change) -> Iterator[Fix]:
        if self.exhausted:
            return
        self.analyses -= 1
        fix = self.write(change)
        self.unplaced = self.unplaced or fix is None
        if fix is not None:
            yield fix

    def _remaining(self, change: Change) -> frozenset[Any] | None:
        """What a change leaves wrong; None if it has no single meaning, contradicts the query, or is not afforded."""
        if self.exhausted:
            return None
        self.analyses -= 1
        after = self.rejected.after(change.steps)
        if after is None:
            return None
        self.tried.add(change)
        contradicts = after.violations < self.rejected.violations and after.warnings > self.rejected.warnings
        return None if contradicts else after.violations


def _contains(change: Change, others: Iterable[Change]) -> bool:
    """Whether a change does all that one of the others does."""
    return any(set(other.steps) <= set(change.steps) for other in others)


def _rank(change: Change) -> tuple[int, int]:
    return change.weight, len(change.steps)


def _together(changes: tuple[Change, ...]) -> Change:
    return reduce(add, changes)


def _continued(taken: tuple[Change, ...], found: tuple[Change, ...]) -> Iterator[tuple[Change, Change]]:
    """Each change that may follow those taken, and all of them together."""
    for change in found:
        if not taken or _compatible(_together(taken), change):
            yield change, _together((*taken, change))


def _compatible(first: Change, second: Change) -> bool:
    """Whether two changes say different things, and not both something of DISTINCT."""
    flips = sum(isinstance(step, SetDistinct) for step in (*first.steps, *second.steps))
    return flips < 2 and not set(first.steps) & set(second.steps)
