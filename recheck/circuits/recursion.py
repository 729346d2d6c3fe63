"""WITH RECURSIVE … UNION: F1 and F4 (values of r's columns), F2 (what is kept of a step), F3 (the base, if rows go).

r is kept whole and, of each case of its step, the different rows of its streams that r can meet, and those of the
relations; so each new row of either finds its partners. Where rows go, it must be known what the base still has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.clock import clock
from streambound.analyzer.algebra.nodes import Alias, Fixpoint, Named, Project, Recur, Scan, Tree, named_inputs
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.query import (
    Attribute,
    Branch,
    Condition,
    Constant,
    NullTest,
    Output,
    Query,
    Source,
    conjunction,
)
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.symbols import symbol
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.distances import ContradictionError
from streambound.recheck.certificates.quantity import Quantity, product, total
from streambound.recheck.circuits.changes import TIME as CHANGED
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.evidence import keys_with_values
from streambound.recheck.circuits.rows import project
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import scalar
from streambound.recheck.circuits.view import View
from streambound.recheck.periods.column_values import NONE, Values, values_of

TIME = "_ts"
_TAKEN_BACK, _BASE = "when it is taken back", "(base)"
_ROUNDS = 2
"""Rounds, beside one a column, after which an end that still grows is left open."""


def recursion(tree: Tree, states: States) -> View:
    """The lines of the base, of what the steps read, of r, and of what is kept beside it."""
    assert isinstance(tree, Fixpoint)
    if not tree.distinct:
        raise NotRecheckedError("recursion by UNION ALL, which need not end")
    given = tree.base.input if isinstance(tree.base, Alias) else tree.base
    names = tuple(column.name for column in schema(tree.base, states.catalog))
    if None in [column.type for column in schema(tree.base, states.catalog)]:
        raise NotRecheckedError("a recursion with a column of no known type")
    derivation = derive(_reader(states).view(_as_streams(given, states.catalog), distinct=True))
    split = derivation.split
    step = _step(tree, names, states)
    r = _Relation(tree.name, len(names), split.branches, derive(step).split.branches)
    found = r.values
    base, retracts = View(), False
    if is_block(given, states.catalog) and not is_static(given, states.catalog):
        states.evidence.block(split, "F1", True, together=derivation.together)
    else:
        base, retracts = _base(given, states), not is_static(given, states.catalog)
    kept = dict[object, _Kept]()
    for one in r.kept(found, step, states.catalog):
        retracts = retracts or one.changes
        if kept.setdefault(one.key, one) is not one:
            continue
        if one.query is not None:
            states.evidence.block(derive(one.query).split, "F1", True)
        elif one.changes:
            states.under(Scan(one.table, one.table, changes=True), None)
    number_of = _numbers_of_rows(tree, states)
    if is_static(given, states.catalog) and base.rows is not None:
        number_of[_BASE] = base.rows
    rows, by_domains = r.rows(found, number_of), r.rows(found, {})
    if rows is None:
        raise RejectedError(f"nothing says how many rows {tree.name} has")
    freed = _TAKEN_BACK if retracts else "never"
    states.line("F2" if by_domains is not None and by_domains.same(rows) else "F4", names, rows, freed)
    if retracts and base.rows is not None:
        states.line("F3", names, base.rows, freed)
    elif retracts:
        counted = states.evidence.results([split])
        states.line("F3", keys_with_values(names, split, counted.tables), counted.entries, freed)
    for one in kept.values():
        if one.query is None:
            states.line("F2", one.columns, number_of[one.table], _TAKEN_BACK if one.changes else "never")
        elif (query := derive(one.query).split).branches:
            counted = states.evidence.results([query])
            shown = tuple(str(output.value) for output in query.branches[0].outputs)
            states.line("F2", keys_with_values(shown, query, counted.tables), counted.entries, "never")
    return View(rows)


def _base(tree: Tree, states: States) -> View:
    """The rows of a base that is no block; of relations that do not change its columns are what is computed of them."""
    if is_static(tree, states.catalog) and isinstance(tree, Project):
        return project(tree, states)
    return states.under(tree, None)


def _numbers_of_rows(tree: Fixpoint, states: States) -> dict[str, Quantity]:
    """How many rows relations have: those that do not change, and those that do and have been read."""
    found = {}
    for table in states.catalog.tables:
        if table.kind is Kind.RELATION and table.changes is None and table.name.lower() != tree.name.lower():
            name = symbol("rows", table.name)
            found[table.name] = states.evidence.symbols.setdefault(name, Quantity.symbol(name, table.rows))
    return found | {name: rows for name, rows in states.relations.items() if name.lower() != tree.name.lower()}


def _reader(states: States) -> BlockReader:
    """Reads blocks in which relations that change are streams that are later than all others."""
    tables = []
    for table in states.catalog.tables:
        if table.changes is not None:
            columns = (*table.columns, Column(CHANGED, table.changes.timestamp.type))
            table = DeclaredTable(table.name, Kind.STREAM, columns, CHANGED)
        tables.append(table)
    return replace(states.blocks, catalog=replace(states.catalog, tables=tuple(tables)))


def _as_streams(tree: Tree, catalog: Catalog) -> Tree:
    """A tree that reads, in the place of relations that change, their columns of these streams."""
    if isinstance(tree, Scan) and tree.changes:
        table = catalog.table(tree.table)
        assert table is not None, "a relation of the catalog"
        names = [column.name for column in table.columns]
        return Alias(_select(tree, tree.alias, names, tree.table, names), tree.alias, syntax=tree.syntax)
    below = {name: _as_streams(under, catalog) for name, under in named_inputs(tree).items()}
    return replace(tree, **below) if below else tree  # type: ignore[arg-type]


def _step(tree: Fixpoint, names: tuple[str, ...], states: States) -> Query:
    """The step, over a stream that stands for r: nothing is said of its time, so that it may grow whenever."""
    if len({name.lower() for name in names}) < len(names):
        raise NotRecheckedError("columns of the same name")
    typed = [column.type for column in schema(tree.base, states.catalog)]
    own = tuple(Column(f"_{n}", kind) for n, kind in enumerate(typed, 1) if kind is not None)
    time = clock(tree, states.catalog)
    if time is None:
        raise NotRecheckedError("a recursion without streams")
    stream = DeclaredTable(tree.name, Kind.STREAM, (*own, Column(TIME, time.type)), TIME)
    reader = _reader(states)
    others = tuple(table for table in reader.catalog.tables if table.name.lower() != tree.name.lower())
    reader = replace(reader, catalog=replace(reader.catalog, tables=(stream, *others)))
    return reader.view(_reading(_as_streams(tree.step, states.catalog), names, tree.name), distinct=True)


def _reading(tree: Tree, names: tuple[str, ...], table: str) -> Tree:
    """A step whose occurrences of r are SELECTs from that stream."""
    columns = [f"_{n}" for n in range(1, len(names) + 1)]
    match tree:
        case Recur(alias=alias):
            return Alias(_select(tree, alias, names, table, columns), alias, syntax=tree.syntax)
        case Alias(Recur() as recur, alias, others):
            return Alias(_select(recur, alias, names, table, columns), alias, others, syntax=recur.syntax)
    below = {name: _reading(under, names, table) for name, under in named_inputs(tree).items()}
    return replace(tree, **below) if below else tree  # type: ignore[arg-type]


def _select(place: Tree, alias: str, names: Sequence[str], table: str, columns: Sequence[str]) -> Project:
    nodes = [exp.column(column, quoted=True) for column in columns]
    items = tuple(Named(name, scalar(node), alias=True) for name, node in zip(names, nodes, strict=True))
    return Project(Scan(table, alias, syntax=exp.to_table(table)), items, syntax=place.syntax)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is kept of a case of the step: the results of a ``query`` of its streams, or the rows of one relation.

    Of rows with the same ``key`` one copy is enough.
    """

    key: object
    query: Query | None = None
    table: str = ""
    columns: tuple[str, ...] = ()
    changes: bool = False


@dataclass(frozen=True, slots=True)
class _Relation:
    """A recursive relation: the cases of its base, and those of its step, in which streams of its name are r."""

    name: str
    width: int
    base: tuple[Branch, ...]
    steps: tuple[Branch, ...]

    @property
    def values(self) -> tuple[Values, ...]:
        """The values of its columns: a fixpoint of what base and step give (F1)."""
        first = self._given(self.base, None)
        found, exact = first, _ROUNDS + self.width
        for number in range(exact + 2 * self.width + 1):
            made = self._with_step(first, found)
            if all(one.within(other) for one, other in zip(made, found, strict=True)):
                break
            pairs = zip(found, made, strict=True)
            found = tuple(one.widened(new) if number >= exact else one.joined(new) for one, new in pairs)
        made = self._with_step(first, found)
        if not all(one.within(other) for one, other in zip(made, found, strict=True)):
            raise NotRecheckedError("a recursion whose values have no fixpoint")
        return made

    def _with_step(self, first: tuple[Values, ...], found: tuple[Values, ...]) -> tuple[Values, ...]:
        return tuple(one.joined(new) for one, new in zip(first, self._given(self.steps, found), strict=True))

    def _given(self, branches: tuple[Branch, ...], own: tuple[Values, ...] | None) -> tuple[Values, ...]:
        """What the select lists of some cases give, r's columns having these values."""
        found = (NONE,) * self.width
        for branch in branches:
            narrowed = branch if own is None else self.narrowed(branch, own)
            if _contradicts(narrowed):
                continue
            present, conditions = _present(Conditions(branch)), Conditions(narrowed)
            made = (self._of(output, conditions, present, own) for output in narrowed.outputs)
            found = tuple(one.joined(new) for one, new in zip(found, made, strict=True))
        return found

    def _of(
        self, output: Output, conditions: Conditions, present: frozenset[Attribute], own: tuple[Values, ...] | None
    ) -> Values:
        value = output.value
        if isinstance(value, Constant):
            return Values.of(value.value, value.type.discrete)
        if not isinstance(value, Attribute):
            raise NotRecheckedError("a column of a recursion that is computed of several rows, or of times")
        null = value not in present
        if null and own is not None and conditions.source(value.source).table == self.name:
            stored = self._stored(conditions.branch, value)
            null = own[int(stored.column[1:]) - 1].null and stored not in present
        return values_of(conditions, value, null)

    def _stored(self, branch: Branch, attribute: Attribute) -> Attribute:
        """The column of r that an attribute is, whatever is added to it."""
        column = branch.column(attribute)
        if not column.expression:
            return attribute
        if column.shift is None:
            raise NotRecheckedError("an expression over a recursive relation")
        return self._stored(branch, Attribute(attribute.source, column.shift[0]))

    def narrowed(self, branch: Branch, own: tuple[Values, ...]) -> Branch:
        """A case for those rows only that r can have."""
        null = Conditions(branch).null
        more: list[Condition] = []
        for source in branch.sources:
            if source.table == self.name:
                for place, values in enumerate(own, 1):
                    attribute = Attribute(source.alias, f"_{place}")
                    more += values.conditions(attribute) if attribute not in null else ()
        return replace(branch, where=conjunction((branch.where, *more)))

    def rows(self, found: tuple[Values, ...], numbers: Mapping[str, Quantity]) -> Quantity | None:
        """The most rows: as many values as each column has by its domain (F1), or by the rows they come from (F4)."""
        sizes = [self._number(place, found, numbers) for place in range(self.width)]
        return None if None in sizes else product(size for size in sizes if size is not None)

    def _number(self, place: int, found: tuple[Values, ...], numbers: Mapping[str, Quantity]) -> Quantity | None:
        """The most values of a column: followed back to where they come from, through columns of r as they are."""
        seen, rest, relations = [place], NONE, dict[tuple[str, str], Quantity]()
        for column in seen:
            for branch, own in [*((one, None) for one in self.base), *((one, found) for one in self.steps)]:
                narrowed = branch if own is None else self.narrowed(branch, own)
                if _contradicts(narrowed):
                    continue
                value = branch.outputs[column].value
                source = branch.source(value.source) if isinstance(value, Attribute) else None
                written = source.column(value.column) if source and isinstance(value, Attribute) else None
                if source is None or written is None:
                    rest = rest.joined(self._given((branch,), own)[column])
                elif own is None and _BASE in numbers:
                    relations[_BASE, str(column)] = numbers[_BASE]
                elif source.table in numbers:
                    relations[source.table, written.expression or written.name] = numbers[source.table]
                elif source.table != self.name or written.expression:
                    rest = rest.joined(self._given((branch,), own)[column])
                elif (from_place := int(written.name[1:]) - 1) not in seen:
                    seen.append(from_place)
        known = found[place].size
        by_domain = None if known is None else Quantity.number(known)
        if rest.size is None:
            return by_domain
        by_rows = Quantity.number(rest.size) + total(relations.values())
        fewer = known is None or (by_rows.most is not None and by_rows.most < known)
        return by_rows if fewer else by_domain

    def kept(self, own: tuple[Values, ...], step: Query, catalog: Catalog) -> Iterator[_Kept]:
        """What is kept of the streams of each case that r can meet, and of the relations that it reads."""
        for number, branch in enumerate(self.steps):
            narrowed = self.narrowed(branch, own)
            if _contradicts(narrowed):
                continue
            tables = {source.alias: catalog.table(source.table) for source in branch.sources}
            changing = {alias for alias, table in tables.items() if table is not None and table.changes is not None}
            others = [source for source in branch.sources if source.table != self.name]
            fixed = [source for source in others if source.alias not in changing]
            alone = [source for source in others if source.alias in changing]
            if any(source.kind is not Kind.RELATION for source in fixed):
                yield _Kept(number, self._block(branch, narrowed, tuple(fixed), step))
            else:
                alone = [*fixed, *alone]
            for source in alone:
                read = [a for atom in narrowed.atoms for a in atom.attributes] + [*narrowed.projected]
                mine = [source.column(a.column) for a in dict.fromkeys(read) if a.source == source.alias]
                shown = mine if any(one.expression for one in mine) else [c for c in source.columns if not c.expression]
                names = tuple(one.name for one in shown if one.name != CHANGED)
                key = source.table, tuple(one.expression for one in mine) if shown is mine else ()
                yield _Kept(key, None, source.table, names, source.alias in changing)

    def _block(self, branch: Branch, narrowed: Branch, mine: tuple[Source, ...], step: Query) -> Query:
        """The rows of a case's streams that r can meet, with what is joined or shown of them."""
        aliases, conditions = {source.alias for source in mine}, Conditions(narrowed)
        inside = [atom for atom in narrowed.atoms if {a.source for a in atom.attributes} <= aliases]
        joining = [a for atom in narrowed.atoms if atom not in inside for a in atom.attributes]
        wanted = dict.fromkeys(a for a in (*joining, *narrowed.projected) if a.source in aliases)
        present, more = _present(conditions), list[Condition]()
        for attribute in wanted:
            if attribute in present:
                more += [NullTest(attribute, is_null=False)]
                more += values_of(conditions, attribute, null=False).conditions(attribute)
        outputs = tuple(Output(f"_{n}", attribute, branch.span) for n, attribute in enumerate(wanted, 1))
        merged = tuple(group for group in branch.merged if {*group} <= aliases)
        found = Branch(mine, conjunction((*inside, *more)), outputs, branch.span, merged=merged)
        return Query(step.name, step.file, True, (found,), step.span)


def _contradicts(branch: Branch) -> bool:
    conditions = Conditions(branch)
    try:
        return any(conditions.follows.bound(node, node) is None for node in conditions.attributes)
    except ContradictionError:
        return True


def _present(conditions: Conditions) -> frozenset[Attribute]:
    """The attributes that are not NULL in a result; nor is what is such a one and a constant more."""
    return frozenset([*conditions.present, *_shifted(conditions)])


def _shifted(conditions: Conditions) -> Iterator[Attribute]:
    for source in conditions.branch.sources:
        for column in source.columns:
            if column.shift is not None and Attribute(source.alias, column.shift[0]) in conditions.present:
                yield Attribute(source.alias, column.name)
