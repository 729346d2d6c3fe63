"""Statements that are no query themselves: the query inside ``CREATE … AS`` and ``INSERT``, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import pairwise

from msgspec import Struct
from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.seq_blocks import starts_block
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.syntax_errors import syntax_error

_QUERIES = (TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.TABLE, TokenType.VALUES)
"""What the query of an INSERT may start with, beside a SEQ block."""
_DEPTH = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}
_OBJECTS = ("TABLE", "VIEW", "STREAM")
_MODIFIERS = (
    "OR", "REPLACE", "REFRESH", "TEMPORARY", "TEMP", "GLOBAL", "PRIVATE", "EXTERNAL", "MATERIALIZED", "STREAMING",
    "LIVE", "LAZY",
)  # fmt: skip
"""Words between CREATE and what is created."""
_UP_TO_DATE = ("LIVE", "MATERIALIZED", "STREAMING", "STREAM")
"""Words of what a query is run for again and again."""
_IF_NOT_EXISTS = ("IF", "NOT", "EXISTS")
_WITHOUT_QUERY = (
    "ADD", "ALTER", "ANALYZE", "BEGIN", "CACHE", "CALL", "CLEAR", "COMMENT", "COMMIT", "CREATE", "DECLARE", "DELETE",
    "DESC", "DESCRIBE", "DROP", "END", "EXPLAIN", "GRANT", "INSERT", "LIST", "LOAD", "MSCK", "OPTIMIZE", "REFRESH",
    "REMOVE", "REPLACE", "RESET", "REVOKE", "SET", "SHOW", "TRUNCATE", "UNCACHE", "UNLOAD", "UNSET", "UPDATE", "USE",
    "VACUUM",
)  # fmt: skip
"""The first words of statements that read no stream unless there is a SELECT in them."""
_ALONE = ("BEGIN", "COMMIT", "END", "RESET", "SET")
"""Those that may be the whole statement."""
_UNREAD = {
    "MERGE": "write its source as a query, INSERT INTO … SELECT, and merge the job's output downstream",
    "APPLY": "declare the target as a relation with changes = { format = …, key = […] } in the catalog, and read that",
    "EXECUTE": "write each INSERT as a statement of its own, between BEGIN STATEMENT SET; and END;",
}
"""The first words of statements that read streams in a way of their own, with the way out."""


class ViewOf(Enum):
    """The view that the name of a statement's target means from there on."""

    NOTHING = "nothing"
    QUERY = "a query"
    RESULTS = "a query's results, which are kept up to date"


class Enclosed(Struct, frozen=True):
    """The query of a CREATE or an INSERT: its tokens, and the name and place of the target, if it has one.

    ``view`` says what the name stands for; ``columns`` are the names that it gives its columns.
    """

    tokens: tuple[Token, ...]
    target: str = ""
    at: Span | None = None
    view: ViewOf = ViewOf.NOTHING
    columns: tuple[Token, ...] = ()


def enclosed(source: SourceText, chunk: Sequence[Token]) -> Enclosed | Diagnostic:
    """A statement's query: itself, or what CREATE … AS and INSERT enclose; else why there is none (``SB403``, …)."""
    first = next(iter(_word(chunk[0]).split()), "")  # ADD JAR is one token
    found: Enclosed | Diagnostic | None = None
    match first:
        case "CREATE" | "REPLACE" | "CACHE":
            found = _created(source, chunk)
        case "INSERT":
            found = _inserted(source, chunk)
        case _ if first in _UNREAD:
            return _outside(source, chunk[0], f"{first} is", _UNREAD[first])
        case _ if first not in _WITHOUT_QUERY:
            found = Enclosed(tuple(chunk))
    if isinstance(found, Enclosed):
        return _refused(source, found.tokens) or found
    return found or _without_query(source, chunk)


def _created(source: SourceText, chunk: Sequence[Token]) -> Enclosed | Diagnostic | None:
    """``CREATE [OR REPLACE] [TEMPORARY] VIEW v (a, b) AS query``, and the same of tables."""
    index = 1
    while index < len(chunk) and _word(chunk[index]) in _MODIFIERS:
        index += 1
    if index >= len(chunk) or _word(chunk[index]) not in _OBJECTS:
        return None
    kept = any(_word(token) in _UP_TO_DATE for token in chunk[1 : index + 1])
    is_view, index = _word(chunk[index]) == "VIEW", index + 1
    view = ViewOf.RESULTS if kept else ViewOf.QUERY if is_view else ViewOf.NOTHING
    if tuple(_word(token) for token in chunk[index : index + 3]) == _IF_NOT_EXISTS:
        index += 3
    end = _name_end(chunk, index)
    after = next((i for i in _outermost(chunk, end) if chunk[i].token_type is TokenType.ALIAS), None)
    if after is None:
        query = next((token for token in chunk if token.token_type is TokenType.SELECT), None)
        if query is None and not is_view:
            return None
        where = f"before {query.text!r}" if query else f"after {chunk[-1].text!r}"
        return syntax_error(source, _span(source, query or chunk[-1]), f"AS is missing {where}")
    if after + 1 == len(chunk):
        return syntax_error(source, _span(source, chunk[after]), "a query is missing after 'AS'")
    columns = tuple(_columns(chunk, end)) if is_view else ()
    name, at = _target(source, chunk[index:end])
    return Enclosed(tuple(chunk[after + 1 :]), name, at, view, columns)


def _inserted(source: SourceText, chunk: Sequence[Token]) -> Enclosed | Diagnostic | None:
    """``INSERT INTO t (a, b) query``; ``INSERT … VALUES`` has none."""
    index = 1
    while index < len(chunk) and _word(chunk[index]) in ("INTO", "OVERWRITE", "TABLE"):
        index += 1
    directory = index < len(chunk) and _word(chunk[index]) in ("LOCAL", "DIRECTORY")
    end = index if directory else _name_end(chunk, index)
    for i in _outermost(chunk, end):
        opened = chunk[i].token_type is TokenType.L_PAREN
        starts = chunk[i + 1 : i + 2] if opened else chunk[i : i + 1]
        block = not opened and starts_block(chunk, i)
        if not block and (not starts or starts[0].token_type not in _QUERIES):
            continue
        if starts[0].token_type is TokenType.VALUES:
            return None
        if starts[0].token_type is TokenType.WITH and chunk[i + 1 : i + 2] and _is(chunk[i + 1], TokenType.L_PAREN):
            continue  # the options of the table
        name, at = ("", None) if directory else _target(source, chunk[index:end])
        return Enclosed(tuple(chunk[i:]), name, at)
    return syntax_error(source, _span(source, chunk[-1]), f"the query of INSERT is missing after {chunk[-1].text!r}")


def _refused(source: SourceText, query: Sequence[Token]) -> Diagnostic | None:
    """The diagnostic for a query of Spark that this project does not read."""
    if _is(query[0], TokenType.TABLE):
        return _outside(source, query[0], "a query that starts with TABLE is", "write SELECT * FROM …")
    for i in _outermost(query, 1):
        if _is(query[i], TokenType.INSERT) and query[i + 1 : i + 2] and _word(query[i + 1]) in ("INTO", "OVERWRITE"):
            help = "write INSERT INTO first, and WITH … SELECT after it"
            return _outside(source, query[i], "INSERT after WITH or FROM is", help)
    return None


def _without_query(source: SourceText, chunk: Sequence[Token]) -> Diagnostic:
    """The note that a statement reads no stream; what has a query somewhere that is not read is refused."""
    words = _word(chunk[0]).split()[:1]
    if len(chunk) == 1 and " " not in chunk[0].text and words[0] not in _ALONE:
        return syntax_error(source, _span(source, chunk[0]), f"something is missing after {chunk[0].text!r}")
    objects = (_word(token) for token in chunk[1:] if _word(token) not in _MODIFIERS)
    words += [next(objects, "")] if words[0] in ("CREATE", "DROP", "ALTER") else []
    called = " ".join(word for word in words if word)
    for token, after in pairwise(chunk):
        if (_word(token), _word(after)) == ("AUTO", "CDC"):
            return _outside(source, token, "AUTO CDC is", _UNREAD["APPLY"])
    for token in chunk:
        command = _is(token, TokenType.STRING) and token is chunk[1] and "SELECT" in token.text.upper().split()
        if token.token_type is TokenType.SELECT or command:
            at = chunk[0] if command else token
            return _outside(source, at, f"a query inside {called} is", "write the query as a statement of its own")
    message = f"{called} reads no stream: there is nothing to decide"
    return Diagnostic(Code.NO_QUERY, message, source.file, _span(source, chunk[0]))


def _outside(source: SourceText, token: Token, what: str, help: str) -> Diagnostic:
    message = f"{what} outside the query language"
    return Diagnostic(Code.UNSUPPORTED, message, source.file, _span(source, token), help)


def _outermost(chunk: Sequence[Token], start: int) -> Iterator[int]:
    """The tokens from one on that stand in no parentheses, by their places; an opening one counts as outside."""
    depth = 0
    for i in range(start, len(chunk)):
        if depth == 0:
            yield i
        depth += _DEPTH.get(chunk[i].token_type, 0)


def _name_end(chunk: Sequence[Token], start: int) -> int:
    """Where a name with points ends: ``db . t``."""
    end = start + 1
    while end + 1 < len(chunk) and _is(chunk[end], TokenType.DOT):
        end += 2
    return end


def _target(source: SourceText, name: Sequence[Token]) -> tuple[str, Span]:
    """A target's name as a query is called, without blanks, and its place."""
    written = "".join(token.text for token in name)
    return "_".join(written.split()), source.span(name[0].start, name[-1].end + 1)


def _columns(chunk: Sequence[Token], index: int) -> Iterator[Token]:
    """The names in the list ``(a COMMENT '…', b)`` after a view's name."""
    if not _is(chunk[index], TokenType.L_PAREN):
        return
    depth = 0
    for before, token in zip(chunk[index:], chunk[index + 1 :], strict=False):
        depth += _DEPTH.get(before.token_type, 0)
        if depth == 0:
            return
        if depth == 1 and before.token_type in (TokenType.L_PAREN, TokenType.COMMA):
            yield token


def _word(token: Token) -> str:
    """A keyword or name in capitals; nothing for a quoted one."""
    return "" if token.token_type in (TokenType.IDENTIFIER, TokenType.STRING) else token.text.upper()


def _is(token: Token, kind: TokenType) -> bool:
    return token.token_type is kind


def _span(source: SourceText, token: Token) -> Span:
    return source.span(token.start, token.end + 1)
