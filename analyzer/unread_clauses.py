"""What Spark, Flink or Databricks would give other results for, and is not read: hints, settings, expectations (SB152).

Hints and settings that only say how a query is executed (BROADCAST, shuffle partitions) are passed over, as are clauses
that say where results are kept and how (TBLPROPERTIES, PARTITIONED BY, PRIMARY KEY, the options of WITH).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.lexical import LexicalKind, stretches
from streambound.analyzer.spans import SourceText

_HINT = re.compile(r"([A-Za-z_]\w*)(?:\s*+\((?:[^()']|'[^']*')*+\))?")
_EXECUTION_HINTS = frozenset({
    "BROADCAST", "BROADCASTJOIN", "MAPJOIN", "MERGE", "SHUFFLE_MERGE", "MERGEJOIN", "SHUFFLE_HASH", "NEST_LOOP",
    "SHUFFLE_REPLICATE_NL", "COALESCE", "REPARTITION", "REPARTITION_BY_RANGE", "REBALANCE", "SKEW", "RANGE_JOIN",
    "MULTI_JOIN", "DROP_DUPLICATES", "DROP_DUPLICATES_WITHIN_WATERMARK",
})  # fmt: skip
"""Hints that change no result."""
_FORGETS = "Flink forgets rows when this time is over, and here none is forgotten that a result may still need"
_SAY_TIMES = "say in a condition how long rows wait: s.ts BETWEEN o.ts AND o.ts + INTERVAL 1 DAY"
_HINTS = {
    "STATE_TTL": (_FORGETS, _SAY_TIMES),
    "OPTIONS": (
        "how a table is read and written is said in the catalog",
        "give source = … or sinks in the catalog, and leave the hint out",
    ),
}
"""Why a hint matters, and what to do instead."""
_OTHER_HINT = "it may change results", "leave it out, or write what it means as SQL"

_UTC = ("utc", "z", "gmt", "etc/utc", "+00:00", "+0:00")
_IN_UTC = "times are in UTC here", "set it to UTC, and convert times where they are shown: FROM_UTC_TIMESTAMP(ts, …)"
_AS_SPARK_4 = "jobs run with Spark 4's default", "leave it out, or test the query with the default"
_WAITING = "how long a stream is waited for is said in the catalog", "declare lateness = … there"
_SETTINGS: tuple[tuple[str, tuple[str, ...], tuple[str, str]], ...] = (
    ("table.exec.state.ttl", ("0", "0 ms", "0 s"), (_FORGETS, _SAY_TIMES)),
    ("table.local-time-zone", _UTC, _IN_UTC),
    ("spark.sql.session.timezone", _UTC, _IN_UTC),
    ("time zone", _UTC, _IN_UTC),
    ("spark.sql.ansi.enabled", ("true",), _AS_SPARK_4),
    ("spark.sql.casesensitive", ("false",), _AS_SPARK_4),
    ("spark.sql.legacy.", (), _AS_SPARK_4),
    ("spark.sql.streaming.multiplewatermarkpolicy", ("min",), _WAITING),
    ("table.exec.source.idle-timeout", ("0", "0 ms", "0 s"), _WAITING),
    ("table.exec.emit.", (), ("results are printed as changes", "leave it out, or write -- streambound: emit final")),
    (
        "table.exec.sink.not-null-enforcer", ("error",),
        ("no row with a NULL is dropped", "write the condition: WHERE x IS NOT NULL"),
    ),
)  # fmt: skip
"""Settings, or what their names begin with, that change results; values that do not; why, and what to do instead."""
_DROPPED = {"DROP": "the rows that it drops are judged and in the results", "FAIL": "no such row stops a job here"}


def unread_clauses(
    source: SourceText, chunk: Sequence[Token], query: Sequence[Token], end: int
) -> tuple[Diagnostic, ...]:
    """An ``SB152`` at each such clause of a statement that ends somewhere; ``query`` are the tokens of its query."""
    found = [*_hints(source, chunk[0].start, end), *_settings(source, chunk)]
    found += _of_target(source, [token for token in chunk if token.start < query[0].start])
    return tuple(sorted(found, key=lambda one: one.span))


def _warning(source: SourceText, start: int, end: int, what: str, why: tuple[str, str]) -> Diagnostic:
    message = f"{what} is not read: {why[0]}"
    return Diagnostic(Code.NOT_READ, message, source.file, source.span(start, end), why[1])


def _hints(source: SourceText, start: int, end: int) -> Iterator[Diagnostic]:
    """Of ``/*+ … */``, which is a comment for the parser at most places."""
    if source.text.find("/*+", start, end) < 0:
        return
    for stretch in stretches(source.text, start):
        if stretch.start >= end:
            return
        if stretch.kind is not LexicalKind.BLOCK_COMMENT or not source.text.startswith("/*+", stretch.start):
            continue
        for hint in _HINT.finditer(source.text, stretch.start + 3, stretch.end - 2):
            name = hint.group(1).upper()
            if name not in _EXECUTION_HINTS:
                yield _warning(source, hint.start(), hint.end(), f"the hint {name}", _HINTS.get(name, _OTHER_HINT))


def _settings(source: SourceText, chunk: Sequence[Token]) -> Iterator[Diagnostic]:
    """Of ``SET 'key' = 'value'``, ``SET key = value`` and ``SET TIME ZONE value``."""
    if chunk[0].text.upper() != "SET" or len(chunk) < 3:
        return
    end = next((i for i, token in enumerate(chunk) if token.token_type is TokenType.EQ), 3)
    zone = [token.text.upper() for token in chunk[1:3]] == ["TIME", "ZONE"]
    name = "time zone" if zone else "".join(token.text for token in chunk[1:end]).lower()
    value = "".join(token.text for token in chunk[3 if zone else end + 1 :]).lower()
    for key, harmless, why in _SETTINGS:
        if (name == key or (key.endswith(".") and name.startswith(key))) and value and value not in harmless:
            what = source.text[chunk[0].start : chunk[2 if zone else end - 1].end + 1]
            yield _warning(source, chunk[0].start, chunk[-1].end + 1, " ".join(what.split()), why)


def _of_target(source: SourceText, head: Sequence[Token]) -> Iterator[Diagnostic]:
    """Of ``CONSTRAINT c EXPECT (condition) ON VIOLATION DROP ROW`` and row filters, between CREATE and AS."""
    words = ["" if token.token_type is TokenType.STRING else token.text.upper() for token in head]
    for i, word in enumerate(words):
        if word == "EXPECT" and words[i + 1 : i + 2] == ["("]:
            yield from _expectation(source, head, words, i)
        elif word == "ROW" and words[i + 1 : i + 2] == ["FILTER"] and i + 2 < len(head):
            why = "the rows that it hides are judged and in the results", "write it as a condition, in WHERE"
            yield _warning(source, head[i].start, head[i + 2].end + 1, f"ROW FILTER {head[i + 2].text}", why)


def _expectation(source: SourceText, head: Sequence[Token], words: Sequence[str], expect: int) -> Iterator[Diagnostic]:
    """One that keeps rows that break it is passed over: they are counted, no more."""
    close = _closing(words, expect + 1)
    match words[close + 1 : close + 5]:
        case ["ON", "VIOLATION", "DROP" | "FAIL" as action, last]:
            first = expect - 2 if expect > 1 and words[expect - 2] == "CONSTRAINT" else expect
            named = f"CONSTRAINT {head[expect - 1].text}" if first < expect else "EXPECT"
            condition = source.text[head[expect + 1].end + 1 : head[close].start].strip()
            why = _DROPPED[action], f"write it as a condition: SELECT * FROM (…) WHERE {condition}"
            what = f"{named} … ON VIOLATION {action} {last}"
            yield _warning(source, head[first].start, head[close + 4].end + 1, what, why)


def _closing(words: Sequence[str], opening: int) -> int:
    """The place of the parenthesis that closes one, or of the last word."""
    depth = 0
    for i in range(opening, len(words)):
        depth += {"(": 1, ")": -1}.get(words[i], 0)
        if depth == 0:
            return i
    return len(words) - 1
