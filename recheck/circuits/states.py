"""Which states a statement beyond select-project-join needs: worked out from its SQL, operator by operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Alias,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    Named,
    Project,
    Scalar,
    Scan,
    Star,
    Tree,
    Union,
    inputs,
)
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.flatten import written
from streambound.analyzer.query import Query
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.circuits.claims import ClaimedKey, NotRecheckedError
from streambound.recheck.circuits.evidence import Evidence, Line, keys_with_values
from streambound.recheck.circuits.windows import groups_in_windows, window_of

_OUTER = (JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL)
_ASKING = (JoinKind.SEMI, JoinKind.ANTI)
_VALUED = ("MIN", "MAX")
_LINEAR = ("COUNT", "SUM", "AVG", "VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
_Columns = Mapping[tuple[str, str], exp.Column]


@dataclass
class States:
    """One statement, while its states are looked for; what each must be goes to the ``evidence``.

    ``needed`` are the columns that the SELECT above reads, None for all. Methods give the most rows of a view at a
    time, None where there is no number, and raise NotRecheckedError and RejectedError.
    """

    catalog: Catalog
    blocks: BlockReader
    evidence: Evidence
    needed: _Columns | None = None
    relations: dict[str, Quantity] = field(default_factory=dict)

    def of(self, tree: Tree) -> Quantity | None:
        """The states of a tree, those of its inputs first, from left to right."""
        self._check(tree)
        if is_block(tree, self.catalog):
            self._block(tree)
            return None
        match tree:
            case Alias() | Filter():
                return self.of(tree.input)
            case Project():
                return self._project(tree)
            case Aggregate():
                return self._aggregate(tree)
            case Join():
                self._join(tree)
                return None
            case Except() | Intersect():
                return self._set_operation(tree)
            case Union():
                left, right = self.of(tree.left), self.of(tree.right)
                rows = None if left is None or right is None else left + right
                return self._distinct(tree, rows) if tree.distinct else rows
            case Distinct():
                return self._distinct(tree, self.of(tree.input))
            case Scan():
                return self._relation(tree)
        raise NotRecheckedError(f"{type(tree).__name__} operators")

    def _check(self, tree: Tree) -> None:
        table = self.catalog.table(tree.table) if isinstance(tree, Scan) else None
        if table is not None and table.punctuations:
            raise NotRecheckedError("keys that punctuations end")
        for below in inputs(tree):
            self._check(below)

    # --- operators --------------------------------------------------------------------------------------------------

    def _block(self, tree: Tree) -> None:
        distinct = isinstance(tree, Distinct) or (isinstance(tree, Union) and tree.distinct)
        query = self.blocks.view(tree, distinct)
        split = derive(query).split
        self.evidence.block(split, "set" if distinct else "bag", distinct)
        if distinct:
            entries, _ = self.evidence.results([split])
            keys = tuple(ClaimedKey(one.name, None) for one in query.branches[0].outputs)
            self._line("set", keys, entries, "never")

    def _project(self, tree: Project) -> Quantity | None:
        if isinstance(tree.input, Filter) and not isinstance(tree.input.input, Aggregate | Join):
            raise NotRecheckedError(f"conditions above {type(tree.input.input).__name__} operators")
        before, self.needed = self.needed, _read(tree)
        rows = self.of(tree.input)
        self.needed = before
        return rows

    def _aggregate(self, tree: Aggregate) -> Quantity | None:
        for call in tree.calls:
            if call.function not in (*_VALUED, *_LINEAR) or call.order:
                raise NotRecheckedError(f"the aggregate {call.function}")
        if is_block(tree.input, self.catalog):
            return self._groups(tree)
        return self._groups_of_view(tree)

    def _groups(self, tree: Aggregate) -> Quantity | None:
        keys = tuple(Named(f"_k{n}", key.value, alias=True) for n, key in enumerate(tree.keys, 1))
        valued = [call for call in tree.calls if call.distinct or call.function in _VALUED]
        once = bool(tree.calls) and len(valued) == len(tree.calls)
        split = derive(self.blocks.query(tree.input, keys, distinct=once)).split
        window = window_of(split, len(keys))
        self.evidence.block(split, "A5" if window else "A1", once)
        asked = [(call, derive(self._argument(tree, keys, call)).split) for call in valued]
        for call, one in asked:
            joined = any(len(branch.streams) > 1 for branch in one.branches)
            if call.function in _VALUED and joined and window is None:
                raise NotRecheckedError(f"{call.function} of a join")
            self.evidence.block(one, "A4", True)
        freed = "never, but a group of no rows" if window is None else "when its window has closed"
        names = tuple(key.value.text for key in tree.keys)
        rows: Quantity | None = Quantity.number(1)
        if not keys:
            self._line("A1", (), Quantity.number(1), freed)
        elif window is not None:
            entries, rows = groups_in_windows(split, window, self.evidence), None
            self._line("A5", tuple(ClaimedKey(name, None) for name in names), entries, freed)
        else:
            rows, tables = self.evidence.results([split])
            self._line("A1", keys_with_values(names, split, tables), rows, freed)
        for call, one in asked:
            if call.function in _VALUED:
                continue  # the best value is in the group's entry
            more = (*names, "_v")
            if window is not None:
                entries = groups_in_windows(one, window, self.evidence)
                self._line("A4", tuple(ClaimedKey(name, None) for name in more), entries, freed)
            else:
                entries, tables = self.evidence.results([one])
                self._line("A4", keys_with_values(more, one, tables), entries, freed)
        return rows

    def _argument(self, tree: Aggregate, keys: tuple[Named, ...], call: AggregateCall) -> Query:
        """The different values of an argument, for each group."""
        if len(call.arguments) != 1:
            raise NotRecheckedError("aggregates of several arguments")
        node = written(call.arguments[0])
        if call.filter is not None:
            node = exp.Case(ifs=[exp.If(this=written(call.filter).copy(), true=node.copy())])
        value = Named("_v", _scalar(node), alias=True)
        return self.blocks.query(tree.input, (*keys, value), distinct=True)

    def _groups_of_view(self, tree: Aggregate) -> Quantity:
        below: Tree = tree.input
        while isinstance(below, Alias | Project):
            below = below.input
        if not isinstance(below, Aggregate) or all(call.function in ("SUM", *_VALUED) for call in tree.calls):
            raise NotRecheckedError(f"aggregates of {type(below).__name__} operators")
        rows = self.of(tree.input)
        if rows is None:
            raise NotRecheckedError("aggregates of views without a number of rows")
        names = tuple(key.value.text for key in tree.keys)
        most = rows if tree.keys else Quantity.number(1)
        keys = tuple(ClaimedKey(name, None) for name in names)
        self._line("D1", keys, most, "when its last row goes")
        for call in tree.calls:
            if call.distinct or call.function in _VALUED:
                self._line("D6", (*keys, ClaimedKey("value", None)), rows, "when it goes")
        return most

    def _join(self, tree: Join) -> None:
        blocks = is_block(tree.left, self.catalog) and is_block(tree.right, self.catalog)
        if tree.kind not in (*_OUTER, *_ASKING) or tree.using or not blocks:
            raise NotRecheckedError(f"{tree.kind} joins of views that change")
        needed = self.needed
        shown = [c for c in schema(tree, self.catalog) if needed is None or any(c.called(*name) for name in needed)]
        items = []
        for number, column in enumerate(shown):
            node = next((node for name, node in (needed or {}).items() if column.called(*name)), None)
            node = exp.column(column.name, table=column.alias, quoted=True) if node is None else node
            items.append(Named(f"c{number}", _scalar(node), alias=True))
        split = derive(self.blocks.query(_inner(tree), items)).split
        if not split.branches:
            return
        if len(split.branches) > 1 or len(split.branches[0].sources) != 2:
            raise NotRecheckedError("joins with several cases, or of more than two streams")
        as_set = replace(split, distinct=True)
        if tree.kind in _ASKING and any(Evidence.is_of(one, as_set, True) for one in self.evidence.blocks):
            self._check_never_waits(split)
            self.evidence.block(as_set, "B1", True)
            return
        self.evidence.block(split, "B3" if tree.kind in _ASKING else "B4", False)

    def _check_never_waits(self, split: Query) -> None:
        """B1: only where the left side's fate is known when it comes, are the right side's extrema enough (W1)."""
        conditions = Conditions(split.branches[0])
        left, right = (conditions.time(source.alias) for source in split.branches[0].sources)
        bound = conditions.follows.bound(right, left)
        if bound is None or bound[0] > 0:
            raise NotRecheckedError("extrema beside rows that wait")

    def _set_operation(self, tree: Except | Intersect) -> Quantity | None:
        if not (is_block(tree.left, self.catalog) and is_block(tree.right, self.catalog)):
            raise NotRecheckedError("set operations of views that change")
        self.of(tree.left), self.of(tree.right)
        query = self.blocks.view(tree.left)
        left, names = derive(query).split, tuple(output.name for output in query.branches[0].outputs)
        if window_of(left, len(names)) is not None:
            raise NotRecheckedError("windows of a set operation")
        keeps_left = isinstance(tree, Except) and tree.distinct  # each row of it is printed once
        splits = [left] if keeps_left else [derive(one).split for one in self._in_both(tree, len(names))]
        entries, tables = self.evidence.results(splits)
        filled = [one for one in splits if one.branches]
        keys = keys_with_values(names, filled[0], tables) if filled else tuple(ClaimedKey(one, None) for one in names)
        freed = "never" if tree.distinct else "when both sides have it equally often"
        self._line("C2" if keeps_left else "C1", keys, entries, freed)
        return None

    def _in_both(self, tree: Except | Intersect, width: int) -> Iterator[Query]:
        """The rows that both sides can have, once for each set of columns that are NULL in both (C1)."""
        names, syntax = tuple(f"c{n}" for n in range(width)), tree.syntax or exp.Null()
        left, right = (Alias(one, name, names, syntax=syntax) for one, name in ((tree.left, "_l"), (tree.right, "_r")))
        items = [Named(name, _scalar(exp.column(name, table="_l")), alias=True) for name in names]
        for nulls in sorted(product((False, True), repeat=width), key=_by_number):
            tests: list[exp.Expr] = []
            for name, null in zip(names, nulls, strict=True):
                mine, other = exp.column(name, table="_l"), exp.column(name, table="_r")
                is_null = [exp.Is(this=one, expression=exp.Null()) for one in (mine, other)]
                tests += is_null if null else [exp.EQ(this=mine, expression=other)]
            both = Join(JoinKind.INNER, left, right, syntax=syntax)
            yield self.blocks.query(Filter(both, _scalar(exp.and_(*tests)), syntax=syntax), items)

    def _distinct(self, tree: Tree, rows: Quantity | None) -> Quantity:
        if rows is None:
            raise NotRecheckedError("duplicate elimination above views without a number of rows")
        keys = tuple(ClaimedKey(column.name, None) for column in schema(tree, self.catalog))
        self._line("Lemma 1", keys, rows, "when no such row is left")
        return rows

    def _relation(self, tree: Scan) -> Quantity:
        table = self.catalog.table(tree.table)
        if table is None or table.changes is None or table.rows is None:
            raise NotRecheckedError("relations that change without a number of rows")
        if table.name not in self.relations:
            self.relations[table.name] = rows = Quantity.number(table.rows)
            keys = table.changes.key or tuple(column.name for column in table.columns)
            self._line("E1", tuple(ClaimedKey(key, None) for key in keys), rows, "when it is deleted")
        return self.relations[table.name]

    def _line(self, proposition: str, keys: tuple[ClaimedKey, ...], entries: Quantity, lifetime: str) -> None:
        self.evidence.line(Line(proposition, keys, entries, lifetime))


def _scalar(node: exp.Expr) -> Scalar:
    return Scalar(node.sql("spark"), node)


def _by_number(nulls: tuple[bool, ...]) -> tuple[int, list[int]]:
    """Sets of columns with fewer first, then in order of their places."""
    return sum(nulls), [place for place, null in enumerate(nulls) if null]


def _read(tree: Project) -> _Columns | None:
    """The columns that a SELECT reads, in its list and in its condition; None for all."""
    if any(isinstance(item, Star) for item in tree.items):
        return None
    scalars = [item.value for item in tree.items if isinstance(item, Named)]
    scalars += [tree.input.condition] if isinstance(tree.input, Filter) else []
    return {(c.name, c.table): c for scalar in reversed(scalars) for c in parsed(scalar).find_all(exp.Column)}


def _inner(tree: Join) -> Tree:
    """The inner join of both sides, with their conditions above it."""
    sides = (tree.left, tree.right)
    left, right = (side.input if isinstance(side, Filter) else side for side in sides)
    body: Tree = Join(JoinKind.INNER, left, right, tree.condition, syntax=tree.syntax)
    conditions = [written(side.condition).copy() for side in sides if isinstance(side, Filter)]
    if not conditions:
        return body
    every = exp.and_(*conditions)
    return Filter(body, _scalar(every), syntax=tree.syntax)
