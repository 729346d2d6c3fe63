"""Why the columns of a table's key take no more values: a size with its reason, which a checker can follow."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts, Limit
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute, Branch, Kind
from streambound.analyzer.symbols import symbol
from streambound.analyzer.values import Value
from streambound.criteria.clipping import limits_within
from streambound.criteria.size import Addition, Maximum, Minimum, Number, Size, Symbol, least, negative, product, total
from streambound.criteria.tables import Distance, Stored, SynopsisTable
from streambound_runtime.promises import Rate


class CountingRule(StrEnum):
    """The reason for a number of values; `product`, `least` and `either` combine the others."""

    PRODUCT = "product"
    LEAST = "least"
    NULL = "null"
    """The attribute must be NULL."""
    CONSTANT = "constant"
    """The conditions fix the attribute's value."""
    ONE = "one"
    """The table is of one value of a key: these attributes are its, or of a stream of which each key has one row."""
    RANGE = "range"
    """The attribute lies between limits, or is clipped to them."""
    CUTS = "cuts"
    """The attribute is told apart only by cuts (`Stored`)."""
    LIST = "list"
    """A declared list holds the values of the attribute, or of one that it equals."""
    ROWS = "rows"
    """The attributes are a relation's, or equal to a relation's."""
    TUPLES = "tuples"
    """A stream's tuples at a number of timestamps, in the table at a time, determine the attributes."""
    AGES = "ages"
    """A number of timestamps of a stream are distinguished."""
    DISTANCE = "distance"
    """The conditions bound the difference of two timestamps, the ``attributes``, from both sides."""
    EITHER = "either"
    """The values while timestamps are told apart, and those after that; ``of`` counts each."""
    BEST = "best"
    """Of the partial matches that agree in all else that is counted, one has the best extrema."""


class Count(Struct, frozen=True):
    """At most ``size`` combinations of values of ``attributes`` (and, where ``source`` is kept with it, of its age).

    ``source`` is the relation of `rows`, the stream of `tuples` and `ages`; ``timestamps`` how many of its timestamps
    count, for one timestamp of the stream ``beside`` if there is one. ``low`` and ``high`` are the limits of `range`;
    ``listed`` is the attribute whose list counts. In `best` the attributes are those of the extrema, and the tuples of
    the sources ``fixed`` are counted beside it, by `rows` or `tuples`.
    """

    rule: CountingRule
    size: Size
    attributes: tuple[Attribute, ...] = ()
    source: str | None = None
    timestamps: int | None = None
    beside: str | None = None
    low: tuple[Limit, ...] = ()
    high: tuple[Limit, ...] = ()
    listed: Attribute | None = None
    of: tuple[Count, ...] = ()
    fixed: tuple[str, ...] = ()


def every(counts: Iterable[Count]) -> Count:
    """All combinations of the values counted; one when nothing is."""
    parts = tuple(p for count in counts for p in (count.of if count.rule is CountingRule.PRODUCT else (count,)))
    return parts[0] if len(parts) == 1 else Count(CountingRule.PRODUCT, product(part.size for part in parts), of=parts)


def fewest(counts: Iterable[Count]) -> Count:
    """The smallest of several counts of the same values."""
    parts = tuple(counts)
    return parts[0] if len(parts) == 1 else Count(CountingRule.LEAST, least(part.size for part in parts), of=parts)


def either(counts: Iterable[Count]) -> Count:
    """The values counted one way or the other."""
    parts = tuple(counts)
    return Count(CountingRule.EITHER, total(part.size for part in parts), of=parts)


# --- tuples, rows, ages --------------------------------------------------------------------------------------------


class TimestampCount(Struct, frozen=True):
    """A number of timestamps of a stream; where ``beside`` names another stream, for each timestamp of that one."""

    timestamps: int
    beside: str | None = None


def tuples(facts: Facts, stream: str, span: TimestampCount, attributes: tuple[Attribute, ...]) -> Count:
    """The tuples that a stream brings at some timestamps, which are consecutive."""
    source = facts.branch.source(stream)
    size = rows_at(source.table, source.max_per_timestamp, source.max_rate, span.timestamps)
    return Count(CountingRule.TUPLES, size, attributes, stream, span.timestamps, span.beside)


def rows_at(stream: str, most: int | None, rate: Rate | None, timestamps: int) -> Size:
    """``c_S · w``, or with a ``max_rate`` ``rate_S · ⌈w / per⌉``: the smaller one where the catalog gives both."""
    if rate is not None and (most is None or rate.most(timestamps) < most * timestamps):
        return product([Symbol(symbol("rate", stream), rate.rows), Number(rate.intervals(timestamps))])
    return product([Symbol(symbol("c", stream), most), Number(timestamps)])


def lifetime(facts: Facts, stream: str) -> int | None:
    """The number of timestamps of a finite stream; None for another one."""
    end = facts.finite_streams.get(stream)
    return None if end is None else max(0, end - first_timestamp(facts, stream) + 1)


def first_timestamp(facts: Facts, stream: str) -> int:
    """The least timestamp of a stream."""
    return int(facts.closure.interval(facts.time(stream))[0] or 0)


def rows(facts: Facts, relation: str, attributes: tuple[Attribute, ...]) -> Count:
    """The rows of a relation."""
    source = facts.branch.source(relation)
    return Count(CountingRule.ROWS, Symbol(symbol("rows", source.table), source.rows), attributes, relation)


def ages(stream: str, span: TimestampCount) -> Count:
    """The timestamps of a stream that a table distinguishes."""
    return Count(CountingRule.AGES, Number(span.timestamps), (), stream, span.timestamps, span.beside)


def distance_count(facts: Facts, distance: Distance) -> Count | None:
    """The differences that two timestamps of a result may have; None where any number."""
    width = width_of_lag(facts, distance.plus.source, distance.minus.source)
    return None if width is None else Count(CountingRule.DISTANCE, Number(width), (distance.plus, distance.minus))


def width_of_lag(facts: Facts, x: str, y: str) -> int | None:
    """How many timestamps of ``x`` go with one of ``y``; None when any number does."""
    most, least = facts.lag(x, y), facts.lag(y, x)
    return None if most is None or least is None else most + least + 1


def best(table: SynopsisTable, fixed: tuple[str, ...]) -> Count:
    """The one partial match with the best extrema, where the tuples of some sources are given."""
    attributes = tuple(dict.fromkeys(attribute for extremum in table.extrema for attribute, _ in extremum.of))
    return Count(CountingRule.BEST, Number(1), attributes, fixed=fixed)


# --- values of one attribute ------------------------------------------------------------------------------------------


def stored_count(facts: Facts, stored: Stored, inside: frozenset[str]) -> Count | None:
    """The number of values of a stored attribute in a table of the sources ``inside``; None when unbounded."""
    if stored.attribute in facts.closure.null:
        return Count(CountingRule.NULL, Number(1), (stored.attribute,))
    options = [*value_counts(facts, stored), *_between_constants(facts, stored, inside)]
    options += _equal_counts(facts, stored.attribute, inside)
    return fewest(options) if options else None


def _between_constants(facts: Facts, stored: Stored, inside: frozenset[str]) -> list[Count]:
    """The number between constants, which is one whatever the values are of a relation that is still to be joined."""
    if not _ranged(facts, stored) or stored.low or stored.high:
        return []
    low, high = facts.limits(stored.attribute)
    if {attribute.source for limit in (low, high) for attribute, _ in limit.relations} <= inside:
        return []
    found = _range(facts, stored, (Limit(low.constant), Limit(high.constant)))
    return [] if found is None else [found]


def between_streams(facts: Facts, stored: Stored, inside: frozenset[str]) -> Count | None:
    """The number of values of a stored attribute between those that finite streams of a table bring."""
    return _range(facts, stored, limits_within(facts, stored.attribute, inside)) if _ranged(facts, stored) else None


def value_counts(facts: Facts, stored: Stored) -> list[Count]:
    """The counts of an attribute's values by a declared list, a constant or a range."""
    one = Count(CountingRule.ONE, Number(1), (stored.attribute,)) if facts.one_value(stored.attribute) else None
    counts = (_listed(facts, stored.attribute), _cut(facts, stored), _constant(facts, stored), one)
    ranges = (_range(facts, stored, facts.limits(stored.attribute)),) if _ranged(facts, stored) else ()
    return [count for count in (*counts, *ranges) if count is not None]


def _listed(facts: Facts, attribute: Attribute) -> Count | None:
    """The size of a list of values; NULL counts where no condition excludes it."""
    alike = (other for other in (attribute, *facts.equal_to(attribute)) if other in facts.lists)
    lists = [(_possible(facts, other, facts.lists[other]) + _nullable(facts, attribute), other) for other in alike]
    if not lists:
        return None
    number, other = min(lists)
    return Count(CountingRule.LIST, Number(number), (attribute,), listed=other)


def _cut(facts: Facts, stored: Stored) -> Count | None:
    """One kind of value between each two cuts, one below and one above them."""
    if not stored.cuts:
        return None
    number = len(stored.cuts) + 1 + _nullable(facts, stored.attribute)
    return Count(CountingRule.CUTS, Number(number), (stored.attribute,))


def _possible(facts: Facts, attribute: Attribute, values: tuple[Value, ...]) -> int:
    """How many listed values the conditions leave: ``a IN [1, 5, 9] AND a > 2`` leaves two."""
    if facts.closure.sort(attribute) is not Sort.DISCRETE:
        return len(set(values))
    low, high = facts.closure.interval(attribute)
    numbers = {value for value in values if not isinstance(value, str)}
    return sum((low is None or low <= n) and (high is None or n <= high) for n in numbers)


def _nullable(facts: Facts, attribute: Attribute) -> int:
    """1 where no condition excludes NULL, which is one more value."""
    return int(attribute not in facts.closure.compared)


def _equal_counts(facts: Facts, attribute: Attribute, inside: frozenset[str]) -> list[Count]:
    """An attribute that equals a relation's or finite stream's has as many values as that has rows, at most.

    Only once that relation or stream is there: before, nothing says which values will find a partner.
    """
    if facts.branch.source(attribute.source).kind is Kind.RELATION:
        return [rows(facts, attribute.source, (attribute,))]
    found = []
    for source in saying(facts, attribute, inside):
        if (timestamps := lifetime(facts, source)) is None:
            found.append(rows(facts, source, (attribute,)))
        else:
            found.append(tuples(facts, source, TimestampCount(timestamps), (attribute,)))
    return found


def saying(facts: Facts, attribute: Attribute, inside: frozenset[str]) -> tuple[str, ...]:
    """The relations and finite streams inside a table that say what an attribute is: it equals one of theirs."""
    sources = dict.fromkeys(other.source for other in facts.equal_to(attribute) if other.source in inside)
    return tuple(
        source
        for source in sources
        if facts.branch.source(source).kind is Kind.RELATION or lifetime(facts, source) is not None
    )


def _constant(facts: Facts, stored: Stored) -> Count | None:
    """1 for a value fixed by a constant."""
    if not _fixed(facts, stored.attribute):
        return None
    size = Number(1 + _nullable(facts, stored.attribute))
    return Count(CountingRule.CONSTANT, size, (stored.attribute,))


def _fixed(facts: Facts, attribute: Attribute) -> bool:
    if attribute not in facts.closure.nodes:
        return False
    matrix, node = facts.closure.node(attribute)
    return matrix.equal(0, node)


def _ranged(facts: Facts, stored: Stored) -> bool:
    """Whether an attribute may have a range: it is of a discrete type, and not fixed."""
    known = stored.attribute in facts.closure.nodes and not _fixed(facts, stored.attribute)
    return known and facts.closure.sort(stored.attribute) is Sort.DISCRETE


def _range(facts: Facts, stored: Stored, limits: tuple[Limit, Limit]) -> Count | None:
    """``high − low + 1`` for an attribute with such limits, unless it is clipped to others."""
    attribute, (low, high) = stored.attribute, limits
    null = Number(_nullable(facts, attribute))
    if facts.branch.source(attribute.source).kind is Kind.RELATION:
        low, high = Limit(low.constant), Limit(high.constant)
    lows, highs = stored.low or (low,), stored.high or (high,)
    if not all(limit.known for limit in (*lows, *highs)):
        return None
    # A value outside is clipped to the limit: there is one even when the limits leave none between them.
    size = width(facts, lows, highs, fewest=int(bool(stored.low or stored.high)))
    return Count(CountingRule.RANGE, total([size, null]), (attribute,), low=lows, high=highs)


def by_values(count: Count, branch: Branch) -> Count | None:
    """How many combinations there are whichever rows come: not as many as the rows of a stream that ends; else None."""
    match count.rule:
        case CountingRule.TUPLES:
            return None
        case CountingRule.ONE:  # a key has one row: its own columns are fixed, the others may have any value
            keys = [(one, branch.source(one.source).one_key) for one in count.attributes]
            own = all(key is not None and one.column in key.attributes for one, key in keys)
            return count if own else None
    counts = [by_values(one, branch) for one in count.of]
    known = tuple(one for one in counts if one is not None)
    if count.rule is CountingRule.LEAST and known:
        return fewest(known)
    if len(known) < len(counts):
        return None
    sizes = [one.size for one in known]
    return replace(count, size=product(sizes), of=known) if count.rule is CountingRule.PRODUCT else count


# --- limits of values as sizes ----------------------------------------------------------------------------------------


_Shifted = tuple[Size | None, int]
"""A size, if any, and a number that is added to it."""


def width(facts: Facts, lows: tuple[Limit, ...], highs: tuple[Limit, ...], fewest: int) -> Size:
    """``high − low + 1``, but not below ``fewest``: how many values an interval has."""
    (high, plus), (low, minus) = _upper(facts, highs), _lower(facts, lows)
    more = plus - minus + 1
    if high is None and low is None:
        return Number(max(fewest, more))
    if low is None:
        many = _shift(high, more)
    elif high is None:
        many = Addition((Number(more), negative(low)))
    else:
        many = _shift(Addition((high, negative(low))), more)
    return Maximum((Number(fewest), many))


def _lower(facts: Facts, limits: tuple[Limit, ...]) -> _Shifted:
    """The least of some lower limits, each the greatest of its parts."""
    return _extreme(Minimum, [_extreme(Maximum, _parts(facts, limit, "min")) for limit in limits])


def _upper(facts: Facts, limits: tuple[Limit, ...]) -> _Shifted:
    """The greatest of some upper limits, each the least of its parts."""
    return _extreme(Maximum, [_extreme(Minimum, _parts(facts, limit, "max")) for limit in limits])


def _parts(facts: Facts, limit: Limit, extreme: str) -> list[_Shifted]:
    constant: list[_Shifted] = [] if limit.constant is None else [(None, int(limit.constant))]
    return [*constant, *((_extreme_symbol(facts, extreme, a), int(offset)) for a, offset in limit.relations)]


def _extreme_symbol(facts: Facts, extreme: str, attribute: Attribute) -> Symbol:
    """The symbol of the least (``min``) or greatest (``max``) value of an attribute."""
    return Symbol(symbol(extreme, facts.branch.source(attribute.source).table, attribute.column))


def _extreme(choice: type[Minimum] | type[Maximum], parts: list[_Shifted]) -> _Shifted:
    best: dict[str, _Shifted] = {}
    for size, offset in parts:
        text = "" if size is None else size.text
        _, other = best.get(text, (size, offset))
        best[text] = size, (min if choice is Minimum else max)(offset, other)
    if len(best) == 1:
        return next(iter(best.values()))
    return choice(tuple(_shift(*best[text]) for text in sorted(best))), 0


def _shift(size: Size | None, offset: int) -> Size:
    if size is None or offset == 0:
        return size or Number(offset)
    return Addition((*(size.parts if isinstance(size, Addition) else (size,)), Number(offset)))
