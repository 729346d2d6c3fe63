"""What a range of time does to the tables, as data: how matches within it extend the entries of every table."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from streambound.criteria.synopsis import Synopsis
from streambound.criteria.tables import Table
from streambound.criteria.ways import Part
from streambound.synopsis_exec.columns_text import branch_node, transition_node
from streambound.synopsis_exec.layout import Node, Tree, called, laid_out, listing
from streambound.synopsis_exec.plan_ir import Plan, PlanTransition
from streambound.synopsis_exec.range_choice import reach
from streambound.synopsis_exec.transitions import BranchText


def extensions_text(plan: Plan, branches: list[BranchText]) -> str:
    """The function `extensions`, and how far ranges reach back, for a query that is folded in ranges."""
    back = reach(plan)
    nodes: list[Tree] = [extensions_node(branch) if back is None else "()" for branch in branches]
    head = [
        f"REACH: int | None = {back}",
        "",
        "",
        "def extensions(synopsis: Synopsis) -> tuple[tuple[Extension, ...], ...]:",
        '    """What ranges of time do to the tables of `branches`, as data."""',
    ]
    return "\n".join([*head, *laid_out(listing(nodes), 1, before="return ")]) + "\n"


def extensions_node(branch: BranchText) -> Node:
    """The extensions of a branch, one per table that another one extends."""
    parts = [_Extension(branch, base) for base in branch.branch.tables]
    parts = [part for part in parts if part.targets]
    return listing([part.node(parts) for part in parts])


class _Extension:
    """The extension of one table: the tables of the matches that extend it, by the streams of the target."""

    def __init__(self, branch: BranchText, base: Table) -> None:
        self.branch, self.base, self.plan = branch, base, branch.branch
        self.synopsis = Synopsis(self.plan.facts)
        self.targets = [t for t in self.plan.tables if set(base.streams) < set(t.streams)]
        self.tables = {target.streams: self._within(target) for target in self.targets}

    def _within(self, target: Table) -> Table:
        """The table of what a target has and the base has not."""
        streams = tuple(stream for stream in target.streams if stream not in self.base.streams)
        relations = tuple(name for name in target.relations if name not in self.base.relations)
        return self.synopsis.part(streams, relations)

    def node(self, others: list[_Extension]) -> Node:
        """The extension as data."""
        within = copy(self.branch)
        transitions = tuple(one for t in self.plan.transitions if (one := self._transition(t)) is not None)
        within.branch = replace(self.plan, tables=tuple(self.tables.values()), transitions=transitions)
        then: list[Tree] = []
        for middle in self.targets:
            for target in self.targets:
                if set(middle.streams) < set(target.streams):
                    then.append(self._then(others, middle, target))
        return called(
            "Extension",
            base=str(self.plan.tables.index(self.base)),
            branch=branch_node(within),
            targets=listing([str(self.plan.tables.index(target)) for target in self.targets]),
            completions=listing([self._completion(target) for target in self.targets]),
            then=listing(then),
        )

    def _transition(self, transition: PlanTransition) -> PlanTransition | None:
        """A transition without the base: its checks that concern the base are made later."""
        base = set(self.base.streams)
        if transition.output or not base <= set(transition.before):
            return None
        missing = {*base, *self.base.relations}
        return replace(
            transition,
            target=self.tables[transition.target].streams,
            parts=tuple(Part(rest) for rest in [tuple(s for s in transition.before if s not in base)] if rest),
            checks=tuple(c for c in transition.checks if not {a.source for a in c.attributes} & missing),
        )

    def _completion(self, target: Table) -> Node:
        """How matches within the range and an entry of the base make an entry of a target."""
        return self._join(self.tables[target.streams], self.base, target)

    def _then(self, others: list[_Extension], middle: Table, target: Table) -> Node:
        """How matches of two ranges, the first to a table in the middle, make those to a target."""
        place, other = next((i, part) for i, part in enumerate(others) if part.base == middle)
        older, newer = self.tables[middle.streams], other.tables[target.streams]
        numbers = [
            str(self.targets.index(middle)),
            str(place),
            str(other.targets.index(target)),
            str(self.targets.index(target)),
        ]
        return listing([*numbers, self._join(newer, older, self.tables[target.streams])])

    def _join(self, newer: Table, older: Table, target: Table) -> Node:
        """The transition that joins two tables; what arrives are the newer one's entries."""
        mine, theirs = {*newer.streams, *newer.relations}, {*older.streams, *older.relations}
        checks = tuple(
            join
            for join in self.plan.joins
            if {a.source for a in join.attributes} & mine
            and {a.source for a in join.attributes} & theirs
            and {a.source for a in join.attributes} <= mine | theirs
        )
        text = copy(self.branch)
        text.branch = replace(self.plan, tables=(newer, older, target))
        transition = PlanTransition(target.streams, (), (Part(older.streams),), (), checks, (), False)
        return transition_node(text, transition, newer.streams)
