"""A running Flink job against what was proved of its query: alerts, by what its REST API says.

Flink tells bytes of checkpoints, not rows. While nothing is wrong, a task that forgets keeps as many bytes for each row
that came within the time that rows stay; when it keeps more, they stay for longer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct, field

from streambound.analyzer.byte_sizes import bytes_text
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.durations import length_text
from streambound.analyzer.engine_profiles import Micros
from streambound.criteria.engines.profile import EngineReading, EngineState, StateClass
from streambound.gate.running_query import MUCH, Alert, AlertKind, WatchedQuery, operators, state_place
from streambound.synopsis_exec.flink_progress import JobProgress, JobTask

_CALIBRATED = 3
"""Reports by which the bytes of a row are measured, after the first rows should have gone."""
_MORE = 1.05
"""How much more than what was measured there may be, for rows are not all alike."""
_MOST_REPORTS = 2000
_KEEPING = re.compile(
    r"\b(?:Global|Group(?=Window)|Temporal(?=Sort))?"
    r"((?:Interval|Window|Temporal|Multi)?Join|(?:Window|Group|Over)Aggregate|(?:Window)?(?:Deduplicate|Rank)"
    r"|Sort|SortLimit|Limit|ChangelogNormalize|Match)\b"
)
"""Operators of Flink that keep something, by their names in a task's: what is `Local` keeps it only for a moment."""


class _TaskRows(Struct):
    """The history of a task: its watermark and rows at each report, and the numbers of young rows with their times."""

    seen: list[tuple[Micros, int]] = field(default_factory=list)
    young: list[tuple[int, float]] = field(default_factory=list)
    of_row: list[float] = field(default_factory=list)
    most: float = 0
    """The most rows that were young while the bytes of one were measured."""
    first: int = 0
    """The bytes of the first checkpoint: what a task takes without its keys, and perhaps some of them."""

    def take(self, watermark: Micros, rows: int, lifetime: Micros, now: int) -> float | None:
        """How many rows came since the watermark was behind by a lifetime; None while that is not known."""
        self.seen.append((watermark, rows))
        while len(self.seen) > 2 and (self.seen[1][0] <= watermark - lifetime or len(self.seen) > _MOST_REPORTS):
            del self.seen[0]
        (low, before), (high, after) = self.seen[:2] if len(self.seen) > 1 else self.seen * 2
        if low > watermark - lifetime:
            return None
        part = 1 if high == low else min(1, (watermark - lifetime - low) / (high - low))
        self.young.append((now, rows - before - part * (after - before)))
        return self.young[-1][1]

    def since(self, moment: int) -> float:
        """The most rows that were young at once from a moment on, or at the report before it."""
        while len(self.young) > 1 and self.young[1][0] <= moment:
            del self.young[0]
        return max(rows for _, rows in self.young)


class _Source(Struct):
    """The history of a source: its watermarks, and its rows at the last report with each.

    ``since`` is when the last watermark was first seen, ``first`` the rows then.
    """

    seen: list[tuple[Micros, int]] = field(default_factory=list)
    since: int = 0
    first: int = 0

    def take(self, task: JobTask, now: int) -> tuple[int, int]:
        """For how many milliseconds the watermark has stood still, and the rows that came, up to the report before."""
        came = 0
        if self.seen and self.seen[-1][0] == task.watermark:
            came = self.seen.pop()[1] - self.first
        else:
            self.since, self.first = now, task.rows
        self.seen = [*self.seen[-_MOST_REPORTS:], (task.watermark or 0, task.rows)]
        return now - self.since, came


class RunningJob(WatchedQuery):
    """A job that is watched; an alert is given when it begins, not again while it lasts."""

    job: str = ""
    tasks: dict[int, _TaskRows] = field(default_factory=dict)
    sources: dict[int, _Source] = field(default_factory=dict)
    rows: int = 0
    late: int | None = None

    def take(self, progress: JobProgress) -> list[Alert]:
        """The alerts that begin at a report."""
        rows = sum(one.rows for one in progress.tasks)
        if progress.job != self.job or rows < self.rows:  # it was started again, and counts from nothing
            self.tasks.clear()
            self.sources.clear()
            self.lasting.clear()
            self.late = None
        self.job, self.rows = progress.job, rows
        reading = self.reading(0)
        if reading is None or reading.unread:
            return []
        return self.begun([Alert(progress.checkpoint, *one) for one in self._alerts(progress, reading)])

    def _alerts(self, progress: JobProgress, reading: EngineReading) -> Iterator[tuple[AlertKind, str, str]]:
        stuck = list(self._stuck(progress, reading))
        yield from stuck
        yield from self._of_states(progress, reading)
        if not stuck:
            yield from self._rates(progress, reading.delay)
        late, before = sum(one.late for one in progress.tasks), self.late
        self.late = late
        if before is not None and late > before:
            rows = f"{late - before:,} {'row' if late - before == 1 else 'rows'}"
            delay = length_text(reading.delay)
            yield AlertKind.LATE, "the job", f"{rows} came more than the delay of {delay} late, and are in no result"

    # --- watermarks ---------------------------------------------------------------------------------------------------

    def _stuck(self, progress: JobProgress, reading: EngineReading) -> Iterator[tuple[AlertKind, str, str]]:
        """A source's watermark that is behind that of another at the report before, or stands though rows come."""
        longest = max((one.lifetime or 0 for one in reading.states if one.kept is StateClass.WINDOW), default=0)
        before = [one.seen[-1][0] for one in self.sources.values() if one.seen]
        for number, (task, stream) in enumerate(self._sources(progress)):
            found = self.sources.setdefault(number, _Source())
            if task.watermark is None:
                continue
            stood, came = found.take(task, progress.now)
            rate = None if stream is None else stream.max_rate
            part, behind = longest // MUCH, max(before, default=task.watermark) - task.watermark
            name = "the watermark" if stream is None else f"the watermark of {stream.name}"
            if not longest:
                continue
            if behind > part:
                message = f"it is {length_text(behind)} behind that of another stream: rows stay for "
                yield (
                    AlertKind.WATERMARK,
                    name,
                    message + f"{length_text(longest + behind)}, not for {length_text(longest)}",
                )
            elif came > 0 and (stood * 1000 > part or (rate is not None and came > rate.most(part))):
                message = f"it stands still, though {came:,} rows have come: nothing goes"
                yield AlertKind.WATERMARK, name, message

    def _sources(self, progress: JobProgress) -> list[tuple[JobTask, DeclaredTable | None]]:
        return [(task, self.stream_of(task.name.partition(" -> ")[0])) for task in progress.tasks if task.source]

    # --- states -------------------------------------------------------------------------------------------------------

    def _of_states(self, progress: JobProgress, reading: EngineReading) -> Iterator[tuple[AlertKind, str, str]]:
        """The alerts on the states of tasks, each with the model's operators that it runs, in their order."""
        wanted = operators(reading)
        names = [states[0].operator.title().replace(" ", "") for states in wanted]
        own = [_KEEPING.findall(task.name) for task in progress.tasks]
        if sorted(name for found in own for name in found) != sorted(names):
            running = " and ".join(name for found in own for name in found) or "nothing that keeps rows"
            message = (
                f"it has {running}, and {self.checked.statement.name} {' and '.join(names) or 'nothing of the kind'}"
            )
            yield AlertKind.PLAN, "the job", f"{message}: is it the same query?"
            return
        left = list(zip(names, wanted, strict=True))
        for number, (task, found) in enumerate(zip(progress.tasks, own, strict=True)):
            states = list[EngineState]()
            for name in found:
                place = next(place for place, (one, _) in enumerate(left) if one == name)
                states += left.pop(place)[1]
            if states:
                yield from self._of_task(number, task, states, progress)

    def _of_task(
        self, number: int, task: JobTask, states: list[EngineState], progress: JobProgress
    ) -> Iterator[tuple[AlertKind, str, str]]:
        lifetimes, rows = [one.lifetime for one in states if one.lifetime], self.tasks.setdefault(number, _TaskRows())
        keys = [one.bytes for one in states if one.kept is StateClass.CONSTANT and one.bytes is not None]
        if len(keys) == len(states) and progress.checkpoint:
            rows.first = rows.first or task.bytes
            most = round(rows.first + sum(keys) * _MORE)
            if task.bytes > most:
                message = (
                    f"{bytes_text(task.bytes)} are kept, and {' and '.join(one.formula for one in states)} take at "
                )
                yield AlertKind.ROWS, state_place(states[0]), f"{message}most {bytes_text(most)}"
        if len(lifetimes) < len(states) or task.watermark is None or not progress.checkpoint:
            return  # it grows, goes by the clock, or has finitely many keys
        lifetime = max(lifetimes)
        young = rows.take(task.watermark, task.rows, lifetime, progress.now)
        if not young:
            return
        if len(rows.of_row) < _CALIBRATED:
            rows.of_row.append(task.bytes / young)
            rows.most = max(rows.most, young)
            return
        came = max(rows.since(progress.triggered), rows.most)
        most = round(max(rows.of_row) * came * _MORE)
        if task.bytes > most:
            message = f"{bytes_text(task.bytes)} are kept, and the {round(came):,} rows that came within "
            message += f"{length_text(lifetime)} have taken at most {bytes_text(most)}: rows stay for longer"
            yield AlertKind.ROWS, state_place(states[0]), message

    # --- rates --------------------------------------------------------------------------------------------------------

    def _rates(self, progress: JobProgress, delay: Micros) -> Iterator[tuple[AlertKind, str, str]]:
        """The rows between two reports, whose times are later than the watermark before, and not after the one behind.

        The counters and the watermark of a report are not of the same moment.
        """
        for number, (_, stream) in enumerate(self._sources(progress)):
            seen = self.sources[number].seen
            rate = None if stream is None else stream.max_rate
            if stream is None or rate is None or len(seen) < _CALIBRATED:
                continue
            last, rows = seen[-1][0] + delay, seen[-2][1]
            for (first, _), (_, before) in pairwise(seen[:-2]):
                if rows - before > rate.most(last - first + 1):
                    message = f"{rows - before:,} rows came in at most {length_text(last - first)} of event time, "
                    yield AlertKind.RATE, stream.name, f"{message}more than {rate}"
                    break
