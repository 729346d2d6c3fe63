"""Expressions as columns derived from rows: which sources' rows an expression reads, and what it is called there.

    upper(a.name) = upper(b.name)  ->  a.`upper(name)` = b.`upper(name)`, two columns that are compared

An expression over one row is a column of that row. One over several is split into the largest parts over one each:
``f(a.x, g(b.y))`` is computed of ``a.x`` and ``b.`g(y)```.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.columns import Column
from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.evident import domain
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal, calls, value_of
from streambound.analyzer.expressions.function import ANY, Fails, Function, NotKnown
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.expressions.rows import ROW, columns_of_row
from streambound.analyzer.function_calls import as_written
from streambound.analyzer.query import Attribute, Branch, Computed, Source, formula_attributes
from streambound.analyzer.render import identifier
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.work import spend

MOST_OPERATORS, MOST_NESTED = 150, 40
"""Operators in a chain, and calls and parentheses around another, that an expression may have."""
_STEPS_A_CHARACTER = 5
_SIMPLE = (exp.Column, exp.Literal, exp.Anonymous, exp.Paren, exp.Cast, exp.Case, exp.If)


def column_of(attribute: Attribute) -> exp.Column:
    """An attribute as a leaf of a tree."""
    return exp.Column(
        this=exp.Identifier(this=attribute.column, quoted=True),
        table=exp.Identifier(this=attribute.source, quoted=True),
    )


def substituted(tree: exp.Expr) -> exp.Expr:
    """A tree as an operand of another one."""
    return tree.copy() if isinstance(tree, _SIMPLE) else exp.Paren(this=tree.copy())


def is_deep(tree: exp.Expr) -> bool:
    """Whether a tree is nested so deeply that reading its text again, by recursion, might fail."""
    chained, nested = [(tree, 0, 0)], False
    while chained and not nested:
        node, depth, inside = chained.pop()
        nested = depth > MOST_OPERATORS or inside > MOST_NESTED
        more = not isinstance(node, exp.Binary)
        chained += [(child, depth + 1, inside + more) for child in node.iter_expressions()]
    return nested


def rows_of(tree: exp.Expr) -> tuple[str, ...]:
    """The sources whose rows a tree reads, by alias, in the order of their first columns."""
    return tuple(dict.fromkeys(column.table for column in columns_of_row(tree)))


def _operands(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The operands of an operator; for a CASE its conditions and values, not pairs of them."""
    for child in tree.iter_expressions():
        if isinstance(tree, exp.Case) and isinstance(child, exp.If):
            yield from child.iter_expressions()
        else:
            yield child


class DerivedColumns(Struct):
    """The columns that a statement's expressions derive, by attribute, and by table and name."""

    columns: dict[Attribute, Column] = field(default_factory=dict)
    by_table: dict[tuple[str, str], Column] = field(default_factory=dict)

    def constant(self, tree: exp.Expr) -> Folded:
        """The value of a tree without columns; raises Refused where only Spark knows it."""
        found = read(tree, {})
        try:
            return value_of(found, {})
        except (Fails, NotKnown) as error:
            raise Refused(
                f"the constant {tree.sql('spark')} is not folded: {error}", tree, "write its value"
            ) from error

    def derive(self, tree: exp.Expr, source: Source, condition: bool = False) -> Attribute:
        """The attribute that a tree over one source's row is; raises Refused.

        As a ``condition`` it may be an expression of a type that is not known: Spark must take it to be a boolean.
        """
        columns = {column.name: column for column in source.columns}
        found = read(_over_row(tree), {name: column.type for name, column in columns.items()})
        kind = _usable(found, tree, condition)
        name = _called(tree, columns)
        attribute = Attribute(source.alias, name)
        if attribute not in self.columns:
            values = domain(found, columns) if kind == found.kind else None
            base = next(columns_of_row(tree), None)
            at = columns[base.name].at if base is not None else None
            column = Column(name, kind, values, at, None, _over_row(tree).sql("spark"), _shift(found))
            self.columns[attribute] = self.by_table[source.table, name] = column
        return attribute

    def computed(self, tree: exp.Expr, sources: Sequence[Source]) -> Computed:
        """An expression over rows of several sources, computed from its parts over one row each; raises Refused."""
        parts: dict[Attribute, str] = {}
        split = self._split(tree.copy(), {source.alias: source for source in sources}, parts)
        kinds = {name: self.kind(attribute, sources) for attribute, name in parts.items()}
        kind = _usable(read(split, kinds), tree, condition=False)
        return Computed(split.sql("spark"), kind, tuple(parts))

    def _split(self, tree: exp.Expr, sources: dict[str, Source], parts: dict[Attribute, str]) -> exp.Expr:
        rows = rows_of(tree)
        if not rows:
            return tree
        if len(rows) == 1:
            inner = tree.unnest()
            simple = isinstance(inner, exp.Column) and inner.name != sources[rows[0]].timestamp
            own = Attribute(rows[0], inner.name) if simple else self.derive(inner, sources[rows[0]])
            return exp.column(parts.setdefault(own, f"_{len(parts) + 1}"), quoted=True)
        if isinstance(tree, exp.Exists | exp.Query) or (isinstance(tree, exp.In) and tree.args.get("query")):
            raise Refused("a subquery about rows of several streams is outside the query language", tree)
        for child in list(_operands(tree)):
            if rows_of(child):
                child.replace(self._split(child.copy(), sources, parts))
        return tree

    def kind(self, attribute: Attribute, sources: Sequence[Source]) -> DataType:
        """The type of a column of a source, declared or derived."""
        if attribute in self.columns:
            return self.columns[attribute].type
        return next(source for source in sources if source.alias == attribute.source).column(attribute.column).type


def _shift(found: Expression) -> tuple[str, int] | None:
    """The column that a whole number is more than by a constant, and that constant; None for another expression."""
    match found:
        case Call(Function(name="+"), (Field() as base, Literal(more))) | Call(
            Function(name="+"), (Literal(more), Field() as base)
        ):
            sign = 1
        case Call(Function(name="-"), (Field() as base, Literal(more))):
            sign = -1
        case _:
            return None
    whole = all(kind.family is Family.INTEGER for kind in (found.kind, base.kind, more.kind))
    return (base.name, sign * int(more.exact)) if whole and more.value is not None else None


def _usable(found: Expression, tree: exp.Expr, condition: bool) -> DataType:
    """The type of a derived column; raises Refused for one that cannot be one."""
    if condition:
        if found.kind.family is not Family.BOOLEAN and found.kind != ANY:
            raise Refused("a condition must be true or false", tree, mismatch=True)
        return DataType("boolean", Family.BOOLEAN)
    if found.kind == ANY:
        raise untyped(found, tree)
    if found.kind.name in ("void",) or found.kind.name.startswith("interval"):
        what = "NULL" if found.kind.name == "void" else "an interval"
        raise Refused(f"this expression is {what}, which is no column", tree, "cast it to the type that is meant")
    return found.kind


def untyped(found: Expression, tree: exp.Expr) -> Refused:
    """The error for a column of an unknown type."""
    names = [call.function.name for call in calls(found) if call.kind == ANY]
    help = "write CAST(… AS type) around it; in WHERE or ON it can be a condition by itself"
    return Refused(f"the type of what {names[-1] if names else 'this'} gives here is not known", tree, help)


def _over_row(tree: exp.Expr, readable: bool = False) -> exp.Expr:
    """A tree with the names of columns alone."""

    def named(name: str) -> exp.Identifier:
        return identifier(name) if readable else exp.Identifier(this=name, quoted=True)

    copy = tree.copy()
    for column in list(columns_of_row(copy)):
        row = named(ROW) if column.find_ancestor(exp.Query) is not None else None
        alone = exp.Column(this=named(column.name), table=row)
        if column is copy:
            return alone
        column.replace(alone)
    return copy


def _called(tree: exp.Expr, declared: dict[str, Column]) -> str:
    """The name of a derived column: its text; in backquotes where the catalog has a column of this name."""
    name = as_written(_over_row(tree, readable=True)).sql("spark", normalize_functions="lower")
    spend(_STEPS_A_CHARACTER * len(name))  # as long as its syntax was copied, walked and printed
    return name if name.lower() not in map(str.lower, declared) else _over_row(tree).sql("spark")


def with_derived(branches: Sequence[Branch], derived: Mapping[tuple[str, str], Column]) -> tuple[Branch, ...]:
    """The branches, each source with all columns that the statement derives from its table's rows and uses.

    ``derived`` has the columns by the name of the table and their own.
    """
    used: dict[str, dict[str, Column]] = {}
    for branch in branches:
        for attribute in (*formula_attributes(branch.where), *branch.projected):
            table = branch.source(attribute.source).table
            if (column := derived.get((table, attribute.column))) is not None:
                used.setdefault(table, {})[column.name] = column
        for source in branch.sources:
            for name in chain(*source.factors):
                if (column := derived.get((source.table, name))) is not None:
                    used.setdefault(source.table, {})[name] = column
    if not used:
        return tuple(branches)
    return tuple(
        replace(branch, sources=tuple(_extended(source, used.get(source.table, {})) for source in branch.sources))
        for branch in branches
    )


def _extended(source: Source, columns: Mapping[str, Column]) -> Source:
    return replace(source, columns=(*source.columns, *columns.values()))
