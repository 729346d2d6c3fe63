"""Expressions of Spark's plans as SQL that the analyzer reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from streambound.analyzer.durations import length_text
from streambound.analyzer.expressions.dialect import tokens_of
from streambound.analyzer.types import parse_type
from streambound.importing.frames.catalyst import Expression, expression_of
from streambound.importing.spark_schema import type_name

_INFIX = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "Remainder": "%", "IntegralDivide": "DIV",
    "EqualTo": "=", "EqualNullSafe": "<=>", "LessThan": "<", "LessThanOrEqual": "<=", "GreaterThan": ">",
    "GreaterThanOrEqual": ">=", "And": "AND", "Or": "OR", "TimestampAddInterval": "+", "DateAddInterval": "+",
    "DateAddYMInterval": "+", "TimestampAddYMInterval": "+", "SubtractTimestamps": "-", "SubtractDates": "-",
}  # fmt: skip
_CALLS = {
    "Abs": "abs", "Coalesce": "coalesce", "Concat": "concat", "Upper": "upper", "Lower": "lower",
    "Substring": "substring", "StringTrim": "trim", "Length": "length", "Round": "round", "Floor": "floor",
    "Ceil": "ceil", "Year": "year",
    "Month": "month", "DayOfMonth": "day", "Hour": "hour", "Minute": "minute", "Second": "second", "If": "if",
    "TruncTimestamp": "date_trunc", "UnixTimestamp": "unix_timestamp", "ToUnixTimestamp": "to_unix_timestamp",
    "ParseToDate": "to_date", "Greatest": "greatest", "Least": "least", "Pmod": "pmod", "IsNaN": "isnan",
    "TimestampDiff": "timestampdiff", "Murmur3Hash": "hash", "AddMonths": "add_months", "DateAdd": "date_add",
    "DateSub": "date_sub", "DateDiff": "datediff", "SecondsToTimestamp": "timestamp_seconds",
}  # fmt: skip
"""Functions whose arguments are their children, in this order."""
_AGGREGATES = {
    "Count": "count", "Sum": "sum", "Min": "min", "Max": "max", "Average": "avg", "First": "first", "Last": "last",
    "CollectSet": "collect_set", "CollectList": "collect_list", "HyperLogLogPlusPlus": "approx_count_distinct",
    "MaxBy": "max_by", "MinBy": "min_by", "StddevSamp": "stddev_samp", "StddevPop": "stddev_pop",
    "VarianceSamp": "var_samp", "VariancePop": "var_pop", "AnyValue": "any_value", "Percentile": "percentile",
    "ApproximatePercentile": "percentile_approx", "Median": "median", "Mode": "mode", "CountIf": "count_if",
    "BoolAnd": "bool_and", "BoolOr": "bool_or", "Corr": "corr",
}  # fmt: skip
_WHOLE = ("byte", "short", "integer", "long")
_WORD = re.compile(r"\W+")


class NotReadError(Exception):
    """What of a plan is not read, in words for its user; ``line`` is that of the program, None where not known."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what)
        self.line = line


def identifier(name: str) -> str:
    """A name as SQL has it, in backquotes where it would be read as something else."""
    tokens = tokens_of(name)
    word = len(tokens) == 1 and tokens[0].token_type.name == "VAR" and not tokens[0].text.startswith("`")
    return name if word else f"`{name}`"


def plain_name(name: str) -> str:
    """A column's name without what SQL has other uses for.

    >>> plain_name("sum(amount)")
    'sum_amount'
    """
    return _WORD.sub("_", name).strip("_") or "value"


def declared_type(kind: Any) -> str:
    """The type of a column in a catalog; a text where the catalog has none like it."""
    name = type_name(kind)
    try:
        return "string" if name is None or parse_type(name) is None else name
    except ValueError:
        return "string"


def is_window(column: Expression) -> bool:
    """Whether an attribute's type is that of a window of time."""
    fields = column.type.get("fields", ()) if isinstance(column.type, dict) else ()
    return [one.get("name") for one in fields] == ["start", "end"]


class Printer(Struct, frozen=True):
    """Writes expressions over columns; ``column`` says how each is referred to.

    Raises NotReadError for what the analyzer has no words for.
    """

    column: Callable[[Expression], str]

    def sql(self, node: Expression) -> str:
        """An expression as SQL."""
        kind, children = node.kind, node.children
        if kind == "AttributeReference":
            return self.column(node)
        if kind == "Alias":
            return self.sql(children[0])
        if kind == "Literal":
            return literal(node)
        if kind in _INFIX and len(children) == 2:
            return f"({self.sql(children[0])} {_INFIX[kind]} {self.sql(children[1])})"
        if kind in _CALLS:
            return self._call(_CALLS[kind], node)
        match kind:
            case "Not":
                return f"NOT ({self.sql(children[0])})"
            case "IsNull" | "IsNotNull":
                return f"{self.sql(children[0])} IS {'NOT ' if kind == 'IsNotNull' else ''}NULL"
            case "UnaryMinus":
                return f"(-{self.sql(children[0])})"
            case "In":
                return f"{self.sql(children[0])} IN ({', '.join(map(self.sql, children[1:]))})"
            case "Like" if node.fields.get("escapeChar") in (None, "\\"):
                return f"{self.sql(children[0])} LIKE {self.sql(children[1])}"
            case "Cast":
                return self._cast(node)
            case "CaseWhen":
                pairs = zip(children[::2], children[1::2], strict=False)
                cases = " ".join(f"WHEN {self.sql(when)} THEN {self.sql(then)}" for when, then in pairs)
                last = f" ELSE {self.sql(children[-1])}" if len(children) % 2 else ""
                return f"CASE {cases}{last} END"
            case "Between":
                return self._between(node)
            case "AtLeastNNonNulls" if node.fields.get("n") == len(children):
                return f"({' AND '.join(f'{self.sql(one)} IS NOT NULL' for one in children)})"
            case "DatetimeSub":
                start, interval = (self.sql(expression_of(node.fields[key])) for key in ("start", "interval"))
                return f"({start} - {interval})"
            case "GetStructField" if children[0].kind == "AttributeReference" and is_window(children[0]):
                return f"{self.sql(children[0])}.{('start', '`end`')[node.fields['ordinal']]}"
            case "AggregateExpression":
                return self._aggregate(node)
            case "CreateNamedStruct" if (window := self._window(node)) is not None:
                return window
            case "PreciseTimestampConversion" if (last_moment := self._window_time(node)) is not None:
                return last_moment
        raise NotReadError(f"{words_of(node)} is not read")

    def _call(self, name: str, node: Expression) -> str:
        arguments = [self.sql(child) for child in node.children]
        if name in ("unix_timestamp", "to_unix_timestamp"):
            arguments = arguments[:1]  # the other is the format of a text
        return f"{name}({', '.join(arguments)})"

    def _cast(self, node: Expression) -> str:
        child, kind = node.children[0], node.type
        widened = child.type in _WHOLE and kind in _WHOLE and _WHOLE.index(child.type) <= _WHOLE.index(kind)
        if widened or (child.kind in _INFIX and kind == "timestamp"):  # Spark's own, which changes nothing
            return self.sql(child)
        name = type_name(kind)
        if kind == "interval" and child.kind == "Literal":
            return f"INTERVAL {child.value}"
        if name is None or not isinstance(kind, str):
            raise NotReadError(f"a cast to {name or 'a type of its own'} is not read")
        return f"CAST({self.sql(child)} AS {name})"

    def _between(self, node: Expression) -> str:
        subject, low, high = (self.sql(expression_of(node.fields[key])) for key in ("input", "lower", "upper"))
        return f"({subject} BETWEEN {low} AND {high})"

    def _aggregate(self, node: Expression) -> str:
        function = node.children[0]
        name = _AGGREGATES.get(function.kind)
        if name is None or len(node.children) > 1:
            what = f"the aggregate {words_of(function)}" if name is None else "an aggregate with FILTER"
            raise NotReadError(f"{what} is not read")
        arguments = [self.sql(child) for child in function.children]
        whole = function.kind == "Count" and all(one.kind == "Literal" for one in function.children)
        distinct = "DISTINCT " if node.fields.get("isDistinct") else ""
        return f"{name}({distinct}{'*' if whole else ', '.join(arguments)})"

    def _window(self, node: Expression) -> str | None:
        """``window`` and ``session_window``, which Spark has replaced by arithmetic."""
        if len(node.children) != 4 or [one.value for one in node.children[::2]] != ["start", "end"]:
            return None
        start, end = node.children[1], node.children[3]
        times = [
            one for one in start.walk() if one.kind == "PreciseTimestampConversion" and one.fields["toType"] == "long"
        ]
        if not times:
            return None
        time = self.sql(times[0].children[0])
        slides = [one for one in start.walk() if one.kind == "Remainder"]
        if slides:
            shift, slide = slides[0].children[0].children[1], slides[0].children[1]
            size = next(one for one in end.walk() if one.kind == "Add").children[1]
            return _window_call(time, *(int(one.value or 0) for one in (size, slide, shift)))
        for one in end.walk():
            if one.kind == "TimestampAddInterval":
                gap = one.children[1].children[0] if one.children[1].kind == "Cast" else one.children[1]
                if gap.kind == "Literal":
                    text = gap.value if gap.type == "string" else length_text(int(gap.value or 0))
                    return f"session_window({time}, '{text}')"
                raise NotReadError("session_window with a gap that differs by row is not read")
        return None

    def _window_time(self, node: Expression) -> str | None:
        """``window_time``: a window's end, less a microsecond."""
        inner = node.children[0]
        ends = [one for one in node.walk() if one.kind == "GetStructField" and one.fields.get("ordinal") == 1]
        if inner.kind != "Subtract" or not ends or not is_window(ends[0].children[0]):
            return None
        return f"window_time({self.sql(ends[0].children[0])})"


def _window_call(time: str, size: int, slide: int, shift: int) -> str:
    lengths = [size] if (slide, shift) == (size, 0) else [size, slide] if not shift else [size, slide, shift]
    return f"window({', '.join([time, *(repr(length_text(one)) for one in lengths)])})"


def literal(node: Expression) -> str:
    """A constant as SQL."""
    kind, value = node.type, node.value
    name = type_name(kind)
    if value is None:
        return f"CAST(NULL AS {name})" if name not in (None, "void") else "NULL"
    if kind in _WHOLE or kind == "boolean":
        return str(value)
    if kind == "string":
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if kind in ("double", "float"):
        return f"{value}D"
    if isinstance(kind, str) and kind.startswith("decimal"):
        return str(value)
    if kind in ("timestamp", "timestamp_ntz", "date"):
        return f"{kind.upper()} '{value}'"
    if isinstance(kind, str) and kind.startswith("interval"):
        if "month" in kind or "year" in kind:
            return f"INTERVAL {value} MONTH"
        return f"INTERVAL {length_text(int(value)).upper()}" if re.fullmatch(r"-?\d+", value) else f"INTERVAL {value}"
    raise NotReadError(f"a constant of type {name or kind} is not read")


def words_of(node: Expression) -> str:
    """What a user calls an expression: a function's name as Python has it."""
    if node.kind in ("PythonUDF", "ScalaUDF"):
        return f"the function {node.name or 'of the user'}"
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node.kind).lower()
