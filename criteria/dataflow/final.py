"""Mode `final`: whether each result becomes one that does not change any more (correction M2)."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.state import DecidedBlock, Operation, Retention

_WAITS_LEFT = frozenset({nodes.JoinKind.LEFT, nodes.JoinKind.FULL, nodes.JoinKind.SEMI, nodes.JoinKind.ANTI})
_WAITS_RIGHT = frozenset({nodes.JoinKind.RIGHT, nodes.JoinKind.FULL})


def never_final(judgement: Judgement) -> Operation | None:
    """The operator whose results are not known to become final; None where all do.

    Results that are never taken back are final when they are printed. Groups of a bucket of time that closes (A5), or
    of a key that a punctuation ends (K1, K3), are final when it is over; what is computed of them is so, too, also with
    relations that do not change. Rows that wait for a partner are, when none comes any more (B2).
    """
    waiting = changing(judgement.operation, judgement)
    return next((one for one, key_ends in waiting if not _settles(one, key_ends)), None)


def takes_back(judgement: Judgement) -> bool:
    """Whether results may be taken back: not those of rows that wait for partners which can only have come before."""
    return any(not _never_waits(one) for one, _ in changing(judgement.operation, judgement))


def changing(one: Operation, judgement: Judgement, key_ends: bool = False) -> Iterator[tuple[Operation, bool]]:
    """The operators that may take results back, and whether each is of one key that ends.

    What is computed of rows one by one, or of them and relations that do not change, changes as these rows do.
    """
    if one.each_key is not None:
        yield from changing(one.each_key.operation, judgement, key_ends=True)
        return
    if judgement.context.views.of(one.tree).change <= ViewKind.APPEND_ONLY:
        return
    match one.tree:
        case nodes.Filter() | nodes.Project() | nodes.Alias() | nodes.SpjBlock() | nodes.Bucket():
            yield from changing(one.inputs[0], judgement, key_ends)
        case nodes.Union(distinct=False):
            for side in one.inputs:
                yield from changing(side, judgement, key_ends)
        case nodes.Join(kind=nodes.JoinKind.INNER | nodes.JoinKind.LEFT, right=right) if one.rows is None and is_static(
            right, judgement.context.catalog
        ):
            yield from changing(one.inputs[0], judgement, key_ends)
        case _:
            yield one, key_ends


def _settles(one: Operation, key_ends: bool) -> bool:
    """Whether each result of an operator becomes one that does not change any more."""
    match one.tree:
        case nodes.Join(kind=kind) if one.rows is not None:
            return None not in _lags(kind, one.rows)
        case nodes.Aggregate():
            return key_ends or _groups_end(one)
    return False


def _never_waits(one: Operation) -> bool:
    """Whether partners of a row can only have come before it."""
    if not isinstance(one.tree, nodes.Join) or one.rows is None:
        return False
    return all(lag is not None and lag <= 0 for lag in _lags(one.tree.kind, one.rows))


def _groups_end(one: Operation) -> bool:
    """Whether the groups themselves go, and not only values of theirs."""
    counts = (state.count for state in one.states if state.what == "groups")
    return any(count is not None and count.retention in (Retention.TIME, Retention.KEY) for count in counts)


def _lags(kind: nodes.JoinKind, found: DecidedBlock) -> list[int | None]:
    """How much later a partner may come than each row that waits for one; None for ever.

    A join without cases matches nothing, so that no row waits.
    """
    if not found.read.split.branches:
        return []
    facts = Facts.of(found.read.split.branches[0])
    left, right = (source.alias for source in found.read.split.branches[0].sources)
    waiting = [(left, right)] * (kind in _WAITS_LEFT) + [(right, left)] * (kind in _WAITS_RIGHT)
    return [facts.lag(partner, row) for row, partner in waiting]
