"""Repairs of hand-written queries: each kind of change where it helps, where it does not, and where it is written."""

from __future__ import annotations

from functools import cache

import pytest

from streambound.analyzer.catalog import Catalog, parse_catalog
from streambound.analyzer.diagnostics import Fix
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statement import Statement
from streambound.criteria.check import Checked, check_source
from streambound.criteria.repairs.repair import with_repairs
from streambound.criteria.vocabulary import Verdict
from support.cases import CASES, Case, read_cases
from support.patching import CATALOG, patched, patched_by_lines

FILE = "q.sql"
TEXT = (CASES / "repairs.toml").read_text(encoding="utf-8")
SHARED = pytest.mark.xdist_group("repairs")
"""Tests of the same repairs, which are found once, in one process."""


def _catalog(text: str = TEXT) -> Catalog:
    return parse_catalog(text, CATALOG)


def _first(sql: str, catalog: str = TEXT) -> Checked:
    return check_source(SourceText(FILE, sql), _catalog(catalog))[0]


@cache
def _fixes(sql: str, catalog: str = TEXT) -> tuple[Fix, ...]:
    repairs = with_repairs(_first(sql, catalog), thorough=True).repairs
    return repairs.fixes if repairs else ()


def shown(kind: str, sql: str) -> str:
    """The repairs of one kind (or of ``all``) with the lines that they add."""
    lines = []
    for fix in _fixes(sql):
        if kind in ("all", "+".join(fix.changes)):
            lines.append(f"{fix.kind}: {fix.title}" + (f" ({fix.note})" if fix.note else ""))
            for hunk in fix.hunks:
                lines += [f"  {hunk.file}:{hunk.line} -{len(hunk.removed)}", *(f"  + {line}" for line in hunk.added)]
    return "\n".join(lines) or "none"


@SHARED
@pytest.mark.parametrize("case", read_cases("repairs.cases"), ids=str)
def test_cases(case: Case) -> None:
    assert shown(case.name.partition(":")[0], case.text) == case.expected


@SHARED
@pytest.mark.parametrize("case", read_cases("repairs.cases"), ids=str)
def test_every_case_is_bounded_once_repaired(case: Case) -> None:
    texts = {FILE: case.text, CATALOG: TEXT}
    for fix in _fixes(case.text):
        after = patched(texts, fix)
        assert patched_by_lines(texts, fix) == after
        assert _first(after[FILE], after[CATALOG]).verdict is Verdict.BOUNDED


# --- where they are written ---------------------------------------------------------------------------------------

OTHER = '[streams.Other]\ntimestamp = "ts"\ncolumns = { a = "bigint", ts = "bigint" }\ndomain.a = [0, 9]\n'
STREAM = '[streams.S]\ntimestamp = "ts"\n'
AB = 'columns = { a = "bigint", b = "bigint", ts = "bigint" }\n'
IN_LINE = "Other = { timestamp = 'ts', columns = { a = 'bigint', ts = 'bigint' }, domain.a = [0, 9] }\n"
LATER = '[streams.Later]\ntimestamp = "ts"\ncolumns = { ts = "bigint" }\n'
A = "domain.a = [0, 9]"
CATALOGS = {
    "columns by dotted keys": (f'{LATER}{STREAM}columns.a = "bigint"\ncolumns.ts = "bigint"\n', A),
    "a table of columns": (f'{LATER}{STREAM}[streams.S.columns]\na = "bigint"\nts = "bigint"\n', A),
    "a table of domains": (f"{LATER}{STREAM}{AB}[streams.S.domain]\nb = [1, 2]\n", "a = [0, 9]"),
    "a domain over several lines": (f"{LATER}{STREAM}{AB}domain.b = [\n  1,\n  2]\n", A),
    "a quoted header": (f'{LATER}[streams."S"]\ntimestamp = "ts"\n{AB}', A),
    "CRLF, indentation and comments": (
        f"{LATER}[streams.S] # 1\n  timestamp = 'ts' # 2\n  {AB[:-1]} # é漢😀\n".replace("\n", "\r\n"), A),
    "no last line break": (f"{LATER}{STREAM}{AB}".rstrip(), A),
    "inline tables only": (
        "[streams]\nS = { timestamp = 'ts', columns = { a = 'bigint', ts = 'bigint' } }\n"
        "Later = { timestamp = 'ts', columns = { ts = 'bigint' } }\n", None),
}  # fmt: skip


@pytest.mark.parametrize("name", CATALOGS)
def test_a_domain_is_declared_in_any_form_of_catalog_or_not_at_all(name: str) -> None:
    text, line = CATALOGS[name]
    sql = "SELECT S.a FROM S, Later WHERE Later.ts > S.ts"
    text = (
        (OTHER.replace("\n", "\r\n") if "\r" in text else OTHER) + text if "[streams]" not in text else text + IN_LINE
    )
    fixes = [fix for fix in _fixes(sql, text) if fix.changes == ("domain",)]
    assert [fix.hunks[0].added[-1].strip() for fix in fixes] == ([] if line is None else [line])
    for fix in fixes:
        after = patched({FILE: sql, CATALOG: text}, fix)
        assert _first(sql, after[CATALOG]).verdict is Verdict.BOUNDED
        assert after[CATALOG].count("\r\n") == (after[CATALOG].count("\n") if "\r" in text else 0)


def test_a_query_that_nothing_repairs_says_so() -> None:
    """Doubles that a range does not bound, in subqueries that show neither them nor their timestamps."""
    catalog = "".join(
        f'[streams.{s}]\ntimestamp = "ts"\ncolumns = {{ x = "double", ts = "bigint" }}\ndomain.x = [0.0, 1.0]\n'
        for s in "ST"
    )
    hidden = "SELECT 1 AS one FROM (SELECT x AS y FROM S) AS p, (SELECT x AS y FROM T) AS q WHERE p.y = q.y"
    item = with_repairs(_first(hidden, catalog))
    assert item.repairs is not None and item.repairs.fixes == ()
    assert "no certain place" in item.repairs.why_none


def test_a_catalog_that_was_not_read_from_a_file_is_not_patched() -> None:
    from streambound.analyzer.catalog import catalog_from_mapping

    streams = {s: {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}} for s in "ST"}
    (item,) = check_source(
        SourceText(FILE, "SELECT T.a FROM S, T WHERE S.ts > T.ts"), catalog_from_mapping({"streams": streams})
    )
    repairs = with_repairs(item).repairs
    assert repairs is not None and repairs.fixes
    assert all(edit.file == FILE for fix in repairs.fixes for edit in fix.edits)


def test_repairs_of_a_large_query_cost_few_analyses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query with many attributes affords fewer analyses than a small one, and the report says so."""
    import streambound.criteria.repairs.rejected as module

    analysed: list[int] = []
    unproved = module.unproved

    def counted(statement: Statement, catalog: Catalog) -> Checked:
        analysed.append(1)
        return unproved(statement, catalog)

    monkeypatch.setattr(module, "unproved", counted)
    names = [f"a{i}_id" for i in range(60)]
    columns = ", ".join(f'{name} = "bigint"' for name in names)
    catalog = "".join(f'[streams.{s}]\ntimestamp = "ts"\ncolumns = {{ {columns}, ts = "bigint" }}\n' for s in "STU")
    catalog += "".join(f'[relations.r{name}]\ncolumns = {{ {name} = "bigint" }}\n' for name in names)
    joins = " AND ".join(f"S.{name} = T.{name}" for name in names)
    projected = ", ".join(f"S.{name}" for name in names)
    repairs = with_repairs(_first(f"SELECT DISTINCT {projected} FROM S, T, U WHERE {joins}", catalog)).repairs
    assert 1 < len(analysed) < 60
    assert repairs is not None and "tries more" in repairs.cut_short


COLUMNS = "ABCDEFGHIJKN"
_TYPES = ", ".join(f'{column} = "bigint"' for column in (*COLUMNS, "ts"))
WIDE = "".join(f'[streams.{name}]\ntimestamp = "ts"\ncolumns = {{ {_TYPES} }}\n' for name in "STU")
"""Streams with more columns than changes are taken together."""


def test_a_wide_set_is_repaired_by_windows_for_partners_and_duplicates() -> None:
    columns = ", ".join(f"S.{column}" for column in COLUMNS)
    fixes = _fixes(f"SELECT DISTINCT {columns} FROM S, T WHERE S.A = T.A AND S.B < T.B", WIDE)
    assert {fix.changes for fix in fixes} == {("window", "bucket")}


ODD = [case for case in read_cases("front_end.cases") if case.name != "nothing but a comment"]


@pytest.mark.parametrize("case", ODD[::3], ids=str)
def test_odd_ways_to_write_a_query(case: Case) -> None:
    """What the front end understands, a repair can be written into, or is not."""
    text = (CASES / "streams.toml").read_text(encoding="utf-8")
    texts = {FILE: case.text, CATALOG: text}
    for number, item in enumerate(check_source(SourceText(FILE, case.text), _catalog(text))):
        repairs = with_repairs(item).repairs
        for fix in repairs.fixes if repairs else ():
            after = patched(texts, fix)
            again = check_source(SourceText(FILE, after[FILE]), _catalog(after[CATALOG]))
            assert again[number].verdict is Verdict.BOUNDED
