"""The plan of a block that gives the best values of its keys: that of a set query without its virtual newest stream.

Results are as the block's, but for values that cannot be the best of their keys.
"""

from __future__ import annotations

from dataclasses import replace

from streambound.analyzer.query import Attribute, Comparison
from streambound.criteria.dataflow.blocks import NEWEST
from streambound.criteria.tables import SynopsisTable
from streambound.synopsis_exec.plan_ir import BranchPlan
from streambound_runtime.operators import plan


def best_branch(branch: BranchPlan, lowered: plan.Subplan) -> plan.Subplan:
    """A branch whose results are the new entries of the table of all its streams: the keys, and the best value."""
    streams = {source.alias for source in branch.branch.streams} - {NEWEST}
    number = next(n for n, table in enumerate(branch.tables) if set(table.streams) == streams)
    places = _places(branch, branch.tables[number])
    newest = next(n for n, scan in enumerate(lowered.scans) if scan.table == NEWEST)
    transitions = [
        _renumbered(one, number, places)
        for one in lowered.transitions
        if one.target is not None and not any(join.scan == newest or join.table == number for join in one.joins)
    ]
    tables = tuple(table for n, table in enumerate(lowered.tables) if n != number)
    scans = tuple(scan for scan in lowered.scans if scan.table != NEWEST)
    return replace(lowered, scans=scans, tables=tables, transitions=tuple(transitions))


def _places(branch: BranchPlan, table: SynopsisTable) -> list[tuple[int, int]]:
    """Where an entry has each key, and what is added to it; last the best value."""
    found = []
    for output in branch.branch.outputs:
        assert isinstance(output.value, Attribute), "keys are columns"
        found.append(_place(branch, table, output.value))
    value = _value(branch)
    alike = branch.facts.alike(value)
    for number, extremum in enumerate(table.extrema):
        if any(attribute in alike for attribute, _ in extremum.of):
            return [*found, (len(table.key) + number, 0)]
    return [*found, _place(branch, table, value)]


def _value(branch: BranchPlan) -> Attribute:
    """What the virtual stream's column is compared with, as it is written; more may follow from that."""
    mine = Attribute(NEWEST, NEWEST)
    (written,) = (atom for atom in branch.branch.atoms if isinstance(atom, Comparison) and atom.right == mine)
    return written.left


def _place(branch: BranchPlan, table: SynopsisTable, attribute: Attribute) -> tuple[int, int]:
    for place, stored in enumerate(table.key):
        if stored.attribute == attribute:
            return place, 0
        if attribute in branch.facts.equal_to(stored.attribute):
            return place, int(branch.facts.difference(attribute, stored.attribute))
    raise AssertionError(f"{attribute} is not in the table")


def _renumbered(one: plan.Transition, number: int, places: list[tuple[int, int]]) -> plan.Transition:
    joins = tuple(
        replace(join, table=join.table - 1) if join.table is not None and join.table > number else join
        for join in one.joins
    )
    if one.target == number:
        values = tuple(_moved(one.values[place], more) for place, more in places)
        return plan.Transition(target=None, joins=joins, values=values)
    assert one.target is not None
    target = one.target - (one.target > number)
    return replace(one, target=target, joins=joins)


def _moved(term: plan.Term, more: int) -> plan.Term:
    assert isinstance(term.offset, int) or not more, "only numbers are moved"
    return replace(term, offset=term.offset + more) if more and isinstance(term.offset, int) else term
