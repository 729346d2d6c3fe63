"""Functions of the user's own (`[functions]`): what the catalog says of them. `analyzer.function_calls` reads calls."""

from __future__ import annotations

import re

from msgspec import Struct

from streambound.analyzer.catalog_model import FunctionDocument, keys
from streambound.analyzer.toml_reader import Path, TomlReader
from streambound.analyzer.types import DataType, Family, parse_type

_KEYS = keys(FunctionDocument)
_FORM = 'as in score = { arguments = ["string", "bigint"], result = "double", python = "fraud:score" }'
_PYTHON = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_PLAIN = (Family.BOOLEAN, Family.INTEGER, Family.STRING, Family.DATE)


class UserFunction(Struct, frozen=True):
    """A function by its name in small letters; ``python`` is ``module:function``, empty for one of Spark's session."""

    name: str
    arguments: tuple[DataType, ...]
    result: DataType
    python: str = ""
    deterministic: bool = True


def read_functions(reader: TomlReader, value: object) -> tuple[UserFunction, ...]:
    """The table `[functions]`; raises CatalogError."""
    found = list[UserFunction]()
    for name, given in reader.mapping(value, ("functions",)).items():
        path = ("functions", name)
        body = reader.mapping(given, path)
        reader.known_keys(body, _KEYS, path)
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or any(one.name == name.lower() for one in found):
            raise reader.fail(f"{name!r} cannot be the name of a function, or is one twice", path)
        if _is_of_sql(name):
            raise reader.fail(f"{name} is a function that SQL has", path, "give yours another name")
        if missing := [key for key in ("arguments", "result") if key not in body]:
            raise reader.fail(f"the function {name} lacks {missing[0]}", path, _FORM)
        python, deterministic = body.get("python", ""), body.get("deterministic", True)
        if python and not (isinstance(python, str) and _PYTHON.fullmatch(python)):
            raise reader.fail("python is module:function", (*path, "python"), _FORM)
        if not isinstance(deterministic, bool):
            raise reader.fail("deterministic is true or false", (*path, "deterministic"))
        kinds = [_kind(reader, one, (*path, "arguments")) for one in reader.strings(body["arguments"], path)]
        result = _kind(reader, body["result"], (*path, "result"))
        found.append(UserFunction(name.lower(), tuple(kinds), result, python, deterministic))
    return tuple(found)


def _is_of_sql(name: str) -> bool:
    """Whether the parser, or Spark, has a function of a name: most catalogs have none, and need neither."""
    from sqlglot import exp

    from streambound.analyzer.expressions.dialect import parsed
    from streambound.analyzer.expressions.registry import is_of_spark

    return is_of_spark(name.lower()) or not isinstance(parsed(f"{name}(1)"), exp.Anonymous)


def _kind(reader: TomlReader, name: object, path: Path) -> DataType:
    """A type whose values are the same in Spark, in DuckDB and in Python."""
    kind = parse_type(name) if isinstance(name, str) else None
    if kind is None or not (kind.family in _PLAIN or kind.name == "double"):
        remedy = "boolean, an integer, double, string or date; give a timestamp as unix_micros(ts)"
        raise reader.fail(f"{name!r} is no type of an argument or result of a function here", path, remedy)
    return kind
