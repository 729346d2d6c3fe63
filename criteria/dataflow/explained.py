"""Why facts hold: each of a column at a node by one rule, of facts before it and paths of atoms, as a log.

`analyzer.algebra.facts` closes all that is known of a row at once, and does not say why; here what a certificate uses
is explained afterwards: a shortest path through the same differences. What has no explanation is said to be *unproved*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, floor
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer import relation_queries
from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.expression_facts import moved_by, near_one_row
from streambound.analyzer.algebra.narrowing import RowFacts, narrowed
from streambound.analyzer.algebra.row_expressions import row_expression
from streambound.analyzer.algebra.value_sets import ANYTHING, NOTHING, ValueSet, between, in_type
from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, TimePromise
from streambound.analyzer.expressions.expression import fields
from streambound.analyzer.rounded_times import measured_distance
from streambound.criteria.dataflow.tree_nodes import (
    LEFT,
    RIGHT,
    Json,
    PathStep,
    Point,
    TreeNode,
    called_above,
    conditions_of,
    has_partner,
    is_said_by,
    latest,
    named_below,
    needed_inputs,
    never_changes,
    origin,
    point_json,
    present_by_condition,
    present_points,
    row_of,
    row_schema,
    said_by,
    set_json,
    steps_of,
    time_json,
)
from streambound.criteria.dataflow.view import place_of
from streambound.criteria.dataflow.views import equalities, in_pairs_only, pairs_of


class FactLog(Struct):
    """The facts that a certificate uses, each once; ``numbers`` are those of nodes."""

    numbers: Callable[[TreeNode], int]
    facts: list[Json] = field(default_factory=list)
    _known: dict[tuple[int, int, str, str], int] = field(default_factory=dict)
    _sets: dict[int, ValueSet] = field(default_factory=dict)
    _begun: dict[tuple[int, int, str, str], list[Json]] = field(default_factory=dict)
    """What is being explained, and what supposes it: rows of recursions."""
    _recursions: set[int] = field(default_factory=set)

    # --- values ---------------------------------------------------------------------------------------------------

    def values(self, node: TreeNode, column: int) -> int:
        """The fact that says which values a column has."""
        key = (self.numbers(node), column, "values", "")
        if key in self._known:
            return self._known[key]
        if key in self._begun:  # what a recursion's row has, its rows have
            raise RuntimeError("only rows of a recursion are of themselves")
        self._begun[key] = []
        self._recursions |= {key[0]} if isinstance(node.tree, nodes.Fixpoint) else set()
        made = self._values(node, column)
        values = self._set(made, node, column)
        made |= {"node": key[0], "column": column, "values": set_json(values)}
        if made["rule"] not in ("none", "unproved", "apart"):  # else it is as the operator says
            del made["rule"]
        if key in self._known:  # a recursion that was explained on the way
            return self._known[key]
        supposing = self._begun.pop(key)
        self._known[key] = number = self._added(made)
        self._sets[number] = values
        for one in supposing:
            one["uses"] = [number]
        return number

    def claimed(self, number: int) -> ValueSet | None:
        """The set that a fact claims."""
        return self._sets.get(number)

    def _set(self, made: Json, node: TreeNode, column: int) -> ValueSet:
        """The set that is claimed: that of the view, or what a rule gives where that is more."""
        own, found = node.view.columns[column].values, made.pop("set", None)
        below = [self._sets[one] for one in made.get("uses", ()) if one in self._sets]
        if isinstance(node.tree, nodes.SetOperation):
            kinds = [node.input(name).view.schema[column].type for name in ("left", "right")]
            below = [in_type(one, kind, node.view.schema[column].type) for one, kind in zip(below, kinds, strict=False)]
        if made["rule"] in ("passed", "paired", "sides") and below:
            found = below[0].join(below[-1])
            found = found.or_null() if own.null else found
        return own if found is None or found.within(own) else found

    def _values(self, node: TreeNode, column: int) -> Json:
        if node.view.columns[column].values == NOTHING and (made := self._none(node, column)) is not None:
            return made
        match node.tree:
            case nodes.Scan():
                return {"rule": "declared"}
            case nodes.Recur():
                return self._of_recursion(node, column)
            case nodes.Fixpoint():
                return {"rule": "sides", "uses": [self.values(node.input(n), column) for n in ("base", "step")]}
            case nodes.Union():
                return {"rule": "sides", "uses": [self.values(node.input(n), column) for n in ("left", "right")]}
            case nodes.Intersect():
                return {"rule": "both", "uses": [self.values(node.input(n), column) for n in ("left", "right")]}
            case nodes.Filter():
                return self._narrowed(node, column)
            case nodes.Join(kind=nodes.JoinKind.INNER, using=()):
                return self._narrowed(node, column)
            case nodes.Join(using=()) if has_partner(node, column):
                pair = TreeNode(pairs_of(node.tree), node.views, node.recursion)
                return {"rule": "paired", "uses": [self.values(pair, column)]}
            case nodes.Bucket(kind=kind) if kind is not nodes.BucketKind.SESSION:
                below = node.input("input")
                time = place_of(node.tree.time.syntax, below.view)
                if column >= len(below.view.schema) and time is not None:
                    return {"rule": "bucket", "uses": [self.values(below, time)]}
        come_from = origin(node, column)
        if come_from is None:
            return self._of_function(node, column)
        rows, place, expression = come_from
        if place is not None:
            return {"rule": "passed", "uses": [self.values(rows, place)]}
        found = row_expression(expression, rows.view.schema)
        read = () if found is None else fields(found)
        known = [int(name) for name in read if rows.view.columns[int(name)].values != ANYTHING]
        uses = [self.values(rows, one) for one in sorted(known)]
        measured = None if found is None else measured_distance(found)
        near = None if measured is None else near_one_row(measured, rows.view.columns)
        if measured is None or near is None:
            return {"rule": "computed", "uses": uses}
        times = zip((*measured.plus, *measured.minus), near, strict=True)
        return {"rule": "apart", "uses": [*uses, *(self.time(rows, int(place), one.source) for place, one in times)]}

    def _of_function(self, node: TreeNode, column: int) -> Json:
        """The facts of aggregates, by their arguments, and of functions over windows: where their values begin."""
        own, made = node.view.columns[column].values, dict[str, Any](rule="function")
        match node.tree:
            case nodes.Aggregate(keys=keys, calls=calls):
                call, below = calls[column - len(keys)], node.input("input")
                empty = next((p for p, one in enumerate(below.view.columns) if one.values == NOTHING), None)
                if empty is not None:
                    return made | {"uses": [self.values(below, empty)], "set": own}
                read = sorted(below.view.read_by(*call.arguments))
                made["uses"] = [self.values(below, one) for one in read if below.view.columns[one].values != ANYTHING]
                rows = below.tree
                while isinstance(rows, nodes.Filter | nodes.Alias | nodes.Project):
                    rows = rows.input
                known = call.function != "COUNT" or isinstance(rows, nodes.Scan)
                return made | {"set": own if known else between(own.ends[0], None, null=False)}
            case nodes.Over():
                return made | {"set": own}
            case nodes.Bucket():
                return made | {"set": ANYTHING.not_null()}
        return made | {"set": ANYTHING}

    def _of_recursion(self, node: TreeNode, column: int) -> Json:
        around = node.recursion
        assert around is not None, "it is in a recursion"
        key = (self.numbers(around), column, "values", "")
        made: Json = {"rule": "recursive", "set": around.view.columns[column].values, "uses": []}
        if key in self._begun:
            self._begun[key].append(made)
        else:  # what is being explained of its step does not say it: it is explained from its base on
            begun = self._begun
            self._begun = {one: supposing for one, supposing in begun.items() if one[0] in self._recursions}
            made["uses"] = [self.values(around, column)]
            self._begun = begun
        return made

    def _none(self, node: TreeNode, column: int) -> Json | None:
        """Why there are no rows: an input has none, or a condition has none; None where the column says so."""
        for name in needed_inputs(node.tree):
            below = node.input(name)
            empty = next((p for p, one in enumerate(below.view.columns) if one.values == NOTHING), None)
            if empty is not None:
                return {"rule": "none", "uses": [self.values(below, empty)]}
        if not isinstance(node.tree, nodes.Filter | nodes.Join):
            return None
        empty_ones = [p for p in range(len(node.view.columns)) if self._left(node, p) == NOTHING]
        if empty_ones:
            return None if column in empty_ones else {"rule": "none", "uses": [self.values(node, empty_ones[0])]}
        path = self.contradiction(node)
        if path is None:
            return None
        there = self._there(node, [*path, path[0]])
        return {"rule": "none", "high": [self.step(node, one) for one in path], "present": there}

    @staticmethod
    def _left(node: TreeNode, column: int) -> ValueSet:
        """The values of a column that satisfy the parts of a condition, taken one by one."""
        rows, place = row_of(node, column)
        found, given = rows.view.columns[place].values, row_schema(node)
        for one in conditions_of(node):
            known = [ColumnFacts(found) if p == column else ColumnFacts() for p in range(len(given))]
            found = narrowed(one, RowFacts(given, tuple(known))).columns[column].values
        return found

    def _narrowed(self, node: TreeNode, column: int) -> Json:
        """The facts of the input and the atoms of the condition; a path of differences where these are not enough."""
        rows, place = row_of(node, column)
        wanted, atoms = node.view.columns[column].values, list[int]()
        found, uses = ANYTHING, list[int]()
        if rows.view.columns[place].values != ANYTHING:
            uses = [self.values(rows, place)]
            found = self._sets.get(uses[0], rows.view.columns[place].values)
        given, parts = row_schema(node), conditions_of(node)
        for number, other, null in self._equal_columns(node, column):
            beside = row_of(node, other)
            if beside[0].view.columns[beside[1]].values.size is not None and not found.within(wanted):
                uses.append(self.values(*beside))
                theirs = self._sets.get(uses[-1], ANYTHING)
                found = found.meet(theirs if null else theirs.not_null())
                atoms.append(number)
        for number, one in enumerate(parts):
            known = [ColumnFacts(found) if place == column else ColumnFacts() for place in range(len(given))]
            values = narrowed(one, RowFacts(given, tuple(known))).columns[column].values
            if not found.within(values):
                found = found.meet(values)
                atoms.append(number)
        for number, one in enumerate(parts):
            if not found.within(wanted) and number not in atoms and not isinstance(one, exp.Predicate):
                found = self._beside_others(node, column, one, found, uses)
                atoms.append(number)
        made: Json = {"rule": "narrowed", "uses": uses, "atoms": atoms}
        if found.within(wanted):
            return made
        low, high = wanted.ends
        for name, end, points in (("high", high, (column, None)), ("low", low, (None, column))):
            if end is None or (found.ends[0 if name == "low" else 1]) == end:
                continue
            if (total := self._told(node, made, name, *points)) is not None:
                found = found.meet(between(None, total) if name == "high" else between(-total, None))
        return made | {"set": found}

    def _beside_others(self, node: TreeNode, column: int, part: exp.Expr, found: ValueSet, uses: list[int]) -> ValueSet:
        """The values of a column that satisfy a part of the condition, whose possible alternatives other facts tell."""
        known = {column: found}
        for place in sorted(node.view.read_by(part) - {column}):
            rows, at = row_of(node, place)
            if rows.view.columns[at].values != ANYTHING:
                uses.append(self.values(rows, at))
                known[place] = self._sets.get(uses[-1], ANYTHING)
        given = row_schema(node)
        columns = tuple(ColumnFacts(known.get(place, ANYTHING)) for place in range(len(given)))
        return found.meet(narrowed(part, RowFacts(given, columns)).columns[column].values)

    @staticmethod
    def _equal_columns(node: TreeNode, column: int) -> Iterator[tuple[int, int, bool]]:
        """The columns that a part of the condition makes equal to one, by its number; whether both may be NULL."""
        given = row_schema(node)
        for number, part in enumerate(conditions_of(node)):
            null = isinstance(part, exp.NullSafeEQ)
            for one in [part] if isinstance(part, exp.NullSafeEQ) else equalities(part):
                both = place_of(one.left, node.view), place_of(one.right, node.view)
                other = both[1] if both[0] == column else both[0] if both[1] == column else None
                if other is not None and other != column and given[other].type == given[column].type:
                    yield number, other, null

    # --- times ----------------------------------------------------------------------------------------------------

    def time(self, node: TreeNode, column: int, source: str, function: str = "") -> int:
        """The fact that says how far a column is from a source's time, or, of `NOW`, from that of the change."""
        key = (self.numbers(node), column, f"time {source}", function)
        if key not in self._known:
            promise = self._promise(node, column, source, function)
            made: Json = {"rule": "unproved"} if promise is None else self._time(node, column, promise)
            if promise is None and node.view.columns[column].values == NOTHING:
                promise = TimePromise(source, 0, 0, function)  # of which there is no row
                made = {"rule": "none", "uses": [self.values(node, column)]}
            made |= {"node": key[0], "column": column}
            known = promise or TimePromise(source, None, None, function)
            if made["rule"] == "latest" and not self._said(made["uses"], known):
                made["rule"] = "unproved"
            made.setdefault("time", time_json(known, node))
            self._known[key] = self._added(made)
        return self._known[key]

    def _said(self, uses: list[int], promise: TimePromise) -> bool:
        """Whether facts about all rows that one is made of say as much of the latest of them."""
        times = [self.facts[one]["time"] for one in uses]
        lows, highs = [one.get("low") for one in times], [one["high"] for one in times if "high" in one]
        low = promise.low is None or (None not in lows and min(lows) >= promise.low)
        return low and (promise.high is None or (bool(highs) and min(highs) <= promise.high))

    @staticmethod
    def _promise(node: TreeNode, column: int, source: str, function: str) -> TimePromise | None:
        return node.view.columns[column].time(source, function)

    def beside(self, node: TreeNode, column: int, source: str, function: str = "") -> int:
        """The fact that says so of a source that a row may be made without: where there is such a row."""
        near = [one for place, one in node.view.near if (place, one.name) == (column, (source, function))]
        promise = min(near, key=_furthest, default=None)
        always = self._promise(node, column, source, function)
        if always is not None and (promise is None or _furthest(always) <= _furthest(promise)):
            return self.time(node, column, source, function)
        key = (self.numbers(node), column, f"beside {source}", function)
        if key not in self._known:
            made: Json = {"rule": "unproved"} if promise is None else self._where_there_is(node, column, promise)
            known = promise or TimePromise(source, None, None, function)
            made |= {"node": key[0], "column": column, "time": time_json(known, node) | {"beside": True}}
            self._known[key] = self._added(made)
        return self._known[key]

    def _where_there_is(self, node: TreeNode, column: int, promise: TimePromise) -> Json:
        source, function = promise.source, promise.function
        if isinstance(node.tree, nodes.Join) and node.tree.kind is not nodes.JoinKind.INNER:
            pair = TreeNode(pairs_of(node.tree), node.views, node.recursion)
            own = self._promise(pair, column, source, function)
            of_right = source in called_above(node, node.input("right")).values()
            in_right = column >= len(node.input("left").view.schema)
            is_pair = node.tree.kind not in nodes.ONE_SIDED and in_pairs_only(node.tree.kind, of_right, in_right)
            if is_pair and (own is None or own.within(promise)):
                return {"rule": "paired", "uses": [self.beside(pair, column, source, function)]}
        found = row_of(node, column) if isinstance(node.tree, nodes.Join) else origin(node, column)
        if found is None or found[1] is None:
            return {"rule": "unproved"}
        rows, place, below = found[0], found[1], named_below(node, found[0], source)
        if isinstance(node.tree, nodes.Join) and not _is_near(rows, place, below):
            return self._by_another(node, column, promise)
        return {"rule": "passed", "uses": [self.beside(rows, place, below, function)]}

    def _by_another(self, node: TreeNode, column: int, promise: TimePromise) -> Json:
        """A path to a column that is there, and near the source, and from there to that."""
        for place, one in node.view.near:
            rows, own = row_of(node, place)
            below, path = named_below(node, rows, one.source), self.path(node, column, place)
            missing = node.view.columns[place].values.null or one.source != promise.source
            if missing or path is None or one.high is None or promise.high is None or not _is_near(rows, own, below):
                continue
            if sum(step.most for step in path) + one.high <= promise.high:
                last: Json = {"to": point_json(one.source, node), "most": floor(one.high)}
                steps = [*(self.step(node, step) for step in path), last | {"fact": self.beside(rows, own, below)}]
                there = [] if place in present_by_condition(node) else [self.values(rows, own)]
                return {"rule": "path", "high": steps, "present": [*self._there(node, path), *there]}
        return {"rule": "unproved"}

    def _time(self, node: TreeNode, column: int, promise: TimePromise) -> Json:
        source, function = promise.source, promise.function
        match node.tree:
            case nodes.Scan():
                return {"rule": "declared"}
            case nodes.Union() | nodes.Except() | nodes.Intersect() if source == NOW:
                sides = [node.input(n) for n in ("left", "right") if not node.input(n).view.is_static]
                return {"rule": "sides", "uses": [self.time(one, column, source, function) for one in sides]}
            case nodes.Intersect():
                left = node.input("left")
                return {"rule": "passed", "uses": [self.time(left, column, named_below(node, left, source), function)]}
            case nodes.Join(kind=nodes.JoinKind.INNER, using=()) if source == NOW:
                return self._joined(node, column, promise)
            case nodes.Join(kind=nodes.JoinKind.INNER, using=()) | nodes.Filter():
                given, at = row_of(node, column)
                below = named_below(node, given, source)
                own = given.view.columns[at].time(below, function)
                if own is not None and replace(own, source=source).within(promise):
                    return {"rule": "passed", "uses": [self.time(given, at, below, function)]}
                if source == NOW:
                    return self._newest(node, column, promise)
                return {"rule": "unproved"} if function else self._near(node, column, source)
            case nodes.Join(using=()):
                return self._of_outer_join(node, column, promise)
            case nodes.Bucket() if column >= len(node.input("input").view.schema):
                below_it = node.input("input")
                time = place_of(node.tree.time.syntax, below_it.view)
                uses = [] if time is None else [self.time(below_it, time, source)]
                return {"rule": "unproved" if time is None else "window", "uses": uses}
            case nodes.Over(calls=calls) if source == NOW and column >= len(node.input("input").view.schema):
                rows = node.input("input")
                order = place_of(calls[column - len(rows.view.schema)].order[0].value.syntax, rows.view)
                return {"rule": "ahead", "uses": [] if order is None else [self.time(rows, order, NOW)]}
        come_from = origin(node, column)
        if come_from is None:
            return {"rule": "unproved"}
        rows, place, expression = come_from
        named = named_below(node, rows, source)
        if place is not None:
            made: Json = {"rule": "passed", "uses": [self.time(rows, place, named, function)]}
            over = isinstance(node.tree, nodes.Over) and source == NOW
            return made | ({"present": [self.values(rows, place)]} if over else {})
        return self._computed(rows, expression, replace(promise, source=named))

    def _computed(self, rows: TreeNode, expression: Any, promise: TimePromise) -> Json:
        found = row_expression(expression, rows.view.schema)
        read = [] if found is None else [int(name) for name in fields(found)]
        times = {one: [t for t in rows.view.columns[one].times if t.source == promise.source] for one in read}
        timed = [one for one in read if times[one]]
        if found is None or len(timed) != 1:
            return {"rule": "unproved"}
        below = next((t for t in times[timed[0]] if is_said_by(t, found, timed[0], rows, promise)), times[timed[0]][0])
        return {"rule": "computed", "uses": self._timed(rows, timed[0], below)}

    def _timed(self, rows: TreeNode, column: int, time: TimePromise) -> list[int]:
        """The facts about a column by which what is computed of it is a function of time."""
        return [self.time(rows, column, time.source, time.function), self.values(rows, column)]

    def _newest(self, node: TreeNode, column: int, promise: TimePromise) -> Json:
        """When a row changes: with the newest of those that it is made of."""
        sources = latest(node)
        own = [
            t for t in node.view.columns[column].times if t.source in (sources or ()) and t.function == promise.function
        ]
        if not own and not promise.function and isinstance(node.tree, nodes.Filter):
            return self._near(node, column, NOW)  # by a column that says when the row changes
        if not sources or not own:
            return {"rule": "unproved"}
        uses = [self._beside(node, column, own[0], name) for name in sorted(sources)]
        return {"rule": "latest", "uses": uses}

    def _beside(self, node: TreeNode, column: int, own: TimePromise, name: str) -> int:
        """A promise about one source, moved to another one by the distance of their times."""
        direct = node.view.columns[column].time(name, own.function)
        if direct is not None:
            return self.time(node, column, name, own.function)
        key = (self.numbers(node), column, f"time {name}", own.function)
        if key not in self._known:
            if own.function:
                made = self._through(node, self.time(node, column, own.source, own.function), own.source, name, own)
            else:
                made = self._near(node, column, name)
            self._known[key] = self._added(made | {"node": key[0], "column": column})
        return self._known[key]

    def _near(self, node: TreeNode, column: int, source: str) -> Json:
        """Paths to a source's time and back."""
        made: Json = {"rule": "path"}
        high, low = self._told(node, made, "high", column, source), self._told(node, made, "low", source, column)
        made["time"] = time_json(TimePromise(source, None if low is None else -low, high), node)
        return made

    def _joined(self, node: TreeNode, column: int, promise: TimePromise) -> Json:
        """When a pair changes, by each side that does."""
        tree = node.tree
        assert isinstance(tree, nodes.Join), "it is one"
        catalog = node.views.catalog
        sides = [name for name, one in ((LEFT, tree.left), (RIGHT, tree.right)) if not never_changes(one, catalog)]
        uses = [self._side(node, column, name, promise.function) for name in sides]
        if None in uses:
            return {"rule": "unproved"}
        return {"rule": "latest", "uses": uses}

    def _side(self, node: TreeNode, column: int, name: str, function: str) -> int | None:
        """A column, and when the row of a side changes: its own, or the other one's, by how far they are apart."""
        key = (self.numbers(node), column, f"time {name}", function)
        if key in self._known:
            return self._known[key]
        rows, place = row_of(node, column)
        mine = LEFT if column < len(node.input("left").view.schema) else RIGHT
        own = rows.view.columns[place].time(NOW, function)
        made: Json
        if name == mine:
            if own is None:
                return None
            time = TimePromise(name, own.low, own.high, function, own.width)
            made = {"rule": "passed", "uses": [self.time(rows, place, NOW, function)], "time": time_json(time, node)}
        elif (equal := self._equal(node, column, name, function)) is not None:
            made = equal
        elif not function:
            made = self._near(node, column, name)
        elif own is None:
            return None
        else:
            first = self._side(node, column, mine, function)
            assert first is not None, "its own side says so"
            made = self._through(node, first, mine, name, own)
        made |= {"node": key[0], "column": column}
        self._known[key] = self._added(made)
        return self._known[key]

    def _equal(self, node: TreeNode, column: int, name: str, function: str) -> Json | None:
        """When the row of the other side changes, by a column of it to which an atom makes it equal, or so far away."""
        given, width = row_schema(node), len(node.input("left").view.schema)
        for number, part in enumerate(conditions_of(node)):
            said = said_by(part, given).differences
            for x, other, more in said:
                if x != column or not isinstance(other, int) or (other, x, -more) not in said:
                    continue
                if (other < width) is not (name == LEFT) or given[other].type != given[column].type:
                    continue
                rows, place = row_of(node, other)
                own = rows.view.columns[place].time(NOW, function)
                length = moved_by(function, own.width) if own is not None else None
                found = None if length is None and more else self._side(node, other, name, function)
                if own is not None and found is not None:
                    time = replace(own.moved(more * (length or 0)), source=name)
                    return {"rule": "equal", "uses": [found], "atoms": [number], "time": time_json(time, node)}
        return None

    def _through(self, node: TreeNode, first: int, mine: str, name: str, own: TimePromise) -> Json:
        made: Json = {"rule": "path", "uses": [first]}
        later, earlier = self._told(node, made, "low", name, mine), self._told(node, made, "high", mine, name)
        low = None if own.low is None or later is None else own.low - later
        high = None if own.high is None or earlier is None else own.high + earlier
        made["time"] = time_json(TimePromise(name, low, high, own.function, own.width), node)
        return made

    def _of_outer_join(self, node: TreeNode, column: int, promise: TimePromise) -> Json:
        pair = TreeNode(pairs_of(node.tree), node.views, node.recursion)
        source, function = promise.source, promise.function
        if has_partner(node, column):
            return {"rule": "paired", "uses": [self.time(pair, column, source, function)]}
        rows, place = row_of(node, column)
        if source != NOW:
            below = named_below(node, rows, source)
            return {"rule": "passed", "uses": [self.time(rows, place, below, function)]}
        own = (
            []
            if relation_queries.never_changes(rows.tree, node.views.catalog)
            else [self.time(rows, place, NOW, function)]
        )
        empty = next((p for p, one in enumerate(pair.view.columns) if one.values.size == 0), None)
        if empty is not None:  # no row has a partner
            return {"rule": "kept", "uses": own, "present": [self.values(pair, empty)]}
        return {"rule": "kept", "uses": [*own, self.time(pair, column, NOW, function)]}

    # --- paths ----------------------------------------------------------------------------------------------------

    def path(self, node: TreeNode, first: Point, last: Point) -> list[PathStep] | None:
        """A path whose sum is least, by Bellman and Ford's algorithm; points between are there."""
        edges = list(steps_of(node))
        present = {first, last, None, NOW, LEFT, RIGHT, *present_points(node)}
        best: dict[Point, tuple[int, list[PathStep]]] = {}
        for one in edges:
            if one.above == first and (one.below not in best or one.most < best[one.below][0]):
                best[one.below] = one.most, [one]
        for _ in range(len({one.above for one in edges}) + 1):
            changed = False
            for edge in edges:
                if edge.above not in best or edge.above not in present or edge.above in (first, last):
                    continue
                total = best[edge.above][0] + edge.most
                if edge.below not in best or total < best[edge.below][0]:
                    best[edge.below] = total, [*best[edge.above][1], edge]
                    changed = True
            if not changed:
                break
        return best[last][1] if last in best else None

    def _told(self, node: TreeNode, made: Json, name: str, first: Point, last: Point) -> int | None:
        """The sum of a shortest path, by which a fact says its end; None where there is none."""
        path = self.path(node, first, last)
        if path is None:
            return None
        made[name] = [self.step(node, one) for one in path]
        made.setdefault("present", []).extend(self._there(node, path))
        return sum(one.most for one in path)

    def contradiction(self, node: TreeNode) -> list[PathStep] | None:
        """A path that leads back to where it begins, whose sum is negative."""
        for point in present_points(node):
            path = self.path(node, point, point)
            if path is not None and sum(one.most for one in path) < 0:
                return path
        return None

    def step(self, node: TreeNode, step: PathStep) -> Json:
        """A step of a path, with the fact that says so."""
        made: Json = {"to": point_json(step.below, node), "most": step.most}
        if step.atom is not None:
            uses = [fact for place, time in step.times for fact in self._timed_of_row(node, place, time)]
            return made | {"atom": step.atom} | ({"uses": uses} if uses else {})
        assert step.column is not None, "it is a fact's"
        rows, place = row_of(node, step.column)
        if step.source is None:
            fact = self.values(rows, place)
            return made | ({"fact": fact} if self._says(fact, step) else {})
        return made | {"fact": self.time(rows, place, _source_below(node, rows, step.source))}

    def _timed_of_row(self, node: TreeNode, column: int, time: TimePromise) -> list[int]:
        rows, place = row_of(node, column)
        return self._timed(rows, place, replace(time, source=_source_below(node, rows, time.source)))

    def _says(self, fact: int, step: PathStep) -> bool:
        """Whether a fact says as much as a step, which is by the view: without that nothing says it."""
        values = self.claimed(fact)
        low, high = (None, None) if values is None else values.ends
        if step.below is None:
            return high is not None and floor(high) <= step.most
        return low is not None and -ceil(low) <= step.most

    def _there(self, node: TreeNode, path: list[PathStep]) -> list[int]:
        """The facts that columns between are not NULL."""
        between_ = [one.above for one in path[1:] if isinstance(one.above, int)]
        said = present_by_condition(node) if between_ else set[int]()
        return [self.values(*row_of(node, one)) for one in between_ if one not in said]

    def _added(self, made: Json) -> int:
        self.facts.append(made)
        return len(self.facts) - 1


def _source_below(node: TreeNode, rows: TreeNode, source: str) -> str:
    """A source of a condition's rows as it is called in an input."""
    return NOW if source in (LEFT, RIGHT) else named_below(node, rows, source)


def _furthest(promise: TimePromise) -> tuple[bool, int]:
    return promise.high is None, promise.high or 0


def _is_near(node: TreeNode, column: int, source: str) -> bool:
    """Whether a column says how far it is from a source, where there is a row of it."""
    near = ((place, one.source) for place, one in node.view.near)
    return node.view.columns[column].time(source) is not None or (column, source) in near
