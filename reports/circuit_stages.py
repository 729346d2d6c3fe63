"""The stages of a query's circuit, for `explain --emit circuit`: as text, and as a drawing."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.errors import UsageError
from streambound.analyzer.lower import lower
from streambound.criteria.check import Checked
from streambound.incremental.circuit import Circuit, CircuitNode, NestedOp
from streambound.incremental.circuit_text import circuit_text, label, traits
from streambound.incremental.operators import GroupOp, IntegrateOp, MapOp, SumsOp
from streambound.incremental.passes.chain import traced
from streambound.incremental.pipeline import STAGE_NAMES, CircuitStage, stages
from streambound.incremental.translate import translate
from streambound.incremental.translation.views import Untranslatable
from streambound.reports.diagram import Diagram, Edge, Node, Panel

CIRCUIT = "circuit"
CIRCUIT_STAGES = (CIRCUIT, *(f"{CIRCUIT}:{name}" for name in STAGE_NAMES))
"""What `--emit` may be asked for: the circuit after the last pass, or after one."""

MOST_DRAWN = 200
_WIDEST = 60
_LEGEND = (
    "Rows and their weights flow along the edges. Square boxes remember something, with its key; rounded ones do not; "
    "doubly framed ones return what came at the tick before. A loop is a drawing of its own."
)


def circuit_stage_text(name: str, checked: Checked) -> str:
    """A stage as text; of `chain` with the rules that were applied, a line each. Raises UsageError."""
    found = list(_stages(checked, _pass_of(name)))
    last = found[-1]
    lines = [f"-- {last.name}: over {last.over}"]
    if last.name == "chain":
        lines += [f"-- {step}" for step in traced(found[-2].circuit)[1]]
    return "\n".join([*lines, circuit_text(last.circuit)])


def circuit_diagram(name: str, checked: Checked) -> Diagram:
    """A stage as a drawing, a panel for the circuit and one for each that is inside of it. Raises UsageError."""
    *_, last = _stages(checked, _pass_of(name))
    circuits = [("", last.circuit), *_inside(last.circuit)]
    if sum(len(circuit.nodes) for _, circuit in circuits) > MOST_DRAWN:
        remedy = f"print it: --emit {name}"
        raise UsageError(f"the circuit has more than {MOST_DRAWN} operators, too many to draw", remedy=remedy)
    panels = tuple(_panel(title, circuit) for title, circuit in circuits)
    return Diagram(f"Circuit of {checked.statement.name} after {last.name}", _LEGEND, panels)


def _pass_of(name: str) -> str:
    return name.partition(":")[2] or STAGE_NAMES[-1]


def _stages(checked: Checked, last: str) -> Iterator[CircuitStage]:
    """The stages up to one; raises UsageError for a query that has no circuit."""
    catalog = checked.catalog
    lowered = lower(checked.statement, catalog) if catalog is not None else None
    if lowered is None or lowered.tree is None or catalog is None:
        raise UsageError("this statement names no operators", remedy="see what is wrong with it: --emit verdict")
    try:
        circuit = translate(lowered.tree, catalog, lowered.queries, lowered.positions)
    except Untranslatable as error:
        line, column = (error.span.line, error.span.column) if error.span is not None else (None, None)
        file = checked.statement.source.file
        raise UsageError(f"there is no circuit: {error}", file=file, line=line, column=column) from error
    for stage in stages(circuit):
        yield stage
        if stage.name == last:
            return


def _inside(circuit: Circuit) -> Iterator[tuple[str, Circuit]]:
    """The circuits inside, with the titles of their panels."""
    for node in circuit.nodes:
        if isinstance(node.op, NestedOp):
            yield f"{node.id}: {label(node.op)}", node.op.body
            yield from _inside(node.op.body)


def _panel(title: str, circuit: Circuit) -> Panel:
    cyclic = circuit.cyclic_delays()
    nodes = tuple(_node(node, circuit, node.id in cyclic) for node in circuit.nodes)
    edges = tuple(
        Edge(str(one), str(node.id)) for node in circuit.nodes if node.id not in cyclic for one in node.inputs
    )
    return Panel(title, nodes, edges)


def _node(node: CircuitNode, circuit: Circuit, closes_cycle: bool) -> Node:
    """A box; one that closes a cycle names what it delays, for edges go one way."""
    op, said = node.op, traits(node.op)
    lines = list(_lines(node, circuit))
    if closes_cycle:
        lines.append(f"of {node.inputs[0]}")
    shape = "double" if op.strict else "box" if op.stateful or isinstance(op, NestedOp) else "rounded"
    kind = "results" if node.id == circuit.output else "stream" if not node.inputs and not said else "plain"
    kind = "table" if shape == "box" and kind == "plain" else kind
    return Node(str(node.id), _short(f"{node.id}: {label(op)}"), tuple(map(_short, lines)), kind, shape)


def _lines(node: CircuitNode, circuit: Circuit) -> Iterator[str]:
    """The lines of a box below its title: the key of its state, or its columns."""
    if isinstance(node.op, IntegrateOp):
        under = circuit.nodes[node.inputs[0]].op
        keys = [key.text for key in under.keys] if isinstance(under, SumsOp | GroupOp) else None
        yield "key " + (", ".join(keys) if keys is not None else ", ".join(column.name for column in node.schema))
    elif not isinstance(node.op, MapOp) and node.schema:
        yield ", ".join(column.name for column in node.schema)


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
