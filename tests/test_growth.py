"""Jobs over 10⁵ timestamps of values that never come again: what is bounded stays below M, and what is not, grows."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

import streambound
from streambound.reports.circuit_witness_report import tables_of
from streambound.reports.witness_report import json_rows
from streambound_runtime.engine.loop import Engine
from support.circuits import Circuit, Rows, checked_circuit, run_plan
from support.profiles import MORE

pytestmark = pytest.mark.xdist_group("corpus")  # its cases are checked once, in one process

TICKS, PART = 20_000, 2_500
CASES: dict[str, dict[str, Any]] = {
    (case := json.loads(line))["name"]: case
    for line in (Path(__file__).parent / "data" / "circuits.jsonl").read_text().splitlines()
}
LONG = (
    "trap_changing_min_0",
    "changing_0114",
    "trap_bucket_distinct_0",
    "semi_anti_0066",
    "trap_left_open_0",
    "trap_semi_ineq_past_0",
    "trap_min_same_direction_0",
    "trap_threshold_count_0",
    "trap_except_all_overlap_0",
    "trap_changing_domain_0",
    "trap_as_of_0",
    "nested_0001",
    "setop_0047",
)
"""Few cases that have states by all propositions."""


def propositions(case: dict[str, Any]) -> set[str]:
    """Those that bound the states of a bounded case."""
    checked = checked_circuit(case["sql"], case["catalog"])
    return set() if checked.circuit is None else {one.proposition for one in checked.circuit.states}


def fresh_rows(catalog: Mapping[str, Any], times: range, random: Random) -> Rows:
    """Of each stream a row at every second time or so, half of whose values are new, unless there is a domain.

    A relation that changes has a row half of the time, another one each time.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for kind, tables in catalog.items():
        for name, body in tables.items():
            domain, columns = body.get("domain", {}), [one for one in body["columns"] if one != "ts"]

            def row(time: int, domain: Mapping[str, Any] = domain, columns: list[str] = columns) -> dict[str, Any]:
                def value(column: str) -> int:
                    if column in domain:
                        return random.randint(*domain[column])
                    return random.choice((random.randint(-1, 5), 10 + time, 9 + time, -time))

                return {**{column: value(column) for column in columns}, "ts": time}

            if kind == "streams":
                found[name] = [row(time) for time in times if random.random() < 0.5]
            else:
                there = [({**row(time), "op": "insert"}, time + 2) for time in times[::4]]
                changes = [(one, {**one, "op": "delete", "ts": until}) for one, until in there]
                found[name] = [change for both in changes for change in both]
    return found


def bytes_of(operator: Engine) -> int:
    """The size of all that a checkpoint holds."""
    return sum(table.nbytes for table in operator.dump().values())


def test_the_long_runs_have_states_by_all_propositions() -> None:
    bounded = [case for case in CASES.values() if case["verdict"] == "bounded"]
    assert set().union(*(propositions(CASES[name]) for name in LONG)) == set().union(*map(propositions, bounded))


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_what_is_bounded_stays_below_m(name: str) -> None:
    case = CASES[name]
    bound = checked_circuit(case["sql"], case["catalog"]).circuit_bound
    assert bound is not None and bound.entries.value is not None
    random, sizes, peak = Random(name), [], 0
    operator = Circuit({**case, "input": {}}, "batch").operator()
    for start in range(0, TICKS * MORE, PART):
        part = Circuit({**case, "input": fresh_rows(case["catalog"], range(start, start + PART), random)})
        for times in (range(start, start + 1_001), range(start + 1_001, start + PART)):
            operator.step(part.delta(times))
            peak = max(peak, operator.peak)
        sizes.append(bytes_of(operator))
    assert 0 < peak <= bound.entries.value
    assert max(sizes) <= 2 * max(sizes[:2]) + 1_000


UNBOUNDED = {
    case["kind"]: case for case in CASES.values() if case["verdict"] == "unbounded" and case["kind"] != "changing"
}
"""One of each kind; nothing is a witness whose rows are a relation's changes."""


def peak_of_witness(case: dict[str, Any], size: int) -> int:
    """The most entries of the job without M over a statement's witness of a size."""
    checked = checked_circuit(case["sql"], case["catalog"])
    assert checked.circuit_witness is not None
    witness = checked.circuit_witness.of_size(size)
    assert witness is not None
    tables, rows = tables_of(checked.circuit_witness.statement, checked.statement), defaultdict[str, list[Any]](list)
    for part in (witness.always, *witness.elements):
        for name, more in json_rows(tables, part).items():
            rows[name] += more
    plan = streambound.compile(case["sql"], case["catalog"], unbounded=True).compiled.plan
    return run_plan(plan, rows).peak


@pytest.mark.parametrize("kind", UNBOUNDED)
def test_what_is_not_bounded_grows_with_its_witness(kind: str) -> None:
    few, many = (peak_of_witness(UNBOUNDED[kind], size) for size in (8, 32))
    assert many >= few + 24
