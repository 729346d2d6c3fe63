"""A select-project-join block below an operator: the bag criterion, or the set criterion with its memory of results."""

from __future__ import annotations

from contextlib import suppress

from streambound.analyzer.algebra.grouped_rows import as_groups
from streambound.analyzer.algebra.nodes import Distinct, Tree, Union
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.findings import Finding
from streambound.analyzer.query import Query
from streambound.criteria.bag import bag_violations
from streambound.criteria.judged import State
from streambound.criteria.operators.closing_rows import block_columns
from streambound.criteria.operators.ended_keys import UNTIL_OVER, EndedKey, ended_key, key_states, one_value
from streambound.criteria.operators.judge import Context, NoRule, fewest_results, groups
from streambound.criteria.operators.parts import SetPart
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.parts import BlockPart
from streambound.criteria.set import set_violations
from streambound.criteria.violation import Violation
from streambound.preprocess.pipeline import derive


def judge_block(tree: Tree, context: Context) -> JudgedPart:
    """A block as a view that only grows."""
    distinct = isinstance(tree, Distinct) or (isinstance(tree, Union) and tree.distinct)
    query = context.blocks.view(tree, distinct)
    split = derive(query).split
    violations: list[Violation] = []
    columns = len(split.branches[0].outputs) if split.branches else 0
    ended = ended_key(query, columns, context.catalog) if distinct and columns else None
    for branch in (split if ended is None else one_value(split, ended.places)).branches:
        facts = Facts.of(branch)
        violations += set_violations(facts) if distinct else bag_violations(facts)
    if context.refuses(violations):
        if (grouped := judge_once(tree, context)) is not None:
            return grouped
        return JudgedPart(violations=tuple(dict.fromkeys(violations)), suspects=(split,))
    part, states = context.block(query, "set" if distinct else "bag")
    if not distinct:
        return JudgedPart(part=part, states=states, closes=block_columns(split))
    if ended is not None:
        return _ending(part, states, ended, query, context)
    counted = fewest_results(derive(query))
    most = context.size(lambda: groups(counted), "results without a number")
    name = context.name("results")
    keys = tuple(column.name for column in part.columns)
    state = State(name, "set", most, keys, "never", query.span, (counted,))
    return JudgedPart(part=SetPart(name, "distinct", part, None, part.columns, grows=True), states=(*states, state))


def judge_once(tree: Tree, context: Context) -> JudgedPart | None:
    """The rows that DISTINCT or UNION leaves as groups by all columns, where these close (A5); None where not."""
    groups_of = as_groups(tree, context.catalog, context.positions)
    if groups_of is None:
        return None
    with suppress(NoRule, Finding), context.reading(None):
        found = context.judge(groups_of, context)
        return found if found.part is not None else None
    return None


def _ending(part: BlockPart, states: tuple[State, ...], ended: EndedKey, query: Query, context: Context) -> JudgedPart:
    """K2: the distinct results of a key are remembered until a punctuation ends it."""
    name, names = context.name("results"), tuple(column.name for column in part.columns)
    most = context.size(lambda: ended.most(part.split), "results of open keys without a number")
    state = State(name, "K2", most, names, UNTIL_OVER, query.span, ended.counted(part.split))
    found = SetPart(name, "distinct", part, None, part.columns, grows=True, ends=ended.ending)
    return JudgedPart(part=found, states=(*states, *key_states(ended.key, context.catalog, query.span), state))
