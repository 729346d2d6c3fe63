"""Theorem 2 of the paper (set), clause by clause.

The paper claims it sufficient; it is not sound (docs/theory-paper.md), so the set criterion decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from streambound.analyzer.query import Attribute, Op, Query
from streambound.criteria.order_search import Reference, survive_together
from streambound.criteria.paper import Clause, PaperBranch, theorem_result
from streambound.criteria.violation import CriterionResult, Violation


def theorem2(query: Query) -> CriterionResult | None:
    """Theorem 2 on every branch of a split query; None where the paper does not speak of it."""
    return theorem_result("theorem-2", query, CLAUSES) if query.distinct else None


def c1(branch: PaperBranch) -> Iterator[Violation]:
    """C1: every projected integer attribute is bounded."""
    for attribute, index in branch.projected:
        if not branch.bounded(attribute):
            span = branch.facts.branch.outputs[index].span
            yield Violation("C1", attribute.source, attribute.column, f"{attribute} is projected and unbounded", span)


def c2(branch: PaperBranch) -> Iterator[Violation]:
    """C2: both sides of every stated equality join are bounded."""
    for atom in branch.stated_joins:
        for attribute in atom.attributes:
            if atom.op is Op.EQ and atom.span is not None and not branch.bounded(attribute):
                message = f"{attribute} is joined for equality and unbounded"
                yield Violation("C2", attribute.source, attribute.column, message, atom.span)


def c3(branch: PaperBranch) -> Iterator[Violation | None]:
    """C3: for every stream, |MaxRef|eq + |MinRef|eq <= 1 in every LTO query."""
    if not branch.decides_references:
        yield None
        return
    together = _searched if branch.lto_branches is None else _counted
    for vertex in branch.graph.vertices:
        yield from together(branch, vertex)


def _searched(branch: PaperBranch, vertex: str) -> Iterator[Violation | None]:
    """C3 by a search for an LTO query that keeps two references; None where it finds none and was cut off."""
    cut_off = False
    for first, second in combinations(_references(branch, vertex), 2):
        if (first.own, first.maximum) != (second.own, second.maximum):
            together = survive_together(branch.facts, first, second)
            if together:
                yield _violation(branch, vertex, (first.own, first.maximum), (second.own, second.maximum))
                return
            cut_off = cut_off or together is None
    if cut_off:
        yield None


def _counted(branch: PaperBranch, vertex: str) -> Iterator[Violation]:
    """C3 with the classes counted in each LTO query."""
    for lto in branch.lto_branches or ():
        members = [(a, True) for a in sorted(lto.maxima(vertex))] + [(a, False) for a in sorted(lto.minima(vertex))]
        for first, second in combinations(members, 2):
            if first[1] != second[1] or not lto.facts.closure.equal(first[0], second[0]):
                yield _violation(branch, vertex, first, second)
                return


def _violation(
    branch: PaperBranch, vertex: str, first: tuple[Attribute, bool], second: tuple[Attribute, bool]
) -> Violation:
    names = [f"{own} in {'MaxRef' if maximum else 'MinRef'}({vertex})" for own, maximum in (first, second)]
    message = f"an LTO query has both {names[0]} and {names[1]}"
    own = second[0]
    return Violation("C3", own.source, own.column, message, branch.facts.span_of(own))


def _references(branch: PaperBranch, vertex: str) -> list[Reference]:
    maxima, minima = branch.max_ref(vertex), branch.min_ref(vertex)
    found: dict[tuple[Attribute, Attribute, bool], Reference] = {}
    for x, y in branch.references:
        if y in maxima and branch.vertex[y.source] == vertex:
            found[x, y, True] = Reference(x, y, y)
        if x in minima and branch.vertex[x.source] == vertex:
            found[x, y, False] = Reference(x, y, x)
    return list(found.values())


CLAUSES: tuple[Clause, ...] = (c1, c2, c3)
