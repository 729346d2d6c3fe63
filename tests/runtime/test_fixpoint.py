"""The operator of recursion: what a change looks at, and that it ends where recomputing from nothing ends."""

from __future__ import annotations

import random
from typing import Any

from streambound_runtime.engine.plan import NativeNode
from streambound_runtime.operators.by_tick import Ticks
from streambound_runtime.operators.circuit_plan import FixpointNode
from streambound_runtime.operators.delta import Delta, delta_of
from streambound_runtime.operators.fixpoint import LeastFixpoint
from support.circuits import checked_circuit, circuit_plan
from support.profiles import MORE

EDGES = {
    "streams": {"S": {"columns": {"ts": "bigint"}, "timestamp": "ts"}},
    "relations": {
        "E": {
            "columns": {"a": "bigint", "b": "bigint"},
            "changes": {"timestamp": "ts", "op": "op"},
            "rows": 10_000,
        }
    },
}
Edge = tuple[int, int]


def operator(step: str = "SELECT r.x, E.b FROM r JOIN E ON E.a = r.y") -> LeastFixpoint:
    """That of the edges' closure."""
    sql = f"WITH RECURSIVE r(x, y) AS (SELECT a, b FROM E UNION {step}) SELECT x, y FROM r"
    checked = checked_circuit(sql, EDGES)
    assert checked.circuit is not None and checked.catalog is not None
    plan = circuit_plan(checked)
    nodes = [one.node for one in plan.circuit.operators if isinstance(one, NativeNode)]
    (node,) = (node for node in nodes if isinstance(node, FixpointNode))
    return LeastFixpoint(node)


def change(run: LeastFixpoint, now: int, *edges: tuple[int, Edge]) -> Delta:
    """What r's change is when edges come (1) and go (-1)."""
    delta = delta_of([(now, n, edge) for n, edge in edges], ("a", "b"))
    return run.step([delta, *(delta for _ in run.plan.inputs)], Ticks(delta.time[:1]))


def looked_at(run: LeastFixpoint, now: int, edge: tuple[int, Edge]) -> int:
    """How many derivations a change looks at."""
    number = 0
    for step in run.steps:
        plain = step._matches

        def counting(*given: Any, plain: Any = plain) -> Any:
            nonlocal number
            found = plain(*given)
            number += len(found)
            return found

        step._matches = counting  # type: ignore[method-assign]
    change(run, now, edge)
    for step in run.steps:
        del step._matches  # type: ignore[method-assign]
    return number


def test_a_change_looks_at_what_it_changes_and_not_at_the_closure() -> None:
    """A hundred chains, then a thousand: the end of one of them comes and goes, with as many derivations."""
    numbers = []
    for chains in (100, 1000):
        run = operator()
        change(run, 1, *((1, (10 * chain + at, 10 * chain + at + 1)) for chain in range(chains) for at in range(8)))
        assert len(run.rows) == chains * 36
        numbers.append((looked_at(run, 2, (1, (8, 9))), looked_at(run, 3, (-1, (8, 9)))))
        assert len(run.rows) == chains * 36
    assert numbers[0] == numbers[1]
    assert min(numbers[0]) >= 8 and max(numbers[0]) < 60


def test_an_edge_beside_others_goes_without_a_look_at_what_they_hold_up() -> None:
    """All nodes reach each other by a ring; a chord that goes takes no row with it, and few are looked at."""
    nodes = 40
    run = operator()
    change(run, 1, *((1, (at, (at + 1) % nodes)) for at in range(nodes)))
    assert len(run.rows) == nodes * nodes
    change(run, 2, (1, (0, 2)))
    assert looked_at(run, 3, (-1, (0, 2))) < nodes * 4
    assert len(run.rows) == nodes * nodes


def test_a_cycle_does_not_hold_itself_up() -> None:
    run = operator()
    change(run, 1, (1, (1, 2)), (1, (2, 3)), (1, (3, 2)))
    change(run, 2, (-1, (1, 2)))
    assert {row[0] for row in run.rows.entries} == {2, 3}
    change(run, 3, (-1, (2, 3)))
    assert set(run.rows.entries) == {(3, 2)}


def reached(edges: set[Edge]) -> set[Edge]:
    """The closure from nothing."""
    found = set(edges)
    while more := {(a, d) for a, b in found for c, d in edges if b == c} - found:
        found |= more
    return found


def test_what_comes_and_goes_is_what_the_closure_from_nothing_has_more_and_less() -> None:
    """Several edges come and go at once, in graphs in which most rows have many derivations; it restarts each time."""
    steps = ("SELECT r.x, E.b FROM r JOIN E ON E.a = r.y", "SELECT p.x, q.y FROM r AS p JOIN r AS q ON p.y = q.x")
    gone = 0
    for seed in range(6 * MORE):
        rng = random.Random(seed)
        nodes, run, other = rng.randint(3, 9), operator(steps[seed % 2]), operator(steps[seed % 2])
        edges: list[Edge] = []
        before: set[Edge] = set()
        for now in range(1, 40):
            changes: list[tuple[int, Edge]] = []
            for _ in range(rng.randint(1, 4)):
                if edges and rng.random() < 0.5:
                    changes.append((-1, edges.pop(rng.randrange(len(edges)))))
                else:
                    edges.append((rng.randrange(nodes), rng.randrange(nodes)))
                    changes.append((1, edges[-1]))
            after = reached(set(edges))
            found = change(run, now, *changes)
            told = dict(zip(found.rows(), found.weights().tolist(), strict=True))
            assert told == dict.fromkeys(after - before, 1) | dict.fromkeys(before - after, -1), seed
            other.load(run.dump())
            run, other, before = other, run, after
            assert set(run.rows.entries) == after
            gone += sum(n < 0 for n in told.values())
    assert gone > 50
