"""A run on Spark and a replay without it: the same rows are good, with the same values, and the same reasons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.synopsis_exec.codegen import job_text
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.recorded import read_row, recorded_rows
from streambound.synopsis_exec.simulate import load_kernel
from support.every_type import GOOD, UNUSED, catalog, line, lines
from support.product import decided

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_spark_and_replay_agree_on_every_row(spark: Any, tmp_path: Path) -> None:
    used = ", ".join(f"S.{name}" for name in GOOD if name not in (*UNUSED, "ts"))
    declared = catalog_from_mapping(catalog())
    plan = make_plan(decided(f"SELECT {used} FROM S", catalog()), declared)
    job = load_kernel(job_text(plan))
    (tmp_path / "S.jsonl").write_bytes(b"\n".join(lines()) + b"\n")
    good, bad = job.relation_rows(spark, job.STREAMS[0], job.arguments(["--input", str(tmp_path)]))
    expected = [(text, read_row(plan.streams[0], text)) for text in lines() if text.strip(b" ")]
    quarantined = [(text.decode("utf-8", "replace"), row) for text, row in expected if isinstance(row, str)]
    for (text, reason), found in zip(quarantined, bad, strict=False):
        assert (f"{found['reason']}: {found['detail']}", found["row"][:300]) == (reason, text[:300])
    assert len(bad) == len(quarantined)
    rows = [(text, row) for text, row in expected if not isinstance(row, str)]
    for (text, row), taken in zip(rows, good, strict=False):
        assert taken == row, text
    assert len(good) == len(rows) > 100
    assert len({reason for _, reason in quarantined}) > 30


def test_quarantine_does_not_depend_on_the_query(spark: Any, tmp_path: Path) -> None:
    declared = catalog_from_mapping(catalog())
    (tmp_path / "S.jsonl").write_bytes(b"\n".join(lines()) + b"\n")
    found = []
    for sql in (
        "SELECT 1 AS one FROM S",
        "SELECT S.s, S.n FROM S WHERE S.n > 100 AND S.x = 0.5",
        "SELECT S.day FROM S",
    ):
        job = load_kernel(job_text(make_plan(decided(sql, catalog()), declared)))
        found.append(job.relation_rows(spark, job.STREAMS[0], job.arguments(["--input", str(tmp_path)]))[1])
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 1000


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_line_endings_and_byte_order_marks(spark: Any, tmp_path: Path, ending: bytes, start: bytes) -> None:
    plan = make_plan(decided("SELECT S.s FROM S", catalog()), catalog_from_mapping(catalog()))
    job = load_kernel(job_text(plan))
    separated = line({"s": '"a\u2028b\u0085c"'})  # line ends for Python's text, not for Spark
    (tmp_path / "S.jsonl").write_bytes(start + ending.join([line({}), b"", line({"s": '"3"'}), separated, b"no"]))
    good, bad = job.relation_rows(spark, job.STREAMS[0], job.arguments(["--input", str(tmp_path)]))
    replayed = recorded_rows(plan.streams[0], tmp_path)
    assert good == replayed.rows
    assert [row["s"] for row in good] == ["text", "3"]
    assert (
        {row["detail"] for row in bad} == set(replayed.quarantined) == {"not a JSON object", "s is outside its domain"}
    )
    assert json.loads(bad[0]["row"])["s"] == "a\u2028b\u0085c"
