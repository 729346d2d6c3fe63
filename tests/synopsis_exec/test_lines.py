"""Lines of JSON read on the driver: where it is sure of a line, Spark tells the same of it."""

from __future__ import annotations

import argparse
import json
import random
from typing import Any

import pyarrow as pa
import pytest

from support.jobs import kernel
from support.profiles import MORE

COLUMNS = {
    "b": "boolean", "d": "date", "i": "int", "k": "string", "l": "bigint", "n": "timestamp_ntz", "s": "smallint",
    "t": "tinyint", "ts": "timestamp", "v": "varchar(9)", "x": "double",
}  # fmt: skip
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {
            "timestamp": "ts",
            "columns": COLUMNS,
            "domain": {
                "i": [-3, 99],
                "k": {"values": ["a", "b", "é", "it's"]},
                "x": [-0.5, 1e9],
                "d": ["1999-01-01", "2030-01-01"],
            },
        },
        "P": {
            "timestamp": "ts",
            "columns": {"p": "string", "l": "bigint", "ts": "timestamp"},
            "partitions": {"column": "p", "values": ["x", "y"]},
        },
    }
}
SQL = (
    "SELECT S.i, S.k FROM S, P WHERE S.l = P.l AND S.i BETWEEN 0 AND 9 AND S.x > 0.25 AND S.s < S.t AND S.v <> 'v' "
    "AND S.l BETWEEN 0 AND 5 AND S.b IS NOT NULL AND P.p = 'x' AND S.k = 'a'"
)
GOOD = {
    "b": ("true", "false", "null"),
    "d": ('"2024-02-29"', '"1999-01-01"', "null"),
    "i": ("0", "7", "-3", "99", "-0", "null"),
    "k": ('"a"', '"b"', '"\\u0061"', '"é"', '"it\'s"', '"\\u00e9"', "null"),
    "l": ("0", "5", "9223372036854775807", "-9223372036854775808", "null"),
    "n": ('"2024-01-01T00:00:00"', '"2024-01-01 00:00:00.5"', "null"),
    "p": ('"x"', '"y"'),
    "s": ("-32768", "3", "null"),
    "t": ("-128", "127", "null"),
    "ts": (
        '"2024-01-01T00:00:00Z"',
        '"2024-01-01 00:00:01"',
        '"1969-12-31T23:59:59.999999Z"',
        '"9999-12-31T23:59:59.999999Z"',
    ),
    "v": ('"v"', '"😀"', '"\\ud83d\\ude00"', '"w}x"', "null"),
    "x": ("0.1", "1", "-0.25", "1e2", "1E-400", "123456789.123456789", "4.9e-324", "0", "null"),
}
ODD = r"""
1.0 | 1e2 | 01 | +1 | .5 | 1. | - | -0 | -0.0 | 1e400 | 9223372036854775808 | NaN | -Infinity | Infinity | Inf | -Inf
"NaN" | "1" | "true" | tru | True | nul | 'a' | "a | a" | [] | {} | [1] | {"a":1} | {"a":{"b":[1,{}]}} | "" | " " | 100
"\ud800" | "\u0000" | "\x" | "a\tb" | "a\/b" | 128 | -129 | 32768 | 2147483648 | -4 | 0.30000000000000004 | 1e22
"2024-02-30" | "2024-1-1" | "2024-01-01T24:00:00Z" | "2024-01-01T23:59:60Z" | "0000-01-01" | "2024-01-01" | "2024"
"2024-01-01T00:00:00+01:00" | 1704067200 | "2024-01-01T00:00:00.1234567Z" | "10000-01-01T00:00:00Z" | "-2024-01-01"
"2024-01-01T0:0:0" | "2024-01-01T00:00:00 Z" | "2024-01-01t00:00:00z" | "T00:00:00" | "2024-01-01\n" | "2031-01-01"
123456789012345678901234567890 | 2.2250738585072011e-308 | "9999-12-31" | "0001-01-01T00:00:00Z" | "0000-12-31T23:59:59"
"""
ODD_VALUES = (*ODD.strip().replace("\n", " | ").split(" | "), "1" * 400, '"\t"', '"\x01"', '"\x7f"', "1" * 1100)
CHARACTERS = "{}[]:,\"\\ \t\r\x0b\x00\x1f\x7f\ufeff\u00a0\u2028neE+-.0123ué😀/*#'"


def row(dice: random.Random, columns: list[str]) -> list[tuple[str, str]]:
    return [(json.dumps(name), dice.choice(GOOD[name])) for name in columns]


def spoilt(dice: random.Random, cells: list[tuple[str, str]]) -> str:
    """A line with some faults, or what may be one."""
    for _ in range(dice.choice((0, 1, 1, 2))):
        place = dice.randrange(len(cells))
        name, value = cells[place]
        match dice.randrange(7):
            case 0 | 1 | 2:
                cells[place] = (name, dice.choice(ODD_VALUES))
            case 3:
                del cells[place]
            case 4:
                cells.insert(dice.randrange(len(cells) + 1), (name, value))
            case 5:
                cells.insert(place, (dice.choice(('"more"', '"B"', '"tS"', '""', '"t.s"')), dice.choice(ODD_VALUES)))
            case _:
                cells[place] = (name.replace("s", "\\u0073"), value)
        cells = cells or [('"a"', "1")]
    colon, comma = dice.choice((":", ": ", " : ")), dice.choice((",", ", "))
    line = "{" + comma.join(f"{name}{colon}{value}" for name, value in cells) + "}"
    for _ in range(dice.choice((0, 0, 0, 0, 1, 2))):
        place = dice.randrange(len(line) + 1)
        line = line[:place] + dice.choice(CHARACTERS) * dice.randrange(2) + line[place + dice.randrange(2) :]
    after = ("",) * 20 + (
        " ",
        "\r",
        line,
        " null",
        "null",
        ",",
        " 5",
        "x",
        "\x00",
        "[]",
        "{}",
        "null{}",
        " " * 60_000,
        " " * 990,
    )
    return dice.choice((*("",) * 20, " ", "\ufeff", "[")) + line + dice.choice(after)


def lines_of(job: Any, number: int, count: int, seed: int) -> list[str]:
    dice = random.Random(seed)
    columns = [cell.column for cell in job.STREAMS[number].cells]
    return [spoilt(dice, row(dice, columns)).replace("\n", " ") for _ in range(count)]


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
        lines = ["{" + ", ".join(f"{k}: {v}" for k, v in row(dice, columns)) + "}" for _ in range(500)]
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
