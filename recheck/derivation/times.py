"""Facts about times: how far a column is from the time of a row, or of a change, each by one rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.nodes import JoinKind
from streambound.analyzer.algebra.row_expressions import row_expression
from streambound.analyzer.algebra.window_functions import farthest_ahead, looks_back, operands
from streambound.analyzer.catalog import Kind
from streambound.analyzer.types import Family
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.derivation import atoms
from streambound.recheck.derivation.buckets import THE_TIME, FunctionOfTime, window_end
from streambound.recheck.derivation.claims import ClaimedFact, ClaimedPoint, ClaimedTime, NotCheckedError
from streambound.recheck.derivation.facts import SIDES, CheckedFacts, TimeFact, moved_up
from streambound.recheck.derivation.plan import PlanNode, is_session, origin, pairs
from streambound.recheck.derivation.rows import never_changes, newest_of, only_adds, only_grows, sources, version_of
from streambound.recheck.derivation.values import is_padded, require_no_rows

_FAMILIES = (Family.INTEGER, Family.DATE, Family.TIMESTAMP)


def time_of_column(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """The fact about the time in a column that follows from the facts a claim uses."""
    if claim.rule not in _RULES:
        raise NotCheckedError(f"times by the rule {claim.rule!r}")
    if isinstance(node.tree, nodes.Join) and time.source not in ("", *SIDES, *sources(node)):
        raise RejectedError("a time of what no row is made of")
    if not time.source and _changes_with_version(node):
        raise RejectedError("when a row changes that changes with a relation until its time")
    return _RULES[claim.rule](facts, claim, node, time)


def _changes_with_version(node: PlanNode) -> bool:
    """Whether a node's rows are of a relation as of a time that may be over later than they come (E3)."""
    if not isinstance(node.tree, nodes.Join):
        return False
    return version_of(node.input("right")) is not None and not only_grows(node.input("left"))


def _first(claim: ClaimedFact) -> int | None:
    """The fact that a claim begins with."""
    return claim.uses[0] if claim.uses else None


def _none(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """Of no rows anything is true."""
    require_no_rows(facts, claim, node)
    return TimeFact(time.source, time.low, time.high, FunctionOfTime(time.function, time.width))


def _declared(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A stream's row comes at the time that it carries."""
    table = node.table
    if table is None or table.kind is not Kind.STREAM or table.columns[claim.column].name != table.timestamp:
        raise RejectedError("a time of no stream")
    if time.source not in ("", "row"):
        raise RejectedError("a time of another source")
    return TimeFact(time.source, 0, 0)


def _passed(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A column of an input, as it is; rows change when those of the input do, if the operator is such a one."""
    found = origin(node, claim.column)
    if found is None or found.column is None or len(claim.uses) != 1:
        raise RejectedError("a column that comes from no other one")
    fact = facts.time(claim.uses[0], found.node, found.column, time.beside)
    if not isinstance(node.tree, nodes.Over) or fact.source:
        return moved_up(fact, node, found)
    # rows of windows change with others of their partition, or with those before them: never with later ones
    there = [not facts.values(one, node.below, claim.column).null for one in claim.present]
    partitions = [claim.column in map(node.below.place_of, call.partition) for call in node.tree.calls]
    orders = [looks_back(c) and node.below.place_of(c.order[0].value) == claim.column for c in node.tree.calls]
    by = any(there) and all(one or order for one, order in zip(partitions, orders, strict=True))
    return fact if only_adds(node) or all(partitions) or by else replace(fact, low=None)


def _computed(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A function of a time, as `buckets` knows them."""
    found, column = origin(node, claim.column), facts.column_of(_first(claim))
    if found is None or found.expression is None:
        raise RejectedError("a column that is no expression")
    expression = row_expression(found.expression, found.node.schema)
    row = replace(found, column=column)
    fact = None if expression is None else facts.computed(expression, column, row, claim.uses, node)
    if fact is None:
        raise NotCheckedError(f"the time {found.expression.sql('spark')}")
    function, kind = fact.function, node.schema[claim.column].type
    is_time = not time.function and not facts.times[claim.uses[0]].function.name
    if not is_time or function.unit is None or kind is None or kind.family is not Family.TIMESTAMP:
        return fact
    return replace(fact, function=THE_TIME).moved(fact.source, 1 - function.width, 0)  # it begins before a time in it


def _window(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """An end of a bucket around a time, which is at most the bucket's size before or after."""
    if not isinstance(node.tree, nodes.Bucket) or claim.column < node.below.width:
        raise RejectedError("an end of no bucket")
    place, which = node.below.place_of(node.tree.time), claim.column - node.below.width
    fact = facts.time(_first(claim), node.below, -1 if place is None else place)
    if fact.function.name or (is_session(node.tree) and fact.source):
        raise NotCheckedError("buckets of buckets, or when a session changes by its rows")
    if is_session(node.tree):  # it changes when a row of it comes, which is before its end, and after its begin
        more = -1 if which == 2 else 0
        return fact.moved("", more if which else None, node.tree.size + more if which else 0)
    source = fact.source and f"input.{fact.source}"
    earlier, later, function = window_end(node.tree, which, exact=bool(time.function))
    return replace(fact.moved(source, earlier, later), function=function)


def _ahead(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """LEAD of the time at which rows come: a row changes for the last time when the farthest row comes that it shows.

    All functions over the row look back by that time, or ahead to rows of the same window.
    """
    below, tree = node.below, node.tree
    if not isinstance(tree, nodes.Over) or claim.column < below.width or time.source or not only_grows(below):
        raise RejectedError("a row ahead of what has none")
    call, column = tree.calls[claim.column - below.width], facts.column_of(_first(claim))
    back = [one for one in tree.calls if looks_back(one) and below.place_of(one.order[0].value) == column]
    of = [below.place_of(one) for one in (*operands(call), *(one.value for one in call.order[:1]))]
    if of != [column, column] or not facts.time(_first(claim), below, column).is_now:
        raise RejectedError("a row ahead in another order, or not its time")
    if not farthest_ahead(call, [one for one in tree.calls if one not in back]):
        raise RejectedError("a row that changes after that")
    return TimeFact("", 0, 0)


def _path(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """How far a column is from a source's time, by paths there and back, or from another one's, of which a fact is."""
    kind, there = node.schema[claim.column].type, claim.present
    if not isinstance(node.tree, nodes.Filter | nodes.Join if time.source else nodes.Filter):
        raise RejectedError("a path in what has no condition, or to no row's time")
    if claim.uses:
        fact = facts.time(claim.uses[0], node, claim.column)
        mine = ClaimedPoint(source=fact.source or None)
    else:
        fact, mine = TimeFact("", 0, 0), ClaimedPoint(column=claim.column)
    if mine.source is None and (claim.uses or kind is None or kind.family not in _FAMILIES):
        raise RejectedError("a path of what is no time")
    later = facts.path(claim.low, ClaimedPoint(source=time.source), mine, node, there, time.beside)
    earlier = facts.path(claim.high, mine, ClaimedPoint(source=time.source), node, there, time.beside)
    return replace(fact.moved(time.source, None if later is None else -later, earlier), beside=time.beside)


def _equal(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A column that an atom makes equal to another one of its type, or so far from it, of which the fact is."""
    if len(claim.atoms) != 1:
        raise RejectedError("a column that equals no other one")
    other, part = facts.column_of(_first(claim)), facts.atom(node, claim.atoms[0])
    fact, said = facts.time(_first(claim), node, other), set(atoms.differences(part, node.row))
    more = next((c for x, y, c in said if (x, y) == (claim.column, other) and (y, x, -c) in said), None)
    if atoms.equal(part, node.row) == {claim.column, other}:
        more = 0
    length = fact.function.apart
    if more is None or (more and length is None) or node.row[claim.column].type != node.row[other].type:
        raise RejectedError("a column that equals no other one")
    return fact.moved(fact.source, more * (length or 0), more * (length or 0))


def _latest(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A row that comes with the newest of those that it is made of, or a pair that changes with the later side."""
    times = [facts.time(one, node, claim.column) for one in claim.uses]
    inner = isinstance(node.tree, nodes.Join) and node.tree.kind is JoinKind.INNER
    changing = [f"{name}." for name, side in node.inputs.items() if inner and not never_changes(side)]
    of_rows = bool(times) and times[0].source not in SIDES
    if of_rows and isinstance(node.tree, nodes.Filter | nodes.Join):
        changing = [*newest_of(node)]
    if time.source or not times or sorted(one.source for one in times) != sorted(changing):
        raise RejectedError("a row changes with each of those that it is made of")
    highs = [one.high for one in times if one.high is not None]
    return replace(_either(times), high=min(highs, default=None))


def _paired(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A column of a join that is there with a partner only: what holds of pairs; of others, where there is one."""
    fact = facts.time(_first(claim), pairs(node), claim.column, time.beside)
    kind = node.tree.kind if isinstance(node.tree, nodes.Join) and not node.tree.using else JoinKind.ANTI
    if time.beside and _is_pair_beside(node, kind, claim.column, time.source):
        return replace(fact, beside=True)
    always = kind in (JoinKind.INNER, JoinKind.SEMI) or is_padded(node, claim.column)
    if time.beside or not always or fact.source not in ("", *sources(node)):
        raise RejectedError("rows without a partner are no pairs")
    return fact


def _is_pair_beside(node: PlanNode, kind: JoinKind, column: int, source: str) -> bool:
    """Whether a row of an outer join that has a column, and a row of a source, is a pair."""
    of_left, in_left = source.startswith("left."), column < node.input("left").width
    sides = {JoinKind.LEFT: not of_left, JoinKind.RIGHT: of_left, JoinKind.FULL: of_left is not in_left}
    return source in sources(node) and sides.get(kind, False)


def _kept(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """A row that is there without a partner, too: it changes at its own time, or when a pair of it does."""
    of_left, of_right = (JoinKind.LEFT, JoinKind.ANTI, JoinKind.NOT_IN, JoinKind.FULL), (JoinKind.RIGHT, JoinKind.FULL)
    found = origin(node, claim.column)
    kinds = of_left if found is not None and found.name == "left" else of_right
    if not isinstance(node.tree, nodes.Join) or found is None or node.tree.kind not in kinds:
        raise RejectedError("a row that is not kept")
    both, own = pairs(node), not found.node.never_changes
    alone, of_pairs = claim.uses[: int(own)], claim.uses[int(own) :]
    times = [facts.time(one, found.node, found.column or 0) for one in alone]
    times += [facts.time(one, both, claim.column) for one in of_pairs]
    if len(alone) < own or len(of_pairs) != (not facts.is_empty(both, claim.present)):
        raise RejectedError("when a row changes is not what the times are about")
    return _change(times)


def _sides(facts: CheckedFacts, claim: ClaimedFact, node: PlanNode, time: ClaimedTime) -> TimeFact:
    """When the rows of both sides change: what is made of them changes then."""
    is_set = isinstance(node.tree, nodes.Union | nodes.Except | nodes.Intersect)
    sides = [*node.inputs.values()] if is_set else []
    changing = [side for side in sides if not side.never_changes]
    if len(claim.uses) != len(changing) or len({side.schema[claim.column].type for side in sides}) != 1:
        raise RejectedError("sides of what has none, or of different types")
    return _change([facts.time(use, side, claim.column) for use, side in zip(claim.uses, changing, strict=True)])


def _change(times: Sequence[TimeFact]) -> TimeFact:
    """The fact about a change that happens at one of some times."""
    if not times or any(one.source for one in times):
        raise RejectedError("when a row changes is not what the times are about")
    return _either(times)


def _either(facts: Iterable[TimeFact]) -> TimeFact:
    """The fact that holds where one of some facts does, as for a change."""
    several = list(facts)
    if len({one.function.name for one in several}) > 1:
        raise RejectedError("different functions of time")
    lows, highs = [one.low for one in several], [one.high for one in several]
    low = None if None in lows else min(one for one in lows if one is not None)
    high = None if None in highs else max(one for one in highs if one is not None)
    return TimeFact("", low, high, max((one.function for one in several), key=lambda one: one.width))


TimeRule = Callable[[CheckedFacts, ClaimedFact, PlanNode, ClaimedTime], TimeFact]
_RULES: Mapping[str, TimeRule] = MappingProxyType({
    "declared": _declared,
    "passed": _passed,
    "computed": _computed,
    "window": _window,
    "ahead": _ahead,
    "path": _path,
    "equal": _equal,
    "latest": _latest,
    "paired": _paired,
    "kept": _kept,
    "sides": _sides,
    "none": _none,
})  # fmt: skip
"""The rules of facts about times."""
