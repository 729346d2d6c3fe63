"""The rows of a stream under conditions and expressions: how many are valid at a time (P2), and what they can say."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.errors import TooManyBranchesError
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.lower import lower
from streambound.analyzer.query import Attribute, Branch, Comparison, Constant, Op, Query, conjunction
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import some_statements
from streambound.analyzer.symbols import symbol
from streambound.analyzer.values import Value
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.conditions import Conditions, ContradictionError
from streambound.recheck.certificates.quantity import Quantity
from streambound.recheck.derivation.claims import NotCheckedError
from streambound.recheck.periods.equal_keys import EqualKeys, fewest
from streambound.recheck.periods.sizes import Limit, Listed, number, plus, smaller, times
from streambound_runtime.operators.period_plan import SliceFilter, SlicePlan, SliceProject, SliceRelation

_TESTS = {
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.EQ: operator.eq,
    Op.GE: operator.ge,
    Op.GT: operator.gt,
    Op.NE: operator.ne,
}


class PeriodCatalog(Struct):
    """A catalog's promises about rows with periods, between two points of time if these are declared.

    ``random``: rows are variables, whose keys and facts are unique among those that are valid. ``exact`` is False once
    a number of values follows from more than this checker looks at. ``read`` are, of each scan of a stream, the
    snapshot keys of the rows that play a part, with the columns that equal a relation's; ``equal`` are these of each
    scan. Scans are known by their identity.
    """

    catalog: Catalog
    low: int | None
    high: int | None
    random: bool = False
    exact: bool = True
    read: dict[str, dict[int, tuple[Query, tuple[EqualKeys, ...]]]] = field(default_factory=dict)
    equal: Mapping[int, Sequence[EqualKeys]] = field(default_factory=dict)
    symbols: dict[str, Quantity] = field(default_factory=dict)

    def symbol(self, kind: str, table: DeclaredTable, most: int | None) -> Limit:
        """A quantity of a table: `c`, `rate` or `rows`."""
        name = symbol(kind, table.name)
        return (self.symbols.setdefault(name, Quantity.symbol(name, most)),)

    def table(self, name: str) -> DeclaredTable:
        """A stream or relation; raises NotCheckedError where there is none."""
        found = self.catalog.table(name)
        if found is None:
            raise NotCheckedError(f"{name}, which is not in the catalog")
        return found

    def longest(self, table: DeclaredTable) -> int | None:
        """L: for how long a row is valid at most."""
        assert table.period is not None, "streams of SEQ blocks have periods"
        whole = None if self.low is None or self.high is None else max(0, self.high - self.low)
        return min((one for one in (table.period.max_duration, whole) if one is not None), default=None)

    def rows(self, relation: str) -> Limit:
        """How many rows a relation has."""
        table = self.table(relation)
        return self.symbol("rows", table, table.rows)

    def valid(self, table: DeclaredTable, conditions: Sequence[exp.Expr], equal: Sequence[EqualKeys] = ()) -> Limit:
        """V*, of the rows that conditions let pass and that have partners."""
        assert table.period is not None, "streams of SEQ blocks have periods"
        length, by_time = self.longest(table), None
        if length is not None:
            if table.max_rate is not None:
                rate = self.symbol("rate", table, table.max_rate.rows)
                by_time = times([rate, number(table.max_rate.intervals(length))])
            if table.max_rate is None or table.max_per_timestamp is not None:
                by_point = times([self.symbol("c", table, table.max_per_timestamp), number(length)])
                by_time = smaller(by_point, by_time)
        keyed = [self.different(table, _columns(key), conditions, equal) for key in self.unique(table)]
        return smaller(number(table.period.max_valid), by_time, *keyed)

    def unique(self, table: DeclaredTable) -> list[tuple[str, ...]]:
        """Columns that tell the rows apart that are valid together."""
        period = table.period
        assert period is not None, "streams of SEQ blocks have periods"
        found = [(period.key,), period.fact(table.columns)] if self.random and period.key is not None else []
        return [*found, *([period.snapshot_key] if period.snapshot_key else [])]

    # --- values -------------------------------------------------------------------------------------------------------

    def different(
        self,
        table: DeclaredTable,
        items: Sequence[exp.Expr],
        conditions: Sequence[exp.Expr],
        equal: Sequence[EqualKeys] = (),
    ) -> Limit:
        """How many different values some items have together, in the rows that conditions let pass."""
        query = self.query(table, items, conditions)
        return None if query is None else self.among(query, items, range(len(items)), equal)

    def among(
        self, query: Query, items: Sequence[exp.Expr], places: Sequence[int], equal: Sequence[EqualKeys]
    ) -> Limit:
        """How many different values some items of a block have together; some may equal a relation's columns."""
        names = [item.name if isinstance(item := items[place], exp.Column) else "" for place in places]
        return fewest(equal, names, self.rows, lambda some: self.results(query, [places[place] for place in some]))

    def values(self, table: DeclaredTable, names: Sequence[str]) -> Limit:
        """How many different values some columns have together."""
        return self.different(table, _columns(names), ())

    def note_read(self, found: StreamRows) -> None:
        """Note what is read of the keys of a stream, instead of what was under it."""
        table = found.table
        if table.period is not None and table.period.snapshot_key:
            query = self.query(table, _columns(table.period.snapshot_key), found.conditions)
            if query is not None:
                self.read.setdefault(table.name, {})[found.scan] = query, found.equal

    def keys_read(self, table: DeclaredTable, key: tuple[str, ...]) -> Limit:
        """How many keys the conditions on these columns leave, of all that is read of a stream."""
        found: dict[object, Limit] = {}
        for query, equal in self.read.get(table.name, {}).values():
            partners = tuple((one.relation, *((n, one.columns[n]) for n in one.columns if n in key)) for one in equal)
            for branch in derive(query).split.branches:
                alone = [atom for atom in branch.atoms if {one.column for one in atom.attributes} <= {*key}]
                shown = [one for one in alone if not (isinstance(one, Comparison) and one.right and one.offset)]
                told = tuple(replace(one, span=None) for one in shown)
                only = replace(branch, where=conjunction(told))
                found[told, partners] = fewest(equal, key, self.rows, partial(self._some_of, only))
        return plus(*found.values()) if found else None

    def _some_of(self, branch: Branch, places: Sequence[int]) -> Limit:
        return self._of_branch(replace(branch, outputs=tuple(branch.outputs[place] for place in places)))

    def is_empty(self, query: Query) -> bool:
        """Whether no row satisfies a block's conditions."""
        return not derive(query).split.branches

    def results(self, query: Query, places: Sequence[int]) -> Limit:
        """How many different values some of a block's columns have together."""
        chosen = (replace(one, outputs=tuple(one.outputs[place] for place in places)) for one in query.branches)
        split = derive(replace(query, branches=tuple(chosen))).split
        try:
            return plus(*map(self._of_branch, split.branches)) if split.branches else number(0)
        except ContradictionError:
            raise NotCheckedError("conditions that nothing satisfies in SEQ blocks") from None

    def _of_branch(self, branch: Branch) -> Limit:
        conditions = Conditions(branch)
        found, seen = list[Limit](), list[Attribute]()
        self.exact = self.exact and all(one.right is None for one in conditions.comparisons)
        for value in dict.fromkeys(output.value for output in branch.outputs):
            if isinstance(value, Constant):
                continue
            if not isinstance(value, Attribute):
                raise NotCheckedError("different values of what is computed of several rows")
            self.exact = self.exact and not branch.column(value).expression
            if any(conditions.equal(value, other) == 0 for other in seen):
                continue
            seen.append(value)
            found.append(number(_values(conditions, value)))
        return times(found)

    def query(self, table: DeclaredTable, items: Sequence[exp.Expr], conditions: Sequence[exp.Expr]) -> Query | None:
        """The items of the rows that conditions let pass; None where that is no select-project-join query."""
        assert table.period is not None, "streams of SEQ blocks have periods"
        named = [exp.alias_(item.copy(), f"x{place}", quoted=True) for place, item in enumerate(items)]
        end = exp.alias_(exp.column(table.period.end, quoted=True), "x", quoted=True)
        select = exp.select(*named, end).from_(exp.to_identifier(table.name, quoted=True))
        if conditions:
            select = select.where(*(exp.Paren(this=condition.copy()) for condition in conditions))
        (statement,) = some_statements(SourceText(self.catalog.file, select.sql("spark")))
        found = lower(statement, self.catalog, periods=True).query
        try:
            if found is not None:
                derive(found)
        except TooManyBranchesError:
            return None
        return found


def _values(conditions: Conditions, attribute: Attribute) -> int | None:
    """How many values an attribute can have; of texts and numbers with fractions comparisons count that leave one."""
    found = _known_values(conditions, attribute, null=attribute not in conditions.present)
    if found.integers:
        return found.size
    same = [one for one in conditions.attributes if conditions.equal(attribute, one) == 0] or [attribute]
    tests = [one for one in conditions.comparisons if one.right is None and one.left in same]
    if any(test.op is Op.EQ for test in tests):
        return 1
    if found.listed is None:
        return None
    passing = [one for one in found.listed if all(_passes(test.op, one, test.offset) for test in tests)]
    return 1 if len(passing) == 1 and not found.null else found.size


def _passes(op: Op, value: Value, other: Value) -> bool:
    """Whether a comparison is true; of texts by their bytes."""
    if isinstance(value, str) and isinstance(other, str):
        return bool(_TESTS[op](value.encode(), other.encode()))
    if isinstance(value, str) or isinstance(other, str):
        raise NotCheckedError("texts that are compared with numbers in SEQ blocks")
    return bool(_TESTS[op](Fraction(value), Fraction(other)))


def listed(table: DeclaredTable, name: str) -> Listed:
    """The values that a column may have, but NULL, as far as they are no more than a SMALLINT's."""
    for column in table.columns:
        if column.name == name:
            if column.domain is not None and column.domain.values:
                return frozenset(column.domain.values)
            low, high = column.ends
            if isinstance(low, int) and isinstance(high, int) and high - low < 1 << 16:
                return frozenset(range(low, high + 1))
    return None


def _columns(names: Sequence[str]) -> list[exp.Expr]:
    return [exp.column(name, quoted=True) for name in names]


class StreamRows(Struct, frozen=True):
    """Items of those rows of a stream that conditions let pass, over the stream's columns; by which ``scan``."""

    scan: int
    table: DeclaredTable
    items: tuple[exp.Expr, ...]
    conditions: tuple[exp.Expr, ...] = ()
    equal: tuple[EqualKeys, ...] = ()


def stream_rows(plan: SlicePlan, known: PeriodCatalog) -> StreamRows | None:
    """σ and Π of a stream as one; None for what is something else."""
    match plan:
        case SliceRelation(name, columns, period) if period:
            table = known.table(name)
            equal = tuple(known.equal.get(id(plan), ()))
            return None if table.timestamp is None else StreamRows(id(plan), table, tuple(_columns(columns)), (), equal)
        case SliceFilter(input, condition):
            under = stream_rows(input, known)
            return under and replace(under, conditions=(*under.conditions, over(condition, under.items)))
        case SliceProject(input, items):
            under = stream_rows(input, known)
            return under and replace(under, items=tuple(over(item, under.items) for item in items))
    return None


def over(text: str, items: Sequence[exp.Expr]) -> exp.Expr:
    """An expression of columns by their places, with what these are in their place."""

    def meant(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        item = items[int(node.name[1:])].copy()
        return item if isinstance(item, exp.Column) else exp.Paren(this=item)

    return parsed(text).copy().transform(meant)


class _KnownValues(Struct, frozen=True):
    """The ``listed`` ones, or where these are None all from ``low`` to ``high``; only integers have ends."""

    listed: frozenset[Value] | None
    low: int | None
    high: int | None
    null: bool
    integers: bool

    @classmethod
    def of(cls, value: Value | None, integers: bool) -> _KnownValues:
        """One value."""
        return cls(frozenset([] if value is None else [value]), None, None, value is None, integers)

    @property
    def size(self) -> int | None:
        """How many there are; None for no end of them."""
        if self.listed is not None:
            return len(self.listed) + self.null
        return None if self.low is None or self.high is None else max(0, self.high - self.low + 1) + self.null


def _known_values(conditions: Conditions, attribute: Attribute, null: bool) -> _KnownValues:
    """The values of an attribute under the conditions of a branch; with ``null`` it may be NULL."""
    integers = conditions.is_integer(attribute)
    if attribute in conditions.null:
        return _KnownValues.of(None, integers)
    same = [other for other in conditions.attributes if conditions.equal(attribute, other) == 0] or [attribute]
    lists = [list[Value](_listed(conditions, one)) for one in same if conditions.listed(one)]
    if lists:
        return _KnownValues(frozenset(sorted(lists, key=len)[0]), None, None, null, integers)
    if not integers:
        return _KnownValues(None, None, None, null, False)
    zero = conditions.zero(attribute)
    below, above = conditions.follows.bound(zero, attribute), conditions.follows.bound(attribute, zero)
    low, high = None if below is None else -int(below[0]), None if above is None else int(above[0])
    return _KnownValues(None, low, high, null, True)


def _listed(conditions: Conditions, attribute: Attribute) -> Sequence[Value]:
    if conditions.is_integer(attribute):
        return conditions.possible(attribute, conditions.follows)
    return conditions.values(attribute)
