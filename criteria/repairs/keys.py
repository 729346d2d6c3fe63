"""``card_id  ->  cards.card_id, cards.id``: the columns of a relation that a stream's column refers to, by their names.

A type says nothing of what a column means, and of the names only these say enough: the same name, of an id or of the
relation's first column, where its key stands; and an id that is named after the relation.
"""

from __future__ import annotations

import re

from streambound.analyzer.columns import Column
from streambound.analyzer.types import DataType, Family

_IDS = ("id", "key", "code", "no", "nr", "number", "num", "uuid", "guid")
"""How the name of an id ends; alone, such a word does not say the id of what."""
_VAGUE = (*_IDS, "name", "type", "kind", "status", "value")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z\W_]+")
KEY, ID = 0, 1
"""How sure it is that at most one row has each value: its key, or an id of whatever else."""

Words = tuple[str, ...]


def referenced(attribute: str, kind: DataType, relation: str, columns: tuple[Column, ...]) -> list[tuple[str, int]]:
    """The columns that an attribute of a name and type refers to, each `KEY` or `ID`; the surest first."""
    if kind.family in (Family.FLOAT, Family.BOOLEAN):
        return []
    name, table = _words(attribute), _words(relation)
    found = [
        (column.name, rank)
        for number, column in enumerate(columns)
        if column.type.comparable(kind) and (rank := _rank(name, _words(column.name), table, number == 0)) is not None
    ]
    return sorted(found, key=lambda pair: pair[1])


def _rank(name: Words, column: Words, table: Words, first: bool) -> int | None:
    """How sure a reference is; None where the names say nothing."""
    identifies = name[-1:] in [(word,) for word in _IDS]
    named_after = len(name) > 1 and identifies and _plural(name[:-1], table)
    if named_after and column in (name, name[-1:]):
        return KEY
    if column != name or (len(name) == 1 and name[0] in _VAGUE):
        return None
    if first:
        return KEY
    return ID if identifies else None


def is_key(column: str, table: str, columns: tuple[Column, ...]) -> bool:
    """Whether a column's name says that it is the key of its own table: an id that comes first, or is named after it.

    >>> is_key("order_id", "orders", ())
    True
    """
    name = _words(column)
    if name[-1:] not in [(word,) for word in _IDS]:
        return False
    return len(name) == 1 or _plural(name[:-1], _words(table)) or (bool(columns) and columns[0].name == column)


def _words(name: str) -> Words:
    """``cardId``, ``card_id``, ``CARD_ID``  ->  ``("card", "id")``."""
    return tuple(word.lower() for word in _WORD.findall(name)) or (name,)


def _plural(thing: Words, table: Words) -> bool:
    """Whether a relation is named after a thing, in the singular or the plural."""
    word = thing[-1]
    plurals = (word, f"{word}s", f"{word}es", f"{word.removesuffix('y')}ies")
    return any(table == (*thing[:-1], plural) for plural in plurals)
