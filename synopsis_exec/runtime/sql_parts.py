"""Parts of a job's plan that are written as SQL: columns, conditions, values.

A job's literal has ``columns('id bigint, ts timestamp')`` for what two `TableColumn`s say, and so on. What SQL of this
kind does not say, such as a domain or a formula, stays a call of its class.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from streambound_runtime.operators.plan import Term, Test
from streambound_runtime.spec import TableColumn

_NAME = r"(\w+|`[^`]+`)"
_COLUMN = re.compile(rf"{_NAME} ([^,(]+(?:\([^()]*\))?)", re.ASCII)
_TEST = re.compile(rf"{_NAME} (<=|>=|<>|<|>|=) (?:(-?\d+)|'((?:[^']|'')*)'|{_NAME}(?: ([+-]) (\d+))?)", re.ASCII)
_NULL = re.compile(rf"{_NAME} IS (NOT )?NULL", re.ASCII)
_OPERATORS = {"=": "==", "<>": "!="}
_AND, _COMMA = " AND ", ", "


def columns(text: str) -> tuple[TableColumn, ...]:
    """``id bigint, ts timestamp``.

    >>> columns("id bigint, `a b` decimal(9,2)")[1]
    TableColumn(name='a b', type='decimal(9,2)', domain=None)
    """
    return tuple(TableColumn(_unquoted(found[1]), found[2]) for found in _each(text, _COLUMN, _COMMA))


def where(text: str) -> tuple[Test, ...]:
    """``k IS NOT NULL AND a >= 2 AND a < b + 1``.

    >>> where("a < b + 1")
    (Test(left='a', op='<', right='b', offset=1, or_null=False),)
    """
    return tuple(map(_test, _each(text, re.compile(f"{_NULL.pattern}|{_TEST.pattern}", re.ASCII), _AND)))


def values(text: str) -> tuple[Term | None, ...]:
    """``now, t_b, NULL``.

    >>> values("now, NULL")[1] is None
    True
    """
    names = (found[1] for found in _each(text, re.compile(_NAME, re.ASCII), _COMMA))
    return tuple(None if name == "NULL" else Term(_unquoted(name)) for name in names)


WORDS: dict[str, Callable[[str], tuple[object, ...]]] = {"columns": columns, "where": where, "values": values}
"""What a job's literal may call for parts in SQL."""


def in_sql(part: object) -> str | None:
    """A part of a plan as such a call; None where it is none, or says more."""
    if not isinstance(part, tuple) or not part:
        return None
    for name, texts, separator in (("columns", _columns, _COMMA), ("where", _tests, _AND), ("values", _values, _COMMA)):
        shown = [text for one in part for text in texts(one)]
        text = separator.join(shown)
        if len(shown) == len(part) and _says(name, text, part):
            return f"{name}({text!r})"
    return None


def _says(name: str, text: str, part: tuple[object, ...]) -> bool:
    """Whether a text means exactly that part."""
    try:
        return repr(WORDS[name](text)) == repr(part)
    except ValueError:
        return False


def _columns(one: object) -> Iterator[str]:
    if isinstance(one, TableColumn):
        yield f"{_quoted(one.name)} {one.type}"


def _values(one: object) -> Iterator[str]:
    if one is None or isinstance(one, Term):
        yield "NULL" if one is None else _quoted(str(one.variable))


def _tests(one: object) -> Iterator[str]:
    if not isinstance(one, Test):
        return
    left, op = _quoted(one.left), {sign: sql for sql, sign in _OPERATORS.items()}.get(one.op, one.op)
    if op.endswith("null"):
        yield f"{left} {op.upper()}"
    elif one.right is None:
        text = str(one.offset)
        yield f"{left} {op} " + ("'" + text.replace("'", "''") + "'" if isinstance(one.offset, str) else text)
    elif isinstance(one.offset, int):
        yield f"{left} {op} {_quoted(one.right)} {'+-'[one.offset < 0]} {abs(one.offset)}"
    else:
        yield f"{left} {op} {_quoted(one.right)}"


def _test(found: re.Match[str]) -> Test:
    of_null, is_not, left, sign, number, text, right, direction, distance = found.groups()
    if of_null is not None:
        return Test(_unquoted(of_null), "is not null" if is_not else "is null")
    op = _OPERATORS.get(sign, sign)
    if right is None:
        return Test(_unquoted(left), op, None, text.replace("''", "'") if number is None else int(number))
    offset = None if distance is None else int(direction + distance)
    return Test(_unquoted(left), op, _unquoted(right), offset)


def _each(text: str, part: re.Pattern[str], separator: str) -> Iterator[re.Match[str]]:
    """The parts of a text between separators; raises ValueError for anything else."""
    at = 0
    while found := part.match(text, at):
        yield found
        at = found.end()
        if at == len(text):
            return
        if not text.startswith(separator, at):
            break
        at += len(separator)
    raise ValueError(f"no part of a plan in SQL: {text!r}")


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"\w+", name, re.ASCII) and name != "NULL" else f"`{name}`"


def _unquoted(name: str) -> str:
    return name.strip("`")
