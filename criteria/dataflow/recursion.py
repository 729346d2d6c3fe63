"""The rule of recursion: the rows of the least fixpoint (F2), and of a step what is joined with them.

The relation has finitely many rows if each of its columns has finitely many values, by the intervals that the fixpoint
of the facts finds (F1). Where rows are taken back, the base's rows are counted, too (F3).
"""

from __future__ import annotations

from dataclasses import replace

from streambound.analyzer.algebra.monotone import not_monotone
from streambound.analyzer.algebra.nodes import Fixpoint
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.dataflow.blocks import RuleContext
from streambound.criteria.dataflow.counting import different
from streambound.criteria.dataflow.demand import Demand, everything
from streambound.criteria.dataflow.state import Entry, Operation, OperatorState, StateCount, without_rule
from streambound.criteria.dataflow.view import OperatorView

_NOT_MONOTONE = "a recursion that takes rows away from itself, or aggregates them"


def fixpoint(tree: Fixpoint, demand: Demand, context: RuleContext) -> Operation:
    """What a recursion remembers."""
    if not tree.distinct:
        return without_rule(tree, "recursion by UNION ALL, which need not end")
    if (operator := not_monotone(tree.step, tree.name)) is not None:
        return without_rule(operator, _NOT_MONOTONE, "read it by inner joins, EXISTS and UNION only")
    view = context.views.of(tree)
    own = _state(tree, "recursion", "F2", different(view, view.every), view)
    inside = replace(context, views=context.views.inside(tree))
    base, step = context.views.of(tree.base), inside.views.of(tree.step)
    states = [own]
    if base.change > ViewKind.APPEND_ONLY or step.change > ViewKind.APPEND_ONLY:
        count = different(base, base.every)
        states += [] if is_static(tree.base, context.catalog) else [_state(tree, "base", "F3", count, base)]
    below = (
        context.below(tree.base, replace(everything(base), once=True)),
        inside.below(tree.step, replace(everything(step), once=True)),
    )
    return Operation(tree, tuple(states), below, demand)


def _state(tree: Fixpoint, what: str, proposition: str, count: StateCount | None, view: OperatorView) -> OperatorState:
    blame = None if count is not None else next((p for p, c in enumerate(view.columns) if c.values.size is None), None)
    words = "" if count is not None else "the recursion's rows have no limit"
    return OperatorState(tree, what, proposition, tuple(sorted(view.every)), Entry.ROW, count, blame, words)
