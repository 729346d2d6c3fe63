"""What a model of an engine is asked, and what it says: states, dropped results, refusals."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from streambound.analyzer.edits import Edit
from streambound.analyzer.engine_profiles import Micros, StreamEngine
from streambound.analyzer.spans import Span


class StateClass(StrEnum):
    """How what an operator keeps behaves over time, the worst last."""

    CONSTANT = "constant"
    """As many rows as a key has values."""
    WINDOW = "window"
    """What is near the watermark, or was written lately."""
    GROWS = "grows"


class GoesBy(StrEnum):
    """By what a row leaves a state."""

    KEY = "key predicate"
    VALUE = "value predicate"
    WINDOW = "window"
    TTL = "ttl"
    NEVER = "never"


class EngineFix(Struct, frozen=True):
    """A change that makes an engine keep less, and whether results stay the same.

    Where it adds something to the statement, ``edits`` do it, and ``added`` are the conditions or the key. ``loses``
    says what changes. With a ``stream`` it is the ``delay`` of that one's watermark.
    """

    text: str
    same_results: bool
    edits: tuple[Edit, ...] = ()
    added: tuple[str, ...] = ()
    loses: str = ""
    stream: str = ""
    delay: Micros = 0

    @property
    def words(self) -> str:
        """The fix with its label."""
        label = "same results" if self.same_results else "changes results"
        return f"{self.text} ({label}{': ' * bool(self.loses)}{self.loses})"


LATE = "rows later than the watermark are lost"


class EngineState(Struct, frozen=True):
    """A state of one operator of the engine, for one ``side`` if it has two.

    ``lifetime`` is how many microseconds of event time it holds rows of, each as often as it is in a window; ``rows``
    about how many that are at the catalog's rates, ``formula`` the same in words; ``unit`` are the groups of a window.
    ``row_bytes`` is what a row takes, of whose columns none is a string of any length. ``why`` says why rows do not go.
    """

    operator: str
    kept: StateClass
    by: GoesBy
    span: Span
    side: str = ""
    source: str = ""
    lifetime: Micros | None = None
    rows: int | None = None
    formula: str = ""
    unit: int = 0
    row_bytes: int | None = None
    why: str = ""
    fix: EngineFix | None = None
    notes: tuple[str, ...] = ()

    @property
    def bytes(self) -> int | None:
        """About how many bytes its rows take; None if it grows, or if the size is unknown."""
        return None if self.rows is None or self.row_bytes is None else self.rows * self.row_bytes


class SilentDrop(Struct, frozen=True):
    """Results that the engine never gives, and does not count: ``certain`` for rows in order, else for late ones."""

    message: str
    span: Span
    fix: EngineFix | None = None
    certain: bool = True


class LongDelay(Struct, frozen=True):
    """A watermark that is farther behind than the catalog lets rows of its stream be, so that rows stay for nothing."""

    message: str
    span: Span
    fix: EngineFix


class Phase(StrEnum):
    """When an engine refuses a query."""

    ANALYSIS = "analysis"
    START = "start"
    RUN = "run"


class Refusal(Struct, frozen=True):
    """A refusal by the engine: ``when`` it comes, and with which ``error``."""

    when: Phase
    why: str
    span: Span
    error: str = ""
    fix: EngineFix | None = None


class EngineReading(Struct, frozen=True):
    """A model's reading of a query whose watermark has a ``delay``; ``unread`` says why there is none."""

    engine: StreamEngine
    states: tuple[EngineState, ...] = ()
    drops: tuple[SilentDrop, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    delays: tuple[LongDelay, ...] = ()
    notes: tuple[str, ...] = ()
    unread: str = ""
    delay: Micros = 0

    @property
    def kept(self) -> StateClass | None:
        """The worst of its states; None where nothing is kept."""
        order = list(StateClass)
        return max((state.kept for state in self.states), key=order.index, default=None)

    @property
    def bytes(self) -> int | None:
        """About how many bytes are kept; None if a state grows, or if its size is unknown."""
        known = [state.bytes for state in self.states if state.bytes is not None]
        return None if self.unread or len(known) < len(self.states) else sum(known)

    @property
    def no_bytes(self) -> str:
        """Why its bytes are not known; nothing where they are."""
        if self.unread or self.bytes is not None:
            return self.unread and f"it is not modelled: {self.unread}"
        if self.kept is StateClass.GROWS:
            return next(f"the {one.operator} keeps rows for ever" for one in self.states if one.kept is self.kept)
        state = next(one for one in self.states if one.bytes is None)
        what = "rows" if state.row_bytes is not None else "a string of any length, or a value that grows"
        return f"the {state.operator} keeps {what if state.rows is not None else 'rows of which no rate is declared'}"


def together(states: tuple[EngineState, ...]) -> list[list[EngineState]]:
    """States, and both sides of a join that are alike as one."""
    found: list[list[EngineState]] = []
    for state in states:
        last = found[-1][-1] if found else None
        alike = last is not None and last.side == "left" and state.side == "right" and last.span == state.span
        if alike and last is not None and (last.kept, last.by, last.why) == (state.kept, state.by, state.why):
            found[-1].append(state)
        else:
            found.append([state])
    return found
