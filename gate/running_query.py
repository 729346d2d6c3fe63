"""A running query against what was proved of it: alerts, of one on Spark by its own progress reports.

After each micro-batch Spark says how many rows its operators keep, how many came, and where the watermark is. The model
of Spark says how many rows there can be while the watermark is as far behind the latest row as it was in that batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct, field

from streambound.analyzer.algebra.clock import scans
from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.durations import length_text
from streambound.analyzer.engine_profiles import EngineProfile, Micros
from streambound.criteria.check import Checked
from streambound.criteria.engines.profile import EngineReading, EngineState, GoesBy, StateClass
from streambound.criteria.engines.reported import read_behind
from streambound.synopsis_exec.spark_progress import CheckpointRows, Progress

MOST_BATCHES = 200
"""How many batches the rows of a stream are added up of."""
MUCH = 10
"""A watermark that is behind by more than such a part of the time that rows stay is stuck."""


class AlertKind(StrEnum):
    """The kinds of alerts."""

    ROWS = "rows kept"
    AGE = "age"
    RATE = "rate"
    WATERMARK = "watermark"
    LATE = "late rows"
    PLAN = "another query"


class Alert(Struct, frozen=True):
    """An alert in a batch, or at a checkpoint, about an operator or a stream, in words."""

    batch: int
    kind: AlertKind
    subject: str
    message: str


class _BroughtRows(Struct, frozen=True):
    """The rows of a source in a batch, and their event times."""

    low: Micros
    high: Micros
    rows: int


class WatchedQuery(Struct):
    """A query that runs on an engine; an alert is given when it begins, not again while it lasts."""

    checked: Checked
    catalog: Catalog
    profile: EngineProfile
    lasting: set[tuple[AlertKind, str]] = field(default_factory=set)

    def begun(self, found: list[Alert]) -> list[Alert]:
        """The alerts that were not there before."""
        started = [one for one in found if (one.kind, one.subject) not in self.lasting]
        self.lasting = {(one.kind, one.subject) for one in found}
        return started

    def reading(self, behind: Micros) -> EngineReading | None:
        """The model's states while the watermark lags ``behind`` its delay."""
        return read_behind(self.checked, self.catalog, self.profile, behind)

    @property
    def streams(self) -> list[DeclaredTable]:
        """The streams that the query reads."""
        tree = self.checked.tree
        tables = [self.catalog.table(scan.table) for scan in scans(tree)] if tree is not None else []
        return [table for table in dict.fromkeys(tables) if table is not None and table.timestamp is not None]

    def stream_of(self, description: str) -> DeclaredTable | None:
        """The stream that a source brings: the last one that its description names, or the only one."""
        words = [word.lower() for word in re.findall(r"\w+", description)][::-1]
        named = {stream.name.lower(): stream for stream in self.streams}
        only = self.streams[0] if len(self.streams) == 1 else None
        return next((named[word] for word in words if word in named), only)


class RunningQuery(WatchedQuery):
    """A query on Spark, whose progress is watched."""

    run: str = ""
    latest: Micros | None = None
    arrived: dict[int, list[_BroughtRows]] = field(default_factory=dict)

    def take(self, progress: Progress) -> list[Alert]:
        """The alerts that begin in a batch."""
        if progress.runId != self.run:
            self.run, self.latest = progress.runId, None
            self.arrived.clear()
            self.lasting.clear()
        return self.begun(list(self._alerts(progress)))

    def _alerts(self, progress: Progress) -> Iterator[Alert]:
        reading = self.reading(0)
        if reading is None or reading.unread:
            return
        before, high = self.latest, progress.time("max")
        self.latest = max((time for time in (before, high) if time is not None), default=None)
        yield from self._stuck(progress, reading, before)
        yield from self._of_states(progress, reading)
        yield from self._rates(progress, reading)

    # --- the watermark ------------------------------------------------------------------------------------------------

    def _stuck(self, progress: Progress, reading: EngineReading, before: Micros | None) -> Iterator[Alert]:
        """Where the watermark is not that of the rows of earlier batches, rows stay for longer than was said."""
        watermark = progress.time("watermark")
        longest = max((one.lifetime or 0 for one in reading.states if one.kept is StateClass.WINDOW), default=0)
        if before is None or watermark is None or not longest:
            return
        behind = before - reading.delay - watermark
        if behind * MUCH > longest:
            told = progress.eventTime["watermark"]
            message = f"it stands at {told}, and by the rows of earlier batches could be {length_text(behind)} later: "
            message += f"rows stay for {length_text(longest + behind)}, not for {length_text(longest)}"
            yield Alert(progress.batchId, AlertKind.WATERMARK, "the watermark", message)

    # --- states -------------------------------------------------------------------------------------------------------

    def _of_states(self, progress: Progress, reading: EngineReading) -> Iterator[Alert]:
        """The operators that keep rows, the one whose rows the others read last, as Spark has it."""
        watermark = progress.time("watermark")
        behind = None
        if watermark is not None and self.latest is not None:
            behind = max(0, self.latest - watermark - reading.delay)
        now = reading if behind is None else self.reading(behind) or reading
        of_model = operators(now)[::-1]
        if len(of_model) != len(progress.stateOperators):
            yield self._another(progress.batchId, len(of_model), len(progress.stateOperators))
            return
        for states, found in zip(of_model, progress.stateOperators, strict=True):
            name = state_place(states[0])
            limits = [self._most(one, behind) for one in states]
            known = [one for one in limits if one is not None]
            if len(known) == len(limits) and found.numRowsTotal > sum(known):
                kept = " and ".join(dict.fromkeys(one.formula for one in states))
                message = f"{found.numRowsTotal:,} rows are kept, and at most {sum(known):,} were to be: {kept}"
                yield Alert(progress.batchId, AlertKind.ROWS, name, message)
            if found.numRowsDroppedByWatermark:
                number = found.numRowsDroppedByWatermark
                rows = f"{number:,} {'row' if number == 1 else 'rows'}"
                message = f"{rows} came more than the delay of {length_text(reading.delay)} late, and are in no result"
                yield Alert(progress.batchId, AlertKind.LATE, name, message)

    def _most(self, state: EngineState, behind: Micros | None) -> int | None:
        """The most rows of a state; None where it grows, or no rate is declared."""
        if state.kept is StateClass.GROWS or state.rows is None:
            return None
        if state.kept is StateClass.CONSTANT:
            return state.rows
        bursts = [table.max_rate.rows for table in self.streams if table.max_rate is not None]
        return None if behind is None else state.rows + (state.unit or max(bursts, default=0))

    def aged(self, checkpoint: CheckpointRows) -> list[Alert]:
        """The rows in the state of a checkpoint that should have gone by its watermark."""
        reading = self.reading(0)
        if reading is None or reading.unread:
            return []
        of_model, batch = operators(reading)[::-1], checkpoint.batch
        if len(of_model) != checkpoint.operators:
            return [self._another(batch, len(of_model), checkpoint.operators)]
        names = {stream.timestamp for stream in self.streams if stream.timestamp is not None}
        reach = {id(one): max(0, (one.lifetime or 0) - reading.delay) for one in reading.states}
        lag = max((reach[id(one)] for one in reading.states if one.by is GoesBy.VALUE), default=0)
        found = list[Alert]()
        for number, states in enumerate(of_model):
            for state in states:
                limits = checkpoint.watermark - reach[id(state)], checkpoint.watermark - lag
                gone = state.kept is StateClass.WINDOW and state.lifetime is not None
                old = checkpoint.old(number, state.side, limits, names) if gone else None
                if old is not None and old.number:
                    rows = f"{old.number:,} {'row is' if old.number == 1 else 'rows are'}"
                    message = f"{rows} older than {length_text(state.lifetime or 0)}, as {old.oldest}"
                    found.append(Alert(batch, AlertKind.AGE, f"{state_place(state)} {state.side}".strip(), message))
        return found

    def _another(self, batch: int, of_model: int, running: int) -> Alert:
        name = self.checked.statement.name
        message = f"{running} of its operators keep rows, and {of_model} of {name}: is it the same query?"
        return Alert(batch, AlertKind.PLAN, "the query", message)

    # --- rates --------------------------------------------------------------------------------------------------------

    def _rates(self, progress: Progress, reading: EngineReading) -> Iterator[Alert]:
        """The rows that came in some last batches, by their event times, which are those of one source."""
        low, high = progress.time("min"), progress.time("max")
        if low is None or high is None:
            return
        apart = reading.delay if len(progress.sources) > 1 else 0
        for place, source in enumerate(progress.sources):
            stream = self.stream_of(source.description)
            rate = None if stream is None else stream.max_rate
            if stream is None or rate is None:
                continue
            batches = self.arrived.setdefault(place, [])
            batches.append(_BroughtRows(low, high, source.numInputRows))
            del batches[:-MOST_BATCHES]
            rows, first, last = 0, low, high
            for one in reversed(batches):
                rows, first, last = rows + one.rows, min(first, one.low), max(last, one.high)
                if rows > rate.most(last - first + 1 + apart):
                    message = f"{rows:,} rows came in {length_text(last - first + 1)} of event time, more than {rate}"
                    yield Alert(progress.batchId, AlertKind.RATE, stream.name, message)
                    break


def operators(reading: EngineReading) -> list[list[EngineState]]:
    """The states of each operator, in the order of the model: of a join both sides are one."""
    found = list[list[EngineState]]()
    for state in reading.states:
        if found and state.side == "right" and found[-1][-1].side == "left" and found[-1][-1].span == state.span:
            found[-1].append(state)
        else:
            found.append([state])
    return found


def state_place(state: EngineState) -> str:
    """``join (2:38)``."""
    return f"{state.operator} ({state.span.line}:{state.span.column})"
