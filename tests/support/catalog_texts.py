"""Catalogs as texts, and queries over them, for tests of what reads files."""

from __future__ import annotations

TWO_STREAMS = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { b = "bigint", ts = "bigint" }
"""
BOUNDED = "SELECT S.a FROM S, T WHERE S.ts > T.ts AND T.b BETWEEN 1 AND 3 AND S.a > T.b"
"""Over `TWO_STREAMS`."""

MIXED = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "string", ts = "bigint" }
domain.a = [0, 9]
[streams.T]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
[relations.R]
columns = { a = "bigint" }
"""
"""Streams, a text, a domain and a relation."""
