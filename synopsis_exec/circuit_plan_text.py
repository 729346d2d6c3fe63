"""A circuit's plan in words: what `explain --emit plan` prints of a query beyond joins."""

from __future__ import annotations

from streambound.synopsis_exec.circuit_plan import PlannedCircuit, promises_in_words, states_in_words
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan_text import inputs_in_words
from streambound_runtime.text import printed


def circuit_plan_text(plan: PlannedCircuit) -> str:
    """The plan, as a job has it: what each operator keeps, by which key and how long, and the nodes that run."""
    tree = job_spec(plan, None).plan
    lines = [f"plan of {plan.name}: circuit, M = {plan.bound.entries.text}"]
    lines += [f"  compute {sentence}" for sentence in inputs_in_words(plan.inputs)]
    lines += [f"  keep {sentence}" for sentence in states_in_words(plan.bound) or ["nothing"]]
    lines += [f"  rely on the promise {sentence}" for sentence in promises_in_words(plan)]
    lines += [f"  placement: {tree.placement}, because {tree.placed}", "", printed(tree)]
    return "\n".join(lines)
