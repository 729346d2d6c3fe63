"""Fixpoint: the least relation that holds its base, and what its step makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from streambound.analyzer.algebra.view_facts import ViewFacts, ViewKind

_EXACT_ROUNDS = 3
"""Rounds after which ends that still grow are left open."""


def fixpoint(base: ViewFacts, step: Callable[[ViewFacts], ViewFacts], distinct: bool) -> ViewFacts:
    """The least facts that hold of the base, and of the step of what has them (Kleene's iteration, with widening).

    What is added to the base adds to the result, if each step is monotonic. How many rows there are, only their values
    say.
    """
    found = replace(base, keys=(), rows=None, state=0).settled
    for turn in range(_EXACT_ROUNDS + 2 * len(base.columns) + len(ViewKind) + 1):
        made = replace(step(found), keys=(), rows=None, state=0).settled
        if made.within(found):
            break
        found = found.join(made, widen=turn >= _EXACT_ROUNDS)
    else:
        found = ViewFacts()
    if not distinct:
        return replace(found, state=None)
    number = found.different if found.columns else None
    return replace(found, rows=number, state=number).settled
