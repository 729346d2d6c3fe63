"""Bad rows of some of several streams: none is lost, whichever streams they are of."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from support.embedded import run_here
from support.jobs import job_of, read, write

STREAM = {"timestamp": "ts", "columns": {"k": "bigint", "ts": "bigint"}, "domain": {"k": [0, 79]}, "lateness": 100}
SQL = "SELECT S.k FROM S, T, U WHERE S.k = T.k AND T.k = U.k"
WRITTEN_OTHERWISE = '{"k": 7.0, "ts": 1}'
"""A row that is none."""
CHOICES = list(product((False, True), repeat=3))


def test_bad_rows_of_any_streams(tmp_path: Path) -> None:
    """In a batch for each choice among three streams a line is none, and one has what only some parsers take."""
    for name, batches in zip("STU", zip(*CHOICES, strict=True), strict=True):
        for number, some in enumerate(batches):
            good = [{"k": 10 * number + k, "ts": k} for k in range(10)]
            odd = [WRITTEN_OTHERWISE, {"k": 10 * number + 5, "more": "NaN", "ts": 3}] * some
            write(tmp_path / "in" / name / f"{number}.jsonl", *good, *odd, modified=1_600_000_000 + number)
    summary = run_here(job_of(SQL, {"streams": dict.fromkeys("STU", STREAM)}), tmp_path)
    assert summary["rows"] == dict.fromkeys("STU", 10 * 8 + 2 * 4)
    assert [(row["batch"], row["stream"]) for row in read(tmp_path / "quarantine")] == [
        (number, name)
        for number, having in enumerate(CHOICES)
        for name, some in zip("STU", having, strict=True)
        if some
    ]
    found = dict.fromkeys(range(80), 0)
    for row in read(tmp_path / "output"):
        found[row["k"]] += row["_mult"]
    assert found == {k: 2 ** sum(CHOICES[k // 10]) if k % 10 == 5 else 1 for k in range(80)}
