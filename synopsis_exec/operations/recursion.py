"""Recursion as the runtime has it: the rows that it begins with, and cases of its step over what these read beside."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.clock import clock
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.value_sets import ValueSet
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.block_columns import with_conditions_above
from streambound.analyzer.block_queries import BlockReader
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.closure import in_order
from streambound.analyzer.columns import Column
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.query import (
    Attribute,
    Branch,
    Comparison,
    Condition,
    Constant,
    NullTest,
    OneOf,
    Op,
    Query,
    Source,
    conjunction,
)
from streambound.analyzer.values import Value
from streambound.criteria.block_part import BlockPart
from streambound.criteria.bound import least_bound
from streambound.criteria.column_types import columns_of
from streambound.criteria.dataflow.state import Operation
from streambound.criteria.unlimited import unlimited
from streambound.preprocess.pipeline import derive
from streambound.synopsis_exec.branch_plan import OPERATORS, constant
from streambound.synopsis_exec.from_operations import JobOperators, NotMade, OperationRows
from streambound.synopsis_exec.made_operators import engine_types, names_of
from streambound.synopsis_exec.operations.recursive_blocks import (
    TIME,
    as_stream,
    block_of_step,
    column_of_recursion,
    place_of,
    reading,
    standing,
    stored,
)
from streambound_runtime.engine.plan import NativeNode
from streambound_runtime.operators.circuit_plan import FixpointNode, RecursionStep
from streambound_runtime.operators.plan import Term, Test


def rows_of_recursion(operation: Operation, tree: nodes.Fixpoint, job: JobOperators) -> OperationRows:
    """The least relation with the base's rows, and those that the step makes of it."""
    return _FixpointRows(operation, tree, job).rows()


@dataclass(frozen=True, slots=True)
class _StepRows:
    """The other rows that a case of the step reads: of these ``sources``, with these ``attributes``.

    ``query`` gives those of a block of streams; else they are those of one relation.
    """

    sources: tuple[Source, ...]
    attributes: tuple[Attribute, ...]
    query: Query | None = None

    @property
    def aliases(self) -> frozenset[str]:
        """Those of the sources."""
        return frozenset(source.alias for source in self.sources)


@dataclass
class _FixpointRows:
    """One recursive relation; ``inputs`` are what its step reads, each once."""

    operation: Operation
    tree: nodes.Fixpoint
    job: JobOperators
    inputs: dict[object, OperationRows] = field(default_factory=dict)

    def rows(self) -> OperationRows:
        """The operator of the relation."""
        tree, job = self.tree, self.job
        base_tree = tree.base.input if isinstance(tree.base, nodes.Alias) else tree.base
        query = self._reader().view(standing(self._readable(base_tree), job.catalog), distinct=True)
        named = zip(columns_of(query), schema(tree.base, job.catalog), strict=True)
        columns = tuple(replace(column, name=view.name) for column, view in named)
        step = self._step(columns)
        branches = derive(step).split.branches
        meeting = [(branch, one) for branch in branches if (one := self._meeting(branch)) is not None]
        every = tuple(range(len(columns)))
        base = job.exactly(job.rows(self.operation.inputs[0]), every)
        cases = [(branch, tuple(self._reads(narrowed, step))) for branch, narrowed in meeting]
        steps = tuple(self._case(branch, several, len(columns)) for branch, several in cases)
        endless = {n for n, one in enumerate(job.views.of(tree).columns) if one.values.size is None}
        if any(_adds(one, endless) for one in steps):
            raise NotMade("a recursion that may never end")
        inputs = [*self.inputs.values()]
        tables = [job.catalog.table(source.table) for branch in branches for source in branch.sources]
        changes = any(table is not None and table.changes is not None for table in tables)
        retracts = changes or job.views.of(tree.base).change > ViewKind.APPEND_ONLY
        node = FixpointNode(
            job.named("recursion"),
            base.operator,
            tuple(rows.operator for rows in inputs),
            steps,
            names_of(columns),
            tuple(names_of(rows.columns) for rows in inputs),
            retracts,
        )
        return job.added(NativeNode(node, engine_types(columns), True), every, columns)

    def _readable(self, tree: nodes.Tree) -> nodes.Tree:
        """A tree with its conditions above its joins, where blocks have them."""
        match tree:
            case nodes.Project(input) | nodes.Alias(input) | nodes.Distinct(input):
                return replace(tree, input=self._readable(input))
            case nodes.Union(left, right):
                return replace(tree, left=self._readable(left), right=self._readable(right))
            case nodes.Filter() | nodes.Join():
                inside = replace(self.job.context, views=self.job.views.inside(self.tree))
                return with_conditions_above(tree, inside.columns)
        return tree

    def _reader(self, *more: DeclaredTable) -> BlockReader:
        """Reads blocks in which relations that change are streams; r's name is that of the table that is ``more``."""
        context = self.job.context
        tables = [as_stream(table) if table.changes is not None else table for table in context.catalog.tables]
        others = [table for table in tables if table.name.lower() != self.tree.name.lower()]
        return replace(context.blocks, catalog=replace(context.catalog, tables=(*more, *(others if more else tables))))

    def _step(self, columns: tuple[Column, ...]) -> Query:
        """The step over a stream that stands for r."""
        tree, catalog = self.tree, self.job.catalog
        own = tuple(Column(column_of_recursion(place), column.type) for place, column in enumerate(columns))
        found = clock(tree, catalog)
        if found is None:
            raise NotMade("a recursion without streams")
        stream = DeclaredTable(tree.name, Kind.STREAM, (*own, Column(TIME, found.type)), TIME)
        step = reading(standing(self._readable(tree.step), catalog), [column.name for column in columns], tree.name)
        return self._reader(stream).view(step, distinct=True)

    def _meeting(self, branch: Branch) -> Branch | None:
        """A case of the step for those rows only that r can have; None where there is none."""
        nulls = {atom.attribute for atom in branch.atoms if isinstance(atom, NullTest) and atom.is_null}
        aliases = [source.alias for source in branch.sources if source.table == self.tree.name]
        more = [
            condition
            for place, column in enumerate(self.job.views.of(self.tree).columns)
            for attribute in (Attribute(alias, column_of_recursion(place)) for alias in aliases)
            if attribute not in nulls
            for condition in _having(attribute, column.values)
        ]
        found = replace(branch, where=conjunction((branch.where, *more)))
        return found if Facts.of(found).closure.satisfiable else None

    # --- what a step reads --------------------------------------------------------------------------------------------

    def _reads(self, branch: Branch, step: Query) -> Iterator[_StepRows]:
        """Its streams as one block, with the relations that do not change; else each relation by itself."""
        others = [source for source in branch.sources if source.table != self.tree.name]
        alone = [source for source in others if self._changes(source)]
        together = [source for source in others if source not in alone]
        if any(source.kind is not Kind.RELATION for source in together):
            yield _StepRows(tuple(together), *block_of_step(branch, tuple(together), step))
        else:
            alone = [*together, *alone]
        for source in alone:
            read = (*(a for atom in branch.atoms for a in atom.attributes), *branch.projected)
            wanted = tuple(dict.fromkeys(one for one in read if one.source == source.alias))
            yield _StepRows((source,), wanted)

    def _changes(self, source: Source) -> bool:
        table = self.job.catalog.table(source.table)
        return table is not None and table.changes is not None

    def _case(self, branch: Branch, reads: tuple[_StepRows, ...], width: int) -> RecursionStep:
        """A case of the step: which r's it reads, their width, what it joins them by, and what it shows."""
        places = [self._input(one) for one in reads]
        recursive = tuple(source.alias for source in branch.sources if source.table == self.tree.name)

        def value(attribute: Attribute) -> tuple[str, int]:
            """The variable of an attribute, and how much more than it the attribute is."""
            if attribute.source in recursive:
                held = stored(branch, attribute)
                if isinstance(held, str):
                    raise NotMade(held)
                column, more = held
                return _variable(recursive.index(attribute.source), place_of(column)), more
            number, read = next((n, one) for n, one in enumerate(reads) if attribute.source in one.aliases)
            return _variable(len(recursive) + number, read.attributes.index(attribute)), 0

        inside = [one.aliases for one in reads if one.query is not None]
        tests = tuple(
            _test(atom, [value(attribute) for attribute in atom.attributes])
            for atom in branch.atoms
            if not any({a.source for a in atom.attributes} <= aliases for aliases in inside)
        )
        terms = list[Term]()
        for output in branch.outputs:
            match output.value:
                case Attribute():
                    terms.append(Term(*value(output.value)))
                case Constant(known):
                    terms.append(Term(None, None if known is None else constant(known)))
                case _:
                    raise NotMade("a column of a recursion that is computed of several rows, or of times")
        inputs = [*self.inputs.values()]
        widths = [width] * len(recursive) + [len(inputs[place].columns) for place in places]
        variables = tuple(tuple(_variable(n, at) for at in range(width)) for n, width in enumerate(widths))
        return RecursionStep(variables, tuple(places), tests, tuple(terms))

    def _input(self, read: _StepRows) -> int:
        """The place of what a step reads among the inputs, each of which is made once."""
        texts = tuple(self._text(read.sources[0], one) for one in read.attributes)
        key: object = len(self.inputs) if read.query is not None else (read.sources[0].table, texts)
        if key not in self.inputs:
            self.inputs[key] = self._relation(read, texts) if read.query is None else self._block(read.query)
        return [*self.inputs].index(key)

    @staticmethod
    def _text(source: Source, attribute: Attribute) -> str:
        column = source.column(attribute.column)
        return column.expression or exp.column(column.name, quoted=True).sql("spark")

    def _block(self, query: Query) -> OperationRows:
        """The states of a step's streams."""
        derivation = derive(query)
        sizes = least_bound(derivation, repeats=True)
        if sizes is None and self.job.grows:
            sizes = unlimited(derivation.split, repeats=True)
        if sizes is None:
            raise NotMade("more tables than a synopsis has")
        columns = columns_of(query)
        part = BlockPart(self.job.named("block"), query, derivation.split, sizes, columns)
        return self.job.added(self.job.block(part), range(len(columns)), columns)

    def _relation(self, read: _StepRows, texts: tuple[str, ...]) -> OperationRows:
        """A relation's rows, with what the step reads of them."""
        (source,) = read.sources
        table = self.job.catalog.table(source.table)
        if table is not None and table.changes is not None:
            rows, columns = self.job.rows_of_changes(table), table.columns
        else:
            columns = tuple(column for column in source.columns if not column.expression)
            given = DeclaredTable(source.table, Kind.RELATION, columns, rows=source.rows, query=source.query)
            made = self.job.relation(self.job.named(f"relation {given.name}"), given, columns)
            rows = self.job.added(made, range(len(columns)), columns)
        names = {column.name: f"`c{n}`" for n, column in enumerate(columns)}

        def meant(one: exp.Expr) -> exp.Expr:
            return exp.column(names[one.name].strip("`"), quoted=True) if isinstance(one, exp.Column) else one

        nodes_of = list(map(parsed, texts))
        wanted = [node.transform(meant).sql("spark") for node in nodes_of]
        return self.job.made_of(rows, wanted, range(len(wanted)))


def _having(attribute: Attribute, values: ValueSet) -> Iterator[Condition]:
    """That an attribute has one of some values, which are known as a list or as whole numbers."""
    if values.listed is not None:
        if values.listed:
            yield OneOf(attribute, tuple(sorted(values.listed, key=in_order)))
        return
    if isinstance(values.low, int):
        yield Comparison(attribute, Op.GE, None, values.low)
    if isinstance(values.high, int):
        yield Comparison(attribute, Op.LE, None, values.high)


def _adds(step: RecursionStep, columns: Collection[int]) -> bool:
    """Whether a case of the step makes values of some columns that no row has that it is made of."""
    return any(step.values[place].variable is not None and step.values[place].offset != 0 for place in columns)


def _variable(participant: int, place: int) -> str:
    """The name of a column of a row of r, in turn, or of one of the step's other inputs."""
    return f"{participant}.{place}"


def _test(condition: Condition, values: Sequence[tuple[str, int]]) -> Test:
    """A condition over variables; what they are more than these is moved to the other side."""
    left, more = values[0]
    if isinstance(condition, NullTest):
        return Test(left, "is null" if condition.is_null else "is not null")
    if not isinstance(condition, Comparison):
        return Test(left, "in", None, tuple(constant(_less(value, more)) for value in condition.values))
    right, added = values[1] if condition.right is not None else (None, 0)
    return Test(left, OPERATORS[condition.op], right, constant(_less(condition.offset, more - added)))


def _less(value: Value, more: int) -> Value:
    return value if isinstance(value, str) else value - more
