"""Where the clauses of every SELECT of a statement stand, by its tokens: what a patch of the text goes by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sqlglot.tokenizer_core import Token, TokenType

from streambound.analyzer.render import identifier
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.statement import Statement

_DEPTH = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}
_SETS = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)
_JOINS = (TokenType.JOIN, TokenType.INNER, TokenType.CROSS)


@dataclass(frozen=True, slots=True)
class FromEntry:
    """One entry of a FROM: its tokens, ends exclusive."""

    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """One SELECT by the indices of its tokens, ends exclusive.

    ``items`` is the select list; ``where`` the index of WHERE; ``depth`` counts the parentheses around it. ``joins``
    says that the FROM is joins alone: after a comma, the ON of a JOIN does not see what stands before it.
    """

    first: int
    end: int
    depth: int
    items: tuple[FromEntry, ...]
    entries: tuple[FromEntry, ...]
    joins: bool
    where: int | None

    @property
    def from_end(self) -> int:
        """The end of the FROM clause."""
        return self.where if self.where is not None else self.end


class Layout:
    """The SELECTs of one statement. Nothing here is sure to be right for all of SQL: patches are analysed again.

    ``owners`` says of each name without an alias, by its offset, to which FROM entry's alias it belongs.
    """

    def __init__(self, statement: Statement, owners: Mapping[int, str]) -> None:
        self.owners = owners
        self.source: SourceText = statement.source
        self.tokens: tuple[Token, ...] = statement.tokens
        depths, depth = [], 0
        for token in self.tokens:
            depth += min(_DEPTH.get(token.token_type, 0), 0)
            depths.append(depth)
            depth += max(_DEPTH.get(token.token_type, 0), 0)
        self.depths = depths

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Every SELECT with a FROM, in order of the text."""
        found = (self._block(i) for i, token in enumerate(self.tokens) if token.token_type is TokenType.SELECT)
        return tuple(block for block in found if block is not None)

    @cached_property
    def outermost(self) -> tuple[Block, ...]:
        """The SELECTs whose select lists are the statement's: those that stand in no other one and in no WITH."""
        ctes = {index for cte in self.ctes.values() for index in range(cte.first, cte.end)}
        free = [block for block in self.blocks if block.first not in ctes]
        return tuple(b for b in free if not any(o.first < b.first < o.end for o in free if o is not b))

    @cached_property
    def ctes(self) -> dict[str, FromEntry]:
        """The bodies of WITH clauses, inside their parentheses, by name in lower case."""
        found = {}
        for i, token in enumerate(self.tokens[:-2]):
            opens = self.is_type(i + 1, TokenType.ALIAS) and self.is_type(i + 2, TokenType.L_PAREN)
            if opens and self.is_type(i + 3, TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN):
                found[token.text.lower()] = FromEntry(i + 3, self.close(i + 2))
        return found

    def close(self, opening: int) -> int:
        """The index of the parenthesis that closes one."""
        depth = self.depths[opening]
        after = range(opening + 1, len(self.tokens))
        return next((i for i in after if self.depths[i] == depth and self.is_type(i, TokenType.R_PAREN)), after.stop)

    def is_type(self, index: int, *types: TokenType) -> bool:
        """Whether the token at an index, if there is one, has one of the types."""
        return 0 <= index < len(self.tokens) and self.tokens[index].token_type in types

    def _block(self, first: int) -> Block | None:
        depth = self.depths[first]
        end = self._find(first + 1, len(self.tokens), depth, *_SETS)
        start = self._find(first + 1, end, depth, TokenType.FROM)
        if start in (end, first + 1):
            return None
        where = self._find(start, end, depth, TokenType.WHERE)
        behind = first + 1 + self.is_type(first + 1, TokenType.HINT)
        distinct = self.is_type(behind, TokenType.DISTINCT)
        items = tuple(self._split(behind + distinct, start, depth, (TokenType.COMMA,)))
        parts = self._split(start + 1, where, depth, (TokenType.COMMA, *_JOINS))
        entries = tuple(FromEntry(p.first, self._find(p.first, p.end, depth, TokenType.ON)) for p in parts)
        joined, listed = (self._find(start, where, depth, *kinds) < where for kinds in (_JOINS, (TokenType.COMMA,)))
        return Block(first, end, depth, items, entries, joined and not listed, where if where < end else None)

    def _find(self, start: int, end: int, depth: int, *types: TokenType) -> int:
        """The first token of one of the types at a depth, or the one that closes it; the end where there is none."""
        for i in range(start, end):
            if self.depths[i] < depth or (self.depths[i] == depth and self.is_type(i, *types)):
                return i
        return end

    def _split(self, start: int, end: int, depth: int, types: tuple[TokenType, ...]) -> Iterator[FromEntry]:
        first = start
        for i in range(start, end + 1):
            if i == end or (self.depths[i] == depth and self.is_type(i, *types)):
                if first < i:
                    yield FromEntry(first, i)
                first = i + 1

    # --- where an entry of the IR stands ------------------------------------------------------------------------

    def block_of(self, source: Span) -> Block | None:
        """The SELECT whose FROM names a source directly."""
        for block in self.blocks:
            if any(self.tokens[entry.first].start == source.start for entry in block.entries):
                return block
        return None

    def alias(self, entry: FromEntry) -> str:
        """The name of a FROM entry as it is written, with its backquotes; nothing where it is not its last token.

        A model of dbt is called by its own name.
        """
        last, written = self.tokens[entry.end - 1], self.text(entry.end - 1, entry.end)
        if last.token_type is TokenType.R_PAREN:
            return ""
        return identifier(last.text).sql("spark") if written.startswith("{{") else written

    def unqualified(self, block: Block) -> Iterator[tuple[int, str]]:
        """Each name without an alias that a SELECT itself has, by its token, with the alias that it could have."""
        for index in range(block.first, block.end):
            owner = self.owners.get(self.tokens[index].start)
            if owner and next(b for b in reversed(self.blocks) if b.first <= index < b.end) == block:
                yield index, owner

    def parents(self, block: Block) -> Iterator[tuple[Block, FromEntry]]:
        """The SELECTs, with the FROM entries, that read a SELECT as a subquery or through a WITH."""
        names = [name for name, body in self.ctes.items() if body.first <= block.first < body.end]
        for other in self.blocks:
            for entry in other.entries:
                nested = entry.first < block.first < entry.end and self.depths[entry.first] + 1 == block.depth
                if nested or (self.tokens[entry.first].text.lower() in names and not nested):
                    yield other, entry

    def visible(self, source: Span, column: str) -> Iterator[tuple[Block, str]]:
        """Every SELECT that sees a source's column, with the text that names it there; the innermost first."""
        block = self.block_of(source)
        if block is None:
            return
        entry = next(entry for entry in block.entries if self.tokens[entry.first].start == source.start)
        name, seen = f"{self.alias(entry)}.{column}", 0
        while seen < len(self.blocks):
            yield block, name
            outer = list(self.parents(block))
            passed = self._passed_on(block, name)
            if len(outer) != 1 or not passed or not self.alias(outer[0][1]):
                return
            block, name, seen = outer[0][0], f"{self.alias(outer[0][1])}.{passed}", seen + 1

    def _passed_on(self, block: Block, name: str) -> str:
        """The name under which a SELECT's list passes a column on; nothing where it does not."""
        alias, _, column = name.rpartition(".")
        for item in block.items:
            words = [self.text(i, i + 1) for i in range(item.first, item.end)]
            lowered = [word.lower() for word in words]
            if lowered in (["*"], [alias.lower(), ".", "*"]):
                return column
            size = 3 if lowered[1:2] == ["."] else 1
            if "".join(lowered[:size]) in (name.lower(), column.lower()) and len(words) <= size + 2:
                return words[-1]
        return ""

    # --- text ---------------------------------------------------------------------------------------------------

    def text(self, first: int, end: int) -> str:
        """The source text from a token to the one before ``end``."""
        return self.source.text[self.tokens[first].start : self.tokens[end - 1].end + 1]

    def word(self, keyword: str) -> str:
        """A keyword in lower case where the statement writes SELECT so."""
        return keyword.lower() if self.text(self.blocks[0].first, self.blocks[0].first + 1) == "select" else keyword

    def after(self, index: int) -> Span:
        """The empty span after a token."""
        end = self.tokens[index].end + 1
        return self.source.span(end, end)

    def before(self, index: int) -> Span:
        """The empty span before a token."""
        start = self.tokens[index].start
        return self.source.span(start, start)

    def span(self, first: int, end: int) -> Span:
        """The span from a token to the one before ``end``."""
        return self.source.span(self.tokens[first].start, self.tokens[end - 1].end + 1)

    def token(self, block: Block, kind: TokenType) -> int:
        """The index of a SELECT's own keyword."""
        return self._find(block.first, block.end, block.depth, kind)

    def has_or(self, block: Block) -> bool:
        """Whether a SELECT's condition is an OR without parentheses around it."""
        start = block.where if block.where is not None else block.end
        return self._find(start, block.end, block.depth, TokenType.OR) < block.end

    def starts_line(self, index: int) -> str | None:
        """The indentation of a token that is the first of its line; None for another one."""
        token = self.tokens[index].start
        line = self.source.text.rfind("\n", 0, token) + 1
        before = self.source.text[line:token]
        return before if not before.strip() else None

    def last_and(self, block: Block) -> int | None:
        """The last AND of a SELECT's condition that joins two of its parts, or belongs to a BETWEEN."""
        where = block.where if block.where is not None else block.end
        found = [i for i in range(where, block.end) if self.depths[i] == block.depth and self.is_type(i, TokenType.AND)]
        return found[-1] if found else None
