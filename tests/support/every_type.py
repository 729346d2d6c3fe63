"""Lines of JSON of a stream with a column of every type: each with a value of any kind, and lines that are no rows."""

from __future__ import annotations

from typing import Any

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
    "2024-01-31T10:00:00 Europe/Paris", "2024-01-31T10:00:00 Stateless", "2024-01-31T10:00", "2024-01-31T1:2:3",
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
