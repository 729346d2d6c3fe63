"""Keys that punctuations end: what the invariants of the operators below say of a block's columns.

A punctuation on attributes A of a stream says that no later row has these values. SELECT and PROJECT pass it, a join
with a relation that does not change passes it, and a UNION of selections of one stream does, where every branch gives
the attributes at the same places (`streambound.punctuation`). What is kept for a value of A ends with it: at most
``max_open`` values are open, and as many that have ended are remembered, to know the rows that come too late.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from streambound.analyzer.catalog import Catalog, Kind
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.query import Attribute, Branch, Query
from streambound.analyzer.spans import Span
from streambound.criteria.judged import State
from streambound.criteria.operators.judge import groups
from streambound.criteria.operators.parts import EndingKey
from streambound.criteria.size import Number, Size, least, product
from streambound.criteria.violation import Violation
from streambound.preprocess.pipeline import derive

OPEN_KEYS = "K0"
"""The proposition that bounds the keys themselves."""
UNTIL_OVER = "when its key is over"
"""When what is kept for a key goes."""


@dataclass(frozen=True, slots=True)
class EndedKey:
    """The columns of a block, by their places, whose values end: they are a key of its stream."""

    key: StreamKey
    places: tuple[int, ...]

    @property
    def ending(self) -> EndingKey:
        """As the plan has it."""
        return EndingKey(self.key.stream, self.key.marked, self.places)

    def most(self, split: Query) -> Size | None:
        """How many results of the open keys a block has; None where there is no number."""
        every = groups(split)
        open_keys = self.key.max_open
        if open_keys is None:
            return every
        others = (
            groups(one_value(split, self.places)) if len(split.branches[0].outputs) > len(self.places) else Number(1)
        )
        if others is None:
            return every
        found = product([Number(open_keys), others])
        return found if every is None else least([every, found])

    def counted(self, split: Query) -> tuple[Query, ...]:
        """What is counted for that: all results, and those of one key, where there is a number of them."""
        found = [split]
        if self.key.max_open is not None and len(split.branches[0].outputs) > len(self.places):
            found.append(one_value(split, self.places))
        return tuple(one for one in found if groups(one) is not None)


def ended_key(query: Query, keys: int, catalog: Catalog, promised: bool = True) -> EndedKey | None:
    """The punctuation that ends what is kept for each value of a block's first columns, if there is one.

    Of several the one with the fewest open keys; without ``promised`` also one that promises no number of them.
    """
    found: list[EndedKey] = []
    branches = derive(query).split.branches
    tables = {source.table for branch in branches for source in branch.sources if source.kind is not Kind.RELATION}
    if len(tables) != 1 or any(len(branch.streams) != 1 for branch in branches):
        return None
    table = catalog.table(tables.pop())
    for key in table.ending if table is not None else ():
        places = [_places(branch, key, keys) for branch in branches]
        if places[0] is not None and len(set(places)) == 1:
            found.append(EndedKey(key, places[0]))
    number = [one for one in found if one.key.max_open is not None]
    if number:
        return min(number, key=lambda one: one.key.max_open or 0)
    return found[0] if found and not promised else None


def _places(branch: Branch, key: StreamKey, keys: int) -> tuple[int, ...] | None:
    (stream,) = branch.streams
    values = [output.value for output in branch.outputs[:keys]]
    wanted = [Attribute(stream.alias, name) for name in key.attributes]
    return tuple(map(values.index, wanted)) if all(one in values for one in wanted) else None


def one_value(split: Query, places: tuple[int, ...]) -> Query:
    """A block's query without some of its columns: that of one value of the key."""
    branches = tuple(
        replace(branch, outputs=tuple(o for place, o in enumerate(branch.outputs) if place not in places))
        for branch in split.branches
    )
    return replace(split, branches=branches)


def key_states(key: StreamKey, catalog: Catalog, span: Span) -> tuple[State, ...]:
    """The keys of all punctuations of a stream whose records a job reads: those that are open, and the last ended."""
    found, table = [], catalog.table(key.stream)
    for one in table.punctuations if table is not None else ():
        if one.max_open is None:
            continue
        names, most = tuple(one.attributes), Number(one.max_open)
        of = f"keys of {key.stream} by {', '.join(one.attributes)}"
        found.append(State(f"open {of}", OPEN_KEYS, most, names, "when a punctuation ends it", span))
        found.append(State(f"ended {of}", OPEN_KEYS, most, names, f"when {one.max_open} more have ended", span))
    return tuple(found)


def needs_number(violations: list[Violation], query: Query, keys: int, catalog: Catalog) -> list[Violation]:
    """Violations by keys that a punctuation ends, which promises no number of open ones: with the way out."""
    key = ended_key(query, keys, catalog, promised=False)
    if key is None or key.key.max_open is not None:
        return violations
    help = f"add max_open to [[streams.{key.key.stream}.punctuations]]: how many keys are open at most at any time"
    return [replace(one, help=help) if one.attribute in key.key.attributes else one for one in violations]
