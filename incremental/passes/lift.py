"""Lifting: a query over Z-sets as one over streams of them, tick by tick (DBSP, definition 2.5)."""

from __future__ import annotations

from dataclasses import replace

from streambound.incremental.circuit import Circuit
from streambound.incremental.passes.rewriting import in_bodies


def lift(circuit: Circuit) -> Circuit:
    """``Q  ->  ↑Q``: the same operators under one more clock."""
    deeper = in_bodies(circuit, lambda body: replace(body, clock_depth=body.clock_depth + 1))
    return replace(deeper, clock_depth=circuit.clock_depth + 1)
