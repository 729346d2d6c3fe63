"""What tables of partial matches hold: the attributes of a key, the timestamps, the streams (docs/theory-bags.md)."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from streambound.analyzer.boundedness import Limit
from streambound.analyzer.query import Attribute
from streambound.criteria.cuts import Cut
from streambound.criteria.extremum import Extremum


class Stored(Struct, frozen=True):
    """An attribute kept in a table's key.

    Values below the least of ``low`` are raised to it, values above the greatest of ``high`` lowered to it: the future
    cannot tell them apart. Empty: no clipping on that side. Between the same two ``cuts`` no values are told apart.
    ``equal`` are attributes of the same table whose value is this one's plus an offset, so they are not kept.
    """

    attribute: Attribute
    low: tuple[Limit, ...]
    high: tuple[Limit, ...]
    equal: tuple[tuple[Attribute, Fraction], ...] = ()
    cuts: tuple[Cut, ...] = ()

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attribute itself and all that equal it."""
        return (self.attribute, *(other for other, _ in self.equal))

    @property
    def limiting(self) -> tuple[Attribute, ...]:
        """The attributes of relations and finite streams that values are clipped to."""
        return tuple(attribute for limit in (*self.low, *self.high) for attribute, _ in limit.relations)

    @property
    def exact(self) -> bool:
        """Whether values are kept as they are."""
        return not self.low and not self.high and not self.cuts


class Age(Struct, frozen=True):
    """The timestamp of a stream's tuple, kept because a window outside the set needs it.

    An entry is useless once the next timestamp exceeds the kept one by more than ``expires``; timestamps older than
    the next one by ``saturates`` or more are not told apart. Without either it is kept as long as the entry, since the
    select list has it.
    """

    stream: str
    expires: int | None
    saturates: int | None

    @property
    def exact(self) -> bool:
        """Whether an entry holds the timestamp as it is."""
        return self.expires is not None or self.saturates is None


class Distance(Struct, frozen=True):
    """How far apart two timestamps of a result are: ``plus - minus``, kept instead of the two."""

    plus: Attribute
    minus: Attribute


class SynopsisTable(Struct, frozen=True):
    """The table of one realisable set: its streams and relations, its key, the timestamps it keeps.

    Of the partial matches that agree in these a set query keeps those with the best ``extrema`` only. ``deadline`` is
    the last timestamp at which a missing finite stream can still complete an entry. Only results have ``distances``.
    """

    streams: tuple[str, ...]
    relations: tuple[str, ...]
    key: tuple[Stored, ...]
    ages: tuple[Age, ...]
    deadline: int | None
    extrema: tuple[Extremum, ...] = ()
    distances: tuple[Distance, ...] = ()

    @property
    def sources(self) -> frozenset[str]:
        """The streams and relations."""
        return frozenset((*self.streams, *self.relations))

    @property
    def exact(self) -> frozenset[Attribute]:
        """The attributes whose values an entry holds as they are."""
        return frozenset(a for stored in self.key if stored.exact for a in stored.attributes)

    def age(self, stream: str) -> Age | None:
        """The age that is kept for a stream."""
        return next((age for age in self.ages if age.stream == stream), None)

    @property
    def name(self) -> str:
        """The set's streams, as in ``{T, U}``."""
        return "{" + ", ".join(self.streams) + "}"
