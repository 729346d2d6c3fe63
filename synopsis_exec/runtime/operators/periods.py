"""The node of a circuit that evaluates a SEQ TP block over streams: each step closes an epoch."""

from __future__ import annotations

from collections.abc import Sequence

from streambound_runtime.engine.arrow import delta_of as delta_of_table
from streambound_runtime.engine.arrow import table_of
from streambound_runtime.engine.slice_tables import Compute
from streambound_runtime.engine.tables import engine_type
from streambound_runtime.operators.by_tick import Ticks
from streambound_runtime.operators.circuit_plan import MapNode, PeriodNode
from streambound_runtime.operators.delta import Delta, delta_of
from streambound_runtime.operators.entries import State, from_lines_of_json, lines_of_json
from streambound_runtime.operators.epochs.fragments import Fragment, FragmentRow
from streambound_runtime.operators.epochs.lineages import LineageOperator
from streambound_runtime.operators.epochs.plan import EpochJoin, EpochLineage, EpochMap
from streambound_runtime.operators.epochs.rows import RelationTables
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value

_ENTRIES = "entries"
_PASSING = (("passes", "int"),)


class LineageWindows:
    """The operator of a `PeriodNode` with lineages: rows begin at their timestamps and end at their last column."""

    def __init__(self, plan: PeriodNode, relations: RelationTables, compute: Compute) -> None:
        self.plan, self.compute = plan, compute
        assert isinstance(plan.query, EpochLineage), "rows without lineages are evaluated in SQL"
        self.query = LineageOperator(plan.query, relations, self._computed, self._passes)

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """Close the epoch up to the frontier; results are at their ends."""
        arrived = {name: _fragments(delta) for name, delta in zip(self.plan.inputs, inputs, strict=True)}
        found = list[Fragment]()
        if ticks.over or ticks.frontier is not None:
            found = self.query.step(None if ticks.over else ticks.frontier, arrived)
        return delta_of([(one[2], one[3], self.query.shown(one)) for one in found], self.plan.columns)

    def _computed(self, plan: EpochMap, rows: Sequence[FragmentRow]) -> list[FragmentRow | None]:
        places = plan.picks
        if places is not None:
            return [tuple(row[place] for place in places) for row in rows]
        node = MapNode(
            self.plan.name, "", plan.given, plan.columns, plan.expressions, plan.where, plan.engine, plan.engine_where
        )
        found: list[FragmentRow | None] = [None] * len(rows)
        for place, row in self._evaluated(node, rows):
            found[place] = row
        return found

    def _passes(self, plan: EpochJoin, rows: Sequence[FragmentRow]) -> list[bool]:
        node = MapNode(self.plan.name, "", plan.given, _PASSING, ("1",), plan.condition, ("1",), plan.engine)
        found = [False] * len(rows)
        for place, _ in self._evaluated(node, rows):
            found[place] = True
        return found

    def _evaluated(self, node: MapNode, rows: Sequence[FragmentRow]) -> list[tuple[int, FragmentRow]]:
        """What is computed of rows, each with its row's place, which stands for its timestamp."""
        if not rows:
            return []
        names, types = zip(*node.given, strict=True) if node.given else ((), ())
        delta = delta_of([(place, 1, row) for place, row in enumerate(rows)], names)
        table = self.compute(node, table_of(delta, list(map(engine_type, types))))
        found = delta_of_table(table, [name for name, _ in node.columns])
        return list(zip(found.time.tolist(), found.rows(), strict=True))

    def open_since(self) -> int | None:
        """When the oldest result row has begun that is not printed."""
        return self.query.open_since()

    def entries(self) -> int:
        """Those of the query's operators."""
        return self.query.entries()

    def dump(self) -> State:
        """The frontier, the open rows and the operators' entries."""
        return {_ENTRIES: lines_of_json(self.query.dump())}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.query.load(from_lines_of_json(state[_ENTRIES]))


def _fragments(delta: Delta) -> list[Fragment]:
    """Rows with their periods."""
    found = zip(delta.rows(), delta.time.tolist(), delta.weights().tolist(), strict=True)
    return [(_plain(row[:-1]), begin, integer(row[-1]), count) for row, begin, count in found]


def _plain(row: tuple[Value, ...]) -> FragmentRow:
    """A zero without a sign; a stream has no NaN."""
    return tuple(value + 0.0 if isinstance(value, float) else value for value in row)
