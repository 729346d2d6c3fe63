"""``SELECT  <->  SELECT DISTINCT``: a set needs its extremes only, and a bag does not remember what it returned."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.criteria.repairs.rejected import Rejected
from streambound.criteria.repairs.steps import Change, SetDistinct

REMOVED = 40
ADDED = 42


def duplicates(rejected: Rejected) -> Iterator[Change]:
    """DISTINCT removed or added."""
    if rejected.query.distinct:
        note = "every result comes as often as it is found"
        yield Change(("distinct",), ("keep duplicates",), REMOVED, (SetDistinct(False),), (note,))
    else:
        note = "every result comes once"
        yield Change(("distinct",), ("eliminate duplicates",), ADDED, (SetDistinct(True),), (note,))
