"""Projections and filters above other operators: Spark computes them, and nothing is remembered (linear, DBSP §3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.made_columns import shown_column
from streambound.analyzer.algebra.nodes import Filter, Item, Named, Project, Scalar, SpjBlock, Star, Tree
from streambound.analyzer.algebra.schema import parsed, schema, starred
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.derived import untyped
from streambound.analyzer.expressions.function import ANY
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.flatten import written
from streambound.analyzer.types import DataType
from streambound.criteria.operators.closing_rows import computed_sides, mapped_columns
from streambound.criteria.operators.judge import Context, NoRule
from streambound.criteria.operators.late_conditions import judge_late
from streambound.criteria.operators.parts import MapPart
from streambound.criteria.operators.pushed_filters import pushed
from streambound.criteria.operators.rank_limits import note_limits
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.operators.tied_rows import only_read
from streambound.criteria.operators.written_columns import called, names_in


def judge_project(tree: Tree, context: Context) -> JudgedPart:
    """A select list over an operator, of the rows that its WHERE or HAVING leaves."""
    assert isinstance(tree, Project)
    below, where = (tree.input.input, tree.input.condition) if isinstance(tree.input, Filter) else (tree.input, None)
    if isinstance(tree.input, Filter):
        note_limits(tree.input, context)
    if isinstance(below, SpjBlock) and where is not None:
        return _late(below, tree.items, where, context)
    below, where = pushed(below, where, context.catalog)
    tree = replace(tree, items=tuple(one for item in tree.items for one in _written_out(item, below, context)))
    needed = _read(tree, where)
    below = only_read(below, needed)
    with context.reading(needed):
        judged = context.judge(below, context)
    if judged.part is None:
        return judged
    columns = Columns(columns_shown(schema(below, context.catalog), judged.part.columns, needed), judged.part.columns)
    found: list[tuple[Column, str]] = []
    for item in tree.items:
        if isinstance(item, Star):
            kept = starred(item, columns.schema)
            pairs = zip(columns.schema, judged.part.columns, strict=True)
            mine = [(view.name, column) for view, column in pairs if any(view is one for one in kept)]
            found += [
                (replace(column, name=name), exp.column(column.name, quoted=True).sql("spark")) for name, column in mine
            ]
            continue
        text = columns.over(item.value)
        found.append((Column(item.name, columns.kind(item.value, text, context)), text))
    return _mapped(judged, found, "" if where is None else columns.over(where), context)


def _written_out(item: Item, below: Tree, context: Context) -> Iterator[Item]:
    """``S.*`` and ``* EXCEPT (x)`` as the columns that they show, so that no other one is read."""
    given = schema(below, context.catalog)
    shown = starred(item, given) if isinstance(item, Star) else given
    several = any(sum(one.called(view.name, view.alias) for one in given) > 1 for view in shown)
    if not isinstance(item, Star) or len(shown) == len(given) or several:
        yield item
        return
    for view in shown:
        node = shown_column(view, context.positions.of(written(item)))
        yield Named(view.name, Scalar(node.sql("spark"), node))


def _read(tree: Project, where: Scalar | None) -> Mapping[tuple[str, str], exp.Column] | None:
    """The columns that a select list and a condition read; None for all."""
    if any(isinstance(item, Star) for item in tree.items):
        return None
    scalars = [item.value for item in tree.items if isinstance(item, Named)] + ([where] if where is not None else [])
    return names_in(parsed(scalar) for scalar in reversed(scalars))


def columns_shown(
    given: Schema, columns: tuple[Column, ...], needed: Mapping[tuple[str, str], exp.Column] | None
) -> Schema:
    """The columns of an operator that its part has: all, or those that are needed."""
    if len(given) == len(columns) or needed is None:
        return given
    return tuple(view for view in given if called(view, needed))


def judge_filter(tree: Tree, context: Context) -> JudgedPart:
    """The rows for which a condition is true, with all their columns."""
    assert isinstance(tree, Filter)
    note_limits(tree, context)
    if isinstance(tree.input, SpjBlock):
        return _late(tree.input, None, tree.condition, context)
    below, where = pushed(tree.input, tree.condition, context.catalog)
    shown = needed = context.needed
    if shown is not None and where is not None:
        needed = {**shown, **names_in([parsed(where)])}
    below = only_read(below, needed)
    with context.reading(needed):
        judged = context.judge(below, context)
    if judged.part is None or where is None:
        return judged
    given = columns_shown(schema(below, context.catalog), judged.part.columns, needed)
    kept = [n for n, view in enumerate(given) if called(view, shown)]
    return filtered(judged, given, where, context, kept)


def _late(block: SpjBlock, items: Sequence[Item] | None, where: Scalar, context: Context) -> JudgedPart:
    judged, found, holds = judge_late(block.input, items, where, context)
    return judged if judged.part is None else _mapped(judged, found, holds, context)


def filtered(judged: JudgedPart, given: Schema, where: Scalar, context: Context, shown: Sequence[int]) -> JudgedPart:
    """The rows of a view with these columns for which a condition is true, with some of them, by their places."""
    assert judged.part is not None, "rows of a view"
    kept = [judged.part.columns[place] for place in shown]
    same = [(column, exp.column(column.name, quoted=True).sql("spark")) for column in kept]
    return _mapped(judged, same, Columns(given, judged.part.columns).over(where), context)


def judge_named(tree: Tree, context: Context) -> JudgedPart:
    """``(…) AS alias``: the same rows; what its columns are called is the schema's matter."""
    return context.judge(tree.input, context)  # type: ignore[union-attr]


def _mapped(judged: JudgedPart, found: list[tuple[Column, str]], where: str, context: Context) -> JudgedPart:
    part = judged.part
    assert part is not None
    columns = tuple(column for column, _ in found)
    same = [(c.name, exp.column(c.name, quoted=True).sql("spark")) for c in part.columns]
    if not where and [(column.name, text) for column, text in found] == same:
        return judged
    texts = tuple(text for _, text in found)
    closes = mapped_columns(judged.closes, part.columns, texts)
    sides = computed_sides(judged.sides, part.columns, texts)
    return replace(judged, part=MapPart(context.name("map"), part, columns, texts, where), closes=closes, sides=sides)


class Columns:
    """Expressions over an operator's columns as expressions over its part's, which are the same in the same order."""

    def __init__(self, given: Schema, columns: tuple[Column, ...]) -> None:
        assert len(given) == len(columns), "a part has the columns of its operator"
        self.schema, self.columns = given, columns

    @property
    def kinds(self) -> Mapping[str, DataType]:
        """The types of the part's columns."""
        return {column.name: column.type for column in self.columns}

    def over(self, scalar: Scalar) -> str:
        """An expression over the part's columns; raises NoRule where a name is none of them."""

        def meant(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Query):
                raise NoRule("a subquery above operators")
            return exp.column(self.column(node).name, quoted=True) if isinstance(node, exp.Column) else node

        return parsed(scalar).copy().transform(meant).sql("spark")

    def column(self, node: exp.Column) -> Column:
        """The part's column that a name means."""
        pairs = zip(self.schema, self.columns, strict=True)
        found = [column for view, column in pairs if view.called(node.name, node.table)]
        if not found:
            raise NoRule(f"{node.sql('spark')} is no column here")
        return found[0]

    def kind(self, scalar: Scalar, text: str, context: Context) -> DataType:
        """The type of an expression over the part's columns; raises Finding where it has none."""
        try:
            found = read(parsed(Scalar(text)), self.kinds)
            if found.kind == ANY:
                raise untyped(found, parsed(scalar))
        except Refused as refused:
            code = Code.TYPE_MISMATCH if refused.mismatch else Code.UNSUPPORTED
            raise context.positions.finding(code, str(refused), parsed(scalar), refused.help) from refused
        return found.kind
