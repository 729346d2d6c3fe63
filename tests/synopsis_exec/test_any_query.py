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

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError
from streambound.criteria.vocabulary import Verdict
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan import make_plan
from support.choices import Choices, drawn
from support.encoding import encode, encode_rows
from support.fed import Fed
from support.oracle import Oracle
from support.product import decided
from support.profiles import examples
from support.queries import Features, make_statement
from support.streams import Rows, small_rows

SECOND = 1_000_000


@dataclass(frozen=True)
class Case:
    """A statement, its catalog with each stream's lateness, rows, and in which order they arrive, batch by batch: each
    row by its stream and its place there.
    """

    sql: str
    catalog: dict[str, Any]
    lateness: dict[str, int]
    rows: Rows
    batches: tuple[tuple[tuple[str, int], ...], ...]
    restart: int


def make_case(choices: Choices) -> Case:
    statement = make_statement(choices, Features())
    catalog = statement.catalog
    rows, lateness = small_rows(choices, catalog), {}
    arriving: dict[str, list[tuple[str, int]]] = {}
    for name, body in catalog["streams"].items():
        moments = body["columns"]["ts"] == "timestamp"
        late = choices.integer(0, 4) if choices.chance(70) else 0
        body["lateness"] = f"{late} seconds" if moments else late
        lateness[name] = late * (SECOND if moments else 1)
        encoded = encode_rows(catalog, rows)[name]
        delays = [choices.integer(0, late) * (SECOND if moments else 1) for _ in encoded]
        order = sorted(range(len(encoded)), key=lambda n, d=delays, e=encoded: (e[n]["ts"] + d[n], n))  # type: ignore[misc]
        arriving[name] = [(name, place) for place in order]
    number = choices.integer(1, 5)
    batches: list[list[tuple[str, int]]] = [[] for _ in range(number)]
    for events in arriving.values():
        cuts = sorted(choices.integer(0, len(events)) for _ in range(number - 1))
        for batch, start, end in zip(batches, [0, *cuts], [*cuts, len(events)], strict=True):
            batch += events[start:end]
    shuffled = [[batch.pop(choices.integer(0, len(batch) - 1)) for _ in range(len(batch))] for batch in batches]
    return Case(statement.sql, catalog, lateness, rows, tuple(map(tuple, shuffled)), choices.integer(0, number - 1))


def complete(case: Case, names: list[str], times: dict[str, list[int]]) -> int | None:
    """The first timestamp that may still get rows, by what lateness means; None where a stream is yet to come."""
    if not all(times[name] for name in names):
        return None
    return min(max(times[name]) - case.lateness[name] for name in names)


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
    except NotExecutableError:
        return None
    seen: Counter[str] = Counter()
    whole = {ts: n for ts, n in Oracle(case.catalog, case.rows).prefix_expected(case.sql).items() if n}
    kinds, clock = [column.type.name for column in plan.columns], plan.time_type.name
    job = job_spec(plan, "driver")
    names = [stream.name for stream in job.streams]
    moments = {name: [row["ts"] for row in encode_rows(case.catalog, case.rows)[name]] for name in names}
    with TemporaryDirectory() as name:
        relations = {relation.name: case.rows[relation.name] for relation in job.relations}
        fed, arrived = Fed(job, Path(name), relations), {stream: list[int]() for stream in names}
        for number, batch in enumerate(case.batches):
            if number == case.restart:
                fed.start()
            mine = [(stream, place) for stream, place in batch if stream in names]
            lines = {s: [json.dumps(case.rows[s][place]) for other, place in mine if other == s] for s in names}
            fed.feed(lines, number)
            for stream, place in mine:
                arrived[stream].append(moments[stream][place])
            until = complete(case, names, arrived)
            now = printed(kinds, clock, fed.parts())
            assert now == {ts: n for ts, n in whole.items() if until is not None and ts < until}
            seen["printed before the end"] += bool(now)
        summary = fed.driver.finish()
        assert printed(kinds, clock, [Path(fed.settings.output)]) == whole
        assert (summary["quarantined"], summary["limit"] is None or summary["peak"] <= summary["limit"]) == ({}, True)
        seen["printed"] += bool(whole)
        seen["restarted with something"] += bool(any(arrived.values()) and any(case.batches[: case.restart]))
        seen["out of order"] += any(times != sorted(times) for times in arrived.values())
    return seen


@examples(8)
@given(drawn(make_case))
def test_any_query_in_any_order_in_any_batches_with_a_restart(case: Case) -> None:
    assume(check(case) is not None)


def test_a_fixed_sample_prints_early_restarts_and_is_out_of_order() -> None:
    """So that the property above cannot become true of nothing."""
    total: Counter[str] = Counter()
    for seed in range(24):
        seen = check(make_case(Choices.seeded(seed)))
        total.update({what: bool(n) for what, n in (seen or {}).items()})
    assert min(total[what] for what in ("printed", "restarted with something", "out of order")) > 3, total
    assert total["printed before the end"] > 1, total
