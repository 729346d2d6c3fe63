"""Lines of JSON read on the driver: where it is sure of a line, Spark tells the same of it."""

from __future__ import annotations

import argparse
import random
from typing import Any

import pyarrow as pa
import pytest

from support.broken_lines import CATALOG, SQL, spoilt
from support.broken_lines import row as good_row
from support.jobs import kernel
from support.profiles import MORE


def lines_of(job: Any, number: int, count: int, seed: int) -> list[str]:
    dice = random.Random(seed)
    columns = [cell.column for cell in job.STREAMS[number].cells]
    return [spoilt(dice, good_row(dice, columns)).replace("\n", " ") for _ in range(count)]


@pytest.fixture(scope="module")
def job() -> Any:
    return kernel(SQL, CATALOG)


def sure_rows(job: Any, number: int, lines: list[str]) -> dict[str, dict[str, Any]]:
    """What the driver is sure of, by line."""
    sure = job.Sure(job.STREAMS[number], pa.array(lines, pa.string()))
    others = sure.others(number).column("value").to_pylist()
    assert sorted(others + [lines[place] for place in sure.where]) == sorted(lines)
    rows = sure.rows(number).drop(["bad", "reason", "text"]).to_pylist()
    return dict(zip((lines[place] for place in sure.where), rows, strict=True))


def test_lines_without_a_fault_are_sure(job: Any) -> None:
    dice = random.Random(1)
    for number, source in enumerate(job.STREAMS):
        columns = [cell.column for cell in source.cells]
        lines = ["{" + ", ".join(f"{k}: {v}" for k, v in good_row(dice, columns)) + "}" for _ in range(500)]
        plain = [line for line in lines if "w}x" not in line]
        assert len(sure_rows(job, number, plain)) == len(set(plain)) > 5


@pytest.mark.parametrize(
    "line", ["null", "5", "{}null", '{"a":1}null', "{} null {}", "[null]", "", "{", "}", "{}{}", "\x00"]
)
def test_what_no_parser_survives_is_left_to_spark(job: Any, line: str) -> None:
    """Arrow's parser dies of a line that is `null`."""
    good = '{"p": "x", "l": 1, "ts": "2024-01-01T00:00:00Z"}'
    assert list(sure_rows(job, 1, [good, line, good, line])) == [good]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_spark_tells_the_same_of_every_sure_line(spark: Any, job: Any) -> None:
    """However many bad lines are beside it."""
    options = job.arguments(["--input", "here"])
    for number in (0, 1):
        lines = list(dict.fromkeys(lines_of(job, number, 6000 * MORE, seed=number)))
        found = {**sure_rows(job, number, lines)}
        for start in range(0, len(lines), 40):  # Arrow reads most of these without a look at single lines
            alone = sure_rows(job, number, lines[start : start + 40])
            assert all(found[line] == told for line, told in alone.items())
        frame = spark.createDataFrame(pa.table({"source": pa.array([number] * len(lines), pa.int32()), "value": lines}))
        told = job.Arrived(frame, options).told
        wanted = [name for name in told.columns if not name.startswith("raw_")]
        by_spark = {
            row.pop(f"raw_{number}"): row for row in told.select(*wanted, f"raw_{number}").toArrow().to_pylist()
        }
        bad = sum(row["reason"] is not None for row in by_spark.values())
        assert min(len(found), bad) > len(lines) // 25
        for line, row in found.items():
            expected = by_spark[line]
            assert expected.pop("reason") is None, (line, row)
            assert repr({**row, "part": row.get("part", 0)}) == repr({name: expected[name] for name in row}), line


class Batch:
    """A batch of lines, without Spark: its bytes by Spark's estimate, its lines, and how often they were added up."""

    near = None

    def __init__(self, size: int | None, lines: list[bytes]) -> None:
        self.bytes, self.lines, self.added_up = size, lines, 0
        self.frame, self.sparkSession = self, self

    def toArrow(self) -> Any:
        texts = pa.StringArray.from_buffers(
            len(self.lines),
            pa.array(
                [sum(map(len, self.lines[:number])) for number in range(len(self.lines) + 1)], pa.int32()
            ).buffers()[1],
            pa.py_buffer(b"".join(self.lines)),
        )
        return pa.table({"source": pa.array([1] * len(self.lines), pa.int32()), "value": texts})

    def selectExpr(self, text: str) -> Any:
        self.added_up += 1
        return self

    def collect(self) -> list[Any]:
        return [argparse.Namespace(bytes=sum(map(len, self.lines)))]


GOOD_LINE = b'{"p": "x", "l": 1, "ts": "2024-01-01T00:00:00Z"}'


def test_how_large_batches_are_fetched_as_lines(job: Any) -> None:
    most = job.MOST_BYTES
    reader, packed = job.Reader(), Batch(most // 4, [b"x" * (most + 9)])
    assert reader.pays(Batch(most // 9, [])) and not reader.pays(Batch(most + 1, []))
    assert not reader.pays(packed), "its lines are four times as long as its files"
    assert packed.added_up == 1
    assert reader.pays(Batch(most // 5, [])) and not reader.pays(Batch(most // 3, []))
    assert not job.Reader().pays(Batch(None, [])), "nothing is known of the first batch from a queue"
    reader.rows = 1000
    assert reader.pays(Batch(None, []))
    reader.rows = job.MOST_OF_UNKNOWN + 1
    assert not reader.pays(Batch(None, []))


def test_lines_that_are_no_text_are_left_to_spark(job: Any) -> None:
    reader = job.Reader()
    assert reader.read(Batch(99, [GOOD_LINE] * 3)).num_rows == 3
    assert reader.read(Batch(99, [GOOD_LINE, b'{"p": "\xff", "l": 1}', GOOD_LINE])) is None


class Told:
    """What Spark tells of lines: of each the same."""

    dtypes = (("raw_0", "string"), ("raw_1", "string"))

    def __init__(self, frame: pa.Table, options: object) -> None:
        self.told, self.frame = self, frame

    def selectExpr(self, *columns: str) -> Any:
        return self

    def toArrow(self) -> Any:
        return self.frame


def test_spark_reads_some_batches_after_one_with_many_doubts(job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, others = job.Reader(), list[int]()

    def told_by_spark(self: Batch, lines: pa.Table) -> Any:
        others.append(lines.num_rows)
        return job.Sure(job.STREAMS[1], pa.array([GOOD_LINE.decode()] * lines.num_rows)).rows(1)

    monkeypatch.setattr(Batch, "createDataFrame", told_by_spark, raising=False)
    monkeypatch.setattr(Batch, "options", None, raising=False)
    monkeypatch.setattr(job, "Arrived", Told)
    odd = b'{"p": 1}'
    few, many = Batch(99, [GOOD_LINE, odd, GOOD_LINE, GOOD_LINE]), Batch(99, [odd, GOOD_LINE, odd])
    assert reader.read(few).num_rows == 4
    assert reader.pays(few)
    assert reader.read(many).num_rows == 3
    assert others == [1, 2]
    assert [reader.pays(few) for _ in range(job.RESTS + 1)] == [False] * job.RESTS + [True]
