"""What a model of an engine is asked, and what it says: states, dropped results, refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from streambound.analyzer.durations import UNITS
from streambound.analyzer.spans import Span

Micros = int
"""A length of time in microseconds."""


class Engine(StrEnum):
    """An engine that there is a model of."""

    SPARK = "spark"
    FLINK = "flink"

    @property
    def version(self) -> str:
        """The version whose operators were measured."""
        return {Engine.SPARK: "Spark 4.3", Engine.FLINK: "Flink SQL 2.3"}[self]


class OutputMode(StrEnum):
    """What a Spark query writes at each batch: final rows, changed rows, or the whole result."""

    APPEND = "append"
    UPDATE = "update"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class EngineProfile:
    """An engine, and how a query is run on it.

    ``delays`` has the watermark's delay of each stream, by its name in small letters; None: it has no watermark.
    A stream that it does not name has the lateness of the catalog. ``ttl`` is Flink's `table.exec.state.ttl`.
    """

    engine: Engine
    mode: OutputMode = OutputMode.APPEND
    delays: Mapping[str, Micros | None] = field(default_factory=dict)
    ttl: Micros | None = None


class Kept(StrEnum):
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


@dataclass(frozen=True, slots=True)
class EngineFix:
    """What makes an engine keep less; whether results stay the same."""

    text: str
    same_results: bool

    @property
    def words(self) -> str:
        """The fix with its label."""
        return f"{self.text} ({'same' if self.same_results else 'changes'} results)"


@dataclass(frozen=True, slots=True)
class EngineState:
    """What one operator of the engine keeps, of one of its ``side``s where it has two.

    ``lifetime`` is how many microseconds of event time it holds rows of, each as often as it is in a window; ``rows``
    about how many that are at the catalog's rates, ``formula`` the same in words. ``why`` says why rows do not go.
    """

    operator: str
    kept: Kept
    by: GoesBy
    span: Span
    side: str = ""
    source: str = ""
    lifetime: Micros | None = None
    rows: int | None = None
    formula: str = ""
    why: str = ""
    fix: EngineFix | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SilentDrop:
    """Results that the engine never gives, and does not count: ``certain`` for rows in order, else for late ones."""

    message: str
    span: Span
    fix: EngineFix | None = None
    certain: bool = True


class Phase(StrEnum):
    """When an engine refuses a query."""

    ANALYSIS = "analysis"
    START = "start"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the engine does not run, ``when`` it says so, and by which ``error``."""

    when: Phase
    why: str
    span: Span
    error: str = ""
    fix: EngineFix | None = None


@dataclass(frozen=True, slots=True)
class EngineReading:
    """What a model says of a query; ``unread`` says why it says nothing."""

    engine: Engine
    states: tuple[EngineState, ...] = ()
    drops: tuple[SilentDrop, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    unread: str = ""

    @property
    def kept(self) -> Kept | None:
        """The worst of its states; None where nothing is kept."""
        order = list(Kept)
        return max((state.kept for state in self.states), key=order.index, default=None)


def length_text(length: Micros) -> str:
    """A length of time in its largest whole unit.

    >>> length_text(3_600_000_000), length_text(-61_000_000)
    ('1 hour', '-61 seconds')
    """
    size = abs(length)
    units = ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
    unit = next((one for one in units if size % UNITS[one] == 0), "MICROSECOND") if size else "SECOND"
    number = length // UNITS[unit]
    return f"{number} {unit.lower()}{'' if abs(number) == 1 else 's'}"
