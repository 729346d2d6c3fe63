"""Runs of SEQ statements over streams whose periods are of dates: as with numbers, and as `verify` says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streambound import cli, jobs
from streambound.synopsis_exec import job_file
from streambound.synopsis_exec.job_file import CompiledJob
from support.choices import Choices
from support.embedded import run_here
from support.jobs import read, write
from support.period_streams import day, with_dates
from support.profiles import MORE
from support.snapshots import COLUMNS, HIGH, LOW, generated

SHIFTS: dict[str, Any] = {
    "columns": {"name": "string", "skill": "string", "vb": "bigint", "ve": "bigint"},
    "period": ["vb", "ve"],
}
STREAMS = {"streams": {"shifts": {**SHIFTS, "timestamp": "vb", "max_duration": 9, "max_valid": 3, "lateness": 2}}}
FILES: list[list[tuple[str, int, int | None]]] = [
    [("Ann", 3, 10), ("Joe", 4, 12), ("bad", 4, 4), ("none", 5, None), ("long", 5, 15)],
    [("Sam", 9, 11), ("Eve", 8, 16), ("two", 9, 10)],
    [("late", 3, 11), ("Kim", 20, 22), ("just", 18, 19)],
]
"""Names with their periods; of those that begin at 9 there would be too many."""


def dated(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with numbers for bounds, with the days that these stand for."""
    bounds = ("vb", "ve", "_begin", "_end")
    return [{name: day(value) if name in bounds else value for name, value in row.items()} for row in rows]


def test_a_run_is_that_of_numbers(tmp_path: Path) -> None:
    """Results, what is put aside and why, rows that are late, entries, and how far time is closed."""
    sql = "SEQ VT (SELECT skill, COUNT(*) AS n FROM shifts GROUP BY skill)"
    found: dict[bool, tuple[Any, ...]] = {}
    for dates in (False, True):
        folder = tmp_path / str(dates)
        for number, part in enumerate(FILES):
            rows = [{"name": n, "skill": n[:1], "vb": b, "ve": e} for n, b, e in part]
            file = folder / "in" / "shifts" / f"{number}.jsonl"
            write(file, *(dated(rows) if dates else rows), modified=1_600_000_000 + number)
        job = jobs.compile(sql, with_dates(STREAMS) if dates else STREAMS).compiled.job
        events: list[dict[str, Any]] = []
        run_here(job, folder, report=events.append)
        results = read(folder / "output")
        aside = [(one["reason"], one["detail"], json.loads(one["row"])["name"]) for one in read(folder / "quarantine")]
        batches = [(event["entries"], event["closed"], event["pending"]) for event in events if "batch" in event]
        found[dates] = results, aside, batches
    assert found[True][0] == dated(found[False][0]) and len(found[True][0]) == 5
    assert found[True][1:] == found[False][1:]
    reasons = Counter(reason for reason, *_ in found[True][1])
    assert reasons == {"empty-period": 1, "null-bound": 1, "contract": 3, "beyond-lateness": 1}


def test_progress_tells_the_day_that_is_closed(spark: Any, tmp_path: Path) -> None:
    for number, part in enumerate(FILES):
        rows = dated({"name": n, "skill": n[:1], "vb": b, "ve": e} for n, b, e in part)
        write(tmp_path / "shifts" / f"{number}.jsonl", *rows, modified=1_600_000_000 + number)
    frame = spark.readStream.schema("name STRING, skill STRING, vb DATE, ve DATE").option("maxFilesPerTrigger", 1)
    job = jobs.compile("SEQ VT (SELECT name FROM shifts)", with_dates(STREAMS))
    running = job.run(spark, {"shifts": frame.json(str(tmp_path / "shifts"))})
    assert running.query is not None
    try:
        running.query.processAllAvailable()
        told = [one.observedMetrics["streambound"].closed_until for one in running.query.recentProgress]
    finally:
        running.query.stop()
    assert [str(one) for one in told[:3]] == ["None", day(4 - 2 - 1), day(9 - 2 - 1)], "bad rows say nothing of time"


@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_a_stream_may_wait_at_the_first_day(tmp_path: Path, kind: str) -> None:
    """What is promised reaches back to before the calendar begins."""
    table = {"columns": {"n": "int", "vb": kind, "ve": kind}, "period": ["vb", "ve"], "timestamp": "vb"}
    more = {"lateness": "2 days", "max_valid": 9}
    sql = "SEQ VT (SELECT a.n FROM a JOIN b ON a.n = b.n)"
    job = jobs.compile(sql, {"streams": {name: {**table, **more} for name in "ab"}}).compiled.job
    for name, begins in (("a", ["0001-01-01"]), ("b", ["0001-01-01", "2024-01-01"])):
        for number, begin in enumerate(begins):
            row = {"n": 1, "vb": begin, "ve": "9999-12-31"}
            write(tmp_path / "in" / name / f"{number}.jsonl", row, modified=1_600_000_000 + number)
    events: list[dict[str, Any]] = []
    run_here(job, tmp_path, report=events.append)
    (told,) = [event["waits_for"] for event in events if event.get("batch") == 1]
    assert told["a"].startswith("promises nothing from 0001-01-01")


def test_random_statements(tmp_path: Path) -> None:
    told = 0
    columns = {name: {**kinds, "vb": "bigint", "ve": "bigint"} for name, kinds in COLUMNS.items()}
    tables = {name: {"columns": kinds, "period": ["vb", "ve"]} for name, kinds in columns.items()}
    streams = {name: {**one, "timestamp": "vb", "max_per_timestamp": 7} for name, one in tables.items()}
    catalog = with_dates({"time": {"domain": [LOW, HIGH]}, "streams": streams})
    for seed in range(5 * MORE):
        given = generated(Choices.seeded(seed))
        for name, rows in given.rows.items():
            lines = (dict(zip(columns[name], row, strict=True)) for row in rows)
            write(tmp_path / str(seed) / f"{name}.jsonl", *dated(lines))
        found = jobs.verify(f"SEQ VT ({given.sql})", catalog, inputs=tmp_path / str(seed), runs=1)
        assert (found.difference, found.engine) == (None, "embedded"), given.sql
        told += found.results
    assert told


ROWS = {
    "a": [("x", 1, 0, 4, 0.5), ("y", 2, 1, 6, 0.25), ("x", 2, 4, 9, 1.0), ("z", 1, 5, 7, 0.7)],
    "b": [("u", 1, 0, 2, 0.5), ("v", 2, 2, 5, 0.9), ("w", 1, 3, 6, 0.1), ("v", 2, 5, 8, 1.0)],
}


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "FULL JOIN", "LEFT ANTI JOIN"])
def test_lineages(tmp_path: Path, join: str) -> None:
    kinds = {"id": "bigint", "p": "double", "vb": "bigint", "ve": "bigint"}
    names = {"a": ("n", "k"), "b": ("h", "j")}
    own = {"period": ["vb", "ve"], "key": "id", "probability": "p", "timestamp": "vb", "max_valid": 9}
    streams = {name: {"columns": {one: "string", two: "int", **kinds}, **own} for name, (one, two) in names.items()}
    for name, rows in ROWS.items():
        made = [(n, k, key, p, b, e) for key, (n, k, b, e, p) in enumerate(rows)]
        write(tmp_path / f"{name}.jsonl", *dated(dict(zip(streams[name]["columns"], row, strict=True)) for row in made))
    sql = f"SEQ TP (SELECT * FROM a {join} b ON k = j)"
    found = jobs.verify(sql, with_dates({"streams": streams}), inputs=tmp_path, runs=1)
    assert (found.difference, found.engine) == (None, "embedded")
    assert found.results > 3


TOML = """
[streams.shifts]
timestamp = "vb"
columns = { name = "string", skill = "string", vb = "date", ve = "date" }
period = ["vb", "ve"]
max_duration = "3 weeks"
max_per_timestamp = 10
[streams.posts]
timestamp = "since"
columns = { skill = "string", pay = "double", since = "date", until = "date" }
period = ["since", "until"]
max_valid = 5
snapshot_key = ["skill"]
"""
LEFT = "SELECT s.name, p.pay FROM shifts s LEFT JOIN posts p ON s.skill = p.skill"


def _verify(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, ["verify", *arguments])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(TOML)
    (tmp_path / "q.sql").write_text(f"SEQ VT ({LEFT})")
    return tmp_path


def test_the_reference_says_the_same(place: Path) -> None:
    result = _verify("q.sql", "--runs", "2", "--format", "json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["equal"] and report["results"] > 100


def test_a_wrong_job_is_told_with_its_day(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = jobs.compile(f"SEQ VT ({LEFT.replace('LEFT', '')})", TOML).compiled.job
    monkeypatch.setattr(job_file, "compiled", lambda plan, **more: CompiledJob(plan, wrong))
    result = _verify("q.sql", "--runs", "1", "--format", "json")
    assert result.exit_code == 1, result.output
    difference = json.loads(result.stdout)["difference"]
    assert difference["minimal"] and difference["_ts"] == json.loads(difference["rows"]["shifts"][0])["vb"]
