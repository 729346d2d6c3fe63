"""Select-project-join blocks below other operators, as queries: what they give, and sums over products of their rows.

    SELECT S.a, SUM(S.v * T.w) FROM S JOIN T …   ->   the block SELECT S.a FROM S JOIN T …, with the factors
                                                      S.v of S and T.w of T, whose products are added up

A sum over a join is pushed below it (Budiu et al., *DBSP*, §7.2): each source's row has a factor for each sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Filter, Item, Tree
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.conditions import ConditionReader
from streambound.analyzer.derived import column_of, rows_of, with_derived
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.flatten import Flattener, Select, written
from streambound.analyzer.lower import branch_of, readable_aliases
from streambound.analyzer.query import Attribute, Branch, Query
from streambound.analyzer.scopes import Scope
from streambound.analyzer.spans import Span
from streambound.analyzer.types import Family


class Monomial(Struct, frozen=True):
    """A product of values of rows, 0 where one of those ``present`` is NULL or one of the ``filters`` is not true.

    Each of these expressions is over the rows of one source; ``at`` is what was written.
    """

    name: str
    at: exp.Expr
    factors: tuple[exp.Expr, ...] = ()
    present: tuple[exp.Expr, ...] = ()
    filters: tuple[exp.Expr, ...] = ()


class BlockReader(Struct, frozen=True):
    """Reads the blocks of one statement; ``queries`` are the trees of its subqueries (`algebra.lowering`).

    ``computed`` collects the relations that its blocks compute, under names that mean the same in all of them.
    """

    positions: Positions
    catalog: Catalog
    name: str
    span: Span
    queries: Mapping[int, Tree]
    computed: dict[str, str] = field(default_factory=dict)

    def query(
        self,
        body: Tree,
        items: Sequence[Item],
        sums: Sequence[Monomial] = (),
        distinct: bool = False,
        passing: exp.Expr | None = None,
    ) -> Query:
        """A block with a select list as a query, a bag or, if ``distinct``, a set; raises Finding if it is no block.

        ``passing``: only rows for which this condition is true.
        """
        flattener = self._flattener(distinct)
        findings, branches = flattener.findings, list[Branch]()
        scopes = self._scopes(body, flattener)
        joined = any(len(scope.sources) > 1 for scope in scopes)
        for given in scopes:
            scope = given if passing is None else flattener.where(given, passing)
            reader = flattener.reader(scope)
            outputs = tuple(output for item in items for output in flattener.outputs(item, reader))
            factors = [self._factors(one, reader, joined) for one in sums]
            if findings:
                raise findings[0]
            select = Select(scope, outputs)
            branch = branch_of(select, len(branches), flattener, findings)
            names = {mine: serial for serial, mine in readable_aliases(select, flattener.wanted).items()}
            sources = (
                replace(source, factors=tuple(found.get(names[source.alias], ()) for found in factors))
                for source in branch.sources
            )
            branches.append(replace(branch, sources=tuple(sources)))
        if findings:
            raise findings[0]
        complete = with_derived(branches, flattener.derived.by_table)
        sums_of = tuple(one.name for one in sums)
        return Query(self.name, self.positions.source.file, distinct, complete, self.span, sums_of)

    def view(self, tree: Tree, distinct: bool = False) -> Query:
        """A whole block: a SELECT, or a UNION of some; raises Finding where it is none."""
        flattener = self._flattener(distinct)
        findings = flattener.findings
        branches = [
            branch_of(select, number, flattener, findings) for number, select in enumerate(flattener.query(tree))
        ]
        if findings:
            raise findings[0]
        complete = with_derived(branches, flattener.derived.by_table)
        return Query(self.name, self.positions.source.file, distinct, complete, self.span)

    def relation(self, tree: Alias) -> DeclaredTable:
        """A tree over relations as one more relation; raises Finding."""
        scope = self._flattener(False).computed_relation(tree)
        (source,) = scope.sources
        found = tuple(column for column in source.columns if not column.expression)
        return DeclaredTable(source.table, Kind.RELATION, found, rows=source.rows, query=source.query)

    def unread(self, body: Tree, conditions: Sequence[exp.Expr]) -> list[exp.Expr]:
        """The conditions over rows of several of a block's sources that have no atoms; raises Finding for no condition.

        None where the block or one of them has another fault, which its query says.
        """
        flattener = self._flattener(False)
        try:
            readers = [flattener.reader(scope) for scope in self._scopes(body, flattener)]
            found = [(one, reader) for one in conditions for reader in readers if _is_unread(one, reader)]
        except Finding:
            return []
        if flattener.findings:
            return []
        for condition, reader in found:
            if reader.computed(reader.tree(condition), condition).type.family is not Family.BOOLEAN:
                raise self.positions.finding(Code.TYPE_MISMATCH, "a condition must be true or false", condition)
        return list({id(condition): condition for condition, _ in found}.values())

    def sources_of(self, body: Tree, expression: exp.Expr) -> tuple[str, ...]:
        """The sources, by serial names, whose rows an expression over a block's columns reads; raises Finding."""
        flattener = self._flattener(False)
        return rows_of(flattener.reader(self._scopes(body, flattener)[0]).tree(expression))

    def _flattener(self, distinct: bool) -> Flattener:
        return Flattener(self.positions, self.catalog, distinct, queries=self.queries, computed=self.computed)

    @staticmethod
    def _scopes(body: Tree, flattener: Flattener) -> list[Scope]:
        condition = body.condition if isinstance(body, Filter) else None
        scopes = flattener.scopes(body.input if isinstance(body, Filter) else body, "")
        return scopes if condition is None else [flattener.where(scope, written(condition)) for scope in scopes]

    def _factors(self, one: Monomial, reader: ConditionReader, apart: bool) -> dict[str, tuple[str, ...]]:
        """The columns that a monomial multiplies, by source: of each source one, or one for each factor.

        Factors ``apart`` are multiplied exactly, where a column has the product as Spark rounds it.
        """
        values: dict[str, list[exp.Expr]] = {}
        guards: dict[str, list[exp.Expr]] = {}
        for factor in one.factors:
            tree = reader.tree(factor)
            values.setdefault(self._source(tree, factor, reader), []).append(tree)
        for value in one.present:
            tree = reader.tree(value)
            guard = exp.Not(this=exp.Is(this=exp.Paren(this=tree), expression=exp.Null()))
            guards.setdefault(self._source(tree, value, reader), []).append(guard)
        for condition in one.filters:
            tree = reader.tree(condition)
            guards.setdefault(self._source(tree, condition, reader), []).append(exp.Paren(this=tree))
        found = {}
        for source in dict.fromkeys((*values, *guards)):
            present = exp.and_(*guards[source]) if source in guards else None
            mine = values.get(source, [])
            products = [_guarded(factor, present) for factor in (mine if apart and mine else [_product(mine)])]
            found[source] = tuple(
                reader.derive(product if rows_of(product) else _of_row(product, reader), one.at).plus[0].column
                for product in products
                if product != exp.Literal.number(1)
            )
        return found

    def _source(self, tree: exp.Expr, node: exp.Expr, reader: ConditionReader) -> str:
        """The source whose rows a tree reads; the first one for a constant."""
        rows = rows_of(tree) or (reader.scope.sources[0].alias,)
        if len(rows) > 1:
            message = "an aggregate of an expression over rows of several streams, which is no sum of products, is"
            raise self.positions.finding(Code.UNSUPPORTED, f"{message} outside the query language", node)
        return rows[0]


def _is_unread(condition: exp.Expr, reader: ConditionReader) -> bool:
    """Whether a condition is over several rows and has no atoms; raises Finding where it has another fault."""
    try:
        reader.formula(condition)
    except Finding as finding:
        if finding.diagnostic.code is Code.UNSUPPORTED and len(rows_of(reader.tree(condition))) > 1:
            return True
        raise
    return False


def _of_row(constant: exp.Expr, reader: ConditionReader) -> exp.Expr:
    """A constant as an expression over a row of the first source, whatever is in it: only such a one is a column."""
    source = reader.scope.sources[0]
    column = column_of(Attribute(source.alias, source.columns[0].name))
    test = exp.Is(this=column, expression=exp.Null())
    return exp.Case(ifs=[exp.If(this=test, true=constant.copy())], default=constant.copy())


def _guarded(product: exp.Expr, guard: exp.Expr | None) -> exp.Expr:
    """A product, and 0 where the guard is not true."""
    if guard is None:
        return product.copy()
    return exp.Case(ifs=[exp.If(this=guard.copy(), true=product.copy())], default=exp.Literal.number(0))


def _product(values: Sequence[exp.Expr]) -> exp.Expr:
    if not values:
        return exp.Literal.number(1)
    found = values[0].copy()
    for value in values[1:]:
        found = exp.Mul(this=exp.Paren(this=found), expression=exp.Paren(this=value.copy()))
    return found


__all__ = ["BlockReader", "Finding", "Monomial"]
