"""What is not well formed is found, and sharing and numbering are what the builder promises."""

import pytest
from msgspec.structs import replace

from streambound.analyzer.constants import BIGINT
from streambound.incremental.circuit import Circuit, CircuitBuilder, CircuitColumn, CircuitError, NestedOp
from streambound.incremental.operators import (
    DelayOp,
    DistinctOp,
    FilterOp,
    FirstOp,
    IntegrateOp,
    MapOp,
    PlusOp,
    PortOp,
    SourceOp,
    TotalOp,
)
from streambound.incremental.well_formed import violations
from support.lifted import circuit_of
from support.row_expressions import SCHEMA, A, B, over

CATALOG = {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"}}}}
CLOSURE = (
    "WITH RECURSIVE r(x, y) AS (SELECT a, b FROM S UNION SELECT r.x, S.b FROM r JOIN S ON r.y = S.a) SELECT x FROM r"
)


def source(builder: CircuitBuilder) -> int:
    return builder.add(SourceOp("S"), (), SCHEMA)


def test_equal_nodes_are_one() -> None:
    builder = CircuitBuilder()
    first = builder.add(FilterOp(over("a > 1")), (source(builder),), SCHEMA)
    assert builder.add(FilterOp(over("A > 1")), (source(builder),), SCHEMA) == first
    assert builder.add(FilterOp(over("a > 2")), (source(builder),), SCHEMA) != first
    assert len(builder.nodes) == 3


def test_what_the_output_does_not_need_goes() -> None:
    builder = CircuitBuilder()
    builder.add(DistinctOp(), (source(builder),), SCHEMA)
    circuit = builder.circuit(builder.add(MapOp((A,)), (source(builder),), SCHEMA[:1]), 0)
    assert [type(node.op) for node in circuit.nodes] == [SourceOp, MapOp]


def one(op: object, *inputs: int, depth: int = 1, width: int = 2) -> Circuit:
    """A circuit of a source and an operator above it."""
    builder = CircuitBuilder()
    schema = (*SCHEMA, CircuitColumn("c", BIGINT))[:width]
    under = source(builder)
    top = builder.add(op, inputs or (under,), schema)  # type: ignore[arg-type]
    return Circuit(tuple(builder.nodes), top, depth)


@pytest.mark.parametrize(
    ("circuit", "fault"),
    [
        (one(PlusOp(), 0), "has 1 inputs, not 2"),
        (one(PlusOp(), 0, 7), "an input that is not there"),
        (one(DistinctOp(), 1), "a cycle without a delay"),
        (one(MapOp((over("b"),))), "has 2 columns, not 1"),
        (one(FilterOp(B.shifted(5))), "reads a column beyond the 2"),
        (one(IntegrateOp(), depth=0), "runs on a clock that is not there"),
        (one(DelayOp(1)), "runs on a clock that is not there"),
        (one(FirstOp()), "is in no nested circuit"),
        (one(DistinctOp(), width=3), "has 3 columns, not 2"),
    ],
)
def test_faults_are_found(circuit: Circuit, fault: str) -> None:
    assert any(fault in found for found in violations(circuit)), list(violations(circuit))


def test_a_cycle_with_a_delay_is_none_of_them() -> None:
    builder = CircuitBuilder()
    delay = builder.forward(DelayOp(), SCHEMA)
    output = builder.add(PlusOp(), (source(builder), delay), SCHEMA)
    builder.close(delay, output)
    assert not list(violations(builder.circuit(output, 1)))


def test_faults_of_nested_circuits_are_found() -> None:
    whole = circuit_of(CLOSURE, CATALOG)
    (nested,) = (node for node in whole.nodes if isinstance(node.op, NestedOp))
    assert isinstance(nested.op, NestedOp)
    body = nested.op.body

    def with_body(changed: Circuit) -> list[str]:
        node = replace(nested, op=NestedOp(changed))
        nodes = tuple(node if one.id == nested.id else one for one in whole.nodes)
        return list(violations(replace(whole, nodes=nodes)))

    assert not with_body(body)
    assert any("no ∫" in fault for fault in with_body(replace(body, output=body.nodes[body.output].inputs[0])))
    assert any("clocks" in fault for fault in with_body(replace(body, clock_depth=3)))
    ports = tuple(replace(n, op=FirstOp()) if isinstance(n.op, TotalOp) else n for n in body.nodes)
    assert any("at no input" in fault for fault in with_body(replace(body, nodes=ports)))
    direct = tuple(replace(n, op=DistinctOp()) if isinstance(n.op, FirstOp) else n for n in body.nodes)
    assert any("no δ0" in fault for fault in with_body(replace(body, nodes=direct)))
    assert sum(isinstance(node.op, PortOp) for node in body.nodes) == 2


def test_an_order_needs_no_cycle() -> None:
    with pytest.raises(CircuitError, match="a cycle"):
        one(DistinctOp(), 1).order()
