"""A select-project-join block whose synopsis the columnar kernel keeps."""

from __future__ import annotations

from collections.abc import Mapping

from streambound_runtime.operators.circuit_plan import BlockNode
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.protocol import State
from streambound_runtime.operators.synopsis import SynopsisJoin
from streambound_runtime.row_values import Value

Relations = Mapping[str, list[dict[str, Value]]]


class BlockOperator:
    """The synopsis of a block; it reads streams. Of what has no name only the timestamps count, which are closed."""

    def __init__(self, plan: BlockNode, relations: Relations) -> None:
        self.synopsis = SynopsisJoin(plan.synopsis, relations)
        self.streams = {scan.table for branch in plan.synopsis.branches for scan in branch.scans}

    def step_of(self, deltas: Mapping[str, Delta]) -> Delta:
        """Close timestamps of the streams' rows."""
        mine = {name: delta for name, delta in deltas.items() if name in self.streams or not name}
        return self.synopsis.step(mine)

    def entries(self) -> int:
        """Those of the synopsis."""
        return self.synopsis.entries()

    def dump(self) -> State:
        """The synopsis' tables."""
        return self.synopsis.dump()

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.synopsis.load(state)
