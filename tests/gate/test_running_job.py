"""`streambound watch` of Flink: alerts on what its REST API answered, with a fault put into it, and none without."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from gate.test_running_query import CATALOG

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.engine_profiles import EngineProfile, StreamEngine
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.gate.running_job import RunningJob
from streambound.gate.running_query import AlertKind
from streambound.synopsis_exec.flink_progress import job_progress
from support.choices import Choices
from support.command_line import call

Answers = dict[str, Any]
"""What Flink answered at one moment."""
Fault = Callable[[list[Answers]], None]

DATA = Path(__file__).parents[1] / "data" / "engines" / "flink_progress.jsonl"
JOINED = "FROM s a JOIN t b ON a.k = b.k AND b.ts BETWEEN a.ts"
WINDOWS = "TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '{}' MINUTE)"
QUERIES = {
    "pairs": f"SELECT a.k, a.ts, b.v {JOINED} - INTERVAL '1' MINUTE AND a.ts + INTERVAL '1' MINUTE",
    "counts": f"SELECT g, window_start, window_end, COUNT(*) AS n FROM TABLE({WINDOWS.format('s', 5)}) "
    "GROUP BY g, window_start, window_end",
    "keys": "SELECT k, COUNT(*) AS n FROM s GROUP BY k",
    "chain": f"WITH q AS (SELECT a.k, a.g, a.ts {JOINED} AND a.ts + INTERVAL '5' MINUTE) "
    f"SELECT window_start, window_end, g, COUNT(*) AS n FROM TABLE({WINDOWS.format('q', 10)}) "
    "GROUP BY window_start, window_end, g",
}
"""What ran on Flink SQL 2.3, over streams as those of `test_running_query`, with a new file of 10 minutes at a time."""
FAULTY = 16
"""The report from which on something is wrong, of two for each file."""


def series(name: str) -> list[Answers]:
    found = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    return [one for one in found if one[min(one, key=len)]["name"] == name]


def alerts(name: str, reports: list[Answers], catalog: str = CATALOG) -> list[tuple[int, AlertKind]]:
    """The number of the report, and what is said of it."""
    known = parse_catalog(catalog)
    (checked,) = check_source(SourceText("q.sql", QUERIES[name]), known)
    running = RunningJob(checked, known, EngineProfile(StreamEngine.FLINK))
    found = [(n, running.take(job_progress(json.dumps(one), "job"))) for n, one in enumerate(reports)]
    return [(number, alert.kind) for number, started in found for alert in started]


@pytest.mark.parametrize("name", QUERIES)
def test_a_clean_run_has_no_alert(name: str) -> None:
    clean = series(name)
    assert len(clean) == (3 if name == "keys" else 28) and alerts(name, clean) == []
    assert alerts(name, clean + series(name)) == []  # started again, it counts from nothing


def state(reports: list[Answers], task: str) -> list[dict[str, int]]:
    """The state of a task in the checkpoint of each report, by the first of its operators."""
    found = []
    for one in reports:
        (vertex,) = (v["id"] for v in one[min(one, key=len)]["vertices"] if v["name"].startswith(task))
        found += [one[path]["tasks"][vertex] for path in one if "/details/" in path]
    return found


def metric(reports: list[Answers], task: str, name: str) -> list[dict[str, float]]:
    """A metric of a task at each report."""
    found = []
    for one in reports:
        root = min(one, key=len)
        (vertex,) = (v["id"] for v in one[root]["vertices"] if v["name"].startswith(task))
        mine = one[f"{root}/vertices/{vertex}/subtasks/metrics"]
        found += [m for m in mine if m["id"].endswith(name) and m["min"] > -(2**62)]
    return found


def grown(task: str, factor: float, each: bool = False) -> Fault:
    """A task keeps so many times as much, or again so many times more at each report."""

    def fault(reports: list[Answers]) -> None:
        for number, one in enumerate(state(reports[FAULTY:], task)):
            one["state_size"] = round(one["state_size"] * factor ** (number + 1 if each else 1))

    return fault


def leaking(task: str, size: int) -> Fault:
    """So many bytes that should have gone stay, more with each report."""

    def fault(reports: list[Answers]) -> None:
        for number, one in enumerate(state(reports[FAULTY:], task)):
            one["state_size"] += size * (number + 1)

    return fault


def faster(source: str, factor: int) -> Fault:
    def fault(reports: list[Answers]) -> None:
        rows = metric(reports, source, ".numRecordsOut")
        before = rows[FAULTY]["sum"]
        for one in rows[FAULTY:]:
            one["sum"] += (factor - 1) * (one["sum"] - before)

    return fault


def standing(*sources: str) -> Fault:
    """The watermark of sources, and with it that of the first task behind them, stands."""

    def fault(reports: list[Answers]) -> None:
        operator = "IntervalJoin" if len(reports[0]) > 5 else "GlobalWindow"
        names = [*((one, ".currentOutputWatermark") for one in sources), (operator, "currentInputWatermark")]
        for source, name in names:
            last = metric(reports[FAULTY - 1 : FAULTY], source, name)[0]["min"]
            for one in metric(reports[FAULTY:], source, name):
                one["min"] = last

    return fault


def late(reports: list[Answers]) -> None:
    for one in metric(reports[FAULTY:], "GlobalWindow", "numLateRecordsDropped"):
        one["sum"] = 1.0


def a_regular_join(reports: list[Answers]) -> None:
    for one in reports:
        for vertex in one[min(one, key=len)]["vertices"]:
            vertex["name"] = vertex["name"].replace("IntervalJoin", "Join")


FAULTS: dict[str, tuple[str, Fault, AlertKind, int]] = {
    "a join keeps a tenth more": ("pairs", grown("IntervalJoin", 1.1), AlertKind.ROWS, FAULTY),
    "a join keeps a hundredth more each time": ("pairs", grown("IntervalJoin", 1.01, True), AlertKind.ROWS, FAULTY + 4),
    "a join drops nothing": ("pairs", leaking("IntervalJoin", 1500), AlertKind.ROWS, FAULTY),
    "groups of a window stay": ("counts", leaking("GlobalWindow", 300), AlertKind.ROWS, FAULTY + 1),
    "groups above a join double": ("chain", grown("GlobalWindow", 2), AlertKind.ROWS, FAULTY),
    "a join below groups grows": ("chain", grown("IntervalJoin", 1.02, True), AlertKind.ROWS, FAULTY + 2),
    "twice as many rows come": ("counts", faster("Source: s", 2), AlertKind.RATE, FAULTY + 10),
    "thrice as many rows of one of two streams": ("pairs", faster("Source: t", 3), AlertKind.RATE, FAULTY + 6),
    "the watermark of one stream stands": ("pairs", standing("Source: t"), AlertKind.WATERMARK, FAULTY + 1),
    "the watermark stands": ("counts", standing("Source: s"), AlertKind.WATERMARK, FAULTY + 1),
    "both watermarks stand": ("chain", standing("Source: s", "Source: t"), AlertKind.WATERMARK, FAULTY + 1),
    "a row comes too late": ("chain", late, AlertKind.LATE, FAULTY),
    "a regular join runs": ("pairs", a_regular_join, AlertKind.PLAN, 0),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    """Before a state has grown by a tenth, or at once where it does so at once; it is told once while it lasts."""
    name, change, kind, first = FAULTS[fault]
    reports = series(name)
    change(reports)
    found = alerts(name, reports)
    assert {one for _, one in found} == {kind} and found[0] == (first, kind)
    assert len(found) == (2 if fault == "both watermarks stand" else 1)
    for task in ("IntervalJoin", "GlobalWindow"):
        if kind is AlertKind.ROWS and task in str(reports[0]):
            clean, before = (state(one, task)[first - 1]["state_size"] for one in (series(name), reports))
            assert before < 1.1 * clean


def test_keys_of_a_domain_take_so_many_bytes() -> None:
    """Those of the first checkpoint, and of each key's entry as the model has it; more keys than that are told."""
    declared = CATALOG.replace("g = [0, 4]", "g = [0, 4], k = [0, 99]")
    reports = series("keys")
    assert alerts("keys", reports, declared) == []
    state(reports, "GroupAggregate")[-1]["state_size"] += 100 * 80
    assert alerts("keys", reports, declared) == [(2, AlertKind.ROWS)] and alerts("keys", reports) == []


def hour(seed: int, leak: float = 0, polls: int = 360) -> Iterator[Answers]:
    """Reports of a join every 10 seconds of two hours; rows come as often as the catalog lets them, or less often.

    Counters, watermarks and checkpoints are each of a moment of their own. From the first hour on a part of the rows
    that should go stays.
    """
    choices = Choices.seeded(seed)
    kept, brought, stays, rate = [0.0], [0.0], 0.0, 0.0
    for second in range(1, 2 * polls * 10 + 1):
        rate = 10 * choices.pick((0.2, 0.6, 1.0)) if second % 600 == 1 else rate
        brought.append(brought[-1] + rate)
        young = [brought[second] - brought[max(0, second - life)] for life in (660, 660)]
        stays += leak * rate if second > polls * 10 else 0
        kept.append(sum(young) + 2 * stays)
        if second % 10:
            continue
        at = [max(0, second - choices.integer(0, 4)) for _ in range(5)]
        checkpoint = second - second % 60 - 3
        times = [{"min": 1_767_225_600_000.0 + (one - 600) * 1000} for one in at[:3]]
        names = ["Source: s[1] -> Calc[2]", "Source: t[3]", "IntervalJoin[4] -> sink[5]: Writer"]
        metrics = [
            [{"id": f"Source__{x}[1].currentOutputWatermark", **times[n]},
             {"id": f"Source__{x}[1].numRecordsOut", "sum": brought[at[3 + n]]}]
            for n, x in enumerate("st")
        ]  # fmt: skip
        times[2] = {"min": min(one["min"] for one in times)}
        metrics += [[{"id": "currentInputWatermark", **times[2]}, {"id": "numRecordsIn", "sum": 2 * brought[at[3]]}]]
        answers: Answers = {"/jobs/1": {
            "jid": "1", "state": "RUNNING", "now": second * 1000,
            "vertices": [{"id": str(n), "name": name} for n, name in enumerate(names)],
        }}  # fmt: skip
        answers |= {f"/jobs/1/vertices/{n}/subtasks/metrics": one for n, one in enumerate(metrics)}
        if checkpoint > 0:
            size = 12_000 + round(80 * kept[checkpoint])
            answers[f"/jobs/1/checkpoints/details/{second // 60}"] = {
                "id": second // 60, "trigger_timestamp": checkpoint * 1000, "tasks": {"2": {"state_size": size}},
            }  # fmt: skip
        yield answers


BUSY = CATALOG.replace("rows = 6", "rows = 600")


@pytest.mark.parametrize("seed", range(1))
def test_traffic_that_comes_and_goes_is_no_fault(seed: int) -> None:
    assert alerts("pairs", list(hour(seed)), BUSY) == []


def test_a_slow_leak_is_found_in_traffic() -> None:
    """It is found before the state has grown by a tenth."""
    leaking, clean = list(hour(3, leak=0.3)), list(hour(3))
    ((number, kind),) = alerts("pairs", leaking, BUSY)
    kept, usual = (state(one[number : number + 1], "IntervalJoin")[0]["state_size"] for one in (leaking, clean))
    assert kind is AlertKind.ROWS and kept < 1.1 * usual


@contextmanager
def serving(reports: list[Answers]) -> Iterator[str]:
    """A REST API that answers as was recorded, one report after the other, and not the second time that it is asked."""
    left = iter(reports)
    now: Answers = {}
    asked = itertools.count()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            nonlocal now
            path = self.path.partition("?")[0]
            if path.count("/") == 2:
                if next(asked) == 1:
                    self.send_error(503)
                    return
                now = next(left)
            body = json.dumps(now[path]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}{min(reports[0], key=len)}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_command_asks_a_job_until_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("streams.toml").write_text(CATALOG, encoding="utf-8")
    Path("pairs.sql").write_text(QUERIES["pairs"], encoding="utf-8")
    reports = series("pairs")
    grown("IntervalJoin", 1.2)(reports)
    reports[-1][min(reports[-1], key=len)]["state"] = "CANCELED"
    with serving(reports) as url:
        found = call("watch", "pairs.sql", url, "--every", "0", "--record", "job.jsonl")
    assert found.exit_code == 1
    assert found.stdout.splitlines() == [
        "checkpoint 90: rows kept: interval join (1:32): 28 kB are kept, and the 132 rows that came within 11 minutes "
        "have taken at most 24 kB: rows stay for longer",
        "pairs: 28 reports, 1 alert",
    ]
    assert call("watch", "pairs.sql", "job.jsonl").stdout == found.stdout
    assert call("watch", "pairs.sql", url).exit_code == 3
    Path("other.jsonl").write_text('{"/jobs/1": []}', encoding="utf-8")
    assert call("watch", "pairs.sql", "other.jsonl").exit_code == 3
