"""The rows of a relation that does not change: ``δ₀(R)``, all at the first timestamp (Budiu et al., *DBSP*, §5.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streambound_runtime.operators.by_tick import Changes, Row, Ticks
from streambound_runtime.operators.circuit_plan import RelationNode
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import from_lines_of_json, lines_of_json
from streambound_runtime.operators.protocol import State
from streambound_runtime.row_values import Value

_TOLD = "told"


class StandingRelation:
    """The operator of a `RelationNode`. Whether its rows have come is no entry."""

    def __init__(self, plan: RelationNode, relations: Mapping[str, Sequence[Mapping[str, Value]]]) -> None:
        self.plan, self.told = plan, False
        self.rows: list[Row] = [tuple(row[name] for name in plan.columns) for row in relations[plan.table]]

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """All rows at the first timestamp that is closed, none later."""
        changes = Changes(self.plan.columns)
        if len(ticks.times) and not self.told:
            changes.add(int(ticks.times[0]), [(row, 1) for row in self.rows])
            self.told = True
        return changes.delta

    def entries(self) -> int:
        """Always 0."""
        return 0

    def dump(self) -> State:
        """Whether the rows have come."""
        return {_TOLD: lines_of_json([[self.told]])}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        ((told,),) = from_lines_of_json(state[_TOLD])
        self.told = bool(told)
