"""Schemes of witnesses, made without theory: rules for the rows of elements and probes of any size, one per table.

Where no plan of a block tells prefixes apart (`witnesses.witness`), schemes are drawn at random, always the same ones
for a statement. A value is a constant, or one beyond every constant for each element, rising or falling, or one beyond
all elements. The probe of element k sends its own rows, those of all other elements, or k rows. As for plans only the
execution of the whole statement counts: of all subsets of a few elements, of subsets with equal sums of powers, which
whatever adds up cannot tell apart, and of a sample of many elements, which no small constant saturates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from random import Random

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.query import Attribute, Branch, Source, conjunction
from streambound.analyzer.spans import Span
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value
from streambound.analyzer.work import spend
from streambound.criteria.contract import fits_column, fits_contract, promised_distance
from streambound.criteria.results import Row
from streambound.criteria.witness import Witness
from streambound.criteria.witness_plan import Kept, WitnessPlan
from streambound.criteria.witnesses.constants import DAY as _DAY
from streambound.criteria.witnesses.constants import Constants, scanned
from streambound.criteria.witnesses.executed import Executed

MOST_SCHEMES = 1_000
"""Schemes that are drawn for a statement."""
MOST_COUNTED = 40
"""Schemes that are drawn whose probes are "counted": these have many rows."""
_AT_ONCE = 100
FEW_ROWS = ("own", "before", "others")
"""Shapes of schemes whose probes have no rows but those of elements, those with fewest first."""
_SHAPES = ("own",) * 3 + ("others",) * 3 + ("before",)
_STEPS_A_ROW = 4
_MOST_ROWS = 500
"""Rows of a "counted" probe beyond which none is tried."""
_ROWS_IN_TIME = 20
"""Rows of a table that are tried as elements that differ in their time."""
FARTHEST = 10**6
"""Constants beyond which no scheme is drawn: its values and times must lie beyond them."""
_START = int(datetime(2400, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
_NOWHERE = Span(-1, -1, 0, 0, 0, 0)


class ElementValue(Struct, frozen=True):
    """A value of each element: a ``constant``, or with a ``sign`` one beyond every constant, plus ``more``.

    Signs are +1, values that rise with the elements, and -1, values that fall; +2 and -2 are beyond those; of +3 the
    values rise in the least steps, as the numbers of rows of "counted" probes do.
    """

    constant: Value | None = None
    sign: int = 0
    more: int = 0


class RowScheme(Struct, frozen=True):
    """A row of a table, by its cells; of a relation that changes, it comes or goes."""

    table: str
    cells: tuple[tuple[str, ElementValue], ...]
    deletes: bool = False


class Scheme(Struct, frozen=True):
    """Rows that are always there, of each element, and of its probe.

    ``shape`` says whose rows a probe sends: "own", those of all "others", those "before", or "counted", as many as its
    element's number, or "ranked", that times ``step``, from one on. Rows of an element have one time if
    ``together``, else one after the other.
    """

    always: tuple[RowScheme, ...]
    element: tuple[RowScheme, ...]
    probe: tuple[RowScheme, ...]
    shape: str
    together: bool
    step: int = 1


class Ground(Struct, frozen=True, dict=True):
    """The material of a statement's schemes: its tables, the columns that it reads, its constants."""

    tables: tuple[DeclaredTable, ...]
    constants: Constants
    read: frozenset[str]
    numbers: tuple[int, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, statement: Executed) -> Ground | None:
        """None where a constant is too far away, or a table's rows cannot be chosen."""
        found = Constants.of(statement)
        numbers = set(found.numbers)
        names = dict.fromkeys(name for tree in (statement.tree, *statement.queries.values()) for name in scanned(tree))
        known = [statement.catalog.table(name) for name in names]
        tables = tuple(table for table in known if table is not None)
        if len(tables) < len(known) or any(t.punctuations or t.period or t.query for t in tables):
            return None
        for table in tables:
            for column in (*table.columns, *((table.changes.timestamp,) if table.changes is not None else ())):
                if column.domain is not None and column.domain.low is not None and column.domain.high is not None:
                    numbers |= {int(column.domain.low), int(column.domain.high)}
        if any(abs(number) > FARTHEST for number in numbers) or found.multiple > FARTHEST:
            return None
        every = {column.name.lower() for table in tables for column in table.columns}
        read = every if found.everything else found.read & every
        return cls(tables, found, frozenset(read), tuple(sorted(numbers)), tuple(sorted(found.texts)))

    @cached_property
    def sent(self) -> list[DeclaredTable]:
        """The tables of elements and probes: one that never changes has the same rows for prefixes of any size."""
        return [table for table in self.tables if not table.is_fixed]

    @cached_property
    def far(self) -> int:
        """A number beyond every constant, and beyond what they add up to; a multiple of all divisors."""
        most = max((abs(number) for number in self.numbers), default=0)
        return (10 + max(4 * most, most + self.constants.total)) * self.constants.multiple

    @cached_property
    def step(self) -> int:
        """The least distance of values that rise as slowly as they may."""
        return (1 + self.constants.total) * self.constants.multiple

    def source(self, table: DeclaredTable) -> Source:
        """A table as a source of a query."""
        return Source(
            table.name, table.name, table.kind, table.columns, table.timestamp, _NOWHERE,
            None if table.changes is not None else table.max_per_timestamp,
            None if table.changes is not None else table.rows, max_rate=table.max_rate, unique=table.unique,
        )  # fmt: skip

    def plan(self, scheme: Scheme) -> WitnessPlan:
        """The columns in which a scheme's elements differ, and the tables of its probes, as a plan."""
        sources = tuple(map(self.source, self.tables))
        branch = Branch(sources, conjunction(()), (), _NOWHERE)
        varies = [(row.table, name, cell) for row in scheme.element for name, cell in row.cells if cell.sign]
        kept = tuple(dict.fromkeys(Kept(Attribute(table, name), cell.sign > 0) for table, name, cell in varies))
        return WitnessPlan(branch, kept, frozenset(row.table for row in scheme.probe), branches=(branch,))

    def witness(self, scheme: Scheme, size: int, first: int = 0) -> Witness | None:
        """The witness of this size; None where types or contracts do not allow it.

        Their values are those of a larger witness's elements from the ``first`` on, counted from 0.
        """
        builder = _Builder(self, scheme, size, first)
        plan = self.plan(scheme)
        found = Witness(plan, builder.always(), builder.elements(), builder.probes(), ())
        everything, changing = found.prefix(range(size)), [t for t in self.tables if t.changes is not None]
        spend(_STEPS_A_ROW * (len(everything) + sum(map(len, found.probes))))
        if not fits_contract(plan.branch, everything, found.probes):
            return None
        kept = all(fits_changes(t, (*everything, *probe)) for t in changing for probe in found.probes)
        return found if kept else None


class _Builder(Struct, frozen=True):
    ground: Ground
    scheme: Scheme
    size: int
    first: int
    _made: dict[tuple[int, int], tuple[Row, ...]] = field(default_factory=dict)

    def always(self) -> tuple[Row, ...]:
        return tuple(self._row(row, 0, (-1, place)) for place, row in enumerate(self.scheme.always))

    def elements(self) -> tuple[tuple[Row, ...], ...]:
        return tuple(tuple(self._rows(self.scheme.element, k, k)) for k in range(self.size))

    def probes(self) -> tuple[tuple[Row, ...], ...]:
        return tuple(tuple(self._probe(k)) for k in range(self.size))

    def _probe(self, number: int) -> Iterator[Row]:
        sent = {"others": [j for j in range(self.size) if j != number], "before": list(range(number))}
        for j in sent.get(self.scheme.shape, [number]):
            for again in range(self._copies(number)):
                yield from self._sent(j, self.size + 1 + j + again)

    def _sent(self, number: int, moment: int) -> tuple[Row, ...]:
        """The rows that probes send of an element: several probes send the same."""
        rows = self._made.get((number, moment))
        if rows is None:
            rows = self._made[number, moment] = tuple(self._rows(self.scheme.probe, number, moment))
        return rows

    def _copies(self, number: int) -> int:
        match self.scheme.shape:
            case "counted":
                return self.ground.far + self.ground.step * number
            case "ranked":
                return self.scheme.step * (number + 1)
        return 1

    def _rows(self, rows: tuple[RowScheme, ...], number: int, moment: int) -> Iterator[Row]:
        for place, row in enumerate(rows):
            # of a relation that changes, a row goes after the others have met it
            later = 0 if self.scheme.together and not row.deletes else place
            yield self._row(row, number, (moment, later))

    def _time(self, column: Column, at: tuple[int, int]) -> int:
        """The time of a moment's row: moments are farther apart than all constants, and what a moment takes."""
        moment, place = at
        places, constants = (
            max(len(self.scheme.element), len(self.scheme.probe), len(self.scheme.always)),
            self.ground.constants,
        )
        clock = column.type.family
        start, unit, period = (
            (_START, _DAY, constants.period) if clock is Family.TIMESTAMP else (0, 1, constants.multiple)
        )
        promised = max(map(promised_distance, self.ground.tables), default=0)
        apart = max(constants.between_times(clock), promised) + (places + 10) * unit
        return start + (moment + 2) * -(-apart // period) * period + place * unit

    def _row(self, scheme: RowScheme, number: int, at: tuple[int, int]) -> Row:
        table = next(one for one in self.ground.tables if one.name == scheme.table)
        cells = dict(scheme.cells)
        values = {one.name: self._value(one, cells.get(one.name, ElementValue()), number) for one in table.columns}
        if table.timestamp is not None:
            values[table.timestamp] = self._time(next(c for c in table.columns if c.name == table.timestamp), at)
        if table.changes is not None:
            values[table.changes.timestamp.name] = self._time(table.changes.timestamp, at)
            values[table.changes.op.name] = table.changes.delete if scheme.deletes else table.changes.insert
        return Row(table.name, values)

    def _value(self, column: Column, cell: ElementValue, number: int) -> Value | None:
        if not cell.sign:
            return cell.constant
        far = self.ground.far
        place = self.first + number + 1 if abs(cell.sign) == 1 else 10 * (self.first + self.size + 1)
        value = (
            far + self.ground.step * number if cell.sign == 3 else (1 if cell.sign > 0 else -1) * (far + far * place)
        )
        if column.type.family is Family.STRING:
            ends = "0" * self.ground.constants.length
            return f"v{ends}{value + cell.more + 10**11:012d}{ends}"
        unit = 10 ** (column.type.scale or 0) if column.type.family is Family.DECIMAL else 1  # constants have none
        return (value + cell.more) * unit


def fits_changes(table: DeclaredTable, rows: Sequence[Row]) -> bool:
    """Whether of a relation that changes no row goes that is not there, and there are no more than it may have."""
    key = () if table.changes is None else table.changes.key
    places = [at for at, column in enumerate(table.columns) if column.name in key]
    for now in _rows_after_each_time(table, rows):
        keys = Counter(tuple(one[place] for place in places) for one in now.elements())
        if any(n < 0 for n in now.values()) or (table.rows is not None and now.total() > table.rows):
            return False
        if places and max(keys.values(), default=0) > 1:
            return False
    return True


def most_rows(table: DeclaredTable, rows: Sequence[Row]) -> int:
    """How many rows a relation that changes has at a time, at most."""
    return max((now.total() for now in _rows_after_each_time(table, rows)), default=0)


def _rows_after_each_time(table: DeclaredTable, rows: Sequence[Row]) -> Iterator[Counter[tuple[Value | None, ...]]]:
    changes = table.changes
    assert changes is not None, "rows of a relation that does not change have no time"
    timestamp = changes.timestamp.name

    def time(row: Row) -> int:
        return int(row.values[timestamp] or 0)

    now = Counter[tuple[Value | None, ...]]()
    mine = [row for row in rows if row.table == table.name]
    for _, changed in groupby(sorted(mine, key=time), time):
        for row in changed:
            weight = -1 if row.values[changes.op.name] == changes.delete else 1
            now[tuple(row.values[column.name] for column in table.columns)] += weight
        yield now


def drawn(ground: Ground, longer: int = 1) -> Iterator[Scheme]:
    """Schemes of a statement, each once; within a batch that is drawn, those with the fewest rows in probes first."""
    random, seen = Random(0), set[Scheme]()
    for _ in range(longer * MOST_SCHEMES // _AT_ONCE):
        several = (_scheme(ground, random, random.choice(_SHAPES)) for _ in range(_AT_ONCE))
        new = [one for one in dict.fromkeys(several) if one is not None and one not in seen]
        seen.update(new)
        yield from sorted(new, key=lambda one: FEW_ROWS.index(one.shape))


def counted(ground: Ground, longer: int = 1) -> Iterator[Scheme]:
    """Schemes whose probes have more rows than every constant, each once."""
    random = Random(0)
    most = longer * MOST_COUNTED if ground.far <= _MOST_ROWS else 0
    schemes = (_scheme(ground, random, "counted") for _ in range(most))
    yield from dict.fromkeys(scheme for scheme in schemes if scheme is not None)


def in_time(ground: Ground) -> Iterator[Scheme]:
    """Schemes whose elements differ in nothing but their time, and so in the window of time that they are in."""
    random = Random(0)
    for table in ground.sent:
        for _ in range(_ROWS_IN_TIME):
            draw = _Draw(ground, random, 1)
            row = draw.row(table, 0)
            probe = random.choice((row, row, draw.like(row), draw.row(random.choice(ground.sent), 0)))
            yield Scheme((), (row,), (probe,), "own", True)


def draw_row(ground: Ground, random: Random, table: DeclaredTable, often: float = 0) -> RowScheme:
    """A row of constants, except for a number of columns, which vary."""
    return _Draw(ground, random, 1).row(table, often)


def _scheme(ground: Ground, random: Random, shape: str) -> Scheme | None:
    draw = _Draw(ground, random, 3 if shape == "counted" else random.choice((1, -1)))
    tables = ground.sent
    if not tables:
        return None
    element = [draw.row(random.choice(tables), 0.6)]
    if len(tables) > 1 and random.random() < 0.4:
        element.append(draw.row(random.choice([t for t in tables if t.name != element[0].table]), 0.2))
    if not any(cell.sign for row in element for _, cell in row.cells):
        return None
    always = [draw.row(table, 0) for table in ground.tables if random.random() < 0.2]
    if len(tables) == len(element) or random.random() < 0.5:
        probe = list(element) if random.random() < 0.5 else [random.choice(element)]
        place = random.randrange(len(probe))
        probe[place] = draw.like(probe[place]) if random.random() < 0.7 else probe[place]
    else:
        met = {row.table for row in element}
        probe = [draw.row(random.choice([t for t in tables if t.name not in met] or tables), 0.6)]
        probe += [draw.row(random.choice(tables), 0.3)] if random.random() < 0.3 else []
    probe *= 2 if random.random() < 0.25 and shape != "counted" else 1
    passing = random.random() < 0.8
    parts = [_with_deletes(ground, rows, passing) for rows in (element, probe)]
    return Scheme(tuple(always), parts[0], parts[1], shape, random.random() < 0.5)


def _with_deletes(ground: Ground, rows: list[RowScheme], passing: bool) -> tuple[RowScheme, ...]:
    """Rows of relations that change first; if they are ``passing``, they go after the others."""
    changing = {table.name for table in ground.tables if table.changes is not None}
    first = [row for row in rows if row.table in changing]
    rest = [row for row in rows if row.table not in changing]
    return (*first, *rest, *(replace(row, deletes=True) for row in first if passing))


class _Draw(Struct):
    """One scheme, while it is drawn: values that vary do so as ``sign`` says; columns that are equal mostly agree."""

    ground: Ground
    random: Random
    sign: int
    agreed: dict[int, ElementValue] = field(default_factory=dict)

    def row(self, table: DeclaredTable, often: float) -> RowScheme:
        """A random row; this number of columns varies."""
        return RowScheme(table.name, tuple((one.name, self._cell(one, often)) for one in _columns(self.ground, table)))

    def like(self, row: RowScheme) -> RowScheme:
        """A row again, with some other value."""
        table = next(one for one in self.ground.tables if one.name == row.table)
        columns = {one.name: one for one in _columns(self.ground, table)}
        if not columns:
            return row
        place = self.random.choice([*columns])
        other = self._drawn(columns[place], 0.6)
        return replace(row, cells=tuple((name, other if name == place else cell) for name, cell in row.cells))

    def _cell(self, column: Column, often: float) -> ElementValue:
        number = next((n for n, names in enumerate(self.ground.constants.equal) if column.name.lower() in names), None)
        if number is None:
            return self._drawn(column, often)
        known = self.agreed.get(number)
        if known is not None and self.random.random() < 0.8 and (known.sign or fits_column(column, known.constant)):
            return known
        return self.agreed.setdefault(number, self._drawn(column, often))

    def _drawn(self, column: Column, often: float) -> ElementValue:
        random = self.random
        if not self.ground.constants.is_fresh(column) or random.random() >= often:
            return ElementValue(random.choice(_constants(self.ground, column)))
        sign = self.sign if random.random() < 0.85 else random.choice((1, -1, 2, -2))
        return ElementValue(sign=sign, more=random.choice((-1, 1)) if random.random() < 0.3 else 0)


def _columns(ground: Ground, table: DeclaredTable) -> list[Column]:
    return [one for one in table.columns if one.name.lower() in ground.read and one.name != table.timestamp]


def _constants(ground: Ground, column: Column) -> list[Value]:
    """Values of a column near the statement's constants."""
    domain, family = column.domain, column.type.family
    if domain is not None and domain.values:
        return list(domain.values)[:4]
    if family is Family.STRING:
        return ["", *ground.texts[:6]]
    if family is Family.BOOLEAN:
        return [0, 1]
    near = {0, 1, *(number + more for number in ground.numbers for more in (-1, 0, 1))}
    scaled = {number * 10 ** (column.type.scale or 0) for number in near} if family is Family.DECIMAL else near
    fitting = sorted(number for number in scaled if fits_column(column, number))
    if not fitting and domain is not None and isinstance(domain.low, int):
        return [domain.low]
    return [Fraction(n) if family is Family.FLOAT else n for n in fitting] or [0]
