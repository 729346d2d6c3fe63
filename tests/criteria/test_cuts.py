"""A dense attribute compared with listed values: a table keeps its place among them, and SQL sees no difference."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.criteria.bound import bound
from streambound.criteria.vocabulary import Verdict
from streambound.recheck.certificates.validate import faults
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.synopsis_plan import synopsis_plan
from streambound_runtime.operators.plan import Term
from support.catalogs import Catalog, streams, with_domain
from support.certificates import plain
from support.choices import Choices, drawn
from support.encoding import encode_rows
from support.kernel import formula_value, plan_of, run_kernel
from support.operators import steps
from support.oracle import Oracle
from support.product import decided
from support.profiles import examples

OLDER = "SELECT 1 AS one FROM S, T WHERE S.ts < T.ts"
DENSE = streams("S T U", v="double", s="string")
LISTED = with_domain(with_domain(DENSE, "T", "v", [0.5, 1.5, 2.5, 3.5]), "T", "s", ["a", "ab", "b", "c"])
FLOATS = (-1e300, 0.1, 0.5, 0.5000000000000001, 1.5, 1.4999999999999998, 2.5, 3.0, 3.5, 1e300)
TEXTS = ("", "A", "a", "a\0", "aa", "ab", "abc", "b", "é", "c", "z")


@pytest.mark.parametrize(
    ("where", "entries"),
    [
        pytest.param("S.v < T.v", 4, id="those beyond the greatest are no match"),
        pytest.param("S.v <= T.v", 4, id="weak"),
        pytest.param("S.v > T.v", 4, id="the other direction"),
        pytest.param("S.s < T.s AND S.s > 'a'", 3, id="own bounds leave fewer"),
        pytest.param("S.v < T.v AND T.v <> 2.5", 4, id="an excluded value still separates"),
        pytest.param("S.v < T.v AND T.v < 2", 2, id="values beyond the partner's bound do not"),
        pytest.param("S.v >= T.v AND S.s <= T.s", 16, id="two attributes"),
        pytest.param("S.v < T.v AND S.v IN (0, 1, 1.5, 2, 9)", 3, id="0, 1, and 1.5 with 2"),
    ],
)
def test_bound(where: str, entries: int) -> None:
    decision = decided(f"{OLDER} AND {where}", LISTED)
    found = bound(decision.derivation.split)
    assert decision.verdict is Verdict.BOUNDED
    assert found is not None and found.entries.value == entries


@pytest.mark.parametrize("where", ["S.v < T.v", "S.v <= T.v", "S.s > T.s", "S.s >= T.s", "S.v <= T.v AND T.v > 1"])
def test_every_cut_is_needed_and_counted(where: str) -> None:
    decision = decided(f"{OLDER} AND {where}", LISTED)
    split, found = decision.derivation.split, bound(decision.derivation.split)
    assert found is not None and not faults(split, plain(found, distinct=False))
    (stored,) = plain(found, distinct=False)["branches"][0]["tables"][0]["stored"]
    for place, cut in enumerate(stored["cuts"]):
        for wrong in ([], [{**cut, "included": not cut["included"]}]):
            document = plain(found, distinct=False)
            table = document["branches"][0]["tables"][0]
            table["stored"][0]["cuts"][place : place + 1] = wrong
            _claim(document, len(table["stored"][0]["cuts"]) + 1)
            assert any("does not store what decides" in fault for fault in faults(split, document))
    document = plain(found, distinct=False)
    _claim(document, len(stored["cuts"]))
    assert faults(split, document)


def _claim(document: dict[str, Any], entries: int) -> None:
    """Say everywhere that there are so many entries."""
    table = document["branches"][0]["tables"][0]
    name = len('"{S}": [], ')
    in_bytes = {"formula": str(entries * table["bytes_per_entry"] + name), "value": None}
    table["count"]["size"] = str(entries)
    table.update(entries={"formula": str(entries), "value": entries}, bytes=in_bytes)
    document.update(entries=table["entries"], bytes=in_bytes)


def test_the_job_says_what_it_keeps() -> None:
    plan = make_plan(decided(f"{OLDER} AND S.v < T.v", LISTED), catalog_from_mapping(LISTED))
    (kept,) = [t for t in synopsis_plan(plan).branches[0].transitions if t.target is not None]
    assert kept.values == (Term("s_v", places=(float("-inf"), 0.5, 1.5, 2.5)),)


def _case(choices: Choices) -> tuple[str, Catalog, dict[str, list[dict[str, Any]]]]:
    comparisons = (
        f"{x}.{c} {op} {y}.{c}" for x, y in ("ST", "SU", "TU") for c in "vs" for op in ("<", "<=", ">", ">=")
    )
    joins = [text for text in comparisons if choices.chance(12)]
    lists = [("v", [0.5, 1.5, 2.5]), ("s", ["a", "ab", "b"]), ("v", [0.1, 0.5000000000000001]), ("s", ["a\0", "a"])]
    catalog = DENSE
    for stream in "TU":
        for column, values in lists:
            if choices.chance(40):
                catalog = with_domain(catalog, stream, column, values)
    others = [
        text for text in ("S.v >= 0.5", "S.s <> 'b'", "U.v <> 0.5", "S.v = U.v", "U.ts < 4") if choices.chance(15)
    ]
    select = choices.pick(["SELECT 1 AS one", "SELECT 1 AS one", "SELECT DISTINCT T.v", "SELECT T.s"])
    sql = f"{select} FROM S, T, U WHERE S.ts < T.ts AND S.ts < U.ts AND {' AND '.join([*joins, *others]) or 'TRUE'}"
    rows = {name: [_row(choices, catalog, name, ts) for ts in range(5) for _ in range(2)] for name in "STU"}
    return sql, catalog, rows


def _row(choices: Choices, catalog: Catalog, stream: str, ts: int) -> dict[str, Any]:
    domain = catalog["streams"][stream].get("domain", {})
    values = {"v": choices.pick(domain.get("v", FLOATS)), "s": choices.pick(domain.get("s", TEXTS))}
    return {"a": 0, "b": 0, "ts": ts, **{name: None if choices.chance(5) else value for name, value in values.items()}}


@pytest.mark.slow
@examples(12)
@given(drawn(_case))
def test_the_kernel_prints_what_sql_says_and_stays_within_the_bound(case: Any) -> None:
    sql, catalog, rows = case
    decision = decided(sql, catalog)
    found = bound(decision.derivation.split)
    assume(decision.verdict is Verdict.BOUNDED and found is not None)
    run = run_kernel(decision, catalog, rows)
    assert run.printed == Oracle(catalog, rows).prefix_expected(sql)
    plan, encoded = plan_of(decision, catalog), encode_rows(catalog, rows)
    assert [*steps(plan, {}, encoded, [2])] == [*steps(plan, {}, encoded, [2], True)]
    limit = formula_value(decision, catalog, rows)
    assert limit is not None and run.peak <= limit
