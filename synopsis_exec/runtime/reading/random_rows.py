"""Rows of a relation that are random variables: with the key or the fact of another row they are bad.

A stream's rows are judged by `operators.valid_together`; a relation's have no order, so of a conflict all are bad.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from streambound_runtime.operators.values import integer
from streambound_runtime.promises import PeriodContract
from streambound_runtime.row_values import Row, Value


def conflicts(period: PeriodContract, rows: Sequence[Row]) -> dict[int, str]:
    """The reasons why some rows are bad, by their places: a key that others share, else a fact that is valid twice."""
    often = Counter(row[period.variable] for row in rows)
    found = {place: "key" for place, row in enumerate(rows) if often[row[period.variable]] > 1}
    facts: dict[tuple[Value, ...], list[tuple[int, int, int]]] = defaultdict(list)
    for place, row in enumerate(rows):
        if place not in found:
            span = integer(row[period.begin]), integer(row[period.end])
            facts[tuple(row[name] for name in period.fact)].append((*span, place))
    for spans in facts.values():
        spans.sort()
        found |= dict.fromkeys(_overlapping(spans), "overlapping-fact")
    return found


def _overlapping(spans: Sequence[tuple[int, int, int]]) -> list[int]:
    """The places of those that have a time in common with another, where they are in order."""
    ends, latest = list[int](), spans[0][0]
    for _, end, _ in spans:
        ends.append(latest)
        latest = max(latest, end)
    following = [begin for begin, _, _ in spans[1:]]
    return [
        place
        for number, (begin, end, place) in enumerate(spans)
        if ends[number] > begin or (number < len(following) and following[number] < end)
    ]
