"""Facts about values: which ones a column has at a node, as its operator says, by facts about its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.aggregate_functions import AGGREGATES, computed_of
from streambound.analyzer.algebra.nodes import JoinKind, Tree
from streambound.analyzer.algebra.row_expressions import is_null, may_be_null, row_expression
from streambound.analyzer.algebra.value_sets import (
    ANYTHING,
    NOTHING,
    NULL,
    ValueSet,
    as_domain,
    between,
    in_type,
    of_domain,
)
from streambound.analyzer.algebra.window_functions import Gives, window_function
from streambound.analyzer.catalog import Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.evident import domain
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal, fields
from streambound.analyzer.expressions.function import ANY
from streambound.analyzer.rounded_times import measured_distance
from streambound.analyzer.types import Family
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.buckets import end_values
from streambound.recheck.derivation.claims import ClaimedFact, ClaimedPoint, ClaimedValues, NotCheckedError
from streambound.recheck.derivation.facts import CheckedFacts, row_of
from streambound.recheck.derivation.plan import PlanNode, is_session, origin, pairs

_FIRST = {Family.INTEGER: 0, Family.DATE: -719_162, Family.TIMESTAMP: -62_135_596_800_000_000}
"""Where time starts: integers at 0, dates and timestamps at 0001-01-01, in days and in microseconds."""


def values_of_column(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """The values that a column has at most, by the facts that a claim uses."""
    if claim.rule == "apart":
        return _apart(facts, claim, node)
    if claim.rule not in ("", "none"):
        raise NotCheckedError(f"facts by the rule {claim.rule!r}")
    if claim.rule:
        require_no_rows(facts, claim, node)
        return NOTHING
    use = claim.uses[0] if len(claim.uses) == 1 else None
    match node.tree:
        case nodes.Scan():
            return _declared(node, claim.column)
        case nodes.Recur():
            return _of_recursion(facts, use, node, claim.column)
        case nodes.Union() | nodes.Fixpoint() | nodes.Intersect():
            return _of_sides(facts, claim, node)
        case nodes.Filter() | nodes.Join(kind=JoinKind.INNER, using=()):
            return _narrowed(facts, claim, node)
        case nodes.Join(kind=JoinKind.SEMI, using=()):
            return facts.values(use, pairs(node), claim.column)
        case nodes.Bucket() if claim.column >= node.below.width and not is_session(node.tree):
            return _of_bucket(facts, use, node, node.tree, claim.column)
    found = origin(node, claim.column)
    if found is None:
        return _of_function(facts, claim, node)
    if found.expression is not None:
        return _computed(facts, claim, found.node, row_expression(found.expression, found.node.schema))
    if is_padded(node, claim.column):
        return facts.values(use, pairs(node), claim.column).or_null()
    below = facts.values(use, found.node, found.column or 0)
    below = _as_in(node, below, found.node, claim.column) if isinstance(node.tree, nodes.Except) else below
    return below.or_null() if found.missing else below


def _declared(node: PlanNode, place: int) -> ValueSet:
    """The values that the catalog declares; a stream's timestamp is never NULL, nor before time starts."""
    if node.table is None:
        raise RejectedError("what is declared is of no table")
    column = node.table.columns[place]
    if column.name != node.table.timestamp:
        return of_domain(column.domain, column.type, null=True)
    return of_domain(column.domain, column.type, null=False).meet(between(_FIRST[column.type.family], None, null=False))


def is_padded(node: PlanNode, column: int) -> bool:
    """Whether a column of a join is there with a partner only: NULL without one."""
    full = isinstance(node.tree, nodes.Join) and node.tree.kind is JoinKind.FULL
    return not full and (found := origin(node, column)) is not None and found.missing


def require_no_rows(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> None:
    """A column has no value, an input no rows, or a path back to its begin is negative; else raises RejectedError."""
    if claim.high:
        first = claim.high[-1].to
        facts.require_there(first, node, claim.present)
        if (facts.path(claim.high, first, first, node, claim.present) or 0) < 0:
            return
    if not any(facts.is_empty(one, claim.uses) for one in (node, *map(node.input, _needed_inputs(node.tree)))):
        raise RejectedError("there may be rows")


def _needed_inputs(tree: Tree) -> tuple[str, ...]:
    """The inputs without whose rows an operator has none."""
    match tree:
        case nodes.Join(kind=JoinKind.INNER | JoinKind.SEMI) | nodes.Intersect():
            return "left", "right"
        case nodes.Join(kind=JoinKind.LEFT | JoinKind.ANTI | JoinKind.NOT_IN) | nodes.Except():
            return ("left",)
        case nodes.Join(kind=JoinKind.RIGHT):
            return ("right",)
        case nodes.Aggregate(keys=()) | nodes.Join() | nodes.Union() | nodes.Fixpoint() | nodes.Scan() | nodes.Recur():
            return ()
    return ("input",)


def _narrowed(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """What facts of the input and atoms of the condition leave together; a path to and from 0 gives an end.

    What is known of columns that atoms make equal to the column holds of it, too; that of others says which ways an OR
    can be true.
    """
    parts, equal = [facts.atom(node, one) for one in claim.atoms], {claim.column}
    several = [atoms.equal(part, node.row) for part in parts]
    for _ in several:
        equal |= frozenset[int]().union(*(both for both in several if both & equal))
    pairs = (atoms.equal(part, node.row, "<=>") for part in parts)
    or_null = frozenset[int]().union(*(both for both in pairs if claim.column in both)) - equal
    known = {claim.column: ANYTHING}
    for one in claim.uses:
        places = [facts.column_of(one) + first for first in _begins(node)]
        about = [place for place in places if place < len(node.row) and _is_of_row(facts, one, node, place)]
        if not about:
            raise RejectedError(f"fact {one} is about no column of the row")
        for place in about:
            column, values = claim.column if place in equal | or_null else place, facts.of_row(one, node, place)
            values = values if place == column or place in or_null else values.not_null()
            known[column] = known.get(column, ANYTHING).meet(values)
    for part in parts:
        known = dict(atoms.left_of(part, node.row, known))
    mine, zero = ClaimedPoint(column=claim.column), ClaimedPoint()
    high = facts.path(claim.high, mine, zero, node, claim.present)
    low = facts.path(claim.low, zero, mine, node, claim.present)
    return known[claim.column].meet(between(None if low is None else -low, high, null=True))


def _begins(node: PlanNode) -> tuple[int, ...]:
    """Where the columns of inputs begin in the row that a condition reads."""
    return (0, node.input("left").width) if isinstance(node.tree, nodes.Join) else (0,)


def _is_of_row(facts: CheckedFacts, number: int, node: PlanNode, place: int) -> bool:
    row = row_of(node, place)
    return facts.is_about(number, row.node, row.column or 0)


def _of_sides(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """The values of either side of a union, or of a recursion's base and step; for INTERSECT those of both."""
    sides = [*node.inputs.values()]
    if len(claim.uses) != 2:
        raise RejectedError("sides of what has none")
    one, other = (
        _as_in(node, facts.values(use, side, claim.column), side, claim.column)
        for use, side in zip(claim.uses, sides, strict=True)
    )
    return one.meet(other) if isinstance(node.tree, nodes.Intersect) else one.join(other)


def _as_in(node: PlanNode, values: ValueSet, side: PlanNode, column: int) -> ValueSet:
    """The values of a side of a set operation in the type that both have together."""
    return in_type(values, side.schema[column].type, node.schema[column].type)


def _of_recursion(facts: CheckedFacts, number: int | None, node: PlanNode, column: int) -> ValueSet:
    """A row of a recursion, of which holds what the log claims of all of its rows, base and step.

    By induction over the rounds of the fixpoint: what is claimed of it is checked of what the step makes of these.
    """
    around = None if node.recursion is None else node.recursion.tree
    if node.recursion is None or not isinstance(around, nodes.Fixpoint) or not isinstance(node.tree, nodes.Recur):
        raise RejectedError("a row of no recursion")
    if around.name != node.tree.name:
        raise NotCheckedError("a recursion in another one")
    facts.column_of(number)
    whole = facts.claimed[number or 0]
    about = facts.is_about(number or 0, node.recursion, column)
    if not about or whole.rule or whole.values is None:
        raise RejectedError("what is supposed of a recursion is not what is shown of its base and its step")
    return value_set(whole.values, node.recursion, column)


def _of_bucket(facts: CheckedFacts, use: int | None, node: PlanNode, tree: nodes.Bucket, column: int) -> ValueSet:
    """An end of a bucket of time, by the times that there are."""
    place = node.below.place_of(tree.time)
    if place is None:
        return ANYTHING.not_null()
    first, last = end_values(tree, column - node.below.width, *facts.values(use, node.below, place).ends)
    return between(first, last, null=False)


# --- expressions and functions ----------------------------------------------------------------------------------------


def _computed(facts: CheckedFacts, claim: ClaimedFact, below: PlanNode, expression: Expression | None) -> ValueSet:
    """An expression over columns whose values are known: those that it has of these."""
    known = {facts.column_of(one): facts.values(one, below, facts.column_of(one)) for one in claim.uses}
    if expression is None:
        return ANYTHING
    if any(one.size == 0 for one in known.values()):
        return NOTHING  # there are no rows
    empty = frozenset(str(place) for place, one in known.items() if one.only_null)
    if is_null(expression, empty):
        return NULL
    if expression.kind == ANY or expression.kind.family is Family.OTHER:
        return ANYTHING
    expression = _without(expression, empty)
    if isinstance(expression, Field):
        return known.get(int(expression.name), ANYTHING)
    read = {name: known.get(int(name), ANYTHING) for name in fields(expression)}
    declared = {name: Column(name, below.schema[int(name)].type or ANY, as_domain(one)) for name, one in read.items()}
    null = may_be_null(expression, [known.get(place, ANYTHING).null for place in range(below.width)])
    return of_domain(domain(expression, declared), expression.kind, null)


def _apart(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """A distance of two columns, by how far each is from the time of one row, beside what is known of their values."""
    found, uses = origin(node, claim.column), claim.uses
    expression = None
    if found is not None and found.expression is not None:
        expression = row_expression(found.expression, found.node.schema)
    measured = None if expression is None else measured_distance(expression)
    if found is None or measured is None or len(uses) < 2:
        raise RejectedError("a distance of what are no two columns")
    places = zip(uses[-2:], (*measured.plus, *measured.minus), strict=True)
    one, other = (facts.time(use, found.node, int(place)) for use, place in places)
    if one.source != other.source or not one.source or one.function.name or other.function.name:
        raise RejectedError("times of different rows")
    if one.low is None or one.high is None or other.low is None or other.high is None:
        raise RejectedError("times that are not near a row's")
    whole = _computed(facts, replace(claim, uses=uses[:-2]), found.node, expression)
    ends = measured.values(one.low - other.high, one.high - other.low)
    return whole.meet(between(*ends, null=True))


def _without(expression: Expression, nulls: frozenset[str]) -> Expression:
    """An expression with NULL for the fields that have no other value."""
    match expression:
        case Field(name, kind) if name in nulls:
            return Literal(Folded(None, kind))
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(_without(argument, nulls) for argument in arguments))
    return expression


def _of_function(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode) -> ValueSet:
    """Ranks begin with 1, counts with 0; aggregates are of their argument's values; buckets have ends."""
    match node.tree:
        case nodes.Over(calls=calls):
            call = calls[claim.column - node.below.width]
            numbers = window_function(call).gives is Gives.NUMBER
            if numbers or call.function == "COUNT":
                return between(int(numbers), None, null=False)
            return replace(ANYTHING, null=node.schema[claim.column].nullable)
        case nodes.Aggregate(keys=keys, calls=calls):
            return _aggregated(facts, claim, node, calls[claim.column - len(keys)], bool(keys))
        case nodes.Bucket():
            return ANYTHING.not_null()
    return ANYTHING


def _aggregated(
    facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, call: nodes.AggregateCall, grouped: bool
) -> ValueSet:
    """The values of an aggregate; if it is ``grouped``, there is a row, which a filter may not let pass."""
    found: Sequence[Expression | None] = [row_expression(one.syntax, node.below.schema) for one in computed_of(call)]
    values = [_computed(facts, claim, node.below, one) for one in found]
    there = grouped and call.filter is None and not any(one.null for one in values)
    if not grouped and facts.is_empty(node.below, claim.uses):  # of no rows
        return between(0, 0, null=False) if call.function == "COUNT" else ANYTHING
    if call.function == "COUNT":
        return between(int(there), _rows_of_relation(node.below), null=False)
    function = AGGREGATES.get(call.function)
    null = node.schema[claim.column].nullable and not (there and function is not None and function.of_one_value)
    if len(values) == 1 and function is not None and function.picks:
        return replace(values[0], null=null)
    low, high = values[0].ends if len(values) == 1 else (None, None)
    exact = found and found[0] is not None and found[0].kind.family in (Family.INTEGER, Family.DECIMAL)
    if call.function != "SUM" or not exact:
        return replace(ANYTHING, null=null)
    return between(0 if low is not None and low >= 0 else None, 0 if high is not None and high <= 0 else None, null)


def _rows_of_relation(node: PlanNode) -> int | None:
    """The most rows that are selected of a relation at a time."""
    while isinstance(node.tree, nodes.Filter | nodes.Alias | nodes.Project):
        node = node.below
    return None if node.table is None or node.table.kind is Kind.STREAM else node.table.rows


def value_set(claim: ClaimedValues, node: PlanNode, column: int) -> ValueSet:
    """A claimed set; ends are whole numbers where the type has no others."""
    kind = node.schema[column].type
    if claim.numbers is not None or claim.texts is not None:
        if claim.low is not None or claim.high is not None:
            raise RejectedError("values that are listed have no range")
        numbers = [int(one) if one.denominator == 1 else one for one in claim.numbers or ()]
        return ValueSet(listed=frozenset((*numbers, *(claim.texts or ()))), null=claim.null)

    def end(value: Fraction | None) -> int | Fraction | None:
        discrete = value is not None and value.denominator == 1 and kind is not None and kind.discrete
        return int(value) if discrete and value is not None else value

    return ValueSet(end(claim.low), end(claim.high), null=claim.null)
