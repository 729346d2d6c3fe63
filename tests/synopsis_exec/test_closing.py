"""When timestamps close, without Spark: a job fed batch by batch, against SQL on every prefix and a naive model.

The model asks, timestamp by timestamp, whether every input has promised that no more rows come; it shares no code with
the package `punctuation` or the job.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.synopsis_exec.codegen import job_text
from streambound.synopsis_exec.plan import make_plan
from support.arrivals import COLUMNS, QUERIES, Case, Event, Model, lateness, make_case, parts
from support.choices import Choices, drawn
from support.kernel import loaded
from support.oracle import Oracle, by_timestamp
from support.product import decided
from support.profiles import examples

# --- the job, fed without Spark -----------------------------------------------------------------------------------


@cache
def module(sql: str) -> Any:
    declared = {"streams": {name: {"timestamp": "ts", "columns": COLUMNS} for name in "STU"}}
    return loaded(job_text(make_plan(decided(sql, declared), catalog_from_mapping(declared))))


def arranged(source: Any, body: dict[str, Any]) -> Any:
    """A job's stream with another order contract: compiling a job for each would take longer than all the rest."""
    return source._replace(
        lateness=lateness(body),
        idle_after=body.get("idle_after"),
        mark="row.kind = 1" if "punctuation" in body else "FALSE",
        parts=tuple(map(str, range(parts(body)))),
        stops=False,
    )


class Fed:
    """A job whose batches are events."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.job = module(case.sql)
        self.job.STREAMS = tuple(arranged(s, case.catalog["streams"][s.name]) for s in self.job.STREAMS)
        self.numbers = {source.name: number for number, source in enumerate(self.job.STREAMS)}
        files = {"--checkpoint": folder, "--output": folder / "out.jsonl", "--quarantine": folder / "bad.jsonl"}
        self.options = self.job.arguments([part for name, file in files.items() for part in (name, str(file))])
        self.reports: list[dict[str, Any]] = []
        self.start()

    def start(self) -> None:
        fed = self

        class Job(self.job.Job):  # type: ignore[misc, name-defined]
            def take_in(self, arrived: Any) -> Any:
                return fed.take_in(self, arrived.frame)

        self.running = Job(None, self.options, self.reports.append)

    def take_in(self, running: Any, batch: tuple[Event, ...]) -> Any:
        """What the job's own `take_in` does in Spark: late rows apart, observed maxima and punctuations, good rows."""
        observed: dict[str, Any] = {}
        good, bad = [], []
        complete = running.closing.complete()
        for event in batch:
            number = self.numbers[event.source]
            key = f"{number}_{event.part}"
            if event.mark is not None:
                observed.setdefault(f"marks_{key}", set()).add((event.mark.low, event.mark.high))
                continue
            assert event.row is not None
            observed[f"largest_{key}"] = max(event.row["ts"], observed.get(f"largest_{key}") or 0)
            if complete is None or event.row["ts"] >= complete:
                good.append((number, event.row))
            else:
                reason = running.closing.late_reason(number, event.part, event.row["ts"])
                bad.append(self.job.quarantined("stream", event.source, reason, json.dumps(event.row)))
                running.rejected[bad[-1]["detail"]] += 1
            running.rows[event.source] += 1
        for number, part in running.closing.inputs:
            observed.setdefault(f"largest_{number}_{part}", None)
        running.closing.take(observed)
        return self.table(good), bad

    def table(self, good: list[tuple[int, dict[str, Any]]]) -> Any:
        columns: dict[str, list[Any]] = {name: [] for name in ("source", "ts", *self.job.SLOTS)}
        for number, row in good:
            there = {slot: row[column] for column, slot in self.job.STREAMS[number].slots.items()}
            for name, value in {"source": number, "ts": row["ts"], **there}.items():
                columns[name].append(value)
            for name in set(columns) - {"source", "ts", *there}:
                columns[name].append(None)
        return pa.table(columns, schema=self.job.no_rows().schema)


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
        fed = Fed(case, Path(name))
        model = Model(case.catalog, list(fed.numbers))
        accepted: dict[str, list[dict[str, Any]]] = {stream: [] for stream in case.catalog["streams"]}
        outputs = []
        for number, batch in enumerate(case.batches):
            if number in case.restarts:
                fed.start()
                seen["restarts"] += 1
            before = model.complete
            late = [e for e in batch if e.row is not None and before is not None and e.row["ts"] < before]
            for event in batch:
                if event.row is not None and event not in late:
                    accepted[event.source].append(event.row)
            model.take(batch)
            fed.running.on_batch(batch, number)
            commit = Path(name) / "spark" / "commits" / str(number)  # as Spark does after a batch
            commit.parent.mkdir(parents=True, exist_ok=True)
            commit.touch()
            assert fed.running.closing.complete() == model.complete
            assert fed.reports[-1]["quarantined"] == len(late)
            seen["late"] += len(late)
            outputs.append((model.complete, results(sorted((Path(name) / "results").glob("[0-9]*.jsonl")))))
        summary = fed.running.finish()
        whole = expected(case, accepted)
        for complete, printed in outputs:
            assert printed == {ts: n for ts, n in whole.items() if complete is not None and ts < complete}
            seen["printed before the end"] += bool(printed)
        assert results([Path(fed.options.output)]) == whole
        assert sum(summary["quarantined"].values()) == seen["late"]
        seen["printed"] += bool(whole)
        seen["held back"] += any(report["waits_for"] for report in fed.reports)
    return seen


@examples(60)
@given(drawn(make_case))
def test_every_prefix_is_right_and_nothing_is_late_within_the_contract(case: Case) -> None:
    assert check(case)["late"] == 0


@examples(60)
@given(drawn(lambda choices: make_case(choices, within=False)))
def test_late_rows_are_put_aside_and_the_others_are_right(case: Case) -> None:
    check(case)


def test_a_fixed_sample_closes_waits_restarts_and_is_late() -> None:
    """So that the properties above cannot become true of nothing."""
    total: Counter[str] = Counter()
    for seed in range(40):
        seen = check(make_case(Choices.seeded(seed), within=seed % 2 == 0))
        assert seen["late"] == 0 or seed % 2
        total.update({what: bool(n) for what, n in seen.items()})
    assert total["printed"] > 15, total
    assert total["printed before the end"] > 7, total
    assert total["held back"] > 7, total
    assert total["restarts"] > 7, total
    assert total["late"] > 3, total


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
    fed = Fed(Case(QUERIES[4], strict(), (), frozenset()), tmp_path)
    fed.job.STREAMS = tuple(source._replace(stops=source.name == "S") for source in fed.job.STREAMS)
    for number, batch in enumerate((arrived("S", 5) + arrived("T", 6), arrived("T", 4, 7))):
        fed.running.on_batch(batch, number)
    assert fed.reports[-1]["quarantined"] == 1
    with pytest.raises(
        fed.job.JobError, match="S breaks its contract: late: its timestamp is closed already: "
    ) as caught:
        fed.running.on_batch(arrived("S", 2, 9), 2)
    assert (caught.value.kind, caught.value.status) == ("contract", 1)
    assert sorted(file.name for file in (tmp_path / "state").iterdir()) == ["0.json", "1.json"]
    assert not (tmp_path / "results" / "000000002.jsonl").exists()
