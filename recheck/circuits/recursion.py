"""WITH RECURSIVE … UNION over streams that only grow: F1 (the values of r's columns) and F2 (what is kept of a step).

r is kept whole and, of each case of its step, the different rows of its streams that r can meet; so each new row of
either finds its partners, and nothing else is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.clock import clock
from streambound.analyzer.algebra.nodes import Alias, Fixpoint, Named, Project, Recur, Scan, Tree, named_inputs
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.query import (
    Attribute,
    Branch,
    Condition,
    Constant,
    NullTest,
    Output,
    Query,
    conjunction,
)
from streambound.preprocess.pipeline import derive
from streambound.recheck.certificates.claims import RejectedError
from streambound.recheck.certificates.conditions import Conditions
from streambound.recheck.certificates.distances import ContradictionError
from streambound.recheck.certificates.quantity import Quantity, product
from streambound.recheck.circuits.claims import NotRecheckedError
from streambound.recheck.circuits.column_values import NONE, Values, values_of
from streambound.recheck.circuits.evidence import keys_with_values
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import scalar
from streambound.recheck.circuits.view import View

TIME = "_ts"
_ROUNDS = 2
"""Rounds, beside one a column, after which an end that still grows is left open."""


def recursion(tree: Tree, states: States) -> View:
    """The lines of the base, of what is kept of each step, and of r."""
    assert isinstance(tree, Fixpoint)
    if not tree.distinct:
        raise NotRecheckedError("recursion by UNION ALL, which need not end")
    base = states.blocks.view(tree.base.input if isinstance(tree.base, Alias) else tree.base, distinct=True)
    names = tuple(column.name for column in schema(tree.base, states.catalog))
    kinds = [column.type for column in schema(tree.base, states.catalog)]
    derivation, step = derive(base), _step(tree, names, states)
    split = derivation.split
    r = _Relation(tree.name, len(names), split.branches, derive(step).split.branches)
    found = r.values
    sizes = [one.size for one in found]
    if None in sizes or None in kinds:
        raise RejectedError(f"nothing says how many rows {tree.name} has")
    states.evidence.block(split, "F1", True, together=derivation.together)
    kept = [one for branch in r.steps if (one := r.kept_of(branch, found, step)) is not None]
    queries = [derive(one).split for one in kept]
    for one in queries:
        states.evidence.block(one, "F1", True)
    rows = product(Quantity.number(size) for size in sizes if size is not None)
    states.line("F2", names, rows, "never")
    for one in queries:
        if one.branches:
            counted = states.evidence.results([one])
            shown = tuple(str(output.value) for output in one.branches[0].outputs)
            states.line("F2", keys_with_values(shown, one, counted.tables), counted.entries, "never")
    return View(rows)


def _step(tree: Fixpoint, names: tuple[str, ...], states: States) -> Query:
    """The step, over a stream that stands for r: nothing is said of its time, so that it may grow whenever."""
    if len({name.lower() for name in names}) < len(names):
        raise NotRecheckedError("columns of the same name")
    typed = [column.type for column in schema(tree.base, states.catalog)]
    own = tuple(Column(f"_{n}", kind) for n, kind in enumerate(typed, 1) if kind is not None)
    if len(own) < len(typed):
        raise NotRecheckedError("a recursion with a column of no known type")
    others = tuple(table for table in states.catalog.tables if table.name.lower() != tree.name.lower())
    time = clock(tree, states.catalog)
    if time is None:
        raise NotRecheckedError("a recursion without streams")
    stream = DeclaredTable(tree.name, Kind.STREAM, (*own, Column(TIME, time.type)), TIME)
    reader = replace(states.blocks, catalog=replace(states.catalog, tables=(stream, *others)))
    return reader.view(_reading(tree.step, names, tree.name), distinct=True)


def _reading(tree: Tree, names: tuple[str, ...], table: str) -> Tree:
    """A step whose occurrences of r are SELECTs from that stream."""
    match tree:
        case Recur(alias=alias):
            return Alias(_select(tree, alias, names, table), alias, syntax=tree.syntax)
        case Alias(Recur() as recur, alias, columns):
            return Alias(_select(recur, alias, names, table), alias, columns, syntax=recur.syntax)
    below = {name: _reading(under, names, table) for name, under in named_inputs(tree).items()}
    return replace(tree, **below) if below else tree  # type: ignore[arg-type]


def _select(recur: Recur, alias: str, names: tuple[str, ...], table: str) -> Project:
    nodes = [exp.column(f"_{n}", quoted=True) for n in range(1, len(names) + 1)]
    items = tuple(Named(name, scalar(node), alias=True) for name, node in zip(names, nodes, strict=True))
    return Project(Scan(table, alias, syntax=exp.to_table(table)), items, syntax=recur.syntax)


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

    def kept_of(self, branch: Branch, own: tuple[Values, ...], step: Query) -> Query | None:
        """The rows of a case's streams that r can meet, with what it joins or shows of them; None of r alone."""
        narrowed = self.narrowed(branch, own)
        mine = tuple(source for source in branch.sources if source.table != self.name)
        if _contradicts(narrowed) or not mine:
            return None
        if not any(source.kind is not Kind.RELATION for source in mine):
            raise NotRecheckedError("a step over relations")
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
