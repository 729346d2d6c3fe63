"""Lines of JSON with faults of all kinds, of two streams of which most types are columns."""

from __future__ import annotations

import json
import random
from typing import Any

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
