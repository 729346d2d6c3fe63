"""Keys that punctuations end: what is kept for one goes with it, and at most ``max_open`` are open (K0, K1, K2).

A punctuation on attributes of a stream passes whatever reads this stream alone, if all branches show the attributes at
the same places: the rows of a key are then over everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.query import Attribute, Branch, Kind, Query
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import Quantity, least
from streambound.recheck.circuits.states import States

UNTIL_OVER = "when its key is over"


@dataclass(frozen=True, slots=True)
class EndedColumns:
    """The columns of a block, by their places, whose values a punctuation ends."""

    table: DeclaredTable
    punctuation: StreamKey
    places: tuple[int, ...]

    def line(self, proposition: str, split: Query, names: tuple[str, ...], states: States) -> None:
        """The keys themselves, and what is kept for the open ones."""
        most = self.most(split, states)
        key_lines(self.punctuation.stream, states)
        states.line(proposition, names, most, UNTIL_OVER)

    def most(self, split: Query, states: States) -> Quantity:
        """The results of the open keys, or all there can be."""
        every = states.evidence.count_of(split)
        ways = [] if every is None else [every.entries]
        if self.punctuation.max_open is not None:
            beside = Quantity.number(1)
            if len(split.branches[0].outputs) > len(self.places):
                found = states.evidence.count_of(self.beside(split))
                beside = None if found is None else found.entries  # type: ignore[assignment]
            if beside is not None:
                ways.append(Quantity.number(self.punctuation.max_open) * beside)
        if not ways:
            raise RejectedError(f"nothing says how many results an open key of {self.table.name} has")
        return least(ways)

    def beside(self, split: Query) -> Query:
        """The results of one key."""

        def others(branch: Branch) -> Branch:
            outputs = enumerate(branch.outputs)
            return replace(branch, outputs=tuple(one for place, one in outputs if place not in self.places))

        return replace(split, branches=tuple(map(others, split.branches)))


def key_lines(stream: str, states: States) -> None:
    """The keys of all punctuations that a stream brings, once: those that are open, and the last that ended."""
    table = states.catalog.table(stream)
    for one in table.punctuations if table is not None else ():
        of = f"{stream} by {', '.join(one.attributes)}"
        if one.max_open is None or of in states.open_keys:
            continue
        states.open_keys.add(of)
        states.line("K0", one.attributes, Quantity.number(one.max_open), "when a punctuation ends it")
        ended = f"when {one.max_open} more have ended"
        states.line("K0", one.attributes, Quantity.number(one.max_open), ended)


def ended_key(split: Query, keys: int, states: States, promised: bool = True) -> EndedColumns | None:
    """The punctuation that ends a block's first columns, with the fewest open keys; None where there is none.

    Without ``promised`` one that does not say how many keys are open, if no other is there.
    """
    tables = {one.table for branch in split.branches for one in branch.sources if one.kind is not Kind.RELATION}
    if len(tables) != 1 or any(len(branch.streams) != 1 for branch in split.branches):
        return None
    table = states.catalog.table(tables.pop())
    found = []
    for punctuation in table.ending if table is not None else ():
        places = {_places(branch, punctuation, keys) for branch in split.branches}
        if len(places) == 1 and (one := places.pop()) is not None and table is not None:
            found.append(EndedColumns(table, punctuation, one))
    numbered = sorted(
        (one for one in found if one.punctuation.max_open is not None), key=lambda one: one.punctuation.max_open or 0
    )
    if numbered:
        return numbered[0]
    return found[0] if found and not promised else None


def _places(branch: Branch, punctuation: StreamKey, keys: int) -> tuple[int, ...] | None:
    shown = [output.value for output in branch.outputs[:keys]]
    wanted = [Attribute(branch.streams[0].alias, name) for name in punctuation.attributes]
    return tuple(shown.index(one) for one in wanted) if all(one in shown for one in wanted) else None
