"""The steps of a repair as edits of the text of a statement beyond joins; comments and formatting stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from streambound.analyzer.edits import Edit
from streambound.analyzer.findings import Positions
from streambound.analyzer.statement import Statement
from streambound.criteria.repairs.layout import Block, Layout
from streambound.criteria.repairs.operators.syntax import asked
from streambound.criteria.repairs.patch import where_edits, without_word
from streambound.criteria.repairs.steps import (
    AddConjunct,
    AddGroupKey,
    AskNotExists,
    DeclareDomain,
    DeclareOpenKeys,
    KeepDuplicates,
    ReadAsOf,
    Step,
)

_SETS = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)


class NoPlace(Exception):
    """The text has no certain place for a step."""


@dataclass(frozen=True)
class Writer:
    """Writes steps into a statement's text; raises NoPlace."""

    statement: Statement
    layout: Layout

    @property
    def positions(self) -> Positions:
        """Where its syntax stands."""
        return Positions(self.statement.source, self.statement.tokens, self.statement.before)

    def edits(self, steps: tuple[Step, ...]) -> tuple[Edit, ...]:
        """The edits of all steps that are none of the catalog."""
        tree = self.statement.tree
        if tree is None:
            raise NoPlace
        conditions: dict[Block, list[str]] = {}
        found: list[Edit] = []
        for step in steps:
            match step:
                case AddConjunct(place, text):
                    node = place.node(tree)
                    if isinstance(node, exp.Select):
                        conditions.setdefault(self._block(node), []).append(text)
                    elif isinstance(node, exp.Join):
                        found += self._on(node, text)
                    else:
                        raise NoPlace
                case AskNotExists(spot, equality):
                    negation = spot.node(tree)
                    select = asked(negation) if isinstance(negation, exp.Not) else None
                    if not isinstance(negation, exp.Not) or select is None:
                        raise NoPlace
                    block = self._block(select)
                    conditions.setdefault(block, []).append(equality)
                    found.append(self._asked(negation, block))
                case AddGroupKey():
                    found += self._keyed(step.select.node(tree), step)
                case KeepDuplicates(spot):
                    found += self._kept(spot.node(tree))
                case ReadAsOf(spot, time):
                    found.append(self._as_of(spot.node(tree), time))
                case DeclareDomain() | DeclareOpenKeys():
                    pass
                case _:
                    raise NoPlace
        for block, texts in conditions.items():
            found += where_edits(block, texts, self.layout)
        return tuple(found)

    def _insert(self, offset: int, text: str) -> Edit:
        source = self.statement.source
        return Edit(source.file, source.span(offset, offset), text)

    def _word(self, keyword: str) -> str:
        return self.layout.word(keyword)

    def _block(self, select: exp.Expr | None) -> Block:
        """Where the clauses of a SELECT stand, found by the first item of its FROM."""
        start = select.args.get("from_") if select is not None else None
        first = start.this if start is not None else None
        if isinstance(first, exp.Table):
            at = self.positions.of(first).start
            found = [b for b in self.layout.blocks if b.entries and self._start(b.entries[0].first) == at]
        else:
            alias = first.args.get("alias") if first is not None else None
            at = self.positions.of(alias).end if alias is not None else -1
            found = [b for b in self.layout.blocks if b.entries and self._end(b.entries[0].end - 1) == at]
        if len(found) != 1:
            raise NoPlace
        return found[0]

    def _start(self, index: int) -> int:
        return self.layout.tokens[index].start

    def _end(self, index: int) -> int:
        return self.layout.tokens[index].end + 1

    def _on(self, join: exp.Join, text: str) -> Iterator[Edit]:
        on = join.args.get("on")
        if on is None:
            raise NoPlace
        span = self.positions.whole(on)
        if isinstance(on, exp.Or):
            yield self._insert(span.start, "(")
        yield self._insert(span.end, f"{')' if isinstance(on, exp.Or) else ''} {self._word('AND')} {text}")

    def _asked(self, negation: exp.Not, block: Block) -> Edit:
        """``value NOT IN  ->  NOT EXISTS``."""
        opening = block.first - 1
        if not self.layout.is_type(opening, TokenType.L_PAREN) or not self.layout.is_type(opening - 1, TokenType.IN):
            raise NoPlace
        source, start = self.statement.source, self.positions.of(negation.this.unnest().this).start
        if self.layout.is_type(opening - 2, TokenType.NOT):
            return Edit(source.file, source.span(start, self._end(opening - 1)), self._word("NOT EXISTS"))
        return Edit(source.file, source.span(start, self._end(opening - 1)), self._word("EXISTS"))

    def _keyed(self, select: exp.Expr | None, step: AddGroupKey) -> Iterator[Edit]:
        block = self._block(select)
        group = select.args.get("group") if select is not None else None
        if group is None or not group.expressions:
            raise NoPlace
        yield self._insert(self._end(block.items[-1].end - 1), f", {step.shown} {self._word('AS')} {step.name}")
        yield self._insert(self.positions.whole(group.expressions[-1]).end, f", {step.key}")

    def _kept(self, query: exp.Expr | None) -> Iterator[Edit]:
        if isinstance(query, exp.Select):
            at = self._block(query).first + 1
            if not self.layout.is_type(at, TokenType.DISTINCT):
                raise NoPlace
            yield from without_word(at, self.layout)
        elif isinstance(query, exp.SetOperation):
            after = self.positions.of(query.expression).start
            span = self.positions.keyword_before(after, *_SETS)
            if span is None:
                raise NoPlace
            yield self._insert(span.end, f" {self._word('ALL')}")

    def _as_of(self, table: exp.Expr | None, time: str) -> Edit:
        if not isinstance(table, exp.Table):
            raise NoPlace
        at = self.positions.of(table.this).end
        return self._insert(at, f" {self._word('FOR SYSTEM_TIME AS OF')} {time}")
