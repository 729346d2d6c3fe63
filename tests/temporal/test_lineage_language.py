"""What may stand in a SEQ TP block, and how its plan is told."""

from __future__ import annotations

import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.temporal.plan_text import rewriting_text

CATALOG = parse_catalog(
    """
[relations.a]
columns = { n = "string", k = "bigint", id = "bigint", p = "double", vb = "bigint", ve = "bigint" }
period = ["vb", "ve"]
key = "id"
probability = "p"
[relations.b]
columns = { h = "string", j = "bigint", id = "bigint", p = "double", vb = "bigint", ve = "bigint" }
period = ["vb", "ve"]
key = "id"
probability = "p"
[relations.d]
columns = { x = "string", id = "bigint", p = "double", vb = "date", ve = "date" }
period = ["vb", "ve"]
key = "id"
probability = "p"
[relations.plain]
columns = { k = "bigint", vb = "bigint", ve = "bigint" }
period = ["vb", "ve"]
[streams.S]
timestamp = "ts"
columns = { ts = "bigint", k = "bigint" }
"""
)


def checked(sql: str):
    (found,) = check_source(SourceText("q.sql", sql), CATALOG)
    return found


@pytest.mark.parametrize(
    ("inner", "code", "blamed", "word"),
    [
        ("SELECT p FROM a", "SB102", "p", "random variable"),
        ("SELECT n FROM a WHERE vb > 3", "SB102", "vb", "select by _begin and _end"),
        ("SELECT * FROM plain", "SB110", "plain", "no period, key and probability"),
        ("SELECT * FROM S", "SB110", "S", "no period, key and probability"),
        ("SELECT k FROM a GROUP BY k", "SB110", None, "GROUP BY is outside of what SEQ TP can evaluate"),
        ("SELECT k + 1 AS x FROM a", "SB110", "k + 1", "items of a SEQ TP block are columns"),
        ("SELECT DISTINCT n FROM a", "SB110", None, "DISTINCT is outside of what SEQ TP can evaluate"),
        ("SELECT COUNT(*) AS c FROM a", "SB110", None, "an aggregate without GROUP BY is outside"),
        ("SELECT n FROM a UNION ALL SELECT h FROM b", "SB110", None, "UNION ALL is outside"),
        ("SELECT * FROM a LEFT SEMI JOIN b ON a.k = b.j", "SB110", None, "SEMI JOIN is outside"),
        ("SELECT n FROM a WHERE EXISTS (SELECT 1 FROM b)", "SB110", None, "subquery"),
        ("SELECT * FROM a JOIN d ON a.n = d.x", "SB107", "d", "date"),
        ("SELECT * FROM a AS x JOIN a AS y ON x.k = y.k", "SB103", None, "two columns"),
        ("SELECT n AS _p FROM a", "SB103", None, "its own _p"),
        ("SELECT n FROM a ORDER BY n", "SB110", None, "ORDER BY"),
    ],
)
def test_what_is_refused(inner: str, code: str, blamed: str | None, word: str) -> None:
    sql = f"SEQ TP ({inner})"
    (found,) = checked(sql).diagnostics
    assert (found.code, word in found.message + found.help) == (code, True), found
    if blamed is not None:
        assert sql[found.span.start : found.span.end] == blamed


def test_times_are_for_snapshots() -> None:
    (found,) = checked("SEQ TP FROM 1 TO 3 (SELECT * FROM a)").diagnostics
    assert "SEQ VT" in found.message


def test_the_rewriting_of_joins_of_joins() -> None:
    sql = """SEQ TP (SELECT q.n FROM (SELECT * FROM a LEFT JOIN b ON a.k = b.j AND a.n <> b.h) AS q
             FULL JOIN b AS c ON q.k < c.j WHERE q.n = 'x')"""
    blocks = checked(sql).blocks
    assert blocks is not None
    assert (
        rewriting_text(blocks)
        == """\
SEQ TP of seq_0, at every bigint: n, _begin, _end, _lineage, _p
  P, at most 100,000 nodes a lineage, without rows of no possible world
    Π c0 AS c0; the disjunction of derivations, equivalent neighbours merged: shuffle by the values
      σ c0 = 'x'
        ⟗ c1 < c5 AND valid together; overlapping windows, unmatched and negating ones of both sides; shuffle both \
sides by bin of time; equivalent neighbours merged: shuffle by the values
          Π c0 AS c0, c1 AS c1, c2 AS c2, c3 AS c3
            ⟕ left c1 = right c1 AND c0 <> c2 AND valid together; overlapping windows, unmatched and negating ones \
of the left side; shuffle both sides by the keys
              a (n AS c0, k AS c1), valid in [vb, ve), variable a.id
              b (h AS c0, j AS c1), valid in [vb, ve), variable b.id
          b (h AS c0, j AS c1), valid in [vb, ve), variable b.id"""
    )
