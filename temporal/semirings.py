"""A SEQ VT block over another semiring, written as one over the natural numbers (Dignös et al., Section 4).

Boolean: whether a row is there at all. It is a homomorphism from how often it is, for σ, Π, ⋈ and ∪, for outer joins,
EXISTS, EXCEPT and INTERSECT [ALL], so that one DISTINCT at the end is enough; EXCEPT ALL is read as EXCEPT.

Tropical: what a row costs, the least of all ways to it. ``+`` distributes over MIN: one MIN at the end is enough. ::

    SELECT r.a FROM r JOIN s ON r.b = s.b
        ->   SELECT a, MIN(c) AS c FROM (SELECT r.a, r.c + s.c AS c FROM r JOIN s ON r.b = s.b) GROUP BY a
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.seq_blocks import Semiring, SeqBlock
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.types import DataType, Family
from streambound.temporal.scalars import finding, refusals

_NUMBERS = (Family.INTEGER, Family.DECIMAL, Family.FLOAT)
_MEANINGLESS = "has no meaning in the tropical semiring, which has joins, unions and projections"


def counted(block: SeqBlock, source: SourceText, catalog: Catalog) -> SeqBlock:
    """The block with a query over the natural numbers; raises Finding at what has no meaning in its semiring."""
    if block.semiring is Semiring.COUNTING:
        return block
    positions = Positions(source, block.tokens, block.before)
    refusals(block.query, positions)
    query = block.query.copy()
    if block.semiring is Semiring.BOOLEAN:
        return replace(block, query=_of_sets(query, positions))
    costs = _Costs(block.costs, _kind_of(block, catalog, positions), catalog, positions)
    return replace(block, query=costs.least(query))


def _of_sets(query: exp.Expr, positions: Positions) -> exp.Expr:
    for node in query.walk():
        if isinstance(node, exp.Except):
            node.set("distinct", True)
        if isinstance(node, exp.Count | exp.Sum | exp.Avg) and not isinstance(node.this, exp.Distinct):
            word = node.key.upper()
            message = f"{word} depends on how often a row is there, of which the Boolean semiring knows nothing"
            raise finding(positions, message, node, f"write {word}(DISTINCT x), or leave SEMIRING boolean out")
    outermost = query.unnest()
    if not outermost.args.get("distinct"):
        outermost.set("distinct", exp.Distinct() if isinstance(outermost, exp.Select) else True)
    return query


def _kind_of(block: SeqBlock, catalog: Catalog, positions: Positions) -> DataType:
    """The type of the costs."""
    tables = [catalog.table(node.name) for node in block.query.find_all(exp.Table)]
    kinds = {column.type for table in tables if table and (column := table.column(block.costs)) is not None}
    if len(kinds) == 1 and (kind := kinds.pop()).family in _NUMBERS:
        return kind
    message = f"{block.costs} is no column of numbers of one type in the relations of this block"
    raise finding(positions, message, block.query, "SEMIRING tropical OF c names the column with what rows cost")


class _Costs(Struct, frozen=True):
    """Puts what a way to a row costs beside the row, in the column of a ``name``."""

    name: str
    kind: DataType
    catalog: Catalog
    positions: Positions

    def least(self, query: exp.Expr) -> exp.Expr:
        """Each row with its least cost; a cost of NULL is infinite: there is no such row."""
        query = query.unnest()
        listed, clause = query, query.args.get("with_")
        while isinstance(listed, exp.SetOperation):
            listed = listed.this.unnest()
        known = self._with(clause, frozenset())
        query.set("with_", None)
        self._query(query, known)
        unnamed = next((item for item in listed.expressions if not item.alias_or_name), None)
        if unnamed is not None:
            raise finding(self.positions, "this column has no name", unnamed, "give it one, with AS")
        columns = [exp.column(item.alias_or_name, quoted=True) for item in listed.expressions[:-1]]
        cost = exp.column(self.name, quoted=True)
        ways = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier("ways")))
        found = exp.select(*columns, exp.alias_(exp.Min(this=cost), self.name, quoted=True)).from_(ways)
        found = found.where(exp.Not(this=exp.Is(this=cost.copy(), expression=exp.Null()))).group_by(*columns)
        found.set("with_", clause)
        return found

    def _with(self, clause: exp.With | None, known: frozenset[str]) -> frozenset[str]:
        """The names of queries that have costs, with those of a WITH."""
        for cte in clause.expressions if clause is not None else ():
            self._query(cte.this, known)
            self._listed(cte)
            known |= {cte.alias.lower()}
        return known

    def _query(self, query: exp.Expr, known: frozenset[str]) -> None:
        query = query.unnest()
        known = self._with(query.args.get("with_"), known)
        match query:
            case exp.Union():
                self._query(query.this, known)
                self._query(query.expression, known)
            case exp.Select():
                self._select(query, known)
            case _:
                right = self.positions.of(query.expression)
                at = self.positions.keyword_before(right.start, TokenType.EXCEPT, TokenType.INTERSECT)
                raise self._meaningless(query.key.upper(), at or right)

    def _select(self, select: exp.Select, known: frozenset[str]) -> None:
        start, joins = select.args.get("from_"), select.args.get("joins") or []
        for join in joins:
            if join.side or join.kind not in ("", "INNER", "CROSS"):
                raise self._meaningless(f"{join.side or join.kind} JOIN", join.this)
        sources = [one.this for one in (start, *joins) if one is not None]
        for node in _own(select, sources):
            self._check(node)
        costs = [cost for source in sources if (cost := self._cost(source, known)) is not None]
        total = reduce(lambda left, right: exp.Add(this=left, expression=right), costs) if costs else self._nothing()
        select.append("expressions", exp.alias_(total, self.name, quoted=True))

    def _check(self, node: exp.Expr) -> None:
        """Raise a Finding for what is no part of a positive query, or names costs."""
        match node:
            case exp.Query():
                raise self._meaningless("a subquery in an expression", node)
            case exp.AggFunc() | exp.Group() | exp.Having():
                raise self._meaningless("an aggregate" if isinstance(node, exp.AggFunc) else node.key.upper(), node)
            case exp.Star():
                raise finding(self.positions, "* would show costs", node, "list the columns that tell rows apart")
            case exp.Column() | exp.Alias() | exp.Identifier() if node.alias_or_name.lower() == self.name.lower():
                message = f"{self.name} is what a row costs: the result has it, and no expression names it"
                raise finding(self.positions, message, node, "leave it out, or write MIN(…) without SEMIRING")

    def _cost(self, source: exp.Expr, known: frozenset[str]) -> exp.Expr | None:
        """What a row of a FROM item costs; None for nothing."""
        if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Query):
            self._query(source.this, known)
            self._listed(source)
            if not source.alias:
                source.set("alias", exp.TableAlias(this=exp.to_identifier(f"ways_{self.positions.of(source).start}")))
        elif isinstance(source, exp.Table) and source.name.lower() not in known:
            table = self.catalog.table(source.name)
            if table is None or table.column(self.name) is None:
                return None
        elif not isinstance(source, exp.Table):
            message = "joins in parentheses and VALUES are outside of what SEMIRING tropical evaluates"
            raise finding(self.positions, message, source, "write joins without parentheses")
        return exp.column(self.name, table=source.alias_or_name, quoted=True)

    def _nothing(self) -> exp.Expr:
        return exp.cast(exp.Literal.number(0), exp.DataType.build(self.kind.name, dialect="spark"))

    def _listed(self, owner: exp.Expr) -> None:
        """Name the costs where a FROM item names its columns."""
        alias = owner.args.get("alias")
        if alias is not None and alias.columns:
            alias.append("columns", exp.to_identifier(self.name, quoted=True))

    def _meaningless(self, words: str, at: exp.Expr | Span) -> Finding:
        return self.positions.finding(Code.UNSUPPORTED, f"{words} {_MEANINGLESS}", at)


def _own(select: exp.Select, sources: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    """The parts of a SELECT but its FROM items and its WITH; of subqueries in expressions the outermost nodes."""
    apart = {id(one) for one in (*sources, select.args.get("with_"))}
    found = select.walk(prune=lambda node: id(node) in apart or (isinstance(node, exp.Query) and node is not select))
    return (node for node in found if node is not select and id(node) not in apart)
