"""Jobs beyond joins on Spark: wherever their state is and whenever they are killed, all changes add up to batch SQL."""

from __future__ import annotations

import json
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import streambound
from streambound_runtime.embedded import run_embedded
from streambound_runtime.settings import settings_of
from streambound_runtime.spec import JobSpec
from streambound_runtime.usage import checked
from support.jobs import read, run_with, write
from support.killing import started

FILES = 5
COLUMNS = {"k": "bigint", "v": "bigint", "ts": "bigint"}
STREAM = {"timestamp": "ts", "columns": COLUMNS, "domain": {"k": [0, 6], "v": [0, 9]}, "max_per_timestamp": 9}
CATALOG: dict[str, Any] = {
    "streams": dict.fromkeys("ST", STREAM),
    "relations": {
        "R": {
            "columns": {"k": "bigint", "y": "bigint"},
            "rows": 4,
            "changes": {"timestamp": "ts", "op": "op"},
        }
    },
}
GROUPS = "SELECT k AS x, COUNT(*) AS n, SUM(v) AS s, AVG(v) AS a FROM S GROUP BY k HAVING COUNT(*) > 3"
OUTER = "SELECT S.k AS x, T.v AS y FROM S LEFT JOIN T ON S.k = T.k AND T.ts BETWEEN S.ts - 2 AND S.ts + 5"
CHANGING = "SELECT S.k AS x, R.y AS y FROM S LEFT JOIN R ON S.k = R.k"
DIVIDED = {
    "groups": GROUPS,
    "an outer join": OUTER,
}
TOGETHER = f"SELECT k AS x, COUNT(*) AS y FROM S GROUP BY k UNION ALL {OUTER} UNION ALL {CHANGING}"
"""An aggregate, an outer join and a relation that changes: all of them take back what they have said."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of the streams and of the relation's changes, in order, with bad rows and deletes of rows not there."""
    folder, dice = tmp_path_factory.mktemp("recorded"), random.Random(5)
    there: list[dict[str, int]] = []
    for part in range(FILES):
        for name in "ST":
            rows: list[Any] = [
                {"k": dice.choice([*range(7), None]), "v": dice.randrange(10), "ts": 10 * part + n // 4}
                for n in range(40)
            ]
            write(folder / name / f"{part}.jsonl", *rows, "bad", modified=1_600_000_000 + part)
        changes: list[dict[str, Any]] = [{"k": 9, "y": part, "ts": 10 * part, "op": "delete"}]
        for now in range(10 * part, 10 * part + 10, 2):
            if len(there) == 4 or (there and dice.random() < 0.4):
                changes.append({**there.pop(dice.randrange(len(there))), "ts": now, "op": "delete"})
            else:
                there.append({"k": dice.randrange(7), "y": dice.randrange(5)})
                changes.append({**there[-1], "ts": now, "op": "insert"})
        write(folder / "R" / f"{part}.jsonl", *changes, modified=1_600_000_000 + part)
    return folder


def lines(texts: list[Any]) -> Counter[str]:
    """Values of results as JSON, so that floats and NULLs are told apart, without when they came."""
    found: Counter[str] = Counter()
    for row in texts:
        found[json.dumps({k: v for k, v in row.items() if k not in ("_ts", "_mult")})] += row["_mult"]
    return Counter({row: n for row, n in found.items() if n})


def batch(sql: str, recorded: Path) -> Counter[str]:
    """What DuckDB returns for all good rows; of a relation, those that its changes leave."""
    connection = duckdb.connect()
    for name in "ST":
        connection.execute(f"CREATE TABLE {name} (k BIGINT, v BIGINT, ts BIGINT)")
        rows = [
            json.loads(line)
            for file in sorted((recorded / name).iterdir())
            for line in file.read_text().splitlines()
            if line != "bad"
        ]
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", [[r["k"], r["v"], r["ts"]] for r in rows])
    changes = [row for file in sorted((recorded / "R").iterdir()) for row in read(file) if row["k"] != 9]
    kept = Counter[tuple[int, int]]()
    for row in changes:
        kept[row["k"], row["y"]] += 1 if row["op"] == "insert" else -1
    connection.execute("CREATE TABLE R (k BIGINT, y BIGINT)")
    connection.executemany("INSERT INTO R VALUES (?, ?)", [list(row) for row in kept.elements()])
    found = connection.execute(sql.replace(" DIV ", " // "))
    names = [column[0] for column in found.description]
    return Counter(
        json.dumps({n: int(v) if n in ("s",) and v is not None else v for n, v in zip(names, row, strict=True)})
        for row in found.fetchall()
    )


def job(sql: str, placement: str | None = None, tick: str = "timestamp") -> JobSpec:
    return streambound.compile(sql, CATALOG, placement=placement, tick=tick).compiled.job


def outputs(spark: Any, recorded: Path, folder: Path, made: JobSpec) -> tuple[str, dict[str, Any]]:
    summary = run_with(spark, made, options(recorded, folder))
    return (folder / "output").read_text(), summary


def options(recorded: Path, folder: Path) -> list[str]:
    folder.mkdir()
    files = [f"--{name}={folder / name}" for name in ("output", "quarantine", "checkpoint")]
    return ["--input", str(recorded), "--files-per-batch", "2", *files]


def outputs_here(recorded: Path, folder: Path, made: JobSpec) -> tuple[str, dict[str, Any]]:
    """The same, without Spark."""
    settings = checked(made, settings_of(made, options(recorded, folder)))
    summary = run_embedded(made, settings, lambda event: None)
    return (folder / "output").read_text(), summary


@pytest.mark.parametrize(("what", "tick"), [("groups", "timestamp"), ("an outer join", "batch")])
def test_buckets_give_what_the_driver_gives(spark: Any, recorded: Path, tmp_path: Path, what: str, tick: str) -> None:
    """Of all operators in one process in `test_circuits_in_buckets`."""
    made = {placement: job(DIVIDED[what], placement, tick) for placement in ("driver", "buckets")}
    assert made["buckets"].placement.key[0] == "k"
    here, one = outputs_here(recorded, tmp_path / "driver", made["driver"])
    assert lines(list(map(json.loads, here.splitlines()))) == batch(DIVIDED[what], recorded)
    there, other = outputs(spark, recorded, tmp_path / "buckets", made["buckets"])
    assert here == there
    assert (one["rows"], one["quarantined"]) == (other["rows"], other["quarantined"])
    assert other["peak"] <= one["peak"] <= one["limit"]
    assert (tmp_path / "buckets" / "checkpoint" / "buckets").is_dir()


def test_a_sum_beyond_its_type_stops_the_run_in_buckets(spark: Any, tmp_path: Path) -> None:
    """As a batch query would, with the sum that does not fit."""
    catalog = {"streams": {"S": {"timestamp": "ts", "columns": COLUMNS, "domain": {"k": [0, 6]}}}}
    made = streambound.compile("SELECT k, SUM(v) AS s FROM S GROUP BY k", catalog, placement="buckets").compiled.job
    write(tmp_path / "in" / "S.jsonl", *({"k": 1, "v": 2**62, "ts": n} for n in range(2)))
    files = [f"--{name}={tmp_path / name}" for name in ("output", "quarantine", "checkpoint")]
    with pytest.raises(OverflowError, match="the sum does not fit bigint"):
        run_with(spark, made, ["--input", str(tmp_path / "in"), *files])


def test_a_job_that_takes_back_is_killed(recorded: Path, tmp_path: Path) -> None:
    """Started again it prints what one run does, byte for byte, and quarantines the same rows.

    `test_kill` has the other steps, `test_embedded` a process that is killed when its state is saved.
    """
    compiled = streambound.compile(TOGETHER, CATALOG).compiled
    whole, _ = outputs_here(recorded, tmp_path / "whole", compiled.job)
    printed = list(map(json.loads, whole.splitlines()))
    assert lines(printed) == batch(TOGETHER, recorded)
    assert sum(row["_mult"] < 0 for row in printed) > 5
    folder = tmp_path / "killed"
    compiled.write(folder)
    (folder / "in").symlink_to(recorded)
    steps = (
        ("amid the results", 1),
        ("never", -1),
    )
    for point, number in steps:
        process = started(folder, point, number, "--files-per-batch", "2")
        said, _ = process.communicate(timeout=550)
        assert process.returncode == (0 if point == "never" else -signal.SIGKILL), (point, said)
        assert (folder / "out.jsonl").exists() == (point == "never")
    assert (folder / "out.jsonl").read_text() == whole
    bad = read(folder / "bad.jsonl")
    assert Counter(row["reason"] for row in bad) == {"not-json": 2 * FILES, "absent-row": FILES}
    assert len({json.dumps(row) for row in bad}) == len(bad)
