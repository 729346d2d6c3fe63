"""Where the rows of an operator hold a key that ends, so that rows of different keys never meet (proposition K3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.clock import scans
from streambound.analyzer.algebra.sources import version_of
from streambound.analyzer.algebra.substitution import values_of
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.changes import StreamKey
from streambound.analyzer.query import Attribute, Branch
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.dataflow.blocks import RuleContext, read_block
from streambound.criteria.dataflow.state import Undecided
from streambound.criteria.dataflow.view import Places, place_of
from streambound.criteria.dataflow.views import equalities

KeyPlaces = tuple[Places, ...]
"""For each attribute of the key, the columns that hold it in every row."""


def ending_keys(tree: nodes.Tree, context: RuleContext) -> Iterator[StreamKey]:
    """The keys of a tree's streams that end."""
    tables = (context.catalog.table(scan.table) for scan in scans(tree))
    yield from {key.name: key for table in tables if table is not None for key in table.ending}.values()


def key_places(tree: nodes.Tree, context: RuleContext, width: int) -> KeyPlaces | None:
    """The columns of a tree that hold the key; None where rows of different keys meet in it."""
    if context.is_block(tree):
        return _of_block(tree, context, width)

    def below(one: nodes.Tree) -> KeyPlaces | None:
        return key_places(one, context, width)

    match tree:
        case nodes.Filter(input) | nodes.Alias(input) | nodes.SpjBlock(input):
            return below(input)
        case nodes.Project(input):
            given = context.views.of(input)
            shown = enumerate(values_of(tree.items, given.schema))
            return _moved(below(input), {n: place_of(value, given) for n, value in shown})
        case nodes.Bucket(input, kind) if kind is not nodes.BucketKind.SESSION:
            return below(input)
        case nodes.Distinct(input):
            return _known(below(input))
        case nodes.Union(left, right, distinct):
            both = _common([below(left), below(right)])
            return _known(both) if distinct else both
        case nodes.Except(left, right) | nodes.Intersect(left, right):
            return _known(_common([below(left), below(right)]))
        case nodes.Aggregate(input, keys):
            given = context.views.of(input)
            return _known(_moved(below(input), {n: place_of(key.value.syntax, given) for n, key in enumerate(keys)}))
        case nodes.Over(input, calls):
            found, given = below(input), context.views.of(input)
            partitions = [{place_of(one.syntax, given) for one in call.partition} for call in calls]
            held = found is not None and all(one & places for places in partitions for one in found)
            return found if held else None
        case nodes.Join():
            return _of_join(tree, context, width)
    return None


def _known(found: KeyPlaces | None) -> KeyPlaces | None:
    """The same where each attribute is held by a column, which what is compared then has."""
    return found if found is not None and all(found) else None


def _common(several: Iterable[KeyPlaces | None]) -> KeyPlaces | None:
    """The columns that hold the key in all of several inputs, whose columns are at the same places."""
    every = list(several)
    known = [one for one in every if one is not None]
    if len(known) < len(every):
        return None
    return tuple(frozenset.intersection(*ones) for ones in zip(*known, strict=True))


def _moved(found: KeyPlaces | None, shown: Mapping[int, int | None]) -> KeyPlaces | None:
    """The columns that hold the key, where columns are those of an input's at these places."""
    if found is None:
        return None
    return tuple(frozenset(place for place, of in shown.items() if of in one) for one in found)


def _of_join(tree: nodes.Join, context: RuleContext, width: int) -> KeyPlaces | None:
    """The columns of a join of rows of one key: the condition makes those of both sides equal, or a side has no key."""
    if tree.using or tree.kind is nodes.JoinKind.NOT_IN:
        return None
    shift = len(context.views.of(tree.left).schema)
    if _has_no_key(tree.right, context):
        left_kinds = (nodes.JoinKind.INNER, nodes.JoinKind.LEFT, nodes.JoinKind.SEMI, nodes.JoinKind.ANTI)
        return key_places(tree.left, context, width) if tree.kind in left_kinds else None
    right = _shifted(key_places(tree.right, context, width), shift)
    if is_static(tree.left, context.catalog):
        return right if tree.kind in (nodes.JoinKind.INNER, nodes.JoinKind.RIGHT) else None
    left = key_places(tree.left, context, width)
    if left is None or right is None:
        return None
    pair = context.views.pairs(tree)
    equal = [{place_of(one.left, pair), place_of(one.right, pair)} for one in equalities(tree.condition)]
    if not all(any(two & mine and two & theirs for two in equal) for mine, theirs in zip(left, right, strict=True)):
        return None
    match tree.kind:
        case nodes.JoinKind.INNER:
            return tuple(mine | theirs for mine, theirs in zip(left, right, strict=True))
        case nodes.JoinKind.RIGHT:
            return right
        case nodes.JoinKind.FULL:
            return tuple(frozenset[int]() for _ in left)
    return left


def _has_no_key(tree: nodes.Tree, context: RuleContext) -> bool:
    """Whether a side is the same for rows of all keys, at whatever time they are looked at."""
    return is_static(tree, context.catalog) or version_of(tree) is not None


def _shifted(found: KeyPlaces | None, by: int) -> KeyPlaces | None:
    return None if found is None else tuple(frozenset(place + by for place in one) for one in found)


# --- blocks -----------------------------------------------------------------------------------------------------------


def _of_block(tree: nodes.Tree, context: RuleContext, width: int) -> KeyPlaces | None:
    distinct = isinstance(tree, nodes.Distinct) or (isinstance(tree, nodes.Union) and tree.distinct)
    read = read_block(tree, None, context, distinct)
    if isinstance(read, Undecided):
        return None
    columns = len(context.views.of(tree).schema)
    if not read.split.branches:  # it has no rows
        return tuple(frozenset(range(columns)) for _ in range(width))
    found = _common(_of_branch(branch, columns, width) for branch in read.split.branches)
    return _known(found) if distinct else found


def _of_branch(branch: Branch, columns: int, width: int) -> KeyPlaces | None:
    """The columns that hold the key in a branch; None where its streams can have different keys."""
    streams, facts = branch.streams, Facts.of(branch)
    if any(source.one_key is None for source in streams):
        return None
    values = [output.value for output in branch.outputs[:columns]]
    found = list[Places]()
    for number in range(width):
        mine = [Attribute(s.alias, s.one_key.attributes[number]) for s in streams if s.one_key is not None]
        if any(other not in facts.equal_to(mine[0]) or facts.difference(mine[0], other) for other in mine[1:]):
            return None
        found.append(frozenset(place for place, value in enumerate(values) if value in mine))
    return tuple(found)
