"""Does a table have no more entries than it is claimed to? Its count, rule by rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from streambound.analyzer.query import Attribute, Source
from streambound.analyzer.symbols import symbol
from streambound.recheck.certificates.best import without_best
from streambound.recheck.certificates.claims import (
    ClaimedAge,
    ClaimedCount,
    ClaimedCut,
    ClaimedExtremum,
    ClaimedLimit,
    ClaimedTable,
    RejectedError,
)
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.formula import quantity
from streambound.recheck.certificates.names import counts_of
from streambound.recheck.certificates.quantity import Quantity, greatest, least, product, total
from streambound.recheck.certificates.sufficiency import Known, within

Symbols = Mapping[str, Quantity]


def entries(conditions: Conditions, table: ClaimedTable, symbols: Symbols) -> Quantity:
    """The most entries of a table; raises RejectedError when its count, or its formula, does not say so."""
    checker = Checker(conditions, table)
    wanted = {stored.attribute for stored in table.stored} | {conditions.time(age.stream) for age in table.ages}
    wanted |= {attribute for extremum in table.extrema for attribute in _kept(extremum)}
    checker.check(wanted | {_apart(distance.plus, distance.minus) for distance in table.distances})
    most = checker.most(table.count, symbols)
    agreeing("it", table.entries.formula, most, symbols)
    return most


def agreeing(what: str, formula: str, found: Quantity, symbols: Symbols) -> None:
    """Raises RejectedError where a formula is not the size that was found."""
    if not quantity(formula, symbols).same(found):
        said = "has another size" if found.constant is None else f"may have {found.constant} entries"
        raise RejectedError(f"{what} {said}, not {formula}")


def tuples_of(source: Source, timestamps: int, symbols: Symbols) -> Quantity:
    """The tuples at consecutive timestamps: as many as one may have at each, or as in the intervals that they begin
    of the rate, the last of which need not be over.
    """
    at_each = symbols[symbol("c", source.table)] * Quantity.number(timestamps)
    if source.max_rate is None:
        return at_each
    begun, rest = divmod(timestamps, source.max_rate.per)
    in_all = symbols[symbol("rate", source.table)] * Quantity.number(begun + (1 if rest else 0))
    smaller = at_each.most is not None and in_all.most is not None and at_each.most <= in_all.most
    return at_each if smaller else in_all


def _kept(extremum: ClaimedExtremum) -> list[Attribute]:
    """What stands for the columns of extrema: the attributes in them, of nothing, so that only `best` counts them."""
    return [Attribute("", str(attribute)) for attribute, _ in extremum.of]


def _apart(plus: Attribute, minus: Attribute) -> Attribute:
    """What stands for the difference of two timestamps, which only `distance` counts."""
    return Attribute("", f"{plus} - {minus}")


def _old_together(kept: ClaimedAge, age: ClaimedAge, most: int) -> bool:
    """Whether the one timestamp is kept exactly, or the other, newer by ``most`` at most, is old (or gone) then."""
    if kept.saturates is None or kept.expires is not None:
        return True
    old = age.saturates if age.expires is None else age.expires + 1
    return old is not None and kept.saturates - most >= old


class Checker(Struct, frozen=True):
    """The counts of one table: whether their reasons hold, and how much they allow."""

    conditions: Conditions
    table: ClaimedTable

    # --- which columns a count is about, and whether its reason holds ----------------------------------------------

    def check(self, wanted: Iterable[Attribute]) -> None:
        """Raises RejectedError when the table's count does not hold, or is not of all that is wanted."""
        covered = self.covered(self.table.count)
        self.in_order(self.table.count)
        if missing := sorted(map(str, {*wanted} - covered)):
            raise RejectedError(f"nothing bounds the number of values of {', '.join(missing)}")

    def covered(self, count: ClaimedCount, beside: tuple[ClaimedCount, ...] = ()) -> frozenset[Attribute]:
        """The columns whose combinations of values are counted; raises RejectedError when the reason does not hold.

        ``beside`` are the other factors of its product.
        """
        match count.rule:
            case "product":
                return frozenset().union(*(self.covered(part, count.of) for part in count.of))
            case "least" if count.of:
                return frozenset.intersection(*(self.covered(part) for part in count.of))
            case "either" if len(count.of) == 2:
                return self._either(*count.of)
            case "ages":
                return frozenset([self._age(count)])
            case "best":
                return self._best(count, beside)
            case "tuples":
                return self._of_one_source(count, self.table.streams) | {self.conditions.time(self._lasting(count))}
            case "rows":
                return self._of_one_source(count, self.table.relations)
            case "one":
                return self._one(count)
            case "distance" if len(count.attributes) == 2:
                self._width_apart(count)
                return frozenset([_apart(*count.attributes)])
            case "null" | "constant" | "range" | "list" | "cuts" if len(count.attributes) == 1:
                return frozenset([self._value(count, count.attributes[0])])
        raise RejectedError(f"there is no rule {count.rule!r} for so many values")

    def _one(self, count: ClaimedCount) -> frozenset[Attribute]:
        """Columns of the one row of a stream, or a column of the one key."""
        if count.source is None and len(count.attributes) == 1:
            (attribute,) = count.attributes
            if attribute.source in self.table.sources and self.conditions.one_of(attribute) is not None:
                return frozenset(count.attributes)
        if count.source is not None and count.source in self.table.streams:
            key = self.conditions.source(count.source).one_key
            if key is not None and key.once:
                return self._of_one_source(count, self.table.streams) | {self.conditions.time(count.source)}
        raise RejectedError("there is more than one value of what is counted as one")

    def in_order(self, count: ClaimedCount) -> None:
        """Raises RejectedError when timestamps are counted beside each other in a circle, so that none is counted."""
        beside: dict[str, set[str]] = {}
        for part in counts_of(count):
            if part.beside is not None:
                beside.setdefault(part.source or "", set()).add(part.beside)
        reached = {stream: set(others) for stream, others in beside.items()}
        for _ in beside:
            reached = {s: others.union(*(reached.get(o, set()) for o in others)) for s, others in reached.items()}
        if any(stream in others for stream, others in reached.items()):
            raise RejectedError("timestamps are counted beside each other")

    def _either(self, held: ClaimedCount, left: ClaimedCount) -> frozenset[Attribute]:
        """The columns of a stream while its timestamps are told apart, and what of them is left after that."""
        age = next((age for age in self.table.ages if age.stream == held.source), None)
        if age is None:
            raise RejectedError(f"no timestamps of {held.source} are told apart")
        return self._young(held, age) & (self.covered(left) | {self.conditions.time(age.stream)})

    def _young(self, count: ClaimedCount, age: ClaimedAge) -> frozenset[Attribute]:
        """The columns of the tuples whose timestamps are told apart; all older timestamps are one."""
        if count.rule != "tuples" or count.beside is not None or age.expires is not None or age.saturates is None:
            raise RejectedError(f"no timestamps of {age.stream} are one")
        if count.timestamps != age.saturates - 1:
            raise RejectedError(f"{age.saturates} is the age from which on timestamps of {age.stream} are one")
        return self._of_one_source(count, self.table.streams) | {self.conditions.time(age.stream)}

    def _age(self, count: ClaimedCount) -> Attribute:
        ages = [age for age in self.table.ages if age.stream == count.source]
        if not ages or count.timestamps is None:
            raise RejectedError(f"no age of {count.source} is kept")
        options = [ages[0].saturates if ages[0].expires is None else ages[0].expires]
        if (ages[0].expires, ages[0].saturates) == (None, None):
            options = [max(0, span) for span in self._spans(ages[0].stream)]
        if count.beside is not None:
            options = [self._width_beside(count)]
        needed = min((option for option in options if option is not None), default=None)
        if needed is None or count.timestamps != needed:
            raise RejectedError(f"{needed} timestamps of {count.source} are told apart, not {count.timestamps}")
        return self.conditions.time(ages[0].stream)

    def _best(self, count: ClaimedCount, beside: tuple[ClaimedCount, ...]) -> frozenset[Attribute]:
        """The extrema of the one best match, where the tuples of the fixed sources are counted one by one."""
        counted = {
            part.source
            for part in beside
            if part.rule in ("rows", "tuples") and all(a.source == part.source for a in part.attributes)
        }
        uncounted = sorted(set(count.fixed) - counted)
        if uncounted:
            raise RejectedError(f"the tuples of {', '.join(uncounted)} are not counted")
        attributes = {attribute for extremum in self.table.extrema for attribute, _ in extremum.of}
        if not attributes or {*count.attributes} != attributes:
            raise RejectedError("the best match is not that of its extrema")
        for several in without_best(self.conditions, self.table, frozenset(count.fixed)):
            raise RejectedError(several)
        return frozenset(attribute for extremum in self.table.extrema for attribute in _kept(extremum))

    def _width_beside(self, count: ClaimedCount) -> int | None:
        """How many timestamps of a stream go with one of another in the key."""
        ages = {age.stream: age for age in self.table.ages}
        if count.beside not in ages or count.source not in ages:
            raise RejectedError(f"the timestamps of {count.source} and {count.beside} are not in the key")
        mine, other = self.conditions.time(count.source), self.conditions.time(count.beside)
        most, least = self.conditions.follows.bound(mine, other), self.conditions.follows.bound(other, mine)
        if most is None or not _old_together(ages[count.beside], ages[count.source], int(most[0])):
            raise RejectedError(f"where {count.beside} is only known to be old, {count.source} may have any age")
        return None if least is None else int(most[0] + least[0]) + 1

    def _width_apart(self, count: ClaimedCount) -> int:
        """How many differences two timestamps may have; raises RejectedError where any number."""
        plus, minus = count.attributes
        if not {plus, minus} <= {self.conditions.time(stream) for stream in self.table.streams}:
            raise RejectedError(f"{plus} and {minus} are not two timestamps of it")
        most, least = self.conditions.follows.bound(plus, minus), self.conditions.follows.bound(minus, plus)
        if most is None or least is None:
            raise RejectedError(f"nothing bounds the distance of {plus} and {minus} from both sides")
        return int(most[0] + least[0]) + 1

    def _of_one_source(self, count: ClaimedCount, sources: tuple[str, ...]) -> frozenset[Attribute]:
        if count.source not in sources:
            raise RejectedError(f"{count.source} has no tuples in it")
        for attribute in count.attributes:
            same = (other for other in self.conditions.attributes if other.source == count.source)
            if attribute.source != count.source and all(self.conditions.equal(attribute, x) is None for x in same):
                raise RejectedError(f"{attribute} need not equal an attribute of {count.source}")
        return frozenset(count.attributes)

    def _lasting(self, count: ClaimedCount) -> str:
        """The stream of a count of tuples, if the table holds its tuples for no more than these timestamps."""
        stream, timestamps = count.source or "", count.timestamps
        options = [age.expires for age in self.table.ages if age.stream == stream and age.expires is not None]
        if count.beside is not None:
            if not options and all(age.expires is None for age in self.table.ages if age.stream == count.beside):
                raise RejectedError(f"where {count.beside} is only known to be old, any tuple of {stream} can be in it")
            options = [width] if (width := self._width_beside(count)) is not None else []
        else:
            options += self._spans(stream)
        if timestamps is None or not any(max(0, option) == timestamps for option in options):
            raise RejectedError(f"tuples of {stream} of another number of timestamps than {timestamps} can be in it")
        return stream

    def _spans(self, stream: str) -> Iterator[int]:
        """From a stream's first timestamp to its last one, or to that which clears the table."""
        time = self.conditions.time(stream)
        zero, follows = self.conditions.zero(time), self.conditions.follows
        first, end = follows.bound(zero, time), follows.bound(time, zero)
        if first is not None and end is not None:
            yield int(end[0] + first[0]) + 1
        if first is not None and self.table.deadline is not None:
            yield int(self.table.deadline + first[0])

    def _value(self, count: ClaimedCount, attribute: Attribute) -> Attribute:
        if attribute.source not in self.table.sources:
            raise RejectedError(f"{attribute} is not in it")
        if count.rule == "null" and attribute not in self.conditions.null:
            raise RejectedError(f"{attribute} need not be NULL")
        if count.rule == "constant" and self._fixed(attribute) is None:
            raise RejectedError(f"{attribute} need not be constant")
        if count.rule == "range":
            self._limits(count, attribute)
        if count.rule == "list":
            self._listed(count, attribute)
        if count.rule == "cuts" and not self._cuts(attribute):
            raise RejectedError(f"{attribute} is kept exactly")
        return attribute

    def _fixed(self, attribute: Attribute) -> object:
        return self.conditions.follows.fixed(attribute, self.conditions.zero(attribute))

    def _limits(self, count: ClaimedCount, attribute: Attribute) -> None:
        stored = next((stored for stored in self.table.stored if stored.attribute == attribute), None)
        if stored is None or not self.conditions.is_integer(attribute):
            raise RejectedError(f"{attribute} has no range of integers")
        known = Known(self.conditions, self.table)
        if not all(known.same(limit) for limit in (*stored.low, *stored.high)):
            raise RejectedError(f"{attribute} is clipped to values that the key does not hold")
        ends = ((count.low, stored.low, False), (count.high, stored.high, True))
        if not all(
            of == clipped if clipped else any(within(self.conditions, attribute, one, below=below) for one in of)
            for of, clipped, below in ends
        ):
            raise RejectedError(f"{attribute} may lie outside of its range")

    def _listed(self, count: ClaimedCount, attribute: Attribute) -> list[object]:
        """The values that lists leave of an attribute."""
        listed = count.listed
        if listed is None or self.conditions.equal(attribute, listed) is None:
            raise RejectedError(f"{attribute} need not equal {listed}, whose values are listed")
        if not self.conditions.listed(listed):
            raise RejectedError(f"the values of {listed} are not listed")
        if self.conditions.kind(listed) != "integer":
            return list(self.conditions.values(listed))
        return list(self.conditions.possible(listed, self.conditions.follows))

    # --- how many ---------------------------------------------------------------------------------------------------

    def most(self, count: ClaimedCount, symbols: Symbols) -> Quantity:
        """The number of combinations that a count allows; raises RejectedError where its own formula is another one."""
        found = self._number(count, symbols)
        columns = ", ".join(map(str, count.attributes)) or count.source or "several columns"
        agreeing(f"the {count.rule} of {columns}", count.size, found, symbols)
        return found

    def _number(self, count: ClaimedCount, symbols: Symbols) -> Quantity:
        match count.rule:
            case "product":
                return product(self.most(part, symbols) for part in count.of)
            case "either":
                return total(self.most(part, symbols) for part in count.of)
            case "least":
                return least(self.most(part, symbols) for part in count.of)
            case "ages":
                return Quantity.number(count.timestamps or 0)
            case "best" | "one":
                return Quantity.number(1)
            case "distance":
                return Quantity.number(self._width_apart(count))
            case "tuples":
                return self._tuples(count, symbols)
            case "rows":
                return symbols[symbol("rows", self._table_of(count.source))]
        attribute = count.attributes[0]
        null = Quantity.number(int(attribute not in self.conditions.present))
        if count.rule == "range":
            return self._width(count, symbols) + null
        if count.rule == "list":
            return Quantity.number(len(self._listed(count, attribute))) + null
        if count.rule == "cuts":
            return Quantity.number(len(self._cuts(attribute)) + 1) + null
        return Quantity.number(1) if count.rule == "null" else Quantity.number(1) + null

    def _tuples(self, count: ClaimedCount, symbols: Symbols) -> Quantity:
        return tuples_of(self.conditions.source(count.source or ""), count.timestamps or 0, symbols)

    def _cuts(self, attribute: Attribute) -> frozenset[ClaimedCut]:
        return frozenset(cut for stored in self.table.stored if stored.attribute == attribute for cut in stored.cuts)

    def _table_of(self, source: str | None) -> str:
        return self.conditions.source(source or "").table

    def _width(self, count: ClaimedCount, symbols: Symbols) -> Quantity:
        """How many integers lie in a range; a clipped value is its limit even where none do."""
        low = least(greatest(self._parts(limit, "min", symbols)) for limit in count.low)
        high = greatest(least(self._parts(limit, "max", symbols)) for limit in count.high)
        stored = next(stored for stored in self.table.stored if stored.attribute == count.attributes[0])
        fewest = Quantity.number(int(bool(stored.low or stored.high)))
        found = greatest([fewest, high - low + Quantity.number(1)])
        # The least of lower limits is not known where one of them is not: a constant beside it says nothing.
        return found.unlimited if any(limit.relations for limit in (*count.low, *count.high)) else found

    def _parts(self, limit: ClaimedLimit, extreme: str, symbols: Symbols) -> list[Quantity]:
        parts = [] if limit.constant is None else [Quantity.number(limit.constant)]
        named = ((symbol(extreme, self._table_of(a.source), a.column), plus) for a, plus in limit.relations)
        return parts + [symbols[name] + Quantity.number(plus) for name, plus in named]
