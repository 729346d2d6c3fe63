"""Does a certificate speak of the query's sources and attributes only?"""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.query import Attribute
from streambound.recheck.certificates.claims import ClaimedCount, ClaimedLimit, ClaimedTable
from streambound.recheck.certificates.conditions import Conditions


def unknown(conditions: Conditions, table: ClaimedTable) -> Iterator[str]:
    """The reasons why a table's claims mean nothing: sources, attributes and relations' columns that are not there."""
    sources = {*conditions.streams, *conditions.relations}
    aliases = [*table.streams, *table.relations, *(age.stream for age in table.ages)]
    attributes = [a for stored in table.stored for a in (stored.attribute, *(other for other, _ in stored.equal))]
    attributes += [own for extremum in table.extrema for own, _ in extremum.of]
    attributes += [other for extremum in table.extrema for other, _, _ in extremum.limits]
    attributes += [time for distance in table.distances for time in (distance.plus, distance.minus)]
    limits = [limit for stored in table.stored for limit in (*stored.low, *stored.high)]
    for count in counts_of(table.count):
        aliases += [alias for alias in (count.source, count.beside, *count.fixed) if alias is not None]
        attributes += [*count.attributes, *([] if count.listed is None else [count.listed])]
        limits += [*count.low, *count.high]
    yield from (f"table {table.name} speaks of {alias}" for alias in dict.fromkeys(aliases) if alias not in sources)
    extremes = [attribute for limit in limits for attribute in _extremes(limit)]
    known = set(conditions.attributes)
    wrong = [a for a in attributes if a not in known]
    wrong += [a for a in extremes if a not in known or not _complete(conditions, table, a.source)]
    yield from (f"table {table.name} speaks of {attribute}" for attribute in dict.fromkeys(wrong))
    if any(limit.constant is None and not limit.relations for limit in limits):
        yield f"table {table.name} has a limit that is none"


def _complete(conditions: Conditions, table: ClaimedTable, source: str) -> bool:
    """Whether a source's values are limited for good: it is a relation, or a finite stream whose tuple is there."""
    if source in conditions.relations:
        return True
    time = conditions.time(source)
    return source in table.streams and conditions.follows.bound(time, conditions.zero(time)) is not None


def _extremes(limit: ClaimedLimit) -> list[Attribute]:
    return [attribute for attribute, _ in limit.relations]


def counts_of(count: ClaimedCount) -> Iterator[ClaimedCount]:
    """A count and all its parts."""
    yield count
    for part in count.of:
        yield from counts_of(part)
