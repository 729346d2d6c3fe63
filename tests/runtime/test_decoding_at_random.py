"""Random rows: whole columns are decoded as few rows are, and columns with types as lines.

What a row is, Spark says in `test_decoding_on_spark.py`, of the same lines.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.synopsis_exec.declared_table import declared_table
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.plan_ir import Input
from streambound.synopsis_exec.useful import is_useful, useful
from streambound_runtime.decoding.decoder import Decoder
from streambound_runtime.decoding.typed_columns import readable
from streambound_runtime.promises import Arrival, Domain, Mark, Partitions
from streambound_runtime.spec import SourceSpec, Stream, TableColumn
from support.broken_lines import CATALOG, SQL, row, spoilt
from support.decoded import one_by_one, told_of_columns, told_of_lines
from support.every_type import GOOD, LINES, TOKENS
from support.every_type import catalog as every_type
from support.product import decided
from support.profiles import MORE

FEW = 8
MARKED: dict[str, Any] = {
    "streams": {
        "S": {
            "timestamp": "ts",
            "columns": {"a": "int", "p": "string", "note": "string", "since": "bigint", "ts": "bigint"},
            "domain": {"a": [0, 50]},
            "punctuation": {"column": "note", "like": "a%", "since": "since"},
            "partitions": {"column": "p", "values": ["x", "a"]},
        }
    }
}


def inputs(sql: str, catalog: dict[str, Any]) -> tuple[Input, ...]:
    """The streams of a query, which need every column."""
    streams = make_plan(decided(sql, catalog), catalog_from_mapping(catalog)).streams
    return tuple(replace(item, columns=item.declared) for item in streams)


def compare(item: Input, lines: list[bytes]) -> tuple[int, int]:
    """How many rows are good, and how many bad."""
    table = declared_table(item)
    told = told_of_lines(table, lines, codes=True)
    for start in range(0, len(lines), FEW):
        part = lines[start : start + FEW]
        for line, found, other in zip(part, told[start:], told_of_lines(table, part, codes=True), strict=False):
            assert repr(found) == repr(other), line[:300]
    return sum(isinstance(found, dict) for found in told), sum(isinstance(found, str) for found in told)


@pytest.mark.parametrize("number", [0, 1])
def test_spoilt_lines(number: int) -> None:
    item, dice = inputs(SQL, CATALOG)[number], random.Random(number)
    columns = [column.name for column in item.declared]
    lines = [spoilt(dice, row(dice, columns)).encode("utf-8", "surrogatepass") for _ in range(400 * MORE)]
    good, bad = compare(item, lines)
    assert good > len(lines) // 9 and bad > len(lines) // 3


def test_every_value_as_every_type() -> None:
    """A few odd values among others, since a column is encoded at once where nothing is odd."""
    (item,), dice = inputs("SELECT S.n FROM S", every_type()), random.Random(3)
    cells = {name: token for name, (_, token) in GOOD.items()}
    lines = [{**cells, name: token} for name in GOOD for token in TOKENS] + [cells] * 300
    dice.shuffle(lines)
    written = [("{" + ", ".join(f'"{name}": {said}' for name, said in line.items()) + "}").encode() for line in lines]
    assert min(compare(item, [*written, *LINES[:-1]])) > 500


def test_punctuations_and_partitions() -> None:
    (item,), dice = inputs("SELECT S.a FROM S", MARKED), random.Random(5)
    values = {"a": '7 51 null "x"', "p": '"x" "a" "z" null 5', "note": '"a" "b" "ab" 7 null', "since": '0 5 null "x"'}
    lines = []
    for _ in range(1000 * MORE):
        cells = {name: dice.choice(tokens.split()) for name, tokens in (*values.items(), ("ts", "1 2 3 -1 null"))}
        lines.append(
            "{" + ", ".join(f'"{name}": {token}' for name, token in cells.items() if dice.random() < 0.9) + "}"
        )
    assert min(compare(item, [line.encode() for line in lines])) > 25
    found = Decoder(declared_table(item)).decode(pa.table({"value": lines}))
    assert len(found.ended) > 2


@pytest.mark.parametrize("number", [0, 1])
def test_useful_rows(number: int) -> None:
    plan, dice = make_plan(decided(SQL, CATALOG), catalog_from_mapping(CATALOG)), random.Random(7)
    item = replace(plan.streams[number], columns=plan.streams[number].declared)
    options = useful(item, plan)
    lines = [
        "{" + ", ".join(f"{name}: {token}" for name, token in row(dice, [c.name for c in item.declared])) + "}"
        for _ in range(600 * MORE)
    ]
    table = declared_table(item, options)
    told = one_by_one(table, Decoder(table).decode(pa.table({"value": lines})), len(lines))
    every = told_of_lines(declared_table(item), [line.encode() for line in lines])
    expected = [found if is_useful(found, options) else None for found in every]
    assert told == expected
    assert 0 < sum(found is not None for found in told) < len(lines) // 2


# --- columns with types -----------------------------------------------------------------------------------------------

COLUMNS: dict[str, tuple[str, pa.DataType, list[Any]]] = {
    "t": ("tinyint", pa.int8(), [-128, 127]), "i": ("int", pa.int32(), [0, 9, -1, 2**31 - 1]),
    "l": ("bigint", pa.int64(), [2**63 - 1, -(2**63)]), "b": ("boolean", pa.bool_(), [True, False]),
    "x": ("double", pa.float64(), [0.1, -0.0, 1e300, 99.5]), "f": ("float", pa.float32(), [0.5, 0.25]),
    "d": ("decimal(9,3)", pa.decimal128(9, 3), [Decimal("-1.250"), Decimal("99.999")]),
    "w": ("decimal(38,2)", pa.decimal128(38, 2), [Decimal(10**30), Decimal("-0.01")]),
    "day": ("date", pa.date32(), [date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)]),
    "at": ("timestamp", pa.timestamp("us", "UTC"), [datetime(2024, 1, 1, 1, 2, 3, 456789, UTC)]),
    "n": ("timestamp_ntz", pa.timestamp("us"), [datetime(1900, 1, 1), datetime(2024, 1, 1, 0, 0, 0, 1)]),
    "s": ("string", pa.string(), ["a", "é", "", "it's \\", "z"]), "p": ("string", pa.string(), ["a", "b", "z"]),
    "note": ("varchar(9)", pa.string(), ["end", "end of", "row"]), "ts": ("bigint", pa.int64(), [0, 5, -1]),
}  # fmt: skip
DOMAINS = {
    "i": Domain(-1, 9), "x": Domain(high=1e9), "d": Domain(-1250, 50_000), "s": Domain(values=("a", "é", "it's \\")),
    "w": Domain(0), "day": Domain(high=20_000), "b": Domain(values=(1,)),
}  # fmt: skip


def token(value: Any) -> str:
    """A value as a line of JSON has it."""
    if isinstance(value, date | datetime):
        return f'"{value.isoformat()}"'
    return f"{value}" if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("seed", range(6 * MORE))
def test_columns_with_types_are_told_as_lines(seed: int) -> None:
    dice = random.Random(seed)
    names = [name for name in COLUMNS if name == "ts" or dice.random() < 0.6]
    declared = tuple(TableColumn(n, COLUMNS[n][0], DOMAINS.get(n) if dice.random() < 0.5 else None) for n in names)
    arrival = Arrival(
        mark=Mark("note", like="end%") if "note" in names and dice.random() < 0.5 else None,
        partitions=Partitions("p", ("b", "a")) if "p" in names and dice.random() < 0.5 else None,
    )
    stream = Stream("S", declared, "ts", tuple(n for n in names if n != "ts"), arrival=arrival)
    rows = []
    for _ in range(200):
        rows.append({n: None if dice.random() < 0.05 else dice.choice(COLUMNS[n][2]) for n in names})
    lines = ["{" + ", ".join(f'"{n}": {token(value)}' for n, value in row.items()) + "}" for row in rows]
    raw = pa.table({n: pa.array([row[n] for row in rows], COLUMNS[n][1]) for n in names})
    typed = replace(stream, source=SourceSpec("parquet"))
    assert readable(raw.schema, typed) is None
    told = told_of_columns(typed, raw)
    assert list(map(repr, told)) == list(map(repr, told_of_lines(stream, [line.encode() for line in lines])))
    mine, theirs = (Decoder(typed).decode(raw, 3), Decoder(stream).decode(pa.table({"value": lines}), 3))
    assert (mine.largest, mine.ended, mine.rows) == (theirs.largest, theirs.ended, theirs.rows)
    assert mine.rejected.select(["reason", "part", "ts"]).equals(theirs.rejected.select(["reason", "part", "ts"]))
    assert any(isinstance(row, str) for row in told) and any(isinstance(row, dict) for row in told)
