"""The condition of a join of two views as tests of its pairs: columns l0, l1 … of the left row, r0 … of the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Named, Scalar, Scan, Tree, inputs
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute, Branch, Comparison, Condition, NullTest, OneOf, Op, Query, conjuncts
from streambound.analyzer.types import Family
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.operators.relations import clock_of
from streambound.criteria.operators.written_columns import called
from streambound.criteria.parts import RowTest
from streambound.criteria.recursive_blocks import CHANGE_TIME

_OPS = {Op.LT: "<", Op.LE: "<=", Op.EQ: "==", Op.GE: ">=", Op.GT: ">", Op.NE: "!="}
_SIDES = ("_l", "_r")
Columns = Sequence[Column]


def names_of(left: Columns, right: Columns) -> list[str]:
    """What the columns of a pair are called."""
    return [f"{prefix}{n}" for prefix, side in (("l", left), ("r", right)) for n in range(len(side))]


def pair_tests(
    tree: Join, sides: Sequence[Schema], columns: Sequence[Columns], context: Context
) -> tuple[RowTest, ...]:
    """The condition of a join of sides with these columns; raises NoRule where it is no conjunction of tests."""
    joint = _joint(tree, sides, columns, context)
    names = names_of(*columns)
    if len(joint.branches) != 1:
        raise NoRule("a condition of several cases between views")
    branch = joint.branches[0]
    of = {o.value: name for name, o in zip(names, branch.outputs, strict=True) if isinstance(o.value, Attribute)}
    try:
        atoms = list(conjuncts(branch.where))
    except TypeError:
        raise NoRule("a condition of several cases between views") from None
    if any(attribute not in of for atom in atoms for attribute in atom.attributes):
        way = "in a view or subquery compute it there: (SELECT 2 * AVG(x) …) for 2 * (SELECT AVG(x) …)"
        raise NoRule(f"a condition on what is computed of a row, or of numbers of two types, beside a view; {way}")
    return tuple(_test(atom, of, branch) for atom in atoms)


def as_shown(
    tree: Join, sides: Sequence[Schema], columns: Sequence[Columns], context: Context
) -> tuple[list[str], tuple[Column, ...]]:
    """What the columns of a join's results that are needed are called in its pairs; and these columns, so called."""
    names = names_of(*columns)
    typed = dict(zip(names, (*columns[0], *columns[1]), strict=True))
    of = list(zip(names, (*sides[0], *sides[1]), strict=True))
    wanted = schema(tree, context.catalog)
    if context.needed is not None:
        wanted = tuple(view for view in wanted if called(view, context.needed))
    shown = []
    for one in wanted:
        found = next((name for name, view in of if (view.alias, view.name) == (one.alias, one.name)), None)
        if found is None:
            raise NoRule(f"{one.name} of a join's side")
        shown.append(found)
    return shown, tuple(replace(typed[name], name=name) for name in shown)


def plain(value: object) -> int | float | str:
    """A value as tests have it."""
    if isinstance(value, str):
        return value
    return int(value) if float(value) == int(value) else float(value)  # type: ignore[arg-type, call-overload]


def place_of(tree: Tree) -> exp.Expr | None:
    """Where a table of a tree is written."""
    if isinstance(tree, Scan):
        return tree.syntax
    return next((found for below in inputs(tree) if (found := place_of(below)) is not None), None)


def _test(atom: Condition, of: dict[Attribute, str], branch: Branch) -> RowTest:
    match atom:
        case NullTest(attribute, is_null):
            return RowTest(of[attribute], "is null" if is_null else "is not null")
        case OneOf(attribute, values):
            return RowTest(of[attribute], "in", None, tuple(plain(value) for value in values))
    assert isinstance(atom, Comparison), "what is left"
    if atom.right is None:
        return RowTest(of[atom.left], _OPS[atom.op], None, plain(atom.offset))
    kinds = [branch.column(one).type for one in (atom.left, atom.right)]
    if kinds[0].family is not kinds[1].family or kinds[0].scale != kinds[1].scale:
        raise NoRule("a comparison of two types with a view")
    offset = None if kinds[0].family is Family.STRING else plain(atom.offset)
    return RowTest(of[atom.left], _OPS[atom.op], of[atom.right], offset)


def _joint(tree: Join, sides: Sequence[Schema], columns: Sequence[Columns], context: Context) -> Query:
    """The pairs that pass the condition, of two streams with the columns of the sides."""
    clock = clock_of(tree, context.catalog)
    tables, renamed = [], []
    for alias, side, own in zip(_SIDES, sides, columns, strict=True):
        given = tuple(replace(column, name=f"c{n}", domain=None) for n, column in enumerate(own))
        name = context.name("view")
        tables.append(DeclaredTable(name, Kind.STREAM, (*given, Column(CHANGE_TIME, clock.type)), CHANGE_TIME))
        renamed += [(view, exp.column(f"c{n}", table=alias, quoted=True)) for n, view in enumerate(side)]

    def meant(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        found = [to for view, to in renamed if view.called(node.name, node.table)]
        if len(found) != 1:
            raise NoRule(f"{node.sql('spark')} is no column here")
        return found[0].copy()

    syntax = tree.syntax
    one, two = (Scan(table.name, alias, syntax=place_of(tree)) for table, alias in zip(tables, _SIDES, strict=True))
    body: Tree = Join(JoinKind.INNER, one, two, syntax=syntax)
    if tree.condition is not None:
        condition = parsed(tree.condition).copy().transform(meant)
        body = Filter(body, Scalar(condition.sql("spark"), condition), syntax=syntax)
    reader = replace(context.blocks, catalog=replace(context.catalog, tables=(*context.catalog.tables, *tables)))
    items = [Named(f"c{n}", Scalar(to.sql("spark"), to), alias=True) for n, (_, to) in enumerate(renamed)]
    return reader.query(body, items)
