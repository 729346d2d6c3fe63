"""Rows and punctuations as they arrive, batch by batch, and a naive model of which timestamps they close.

The model asks, timestamp by timestamp, whether every input has promised that no more rows come; it shares no code with
the package `punctuation` or the runtime.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from support.choices import Choices

QUERIES = (
    "SELECT S.a, T.b FROM S, T WHERE S.ts < T.ts AND S.a = 1 AND T.b BETWEEN 0 AND 3",
    "SELECT S.a FROM S, T, U WHERE S.a BETWEEN 0 AND 2 AND S.a = T.a AND T.ts >= S.ts AND U.ts > T.ts AND U.b < 2",
    "SELECT DISTINCT S.b FROM S, T WHERE S.ts <= T.ts AND S.b BETWEEN 0 AND 3 AND T.a = 2",
    "SELECT S.a, U.a AS c FROM S, U WHERE S.ts <= U.ts AND U.ts <= S.ts + 3",
    "SELECT S.a FROM S WHERE S.b > 0 UNION ALL SELECT T.a FROM T",
    "SELECT T.b FROM S, T WHERE S.ts = T.ts",
)
COLUMNS = {"a": "bigint", "b": "bigint", "kind": "bigint", "low": "bigint", "part": "bigint", "ts": "bigint"}
MARK = {"column": "kind", "value": 1, "since": "low"}
HORIZON = range(-30, 60)

Input = tuple[str, int]


@dataclass(frozen=True)
class Mark:
    """A punctuation: no more rows from ``low`` (None: the first timestamp) to ``high``."""

    low: int | None
    high: int

    def ends(self, ts: int) -> bool:
        return (self.low is None or self.low <= ts) and ts <= self.high


@dataclass(frozen=True)
class Event:
    """A row or a punctuation of an input."""

    source: str
    part: int
    row: dict[str, Any] | None = None
    mark: Mark | None = None


@dataclass(frozen=True)
class Case:
    """A query, how its streams arrive, and batches of what arrives; the job is restarted before some of them."""

    sql: str
    catalog: dict[str, Any]
    batches: tuple[tuple[Event, ...], ...]
    restarts: frozenset[int]

    @property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in self.catalog["streams"]}
        for event in (event for batch in self.batches for event in batch):
            if event.row is not None:
                found[event.source].append(event.row)
        return found


# --- cases --------------------------------------------------------------------------------------------------------


def contract(choices: Choices, idle: bool) -> dict[str, Any]:
    """The order that a stream declares."""
    body: dict[str, Any] = {"timestamp": "ts", "columns": COLUMNS}
    kind = choices.pick(["strict", "late", "marked", "marked and late", "none"])
    if kind in ("late", "marked and late"):
        body["lateness"] = choices.integer(0, 4)
    if kind.startswith("marked"):
        body["punctuation"] = MARK
    if kind == "none":
        body["order"] = "none"
    if choices.chance(35):
        body["partitions"] = {"column": "part", "values": [5, 6, 7][: choices.integer(2, 3)]}
    if idle and choices.chance(60):
        body["idle_after"] = choices.integer(0, 5)
    return body


def parts(body: dict[str, Any]) -> int:
    return len(body["partitions"]["values"]) if "partitions" in body else 1


def lateness(body: dict[str, Any]) -> int | None:
    """The catalog's defaults: in order unless there are punctuations or order = "none"."""
    return body.get("lateness", None if "punctuation" in body or body.get("order") == "none" else 0)


def arriving(choices: Choices, name: str, part: int, body: dict[str, Any], within: bool) -> list[Event]:
    """What an input brings, in its order of arrival; ``within`` its contract, or in any order."""
    times = sorted(choices.integer(0, 12) for _ in range(choices.integer(0, 7)))
    late = lateness(body)
    noise = 30 if late is None or not within else late
    times = [ts for _, _, ts in sorted((ts + choices.integer(0, noise), n, ts) for n, ts in enumerate(times))]
    events = []
    for number, ts in enumerate(times):
        if "punctuation" in body and choices.chance(50):
            mark = punctuation(choices, times[number:] if within else [])
            events += [Event(name, part, mark=mark)] if mark else []
        small = {"a": choices.integer(0, 3), "b": choices.integer(0, 3), "kind": None, "low": None}
        events.append(Event(name, part, row={**small, "part": 5 + part, "ts": ts}))
    if "punctuation" in body and choices.chance(30):
        events.append(Event(name, part, mark=Mark(None, choices.integer(0, 20))))
    return events


def punctuation(choices: Choices, later: list[int]) -> Mark | None:
    """A punctuation that no later row contradicts."""
    high = min(later, default=30) - 1 if choices.chance(50) else choices.integer(0, 14)
    mark = Mark(choices.integer(1, 12) if choices.chance(50) else None, high)
    return None if any(mark.ends(ts) for ts in later) or high < 0 else mark


def make_case(choices: Choices, within: bool = True) -> Case:
    """Streams at different speeds, in batches of any size."""
    sql = choices.pick(QUERIES)
    catalog = {"streams": {name: contract(choices, idle=not within) for name in "STU"}}
    queues = [
        arriving(choices, name, part, body, within)
        for name, body in catalog["streams"].items()
        if f"{name}." in sql
        for part in range(parts(body))
    ]
    batches: list[list[Event]] = [[]]
    while queues := [queue for queue in queues if queue]:
        for _ in range(choices.integer(1, 4)):
            queue = choices.pick(queues)
            batches[-1] += [queue.pop(0)] if queue else []
        if choices.chance(40):
            batches.append([])
    shuffled = [[batch.pop(choices.integer(0, len(batch) - 1)) for _ in range(len(batch))] for batch in batches]
    restarts = frozenset(number for number in range(len(batches)) if choices.chance(15))
    return Case(sql, catalog, tuple(map(tuple, shuffled)), restarts)


# --- the naive model ----------------------------------------------------------------------------------------------


@dataclass
class Model:
    """What each input has said, and which timestamps are therefore closed."""

    catalog: dict[str, Any]
    names: list[str]
    largest: dict[Input, int] = field(default_factory=dict)
    marks: dict[Input, list[Mark]] = field(default_factory=dict)

    def inputs(self) -> list[Input]:
        return [(name, part) for name in self.names for part in range(parts(self.catalog["streams"][name]))]

    def take(self, batch: Iterable[Event]) -> None:
        for event in batch:
            key = event.source, event.part
            if event.mark is not None:
                self.marks.setdefault(key, []).append(event.mark)
            if event.row is not None:
                self.largest[key] = max(event.row["ts"], self.largest.get(key, -1))

    def ended(self, key: Input, ts: int) -> bool:
        body = self.catalog["streams"][key[0]]
        late, idle = lateness(body), body.get("idle_after")
        return (
            (late is not None and key in self.largest and ts < self.largest[key] - late)
            or any(mark.ends(ts) for mark in self.marks.get(key, ()))
            or (idle is not None and bool(self.largest) and ts < max(self.largest.values()) - idle)
        )

    @property
    def complete(self) -> int | None:
        """The first timestamp that is open; None when the first of all is."""
        first = next(ts for ts in HORIZON if not all(self.ended(key, ts) for key in self.inputs()))
        return None if first == HORIZON.start else first
