"""Whose files a batch has where not all streams have brought some: by where they are, if that is clear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.jobs import kernel

S, T = {"/data/S/0.json": 7}, {"/data/T/a b/1.json": 5}


def by_home(found: list[dict[str, int]], *more: str, **paths: str) -> Any:
    """What a job makes of scans that are fewer than its streams."""
    streams = {
        name: {
            "timestamp": "ts",
            "columns": {"k": "bigint", "ts": "bigint"},
            "source": {"format": "json", "path": paths.get(name, f"/data/{name}")},
        }
        for name in "STU"
    }
    job = kernel("SELECT S.k FROM S, T, U WHERE S.k = T.k AND T.k = U.k AND T.k IN (1, 2)", {"streams": streams})
    return job.by_home(found, job.arguments([*more]))


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ({}, [S, T, {}]),
        ({"S": "file:///data/S", "T": "file:/data/T"}, [S, T, {}]),
        ({"S": "hdfs:///data/S"}, None),  # which is not on this machine
        ({"S": "/data/S*", "T": "/data/[T]"}, None),
        ({"S": "/x/../data/./S", "U": "/data/other"}, [S, T, {}]),
        ({"U": "/data/S"}, None),
        ({"U": "/data"}, None),
        ({"S": "/data/s"}, None),
        ({"T": "/data/T/a b"}, [S, T, {}]),
    ],
)
def test_files_are_those_of_the_only_stream_that_has_them(paths: dict[str, str], expected: Any) -> None:
    assert by_home([S, T], **paths) == expected
    assert by_home([T, S], **paths) == expected


def test_paths_of_the_catalog_start_at_base() -> None:
    assert by_home([S], "--base", "/data", S="S", T="T", U="U") == [S, {}, {}]
    assert by_home([S, {"/data/S/1.json": 1}], "--base", "/data", S="S", T="T", U="U") is None


def test_files_of_the_input(tmp_path: Path) -> None:
    """A file per stream, or a directory of them."""
    for name in ("S.jsonl", "T/0.jsonl", "T/1.jsonl", "U/0.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for number, name in enumerate(("S.jsonl", "T/1.jsonl", "U/0.jsonl")):
        files = {f"{tmp_path}/{name}": 0}
        expected: list[dict[str, int]] = [{}, {}, {}]
        expected[number] = files
        assert by_home([files], "--input", str(tmp_path)) == expected
