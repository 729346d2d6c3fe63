"""The stages of a circuit, in their order: each can be printed, and each prints what the one before does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from streambound.incremental.circuit import Circuit
from streambound.incremental.passes.chain import chain
from streambound.incremental.passes.consolidate_distinct import consolidate_distinct
from streambound.incremental.passes.incrementalise import incrementalise, lift
from streambound.incremental.passes.simplify import simplify
from streambound.incremental.well_formed import verified


class CircuitPass(Struct, frozen=True):
    """A pass: its name, which is that of the stage behind it, what it does, and whether it is over streams.

    ``over``: what the circuit it takes is over: "Z-sets", "streams" of them, or "changes". ``makes``: what it makes.
    """

    name: str
    run: Callable[[Circuit], Circuit]
    over: str
    makes: str


PASSES: tuple[CircuitPass, ...] = (
    CircuitPass("simplify", simplify, "Z-sets", "Z-sets"),
    CircuitPass("consolidate_distinct", consolidate_distinct, "Z-sets", "Z-sets"),
    CircuitPass("lift", lift, "Z-sets", "streams"),
    CircuitPass("incrementalise", incrementalise, "streams", "changes"),
    CircuitPass("chain", chain, "changes", "changes"),
)
"""Algorithm 4.8."""

TRANSLATE = "translate"
STAGE_NAMES = (TRANSLATE, *(one.name for one in PASSES))
"""The stages, in their order."""


class CircuitStage(Struct, frozen=True):
    """A circuit after a pass; ``over`` is what it is over: Z-sets, streams of views, or streams of changes."""

    name: str
    circuit: Circuit
    over: str


def stages(circuit: Circuit) -> Iterator[CircuitStage]:
    """A translated circuit, and what each pass makes of it; raises CircuitError for one that is not well formed."""
    over = "Z-sets"
    yield CircuitStage(TRANSLATE, circuit, over)
    for one in PASSES:
        if one.over != over:
            raise AssertionError(f"{one.name} is over {one.over}, and the circuit over {over}")
        circuit, over = verified(one.run(circuit)), one.makes
        yield CircuitStage(one.name, circuit, over)
