"""Schemes of witnesses, which know no theory: a row per table of an element and of a probe, by rules for any size.

Where no plan of a block tells prefixes apart (`operators.witness`), schemes are drawn at random, always the same ones
for a statement. A value is a constant, or one beyond every constant for each element, rising or falling, or one beyond
all elements. The probe of element k sends its own rows, those of all other elements, or k rows. As for plans only the
execution of the whole statement counts: of all subsets of a few elements, of subsets with equal sums of powers, which
whatever adds up cannot tell apart, and of a sample of many elements, which no small constant saturates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from random import Random

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Bucket, FrameEnd, Scalar, Scan, Star, Tree, inputs
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import numeral
from streambound.analyzer.query import Attribute, Branch, Source, conjunction
from streambound.analyzer.spans import Span
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value
from streambound.criteria.contract import fits_column, fits_contract
from streambound.criteria.operators.executed import Executed
from streambound.criteria.results import Row
from streambound.criteria.witness import Witness
from streambound.criteria.witness_plan import Kept, WitnessPlan

MOST_SCHEMES = 20_000
"""Schemes that are drawn for a statement."""
_ROWS_IN_TIME = 20
"""Rows of a table that are tried as elements that differ in their time."""
FARTHEST = 10**6
"""Constants beyond which no scheme is drawn: its values and times must lie beyond them."""
_START = int(datetime(2400, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
_NOWHERE = Span(-1, -1, 0, 0, 0, 0)
_DAY = 86_400_000_000
_VARYING = (Family.INTEGER, Family.FLOAT, Family.DECIMAL, Family.STRING, Family.DATE)


@dataclass(frozen=True, slots=True)
class ElementValue:
    """A value of each element: a ``constant``, or with a ``sign`` one beyond every constant, with so much ``more``.

    Signs are +1, values that rise with the elements, and -1, values that fall; +2 and -2 are beyond those; of +3 the
    values rise by one, as the numbers of rows of "counted" probes do.
    """

    constant: Value | None = None
    sign: int = 0
    more: int = 0


@dataclass(frozen=True, slots=True)
class RowScheme:
    """A row of a table, by its cells; of a relation that changes, it comes or goes."""

    table: str
    cells: tuple[tuple[str, ElementValue], ...]
    deletes: bool = False


@dataclass(frozen=True, slots=True)
class Scheme:
    """Rows that are always there, of each element, and of its probe.

    ``shape`` says whose rows a probe sends: "own", those of all "others", those "before", or "counted", so many as its
    element's number, or "ranked", so many times ``step``, from one on. Rows of an element have one time if
    ``together``, else one after the other.
    """

    always: tuple[RowScheme, ...]
    element: tuple[RowScheme, ...]
    probe: tuple[RowScheme, ...]
    shape: str
    together: bool
    step: int = 1


@dataclass(frozen=True)
class Ground:
    """What schemes of a statement are made of: its tables, the columns that it reads, its constants."""

    tables: tuple[DeclaredTable, ...]
    read: frozenset[str]
    numbers: tuple[int, ...]
    texts: tuple[str, ...]
    equal: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, statement: Executed) -> Ground | None:
        """None where a constant is too far away, or a table's rows cannot be chosen."""
        found = _Constants()
        for part in (statement.tree, *statement.queries.values()):
            found.look(part)
        numbers, texts = found.numbers, found.texts
        names = dict.fromkeys(name for tree in (statement.tree, *statement.queries.values()) for name in _scanned(tree))
        known = [statement.catalog.table(name) for name in names]
        tables = tuple(table for table in known if table is not None)
        if len(tables) < len(known) or any(t.punctuations or t.period or t.query for t in tables):
            return None
        for table in tables:
            for column in (*table.columns, *((table.changes.timestamp,) if table.changes is not None else ())):
                if column.domain is not None and column.domain.low is not None and column.domain.high is not None:
                    numbers |= {int(column.domain.low), int(column.domain.high)}
        if any(abs(number) > FARTHEST for number in numbers):
            return None
        every = {column.name.lower() for table in tables for column in table.columns}
        read = every if found.everything else found.read & every
        return cls(tables, frozenset(read), tuple(sorted(numbers)), tuple(sorted(texts)), tuple(found.equal))

    @cached_property
    def sent(self) -> list[DeclaredTable]:
        """The tables of elements and probes: one that never changes has the same rows for prefixes of any size."""
        return [table for table in self.tables if not table.is_fixed]

    @cached_property
    def far(self) -> int:
        """A number beyond every constant, and beyond the distance of any two."""
        return 10 + 4 * max((abs(number) for number in self.numbers), default=0)

    def source(self, table: DeclaredTable) -> Source:
        """A table as a source of a query."""
        return Source(
            table.name, table.name, table.kind, table.columns, table.timestamp, _NOWHERE,
            None if table.changes is not None else table.max_per_timestamp,
            None if table.changes is not None else table.rows, max_rate=table.max_rate,
        )  # fmt: skip

    def plan(self, scheme: Scheme) -> WitnessPlan:
        """What a scheme's elements differ in, and which tables its probes have rows of."""
        sources = tuple(map(self.source, self.tables))
        branch = Branch(sources, conjunction(()), (), _NOWHERE)
        varies = [(row.table, name, cell) for row in scheme.element for name, cell in row.cells if cell.sign]
        kept = tuple(dict.fromkeys(Kept(Attribute(table, name), cell.sign > 0) for table, name, cell in varies))
        return WitnessPlan(branch, kept, frozenset(row.table for row in scheme.probe), branches=(branch,))

    def witness(self, scheme: Scheme, size: int, first: int = 0) -> Witness | None:
        """The witness of so many elements; None where types or contracts do not allow it.

        Their values are those of a larger witness's elements from the ``first`` on, counted from 0.
        """
        builder = _Builder(self, scheme, size, first)
        plan = self.plan(scheme)
        found = Witness(plan, builder.always(), builder.elements(), builder.probes(), ())
        everything = found.prefix(range(size))
        for probe in found.probes:
            rows = (*everything, *probe)
            if not fits_contract(plan.branch, rows) or not all(_fits_changes(t, rows) for t in self.tables):
                return None
        return found


@dataclass(frozen=True)
class _Builder:
    ground: Ground
    scheme: Scheme
    size: int
    first: int

    def always(self) -> tuple[Row, ...]:
        return tuple(self._row(row, 0, self._time(-1, place)) for place, row in enumerate(self.scheme.always))

    def elements(self) -> tuple[tuple[Row, ...], ...]:
        return tuple(tuple(self._rows(self.scheme.element, k, k)) for k in range(self.size))

    def probes(self) -> tuple[tuple[Row, ...], ...]:
        return tuple(tuple(self._probe(k)) for k in range(self.size))

    def _probe(self, number: int) -> Iterator[Row]:
        sent = {"others": [j for j in range(self.size) if j != number], "before": list(range(number))}
        for j in sent.get(self.scheme.shape, [number]):
            for again in range(self._copies(number)):
                yield from self._rows(self.scheme.probe, j, self.size + 1 + j + again)

    def _copies(self, number: int) -> int:
        match self.scheme.shape:
            case "counted":
                return self.ground.far + number
            case "ranked":
                return self.scheme.step * (number + 1)
        return 1

    def _rows(self, rows: tuple[RowScheme, ...], number: int, moment: int) -> Iterator[Row]:
        for place, row in enumerate(rows):
            # of a relation that changes, a row goes after the others have met it
            later = 0 if self.scheme.together and not row.deletes else place
            yield self._row(row, number, self._time(moment, later))

    def _time(self, moment: int, place: int) -> int:
        """The time of a moment, in the units of integers: moments are farther apart than any two constants."""
        return (moment + 2) * self.ground.far + place

    def _row(self, scheme: RowScheme, number: int, time: int) -> Row:
        table = next(one for one in self.ground.tables if one.name == scheme.table)
        cells = dict(scheme.cells)
        values = {one.name: self._value(one, cells.get(one.name, ElementValue()), number) for one in table.columns}
        if table.timestamp is not None:
            values[table.timestamp] = _moment(next(c for c in table.columns if c.name == table.timestamp), time)
        if table.changes is not None:
            values[table.changes.timestamp.name] = _moment(table.changes.timestamp, time)
            values[table.changes.op.name] = table.changes.delete if scheme.deletes else table.changes.insert
        return Row(table.name, values)

    def _value(self, column: Column, cell: ElementValue, number: int) -> Value | None:
        if not cell.sign:
            return cell.constant
        far = self.ground.far
        place = self.first + number + 1 if abs(cell.sign) == 1 else 10 * (self.first + self.size + 1)
        value = far + number if cell.sign == 3 else (1 if cell.sign > 0 else -1) * (far + far * place)
        if column.type.family is Family.STRING:
            return f"v{value + cell.more + 10**9:012d}"
        unit = 10 ** (column.type.scale or 0) if column.type.family is Family.DECIMAL else 1  # constants have none
        return (value + cell.more) * unit


def _moment(column: Column, time: int) -> int:
    return _START + time * _DAY if column.type.family is Family.TIMESTAMP else time


def _fits_changes(table: DeclaredTable, rows: tuple[Row, ...]) -> bool:
    """Whether of a relation that changes no row goes that is not there, and there are no more than it may have."""
    changes = table.changes
    if changes is None:
        return True
    mine = [row for row in rows if row.table == table.name]
    now = Counter[tuple[Value | None, ...]]()
    places = [at for at, column in enumerate(table.columns) if column.name in changes.key]
    for time in sorted({int(row.values[changes.timestamp.name] or 0) for row in mine}):
        for row in mine:
            if row.values[changes.timestamp.name] == time:
                weight = -1 if row.values[changes.op.name] == changes.delete else 1
                now[tuple(row.values[column.name] for column in table.columns)] += weight
        keys = Counter(tuple(one[place] for place in places) for one in now.elements())
        if any(n < 0 for n in now.values()) or (table.rows is not None and now.total() > table.rows):
            return False
        if places and max(keys.values(), default=0) > 1:
            return False
    return True


def drawn(ground: Ground) -> Iterator[Scheme]:
    """Schemes of a statement, each once."""
    random, seen = Random(0), set[Scheme]()
    for _ in range(MOST_SCHEMES):
        scheme = _scheme(ground, random)
        if scheme is not None and scheme not in seen:
            seen.add(scheme)
            yield scheme


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
    """A row of constants, but for so many of its columns, which vary."""
    return _Draw(ground, random, 1).row(table, often)


def _scheme(ground: Ground, random: Random) -> Scheme | None:
    shape = random.choice(("own", "own", "own", "others", "others", "others", "before", "counted"))
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


@dataclass
class _Draw:
    """One scheme, while it is drawn: values that vary do so as ``sign`` says; columns that are equal mostly agree."""

    ground: Ground
    random: Random
    sign: int
    agreed: dict[int, ElementValue] = field(default_factory=dict)

    def row(self, table: DeclaredTable, often: float) -> RowScheme:
        """A row of which so many columns vary."""
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
        number = next((n for n, names in enumerate(self.ground.equal) if column.name.lower() in names), None)
        if number is None:
            return self._drawn(column, often)
        known = self.agreed.get(number)
        if known is not None and self.random.random() < 0.8 and (known.sign or fits_column(column, known.constant)):
            return known
        return self.agreed.setdefault(number, self._drawn(column, often))

    def _drawn(self, column: Column, often: float) -> ElementValue:
        random = self.random
        if column.domain is not None or column.type.family not in _VARYING or random.random() >= often:
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


def _scanned(tree: Tree) -> Iterator[str]:
    if isinstance(tree, Scan):
        yield tree.table
    for below in inputs(tree):
        yield from _scanned(below)


@dataclass
class _Constants:
    """The names and constants of a tree, wherever they are in its operators, and the columns that are to be equal."""

    read: set[str] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    equal: list[frozenset[str]] = field(default_factory=list)
    everything: bool = False

    def look(self, part: object) -> None:
        """Look through a part of a tree."""
        match part:
            case Scalar():
                self._expression(parsed(part))
            case Bucket():  # whose sizes are in microseconds
                self.numbers |= {-(-abs(number) // _DAY) for number in (part.size, part.slide, part.offset)}
                self.look((part.input, part.time, part.columns))
            case FrameEnd(interval=True):
                self.numbers.add(-(-(part.distance or 0) // _DAY))
            case bool():
                pass
            case int():
                self.numbers.add(part)
            case tuple():
                for one in part:
                    self.look(one)
            case Star():
                self.everything = True
            case _ if is_dataclass(part):
                self.read |= {name.lower() for name in getattr(part, "using", ())}
                self.look(tuple(getattr(part, one.name) for one in fields(part) if one.name not in ("syntax", "at")))

    def _expression(self, node: exp.Expr) -> None:
        self.read |= {column.name.lower() for column in node.find_all(exp.Column)}
        for literal in node.find_all(exp.Literal):
            if literal.is_string:
                self.texts.add(literal.name)
                self.numbers |= {int(word) for word in literal.name.split() if word.isdecimal()}
            else:
                self.numbers.add(int(numeral(literal.name).exact))
        for pair in node.find_all(exp.EQ, exp.NullSafeEQ):
            if isinstance(pair.this, exp.Column) and isinstance(pair.expression, exp.Column):
                names = frozenset((pair.this.name.lower(), pair.expression.name.lower()))
                joined = [one for one in self.equal if one & names]
                self.equal = [one for one in self.equal if not one & names] + [names.union(*joined)]
