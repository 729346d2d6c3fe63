"""`streambound watch`: alerts on progress that Spark reported, with a fault put into it, and none without."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.engine_profiles import EngineProfile, StreamEngine
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.gate.running_query import AlertKind, RunningQuery
from streambound.synopsis_exec.spark_progress import progress_of
from support.command_line import call

Series = list[dict[str, Any]]
"""The progress of a query, batch by batch."""

DATA = Path(__file__).parents[1] / "data" / "engines" / "progress.jsonl"
STREAM = """
[streams.{}]
timestamp = "ts"
columns = {{ k = "bigint", g = "bigint", v = "bigint", ts = "timestamp" }}
domain = {{ g = [0, 4] }}
lateness = "10 minutes"
max_rate = {{ rows = 6, per = "1 minute" }}
"""
CATALOG = STREAM.format("s") + STREAM.format("t")
QUERIES = {
    "pairs": "SELECT a.k, a.ts, b.ts AS ts2, b.v FROM s a JOIN t b ON a.k = b.k "
    "AND b.ts BETWEEN a.ts - INTERVAL 1 MINUTE AND a.ts + INTERVAL 1 MINUTE",
    "counts": "SELECT g, window(ts, '5 minutes') AS w, COUNT(*) AS n FROM s GROUP BY g, window(ts, '5 minutes')",
    "chain": "SELECT window(q.ts, '10 minutes') AS w, q.g, COUNT(*) AS n FROM (SELECT a.k, a.g, a.ts FROM s a JOIN t b "
    "ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 5 MINUTES) q GROUP BY window(q.ts, '10 minutes'), q.g",
}
"""What ran: `tests/support/spark_state.py` has the streams."""
RECORDED = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
FAULTY = 5
"""The batch from which on something is wrong."""


def series(name: str) -> Series:
    return deepcopy([one for one in RECORDED if one["name"] == name])


def alerts(name: str, progress: Series) -> list[tuple[int, AlertKind]]:
    catalog = parse_catalog(CATALOG)
    (checked,) = check_source(SourceText("q.sql", QUERIES[name]), catalog)
    running = RunningQuery(checked, catalog, EngineProfile(StreamEngine.SPARK))
    return [(one.batch, one.kind) for batch in progress for one in running.take(progress_of(json.dumps(batch)))]


@pytest.mark.parametrize("name", QUERIES)
def test_a_clean_run_has_no_alert(name: str) -> None:
    clean = series(name)
    assert len(clean) == 10 and alerts(name, clean) == []
    again = deepcopy(clean)
    for one in again:
        one["runId"] = "restarted"
    assert alerts(name, clean + again[5:]) == []


def grown(operator: int, factor: float, by_batch: bool = False) -> Callable[[Series], None]:
    """An operator keeps so many times as many rows, or again so many times more with each batch."""

    def fault(progress: Series) -> None:
        for batch in progress[FAULTY:]:
            state = batch["stateOperators"][operator]
            times = batch["batchId"] - FAULTY + 1 if by_batch else 1
            state["numRowsTotal"] = round(state["numRowsTotal"] * factor**times)

    return fault


def kept(operator: int, rows: int) -> Callable[[Series], None]:
    """Rows that should have gone stay: so many more with each batch."""

    def fault(progress: Series) -> None:
        for batch in progress[FAULTY:]:
            batch["stateOperators"][operator]["numRowsTotal"] += rows * (batch["batchId"] - FAULTY + 1)

    return fault


def faster(source: int, factor: float) -> Callable[[Series], None]:
    def fault(progress: Series) -> None:
        for batch in progress[FAULTY:]:
            brought = batch["sources"][source]
            brought["numInputRows"] = round(brought["numInputRows"] * factor)

    return fault


def watermark(at: Callable[[Series, int], str]) -> Callable[[Series], None]:
    def fault(progress: Series) -> None:
        times = [at(progress, number) for number in range(len(progress))]
        for batch, time in list(zip(progress, times, strict=True))[FAULTY:]:
            batch["eventTime"]["watermark"] = time

    return fault


def at_batch(progress: Series, number: int) -> str:
    return str(progress[number]["eventTime"]["watermark"])


def late(progress: Series) -> None:
    progress[FAULTY]["stateOperators"][0]["numRowsDroppedByWatermark"] = 1


def one_operator_more(progress: Series) -> None:
    for batch in progress[FAULTY:]:
        batch["stateOperators"].append(dict(batch["stateOperators"][0]))


def of_no_watermark(progress: Series) -> None:
    for batch in progress:
        batch["eventTime"]["watermark"] = "1970-01-01T00:00:00.000Z"


FAULTS: dict[str, tuple[str, Callable[[Series], None], AlertKind, int]] = {
    "a join keeps a tenth more": ("pairs", grown(0, 1.1), AlertKind.ROWS, FAULTY),
    "a join keeps a hundredth more with each batch": ("pairs", grown(0, 1.01, True), AlertKind.ROWS, FAULTY + 3),
    "a join drops nothing": ("pairs", kept(0, 120), AlertKind.ROWS, FAULTY),
    "groups of a window stay": ("counts", kept(0, 5), AlertKind.ROWS, FAULTY + 1),
    "groups above a join double": ("chain", grown(0, 2), AlertKind.ROWS, FAULTY),
    "a join below groups grows": ("chain", grown(1, 1.1), AlertKind.ROWS, FAULTY),
    "twice as many rows come": ("counts", faster(0, 2), AlertKind.RATE, FAULTY),
    "a tenth more rows come": ("counts", faster(0, 1.1), AlertKind.RATE, FAULTY),
    "twice as many rows of one of two streams": ("pairs", faster(1, 2), AlertKind.RATE, FAULTY + 1),
    "the watermark stands": ("pairs", watermark(lambda all, _: at_batch(all, FAULTY - 1)), AlertKind.WATERMARK, FAULTY),
    "the watermark never moves": ("counts", of_no_watermark, AlertKind.WATERMARK, 1),
    "the watermark falls behind": (
        "chain", watermark(lambda all, n: at_batch(all, (n + FAULTY) // 2)), AlertKind.WATERMARK, FAULTY + 1,
    ),
    "a row comes too late": ("chain", late, AlertKind.LATE, FAULTY),
    "another query runs": ("counts", one_operator_more, AlertKind.PLAN, FAULTY),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    """In the batch in which it begins, or before a state has grown by a tenth; it is told once while it lasts."""
    name, change, kind, batch = FAULTS[fault]
    progress = series(name)
    change(progress)
    assert alerts(name, progress) == [(batch, kind)]


def test_the_command_says_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("streams.toml").write_text(CATALOG, encoding="utf-8")
    Path("pairs.sql").write_text(QUERIES["pairs"], encoding="utf-8")
    clean, grows = series("pairs"), series("pairs")
    grown(0, 1.2)(grows)
    for name, progress in (("clean", clean), ("grows", grows)):
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, progress)) + "\n", encoding="utf-8")
    found = call("watch", "pairs.sql", "clean.jsonl")
    assert (found.exit_code, found.stdout) == (0, "pairs: 10 batches, no alert\n")
    found = call("watch", "pairs.sql", "grows.jsonl")
    assert found.exit_code == 1
    assert found.stdout.splitlines()[0] == (
        "batch 5: rows kept: join (1:45): 307 rows are kept, and at most 264 were to be: rows of a in 21 minutes and "
        "rows of b in 21 minutes"
    )
    Path("broken.jsonl").write_text(json.dumps(clean[0]) + "\n{", encoding="utf-8")
    assert call("watch", "pairs.sql", "broken.jsonl").exit_code == 3
    assert call("watch", "pairs.sql", "none.jsonl").exit_code == 3
