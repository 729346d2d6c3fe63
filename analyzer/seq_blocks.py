"""`SEQ VT (query)` and `SEQ TP (query)`: blocks of a statement whose SQL is evaluated at every point of time.

Spark does not know them. Each is cut out of its statement, which gets a table's name in its place, and is read by
itself; `streambound.temporal` says what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.models import Described
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.syntax_errors import syntax_error

_DEPTH = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}
_QUOTED = (TokenType.IDENTIFIER, TokenType.STRING)
_STARTS = (TokenType.SELECT, TokenType.WITH, TokenType.FROM)
_FORM = "write SEQ VT (SELECT …), SEQ VT FROM x TO y (SELECT …) or SEQ VT AS OF x (SELECT …), and so for SEQ TP"
_SEMIRINGS = (
    "write SEQ VT SEMIRING boolean ( … ), or tropical OF c, where c has costs; without SEMIRING rows are counted"
)
_ALONE = "a SEQ block is a statement by itself, or a table in FROM"


class SeqKind(StrEnum):
    """The results at a point of time: rows with multiplicities, or with lineages and probabilities."""

    VT = "VT"
    TP = "TP"


class Semiring(StrEnum):
    """What the rows of a SEQ VT block are annotated with (Dignös et al., Section 4)."""

    COUNTING = "counting"
    BOOLEAN = "boolean"
    TROPICAL = "tropical"


class SeqBlock(Described, frozen=True):
    """A block: its query, and the period for which it is evaluated.

    ``name`` is the table that stands for it in the statement. ``since`` and ``until`` are those of ``FROM x TO y``,
    ``as_of`` that of ``AS OF x``; None where the block has none. ``tokens`` are those inside its parentheses, ``at`` is
    its first words. ``before`` are the tokens of the views that it reads. ``costs`` is the column that ``SEMIRING
    tropical OF`` names.
    """

    DESCRIPTION = ("before",)

    kind: SeqKind
    name: str
    at: Span
    span: Span
    query: exp.Expr
    tokens: tuple[Token, ...]
    since: exp.Expr | None = None
    until: exp.Expr | None = None
    as_of: exp.Expr | None = None
    header: tuple[Token, ...] = ()
    before: tuple[Token, ...] = ()
    semiring: Semiring = Semiring.COUNTING
    costs: str = ""


Parse = Callable[[Sequence[Token]], exp.Expr | Diagnostic]
"""How the tokens of a query become its tree."""


def starts_block(tokens: Sequence[Token], index: int) -> bool:
    """Whether the words ``SEQ VT`` or ``SEQ TP`` stand at a place, and a block can follow."""
    if index + 2 >= len(tokens) or any(token.token_type in _QUOTED for token in tokens[index : index + 2]):
        return False
    if tokens[index].text.upper() != "SEQ" or tokens[index + 1].text.upper() not in tuple(SeqKind):
        return False
    after = tokens[index + 2]
    if after.text.upper() == "SEMIRING":
        return True
    if after.token_type is TokenType.FROM:  # SELECT seq AS vt FROM t needs no AS
        return _outside(tokens, index + 3, lambda token: token.text.upper() == "TO") is not None
    return after.token_type is TokenType.L_PAREN or (
        after.token_type is TokenType.ALIAS and index + 3 < len(tokens) and tokens[index + 3].text.upper() == "OF"
    )


def cut_blocks(
    source: SourceText, tokens: Sequence[Token], parse: Parse
) -> tuple[tuple[Token, ...], tuple[SeqBlock, ...]] | Diagnostic:
    """The tokens of a statement with a name for each block, and the blocks; or what is wrong with one."""
    left: list[Token] = []
    blocks: list[SeqBlock] = []
    index = 0
    if len(tokens) > 1 and tokens[0].text.upper() == "SEQ" and not starts_block(tokens, 0):
        wrong = tokens[min(2, len(tokens) - 1)] if tokens[1].text.upper() in tuple(SeqKind) else tokens[1]
        return syntax_error(source, _span(source, wrong), "this is no SEQ block", _FORM)
    while index < len(tokens):
        if not starts_block(tokens, index):
            left.append(tokens[index])
            index += 1
            continue
        found = _block(source, tokens, index, parse)
        if isinstance(found, Diagnostic):
            return found
        block, end = found
        first, last = tokens[index], tokens[end]
        left.append(Token(TokenType.VAR, block.name, line=first.line, col=first.col, start=first.start, end=last.end))
        blocks.append(block)
        index = end + 1
    return tuple(left), tuple(blocks)


def whole_tree(
    source: SourceText, tokens: Sequence[Token], blocks: Sequence[SeqBlock], parse: Parse
) -> exp.Expr | Diagnostic:
    """The tree of a statement from which blocks were cut; one that is nothing but a block is ``SELECT * FROM`` it."""
    if len(tokens) == 1 and blocks:
        name = exp.to_identifier(blocks[0].name)
        name.update_positions(tokens[0])
        return exp.select("*").from_(exp.Table(this=name))
    if blocks and tokens[0].text == blocks[0].name:
        return syntax_error(source, _span(source, tokens[1]), _ALONE, "write SELECT * FROM SEQ VT (…) AS t")
    tree = parse(tokens)
    if isinstance(tree, Diagnostic) or not blocks:
        return tree
    read = {table.name for table in tree.find_all(exp.Table)}
    lost = next((block for block in blocks if block.name not in read), None)
    if lost is not None:
        return syntax_error(source, lost.at, _ALONE)
    return tree


def _block(source: SourceText, tokens: Sequence[Token], index: int, parse: Parse) -> tuple[SeqBlock, int] | Diagnostic:
    """The block that starts at a token, and the place of its last one."""
    words = source.span(tokens[index].start, tokens[index + 1].end + 1)
    opens = _outside(tokens, index + 2, lambda token: token.token_type is TokenType.L_PAREN, _opens_query)
    if opens is None:
        return syntax_error(source, words, "the query of this SEQ block is missing", _FORM)
    closes = _closes(tokens, opens)
    if closes is None:
        return syntax_error(source, _span(source, tokens[opens]), "the parenthesis of this SEQ block is never closed")
    kind = SeqKind(tokens[index + 1].text.upper())
    semiring = _semiring(source, kind, tokens[index + 2 : opens])
    if isinstance(semiring, Diagnostic):
        return semiring
    annotated, costs, header = semiring
    inside = tuple(tokens[opens + 1 : closes])
    nested = next((i for i in range(len(inside)) if starts_block(inside, i)), None)
    if nested is not None:
        at = source.span(inside[nested].start, inside[nested + 1].end + 1)
        return Diagnostic(Code.UNSUPPORTED, "SEQ blocks do not nest", source.file, at, "write it as one block")
    times = _times(source, header, parse)
    if isinstance(times, Diagnostic):
        return times
    query = parse(inside)
    if isinstance(query, Diagnostic):
        return query
    span = source.span(tokens[index].start, tokens[closes].end + 1)
    since, until, as_of = times
    return SeqBlock(
        kind=kind, name=f"seq_{tokens[index].start}", at=words, span=span, query=query, tokens=inside, since=since,
        until=until, as_of=as_of, header=header, semiring=annotated, costs=costs,
    ), closes  # fmt: skip


def _semiring(
    source: SourceText, kind: SeqKind, header: Sequence[Token]
) -> tuple[Semiring, str, tuple[Token, ...]] | Diagnostic:
    """The semiring before the times of a block, its column of costs, and the words after it."""
    words = [token.text.lower() for token in header]
    if words[:1] != ["semiring"]:
        return Semiring.COUNTING, "", tuple(header)
    if kind is SeqKind.TP or words[1:2] == ["lineage"]:
        message, help = "lineages are those of SEQ TP", "write SEQ TP ( … ), of relations with a key and a probability"
        return syntax_error(source, _span(source, header[0]), message, help)
    if words[1:2] == [Semiring.TROPICAL] and words[2:3] == ["of"] and len(words) > 3:
        return Semiring.TROPICAL, header[3].text, tuple(header[4:])
    if words[1:2] in ([Semiring.COUNTING], [Semiring.BOOLEAN]):
        return Semiring(words[1]), "", tuple(header[2:])
    at = header[min(2 if words[1:2] == [Semiring.TROPICAL] else 1, len(header) - 1)]
    return syntax_error(source, _span(source, at), "this is no semiring", _SEMIRINGS)


def _times(
    source: SourceText, header: tuple[Token, ...], parse: Parse
) -> tuple[exp.Expr | None, exp.Expr | None, exp.Expr | None] | Diagnostic:
    """The expressions of ``FROM x TO y`` and ``AS OF x``."""
    if not header:
        return None, None, None
    parts = [header[2:]]
    if header[0].token_type is TokenType.FROM:
        to = _outside(header, 1, lambda token: token.text.upper() == "TO")
        parts = [header[1:to], header[(to or 0) + 1 :]]
    found = []
    for part in parts:
        if not part:
            return syntax_error(source, _span(source, header[0]), "a time is missing here", _FORM)
        tree = parse(part)
        if isinstance(tree, Diagnostic):
            return syntax_error(source, source.span(part[0].start, part[-1].end + 1), "this is not a time", _FORM)
        found.append(tree)
    return (found[0], found[1], None) if found[1:] else (None, None, found[0])


def _opens_query(tokens: Sequence[Token], index: int) -> bool:
    """Whether the parenthesis at a place is that of a query."""
    while index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN:
        index += 1
    return index < len(tokens) and (tokens[index].token_type in _STARTS or starts_block(tokens, index))


def _outside(
    tokens: Sequence[Token], start: int, wanted: Callable[[Token], bool],
    also: Callable[[Sequence[Token], int], bool] = lambda tokens, index: True,
) -> int | None:  # fmt: skip
    """The first wanted token from one on that stands in no parentheses opened since."""
    depth = 0
    for index in range(start, len(tokens)):
        if depth == 0 and wanted(tokens[index]) and also(tokens, index):
            return index
        depth += _DEPTH.get(tokens[index].token_type, 0)
        if depth < 0:
            return None
    return None


def _closes(tokens: Sequence[Token], opens: int) -> int | None:
    depth = 0
    for index in range(opens, len(tokens)):
        depth += _DEPTH.get(tokens[index].token_type, 0)
        if depth == 0:
            return index
    return None


def _span(source: SourceText, token: Token) -> Span:
    return source.span(token.start, token.end + 1)
