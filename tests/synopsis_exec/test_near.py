"""Whose files a batch has where not all streams have brought some: by where they are, if that is clear."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.jobs import kernel

S, T = {"/data/S/0.json": 7}, {"/data/T/a b/1.json": 5}


def job_of(sources: dict[str, dict[str, Any]]) -> Any:
    """A job over streams of such sources."""
    streams = {
        name: {"timestamp": "ts", "columns": {"k": "bigint", "ts": "bigint"}, "source": source}
        for name, source in sources.items()
    }
    return kernel("SELECT S.k FROM S, T, U WHERE S.k = T.k AND T.k = U.k AND T.k IN (1, 2)", {"streams": streams})


def by_home(found: list[dict[str, int]], *more: str, **paths: str) -> Any:
    """What a job makes of scans that are fewer than its streams."""
    job = job_of({name: {"format": "json", "path": paths.get(name, f"/data/{name}")} for name in "STU"})
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
    """A file per stream, or a directory of them; whether they are still there does not matter."""
    for number, name in enumerate(("S.jsonl", "T/1.jsonl", "U/0.jsonl")):
        files = {f"{tmp_path}/{name}": 0}
        expected: list[dict[str, int]] = [{}, {}, {}]
        expected[number] = files
        for path in (str(tmp_path), f"{tmp_path}/x/../", os.path.relpath(tmp_path)):
            assert by_home([files], "--input", path) == expected


FILES = {"path": "/data"}
NEAR: list[tuple[list[dict[str, Any]], bool]] = [
    ([{"format": "json", **FILES}], True),
    ([{"format": "parquet", **FILES}], True),
    ([{"format": "json", **FILES}, {"format": "parquet", **FILES}], False),
    ([{"format": "csv", **FILES}], False),
    ([{"format": "json", "options": {"maxFilesPerTrigger": "1"}, **FILES}], True),
    ([{"format": "json", "options": {"lineSep": ";"}, **FILES}], False),
    ([{"format": "binaryFile", "payload": "content", **FILES}], False),
    ([{"format": "kafka", "payload": "value", "options": {"subscribe": "s"}}], False),
]


@pytest.mark.parametrize(("sources", "near"), NEAR)
def test_what_is_near(sources: list[dict[str, Any]], near: bool) -> None:
    job = job_of({name: sources[number % len(sources)] for number, name in enumerate("STU")})
    for master, local in (("local[2]", True), ("spark://far:7077", False)):
        spark = SimpleNamespace(sparkContext=SimpleNamespace(master=master))
        assert job.is_near(spark, job.arguments([])) == (near and local)
        assert job.is_near(spark, job.arguments(["--input", "in"])) == local
