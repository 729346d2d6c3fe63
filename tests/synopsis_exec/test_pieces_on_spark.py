"""What the driver sends to Spark in pieces arrives, also behind pieces without rows, which Spark takes for the end."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from support.jobs import kernel, read, run, write

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

STREAM = {"timestamp": "ts", "columns": {"k": "bigint", "ts": "bigint"}, "domain": {"k": [0, 9]}, "lateness": 100}
SQL = "SELECT S.k FROM S, T, U WHERE S.k = T.k AND T.k = U.k"
WRITTEN_OTHERWISE = '{"k": 7.0, "ts": 1}'
"""A row that only Spark can tell, and which is none."""


def test_tables_in_pieces(spark: Any) -> None:
    job = kernel(SQL, {"streams": dict.fromkeys("STU", STREAM)})
    for sizes in product((0, 2), repeat=4):
        table = pa.concat_tables([pa.table({"a": pa.array([size] * size, pa.int64())}) for size in sizes])
        assert table.column("a").num_chunks == 4
        assert job.on_spark(spark, table).count() == sum(sizes)


@pytest.mark.parametrize("having", list(product((False, True), repeat=3)))
def test_lines_for_spark_of_any_streams(spark: Any, tmp_path: Path, having: tuple[bool, ...]) -> None:
    """Of some of three streams a line is left to Spark; none of these is lost, whichever streams they are of."""
    for name, some in zip("STU", having, strict=True):
        good = [{"k": k, "ts": k} for k in range(10)]
        write(tmp_path / "in" / f"{name}.jsonl", *good, *[WRITTEN_OTHERWISE, {"k": 5, "more": "NaN", "ts": 3}] * some)
    summary = run(spark, kernel(SQL, {"streams": dict.fromkeys("STU", STREAM)}), tmp_path)
    assert summary["rows"] == {name: 10 + 2 * some for name, some in zip("STU", having, strict=True)}
    assert [row["stream"] for row in read(tmp_path / "quarantine")] == [
        name for name, some in zip("STU", having, strict=True) if some
    ]
    found = {row["k"]: row["_mult"] for row in read(tmp_path / "output")}
    assert sum(row["_mult"] for row in read(tmp_path / "output")) == 9 + 2 ** sum(having), found
