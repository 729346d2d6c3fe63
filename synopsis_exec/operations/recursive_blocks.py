"""A recursion as its blocks are read: r, and relations that change, are streams that stand for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.clock import time_of
from streambound.analyzer.algebra.nodes import Alias, Named, Project, Recur, Scalar, Scan, Tree, named_inputs
from streambound.analyzer.algebra.value_sets import between
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.closure import Sort, in_order
from streambound.analyzer.columns import Column
from streambound.analyzer.query import (
    Attribute,
    Branch,
    Comparison,
    Condition,
    NullTest,
    OneOf,
    Op,
    Output,
    Query,
    Source,
    conjunction,
)

TIME = "_ts"
"""The time of the stream that stands for r where its step is read: nothing is said of it, so r may grow at any time."""
_CHANGE_TIME = "(time)"
"""What the time of a view's changes is called where it is read as a stream."""


def as_stream(table: DeclaredTable) -> DeclaredTable:
    """A relation that changes as a stream that is later than all others, as for a join with it."""
    time = time_of(table)
    assert time is not None, "a relation that changes"
    columns = (*table.columns, Column(_CHANGE_TIME, time.type))
    return replace(table, kind=Kind.STREAM, columns=columns, timestamp=_CHANGE_TIME, changes=None, rows=None)


def standing(tree: Tree, catalog: Catalog) -> Tree:
    """A tree whose relations that change are selects from the streams that stand for them."""
    if isinstance(tree, Scan) and tree.changes:
        table = catalog.table(tree.table)
        assert table is not None, "a relation of the catalog"
        pairs = [(column.name, column.name) for column in table.columns]
        return Alias(_select(replace(tree, changes=False), pairs), tree.alias, syntax=tree.syntax)
    return _with_inputs(tree, lambda below: standing(below, catalog))


def _select(scan: Scan, pairs: list[tuple[str, str]]) -> Project:
    """The columns of a table, with other names: ``SELECT column AS name, …``."""
    nodes = [(name, exp.column(column, quoted=True)) for name, column in pairs]
    items = tuple(Named(name, Scalar(node), alias=True) for name, node in nodes)
    return Project(scan, items, syntax=scan.syntax)


def reading(tree: Tree, names: list[str], table: str) -> Tree:
    """A step whose occurrences of r are selects from the stream that stands for it."""
    pairs = [(name, column_of_recursion(place)) for place, name in enumerate(names)]

    def made(recur: Recur, columns: tuple[str, ...]) -> Tree:
        select = _select(Scan(table, recur.alias, syntax=exp.to_table(table)), pairs)
        return Alias(replace(select, syntax=recur.syntax), recur.alias, columns, syntax=recur.syntax)

    return _with_recursive(tree, made)


def _with_recursive(tree: Tree, made: Callable[[Recur, tuple[str, ...]], Tree]) -> Tree:
    """A step with something else for each occurrence of r, by the names of its columns."""
    match tree:
        case Recur():
            return made(tree, ())
        case Alias(Recur() as recur, alias, columns):
            return made(replace(recur, alias=alias), columns)
    return _with_inputs(tree, lambda below: _with_recursive(below, made))


def _with_inputs(tree: Tree, made: Callable[[Tree], Tree]) -> Tree:
    below = {name: made(under) for name, under in named_inputs(tree).items()}
    return replace(tree, **below) if below else tree


def _not_null(branch: Branch) -> frozenset[Attribute]:
    """The attributes that are never NULL in a result, since conditions compare them."""
    facts = Facts.of(branch)
    compared = {attribute for attribute in facts.closure.compared if attribute not in facts.closure.null}
    shifted = {
        Attribute(source.alias, column.name)
        for source in branch.sources
        for column in source.columns
        if column.shift is not None and Attribute(source.alias, column.shift[0]) in compared
    }
    return frozenset(compared | shifted)


def stored(branch: Branch, attribute: Attribute) -> tuple[Attribute, int] | str:
    """The column of r that an attribute is, and how much more than it; what else it is, in words."""
    column = branch.column(attribute)
    if column.name == TIME:
        return "the time of a recursive relation"
    if not column.expression:
        return attribute, 0
    if column.shift is None or not column.type.discrete:
        return "an expression over a recursive relation"
    below = stored(branch, Attribute(attribute.source, column.shift[0]))
    return below if isinstance(below, str) else (below[0], below[1] + column.shift[1])


def column_of_recursion(place: int) -> str:
    """The name of a column of r in the stream that stands for it."""
    return f"_{place + 1}"


def place_of(attribute: Attribute) -> int:
    """The place of a column of r."""
    return int(attribute.column[1:]) - 1


def block_of_step(branch: Branch, mine: tuple[Source, ...], step: Query) -> tuple[tuple[Attribute, ...], Query]:
    """The streams of a case of the step, with what r joins or the step shows of them.

    Rows that r cannot meet, by what its columns can be, are left out: an edge matters only if it begins where r ends.
    """
    aliases = {source.alias for source in mine}
    own = [atom for atom in branch.atoms if {a.source for a in atom.attributes} <= aliases]
    joined = [a for atom in branch.atoms if atom not in own for a in atom.attributes if a.source in aliases]
    shown = [a for a in branch.projected if a.source in aliases]
    wanted = tuple(dict.fromkeys((*joined, *shown)))
    facts, compared = Facts.of(branch), _not_null(branch)
    more: list[Condition] = []
    for attribute in wanted:
        if attribute in compared:
            more.append(NullTest(attribute, is_null=False))
            more += _limits(facts, attribute)
    spans = {attribute: output.span for output in branch.outputs for attribute in output.attributes}
    spans |= {a: atom.span for atom in branch.atoms for a in atom.attributes if atom.span is not None and a in joined}
    outputs = tuple(
        Output(f"_{n}", attribute, spans.get(attribute, branch.span)) for n, attribute in enumerate(wanted, 1)
    )
    merged = tuple(group for group in branch.merged if set(group) <= aliases)
    found = Branch(mine, conjunction((*own, *more)), outputs, branch.span, merged=merged)
    return wanted, Query(step.name, step.file, True, (found,), step.span)


def _limits(facts: Facts, attribute: Attribute) -> Iterator[Condition]:
    """That an attribute has a value that the closure of a branch leaves it: of a list, or between two whole numbers."""
    discrete = attribute in facts.closure.nodes and facts.closure.sort(attribute) is Sort.DISCRETE
    low, high = facts.closure.interval(attribute) if discrete else (None, None)
    listed = facts.listed(attribute)
    if listed is not None:
        known = between(low, high)
        if kept := [value for value in listed if not discrete or known.has(value)]:
            yield OneOf(attribute, tuple(sorted(kept, key=in_order)))
        return
    if low is not None:
        yield Comparison(attribute, Op.GE, None, int(low))
    if high is not None:
        yield Comparison(attribute, Op.LE, None, int(high))
