"""Streams that are independent: a set of them that falls into parts needs no table beside those of its parts.

The matches of such a set are the matches of its parts, joined: every condition between two parts is decided by their
keys, whichever part came first (`sufficiency`), the parts share no relation, and tuples that their tables
still hold are no further apart than timestamps of one match may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from streambound.recheck.certificates.claims import ClaimedTable
from streambound.recheck.certificates.conditions import Conditions


class Neighbours:
    """Which streams are neighbours, by the conditions and by what the tables hold; with ``all_streams`` all are."""

    def __init__(self, conditions: Conditions, tables: tuple[ClaimedTable, ...], all_streams: bool) -> None:
        self.conditions, self.tables = conditions, tables
        streams = conditions.streams
        pairs = (frozenset((x, y)) for place, x in enumerate(streams) for y in streams[:place])
        self.pairs = frozenset(pair for pair in pairs if all_streams or not self._independent(*pair))

    def _independent(self, x: str, y: str) -> bool:
        if self.conditions.forced(x, y) or self.conditions.forced(y, x):
            return False
        shared = any(self._linked(x, group) and self._linked(y, group) for group in self._groups)
        return not shared and self._held_for_less(x, y) and self._held_for_less(y, x)

    def _linked(self, stream: str, group: frozenset[str]) -> bool:
        return any(frozenset((stream, relation)) in self.conditions.links for relation in group)

    @cached_property
    def _groups(self) -> tuple[frozenset[str], ...]:
        """Relations that conditions link, directly or through others."""
        groups: list[frozenset[str]] = []
        for relation in self.conditions.relations:
            linked = [group for group in groups if self._linked(relation, group)]
            groups = [group for group in groups if group not in linked] + [frozenset((relation,)).union(*linked)]
        return tuple(groups)

    def _held_for_less(self, older: str, newer: str) -> bool:
        """Whether all tables drop a stream's tuples before another one's would be too new for them."""
        bound = self.conditions.follows.bound(self.conditions.time(newer), self.conditions.time(older))
        if bound is None:
            return True
        tables = (table for table in self.tables if older in table.streams)
        ages = [[age for age in table.ages if age.stream == older] for table in tables]
        return all(mine and mine[0].expires is not None and mine[0].expires <= bound[0] for mine in ages)

    def touching(self, streams: frozenset[str], others: Iterable[str]) -> bool:
        """Whether some streams are in a set, or neighbours of one of it."""
        return any(x == y or frozenset((x, y)) in self.pairs for x in streams for y in others)

    def sharing(self) -> Iterator[str]:
        """The relations that two parts of a match would join, each for itself."""
        joining = [table for table in self.tables if table.relations]
        for place, table in enumerate(joining):
            for other in joining[:place]:
                shared = set(table.relations) & set(other.relations)
                if shared and not self.touching(frozenset(table.streams), other.streams):
                    yield f"tables {other.name} and {table.name} are parts of one match, and both join {min(shared)}"

    def beside(self, table: ClaimedTable) -> frozenset[str]:
        """The streams outside of a table that may be in another part of a match, older or newer."""
        inside = frozenset(table.streams)
        return frozenset(s for s in self.conditions.streams if s not in inside and not self.touching(inside, (s,)))
