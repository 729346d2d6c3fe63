"""Aggregates above other operators: of a view of at most m rows there are at most m groups (D1, Lemma 1).

Of other views there are as many groups as their keys have values: a sum over a view is linear, so that each change of
its rows is added to its group, whatever the view remembers itself. What is added up need not be bounded. MIN, MAX,
percentiles and DISTINCT arguments keep their values, since a view takes rows back, and these must be bounded beside the
keys. Rows of windows that have closed are taken back no more: of these MIN and MAX keep the best value only (D2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.facts import facts
from streambound.analyzer.algebra.hidden_keys import with_hidden_keys
from streambound.analyzer.algebra.nodes import Aggregate, Apply, Filter, Join, JoinKind, Named, Project, Scalar, Tree
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import INT
from streambound.analyzer.query import Query
from streambound.analyzer.symbols import symbol
from streambound.analyzer.types import NUMERIC
from streambound.criteria.judged import State
from streambound.criteria.operators.closing_rows import computed_sides, mapped_columns
from streambound.criteria.operators.each_key import columns_of_key
from streambound.criteria.operators.judge import UNLIMITED, Context, NoNumber, NoRule, groups
from streambound.criteria.operators.late_conditions import is_late, is_marked
from streambound.criteria.operators.mapped import Columns, columns_shown
from streambound.criteria.operators.parts import (
    AggregateColumn,
    Closing,
    GroupPart,
    MapPart,
    Part,
    RelationPart,
    UnionPart,
    ViewJoinPart,
)
from streambound.criteria.operators.pushed_filters import pushed, turned
from streambound.criteria.operators.reading_calls import SPREADS, AggregateRead, call_of, needs_values, value_of_call
from streambound.criteria.operators.states import CLOSED, ClosingRows, JudgedPart, numbered
from streambound.criteria.operators.sums_below_joins import sums_below_join
from streambound.criteria.operators.tied_rows import only_read
from streambound.criteria.operators.written_columns import called, names_in
from streambound.criteria.parts import BlockPart, PairPart
from streambound.criteria.result_columns import aggregate_type
from streambound.criteria.size import Number, Size, Symbol, total
from streambound.criteria.violation import Violation

BEST = ("MIN", "MAX")


def judge_aggregate_of_view(tree: Aggregate, context: Context) -> JudgedPart:
    """Aggregates of what another operator gives; raises NoRule where its rows have no number.

    Where MIN or MAX is of groups whose windows are not shown, these say nevertheless when rows are taken back no more.
    """
    found = _judged(tree, context)
    if found.part is None and any(call.function in BEST for call in tree.calls):
        shown = with_hidden_keys(tree.input, context.positions)
        if shown is not None:
            with suppress(NoRule):
                other = _judged(replace(tree, input=shown), context)
                return other if other.part is not None else found
    return found


def _judged(tree: Aggregate, context: Context) -> JudgedPart:
    read = _read(tree)
    tree = replace(tree, input=only_read(tree.input, read))
    joined = _joins(tree.input)
    needed = read if joined or is_marked(tree.input) else None
    with context.reading(needed):
        judged = context.judge(tree.input, context)
    if judged.part is None:
        with suppress(NoNumber):
            return _below_join(tree, judged, context) if joined else judged
        return judged
    columns = Columns(
        columns_shown(schema(tree.input, context.catalog), judged.part.columns, needed), judged.part.columns
    )
    keys = [_item(f"_k{n}", key.value, columns, context) for n, key in enumerate(tree.keys, 1)]
    closes = _closing_groups(judged, [text for _, text in keys]) if judged.rows is None else ()
    rows, calls, arguments = list(keys), list[AggregateColumn](), list[MapPart]()
    valued, kept, closing_values = list[exp.Expr](), list[bool | None](), list[Closing | None]()
    for number, call in enumerate(map(call_of, tree.calls), 1):
        value = None if not call.arguments else _item("_v", _argument(call), columns, context)
        kind = aggregate_type(call.function, value[0].type if value is not None else None)
        column, argument = Column(f"_a{number}", kind), value[0] if value is not None else None
        if needs_values(call):
            if value is None:
                raise NoRule("no argument beside values")
            if call.percentile is not None and value[0].type.family not in NUMERIC and value[0].type.name != "void":
                raise NoRule(f"{call.function} of what is no number")
            closed = None if closes else _best_of_closed(call, judged, len(keys) + 1)
            of_bucket = [] if closed is None else [_closing_item(judged.part, judged.closes[0].columns[0].key)]
            arguments.append(_mapped(context, judged, [*keys, value, *of_bucket]))
            valued.append(call.arguments[0])
            closing_values.append(closed)
            kept.append(None if closed is None else call.function == "MAX")
            place = len(arguments) - 1
            calls.append(
                AggregateColumn(
                    column.name,
                    call.function,
                    call.distinct,
                    argument,
                    column,
                    values=place,
                    percentile=call.percentile,
                )
            )
            continue
        sums = [_sum(rows, len(keys), one, columns, context) for one in _factors(call)]
        linear = (-1,) if not call.arguments and call.condition is None else tuple(sums[:2])
        squares = tuple(sums[2:])
        calls.append(AggregateColumn(column.name, call.function, False, argument, column, linear, squares))
    if closes:
        number_of: Size | None = _open_groups(tree, closes[0], context)
        texts = [one.expressions[: len(keys) + 1] for one in arguments]
        values: list[Size | None] = [_closing_groups(judged, one, len(keys))[0].open(0) for one in texts]
    else:
        of_key = columns_of_key(judged.part, context)
        lasting = [key.value for key, (_, text) in zip(tree.keys, keys, strict=True) if text not in of_key]
        number_of = _evident(tree, judged, lasting, columns, context) if lasting else Number(1)
        values = [
            judged.closes[0].open(0)
            if closed is not None
            else _evident(tree, judged, [*lasting, _scalar(v)], columns, context)
            for v, closed in zip(valued, closing_values, strict=True)
        ]
    if context.unbounded:
        number_of, values = UNLIMITED, [UNLIMITED for _ in arguments]
    lacking = [_lacks(tree, None, context)] if number_of is None else []
    lacking += [_lacks(tree, value, context) for value, size in zip(valued, values, strict=True) if size is None]
    if number_of is None or lacking:
        return JudgedPart(violations=tuple(lacking), suspects=_suspects(judged.part))
    name = context.name("groups")
    own = (*(column for column, _ in keys), *(call.column for call in calls))
    given = _mapped(context, judged, rows)
    closing = closes[0].columns[0] if closes else None
    part = GroupPart(
        name, given, len(keys), tuple(calls), tuple(arguments), tuple(kept), closing, own,
        closing_values=tuple(closing_values),
    )  # fmt: skip
    span = context.positions.of(tree.syntax or exp.Null())
    shown = tuple(key.value.text for key in tree.keys)
    proposition, freed = ("A5", CLOSED) if closes else ("D1", "when its last row goes")
    states = [State(name, proposition, number_of, shown, freed, span)]
    for number, (size, closed) in enumerate(zip(values, closing_values, strict=True), 1):
        if size is not None:
            rule, when = ("A5" if closes else "D6", freed) if closed is None else ("D2", CLOSED)
            states.append(State(numbered(f"{name} values", number), rule, size, (*shown, "value"), when, span))
    known = None if closes else number_of
    return JudgedPart(part=part, states=(*judged.states, *states), rows=known, retracts=True, closes=closes)


def _closing_groups(judged: JudgedPart, texts: Sequence[str], keys: int | None = None) -> tuple[ClosingRows, ...]:
    """The different values of some expressions by the keys among them that close: as many as rows that have them."""
    assert judged.part is not None
    found = mapped_columns(judged.closes, judged.part.columns, texts)
    closing = (one for one in found if any(column.key in range(len(texts))[:keys] for column in one.columns))
    return tuple(replace(one, open=one.different(range(len(texts)))) for one in closing)


def _best_of_closed(call: AggregateRead, judged: JudgedPart, key: int) -> Closing | None:
    """When a value is taken back no more, at this place of the argument's rows, so that MIN or MAX keep the best (D2).

    None where all rows can be kept, or no window says when they do not change any more, or all values count.
    """
    if call.function not in BEST or judged.rows is not None or not judged.closes:
        return None
    return replace(judged.closes[0].columns[0], key=key)


def _open_groups(tree: Aggregate, closes: ClosingRows, context: Context) -> Size:
    """How many groups are open: one for each open row, or for each open bucket and value of the other keys."""
    if closes.buckets is None:
        return closes.open(0)
    places = {one.key for one in closes.columns}
    beside = [key.value for place, key in enumerate(tree.keys) if place not in places]
    items = tuple(Named(f"c{n}", value, alias=True) for n, value in enumerate(beside))
    known = facts(Project(tree.input, items, syntax=tree.syntax), context.catalog).different if items else 1
    return closes.open(0) if known is None else Number(closes.buckets * known)


def _closing_item(part: Part, key: int) -> Item:
    column = part.columns[key]
    return replace(column, name="_c"), exp.column(column.name, quoted=True).sql("spark")


def _evident(
    tree: Aggregate, judged: JudgedPart, scalars: Sequence[Scalar], columns: Columns, context: Context
) -> Size | None:
    """How many different values some expressions have: by the view's rows, or by what they can be.

    Those of columns of one side of a join are as many as its rows: of `GROUP BY R.y` those that R has now (E5).
    """
    assert judged.part is not None
    sides = computed_sides(judged.sides, judged.part.columns, [columns.over(one) for one in scalars])
    found = next((side.open(0) for side in sides if len(side.columns) == len(scalars)), judged.rows)
    if found is not None:
        return found
    items = tuple(Named(f"c{n}", scalar, alias=True) for n, scalar in enumerate(scalars))
    known = facts(Project(tree.input, items, syntax=tree.syntax), context.catalog).different
    if known is not None:
        return Number(known)
    return _of_union(judged.part, [columns.over(one) for one in scalars])


def _of_union(part: Part, texts: Sequence[str]) -> Size | None:
    """How many different values some columns of a union have together: those of a relation's rows, and of blocks'."""
    named = {exp.column(column.name, quoted=True).sql("spark"): n for n, column in enumerate(part.columns)}
    return _of_columns(part, [named[text] for text in texts]) if {*texts} <= named.keys() else None


def _of_columns(part: Part, places: Sequence[int]) -> Size | None:
    match part:
        case MapPart(input=input, expressions=expressions):
            return _of_union(input, [expressions[n] for n in places])
        case RelationPart(table=table):
            return Symbol(symbol("rows", table.name), table.rows)
        case BlockPart(split=split):
            chosen = (replace(one, outputs=tuple(one.outputs[n] for n in places)) for one in split.branches)
            return groups(replace(split, branches=tuple(chosen)))
        case UnionPart(inputs=inputs):
            several = [_of_columns(one, places) for one in inputs]
            known = [one for one in several if one is not None]
            return total(known) if len(known) == len(several) else None
    return None


def _lacks(tree: Aggregate, value: exp.Expr | None, context: Context) -> Violation:
    """That nothing says how many groups there are, or values of an argument."""
    nodes = [parsed(key.value) for key in tree.keys] if value is None else [value]
    told = ", ".join(node.sql("spark") for node in nodes)
    what = "is a group's key" if value is None else "is an argument of which all values are kept"
    message = f"{told} {what}, of a view that takes rows back, and nothing says how many values there are"
    help = "add limits to WHERE, or declare a domain in the catalog; or group by a bucket of time"
    place = context.positions.of(nodes[0])
    return Violation("D1" if value is None else "D6", "", told, message, place, Code.UNBOUNDED_PROJECTION, help)


def _suspects(part: Part) -> tuple[Query, ...]:
    """Blocks whose different results may be groups for ever."""
    match part:
        case MapPart(input=below) | ViewJoinPart(left=below):
            return _suspects(below)
        case PairPart(joint=joint):
            return (replace(joint.split, distinct=True),)
    return ()


def _below_join(tree: Aggregate, judged: JudgedPart, context: Context) -> JudgedPart:
    """The aggregates of a join whose columns are unbounded, pushed below it, if only those that it reads are not."""
    below, where = (tree.input.input, tree.input.condition) if isinstance(tree.input, Filter) else (tree.input, None)
    below, where = pushed(below, where, context.catalog)
    inner = isinstance(below, Join) and below.kind is JoinKind.INNER and not below.using
    if isinstance(below, Join) and inner and not is_block(below.left, context.catalog):
        below = turned(below, context.catalog) if is_block(below.right, context.catalog) else below
    if not isinstance(below, Join) or not inner or where is not None or not is_block(below.left, context.catalog):
        raise NoNumber("sums over a join with a view, which would have to be pushed below it")
    scalars = [key.value for key in tree.keys] + ([below.condition] if below.condition is not None else [])
    named = names_in(parsed(scalar) for scalar in reversed(scalars))
    with context.reading(named):
        joined = context.judge(below, context)
    if joined.part is None:
        return joined
    assert isinstance(joined.part, ViewJoinPart), "what a join with a view is"
    left = [c for c in schema(below.left, context.catalog) if called(c, named)]
    found = context.judge(sums_below_join(tree, below, tuple(left), joined.part.open, context), context)
    if found.part is None:
        raise NoNumber("groups of a join's side without a number")
    return found


def _joins(tree: Tree) -> bool:
    """Whether an aggregate is of a join, whose columns must be bounded only where they are read."""
    return _joins(tree.input) if isinstance(tree, Filter) else isinstance(tree, Join | Apply)


def _read(tree: Aggregate) -> Mapping[tuple[str, str], exp.Column]:
    """The columns that the keys and arguments read, and the condition below."""
    scalars = [key.value for key in tree.keys]
    for call in map(call_of, tree.calls):
        scalars += [_scalar(one) for one in (*call.arguments, *([call.condition] if call.condition else []))]
    below = tree.input
    while isinstance(below, Filter) and not is_late(below):
        scalars.append(below.condition)
        below = below.input
    return names_in(parsed(scalar) for scalar in reversed(scalars))


Item = tuple[Column, str]
"""A column, and the expression that it is over the columns below."""


def _item(name: str, scalar: Scalar, columns: Columns, context: Context) -> Item:
    text = columns.over(scalar)
    return Column(name, columns.kind(scalar, text, context)), text


def _argument(call: AggregateRead) -> Scalar:
    return value_of_call(call) if needs_values(call) else _scalar(call.arguments[0])


def _scalar(node: exp.Expr) -> Scalar:
    return Scalar(node.sql("spark"), node)


def _mapped(context: Context, judged: JudgedPart, items: Sequence[Item]) -> MapPart:
    assert judged.part is not None
    found = tuple(column for column, _ in items)
    return MapPart(context.name("map"), judged.part, found, tuple(text for _, text in items))


def _factors(call: AggregateRead) -> list[exp.Expr]:
    """What a row adds to how many values there are, to their sum, and to that of their squares."""
    if not call.arguments and call.condition is None:
        return []
    there = [exp.Not(this=exp.Is(this=exp.Paren(this=a.copy()), expression=exp.Null())) for a in call.arguments]
    guard = exp.and_(*there, *([call.condition.copy()] if call.condition is not None else []))
    value = None if call.function == "COUNT" else exp.Paren(this=call.arguments[0].copy())
    values: list[exp.Expr] = [exp.Literal.number(1)] + ([value] if value is not None else [])
    if call.function in SPREADS and value is not None:
        values.append(exp.Mul(this=value.copy(), expression=value.copy()))
    return [exp.Case(ifs=[exp.If(this=guard.copy(), true=one)], default=exp.Literal.number(0)) for one in values]


def _sum(rows: list[Item], keys: int, factor: exp.Expr, columns: Columns, context: Context) -> int:
    """The place of a sum among those of the rows, where equal ones are one."""
    text = columns.over(_scalar(factor))
    for place, (_, known) in enumerate(rows[keys:]):
        if known == text:
            return place
    kind = columns.kind(_scalar(factor), text, context)
    rows.append((Column(f"_s{len(rows) - keys + 1}", kind if kind.name != "void" else INT), text))
    return len(rows) - keys - 1
