"""Forms of Spark's and Flink's SQL that the parser does not know: read in another type, or named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.emission import Emission, EmitMode
from streambound.analyzer.lexical import LexicalKind, stretches
from streambound.analyzer.spans import SourceText
from streambound.analyzer.syntax_errors import syntax_error

_DEPTH = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_ARGUMENT = (TokenType.L_PAREN, TokenType.COMMA, TokenType.FARROW)
_BEFORE_SOURCE = (TokenType.FROM, TokenType.JOIN)
_CALLED = (TokenType.WINDOW, TokenType.SESSION)
"""Keywords that are functions before a parenthesis."""
_EMITTED = ("CHANGES", "FINAL", "STREAM", "AFTER", "WITHOUT", "ON")
_EMIT_CLAUSES = {
    ("EMIT", "CHANGES"): EmitMode.CHANGES,
    ("EMIT", "FINAL"): EmitMode.FINAL,
    ("EMIT", "ON", "WINDOW", "CLOSE"): EmitMode.FINAL,
}
"""Clauses of ksqlDB and RisingWave at the end of a query."""
_TABLE, _PARTITIONED = "a query that starts with TABLE", "PARTITION BY of a table argument"
_WINDOW = "a WINDOW clause of ksqlDB with more than its lengths"
KSQL_WINDOWS = ("ksqldb's tumbling", "ksqldb's hopping", "ksqldb's session")
"""The functions that ksqlDB's WINDOW clauses are read as (`algebra.ksql_windows`)."""
_DELAYED = "WATERMARK … DELAY OF"
_HELP = {
    "MATCH_RECOGNIZE": "write it as joins of the stream with itself within a window of time, or with LAG and LEAD",
    "EMIT": "write EMIT CHANGES or EMIT FINAL, or a comment -- streambound: emit final before the query",
    _DELAYED: "leave it out, and declare lateness = … of the stream in the catalog",
    _TABLE: "write SELECT * FROM …",
    _WINDOW: 'write WINDOW TUMBLING (SIZE 1 HOUR); how late rows may come is said in the catalog, lateness = "1 hour"',
    _PARTITIONED: "leave it out, and name the columns in GROUP BY beside window_start and window_end",
}
"""What to do instead of a form."""
_CLAUSES = (
    TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY, TokenType.UNION, TokenType.JOIN,
    TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.INNER, TokenType.CROSS, TokenType.ON, TokenType.COMMA,
    TokenType.LIMIT, TokenType.WINDOW, TokenType.SELECT,
)  # fmt: skip


def known_forms(tokens: Sequence[Token]) -> list[Token]:
    """Tokens in the types that the parser needs: ``window(…)`` is a call, ``ROW<…>`` a struct, ``f(TABLE t)`` f(t),
    and Databricks' ``FROM STREAM t``, ``STREAM(t)`` and ``LIVE.t`` are ``FROM t``.

    In ``SESSION(TABLE t PARTITION BY a, …)`` the keys are arguments of their own.
    """
    found: list[Token] = []
    calls: list[str] = []
    tokens = _with_windows_as_views(_without_stream_calls(tokens))
    for i, token in enumerate(tokens):
        before, after = (found[-1] if found else None), (tokens[i + 1] if i + 1 < len(tokens) else None)
        if token.token_type is TokenType.L_PAREN:
            calls.append(before.text.upper() if before is not None and before.token_type is TokenType.VAR else "")
        elif token.token_type is TokenType.R_PAREN and calls:
            calls.pop()
        elif token.token_type in _CALLED and after and after.token_type is TokenType.L_PAREN:
            token = _retyped(token, TokenType.VAR)
        elif token.text.upper() == "ROW" and after and after.token_type is TokenType.LT:
            token = _retyped(token, TokenType.STRUCT)
        elif token.token_type is TokenType.PARTITION_BY and calls and calls[-1] == "SESSION" and before:
            token = _retyped(token, TokenType.COMMA)
        elif (calls and calls[-1] and _precedes_argument(token, before, after)) or _precedes_stream(
            token, before, tokens[i + 1 : i + 3]
        ):
            continue
        found.append(token)
    return found


def _without_stream_calls(tokens: Sequence[Token]) -> list[Token]:
    """``FROM STREAM(db.t)`` and ``FROM LIVE.t`` as ``FROM db.t`` and ``FROM t``."""
    found, closed = list[Token](), set[int]()
    for i, token in enumerate(tokens):
        word, after = token.text, tokens[i + 1].token_type if i + 1 < len(tokens) else None
        in_from = token.token_type is TokenType.VAR and i > 0 and tokens[i - 1].token_type in _BEFORE_SOURCE
        if in_from and word.upper() == "STREAM" and after is TokenType.L_PAREN:
            closed |= {i + 1, _end(tokens, i + 2)}
        elif (in_from or i - 1 in closed) and word == "LIVE" and after is TokenType.DOT:
            closed |= {i + 1}
        elif i not in closed:
            found.append(token)
    return found


def _with_windows_as_views(tokens: Sequence[Token]) -> list[Token]:
    """``WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 5 MINUTES)``  ->  ``LATERAL VIEW … ('1 HOUR', '5 MINUTES')``."""
    found, i = list[Token](), 0
    while i < len(tokens):
        words = [token.text.upper() for token in tokens[i : i + 11]]
        match words:
            case ["WINDOW", "TUMBLING", "(", "SIZE", _, _, ")", *_]:
                lengths, end = [i + 4], i + 6
            case ["WINDOW", "HOPPING", "(", "SIZE", _, _, ",", "ADVANCE", "BY", _, _] if i + 11 < len(tokens):
                lengths, end = [i + 4, i + 9], i + 11
            case ["WINDOW", "SESSION", "(", _, _, ")", *_]:
                lengths, end = [i + 3], i + 5
            case _:
                lengths, end = [], i
        if not lengths or tokens[end].token_type is not TokenType.R_PAREN:
            found.append(tokens[i])
            i += 1
            continue
        name = next(one for one in KSQL_WINDOWS if one.endswith(words[1].lower()))
        found += [_renamed(tokens[i], TokenType.LATERAL, "LATERAL"), _renamed(tokens[i], TokenType.VIEW, "VIEW")]
        found += [_renamed(tokens[i + 1], TokenType.VAR, name), tokens[i + 2]]
        for number, at in enumerate(lengths):
            comma = [_renamed(tokens[at], TokenType.COMMA, ",")] if number else []
            found += [*comma, _renamed(tokens[at], TokenType.STRING, f"{tokens[at].text} {tokens[at + 1].text}")]
        found.append(tokens[end])
        i = end + 1
    return found


def _precedes_argument(token: Token, before: Token | None, after: Token | None) -> bool:
    """Whether this is the word before a table that a call is given, as in ``TUMBLE(TABLE bid, …)``."""
    if token.token_type is not TokenType.TABLE and token.text.upper() != "MODEL":
        return False
    return bool(before and before.token_type in _ARGUMENT and after and after.token_type in _NAMES)


def _precedes_stream(token: Token, before: Token | None, rest: Sequence[Token]) -> bool:
    """Whether this is the word of ``FROM STREAM t``, and no table of that name, as in ``FROM stream s``.

    In capitals it is taken for the word; else where a table of that name with an alias could not be followed by this.
    """
    called = token.token_type is TokenType.VAR and token.text.upper() == "STREAM"
    if not called or before is None or before.token_type not in (TokenType.FROM, TokenType.JOIN):
        return False
    if not rest or rest[0].token_type not in _NAMES:
        return False
    more = rest[1].token_type if len(rest) > 1 else None
    return token.text == "STREAM" or more in (TokenType.ALIAS, TokenType.DOT, *_NAMES)


def _retyped(token: Token, kind: TokenType) -> Token:
    return _renamed(token, kind, token.text)


def _renamed(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, line=token.line, col=token.col, start=token.start, end=token.end, comments=token.comments)


def without_emit(source: SourceText, query: Sequence[Token]) -> tuple[tuple[Token, ...], Emission | None]:
    """A query without its final EMIT clause, and the mode that the clause means."""
    for words, mode in _EMIT_CLAUSES.items():
        last = query[-len(words) :]
        if len(query) > len(words) and tuple(token.text.upper() for token in last) == words:
            return tuple(query[: -len(words)]), Emission(mode, source.span(last[0].start, last[-1].end + 1))
    return tuple(query), None


def named_form(
    source: SourceText, chunk: Sequence[Token], parses: Callable[[Sequence[Token]], bool]
) -> Diagnostic | None:
    """An ``SB110`` at the first form that the parser does not know; None unless the statement parses without them."""
    kept: list[Token] = []
    first: tuple[Token, str] | None = None
    i = 0
    while i < len(chunk):
        name, end = _form(chunk, i)
        if name:
            first = first or (chunk[i], name)
            i = end
            continue
        kept.append(chunk[i])
        i += 1
    if first is None or not parses(kept):
        return None
    token, name = first
    span = source.span(token.start, token.end + 1)
    return Diagnostic(Code.UNSUPPORTED, f"{name} is outside the query language", source.file, span, _HELP[name])


def _form(chunk: Sequence[Token], i: int) -> tuple[str, int]:
    """The form that starts at a token, and its end; an empty name if there is none."""
    word, after = chunk[i].text.upper(), chunk[i + 1].text.upper() if i + 1 < len(chunk) else ""
    if chunk[i].token_type in (TokenType.IDENTIFIER, TokenType.STRING):
        return "", i
    if word == "MATCH_RECOGNIZE" and after == "(":
        return word, _end(chunk, i + 2) + 1
    if word == "WINDOW" and after in ("TUMBLING", "HOPPING", "SESSION"):
        return _WINDOW, _end(chunk, i + 3) + 1
    if word == "EMIT" and after in _EMITTED:
        return word, _end(chunk, i)
    if word == "WATERMARK" and any(token.text.upper() == "DELAY" for token in chunk[i + 1 : i + 3]):
        return _DELAYED, _end(chunk, i, _CLAUSES)
    if chunk[i].token_type is TokenType.TABLE and i and chunk[i - 1].token_type is TokenType.L_PAREN:
        return _TABLE, i + 1
    if chunk[i].token_type is TokenType.PARTITION_BY and i > 1 and _in_table_argument(chunk, i):
        return _PARTITIONED, _end(chunk, i, (TokenType.COMMA,))
    return "", i


def _in_table_argument(chunk: Sequence[Token], i: int) -> bool:
    """Whether the name before a PARTITION BY is an argument of a call, as in ``SESSION(TABLE bid PARTITION BY a, …)``.

    In a window it follows the parenthesis or the window's name that it is based on.
    """
    given = i > 2 and chunk[i - 1].token_type in _NAMES and chunk[i - 2].token_type in _ARGUMENT
    return given and chunk[i - 3].token_type not in (TokenType.OVER, TokenType.ALIAS)


def _end(chunk: Sequence[Token], start: int, stops: Sequence[TokenType] = ()) -> int:
    """The first token from one on that closes a parenthesis opened before, or is a stop outside of others."""
    depth = 0
    for i in range(start, len(chunk)):
        depth += _DEPTH.get(chunk[i].token_type, 0)
        if depth < 0 or (depth == 0 and i > start and chunk[i].token_type in stops):
            return i
    return len(chunk)


def foreign_comments(source: SourceText, templates: bool = False) -> tuple[Diagnostic, ...]:
    """An ``SB001`` at each comment that goes on in the next line for Spark, or that is none for it.

    Spark continues a ``--`` comment whose line ends with a backslash, and refuses ``{# … #}``, which is welcome where
    ``templates`` are.
    """
    if "\\\n" not in source.text and "{#" not in source.text:
        return ()
    return tuple(_found(source, templates))


def _found(source: SourceText, templates: bool) -> Iterator[Diagnostic]:
    text = source.text
    for stretch in stretches(text):
        if stretch.kind is LexicalKind.LINE_COMMENT and text[stretch.end - 1 : stretch.end + 1] == "\\\n":
            message = "this comment ends with a backslash, so Spark reads the next line as a part of it"
            yield syntax_error(source, source.span(stretch.end - 1, stretch.end), message, "leave out the backslash")
        elif stretch.kind is LexicalKind.TEMPLATE_COMMENT and not (templates and stretch.closed):
            message = "this is a comment of a template, not of SQL"
            yield syntax_error(source, source.span(stretch.start, stretch.start + 2), message, "write -- … or /* … */")
