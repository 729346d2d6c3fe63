"""What is known of an operator's rows without deciding anything: how they change, their keys, how many there can be.

One transfer rule an operator, each from the facts of its inputs; all facts are upper ends in a lattice, so that a
missing one (`CHANGING`, no key, no number) is always true.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from sqlglot import exp

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Alias,
    AsOf,
    Distinct,
    Except,
    Filter,
    FirstRows,
    Fixpoint,
    Intersect,
    Item,
    Join,
    JoinKind,
    Named,
    OrderBy,
    Over,
    Project,
    Recur,
    Scan,
    SpjBlock,
    Tree,
    Union,
)
from streambound.analyzer.algebra.schema import Schema, ViewColumn, parsed, schema, starred
from streambound.analyzer.catalog import Catalog, Kind


class ViewKind(IntEnum):
    """How the rows of a view change while its streams grow, from what is easiest to keep to what is hardest."""

    STATIC = 0
    """Not at all: they are read from relations that do not change."""
    APPEND_ONLY = 1
    """Rows are added; none is ever taken back."""
    CLOSING = 2
    """A row may be taken back until the time that it carries is over."""
    KEYED = 3
    """Rows may be taken back at any time; at any time there are at most as many as a number says."""
    CHANGING = 4
    """Rows may be taken back at any time."""

    def __str__(self) -> str:
        return self.name.lower().replace("_", "-")


Key = frozenset[str]
"""Columns, by ``alias.name`` in small letters, in which no two rows agree."""


@dataclass(frozen=True, slots=True)
class ViewFacts:
    """What is known of an operator's rows: ``rows`` is the most there can be at a time, None where that is open."""

    change: ViewKind = ViewKind.CHANGING
    keys: tuple[Key, ...] = ()
    rows: int | None = None


def facts(tree: Tree, catalog: Catalog, recursive: ViewFacts = ViewFacts()) -> ViewFacts:
    """The facts of a tree's rows. ``recursive``: those of the relation that a `Fixpoint` around it defines."""
    match tree:
        case Scan(table=table):
            declared = catalog.table(table)
            if declared is None or declared.kind is not Kind.RELATION:
                return ViewFacts(ViewKind.APPEND_ONLY)
            return ViewFacts(ViewKind.STATIC, rows=declared.rows)
        case Recur():
            return recursive
        case Fixpoint(base=base, step=step):
            return _fix(facts(base, catalog, recursive), step, catalog)
        case Join(kind, left, right):
            return _join(kind, facts(left, catalog, recursive), facts(right, catalog, recursive))
        case Union(left, right, distinct):
            return _union(facts(left, catalog, recursive), facts(right, catalog, recursive), distinct, tree, catalog)
        case Except(left, right, distinct) | Intersect(left, right, distinct):
            one, other = facts(left, catalog, recursive), facts(right, catalog, recursive)
            keys = (*one.keys, *([_all(schema(left, catalog))] if distinct else ()))
            grows = isinstance(tree, Intersect) or other.change is ViewKind.STATIC
            return ViewFacts(max(one.change, other.change) if grows else ViewKind.CHANGING, keys, one.rows)
        case AsOf(input):
            return facts(input, catalog, recursive)
        case OrderBy(input) | Filter(input) | SpjBlock(input):
            return facts(input, catalog, recursive)
        case Alias(input):
            found = facts(input, catalog, recursive)
            inner, outer = schema(input, catalog), schema(tree, catalog)
            return replace(found, keys=_passed_on(found.keys, list(zip(inner, outer, strict=False))))
        case Distinct(input):
            found = facts(input, catalog, recursive)
            return replace(found, keys=(*found.keys, _all(schema(input, catalog))))
        case Project(input, items):
            found = facts(input, catalog, recursive)
            return replace(found, keys=_projected(found.keys, items, schema(input, catalog)))
        case FirstRows(input, count):
            return _limit(facts(input, catalog, recursive), count.text if count else "")
        case Over(input):
            found = facts(input, catalog, recursive)
            return ViewFacts(_unless_static(found, ViewKind.CHANGING), (), found.rows)
        case Aggregate():
            return _aggregate(tree, facts(tree.input, catalog, recursive), schema(tree.input, catalog))


def _unless_static(found: ViewFacts, change: ViewKind) -> ViewKind:
    return ViewKind.STATIC if found.change is ViewKind.STATIC else change


def _fix(base: ViewFacts, step: Tree, catalog: Catalog) -> ViewFacts:
    """What is added to the base adds to the result, if each step is monotonic."""
    change = max(base.change, facts(step, catalog, ViewFacts(base.change)).change)
    return ViewFacts(change)


def _join(kind: JoinKind, left: ViewFacts, right: ViewFacts) -> ViewFacts:
    """A row without a partner may still get one, unless the side of the partners does not change."""
    change = max(left.change, right.change)
    missing = {JoinKind.RIGHT: (left,), JoinKind.FULL: (left, right)}.get(kind, (right,))
    pads = kind not in (JoinKind.INNER, JoinKind.SEMI)
    if pads and any(side.change is not ViewKind.STATIC for side in missing):
        change = ViewKind.CHANGING
    if kind in (JoinKind.SEMI, JoinKind.ANTI):
        return ViewFacts(change, left.keys, left.rows)
    keys = tuple(one | other for one in left.keys for other in right.keys)
    rows = None
    if left.rows is not None and right.rows is not None:
        rows = left.rows * right.rows + (left.rows + right.rows if pads else 0)
    return ViewFacts(change, keys if kind is JoinKind.INNER else (), rows)


def _union(left: ViewFacts, right: ViewFacts, distinct: bool, tree: Union, catalog: Catalog) -> ViewFacts:
    rows = None if left.rows is None or right.rows is None else left.rows + right.rows
    return ViewFacts(max(left.change, right.change), (_all(schema(tree, catalog)),) if distinct else (), rows)


def _limit(found: ViewFacts, count: str) -> ViewFacts:
    most = int(count) if count.isdigit() else None
    rows = min((rows for rows in (most, found.rows) if rows is not None), default=None)
    return ViewFacts(_unless_static(found, ViewKind.CHANGING if rows is None else ViewKind.KEYED), found.keys, rows)


def _aggregate(tree: Aggregate, found: ViewFacts, given: Schema) -> ViewFacts:
    """Groups change as rows come, until their time is over where a key is the application time itself."""
    named = [parsed(key) for key in tree.keys]
    fields = [next((f for f in given if isinstance(c, exp.Column) and f.called(c.name, c.table)), None) for c in named]
    key: Key = frozenset(
        item.name.lower()
        for item in tree.items
        if isinstance(item, Named) and any(item.value.text == key.text for key in tree.keys)
    )
    keys = (key,) if len(key) == len(tree.keys) else ()
    if not tree.keys:
        return ViewFacts(_unless_static(found, ViewKind.KEYED), keys, 1)
    closing = any(field is not None and field.time for field in fields)
    return ViewFacts(_unless_static(found, ViewKind.CLOSING if closing else ViewKind.CHANGING), keys, found.rows)


def _all(columns: Schema) -> Key:
    return frozenset(f"{column.alias}.{column.name}".strip(".").lower() for column in columns)


def _passed_on(keys: tuple[Key, ...], pairs: list[tuple[ViewColumn, ViewColumn]]) -> tuple[Key, ...]:
    renamed = {next(iter(_all((old,)))): next(iter(_all((new,)))) for old, new in pairs}
    return tuple(frozenset(renamed[name] for name in key) for key in keys if key <= renamed.keys())


def _projected(keys: tuple[Key, ...], items: tuple[Item, ...], given: Schema) -> tuple[Key, ...]:
    """The keys of which all columns are listed."""
    pairs: list[tuple[ViewColumn, ViewColumn]] = []
    for item in items:
        if not isinstance(item, Named):
            pairs += [(field, ViewColumn("", field.name)) for field in starred(item, given)]
            continue
        syntax = parsed(item.value)
        if isinstance(syntax, exp.Column):
            pairs += [(f, ViewColumn("", item.name)) for f in given if f.called(syntax.name, syntax.table)]
    return _passed_on(keys, pairs)
