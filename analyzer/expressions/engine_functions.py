"""What DuckDB computes exactly as Spark 4 does in ANSI mode: operators and functions, the types they are for, and how
each is written in DuckDB's SQL.

An entry is here only if `tests/analyzer/test_engine_functions_on_spark.py` compared it with Spark on random and extreme
values of its types. In ``sql`` the letters a, b, c are the arguments, ``more`` all of them, and ``KIND`` is the type of
the result. ``RAISE('NAME')`` raises Spark's error of that name;
NEEDS_SPARK is no error of Spark's, but stops the job with these words. Timestamps are DuckDB's TIMESTAMP, in UTC.
"""

from __future__ import annotations

from msgspec import Struct

INTEGER, DECIMAL, DOUBLE, FLOAT = "integer", "decimal", "double", "float"
TEXT, TRUTH, DATE, TIMESTAMP = "string", "boolean", "date", "timestamp"
ANY, ORDERED = "any", "ordered"
"""Every type but arrays, maps, structs and the like; those whose values have one form each: no doubles."""
DAY_OR_TIME = "date or timestamp"
WHOLE_DECIMAL = "exact decimal"
"""Decimals whose result keeps all its places, and whose digits fit."""
SHORT_DECIMAL = "short decimal"
"""Decimals of at most 34 digits: Spark rounds to 34 digits when it changes a sign."""

COUNT, DIVISOR, MODULUS, NONZERO, SMALL, PLACE = "count", "divisor", "modulus", "nonzero", "small", "place"
UNIT, DAY_UNIT, PATTERN, EXPRESSION, TIME_FORMAT, SEPARATOR, INTERVAL = (
    "unit", "unit of days", "pattern of LIKE", "regular expression", "format of times", "separator", "interval",
)  # fmt: skip
"""Constants: a number of at most 10,000, not negative; one that is neither 0 nor −1; one above 0; any but 0; a number
of days, up to 100,000; a place in a text; units, patterns and formats that both engines have."""


class Rewriting(Struct, frozen=True):
    """An operator or function, by its name in the registry, for arguments of these types.

    The last of the types stands for all arguments from there on if it ends with ``*``. ``operands`` is the type that
    arguments are cast to first: ``result``, ``common`` (of all arguments), a type, or ``own``: none. ``raises`` says
    that it may raise an error itself, ``lazy`` that it evaluates only the arguments that decide, and ``every`` that it
    evaluates all of them. Else Spark evaluates no argument after one that is NULL, in order; ``last`` begins at the
    end. ``wide`` says that it gives dates and times beyond the years 1 to 9999, ``texts`` that it takes none of these.
    """

    name: str
    takes: tuple[str, ...]
    sql: str
    operands: str = "own"
    raises: bool = False
    lazy: bool = False
    every: bool = False
    last: bool = False
    wide: bool = False
    texts: bool = False


class CastRewriting(Struct, frozen=True):
    """A cast between types, in DuckDB's SQL: ``a`` is the value."""

    source: str
    target: str
    sql: str
    raises: bool = False


_SPACES = "[\\x00-\\x20\\x7f]*"
_WHOLE = f"^{_SPACES}([+-]?[0-9]+){_SPACES}$"
_WORD = f"^{_SPACES}([A-Za-z01]*){_SPACES}$"
_OF_TEXT = f"regexp_extract(a, '{_WHOLE}', 1)"
_WORDS = f"lower(regexp_extract(a, '{_WORD}', 1))"
_TWO = ("integer", "integer")
_POSITIVE = "CASE WHEN a % b < 0 THEN a % b + b ELSE a % b END"
_CASED = "CASE WHEN regexp_matches(a, '[{}]') THEN RAISE('NEEDS_SPARK') ELSE {} END"
_LOWER = r"İΣ\x{1c89}\x{a7cb}-\x{a7dc}\x{10d50}-\x{10d65}\x{16ea0}-\x{16eb8}"
_UPPER = (
    r"\x{149}\x{19b}\x{1f0}\x{264}\x{390}\x{3b0}\x{587}\x{1c8a}\x{1e96}-\x{1e9a}\x{1f50}-\x{1f56}"
    r"\x{1f80}-\x{1ffc}\x{a7cb}-\x{a7db}\x{fb00}-\x{fb17}\x{10d70}-\x{10d85}\x{16ebb}-\x{16ed3}"
)
"""Letters that Spark makes small or large as DuckDB does not: of several letters, for others beside them, or new."""
_FLOOR = "(epoch_us(a) - (epoch_us(a) % {0} + {0}) % {0}) // {0}"

CASTS = (
    CastRewriting(INTEGER, INTEGER, "CAST(a AS KIND)", raises=True),
    CastRewriting(INTEGER, DECIMAL, "CAST(a AS KIND)", raises=True),
    CastRewriting(INTEGER, DOUBLE, "CAST(a AS KIND)"),
    CastRewriting(INTEGER, TEXT, "CAST(a AS KIND)"),
    CastRewriting(INTEGER, TRUTH, "a <> 0"),
    CastRewriting(DECIMAL, INTEGER, "CAST(trunc(a) AS KIND)", raises=True),
    CastRewriting(DECIMAL, DECIMAL, "CAST(a AS KIND)", raises=True),
    CastRewriting(DECIMAL, DOUBLE, "CAST(CAST(a AS VARCHAR) AS KIND)"),
    CastRewriting(DECIMAL, TEXT, "CAST(a AS KIND)"),
    CastRewriting(DECIMAL, TRUTH, "a <> 0"),
    CastRewriting(
        DOUBLE, "bigint", "CASE WHEN a = CAST('9223372036854775808' AS DOUBLE) THEN 9223372036854775807 "
        "ELSE CAST(trunc(a) AS KIND) END", raises=True),
    CastRewriting(DOUBLE, INTEGER, "CAST(trunc(a) AS KIND)", raises=True),
    CastRewriting(DOUBLE, TRUTH, "a <> 0"),
    CastRewriting(FLOAT, DOUBLE, "CAST(a AS KIND)"),
    CastRewriting(TRUTH, INTEGER, "CAST(a AS KIND)"),
    CastRewriting(TRUTH, DOUBLE, "CAST(CAST(a AS INT) AS KIND)"),
    CastRewriting(TRUTH, TEXT, "CASE WHEN a THEN 'true' WHEN NOT a THEN 'false' END"),
    CastRewriting(
        TEXT, INTEGER, f"CASE WHEN {_OF_TEXT} = '' THEN RAISE('CAST_INVALID_INPUT') ELSE CAST({_OF_TEXT} AS KIND) END",
        raises=True),
    CastRewriting(
        TEXT, TRUTH, f"CASE WHEN {_WORDS} IN ('t', 'true', 'y', 'yes', '1') THEN TRUE WHEN {_WORDS} IN "
        f"('f', 'false', 'n', 'no', '0') THEN FALSE WHEN a IS NOT NULL THEN RAISE('CAST_INVALID_INPUT') END",
        raises=True),
    CastRewriting(DATE, TIMESTAMP, "CAST(a AS TIMESTAMP)"),
    CastRewriting(DATE, TEXT, "CAST(a AS KIND)"),
    CastRewriting(TIMESTAMP, DATE, "CAST(a AS DATE)"),
    CastRewriting(TIMESTAMP, TEXT, "CAST(a AS KIND)"),
    CastRewriting(TIMESTAMP, TIMESTAMP, "a"),
)  # fmt: skip
"""Casts, also those that Spark makes itself; the first that fits. A value of the same type is left as it is."""

ARITHMETIC = (
    Rewriting("+", _TWO, "a + b", "result", raises=True),
    Rewriting("+", (WHOLE_DECIMAL, WHOLE_DECIMAL), "a + b", "result", raises=True),
    Rewriting("+", (DOUBLE, DOUBLE), "a + b", "result"),
    Rewriting("+", (DATE, SMALL), "a + CAST(b AS INT)", wide=True),
    Rewriting("+", (TIMESTAMP, INTERVAL), "a + to_microseconds(b)", wide=True),
    Rewriting("+", (INTERVAL, TIMESTAMP), "b + to_microseconds(a)", wide=True),
    Rewriting("-", _TWO, "a - b", "result", raises=True),
    Rewriting("-", (WHOLE_DECIMAL, WHOLE_DECIMAL), "a - b", "result", raises=True),
    Rewriting("-", (DOUBLE, DOUBLE), "a - b", "result"),
    Rewriting("-", (DATE, SMALL), "a - CAST(b AS INT)", wide=True),
    Rewriting("-", (TIMESTAMP, INTERVAL), "a - to_microseconds(b)", wide=True),
    Rewriting("*", _TWO, "a * b", "result", raises=True),
    Rewriting("*", (WHOLE_DECIMAL, WHOLE_DECIMAL), "a * b", raises=True),
    Rewriting("*", (DOUBLE, DOUBLE), "a * b", "result"),
    Rewriting("/", ("integer", DIVISOR), "a / b", "double"),
    Rewriting("/", (DOUBLE, NONZERO), "a / b", "double"),
    Rewriting("/", _TWO, "CASE WHEN b = 0 AND a IS NOT NULL THEN RAISE('DIVIDE_BY_ZERO') ELSE a / b END", "double",
              raises=True, last=True),
    Rewriting("/", (DOUBLE, DOUBLE), "CASE WHEN b = 0 AND a IS NOT NULL THEN RAISE('DIVIDE_BY_ZERO') ELSE a / b END",
              "double", raises=True, last=True),
    Rewriting("%", ("integer", DIVISOR), "a % b", "result"),
    Rewriting("%", _TWO, "CASE WHEN b = 0 AND a IS NOT NULL THEN RAISE('REMAINDER_BY_ZERO') WHEN b <> -1 THEN a % b "
              "WHEN a IS NOT NULL AND b IS NOT NULL THEN 0 END", "result", raises=True, last=True),
    Rewriting("%", (DOUBLE, NONZERO), "a % b", "result"),
    Rewriting("div", ("integer", DIVISOR), "a // b", "bigint"),
    Rewriting("div", _TWO, "CASE WHEN b = 0 AND a IS NOT NULL THEN RAISE('DIVIDE_BY_ZERO') WHEN b <> 0 THEN a // b END",
              "bigint", raises=True, last=True),
    Rewriting("pmod", ("integer", MODULUS), _POSITIVE, "result"),
    Rewriting("negative", ("integer",), "CAST(0 AS KIND) - a", raises=True),
    Rewriting("negative", (SHORT_DECIMAL,), "-a"),
    Rewriting("negative", (DOUBLE,), "-a"),
    Rewriting("positive", ("number",), "a"),
    Rewriting("abs", ("integer",), "abs(a)", raises=True),
    Rewriting("abs", (SHORT_DECIMAL,), "abs(a)"),
    Rewriting("abs", (DOUBLE,), "abs(a)"),
    Rewriting("sign", ("integer",), "CAST(sign(a) AS DOUBLE)"),
    Rewriting("floor", ("integer",), "a", "bigint"),
    Rewriting("floor", (DECIMAL,), "floor(a)"),
    Rewriting("ceil", ("integer",), "a", "bigint"),
    Rewriting("ceil", (DECIMAL,), "ceil(a)"),
    Rewriting("round", ("integer",), "a"),
    Rewriting("round", (DECIMAL,), "CAST(a AS KIND)"),
    Rewriting("round", (DECIMAL, COUNT), "CAST(a AS KIND)"),
    Rewriting("sqrt", (DOUBLE,), "sqrt(a)"),
    Rewriting("sqrt", ("integer",), "sqrt(a)", "double"),
    Rewriting("&", _TWO, "a & b", "result"),
    Rewriting("|", _TWO, "a | b", "result"),
    Rewriting("^", _TWO, "xor(a, b)", "result"),
    Rewriting("~", ("integer",), "~a"),
    Rewriting("try_add", _TWO, "TRY(a + b)", "result"),
    Rewriting("try_subtract", _TWO, "TRY(a - b)", "result"),
    Rewriting("try_multiply", _TWO, "TRY(a * b)", "result"),
    Rewriting("try_divide", _TWO, "CASE WHEN b <> 0 THEN a / b END", "double", last=True),
)  # fmt: skip

CONDITIONS = (
    *(Rewriting(sign, (ANY, ANY), f"a {sign} b", "common") for sign in ("=", "<>", "<", "<=", ">", ">=")),
    Rewriting("<=>", (ANY, ANY), "a IS NOT DISTINCT FROM b", "common", every=True),
    Rewriting("equal_null", (ANY, ANY), "a IS NOT DISTINCT FROM b", "common", every=True),
    Rewriting("is distinct from", (ANY, ANY), "a IS DISTINCT FROM b", "common", every=True),
    Rewriting("not", (TRUTH,), "NOT a"),
    Rewriting("is null", (ANY,), "a IS NULL", every=True),
    Rewriting("isnull", (ANY,), "a IS NULL", every=True),
    Rewriting("isnotnull", (ANY,), "a IS NOT NULL", every=True),
    Rewriting("is true", (TRUTH,), "coalesce(a, FALSE)", every=True),
    Rewriting("is false", (TRUTH,), "coalesce(NOT a, FALSE)", every=True),
    Rewriting("isnan", (DOUBLE,), "coalesce(isnan(a), FALSE)", every=True),
)

CHOICES = (
    Rewriting("and", (TRUTH, "boolean*"), "AND", lazy=True),
    Rewriting("or", (TRUTH, "boolean*"), "OR", lazy=True),
    Rewriting("in", (ANY, "any*"), "IN", "common"),
    Rewriting("case", (ANY, "any*"), "CASE", lazy=True),
    Rewriting("if", (TRUTH, ANY, ANY), "CASE", lazy=True),
    Rewriting("coalesce", ("any*",), "COALESCE", "result", lazy=True),
    Rewriting("nvl", (ANY, ANY), "COALESCE", "result", lazy=True),
    Rewriting("ifnull", (ANY, ANY), "COALESCE", "result", lazy=True),
    Rewriting("nvl2", (ANY, ANY, ANY), "NVL2", lazy=True),
    Rewriting("nullif", (ANY, ANY), "NULLIF", lazy=True),
    Rewriting("greatest", ("ordered*",), "greatest(more)", "result", every=True),
    Rewriting("least", ("ordered*",), "least(more)", "result", every=True),
)
"""Those that translate their arguments in ways of their own have a word instead of a text."""

TEXTS = (
    *(Rewriting(name, (TEXT,), "CAST(length(a) AS INT)") for name in (
        "length", "len", "char_length", "character_length")),
    Rewriting("octet_length", (TEXT,), "CAST(strlen(a) AS INT)"),
    Rewriting("bit_length", (TEXT,), "CAST(8 * strlen(a) AS INT)"),
    *(Rewriting(name, (TEXT, PLACE), "substring(a, b)") for name in ("substring", "substr")),
    *(Rewriting(name, (TEXT, PLACE, COUNT), "substring(a, b, c)") for name in ("substring", "substr")),
    Rewriting("left", (TEXT, COUNT), "left(a, b)"),
    Rewriting("right", (TEXT, COUNT), "right(a, b)"),
    *(Rewriting(name, (TEXT,), "trim(a, ' ')") for name in ("trim", "btrim")),
    Rewriting("ltrim", (TEXT,), "ltrim(a, ' ')"),
    Rewriting("rtrim", (TEXT,), "rtrim(a, ' ')"),
    Rewriting("replace", (TEXT, TEXT), "replace(a, b, '')"),
    Rewriting("replace", (TEXT, TEXT, TEXT), "replace(a, b, c)"),
    *(Rewriting(name, (TEXT,), _CASED.format(_LOWER, "lower(a)"), raises=True) for name in ("lower", "lcase")),
    *(Rewriting(name, (TEXT,), _CASED.format(_UPPER, "upper(replace(a, 'ß', 'ss'))"), raises=True) for name in (
        "upper", "ucase")),
    Rewriting("repeat", (TEXT, COUNT), "repeat(a, b)"),
    Rewriting("lpad", (TEXT, COUNT), "lpad(a, b, ' ')"),
    Rewriting("lpad", (TEXT, COUNT, SEPARATOR), "lpad(a, b, c)"),
    Rewriting("rpad", (TEXT, COUNT), "rpad(a, b, ' ')"),
    Rewriting("rpad", (TEXT, COUNT, SEPARATOR), "rpad(a, b, c)"),
    Rewriting("||", (ANY, ANY), "a || b", "string", every=True),
    Rewriting("concat", ("any*",), "CONCAT", "string", every=True),
    Rewriting("concat_ws", (TEXT, "string*"), "concat_ws(more)", every=True),
    Rewriting("instr", (TEXT, TEXT), "CAST(strpos(a, b) AS INT)"),
    Rewriting("locate", (TEXT, TEXT), "CAST(strpos(b, a) AS INT)"),
    Rewriting("startswith", (TEXT, TEXT), "starts_with(a, b)"),
    Rewriting("endswith", (TEXT, TEXT), "suffix(a, b)"),
    Rewriting("contains", (TEXT, TEXT), "contains(a, b)"),
    Rewriting("like", (TEXT, PATTERN), "a LIKE b ESCAPE '\\'"),
    *(Rewriting(name, (TEXT, EXPRESSION), "regexp_matches(a, b)") for name in ("rlike", "regexp", "regexp_like")),
    Rewriting("regexp_extract", (TEXT, EXPRESSION), "regexp_extract(a, b, 1)"),
    Rewriting("regexp_extract", (TEXT, EXPRESSION, COUNT), "regexp_extract(a, b, c)"),
    Rewriting("get", ("split", COUNT), "list_extract(a, b + 1)"),
    *(Rewriting(name, ("split",), "CAST(len(a) AS INT)") for name in ("size", "cardinality")),
    Rewriting("split", (TEXT, SEPARATOR), "string_split(a, b)"),
    Rewriting("split_part", (TEXT, SEPARATOR, PLACE), "split_part(a, b, c)"),
    Rewriting("md5", (TEXT,), "md5(a)"),
    *(Rewriting(name, (TEXT,), "sha1(a)") for name in ("sha", "sha1")),
)  # fmt: skip

TIMES = (
    *(Rewriting(name, (DAY_OR_TIME,), f"CAST({sql} AS INT)") for name, sql in (
        ("year", "year(a)"), ("quarter", "quarter(a)"), ("month", "month(a)"), ("day", "day(a)"),
        ("dayofmonth", "day(a)"), ("dayofyear", "dayofyear(a)"), ("weekofyear", "week(a)"),
        ("dayofweek", "dayofweek(a) + 1"), ("weekday", "isodow(a) - 1"))),
    *(Rewriting(name, (DAY_OR_TIME,), f"CAST({name}(a) AS INT)", "timestamp") for name in ("hour", "minute", "second")),
    *(Rewriting(name, (DAY_OR_TIME, SMALL), "CAST(a AS DATE) + CAST(b AS INT)", wide=True)
      for name in ("date_add", "dateadd")),
    Rewriting("date_sub", (DAY_OR_TIME, SMALL), "CAST(a AS DATE) - CAST(b AS INT)", wide=True),
    *(Rewriting(name, (DAY_OR_TIME, DAY_OR_TIME), "CAST(CAST(a AS DATE) - CAST(b AS DATE) AS INT)")
      for name in ("datediff", "date_diff")),
    Rewriting("to_date", (DAY_OR_TIME,), "CAST(a AS DATE)"),
    Rewriting("to_timestamp", (DAY_OR_TIME,), "CAST(a AS TIMESTAMP)"),
    Rewriting("last_day", (DAY_OR_TIME,), "last_day(CAST(a AS DATE))"),
    Rewriting("trunc", (DAY_OR_TIME, DAY_UNIT), "CAST(date_trunc(b, CAST(a AS DATE)) AS DATE)", wide=True),
    Rewriting("date_trunc", (UNIT, DAY_OR_TIME), "date_trunc(a, CAST(b AS TIMESTAMP))", wide=True),
    *(Rewriting(name, (DAY_OR_TIME,), "epoch_us(a) // 1000000", "timestamp") for name in (
        "unix_timestamp", "to_unix_timestamp")),
    Rewriting("unix_seconds", (TIMESTAMP,), _FLOOR.format(1_000_000)),
    Rewriting("unix_millis", (TIMESTAMP,), _FLOOR.format(1_000)),
    Rewriting("unix_micros", (TIMESTAMP,), "epoch_us(a)"),
    Rewriting("unix_date", (DATE,), "CAST(a - CAST('1970-01-01' AS DATE) AS INT)"),
    Rewriting("date_format", (DAY_OR_TIME, TIME_FORMAT), "strftime(a, b)", "timestamp", texts=True),
    Rewriting("dayname", (DAY_OR_TIME,), "strftime(a, '%a')", "timestamp", texts=True),
    Rewriting("monthname", (DAY_OR_TIME,), "strftime(a, '%b')", "timestamp", texts=True),
)  # fmt: skip

REWRITINGS = (*ARITHMETIC, *CONDITIONS, *CHOICES, *TEXTS, *TIMES)
"""The table; of several entries the first that fits."""

NOT_EXACT: dict[str, str] = {
    "round": "Spark rounds the digits that Java shows of a double: cast it to a decimal first",
    "reverse": "DuckDB keeps letters and their accents together",
}
"""Why functions are not in the table, or not for all types, where there is more to say than that."""
