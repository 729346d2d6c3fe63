"""Random orders of arrival: with any contract nothing comes late, and rows come out of order as far as it allows.

What is late is asked of the naive model in `support.arrivals`, which shares no code with the package.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from streambound.synopsis_exec.micro_batches import arriving, cut, in_order
from support.arrivals import MARK, QUERIES, Event, Mark, Model, contract, parts
from support.arrivals import arriving as recorded
from support.choices import Choices
from support.plans import plan_of
from support.profiles import MORE

COLUMNS = {"a": "bigint", "b": "bigint", "kind": "bigint", "low": "bigint", "part": "bigint", "ts": "bigint"}


def line(event: Event) -> bytes:
    row: dict[str, Any] = event.row or {}
    if event.mark is not None:
        row = {"kind": 1, "low": event.mark.low, "part": 5 + event.part, "ts": event.mark.high}
    return json.dumps(row).encode()


def event(name: str, text: bytes, body: dict[str, Any]) -> Event:
    row = json.loads(text)
    part = row["part"] - 5 if "partitions" in body else 0
    if "punctuation" in body and row["kind"] == 1:
        return Event(name, part, mark=Mark(row["low"], row["ts"]))
    return Event(name, part, row=row)


def cases(seed: int) -> tuple[Any, dict[str, Any], dict[str, list[bytes]]]:
    """A plan, its streams' contracts, and lines that keep them."""
    choices = Choices.seeded(seed)
    bodies = {name: contract(choices, idle=True) for name in "ST"}
    plan = plan_of(QUERIES[0], {"streams": bodies})
    lines: dict[str, list[bytes]] = {}
    for stream in plan.streams:
        body = bodies[stream.name]
        events = [e for part in range(parts(body)) for e in recorded(choices, stream.name, part, body, within=True)]
        lines[stream.name] = in_order(stream, [line(e) for e in events])
    return plan, bodies, lines


def test_nothing_is_late_whatever_the_contract() -> None:
    seen: Counter[str] = Counter()
    for seed in range(50 * MORE):
        plan, bodies, lines = cases(seed)
        pieces = cut(Random(seed), plan.streams, lines, 5)
        assert {n: Counter(t for piece in mine for t in piece) for n, mine in pieces.items()} == {
            name: Counter(mine) for name, mine in lines.items()
        }
        model = Model({"streams": bodies}, [stream.name for stream in plan.streams])
        for batch in range(5):
            events = [
                event(n, text, bodies[n]) for n, mine in pieces.items() for text in (mine[batch : batch + 1] or [[]])[0]
            ]
            complete = model.complete
            for e in events:
                assert e.row is None or complete is None or e.row["ts"] >= complete, (seed, e)
            model.take(events)
            seen["closed"] += model.complete is not None
        for name, mine in pieces.items():
            ends = [[e.row["ts"] for t in piece if (e := event(name, t, bodies[name])).row] for piece in mine]
            across = sum(min(b) < max(a) for a, b in pairwise(ends) if a and b)
            body = bodies[name]
            seen["late"] += bool(across and body.get("lateness") and "partitions" not in body)
            seen["parts"] += bool(across and "partitions" in body)
            seen["none"] += bool(across and body.get("order") == "none")
            seen["marked"] += bool(across and "punctuation" in body)
            strict = not {"lateness", "punctuation", "partitions"} & set(body) and body.get("order") != "none"
            assert not (strict and across)
    assert min(seen[kind] for kind in ("late", "parts", "none", "marked")) > 1, seen
    assert seen["closed"] > 50


@pytest.mark.parametrize(
    ("body", "farthest"),
    [({}, 0), ({"lateness": 3}, 3), ({"lateness": 10**6}, 99), ({"order": "none"}, 99)],
)
def test_how_far_rows_come_behind_newer_ones(body: dict[str, Any], farthest: int) -> None:
    plan = plan_of("SELECT S.a FROM S", {"streams": {"S": {"timestamp": "ts", "columns": COLUMNS, **body}}})
    row = dict.fromkeys(COLUMNS, 1)
    lines = [json.dumps({**row, "ts": ts}).encode() for ts in range(100)]
    times = [json.loads(text)["ts"] for text in arriving(Random(1), plan.streams[0], lines)]
    behind = max(max(times[:place], default=0) - ts for place, ts in enumerate(times))
    assert sorted(times) == list(range(100))
    assert farthest - 5 < behind <= farthest


def test_no_row_passes_a_punctuation_and_bad_lines_stay() -> None:
    body = {"timestamp": "ts", "columns": COLUMNS, "punctuation": MARK}
    plan = plan_of("SELECT S.a FROM S", {"streams": {"S": body}})
    row = {**dict.fromkeys(COLUMNS, 7), "low": None}
    before, after = ([json.dumps({**row, "ts": ts}).encode() for ts in times] for times in (range(20), range(20, 40)))
    mark = json.dumps({"kind": 1, "low": None, "ts": 19}).encode()
    found = arriving(Random(5), plan.streams[0], [*before, mark, *after, b"bad"])
    assert found[20] == mark
    assert (sorted(found[:20]), sorted({*found[21:]} - {b"bad"})) == (sorted(before), sorted(after))
    assert found[:20] != before and [text for text in found[21:] if text != b"bad"] != after
    assert found[found.index(b"bad") - 1] != mark or found.index(b"bad") > 20


def test_an_idle_stream_keeps_up() -> None:
    """The other stream is read at once, so that all rows but the newest of this one have to be, too."""
    catalog = {"streams": {n: {"timestamp": "ts", "columns": COLUMNS} for n in "ST"}}
    catalog["streams"]["T"]["idle_after"] = 10
    plan = plan_of("SELECT S.a FROM S, T WHERE S.ts > T.ts", catalog)
    row = dict.fromkeys(COLUMNS, 1)
    lines = [json.dumps({**row, "ts": ts}).encode() for ts in range(100)]
    seen = set()
    for seed in range(20):
        pieces = cut(Random(seed), plan.streams, {"S": lines, "T": lines}, 2)
        if len(pieces["S"]) == 1 and len(pieces["T"]) == 2:
            seen.add(min((json.loads(text)["ts"] for text in pieces["T"][1]), default=100))
    assert seen and min(seen) == 89
