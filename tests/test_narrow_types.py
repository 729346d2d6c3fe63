"""TINYINT and SMALLINT are domains of 256 and 65,536 values, and NULL: one thing everywhere."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from sqlglot import exp, parse_one

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import CatalogError, NotExecutableError
from streambound.criteria.bound import bound
from streambound.criteria.verdict import Decision
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.witness import build
from streambound.recheck.certificates.validate import faults
from streambound.recheck.oracle.batch_sql import BatchSql
from streambound.synopsis_exec.job_spec import job_spec
from streambound.synopsis_exec.plan import make_plan
from support.certificates import plain
from support.choices import Choices, drawn
from support.product import NotAnalysed, criterion, decided
from support.profiles import examples
from support.queries import Features, make_statement

RANGES = {"tinyint": (-128, 127), "smallint": (-32_768, 32_767)}
CONSTANTS = (-40_000, -32_769, -32_768, -300, -129, -128, -127, 126, 127, 128, 200, 32_767, 32_768)
CATALOG: dict[str, Any] = {
    "streams": {
        name: {"timestamp": "ts", "columns": {"t": "tinyint", "u": "smallint", "a": "bigint", "ts": "bigint"}}
        for name in ("S", "T")
    },
    "relations": {"R": {"columns": {"t": "tinyint"}, "rows": 5}},
}


def _entries(sql: str, catalog: Mapping[str, Any] = CATALOG) -> str:
    decision = decided(sql, catalog)
    assert decision.verdict is Verdict.BOUNDED, sql
    found = bound(decision.derivation.split)
    assert found is not None
    return found.entries.text


@pytest.mark.parametrize(
    ("sql", "entries"),
    [
        ("SELECT DISTINCT t FROM S", "257"),
        ("SELECT DISTINCT u FROM S", "65537"),
        ("SELECT DISTINCT t FROM S WHERE t IS NOT NULL", "256"),
        ("SELECT DISTINCT t FROM S WHERE t < 300", "256"),
        ("SELECT DISTINCT t FROM S WHERE t <> 300", "256"),
        ("SELECT DISTINCT t FROM S WHERE NOT (t > 127)", "256"),
        ("SELECT DISTINCT t FROM S WHERE t < 300 OR t IS NULL", "257"),
        ("SELECT DISTINCT t FROM S WHERE t > 200", "0"),
        ("SELECT DISTINCT t FROM S WHERE t = 128", "0"),
        ("SELECT DISTINCT t FROM S WHERE t > 126", "1"),
        ("SELECT DISTINCT t FROM S WHERE t + 1 > 127", "1"),
        ("SELECT DISTINCT t FROM S WHERE t IN (1, 5, 9, 100, 200, 300)", "4"),
        ("SELECT DISTINCT a FROM S WHERE a = t + 1000", "256"),
        ("SELECT T.t FROM S, T WHERE S.ts > T.ts", "257"),
        ("SELECT 1 AS one FROM S, T WHERE S.ts > T.ts AND S.a = T.t", "256"),
        ("SELECT 1 AS one FROM S, T WHERE S.ts > T.ts AND T.a < S.t AND T.a > 0", "126"),
    ],
)
def test_bounds(sql: str, entries: str) -> None:
    assert _entries(sql) == entries


@pytest.mark.parametrize("kind", ["int", "bigint", "decimal(1,0)", "date"])
def test_other_types_are_unbounded(kind: str) -> None:
    catalog = {"streams": {"S": {"timestamp": "ts", "columns": {"t": kind, "ts": "bigint"}}}}
    assert decided("SELECT DISTINCT t FROM S", catalog).verdict is Verdict.UNBOUNDED


@pytest.mark.parametrize("kind", ["byte", "TINYINT", "short", "SmallInt"])
def test_other_names(kind: str) -> None:
    catalog = {"streams": {"S": {"timestamp": "ts", "columns": {"t": kind, "ts": "bigint"}}}}
    assert _entries("SELECT DISTINCT t FROM S", catalog) == ("257" if kind in ("byte", "TINYINT") else "65537")


@pytest.mark.parametrize(
    ("domain", "entries"),
    [([0, 9], "11"), ([0, 1000], "129"), ([-1000, 1000], "257"), ({"values": [1, 5]}, "3"), ([1, 5, 500], "3")],
)
def test_a_declared_domain_narrows_it_further(domain: Any, entries: str) -> None:
    stream = {"timestamp": "ts", "columns": {"t": "tinyint", "ts": "bigint"}, "domain": {"t": domain}}
    assert _entries("SELECT DISTINCT t FROM S", {"streams": {"S": stream}}) == entries


@pytest.mark.parametrize("domain", [[200, 300], [128, 129, 130], {"values": [-129]}])
def test_a_domain_without_a_value_of_the_type_is_refused(domain: Any) -> None:
    stream = {"timestamp": "ts", "columns": {"t": "tinyint", "ts": "bigint"}, "domain": {"t": domain}}
    with pytest.raises(CatalogError, match="no tinyint is in this domain") as error:
        catalog_from_mapping({"streams": {"S": stream}})
    assert "between -128 and 127" in str(error.value.remedy)


@pytest.mark.parametrize("kind", ["tinyint", "smallint", "byte", "short"])
def test_time_is_of_no_such_type(kind: str) -> None:
    with pytest.raises(CatalogError, match="time never ends"):
        catalog_from_mapping({"streams": {"S": {"timestamp": "ts", "columns": {"ts": kind}}}})


def test_the_theorems_see_the_same_bounds() -> None:
    decision = decided("SELECT T.t FROM S, T WHERE S.ts > T.ts AND S.t = T.t", CATALOG)
    assert criterion(decision, "theorem-1") is True
    assert criterion(decided("SELECT DISTINCT S.t FROM S, T WHERE S.u = T.u", CATALOG), "theorem-2") is True


def test_the_recheck_knows_the_range_by_itself() -> None:
    """A certificate that is a value short is refused; one for a type without a range is refused altogether."""
    decision = decided("SELECT T.t FROM S, T WHERE S.ts > T.ts AND T.t IS NOT NULL", CATALOG)
    found = bound(decision.derivation.split)
    assert found is not None
    document = json.dumps(plain(found, distinct=False))
    assert not faults(decision.derivation.split, json.loads(document))
    assert "256" in document
    assert faults(decision.derivation.split, json.loads(document.replace("256", "255")))
    wide = decided("SELECT T.a AS t FROM S, T WHERE S.ts > T.ts AND T.a IS NOT NULL", CATALOG)
    assert faults(wide.derivation.split, json.loads(document.replace('"T.t"', '"T.a"')))


def test_a_constant_is_added_in_more_bits_than_a_value_has() -> None:
    database = BatchSql(catalog_from_mapping(CATALOG))
    database.add({"S": [{"t": 127, "u": 32_767, "a": 0, "ts": 0}]}, 0)
    found = database.results("SELECT t + 1, u - 70000 FROM S WHERE t + 1 > 127", 0)
    database.close()
    assert found == Counter([(128, 32_767 - 70_000)])


# --- random queries -------------------------------------------------------------------------------------------------


def _narrow_statement(choices: Choices) -> tuple[str, dict[str, Any]]:
    """A random statement, some integers of a narrow type, with conditions near the ends of such types."""
    statement = make_statement(choices, Features())
    catalog: dict[str, Any] = json.loads(json.dumps(statement.catalog))
    for body in (*catalog["streams"].values(), *catalog["relations"].values()):
        for name in ("a", "b"):
            if name in body["columns"] and choices.chance(60):
                body["columns"][name] = choices.pick(["tinyint", "tinyint", "smallint"])
    tree = parse_one(statement.sql, dialect="spark")
    for select in tree.find_all(exp.Select):
        sources = [source.alias_or_name for source in select.find_all(exp.Table) if source.parent_select is select]
        if sources and choices.chance(40):
            op, constant = choices.pick(["<", "<=", "=", ">=", ">", "<>"]), choices.pick(CONSTANTS)
            select.where(f"{choices.pick(sources)}.a {op} {constant}", dialect="spark", copy=False)
    return tree.sql("spark"), catalog


def _with_domains(catalog: Mapping[str, Any]) -> dict[str, Any]:
    """The catalog with the range of every narrow column declared, of a type that has none."""
    found: dict[str, Any] = json.loads(json.dumps(catalog))
    for body in (*found["streams"].values(), *found.get("relations", {}).values()):
        for name, kind in body["columns"].items():
            if kind in RANGES:
                body["columns"][name] = "bigint"
                body["domain"] = {name: list(RANGES[kind]), **body.get("domain", {})}
    return found


def _decided(sql: str, catalog: Mapping[str, Any]) -> Decision | None:
    try:
        return decided(sql, catalog)
    except NotAnalysed:
        return None


def _layout(decision: Decision, catalog: Mapping[str, Any]) -> str | None:
    try:
        return job_spec(make_plan(decision, catalog_from_mapping(catalog))).saved.tables
    except NotExecutableError:
        return None


@examples(30)
@given(case=drawn(_narrow_statement))
def test_a_narrow_type_is_the_domain_that_says_so(case: tuple[str, dict[str, Any]]) -> None:
    """Verdict, tables, M and the recheck of both are those of a wider type whose domain is declared."""
    sql, catalog = case
    declared = _with_domains(catalog)
    first, second = _decided(sql, catalog), _decided(sql, declared)
    assert (first is None) == (second is None)
    if first is None or second is None:
        return
    assert first.verdict is second.verdict, sql
    assert [result.holds for result in first.criteria] == [result.holds for result in second.criteria], sql
    if first.verdict is Verdict.BOUNDED:
        one, other = bound(first.derivation.split), bound(second.derivation.split)
        assert (one and one.entries.text) == (other and other.entries.text), sql
        assert _layout(first, catalog) == _layout(second, declared), sql


@examples(30)
@given(case=drawn(_narrow_statement))
def test_no_witness_needs_a_value_out_of_range(case: tuple[str, dict[str, Any]]) -> None:
    sql, catalog = case
    decision = _decided(sql, catalog)
    witness = decision and decision.witness
    if not witness:
        return
    bodies = {**catalog["streams"], **catalog["relations"]}
    for size in (2, 7, 300):
        larger = build(witness.plan, size)
        assert larger is not None, sql  # the witness of an unbounded query is there at any size
        for row in (*larger.prefix(range(size)), *larger.probes[0], *larger.probes[-1]):
            for name, value in row.values.items():
                least, most = RANGES.get(bodies[row.table]["columns"][name], (value, value))
                assert value is None or least <= value <= most, (sql, row)
