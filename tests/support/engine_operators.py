"""One operator of the engine alone, over rows with weights that its inputs are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streambound_runtime.engine.block_tables import RowsOfStream
from streambound_runtime.engine.loop import Engine
from streambound_runtime.engine.plan import CircuitPlan, SqlOperator
from streambound_runtime.engine.tables import places
from streambound_runtime.operators.delta import delta_of
from support.circuits import InOrder, rows_of


class OneOperator:
    """An operator with the types of the columns of each of its inputs, which are streams here; it is saved and loaded
    between any two ticks.
    """

    def __init__(self, operator: SqlOperator, *inputs: Sequence[str]) -> None:
        rows = (
            RowsOfStream(name, name, places(len(types)), tuple(types))
            for name, types in zip(operator.inputs, inputs, strict=True)
        )
        self.plan = CircuitPlan(places(len(operator.types)), 0, (*rows, operator))
        self.engine = self.started()

    def started(self) -> Engine:
        def nothing(*given: Any) -> Any:
            raise AssertionError("nothing is computed beside the operator")

        return Engine(self.plan, {}, nothing)

    def tick(self, *inputs: InOrder) -> InOrder:
        """The changes of a tick, of the rows of each input: when, how often, and their values."""
        given = {
            one.name: delta_of([(time, n, values) for time, n, values in mine], places(len(one.types)))
            for one, mine in zip(self.plan.operators[:-1], inputs, strict=True)
        }
        found = rows_of(self.engine.step(given))
        state, self.engine = self.engine.dump(), self.started()
        self.engine.load(state)
        return found
