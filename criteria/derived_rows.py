"""Rows of a witness whose derived columns have the values of their expressions, and those that the witness needs.

A witness is made of values for all attributes alike. Those of derived columns follow from declared ones, so that these
are chosen for them: by undoing the expression (`analyzer.expressions.inversion`), whatever the value; or, where neither
the wanted values nor what else the expression reads differ between elements, by trying some. Every value is computed
forwards again. So the rows are as those of a table without derived columns, and prove the same at any size; what cannot
be had in one of these ways proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice, product
from math import lcm

from msgspec import Struct, field

from streambound.analyzer.columns import Column
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.evident import encoded, plain_value
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal, fields
from streambound.analyzer.expressions.function import Fails, NotKnown
from streambound.analyzer.expressions.inversion import ends, factors, inverse
from streambound.analyzer.expressions.reading import read
from streambound.analyzer.expressions.values import (
    asked,
    expression_of,
    is_evaluated_elsewhere,
    of_no_rows,
    value_in_row,
)
from streambound.analyzer.query import (
    Attribute,
    Branch,
    Computed,
    NullTest,
    OneOf,
    OutputValue,
    Source,
    TimeValue,
    formula_attributes,
)
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value
from streambound.analyzer.work import spend
from streambound.criteria.projected_time import is_valued_time
from streambound.criteria.solution import conditions_of
from streambound.criteria.witness_plan import WitnessPlan

MOST_TRIED = 300
"""Combinations of values that are tried for what no rule undoes."""
_STEPS = 20
_SMALL = 12
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
"""Texts that are tried where an engine evaluates what is not known here, such as a hash."""

Values = dict[str, Value | None]


def has_derived(branch: Branch) -> bool:
    """Whether any source has a derived column."""
    return any(source.derived for source in branch.sources)


def expressions(branch: Branch) -> Iterator[Expression]:
    """The expressions of all derived columns."""
    for source in branch.sources:
        for column in source.derived:
            yield expression_of(column, source.columns)


def unit(branch: Branch) -> int:
    """The number of which kept values should be multiples, so that products can be inverted."""
    return lcm(*(factor for expression in expressions(branch) for factor in factors(expression)))


def stems(branch: Branch) -> tuple[tuple[str, str], ...]:
    """How texts that are no constants may begin and end; the first way does where nothing is derived."""
    if not has_derived(branch):
        return (("", ""),)
    own = (ends(expression) for expression in expressions(branch))
    found = [("", ""), ("~", ""), ("1", ""), *((f"{first}1", last) for first, last in own if first or last)]
    return tuple(dict.fromkeys(found))


class DerivedRows(Struct):
    """Completes the rows of one witness; ``whole`` says at its end whether they prove what they should."""

    plan: WitnessPlan
    _seen: dict[tuple[str, str], set[Value | None]] = field(default_factory=dict)
    _undone: dict[tuple[str, str], str] = field(default_factory=dict)

    def completed(
        self, source: Source, values: Mapping[str, Value | None], point: Iterable[Attribute]
    ) -> Values | None:
        """A row's values with those of the derived columns; None where they cannot be what is wanted.

        ``values`` has what is wanted of derived columns, too; ``point`` are the attributes whose values are given.
        """
        derived = source.derived
        if not derived:
            return dict(values)
        row = dict(values)
        given = {attribute.column for attribute in point if attribute.source == source.alias} | {source.timestamp}
        needed = {column.name: values[column.name] for column in derived if self._needed(source, column)}
        free = [c for c in source.columns if not c.expression and c.name not in given]
        left = [column for column in derived if column.name in needed]
        left = [column for column in left if not self._undo(source, column, needed[column.name], row, free)]
        if left and not self._try(source, left, needed, row, free):
            return None
        for column in derived:
            try:
                row[column.name] = self._value(source, column, row)
            except (Fails, NotKnown):
                return None
            if column.name in needed and row[column.name] != needed[column.name]:
                return None
        for column in source.columns:
            self._seen.setdefault((source.alias, column.name), set()).add(row[column.name])
        return row

    def _value(self, source: Source, column: Column, row: Values) -> Value | None:
        """The value of a derived column; raises Fails and NotKnown."""
        return value_in_row(self._expression(source, column), column, source.columns, row)

    def _needed(self, source: Source, column: Column) -> bool:
        """Whether a condition, or the attribute in which elements differ, determines a derived column's value."""
        attribute = Attribute(source.alias, column.name)
        kept = (attribute == kept.attribute for kept in self.plan.kept)
        return any(kept) or attribute in formula_attributes(self.plan.branch.where)

    def _undo(self, source: Source, column: Column, wanted: Value | None, row: Values, free: list[Column]) -> bool:
        """Give a free column the value that an expression needs; whether a rule says which."""
        expression = self._expression(source, column)
        kinds = {one.name: one.type for one in source.columns}
        for one in free:
            if one.name not in fields(expression) or one.domain is not None:
                continue  # of a declared domain there are not enough values for any number of elements
            plain = {name: plain_value(row[name], kinds[name]) for name in fields(expression)}
            spend(_STEPS)
            try:
                value = inverse(expression, one.name, plain_value(wanted, column.type), plain)
            except (Fails, NotKnown):
                continue
            if value is not None:
                row[one.name] = encoded(value, one.type)
                free.remove(one)
                self._undone[source.alias, column.name] = one.name
                return True
        return False

    def _try(
        self, source: Source, left: list[Column], needed: Mapping[str, Value | None], row: Values, free: list[Column]
    ) -> bool:
        """Give free columns values with which all that is left has what is wanted; whether some were found."""
        read = {name for column in left for name in fields(self._expression(source, column))}
        axes = [[(one.name, value) for value in _pool(one, source, needed)] for one in free if one.name in read]
        for combination in islice(product(*axes), MOST_TRIED):
            spend(_STEPS)
            tried = {**row, **dict(combination)}
            try:
                found = all(self._value(source, c, tried) == needed[c.name] for c in left)
            except (Fails, NotKnown):
                continue
            if found:
                row.update(combination)
                return True
        return False

    @property
    def by_rule(self) -> bool:
        """Whether what differs between elements reaches derived columns by a rule only, through one column each.

        Others may depend on it where they only show in results that show what the elements differ in, too, and cannot
        fail; so may outputs that are computed. Times are never such.
        """
        branch = self.plan.branch
        for source in branch.sources:
            for column in source.derived:
                expression = self._expression(source, column)
                own = self._undone.get((source.alias, column.name))
                varying = self._varying(source, expression)
                if not varying or varying == {own} or self._is_shifted(source, column):
                    continue
                if is_valued_time(source, column):
                    continue  # the conditions know it, and when its row comes
                harmless = own is None and source.timestamp not in varying and not self._needed(source, column)
                if not harmless or not self._shown or not _total(expression):
                    return False
        computed = [output.value for output in branch.outputs if isinstance(output.value, Computed)]
        return not computed or (self._shown and all(_total(_read(one, branch)) for one in computed))

    @property
    def apart(self) -> bool:
        """Whether other branches, and other uses of a table, ignore the values chosen for derived columns.

        Then conditions depend only on the order of elements, as for rows without derived columns. A condition may
        compare such a value with constants where all rows have the same; and each column of the result is the same
        attribute in every branch, or the same in all rows.
        """
        plan, tables = self.plan, [source.table for source in self.plan.branch.sources]
        if (len(plan.branches) <= 1 and len(set(tables)) == len(tables)) or not has_derived(plan.branch):
            return True
        branches = [b for b in plan.branches if all(source.table in tables for source in b.sources)]
        conditions = [(b, atom) for b in branches for atom in b.atoms]  # the others get no rows
        for branch, atom in conditions:
            alone = isinstance(atom, NullTest | OneOf) or atom.right is None
            for attribute in atom.attributes:
                if not all(self._may_see(source, attribute.column, alone) for source in self._uses(branch, attribute)):
                    return False
        return all(self._shows_alike(branch) for branch in branches)

    def _uses(self, branch: Branch, attribute: Attribute) -> list[Source]:
        """The uses of an attribute's table in the plan's branch."""
        table = branch.source(attribute.source).table
        return [source for source in self.plan.branch.sources if source.table == table]

    def _may_see(self, source: Source, name: str, alone: bool) -> bool:
        """Whether a condition may read a column; ``alone``: it compares it with constants, if with anything."""
        attribute = Attribute(source.alias, name)
        column = next((one for one in source.columns if one.name == name), None)
        if column is None:  # an expression that only another use of the table has
            return False
        chosen = attribute in formula_attributes(self.plan.branch.where) or any(
            attribute == kept.attribute for kept in self.plan.kept
        )
        if chosen or name == source.timestamp:
            return True
        return alone and not self._may_vary(source, column)

    def _may_vary(self, source: Source, column: Column) -> bool:
        if column.expression and self._varying(source, self._expression(source, column)):
            return True
        return len(self._seen.get((source.alias, column.name), ())) > 1

    def _shows_alike(self, branch: Branch) -> bool:
        """Whether each column of the result shows the same in a branch as in the plan's, or nothing that varies."""
        pairs = zip(branch.outputs, self.plan.branch.outputs, strict=True)
        return all(
            _named(branch, mine.value) == _named(self.plan.branch, own.value)
            or not (self._shows_varying(branch, mine.value) or self._shows_varying(self.plan.branch, own.value))
            for mine, own in pairs
        )

    def _shows_varying(self, branch: Branch, value: OutputValue) -> bool:
        if isinstance(value, Computed | TimeValue):
            return True
        return isinstance(value, Attribute) and any(
            self._may_vary(source, source.column(value.column)) for source in self._uses(branch, value)
        )

    def _expression(self, source: Source, column: Column) -> Expression:
        """A derived column's expression, with subqueries over relations answered as for no rows."""
        found = expression_of(column, source.columns)
        tables = {source.table.lower() for source in self.plan.branch.sources}
        return found if asked(column.expression) & tables else of_no_rows(found)

    def _is_shifted(self, source: Source, column: Column) -> bool:
        """Whether the conditions know what a derived column differs from another one by: any solution has both."""
        nodes = conditions_of(self.plan.branch, self.plan.reach.texts).sorts
        own, base = (Attribute(source.alias, name) for name in (column.name, column.shift[0] if column.shift else ""))
        return own in nodes and base in nodes and base != source.time

    def _varying(self, source: Source, expression: Expression) -> set[str]:
        """The columns that an expression reads and that differ between rows."""
        return {name for name in fields(expression) if len(self._seen.get((source.alias, name), ())) > 1}

    @property
    def _shown(self) -> bool:
        """Whether the results show by themselves what the elements differ in."""
        outputs = [output.value for output in self.plan.branch.outputs]
        return all(kept.attribute in outputs for kept in self.plan.kept)


_TOTAL = (
    "+", "-", "*", "negative", "abs", "upper", "lower", "trim", "ltrim", "rtrim", "length", "concat", "||", "coalesce",
    "nvl", "ifnull", "nullif", "case", "if", "nvl2", "greatest", "least", "=", "<>", "<", "<=", ">", ">=", "<=>", "and",
    "or", "not", "is null", "is true", "is false", "isnull", "isnotnull", "in", "like", "year", "month", "day", "hour",
    "minute", "second", "sign", "signum", "date_add", "date_sub", "datediff", "left", "right", "substring", "substr",
    "replace", "reverse",
)  # fmt: skip
"""What fails of no value, but for overflows."""


def _total(expression: Expression) -> bool:
    match expression:
        case Call(function, arguments, kind):
            divisor = arguments[1] if function.name in ("%", "mod", "pmod", "/", "div") else None
            divides = isinstance(divisor, Literal) and divisor.constant.value not in (Fraction(0), None)
            to_text = function.name == "cast" and kind.family is Family.STRING
            return (function.name in _TOTAL or divides or to_text) and all(map(_total, arguments))
        case Field() | Literal():
            return True


def _named(branch: Branch, value: OutputValue) -> object:
    """A column of the result, by the names of tables."""
    match value:
        case Attribute():
            return branch.source(value.source).table, value.column
        case Computed(text, _, attributes):
            return text, tuple(_named(branch, attribute) for attribute in attributes)
    return value


def _read(computed: Computed, branch: Branch) -> Expression:
    kinds = {f"_{place}": branch.column(part).type for place, part in enumerate(computed.attributes, start=1)}
    return read(parsed(computed.text), kinds)


def _pool(column: Column, source: Source, needed: Mapping[str, Value | None]) -> list[Value | None]:
    """Values to try for a column: the declared or wanted ones, constants of expressions and their neighbours."""
    if column.domain is not None and column.domain.values:
        return [*column.domain.values, None]
    found: dict[Value | None, None] = {}
    for derived in source.derived:
        for constant in _constants(expression_of(derived, source.columns)):
            found.update(dict.fromkeys(_neighbouring_values(constant, column)))
    text = column.type.family is Family.STRING
    found.update((value, None) for value in needed.values() if value is not None and isinstance(value, str) is text)
    texts = ("", *_LETTERS) if is_evaluated_elsewhere() else ("", "a")
    plain: tuple[Value | None, ...] = texts if text else tuple(range(-_SMALL, _SMALL + 1))
    if column.domain is not None and column.domain.low is not None:
        plain = (column.domain.low, column.domain.high)
    return list(dict.fromkeys((*found, *plain, None)))


def _constants(expression: Expression) -> Iterator[Literal]:
    match expression:
        case Literal():
            yield expression
        case Call(arguments=arguments):
            for argument in arguments:
                yield from _constants(argument)


def _neighbouring_values(constant: Literal, column: Column) -> Iterator[Value]:
    value = constant.constant.value
    if isinstance(value, str):
        if column.type.family is Family.STRING:
            yield from (value, value.replace("%", "").replace("_", "a"), value.strip("^$"))
            yield from (f"{value}a", value[:-1]) if is_evaluated_elsewhere() else ()
        return
    if value is None or column.type.family is Family.STRING:
        return
    yield from (encoded(one, column.type) for one in (value, value + 1, value - 1))
