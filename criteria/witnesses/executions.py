"""A statement executed on many sets of rows that have most of their rows in common.

What operators do to each row alone is done once for each row, since they are linear (DBSP, section 3). Rows of which
they leave the same are the same to the rest of the statement, whose result is worked out once for each bag of those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

from msgspec import Struct

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.expressions.evident import plain_value
from streambound.analyzer.work import spend
from streambound.criteria.results import Row
from streambound.criteria.witness import Witness
from streambound.criteria.witnesses.executed import Executed
from streambound.incremental.circuit import Circuit, CircuitBuilder, CircuitNode
from streambound.incremental.evaluate import SourceChange, evaluate_once, together
from streambound.incremental.operators import BucketsOp, FilterOp, Group, MapOp, NegateOp, PlusOp, SourceOp, SumsOp
from streambound.incremental.passes.rewriting import copied, rewritten
from streambound.incremental.translate import translate
from streambound.incremental.zset import KeyedSums, ZSet

_BY_ROW = (SourceOp, FilterOp, MapOp, BucketsOp, NegateOp, PlusOp, SumsOp)
"""Operators whose result is the sum of those of each row alone."""
_STEPS_A_ROW = 5

Images = tuple[bool, tuple[int, ...]]
"""Some rows: whether one of them has a time, and the numbers of what is left of those that are not dropped."""


class Executions:
    """A statement, and its results so far.

    Raises Untranslatable where it cannot be executed; its methods raise Fails, NotKnown, ZeroDivisionError and
    NoFixpointError where it has no value.
    """

    def __init__(self, statement: Executed) -> None:
        self._catalog = statement.catalog
        self._whole = translate(statement.tree, statement.catalog, statement.queries)
        self._alone = _alone(self._whole)
        self._ends, self._rest = _rest(self._whole, self._alone)
        self._nothing = [_nothing(self._whole.nodes[number]) for number in self._ends.values()]
        self._numbers: dict[tuple[Group, ...], int] = {}
        self._left: list[tuple[Group, ...]] = []
        self._rows: dict[tuple[Any, ...], Images] = {}
        self._results: dict[tuple[int, ...], ZSet] = {}

    def run(self, witness: Witness) -> WitnessRun:
        """The statement on the rows of a witness."""
        elements, probes = (tuple(map(self._images, part)) for part in (witness.elements, witness.probes))
        return WitnessRun(self, self._images(witness.always), elements, probes)

    def result(self, parts: Sequence[Images]) -> ZSet:
        """The result of all rows of some parts; nothing before the first one with a time."""
        if not any(timed for timed, _ in parts):
            return ZSet()
        key = tuple(sorted(chain.from_iterable(numbers for _, numbers in parts)))
        spend(1 + len(key) / 8)
        found = self._results.get(key)
        if found is None:
            found = self._results[key] = self._executed(key)
        return found

    def _executed(self, key: tuple[int, ...]) -> ZSet:
        spend(_STEPS_A_ROW * (1 + len(key)))
        counted = Counter(key).items()
        inputs: dict[SourceOp, Any] = {}
        for at, (end, zero) in enumerate(zip(self._ends, self._nothing, strict=True)):
            inputs[end] = _sum(zero, [(self._left[number][at], n) for number, n in counted])
        return evaluate_once(self._rest, inputs)

    def _images(self, rows: Iterable[Row]) -> Images:
        found = [self._image(row) for row in rows]
        return any(timed for timed, _ in found), tuple(chain.from_iterable(numbers for _, numbers in found))

    def _image(self, row: Row) -> Images:
        values = (row.table, *row.values.values())
        found = self._rows.get(values)
        if found is None:
            found = self._rows[values] = self._of_row(_sent(self._catalog, row))
        return found

    def _of_row(self, change: SourceChange) -> Images:
        left, inputs = dict[int, Group](), together([change])
        for number in self._alone:
            node = self._whole.nodes[number]
            spend(_STEPS_A_ROW)
            op: Any = node.op
            given = [left[one] for one in node.inputs]
            left[number] = inputs.get(op, ZSet()) if isinstance(op, SourceOp) else op.apply(*given)
        image = tuple(left[number] for number in self._ends.values())
        if not any(image):
            return change.time is not None, ()
        number = self._numbers.setdefault(image, len(self._left))
        if number == len(self._left):
            self._left.append(image)
        return change.time is not None, (number,)


class WitnessRun(Struct, frozen=True):
    """A witness's rows, as they are executed."""

    executions: Executions
    always: Images
    elements: tuple[Images, ...]
    probes: tuple[Images, ...]

    @property
    def size(self) -> int:
        """The number of elements."""
        return len(self.elements)

    def change(self, subset: Sequence[int], probe: int) -> ZSet:
        """The change of the result by a probe after the prefix with the elements of ``subset``, from 0."""
        prefix = [self.always, *(self.elements[element] for element in subset)]
        return self.executions.result([*prefix, self.probes[probe]]) - self.executions.result(prefix)


def _alone(circuit: Circuit) -> list[int]:
    """The nodes whose value is the sum of those of each row alone, each after its inputs."""
    found = dict[int, None]()
    for number in circuit.order():
        node = circuit.nodes[number]
        if isinstance(node.op, _BY_ROW) and all(one in found for one in node.inputs):
            found[number] = None
    return [*found]


def _rest(circuit: Circuit, alone: Sequence[int]) -> tuple[dict[SourceOp, int], Circuit]:
    """The circuit of what follows some nodes, with sources for those that it reads, and which these are."""
    readers = {one for node in circuit.nodes if node.id not in alone for one in node.inputs}
    ends = {SourceOp(str(number)): number for number in alone if number in readers or number == circuit.output}

    def rule(builder: CircuitBuilder, node: CircuitNode, inputs: tuple[int, ...]) -> int:
        end = SourceOp(str(node.id))
        return builder.add(end, (), node.schema) if end in ends else copied(builder, node, inputs)

    return ends, rewritten(circuit, rule)


def _nothing(node: CircuitNode) -> Group:
    return KeyedSums(node.op.width) if isinstance(node.op, SumsOp) else ZSet()


def _sum(zero: Group, values: Sequence[tuple[Group, int]]) -> Group:
    """The sum of values, each multiplied by its number."""
    if isinstance(zero, ZSet):
        return ZSet(
            (row, weight * n) for value, n in values if isinstance(value, ZSet) for row, weight in value.items()
        )
    sums: dict[tuple[Any, ...], list[Fraction]] = {}
    for value, n in values:
        assert isinstance(value, KeyedSums), "all values of a node are of one group"
        for key in value:
            before = sums.setdefault(key, [Fraction(0)] * zero.width)
            sums[key] = [a + n * b for a, b in zip(before, value[key], strict=True)]
    return KeyedSums(zero.width, {key: tuple(vector) for key, vector in sums.items()})


def _sent(catalog: Catalog, row: Row) -> SourceChange:
    """A row as the circuit's sources have it."""
    table = catalog.table(row.table)
    assert table is not None, "a witness has rows of the catalog's tables"
    values = tuple(plain_value(row.values[column.name], column.type) for column in table.columns)
    time, weight = None if table.timestamp is None else row.values[table.timestamp], 1
    if table.changes is not None and table.changes.op.name in row.values:
        time = row.values[table.changes.timestamp.name]
        weight = -1 if row.values[table.changes.op.name] == table.changes.delete else 1
    return SourceChange(table.name, values, None if time is None else Fraction(time), weight)
