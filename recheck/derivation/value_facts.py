"""Facts about values: which ones a column has at a node, each by one rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from streambound.analyzer.algebra.aggregate_functions import AGGREGATES, computed_of
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Alias,
    Apply,
    Bucket,
    BucketKind,
    Distinct,
    Except,
    Filter,
    Fixpoint,
    Intersect,
    Join,
    JoinKind,
    Over,
    Project,
    Recur,
    Scan,
    SpjBlock,
    Tree,
    Union,
)
from streambound.analyzer.algebra.row_expressions import is_null, may_be_null, row_expression
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.value_sets import ANYTHING, NULL, ValueSet, as_domain, between, of_domain
from streambound.analyzer.algebra.window_functions import Gives, window_function
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.evident import domain
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal, fields
from streambound.analyzer.expressions.function import ANY
from streambound.analyzer.types import Family
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.buckets import end_values
from streambound.recheck.derivation.claims import (
    ClaimedFact,
    ClaimedPoint,
    ClaimedValues,
    NotCheckedError,
)
from streambound.recheck.derivation.fact_log import CheckedFacts, below_condition
from streambound.recheck.derivation.trees import (
    PlanNode,
    origin,
    pairs,
)

_FIRST = {Family.INTEGER: 0, Family.DATE: -719_162, Family.TIMESTAMP: -62_135_596_800_000_000}
"""Where time starts: integers at 0, dates and timestamps at 0001-01-01, in days and in microseconds."""


def _declared(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """What the catalog declares; a stream's timestamp is never NULL, and not before time starts."""
    table = node.catalog.table(node.tree.table) if isinstance(node.tree, Scan) else None
    if table is None:
        raise RejectedError("what is declared is of no table")
    column = table.columns[claim.column]
    if column.name != table.timestamp:
        return of_domain(column.domain, column.type, null=True)
    first = between(_FIRST[column.type.family], None, null=False)
    return of_domain(column.domain, column.type, null=False).meet(first)


def _passed(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """A column of an input, as it is."""
    found = origin(node, claim.column)
    if found is None or found.column is None or len(claim.uses) != 1:
        raise RejectedError("a column that comes from no other one")
    below = facts.values(claim.uses[0], found.node, found.column)
    return below.or_null() if found.missing else below


def _computed(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """An expression over columns whose values are known: those that it has of these."""
    found = origin(node, claim.column)
    if found is None or found.expression is None:
        raise RejectedError("a column that is no expression")
    expression = row_expression(found.expression, found.node.schema)
    if isinstance(expression, Literal) and expression.constant.value is None:
        return NULL
    if expression is None or expression.kind == ANY or expression.kind.family is Family.OTHER:
        return ANYTHING
    return _expression(facts, expression, claim.uses, found.node)


def _expression(facts: CheckedFacts, expression: Expression, uses: Sequence[int], below: PlanNode) -> ValueSet:
    known = {facts.claimed[one].column: facts.values(one, below, facts.claimed[one].column) for one in uses}
    if any(one.size == 0 for one in known.values()):
        return ValueSet(listed=frozenset(), null=False)  # there are no rows
    empty = frozenset(str(place) for place, one in known.items() if one.only_null)
    if is_null(expression, empty):
        return NULL
    expression = _without(expression, empty)
    if isinstance(expression, Literal):
        constant = expression.constant.value
        return NULL if constant is None else of_domain(domain(expression, {}), expression.kind, null=False)
    if isinstance(expression, Field):
        return ANYTHING
    read = {name: known.get(int(name), ANYTHING) for name in fields(expression)}
    declared = {name: Column(name, below.schema[int(name)].type or ANY, as_domain(one)) for name, one in read.items()}
    null = may_be_null(expression, [known.get(place, ANYTHING).null for place in range(below.width)])
    return of_domain(domain(expression, declared), expression.kind, null)


def no_rows(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """There are no rows: another column has no value, an input no rows, or a path back to its begin is negative."""
    nothing = ValueSet(listed=frozenset(), null=False)
    if claim.high:
        first = claim.high[0].above
        facts.require_there(first, claim.high, node, claim.present)
        if facts.path(claim.high, first, first, node, claim.present) < 0:
            return nothing
    below = [node, *(node.input(name) for name in _needed_inputs(node.tree))]
    for number in claim.uses:
        column = facts.column_of(number)
        if facts.sets.get(number) == nothing and any(facts.is_about(number, one, column) for one in below):
            return nothing
    raise RejectedError("there may be rows")


def _narrowed(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """What facts of the input and atoms of the condition leave together; a path to and from 0 gives an end."""
    found, equal = ANYTHING, _equal_columns(facts, claim, node)
    for one in claim.uses:
        column = next((other for other in equal if facts.is_about(one, *below_condition(node, other))), claim.column)
        values = facts.of_row(one, node, column)
        found = found.meet(values if column == claim.column else values.not_null())
    for number in claim.atoms:
        found = atoms.values(facts.atom(node, number), node.row, claim.column, found)
    mine, zero = ClaimedPoint(column=claim.column), ClaimedPoint()
    high = facts.path(claim.high, mine, zero, node, claim.present) if claim.high else None
    low = facts.path(claim.low, zero, mine, node, claim.present) if claim.low else None
    return found.meet(between(None if low is None else -low, high, null=True))


def _equal_columns(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> list[int]:
    """The columns that atoms make equal to one, of which what is known of these holds, too."""
    found, several = [claim.column], [atoms.equal(facts.atom(node, one), node.row) for one in claim.atoms]
    for _ in several:
        found += [other for both in several if both & {*found} for other in sorted(both - {*found})]
    return found


def _paired(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """A column of a join that is there with a partner only, or NULL."""
    padded = is_padded(node, claim.column)
    (one,) = claim.uses if len(claim.uses) == 1 else (-1,)
    found = facts.values(one, pairs(node), claim.column)
    return found.or_null() if padded else found


def is_padded(node: PlanNode, column: int) -> bool:
    """Whether a column of a join is NULL without a partner; raises RejectedError where it is there without one."""
    assert isinstance(node.tree, Join), "pairs are of a join"
    kind, is_left = node.tree.kind, column < node.input("left").width
    if node.tree.using:
        raise NotCheckedError("a join with USING")
    if kind in (JoinKind.INNER, JoinKind.SEMI):
        return False
    if (kind, is_left) in ((JoinKind.LEFT, False), (JoinKind.RIGHT, True)):
        return True
    raise RejectedError("rows without a partner are no pairs")


def _of_sides(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """What holds of both sides of a union, or of a recursion's base and step."""
    names = ("left", "right") if isinstance(node.tree, Union) else ("base", "step")
    if not isinstance(node.tree, Union | Fixpoint) or len(claim.uses) != 2:
        raise RejectedError("sides of what has none")
    sides = [node.input(name) for name in names]
    one, other = (facts.values(use, side, claim.column) for use, side in zip(claim.uses, sides, strict=True))
    if one.only_null or other.only_null:  # which is of any type
        return one.join(other)
    kinds = [side.schema[claim.column].type for side in sides]
    if kinds[0] is None or kinds[1] is None or kinds[0].family is not kinds[1].family:
        raise NotCheckedError("sides of different types")
    if kinds[0].family is Family.DECIMAL and kinds[0] != kinds[1]:
        raise NotCheckedError("sides of different types")
    return one.join(other)


def _of_both(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """What holds of a value that both sides have."""
    if not isinstance(node.tree, Intersect) or len(claim.uses) != 2:
        raise RejectedError("sides of what has none")
    sides = [node.input("left"), node.input("right")]
    if sides[0].schema[claim.column].type != sides[1].schema[claim.column].type:
        raise NotCheckedError("sides of different types")
    one, other = (facts.values(use, side, claim.column) for use, side in zip(claim.uses, sides, strict=True))
    return one.meet(other)


def _recursive(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """A row of a recursion, of which holds what the log claims of all of its rows, base and step.

    By induction over the rounds of the fixpoint: what is claimed of it is checked of what the step makes of these.
    """
    around = None if node.recursion is None else node.recursion.tree
    if not isinstance(node.tree, Recur) or node.recursion is None or len(claim.uses) != 1:
        raise RejectedError("a row of no recursion")
    if not isinstance(around, Fixpoint) or around.name != node.tree.name:
        raise NotCheckedError("a recursion in another one")
    (number,) = claim.uses
    facts.require_about(number, node.recursion, claim.column)
    whole = facts.claimed[number]
    if whole.rule != "sides" or whole.values is None:
        raise RejectedError("what is supposed of a recursion is not what is shown of its base and its step")
    return value_set(whole.values, node.recursion, claim.column)


def _of_bucket(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """An end of a bucket of time, by the times that there are."""
    if not isinstance(node.tree, Bucket) or node.tree.kind is BucketKind.SESSION or len(claim.uses) != 1:
        raise NotCheckedError("the ends of sessions")
    below = node.input("input")
    place, which = below.place_of(parsed(node.tree.time)), claim.column - below.width
    if place is None or which < 0:
        raise NotCheckedError("buckets of what is no column")
    low, high = facts.values(claim.uses[0], below, place).ends
    first, last = end_values(node.tree, which, low, high)
    return between(first, last, null=False)


def _of_function(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """Ranks begin with 1, counts with 0; aggregates are of their argument's values; buckets have ends."""
    anything = replace(ANYTHING, null=node.schema[claim.column].nullable)
    match node.tree:
        case Over(calls=calls) if claim.column >= node.input("input").width:
            call = calls[claim.column - node.input("input").width]
            numbers = window_function(call).gives is Gives.NUMBER
            return between(int(numbers), None, null=False) if numbers or call.function == "COUNT" else anything
        case Aggregate(keys=keys, calls=calls) if claim.column >= len(keys):
            return _aggregated(facts, claim, node, calls[claim.column - len(keys)], bool(keys))
        case Bucket() if claim.column >= node.input("input").width:
            return ANYTHING.not_null()
    return ANYTHING


def _aggregated(
    facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, call: AggregateCall, grouped: bool
) -> ValueSet:
    """The values of an aggregate; if it is ``grouped``, there is a row, which a filter may not let pass."""
    below, column = node.input("input"), node.schema[claim.column]
    found = [row_expression(parsed(one), below.schema) for one in computed_of(call)]
    values = [ANYTHING if one is None or one.kind == ANY else _argument(facts, one, claim.uses, below) for one in found]
    there = grouped and call.filter is None and not any(one.null for one in values)
    if call.function == "COUNT":
        return between(int(there), None, null=False)
    function = AGGREGATES.get(call.function)
    null = column.nullable and not (there and function is not None and function.of_one_value)
    if len(values) == 1 and function is not None and function.picks:
        return replace(values[0], null=null)
    low, high = values[0].ends if len(values) == 1 else (None, None)
    exact = found and found[0] is not None and found[0].kind.family in (Family.INTEGER, Family.DECIMAL)
    if call.function == "SUM" and exact:
        first, last = low is not None and low >= 0, high is not None and high <= 0
        return between(0 if first else None, 0 if last else None, null)
    return replace(ANYTHING, null=null)


def _argument(facts: CheckedFacts, expression: Expression, uses: Sequence[int], below: PlanNode) -> ValueSet:
    if isinstance(expression, Field):
        known = [facts.values(one, below, int(expression.name)) for one in uses if facts.sets.get(one) is not None]
        return known[0] if known else ANYTHING
    return _expression(facts, expression, uses, below)


def _of_type(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """All values of a type."""
    kind = node.schema[claim.column].type
    return ANYTHING if kind is None else of_domain(None, kind, null=True)


def _without(expression: Expression, nulls: frozenset[str]) -> Expression:
    """An expression with NULL for the fields that have no other value."""
    match expression:
        case Field(name, kind) if name in nulls:
            return Literal(Folded(None, kind))
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(_without(argument, nulls) for argument in arguments))
    return expression


def _needed_inputs(tree: Tree) -> tuple[str, ...]:
    """The inputs without whose rows an operator has none."""
    match tree:
        case Join(kind=JoinKind.INNER | JoinKind.SEMI) | Intersect():
            return "left", "right"
        case Join(kind=JoinKind.LEFT | JoinKind.ANTI | JoinKind.NOT_IN) | Except():
            return ("left",)
        case Join(kind=JoinKind.RIGHT):
            return ("right",)
        case Filter() | Project() | Alias() | Distinct() | SpjBlock() | Over() | Bucket() | Apply():
            return ("input",)
        case Aggregate(keys=keys) if keys:
            return ("input",)
    return ()


def value_set(claim: ClaimedValues, node: PlanNode, column: int) -> ValueSet:
    """A claimed set; ends are whole numbers where the type has no others."""
    kind = node.schema[column].type
    if claim.numbers is not None or claim.texts is not None:
        if claim.low is not None or claim.high is not None:
            raise RejectedError("values that are listed have no range")
        numbers = [int(one) if one.denominator == 1 else one for one in claim.numbers or ()]
        return ValueSet(listed=frozenset((*numbers, *(claim.texts or ()))), null=claim.null)
    discrete = kind is not None and kind.discrete

    def end(value: Fraction | None) -> int | Fraction | None:
        return int(value) if value is not None and discrete and value.denominator == 1 else value

    return ValueSet(end(claim.low), end(claim.high), null=claim.null)


ValueRule = Callable[[CheckedFacts, ClaimedFact, PlanNode], ValueSet]
VALUE_RULES: Mapping[str, ValueRule] = MappingProxyType({
    "declared": _declared,
    "type": _of_type,
    "passed": _passed,
    "computed": _computed,
    "narrowed": _narrowed,
    "none": no_rows,
    "paired": _paired,
    "sides": _of_sides,
    "both": _of_both,
    "recursive": _recursive,
    "function": _of_function,
    "bucket": _of_bucket,
})  # fmt: skip
"""The rules of facts about values."""
