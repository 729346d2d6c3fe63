"""Lines of JSON that are read as columns are what they are when each is parsed: the same values and faults."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from streambound_runtime.decoding import json_objects
from streambound_runtime.decoding.plain_lines import plain_columns
from streambound_runtime.decoding.sql_types import sql_type

USUAL = {
    "a": ["1", "-5", "9223372036854775807", "0"],
    "b": ["7", "-2147483648"],
    "c": ["1", "-128", "127"],
    "d": ["1.5", "3", "1e10", "0.1"],
    "e": ['"x"', '"é"', '""', r'"a\"b"'],
    "f": ["true", "false"],
    "g": ['"2026-01-31T12:00:00Z"', '"2026-01-31 12:00:00.5"'],
    "h": ['"2026-01-31"'],
}
TYPES = dict(zip(USUAL, ["bigint", "int", "tinyint", "double", "string", "boolean", "timestamp", "date"], strict=True))
KINDS = {name: sql_type(kind) for name, kind in TYPES.items()}
_STRANGE = r"""
    -0 5 1.5 1.0 1e2 null true [1] {} NaN nan Infinity -Infinity 1e400 -0.0 300 01 +1 .5 5. "5" "x" "\u0041" "\ud800"
    "\ud83d\ude00" "\x" "\u0000" "]}" "},{" {"a":1} [[[[]]]] tru 2147483648 9223372036854775808 12345678901234567890123
    "2026-02-31" "2026-1-5" "2026-01-31T12:00:00+01:00" 1767225600 "2026-01-31T25:00:00Z" "12:00:00" 1e-400 4.9e-324
    1.7976931348623157e308 17976931348623158e293 123456789.123456789
"""
STRANGE = [*_STRANGE.split(), '"a\nb"', '"a\tb"']
NAMES = [*USUAL, "zz", "\\u0061", "A", "a "]


def line(random: Random) -> bytes:
    """A line that is plain, or has something strange in it."""
    members = [(name, random.choice(values)) for name, values in USUAL.items()]
    random.shuffle(members)
    for _ in range(random.choice([0, 0, 0, 1, 1, 2])):
        at = random.randrange(len(members))
        what = random.random()
        if what < 0.5:
            members[at] = (members[at][0], random.choice(STRANGE))
        elif what < 0.7:
            members.append((random.choice(NAMES), random.choice(STRANGE)))
        elif what < 0.85:
            members.pop(at)
    text = "{" + ", ".join(f'"{name}": {value}' for name, value in members) + "}"
    at = random.randrange(len(text))
    strange = [
        text[:-1], text + " ", text + "x", text + "{}", " " + text, "[" + text, "", text.replace("}", ",}"),
        text.replace(",", ",,", 1), text + text, text[:at] + "\n" + text[at:], text[:at] + "/**/" + text[at:],
        text[:at] + "\x01" + text[at:], text[:at] + "\x7f" + text[at:], "\ufeff" + text, "null", "{" * 600 + "}" * 600,
    ]  # fmt: skip
    data = (random.choice(strange) if random.random() < 0.15 else text).encode()
    return data[:at] + b"\xff" + data[at:] if random.random() < 0.02 else data


def read(lines: pa.Array) -> tuple[list[int], dict[str, tuple[str, list[bool], list[bool]]]]:
    state, columns = json_objects.read_objects(lines, KINDS, records=False)
    found = {name: (column.encoded().to_pylist(), column.masks()) for name, column in columns.items()}
    return state.tolist(), {n: (repr(values), *(m.tolist() for m in masks)) for n, (values, masks) in found.items()}


@pytest.mark.parametrize("seed", range(4))
def test_both_readers_give_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random, plain = Random(seed), 0

    def counted(*arguments: Any) -> Any:
        nonlocal plain
        found = plain_columns(*arguments)
        plain += found is not None
        return found

    monkeypatch.setattr(json_objects, "_FEW", 1)
    for _ in range(200):
        lines = pa.array([line(random) for _ in range(random.choice([1, 1, 2, 3, 8]))], pa.binary())
        monkeypatch.setattr(json_objects, "plain_columns", counted)
        mine = read(lines)
        monkeypatch.setattr(json_objects, "plain_columns", lambda *arguments: None)
        assert mine == read(lines), lines.to_pylist()
    assert plain > 20


@pytest.mark.parametrize(
    "lines",
    [
        ['{"a": 1}{"a": 2}', ""],
        ['{"a":', "1}"],
        ['{"a": 1.0}'],
        ['{"a": "1"}'],
        ['{"a": 1, "a": 2}'],
        ['{"a": 1,}'],
        [" {}"],
    ],
)
def test_what_arrow_would_read_otherwise_is_left_to_the_parser(lines: list[str]) -> None:
    assert plain_columns(pa.array(lines, pa.string()), {"a": KINDS["a"]}) is None


def test_many_lines_are_read_as_columns() -> None:
    lines = pa.array([f'{{"a": {n}, "g": "2026-01-31T12:00:{n % 60:02}Z"}}' for n in range(100)], pa.string())
    found = plain_columns(lines, {name: KINDS[name] for name in "ag"})
    assert found is not None and found[1].all()
    assert found[0]["a"].to_pylist() == list(range(100))
