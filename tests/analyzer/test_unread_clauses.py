"""What other engines would give other results for is said at its place (SB152), and nothing is said of the rest."""

from __future__ import annotations

import random

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.codes import Code
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict

CATALOG = catalog_from_mapping(
    {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "ts": "timestamp"}}}}
)
QUERY = "SELECT a FROM S"
HINTS = ("STATE_TTL('S' = '1d')", "OPTIONS('a' = 'b')", "LOOKUP('table' = 'S', 'retry' = '(2)')", "early_fire")
SILENT_HINTS = ("BROADCAST(S)", "REPARTITION(3)", "COALESCE (1)", "SHUFFLE_HASH(S, t)", "merge(S)")


def marked(sql: str) -> list[str]:
    """The stretches that warnings are at."""
    found = [one for item in check_source(SourceText("q.sql", sql), CATALOG) for one in item.diagnostics]
    assert all(one.help for one in found if one.code is Code.NOT_READ)
    return [sql[one.span.start : one.span.end] for one in found if one.code is Code.NOT_READ]


def test_hints_are_found_wherever_they_stand() -> None:
    """In any number, between any two tokens of a query, also those that the parser takes for comments."""
    choose = random.Random(38)
    words = ["SELECT", "a", ",", "b", "FROM", "S", "WHERE", "a", ">", "1", "AND", "b", "IN", "(", "1", ",", "2", ")"]
    for _ in range(200):
        text, expected = list(words), list[str]()
        for place in sorted(choose.sample(range(1, len(words) + 1), choose.randint(1, 3)), reverse=True):
            hints = choose.choices((*HINTS, *SILENT_HINTS), k=choose.randint(1, 3))
            text.insert(place, f"/*+ {choose.choice([', ', ' ']).join(hints)} */")
            expected = [hint for hint in hints if hint in HINTS] + expected
        assert marked(" ".join(text)) == expected, text


def test_verdicts_are_those_without_it() -> None:
    sql = f"SET 'table.exec.state.ttl' = '1 h'; {QUERY} /*+ OPTIONS('a' = 'b') */; SELECT DISTINCT a FROM S"
    verdicts = [item.verdict for item in check_source(SourceText("q.sql", sql), CATALOG)]
    assert verdicts == [Verdict.NO_QUERY, Verdict.BOUNDED, Verdict.UNBOUNDED]
