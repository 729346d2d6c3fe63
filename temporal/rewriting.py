"""Algebra to operators over periods, operator by operator (Dignös et al., Snapshot Semantics, Definition 7.1 and
section 8): each result has the history of its snapshots, whatever the encoding of its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from msgspec import Struct, field, structs
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.sql_words import sql_words
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Positions
from streambound.analyzer.spans import Span
from streambound.analyzer.types import DataType
from streambound.temporal.grouping import grouped, syntax_of
from streambound.temporal.language import SnapshotLowering
from streambound.temporal.pushing import coalesced, joined, kept
from streambound.temporal.scalars import column, comparable, finding, moved, no_subquery, over, text
from streambound.temporal.scope import PERIOD, Columns, SeenColumn, SeenNames, UnknownName, renamed, shifted
from streambound_runtime.operators.period_plan import (
    SliceDifference,
    SliceDistinct,
    SliceGroup,
    SlicePlan,
    SliceProject,
    SliceRelation,
    SliceUnion,
    width,
)
from streambound_runtime.operators.plan import JoinType

_UNKEPT = ("map", "variant", "interval")
"""Types whose values cannot be compared, so that equal rows cannot be told."""


class Rewritten(Struct, frozen=True):
    """An operator with the names of its columns.

    ``always`` is where it is that rows can be there at a time at which no row with a period is; None where they cannot.
    """

    plan: SlicePlan
    columns: Columns
    always: Span | None = None


class Rewriter(Struct):
    """Rewrites the tree of one block; ``periods`` collects its relations with periods and where they are named.

    ``domain`` says whether there is an end of time, without which a result that is always there has none.
    """

    positions: Positions
    catalog: Catalog
    lowering: SnapshotLowering
    periods: list[tuple[DeclaredTable, Span]] = field(default_factory=list)
    all_time: list[Span] = field(default_factory=list)

    def tree(self, tree: nodes.Tree, outer: tuple[Columns, ...] = ()) -> Rewritten:
        """The operators of a tree; raises Finding."""
        match tree:
            case nodes.Scan():
                return self._scan(tree)
            case nodes.Alias(input, alias, names):
                found = self.tree(input, outer)
                return structs.replace(found, columns=self._renamed(tree, found.columns, alias, names))
            case nodes.Filter(input, condition):
                return self._filter(self.tree(input, outer), condition, outer)
            case nodes.Join():
                return self._join(tree, outer)
            case nodes.Project(input, items):
                return self._project(self.tree(input, outer), items, outer)
            case nodes.Aggregate():
                return self._aggregate(tree, outer)
            case nodes.Distinct(input):
                found = self.tree(input, outer)
                return structs.replace(found, plan=SliceDistinct(found.plan))
            case nodes.Union() | nodes.Except() | nodes.Intersect():
                return self._set_operation(tree, outer)
        at = tree.at or self.positions.of(tree.syntax or exp.Null())
        message = f"{sql_words(tree)} is outside of what a SEQ block can evaluate"
        raise self.positions.finding(Code.UNSUPPORTED, message, at)

    def _scan(self, tree: nodes.Scan) -> Rewritten:
        at = self.positions.of(tree.syntax or exp.Null())
        if tree.table == nodes.ONE_ROW:
            return Rewritten(SliceRelation(), (), at)
        table = self.catalog.table(tree.table)
        assert table is not None, "lowering has found it"
        if table.kind is not Kind.RELATION and table.period is None:
            message = f"{table.name} is a stream without a period, so that nothing says until when its rows are valid"
            help = 'declare its period, as in period = ["begin", "end"]'
            raise self.positions.finding(Code.UNSUPPORTED, message, at, help)
        if table.changes is not None:
            message = f"{table.name} changes: a SEQ block reads relations that stay as they are, and streams"
            help = (
                f"without SEQ, join a stream with {table.name} FOR SYSTEM_TIME AS OF its time, and compare the columns"
            )
            raise self.positions.finding(Code.UNSUPPORTED, message, at, help)
        hidden = table.period.hidden(probabilistic=False) if table.period else ()
        kept = tuple(found for found in table.columns if found.name not in hidden)
        aliases = frozenset({tree.alias.lower()})
        columns = [
            SeenColumn(aliases, found.name, place, refused=uncomparable(found.type), type=found.type)
            for place, found in enumerate(kept)
        ]
        columns += [SeenColumn(aliases, name, -1, hidden=PERIOD) for name in hidden]
        names = tuple(found.name for found in kept)
        if table.period is None:
            return Rewritten(SliceRelation(table.name, names), tuple(columns), at)
        self.periods.append((table, at))
        return Rewritten(SliceRelation(table.name, names, (table.period.begin, table.period.end)), tuple(columns))

    def _renamed(self, tree: nodes.Alias, columns: Columns, alias: str, names: tuple[str, ...]) -> Columns:
        shown = [found for found in columns if found.shown and not found.hidden]
        if names and len(names) != len(shown):
            message = f"{alias} has {len(shown)} columns, and is given {len(names)} names"
            raise self.positions.finding(Code.UNION_MISMATCH, message, tree.syntax or exp.Null())
        hidden = tuple(structs.replace(found, aliases=frozenset({alias.lower()})) for found in columns if found.hidden)
        return (
            (*renamed(columns, alias, names), *hidden)
            if isinstance(tree.input, nodes.Scan)
            else renamed(columns, alias, names)
        )

    # --- conditions ---------------------------------------------------------------------------------------------------

    def _filter(self, under: Rewritten, condition: nodes.Scalar, outer: tuple[Columns, ...]) -> Rewritten:
        conditions = list[exp.Expr]()
        for one in conjuncts(syntax_of(condition)):
            if _asked(one) is None:
                under, one = self.with_values(under, one, outer)
            conditions.append(one)
        names = SeenNames(under.columns, self.positions)
        for one in conditions:
            names.condition(one.unnest())
        return self.filtered(under, conditions, outer)

    def filtered(self, under: Rewritten, conditions: list[exp.Expr], outer: tuple[Columns, ...]) -> Rewritten:
        """Rows for which conditions are true, some of which may be subqueries."""
        names = SeenNames(under.columns, self.positions)
        asked = []
        plan = under.plan
        for condition in conditions:
            if (subquery := _asked(condition)) is not None:
                asked.append(subquery)
                continue
            no_subquery(condition, self.positions)
            plan = kept(plan, over(condition, names.place))
        found = structs.replace(under, plan=plan)
        for node, negated in asked:
            found = self._matched(found, node, negated, outer)
        return found

    def _matched(
        self, left: Rewritten, node: exp.Exists | exp.In, negated: bool, outer: tuple[Columns, ...]
    ) -> Rewritten:
        """Rows with a match in a subquery, or without: a semi or anti join."""
        query = node.args["query"].this if isinstance(node, exp.In) else node.this
        query = query.unnest() if isinstance(query, exp.Subquery) else query
        tree = self.lowering.queries[id(query)]
        names = SeenNames(left.columns, self.positions)
        asked = _items_of(node)
        for one in asked:
            no_subquery(one, self.positions)
        mine = [over(one, names.place) for one in asked]
        by = width(left.plan)
        right, theirs, correlated = self._subquery(tree, node, len(mine), by, (left.columns, *outer))
        conditions = list(correlated)
        for one, other in zip(mine, theirs, strict=True):
            equal: exp.Expr = exp.EQ(this=_wrapped(one), expression=_wrapped(other))
            if negated:  # a comparison with NULL may be a match, so that NOT IN is not true
                equal = exp.Not(this=exp.Is(this=exp.Paren(this=equal), expression=exp.false()))
            conditions.append(equal)
        if negated and len(mine) > 1:
            raise finding(self.positions, "NOT IN of several columns is outside of what a SEQ block can evaluate", node)
        plan = self.join("anti" if negated else "semi", left.plan, right.plan, conditions)
        both = left.always is not None and (negated or right.always is not None)
        return Rewritten(plan, left.columns, left.always if both else None)

    def _subquery(
        self, tree: nodes.Tree, node: exp.Expr, wanted: int, by: int, outer: tuple[Columns, ...]
    ) -> tuple[Rewritten, list[exp.Expr], list[exp.Expr]]:
        """The rows of a subquery, its items and the conditions that tie it to the row outside, over both sides.

        The row outside has ``by`` columns, which ``outer`` names first.
        """
        noted = len(self.periods), len(self.all_time)
        try:
            found = self.tree(tree)
        except UnknownName as error:
            if not any(error.names.found(error.node, columns) is not None for columns in outer):
                raise
            del self.periods[noted[0] :], self.all_time[noted[1] :]
            return self._correlated(tree, node, wanted, by, outer, error.node)
        shown = [one for one in found.columns if one.shown and not one.hidden]
        self._same_number(len(shown), wanted, node)
        return found, [column(one.place + by) for one in shown[:wanted]], []

    def _correlated(
        self, tree: nodes.Tree, node: exp.Expr, wanted: int, by: int, outer: tuple[Columns, ...], reference: exp.Column
    ) -> tuple[Rewritten, list[exp.Expr], list[exp.Expr]]:
        body = tree
        while isinstance(body, nodes.Distinct):
            body = body.input
        if not isinstance(body, nodes.Project):
            message = "a subquery that refers to the row outside has no aggregate and no set operation here"
            raise finding(self.positions, message, reference, "make it a join with a derived table")
        under: nodes.Tree = body.input
        where = list[exp.Expr]()
        if isinstance(under, nodes.Filter):
            where, under = conjuncts(syntax_of(under.condition)), under.input
        try:
            base = self.tree(under)
            names = SeenNames(base.columns, self.positions)
            for one in where:
                names.condition(one)
            tied = [one for one in where if _refers(one, names)]
            for one in tied:
                no_subquery(one, self.positions)
            rest = [one for one in where if not any(one is other for other in tied)]
            found = self.filtered(base, rest, outer)
            items = self._listed(body.items, names) if wanted else []
        except UnknownName as error:
            if not any(error.names.found(error.node, columns) is not None for columns in outer):
                raise
            message = f"{error.node.sql('spark')} is a column of the row outside: it can stand in the conditions that "
            message += "AND joins in the subquery's own WHERE"
            raise finding(self.positions, message, error.node) from None
        self._same_number(len(items), wanted, node)
        both = _EitherSide(names, outer, by)
        return found, [moved(item, by) for _, item, _ in items], [over(one, both.place) for one in tied]

    def _same_number(self, found: int, wanted: int, node: exp.Expr) -> None:
        if wanted and found != wanted:
            message = f"the subquery of IN has {found} columns, not {wanted}"
            raise self.positions.finding(Code.TYPE_MISMATCH, message, node)

    # --- subqueries that are values -----------------------------------------------------------------------------------

    def with_values(
        self, under: Rewritten, node: exp.Expr, outer: tuple[Columns, ...]
    ) -> tuple[Rewritten, exp.Expr]:  # fmt: skip
        """The rows with the aggregates of an expression's subqueries, and the expression over both."""
        holder = exp.Paren(this=node.copy())
        pairs = zip(_outside(holder.this), _outside(node), strict=True)
        for place, query in [(one, other) for one, other in pairs if _is_value(one)]:
            under, value = self._value(under, query, outer)
            place.replace(value)
        return under, holder.this

    def _value(
        self, left: Rewritten, query: exp.Expr, outer: tuple[Columns, ...]
    ) -> tuple[Rewritten, exp.Expr]:  # fmt: skip
        """A left join with the groups of a subquery that are equal in the columns that it names outside.

        Of no rows COUNT is 0, and the others are NULL.
        """
        tree = self.lowering.queries.get(id(query.unnest()))
        match tree:
            case nodes.Project(nodes.Aggregate(input, ()) as groups, (nodes.Named(value=value),)):
                pass
            case _:
                message = "a subquery that is a value is an aggregate without GROUP BY and HAVING here"
                raise finding(self.positions, message, query, "write MAX(x) for the only x that there is")
        where, under = (
            (conjuncts(syntax_of(input.condition)), input.input) if isinstance(input, nodes.Filter) else ([], input)
        )
        base, around = self.tree(under, (left.columns, *outer)), SeenNames(left.columns, self.positions)
        names = SeenNames(base.columns, self.positions)
        tied = [one for one in where if _refers(one, names)]
        base = self.filtered(base, [one for one in where if one not in tied], (left.columns, *outer))
        pairs = [self._equal_sides(one, names, around) for one in tied]
        keys = tuple(nodes.Named(f"k{n}", nodes.Scalar(mine)) for n, (mine, _) in enumerate(pairs))
        grouped_by, columns = grouped(structs.replace(groups, keys=keys), base.plan, names)
        assert isinstance(grouped_by, SliceGroup), "it has aggregates"
        by = width(left.plan)
        conditions: list[exp.Expr] = [
            exp.EQ(this=_wrapped(over(theirs, around.place)), expression=column(by + n))
            for n, (_, theirs) in enumerate(pairs)
        ]
        plan = self.join("left", left.plan, replace(grouped_by, always=False), conditions)
        alias = f"subquery {by}"
        own = tuple(
            structs.replace(one, aliases=frozenset({alias}), place=by + one.place, shown=False)
            for one in columns[len(keys) :]
        )
        counts = {call.name for call in groups.calls if call.function == "COUNT"}

        def meant(inner: exp.Expr) -> exp.Expr:
            if not isinstance(inner, exp.Column):
                return inner
            found = exp.column(inner.name, table=alias, quoted=True)
            zero = [found, exp.Literal.number(0)]
            return exp.Anonymous(this="COALESCE", expressions=zero) if inner.name in counts else found

        made = exp.Paren(this=syntax_of(value).copy().transform(meant))
        return Rewritten(plan, (*left.columns, *own), left.always), made

    def _equal_sides(self, node: exp.Expr, names: SeenNames, around: SeenNames) -> tuple[exp.Expr, exp.Expr]:
        """The side of an equality that is about a subquery's rows, and that about the row outside."""
        node = node.unnest()
        for mine, theirs in [(node.left, node.right), (node.right, node.left)] if isinstance(node, exp.EQ) else []:
            named = [list(side.find_all(exp.Column)) for side in (mine, theirs)]
            inside = all(names.found(one, names.columns) is not None for one in named[0])
            if inside and all(
                names.found(one, names.columns) is None and around.found(one, around.columns) is not None
                for one in named[1]
            ):
                return mine, theirs
        message = "a subquery that is a value names the row outside in equalities of its own WHERE only"
        raise finding(self.positions, message, node, "write x = y, of a column of each, joined to others by AND")

    # --- other operators ----------------------------------------------------------------------------------------------

    def _join(self, tree: nodes.Join, outer: tuple[Columns, ...]) -> Rewritten:
        left, right = self.tree(tree.left, outer), self.tree(tree.right, outer)
        by, kind = width(left.plan), tree.kind
        both: Columns = (*left.columns, *shifted(right.columns, by))
        names = SeenNames(both, self.positions)
        conditions = []
        if tree.condition is not None:
            no_subquery(syntax_of(tree.condition), self.positions)
            names.condition(syntax_of(tree.condition).unnest())
            conditions = [over(one, names.place) for one in conjuncts(syntax_of(tree.condition))]
        shared = [self._shared(name, left, right, tree) for name in tree.using]
        conditions += [exp.EQ(this=column(mine), expression=column(theirs + by)) for mine, theirs in shared]
        plan = self.join(kind.type, left.plan, right.plan, conditions)
        always = _always(kind, left.always, right.always)
        if kind in (nodes.JoinKind.SEMI, nodes.JoinKind.ANTI):
            return Rewritten(plan, left.columns, always)
        if not shared:
            return Rewritten(plan, both, always)
        return Rewritten(*self._merged(plan, both, tree, shared, by), always)

    def join(self, kind: JoinType, left: SlicePlan, right: SlicePlan, conditions: list[exp.Expr]) -> SlicePlan:
        """A join on conditions over the columns of both sides."""
        made = joined(kind, left, right, conditions, width(left))
        return replace(made, left=coalesced(made.left), right=coalesced(made.right))

    def _shared(self, name: str, left: Rewritten, right: Rewritten, tree: nodes.Join) -> tuple[int, int]:
        written = tree.syntax.args.get("using") or () if tree.syntax is not None else ()
        node = exp.Column(this=next(one for one in written if one.name == name).copy())
        found = [SeenNames(side.columns, self.positions).found(node, side.columns) for side in (left, right)]
        if found[0] is None or found[1] is None:
            message = f"one side of the join has no column {name!r}"
            raise self.positions.finding(Code.UNKNOWN_COLUMN, message, node)
        return found[0], found[1]

    def _merged(
        self, plan: SlicePlan, both: Columns, tree: nodes.Join, shared: list[tuple[int, int]], by: int
    ) -> tuple[SlicePlan, Columns]:
        """The columns that USING makes one come first; those that they were can still be named with an alias."""
        total = width(plan)
        first = {nodes.JoinKind.RIGHT: "c{1}", nodes.JoinKind.FULL: "coalesce(c{0}, c{1})"}.get(tree.kind, "c{0}")
        made = [first.format(mine, theirs + by) for mine, theirs in shared]
        items = (*made, *(f"c{place}" for place in range(total)))
        merged = {place for mine, theirs in shared for place in (mine, theirs + by)}
        new = [SeenColumn(frozenset(), name, place) for place, name in enumerate(tree.using)]
        for found in both:
            place = found.place if found.hidden else found.place + len(shared)
            new.append(structs.replace(found, place=place, shown=found.shown and found.place not in merged))
        return SliceProject(plan, items), tuple(new)

    def _project(self, under: Rewritten, items: tuple[nodes.Item, ...], outer: tuple[Columns, ...]) -> Rewritten:
        made = list[nodes.Item]()
        for item in items:
            if isinstance(item, nodes.Named):
                under, value = self.with_values(under, syntax_of(item.value), outer)
                item = structs.replace(item, value=nodes.Scalar(value))
            made.append(item)
        found = self._listed(tuple(made), SeenNames(under.columns, self.positions))
        columns = tuple(SeenColumn(frozenset(), name, place, type=kind) for place, (name, _, kind) in enumerate(found))
        return Rewritten(SliceProject(under.plan, tuple(text(node) for _, node, _ in found)), columns, under.always)

    def _listed(self, items: tuple[nodes.Item, ...], names: SeenNames) -> list[tuple[str, exp.Expr, DataType | None]]:
        """The items with their names and, where they are known, types."""
        found = list[tuple[str, exp.Expr, DataType | None]]()
        for item in items:
            if isinstance(item, nodes.Named):
                node = syntax_of(item.value)
                no_subquery(node, self.positions)
                comparable(node, self.positions)
                found.append((item.name, over(node, names.place), names.type(node)))
            else:
                found += [(one.name, column(one.place), one.type) for one in names.starred(item)]
        return found

    def _aggregate(self, tree: nodes.Aggregate, outer: tuple[Columns, ...]) -> Rewritten:
        under = self.tree(tree.input, outer)
        plan, columns = grouped(tree, under.plan, SeenNames(under.columns, self.positions))
        if tree.keys:
            return Rewritten(plan, columns, under.always)
        written = next((call.syntax for call in tree.calls if call.syntax is not None), tree.syntax)
        at = tree.at or self.positions.of(written or exp.Null())
        self.all_time.append(at)
        return Rewritten(plan, columns, at)

    def _set_operation(self, tree: nodes.SetOperation, outer: tuple[Columns, ...]) -> Rewritten:
        left, right = (self._plain(self.tree(side, outer)) for side in (tree.left, tree.right))
        if width(left.plan) != width(right.plan):
            word = type(tree).__name__.upper()
            message = f"the sides of {word} have {width(left.plan)} and {width(right.plan)} columns"
            at = tree.at or self.positions.of(tree.syntax or exp.Null())
            raise self.positions.finding(Code.UNION_MISMATCH, message, at)
        plan: SlicePlan
        match tree:
            case nodes.Union(distinct=distinct):
                plan, always = SliceUnion(left.plan, right.plan), left.always or right.always
                plan = SliceDistinct(plan) if distinct else plan
            case nodes.Except(distinct=distinct):
                plan, always = SliceDifference(left.plan, right.plan, distinct=distinct), left.always
            case nodes.Intersect(distinct=distinct):
                plan = SliceDifference(left.plan, right.plan, common=True, distinct=distinct)
                always = left.always and right.always
        return Rewritten(plan, left.columns, always)

    def _plain(self, found: Rewritten) -> Rewritten:
        """A side of a set operation with nothing but its shown columns, in order."""
        shown = [one for one in found.columns if one.shown and not one.hidden]
        if [one.place for one in shown] == list(range(width(found.plan))):
            return found
        columns = tuple(structs.replace(one, place=place) for place, one in enumerate(shown))
        return structs.replace(
            found, plan=SliceProject(found.plan, tuple(f"c{one.place}" for one in shown)), columns=columns
        )


class _EitherSide(Struct, frozen=True):
    """SeenNames in a condition of a subquery's WHERE: its own columns, counted on, or those of the row outside."""

    names: SeenNames
    outer: tuple[Columns, ...]
    by: int

    def place(self, node: exp.Column) -> int:
        mine = self.names.found(node, self.names.columns)
        if mine is not None:
            return mine + self.by
        theirs = self.names.found(node, self.outer[0])
        if theirs is not None:
            return theirs
        if any(self.names.found(node, columns) is not None for columns in self.outer[1:]):
            message = f"{node.sql('spark')} is a column two blocks out: a subquery refers to the block around it only"
            raise finding(self.names.positions, message, node)
        raise self.names.unknown(node)


def _refers(condition: exp.Expr, names: SeenNames) -> bool:
    """Whether a condition names something that the block does not have."""
    if condition.find(exp.Query):
        return False
    return any(names.found(found, names.columns) is None for found in condition.find_all(exp.Column))


def _asked(condition: exp.Expr) -> tuple[exp.Exists | exp.In, bool] | None:
    """A condition that is EXISTS or IN over a subquery, and whether it is negated."""
    negated, node = False, condition
    while isinstance(node, exp.Not | exp.Paren):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    if isinstance(node, exp.Exists) or (isinstance(node, exp.In) and node.args.get("query")):
        return node, negated
    return None


def _is_value(node: exp.Expr) -> bool:
    """Whether an expression is a subquery that is a value."""
    return isinstance(node, exp.Subquery) and not isinstance(node.parent, exp.In | exp.Exists)


def _outside(node: exp.Expr) -> Iterator[exp.Expr]:
    """An expression and its parts, but those of its subqueries."""
    return node.walk(prune=lambda one: isinstance(one, exp.Query))


def _items_of(node: exp.Exists | exp.In) -> list[exp.Expr]:
    """The operands that IN compares with the columns of its subquery."""
    if isinstance(node, exp.Exists):
        return []
    inner = node.this.unnest()
    return list(inner.expressions) if isinstance(inner, exp.Tuple) else [inner]


def _wrapped(node: exp.Expr) -> exp.Expr:
    return node if isinstance(node, exp.Column | exp.Literal) else exp.Paren(this=node)


def _always(kind: nodes.JoinKind, left: Span | None, right: Span | None) -> Span | None:
    match kind:
        case nodes.JoinKind.INNER | nodes.JoinKind.SEMI:
            return left if right is not None else None
        case nodes.JoinKind.LEFT | nodes.JoinKind.ANTI:
            return left
        case nodes.JoinKind.RIGHT:
            return right
    return left or right


def uncomparable(kind: DataType) -> str:
    """Why a column of a type cannot be used."""
    if any(word in kind.name for word in _UNKEPT):
        return f"is {kind.with_article}, whose values cannot be compared"
    return "has a collation, by which equal texts may differ" if " collate " in kind.name else ""
