"""JSON objects that are good rows, and those that are not: of every type, and for every reason."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from streambound_runtime.decoding.contracts import pattern_of
from streambound_runtime.decoding.decoder import Decoder, Ended
from streambound_runtime.decoding.reasons import detail
from streambound_runtime.decoding.row_text import MOST_SHOWN
from streambound_runtime.operators import plan
from streambound_runtime.promises import Arrival, Domain, Mark, Partitions
from streambound_runtime.spec import Relation, SourceSpec, Stream, TableColumn
from support.decoded import told_of_lines

TS = TableColumn("ts", "bigint")
where = plan.Test


def of_type(kind: str, domain: Domain | None = None) -> Stream:
    return Stream("S", (TableColumn("a", kind, domain), TS), "ts", ("a",))


def read_as(kind: str, *tokens: str) -> list[Any]:
    """What JSON values are, encoded; the detail of those that are not good."""
    lines = [f'{{"a": {token}, "ts": 0}}'.encode() for token in tokens]
    told = told_of_lines(of_type(kind), lines)
    assert told == [told_of_lines(of_type(kind), [line])[0] for line in lines], "also one by one"
    return [row["a"] if isinstance(row, dict) else row for row in told]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("tinyint", {"null": None, "-128": -128, "128": "a is out of the range of tinyint", "2147483648": ...}),
        ("smallint", {"32767": 32767, "32768": ..., "true": ..., '"1"': ..., "1.0": ...}),
        ("int", {"-2147483648": -(2**31), "2147483648": ..., "1e2": ..., "[]": ...}),
        ("bigint", {"9223372036854775807": 2**63 - 1, "9223372036854775808": ..., "-0": 0}),
        ("boolean", {"true": 1, "false": 0, "1": ..., '"true"': ..., "null": None}),
        ("double", {"1": 1.0, "0.1": 0.1, "1e999": float("inf"), '"NaN"': "a is NaN", "NaN": "a is NaN", '"1"': ...,
                    '"-INF"': float("-inf"), "-Infinity": float("-inf"), "true": ..., "1" + "0" * 400: float("inf")}),
        ("float", {"0.1": 0.10000000149011612, "1e39": float("inf"), "null": None, "16777217": 16777216.0}),
        ("decimal(6,2)", {"1.245": 125, "-1.245": -125, "1.244": 124, "7": 700, '"1,000"': 100000, "9999.995": ...,
                          "99999": ..., '".5"': 50, "true": ..., "NaN": ..., '"x"': ..., "1e-401": 0, "1e401": ...}),
        ("decimal(30,4)", {"1": 10000, "12345678901234567890.12345": 123456789012345678901235, "null": None,
                           "1e26": ...}),
        ("decimal", {"2.5": 3, "-2.5": -3, "9999999999": 9999999999, "10000000000": ...}),
        ("date", {'"1970-01-02"': 1, '"2024"': 19723, '"2024-2-3"': 19756, '"2023-02-29"': ..., "5": ...,
                  '" 1970-01-02 "': 1, '"\\u00a01970-01-02"': ..., '"10000-01-01"': "a is outside the years 1 to 9999",
                  '"0000-12-31"': "a is outside the years 1 to 9999", "null": None}),
        ("timestamp", {'"1970-01-01T00:00:01Z"': 10**6, '"1970-01-01 00:00:00.5"': 500_000, "7": 7 * 10**6,
                       '"1970-01-01T01:00:00+01:00"': 0, '"1970-01-01T01:00:00 Europe/Paris"': 0, "7.5": ...,
                       '"1970-01-01T00:00:00.1234567"': 123_456, '"1970-01-01T24:00:00"': ..., '"x"': ...,
                       '"0001-01-01T00:00:00+01:00"': "a is outside the years 1 to 9999", "null": None}),
        ("timestamp_ntz", {'"1970-01-01T00:00:01"': 10**6, '"1970-01-01T00:00:01Z"': ..., "7": ...}),
        ("string", {'"x"': "x", '"\\ud800"': "?", '"\\ud83d\\ude00"': "😀", "1.50": "1.5", "1e2": "100.0",
                    "1e999": "1e999", "7": "7", "NaN": '"NaN"', "-Infinity": '"-Infinity"',
                    "[NaN]": '["NaN"]', "true": "true", "1e9": "1.0E9",
                    '[1, {"b" : 2.50}]': '[1,{"b":2.5}]',
                    "null": None}),
        ("array<int>", {"[1]": 1, '"x"': 1, "null": None}),
        ("struct<b: int>", {"{}": 1}),
    ],
)  # fmt: skip
def test_json_values(kind: str, values: dict[str, Any]) -> None:
    wrong = detail("wrong-type", TableColumn("a", kind))
    expected = [wrong if value is ... else value for value in values.values()]
    assert read_as(kind, *values) == expected
    assert [repr(value) for value in read_as(kind, *values)] == list(map(repr, expected)), "of the same types, too"


LINES = {
    b"": None, b"   ": None, b"\t": "not a JSON object", b"[]": "not a JSON object", b"null": "not a JSON object",
    b'{"a": "\xff", "ts": 1}': "not UTF-8", b'{"a": 1}': "ts is missing", b"{}": "a is missing",
    b'{"a": 1, "ts": null}': "ts, the timestamp, is NULL", b'{"a": 1, "ts": -1}': "ts is before 0, where time starts",
    b'{"ts": "x", "a": "x"}': "a is not an int", b'{"a": -1, "ts": "x"}': "ts is not a bigint",
    b'{"a": 10, "ts": -1}': "a is outside its domain", b'{"a": 9, "ts": 2}': {"ts": 2, "a": 9},
    b' {"ts": 3, "more": [{}], "a": null} ': {"ts": 3, "a": None}, b'{"a": 1, "ts": 2} {}': "not a JSON object",
    b'{"a": 1, "a": 2, "ts": 5}': {"ts": 5, "a": 2}, b"\xef\xbb\xbf{}": "not a JSON object",
    b'{"a": 1, "ts": 5, "x": ' + b"[" * 400 + b"]" * 400 + b"}": {"ts": 5, "a": 1},
    b'{"a": 1, "ts": 5, "x": ' + b"[" * 500 + b"]" * 500 + b"}": "not a JSON object",
    b'{"a": 1, "ts": 5, "x": "' + b"[" * 5000 + b'"}': {"ts": 5, "a": 1},
    b'{"a": ' + b"1" * 1001 + b', "ts": 5}': "a is not an int",
    b'{"a": 1, "ts": 5, "x": ' + b"1" * 9001 + b"}": "not a JSON object",
}  # fmt: skip


def test_lines() -> None:
    stream = of_type("int", Domain(0, 9))
    assert told_of_lines(stream, list(LINES)) == list(LINES.values())
    many = [*LINES] * 700
    found = Decoder(stream).decode(pa.table({"value": pa.array(many, pa.binary()), "line": range(len(many))}))
    assert found.rows == len(many) - 1400 and found.largest == {0: 5}
    assert [many[place] for place in found.good_at[:3]] == [
        line for line, row in LINES.items() if isinstance(row, dict)
    ][:3]
    bad = [(place, line) for place, line in enumerate(many) if isinstance(LINES[line], str)]
    assert found.rejected["line"].to_pylist() == [place for place, _ in bad] == found.rejected_at.tolist()
    assert found.rejected["row"].to_pylist() == [line.decode("utf-8", "replace")[:MOST_SHOWN] for _, line in bad]


@pytest.mark.parametrize(
    "line", ["null", "5", "{}null", '{"a":1}null', "{} null {}", "[null]", "", "{", "}", "{}{}", "\x00"]
)
def test_what_no_parser_survives(line: str) -> None:
    """Good lines beside it stay good: lines are parsed many at once."""
    good, told = b'{"a": 1, "ts": 2}', {"ts": 2, "a": 1}
    bad = "not a JSON object" if line else None
    assert told_of_lines(of_type("int"), [good, line.encode(), good, line.encode()]) == [told, bad, told, bad]


def test_lines_are_the_same_whatever_pythons_limit_on_digits_is() -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert told_of_lines(of_type("int", Domain(0, 9)), list(LINES)) == list(LINES.values())
    finally:
        sys.set_int_max_str_digits(before)


def test_records_of_a_queue_are_never_blank() -> None:
    stream = replace(of_type("int"), source=SourceSpec("kafka", payload="value"))
    raw = pa.table({"value": pa.array([None, b" ", b'{"a": 1, "ts": 5}'], pa.binary()), "partition": [1, 2, 3]})
    found = Decoder(stream).decode(raw.append_column("offset", pa.array([7, 8, 9])))
    assert found.rejected.select(["reason", "detail", "row", "partition", "offset"]).to_pylist() == [
        {"reason": "no-value", "detail": "the record has no value", "row": None, "partition": 1, "offset": 7},
        {"reason": "not-json", "detail": "not a JSON object", "row": " ", "partition": 2, "offset": 8},
    ]
    assert found.rows == 3


def test_what_a_good_row_is() -> None:
    stream = Stream(
        "S",
        (
            TableColumn("p", "string"),
            TableColumn("a", "decimal(20,0)"),
            TableColumn("ts", "int"),
            TableColumn("at", "timestamp"),
        ),
        "at",
        ("ts", "a", "p"),
        ((where("ts", ">", None, 1), where("ts", "<=", "a")), (where("p", "is null"), where("p", "in", None, ("x",)))),
        arrival=Arrival(partitions=Partitions("p", ("x", "y"))),
    )
    lines = [
        f'{{"p": "{p}", "a": {a}, "ts": {ts}, "at": {at}}}'
        for p, a, ts, at in [("x", 5, 5, 1), ("y", 10**19, 2, 2), ("z", 5, 5, 9), ("y", 1, 2, 8), ("y", 5, 3, 0)]
    ]
    found = Decoder(stream).decode(pa.table({"value": lines}), late_before=1)
    assert found.good.schema.types == [pa.int32(), pa.int64(), pa.int64(), pa.decimal128(38, 0), pa.string()]
    assert found.good.schema.names == ["part", "ts", "ts", "a", "p"]
    assert [column.to_pylist() for column in found.good.columns] == [
        [0, 1], [10**6, 2 * 10**6], [5, 2], [Decimal(5), Decimal(10**19)], ["x", "y"]
    ]  # fmt: skip
    assert found.largest == {0: 10**6, 1: 8 * 10**6}, "useful or not"
    rejected = found.rejected.select(["reason", "detail", "part", "ts"]).to_pylist()
    assert [tuple(row.values()) for row in rejected] == [
        ("unknown-partition", "p is none of the declared partitions", None, None), ("late", None, 1, 0)
    ]  # fmt: skip
    assert Decoder(replace(stream, useful=())).decode(pa.table({"value": lines})).good.num_rows == 0


MARKED = Stream(
    "S",
    (
        TableColumn("a", "int", Domain(0, 9)),
        TableColumn("note", "string", Domain(values=("row",))),
        TableColumn("since", "bigint"),
        TS,
    ),
    "ts",
    ("a",),
    arrival=Arrival(mark=Mark("note", like="end\\_%", since="since")),
)


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ('{"note": "end_", "since": 3, "ts": 5}', Ended(0, 3, 5)),
        ('{"note": "end_ of", "since": 0, "ts": 5, "a": "x"}', Ended(0, None, 5)),
        ('{"note": "end_", "since": null, "ts": 5, "a": 99}', Ended(0, None, 5)),
        ('{"note": "end", "since": null, "ts": 5, "a": 1}', "note is outside its domain"),
        ('{"note": "end_", "ts": 5}', "since is missing"),
        ('{"note": "end_", "since": 1, "ts": null}', "ts, the timestamp, is NULL"),
        ('{"note": "end_", "since": "x", "ts": 1}', "since is not a bigint"),
        ('{"note": "row", "since": 1, "ts": 1}', "a is missing"),
        ('{"note": "row", "since": 1, "ts": 1, "a": 7}', {"ts": 1, "a": 7}),
    ],
)
def test_punctuations(record: str, told: Any) -> None:
    found = Decoder(MARKED).decode(pa.table({"value": [record]}), late_before=0)
    assert found.ended == (frozenset([told]) if isinstance(told, Ended) else frozenset())
    assert told_of_lines(MARKED, [record.encode()]) == [None if isinstance(told, Ended) else told]
    assert found.largest == ({0: 1} if isinstance(told, dict) else {}), "a punctuation is no row"


def test_punctuations_are_told_by_a_value_too() -> None:
    stream = replace(MARKED, arrival=Arrival(mark=Mark("a", value=7), partitions=Partitions("since", (1, 2))))
    lines = [f'{{"a": {a}, "note": "row", "since": 2, "ts": {a}}}' for a in (7, 6)]
    found = Decoder(stream).decode(pa.table({"value": lines}))
    assert (found.ended, found.largest) == (frozenset([Ended(1, None, 7)]), {1: 6})


def test_like_is_a_pattern_of_the_whole_text() -> None:
    texts = ["end_", "end_x\ny", "endx", "xend_", "", "."]
    assert [bool(re.match(pattern_of("end\\_%").replace("\\z", "\\Z"), text)) for text in texts] == [
        True, True, False, False, False, False
    ]  # fmt: skip
    stream = replace(MARKED, arrival=Arrival(mark=Mark("note", like="_")))
    lines = [f'{{"note": "{text}", "ts": 1}}' for text in ("é", "\\n", "ab", "")]
    found = Decoder(stream).decode(pa.table({"value": lines}))
    assert (len(found.ended), found.rejected.num_rows) == (1, 2)


def test_relations_have_no_time() -> None:
    relation = Relation("R", (TableColumn("a", "int"), TableColumn("b", "string")), ("b",))
    raw = pa.table({"value": ['{"a": 1, "b": "x"}', '{"a": "1", "b": "y"}', '{"a": null, "b": null}']})
    found = Decoder(relation).decode(raw)
    assert found.good.to_pylist() == [{"b": "x"}, {"b": None}]
    assert found.rejected.column_names == ["reason", "detail", "row", "length"]
    assert Decoder(replace(relation, needs=())).decode(raw).good.num_rows == 2
    empty = Decoder(relation).decode(raw.slice(0, 0))
    assert (empty.good.num_rows, empty.rejected.num_rows, empty.rows) == (0, 0, 0)
