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
from support.product import decided

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

GOOD: dict[str, tuple[str, str]] = {
    "tiny": ("tinyint", "-128"), "small": ("smallint", "3"), "n": ("int", "5"), "big": ("bigint", "7"),
    "d": ("decimal(6,2)", "1.245"), "wide": ("decimal(30,4)", "1"), "plain": ("decimal", "2"), "x": ("double", "0.5"),
    "f": ("float", "0.1"), "ok": ("boolean", "true"), "day": ("date", '"2024-01-31"'), "s": ("string", '"text"'),
    "at": ("timestamp", '"2024-01-01T00:00:00Z"'), "local": ("timestamp_ntz", '"2024-01-01T00:00:00"'),
    "list": ("array<int>", "[1]"), "ts": ("bigint", "0"),
}  # fmt: skip
"""Column -> its type, and a value that it takes."""
DOMAINS = {"n": [0, 9], "s": ["text", "3", "é", "?", "true", "1.5", "[1]", "100.0"], "x": [0.5, 1.0, 100.0]}
UNUSED = ("small", "local", "list")
NUMBERS = """
    null true false 0 -0 1 3 -1 10 127 128 -128 -129 32767 32768 300 2147483647 2147483648 9223372036854775807
    9223372036854775808 -9223372036854775808 1.0 1.5 1.50 1e2 1E2 0.5 1.245 -1.245 1.255 1.005 9999.994 9999.995
    99999 1e-5 12345678.9 1e999 1e401 1e-401 1e99999 1e-99999 1e999999999 1e-999999999 -1e999 1e30 0.1 16777217
    NaN Infinity -Infinity [] [1] {} 1704067200
"""
TEXTS = (
    "1e999999999", "", " ", "3", " 3", "é", '\\ud800', '\\u00e9', "NaN", "Infinity", "-INF", "+INF", "INF", "true",
    "1.5", "1,000", "1e2", ".5", "5.", "+5", "a", "2024-01-31", "2024-1-5", "2024", "2024-02", "2024-02-30",
    "2023-02-29", "0001-01-01", "0000-12-31", "9999-12-31", "10000-01-01", "-0001-01-01", "12345-02-30", "01/01/2026",
    "2024-01-31T10:00:00", "2024-01-31 10:00:00.5", "2024-01-31 10:00:00.123456789", " 2024-01-31 ", "2024-01-31x",
    "2024-01-31T10:00:00Z", "2024-01-31T10:00:00+02:00", "2024-01-31T10:00:00-0230", "2024-01-31T10:00:00+2",
    "2024-01-31T10:00:00 Europe/Paris", "2024-01-31T10:00:00 Nowhere", "2024-01-31T10:00", "2024-01-31T1:2:3",
    "2024-01-31T24:00:00", "2024-01-31T10:00:60", "2024-01-31T", "20240131", "epoch", "today", "1704067200",
    "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59.999999", "9999-12-31T23:59:59-01:00", "10000-01-01T00:00:00",
)  # fmt: skip
TOKENS = [*NUMBERS.split(), "[1, 2.50]", '{"a" : 1e2}', *(f'"{text}"' for text in TEXTS)]
LINES = [
    b"", b"   ", b"\t", b"nope", b"1", b"null", b'"x"', b"[]", b"[{}]", b"{}", b"{", b"\x00", b"\xff", b'{"a":1}\x00',
    b"\xef\xbb\xbf{}", b"{'ts': 1}", b"{ts: 1}", b'{"ts": 1,}', b'{"ts": 01}', b'{"ts": +1}', b'{"ts": 1} {"ts": 1}',
    b'{"ts": 1}, {"ts": 1}', b'{"ts": 1}]', b'{"ts": 1}] []', b'{"ts": 1} // no', b"/* no */ {}", b'{"s": "\x01"}',
    b'{"s": "a\xffb", "ts": 1}', b'{"\xc3": 1}', b'{"s": "\xed\xa0\x80"}', b"\xe2\x80\xa8{}",
    b'{"x":' + b"[" * 1500 + b"]" * 1500 + b"}",
]  # fmt: skip


def catalog() -> dict[str, Any]:
    columns = {name: kind for name, (kind, _) in GOOD.items()}
    return {"streams": {"S": {"timestamp": "ts", "columns": columns, "domain": DOMAINS}}}


def line(changes: dict[str, str | None]) -> bytes:
    """A good row with some values changed; None leaves the column out."""
    tokens = {name: token for name, (_, token) in GOOD.items()} | changes
    pairs = (f'"{name}": {token}' for name, token in tokens.items() if token is not None)
    return ("{" + ", ".join(pairs) + "}").encode()


def lines() -> list[bytes]:
    whole = line({})
    padded = [whole + b" ", b" " + whole, whole + b"]", whole + b" x", whole[:-1], whole[:-1] + b', "s": "3"}']
    strange = [
        whole[:-1] + b', "more": "' + extra + b'"}' for extra in (b"\xff", b"\x00", b"y" * 3_000_000, b"\\u0000")
    ]
    changed = [line({name: token}) for name in GOOD for token in (*TOKENS, None)]
    flat = [
        line({"list": "0", name: "null", other: token})
        for name in GOOD
        for other in GOOD
        for token in ("null", '"x"', None)
    ]
    flat += [text.replace(b": ", b":") for text in flat]
    flat += [
        line({"n": None, "list": '{"n":null}'}),
        line({"n": None, "s": '"\\"n\\":null"'}),
        line({"n": '[{"n":null}]'}),
    ]
    return [
        *LINES,
        *padded,
        *strange,
        *changed,
        *flat,
        line({"n": "77", "x": "NaN", "day": None}),
        line({"n": "77", "x": "NaN"}),
    ]


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
