"""The symbols of a size for the streams that are sent: rates, rows of relations, greatest and least values."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from streambound.analyzer.symbols import symbol
from streambound.criteria.size import Size
from streambound.synopsis_exec.ended_rows import is_punctuation
from streambound.synopsis_exec.plan_ir import JobPlan

_LAST = 100
"""Rows of each stream that are kept: some of them a query uses."""


class CountedRows:
    """Counts the tuples of each timestamp while they pass: the rates that M may depend on.

    ``latest`` is the last timestamp of any of them, ``last_rows`` are the last ones of each stream. ``brought`` are two
    rows of each finite stream: the least and the greatest values that it brings. Punctuations of keys do not count.
    """

    def __init__(self, plan: JobPlan) -> None:
        self.times = {stream.name: str(stream.timestamp) for stream in plan.streams}
        self.ending = {stream.name: stream for stream in plan.streams if stream.ends_keys}
        self.latest = 0
        self.last_rows = {name: deque[dict[str, Any]](maxlen=_LAST) for name in self.times}
        self.rates = dict.fromkeys(self.times, 0)
        self.ends = plan.ends
        self.brought: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {name: ({}, {}) for name in self.ends}

    def pass_on(self, rows: Iterator[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The rows as they are; a stream's come in order of time."""
        last: dict[str, int | None] = dict.fromkeys(self.times)
        same: Counter[str] = Counter()
        for name, row in rows:
            if name in self.ending and is_punctuation(self.ending[name], row):
                yield name, row
                continue
            now = row[self.times[name]]
            same[name] = same[name] + 1 if now == last[name] else 1
            last[name] = self.latest = now
            self.last_rows[name].append(row)
            self.rates[name] = max(self.rates[name], same[name])
            if name in self.ends and now <= self.ends[name]:
                for extreme, best in zip(self.brought[name], (min, max), strict=True):
                    extreme |= {k: best(v, extreme.get(k, v)) for k, v in row.items() if isinstance(v, int)}
            yield name, row


Brought = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows of relations, or of streams until they end."""


def sizes(plan: JobPlan, size: Size, relations: Brought, rates: Mapping[str, int], streams: Brought) -> dict[str, int]:
    """The symbols of a size for some streams and relations; where there are no values an extreme is 0.

    ``streams`` are tuples that finite streams brought until their ends, those with extreme values among them.
    """
    known = {symbol("c", name): rate for name, rate in rates.items()}
    known |= {symbol("rate", s.name): s.max_rate.rows for s in plan.streams if s.max_rate is not None}
    known |= {symbol("rows", relation.name): len(relations.get(relation.name, ())) for relation in plan.relations}
    for item in plan.inputs:
        rows = relations.get(item.name, streams.get(item.name, ()))
        for column in (*item.declared, *item.derived):
            values = [row[column.name] for row in rows if isinstance(row.get(column.name), int)]
            known[symbol("min", item.name, column.name)] = min(values, default=0)
            known[symbol("max", item.name, column.name)] = max(values, default=0)
    return {name: number for name, number in known.items() if name in size.symbols}
