"""Sizes of what is remembered of rows with periods, and what is known of an operator's rows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from streambound.analyzer.types import DataType
from streambound.analyzer.values import Value
from streambound.recheck.certificates.quantity import Quantity, least, product, total

Listed = frozenset[Value] | None
"""Values, if they are known."""
Limit = tuple[Quantity, ...] | None
"""A size as the least of some; None where nothing limits it."""
NOTHING, ONE = Quantity.number(0), Quantity.number(1)


def number(value: int | None) -> Limit:
    """A constant."""
    return None if value is None else (Quantity.number(value),)


def smaller(*limits: Limit) -> Limit:
    """The least of those that are known."""
    parts = tuple(part for limit in limits if limit is not None for part in limit)
    return parts or None


def times(limits: Sequence[Limit]) -> Limit:
    """The product, if all are known."""
    return _of_all([limit for limit in limits if limit is None or not least(limit).same(ONE)], ONE)


def plus(*limits: Limit) -> Limit:
    """The sum, if all are known."""
    return _of_all([limit for limit in limits if limit is None or not least(limit).same(NOTHING)], NOTHING)


def _of_all(limits: Sequence[Limit], none: Quantity) -> Limit:
    known = [limit for limit in limits if limit is not None]
    if len(known) < len(limits):
        return None
    if len(known) < 2:  # the least of some stays that
        return known[0] if known else (none,)
    return ((product if none is ONE else total)(map(least, known)),)


class RowsView(Struct, frozen=True):
    """What limits an operator's rows: those ``valid`` at a time, and the different ones that are ``there`` at a time;
    of all times the ``values`` of each column and the different ``rows``; and for how long one is valid.

    ``listed``: the values that each column may have, but NULL, where the catalog says so.
    ``arriving``: rows come when they begin, with their ends; ``whole``: with what `parts` may print; ``static``: they
    are a relation's.
    """

    types: tuple[DataType | None, ...]
    names: tuple[str, ...]
    valid: Limit
    there: Limit
    values: tuple[Limit, ...]
    rows: Limit
    longest: int | None
    listed: tuple[Listed, ...] = ()
    arriving: bool = False
    whole: bool = False
    static: bool = False

    def of(self, places: range) -> Limit:
        """The different values of some columns together, at all times."""
        together = times([self.values[place] for place in places])
        return smaller(together, self.rows) if len(places) == len(self.names) else together

    @property
    def ends(self) -> Limit:
        """At how many points of time rows that are valid together can end."""
        return number(self.longest)
