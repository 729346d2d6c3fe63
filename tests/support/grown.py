"""Whether a witness holds at a larger size: executed without one of its elements, and with one for another."""

from __future__ import annotations

from random import Random

from streambound.criteria.check import Checked
from streambound.criteria.distinguishing import tells_element
from streambound.criteria.verdict import Decision
from streambound.criteria.witness import Witness, build
from streambound.criteria.witnesses.witness import CircuitWitness

SIZE, SAMPLED = 40, 300
"""The size at which each witness is executed, and that of a sample."""
_NEAR = 4


def grown(checked: Checked, size: int = SIZE) -> bool:
    """Whether the witness of an unbounded statement, with so many elements, still tells these apart."""
    if checked.circuit_witness is not None:
        return grown_statement(checked.circuit_witness, size)
    return checked.decision is not None and grown_plan(checked.decision, size)


def grown_plan(decision: Decision, size: int = SIZE) -> bool:
    """The same for a query of joins."""
    assert decision.witness is not None, "it is unbounded"
    witness = build(decision.witness.plan, size)
    if witness is None:
        return False
    split = decision.derivation.split
    return all(tells_element(split, witness, element, _probes(element, size)) for element in _elements(size))


def grown_statement(found: CircuitWitness, size: int = SIZE) -> bool:
    """The same for a statement that is executed on its witness's rows."""
    witness = found.of_size(size)
    if witness is None:
        return False
    told = (found.tells_element(witness, element, _probes(element, size)) for element in _elements(size))
    return all(told) and _swapped_told(found, witness)


def _swapped_told(found: CircuitWitness, witness: Witness) -> bool:
    """Whether it is told which of two elements was sent: a counter of both would not tell."""
    one, other = sorted(Random(witness.size).sample(range(witness.size), 2))
    rest = [element for element in range(witness.size) if element not in (one, other)]
    either = [sorted([*rest, chosen]) for chosen in (one, other)]
    probes = dict.fromkeys((*_probes(one, witness.size), *_probes(other, witness.size)))
    return any(found.changes(witness, either[0], [p]) != found.changes(witness, either[1], [p]) for p in probes)


def _elements(size: int) -> tuple[int, ...]:
    return (0, size // 2, size - 1)


def _probes(element: int, size: int) -> list[int]:
    near = (element, element - 1, element + 1, 0, size - 1)
    return list(dict.fromkeys(probe for probe in near if 0 <= probe < size))[:_NEAR]
