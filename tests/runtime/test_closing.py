"""When timestamps close, without Spark: a job fed batch by batch, against SQL on every prefix and a naive model."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from streambound_runtime.errors import JobError
from streambound_runtime.promises import Arrival, Mark, Partitions
from streambound_runtime.spec import JobSpec
from support.arrivals import COLUMNS, QUERIES, Case, Event, Model, lateness, make_case
from support.choices import Choices
from support.fed import Fed
from support.jobs import job_of
from support.oracle import Oracle, by_timestamp
from support.profiles import MORE


@cache
def declared(sql: str) -> JobSpec:
    """Of streams in strict order."""
    return job_of(sql, {"streams": {name: {"timestamp": "ts", "columns": COLUMNS} for name in "STU"}})


def arranged(case: Case) -> JobSpec:
    """A case's job, by another order contract: compiling a job for each would take longer than all the rest."""
    job = declared(case.sql)
    streams = [replace(stream, arrival=arrival(case.catalog["streams"][stream.name])) for stream in job.streams]
    return replace(job, streams=tuple(streams))


def arrival(body: dict[str, Any]) -> Arrival:
    partitions = body.get("partitions")
    return Arrival(
        lateness(body),
        body.get("idle_after"),
        Mark("kind", value=1, since="low") if "punctuation" in body else None,
        Partitions(partitions["column"], tuple(partitions["values"])) if partitions else None,
    )


def lines(batch: Iterable[Event]) -> dict[str, list[str]]:
    """Events as lines of JSON by stream."""
    found = defaultdict[str, list[str]](list)
    for event in batch:
        row: dict[str, Any] = event.row or {}
        if event.mark is not None:
            row = {"kind": 1, "low": event.mark.low, "part": 5 + event.part, "ts": event.mark.high}
        found[event.source].append(json.dumps(row))
    return found


def results(files: Iterable[Path]) -> dict[int, Counter[tuple[Any, ...]]]:
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert [line["_ts"] for line in lines] == sorted(line["_ts"] for line in lines)
    return by_timestamp(lines)


def expected(case: Case, rows: dict[str, list[dict[str, Any]]]) -> dict[int, Counter[tuple[Any, ...]]]:
    found = Oracle(case.catalog, rows).prefix_expected(case.sql)
    return {ts: counts for ts, counts in found.items() if counts}


def check(case: Case) -> Counter[str]:
    """Every prefix of the output is right, nothing closes too early or too late; returns what was seen."""
    seen: Counter[str] = Counter()
    with TemporaryDirectory() as name:
        fed = Fed(arranged(case), Path(name))
        model = Model(case.catalog, [stream.name for stream in fed.job.streams])
        accepted: dict[str, list[dict[str, Any]]] = {stream: [] for stream in case.catalog["streams"]}
        outputs = []
        for number, batch in enumerate(case.batches):
            if number in case.restarts:
                fed.start()
                seen["restarts"] += 1
                if number and number % 2:  # as Spark does with a batch that it has not committed
                    fed.feed(lines(case.batches[number - 1]), number - 1)
                    assert fed.reports[-1] == fed.reports[-2]
                    seen["replays"] += 1
            before = model.complete
            late = [e for e in batch if e.row is not None and before is not None and e.row["ts"] < before]
            for event in batch:
                if event.row is not None and event not in late:
                    accepted[event.source].append(event.row)
            model.take(batch)
            fed.feed(lines(batch), number)
            assert fed.driver.frontier.complete() == model.complete
            assert fed.reports[-1]["quarantined"] == len(late)
            seen["late"] += len(late)
            outputs.append((model.complete, results(fed.parts())))
        summary = fed.driver.finish()
        whole = expected(case, accepted)
        for complete, printed in outputs:
            assert printed == {ts: n for ts, n in whole.items() if complete is not None and ts < complete}
            seen["printed before the end"] += bool(printed)
        assert results([Path(fed.settings.output)]) == whole
        assert sum(summary["quarantined"].values()) == seen["late"]
        seen["printed"] += bool(whole)
        seen["held back"] += any(report["waits_for"] for report in fed.reports)
    return seen


def test_every_prefix_is_right_and_nothing_is_late_within_the_contract() -> None:
    """Beyond it late rows are quarantined, and the others are right."""
    total: Counter[str] = Counter()
    for seed in range(32 * MORE):
        seen = check(make_case(Choices.seeded(seed), within=seed % 2 == 0))
        assert seen["late"] == 0 or seed % 2
        total.update({what: bool(n) for what, n in seen.items()})
    assert total["printed"] > 9, total
    assert total["printed before the end"] > 4, total
    assert total["held back"] > 4, total
    assert total["restarts"] > 4, total
    assert total["replays"] > 1, total
    assert total["late"] > 1, total


def arrived(name: str, *times: int) -> tuple[Event, ...]:
    return tuple(Event(name, 0, row={**dict.fromkeys(COLUMNS, 1), "kind": None, "low": None, "ts": ts}) for ts in times)


def strict(**more: dict[str, Any]) -> dict[str, Any]:
    return {"streams": {name: {"timestamp": "ts", "columns": COLUMNS, **more.get(name, {})} for name in "STU"}}


def test_a_clock_that_jumps_ahead_and_back() -> None:
    """What S brings from before its jump is used as long as T has not come that far, and is late from then on."""
    batches = (
        arrived("S", 1, 50) + arrived("T", 2),
        arrived("S", 5) + arrived("T", 6),
        arrived("T", 50),
        arrived("S", 7) + arrived("T", 51),
    )
    seen = check(Case(QUERIES[0], strict(), batches, frozenset({2})))
    assert (seen["late"], seen["printed before the end"], seen["printed"]) == (1, 3, 1)


def test_a_stream_without_a_row_holds_back_all_until_the_end_or_idle_after() -> None:
    batches = (arrived("T", 1, 2), arrived("T", 8), arrived("T", 9))
    waiting = check(Case(QUERIES[4], strict(), batches, frozenset({1})))
    assert (waiting["printed before the end"], waiting["held back"], waiting["printed"]) == (0, 1, 1)
    passed = check(Case(QUERIES[4], strict(S={"idle_after": 2}), batches, frozenset()))
    assert (passed["printed before the end"], passed["late"], passed["printed"]) == (2, 0, 1)


def test_a_late_row_stops_the_job_where_the_catalog_says_so(tmp_path: Path) -> None:
    """Nothing of its batch is kept; the other stream, which quarantines, does not stop it."""
    job = declared(QUERIES[4])
    streams = tuple(replace(stream, stops=stream.name == "S") for stream in job.streams)
    fed = Fed(replace(job, streams=streams), tmp_path)
    for number, batch in enumerate((arrived("S", 5) + arrived("T", 6), arrived("T", 4, 7))):
        fed.feed(lines(batch), number)
    assert fed.reports[-1]["quarantined"] == 1
    with pytest.raises(JobError, match="S breaks its contract: late: its timestamp is closed already: ") as caught:
        fed.feed(lines(arrived("S", 2, 9)), 2)
    assert (caught.value.kind, caught.value.status) == ("contract", 1)
    assert sorted(file.name for file in (tmp_path / "state" / "state").iterdir()) == ["0", "1"]
    assert [file.name for file in fed.parts()] == ["000000000.jsonl", "000000001.jsonl"]


def test_rows_are_released_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    """Tucker et al., sort and union: without ORDER BY what arrives late in its batch would be printed after others."""
    streams = {n: {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "lateness": 4} for n in "ST"}
    sql = "SELECT a, ts AS at FROM S UNION ALL SELECT a, ts FROM T{}"
    plain, job = (job_of(sql.format(order), {"streams": streams}, None) for order in ("", " ORDER BY at"))
    assert (plain.placement.where, job.placement.where) == ("stateless", "driver")
    fed = Fed(job, tmp_path)
    times = [{"S": [7, 4, 8], "T": [9, 6]}, {"S": [5, 14, 11], "T": [10, 8]}, {"S": [12], "T": [15]}]
    for number, batch in enumerate(times):
        fed.feed({name: [json.dumps({"a": 1, "ts": ts}) for ts in mine] for name, mine in batch.items()}, number)
    fed.driver.finish()
    printed = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    found = [row["at"] for row in printed for _ in range(row["_mult"])]
    assert found == sorted(ts for batch in times for mine in batch.values() for ts in mine)
