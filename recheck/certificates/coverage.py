"""Is there a table for every set of streams whose tuples can come first?"""

from __future__ import annotations

from collections.abc import Iterator

from streambound.recheck.certificates.claims import ClaimedTable
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.independence import Neighbours


def uncovered(
    conditions: Conditions,
    tables: tuple[ClaimedTable, ...],
    independence: Neighbours,
    families: tuple[frozenset[str], ...] = (),
) -> Iterator[str]:
    """The reasons why some partial match has no table.

    From nothing and from every table: a stream more, together with all that is forced to be at most as new, must be a
    table again, or all streams, or a smaller set of the streams of one of the ``families``, unless the two are
    independent. So by induction there is one for each part of whatever has come by some timestamp.
    """
    known = [frozenset(table.streams) for table in tables]
    everything = frozenset(conditions.streams)
    for table, streams in zip(tables, known, strict=True):
        if not streams < everything or not streams or len(streams) != len(table.streams):
            yield f"table {table.name} is not of some of the streams {', '.join(conditions.streams)}"
        if known.count(streams) > 1:
            yield f"there are two tables of {', '.join(sorted(streams))}"
        if not frozenset(table.relations) <= frozenset(conditions.relations):
            yield f"table {table.name} joins a relation that the query does not have"
    needs = {s: frozenset(t for t in conditions.streams if t == s or conditions.forced(t, s)) for s in everything}
    for streams in (frozenset[str](), *known):
        for stream in conditions.streams:
            larger = streams | needs[stream]
            apart = bool(streams) and not independence.touching(streams, needs[stream])
            held = larger == everything or larger in known or any(larger < family for family in families)
            if not held and not apart:
                come = ", ".join(sorted(larger))
                yield f"tuples of {come} can come before all others, and there is no table of them"
