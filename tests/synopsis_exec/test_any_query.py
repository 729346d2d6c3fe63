"""Random queries × streams × disorder × batches × a restart, without Spark: each prefix of the output is what SQL says.

The job is whole but for what Spark does with a batch before the job sees it; its state goes through the checkpoint.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import assume, given
from synopsis_exec.test_closing import Fed

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError
from streambound.criteria.vocabulary import Verdict
from streambound.synopsis_exec.codegen import job_text
from streambound.synopsis_exec.plan import make_plan
from support.arrivals import Event
from support.choices import Choices, drawn
from support.encoding import encode, encode_rows
from support.kernel import loaded
from support.oracle import Oracle
from support.product import decided
from support.profiles import examples
from support.queries import Features, make_statement
from support.streams import Rows, small_rows

SECOND = 1_000_000


@dataclass(frozen=True)
class Case:
    """A statement, its catalog with each stream's lateness, rows, and in which order they arrive, batch by batch."""

    sql: str
    catalog: dict[str, Any]
    lateness: dict[str, int]
    rows: Rows
    batches: tuple[tuple[Event, ...], ...]
    restart: int


def make_case(choices: Choices) -> Case:
    statement = make_statement(choices, Features())
    catalog = statement.catalog
    rows, lateness = small_rows(choices, catalog), {}
    arriving: dict[str, list[Event]] = {}
    for name, body in catalog["streams"].items():
        moments = body["columns"]["ts"] == "timestamp"
        late = choices.integer(0, 4) if choices.chance(70) else 0
        body["lateness"] = f"{late} seconds" if moments else late
        lateness[name] = late * (SECOND if moments else 1)
        encoded = encode_rows(catalog, rows)[name]
        delays = [choices.integer(0, late) * (SECOND if moments else 1) for _ in encoded]
        order = sorted(range(len(encoded)), key=lambda n, d=delays, e=encoded: (e[n]["ts"] + d[n], n))  # type: ignore[misc]
        arriving[name] = [Event(name, 0, row=encoded[place]) for place in order]
    number = choices.integer(1, 5)
    batches: list[list[Event]] = [[] for _ in range(number)]
    for events in arriving.values():
        cuts = sorted(choices.integer(0, len(events)) for _ in range(number - 1))
        for batch, start, end in zip(batches, [0, *cuts], [*cuts, len(events)], strict=True):
            batch += events[start:end]
    shuffled = [[batch.pop(choices.integer(0, len(batch) - 1)) for _ in range(len(batch))] for batch in batches]
    return Case(statement.sql, catalog, lateness, rows, tuple(map(tuple, shuffled)), choices.integer(0, number - 1))


class FedQuery(Fed):
    """A job of any query, fed with events."""

    def __init__(self, job: Any, relations: Rows, folder: Path) -> None:
        self.job = job
        job.relation_rows = lambda spark, source, options: ([dict(row) for row in relations[source.name]], [])
        self.numbers = {source.name: number for number, source in enumerate(job.STREAMS)}
        self.options = job.arguments(["--checkpoint", str(folder), "--output", str(folder / "out.jsonl")])
        self.reports = []
        self.start()


def complete(case: Case, names: list[str], seen: list[Event]) -> int | None:
    """The first timestamp that may still get rows, by what lateness means; None where a stream is yet to come."""
    largest = {name: [e.row["ts"] for e in seen if e.source == name and e.row is not None] for name in names}
    if not all(largest.values()):
        return None
    return min(max(times) - case.lateness[name] for name, times in largest.items())


def printed(kinds: list[str], clock: str, files: list[Path]) -> dict[int, Counter[tuple[Any, ...]]]:
    found: dict[int, Counter[tuple[Any, ...]]] = {}
    for line in (line for file in files for line in file.read_text().splitlines()):
        *values, ts, n = json.loads(line, parse_float=Decimal).values()
        row = tuple(encode(value, kind) for value, kind in zip(values, kinds, strict=True))
        found.setdefault(encode(ts, clock), Counter())[row] += n
    return found


def check(case: Case) -> Counter[str] | None:
    """None for a query that does not run; else what was seen."""
    decision = decided(case.sql, case.catalog)
    if decision.verdict is not Verdict.BOUNDED:
        return None
    try:
        plan = make_plan(decision, catalog_from_mapping(case.catalog))
        job = loaded(job_text(plan))
    except NotExecutableError:
        return None
    seen: Counter[str] = Counter()
    whole = {ts: n for ts, n in Oracle(case.catalog, case.rows).prefix_expected(case.sql).items() if n}
    kinds, clock = [column.type.name for column in plan.columns], plan.time_type.name
    relations = encode_rows(case.catalog, {name: case.rows[name] for name in case.catalog["relations"]})
    with TemporaryDirectory() as name:
        fed, arrived = FedQuery(job, relations, Path(name)), list[Event]()
        for number, batch in enumerate(case.batches):
            if number == case.restart:
                fed.start()
            mine = tuple(event for event in batch if event.source in fed.numbers)
            fed.running.on_batch(mine, number)
            commit = Path(name) / "spark" / "commits" / str(number)  # as Spark does after a batch
            commit.parent.mkdir(parents=True, exist_ok=True)
            commit.touch()
            arrived += mine
            until = complete(case, list(fed.numbers), arrived)
            now = printed(kinds, clock, sorted((Path(name) / "results").glob("[0-9]*.jsonl")))
            assert now == {ts: n for ts, n in whole.items() if until is not None and ts < until}
            seen["printed before the end"] += bool(now)
        summary = fed.running.finish()
        assert printed(kinds, clock, [Path(fed.options.output)]) == whole
        assert (summary["quarantined"], summary["limit"] is None or summary["peak"] <= summary["limit"]) == ({}, True)
        seen["printed"] += bool(whole)
        seen["restarted with something"] += bool(arrived and case.restart and any(case.batches[: case.restart]))
        order = {s: [e.row["ts"] for e in arrived if e.source == s and e.row is not None] for s in fed.numbers}
        seen["out of order"] += any(times != sorted(times) for times in order.values())
    return seen


@examples(50)
@given(drawn(make_case))
def test_any_query_in_any_order_in_any_batches_with_a_restart(case: Case) -> None:
    assume(check(case) is not None)


def test_a_fixed_sample_prints_early_restarts_and_is_out_of_order() -> None:
    """So that the property above cannot become true of nothing."""
    total: Counter[str] = Counter()
    for seed in range(40):
        seen = check(make_case(Choices.seeded(seed)))
        total.update({what: bool(n) for what, n in (seen or {}).items()})
    assert min(total[what] for what in ("printed", "restarted with something", "out of order")) > 6, total
    assert total["printed before the end"] > 3, total
