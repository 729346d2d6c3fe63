"""The stages of a circuit, in their order: each can be printed, and each prints what the one before does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from streambound.analyzer.catalog import Catalog, Kind
from streambound.incremental.circuit import Circuit
from streambound.incremental.passes.chain import chain
from streambound.incremental.passes.consolidate_distinct import consolidate_distinct
from streambound.incremental.passes.fuse_blocks import fuse_blocks
from streambound.incremental.passes.incrementalise import incrementalise
from streambound.incremental.passes.lift import lift
from streambound.incremental.passes.prune_by_time import Times, prune_by_time
from streambound.incremental.passes.share_integrals import share_integrals
from streambound.incremental.passes.simplify import simplify
from streambound.incremental.well_formed import verified


@dataclass(frozen=True, slots=True)
class CircuitPass:
    """A pass: its name, which is that of the stage behind it, what it does, and whether it is over streams.

    ``over``: what the circuit it takes is over: "Z-sets", "streams" of them, or "changes". ``makes``: what it makes.
    """

    name: str
    run: Callable[[Circuit, Times], Circuit]
    over: str
    makes: str


PASSES: tuple[CircuitPass, ...] = (
    CircuitPass("simplify", lambda circuit, times: simplify(circuit), "Z-sets", "Z-sets"),
    CircuitPass("consolidate_distinct", lambda circuit, times: consolidate_distinct(circuit), "Z-sets", "Z-sets"),
    CircuitPass("lift", lambda circuit, times: lift(circuit), "Z-sets", "streams"),
    CircuitPass("incrementalise", lambda circuit, times: incrementalise(circuit), "streams", "changes"),
    CircuitPass("chain", lambda circuit, times: chain(circuit), "changes", "changes"),
    CircuitPass("fuse_blocks", lambda circuit, times: fuse_blocks(circuit), "changes", "changes"),
    CircuitPass("prune_by_time", prune_by_time, "changes", "changes"),
    CircuitPass("share_integrals", lambda circuit, times: share_integrals(circuit), "changes", "changes"),
)
"""Algorithm 4.8, and what comes after it."""

TRANSLATE = "translate"
STAGE_NAMES = (TRANSLATE, *(one.name for one in PASSES))
"""The stages, in their order."""


@dataclass(frozen=True, slots=True)
class CircuitStage:
    """A circuit after a pass; ``over`` is what it is over: Z-sets, streams of views, or streams of changes."""

    name: str
    circuit: Circuit
    over: str


def stages(circuit: Circuit, times: Times) -> Iterator[CircuitStage]:
    """A translated circuit, and what each pass makes of it; raises CircuitError for one that is not well formed."""
    over = "Z-sets"
    yield CircuitStage(TRANSLATE, circuit, over)
    for one in PASSES:
        if one.over != over:
            raise AssertionError(f"{one.name} is over {one.over}, and the circuit over {over}")
        circuit, over = verified(one.run(circuit, times)), one.makes
        yield CircuitStage(one.name, circuit, over)


def timestamps(catalog: Catalog) -> dict[str, int]:
    """Where the timestamp is among the columns of each stream."""
    return {
        table.name: next(at for at, column in enumerate(table.columns) if column.name == table.timestamp)
        for table in catalog.tables
        if table.kind is Kind.STREAM
    }
