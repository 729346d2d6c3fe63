"""The states of a judged statement as reports name them: each with its key's columns, its size, and when entries go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.schema_columns import ViewColumn
from streambound.analyzer.algebra.syntax import is_placed
from streambound.analyzer.spans import Span
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.state import Entry, Operation, OperatorState, Retention
from streambound.criteria.judged import State
from streambound.criteria.size import Symbol

_UNLIMITED = Symbol("n")
_COMPLETE = "when no later row can complete it"
_WORDS: dict[type[nodes.Tree], str] = {
    nodes.Aggregate: "groups",
    nodes.Distinct: "distinct rows",
    nodes.Union: "distinct rows",
    nodes.Except: "EXCEPT",
    nodes.Intersect: "INTERSECT",
    nodes.Join: "join",
    nodes.Over: "over",
    nodes.Fixpoint: "recursion",
    nodes.Scan: "relation",
}


def reported_states(judgement: Judgement) -> tuple[State, ...]:
    """The states, those of lower operators first; what nothing bounds has a size without a number."""
    found = [*_of_operations(judgement.operation, judgement, count(1))]
    found.extend(_state(one, one.what, tuple(_key(one, judgement)), judgement) for one in judgement.keys)
    return tuple(found)


def _of_operations(operation: Operation, judgement: Judgement, numbers: Iterator[int]) -> Iterator[State]:
    """The states of an operation and of all below; of a relation that is read several times once."""
    relations = set[str]()
    for one in operation.every():
        if one.each_key is not None:
            own = _of_operations(one.each_key.operation, judgement, numbers)
            for state, of_one in zip(one.states, own, strict=True):
                yield _state(state, of_one.name, of_one.keys, judgement)
            continue
        number = next(numbers)
        if isinstance(one.tree, nodes.Scan) and one.states:
            if one.tree.table in relations:
                continue
            relations.add(one.tree.table)
        yield from _of_operation(one, number, judgement)


def _of_operation(operation: Operation, number: int, judgement: Judgement) -> Iterator[State]:
    sizes = operation.rows.sizes if operation.rows is not None else None
    named = Counter[str]()
    tables = iter([table.table for table in sizes.tables] if sizes is not None else [])
    for state in operation.states:
        if state.what == "table":
            yield _state(state, f"block {number} {next(tables, '')}".rstrip(), (), judgement)
        else:
            name = _name(operation.tree, state, number)
            named[name] += 1
            if named[name] > 1:  # of several arguments
                name = f"{name} {named[name]}"
            yield _state(state, name, tuple(_key(state, judgement)), judgement)


def _name(tree: nodes.Tree, state: OperatorState, number: int) -> str:
    """The name of a state, such as ``groups 2``, ``groups 2 values`` or ``join 3 left``."""
    more = "" if state.what in ("groups", "rows", "results", "relation", "distinct") else f" {state.what}"
    return f"{_called(tree, number)}{more}"


def _called(tree: nodes.Tree, number: int) -> str:
    return f"relation {tree.table}" if isinstance(tree, nodes.Scan) else f"{_WORDS.get(type(tree), 'block')} {number}"


def operator_name(operation: Operation, judgement: Judgement) -> str:
    """The name of an operator among those of its statement, such as ``groups 2``."""
    numbers = (n for n, one in enumerate(_alone(judgement.operation), start=1) if one is operation)
    return _called(operation.tree, next(numbers, 1))


def _alone(operation: Operation) -> Iterator[Operation]:
    """The operations in the order of their numbers: what is done for each key is done by those of one."""
    for one in operation.every():
        yield from (one,) if one.each_key is None else _alone(one.each_key.operation)


def _key(state: OperatorState, judgement: Judgement) -> Iterator[str]:
    """The names of the columns that an entry is of."""
    tree = state.operator
    if state.entry is Entry.SOURCES:
        return
    given: tuple[ViewColumn, ...]
    match tree:
        case nodes.Join(left=left, right=right):
            given = judgement.context.views.schema(right if state.what == "right" else left)
        case nodes.Over(input=input):
            given = judgement.context.views.schema(input)
        case _:
            given = judgement.context.views.schema(tree)
    for place in state.key:
        if place < len(given):
            column = given[place]
            yield f"{column.alias}.{column.name}" if column.alias else column.name


def _state(state: OperatorState, name: str, keys: tuple[str, ...], judgement: Judgement) -> State:
    count, span = state.count, operator_span(state.operator, judgement)
    if count is None:
        return State(name, state.proposition, _UNLIMITED, keys, str(Retention.EVER), span)
    freed = _COMPLETE if state.what == "table" and count.retention is not Retention.KEY else str(count.retention)
    return State(name, state.proposition, count.size, keys, freed, span)


def operator_span(tree: nodes.Tree, judgement: Judgement) -> Span:
    """Where an operator is written; what a pass made is where the first thing below it is."""
    positions = judgement.context.blocks.positions
    if tree.at is not None:
        return tree.at
    if tree.syntax is not None and is_placed(tree.syntax):
        return positions.of(tree.syntax)
    below = next(iter(nodes.inputs(tree)), None)
    return positions.first_token if below is None else operator_span(below, judgement)
