"""DISTINCT and set operations as the engine has them: rows, with how often each side has them."""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.columns import Column
from streambound.criteria.dataflow.counting import held_keys
from streambound.criteria.dataflow.sets import open_rows_of
from streambound.criteria.dataflow.state import Operation
from streambound.synopsis_exec.from_operations import JobOperators, OperationRows, time_bucket
from streambound.synopsis_exec.made_operators import engine_types
from streambound.synopsis_exec.operations.row_tests import tests_of_results, tests_of_values
from streambound_runtime.engine.counts import SqlCounts
from streambound_runtime.engine.linear import SqlUnion
from streambound_runtime.operators.plan import Test

SetTree = nodes.Distinct | nodes.Union | nodes.Except | nodes.Intersect


def rows_of_set(operation: Operation, tree: SetTree, job: JobOperators) -> OperationRows:
    """Each row once, or as often as a set operation says."""
    view = job.views.of(tree)
    every = tuple(range(len(view.schema)))
    if operation.rows is not None:
        sides = [job.block_rows(operation, every)]
    else:
        sides = [job.exactly(job.rows(one), every) for one in operation.inputs]
    columns = tuple(
        next((one for one in several if one.type.name != "void"), several[0])
        for several in zip(*(side.columns for side in sides), strict=True)
    )
    types = engine_types(columns)
    state = next(one for one in reversed(operation.states))
    closing = job.closing_of(view, state, every)
    bucket = None if closing is None else time_bucket(closing, closing.place)
    ending, over = _ending(tree, OperationRows("", every, columns), bucket is None and len(sides) == 1, job)
    if isinstance(tree, nodes.Distinct | nodes.Union):
        if len(sides) == 2:
            names = tuple(side.operator for side in sides)
            sides = [job.added(SqlUnion(job.named("union"), names, types, False), every, columns)]
        inputs = (sides[0].operator, *over)
        counts = SqlCounts(job.named("distinct"), inputs, "distinct", types, bucket=bucket, ending=ending)
        return job.added(counts, every, columns)
    changing = [job.views.of(one).change for one in (tree.left, tree.right)]
    operator = SqlCounts(
        job.named("rows"),
        (*(side.operator for side in sides), *over),
        "except" if isinstance(tree, nodes.Except) else "intersect",
        types,
        not tree.distinct,
        all(one <= ViewKind.APPEND_ONLY for one in changing),
        _open(operation, tree, columns, job),
        bucket,
        ending,
    )
    return job.added(operator, every, columns)


def _ending(
    tree: SetTree, rows: OperationRows, alone: bool, job: JobOperators
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The places of a key by which rows go, and the operator of those that are over; of one input ``alone``."""
    if job.key is not None:
        return job.places_of_key(tree, rows), job.over(job.key)
    held = next(held_keys(job.views.of(tree), frozenset(rows.places)), None) if alone else None
    return ((), ()) if held is None else (held.places, job.over(held.key))


def _open(
    operation: Operation, tree: nodes.Except | nodes.Intersect, columns: tuple[Column, ...], job: JobOperators
) -> tuple[tuple[tuple[Test, ...], ...] | None, ...]:
    """Which rows of both sides may still change the result: those that both can have."""
    keeps_left = isinstance(tree, nodes.Except) and tree.distinct
    splits = open_rows_of(tree, job.context)
    names = tuple(replace(column, name=f"c{n}") for n, column in enumerate(columns))
    if splits is not None:
        tests = tests_of_results(splits, names)
    else:
        given = job.views.of(tree.left if keeps_left else nodes.Intersect(tree.left, tree.right, tree.distinct))
        tests = tests_of_values(given, names, range(len(names)))
    return (None if keeps_left else tests, tests)
