"""What may stand in a SEQ block: each refusal at its token, with words."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import Checked, check_source
from streambound.criteria.vocabulary import Verdict

INTEGERS = {"columns": {"a": "bigint", "b": "bigint", "m": "map<int,int>", "vb": "bigint", "ve": "bigint"}}
CATALOG = {
    "time": {"domain": [0, 24]},
    "relations": {
        "r": {**INTEGERS, "period": ["vb", "ve"]},
        "s": {**INTEGERS, "period": ["vb", "ve"]},
        "days": {"columns": {"a": "bigint", "db": "date", "de": "date"}, "period": ["db", "de"]},
        "fixed": {"columns": {"a": "bigint", "n": "string"}},
    },
    "streams": {"E": {"timestamp": "ts", "columns": {"a": "bigint", "seq": "bigint", "ts": "bigint"}}},
}


def checked(sql: str, catalog: object = CATALOG) -> Checked:
    assert isinstance(catalog, dict)
    (found,) = check_source(SourceText("q.sql", sql), catalog_from_mapping(catalog))
    return found


@pytest.mark.parametrize("word", ["EXISTS", "NOT EXISTS"])
def test_a_query_of_exists_may_stand_in_more_parentheses(word: str) -> None:
    plain, more = (
        checked(f"SEQ VT (SELECT r.a FROM r WHERE {word} {query})")
        for query in ("(SELECT 1 FROM s WHERE s.a = r.a)", "(((SELECT 1 FROM s WHERE s.a = r.a)))")
    )
    assert plain.verdict is more.verdict is Verdict.BOUNDED
    assert plain.blocks is not None and more.blocks is not None
    assert plain.blocks.blocks[0].query.plan == more.blocks.blocks[0].query.plan


def test_a_time_line_of_dates() -> None:
    catalog = {"relations": {"days": CATALOG["relations"]["days"]}}  # type: ignore[index]
    found = checked("SEQ VT FROM DATE '2020-01-01' TO '2020-02-01' (SELECT COUNT(*) AS n FROM days)", catalog)
    assert found.blocks is not None
    query = found.blocks.blocks[0].query
    assert (query.time_type, query.low, query.high) == ("date", 18262, 18293)


def test_what_is_reported() -> None:
    from streambound.reports.outcome import outcome

    shown = outcome(checked("SEQ VT (SELECT a FROM r)"))
    assert (shown.projection, shown.bound and shown.bound.entries, shown.passes) == ("snapshot", 0, True)


AROUND = "SELECT v.n, v._begin FROM SEQ VT (SELECT a AS n FROM r) AS v JOIN fixed ON fixed.a = v.n ORDER BY v.n"


def test_a_block_is_a_table() -> None:
    found = checked(AROUND)
    assert found.blocks is not None
    assert found.blocks.columns == ("n", "_begin")
    assert {table.name for table in found.blocks.tables} == {"r", "fixed"}
    assert found.blocks.ordered
    assert "{seq_26} AS v" in found.blocks.outer
    assert "{fixed} AS `fixed`" in found.blocks.outer


def test_files_with_views_and_names() -> None:
    text = "CREATE VIEW big AS SELECT a FROM r;\nINSERT INTO t SEQ VT (SELECT * FROM big);\nSELECT seq vt FROM E"
    source = SourceText("q.sql", text)
    found = check_source(source, catalog_from_mapping(CATALOG))
    assert [(one.statement.name, one.verdict.value) for one in found[1:2]] == [("t", "bounded")]
    assert found[1].blocks is not None
    assert not found[2].statement.blocks  # a column called seq, shown as vt


def test_a_boolean_is_a_condition() -> None:
    columns = {"a": "bigint", "ok": "boolean", "vb": "bigint", "ve": "bigint"}
    catalog = {"relations": {"r": {"columns": columns, "period": ["vb", "ve"]}}}
    assert not checked("SEQ VT (SELECT a FROM r WHERE ok)", catalog).diagnostics
    assert not checked("SEQ VT (SELECT x.a FROM r AS x JOIN r AS y ON y.ok)", catalog).diagnostics


ACCEPTED = [
    "b",
    "b AND NOT b",
    "b OR n",
    "NOT n",
    "NOT (n OR b)",
    "b OR NULL",
    "true AND b",
    "n = 'a' OR 'true'",
]


def test_spark_takes_them_for_conditions(spark: Any) -> None:
    """As jobs set it up, it casts a text below OR and NOT where something else stands beside it."""
    rows = spark.sql("SELECT true AS b, 'true' AS n")
    for condition in ACCEPTED:
        rows.where(condition).collect()
    for condition in ("n", "n OR n", "1 OR b", "NOT 1"):
        with pytest.raises(Exception, match="DATATYPE_MISMATCH"):
            rows.where(condition).collect()
