"""Every change of one place of a JSON document: of each number, text, truth value and null, each object, each list."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Change:
    """What was done where: ``path`` leads to the changed value, or to the object or list whose member was changed."""

    path: Path
    what: str

    @property
    def place(self) -> str:
        """The path without numbers: ``branches.tables.entries.value``."""
        return ".".join(key for key in self.path if isinstance(key, str))

    @property
    def key(self) -> str:
        """The last name of the path."""
        return self.place.rpartition(".")[2]


def changes(document: Any) -> Iterator[tuple[Change, Any]]:
    """A document changed in one place, for all places and all that may stand there; it is itself never among them."""
    others = _by_key(document)
    for path, value in _places(document):
        for what, changed in _changed(path, value, others):
            if changed != value or type(changed) is not type(value):
                yield Change(path, what), _with(document, path, changed)


def _places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, value
    for key, member in _members(value):
        yield from _places(member, (*path, key))


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _by_key(document: Any) -> dict[str, list[Any]]:
    """What stands under each name anywhere in the document: values that are valid in each other's place."""
    found: dict[str, list[Any]] = {}
    for path, value in _places(document):
        known = found.setdefault(_name(path), [])
        if value not in known:
            known.append(value)
    return found


def _name(path: Path) -> str:
    """The name under which a value stands, also as one of a list."""
    names = [key for key in path if isinstance(key, str)]
    return f"{names[-1] if names else ''}{'[]' * (bool(path) and isinstance(path[-1], int))}"


def _changed(path: Path, value: Any, others: dict[str, list[Any]]) -> Iterator[tuple[str, Any]]:
    for other in others[_name(path)]:
        yield f"another {_name(path)}", other
    match value:
        case bool():
            yield "the opposite", not value
        case int():
            yield from (("more", value + 1), ("less", value - 1), ("much more", 10**9), ("nothing", None))
        case None:
            yield from (("a number", 1), ("another number", 10**9), ("a text", "S"))
        case str():
            yield from (("longer", f"{value}x"), ("a sum", f"{value} + 1"), ("a product", f"2*({value})"))
            yield from (("a minimum", f"min({value}, {10**60})"), ("a number", "1000000000"), ("nothing", None))
        case dict():
            yield from ((f"without {k}", {n: member for n, member in value.items() if n != k}) for k in value)
            yield "with a member", {**value, "more": 1}
        case list():
            for place, entry in enumerate(value):
                yield "without an entry", [*value[:place], *value[place + 1 :]]
                yield "an entry twice", [*value[: place + 1], entry, *value[place + 1 :]]
                if place:
                    yield "in another order", [*value[: place - 1], entry, value[place - 1], *value[place + 1 :]]
            for other in others.get(f"{_name(path)}[]", ()):
                if other not in value:
                    yield "with an entry", [*value, other]


def _with(document: Any, path: Path, value: Any) -> Any:
    """A document with another value at a path; it shares all that is beside the path with the first one."""
    if not path:
        return value
    key, *rest = path
    changed = copy.copy(document)
    changed[key] = _with(document[key], tuple(rest), value)
    return changed
