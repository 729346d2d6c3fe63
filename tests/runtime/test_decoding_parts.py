"""What the decoder is made of: names of types, reasons, ranges and lists, conditions, texts of rows."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from streambound.analyzer.types import Family, parse_type
from streambound_runtime.decoding.contracts import between, broken, places, useful
from streambound_runtime.decoding.json_values import encode
from streambound_runtime.decoding.reasons import REASONS, detail
from streambound_runtime.decoding.row_text import row_texts
from streambound_runtime.decoding.sql_types import FIRST_DAY, FIRST_MOMENT, LAST_DAY, LAST_MOMENT, sql_type
from streambound_runtime.operators import plan
from streambound_runtime.promises import PeriodContract
from streambound_runtime.spec import Relation, Stream, TableColumn
from support import told_reasons as told

where = plan.Test


def test_names_of_types_are_those_of_the_analyzer() -> None:
    names = (
        "tinyint byte smallint short int integer bigint long boolean date timestamp timestamp_ltz timestamp_ntz float"
    )
    sized = ["decimal(9,2)", "decimal(38)", "dec( 4 , 1 )", "numeric", "varchar(9)", "char(2)", "array<decimal(9,2)>"]
    for name in [*names.split(), *sized, "real", "double", "string", "character(4)", "interval day", "map<int,int>"]:
        kind, known = sql_type(name), parse_type(name)
        assert known is not None and kind.family == known.family.value
        if known.family is Family.DECIMAL:
            assert kind.scale == (known.scale or 0)
    assert sql_type("decimal(38)").large and not sql_type("decimal(18,4)").large
    assert (FIRST_DAY, LAST_DAY, FIRST_MOMENT, LAST_MOMENT) == (
        told.FIRST_DAY, told.LAST_DAY, told.FIRST_MOMENT, told.LAST_MOMENT
    )  # fmt: skip


def test_words_of_reasons() -> None:
    of_columns = [told.missing, told.not_of_type, told.out_of_range, told.not_utf8, told.without_time, told.too_early]
    of_columns += [told.outside_years, told.not_a_number, told.beyond_length, told.outside_domain, told.no_partition]
    of_columns += [lambda column, _: f"null-bound: {column}, a bound of the period, is NULL"]
    for kind in ("int", "decimal(9,2)", "array<int>"):
        codes = [code for code, words in REASONS if "{column}" in words]
        found = [f"{code}: {detail(code, TableColumn('a', kind))}" for code in codes]
        assert found == [say("a", kind) for say in of_columns]
    others = [f"{code}: {detail(code, most=3, per='1 second')}" for code, words in REASONS if "{column}" not in words]
    assert others == [
        told.NO_VALUE, "too-long: longer than 16 MiB",
            told.NOT_UTF8, told.NOT_JSON, "not-a-change: not a change of a row, as 1 second has it",
        told.NOT_COLUMNS, "expression:  cannot be computed: ",
        "late: late: its timestamp is closed already",
        "beyond-lateness: late: by more than the lateness",
        "after-punctuation: late: a punctuation has ended its timestamp",
        "after-idle: late: its stream was idle for longer than idle_after",
        "empty-period: the period ends before it begins, or where it does",
        "contract: the period breaks 1 second",
        "probability: the probability is not above 0 and up to 1",
        "key: the key is NULL, or that of another row, too",
        "overlapping-fact: another row of the same fact is valid at a common time",
        "max-per-timestamp: more than max_per_timestamp = 3 rows",
        "absent-row: a delete of a row that is not there",
        "ambiguous-change: several inserts of one key at one timestamp, which have no order",
        "repeated-key: a second row of a key that has one row",
        "not-unique: a second row of a key that comes once: 1 second",
        "max-rate: more than max_rate = 3 rows per 1 second",
    ]  # fmt: skip


def test_texts_are_as_long_as_their_type_says() -> None:
    """In characters, as Spark counts them."""
    texts = pa.array(["", "é😀x", "abcd", None, "a" * 9])
    table = Relation("R", (TableColumn("v", "varchar(3)"),), ("v",))
    for values in (texts, texts.dictionary_encode()):
        found = {reason: mask.tolist() for reason, mask in broken(table, table.columns[0], values)}
        assert found == {"beyond-length": [False, False, True, False, True]}
    assert not list(broken(table, TableColumn("v", "string"), texts))


def test_ranges_and_lists_beyond_the_type() -> None:
    numbers, large = (
        pa.array([-(2**63), 0, 2**63 - 1, None]),
        pa.array([Decimal(-5), Decimal(10**30)], pa.decimal128(38, 0)),
    )
    assert between(numbers, -(10**40), 10**40).tolist()[:3] == [True] * 3
    assert between(numbers, 10**40, None).tolist() == [False] * 4
    assert between(numbers, -0.5, 0.5).tolist() == [False, True, False, False]
    assert between(large, -4.5, 10**30).tolist() == [False, True]
    assert between(pa.array([1.5, -0.0]), 0, float("inf")).tolist() == [True, True]
    assert between(pa.array(["a", "b", "é"]), "b", None).tolist() == [False, True, True]
    assert places(numbers, (1, 10**40, 0.5, 0.0, 2**63 - 1)).tolist() == [-1, 3, 4, -1]
    assert places(large, (10**30, -5)).tolist() == [1, 0]
    assert places(pa.array([-0.0, 1.0]), (1, 0)).tolist() == [1, 0]
    assert places(pa.array(["a", None]), ()).tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("test", "rows"),
    [
        (where("a", "<", None, 2), [0]), (where("a", "<=", None, 1.5), [0]), (where("a", "==", None, 3), [2]),
        (where("a", "!=", None, 3), [0]), (where("a", "!=", None, 10**40), [0, 2]), (where("a", ">", None, 10**40), []),
        (where("a", ">=", None, -(10**40)), [0, 2]), (where("a", "is null"), [1]), (where("a", "is not null"), [0, 2]),
        (where("a", "in", None, (1, None, 9)), [0]), (where("a", "<", "b"), [0]),
        (where("a", ">=", "b", -(2**62)), [0, 2]),
        (where("b", "<", "c"), [1]), (where("b", "<", "c", 2**63), [0, 1, 2]), (where("x", ">", "x", -0.5), [0, 1, 2]),
        (where("s", "==", None, "é"), [1]), (where("s", ">", None, "a"), [1]), (where("s", "<", "s"), []),
    ],
)  # fmt: skip
def test_useful_rows(test: plan.Test, rows: list[int]) -> None:
    columns = {
        "a": pa.array([1, None, 3]),
        "b": pa.array([2**62, 2**63 - 1, -(2**62)]),
        "c": pa.array([Decimal(5), Decimal(10**30), Decimal(-(2**62))], pa.decimal128(38, 0)),
        "x": pa.array([0.5, 1.5, -0.0]),
        "s": pa.array(["a", "é", None]).dictionary_encode(),
    }
    assert useful(((test,),), columns, 3).nonzero()[0].tolist() == rows
    assert useful(((test,), ()), columns, 3).all()


def test_texts_of_rows_as_spark_writes_them() -> None:
    columns = {
        "f": pa.array([0.1, 12345678, float("nan")], pa.float32()), "x": pa.array([1e10, 1e-5, float("-inf")]),
        "d": pa.array([Decimal("1E-10"), Decimal("1.5"), None], pa.decimal128(38, 18)),
        "b": pa.array([True, None, False]),
        "day": pa.array([date(2024, 1, 2), None, None]), "bin": pa.array([b"\x00\xff", None, b""]),
        "at": pa.array([0, 253402300800 * 10**6, None], pa.timestamp("us", "UTC")),
        "s": pa.array(['"\n/\\é', None, ""]),
        "local": pa.array([1_999, None, None], pa.timestamp("us")),
        "m": pa.array([{"a": [1, None], "b": None, "c": [("k", 1.5)], "t": datetime(2024, 1, 2)}, None, None],
                      pa.struct([("a", pa.list_(pa.int32())), ("b", pa.int8()),
                                 ("c", pa.map_(pa.string(), pa.float64())), ("t", pa.timestamp("us"))])),
    }  # fmt: skip
    assert row_texts(columns, 3) == [
        '{"f":0.1,"x":1.0E10,"d":1.00000000E-10,"b":true,"day":"2024-01-02","bin":"AP8=","at":"1970-01-01T00:00:00.000Z",'
        '"s":"\\"\\n/\\\\é","local":"1970-01-01T00:00:00.001","m":{"a":[1,null],"c":{"k":1.5},"t":"2024-01-02T00:00:00.000"}}',
        '{"f":1.2345678E7,"x":1.0E-5,"d":1.500000000000000000,"at":"+10000-01-01T00:00:00.000Z"}',
        '{"f":"NaN","x":"-Infinity","b":false,"bin":"","s":""}',
    ]
    assert row_texts({}, 2) == ["{}", "{}"]


def test_seconds_that_java_cuts_to_64_bits() -> None:
    assert encode(9223372036855, sql_type("timestamp")) == 9223372036855 * 10**6 - 2**64


def test_rows_with_periods_may_begin_before_0() -> None:
    """Their domain says what time there is; other streams begin at 0."""
    column, values = TableColumn("b", "bigint"), pa.array([-3, 0, None])
    for period, wanted in ((None, [1, 0, 0]), (PeriodContract("b", "e"), [0, 0, 0])):
        stream = Stream("S", (column,), "b", (), period=period)
        found = [[int(bad) for bad in mask] for reason, mask in broken(stream, column, values) if "negative" in reason]
        assert (found or [[0, 0, 0]]) == [wanted]
