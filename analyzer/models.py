"""Models are msgspec structs, whose methods are in C: to define dataclasses took a third of the time of a check."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import ClassVar

from msgspec import Struct


class Described(Struct, frozen=True):
    """A model some of whose fields, its ``DESCRIPTION``, say where it comes from: two that differ there are equal.

    Not with ``eq=False``: ``!=`` would not ask ``__eq__`` then.
    """

    DESCRIPTION: ClassVar[tuple[str, ...]] = ()

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and (key := _key(type(self)))(self) == key(other))

    def __hash__(self) -> int:
        return hash(_key(type(self))(self))


@cache
def _key(kind: type[Described]) -> Callable[[object], object]:
    """What is compared of a model of a kind."""
    return attrgetter(*(name for name in kind.__struct_fields__ if name not in kind.DESCRIPTION))
