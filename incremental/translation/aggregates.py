"""GROUP BY and aggregates: sums where these are enough, all rows of a group where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.aggregate_functions import KeptValues, aggregate_type, computed_of, values_of
from streambound.analyzer.algebra.nodes import Aggregate, AggregateCall, Named, Scalar, Tree
from streambound.analyzer.constants import BIGINT, DOUBLE
from streambound.analyzer.spans import Span
from streambound.incremental.aggregates import NAMES, AggregateOf
from streambound.incremental.operators import AggregateRows, Equality, GroupOp, GroupRowsOp, SumsOp
from streambound.incremental.row_expression import RowExpression, constant
from streambound.incremental.translation.subqueries import with_subqueries
from streambound.incremental.translation.translator import Around, Translator
from streambound.incremental.translation.views import BoundView, NamedColumn, Untranslatable, bind, located
from streambound.incremental.zset import ZSet


def aggregate(to: Translator, tree: Tree, around: Around) -> BoundView:
    """``GROUP BY keys``: groups with their keys and the values of aggregates."""
    assert isinstance(tree, Aggregate)
    view = to.view(tree.input, around)
    syntaxes = [to.scalar(key.value) for key in tree.keys]
    syntaxes += [to.scalar(part) for call in tree.calls for part in parts_of(call)]
    view = to.reaching(view, around, syntaxes)
    view, replaced = with_subqueries(to, view, syntaxes, around, to.place(tree))
    keys = tuple(bind(to.scalar(key.value), view, replaced) for key in tree.keys)
    calls = tuple((aggregate_of(to, call, view, replaced), _is_distinct(call)) for call in tree.calls)
    groups = Groups(
        view, keys, tuple(_key_column(to, key, view, one) for key, one in zip(tree.keys, keys, strict=True))
    )
    found = groups.rows(to, around, calls, to.place(tree))
    width = found.prefix + len(keys)
    named = (NamedColumn("", call.name, of.kind) for call, (of, _) in zip(tree.calls, calls, strict=True))
    return replace(found, columns=(*found.columns[:width], *named))


def parts_of(call: AggregateCall) -> list[Scalar]:
    """The expressions of a call."""
    filters = [call.filter] if call.filter is not None else []
    return [*call.arguments, *filters, *(key.value for key in call.order)]


def aggregate_of(
    to: Translator, call: AggregateCall, view: BoundView, replaced: dict[int, int] | None = None
) -> AggregateOf:
    """A call over a view's rows; raises Untranslatable for an aggregate that is not known."""
    name = call.function.lower()
    if name not in NAMES or call.ignore_nulls:
        raise Untranslatable(f"{call.function} has no circuit", call.syntax)
    given = [bind(to.scalar(one), view, replaced) for one in computed_of(call)]
    if call.filter is not None:
        given = _filtered(to, call.filter, given, view, replaced)
    if not given and name != "count":
        raise Untranslatable(f"{call.function} has no argument", call.syntax)
    kind = aggregate_type(call.function, given[0].kind if given else None) or DOUBLE
    kept = values_of(call)
    if not isinstance(kept, KeptValues):
        return AggregateOf(name, tuple(given), kind)
    part = None if kept.part is None else Fraction(str(kept.part))
    return AggregateOf(name, tuple(given), kind, part, kept.descending)


def _filtered(
    to: Translator, condition: Scalar, given: list[RowExpression], view: BoundView, replaced: dict[int, int] | None
) -> list[RowExpression]:
    """The arguments, NULL where a condition does not hold."""
    from streambound.analyzer.expressions.expression import Call
    from streambound.analyzer.expressions.registry import BY_NAME

    holds = bind(to.scalar(condition), view, replaced)
    values = given or [constant(Fraction(1), BIGINT, "1")]
    return [
        RowExpression(
            Call(BY_NAME["if"], (holds.value, value.value, constant(None, value.kind, "NULL").value), value.kind),
            f"{value.text} IF {holds.text}",
        )
        for value in values
    ]


def _is_distinct(call: AggregateCall) -> bool:
    """Whether each value counts once; it makes no difference to the least and the greatest."""
    return call.distinct and call.function not in ("MIN", "MAX")


def _key_column(to: Translator, key: Named, view: BoundView, value: RowExpression) -> NamedColumn:
    """What a key is called above the groups: as the column that it is, unless it is given a name."""
    syntax = to.scalar(key.value)
    if isinstance(syntax, exp.Column) and not key.alias and (found := located(syntax, view)) is not None:
        return replace(view.columns[found[0]], kind=value.kind, hidden=False)
    return NamedColumn("", key.name, value.kind)


class Groups(Struct):
    """Groups of a view's rows that agree in the columns of the query around and in keys."""

    view: BoundView
    keys: tuple[RowExpression, ...]
    named: tuple[NamedColumn, ...]

    @property
    def every(self) -> tuple[RowExpression, ...]:
        """The columns of the query around, and the keys."""
        return (*(self.view.column(at) for at in range(self.view.prefix)), *self.keys)

    @property
    def _names(self) -> tuple[NamedColumn, ...]:
        return (*self.view.columns[: self.view.prefix], *self.named)

    def rows(
        self, to: Translator, around: Around, calls: Sequence[tuple[AggregateOf, bool]], span: Span | None
    ) -> BoundView:
        """A row for each group: its keys, and the values of the aggregates, DISTINCT or not."""
        width, always = len(self.every), not self.every
        linear = tuple(dict.fromkeys(call for call, distinct in calls if call.linear and not distinct))
        general = tuple(dict.fromkeys(call for call, distinct in calls if not call.linear and not distinct))
        spine = self._sums(to, self.view, self.every, linear, always, span)
        places = {(call, False): width + at for at, call in enumerate(linear)}
        parts = [(self._general(to, general, always, span), general, False)] if general else []
        for part, own, distinct in [*parts, *self._distinct(to, calls, always, span)]:
            start = len(spine.columns) + width
            equal = tuple(Equality(spine.column(at), part.column(at), True) for at in range(width))
            spine = to.joined(spine, part, equal, None, span)
            places |= {(call, distinct): start + at for at, call in enumerate(own)}
        order = [*range(width), *(places[call] for call in calls)]
        result = replace(to.kept(spine, order, span), prefix=self.view.prefix)
        return self._with_empty(to, result, around, calls, span) if self.view.prefix and not self.keys else result

    def _sums(
        self, to: Translator, view: BoundView, keys: tuple[RowExpression, ...], calls: tuple[AggregateOf, ...],
        always: bool, span: Span | None,
    ) -> BoundView:  # fmt: skip
        columns = (*self._names, *(NamedColumn("", call.text, call.kind, True) for call in calls))
        sums = to.add(SumsOp(keys, calls), (view.node,), columns, span)
        return BoundView(to.add(GroupRowsOp(calls, always), (sums,), columns, span), columns)

    def _general(self, to: Translator, calls: tuple[AggregateOf, ...], always: bool, span: Span | None) -> BoundView:
        columns = (*self._names, *(NamedColumn("", call.text, call.kind, True) for call in calls))
        op = GroupOp(self.every, AggregateRows(self.every, calls), always)
        return BoundView(to.add(op, (self.view.node,), columns, span), columns)

    def _distinct(
        self, to: Translator, calls: Sequence[tuple[AggregateOf, bool]], always: bool, span: Span | None
    ) -> list[tuple[BoundView, tuple[AggregateOf, ...], bool]]:
        """``COUNT(DISTINCT a) → COUNT(a)`` over the different rows of keys and a."""
        found = list[tuple[BoundView, tuple[AggregateOf, ...], bool]]()
        for call in dict.fromkeys(call for call, distinct in calls if distinct):
            own = [*zip(self._names, self.every, strict=True)]
            own += [(NamedColumn("", one.text, one.kind), one) for one in call.arguments]
            rows = to.distinct(to.mapped(self.view, own, 0, span), span)
            width = len(self.every)
            over = replace(call, arguments=tuple(rows.column(width + at) for at in range(len(call.arguments))))
            keys = tuple(rows.column(at) for at in range(width))
            if call.linear:
                result = self._sums(to, rows, keys, (over,), always, span)
            else:
                result = Groups(rows, keys, self._names)._general(to, (over,), always, span)
            found.append((result, (call,), True))
        return found

    def _with_empty(
        self, to: Translator, result: BoundView, around: Around, calls: Sequence[tuple[AggregateOf, bool]],
        span: Span | None,
    ) -> BoundView:  # fmt: skip
        """One row for each row of the query around, also where there is nothing to aggregate."""
        assert around.outer is not None
        outer, width = around.outer, len(around.outer.columns)
        keys = tuple(Equality(outer.column(at), result.column(at), True) for at in range(width))
        alone = to.minus(outer, to.semi(outer, result, keys, (), span), span)
        nothing = [constant(call.of(ZSet()), call.kind, "of no rows") for call, _ in calls]
        values = [*alone.all_columns(), *nothing]
        return to.plus(result, to.mapped(alone, [*zip(result.columns, values, strict=True)], result.prefix, span), span)
