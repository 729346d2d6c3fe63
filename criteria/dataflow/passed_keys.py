"""The keys of punctuations that a statement's results hold (`propagate` of Tucker et al.), and where."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.changes import StreamKey
from streambound.criteria.dataflow.each_key import with_one_key
from streambound.criteria.dataflow.final import changing
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.key_places import ending_keys, key_places
from streambound.criteria.dataflow.state import Operation, Retention


def passed_keys(judgement: Judgement, final: bool) -> Iterator[tuple[StreamKey, tuple[int, ...]]]:
    """The keys whose punctuations results pass on, with the places of their attributes.

    Where rows of different keys never meet, no row of a key changes a result after its punctuation (K3). What is
    ``final`` is printed by then only if it goes with the key.
    """
    tree, context = judgement.operation.tree, judgement.context
    for key in ending_keys(tree, context):
        places = key_places(tree, with_one_key(context, key), len(key.attributes))
        if places is None or not all(places):
            continue
        waiting = changing(judgement.operation, judgement) if final else ()
        if all(of_one_key or _goes_with(key, one) for one, of_one_key in waiting):
            yield key, tuple(map(min, places))


def _goes_with(key: StreamKey, one: Operation) -> bool:
    """Whether what an operator keeps goes when a key ends."""
    counts = [state.count for state in one.states]
    return all(
        count is not None
        and count.retention is Retention.KEY
        and count.held is not None
        and count.held.key.name == key.name
        for count in counts
    )
