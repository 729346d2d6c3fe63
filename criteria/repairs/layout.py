"""Where the clauses of each SELECT stand in the tokens of a statement, and edits of its text there.

An edit that has no place that is sure to be right is not made: what is repaired is read, and judged, again. The views
of the file that a statement reads are before it, as WITH clauses are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec import Struct
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.edits import Edit
from streambound.analyzer.findings import Positions
from streambound.analyzer.statement import Statement

_DEPTH = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}
_SETS = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)
_BEHIND = (
    TokenType.GROUP_BY, TokenType.HAVING, TokenType.QUALIFY, TokenType.WINDOW, TokenType.ORDER_BY, TokenType.LIMIT,
)  # fmt: skip
"""What the clauses behind a WHERE begin with."""


class Block(Struct, frozen=True):
    """One SELECT by the indices of its tokens, ends exclusive; ``depth`` counts the parentheses around it.

    ``where`` is the index of WHERE, and ``where_end`` the end of its condition, or the place for one.
    """

    first: int
    start: int
    depth: int
    where: int | None
    where_end: int


class Layout:
    """The text of one statement."""

    def __init__(self, statement: Statement) -> None:
        self.source = statement.source
        self.tokens: tuple[Token, ...] = (*statement.before, *statement.tokens)
        self.positions = Positions(statement.source, statement.tokens, statement.before)
        self._ends = list[int]()
        """Where the views end, and the statement."""
        for view in statement.views:
            self._ends.append((self._ends or [0])[-1] + len(view.tokens))
        self._ends.append(len(self.tokens))
        depths, depth = [], 0
        for token in self.tokens:
            depth += min(_DEPTH.get(token.token_type, 0), 0)
            depths.append(depth)
            depth += max(_DEPTH.get(token.token_type, 0), 0)
        self._depths = depths

    # --- the edits ------------------------------------------------------------------------------------------------

    def conditions(self, added: Iterable[tuple[exp.Expr, str]]) -> tuple[Edit, ...]:
        """Conditions in the ON of a join, or in the WHERE of a SELECT; none where one of them has no place."""
        texts: dict[int, tuple[exp.Expr, list[str]]] = {}
        for node, text in added:
            texts.setdefault(id(node), (node, []))[1].append(text)
        found = [tuple(self._condition(node, own)) for node, own in texts.values()]
        return tuple(edit for edits in found for edit in edits) if all(found) else ()

    def _condition(self, node: exp.Expr, texts: list[str]) -> Iterator[Edit]:
        if isinstance(node, exp.Join):
            yield from self._on(node, texts)
        elif (block := self.block(node)) is not None:
            yield from self._where(block, texts)

    def group_key(self, select: exp.Select, key: str, shown: str, name: str) -> tuple[Edit, ...]:
        """One more key of groups, and a column that shows it."""
        block, group = self.block(select), select.args.get("group")
        every = group is not None and group.args.get("all")
        if block is None or (group is not None and not group.expressions and not every):
            return ()
        item = self.item(select, f"{shown} {self.word('AS')} {name}")
        if every:
            return item
        if group is not None:
            return (*item, *self.one_more_key(select, key))
        space = self._break(self._token(block, TokenType.FROM))
        return (*item, self._insert(self._end(block.where_end, space), f"{space}{self.word('GROUP BY')} {key}"))

    def one_more_key(self, select: exp.Select, key: str) -> tuple[Edit, ...]:
        """One more key of groups that have some."""
        group = select.args.get("group")
        if group is None or not group.expressions:
            return ()
        return (self._insert(self.positions.whole(group.expressions[-1]).end, f", {key}"),)

    def hint(self, select: exp.Select, text: str) -> tuple[Edit, ...]:
        """A hint of a SELECT that has none."""
        block = self.block(select) if select.args.get("hint") is None else None
        return () if block is None else (self._insert(self.tokens[block.first].end + 1, f" /*+ {text} */"),)

    def item(self, select: exp.Select, text: str) -> tuple[Edit, ...]:
        """One more item of a select list, behind the others."""
        block = self.block(select)
        return () if block is None else (self._insert(self.tokens[block.start - 1].end + 1, f", {text}"),)

    def partition(self, window: exp.Window, text: str) -> tuple[Edit, ...]:
        """One more expression that a window's rows are told apart by."""
        by = window.args.get("partition_by")
        if by:
            return (self._insert(self.positions.whole(by[-1]).end, f", {text}"),)
        start = self.positions.of(window.this).end
        over = next((n for n, token in enumerate(self.tokens) if token.start >= start and self._opens(n)), None)
        if over is None:
            return ()
        space = "" if self._is(over + 2, TokenType.R_PAREN) else " "
        return (self._insert(self.tokens[over + 1].end + 1, f"{self.word('PARTITION BY')} {text}{space}"),)

    def joined(self, select: exp.Select, text: str) -> tuple[Edit, ...]:
        """One more join of a FROM, which is not a list: behind a comma, an ON does not see what stands before it."""
        block = self.block(select)
        if block is None:
            return ()
        end = block.where if block.where is not None else block.where_end
        if any(self._depths[n] == block.depth and self._is(n, TokenType.COMMA) for n in range(block.start, end)):
            return ()
        space = self._break(self._token(block, TokenType.FROM))
        return (self._insert(self._end(end, space), f"{space}{text}"),)

    def as_of(self, table: exp.Table, time: str) -> tuple[Edit, ...]:
        """A relation as it was at a time."""
        at = self.positions.of(table.this).end
        return (self._insert(at, f" {self.word('FOR SYSTEM_TIME AS OF')} {time}"),)

    def kept(self, query: exp.Select | exp.SetOperation) -> tuple[Edit, ...]:
        """``SELECT DISTINCT  ->  SELECT``, or ALL behind a set operation."""
        if isinstance(query, exp.SetOperation):
            span = self.positions.keyword_before(self.positions.of(query.expression).start, *_SETS)
            return () if span is None else (self._insert(span.end, f" {self.word('ALL')}"),)
        block = self.block(query)
        if block is None or not self._is(block.first + 1, TokenType.DISTINCT):
            return ()
        start, end = self.tokens[block.first].end + 1, self.tokens[block.first + 1].start
        first = start if not self.source.text[start:end].strip(" ") else end
        return (self._replace(first, self.tokens[block.first + 1].end + 1, ""),)

    def not_exists(self, negation: exp.Not, select: exp.Select) -> tuple[Edit, ...]:
        """``value NOT IN (SELECT …)  ->  NOT EXISTS (SELECT …)``, whose condition is another edit."""
        block = self.block(select)
        opening = -1 if block is None else block.first - 1
        if not self._is(opening, TokenType.L_PAREN) or not self._is(opening - 1, TokenType.IN):
            return ()
        words = "NOT EXISTS" if self._is(opening - 2, TokenType.NOT) else "EXISTS"
        start = self.positions.of(negation.this.unnest().this).start
        return (self._replace(start, self.tokens[opening - 1].end + 1, self.word(words)),)

    def word(self, keyword: str) -> str:
        """A keyword in lower case where the statement writes SELECT so."""
        first = self._blocks[0].first if self._blocks else 0
        return keyword.lower() if self._text(first) == "select" else keyword

    # --- the SELECTs ----------------------------------------------------------------------------------------------

    def block(self, select: exp.Expr) -> Block | None:
        """Where the clauses of a SELECT stand: found by what its FROM begins with."""
        start = select.args.get("from_")
        first = start.this if start is not None else None
        if not isinstance(first, exp.Table | exp.Subquery):
            return None
        at = self.positions.of(first.this if isinstance(first, exp.Table) else first).start
        found = [b for b in self._blocks if self.tokens[b.start + 1].start == at]
        return found[0] if len(found) == 1 else None

    @cached_property
    def _blocks(self) -> tuple[Block, ...]:
        """Every SELECT with a FROM, in order of the text."""
        found = (self._block(n) for n in range(len(self.tokens)) if self._is(n, TokenType.SELECT))
        return tuple(block for block in found if block is not None)

    def _block(self, first: int) -> Block | None:
        depth = self._depths[first]
        end = self._find(first + 1, next(end for end in self._ends if first < end), depth, *_SETS)
        start = self._find(first + 1, end, depth, TokenType.FROM)
        if start in (end, first + 1) or start + 1 >= end:
            return None
        where_end = self._find(start, end, depth, *_BEHIND)
        where = self._find(start, where_end, depth, TokenType.WHERE)
        return Block(first, start, depth, where if where < where_end else None, where_end)

    def _find(self, start: int, end: int, depth: int, *types: TokenType) -> int:
        """The first token of one of the types at a depth, or the one that closes it; the end where there is none."""
        for n in range(start, end):
            if self._depths[n] < depth or (self._depths[n] == depth and self._is(n, *types)):
                return n
        return end

    def _token(self, block: Block, kind: TokenType) -> int:
        return self._find(block.first, block.where_end, block.depth, kind)

    def _is(self, index: int, *types: TokenType) -> bool:
        return 0 <= index < len(self.tokens) and self.tokens[index].token_type in types

    def _opens(self, index: int) -> bool:
        """Whether a token is the OVER of a window in parentheses."""
        return self._text(index).lower() == "over" and self._is(index + 1, TokenType.L_PAREN)

    # --- the text -------------------------------------------------------------------------------------------------

    def _where(self, block: Block, texts: list[str]) -> Iterator[Edit]:
        """Conditions at the end of a WHERE, or in a new one, in the style of what is there."""
        if block.where is None:
            space = self._break(self._token(block, TokenType.FROM))
            between = f"{space if space == ' ' else space + '  '}{self.word('AND')} "
            text = f"{space}{self.word('WHERE')} {between.join(texts)}"
            yield self._insert(self._end(block.where_end, space), text)
            return
        within = range(block.where, block.where_end)
        own = [n for n in within if self._depths[n] == block.depth]
        if any(self._is(n, TokenType.OR) for n in own):
            yield self._insert(self.tokens[block.where + 1].start, "(")
            yield self._insert(self.tokens[block.where_end - 1].end + 1, ")")
        ands = [n for n in own if self._is(n, TokenType.AND)]
        space = self._break(ands[-1] if ands else None)
        text = "".join(f"{space}{self.word('AND')} {text}" for text in texts)
        yield self._insert(self._end(block.where_end, space), text)

    def _on(self, join: exp.Join, texts: list[str]) -> Iterator[Edit]:
        on = join.args.get("on")
        if on is None:
            return
        span, either = self.positions.whole(on), isinstance(on, exp.Or)
        if either:
            yield self._insert(span.start, "(")
        text = "".join(f" {self.word('AND')} {text}" for text in texts)
        yield self._insert(span.end, f"{')' if either else ''}{text}")

    def _insert(self, offset: int, text: str) -> Edit:
        return self._replace(offset, offset, text)

    def _replace(self, start: int, end: int, text: str) -> Edit:
        return Edit(self.source.file, self.source.span(start, end), text)

    def _text(self, index: int) -> str:
        token = self.tokens[index]
        return self.source.text[token.start : token.end + 1]

    def _break(self, index: int | None) -> str:
        """What stands before a new clause: a line break if a token like it starts its line, else a space."""
        if index is None:
            return " "
        line = self.source.text.rfind("\n", 0, self.tokens[index].start) + 1
        before = self.source.text[line : self.tokens[index].start]
        ending = "\r\n" if "\r\n" in self.source.text else "\n"
        return " " if before.strip() else ending + before

    def _end(self, index: int, space: str) -> int:
        """Where a clause ends: after its last token, or after the comment beside it when a new line follows."""
        after = self.tokens[index - 1].end + 1
        end = self.source.text.find("\n", after)
        line = self.source.text[after : len(self.source.text) if end < 0 else end].rstrip()
        return after if space == " " or not line.lstrip().startswith("--") else after + len(line)
