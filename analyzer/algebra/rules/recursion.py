"""Fixpoint: the least relation that holds its base, and what its step makes of it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from streambound.analyzer.algebra.view_facts import ViewFacts, ViewKind

_EXACT_ROUNDS = 3
"""Rounds after which ends that still grow are left open."""


def fixpoint(base: ViewFacts, step: Callable[[ViewFacts], ViewFacts], distinct: bool) -> ViewFacts:
    """The least facts that hold of the base, and of the step of what has them (Kleene's iteration, with widening).

    Ends that were left open close again where a condition of the step limits them (narrowing). What is added to the
    base adds to the result, if each step is monotonic. How many rows there are, only their values say.
    """
    found = start = replace(base, keys=(), rows=None, state=0).settled
    for turn in range(_EXACT_ROUNDS + 2 * len(base.columns) + len(ViewKind) + 1):
        made = replace(step(found), keys=(), rows=None, state=0).settled
        if made.within(found):
            break
        found = found.join(made, widen=turn >= _EXACT_ROUNDS)
    else:
        found, made = ViewFacts(), ViewFacts()
    for _ in found.columns:
        closer = start.join(made)
        if found.within(closer):
            break
        found, made = closer, replace(step(closer), keys=(), rows=None, state=0).settled
    if not distinct:
        return replace(found, state=None)
    number = found.different if found.columns else None
    return replace(found, rows=number, state=number).settled
