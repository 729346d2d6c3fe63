"""P5: without a number by P2 or P4, what ends first cannot be told from what ends last without a memory of both.

Rows i = 0 … N−1 begin at i, and end at 2N + 2i or at 2N + 2i + 1; or the other way round, with values that rise or
fall. After N nothing arrives. Where what is printed from then on tells all 2^N inputs apart, the memory at N takes 2^N
states, for every N: M units of O(log N) bits hold fewer for a large N. That it does so for every N is known of rows
that differ in columns with infinitely many values, beyond all constants (`witnesses.constants`), of streams whose rows
may be valid for ever: all inputs of a few rows are executed, and some of more rows than are counted to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from random import Random
from typing import Any

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.errors import StreamboundError
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.evident import encoded, plain_value
from streambound.analyzer.expressions.expression import Expression, value_of
from streambound.analyzer.expressions.function import NotKnown
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.types import DataType, Family, parse_type
from streambound.analyzer.work import cached
from streambound.criteria.contract import value_range
from streambound.criteria.periods.history import Fragment, FragmentRow, PeriodHistory
from streambound.criteria.periods.views import Leaf
from streambound.criteria.witnesses.constants import MOST_COUNTED, Constants
from streambound_runtime.operators.period_plan import SliceFilter, SliceJoin, SliceLineage, SliceProject, SliceQuery

_ROWS = 4
"""N: all 2^N inputs are executed."""
_MANY = 24
"""Rows of which some inputs are executed, or more, where rows are counted to more."""
_SAMPLE = 3
_TRIED = 200
"""Rows of a stream that are looked at for one that the conditions let pass."""
Encoded = dict[str, Any]


class EndingRows(Struct, frozen=True):
    """Which stream has the rows, what changes from one to the next, and whether the others have a row at all times.

    ``lineages``: rows are random variables, of which each has a name and a fact of its own.
    """

    stream: str
    column: str | None
    rising: bool
    accompanied: bool
    lineages: bool = False


class PeriodWitness(Struct, frozen=True):
    """Inputs of a query over ``leaves``, one for each choice of ends of the ``family``'s rows."""

    family: EndingRows
    query: SliceQuery | SliceLineage
    leaves: tuple[Leaf, ...]
    constants: Constants

    def rows(self, later: Sequence[bool]) -> dict[str, list[Encoded]] | None:
        """The rows of each stream, of which some end a moment ``later``; None where a contract allows none."""
        return _rows_of(self, [int(bit) for bit in later])

    def printed(self, later: Sequence[bool]) -> frozenset[Fragment]:
        """The rows that are printed for them once all have begun: values, begin, end and multiplicity."""
        rows = self.rows(later)
        return frozenset() if rows is None else _printed(self.query, self.leaves, rows)


def unbounded_periods(
    query: SliceQuery | SliceLineage, leaves: Sequence[Leaf], constants: Constants
) -> PeriodWitness | None:
    """The rows that show that a query needs unboundedly much memory; None where none of these families does."""
    families = _families(leaves, isinstance(query, SliceLineage), constants)
    made = (PeriodWitness(family, query, tuple(leaves), constants) for family in families)
    try:
        return next((one for one in made if tells_apart(one) and _of_any_size(one)), None)
    except (NotKnown, Refused, StreamboundError, OverflowError):
        return None


def _families(leaves: Sequence[Leaf], lineages: bool, constants: Constants) -> Iterator[EndingRows]:
    tables = {leaf.table.name: leaf.table for leaf in leaves}
    endless = {name for name, table in tables.items() if table.period is None or table.period.max_duration is None}
    for name, table in tables.items():
        if name not in endless or table.period is None or table.period.max_valid is not None:
            continue  # finitely many rows are valid at a time
        changing = [column.name for column in table.columns if _varies(column, table, constants)]
        for accompanied in (False, True) if endless >= {*tables} and len(tables) > 1 else (False,):
            for column in (None, *changing):
                yield EndingRows(name, column, True, accompanied, lineages)
                if column is not None:
                    yield EndingRows(name, column, False, accompanied, lineages)


def _varies(column: Column, table: DeclaredTable, constants: Constants) -> bool:
    period = table.period
    assert period is not None, "only streams of rows with periods are read"
    numbers = (Family.INTEGER, Family.FLOAT, Family.STRING)
    own = column.name not in (period.begin, period.end)
    return own and column.type.family in numbers and constants.is_fresh(column)


def _unlike(family: EndingRows, table: DeclaredTable, constants: Constants) -> str | None:
    """A column of the snapshot key in which rows have to differ, if the family's own is none of it."""
    key = () if table.period is None or family.column in table.period.snapshot_key else table.period.snapshot_key
    return next(
        (column.name for column in table.columns if column.name in key and _varies(column, table, constants)), None
    )


def tells_apart(witness: PeriodWitness, size: int = _ROWS) -> bool:
    """Whether all choices of the ends are told apart by what is printed when no more rows come."""
    printed = set[frozenset[Fragment]]()
    for later in product((False, True), repeat=size):
        if witness.rows(later) is None:
            return False
        printed.add(witness.printed(later))
    return bool(len(printed) == 2**size)


def _of_any_size(witness: PeriodWitness) -> bool:
    """Whether some choices of many ends are told apart, which differ in one or two of them."""
    size, random = max(_MANY, witness.constants.counted + 2), Random(0)
    if size > MOST_COUNTED or witness.rows([False] * size) is None:
        return False
    for _ in range(_SAMPLE):
        later = [random.random() < 0.5 for _ in range(size)]
        one, other = random.sample(range(size), 2)
        later[one], later[other] = True, False
        changed = [[*later[:one], False, *later[one + 1 :]], later.copy()]
        changed[1][one], changed[1][other] = False, True
        if witness.printed(later) in map(witness.printed, changed):
            return False
    return True


def _rows_of(witness: PeriodWitness, bits: Sequence[int]) -> dict[str, list[Encoded]] | None:
    """The rows of each stream; None where the conditions let none pass, or a contract."""
    family, leaves, base, constants = witness.family, witness.leaves, witness.query.low or 0, witness.constants
    tables = {leaf.table.name: leaf.table for leaf in leaves}
    found: dict[str, list[Encoded]] = {}
    step = max((table.max_rate.per for table in tables.values() if table.max_rate is not None), default=1)
    many = len(bits)
    far = 2 * many * step
    for name, table in tables.items():
        plain = _passing(table, [leaf for leaf in leaves if leaf.table.name == name])
        period = table.period
        if plain is None or period is None:
            return None
        last = value_range(period.kind)[1]
        if last is not None and base + 4 * far > last:
            return None  # the calendar ends before
        unique = [period.snapshot_key] if period.snapshot_key else []
        if family.lineages and period.key and period.probability:
            unique += [(period.key,), period.fact(table.columns)]
            plain[period.probability] = certain(table, period.probability)
        if name != family.stream:
            always = {**plain, period.begin: base, period.end: base + 4 * far}
            found[name] = [always] if family.accompanied else []
            continue
        rows = found[name] = []
        changing = dict.fromkeys(
            (family.column, period.key if family.lineages else None, _unlike(family, table, constants))
        )
        values = {one: _values(table, one, plain, many, witness) for one in changing if one is not None}
        if any(not mine for mine in values.values()):
            return None
        for place, bit in enumerate(bits):
            end = base + far + 2 * (place if family.rising else many - 1 - place) + bit
            row = {**plain, period.begin: base + place * step, period.end: end}
            rows.append(row | {column: mine[place] for column, mine in values.items()})
        if any(len({tuple(row[key] for key in keys) for row in rows}) < len(rows) for keys in unique):
            return None
    return found


def certain(table: DeclaredTable, name: str) -> Any:
    """The probability 1, as it is encoded in a column."""
    column = table.column(name)
    assert column is not None, "it is one of the table's"
    return 10 ** (column.type.scale or 0) if column.type.family is Family.DECIMAL else 1.0


def _values(table: DeclaredTable, name: str, plain: Encoded, many: int, witness: PeriodWitness) -> list[Any]:
    """Values in order, beyond all constants, up or, where conditions do not let those pass, down; none where neither.

    Those of rows that end later are less: of MAX each has its time; or greater, for MIN.
    """
    constants = witness.constants
    column, first = table.column(name), plain[name]
    assert column is not None, "it is one of the table's"
    if column.type.family is Family.STRING:
        ends = "0" * constants.length
        return [f"{first or 'v'}{ends}{place:06}{ends}" for place in range(many)]
    mine = [leaf for leaf in witness.leaves if leaf.table.name == table.name]
    apart = (1 + constants.total) * constants.multiple
    values = [(place + 1) * (float(apart) if isinstance(first, float) else apart) for place in range(many)]
    for found in (values, [-value for value in values]):
        if all(_satisfies(leaf, plain | {name: value}, leaf.passing) for leaf in mine for value in found):
            return found
    return []


def _passing(table: DeclaredTable, leaves: Sequence[Leaf]) -> Encoded | None:
    """A row that all conditions let pass."""
    names = [column.name for column in table.columns]
    options = [_options(column, leaves) for column in table.columns]
    for values in islice(product(*options), _TRIED):
        row = dict(zip(names, values, strict=True))
        if all(_satisfies(leaf, row, leaf.passing) for leaf in leaves):
            return row
    return None


def _options(column: Column, leaves: Sequence[Leaf]) -> list[Any]:
    """Values of a column: declared ones, or those that conditions name, and some more."""
    if column.domain is not None:
        return [*column.domain.values][:3] or [column.domain.low]
    if column.type.family is Family.STRING:
        literals = [one.this for leaf in leaves for c in leaf.passing for one in c.find_all(exp.Literal)]
        return [*dict.fromkeys([*literals, "v"])]
    numbers = [
        one.this for leaf in leaves for c in leaf.passing for one in c.find_all(exp.Literal) if not one.is_string
    ]
    whole = [int(text) + more for text in numbers if text.isdigit() for more in (0, 1, -1)]
    return [*dict.fromkeys([*whole, 0])] if column.type.family is Family.INTEGER else [1.0, None]


def _row(leaf: Leaf, row: Encoded) -> FragmentRow | None:
    """A block's result row for a row of its stream; None if a condition is not true."""
    if not _satisfies(leaf, row, leaf.conditions):
        return None
    made, plain = _over_rows(leaf, leaf.items), _plain_row(leaf, row)
    return tuple(_encoded(value_of(one, plain).value, one.kind) for one in made)


def _satisfies(leaf: Leaf, row: Encoded, conditions: Sequence[exp.Expr]) -> bool:
    """Whether conditions are true of a row of a block's stream."""
    plain = _plain_row(leaf, row)
    return all(value_of(one, plain).value == 1 for one in _over_rows(leaf, conditions))


def _over_rows(leaf: Leaf, expressions: Sequence[exp.Expr]) -> list[Expression]:
    given = _frozen({column.name: column.type for column in leaf.table.columns})
    return [_read(one.sql("spark"), given) for one in expressions]


def _plain_row(leaf: Leaf, row: Encoded) -> dict[str, Any]:
    return {column.name: plain_value(row[column.name], column.type) for column in leaf.table.columns}


def _printed(
    query: SliceQuery | SliceLineage, leaves: Sequence[Leaf], rows: Mapping[str, list[Encoded]]
) -> frozenset[Fragment]:
    """The rows that are printed once all rows have arrived."""
    arrived: dict[str, list[Fragment]] = {}
    for leaf in leaves:
        period = leaf.table.period
        assert period is not None, "only streams of rows with periods are read"
        made = [(_row(leaf, row), row[period.begin], row[period.end], 1) for row in rows[leaf.table.name]]
        arrived[leaf.block] = [(values, *rest) for values, *rest in made if values is not None]
    last = max((begin for found in arrived.values() for _, begin, _, _ in found), default=0)
    return PeriodHistory(query, arrived, _computed, _passes).printed_from(last + 1)


def _computed(plan: SliceFilter | SliceProject, row: FragmentRow) -> FragmentRow | None:
    plain = _plain(row, plan.given)
    if isinstance(plan, SliceFilter):
        return row if value_of(_read(plan.condition, plan.given), plain).value == 1 else None
    made = (_read(text, plan.given) for text in plan.items)
    return tuple(_encoded(value_of(one, plain).value, one.kind) for one in made)


def _passes(plan: SliceJoin, row: FragmentRow) -> bool:
    return bool(value_of(_read(plan.condition, plan.given), _plain(row, plan.given)).value == 1)


def _plain(row: FragmentRow, given: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    kinds = [(name, parse_type(text)) for name, text in given]
    pairs = zip(kinds, row, strict=True)
    return {name: plain_value(value, kind) for (name, kind), value in pairs if kind is not None}


def _encoded(value: Fraction | str | None, kind: DataType) -> Any:
    if value is None:
        return None
    found = encoded(value, kind)
    return float(found) if kind.family is Family.FLOAT and not isinstance(found, str) else found


def _frozen(kinds: Mapping[str, DataType]) -> tuple[tuple[str, str], ...]:
    return tuple((name, kind.name) for name, kind in kinds.items())


@cached(256)
def _read(text: str, given: tuple[tuple[str, str], ...]) -> Expression:
    kinds = {name: kind for name, kind_text in given if (kind := parse_type(kind_text)) is not None}
    return read(parsed(text), kinds)
