"""Constants that functions take in DuckDB: numbers in a range, and units, patterns and formats in its own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from string import ascii_letters

from streambound.analyzer.constants import INTERVAL, Folded, is_interval
from streambound.analyzer.expressions.texts import like
from streambound.analyzer.types import NUMERIC, Family

_UNITS = {
    "year": "year", "yyyy": "year", "yy": "year", "quarter": "quarter", "month": "month", "mm": "month", "mon": "month",
    "week": "week", "day": "day", "dd": "day", "hour": "hour", "minute": "minute", "second": "second",
}  # fmt: skip
_DAY_UNITS = ("year", "quarter", "month", "week")
_FORMATS = {
    "yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "MMM": "%b", "MMMM": "%B", "E": "%a",
    "EEE": "%a", "EEEE": "%A",
}  # fmt: skip
_RUNS = "|".join(f"{letter}+" for letter in ascii_letters)
_FORMAT = re.compile(rf"{_RUNS}|'[A-Za-z ]+'|[-/:._, ]")
_PLAIN = re.compile(r"[A-Za-z0-9 ,;:/_=&@#~\"<>!-]+")
_LINE_ENDS = r"\n\r\x{85}\x{2028}\x{2029}"
_CLASS = r"\[\^?-?(?:(?:[A-Za-z0-9]-[A-Za-z0-9])|[A-Za-z0-9 _/:,;=<>@#!~&%'\"+*.?$(){}|]|\\[-.\\/\[\]^$|*+?(){}d])+-?\]"
_TOKEN = re.compile(
    rf"(?P<set>{_CLASS})|(?P<escaped>\\[-.\\/\[\]^$|*+?(){{}}d])|(?P<plain>[A-Za-z0-9 _/:,;=<>@#!~&%'\"-])|(?P<dot>\.)"
    r"|(?P<open>\((?:\?:)?)|(?P<close>\))|(?P<or>\|)|(?P<start>\^)|(?P<end>\$)"
)
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d{1,2}(?:,\d{0,2})?\})\??")
_MOST_COUNT, _MOST_DAYS, _MOST_MICROSECONDS = 10_000, 100_000, 10**16

Constant = Callable[[Folded], str | int | None]


def _number(constant: Folded, low: int, high: int) -> int | None:
    value = constant.value
    if constant.kind.family is not Family.INTEGER or not isinstance(value, Fraction):
        return None
    return int(value) if low <= value <= high else None


def _divisor(constant: Folded) -> int | None:
    number = _number(constant, -(2**63), 2**63)
    return number if number not in (0, -1) else None


def _not_zero(constant: Folded) -> int | None:
    """1 for any number but zero, which is written as it is."""
    return 1 if constant.kind.family in NUMERIC and constant.value else None


def _interval(constant: Folded) -> int | None:
    value = constant.value
    if (constant.kind != INTERVAL and not is_interval(constant.kind)) or not isinstance(value, Fraction):
        return None
    return int(value) if abs(value) <= _MOST_MICROSECONDS else None


def _text(constant: Folded) -> str | None:
    return constant.value if isinstance(constant.value, str) else None


def _among(units: Mapping[str, str]) -> Constant:
    return lambda constant: units.get((_text(constant) or "").lower())


def _like(constant: Folded) -> str | None:
    """A pattern of LIKE whose escapes are all of what needs one; a backslash escapes in both."""
    pattern = _text(constant)
    if pattern is None:
        return None
    try:
        like("", pattern)
    except Exception:  # Fails: Spark refuses the pattern
        return None
    return pattern


def _format(constant: Folded) -> str | None:
    """A pattern of date_format as one of strftime.

    >>> from streambound.analyzer.constants import STRING
    >>> _format(Folded("yyyy-MM-dd'T'HH", STRING)), _format(Folded("yy", STRING))
    ('%Y-%m-%dT%H', None)
    """
    written, place, found = _text(constant) or "", 0, ""
    while place < len(written):
        token = _FORMAT.match(written, place)
        if token is None:
            return None
        text, place = token[0], token.end()
        if text[0].isalpha():
            if text not in _FORMATS:
                return None
            found += _FORMATS[text]
        else:
            found += text.strip("'") if len(text) > 1 else text
    return found or None


def _separator(constant: Folded) -> str | None:
    """A text that means itself also where a regular expression is expected."""
    written = _text(constant)
    return written if written and _PLAIN.fullmatch(written) else None


def _expression(constant: Folded) -> str | None:
    r"""A regular expression of Java's as one of RE2's that finds the same; None for one that might not.

    Both try alternatives from left to right, and repeat as often as they can. No group is repeated, for they disagree
    about what is remembered of it; a dot is no end of a line; a dollar comes last, before the end of the last line.

    >>> from streambound.analyzer.constants import STRING
    >>> _expression(Folded("(&|^)id=([^&]*)", STRING)), _expression(Folded(r"\bx", STRING))
    ('(&|^)id=([^&]*)', None)
    """
    written, place, found, depth = _text(constant), 0, "", 0
    if not written:
        return None
    while place < len(written):
        token = _TOKEN.match(written, place)
        if token is None:
            return None
        kind, text, place = token.lastgroup, token[0], token.end()
        depth += (kind == "open") - (kind == "close")
        repeated = _QUANTIFIER.match(written, place)
        if repeated is not None and kind not in ("set", "escaped", "plain", "dot"):
            return None
        if kind == "end" and place < len(written):
            return None
        found += {"dot": f"[^{_LINE_ENDS}]", "end": rf"(?:\r\n|[{_LINE_ENDS}])?\z"}.get(kind or "", text)
        if repeated is not None:
            found, place = found + repeated[0], repeated.end()
            if place < len(written) and written[place] in "*+?{":
                return None
        if depth < 0:
            return None
    return found if not depth and _is_read(written) else None


def _is_read(written: str) -> bool:
    try:
        re.compile(written)
    except re.error:
        return False
    return True


def groups_of(expression: str) -> int:
    """How many groups a regular expression remembers."""
    return re.compile(expression).groups


CONSTANTS: dict[str, Constant] = {
    "count": lambda constant: _number(constant, 0, _MOST_COUNT),
    "place": lambda constant: _number(constant, 1, _MOST_COUNT),
    "small": lambda constant: _number(constant, -_MOST_DAYS, _MOST_DAYS),
    "divisor": _divisor,
    "modulus": lambda constant: _number(constant, 1, 2**63),
    "nonzero": _not_zero,
    "interval": _interval,
    "unit": _among(_UNITS),
    "unit of days": _among({name: unit for name, unit in _UNITS.items() if unit in _DAY_UNITS}),
    "pattern of LIKE": _like,
    "regular expression": _expression,
    "format of times": _format,
    "separator": _separator,
}
"""What DuckDB is given for a constant of a class; None for a constant that is none of it."""
