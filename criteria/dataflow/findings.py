"""What is said of states that nothing bounds: a diagnostic for each column to blame, at its place in the SQL.

Of a block these are its criterion's violations. Of other operators they are the columns of what is remembered that have
any number of values, where these are written; and the operator, where there is no single one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.schema import starred_places
from streambound.analyzer.algebra.schema_columns import ViewColumn, meant
from streambound.analyzer.algebra.syntax import conjuncts, is_placed
from streambound.analyzer.algebra.window_functions import Looks, is_rank, window_function
from streambound.analyzer.catalog import Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Positions
from streambound.analyzer.function_calls import as_written
from streambound.analyzer.spans import Span
from streambound.criteria.dataflow.aggregates import keyed_rows
from streambound.criteria.dataflow.counting import held_keys
from streambound.criteria.dataflow.judge import Judgement
from streambound.criteria.dataflow.state import OperatorState
from streambound.criteria.dataflow.view import OperatorView, Places
from streambound.criteria.dataflow.views import MADE, Views
from streambound.criteria.dataflow.witness import states_without_size
from streambound.criteria.violation import Violation, cause_of
from streambound.criteria.wording import limits_help

_GROUP = "nothing bounds {}, a group's key: there is a group for each of its values"
_PARTITION = "nothing bounds {}, a partition's key: there is a partition for each of its values"
_LATEST = "nothing bounds {}: the latest row of each of its values must be remembered"
_VALUES = "nothing bounds {}, and all of its values in a group are remembered"
_DISTINCT = "nothing bounds {}: DISTINCT must remember every value it has ever returned"
_ASKED_FOR = "nothing bounds {}, and the subquery is asked for each of its values: every value must be remembered"
_COMPARED = "nothing bounds {}, and rows of both sides are compared by it: every value must be remembered"
_RECURSION = "nothing bounds {}: a recursion must remember every value it has ever returned"
_SHOWN = "nothing bounds {}, which is shown, and a row of it may wait for a partner: every value must be remembered"
_LATER = "a row of the other side may come later"
_EQUAL = f"nothing bounds {{0}} in {{1}}, and {_LATER}: every value of {{0}} must be remembered"
_ORDERED = f"the outcome of {{1}} depends on unboundedly many values of {{0}}, and {_LATER}: all must be remembered"
_LIMITS = "limit the columns that it keeps, in WHERE or by domains in the catalog, or group by a bucket of time"
_STEP = "limit what its step makes, as WHERE r.n < 100, or the columns that it is made of, by domains in the catalog"
_FIRST = "keep the first rows, WHERE n <= 3 above it"
_IN_ORDER = "order it by time"
_WINDOW = "take it over a window of time: OVER (PARTITION BY window(ts, '1 hour') …)"
_PARTNERS = (
    "limit how much later a partner may come: T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR, in one condition of ANDs"
)
_OLDEST = "limit how much older it may be, as T.ts >= S.ts - INTERVAL 1 HOUR in the same condition"
_ASKED = "limit their time in the subquery's WHERE, as T.ts BETWEEN S.ts - INTERVAL 1 HOUR AND S.ts"
_GROWS = "the values of {} may grow with each step: every one must be remembered"
_ENDS = "give the step a condition that ends it, as in WHERE depth < 10"
_RUNS = (
    "number the runs as they begin: LAG({0}) OVER ({1}) AS before in a subquery, then "
    "SUM(CASE WHEN {0} <=> before THEN 0 ELSE 1 END) OVER ({1}) AS {2}, and MAX({0}) … GROUP BY {3}"
)
_AHEAD = (
    "the next row may come at any time: say until when it counts, LEAD({0}) OVER (…) AS following and WHERE following "
    "<= {0} + INTERVAL 1 DAY; or take LAG, of the row before"
)
_OPEN = "add max_open to [[streams.{}.punctuations]]: how many keys are open at most at any time"
_MADE = re.compile(r"\b_[a-z]+\d+\b")
"""A name that a pass made, of which the user knows nothing: what has it is said of other columns, too."""
_ROWS = "declare it: rows = … in [relations.{}], or domains of its key"


def violations(judgement: Judgement) -> tuple[Violation, ...]:
    """The findings on the states of a statement that have no size, each once."""
    positions = judgement.context.blocks.positions
    reader = _Findings(positions, judgement.context.views, judgement.operation.tree)
    states = [one.state for one in states_without_size(judgement.operation)]
    relations = {one.operator.table: one.operator for one in reversed(states) if isinstance(one.operator, nodes.Scan)}
    found: dict[object, Violation] = {}
    endless = {id(state.operator) for state in states if isinstance(state.operator, nodes.Aggregate)}
    for state in states:
        if isinstance(state.operator, nodes.Scan) and state.operator is not relations[state.operator.table]:
            continue
        if isinstance(state.operator, nodes.Over) and id(_made_of(state.operator.input)) in endless:
            continue  # it keeps their groups, of which there are as many as the groups' keys have values
        for violation in reader.of(state):
            unnamed = violation.unnamed or _MADE.search(violation.message) is not None
            violation = replace(violation, cause=reader.cause(state, violation), unnamed=unnamed)
            found.setdefault((violation.code, violation.message, violation.span), violation)
    return tuple(one for one in found.values() if not one.unnamed) or tuple(found.values())


class WrittenColumn(Struct, frozen=True):
    """An expression, and the rows whose columns it reads."""

    node: exp.Expr
    view: OperatorView


class _Findings(Struct, frozen=True):
    """The findings on the states of one statement, whose tree is the ``root``."""

    positions: Positions
    views: Views
    root: nodes.Tree

    def of(self, state: OperatorState) -> Iterator[Violation]:
        """The findings on a state without a size."""
        if state.violations:
            asked = isinstance(state.operator.syntax, exp.Subquery)
            for one in state.violations:
                returned = asked and one.condition == "(1)" and one.attribute
                message = _ASKED_FOR.format(one.culprit) if returned else one.message
                yield self._placed(replace(one, message=message), state.operator)
            return
        found = list(self._columns(state))
        yield from found or [self._operator(state)]

    def cause(self, state: OperatorState, one: Violation) -> str:
        """What grows: what a value by a subquery is made into has one cause, as have the functions over one window."""
        operator = state.operator
        place = str((operator.at or self._place(None, operator)).start)
        if isinstance(operator.syntax, exp.Subquery):
            return place
        partition = [one.text for one in state.window.calls[0].partition] if state.window is not None else []
        return cause_of(one, " ".join((place, *partition)))

    def _placed(self, one: Violation, operator: nodes.Tree) -> Violation:
        """A violation of a block's criterion, where the column is read above if the block's columns were made up."""
        if isinstance(operator, nodes.Join):
            one = replace(one, help="; or ".join(filter(None, (_way_out(operator), one.help))))
        if one.span != self.positions.of(exp.Null()):
            return one
        given = self.views.schema(operator)
        place = next((p for p, c in enumerate(given) if c.called(one.attribute or "", one.stream)), None)
        above = None if place is None else mention(self.root, operator, place, self.views)
        return replace(one, span=self._place(above, operator))

    def _columns(self, state: OperatorState) -> Iterator[Violation]:
        """The columns to blame."""
        tree = state.operator
        match tree:
            case nodes.Aggregate(input, keys, calls):
                given, width = self.views.of(input), len(keys)
                read = {place: _remembered(calls[place - width], given) for place in state.key if place >= width}
                values = [n for n, own in read.items() if any(given.columns[one].values.size is None for one in own)]
                found = list(self._written(state, tree, _VALUES, values))
                yield from found or self._written(state, tree, _GROUP, [n for n in state.key if n < width])
            case nodes.Over(input, calls):
                given = self.views.of(input)
                own = calls if state.window is None else state.window.calls
                for node in dict.fromkeys(node for call in own for node in call.partition):
                    if any(given.columns[place].values.size is None for place in given.read_by(node)):
                        words = _PARTITION if is_placed(node.syntax) else _LATEST
                        words = _ASKED_FOR if isinstance(tree.syntax, exp.Subquery) else words
                        yield self._violation(state, words, WrittenColumn(node.syntax, given))
            case nodes.Join():
                yield from self._of_side(state, tree)
            case nodes.Distinct() | nodes.Union() | nodes.Project():
                yield from self._written(state, tree, _DISTINCT)
            case nodes.Except() | nodes.Intersect():
                yield from self._written(state, tree, _COMPARED)
            case nodes.Fixpoint():
                growing = list(self._growing(state, tree))
                yield from growing or self._written(state, tree, _RECURSION)

    def _growing(self, state: OperatorState, tree: nodes.Fixpoint) -> Iterator[Violation]:
        """The unbounded columns of a recursion that its step computes of its own."""
        view, inside = self.views.of(tree), self.views.inside(tree)
        for place in state.key:
            if view.columns[place].values.size is None and MADE in inside.of(tree.step).origins[place]:
                for one in written(tree.step, place, inside):
                    found = self._violation(state, _GROWS, one)
                    name = f"{tree.name}.{view.schema[place].name}"
                    yield replace(found, message=_GROWS.format(name), help=_ENDS)

    def _operator(self, state: OperatorState) -> Violation:
        """The operator itself."""
        tree = state.operator
        node = state.window.calls[0].syntax if state.window is not None else tree.syntax
        place = self._place(node, tree)
        if isinstance(tree, nodes.Scan):
            message = f"{state.words}: all that are there must be remembered"
            help, code = _ROWS.format(tree.table), Code.UNBOUNDED_PROJECTION
            return Violation(state.proposition, tree.alias, "", message, place, code, help)
        message = f"nothing bounds what this remembers: {state.words}"
        return Violation(state.proposition, "", None, message, place, Code.UNBOUNDED_VIEW, _way_out(tree))

    def _written(
        self, state: OperatorState, tree: nodes.Tree, words: str, places: Sequence[int] | None = None
    ) -> Iterator[Violation]:
        """The unbounded columns of an operator's rows, at these places or all, where they are written."""
        view = self.views.of(tree)
        for place in state.key if places is None else places:
            if view.columns[place].values.size is None:
                for one in written(tree, place, self.views):
                    found = self._violation(state, words, one)
                    yield replace(
                        found,
                        help=self._without_number(tree, place) or self._runs(tree, place) or _ahead(tree) or found.help,
                    )

    def _without_number(self, tree: nodes.Tree, place: int) -> str:
        """Advice for a column of groups, or of distinct rows, that belongs to a key which punctuations end."""
        rows = self.views.of(keyed_rows(tree) if isinstance(tree, nodes.Aggregate) else tree)
        keys = (one for one in held_keys(rows, rows.every) if place in one.places and one.key.max_open is None)
        return next((_OPEN.format(one.key.stream) for one in keys), "")

    def _runs(self, tree: nodes.Tree, place: int) -> str:
        """Advice for a key that tells runs of equal values apart by the difference of two numbers of rows."""
        if not isinstance(tree, nodes.Aggregate) or place >= len(tree.keys):
            return ""
        key, below = tree.keys[place].value.syntax, tree.input
        while isinstance(below, nodes.Filter | nodes.Alias):
            below = below.input
        if not isinstance(below, nodes.Project) or not isinstance(below.input, nodes.Over):
            return ""
        items = [
            one.value.syntax.unnest() for one in below.items if isinstance(one, nodes.Named) and one.name == key.name
        ]
        names = {side.name for one in items if isinstance(one, exp.Sub) for side in (one.left, one.right)}
        numbers = [one for one in below.input.calls if one.name in names and one.function == "ROW_NUMBER"]
        if len(numbers) < 2 or numbers[0].order != numbers[1].order:
            return ""
        by, more = sorted(([one.text for one in call.partition] for call in numbers), key=len)
        values = [one for one in more if one not in by]
        if len(values) != 1 or len(more) != len(by) + 1:
            return ""
        order = ", ".join(one.value.text + " DESC" * one.descending for one in numbers[0].order)
        window = f"PARTITION BY {', '.join(by)} ORDER BY {order}" if by else f"ORDER BY {order}"
        return _RUNS.format(values[0], window, key.name, ", ".join([*by, key.name]))

    def _of_side(self, state: OperatorState, tree: nodes.Join) -> Iterator[Violation]:
        """The unbounded columns of a side that waits: in the join's condition, or where they are read above."""
        pair = self.views.of(replace(tree, kind=nodes.JoinKind.INNER))
        first = len(self.views.schema(tree.left)) if state.what == "right" else 0
        places = [first + place for place in state.key if pair.columns[first + place].values.size is None]
        for place in [place for place in places if not pair.schema[place].time] or places:
            conditions = [one for one in conjuncts(tree.condition) if place in pair.read_by(one)]
            for one in conditions:
                equal = isinstance(one, exp.EQ)
                code = Code.UNBOUNDED_EQUALITY if equal else Code.UNBOUNDED_JOIN
                yield self._violation(state, _EQUAL if equal else _ORDERED, WrittenColumn(one, pair), place, code)
            above = None if conditions else mention(self.root, tree, place, self.views)
            if above is not None:
                yield self._violation(state, _SHOWN, WrittenColumn(above, pair), place)

    def _violation(
        self,
        state: OperatorState,
        words: str,
        at: WrittenColumn,
        place: int | None = None,
        code: Code = Code.UNBOUNDED_PROJECTION,
    ) -> Violation:
        """The finding on an expression, at its unbounded column in a position, or else at the first unbounded one."""
        node, view = at.node, at.view
        read = sorted(view.read_by(node))
        place = place if place is not None else next((p for p in read if view.columns[p].values.size is None), None)
        known = None if place is None else self._declared(view, place)
        column = "" if known is None else f"{known.alias}.{known.name}" if known.alias else known.name
        name = column if column and (isinstance(node, exp.Column) or code is not Code.UNBOUNDED_PROJECTION) else ""
        span = self._place(node, state.operator)
        text = as_written(node).sql("spark") if is_placed(node) else ""
        unnamed = _MADE.search(text) is not None
        text = "this value" if unnamed else text or self.positions.text(span)
        help = "" if place is None else self._help(view, place, column)
        alias = known.alias if known is not None else ""
        message = words.format(name or text, text)
        way = _way_out(state.operator)
        if isinstance(state.operator, nodes.Join) and place is not None:
            help = way if view.schema[place].time or not help else f"{way}; or {help}"
        unnamed = unnamed and text in message
        return Violation(state.proposition, alias, column or None, message, span, code, help or way, unnamed=unnamed)

    def _declared(self, view: OperatorView, place: int) -> ViewColumn:
        """A column of a view, or, where a pass gave it a name, that which it is."""
        for one in written(view.tree, place, self.views):
            below = meant(one.node, one.view.schema) if isinstance(one.node, exp.Column) else None
            if below is not None and view.schema[place].alias.startswith("_"):
                return one.view.schema[below]
        return view.schema[place]

    def _help(self, view: OperatorView, place: int, name: str) -> str:
        """Advice for bounding a column of a stream's rows; empty for any other column."""
        declared, tables = view.schema[place].column, [view.sources[one].table for one in view.origins[place]]
        if declared is None or len(tables) != 1 or tables[0] is None:
            return ""
        low, high = view.columns[place].values.ends
        section = f"{'streams' if tables[0].kind is Kind.STREAM else 'relations'}.{tables[0].name}"
        return limits_help(name, declared, section, high is not None, low is not None)

    def _place(self, node: exp.Expr | None, operator: nodes.Tree) -> Span:
        """Where an expression is written; where it is not, a function of the operator, or the operator."""
        calls = [call.syntax for call in operator.calls] if isinstance(operator, nodes.Aggregate | nodes.Over) else []
        on = [operator.syntax.args.get("on")] if isinstance(operator.syntax, exp.Join) else []
        for one in (node, *calls, *on, operator.syntax):
            if one is not None and is_placed(one):
                return self.positions.of(one)
        return operator.at or self.positions.first_token


def _made_of(tree: nodes.Tree) -> nodes.Tree:
    """The operator whose rows these are, some of them, with some of their columns."""
    while isinstance(tree, nodes.Alias | nodes.Filter | nodes.Project):
        tree = tree.input
    return tree


def _ahead(tree: nodes.Tree) -> str:
    """Advice for groups of rows that change with the next one of their partition."""
    below = _made_of(tree.input) if isinstance(tree, nodes.Aggregate) else tree
    calls = below.calls if isinstance(below, nodes.Over) else ()
    leads = (one for one in calls if window_function(one).looks is Looks.AHEAD and one.order)
    return next((_AHEAD.format(one.order[0].value.text) for one in leads), "")


def _remembered(call: nodes.AggregateCall, given: OperatorView) -> Places:
    """The columns whose values a group keeps for an aggregate."""
    return given.read_by(*call.arguments, *(key.value for key in call.order))


def _way_out(operator: nodes.Tree) -> str:
    """What to do about an operator that nothing bounds."""
    match operator:
        case nodes.Over(syntax=exp.Subquery()):
            return _ASKED
        case nodes.Over(calls=calls) if any(not is_placed(one.syntax) for call in calls for one in call.partition):
            return _OLDEST
        case nodes.Over(calls=calls):
            ranked = any(map(is_rank, calls))
            return f"{_FIRST if ranked else _IN_ORDER}, or {_WINDOW}"
        case nodes.Fixpoint():
            return _STEP
        case nodes.Join(syntax=exp.Join()):
            return _PARTNERS
        case nodes.Join():
            return _ASKED
    return _LIMITS


def written(tree: nodes.Tree, place: int, views: Views) -> Iterator[WrittenColumn]:
    """The expressions that a column of an operator's rows has the values of: of each side of a union one."""
    match tree:
        case nodes.Project(input, items):
            given = views.of(input)
            for item in items:
                places = starred_places(item, given.schema) if isinstance(item, nodes.Star) else (None,)
                if place < len(places):
                    below = places[place]
                    if isinstance(item, nodes.Named):
                        yield from _or_below(WrittenColumn(item.value.syntax, given), input, views)
                    elif below is not None:
                        yield from written(input, below, views)
                    return
                place -= len(places)
        case nodes.Aggregate(input, keys, calls):
            given = views.of(input)
            if place < len(keys):
                yield from _or_below(WrittenColumn(keys[place].value.syntax, given), input, views)
                return
            call = calls[place - len(keys)]
            syntax = call.arguments[0].syntax if call.arguments else call.syntax
            if syntax is not None:
                yield from _or_below(WrittenColumn(syntax, given), input, views)
        case nodes.Bucket(input=input, time=time):
            width = len(views.schema(input))
            if place < width:
                yield from written(input, place, views)
            else:
                yield WrittenColumn(time.syntax, views.of(input))
        case nodes.Over(input, calls):
            width = len(views.schema(input))
            if place < width:
                yield from written(input, place, views)
            elif (syntax := calls[place - width].syntax) is not None:
                yield WrittenColumn(syntax, views.of(input))
        case nodes.Join(left=left, right=right) if not tree.using:
            width = len(views.schema(left))
            yield from written(left, place, views) if place < width else written(right, place - width, views)
        case nodes.Fixpoint(base=base, step=step):
            yield from written(base, place, views)
            yield from written(step, place, views.inside(tree))
        case nodes.Union(left, right):
            yield from written(left, place, views)
            yield from written(right, place, views)
        case nodes.Except(left) | nodes.Intersect(left):
            yield from written(left, place, views)
        case nodes.Filter(input) | nodes.Alias(input) | nodes.Distinct(input) | nodes.SpjBlock(input):
            yield from written(input, place, views)


def _or_below(found: WrittenColumn, below: nodes.Tree, views: Views) -> Iterator[WrittenColumn]:
    """An expression, or, where a pass made it of a column, what this one is written as."""
    place = meant(found.node, found.view.schema) if isinstance(found.node, exp.Column) else None
    made = place is not None and not is_placed(found.node)
    deeper = list(written(below, place, views)) if made and place is not None else []
    yield from deeper or [found]


def mention(root: nodes.Tree, operator: nodes.Tree, place: int, views: Views) -> exp.Expr | None:
    """Where a column of an operator's rows is read above it first: in a select list, or by groups or windows."""
    path = _path(root, operator)
    tied: exp.Expr | None = None
    for above, below in zip(path[-2::-1], path[:0:-1], strict=True):
        given = views.schema(below)
        read = [column for one in _scalars(above) for column in one.find_all(exp.Column)]
        found = next((column for column in read if meant(column, given) == place), None)
        if found is not None and is_placed(found):
            return found
        match above:
            case nodes.Over(calls=calls):  # rows' other columns break ties
                tied = tied or calls[0].syntax
            case nodes.Project(items=items):
                stars = [starred_places(one, given) if isinstance(one, nodes.Star) else (None,) for one in items]
                shown = [one for places in stars for one in places]
                if place not in shown:
                    return tied
                place = shown.index(place)
            case nodes.Join(left=left) if below is not left:
                place += len(views.schema(left))
            case nodes.Aggregate() | nodes.Fixpoint():
                return tied
    return tied


def _scalars(tree: nodes.Tree) -> Iterator[exp.Expr]:
    """The expressions of an operator that make its rows of others."""
    match tree:
        case nodes.Project(items=items):
            yield from (one.value.syntax for one in items if isinstance(one, nodes.Named))
        case nodes.Aggregate(keys=keys, calls=calls):
            yield from (key.value.syntax for key in keys)
            yield from (one.syntax for call in calls for one in call.arguments)
        case nodes.Over(calls=calls):
            for call in calls:
                yield from (one.syntax for one in (*call.partition, *(key.value for key in call.order)))
                yield from (one.syntax for one in call.arguments)


def _path(root: nodes.Tree, operator: nodes.Tree) -> list[nodes.Tree]:
    """The operators from the root to one; none where it is not there."""
    if root is operator:
        return [root]
    for below in nodes.inputs(root):
        if path := _path(below, operator):
            return [root, *path]
    return []
