"""How the front end reports: a `Finding` carries one diagnostic out of what cannot be lowered."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from analyzer.diagnostics import Diagnostic, Related
from analyzer.spans import SourceText, Span


class Finding(Exception):
    """Raised inside the front end only; collected into the statement's diagnostics."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Positions:
    """Spans of syntax-tree nodes, from the positions that sqlglot keeps on leaves and from the tokens."""

    def __init__(self, source: SourceText, tokens: tuple[Token, ...]) -> None:
        self.source = source
        self._tokens = tokens
        self._at = {token.start: index for index, token in enumerate(tokens)}

    def of(self, node: exp.Expr) -> Span:
        """The span from a node's first to its last token; its nearest parent's where it has none."""
        current: exp.Expr | None = node
        while current is not None:
            if span := self._leaves(current):
                return span
            current = current.parent
        return self.source.span(self._tokens[0].start, self._tokens[-1].end + 1)

    def _leaves(self, node: exp.Expr) -> Span | None:
        metas = [leaf.meta for leaf in node.walk() if "start" in leaf.meta]
        if not metas:
            return None
        start = min(meta["start"] for meta in metas)
        end = max(meta["end"] for meta in metas) + 1
        if isinstance(node, exp.Func | exp.Exists | exp.Window | exp.Subquery) and not isinstance(
            node, exp.Connector | exp.Cast
        ):
            start, end = self._with_call(start, end)
        return self.source.span(start, end)

    def _with_call(self, start: int, end: int) -> tuple[int, int]:
        """Widen a call's arguments (or a subquery's body) to its name and its closing parenthesis."""
        index = self._at.get(start, 0)
        while index > 0 and self._tokens[index - 1].token_type in (TokenType.SELECT, TokenType.DISTINCT):
            index -= 1
        if index < 2 or self._tokens[index - 1].token_type is not TokenType.L_PAREN:
            return start, end
        first = (
            self._tokens[index - 2]
            if self._tokens[index - 2].text.isidentifier()
            else self._tokens[index - 1]
        )
        depth = 0
        for token in self._tokens[index - 1 :]:
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
            if depth == 0 and token.end + 1 >= end:
                return first.start, token.end + 1
        return first.start, end

    def keyword(self, *types: TokenType, after: int = 0) -> Span | None:
        """The span of the first token of one of the types at or after an offset."""
        token = next((t for t in self._tokens if t.start >= after and t.token_type in types), None)
        return self.source.span(token.start, token.end + 1) if token else None

    @property
    def first_token(self) -> Span:
        """The span of the statement's first token."""
        return self.source.span(self._tokens[0].start, self._tokens[0].end + 1)

    def text(self, span: Span) -> str:
        """The source text of a span."""
        return self.source.text[span.start : span.end]

    def finding(
        self, code: str, message: str, at: exp.Expr | Span, help: str = "", related: tuple[Related, ...] = ()
    ) -> Finding:
        """A finding at a node or span of this statement."""
        span = at if isinstance(at, Span) else self.of(at)
        return Finding(Diagnostic(code, message, self.source.file, span, help, related=related))

    def keyword_before(self, offset: int, *types: TokenType) -> Span | None:
        """The span of the last token of one of the types that starts before an offset."""
        token = next((t for t in reversed(self._tokens) if t.start < offset and t.token_type in types), None)
        return self.source.span(token.start, token.end + 1) if token else None
