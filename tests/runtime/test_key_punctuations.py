"""Punctuations of keys in a job: what a record needs, what is quarantined, what stops it, and that restarts agree."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.decoding.raw import own
from streambound_runtime.errors import JobError
from streambound_runtime.promises import KeyMark
from streambound_runtime.spec import Stream, TableColumn
from support.circuits import Circuit, checked_circuit, run_circuit
from support.fed import Fed
from support.punctuated import auctions, bids, counted

SQL = "SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction"
COLUMNS = (TableColumn("a", "bigint"), TableColumn("b", "bigint"), TableColumn("kind", "string"))
STREAM = Stream(
    "S",
    (*COLUMNS, TableColumn("ts", "bigint")),
    "ts",
    ("a", "b", "kind"),
    marks=(KeyMark(("a",), "kind", "over", 3),),
    ends_keys=True,
)


def decoded(stream: Stream, *lines: str) -> Any:
    given = pa.table({own(stream, "value"): pa.array([line.encode() for line in lines], pa.binary())})
    return Decoder(stream, lines=True).decode(given)


def test_a_punctuation_needs_its_attributes_and_its_time() -> None:
    found = decoded(
        STREAM,
        '{"a": 1, "kind": "over", "ts": 4}',
        '{"a": 1, "b": "text", "kind": "over", "ts": 5}',
        '{"b": 1, "kind": "over", "ts": 6}',
        '{"a": 1, "kind": "over"}',
        '{"a": 1, "kind": "row", "ts": 7}',
        '{"a": 1, "b": 2, "kind": "row", "ts": 8}',
    )
    assert found.marks.tolist() == [True, True, False]
    assert found.good.column("ts").to_pylist() == [4, 5, 8]
    assert found.rejected.column("detail").to_pylist() == ["a is missing", "ts is missing", "b is missing"]
    assert found.largest == {0: 8}


def test_a_plan_that_does_not_use_them_gets_no_punctuations() -> None:
    found = decoded(replace(STREAM, ends_keys=False), '{"a": 1, "kind": "over", "ts": 9}')
    assert (found.good.num_rows, found.rejected.num_rows, found.largest) == (0, 0, {0: 9})


def lines_of(rows: list[dict[str, Any]]) -> list[str]:
    """As JSON; a punctuation has no more than it needs."""
    needed = ("auction", "kind", "ts")
    return [json.dumps({k: v for k, v in r.items() if r["kind"] == "bid" or k in needed}) for r in rows]


def run(folder: Path, rows: list[dict[str, Any]], cuts: list[int], catalog: dict[str, Any], again: bool) -> Fed:
    fed = Fed(Circuit({"sql": SQL, "catalog": catalog, "mode": "changes", "input": {}}).job, folder)
    for batch, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(rows)], strict=True)):
        fed.feed({"bid": lines_of(rows[start:end])}, batch)
        if again:  # a new process, and the batch once more
            fed.start()
            fed.feed({"bid": lines_of(rows[start:end])}, batch)
    fed.driver.finish()
    return fed


def printed(fed: Fed) -> Counter[tuple[Any, ...]]:
    found = Counter[tuple[Any, ...]]()
    for line in (fed.folder / "out.jsonl").read_text().splitlines():
        *values, n = json.loads(line).values()
        found[tuple(values)] += n
    return found


@pytest.mark.parametrize("again", [False, True])
def test_jobs_print_and_quarantine_the_same_however_rows_are_cut(tmp_path: Path, again: bool) -> None:
    rows, catalog = auctions(4), bids(max_per_timestamp=5)
    _, bad, _ = counted(rows)
    assert len(bad) > 3
    expected = run_circuit(checked_circuit(SQL, catalog), {"bid": rows}, ticks=None).printed
    for number, cuts in enumerate(([], [9, 20, 21, 50], [*range(3, len(rows), 20)])):
        folder = tmp_path / str(number)
        folder.mkdir()
        fed = run(folder, rows, list(cuts), catalog, again)
        assert printed(fed) == expected
        told = [json.loads(line) for line in (folder / "bad.jsonl").read_text().splitlines()]
        assert {row["reason"] for row in told} == {"after-punctuation"}
        shown = Counter((r["auction"], r["ts"]) for r in (json.loads(row["row"]) for row in told))
        assert shown == Counter((row["auction"], row["ts"]) for row in bad)
        assert max(report["entries"] for report in fed.reports if "entries" in report) <= 12


def test_punctuations_do_not_count_as_rows_of_a_timestamp(tmp_path: Path) -> None:
    rows = [{"auction": 1, "bidder": 0, "price": 0, "kind": kind, "ts": 3} for kind in ("bid", "closed")]
    fed = run(tmp_path, rows, [], bids(max_per_timestamp=1), False)
    assert printed(fed) == Counter({(1, 1, 3): 1})
    assert (tmp_path / "bad.jsonl").read_text() == ""


def test_rows_that_come_too_late_may_stop_the_job(tmp_path: Path) -> None:
    rows = [{"auction": 1, "bidder": 0, "price": 0, "kind": k, "ts": t} for k, t in (("closed", 1), ("bid", 2))]
    with pytest.raises(JobError, match="bid breaks its contract: a punctuation has ended its key"):
        run(tmp_path, [*rows, {**rows[1], "ts": 9}], [], bids(on_violation="stop"), False)


def test_too_many_open_keys_stop_the_job(tmp_path: Path) -> None:
    rows = [{"auction": k, "bidder": 0, "price": 0, "kind": "bid", "ts": k} for k in range(6)]
    with pytest.raises(JobError, match=r"at timestamp 4 5 values of auction are open in bid, more than .*max_open = 4"):
        run(tmp_path, rows, [], bids(), False)
