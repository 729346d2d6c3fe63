"""A column has one meaning where only one input of the query has it, however its condition asks others."""

from __future__ import annotations

import pytest

from streambound.analyzer.spans import SourceText
from streambound.criteria.check import Checked, check_source
from streambound.criteria.vocabulary import Verdict
from support.cases import catalog

ASKED = (
    "SELECT {} FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 5)",
    "SELECT {} FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 5)",
    "SELECT {} FROM S WHERE {} IN (SELECT a FROM T WHERE T.ts BETWEEN S.ts AND S.ts + 5)",
    "SELECT {} FROM S WHERE {} NOT IN (SELECT a FROM T WHERE T.ts BETWEEN S.ts AND S.ts + 5)",
)


def judged(sql: str) -> Checked:
    (item,) = check_source(SourceText("q.sql", sql), catalog())
    return item


@pytest.mark.parametrize("sql", ASKED)
def test_a_plain_name_of_the_outer_query_is_its_own(sql: str) -> None:
    plain, full = (judged(sql.replace("{}", name)) for name in ("a", "S.a"))
    assert plain.verdict is full.verdict is Verdict.BOUNDED
    sizes = [one.bound and [(table.table, table.size) for table in one.bound.tables] for one in (plain, full)]
    assert sizes[0] == sizes[1]


def test_a_name_that_both_sides_have_is_ambiguous_still() -> None:
    found = judged("SELECT a FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + 5")
    assert [one.code.value for one in found.diagnostics] == ["SB103"]
