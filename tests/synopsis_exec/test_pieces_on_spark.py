"""Bad rows of some of several streams: none is lost, whichever streams they are of."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from support.jobs import job_of, read, run, write

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

STREAM = {"timestamp": "ts", "columns": {"k": "bigint", "ts": "bigint"}, "domain": {"k": [0, 9]}, "lateness": 100}
SQL = "SELECT S.k FROM S, T, U WHERE S.k = T.k AND T.k = U.k"
WRITTEN_OTHERWISE = '{"k": 7.0, "ts": 1}'
"""A row that is none."""


@pytest.mark.parametrize("having", list(product((False, True), repeat=3)))
def test_bad_rows_of_any_streams(spark: Any, tmp_path: Path, having: tuple[bool, ...]) -> None:
    """Of some of three streams a line is none, and one has what only some parsers take for a number."""
    for name, some in zip("STU", having, strict=True):
        good = [{"k": k, "ts": k} for k in range(10)]
        write(tmp_path / "in" / f"{name}.jsonl", *good, *[WRITTEN_OTHERWISE, {"k": 5, "more": "NaN", "ts": 3}] * some)
    summary = run(spark, job_of(SQL, {"streams": dict.fromkeys("STU", STREAM)}), tmp_path)
    assert summary["rows"] == {name: 10 + 2 * some for name, some in zip("STU", having, strict=True)}
    assert [row["stream"] for row in read(tmp_path / "quarantine")] == [
        name for name, some in zip("STU", having, strict=True) if some
    ]
    found = {row["k"]: row["_mult"] for row in read(tmp_path / "output")}
    assert sum(row["_mult"] for row in read(tmp_path / "output")) == 9 + 2 ** sum(having), found
