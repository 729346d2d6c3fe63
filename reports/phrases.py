"""How the explanations and the drawings put facts of P+ into words: an attribute's values, a join, a length of time."""

from __future__ import annotations

from fractions import Fraction

from streambound.analyzer.boundedness import Facts, Limit
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute, Kind
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value, decode
from streambound.criteria.clipping import limits_within
from streambound.criteria.tables import Age, Distance, Stored

_LISTED = 4
_UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "min"), (1_000_000, "s"), (1_000, "ms"), (1, "µs"))


def values_text(facts: Facts, x: Attribute, inside: frozenset[str] | None = None) -> str:
    """An attribute's values in words: ``1 <= T.B <= 4``, ``d.carrier = a.carrier``, ``S.A has no bound``.

    Where only some sources are ``inside``, finite streams among the others limit nothing yet: ``any T.B``.
    """
    source = facts.branch.source(x.source)
    if x in facts.closure.null:
        return f"{x} is NULL"
    if source.kind is Kind.RELATION:
        return f"{x} is a relation's"
    if x.source in facts.finite_streams:
        return f"{x} is a finite stream's"
    if (listed := facts.listed(x)) is not None:
        return f"{x} in {{{_some([_value(facts, x, value) for value in listed])}}}"
    equal = [y for y in facts.equal_to(x) if facts.branch.source(y.source).kind is Kind.RELATION]
    if equal:
        return join_text(facts, x, equal[0])
    if x not in facts.closure.nodes or facts.closure.sort(x) is not Sort.DISCRETE:
        return _dense_text(facts, x)
    low, high = limits_within(facts, x, frozenset(facts.finite_streams) if inside is None else inside)
    if inside is not None and not (low.known and high.known):
        return f"any {x}"
    return _interval(facts, x, (low,), (high,))


def stored_text(facts: Facts, stored: Stored, inside: frozenset[str]) -> str:
    """An attribute as a table of the sources ``inside`` keeps it, in words.

    ``(clipped)`` says that values beyond the interval are moved into it.
    ``any Z.B`` stands in tables that have a bound for another reason, such as a window.
    """
    if stored.cuts:
        values = dict.fromkeys(_value(facts, stored.attribute, cut.value) for cut in stored.cuts)
        return f"{stored.attribute} by its place among {_some(list(values))}"
    if not stored.low and not stored.high:
        known = facts.bounded(stored.attribute) or stored.attribute.source in facts.finite_streams
        return values_text(facts, stored.attribute, inside) if known else f"any {stored.attribute}"
    low, high = limits_within(facts, stored.attribute, inside)
    return _interval(facts, stored.attribute, stored.low or (low,), stored.high or (high,)) + " (clipped)"


def join_text(facts: Facts, x: Attribute, y: Attribute) -> str:
    """The constraint ``x − y <= c`` of P+ as a comparison: ``T.B < S.A``, ``Y.ts <= Z.ts + 10``, ``a.k = b.k``."""
    pair = facts.closure.pair(x, y)
    limit = pair[0].limit(pair[1], pair[2]) if pair else None
    if pair is None or limit is None:
        return f"{x} and {y}"
    value, strict = limit
    if facts.closure.equal(x, y):
        return f"{x} = {y}{_plus(facts, x, value)}"
    if value == -1 and facts.closure.sort(x) in (Sort.DISCRETE, Sort.TIME):
        value, strict = Fraction(0), True
    return f"{x} {'<' if strict else '<='} {y}{_plus(facts, x, value)}"


def age_text(facts: Facts, age: Age) -> str:
    """A stream's timestamp as a table keeps it, and for how long, in words."""
    time = facts.time(age.stream)
    until = "" if age.expires is None else f", for {duration(facts, time, age.expires)}"
    most = "" if age.saturates is None else f", told apart up to an age of {duration(facts, time, age.saturates)}"
    return f"{time}{until}{most}"


def distance_text(facts: Facts, distance: Distance) -> str:
    """A difference of two timestamps that P+ bounds from both sides."""
    plus, minus = distance.plus, distance.minus
    ends = (-(facts.lag(minus.source, plus.source) or 0), facts.lag(plus.source, minus.source) or 0)
    low, high = ("-" * (end < 0) + duration(facts, plus, abs(end)) for end in ends)
    return f"{plus} - {minus}, from {low} to {high}"


def duration(facts: Facts, x: Attribute, length: int) -> str:
    """A length in the units of an attribute's type: ``90``, ``1 h 30 min`` for timestamps."""
    if facts.branch.column(x).type.family is not Family.TIMESTAMP:
        return str(length)
    parts = []
    for size, unit in _UNITS:
        if length >= size:
            parts.append(f"{length // size} {unit}")
            length %= size
    return " ".join(parts) or "0 s"


def _dense_text(facts: Facts, x: Attribute) -> str:
    """Over dense types and strings a range says nothing: only a single value does."""
    if not facts.bounded(x):
        kind = facts.branch.column(x).type
        return f"{x} has no bound" + ("" if kind.discrete else f" (a range does not bound a {kind.name})")
    low, high = facts.closure.interval(x) if x in facts.closure.nodes else (None, None)
    if low is not None and low == high:
        return f"{x} = {_ranked(facts, x, low)}"
    return f"{x} takes finitely many values"


def _ranked(facts: Facts, x: Attribute, value: Fraction) -> str:
    return _value(facts, x, facts.closure.strings[int(value)] if facts.closure.sort(x) is Sort.STRING else value)


def _interval(facts: Facts, x: Attribute, lows: tuple[Limit, ...], highs: tuple[Limit, ...]) -> str:
    low, high = _end(facts, x, lows, lower=True), _end(facts, x, highs, lower=False)
    if not low and not high:
        return f"{x} has no bound"
    if low == high:
        return f"{x} = {low}"
    return f"{low}{' <= ' if low else ''}{x}{' <= ' if high else ''}{high}"


def _end(facts: Facts, x: Attribute, limits: tuple[Limit, ...], lower: bool) -> str:
    """One end of an interval: the least of some lower limits, or the greatest of some upper ones; empty if unknown."""
    if not all(limit.known for limit in limits):
        return ""
    texts = list(dict.fromkeys(_limit(facts, x, limit, lower) for limit in limits))
    return texts[0] if len(texts) == 1 else f"{'min' if lower else 'max'}({_some(texts)})"


def _limit(facts: Facts, x: Attribute, limit: Limit, lower: bool) -> str:
    parts = [] if limit.constant is None else [_value(facts, x, limit.constant)]
    extreme = "min" if lower else "max"
    for a, offset in limit.relations:
        relation = facts.branch.source(a.source).kind is Kind.RELATION
        parts.append((f"{extreme}({a})" if relation else f"{a}") + _plus(facts, x, offset))
    return parts[0] if len(parts) == 1 else f"{'max' if lower else 'min'}({_some(parts)})"


def _value(facts: Facts, x: Attribute, value: Value) -> str:
    exact = int(value) if isinstance(value, Fraction) and value.denominator == 1 else value
    return decode(exact, facts.branch.column(x).type)


def _plus(facts: Facts, x: Attribute, offset: Fraction) -> str:
    if offset == 0 or facts.closure.sort(x) is Sort.STRING:
        return ""
    kind, size = facts.branch.column(x).type, abs(offset)
    if kind.family is Family.TIMESTAMP:
        text = duration(facts, x, int(size))
    elif kind.family is Family.DATE:
        text = f"{size} d"
    else:
        text = _value(facts, x, size)
    return f" {'+' if offset > 0 else '-'} {text}"


def _some(texts: list[str]) -> str:
    """A list, shortened where it is long."""
    more = len(texts) - _LISTED
    return ", ".join(texts[:_LISTED]) + (f" and {more} more" if more > 0 else "")
