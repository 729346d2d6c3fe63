"""Functions of the user's own in Python, as Spark and DuckDB call them: imported where they run, results checked."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, cast

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.errors import usage
from streambound_runtime.expressions import PlainValue, with_function
from streambound_runtime.spec import PythonFunction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def function(what: str, name: str, base: str) -> Callable[..., object]:
    """The function that `module:function` names; raises JobError when it cannot be imported."""
    try:
        return _imported(name, base)
    except (ImportError, AttributeError) as error:
        path = "give spark-submit its module with --py-files, or start where it is"
        raise usage(f"{what} {name} cannot be imported: {error}; {path}") from error


@lru_cache(maxsize=64)
def _imported(name: str, base: str) -> Callable[..., object]:
    if base and base not in sys.path:
        sys.path.insert(0, base)  # where the catalog is
    module, _, attribute = name.partition(":")
    found: Callable[..., object] = getattr(importlib.import_module(module), attribute)
    return found


def use_functions(spark: SparkSession | None, functions: Sequence[PythonFunction], base: str) -> None:
    """Let expressions call the functions: of a Spark session, or without one in this process."""
    for one in functions:
        function(f"the function {one.name},", one.python, base)
        if spark is None:
            with_function(one.name, _Checked(one, base), one.arguments, one.result)
        else:
            spark.udf.register(one.name, _InArray(_Checked(one, base)), f"array<{one.result}>")


@dataclass(frozen=True)
class _Checked:
    """A function whose result has its type, or it raises an error."""

    function: PythonFunction
    base: str

    def __call__(self, *arguments: object) -> PlainValue:
        value = _imported(self.function.python, self.base)(*arguments)
        kind = sql_type(self.function.result)
        if value is None or kind.family == "boolean":
            wrong = not isinstance(value, bool | None)
        elif kind.family == "integer":
            most = 2 ** (kind.bits - 1)
            wrong = not isinstance(value, int) or isinstance(value, bool) or not -most <= value < most
        elif kind.family == "float":
            wrong = not isinstance(value, Real) or isinstance(value, bool)
            value = float(value) if isinstance(value, Real) else value
        else:
            wrong = not isinstance(value, str if kind.family == "string" else date) or isinstance(value, datetime)
        if wrong:
            raise TypeError(f"{self.function.python} gives {value!r}, which is no {self.function.result}")
        return cast("PlainValue", value)


@dataclass(frozen=True)
class _InArray:
    """A function's value in an array, which is empty where it raises an error: Spark raises one for what is missing."""

    checked: _Checked

    def __call__(self, *arguments: object) -> list[PlainValue]:
        try:
            return [self.checked(*arguments)]
        except Exception:
            return []
