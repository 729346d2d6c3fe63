"""Lateness, punctuation records, partitions and idle streams, from the catalog to the quarantine."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import compute as pc

from streambound_runtime.decoding.contracts import pattern_of
from support.choices import Choices
from support.embedded import run_here
from support.jobs import job_of, read, run_with, write
from support.oracle import Oracle, by_timestamp

SQL = "SELECT S.a, T.b FROM S, T WHERE S.ts < T.ts AND S.a = 1 AND T.b BETWEEN 0 AND 3"
S = {"a": "bigint", "shard": "string", "note": "string", "since": "bigint", "ts": "bigint"}
T = {"b": "bigint", "ts": "bigint"}

MARK = {"column": "note", "like": "end\\_%", "since": "since"}
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {
            "timestamp": "ts",
            "columns": S,
            "domain": {"a": [0, 9]},
            "punctuation": MARK,
            "partitions": {"column": "shard", "values": ["it's", "b"]},
        },
        "T": {"timestamp": "ts", "columns": T, "lateness": 3},
    }
}
FIRST = 1_600_000_000


def row(a: int, shard: str, ts: int) -> dict[str, Any]:
    return {"a": a, "shard": shard, "note": "end", "since": None, "ts": ts}


def mark(shard: str, ts: int | None, since: int | None = None) -> dict[str, Any]:
    """A punctuation lacks what only rows have."""
    return {"shard": shard, "note": "end_", "since": since, "ts": ts}


def batches(folder: Path, files: dict[str, list[list[Any]]]) -> None:
    for name, parts in files.items():
        for number, rows in enumerate(parts):
            write(folder / name / f"{number}.jsonl", *rows, modified=FIRST + number)


UP_TO_11 = [mark("b", 11), mark("it's", 11)]
ARRIVING: dict[str, list[list[Any]]] = {
    "S": [
        [row(1, "b", 7), row(1, "it's", 2), mark("b", 4), mark("it's", 9, since=6)],
        [row(1, "it's", 5), row(1, "it's", 3), mark("it's", 5), row(1, "b", 5)],
        [row(1, "it's", 4), row(1, "c", 20), mark("c", 30), mark("b", None), {"note": "end_", "shard": "b"}, *UP_TO_11],
        [mark("b", 9, since=-3), row(1, "b", 12)],
    ],
    "T": [
        [{"b": 1, "ts": 9}, {"b": 2, "ts": 6}],
        [{"b": 3, "ts": 7}, {"b": 0, "ts": 12}],
        [{"b": 3, "ts": 10}, {"b": 1, "ts": 14}],
        [{"b": 3, "ts": 10}, {"b": 0, "ts": 13}],
    ],
}


@pytest.mark.parametrize("one_file", [False, True])
def test_punctuations_partitions_and_lateness(tmp_path: Path, one_file: bool) -> None:
    files = {name: [list(chain(*parts))] for name, parts in ARRIVING.items()} if one_file else ARRIVING
    batches(tmp_path / "in", files)
    events: list[dict[str, Any]] = []
    summary = run_here(job_of(SQL, CATALOG), tmp_path, report=events.append)
    late = {} if one_file else {"late: a punctuation has ended its timestamp": 1, "late: by more than the lateness": 1}
    missing = {"shard is none of the declared partitions": 2, "ts, the timestamp, is NULL": 1, "since is missing": 1}
    assert summary["quarantined"] == {**late, **missing}
    quarantined = [json.loads(line["row"]) for line in read(tmp_path / "quarantine")]
    bad = [*([] if one_file else [row(1, "it's", 4)]), row(1, "c", 20), mark("c", 30), mark("b", None)]
    assert all(one in quarantined for one in bad)
    accepted = {
        name: [r for part in parts for r in part if r not in quarantined and r.get("note") != "end_"]
        for name, parts in ARRIVING.items()
    }
    if not one_file:
        accepted["T"].append({"b": 3, "ts": 10})  # the one of the third batch; the other came too late
        assert [event["waits_for"] for event in events[:-1]] == [
            {"S, partition it's": "promises nothing yet, for 1 batch"},
            {"S, partition b": "promises nothing from 5 on, for 1 batch"},
            {},
            {"T": "promises nothing from 11 on, for 1 batch"},
        ]
    expected = {ts: counts for ts, counts in Oracle(CATALOG, accepted).prefix_expected(SQL).items() if counts}
    assert by_timestamp(read(tmp_path / "output")) == expected


def idle(**more: Any) -> dict[str, Any]:
    return {"streams": {"S": {"timestamp": "ts", "columns": S, **more}, "T": {"timestamp": "ts", "columns": T}}}


IDLE: dict[str, list[list[Any]]] = {
    "S": [[row(1, "b", 1)], [], [], [row(1, "b", 2)]],
    "T": [[{"b": 1, "ts": 2}], [{"b": 1, "ts": 6}], [{"b": 1, "ts": 9}], [{"b": 1, "ts": 12}]],
}


def test_an_idle_stream_stalls_visibly_or_is_advanced(tmp_path: Path) -> None:
    batches(tmp_path / "in", IDLE)
    events: list[dict[str, Any]] = []
    summary = run_here(job_of(SQL, idle()), tmp_path, report=events.append)
    assert [event["waits_for"].get("S") for event in events[1:3]] == [
        "promises nothing from 1 on, for 1 batch",
        "promises nothing from 1 on, for 2 batches",
    ]
    assert (summary["waited_for"], summary["quarantined"]) == ({}, {})
    (tmp_path / "2").mkdir()
    job, again = job_of(SQL, idle(idle_after=3)), ["--input", str(tmp_path / "in")]
    advanced = run_here(job, tmp_path / "2", *again, report=events.append)
    assert advanced["quarantined"] == {"late: its stream was idle for longer than idle_after": 1}
    assert [event["closed"] for event in events[5:9]] == [0, 2, 0, 1]
    assert not any(event.get("waits_for") for event in events[5:])


def test_moments_in_csv_files_of_the_catalogs_source(spark: Any, tmp_path: Path) -> None:
    """Two streams with punctuations, of which one alone has a start; timestamps, and batches of one file."""
    columns = {"a": "int", "from": "timestamp", "at": "timestamp"}
    options = {"maxFilesPerTrigger": 1}
    catalog: dict[str, Any] = {
        "streams": {
            name: {
                "timestamp": "at",
                "columns": columns,
                "domain": {"a": [0, 9]},
                "punctuation": {"column": "a", "value": -1, **({"since": "from"} if name == "S" else {})},
                "source": {"format": "csv", "path": name, "options": options},
            }
            for name in "ST"
        }
    }
    catalog["streams"]["T"]["lateness"] = "1.5 seconds"
    day = "2024-01-01 00:00:0"
    files = {
        "S": [[f"1,,{day}1", f"-1,{day}3,{day}9", f"2,,{day}2"], [f"-1,,{day}3"], [f"7,,{day}0"]],
        "T": [[f"1,,{day}4"], [f"3,,{day}2.5", f"1,,{day}8"], [f"4,,{day}6.4"]],
    }
    for name, parts in files.items():
        for number, rows in enumerate(parts):
            write(tmp_path / name / f"{number}.csv", *rows, modified=FIRST + number)
    job = job_of("SELECT S.a, T.a AS b FROM S, T WHERE S.at < T.at AND T.at <= S.at + INTERVAL 2 SECONDS", catalog)
    names = ("checkpoint", "output", "quarantine")
    arguments = [part for name in names for part in (f"--{name}", str(tmp_path / name))]
    events: list[dict[str, Any]] = []
    summary = run_with(spark, job, [*arguments, "--base", str(tmp_path)], events.append)
    late = {"late: a punctuation has ended its timestamp": 1, "late: by more than the lateness": 1}
    assert summary["quarantined"] == late
    found = [(row["a"], row["b"], row["_ts"]) for row in read(tmp_path / "output")]
    assert found == [(1, 3, "2024-01-01T00:00:02.500000Z"), (2, 3, "2024-01-01T00:00:02.500000Z"),
                     (2, 1, "2024-01-01T00:00:04Z")]  # fmt: skip
    assert events[0]["waits_for"] == {"S": "promises nothing yet, for 1 batch"}


def test_like_is_sparks(spark: Any) -> None:
    choices = Choices.seeded(1)
    pairs = []
    while len(pairs) < 300:
        pattern = "".join(
            choices.pick(["a", "b", "%", "_", "\\%", "\\_", "\\\\", ".", "("]) for _ in range(choices.integer(0, 4))
        )
        value = "".join(choices.pick(["a", "b", "%", "_", "\\", ".", "(", "\n"]) for _ in range(choices.integer(0, 4)))
        pairs.append((value, pattern))
    frame = spark.createDataFrame(pairs, "value STRING, pattern STRING").selectExpr("value LIKE pattern AS hit")
    hits = [r["hit"] for r in frame.toArrow().to_pylist()]
    mine = [pc.match_substring_regex(pa.array([value]), pattern_of(like))[0].as_py() for value, like in pairs]
    assert hits == mine
    assert 15 < sum(hits) < 285
