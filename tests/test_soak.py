"""The soak: what it expects is what the plain SQL says, its disorder is what it declares, and it sees a difference."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from streambound.benchmarks import soak
from streambound.benchmarks.soak_input import Disorder, compared, write_disordered
from support.profiles import MORE

DENSE = replace(soak.WORKLOAD, shares={"S": 0.2, "T": 0.4, "U": 0.4}, values={"A": (0, 6), "B": (0, 5), "C": (0, 9)})


def plain(folder: Path) -> Counter[tuple[Any, ...]]:
    """W2 as it stands, by DuckDB, with the time at which a result becomes true."""
    connection = duckdb.connect()
    for name in "STU":
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{folder}/{name}/*.parquet')")
    sql = soak.WORKLOAD.sql.replace(" FROM", ", greatest(S.ts, T.ts, U.ts) FROM")
    return Counter(connection.execute(sql).fetchall())


def print_job(folder: Path, results: Counter[tuple[Any, ...]]) -> None:
    """Results as a job's Parquet sink would hold them."""
    (folder / "batch=000000000").mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE r (A BIGINT, B BIGINT, _ts BIGINT, _mult BIGINT)")
    connection.executemany("INSERT INTO r VALUES (?, ?, ?, ?)", [(*row, n) for row, n in results.items()])
    connection.execute(f"COPY r TO '{folder}/batch=000000000/part.parquet' (FORMAT parquet)")


@pytest.mark.parametrize("seed", range(MORE))
def test_what_is_expected_is_what_the_plain_join_returns(tmp_path: Path, seed: int) -> None:
    write_disordered(tmp_path / "in", DENSE, 600 + seed, 200, Disorder(7, 3, seed))
    results = plain(tmp_path / "in")
    print_job(tmp_path / "out", results)
    found = compared(tmp_path / "in", tmp_path / "out")
    assert found.equal and found.differing == []
    assert (found.job.different, found.job.all) == (len(results), results.total())
    assert len(results) > 100


@pytest.mark.parametrize("change", ["a row less", "one more of a row", "another value"])
def test_a_difference_is_seen_and_shown(tmp_path: Path, change: str) -> None:
    write_disordered(tmp_path / "in", DENSE, 600, 200, Disorder(7, 3, 0))
    results = plain(tmp_path / "in")
    (a, b, ts), n = sorted(results.items(), key=lambda item: item[0][2])[5]
    if change == "a row less":
        del results[a, b, ts]
    elif change == "one more of a row":
        results[a, b, ts] += 1
    else:
        results[a + 100, b, ts] = results.pop((a, b, ts))
    print_job(tmp_path / "out", results)
    found = compared(tmp_path / "in", tmp_path / "out")
    assert not found.equal
    expected = {
        "a row less": [(ts, a, b, 0, n)],
        "one more of a row": [(ts, a, b, n + 1, n)],
        "another value": [(ts, a, b, 0, n), (ts, a + 100, b, n, 0)],
    }
    assert found.differing == expected[change]


def test_rows_come_out_of_order_within_the_lateness(tmp_path: Path) -> None:
    disorder = Disorder(lateness=40, apart=25, seed=3)
    written = write_disordered(tmp_path, DENSE, 5_000, 1_000, disorder)
    behind = across = 0
    for name in "STU":
        latest = before = -1
        for file in sorted((tmp_path / name).iterdir()):
            for ts in pq.read_table(file).column("ts").to_pylist():
                assert ts >= latest - disorder.lateness
                behind += ts < latest
                across += ts < before
                latest = max(latest, ts)
            before = latest
    assert (written.rows, written.files) == (5_000, 5)
    assert (written.out_of_order, written.across_files) == (behind, across)
    assert behind > 2_000 and across > 50
    rows = {name: sum(pq.read_table(file).num_rows for file in (tmp_path / name).iterdir()) for name in "STU"}
    assert sum(rows.values()) == 5_000


def test_it_starts_from_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        soak.main(["--folder", str(tmp_path)])
    assert caught.value.code == 2
    assert "a soak starts from nothing" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        soak.main(["--rows", "10", "--batch", "5", "--kills", "2"])
    assert "2 kills need more than 2 batches" in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.slow
def test_a_small_soak_with_a_kill(tmp_path: Path) -> None:
    """A larger job than those that tests/synopsis_exec/test_kill.py kills, at any moment."""
    script = str(Path(soak.__file__))
    size = ["--rows", "100000", "--batch", "25000", "--kills", "1", "--lateness", "300"]
    command = [sys.executable, script, *size, "--folder", str(tmp_path / "soak")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = dict(line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("|"))
    assert "kill 1: after batch " in done.stdout
    assert figures["tuples, in files per stream"] == "100,000 in 4"
    assert figures["read by the job, quarantined"] == "100,000, 0"
    different = figures["different results: job, DuckDB"].split(", ")
    assert different[0] == different[1] and int(different[0]) > 250
    assert figures["entries at most, M"] == "5, 5"
