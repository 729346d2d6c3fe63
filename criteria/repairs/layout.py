"""Where the clauses of every SELECT of a statement stand, by its tokens: what a patch of the text goes by.

The views of the file that it reads are before it, as WITH clauses are.
"""

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
_JOINS = (
    TokenType.JOIN, TokenType.INNER, TokenType.CROSS, TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.OUTER,
    TokenType.SEMI, TokenType.ANTI,
)  # fmt: skip
_BEHIND = (
    TokenType.GROUP_BY, TokenType.HAVING, TokenType.QUALIFY, TokenType.WINDOW, TokenType.ORDER_BY, TokenType.LIMIT,
)  # fmt: skip
"""What the clauses behind a WHERE begin with."""


@dataclass(frozen=True, slots=True)
class FromEntry:
    """One entry of a FROM: its tokens, ends exclusive."""

    first: int
    end: int


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """The query of a WITH clause or of a view: its tokens, ends exclusive, and the names of its columns if given."""

    first: int
    end: int
    columns: tuple[str, ...] = ()

    def __contains__(self, index: int) -> bool:
        return self.first <= index < self.end


@dataclass(frozen=True, slots=True)
class Block:
    """One SELECT by the indices of its tokens, ends exclusive.

    ``items`` is the select list; ``where`` the index of WHERE, and ``where_end`` the end of its condition, or the place
    for one; ``depth`` counts the parentheses around it. ``joins``
    says that the FROM is joins alone: after a comma, the ON of a JOIN does not see what stands before it.
    """

    first: int
    end: int
    depth: int
    items: tuple[FromEntry, ...]
    entries: tuple[FromEntry, ...]
    joins: bool
    where: int | None
    where_end: int

    @property
    def from_end(self) -> int:
        """The end of the FROM clause."""
        return self.where if self.where is not None else self.where_end


class Layout:
    """The SELECTs of one statement. Nothing here is sure to be right for all of SQL: patches are analysed again.

    ``owners`` says of each name without an alias, by its offset, to which FROM entry's alias it belongs.
    """

    def __init__(self, statement: Statement, owners: Mapping[int, str]) -> None:
        self.owners = owners
        self.source: SourceText = statement.source
        self.tokens: tuple[Token, ...] = (*statement.before, *statement.tokens)
        self.own = len(statement.before)
        self.views = tuple(self._placed(statement))
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
        free = [
            b for b in self.blocks if b.first >= self.own and not any(b.first in query for query in self.ctes.values())
        ]
        return tuple(b for b in free if not any(o.first < b.first < o.end for o in free if o is not b))

    @staticmethod
    def _placed(statement: Statement) -> Iterator[tuple[str, NamedQuery]]:
        """The views that are read, each with its name in lower case."""
        first = 0
        for view in statement.views:
            yield view.name.lower(), NamedQuery(first, first + len(view.tokens), view.columns)
            first += len(view.tokens)

    @cached_property
    def ctes(self) -> dict[str, NamedQuery]:
        """The bodies of WITH clauses, inside their parentheses, and of views, by name in lower case."""
        found = dict(self.views)
        for i in range(1, len(self.tokens) - 2):
            opens = self.is_type(i, TokenType.ALIAS) and self.is_type(i + 1, TokenType.L_PAREN)
            if opens and self.is_type(i + 2, TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN):
                at, columns = self._listed(i - 1)
                found[self.tokens[at].text.lower()] = NamedQuery(i + 2, self.close(i + 1), columns)
        return found

    def _listed(self, last: int) -> tuple[int, tuple[str, ...]]:
        """The index of the name before a list of columns that ends at an index, and the list; none where none ends."""
        if not self.is_type(last, TokenType.R_PAREN):
            return last, ()
        depth = self.depths[last]
        first = next((i for i in range(last - 1, 0, -1) if self.depths[i] == depth), 1)
        inside = range(first + 1, last)
        columns = tuple(self.text(i, i + 1) for i in inside if not self.is_type(i, TokenType.COMMA))
        return first - 1, columns

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
        ends = [view.end for _, view in self.views if first in view]
        end = self._find(first + 1, ends[0] if ends else len(self.tokens), depth, *_SETS)
        start = self._find(first + 1, end, depth, TokenType.FROM)
        if start in (end, first + 1):
            return None
        where_end = self._find(start, end, depth, *_BEHIND)
        where = self._find(start, where_end, depth, TokenType.WHERE)
        behind = first + 1 + self.is_type(first + 1, TokenType.HINT)
        distinct = self.is_type(behind, TokenType.DISTINCT)
        items = tuple(self._split(behind + distinct, start, depth, (TokenType.COMMA,)))
        parts = self._split(start + 1, where, depth, (TokenType.COMMA, *_JOINS))
        entries = tuple(FromEntry(p.first, self._find(p.first, p.end, depth, TokenType.ON)) for p in parts)
        joined, listed = (self._find(start, where, depth, *kinds) < where for kinds in (_JOINS, (TokenType.COMMA,)))
        return Block(
            first, end, depth, items, entries, joined and not listed, where if where < where_end else None, where_end
        )

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
        """The name of a FROM entry as it is written, with its backquotes; nothing where it has none.

        A model of dbt is called by its own name.
        """
        at, _ = self._listed(entry.end - 1)
        if at < entry.first or self.is_type(at, TokenType.R_PAREN):
            return ""
        written = self.text(at, at + 1)
        return identifier(self.tokens[at].text).sql("spark") if written.startswith("{{") else written

    def unqualified(self, block: Block) -> Iterator[tuple[int, str]]:
        """Each name without an alias that a SELECT itself has, by its token, with the alias that it could have."""
        for index in range(block.first, block.end):
            owner = self.owners.get(self.tokens[index].start)
            if owner and next(b for b in reversed(self.blocks) if b.first <= index < b.end) == block:
                yield index, owner

    def named(self, block: Block) -> tuple[str, NamedQuery] | None:
        """The WITH clause or the view whose rows a SELECT gives, with its name in lower case."""
        around = [(name, query) for name, query in self.ctes.items() if block.first in query]
        if not around:
            return None
        name, query = max(around, key=lambda found: found[1].first)
        nested = any(other.first in query and other.first < block.first < other.end for other in self.blocks)
        return None if nested else (name, query)

    def readers(self, block: Block) -> Iterator[tuple[Block, FromEntry, tuple[str, ...]]]:
        """The SELECTs, with the FROM entries, that read a SELECT as a subquery or by its name.

        With each, the names that it gives the columns, if it does.
        """
        name, query = self.named(block) or ("", NamedQuery(0, 0))
        for other in self.blocks:
            for entry in other.entries:
                columns = self._listed(entry.end - 1)[1]
                if entry.first < block.first < entry.end and self.depths[entry.first] + 1 == block.depth:
                    yield other, entry, columns
                elif name and other.first not in query and self.tokens[entry.first].text.lower() == name:
                    yield other, entry, columns or query.columns

    def visible(self, source: Span, column: str) -> Iterator[tuple[Block, str]]:
        """Every SELECT that sees a source's column, with the text that names it there.

        The innermost first, but those of a view last: other statements may read it.
        """
        found = list(self._visible(source, column))
        return iter(sorted(found, key=lambda seen: seen[0].first < self.own))

    def _visible(self, source: Span, column: str) -> Iterator[tuple[Block, str]]:
        block = self.block_of(source)
        if block is None:
            return
        entry = next(entry for entry in block.entries if self.tokens[entry.first].start == source.start)
        name, seen = f"{self.alias(entry)}.{column}", 0
        while seen < len(self.blocks):
            yield block, name
            readers = list(self.readers(block))
            if len(readers) != 1:
                return
            reader, entry, columns = readers[0]
            passed, alias = self._passed_on(block, name, columns), self.alias(entry)
            if not passed or not alias:
                return
            block, name, seen = reader, f"{alias}.{passed}", seen + 1

    def _passed_on(self, block: Block, name: str, columns: tuple[str, ...]) -> str:
        """The name under which a SELECT's list passes a column on; nothing where it does not, or that is not certain.

        ``columns`` are other names for the list's, if there are any.
        """
        alias, _, column = name.rpartition(".")
        for index, item in enumerate(block.items):
            words = [self.text(i, i + 1) for i in range(item.first, item.end)]
            lowered = [word.lower() for word in words]
            if lowered[-1] == "*":
                if lowered in (["*"], [alias.lower(), ".", "*"]):
                    return "" if columns else column
                columns = ("",) * len(columns)  # how many it stands for is not known here
            size = 3 if lowered[1:2] == ["."] else 1
            if "".join(lowered[:size]) in (name.lower(), column.lower()) and len(words) <= size + 2:
                return words[-1] if not columns else columns[index] if index < len(columns) else ""
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
        start = block.where if block.where is not None else block.where_end
        return self._find(start, block.where_end, block.depth, TokenType.OR) < block.where_end

    def starts_line(self, index: int) -> str | None:
        """The indentation of a token that is the first of its line; None for another one."""
        token = self.tokens[index].start
        line = self.source.text.rfind("\n", 0, token) + 1
        before = self.source.text[line:token]
        return before if not before.strip() else None

    def last_and(self, block: Block) -> int | None:
        """The last AND of a SELECT's condition that joins two of its parts, or belongs to a BETWEEN."""
        where, end = block.where if block.where is not None else block.where_end, block.where_end
        found = [i for i in range(where, end) if self.depths[i] == block.depth and self.is_type(i, TokenType.AND)]
        return found[-1] if found else None
