"""Aggregates above one block: propositions A1 (linear), A4 (DISTINCT arguments, percentiles), A5 (closing windows).

A1: every linear aggregate is a sum over matches, which is pushed below the join: the tables of the bag criterion, with
only the group-by and joined attributes in their keys, hold vectors of sums for numbers. Bounded iff (G) every group-by
attribute is bounded, also of streams that nobody waits for, and (ii) every join with a later stream is harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Aggregate, Bucket, BucketKind, Named, Scalar, SpjBlock, Tree
from streambound.analyzer.block_queries import Monomial
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.errors import TooManyBranchesError
from streambound.analyzer.flatten import written
from streambound.analyzer.query import Computed, Query, TimeValue
from streambound.analyzer.types import NUMERIC
from streambound.criteria.bag import bag_violations
from streambound.criteria.judged import State
from streambound.criteria.operators.aggregates_of_views import judge_aggregate_of_view
from streambound.criteria.operators.buckets import with_times
from streambound.criteria.operators.closing_rows import group_columns
from streambound.criteria.operators.closing_windows import (
    TIME,
    Windows,
    bucket_below,
    end_of,
    in_a_window,
    open_groups,
    windows_of,
)
from streambound.criteria.operators.ended_keys import (
    UNTIL_OVER,
    EndedKey,
    ended_key,
    key_states,
    needs_number,
    one_value,
)
from streambound.criteria.operators.endless import COUNTED, endless
from streambound.criteria.operators.extremes import extreme_part, extreme_violations, keeps_best, with_newest
from streambound.criteria.operators.flattened import flattened
from streambound.criteria.operators.judge import Context, NoRule, fewest_results, groups
from streambound.criteria.operators.parts import AggregateColumn, BucketPart, Closing, GroupPart
from streambound.criteria.operators.reading_calls import (
    SPREADS,
    AggregateRead,
    call_of,
    counts_values,
    needs_values,
    value_of_call,
)
from streambound.criteria.operators.states import CLOSED, JudgedPart, numbered
from streambound.criteria.parts import BestPart, BlockPart
from streambound.criteria.polynomials import Product, expanded, squared
from streambound.criteria.result_columns import aggregate_type, columns_of
from streambound.criteria.set import set_violations
from streambound.criteria.size import Number, Size
from streambound.criteria.violation import Violation, under
from streambound.preprocess.pipeline import derive

Places = tuple[int, ...]
"""Places of sums among those of a block."""


def judge_aggregate(tree: Tree, context: Context) -> JudgedPart:
    """The rule of a SELECT with aggregates, over one block."""
    assert isinstance(tree, Aggregate)
    if (one := flattened(tree)) is not None:
        return judge_aggregate(one, context)
    if (found := bucket_below(tree, context.catalog)) is not None:
        return _Aggregates(replace(tree, input=found[1]), context, found[0]).judged()
    if not is_block(tree.input, context.catalog):
        return judge_aggregate_of_view(tree, context)
    try:
        return _Aggregates(tree, context).judged()
    except NoRule as refusal:
        try:
            return judge_aggregate_of_view(replace(tree, input=SpjBlock(tree.input, syntax=tree.syntax)), context)
        except NoRule:
            raise refusal from None


@dataclass
class _Aggregates:
    """One SELECT with aggregates, while it is judged; its input is a block, of which a ``bucket`` is made first."""

    tree: Aggregate
    context: Context
    bucket: Bucket | None = None
    sums: list[Monomial] = field(default_factory=list)

    def judged(self) -> JudgedPart:
        context, tree = self.context, self.tree
        calls = [call_of(call) for call in tree.calls]
        keys = self._block_keys()
        linear = [(self._summed(call), self._squares(call)) for call in calls]
        once = bool(calls) and all(
            map(needs_values, calls)
        )  # that a group is there is all there is to know of its rows
        query = context.blocks.query(tree.input, keys, self.sums, distinct=once)
        if query.sums and any(isinstance(o.value, Computed) for branch in query.branches for o in branch.outputs):
            raise NoRule("sums by what is computed of rows of several streams")
        windows = windows_of(query, len(keys), self.bucket)
        ended = None if windows or self.bucket else ended_key(query, len(keys), context.catalog)
        violations = self._violations(query, windows, ended)
        values = [(call, self._values(call, keys, windows)) for call in calls if needs_values(call)]
        virtual: dict[int, Query] = {}
        for call, asked in values:
            best_of = _is_best(call)
            joined = any(len(branch.streams) > 1 for branch in derive(asked).split.branches)
            if best_of is not None and not windows and joined and not context.unbounded and keeps_best(asked):
                virtual[id(call)] = with_newest(asked, best_of)
                violations += extreme_violations(virtual[id(call)])
            else:
                violations += self._violations_of(asked, len(keys), windows, best_of, ended)
        if context.refuses(violations):
            violations = needs_number(violations, query, len(keys), context.catalog)
            split = derive(query).split
            asked_for = (derive(asked).split for _, asked in values)
            bags = (replace(derive(asked).split, distinct=False) for _, asked in values)
            suspects = (*with_times(split), split, replace(split, distinct=True), *asked_for, *bags)
            return JudgedPart(violations=tuple(dict.fromkeys(violations)), suspects=suspects)
        if ended is None and not windows and self.bucket is None:
            ended = ended_key(query, len(keys), context.catalog, promised=False)
        rows, states = context.block(query, "A5" if windows else "A1")
        arguments: list[BlockPart | BestPart] = []
        for call, asked in values:
            argument: BlockPart | BestPart
            if id(call) in virtual:
                argument, more = extreme_part(asked, virtual[id(call)], context, columns_of(asked))
            else:
                argument, more = context.block(asked, "A4")
            arguments.append(argument)
            states += more
        typed = self._calls(calls, linear, [call for call, _ in values], arguments)
        best = tuple(_is_best(call) for call, _ in values)
        name, width = context.name("groups"), len(tree.keys)
        spread = tuple(map(self._spread, arguments))
        given = self._spread(rows)
        assert not isinstance(given, BestPart), "rows are a block's"
        own = (*given.columns[:width], *(call.column for call in typed))
        closing = self._closing(windows)
        ends = None if ended is None else ended.ending
        part = GroupPart(name, given, width, tuple(typed), spread, best, closing, own, self._session(), ends)
        states += self._states(name, query, part, windows, [asked for _, asked in values], ended)
        most = Number(1) if not part.keys else None if windows or ended else groups(fewest_results(derive(query)))
        closes = () if windows is None else group_columns(derive(query).split, windows, self._ends(closing))
        return JudgedPart(part=part, states=states, rows=most, retracts=True, closes=closes)

    # --- sums -------------------------------------------------------------------------------------------------------

    def _summed(self, call: AggregateRead) -> tuple[int, ...]:
        """The sums that a linear aggregate is computed of: how many values there are, then totals."""
        filters = (call.condition,) if call.condition is not None else ()
        if needs_values(call):
            return ()
        if not call.arguments:
            return (self._sum(Monomial("", call.syntax, (), (), filters)),) if filters else (-1,)
        if call.function == "COUNT":
            return (self._sum(Monomial("", call.syntax, (), call.arguments, filters)),)
        self._check_number(call, call.arguments[0])
        products = self._products(call)
        present = tuple(dict.fromkeys(factor for one in products for factor in one))
        found = [self._sum(Monomial("", call.syntax, (), present, filters))]
        return (found[0], *(self._sum(Monomial("", call.syntax, one, present, filters)) for one in products))

    def _squares(self, call: AggregateRead) -> tuple[int, ...]:
        """The sums that the sum of an argument's squares is computed of."""
        if call.function not in SPREADS:
            return ()
        filters = (call.condition,) if call.condition is not None else ()
        products = self._products(call)
        present = tuple(dict.fromkeys(factor for one in products for factor in one))
        return tuple(self._sum(Monomial("", call.syntax, one, present, filters)) for one in squared(products))

    def _check_number(self, call: AggregateRead, argument: exp.Expr) -> None:
        """Raise a Finding for a sum, or a percentile, of what is no number."""
        item = Named("_v", _scalar(argument), alias=True)
        kind = columns_of(self.context.blocks.query(self.tree.input, (item,)))[0].type
        if kind.family not in NUMERIC and kind.name != "void":
            message = f"{call.function} is of numbers, and this is {kind.with_article}"
            help = "cast it to the type that is meant"
            raise self.context.positions.finding(Code.TYPE_MISMATCH, message, argument, help)

    def _products(self, call: AggregateRead) -> list[Product]:
        products = expanded(call.arguments[0], lambda node: self.context.blocks.sources_of(self.tree.input, node))
        if products is None:
            raise NoRule("an argument that does not factor")
        return products

    def _sum(self, wanted: Monomial) -> int:
        """The place of a sum among those of the block, where equal ones are one."""
        for place, known in enumerate(self.sums):
            if (known.factors, known.present, known.filters) == (wanted.factors, wanted.present, wanted.filters):
                return place
        self.sums.append(Monomial(f"_s{len(self.sums) + 1}", wanted.at, wanted.factors, wanted.present, wanted.filters))
        return len(self.sums) - 1

    def _values(self, call: AggregateRead, keys: Sequence[Named], windows: Windows | None) -> Query:
        """The block that gives a group's key with the value of an argument, as often as it is there if that counts.

        Of the rows that FILTER lets pass, where it reads one source; else with NULL, which is none, for the others.
        """
        if call.percentile is not None:
            self._check_number(call, written(call.percentile.value))
        distinct, condition = not counts_values(call), call.condition
        if condition is not None and self._is_of_one(condition):
            plain = isinstance(call.arguments[0], exp.Column)  # what is computed may fail of rows that do not count
            value = replace(call, condition=None) if plain else call
            passing = self._valued(keys, value, distinct, condition)
            if _is_alike(passing, windows):
                return passing
        return self._valued(keys, call, distinct)

    def _valued(
        self, keys: Sequence[Named], call: AggregateRead, distinct: bool, passing: exp.Expr | None = None
    ) -> Query:
        """The values of a call; a time of which the best is asked as a value as others are."""

        def read(value: Scalar) -> Query:
            items = (*keys, Named("_v", value, alias=True))
            return self.context.blocks.query(self.tree.input, items, distinct=distinct, passing=passing)

        query = read(value_of_call(call))
        last = query.branches[0].outputs[-1].value
        time = isinstance(last, TimeValue) and last.minus is None and _is_best(call) is not None
        return read(value_of_call(call, of_row=True)) if time else query

    def _is_of_one(self, condition: exp.Expr) -> bool:
        """Whether a condition is over the rows of one source: to ask it of them first is a filter of that stream."""
        return (
            condition.find(exp.Query) is None and len(self.context.blocks.sources_of(self.tree.input, condition)) == 1
        )

    def _calls(
        self,
        calls: list[AggregateRead],
        linear: list[tuple[Places, Places]],
        valued: list[AggregateRead],
        arguments: list[BlockPart | BestPart],
    ) -> list[AggregateColumn]:
        typed = []
        for number, (call, (sums, squares)) in enumerate(zip(calls, linear, strict=True), 1):
            values = next((n for n, other in enumerate(valued) if other is call), None)
            argument: Column | None = None
            if values is not None:
                argument = arguments[values].columns[-1]
            elif call.arguments and call.function != "COUNT":
                item = Named("_v", _scalar(call.arguments[0]), alias=True)
                argument = columns_of(self.context.blocks.query(self.tree.input, (item,)))[0]
            kind = aggregate_type(call.function, argument.type if argument else None)
            column = Column(f"_a{number}", kind)
            typed.append(
                AggregateColumn(
                    f"_a{number}",
                    call.function,
                    call.distinct,
                    argument,
                    column,
                    sums,
                    squares,
                    values,
                    call.percentile,
                )
            )
        return typed

    # --- criteria ---------------------------------------------------------------------------------------------------

    def _violations(self, query: Query, windows: Windows | None, ended: EndedKey | None) -> list[Violation]:
        """(ii), (i) for keys of streams that wait, and (G) for those of the others, unless they close or end."""
        if ended is not None:
            query = one_value(query, ended.places)
        found: list[Violation] = []
        for branch in derive(query).split.branches:
            facts = Facts.of(branch)
            if query.distinct:
                found += under("A3", set_violations(facts, stamped=windows is not None))
            else:
                found += [*under("A1", bag_violations(facts)), *endless(facts, closed=windows is not None)]
        return found

    def _violations_of(
        self, query: Query, keys: int, windows: Windows | None, best: bool | None, ended: EndedKey | None
    ) -> list[Violation]:
        """The set criterion of a key and a value, and the bag criterion where these are counted.

        A best value alone need not be bounded, nor one that goes. Sessions and open keys may go on for ever: their
        values do not go.
        """
        found: list[Violation] = []
        if ended is not None:
            query, keys = one_value(query, ended.places), keys - len(ended.places)
        for branch in derive(query).split.branches:
            facts = Facts.of(branch)
            if not query.distinct:
                found += [
                    *under("A4", bag_violations(facts)),
                    *endless(facts, windows is not None, others={"_v": COUNTED}),
                ]
            names = {o.name for o in branch.outputs[:keys]} if best is not None or windows is not None else None
            for violation in set_violations(facts, stamped=windows is not None) if query.distinct else ():
                shown = [o for o in branch.outputs if any(a.column == violation.attribute for a in o.attributes)]
                only_value = names is not None and shown and all(o.name not in names for o in shown)
                if not (violation.condition == "(1)" and only_value):
                    found.append(violation)
            if windows is not None and windows.session and best is None:
                mine = replace(branch, outputs=branch.outputs[keys:])
                found += [one for one in set_violations(Facts.of(mine)) if one.condition == "(1)"]
        return found

    # --- buckets ----------------------------------------------------------------------------------------------------

    def _block_keys(self) -> tuple[Named, ...]:
        """The columns of the block that the keys are, or are made of: what is no end of a bucket, and a time."""
        keys = [(n, key) for n, key in enumerate(self.tree.keys, 1) if self._end(key) is None]
        named = [Named(f"_k{n}", key.value, alias=True) for n, key in keys]
        if self.bucket is None:
            return tuple(named)
        if len(keys) == len(self.tree.keys):
            raise NoRule("buckets that are no keys")
        if any(end_of(self.bucket, node) for _, key in keys for node in written(key.value).find_all(exp.Column)):
            raise NoRule("a key that is made of the ends of a bucket")
        return (*named, Named(TIME, self.bucket.time, alias=True))

    def _end(self, key: Named) -> str | None:
        return None if self.bucket is None else end_of(self.bucket, written(key.value).unnest())

    def _spread(self, part: BlockPart | BestPart) -> BlockPart | BestPart | BucketPart:
        """The rows of a block, once for each of their buckets."""
        bucket = self.bucket
        if bucket is None:
            return part
        if isinstance(part, BestPart):
            raise NoRule("the best values of buckets")
        ends = [self._end(key) for key in self.tree.keys]
        time = sum(end is None for end in ends)
        plain = iter(range(time))
        items = [next(plain) if end is None else end for end in ends] + list(range(time + 1, len(part.columns)))
        columns = tuple(
            replace(
                part.columns[time if isinstance(item, str) else item],
                name=f"_k{place}" if place <= len(ends) else part.columns[item if isinstance(item, int) else time].name,
            )
            for place, item in enumerate(items, 1)
        )
        name, session = self.context.name("buckets"), bucket.kind is BucketKind.SESSION
        slide = 0 if session else bucket.slide or bucket.size
        return BucketPart(name, part, time, bucket.size, slide, bucket.offset, tuple(items), columns)

    def _closing(self, windows: Windows | None) -> Closing | None:
        """The key that says when a group is dropped."""
        if windows is None:
            return None
        size, how, place = windows.function.longest, windows.function.how, windows.place
        if self.bucket is None:
            return Closing(place, size, how, windows.delay)
        ends = [self._end(key) for key in self.tree.keys]
        if windows.buckets[0].function.how != "start" or place < sum(end is None for end in ends):
            return Closing([n for n, end in enumerate(ends) if end is None][place], size, how, windows.delay)
        if windows.session:
            if "end" not in ends or "start" not in ends:
                raise NoRule("sessions without both ends")
            return Closing(ends.index("end"), size, "session", windows.delay)
        place = next(n for n, end in enumerate(ends) if end is not None)
        return Closing(place, size, ends[place] or "", windows.delay)

    def _ends(self, closing: Closing | None) -> list[Closing]:
        """All keys that say when a group is dropped: both ends of a window do."""
        if closing is None:
            return []
        others = [
            replace(closing, key=place, how=end) for place, key in enumerate(self.tree.keys) if (end := self._end(key))
        ]
        return others if others and closing.how in ("start", "end", "last") else [closing]

    def _session(self) -> tuple[int, int] | None:
        """The places of the ends of sessions among the keys."""
        if self.bucket is None or self.bucket.kind is not BucketKind.SESSION:
            return None
        ends = [self._end(key) for key in self.tree.keys]
        if "end" not in ends or "start" not in ends or "last" in ends:
            raise NoRule("sessions without both ends")
        keys = {written(key).sql("spark").lower() for key in self.bucket.keys}
        if keys != {written(key.value).sql("spark").lower() for key in self.tree.keys if self._end(key) is None}:
            raise NoRule("sessions of other keys")
        return ends.index("start"), ends.index("end")

    # --- states -----------------------------------------------------------------------------------------------------

    def _states(
        self,
        name: str,
        query: Query,
        part: GroupPart,
        windows: Windows | None,
        values: Sequence[Query],
        ended: EndedKey | None,
    ) -> tuple[State, ...]:
        """The entries of groups, and of their values."""
        shown = tuple(key.value.text for key in self.tree.keys)
        span, split = self.context.positions.of(written(self.tree)), derive(query).split
        freed = CLOSED if windows else "never, but a group of no rows"
        freed = UNTIL_OVER if ended else freed
        if not part.keys:
            found = [State(name, "A1", Number(1), (), freed, span)]
        elif windows:
            size = self.context.size(lambda: open_groups(split, windows), "")
            found = [State(name, "A5", size, shown, freed, span, in_a_window(split, windows))]
        elif ended:
            size = self.context.size(lambda: ended.most(split), "groups of open keys without a number")
            states = key_states(ended.key, self.context.catalog, span)
            found = [*states, State(name, "K1", size, shown, freed, span, ended.counted(split))]
        else:
            results = fewest_results(derive(query))
            most = self.context.size(lambda: groups(results), "groups without a number")
            found = [State(name, "A1", most, shown, freed, span, (results,))]
        several = zip(part.arguments, part.best, values, strict=True)
        kept = [(argument, asked) for argument, best, asked in several if best is None]  # others are in groups' entries
        for number, (argument, value) in enumerate(kept, 1):
            asked = derive(value).split if windows or ended else fewest_results(derive(value))
            most = self.context.size(partial(_values_of, asked, windows, ended), "values without a number")
            proposition = "K1" if ended else "A4"
            counted = (
                in_a_window(asked, windows, values=True) if windows else ended.counted(asked) if ended else (asked,)
            )
            keys = (*shown, argument.columns[-1].name)
            found.append(State(numbered(f"{name} values", number), proposition, most, keys, freed, span, counted))
        return tuple(found)


def _values_of(asked: Query, windows: Windows | None, ended: EndedKey | None) -> Size | None:
    if windows:
        return open_groups(asked, windows, values=True)
    return ended.most(asked) if ended else groups(asked)


def _is_alike(query: Query, windows: Windows | None) -> bool:
    """Whether some rows may satisfy a block's conditions, in one branch if there are windows, as these are of one."""
    try:
        branches = derive(query).split.branches
    except TooManyBranchesError:
        return False
    return bool(branches) if windows is None else len(branches) == len(windows.buckets) == 1


def _scalar(node: exp.Expr) -> Scalar:
    return Scalar(node.sql("spark"), node)


def _is_best(call: AggregateRead) -> bool | None:
    return {"MIN": False, "MAX": True}.get(call.function)
