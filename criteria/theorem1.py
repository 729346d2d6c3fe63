"""Theorem 1 of the paper (bag, at least two infinite streams), clause by clause.

The paper claims it necessary and sufficient. It is only sufficient (docs/theory-paper.md): the bag criterion decides.
"""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.query import Op, Query
from streambound.analyzer.spans import Span
from streambound.criteria.paper import Clause, PaperBranch, theorem_result
from streambound.criteria.violation import CriterionResult, Violation
from streambound.criteria.wording import listed


def theorem1(query: Query) -> CriterionResult | None:
    """Theorem 1 on every branch of a split query; None where the paper does not speak of it.

    With fewer than two infinite streams every clause holds, as does the claim (paper, proof of Theorem 1).
    """
    return None if query.distinct else theorem_result("theorem-1", query, CLAUSES)


def c1(branch: PaperBranch) -> Iterator[Violation]:
    """C1: for every stream Si, the graph G(Si, Q) forms a tree."""
    for vertex, parents in branch.graph.parents.items():
        if len(parents) > 1:
            message = f"the dependency graph is no tree: {vertex} has the parents {listed(parents)}"
            yield Violation("C1", vertex, None, message, _time_span(branch, vertex))


def c2(branch: PaperBranch) -> Iterator[Violation]:
    """C2: a stated join that is not redundant is between siblings, or parent and child, or the roots of two trees."""
    graph = branch.graph
    for atom in branch.stated_joins:
        left, right = (branch.vertex[attribute.source] for attribute in atom.attributes)
        if not graph.is_tree(left) or not graph.is_tree(right) or atom.span is None:
            continue
        if graph.component(left) != graph.component(right):
            allowed = graph.distance(left) == graph.distance(right) == 0
            need = "both must be roots"
        else:
            up_left, up_right = graph.parents[left], graph.parents[right]
            allowed = left in up_right or right in up_left or (up_left != () and up_left == up_right)
            need = "they must be siblings, or parent and child"
        if not allowed and branch.kept(atom):
            message = f"{left} and {right} are joined on integers, but {need} in the dependency graph"
            yield Violation("C2", left, atom.left.column, message, atom.span)


def c3(branch: PaperBranch) -> Iterator[Violation]:
    """C3: projected attributes have d <= 1, and are bounded unless their stream is the root of the only tree."""
    graph = branch.graph
    for attribute, index in branch.projected:
        vertex = branch.vertex[attribute.source]
        if not graph.is_tree(vertex):
            continue
        depth, span = graph.distance(vertex), branch.facts.branch.outputs[index].span
        if depth > 1:
            message = f"{attribute} is projected, but {vertex} is {depth} steps from the root of its tree"
            yield Violation("C3", attribute.source, attribute.column, message, span)
        elif (depth == 1 or not graph.single_tree) and not branch.bounded(attribute):
            where = "is not the root" if depth else "is the root of one of several trees"
            message = f"{attribute} is projected and unbounded, and {vertex} {where}"
            yield Violation("C3", attribute.source, attribute.column, message, span)


def c4(branch: PaperBranch) -> Iterator[Violation]:
    """C4: both sides of a stated equality join are bounded; the root of the only tree is excepted."""
    graph = branch.graph
    for atom in branch.stated_joins:
        ends = [(attribute, branch.vertex[attribute.source]) for attribute in atom.attributes]
        if atom.op is not Op.EQ or atom.span is None or not all(graph.is_tree(vertex) for _, vertex in ends):
            continue
        roots = [vertex for _, vertex in ends if graph.single_tree and graph.distance(vertex) == 0]
        for attribute, vertex in ends:
            if vertex in roots:
                continue
            if roots and graph.distance(vertex) != 1:
                message = f"{attribute} is joined for equality with the root, but {vertex} is not its child"
                yield Violation("C4", attribute.source, attribute.column, message, atom.span)
            elif not branch.bounded(attribute):
                message = f"{attribute} is joined for equality and unbounded"
                yield Violation("C4", attribute.source, attribute.column, message, atom.span)


def c5(branch: PaperBranch) -> Iterator[Violation | None]:
    """C5: MaxRef and MinRef are empty, except at the root of the only tree."""
    graph = branch.graph
    if not branch.decides_references:
        yield None
        return
    for vertex in graph.vertices:
        if not graph.is_tree(vertex) or (graph.single_tree and graph.distance(vertex) == 0):
            continue
        for name, members in (("MaxRef", branch.max_ref(vertex)), ("MinRef", branch.min_ref(vertex))):
            for attribute in sorted(members):
                message = f"{attribute} is unbounded and in {name}({vertex})"
                span = branch.facts.span_of(attribute, branch.partner[attribute])
                yield Violation("C5", attribute.source, attribute.column, message, span)


def _time_span(branch: PaperBranch, vertex: str) -> Span:
    alias = next(alias for alias, name in branch.vertex.items() if name == vertex)
    return branch.facts.span_of(branch.facts.time(alias))


CLAUSES: tuple[Clause, ...] = (c1, c2, c3, c4, c5)
