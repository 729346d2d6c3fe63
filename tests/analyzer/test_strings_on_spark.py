"""String literals mean what Spark itself reads in them."""

from __future__ import annotations

from typing import Any

from streambound.analyzer.query import Constant
from support.cases import query_of

LITERALS = [
    "'it''s'",
    "'it' 's'",
    "''''",
    '"a""b"',
    "'a'\"b\"",
    r"'a\'b''c'",
    "r'a''b'",
    r"r'a\nb'",
    r"'a' r'\n' 'b'",
    "'a'/*c*/'b' '' 'd'",
    r"'\%x\_y\q\n\101\u00e9\U0001F600'",
]


def test_literals(spark: Any) -> None:
    values = []
    for literal in LITERALS:
        (output,) = query_of(f"SELECT {literal} FROM S").branches[0].outputs
        assert isinstance(output.value, Constant)
        values.append(output.value.value)
    assert values == [spark.sql(f"SELECT {literal}").first()[0] for literal in LITERALS]
