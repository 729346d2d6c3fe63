"""Theorem 2 of the paper (set), clause by clause.

The paper claims it sufficient; it is not sound (docs/theory.md), so the set criterion decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from analyzer.query import Attribute, Op, Query
from criteria.order_search import Reference, survive_together
from criteria.paper import Clause, PaperBranch, theorem_result
from criteria.violation import CriterionResult, Violation


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


def c3(branch: PaperBranch) -> Iterator[Violation]:
    """C3: for every stream, |MaxRef|eq + |MinRef|eq <= 1 in every LTO query."""
    for vertex in branch.graph.vertices:
        for first, second in combinations(_references(branch, vertex), 2):
            if (first.own, first.maximum) != (second.own, second.maximum) and survive_together(
                branch.facts, first, second
            ):
                other = second.lesser if second.maximum else second.greater
                names = [f"{r.own} in {'MaxRef' if r.maximum else 'MinRef'}({vertex})" for r in (first, second)]
                message = f"an LTO query has both {names[0]} and {names[1]}"
                span = branch.facts.span_of(second.own, other)
                yield Violation("C3", second.own.source, second.own.column, message, span)
                break


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
