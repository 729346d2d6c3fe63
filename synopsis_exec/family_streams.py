"""Which streams an entry of a family has, or can have, as the bits of a number: what is added to it, and when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from streambound.analyzer.boundedness import Facts
from streambound.criteria.family import own, shared_relations
from streambound.criteria.tables import Member, SynopsisTable


@dataclass(frozen=True)
class FamilyStreams:
    """The streams of a family; the first one is the lowest bit."""

    facts: Facts
    table: SynopsisTable

    def bit(self, stream: str) -> int:
        """A stream."""
        return 1 << self.table.streams.index(stream)

    def bits_of(self, streams: tuple[str, ...]) -> int:
        """Some streams."""
        return sum(map(self.bit, streams))

    def bits(self, member: Member) -> int:
        """A member's streams."""
        return self.bits_of(member.streams)

    @property
    def all(self) -> int:
        """All of them."""
        return (1 << len(self.table.streams)) - 1

    @cached_property
    def home(self) -> dict[str, Member]:
        """The members, by their streams and the relations that no other brings."""
        return {source: m for m in self.table.members for source in own(self.table.members, m)}

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The relations that several members bring."""
        return shared_relations(self.table.members)

    def bringing(self, relation: str) -> int:
        """The streams that bring a relation."""
        return sum(self.bits(member) for member in self.table.members if relation in member.relations)

    def needed_by(self, member: Member, other: Member) -> bool:
        """Whether another member comes after a member, or with it."""
        return member.streams != other.streams and self.facts.never_newer(member.streams[0], other.streams[0])

    def needs(self, member: Member) -> int:
        """The streams that are there before a member."""
        return sum(self.bits(other) for other in self.table.members if self.needed_by(other, member))

    def absent(self, member: Member) -> int:
        """The streams that cannot be there before a member, since it is the first to bring one of its relations."""
        shared = [relation for relation in member.relations if relation in self.shared]
        others = [m for m in self.table.members if m.streams != member.streams]
        first = [m for m in others if {*shared} & {*m.relations}]
        return sum(self.bits(m) for m in others if m in first or any(self.needed_by(one, m) for one in first))

    def others(self, member: Member) -> int:
        """The streams that may be there before a member and need not."""
        free = self.all & ~self.bits(member) & ~self.needs(member) & ~self.absent(member)
        return free & ~sum(self.bits(other) for other in self.table.members if self.needed_by(member, other))

    def completes(self, member: Member) -> bool:
        """Whether a member may be the last one of a match: no other comes after it, or brings what it brings."""
        return not self.absent(member) and not any(self.needed_by(member, other) for other in self.table.members)

    def together(self, member: Member, stream: str) -> bool:
        """Whether a member may be as new as a stream."""
        lags = [lag for s in member.streams for lag in (self.facts.lag(s, stream), self.facts.lag(stream, s))]
        return all(lag is None or lag >= 0 for lag in lags)

    def when_there(self, member: Member, source: str) -> int | None:
        """A bit of what an entry has with a source, where a member may be added: 0 if all have; None if none has."""
        if source in self.shared:
            return 0
        home = self.home.get(source)
        if home is None or self.needed_by(member, home) or self.bits(home) & self.absent(member):
            return None
        return 0 if self.needed_by(home, member) else self.bit(home.streams[0])
