"""The stages of a query's derivation as text, for `explain --emit`: one function per stage, and their registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.algebra.branch_trees import tree_of_query
from streambound.analyzer.algebra.tree_text import tree_text
from streambound.analyzer.algebra.verify import violations
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Sort
from streambound.analyzer.errors import BrokenInvariant
from streambound.analyzer.query import Attribute, Branch, Query
from streambound.analyzer.render import render, render_branch
from streambound.analyzer.values import decode
from streambound.criteria.check import Checked
from streambound.criteria.dependency_graph import DependencyGraph
from streambound.criteria.paper import preprocessed
from streambound.criteria.synopsis import MOST_TABLES
from streambound.criteria.verdict import Decision
from streambound.criteria.ways import MOST_WAYS, Part, Way
from streambound.criteria.wording import listed
from streambound.preprocess.derive_lto import derive_lto
from streambound.preprocess.invariants import unproved
from streambound.reports.table_words import TableWords, parts

MOST_LTO = 20
"""LTO queries that the stage `lto` prints before it stops."""

_NO_BRANCH = "-- no branch can produce a row"

MOST_ARRIVALS = 8
"""Ways to reach a set that the stage `tables` prints."""


Shown = Callable[[Checked, Decision], str]


class Stage(Struct, frozen=True):
    """A named stage of the derivation; ``show`` prints it for a checked statement that has a decision.

    ``sql`` prints it as SQL; None for a stage that is no query.
    """

    name: str
    summary: str
    show: Shown
    sql: Shown | None = None


def of_query(stage: Callable[[Decision], Query], *established: str) -> tuple[Shown, Shown]:
    """How a stage that is a query is shown: as a tree, which is verified, and as SQL.

    ``established``: what the passes until then have.
    """

    def tree(checked: Checked, decision: Decision) -> str:
        return _verified_tree(stage(decision), checked, decision, established)

    def sql(checked: Checked, decision: Decision) -> str:
        found = stage(decision)
        return render(found) if found.branches else _NO_BRANCH

    return tree, sql


def _verified_tree(query: Query, checked: Checked, decision: Decision, established: tuple[str, ...] = ()) -> str:
    """A query's tree as text; raises BrokenInvariant for one that no pass may make."""
    made = tree_of_query(query, decision.query.branches[0])
    wrong = (*unproved(query, established), *(violations(made.tree, checked.catalog) if checked.catalog else ()))
    if wrong:
        raise BrokenInvariant(f"what is shown here is no query: {'; '.join(wrong)}")
    return tree_text(made.tree, made.note)


def _lto(decision: Decision) -> tuple[list[Branch], bool]:
    branches = (paper.facts.branch for paper in preprocessed(decision.derivation.split))
    queries = (lto for branch in branches for lto in derive_lto(branch))
    return list(islice(queries, MOST_LTO)), decision.query.distinct


def show_lto(checked: Checked, decision: Decision) -> str:
    """The first LTO queries and their number."""
    found, _ = _lto(decision)
    texts = [_verified_tree(replace(decision.query, branches=(lto,)), checked, decision) for lto in found]
    return _numbered_lto(texts, checked, "#")


def lto_as_sql(checked: Checked, decision: Decision) -> str:
    """The same as SQL."""
    found, distinct = _lto(decision)
    return _numbered_lto([render_branch(lto, distinct) for lto in found], checked, "--")


def _numbered_lto(texts: list[str], checked: Checked, comment: str) -> str:
    number = checked.lto_queries
    known = "too many to count here" if number is None else f"{number:,}"
    shown = [f"{comment} LTO query {i}\n{text}" for i, text in enumerate(texts, 1)]
    return "\n\n".join([f"{comment} LTO queries: {known}; showing {len(shown)}", *shown])


def show_closure(checked: Checked, decision: Decision) -> str:
    """P+: bounds of every attribute, and every difference it implies; redundant ones are marked."""
    return _per_branch(decision, _closure_lines)


def show_graph(checked: Checked, decision: Decision) -> str:
    """The dependency graph's spanning trees: a stream above the streams it must be newer than."""
    return _per_branch(decision, _graph_lines)


def show_facts(checked: Checked, decision: Decision) -> str:
    """`later`, boundedness and joins: the local facts that the criteria combine."""
    return _per_branch(decision, _fact_lines)


def show_bound(checked: Checked, decision: Decision) -> str:
    """M per table and in total, simplified by sympy; and how many bytes the tables are in a job's state."""
    from streambound.criteria.certificate import state_bytes
    from streambound.criteria.size import symbolic

    if checked.bound is None:
        return "no bound" if checked.verdict.value != "bounded" else f"bounded, in more than {MOST_TABLES} tables"
    lines = [f"{table.table}: {symbolic(table.size)}" for table in checked.bound.tables]
    stored = state_bytes(checked.bound)
    most = "no limit: a string has any length" if stored is None else symbolic(stored)
    return "\n".join([*lines, f"M = {symbolic(checked.bound.entries)}", f"bytes of the state: {most}"])


def show_tables(checked: Checked, decision: Decision) -> str:
    """The sets of streams: what each table keeps, how much, and which arrivals lead to it."""
    branches = parts(checked, decision)
    texts = []
    for number, branch in enumerate(branches, start=1):
        title = [f"-- branch {number} of {len(branches)}"] if len(branches) > 1 else []
        texts.append("\n".join([*title, *_table_lines(TableWords.of(checked, decision, number, branch))]))
    return "\n\n".join(texts) or _NO_BRANCH


def _per_branch(decision: Decision, lines: Callable[[Facts], Iterator[str]]) -> str:
    branches = decision.derivation.renamed.branches
    texts = []
    for number, branch in enumerate(branches, start=1):
        title = [f"-- branch {number} of {len(branches)}"] if len(branches) > 1 else []
        texts.append("\n".join([*title, *lines(Facts.of(branch))]))
    return "\n\n".join(texts) or _NO_BRANCH


def _closure_lines(facts: Facts) -> Iterator[str]:
    for sort in Sort:
        attributes = facts.closure.attributes(sort)
        for x in attributes:
            yield _interval_line(facts, x)
        for x in attributes:
            for y in attributes:
                if x != y and (line := _difference_line(facts, sort, x, y)):
                    yield line


def _interval_line(facts: Facts, x: Attribute) -> str:
    matrix, node = facts.closure.node(x)
    low, high = matrix.limit(0, node), matrix.limit(node, 0)
    left = f"{_value(facts, x, -low[0])} {'<' if low[1] else '<='} " if low else ""
    right = f" {'<' if high[1] else '<='} {_value(facts, x, high[0])}" if high else ""
    return f"{left}{x}{right}" if left or right else f"{x} has no bound"


def _value(facts: Facts, x: Attribute, value: Fraction) -> str:
    if facts.closure.sort(x) is Sort.STRING:
        return decode(facts.closure.strings[int(value)], facts.branch.column(x).type)
    return decode(int(value) if value.denominator == 1 else value, facts.branch.column(x).type)


def _difference_line(facts: Facts, sort: Sort, x: Attribute, y: Attribute) -> str | None:
    matrix = facts.closure.bounds[sort]
    i, j = facts.closure.nodes[x][1], facts.closure.nodes[y][1]
    limit = matrix.limit(i, j)
    if limit is None or matrix.implied_through(i, 0, j):
        return None
    value, strict = limit
    if sort is Sort.STRING:
        return f"{x} {'<' if strict else '<='} {y}"
    mark = "   (redundant)" if matrix.redundant(i, j) else ""
    return f"{x} - {y} {'<' if strict else '<='} {value}{mark}"


def _graph_lines(facts: Facts) -> Iterator[str]:
    import networkx as nx

    graph = DependencyGraph.of(facts)
    if not graph.vertices:
        yield "(no infinite stream)"
        return
    full = graph.to_networkx()
    reduced = full.edge_subgraph([(u, v) for u, v, kept in full.edges(data="reduced") if kept]).copy()
    reduced.add_nodes_from(graph.vertices)
    yield from nx.generate_network_text(reduced, ascii_only=False)
    for component in graph.components:
        names = listed(sorted(component))
        form = "a tree" if graph.is_tree(next(iter(component))) else "no tree"
        yield f"{names}: {form}"


def _table_lines(words: TableWords) -> Iterator[str]:
    if words.tables is None:
        yield f"more than {MOST_TABLES} tables"
        return
    arrivals: dict[tuple[str, ...], list[Way]] = {}
    if words.synopsis.transitions is None and words.synopsis.sets is not None:
        yield f"more than {MOST_WAYS} ways in which matches grow"
    for transition in words.synopsis.transitions or ():
        arrivals.setdefault(transition.target, []).append(transition)
    for table in words.tables:
        yield f"{table.name}: {'; '.join(words.lines(table))}"
        yield from _arrival_lines(arrivals.get(table.streams, []))
    yield f"results: {'; '.join(words.result_lines)}"
    yield from _arrival_lines(arrivals.get(words.synopsis.streams, []))


def _arrival_lines(transitions: list[Way]) -> Iterator[str]:
    for transition in transitions[:MOST_ARRIVALS]:
        old = listed([_part(part) for part in transition.parts]) if transition.parts else "nothing"
        together = " together" if len(transition.arriving) > 1 else ""
        verb = "arrives" if len(transition.arriving) == 1 else "arrive"
        when = f" when {listed(transition.arriving)} {verb}{together}" if transition.arriving else ""
        yield f"  from {old}{when}"
    if len(transitions) > MOST_ARRIVALS:
        yield f"  and in {len(transitions) - MOST_ARRIVALS} more ways"


def _part(part: Part) -> str:
    return "{" + ", ".join(part.streams) + "}" + ", new rows included" * part.now


def _fact_lines(facts: Facts) -> Iterator[str]:
    for stream in facts.infinite:
        later = facts.later[stream]
        yield f"{stream}: " + (f"{listed(later)} may lag it" if later else "no stream may lag it; it is soon forgotten")
    for stream, end in facts.finite_streams.items():
        yield f"{stream}: a finite stream, its timestamps end at {end}"
    for attribute in _mentioned(facts.branch, facts):
        yield f"{attribute}: {'bounded' if facts.bounded(attribute) else 'unbounded'}"
    for join in facts.joins:
        sides = [f"harmless for {own}" for own in (join.attribute, join.other) if facts.harmless(own, join)]
        yield f"join of {join.attribute} and {join.other}: {listed(sides) if sides else 'harmful for both sides'}"


def _mentioned(branch: Branch, facts: Facts) -> Iterator[Attribute]:
    return (attribute for attribute in facts.closure.nodes if not branch.is_time(attribute))


_SPLIT = ("conjunctive", "satisfiable", "split")


def _split(decision: Decision) -> Query:
    return decision.derivation.split


STAGES: tuple[Stage, ...] = (
    Stage("normal-form", "the query as understood", *of_query(lambda decision: decision.query)),
    Stage("split", "OR, IN and <> split into disjoint branches", *of_query(_split, *_SPLIT)),
    Stage(
        "merged",
        "equal timestamps merged, finite streams marked",
        *of_query(lambda decision: decision.derivation.renamed, *_SPLIT, "merged", "finite"),
    ),
    Stage("lto", "the locally totally ordered queries of the paper", show_lto, lto_as_sql),
    Stage("closure", "P+, everything the conditions imply", show_closure),
    Stage("graph", "the dependency graph's spanning trees", show_graph),
    Stage("tables", "the sets of streams, what is kept of them, and which arrivals lead there", show_tables),
    Stage("bound", "the bound M per table, as a symbolic expression, and in bytes", show_bound),
    Stage("facts", "which streams may lag, what is bounded, which joins are harmless", show_facts),
)
