"""The bound M on the number of entries (docs/theory-bounds.md).

``M = Σ over realisable D of Π (sizes of the clipped domains) × (age slots)``; a stream that a window forgets
contributes its tuples within the window, ``c_S · width``, where that is all that is known.
"""

from __future__ import annotations

from collections import Counter

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.models import Described
from streambound.analyzer.query import Attribute, Branch, Kind, Query
from streambound.analyzer.work import cached
from streambound.criteria.cases import Case, cases, synopses
from streambound.criteria.components import expiring, fixed_for_best
from streambound.criteria.count import (
    Count,
    CountingRule,
    TimestampCount,
    ages,
    best,
    between_streams,
    by_values,
    distance_count,
    either,
    every,
    fewest,
    first_timestamp,
    lifetime,
    rows,
    saying,
    stored_count,
    tuples,
    value_counts,
    width_of_lag,
)
from streambound.criteria.projected_time import (
    Stamp,
    forgotten_at_once,
    holds_times,
    result_ages,
    result_distances,
    stamp,
)
from streambound.criteria.set import harmful_references
from streambound.criteria.size import Number, Size, fewer, total
from streambound.criteria.synopsis import MOST_TABLES, Synopsis
from streambound.criteria.tables import Age, Stored, SynopsisTable
from streambound.criteria.vocabulary import Tier
from streambound.preprocess.pipeline import Derivation

MOST_HARMFUL, MOST_LOOKS = 16, 64
"""Where a set violates its criterion: joins up to which cases are looked for, and how many of these are looked at."""


class TableBound(Struct, frozen=True):
    """A table (``table`` is its name), what it stores, and the most entries it can have, with the reason.

    ``results`` says that it holds what a set query has returned.
    """

    table: str
    layout: SynopsisTable
    count: Count
    results: bool = False

    @property
    def size(self) -> Size:
        """The most entries."""
        return self.count.size


class BranchBound(Described, frozen=True):
    """The tables of one case of a branch of a split query, the results of a set among them (last).

    ``number`` is the place of that branch, from 0.
    """

    DESCRIPTION = ("synopsis",)

    number: int
    case: Case
    synopsis: Synopsis
    tables: tuple[TableBound, ...]

    @property
    def facts(self) -> Facts:
        """The facts of the case."""
        return self.synopsis.facts

    @property
    def branch(self) -> Branch:
        """The branch, with the case's conditions."""
        return self.case.branch


class QueryBound(Struct, frozen=True):
    """M per table and in total; what ``grows`` is no bound (`criteria.unlimited`)."""

    branches: tuple[BranchBound, ...]
    entries: Size
    grows: bool = False

    @property
    def tables(self) -> tuple[TableBound, ...]:
        """The tables of all branches."""
        return tuple(table for branch in self.branches for table in branch.tables)

    @property
    def tier(self) -> Tier:
        """Whether M is constant, or grows with rates and windows."""
        return Tier.RATE_WINDOW if self.entries.rated else Tier.CONSTANT


def bound(split: Query, repeats: bool = False) -> QueryBound | None:
    """M for a split query that its criterion found bounded; a set that ``repeats`` results has no table of these.

    None for more than `MOST_TABLES` tables.
    """
    parts = [(number, part) for number, branch in enumerate(split.branches) for part in _parts(branch, split.distinct)]
    stamped = stamp(split)
    found = []
    for place, (number, part) in enumerate(parts, start=1):
        prefix = f"{place}:" if len(parts) > 1 else ""
        bounded = counted(part, split.distinct, stamped, split.distinct and repeats)
        if bounded is None:
            return None
        synopsis, tables = bounded
        named = tuple(replace(table, table=prefix + table.table) for table in tables)
        found.append(BranchBound(number, part, synopsis, named))
    return QueryBound(tuple(found), total(table.size for branch in found for table in branch.tables))


def has_bound(branch: Branch, stamped: Stamp | None) -> bool:
    """Whether one branch of a set has tables, each with a bound, whether or not its criterion holds.

    False where that is not seen soon: cases are looked for where few joins are harmful, and not for long.
    """
    if len(harmful_references(Facts.of(branch))) > MOST_HARMFUL:
        return False
    return all(counted(part, True, stamped) is not None for part in cases(branch, MOST_LOOKS))


def _parts(branch: Branch, distinct: bool) -> tuple[Case, ...]:
    """The cases of a branch that have tables of their own; most often one."""
    return cases(branch) if distinct else (Case(branch),)


@cached(64)
def counted(
    case: Case, distinct: bool, stamped: Stamp | None = None, repeats: bool = False
) -> tuple[Synopsis, tuple[TableBound, ...]] | None:
    """The tables of one case, each with its bound; None where one has none.

    A set's criterion may ask first whether they have one. ``stamped`` says when a set's results are forgotten; one that
    ``repeats`` them does not remember any.
    """
    facts = Facts.of(case.branch)
    found = next(
        (kept for synopsis in synopses(facts, distinct) if (kept := _table_bounds(synopsis)) is not None), None
    )
    if found is None:
        return None
    synopsis, tables = _with_late_relations(*found)
    if distinct and not repeats and not forgotten_at_once(facts, stamped):
        layout = timed_results_layout(synopsis, stamped)
        count = results_count(synopsis.facts, layout)
        if count is None:
            return None
        tables.append(TableBound("results", layout, count, results=True))
    return synopsis, tuple(tables)


def _with_late_relations(synopsis: Synopsis, tables: list[TableBound]) -> tuple[Synopsis, list[TableBound]]:
    """The same with relations joined late where that takes fewer entries: what is compared with them takes fewer values
    than what is needed of their rows.
    """
    if synopsis.references or not synopsis.each_alone:
        return synopsis, tables
    for group in synopsis.relation_groups if tables else ():
        later = _table_bounds(replace(synopsis, late=synopsis.late.union(group)))
        if later is not None and fewer(*(total(table.size for table in each) for each in (later[1], tables))):
            synopsis, tables = later
    return synopsis, tables


def _table_bounds(synopsis: Synopsis) -> tuple[Synopsis, list[TableBound]] | None:
    """The tables with their bounds; None where one has none, or there are too many."""
    if synopsis.sets is None:
        return None
    tables = []
    for table in synopsis.tables:
        count = table_count(synopsis.facts, table)
        if count is None:
            return None
        tables.append(TableBound(table.name, table, count))
    return synopsis, tables


def table_size(synopsis: Synopsis, table: SynopsisTable) -> Size | None:
    """The most entries of one table; None when unknown."""
    count = table_count(synopsis.facts, table)
    return None if count is None else count.size


def table_count(facts: Facts, table: SynopsisTable) -> Count | None:
    """Why one table has no more entries; None when that is unknown."""
    if not holds_times(facts, table):
        return None
    if not table.extrema:
        return _keys(facts, table, ())
    fixed = fixed_for_best(facts, table)
    return None if fixed is None else _all([_keys(facts, table, fixed), best(table, fixed)])


def _keys(facts: Facts, table: SynopsisTable, fixed: tuple[str, ...]) -> Count | None:
    """The keys of a table, or where some sources are ``fixed`` the keys and the tuples of these."""
    known, rest = _in_rows(facts, table, fixed)
    streams = [(_tuple_count if s in fixed else _stream_count)(facts, rest, s) for s in _by_age(table)]
    relations = [
        _row_count(facts, table, r) if r in fixed else _relation_count(facts, table, r, known.get(r, ()))
        for r in table.relations
    ]
    return _all([*streams, *relations])


def _in_rows(
    facts: Facts, table: SynopsisTable, fixed: tuple[str, ...] = ()
) -> tuple[dict[str, tuple[Stored, ...]], SynopsisTable]:
    """What is kept of streams that one relation's row says, if it says something else that is kept; and the rest."""
    found: dict[str, list[Stored]] = {}
    for stored in table.key:
        stream, said = stored.attribute.source, saying(facts, stored.attribute, table.sources)
        if stream in table.streams and len(said) == 1 and said[0] in table.relations and not {stream, *said} & {*fixed}:
            found.setdefault(said[0], []).append(stored)
    own = Counter(stored.attribute.source for stored in table.key)
    known = {relation: tuple(mine) for relation, mine in found.items() if len(mine) + own[relation] > 1}
    gone = [stored for mine in known.values() for stored in mine]
    return known, replace(table, key=tuple(stored for stored in table.key if stored not in gone))


def _by_age(table: SynopsisTable) -> list[str]:
    """The streams, those of the fewest timestamps first: what the others are counted beside."""
    slots = {age.stream: age.expires or age.saturates or 1 for age in table.ages}
    return sorted(table.streams, key=lambda stream: slots.get(stream, 0))


def _all(counts: list[Count | None]) -> Count | None:
    known = [count for count in counts if count is not None]
    return every(known) if len(known) == len(counts) else None


def _stream_count(facts: Facts, table: SynopsisTable, stream: str) -> Count | None:
    """The factor of a stream: the values of its stored attributes and its ages, or its tuples at some timestamps."""
    inside = frozenset((*table.streams, *table.relations))
    mine = [stored for stored in table.key if stored.attribute.source == stream]
    attributes = tuple(stored.attribute for stored in mine)
    if facts.one_row(stream):
        return Count(CountingRule.ONE, Number(1), attributes, stream)
    values = _all([stored_count(facts, stored, inside) for stored in mine])
    kept, present = _told_apart(facts, table, stream), _present(facts, table, stream)
    if kept is None and table.age(stream) is not None:
        return None
    options = [] if values is None else [every([values, ages(stream, kept)] if kept else [values])]
    if present is not None and (values is None or stream in expiring(table)):
        options.append(tuples(facts, stream, present, attributes))
    if values is not None and (young := _young(facts, table, stream)) is not None:
        options = [*_smaller(options, by_rows := either([tuples(facts, stream, young, attributes), values])), by_rows]
    if not options and (between := _all([_value_count(facts, stored, inside) for stored in mine])) is not None:
        options.append(every([between, ages(stream, kept)] if kept else [between]))
    return fewest(options) if options else None


def _smaller(options: list[Count], count: Count) -> list[Count]:
    """Those of some counts that may be smaller than one that a declared rate limits."""
    most = count.size.value
    return [o for o in options if most is None or not isinstance(o.size, Number) or o.size.number < most]


def _young(facts: Facts, table: SynopsisTable, stream: str) -> TimestampCount | None:
    """The timestamps of a stream that are told apart while all older ones are one, where a rate limits their tuples."""
    limited = facts.branch.source(stream).max_rate is not None
    age = next((age for age in table.ages if age.stream == stream and age.expires is None), None)
    return TimestampCount(age.saturates - 1) if limited and age is not None and age.saturates else None


def _value_count(facts: Facts, stored: Stored, inside: frozenset[str]) -> Count | None:
    """The values of a stored attribute, finite streams' values among what limits them."""
    found = stored_count(facts, stored, inside)
    return between_streams(facts, stored, inside) if found is None else found


def _tuple_count(facts: Facts, table: SynopsisTable, stream: str) -> Count | None:
    """The tuples of a stream that a table can hold."""
    present = _present(facts, table, stream)
    mine = tuple(stored.attribute for stored in table.key if stored.attribute.source == stream)
    if facts.one_row(stream):
        return Count(CountingRule.ONE, Number(1), mine, stream)
    return None if present is None else tuples(facts, stream, present, mine)


def _row_count(facts: Facts, table: SynopsisTable, relation: str) -> Count:
    """The rows of a relation."""
    return rows(facts, relation, tuple(s.attribute for s in table.key if s.attribute.source == relation))


def _told_apart(facts: Facts, table: SynopsisTable, stream: str) -> TimestampCount | None:
    """The timestamps of a stream that are kept apart in the key; None when none is kept, or any number."""
    age = table.age(stream)
    if age is None or (age.expires, age.saturates) == (None, None):
        return None if age is None else _present(facts, table, stream)
    return _narrowest([TimestampCount(age.expires or age.saturates or 1), *_beside(facts, table, age)])


def _present(facts: Facts, table: SynopsisTable, stream: str) -> TimestampCount | None:
    """The timestamps whose tuples the table can hold; None when they may be any number.

    Until the stream ends, before the table is cleared, or until they are too old.
    """
    expiring = [age for age in table.ages if age.stream == stream and age.expires is not None]
    options = [TimestampCount(age.expires) for age in expiring if age.expires is not None]
    options += [span for age in expiring for span in _beside(facts, table, age)]
    if (own := lifetime(facts, stream)) is not None:
        options.append(TimestampCount(own))
    if table.deadline is not None:
        options.append(TimestampCount(max(0, table.deadline - first_timestamp(facts, stream))))
    return _narrowest(options) if options else None


def _beside(facts: Facts, table: SynopsisTable, age: Age) -> list[TimestampCount]:
    """The timestamps that go with one kept timestamp of a stream counted before."""
    order = _by_age(table)
    before = [other for other in table.ages if order.index(other.stream) < order.index(age.stream)]
    widths = ((width_of_lag(facts, age.stream, other.stream), other) for other in before)
    return [TimestampCount(n, other.stream) for n, other in widths if n is not None and _says_enough(facts, other, age)]


def _says_enough(facts: Facts, kept: Age, age: Age) -> bool:
    """Whether a kept timestamp narrows down another one: it is exact, or where it is old, so is the other."""
    if kept.exact:
        return True
    most = facts.lag(age.stream, kept.stream)
    old = age.saturates if age.expires is None else age.expires + 1
    return most is not None and old is not None and (kept.saturates or 0) - most >= old


def _narrowest(spans: list[TimestampCount]) -> TimestampCount:
    return min(spans, key=lambda span: span.timestamps)


def _relation_count(facts: Facts, table: SynopsisTable, relation: str, more: tuple[Stored, ...] = ()) -> Count | None:
    """The factor of a relation: its rows, or the values of its stored attributes where they are fewer.

    ``more`` are those of streams that its row says.
    """
    mine = [*(stored for stored in table.key if stored.attribute.source == relation), *more]
    if not mine:
        return every([])
    values = [fewest(found) for stored in mine if (found := value_counts(facts, stored))]
    all_rows = rows(facts, relation, tuple(stored.attribute for stored in mine))
    return fewest([every(values), all_rows]) if len(values) == len(mine) else all_rows


# --- results of a set ----------------------------------------------------------------------------------------------


def results_layout(synopsis: Synopsis) -> SynopsisTable:
    """The results already written, as a table of all streams: its key is the select list, equal attributes once."""
    facts = synopsis.facts
    projected = facts.branch.projected
    kept: dict[Attribute, list[Attribute]] = {}
    for attribute in sorted(projected, key=lambda a: facts.branch.source(a.source).kind != Kind.RELATION):
        home = next((other for other in kept if attribute in facts.equal_to(other)), None)
        kept.setdefault(home or attribute, []).extend([attribute] if home else [])
    key = tuple(Stored(a, (), (), tuple((b, facts.difference(b, a)) for b in same)) for a, same in kept.items())
    return SynopsisTable(synopsis.streams, synopsis.relations_of(synopsis.streams), key, (), None)


def timed_results_layout(synopsis: Synopsis, stamped: Stamp | None = None) -> SynopsisTable:
    """The same with the times that distinguish results; ``stamped`` says when they are forgotten."""
    ages_kept, apart = result_ages(synopsis.facts, stamped), result_distances(synopsis.facts, stamped)
    return replace(results_layout(synopsis), ages=ages_kept, distances=apart)


def results_size(split: Query, whichever: bool = False) -> Size | None:
    """The most distinct results of a split query, of other values or other times; None where there is no bound.

    ``whichever``: how many there can be at all, whichever rows come: not as many as the rows of a stream that ends.
    """
    found: list[Size] = [] if split.branches else [Number(0)]
    for branch in split.branches:
        facts = Facts.of(branch)
        counted = results_count(facts, timed_results_layout(Synopsis(facts)))
        if counted is not None and whichever:
            counted = by_values(counted, branch)
        if counted is None:
            return None
        found.append(counted.size)
    return total(found)


def results_count(facts: Facts, layout: SynopsisTable) -> Count | None:
    """The most distinct results; a finite stream's values are as many as its tuples.

    Where times are among them, they are counted as the matches of all streams within these ages.
    """
    apart = [distance_count(facts, distance) for distance in layout.distances]
    if layout.ages:
        return _all([_keys(facts, layout, ()), *apart])
    inside = frozenset((*layout.streams, *layout.relations))
    known, rest = _in_rows(facts, layout)
    found: list[Count | None] = [*apart, *(_relation_count(facts, layout, r, more) for r, more in known.items())]
    for source in dict.fromkeys(stored.attribute.source for stored in rest.key if stored.attribute.source not in known):
        if facts.branch.source(source).kind is Kind.RELATION:
            found.append(_relation_count(facts, layout, source))
            continue
        mine = [stored for stored in rest.key if stored.attribute.source == source]
        values = _all([stored_count(facts, stored, inside) for stored in mine])
        timestamps = lifetime(facts, source)
        if values is None and timestamps is not None:
            values = tuples(facts, source, TimestampCount(timestamps), tuple(stored.attribute for stored in mine))
        found.append(values or _all([_value_count(facts, stored, inside) for stored in mine]))
    return _all(found)


def least_bound(derivation: Derivation, repeats: bool = False) -> QueryBound | None:
    """M of a bounded query; None for more tables than can be counted. A set that ``repeats`` remembers no results.

    Both halves of a ``<>`` have tables; where one table for both takes fewer entries, it is not split for these.
    """
    split, together = derivation.split, derivation.together
    apart = bound(split, repeats)
    combined = bound(together, repeats) if len(together.branches) < len(split.branches) else None
    return combined if combined is not None and (apart is None or fewer(combined.entries, apart.entries)) else apart


__all__ = ["MOST_TABLES", "QueryBound", "TableBound", "Tier", "bound", "least_bound", "table_size"]
