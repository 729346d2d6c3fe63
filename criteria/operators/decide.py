"""From a tree that is no select-project-join query to its verdict: one rule an operator."""

from __future__ import annotations

import re
from dataclasses import replace

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.clock import clocks
from streambound.analyzer.algebra.names_apart import with_names_apart
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Alias,
    Apply,
    ApplyKind,
    Bucket,
    Distinct,
    Except,
    Filter,
    Fixpoint,
    Intersect,
    Join,
    Over,
    Project,
    Scan,
    SpjBlock,
    Tree,
    Union,
    WindowCall,
    inputs,
)
from streambound.analyzer.algebra.resolved_names import check_names
from streambound.analyzer.algebra.verify import violations
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.errors import BrokenInvariant
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.lower import Lowered
from streambound.analyzer.operators_outside import (
    IN_EXPRESSION,
    IN_WINDOW,
    NOT_EXISTS,
    UNDECIDED,
    aggregate_refused,
    refused,
    subquery_word,
)
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.statement import Statement
from streambound.analyzer.work import spend
from streambound.criteria.judged import State
from streambound.criteria.operators.aggregates import judge_aggregate
from streambound.criteria.operators.blocks import judge_block
from streambound.criteria.operators.bucketed_rows import judge_buckets
from streambound.criteria.operators.each_key import judge_each_key
from streambound.criteria.operators.ended_keys import OPEN_KEYS
from streambound.criteria.operators.filtered_joins import with_filtered_joins
from streambound.criteria.operators.judge import Context, NoNumber, NoRule, Rule
from streambound.criteria.operators.late_conditions import judge_marked, with_late_conditions
from streambound.criteria.operators.mapped import judge_filter, judge_named, judge_project
from streambound.criteria.operators.over import judge_over
from streambound.criteria.operators.pairs import judge_pair
from streambound.criteria.operators.recursion import judge_recursion
from streambound.criteria.operators.relations import judge_relation
from streambound.criteria.operators.set_operations import judge_distinct, judge_set_operation, judge_union
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.operators.static_rows import judge_static
from streambound.criteria.violation import Violation


def judge_subquery(tree: Tree, context: Context) -> JudgedPart:
    """No rule: subqueries that are decided have become joins before; raises NoRule with the words for the others."""
    asked = list[Apply]()
    while isinstance(tree, Apply):
        asked.append(tree)
        tree = tree.input
    negated = [one for one in asked if one.at and re.search(r"\bNOT\s+IN\b", context.positions.text(one.at), re.I)]
    if negated and len(asked) > 1:
        raise NoRule("NOT IN beside another subquery below OR", NOT_EXISTS, negated[0])
    if asked[0].kind is ApplyKind.SCALAR:
        raise NoRule("a value that a subquery over a stream has for each row", IN_WINDOW, asked[0])
    raise NoRule(f"{subquery_word(asked[0].syntax)} over streams inside an expression", IN_EXPRESSION, asked[0])


RULES: dict[type[Tree], Rule] = {
    Aggregate: judge_aggregate,
    Project: judge_project,
    Filter: judge_filter,
    Alias: judge_named,
    Except: judge_set_operation,
    Intersect: judge_set_operation,
    Union: judge_union,
    Join: judge_pair,
    Over: judge_over,
    Bucket: judge_buckets,
    Distinct: judge_distinct,
    Fixpoint: judge_recursion,
    Scan: judge_relation,
    SpjBlock: judge_marked,
    Apply: judge_subquery,
}
"""The rule of each operator that may stand above a block. To add one: its file, and a line here."""
_HELP = "limit the columns that it keeps, in WHERE or by domains in the catalog, or group by a bucket of time"
_STEPS = 100
_WAYS_OUT: dict[type, str] = {
    Aggregate: "group by a window of time, GROUP BY k, window(ts, '1 hour'), or aggregate the job's output downstream",
    Join: "join within a window of time, T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR, in one condition of ANDs",
    Over: "take it over a window of time, as OVER (PARTITION BY window(ts, '1 hour') …), or over rows in order of time",
    Bucket: "group by it: GROUP BY window(ts, '1 hour')",
    Except: "write NOT EXISTS with a window of time",
    Intersect: "write EXISTS with a window of time",
    Union: "select the same columns, of the same types, on both sides",
    Fixpoint: "write a UNION of what it starts with and one step, of columns as they are",
    Filter: "compute what the condition compares in a subquery, and name it there",
    Project: "compute the column in a subquery, and name it there",
}
"""What to do instead of an operator whose rule has no better words."""


def judge(tree: Tree, context: Context) -> JudgedPart:
    """What the propositions say of a tree, or else of what it keeps for each key (K3); raises NoRule and Finding."""
    try:
        found = _judge(tree, context)
    except NoRule:
        if (of_each := judge_each_key(tree, context, _judge)) is not None:
            return of_each
        raise
    return found if found.part is not None else judge_each_key(tree, context, _judge) or found


def _judge(tree: Tree, context: Context) -> JudgedPart:
    spend(_STEPS)
    if is_static(tree, context.catalog):
        return judge_static(tree, context)
    if is_block(tree, context.catalog):
        return judge_block(tree, context)
    rule = RULES.get(type(tree))
    if rule is None:
        raise NoRule(at=tree)
    try:
        return rule(tree, context)
    except NoRule as refusal:
        refusal.at = refusal.at or tree
        raise


def judged(
    statement: Statement, lowered: Lowered, catalog: Catalog, unbounded: bool = False
) -> JudgedPart | Diagnostic | None:
    """What the propositions say of a statement beyond select-project-join; None where they do not speak of it.

    A diagnostic where it means nothing, such as a sum of texts. With ``unbounded`` it has a part whatever it would
    remember, and states without sizes.
    """
    if lowered.tree is None or lowered.positions is None:
        return None
    blocks = BlockReader(lowered.positions, catalog, statement.name, statement.span, lowered.queries)
    context = Context(catalog, lowered.positions, blocks, judge, unbounded=unbounded)
    try:
        check_names(lowered.tree, catalog, lowered.positions)
        tree = with_names_apart(lowered.tree, catalog, lowered.positions)
        found = judge(_with_conditions_moved(tree, context), context)
        return replace(found, states=_once(found.states), clocks=clocks(lowered.tree, catalog))
    except NoNumber as refusal:
        return _growing(refusal, statement, lowered.positions)
    except NoRule as refusal:
        return _refused(refusal, statement, lowered.positions)
    except Finding as finding:
        # what only joins are too narrow for, such as a comparison of a bigint with a double, is no error of the user's
        return None if finding.diagnostic.code is Code.TYPE_MISMATCH and _asks(lowered.tree) else finding.diagnostic


def _with_conditions_moved(tree: Tree, context: Context) -> Tree:
    """The passes over the tree, verified; raises BrokenInvariant where it makes a tree that SQL does not have."""
    made = with_late_conditions(with_filtered_joins(tree, context), context)
    if made is not tree and (wrong := violations(made, context.catalog)) and not violations(tree, context.catalog):
        raise BrokenInvariant(f"after conditions are moved: {'; '.join(wrong)}")
    return made


def _growing(refusal: NoNumber, statement: Statement, positions: Positions) -> JudgedPart | Diagnostic | None:
    """That nothing bounds what an operator remembers, at the operator."""
    at = refusal.at
    if at is None or isinstance(at, AggregateCall | WindowCall) or at.syntax is None or not str(refusal):
        return _refused(refusal, statement, positions)
    message, place = f"nothing bounds what this remembers: {refusal}", at.at or positions.of(at.syntax)
    return JudgedPart(violations=(Violation("Lemma 1", "", None, message, place, Code.UNBOUNDED_VIEW, _HELP),))


def _refused(refusal: NoRule, statement: Statement, positions: Positions) -> Diagnostic | None:
    """What keeps a statement from being decided, at the operator; None where that has no place in the SQL."""
    if isinstance(refusal.at, AggregateCall):
        return aggregate_refused(refusal.at, positions).diagnostic
    if isinstance(refusal.at, UNDECIDED):
        return refused(refusal.at, positions, False).diagnostic
    at = None if refusal.at is None else refusal.at.syntax
    if at is None or not str(refusal):
        return None
    place = getattr(refusal.at, "at", None) or positions.of(at)
    message = f"this is outside the query language so far: {refusal}"
    help = refusal.help or _WAYS_OUT.get(type(refusal.at), "")
    return Diagnostic(Code.UNSUPPORTED, message, statement.source.file, place, help)


def _once(states: tuple[State, ...]) -> tuple[State, ...]:
    """The states, each once; of several operators that go by the keys of one stream the first one's keys.

    What several operators read is one object; equal ones, such as the values of two aggregates, are several.
    """
    keys = {state.name: state for state in reversed(states) if state.proposition == OPEN_KEYS}
    kept = [keys.get(state.name, state) for state in states]
    return tuple({id(state): state for state in kept}.values())


def _asks(tree: Tree) -> bool:
    """Whether a tree has subqueries that are values."""
    return isinstance(tree, Apply) or any(map(_asks, inputs(tree)))
