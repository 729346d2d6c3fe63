"""Spark's SQL with its function calls left as they are written.

sqlglot reads a function into a node of many dialects, and writes it in words of its own: `NVL` as `COALESCE`, `MOD` as
`%`. What a job evaluates and what the registry knows should be the function that the user has written, so that only
aggregates, casts and what has a syntax of its own get nodes of their own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser

from streambound.analyzer.numerals import whole_numerals
from streambound.analyzer.strings import whole_strings

_SYNTAX = ("CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING", "POSITION", "OVERLAY")
_CASTS = (
    "BIGINT", "BOOLEAN", "DATE", "DOUBLE", "FLOAT", "INT", "SMALLINT", "STRING", "TIMESTAMP", "TIMESTAMP_LTZ",
    "TIMESTAMP_NTZ", "TINYINT",
)  # fmt: skip
_WITHIN_GROUP = ("PERCENTILE_CONT", "PERCENTILE_DISC")
"""Aggregates that sqlglot prints for Spark as another one, without their order."""
AGGREGATES = frozenset(
    name.upper() for kind in exp.FUNCTION_BY_NAME.values() if issubclass(kind, exp.AggFunc) for name in kind.sql_names()
)
"""The names of the aggregates that sqlglot knows."""


class SparkAsWritten(Spark):
    """Spark, of whose functions only aggregates and casts are told from others."""

    class Parser(SparkParser):
        """Reads a call of any other function as a call by its name."""

        FUNCTIONS: ClassVar = {
            n: build for n, build in SparkParser.FUNCTIONS.items() if n in {*AGGREGATES, *_CASTS} - {*_WITHIN_GROUP}
        }
        FUNCTION_PARSERS: ClassVar = {
            name: read for name, read in SparkParser.FUNCTION_PARSERS.items() if name in (*_SYNTAX, *AGGREGATES)
        }


@lru_cache(maxsize=1024)
def parsed(text: str, alias: bool = False) -> exp.Expr:
    """The syntax tree of an expression's text; with its AS, if it has one and ``alias`` says so."""
    selected, dialect = f"SELECT {text}", SparkAsWritten()
    tokens = whole_strings(whole_numerals(dialect.tokenize(selected), selected), selected)
    (statement,) = dialect.parser().parse(tokens, selected)
    assert isinstance(statement, exp.Select), text
    item = statement.expressions[0]
    return item if alias else item.unalias()  # type: ignore[no-any-return]
