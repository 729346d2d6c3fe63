"""Recorded streams in random micro-batches: nothing is lost, no row comes late, and files are as they were recorded."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from streambound.analyzer.errors import InputError
from streambound.synopsis_exec.bench import _in_batches, usable
from streambound.synopsis_exec.micro_batches import cut, recorded, write_batches
from support.plans import plan_of
from support.profiles import MORE

CATALOG = {
    "streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}}},
    "relations": {"R": {"columns": {"a": "bigint"}}},
}
PLAN = plan_of("SELECT S.a FROM S, R WHERE S.a = R.a", CATALOG)


@pytest.mark.parametrize("seed", range(13 * MORE))
def test_pieces_hold_every_row_once_and_follow_each_other_in_time(seed: int) -> None:
    random = Random(seed)
    times = sorted(random.randrange(20) for _ in range(random.randrange(40)))
    lines = [b'{"a": %d, "ts": %d}' % (place, now) for place, now in enumerate(times)]
    pieces = cut(random, PLAN.streams, {"S": lines}, 5)["S"]
    assert 1 <= len(pieces) <= 5
    assert Counter(line for piece in pieces for line in piece) == Counter(lines)
    latest = -1
    for piece in pieces:
        mine = [json.loads(line)["ts"] for line in piece]
        assert min(mine, default=latest) >= latest
        latest = max(mine, default=latest)


def test_the_rows_of_a_batch_are_shuffled_and_batches_differ_by_seed() -> None:
    lines = [b'{"a": 1, "ts": %d}' % now for now in range(50)]
    found = [cut(Random(seed), PLAN.streams, {"S": lines}, 4)["S"] for seed in range(5)]
    assert len({tuple(map(tuple, pieces)) for pieces in found}) == 5
    assert all(piece != sorted(piece) for pieces in found for piece in pieces if len(piece) > 20)


def test_streams_are_put_in_order_and_bad_rows_stay_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "S").mkdir()
    (tmp_path / "S" / "b.jsonl").write_bytes(b'{"a": 1, "ts": 2}\nnope\n\n')
    (tmp_path / "S" / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 1, "ts": 3}\n{"a": \xff}\n{"a": 1, "ts": 1}\n')
    (tmp_path / "R.jsonl").write_bytes(b'{"a": 1}\n')
    rows = recorded(PLAN, tmp_path)
    assert rows.streams["S"] == [
        b'{"a": 1, "ts": 1}',
        b'{"a": 1, "ts": 2}',
        b"nope",
        b'{"a": 1, "ts": 3}',
        b'{"a": \xff}',
    ]
    assert rows.relations == {"R": [b'{"a": 1}']}
    assert rows.size == 6


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no input for S"):
        recorded(PLAN, tmp_path)


def test_files_are_read_in_order(tmp_path: Path) -> None:
    assert write_batches(tmp_path, {"R": [b'{"a": 1}']}, {"S": [[b'{"a": \xff}'], [], [b"2", b"1"]]}) == 3
    files = sorted((tmp_path / "S").iterdir())
    assert [file.read_bytes() for file in files] == [b'{"a": \xff}\n', b"", b"2\n1\n"]
    assert len({file.stat().st_mtime for file in files}) == 3
    assert sorted(files, key=lambda file: file.stat().st_mtime) == files
    assert (tmp_path / "R" / "part-000000.jsonl").read_bytes() == b'{"a": 1}\n'


def test_micro_batches_without_rows_are_left_out() -> None:
    items = [("R", 0, b"r"), ("S", 1, b"1"), ("S", 3, b"2"), ("T", 3, b"3"), ("T", 3, b"4"), ("S", 4, b"5")]
    assert _in_batches("STU", items) == {
        "S": [[b"1"], [b"2"], [b"5"]],
        "T": [[], [b"3", b"4"], []],
        "U": [[], [], []],
    }
    assert _in_batches("ST", items[:1]) == {"S": [[]], "T": [[]]}


MARKED = {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}, "max_per_timestamp": 2}
MARKED["punctuation"] = {"column": "a", "value": 9}


def test_a_row_is_left_out_where_it_is_bad_or_may_be_late_or_too_many(tmp_path: Path) -> None:
    """The job's quarantine is believed for what a row alone cannot show, as often as it says so, and no more."""
    catalog = {"streams": {"S": MARKED, "T": {**MARKED, "domain": {"a": [0, 5]}}, "U": CATALOG["streams"]["S"]}}
    plan = plan_of("SELECT 1 AS one FROM S, T, U", catalog)
    one, two, six = (b'{"a": %d, "ts": 1}' % a for a in (1, 2, 6))
    items = [("S", 0, one), ("S", 1, one), ("S", 1, two), ("S", 2, six), ("S", 2, b'{"a": 9, "ts": 1}')]
    items += [("T", 0, one), ("T", 0, b"\xff"), ("T", 1, six), ("U", 0, one), ("U", 0, two), ("U", 0, two)]
    file = tmp_path / "bad.jsonl"

    def left(*bad: tuple[str, bytes, str]) -> list[tuple[str, bytes]]:
        rows = [{"stream": stream, "row": row.decode(), "reason": reason} for stream, row, reason in bad]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        found = usable(plan.inputs, items, file)
        return [(stream, row) for stream, _, row in items if (stream, _, row) not in found]

    always = [("S", b'{"a": 9, "ts": 1}'), ("T", b"\xff"), ("T", six)]
    many, late = "max-per-timestamp", "after-punctuation"
    assert left() == always
    assert left(("S", two, late), ("T", one, late)) == [("S", two), *always[:1], ("T", one), *always[1:]]
    assert left(("S", one, many), ("S", six, many)) == [("S", one), ("S", six), *always]
    assert left(("T", one, many), ("U", one, many), ("U", two, late), ("S", two, "missing-column")) == always
