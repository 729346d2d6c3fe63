"""The rule of recursion: the rows of the least fixpoint (F2), and of a step what is joined with them.

The relation has finitely many rows if each of its columns has finitely many values, by the intervals that the fixpoint
of the facts finds (F1). Where rows are taken back, the base's rows are counted, too (F3).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.monotone import not_monotone
from streambound.analyzer.algebra.sql_words import sql_words
from streambound.analyzer.algebra.substitution import values_of
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.analyzer.operators_outside import subquery_word
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.dataflow.blocks import RuleContext
from streambound.criteria.dataflow.counting import different
from streambound.criteria.dataflow.demand import Demand, everything
from streambound.criteria.dataflow.state import Entry, Operation, OperatorState, StateCount, Undecided, without_rule
from streambound.criteria.dataflow.view import OperatorView, Places, place_of

_NOT_MONOTONE = "a recursion that takes rows away from itself, or aggregates them"


def fixpoint(tree: nodes.Fixpoint, demand: Demand, context: RuleContext) -> Operation:
    """The states of a recursion."""
    if not tree.distinct:
        return without_rule(tree, "recursion by UNION ALL, which need not end")
    if (operator := not_monotone(tree.step, tree.name)) is not None:
        return without_rule(operator, _NOT_MONOTONE, "read it by inner joins, EXISTS and UNION only")
    view = context.views.of(tree)
    own = _state(tree, "recursion", "F2", different(view, view.every), view)
    inside = replace(context, views=context.views.inside(tree))
    if (beyond := _beyond_blocks(tree.step, context)) is not None:
        return Operation(tree, undecided=(Undecided(beyond, f"{_called(beyond)} in the step of a recursion"),))
    words = next((words for one in _operators(tree.step) if (words := _unread(one, inside)) is not None), None)
    if words is not None:
        return without_rule(tree, words)
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


# --- what a job reads of a step ---------------------------------------------------------------------------------------


def _beyond_blocks(tree: nodes.Tree, context: RuleContext) -> nodes.Tree | None:
    """The operator of a step that no select-project-join block has, where the recursion is one of its tables."""
    match tree:
        case nodes.Recur() | nodes.Scan():
            return None
        case (
            nodes.Join(kind=nodes.JoinKind.INNER)
            | nodes.Union()
            | nodes.Alias()
            | nodes.Filter()
            | nodes.Project()
            | nodes.Distinct()
        ):
            found = (_beyond_blocks(below, context) for below in nodes.inputs(tree))
            beyond = next((one for one in found if one is not None), None)
        case _:
            beyond = tree
    return None if not _is_recursive(tree) and (is_static(tree, context.catalog) or context.is_block(tree)) else beyond


def _is_recursive(tree: nodes.Tree) -> bool:
    return isinstance(tree, nodes.Recur) or any(map(_is_recursive, nodes.inputs(tree)))


def _called(tree: nodes.Tree) -> str:
    asks = isinstance(tree, nodes.Join) and isinstance(tree.syntax, exp.In | exp.Exists)
    return f"{subquery_word(tree.syntax)} over streams" if asks else sql_words(tree)


def _operators(tree: nodes.Tree) -> Iterator[nodes.Project | nodes.Filter | nodes.Join]:
    """The select lists and conditions of a step, each of whose cases is one join of the recursion and other rows."""
    match tree:
        case nodes.Alias(input) | nodes.Distinct(input):
            yield from _operators(input)
        case nodes.Project(input) | nodes.Filter(input):
            yield tree
            yield from _operators(input)
        case nodes.Join(left=left, right=right):
            yield tree
            yield from (*_operators(left), *_operators(right))
        case nodes.Union(left, right):
            yield from (*_operators(left), *_operators(right))


def _unread(tree: nodes.Project | nodes.Filter | nodes.Join, context: RuleContext) -> str | None:
    """Why no job computes a step, in words; None where one does."""
    below = replace(tree, kind=nodes.JoinKind.INNER) if isinstance(tree, nodes.Join) else tree.input
    given, mine = context.views.of(below), _made(below, context)
    if isinstance(tree, nodes.Project):
        items = values_of(tree.items, given.schema)
        return next((words for one in items if (words := _unread_item(one, given, mine)) is not None), None)
    operands = (one for part in conjuncts(tree.condition) for one in _operands(part))
    return _OF_RECURSION if any(given.read_by(one) & mine and not _is_column(one, given) for one in operands) else None


def _made(tree: nodes.Tree, context: RuleContext) -> Places:
    """The columns of a part of a step that are the recursion's, or computed of these."""
    match tree:
        case nodes.Recur():
            return context.views.of(tree).every
        case nodes.Alias(input) | nodes.Filter(input) | nodes.Distinct(input):
            return _made(input, context)
        case nodes.Project(input):
            given, mine = context.views.of(input), _made(input, context)
            items = values_of(tree.items, given.schema)
            return frozenset(place for place, one in enumerate(items) if given.read_by(one) & mine)
        case nodes.Join(left=left, right=right):
            width = len(context.views.of(left).schema)
            return _made(left, context) | {place + width for place in _made(right, context)}
    return frozenset()


_OF_RECURSION = "an expression over a recursive relation"


def _unread_item(node: exp.Expr, given: OperatorView, mine: Places) -> str | None:
    if given.read_by(node) & mine:
        return None if _is_column(node, given) else _OF_RECURSION
    places = given.read_by(node)
    sources = frozenset[str]().union(*(given.origins[place] for place in places))
    tables = [(place, given.sources[name].stream) for place in places for name in given.origins[place]]
    times = [place for place, table in tables if table is not None and given.schema[place].name == table.timestamp]
    if times or len(sources) > 1:
        return "a column of a recursion that is computed of several rows, or of times"
    return None


def _operands(node: exp.Expr) -> Iterator[exp.Expr]:
    """The operands of the comparisons in a condition."""
    node = node.unnest()
    if isinstance(node, exp.And | exp.Or | exp.Not):
        for part in node.iter_expressions():
            yield from _operands(part)
    elif isinstance(node, exp.Predicate):
        yield from (part.unnest() for part in node.iter_expressions())
    else:
        yield node


def _is_column(node: exp.Expr, given: OperatorView) -> bool:
    """Whether an expression is a column, or a whole number more than one."""
    node = node.unnest()
    if isinstance(node, exp.Add | exp.Sub) and whole_number(node.expression) is not None:
        node = node.this.unnest()
    return place_of(node, given) is not None


def _state(
    tree: nodes.Fixpoint, what: str, proposition: str, count: StateCount | None, view: OperatorView
) -> OperatorState:
    words = "the recursion's rows have no limit"
    return OperatorState.of(tree, what, proposition, view.every, Entry.ROW, count, view, words)
