"""Spark's SQL with its function calls left as they are written.

sqlglot reads a function into a node of many dialects, and writes it in words of its own: `NVL` as `COALESCE`, `MOD` as
`%`. What a job evaluates and what the registry knows should be the function that the user has written, so that only
aggregates, casts and what has a syntax of its own get nodes of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.strings import whole_numerals, whole_strings
from streambound.analyzer.work import spend

_STEPS = 5
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


_SPARK = Spark()
_KEPT = {*AGGREGATES, *_CASTS, *_SYNTAX, *SparkParser.NO_PAREN_FUNCTION_PARSERS} - {*_WITHIN_GROUP}
_WRITTEN = frozenset({*SparkParser.FUNCTIONS, *SparkParser.FUNCTION_PARSERS} - _KEPT)
"""Functions of which the parser would make a node of its own."""
LATER = ("timestampadd", "dateadd", "date_add")
DIFFERENCE = ("timestampdiff", "datediff", "date_diff", "timediff")
UNITS_FIRST = (*LATER, *DIFFERENCE)
"""Functions that take a unit of time, a word, where they take three arguments."""
_MARK = "\0"
"""What their names begin with while they are parsed, so that they mean nothing to the parser.

A subclass of it would not do: those of a compiled sqlglot, which another package may bring, have none.
"""


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text; raises `sqlglot.errors.TokenError`."""
    return whole_strings(whole_numerals(_SPARK.tokenize(text), text), text)


def parsed_tokens(tokens: Sequence[Token], text: str) -> list[exp.Expr | None]:
    """The statements of a text's tokens, calls as they are written; raises `sqlglot.errors.ParseError`."""
    marked = list(tokens)
    for place, (name, after) in enumerate(pairwise(tokens)):
        if name.token_type is TokenType.EXISTS and _asks(tokens[place + 1 :]):
            continue
        if name.text.upper() == "FLOOR" and _has_unit(tokens[place + 1 :]):
            continue
        if after.token_type is TokenType.L_PAREN and name.text.upper() in _WRITTEN:
            marked[place] = _named(name, _MARK + name.text, name.token_type)
    for place, token in enumerate(tokens):
        if token.token_type is TokenType.WINDOW and not _names_window(tokens[place + 1 : place + 3]):
            marked[place] = _named(token, token.text, TokenType.VAR)
    trees = _SPARK.parser().parse(marked, text)
    for node in (node for tree in trees if tree is not None for node in tree.walk()):
        if isinstance(node, exp.Anonymous | exp.Identifier) and isinstance(node.this, str):
            node.set("this", node.this.removeprefix(_MARK))
            _read_unit(node)
            _read_struct(node)
        elif isinstance(node, exp.Floor) and (unit := node.args.get("to")) is not None:  # Flink's FLOOR(ts TO HOUR)
            rounded = [exp.Literal.string(unit.name.upper()), node.this]
            node.replace(exp.Anonymous(this="date_trunc", expressions=rounded))
        elif isinstance(node, exp.Exists) and isinstance(node.this, exp.Subquery) and node.this.is_wrapper:
            node.set("this", node.this.unnest())
    return trees


def _read_unit(node: exp.Expr) -> None:
    """Make the unit of ``TIMESTAMPADD(MINUTE, 30, ts)`` a word, which the parser takes for a column."""
    called = isinstance(node, exp.Anonymous) and node.name.lower() in UNITS_FIRST and len(node.expressions) == 3
    if called and isinstance(column := node.expressions[0], exp.Column) and not column.table:
        unit = exp.Var(this=column.name)
        unit.meta.update(column.this.meta)
        column.replace(unit)


def _read_struct(node: exp.Expr) -> None:
    """``STRUCT(a, b + 1 AS c)``  ->  ``named_struct('a', a, 'c', b + 1)``; a value without a name has its place."""
    if not isinstance(node, exp.Anonymous) or node.name.lower() != "struct":
        return
    named = [(one.output_name or f"col{place}", one.unalias()) for place, one in enumerate(node.expressions, 1)]
    node.set("this", "named_struct")
    node.set("expressions", [part for name, value in named for part in (exp.Literal.string(name), value)])


def parsed_text(text: str) -> exp.Expr:
    """The syntax tree of a text that is one statement, or one expression."""
    (tree,) = parsed_tokens(tokens_of(text), text)
    assert tree is not None, text
    return tree


def _asks(after: Sequence[Token]) -> bool:
    """Whether a query is in parentheses, as in EXISTS ((SELECT …)): it is no array, of which some element is asked."""
    first = next((token.token_type for token in after if token.token_type is not TokenType.L_PAREN), None)
    return first in (TokenType.SELECT, TokenType.WITH)


def _has_unit(after: Sequence[Token]) -> bool:
    """Whether TO comes inside of the parentheses that open here, as in ``FLOOR (ts TO HOUR)``."""
    depth = 0
    for token in after:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 1 and token.text.upper() == "TO":
            return True
        if depth < 1:
            return False
    return False


def _names_window(after: Sequence[Token]) -> bool:
    """Whether WINDOW is a keyword, as ``w AS`` comes after it, and no name, as in ``GROUP BY window``."""
    return len(after) > 1 and after[1].token_type is TokenType.ALIAS


def _named(token: Token, text: str, kind: TokenType) -> Token:
    place = {"line": token.line, "col": token.col, "start": token.start, "end": token.end}
    return Token(kind, text, **place, comments=token.comments)


def parsed(text: str, alias: bool = False) -> exp.Expr:
    """The syntax tree of an expression's text; with its AS, if it has one and ``alias`` says so."""
    spend(_STEPS + 2 * len(text))  # whether or not the tree is here still
    return _parsed(text, alias)


@lru_cache(maxsize=1024)
def _parsed(text: str, alias: bool) -> exp.Expr:
    statement = parsed_text(f"SELECT {text}")
    assert isinstance(statement, exp.Select), text
    item = statement.expressions[0]
    return item if alias else item.unalias()  # type: ignore[no-any-return]
