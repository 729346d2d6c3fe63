"""Expressions of every entry of the table of what DuckDB computes, nested ones at random, and extreme values."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import Any

from streambound.analyzer.expressions.engine_functions import CASTS, REWRITINGS, Rewriting

COLUMNS = {
    "t": "tinyint", "u": "tinyint", "n": "smallint", "i": "int", "j": "int", "l": "bigint", "m": "bigint",
    "d": "decimal(9,2)", "g": "decimal(20,10)", "h": "decimal(38,0)", "x": "double", "y": "double", "f": "float",
    "c": "string", "e": "string", "b": "boolean", "q": "boolean", "da": "date", "db": "date", "ts": "timestamp",
    "tu": "timestamp",
}  # fmt: skip

_WHOLE = {
    bits: (0, 1, -1, 2, 7, -7, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), 2 ** (bits - 1) - 2, 3, 10, -128, 127)
    for bits in (8, 16, 32, 64)
}
_DOUBLES = (
    0.0, -0.0, 1.0, -1.5, 2.5, float("nan"), float("inf"), float("-inf"), 1.7976931348623157e308, 5e-324, 1e-300,
    2147483647.0, 2147483648.0, -2147483648.9, 9.223372036854775e18, 9.223372036854776e18, -9.223372036854776e18,
    0.1, 1e15, 127.5, -128.9, 3.0, -0.5, 0.5,
)  # fmt: skip
_TEXTS = (
    "", " ", "a", "A", "abc", " ab ", "\tx\n", "é", "e\u0301x", "ß", "İ", "ΑΣ", "😀", "👨‍👩‍👧", "a/b/c", "/", "a//b",
    "12", "-7", "+5", " 42 ", "1.5", "9223372036854775807", "9223372036854775808", "-129", "127", "true", "TRUE ",
    "no", "0", "1", "%", "_", "a_c", "a%c", "\\", "\x00", "\x7f1\x7f", "a=1&channel_id=77&x", "channel_id=",
    "x" * 40, "NULL", "nan", "1e3", "2024-02-29", "\u00a0a", "a\r\nb", "a\n", "b\u2028", "\uffff", "\U0010ffff",
    "ab,cd,,", "--", "-", "+", "٣", "aXbXc",
)  # fmt: skip
_DAYS = (
    date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(2023, 2, 28),
    date(2000, 2, 29), date(1900, 2, 28), date(2020, 12, 31), date(2021, 1, 1), date(2021, 1, 3), date(2021, 1, 4),
    date(1582, 10, 4), date(1582, 10, 15), date(2016, 1, 3), date(2024, 3, 31), date(2024, 10, 27), date(1, 1, 7),
    date(9999, 1, 1), date(1600, 2, 29),
)  # fmt: skip
_CLOCKS = (
    timedelta(), timedelta(microseconds=1), timedelta(hours=23, minutes=59, seconds=59, microseconds=999_999),
    timedelta(hours=2, minutes=30), timedelta(hours=12, seconds=1, microseconds=250_000),
)  # fmt: skip


def _of(kind: str, choice: random.Random) -> Any:
    """A value of a type, or None."""
    if choice.random() < 0.08:
        return None
    if kind.startswith("decimal"):
        digits, scale = map(int, kind[8:-1].split(","))
        most = 10**digits - 1
        near = choice.choice((0, 1, -1, most, -most, 10**scale, 5 * 10 ** max(scale - 1, 0), most // 2))
        unscaled = near if choice.random() < 0.5 else choice.randint(-most, most) // 10 ** choice.randint(0, digits - 1)
        return Decimal(f"{unscaled}E-{scale}")
    bits = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}.get(kind)
    if bits is not None:
        if choice.random() < 0.6:
            return choice.choice([value for value in _WHOLE[bits] if abs(value) <= 2 ** (bits - 1)])
        return choice.randint(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) >> choice.randint(0, bits - 2)
    match kind:
        case "double":
            return choice.choice(_DOUBLES) if choice.random() < 0.7 else choice.uniform(-1e6, 1e6)
        case "float":
            return choice.choice((0.0, -0.0, 0.5, 0.1, float("nan"), float("inf"), -3.25e10))
        case "string":
            return choice.choice(_TEXTS)
        case "boolean":
            return choice.random() < 0.5
        case "date":
            return choice.choice(_DAYS) if choice.random() < 0.6 else date.fromordinal(choice.randint(1, 3_652_059))
    day = choice.choice(_DAYS) if choice.random() < 0.6 else date.fromordinal(choice.randint(1, 3_652_059))
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + choice.choice(_CLOCKS)


def rows(number: int, seed: int = 0) -> dict[str, list[Any]]:
    """Columns of values; the first rows have the extremes in turn, the others any combination."""
    choice = random.Random(seed)
    found = {name: [_of(kind, choice) for _ in range(number)] for name, kind in COLUMNS.items()}
    for name, extremes in {
        "c": _TEXTS,
        "e": _TEXTS[::-1],
        "x": _DOUBLES,
        "y": _DOUBLES[::-1],
        "da": _DAYS,
        "db": _DAYS[::-1],
    }.items():
        found[name][: len(extremes)] = extremes
    return found


# --- one of each entry ------------------------------------------------------------------------------------------------

_ALL = ("t", "i", "l", "d", "g", "h", "x", "c", "b", "da", "ts")
_FIRST: dict[str, Sequence[str]] = {
    "integer": ("t", "n", "i", "l"),
    "decimal": ("d", "g", "h"),
    "exact decimal": ("d", "g", "h", "l", "0.908", "2"),
    "double": ("x", "f", "l", "d"),
    "float": ("f",),
    "string": ("c",),
    "boolean": ("b",),
    "date": ("da",),
    "timestamp": ("ts",),
    "any": _ALL,
    "ordered": tuple(name for name in _ALL if name != "x"),
    "date or timestamp": ("da", "ts"),
    "number": ("i", "d", "x"),
    "count": ("0", "1", "2", "7"),
    "place": ("1", "2", "9"),
    "small": ("0", "3", "-40", "t"),
    "divisor": ("7", "-3", "2147483648"),
    "modulus": ("7", "1", "2147483648"),
    "short decimal": ("d", "g"),
    "nonzero": ("3", "-0.5", "2.5D"),
    "unit": ("'year'", "'QUARTER'", "'mon'", "'week'", "'DAY'", "'hour'", "'MINUTE'", "'second'"),
    "unit of days": ("'YEAR'", "'quarter'", "'MM'", "'week'"),
    "pattern of LIKE": ("'a%'", "'%b_'", "'_'", "''", "'%'", "'a\\\\_c'", "'%\\\\%%'", "'\\\\\\\\'", "'é%'", "'a%b%c'"),
    "regular expression": (
        "'(a)'",
        "'(&|^)channel_id=([^&]*)'",
        "'^([0-9]+)$'",
        "'(a.c)'",
        "'^(.*)/(.*)$'",
        "'([a-c]{2,3})'",
        "'(x+?)x'",
        r"'(\\\\d+)'",
        "'(b)?$'",
        "'([^a-z]+)'",
        "'(?:a|b)(c|X)'",
        "'(ab|abc)(c?)'",
    ),
    "format of times": (
        "'yyyy-MM-dd'",
        "'HH:mm'",
        "'yyyy/MM/dd HH:mm:ss'",
        "'E'",
        "'EEEE MMM'",
        "'MMMM'",
        "\"yyyy-MM-dd'T'HH\"",
    ),
    "separator": ("'/'", "','", "'b'", "'--'"),
    "interval": ("INTERVAL 5 MINUTES", "INTERVAL 90 DAYS", "INTERVAL -1 SECOND"),
    "split": ("split(c, '/')", "split(e, ',')"),
}
_SECOND = {
    "t": "u", "n": "t", "i": "j", "l": "m", "d": "d", "x": "y", "c": "e", "b": "q", "da": "db", "ts": "tu",
    "f": "x",
}  # fmt: skip
_INFIX = {
    *"+-*/%&|^",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "<=>",
    "div",
    "and",
    "or",
    "||",
    "like",
    "rlike",
    "is distinct from",
}
_PREFIX = {"negative": "-", "positive": "+", "not": "NOT ", "~": "~"}
_POSTFIX = {"is null", "is true", "is false"}


def written(entry: Rewriting, arguments: Sequence[str]) -> str:
    """A call of an operator or function in SQL."""
    name = entry.name
    first, *others = arguments
    if name in _INFIX:
        return f" {name} ".join(f"({one})" for one in arguments)
    if name in _POSTFIX:
        return f"({first}) {name}"
    if name in _PREFIX:
        return f"{_PREFIX[name]}({first})"
    match name:
        case "in":
            return f"({first}) IN ({', '.join(others)})"
        case "case":
            return f"CASE WHEN b THEN {first} WHEN q THEN {others[0]} END"
        case "regexp":
            return f"regexp({first}, {others[0]})"
    return f"{name}({', '.join(arguments)})"


def of_entry(entry: Rewriting) -> Iterator[str]:
    """Expressions that may be of an entry."""
    classes = [one.removesuffix("*") for one in entry.takes]
    if entry.takes[-1].endswith("*") and len(classes) == 1:
        classes *= 2
    if entry.name == "case":
        yield from (f"CASE WHEN b THEN {one} WHEN q THEN {_SECOND.get(one, one)} END" for one in _ALL)
        return
    if entry.name == "if":
        yield from (f"if(b, {one}, {_SECOND.get(one, one)})" for one in _ALL)
        return
    if set(classes) <= {"any", "ordered"}:
        for one in _FIRST[classes[0]]:
            two = _SECOND.get(one, one)
            yield written(entry, [one, two, one][: len(classes)])
        pairs = (
            ("i", "l"),
            ("l", "3"),
            ("t", "x"),
            ("d", "l"),
            ("i", "x"),
            ("da", "ts"),
            ("f", "x"),
            ("d", "1.5"),
            ("i", "NULL"),
        )
        for one, two in pairs if len(classes) == 2 else ():
            yield written(entry, [one, two])
        return
    for chosen in product(*(_FIRST[name] for name in classes)):
        taken: list[str] = []
        for one in chosen:
            taken.append(_SECOND.get(one, one) if one in taken else one)
        yield written(entry, taken)


def of_casts() -> Iterator[tuple[str, str]]:
    """Expressions of each cast, with the types that they are cast to."""
    kinds = {
        "integer": ("tinyint", "smallint", "int", "bigint"),
        "decimal": ("decimal(9,2)", "decimal(5,0)", "decimal(38,10)", "decimal(20,0)"),
        "double": ("double",),
        "string": ("string",),
        "boolean": ("boolean",),
        "date": ("date",),
        "timestamp": ("timestamp",),
        "bigint": ("bigint",),
    }
    for one in CASTS:
        for value, kind in product(_FIRST[one.source], kinds[one.target]):
            if not value[0].isdigit():
                yield value, kind


def every() -> Iterator[tuple[Rewriting, str]]:
    """Each entry with its expressions."""
    for entry in REWRITINGS:
        yield from ((entry, text) for text in of_entry(entry))


# --- nested ones ------------------------------------------------------------------------------------------------------

_FORMS = {
    sort: [form.strip() for form in forms.split(";")]
    for sort, forms in {
        "I": """
        ({I} + {I}); ({I} - {I}); ({I} * {I}); ({I} % 7); ({I} % {I}); ({I} DIV 3); ({I} DIV {I}); pmod({I}, 5);
        abs({I}); -({I}); length({S}); if({B}, {I}, {I}); coalesce({I}, {I}, 0); CASE WHEN {B} THEN {I} ELSE {I} END;
        nullif({I}, {I}); greatest({I}, {I}); least({I}, {I}, 5); year({D}); month({T}); dayofweek({D}); hour({T});
        datediff({D}, {D}); CAST({S} AS INT); CAST({X} AS INT); CAST({N} AS BIGINT); CAST({B} AS INT); instr({S}, {S});
        try_add({C}, {C}); CAST({I} AS SMALLINT); weekofyear({T}); unix_timestamp({T}); ({I} & {I});
        nvl2({S}, {I}, 1)""",
        "N": """
        ({N} + {M}); ({N} - {M}); ({M} * 0.908); CAST({I} AS DECIMAL(22,2)); coalesce({N}, {N}); -({N}); round({N}, 1);
        floor({N}); if({B}, {N}, {M}); abs({N})""",
        "X": """
        ({X} + {X}); ({X} * {X}); ({X} - {I}); ({X} / {X}); ({I} / {I}); ({I} / 4); sqrt({X}); CAST({I} AS DOUBLE);
        CAST({N} AS DOUBLE); if({B}, {X}, {I}); coalesce({X}, 0.5D); -({X}); try_divide({C}, {C})""",
        "S": """
        ({S} || {S}); concat({S}, '-', {I}); trim({S}); lower({S}); upper({S}); substring({S}, 2, 3); left({S}, 2);
        right({S}, 3);
        replace({S}, 'a', {S}); if({B}, {S}, {S}); coalesce({S}, '?'); CAST({I} AS STRING); CAST({N} AS STRING);
        CAST({B} AS STRING); CASE WHEN {B} THEN {S} END; nullif({S}, ''); regexp_extract({S}, '([a-z]+)', 1);
        get(split({S}, '/'), 1); lpad({S}, 5, 'xy'); concat_ws(',', {S}, {S}); md5({S}); date_format({E}, 'yyyy-MM');
        greatest({S}, {S})""",
        "B": """
        {I} < {I}; {I} = {I}; {X} >= {X}; {N} > {M}; {S} <= {S}; {D} <> {D}; {T} < {T}; ({B} AND {B}); ({B} OR {B});
        (NOT {B}); {I} IS NULL; {S} IS NOT NULL; {I} IN (1, 7, {C}); {S} IN ('a', '12', {S}); {I} BETWEEN 0 AND {I};
        {S} LIKE 'a%'; {I} <=> {I}; (({B}) IS TRUE); startswith({S}, {S}); contains({S}, 'a'); {D} >= DATE '2000-01-01';
        {I} % 2 = 0; {X} IS DISTINCT FROM {X}; ({B} OR 1 / {C} > 0); ({C} <> 0 AND 10 DIV {C} > 1); isnan({X});
        {S} RLIKE '^[a-z]+$'""",
        "D": """
        date_add({D}, 3); ({D} - 40); last_day({D}); trunc({D}, 'MM'); CAST({T} AS DATE); if({B}, {D}, {D});
        coalesce({D}, {D}); greatest({D}, {D})""",
        "T": """
        ({T} + INTERVAL 90 MINUTES); ({T} - INTERVAL 2 DAYS); date_trunc('HOUR', {T}); date_trunc('week', {T});
        CAST({D} AS TIMESTAMP); if({B}, {T}, {T}); coalesce({T}, {T})""",
    }.items()
}
_LEAVES = {
    "I": ["i", "j", "l", "m", "t", "n", "u", "1", "7", "-3"],
    "C": ["i", "l", "t"],
    "N": ["d", "d", "g"],
    "M": ["d", "1.25"],
    "X": ["x", "y", "x"],
    "S": ["c", "e", "c", "'a'", "''"],
    "B": ["b", "q"],
    "D": ["da", "db"],
    "T": ["ts", "tu"],
    "E": ["ts", "da"],
}
KINDS = {
    "I": "bigint",
    "N": "decimal(38,10)",
    "X": "double",
    "S": "string",
    "B": "boolean",
    "D": "date",
    "T": "timestamp",
}


def nested(choice: random.Random, sort: str, depth: int) -> str:
    """A random expression of a sort."""
    if depth == 0 or sort not in _FORMS or choice.random() < 0.15:
        return choice.choice(_LEAVES[sort])
    form = choice.choice(_FORMS[sort])
    for letter in (*_FORMS, "C", "M", "E"):
        while f"{{{letter}}}" in form:
            form = form.replace(f"{{{letter}}}", nested(choice, letter, depth - 1), 1)
    return form


def random_expressions(number: int, seed: int) -> Iterator[tuple[str, str]]:
    """Random expressions, each with a type to cast it to."""
    choice = random.Random(seed)
    for _ in range(number):
        sort = choice.choice(list(_FORMS))
        yield nested(choice, sort, choice.choice((1, 2, 2, 3))), KINDS[sort]
