"""How the front end reports: a `Finding` carries one diagnostic out of what cannot be lowered."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic, Related
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.work import spend

_ENCLOSED = (exp.Anonymous, exp.AggFunc, exp.Exists, exp.Window, exp.Subquery)
_PARENTHESES = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}

_STEPS = 20
"""What it takes to find where an expression stands, beside its parts."""
_PREFIXES: dict[type[exp.Expr], TokenType] = {exp.Not: TokenType.NOT, exp.Neg: TokenType.DASH}
_STOPS = (
    TokenType.SELECT,  # of the statement behind a view
    TokenType.AND,
    TokenType.OR,
    TokenType.COMMA,
    TokenType.ALIAS,
    TokenType.FROM,
    TokenType.WHERE,
    TokenType.GROUP_BY,
    TokenType.ORDER_BY,
    TokenType.LIMIT,
    TokenType.UNION,
    TokenType.JOIN,
)


def _start(node: exp.Expr) -> exp.Expr:
    """The first operand of an expression."""
    while isinstance(node, exp.Binary):
        node = node.this
    return node


def _end(node: exp.Expr) -> exp.Expr:
    """The last operand of an expression."""
    while isinstance(node, exp.Binary) and node.args.get("expression") is not None:
        node = node.expression
    return node


class Finding(Exception):
    """Raised inside the front end only; collected into the statement's diagnostics."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Positions:
    """Spans of syntax-tree nodes, from the positions that sqlglot keeps on leaves and from the tokens."""

    def __init__(self, source: SourceText, tokens: tuple[Token, ...], before: tuple[Token, ...] = ()) -> None:
        """``before`` are the tokens of the views that the statement of these ``tokens`` reads."""
        self.source = source
        self._first = len(before)
        self._tokens = tokens = (*before, *tokens)
        self._at = {token.start: index for index, token in enumerate(tokens)}
        self._ends = {token.end: index for index, token in enumerate(tokens)}
        self._known: dict[int, tuple[exp.Expr, Span | None]] = {}

    @property
    def words(self) -> frozenset[str]:
        """The statement's tokens as they are written, names among them, in small letters."""
        return frozenset(token.text.lower() for token in self._tokens)

    def of(self, node: exp.Expr) -> Span:
        """The span from a node's first to its last token; its nearest parent's where it has none."""
        current: exp.Expr | None = node
        while current is not None:
            if id(current) not in self._known:
                self._known[id(current)] = current, self._leaves(current)
            if span := self._known[id(current)][1]:
                return span
            current = current.parent
        return self.source.span(self._tokens[self._first].start, self._tokens[-1].end + 1)

    def whole(self, node: exp.Expr) -> Span:
        """The span of an expression with its NOT, its sign and its parentheses: what its removal removes."""
        first, last = self._outermost(node)
        return self.source.span(self._tokens[first].start, self._tokens[last].end + 1)

    def in_place_of(self, old: exp.Expr, new: exp.Expr) -> None:
        """Let an expression that is made for another one be where that is."""
        span = self.whole(old)
        new.meta["whole"] = span.start, span.end

    def _outermost(self, node: exp.Expr) -> tuple[int, int]:
        if (place := node.meta.get("whole")) is not None:
            return self._at[place[0]], self._ends[place[1] - 1]
        if isinstance(node, exp.Binary):
            left: exp.Expr = node
            while isinstance(left, exp.Binary):
                left = left.this
            return self._outermost(left)[0], self._outermost(node.expression)[1]
        if isinstance(node, exp.Between):
            return self._outermost(node.this)[0], self._up_to_stop(self._second_end(node))
        placed = self._placed(node)  # the parser keeps no place of NULL, TRUE and FALSE
        if isinstance(node, exp.Paren) and placed:
            first, last = self._outermost(node.this)
            return first - 1, last + 1
        if isinstance(node, exp.Not | exp.Neg) and placed:
            first, last = self._outermost(node.this)
            # The NOT of `x NOT IN (1)` does not come first.
            return first - self._is(first - 1, _PREFIXES[type(node)]), last
        span = self.of(node)
        return self._at[span.start], self._ends[span.end - 1]

    def _second_end(self, node: exp.Between) -> int:
        """Where the AND of a BETWEEN is: the bound after it, such as an interval, may have no position of its own."""
        index = self._keyword_index(self._outermost(node.this)[1], TokenType.BETWEEN, 1)
        depth = 0
        while index + 1 < len(self._tokens) and (depth or not self._is(index, TokenType.AND)):
            index += 1
            depth += _PARENTHESES.get(self._tokens[index].token_type, 0)
        return index

    def _leaves(self, node: exp.Expr) -> Span | None:
        leaves = list(node.walk())
        spend(_STEPS + len(leaves))
        metas = [leaf.meta for leaf in leaves if "start" in leaf.meta]
        starts = [self._at[meta["start"]] for meta in metas if meta["start"] in self._at]
        ends = [self._ends[meta["end"]] for meta in metas if meta["end"] in self._ends]
        if not starts or not ends:
            return None
        first, last = self._balanced(*self._widened(node, min(starts), max(*ends, min(starts))))
        return self.source.span(self._tokens[first].start, self._tokens[last].end + 1)

    def _widened(self, node: exp.Expr, first: int, last: int) -> tuple[int, int]:
        """Widen a node's leaves to the keyword, name or parenthesis that it starts with."""
        if isinstance(node, exp.Case):
            return self._keyword_index(first, TokenType.CASE, -1), self._keyword_index(last, TokenType.END, 1)
        if isinstance(node, exp.Lateral):
            return self._keyword_index(first, TokenType.LATERAL, -1), last
        if isinstance(node, exp.Extract):
            return next((at for at in range(first, -1, -1) if self._text(at) == "EXTRACT"), first), last
        if isinstance(node, exp.Cast):
            return self._start_of_cast(node, first), last
        if isinstance(node, exp.Interval):
            return self._before_any(first, TokenType.INTERVAL), self._up_to_stop(last)
        if isinstance(_start(node), exp.Cast):
            first = self._start_of_cast(_start(node), first)
        if not self._placed(_end(node)):
            last = self._up_to_stop(last)
        named = first + 1 < len(self._tokens) and self._tokens[first + 1].token_type is TokenType.L_PAREN
        if isinstance(node, exp.Select) or (isinstance(node, _ENCLOSED) and not named):
            first = self._before_any(first, TokenType.SELECT, TokenType.DISTINCT)
        if isinstance(node, _ENCLOSED) and not named and self._is(first - 1, TokenType.L_PAREN):
            called = not isinstance(node, exp.Subquery) and self._tokens[first - 2].text.isidentifier()
            first -= 2 if called and first > 1 else 1
        return first, last

    def _start_of_cast(self, node: exp.Expr, first: int) -> int:
        """Where a cast, of a sign or another cast, starts; ``first`` is where what is inside of all of them does."""
        if isinstance(node.this, exp.Cast | exp.Neg | exp.Paren):
            first = self._start_of_cast(node.this, first)
        if isinstance(node, exp.Neg):
            return first - self._is(first - 1, TokenType.DASH)
        opened = self._is(first - 1, TokenType.L_PAREN)
        if isinstance(node, exp.Paren):
            return first - opened
        if opened and (self._text(first - 2) in ("CAST", "TRY_CAST") or type(node) is exp.Cast):
            return first - 2
        return first - (type(node) is exp.Cast)  # a type stands before a text

    def _balanced(self, first: int, last: int) -> tuple[int, int]:
        """Widen a stretch of tokens until every parenthesis in it has its other half."""
        depth = lowest = 0
        for token in self._tokens[first : last + 1]:
            depth += _PARENTHESES.get(token.token_type, 0)
            lowest = min(lowest, depth)
        while lowest < 0 < first:
            first -= 1
            lowest += _PARENTHESES.get(self._tokens[first].token_type, 0)
            depth += _PARENTHESES.get(self._tokens[first].token_type, 0)
        while depth > 0 and last + 1 < len(self._tokens):
            last += 1
            depth += _PARENTHESES.get(self._tokens[last].token_type, 0)
        return first, last

    @staticmethod
    def _placed(node: exp.Expr) -> bool:
        return any("start" in leaf.meta for leaf in node.walk())

    def _up_to_stop(self, index: int) -> int:
        """The last token of an expression whose end has no position of its own, such as ``NULL`` or ``?``."""
        depth = 0
        while index + 1 < len(self._tokens):
            token = self._tokens[index + 1]
            depth += _PARENTHESES.get(token.token_type, 0)
            if depth < 0 or (depth == 0 and token.token_type in _STOPS):
                break
            index += 1
        return index

    def _text(self, index: int) -> str:
        return self._tokens[index].text.upper() if index >= 0 else ""

    def _is(self, index: int, *types: TokenType) -> bool:
        return index >= 0 and self._tokens[index].token_type in types

    def _before_any(self, index: int, *types: TokenType) -> int:
        while self._is(index - 1, *types):
            index -= 1
        return index

    def _keyword_index(self, index: int, keyword: TokenType, step: int) -> int:
        """The nearest token of a type in one direction; the token itself where there is none."""
        found = index
        while 0 <= found < len(self._tokens):
            if self._tokens[found].token_type is keyword:
                return found
            found += step
        return index

    def keyword(self, *types: TokenType, after: int = 0) -> Span | None:
        """The span of the first token of one of the types at or after an offset."""
        token = next((t for t in self._tokens if t.start >= after and t.token_type in types), None)
        return self.source.span(token.start, token.end + 1) if token else None

    @property
    def first_token(self) -> Span:
        """The span of the statement's first token."""
        first = self._tokens[self._first]
        return self.source.span(first.start, first.end + 1)

    def first_word(self, node: exp.Expr) -> str:
        """The word that a statement, or a query inside one, starts with."""
        span = self.of(node) if node.parent else self.first_token
        return self.text(span).split(maxsplit=1)[0].upper()

    def text(self, span: Span) -> str:
        """The source text of a span."""
        return self.source.text[span.start : span.end]

    def finding(
        self, code: Code, message: str, at: exp.Expr | Span, help: str = "", related: tuple[Related, ...] = ()
    ) -> Finding:
        """A finding at a node or span of this statement."""
        span = at if isinstance(at, Span) else self.of(at)
        return Finding(Diagnostic(code, message, self.source.file, span, help, related=related))

    def eliminates_duplicates(self, node: exp.Expr) -> Span | None:
        """The DISTINCT of a SELECT, or the UNION between two."""
        if isinstance(node, exp.Select):
            return self.keyword(TokenType.DISTINCT, after=self.of(node).start)
        return self.keyword_before(self.of(node.expression).start, TokenType.UNION)

    def keyword_before(self, offset: int, *types: TokenType) -> Span | None:
        """The span of the last token of one of the types that starts before an offset."""
        token = next((t for t in reversed(self._tokens) if t.start < offset and t.token_type in types), None)
        return self.source.span(token.start, token.end + 1) if token else None
