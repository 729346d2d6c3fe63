"""What limits the key of a state: a relation that has all of its values, or a window of time beside it.

A state has an entry for each value of a group's or a partition's key, or of rows that are told apart. With a bucket of
time in the key an entry goes when its time is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.diagnostics import FixKind
from streambound.analyzer.edits import Edit
from streambound.analyzer.render import identifier
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound.criteria.repairs.catalog_patch import DeclareDomain, DeclareOpenKeys
from streambound.criteria.repairs.keys import KEY, referenced
from streambound.criteria.repairs.rejected import Change, Rejected
from streambound.criteria.repairs.scopes import FromItem, SelectScope
from streambound_runtime.promises import Domain

OPEN_KEYS, DUPLICATES, RELATION, BUCKET = 4, 8, 10, 35
_NO_KEY = 4
"""How much less likely a relation is meant where its column is no key."""
_REPEATED = "results are repeated where rows of {} have the same {}"
DOMAIN = 1000
"""More than all else together: a domain concerns every query that reads the stream, and none of them says so."""
_MOST_OPEN = 1000
_OPEN = "the number is an example: choose yours; a run that meets more open keys stops"
_GROUPED = "one result per window, whose length is an example: choose yours"
_PARTITIONED = "each window, whose length is an example, begins anew"
_AGAIN = "a row may come again in another window, whose length is an example: choose yours"


def relations(rejected: Rejected) -> Iterator[Change]:
    """The relations that a column to blame refers to by its name, in a join by their key or a condition with IN."""
    word = rejected.layout.word
    for scope, item, place in rejected.blamed:
        column = item.view.schema[place]
        if column.column is None or column.type is None:
            continue
        for table in rejected.catalog.tables:
            if table.kind is not Kind.RELATION or table.changes is not None:
                continue
            for name, rank in referenced(column.column.name, column.type, table.name, table.columns):
                own, key, called = (item.written(column.name), *(_name(one) for one in (name, table.name)))
                equal = f"{own} = {called}.{key}"
                asked = f"{own} {word('IN')} ({word('SELECT')} {key} {word('FROM')} {called})"
                if rank == KEY and _may_join(scope, table):
                    edits = rejected.layout.joined(scope.select, f"{word('JOIN')} {called} {word('ON')} {equal}")
                    note = "" if scope.select.args.get("distinct") else _REPEATED.format(table.name, name)
                    yield Change("relation", f"join {table.name} on {equal}", RELATION, edits, note=note)
                    if edits:
                        continue
                edits = rejected.with_conditions([(scope, (item,), asked)])
                title = f"keep rows whose {item.alias}.{column.name} is in {table.name}"
                yield Change("relation", title, RELATION + (0 if rank == KEY else _NO_KEY), edits)


def _may_join(scope: SelectScope, table: DeclaredTable) -> bool:
    """Whether a relation joins what a SELECT reads, and no name in it could then mean a column of the relation."""
    columns = [one for one in scope.select.find_all(exp.Column) if not one.table]
    clear = not any(table.column(one.name) for one in columns) and not scope.select.is_star
    read = any(item.alias.lower() == table.name.lower() for item in scope.items)
    return clear and not read and not any(item.side for item in scope.items)


def _name(name: str) -> str:
    return identifier(name).sql("spark")


def buckets(rejected: Rejected) -> Iterator[Change]:
    """A window of time for the groups, the partitions or the duplicates of a SELECT."""
    for scope in rejected.scopes:
        item = _timed(scope, rejected)
        if item is not None:
            title = f"by {_window(item)}"
            edits = _grouped(scope, item, rejected)
            yield Change("bucket", f"also group {title}", BUCKET, edits, note=_GROUPED)
            edits = _partitioned(scope, item, rejected)
            yield Change("bucket", f"also partition {title}", BUCKET, edits, note=_PARTITIONED)
            if scope.select.args.get("distinct"):
                edits = _shown([scope], rejected)
                title = f"look for duplicates within {_window(item)}"
                yield Change("bucket", title, DUPLICATES, edits, note=_AGAIN)
    for query in rejected.syntax.find_all(exp.SetOperation):
        compared = query.args.get("distinct") or not isinstance(query, exp.Union)
        if compared and not isinstance(query.parent, exp.SetOperation):
            sides = [scope for scope in rejected.scopes if _is_side(scope.select, query)]
            union = isinstance(query, exp.Union)
            title = f"{'look for duplicates' if union else 'compare both sides'} within a time window"
            yield Change("bucket", title, DUPLICATES, _shown(sides, rejected), note=_AGAIN)


def _timed(scope: SelectScope, rejected: Rejected) -> FromItem | None:
    """The stream whose time a SELECT should use: one with a column to blame, or the first."""
    known = [item for item in scope.items if item.time is not None or item.closing]
    timed = [item for item in known if item.side not in ("SEMI", "ANTI")]
    blamed = [item for own, item, _ in rejected.blamed if own is scope and item in timed]
    return next(iter((*blamed, *timed)), None)


def _window(item: FromItem) -> str:
    """A bucket of an item's time in words."""
    return item.written(item.closing) if item.time is None else f"a time window on {item.written_time}"


def _bucket(item: FromItem) -> tuple[str, str]:
    """A bucket of an item's time, and its name; the one that its rows have, where they show no time."""
    if item.time is None:
        return item.written(item.closing), item.closing
    if _kind(item) is Family.TIMESTAMP:
        return f"date_trunc('HOUR', {item.written_time})", "hour"
    return f"{item.written_time} DIV 10", "bucket"


def _kind(item: FromItem) -> Family | None:
    kind: DataType | None = item.time.type if item.time is not None else None
    return kind.family if kind is not None else None


def _grouped(scope: SelectScope, item: FromItem, rejected: Rejected) -> tuple[Edit, ...]:
    """One more key of a GROUP BY, unless there is a time in it, or a GROUP BY where all rows are one group."""
    group = scope.select.args.get("group")
    own = [*scope.select.walk(prune=lambda node: isinstance(node, exp.Query) and node is not scope.select)]
    calls = [one for one in own if isinstance(one, exp.AggFunc) and not isinstance(one.parent, exp.Window)]
    if (group is None and not calls) or (group is not None and any(_names_time(key, item) for key in _keys(scope))):
        return ()
    key, name = _bucket(item)
    shown = key
    if _kind(item) is Family.TIMESTAMP:
        key, name = f"window({item.written_time}, '1 hour')", "bucket_start"
        shown = f"{key}.start"
    return rejected.layout.group_key(scope.select, key, shown, name)


def _keys(scope: SelectScope) -> Iterator[exp.Expr]:
    """The expressions of a GROUP BY, also of items that it names by their numbers or aliases."""
    shown = scope.select.expressions
    aliases = {one.alias.lower(): one for one in shown if isinstance(one, exp.Alias)}
    for key in scope.select.args["group"].expressions:
        yield key
        if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.this) <= len(shown):
            yield shown[int(key.this) - 1]
        elif isinstance(key, exp.Column) and not key.table and key.name.lower() in aliases:
            yield aliases[key.name.lower()]


def _partitioned(scope: SelectScope, item: FromItem, rejected: Rejected) -> tuple[Edit, ...]:
    """One more expression of every PARTITION BY of a SELECT that has no time in it; none where rows would be alone."""
    own = scope.select.walk(prune=lambda node: isinstance(node, exp.Query) and node is not scope.select)
    windows = [one for one in own if isinstance(one, exp.Window)]
    parts = [(one, one.args.get("partition_by") or ()) for one in windows]
    untimed = [(one, by) for one, by in parts if not any(_names_time(part, item) for part in by)]
    if len(scope.items) == 1 and any(_is_alone(item, by) for _, by in untimed):
        return ()
    return tuple(edit for one, _ in untimed for edit in rejected.layout.partition(one, _bucket(item)[0]))


def _is_alone(item: FromItem, partition: Sequence[exp.Expr]) -> bool:
    """Whether no two rows of an item agree in a partition's columns and in the column that says when they are over."""
    names = {item.closing.lower(), *(part.name.lower() for part in partition if isinstance(part, exp.Column))}
    places = {place for place, column in enumerate(item.view.schema) if column.name.lower() in names}
    return any(key <= places for key in item.view.keys)


_COME_AGAIN = re.compile(
    "second|minute|hour|day(of(month|week|week_iso|year))?|week(day|ofyear)?|month|quarter|date_(part|format)"
)
"""Functions of a time, and units of EXTRACT, whose values come again and again, such as the hours of a day."""


def _names_time(node: exp.Expr, item: FromItem) -> bool:
    """Whether an expression goes on with time."""
    time = (item.time.name if item.time is not None else item.closing).lower()
    parents = (column.parent for column in node.find_all(exp.Column) if column.name.lower() == time)
    parts = (one.this if isinstance(one, exp.Extract) else one for one in parents)
    return any(part is None or _COME_AGAIN.fullmatch(part.name.lower()) is None for part in parts)


def _shown(scopes: list[SelectScope], rejected: Rejected) -> tuple[Edit, ...]:
    """A bucket of time as one more column of each SELECT; none where one of them has no time, or groups rows."""
    found = list[Edit]()
    for scope in scopes:
        item = _timed(scope, rejected)
        if item is None or scope.select.args.get("group"):
            return ()
        bucket, name = _bucket(item)
        edits = rejected.layout.item(scope.select, f"{bucket} {rejected.layout.word('AS')} {name}")
        if not edits:
            return ()
        found += edits
    return tuple(found)


def _is_side(select: exp.Expr, query: exp.SetOperation) -> bool:
    """Whether a SELECT is one of those whose rows a set operation compares."""
    node: exp.Expr | None = select
    while node is not query:
        node = node.parent if node is not None else None
        if not isinstance(node, exp.SetOperation | exp.Subquery | exp.Paren):
            return False
    return True


def open_keys(rejected: Rejected) -> Iterator[Change]:
    """``max_open = 1000`` in the catalog: how many of the keys that punctuations end are open at most."""
    tables = {one.table.name: one.table for scope in rejected.scopes for item in scope.items
              for one in item.view.sources.values() if one.table is not None}  # fmt: skip
    for key in dict.fromkeys(key for table in tables.values() for key in table.ending if key.max_open is None):
        title = f"declare how many keys of {key.name} are open at most"
        declared = (DeclareOpenKeys(key.stream, key.marked, _MOST_OPEN),)
        yield Change("open keys", title, OPEN_KEYS, declared=declared, note=_OPEN, effect=FixKind.CONTRACT)


def domains(rejected: Rejected) -> Iterator[Change]:
    """``domain.a = [0, 99]`` in the catalog, where it declares that of another table's column of the same name."""
    for _, item, place in rejected.blamed:
        table, column = item.table(place), item.view.schema[place].column
        if table is None or column is None or column.domain is not None:
            continue
        found = _declared_elsewhere(column.name, column.type, table.name, rejected.catalog)
        if found is not None:
            where, domain = found
            title = f"declare {'a range' if column.type.discrete else 'the values'} of {table.name}.{column.name}"
            note = f"as {where} has; rows outside are quarantined, for every query that reads the {table.kind.value}"
            declared = (DeclareDomain(table.name, column.name, domain, column.type),)
            yield Change("domain", title, DOMAIN, declared=declared, note=note, effect=FixKind.CONTRACT)


def _declared_elsewhere(name: str, kind: DataType, table: str, catalog: Catalog) -> tuple[str, Domain[Value]] | None:
    """The domain of another table's column of the same name and type, and whose it is."""
    for other in catalog.tables:
        found = other.column(name)
        if other.name != table and found is not None and found.domain and found.type.comparable(kind):
            return f"{other.name}.{found.name}", found.domain
    return None
