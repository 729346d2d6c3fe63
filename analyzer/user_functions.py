"""Functions of the user's own (`[functions]`): what the catalog says of them, and calls of them in a statement.

``score(a, b)``  ->  ``CAST(`score`(CAST(a AS string), CAST(b AS bigint)) AS double)``: the types are said by casts. Of
one that is Python's the job makes a function that gives an array of its value, ``CAST(`score`(…)[0] AS double)``, which
is empty where it raises an error: then Spark raises one, and the row is bad as with any expression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from streambound.analyzer.catalog_model import FunctionDocument, keys
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.registry import is_of_spark
from streambound.analyzer.toml_reader import Path, TomlReader
from streambound.analyzer.types import DataType, Family, parse_type

_KEYS = keys(FunctionDocument)
_FORM = 'as in score = { arguments = ["string", "bigint"], result = "double", python = "fraud:score" }'
_PYTHON = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_PLAIN = (Family.BOOLEAN, Family.INTEGER, Family.STRING, Family.DATE)


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function by its name in small letters; ``python`` is ``module:function``, empty for one of Spark's session."""

    name: str
    arguments: tuple[DataType, ...]
    result: DataType
    python: str = ""
    deterministic: bool = True

    def called(self, arguments: Sequence[exp.Expr]) -> exp.Expr:
        """A call, typed by casts."""
        given = [_cast(one, kind) for one, kind in zip(arguments, self.arguments, strict=True)]
        node: exp.Expr = exp.Anonymous(this=exp.to_identifier(self.name, quoted=True), expressions=given)
        if self.python:
            node = exp.Bracket(this=node, expressions=[exp.Literal.number(0)])
        return _cast(node, self.result)


def _cast(node: exp.Expr, kind: DataType) -> exp.Expr:
    made = parsed(f"CAST(x AS {kind.name})").copy()
    made.set("this", node)
    return made


def read_functions(reader: TomlReader, value: object) -> tuple[UserFunction, ...]:
    """The table `[functions]`; raises CatalogError."""
    found = list[UserFunction]()
    for name, given in reader.mapping(value, ("functions",)).items():
        path = ("functions", name)
        body = reader.mapping(given, path)
        reader.known_keys(body, _KEYS, path)
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or any(one.name == name.lower() for one in found):
            raise reader.fail(f"{name!r} cannot be the name of a function, or is one twice", path)
        if is_of_spark(name.lower()) or not isinstance(parsed(f"{name}(1)"), exp.Anonymous):
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


def _kind(reader: TomlReader, name: object, path: Path) -> DataType:
    """A type whose values are the same in Spark, in DuckDB and in Python."""
    kind = parse_type(name) if isinstance(name, str) else None
    if kind is None or not (kind.family in _PLAIN or kind.name == "double"):
        remedy = "boolean, an integer, double, string or date; give a timestamp as unix_micros(ts)"
        raise reader.fail(f"{name!r} is no type of an argument or result of a function here", path, remedy)
    return kind


def as_written(tree: exp.Expr) -> exp.Expr:
    """The same with calls as a person writes them: ``CAST(`f`(CAST(a AS t))[0] AS r)``  ->  ``f(a)``."""

    def plain(node: exp.Expr) -> exp.Expr:
        inner = node.this if isinstance(node, exp.Cast) else None
        inner = inner.this if isinstance(inner, exp.Bracket) else inner
        if not isinstance(inner, exp.Anonymous) or not isinstance(inner.this, exp.Identifier):
            return node
        return exp.Anonymous(this=inner.name, expressions=[as_written(one.this) for one in inner.expressions])

    return tree.transform(plain)


def with_functions(tree: exp.Expr, functions: Sequence[UserFunction]) -> tuple[exp.Expr, str] | None:
    """Type the calls of such functions in a statement, which changes; the first that is wrong, and why in words."""
    known = {one.name: one for one in functions}
    for node in [*tree.find_all(exp.Anonymous)]:
        function = known.get(node.name.lower())
        if function is None:
            node.set("this", node.name)  # in quotes it is no other function
        elif not function.deterministic:
            return (
                node,
                f"{node.name} is not deterministic, as the catalog says: results would not follow from the rows",
            )
        elif len(node.expressions) != len(function.arguments):
            return node, f"{node.name} takes {len(function.arguments)} arguments, not {len(node.expressions)}"
        else:
            node.replace(function.called(node.expressions))
    return None
