"""A circuit's certificate against its statement: every reason why it does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streambound.analyzer.algebra.names_apart import with_names_apart
from streambound.analyzer.algebra.nodes import Apply, Tree, inputs
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.findings import Finding
from streambound.analyzer.lower import Lowered, lower
from streambound.analyzer.statement import Statement
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.quantity import total
from streambound.recheck.certificates.reading_claims import read_as
from streambound.recheck.certificates.validate import Proof, amount_faults
from streambound.recheck.circuits.claims import ClaimedCircuit, ClaimedState, NotRecheckedError
from streambound.recheck.circuits.evidence import Evidence, Line
from streambound.recheck.circuits.filtered_joins import with_filtered_joins
from streambound.recheck.circuits.late_conditions import with_late_conditions
from streambound.recheck.circuits.rules import RULES
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import always_one_row


def circuit_proved(statement: Statement, catalog: Catalog, document: Any) -> Proof:
    """What a certificate (plain JSON) proves of a statement beyond select-project-join.

    It may be of the statement with joins for what it asks. Raises NotRecheckedError for operators that this checker
    does not know.
    """
    written = lower(statement, catalog, False)
    proof = None if _applies(written.tree, catalog) else _proved(statement, written, catalog, document)
    if proof is not None and not proof.faults:
        return proof
    joined = lower(statement, catalog, True)
    if proof is None and not _applies(joined.tree, catalog):
        return _proved(statement, joined, catalog, document)
    proof = proof or _proved(statement, written, catalog, document)
    if not proof.faults or joined.tree == written.tree:
        return proof
    other = _proved(statement, joined, catalog, document)
    return proof if other.faults else other


def _applies(tree: Tree | None, catalog: Catalog) -> bool:
    """Whether a tree has a subquery that is a value of each row, which as such no certificate is of."""
    if tree is None:
        return False
    each = isinstance(tree, Apply) and not always_one_row(tree, catalog)
    return each or any(_applies(below, catalog) for below in inputs(tree))


def _proved(statement: Statement, lowered: Lowered, catalog: Catalog, document: Any) -> Proof:
    if lowered.tree is None or lowered.positions is None:
        return Proof(("there is no such query in the file any more",))
    blocks = BlockReader(lowered.positions, catalog, statement.name, statement.span, lowered.queries)
    try:
        evidence = Evidence(read_as(ClaimedCircuit, document))
        tree = with_names_apart(lowered.tree, catalog, lowered.positions)
        tree = with_filtered_joins(tree, blocks, catalog)
        States(RULES, catalog, blocks, evidence).of(with_late_conditions(tree, blocks, catalog))
    except RejectedError as error:
        return Proof((str(error),))
    except Finding as error:
        raise NotRecheckedError(error.diagnostic.message) from error
    wrong = list(_faults(evidence))
    return Proof(tuple(wrong), None if wrong else total(line.entries for _, line in evidence.lines))


def _faults(evidence: Evidence) -> Iterator[str]:
    claimed = evidence.claimed
    left = [*(one.block for one in evidence.blocks), *(name for name, _ in evidence.counts)]
    yield from (f"the query has nothing that {name} is about" for name in left)
    tables = {name: line for name, line in evidence.lines if name is not None}
    own = [line for name, line in evidence.lines if name is None]
    others = [state for state in claimed.states if state.state not in tables]
    if len(claimed.states) - len(others) != len(tables) or len(others) != len(own):
        yield f"the query has {len(evidence.lines)} states, not {len(claimed.states)}"
        return
    pairs = [(state, tables[state.state]) for state in claimed.states if state.state in tables]
    for state, line in (*pairs, *zip(others, own, strict=True)):
        yield from _line_faults(state, line, evidence)
    every = total(line.entries for _, line in evidence.lines)
    try:
        yield from amount_faults("M", claimed.entries, every, evidence.symbols)
    except RejectedError as error:
        yield str(error)


def _line_faults(state: ClaimedState, line: Line, evidence: Evidence) -> Iterator[str]:
    if state.proposition != line.proposition:
        yield f"{state.state} is bounded by {line.proposition}, not by {state.proposition}"
    if state.keys != line.keys:
        said = ", ".join(f"{one.key} ({one.values or 'without a number of its own'})" for one in line.keys)
        yield f"the keys of {state.state} are {said or 'none'}"
    if state.lifetime != line.lifetime:
        yield f"an entry of {state.state} goes {line.lifetime!r}, not {state.lifetime!r}"
    try:
        yield from amount_faults(state.state, state.entries, line.entries, evidence.symbols)
    except RejectedError as error:
        yield str(error)
