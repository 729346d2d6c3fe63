"""Splitting a SQL file into statements: tokens, syntax tree, name and span of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.catalog import CatalogNames
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.emission import Emission, emission
from streambound.analyzer.enclosed_queries import Enclosed, ViewOf, enclosed
from streambound.analyzer.errors import InputError
from streambound.analyzer.expressions.dialect import parsed_tokens, tokens_of
from streambound.analyzer.file_views import Created, FileView, Views, with_views
from streambound.analyzer.findings import Positions
from streambound.analyzer.foreign_forms import foreign_comments, known_forms, named_form, without_emit
from streambound.analyzer.function_calls import with_functions
from streambound.analyzer.lexical import LexicalKind, stretches
from streambound.analyzer.names import LETTERS, as_name, is_name
from streambound.analyzer.seq_blocks import SeqBlock, cut_blocks, whole_tree
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.statement import Statement
from streambound.analyzer.syntax_errors import (
    interval_of_no_number,
    parse_error,
    short_list,
    string_as_name,
    syntax_error,
    unreadable_text,
)
from streambound.analyzer.templates import Templates, is_of_dbt, templates
from streambound.analyzer.unread_clauses import unread_clauses
from streambound.analyzer.user_functions import UserFunction
from streambound.analyzer.work import spend

_NO_NAMES = CatalogNames()
_STEPS = 20
"""What it takes to parse a token."""


def split_statements(
    source: SourceText, only: Sequence[int] | None = None, names: CatalogNames = _NO_NAMES
) -> tuple[Statement, ...]:
    """The statements of a file, in order, or some, by their numbers from 0; -1 is the last one.

    A statement that does not parse carries an ``SB001`` diagnostic. What CREATE VIEW names can be read from there on,
    unless it is kept up to date, as a materialized view is, and the catalog of those ``names`` declares its results.
    """
    return _split(source, only, names)[0]


def created(source: SourceText, names: CatalogNames) -> Created:
    """The views that a text creates for other files."""
    statements, views = _split(source, None, names)
    whole = FileView(Path(source.file).stem, (), statements[0]) if len(statements) == 1 else None
    return Created(views, whole)


def _split(source: SourceText, only: Sequence[int] | None, names: CatalogNames) -> tuple[tuple[Statement, ...], Views]:
    """As `split_statements`, with the views after the last of them."""
    read = templates(source, names)
    try:
        tokens = tokens_of(read.text)
    except TokenError:
        whole = source.span(0, len(source.text))
        return (Statement(Path(source.file).stem, source, whole, (), None, (unreadable_text(source),)),), {}
    chunks = list(_chunks(known_forms(read.tokens(tokens))))
    queries, clauses = list[Enclosed | Diagnostic](), list[Emission | None]()
    for _, chunk in chunks:
        query, clause = enclosed(source, chunk), None
        if isinstance(query, Enclosed):
            inside, clause = without_emit(source, query.tokens)
            query = replace(query, tokens=inside)
        queries.append(query)
        clauses.append(clause)
    starts = [_tokens(query, chunk)[0].start for query, (_, chunk) in zip(queries, chunks, strict=True)]
    called = statement_names(source, list(zip([before for before, _ in chunks], starts, strict=True)), queries)
    wanted = range(len(chunks)) if only is None else [number % len(chunks) for number in only if chunks]
    ends = [*(before for before, _ in chunks[1:]), len(source.text)]
    foreign = sorted((*read.refused, *foreign_comments(source, is_of_dbt(source, names))), key=lambda found: found.span)
    views: Views = {}
    found: dict[int, Statement] = {}
    for i in range(max(wanted, default=-1) + 1):
        query, view = queries[i], _viewed(queries[i], names)
        if i not in wanted and view is None:
            continue
        statement = with_views(
            _statement(source, chunks[i][1], query, called[i], read, names.functions),
            views,
            names.tables,
            names.elsewhere,
        )
        asked = emission(source, chunks[i][0], starts[i]) or clauses[i]
        wrong = [one for one in foreign if chunks[i][0] <= one.span.start < ends[i]]
        wrong += [one for one in (called[i].wrong, asked) if isinstance(one, Diagnostic)]
        statement = replace(statement, emit=asked) if isinstance(asked, Emission) else statement
        remarks = unread_clauses(source, chunks[i][1], _tokens(query, chunks[i][1]), ends[i])
        found[i] = replace(_refused(statement, wrong), remarks=remarks)
        if view is not None:
            views = {**views, view.target.lower(): FileView(view.target, view.columns, found[i])}
    return tuple(found[i] for i in wanted), views


def _refused(statement: Statement, wrong: Sequence[Diagnostic]) -> Statement:
    """A statement with what is wrong in the comments around it; it is not read any further then."""
    return replace(statement, tree=None, diagnostics=(wrong[0],)) if wrong else statement


def some_statements(
    source: SourceText, only: Sequence[int] | None = None, names: CatalogNames = _NO_NAMES
) -> tuple[Statement, ...]:
    """As `split_statements`; raises InputError for a text that holds none."""
    found = split_statements(source, only, names)
    if not found:
        raise InputError("the file holds no SQL statement", file=source.file, remedy="remove it, or add a query")
    return found


def _chunks(tokens: Sequence[Token]) -> Iterator[tuple[int, list[Token]]]:
    """The tokens of each statement, with the offset at which the one before it ends."""
    before, chunk = 0, list[Token]()
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            chunk.append(token)
            continue
        if chunk:
            yield before, chunk
        before, chunk = token.end + 1, []
    if chunk:
        yield before, chunk


def _statement(
    source: SourceText,
    chunk: Sequence[Token],
    query: Enclosed | Diagnostic,
    name: Name,
    read: Templates,
    functions: Sequence[UserFunction],
) -> Statement:
    tokens = _tokens(query, chunk)
    span = source.span(tokens[0].start, tokens[-1].end + 1)
    cut = cut_blocks(source, tokens, partial(_parsed, source)) if isinstance(query, Enclosed) else query
    tree: exp.Expr | Diagnostic
    blocks: tuple[SeqBlock, ...] = ()
    if isinstance(cut, Diagnostic):
        tree = cut
    else:
        tokens, blocks = cut
        tree = whole_tree(source, tokens, blocks, partial(_parsed, source))
    if isinstance(tree, Diagnostic):
        return Statement(name.text, source, span, tokens, None, (tree,), name.at)
    blocks = tuple(replace(block, query=read.tree(block.query)) for block in blocks)
    tree = read.tree(tree)
    sql = read.sql(tree, span.start, span.end)
    if (wrong := with_functions(tree, functions)) is not None:
        node, words = wrong
        found = Diagnostic(Code.UNSUPPORTED, words, source.file, Positions(source, tokens).of(node))
        return Statement(name.text, source, span, tokens, None, (found,), name.at)
    return Statement(name.text, source, span, tokens, tree, (), name.at, sql=sql, blocks=blocks)


def _tokens(query: Enclosed | Diagnostic, chunk: Sequence[Token]) -> tuple[Token, ...]:
    return query.tokens if isinstance(query, Enclosed) else tuple(chunk)


def _viewed(query: Enclosed | Diagnostic, names: CatalogNames) -> Enclosed | None:
    """The query of a CREATE VIEW that later statements read."""
    if not isinstance(query, Enclosed) or query.view is ViewOf.NOTHING:
        return None
    return None if query.view is ViewOf.RESULTS and query.target.lower() in names.tables else query


def _parsed(source: SourceText, chunk: Sequence[Token]) -> exp.Expr | Diagnostic:
    """A statement's tree, or what is wrong with its syntax."""
    spend(_STEPS * len(chunk))
    if wrong := string_as_name(source, chunk) or interval_of_no_number(source, chunk):
        return wrong
    try:
        trees = parsed_tokens(chunk, source.text)
    except ParseError as error:
        return named_form(source, chunk, lambda rest: _parses(source, rest)) or parse_error(source, chunk, error)
    except RecursionError:
        trees = []
    if trees and trees[0] is not None:
        return short_list(source, chunk) or trees[0]
    first = source.span(chunk[0].start, chunk[0].end + 1)
    return syntax_error(source, first, "this is not a statement, or it is nested too deeply")


def _parses(source: SourceText, chunk: Sequence[Token]) -> bool:
    spend(_STEPS * len(chunk))
    try:
        return bool(parsed_tokens(chunk, source.text))
    except (ParseError, RecursionError):
        return False


_COMMENT = re.compile(r"--[ \t]*name:[ \t]*(\S.*)", re.S)


class Name(Struct, frozen=True):
    """A statement's name, and where it is given, None where the file's name is; what is ``wrong`` with the comment."""

    text: str
    at: Span | None = None
    wrong: Diagnostic | None = None


def statement_names(
    source: SourceText, gaps: Sequence[tuple[int, int]], queries: Sequence[Enclosed | Diagnostic]
) -> list[Name]:
    """The names of all statements of a file; names that several have are numbered from 1: ``file:2``, ``target:1``.

    The gap of each is the text from the statement before it to its query, where the comment is looked for.
    """
    stem = Path(source.file).stem or "query"
    given = [_comment(source, *gap) for gap in gaps]
    comments = [None if isinstance(comment, Diagnostic) else comment for comment in given]
    targets = [
        Name(query.target, query.at) if comment is None and isinstance(query, Enclosed) and query.target else None
        for comment, query in zip(comments, queries, strict=True)
    ]
    totals, seen = Counter(target.text for target in targets if target), Counter[str]()
    found = []
    for i, (comment, target) in enumerate(zip(comments, targets, strict=True), 1):
        if target is not None and totals[target.text] > 1:
            seen[target.text] += 1
            target = Name(f"{target.text}:{seen[target.text]}", target.at)
        name = comment or target or Name(stem if len(gaps) == 1 else f"{stem}:{i}")
        wrong = given[i - 1]
        found.append(replace(name, wrong=wrong) if isinstance(wrong, Diagnostic) else name)
    return found


def _comment(source: SourceText, start: int, end: int) -> Name | Diagnostic | None:
    """The name that the last ``-- name: …`` in a stretch of text gives, or why it is none."""
    text = source.text[start:end]
    for comment in reversed([c for c in stretches(text) if c.kind is LexicalKind.LINE_COMMENT]):
        if match := _COMMENT.fullmatch(text[comment.start : comment.end]):
            at, name = start + comment.start + match.start(1), match.group(1).rstrip()
            span = source.span(at, at + len(name))
            if is_name(name):
                return Name(name, span)
            message = f"a name is one word of {LETTERS}, since a job's directory is called by it"
            return syntax_error(source, span, message, f"write -- name: {as_name(name)}")
    return None
