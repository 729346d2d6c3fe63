"""Which rows with periods a catalog allows: by hand, and as the runtime's own reading says of random rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.period_rows import allowed, judging
from streambound.synopsis_exec.simulate import relation_tables
from streambound_runtime.operators.delta import delta_of
from streambound_runtime.operators.valid_together import ValidTogether
from streambound_runtime.promises import PeriodContract
from streambound_runtime.spec import Stream, TableColumn
from support.circuits import checked_circuit, circuit_plan

Row = dict[str, Any]


def row(key: str | None, begin: int | None, end: int | None) -> Row:
    return {"k": key, "vb": begin, "ve": end}


def kept(contract: PeriodContract, *rows: Row, timed: bool = True) -> list[int]:
    return [number for number, _ in allowed(contract, list(enumerate(rows)), timed)]


def test_a_period_alone_may_be_bad() -> None:
    contract = PeriodContract("vb", "ve", 0, 10, 5)
    rows = [row("a", 0, 5), row("a", None, 5), row("a", 5, None), row("a", 5, 5), row("a", -1, 1), row("a", 6, 11)]
    assert kept(contract, *rows, row("a", 1, 7), row("a", 5, 10)) == [0, 7]


def test_of_a_conflict_the_later_begin_is_bad_and_of_one_begin_all() -> None:
    contract = PeriodContract("vb", "ve", key=("k",))
    assert kept(contract, row("a", 3, 6), row("a", 0, 4), row("a", 4, 6)) == [1, 2]
    assert kept(contract, row("a", 0, 4), row("a", 0, 5), row("b", 0, 5), row("a", 1, 3)) == [2, 3]


def test_too_many_are_all_of_a_begin() -> None:
    contract = PeriodContract("vb", "ve", most=2)
    assert kept(contract, row("a", 0, 9), row("b", 1, 3), row("c", 1, 4), row("d", 2, 9), row("e", 9, 10)) == [0, 3, 4]


def test_of_relations_what_is_valid_together_does_not_count() -> None:
    contract = PeriodContract("vb", "ve", most=1, key=("k",))
    assert kept(contract, row("a", 0, 4), row("a", 0, 4), timed=False) == [0, 1]


def test_random_variables_have_keys_facts_and_probabilities_of_their_own() -> None:
    contract = PeriodContract("vb", "ve", variable="id", probability="p", fact=("k",))

    def random(key: int | None, fact: str | None, p: float | None, begin: int, end: int) -> Row:
        return {**row(fact, begin, end), "id": key, "p": p}

    rows = [
        random(1, "a", 0.5, 0, 4),
        random(1, "b", 0.5, 3, 5),  # the key of a row that is valid
        random(2, "a", 0.5, 3, 5),  # its fact
        random(3, None, 1.0, 3, 5),
        random(4, None, 0.5, 4, 6),  # NULLs are equal
        random(5, "c", 0.0, 4, 6),
        random(6, "c", 1.1, 4, 6),
        random(7, "c", None, 4, 6),
        random(None, "c", 0.5, 4, 6),
        random(1, "a", 0.5, 4, 6),  # the key is free again, and so is the fact
    ]
    assert kept(contract, *rows) == [0, 3, 9]


@pytest.mark.parametrize("seed", range(60))
def test_a_job_judges_alike(seed: int) -> None:
    random = Random(seed)
    contract = PeriodContract("vb", "ve", most=random.choice((None, 2, 4)), key=random.choice(((), ("k",))))
    if random.random() < 0.5:
        contract = replace(contract, variable="id", probability="p", fact=("f",))
    rows = [
        {**row(random.choice("abc"), begin, begin + random.randint(1, 6)), "id": random.randint(1, 6), "p": 0.5,
         "f": random.choice((None, 1, 2, 3))}
        for begin in sorted(random.choices(range(15), k=25))
    ]  # fmt: skip
    names = ("k", "ve", "id", "f", "p")
    types = ("string", "bigint", "bigint", "bigint", "double", "bigint")
    kinds = [TableColumn(name, kind) for name, kind in zip((*names, "vb"), types, strict=True)]
    stream = Stream("S", tuple(kinds), "vb", names, period=contract)
    delta = delta_of([(one["vb"], 1, tuple(one[name] for name in names)) for one in rows], names)
    good, bad = ValidTogether(stream, {}).checked(delta)
    mine = [one for _, one in allowed(contract, list(enumerate(rows)), timed=True)]
    assert Counter(zip(good.values("k"), good.time.tolist(), good.values("ve"), strict=True)) == Counter(
        (one["k"], one["vb"], one["ve"]) for one in mine
    )
    assert len(mine) + len(bad) == len(rows)


@pytest.mark.parametrize("seed", range(30))
def test_a_job_judges_the_same_rows_beside_others(seed: int) -> None:
    random = Random(f"judged {seed}")
    streams = {"r": {"columns": {"k": "bigint", "x": "bigint", "vb": "bigint", "ve": "bigint"}, "timestamp": "vb"}}
    streams["r"] |= {"period": ["vb", "ve"], "snapshot_key": ["k"]}
    catalog = {"time": {"domain": [0]}, "streams": streams, "relations": {"s": {"columns": {"j": "bigint"}, "rows": 3}}}
    sql = "SELECT r.x FROM r WHERE r.k IN (1, 2) AND r.x > 1 UNION ALL SELECT x FROM r JOIN s ON r.k = s.j AND r.k > 2"
    found = checked_circuit(f"SEQ VT ({sql})", catalog)
    assert found.circuit is not None and found.catalog is not None
    plan = circuit_plan(found)
    (stream,) = job_spec(plan).streams
    relations = {"s": [{"j": random.choice((None, 2, 3, 4, 5))} for _ in range(3)]}
    keys, begins = (None, 1, 2, 3, 4, 5), sorted(random.choices(range(8), k=30))
    rows = [
        {"k": random.choice(keys), "x": random.randint(0, 3), "vb": begin, "ve": begin + random.randint(1, 6)}
        for begin in begins
    ]
    names = [column.name for column in stream.columns if column.name != "vb"]
    delta = delta_of([(one["vb"], 1, tuple(one[name] for name in names)) for one in rows], names)
    good, bad = ValidTogether(stream, relation_tables(relations)).checked(delta)
    contract = plan.periods["r"]
    beside = judging(plan.judged["r"], relations)
    mine = [one for _, one in allowed(contract, list(enumerate(rows)), timed=True, judged=beside)]
    assert Counter(zip(good.values("k"), good.time.tolist(), good.values("ve"), strict=True)) == Counter(
        (one["k"], one["vb"], one["ve"]) for one in mine
    )
    assert bad and {one["k"] for one in rows if not beside(one)} >= {None} and len(mine) + len(bad) == len(rows)
    assert len(allowed(contract, list(enumerate(rows)), timed=True)) < len(mine)
