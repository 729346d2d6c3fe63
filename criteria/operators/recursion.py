"""WITH RECURSIVE … UNION: propositions F1 to F5.

F1: its columns have so many values (`recursion_values`); F5: UNION ALL is refused. F2: r is kept, and of each step the
distinct results of its streams alone, as far as r can meet them (Lemma 2): ``M = |r| + Σ Π |dom of what is kept of a
step's streams|``, beside the tables of streams that a step joins with each other. F4: a relation is a stream that is
later than all others, with so many rows at a time. F3: where rows go, what was derived of them is derived again (DRed),
for which the base is kept as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.clock import clock
from streambound.analyzer.algebra.nodes import Alias, Fixpoint, Project, Recur, Scan, Tree, inputs
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.columns import Column
from streambound.analyzer.flatten import written
from streambound.analyzer.query import (
    Attribute,
    Branch,
    Constant,
    Query,
    Source,
)
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.symbols import symbol
from streambound.analyzer.types import Family
from streambound.criteria.judged import State
from streambound.criteria.operators.judge import Context, NoRule, groups
from streambound.criteria.operators.mapped import judge_project
from streambound.criteria.operators.parts import FixpointPart, MapPart, Part, RelationPart
from streambound.criteria.operators.recursion_values import BASE, PROPOSITION, RecursiveValues
from streambound.criteria.operators.states import JudgedPart
from streambound.criteria.parts import StepPart, StepValue
from streambound.criteria.recursive_blocks import (
    TIME,
    as_stream,
    block_of_step,
    place_of,
    reading,
    standing,
    stored,
    with_recursive,
)
from streambound.criteria.result_columns import columns_of, type_of
from streambound.criteria.set import set_violations
from streambound.criteria.size import Size, Symbol
from streambound.criteria.violation import Violation
from streambound.preprocess.pipeline import derive


def judge_recursion(tree: Tree, context: Context) -> JudgedPart:
    """A recursive relation."""
    assert isinstance(tree, Fixpoint)
    if not tree.distinct:
        raise NoRule("recursion by UNION ALL, which need not end")
    return _Recursion(tree, context).judged()


_NOTHING = JudgedPart()
_TAKEN_BACK = "when it is taken back"


@dataclass(frozen=True, slots=True)
class _StepInput:
    """What a case of the step reads beside r: rows of these ``sources``, of which it needs these ``attributes``.

    ``query`` gives those of a block of streams, ``relation`` those of one relation, with all its columns or, where
    some are expressions, with the attributes.
    """

    sources: tuple[Source, ...]
    attributes: tuple[Attribute, ...]
    query: Query | None = None
    relation: JudgedPart = _NOTHING

    @property
    def aliases(self) -> frozenset[str]:
        """Those of the sources."""
        return frozenset(source.alias for source in self.sources)

    @property
    def columns(self) -> tuple[Column, ...]:
        """What is needed of a relation, where some of it is computed; nothing for its columns as they are."""
        (source,) = self.sources
        found = tuple(source.column(one.column) for one in self.attributes)
        return found if any(one.expression for one in found) else ()

    def place(self, attribute: Attribute, columns: tuple[Column, ...]) -> int:
        """Where its part with these columns has an attribute."""
        if self.query is not None or self.columns:
            return self.attributes.index(attribute)
        return [one.name for one in columns].index(attribute.column)


@dataclass
class _Recursion:
    """One recursive relation, while it is judged.

    ``inputs`` are the parts that its step reads, each once; ``below`` is what these remember, ``own`` the copies of
    their rows that are joined with r.
    """

    tree: Fixpoint
    context: Context
    inputs: dict[object, Part] = field(default_factory=dict)
    below: list[State] = field(default_factory=list)
    own: list[State] = field(default_factory=list)

    @property
    def base(self) -> Tree:
        """The base without the names that its columns have in r."""
        base = self.tree.base
        return base.input if isinstance(base, Alias) else base

    def judged(self) -> JudgedPart:
        context, tree = self.context, self.tree
        query = self._reader().view(standing(self.base, context.catalog), distinct=True)
        names = tuple(column.name for column in schema(tree.base, context.catalog))
        columns = tuple(replace(one, name=name) for one, name in zip(columns_of(query), names, strict=True))
        split = derive(query).split
        step = self._step(columns)
        branches = derive(step).split.branches
        self._check_types(columns, (*split.branches, *branches))
        values = RecursiveValues(columns, split.branches, branches, tree.name)
        meeting = [(branch, one) for branch in branches if (one := values.meeting(branch)) is not None]
        base = self._base(query, split)
        cases = [(branch, tuple(self._reads(narrowed, step))) for branch, narrowed in meeting]
        reads = [one for _, several in cases for one in several]
        read = [v for one in reads for v in (*one.relation.violations, *_unbounded(one.query))]
        endless = list(values.endless([branch for branch, _ in meeting]))
        if endless and context.unbounded:
            raise NoRule("a recursion that may never end")
        violations = [*base.violations, *read] or endless
        if context.refuses(violations):
            suspects = [replace(one, distinct=True) for one in (split, *self._unrolled())]
            return JudgedPart(violations=tuple(dict.fromkeys(violations)), suspects=(*base.suspects, *suspects))
        if base.part is None or not all(map(_encoded_alike, base.part.columns, columns)):
            raise NoRule("a recursion whose base has columns of other types")
        name = context.name("recursion")
        steps = tuple(self._case(branch, several, name) for branch, several in cases)
        retracts = base.retracts or any(one.relation.retracts for one in reads)
        rows, freed = self._rows(), _TAKEN_BACK if retracts else "never"
        if base.rows is not None and is_static(self.base, context.catalog):
            rows[BASE] = base.rows
        number = context.size(lambda: values.size(rows), "a recursion whose values have no number")
        span = tree.at or context.positions.of(written(tree))
        proposition = "F2" if values.size({}) == number or context.unbounded else "F4"
        own = [State(name, proposition, number, names, freed, span)]
        if retracts:  # a row that is derived no more may still be the base's
            most = context.size(
                lambda: groups(split) if base.rows is None else base.rows, "a base whose rows have no number"
            )
            counted = () if base.rows is not None else (split,)
            own.append(State(f"{name} base", "F3", most, names, freed, span, counted))
        found = FixpointPart(name, base.part, tuple(self.inputs.values()), steps, columns, retracts)
        return JudgedPart(
            part=found, states=(*base.states, *self.below, *own, *self.own), rows=number, retracts=retracts
        )

    def _reader(self, *more: DeclaredTable) -> BlockReader:
        """Reads blocks in which relations that change are streams; r's name is that of the table that is ``more``."""
        context = self.context
        tables = [as_stream(table) if table.changes is not None else table for table in context.catalog.tables]
        others = [table for table in tables if table.name.lower() != self.tree.name.lower()]
        return replace(context.blocks, catalog=replace(context.catalog, tables=(*more, *(others if more else tables))))

    def _step(self, columns: tuple[Column, ...]) -> Query:
        """The step over a stream that stands for r."""
        tree, context = self.tree, self.context
        names = [column.name for column in columns]
        if len({name.lower() for name in names}) < len(names):
            raise NoRule("columns of the same name")
        own = tuple(Column(f"_{n}", column.type) for n, column in enumerate(columns, 1))
        found = clock(tree, context.catalog)
        if found is None:
            raise NoRule("a recursion without streams")
        stream = DeclaredTable(tree.name, Kind.STREAM, (*own, Column(TIME, found.type)), TIME)
        step = reading(standing(tree.step, context.catalog), names, tree.name)
        return self._reader(stream).view(step, distinct=True)

    def _unrolled(self) -> Iterator[Query]:
        """The step of the base, of which witnesses are made as well."""
        tree, context = self.tree, self.context
        unrolled = standing(with_base(tree.step, tree.base), context.catalog)
        yield derive(self._reader().view(unrolled, distinct=True)).split

    def _check_types(self, columns: tuple[Column, ...], branches: tuple[Branch, ...]) -> None:
        """Raise NoRule where base and step give a column in types that are encoded differently."""
        for branch in branches:
            for column, output in zip(columns, branch.outputs, strict=True):
                if not isinstance(output.value, Attribute | Constant):
                    raise NoRule("a column of a recursion that is computed of several rows, or of times")
                found = type_of(branch, output)
                if found != column.type and found.name != "void" and found.family is not column.type.family:
                    raise NoRule("a column of a recursion of two types")
                if found.family is not column.type.family and column.type.name == "void":
                    raise NoRule("a column of a recursion that begins with NULL")

    def _base(self, query: Query, split: Query) -> JudgedPart:
        """The rows that the recursion begins with: a block's, or those of relations, be it together with streams."""
        context, static = self.context, is_static(self.base, self.context.catalog)
        if is_block(self.base, context.catalog) and not static:
            if not all(branch.streams for branch in split.branches):
                raise NoRule("a recursion whose base reads streams in some of its parts only")
            violations = tuple(_unbounded(query))
            if context.refuses(violations):
                return JudgedPart(violations=violations)
            part, states = context.block(query, PROPOSITION)
            return JudgedPart(part=part, states=states)
        with context.reading(None):
            judge = judge_project if static and isinstance(self.base, Project) else context.judge
            return judge(self.base, context)

    # --- what a step reads -------------------------------------------------------------------------------------------

    def _reads(self, branch: Branch, step: Query) -> Iterator[_StepInput]:
        """Its streams as one block, with the relations that do not change; else each relation by itself."""
        others = [source for source in branch.sources if source.table != self.tree.name]
        alone = [source for source in others if self._changes(source)]
        together = [source for source in others if source not in alone]
        if any(source.kind is not Kind.RELATION for source in together):
            yield _StepInput(tuple(together), *block_of_step(branch, tuple(together), step))
        else:
            alone = [*together, *alone]
        for source in alone:
            read = (*(a for atom in branch.atoms for a in atom.attributes), *branch.projected)
            wanted = tuple(dict.fromkeys(one for one in read if one.source == source.alias))
            yield _StepInput((source,), wanted, relation=self._relation(source))

    def _changes(self, source: Source) -> bool:
        table = self.context.catalog.table(source.table)
        return table is not None and table.changes is not None

    def _relation(self, source: Source) -> JudgedPart:
        """The rows of a relation, with all its columns."""
        context = self.context
        if self._changes(source):
            scan = next(one for one in changing_scans(self.tree.step) if one.table == source.table)
            return context.judge(scan, context)
        columns = tuple(column for column in source.columns if not column.expression)
        table = DeclaredTable(source.table, Kind.RELATION, columns, rows=source.rows, query=source.query)
        part = RelationPart(context.name(f"relation {table.name}"), table, columns)
        return JudgedPart(part=part, rows=Symbol(symbol("rows", table.name), table.rows))

    def _case(self, branch: Branch, reads: tuple[_StepInput, ...], name: str) -> StepPart:
        """A case of the step: which r's it reads, what it joins them by, and what it shows."""
        places = [self._input(one, name) for one in reads]
        recursive = tuple(source.alias for source in branch.sources if source.table == self.tree.name)
        parts = [*self.inputs.values()]

        def value(attribute: Attribute) -> StepValue:
            if attribute.source in recursive:
                held = stored(branch, attribute)
                if isinstance(held, str):
                    raise NoRule(held)
                column, more = held
                return StepValue(recursive.index(attribute.source), place_of(column), more)
            number, read = next((n, one) for n, one in enumerate(reads) if attribute.source in one.aliases)
            return StepValue(len(recursive) + number, read.place(attribute, parts[places[number]].columns))

        inside = [one.aliases for one in reads if one.query is not None]
        tests = tuple(
            (atom, tuple(map(value, atom.attributes)))
            for atom in branch.atoms
            if not any({a.source for a in atom.attributes} <= aliases for aliases in inside)
        )
        outputs = tuple(
            value(output.value) if isinstance(output.value, Attribute) else output.value for output in branch.outputs
        )
        assert all(isinstance(output, StepValue | Constant) for output in outputs), "other columns have no rule"
        return StepPart(len(recursive), tuple(places), tests, outputs)  # type: ignore[arg-type]

    def _input(self, read: _StepInput, name: str) -> int:
        """The place of the part that gives what a step reads, which is made once."""
        of_block = read.query is not None
        key = len(self.inputs) if of_block else (read.sources[0].table, tuple(one.expression for one in read.columns))
        if key not in self.inputs:
            part, state = self._of_relation(read) if read.query is None else self._block(read.query)
            self.inputs[key] = part
            self.own.append(replace(state, name=f"{name} step {len(self.inputs)}"))
        return [*self.inputs].index(key)

    def _block(self, query: Query) -> tuple[Part, State]:
        """What is kept of a step's streams: the block that gives it, and its different results."""
        split = derive(query).split
        most = self.context.size(lambda: groups(split), "a step whose streams' results have no number")
        part, states = self.context.block(query, PROPOSITION)
        self.below += states
        keys = tuple(str(output.value) for output in split.branches[0].outputs)
        return part, State("", "F2", most, keys, "never", query.span, (split,))

    def _of_relation(self, read: _StepInput) -> tuple[Part, State]:
        """A relation's rows, with what is computed of them."""
        relation = read.relation
        assert relation.part is not None, "relations without a number of rows are refused"
        assert relation.rows is not None, "relations have a number of rows"
        self.below += relation.states
        part: Part = relation.part
        if read.columns:
            own = tuple(replace(one, expression="", shift=None) for one in read.columns)
            texts = tuple(one.expression or exp.column(one.name, quoted=True).sql("spark") for one in read.columns)
            part = MapPart(self.context.name("map"), part, own, texts)
        keys = tuple(column.name for column in part.columns)
        freed = _TAKEN_BACK if relation.retracts else "never"
        return part, State("", "F2", relation.rows, keys, freed, read.sources[0].span)

    def _rows(self) -> dict[str, Size]:
        """How many rows relations have at a time, by their names."""
        found: dict[str, Size] = {}
        for table in self.context.catalog.tables:
            if table.kind is Kind.RELATION and table.changes is None:
                found[table.name] = Symbol(symbol("rows", table.name), table.rows)
        found |= {name: state.size for name, (_, state) in self.context.relations.items()}
        return {name: size for name, size in found.items() if name.lower() != self.tree.name.lower()}


def _unbounded(query: Query | None) -> Iterator[Violation]:
    """What the set criterion finds in the streams of a base, or of a step."""
    for branch in () if query is None else derive(query).split.branches:
        for found in set_violations(Facts.of(branch)):
            message = found.message.replace("DISTINCT must remember", "a recursion must remember")
            yield replace(found, condition=PROPOSITION, message=message)


def _encoded_alike(one: Column, other: Column) -> bool:
    """Whether a value of either is the same in the other."""
    return one.type == other.type or one.type.family is other.type.family is Family.INTEGER


def with_base(tree: Tree, base: Tree) -> Tree:
    """A step whose occurrences of r are its base."""

    def made(recur: Recur, columns: tuple[str, ...]) -> Tree:
        inner, own = (base.input, base.columns) if isinstance(base, Alias) else (base, ())
        return Alias(inner, recur.alias, columns or own, syntax=recur.syntax)

    return with_recursive(tree, made)


def changing_scans(tree: Tree) -> Iterator[Scan]:
    """The relations that change of a tree."""
    if isinstance(tree, Scan) and tree.changes:
        yield tree
    for below in inputs(tree):
        yield from changing_scans(below)
