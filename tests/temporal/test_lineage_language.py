"""What may stand in a SEQ TP block, and how its plan is told."""

from __future__ import annotations

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
