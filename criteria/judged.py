"""What a judge says of a statement beyond joins: what each of its operators remembers, or what fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.spans import Span
from streambound.criteria.size import Number, Size, total
from streambound.criteria.violation import CriterionResult, Violation
from streambound.criteria.vocabulary import Tier

if TYPE_CHECKING:
    from streambound.criteria.periods.parts import PeriodPart


class State(Struct, frozen=True):
    """A state of an operator: at most ``size`` entries, one for each value of its ``keys``.

    ``proposition`` is the one that bounds it; ``freed`` says when an entry goes; ``span`` is the operator's.
    """

    name: str
    proposition: str
    size: Size
    keys: tuple[str, ...]
    freed: str
    span: Span


class CircuitBound(Struct, frozen=True):
    """M: the states of all operators, and their total."""

    states: tuple[State, ...]
    grows: bool = False

    @property
    def entries(self) -> Size:
        """The most entries between two timestamps."""
        return total([Number(0), *(state.size for state in self.states)])

    @property
    def tier(self) -> Tier:
        """Whether M is constant, or grows with rates and windows."""
        return Tier.RATE_WINDOW if self.entries.rated else Tier.CONSTANT


class Judged(Struct, frozen=True):
    """The judgement of a statement: the states of its operators, and the violations of the propositions.

    ``clocks`` are the tables whose timestamps are those of the results, also where no row of theirs matters;
    ``retracts`` says that results may be taken back, ``empty`` why there never is one. ``periods`` is what a job of a
    SEQ block is made of.
    """

    states: tuple[State, ...] = ()
    violations: tuple[Violation, ...] = ()
    clocks: tuple[str, ...] = ()
    empty: tuple[Diagnostic, ...] = ()
    retracts: bool = False
    periods: PeriodPart | None = None

    @property
    def criteria(self) -> tuple[CriterionResult, ...]:
        """The propositions that decide, each with what violates it."""
        broken = {violation: violation.condition.split(" (")[0] for violation in self.violations}
        names = dict.fromkeys((*(state.proposition for state in self.states), *broken.values()))
        found = {name: tuple(v for v, proposition in broken.items() if proposition == name) for name in names}
        return tuple(CriterionResult(name, not violated, violated) for name, violated in found.items())
