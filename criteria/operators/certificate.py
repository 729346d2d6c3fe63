"""The certificate of a circuit: a line for each state, with the evidence for its size, as plain JSON.

The tables of a block are certified like those of a query of its own (`criteria.certificate`). A state whose entries are
the different results of blocks (groups, distinct rows) has their tables of results as its evidence. `recheck` finds out
from the SQL which states there must be, how long they last and how many entries they have; it shares no code with this
package.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.query import Attribute, Query
from streambound.criteria.bound import BranchBound, QueryBound, TableBound, results_count, timed_results_layout
from streambound.criteria.cases import Case
from streambound.criteria.certificate import Amount, BranchCertificate, certificate
from streambound.criteria.count import Count, by_values
from streambound.criteria.judged import State
from streambound.criteria.operators.parts import Part
from streambound.criteria.operators.states import CLOSED, JudgedPart
from streambound.criteria.parts import BestPart, BlockPart
from streambound.criteria.size import total
from streambound.criteria.synopsis import Synopsis

VERSION = 1


@dataclass(frozen=True, slots=True)
class KeyCertificate:
    """A key of a state, and how many values it has; None where it has no number of its own."""

    key: str
    values: str | None


@dataclass(frozen=True, slots=True)
class StateCertificate:
    """A state: the operator's name, its proposition, its keys, the most entries, and when one goes."""

    state: str
    proposition: str
    keys: tuple[KeyCertificate, ...]
    entries: Amount
    lifetime: str


@dataclass(frozen=True, slots=True)
class BlockCertificate:
    """The tables of a block, whose results may be returned again; ``distinct``: how often does not matter."""

    block: str
    distinct: bool
    branches: tuple[BranchCertificate, ...]


@dataclass(frozen=True, slots=True)
class CountCertificate:
    """The different results of blocks, of which the entries of a state are made."""

    state: str
    branches: tuple[BranchCertificate, ...]


@dataclass(frozen=True, slots=True)
class CircuitCertificate:
    """All states, the evidence for their sizes, and M."""

    version: int
    states: tuple[StateCertificate, ...]
    blocks: tuple[BlockCertificate, ...]
    counts: tuple[CountCertificate, ...]
    entries: Amount


_BY_VALUES = ("C1", "C2")
"""Propositions of rows that wait for those of another side, whichever these are."""


def circuit_certificate(judged: JudgedPart) -> CircuitCertificate:
    """The certificate of a bounded circuit."""
    assert judged.part is not None, "only what is bounded is certified"
    parts = {part.name: part for part in _blocks(judged.part)}
    names = {f"{part.name} {table.table}": table for part in parts.values() for table in part.bound.tables}
    counts = {
        state.name: _counted(state.counted, state.proposition in _BY_VALUES)
        for state in judged.states
        if any(one.branches for one in state.counted)
    }
    states = tuple(_state(state, names.get(state.name), counts.get(state.name)) for state in judged.states)
    blocks = tuple(_block(part) for part in parts.values() if part.bound.tables)
    evidence = tuple(CountCertificate(name, _tables(bound)) for name, bound in counts.items())
    every = total(state.size for state in judged.states)
    return CircuitCertificate(VERSION, states, blocks, evidence, Amount(every.text, every.value))


def _blocks(part: Part) -> Iterator[BlockPart | BestPart]:
    """The blocks of a plan, from left to right."""
    if isinstance(part, BlockPart | BestPart):
        yield part
        return
    for one in fields(part):
        value = getattr(part, one.name)
        for below in value if isinstance(value, tuple) else (value,):
            if is_dataclass(below) and isinstance(below, Part):
                yield from _blocks(below)


def _state(state: State, table: TableBound | None, counted: QueryBound | None) -> StateCertificate:
    known: dict[str, str] = {}
    if table is not None:
        known = {str(a): s for stored in table.layout.key for a in [stored.attribute] if (s := _values(table.count, a))}
    elif counted is not None and len(counted.branches) == 1 and state.freed != CLOSED:  # these have no number alone
        (only,) = counted.branches
        shown = {output.name: output.value for output in only.branch.outputs}
        places = zip(state.keys, shown.values(), strict=False)
        if len(shown) == len(state.keys):
            count = only.tables[0].count
            known = {k: s for k, v in places if isinstance(v, Attribute) and (s := _values(count, v))}
    keys = tuple(KeyCertificate(key, known.get(key)) for key in state.keys)
    return StateCertificate(state.name, state.proposition, keys, Amount(state.size.text, state.size.value), state.freed)


def _values(count: Count, attribute: Attribute) -> str | None:
    """How many values an attribute has, if that is a factor of a count by itself."""
    found = [part for part in (count.of or (count,)) if part.attributes == (attribute,) and part.source is None]
    return found[0].size.text if len(found) == 1 else None


def _block(part: BlockPart | BestPart) -> BlockCertificate:
    return BlockCertificate(part.name, part.split.distinct, certificate(part.bound, part.split.distinct).branches)


def _tables(bound: QueryBound) -> tuple[BranchCertificate, ...]:
    return certificate(bound, True).branches


def _counted(queries: tuple[Query, ...], whichever: bool) -> QueryBound:
    """Tables of the results of all branches of some split queries; of all there can be, ``whichever`` rows come."""
    found = list[BranchBound]()
    for branch in (branch for query in queries for branch in query.branches):
        synopsis = Synopsis(Facts.of(branch))
        layout = timed_results_layout(synopsis)
        count = results_count(synopsis.facts, layout)
        count = by_values(count, branch) if count is not None and whichever else count
        assert count is not None, "what is counted has a number"
        case = Case(branch)
        found.append(BranchBound(len(found), case, synopsis, (TableBound("results", layout, count, results=True),)))
    return QueryBound(tuple(found), total(table.size for branch in found for table in branch.tables))
