"""WITH RECURSIVE … UNION: propositions F1 (domains), F2 (inserts only) and F5 (no UNION ALL, no negation of itself).

F1: the values of each column of the recursive relation r are the least fixpoint of what its base and its step give,
under the step's conditions, widened where they still grow. F2: r is kept, and of each step the distinct results of its
streams alone, as far as r can meet them (Lemma 2): ``M = Π |dom r| + Σ Π |dom of what is kept of a step's streams|``,
beside the tables of streams that a step joins with each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.algebra.clock import clock
from streambound.analyzer.algebra.nodes import (
    Alias,
    Fixpoint,
    Named,
    Project,
    Recur,
    Scalar,
    Scan,
    Tree,
    named_inputs,
)
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import DeclaredTable, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.columns import Column
from streambound.analyzer.flatten import written
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
from streambound.criteria.operators.columns import columns_of, type_of
from streambound.criteria.operators.judge import Context, NoRule, groups
from streambound.criteria.operators.states import BlockPart, FixpointPart, Judged, State, StepPart, StepValue
from streambound.criteria.operators.value_ranges import NO_VALUES, ValueRange, range_of
from streambound.criteria.set import set_violations
from streambound.criteria.size import Number, Size, product
from streambound.criteria.violation import Violation
from streambound.preprocess.pipeline import derive

PROPOSITION = "F1"
TIME = "_ts"
"""The time of the stream that stands for r where its step is read: nothing is said of it, so r may grow at any time."""
_EXACT_ROUNDS = 2
"""Rounds beside one a column after which ends that still grow are left open."""


def judge_recursion(tree: Tree, context: Context) -> Judged:
    """A recursive relation over streams that only grow."""
    assert isinstance(tree, Fixpoint)
    if not tree.distinct:
        raise NoRule("recursion by UNION ALL, which need not end")
    return _Recursion(tree, context).judged()


@dataclass
class _Recursion:
    """One recursive relation, while it is judged."""

    tree: Fixpoint
    context: Context

    @property
    def base(self) -> Tree:
        """The base without the names that its columns have in r."""
        base = self.tree.base
        return base.input if isinstance(base, Alias) else base

    def judged(self) -> Judged:
        context, tree = self.context, self.tree
        base = context.blocks.view(self.base, distinct=True)
        names = [column.name for column in schema(tree.base, context.catalog)]
        columns = tuple(replace(one, name=name) for one, name in zip(columns_of(base), names, strict=True))
        split = derive(base).split
        step = self._step(columns)
        branches = derive(step).split.branches
        self._check_types(columns, (*split.branches, *branches))
        domains = _Domains(columns, split.branches, branches, tree.name)
        meeting = [(branch, one) for branch in branches if (one := domains.meeting(branch)) is not None]
        kept = [(branch, _streams_of(narrowed, domains, step)) for branch, narrowed in meeting]
        violations = [*_unbounded(split), *(v for _, query in kept if query for v in _unbounded(derive(query).split))]
        endless = list(domains.endless([branch for branch, _ in meeting]))
        if endless and context.unbounded:
            raise NoRule("a recursion that may never end")
        violations = violations or endless
        if context.refuses(violations):
            suspects = [replace(one, distinct=True) for one in (split, *self._unrolled())]
            told = dict.fromkeys(map(_of_recursion, violations))
            return Judged(None, (), tuple(told), tuple(suspects))
        number = context.size(lambda: domains.size, "a recursion whose values have no number")
        part, states = context.block(base, PROPOSITION)
        steps: list[StepPart] = []
        name = context.name("recursion")
        span = tree.at or context.positions.of(written(tree))
        own = [State(name, "F2", number, tuple(names), "never", span)]
        for branch, query in kept:
            block, more, size = self._block(query)
            steps.append(_step_part(branch, block, tree.name))
            states = (*states, *more)
            if block is not None:
                keys = tuple(str(output.value) for output in block.split.branches[0].outputs)
                of_step = f"{name} step {len(own)}"
                own.append(State(of_step, "F2", size, keys, "never", block.query.span, (block.split,)))
        found = FixpointPart(name, part, tuple(steps), columns)
        return Judged(found, (*states, *own), rows=number)

    def _step(self, columns: tuple[Column, ...]) -> Query:
        """The step over a stream that stands for r."""
        tree, context = self.tree, self.context
        names = [column.name for column in columns]
        if len({name.lower() for name in names}) < len(names):
            raise NoRule("columns of the same name")
        own = tuple(Column(f"_{n}", column.type) for n, column in enumerate(columns, 1))
        others = tuple(table for table in context.catalog.tables if table.name.lower() != tree.name.lower())
        found = clock(tree, context.catalog)
        if found is None:
            raise NoRule("a recursion without streams")
        time = Column(TIME, found.type)
        stream = DeclaredTable(tree.name, Kind.STREAM, (*own, time), TIME)
        catalog = replace(context.catalog, tables=(stream, *others))
        reader = replace(context.blocks, catalog=catalog)
        return reader.view(_reading(tree.step, names, tree.name), distinct=True)

    def _unrolled(self) -> Iterator[Query]:
        """The step of the base, of which witnesses are made as well."""
        tree = self.tree
        yield derive(self.context.blocks.view(_with_base(tree.step, tree.base), distinct=True)).split

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

    def _block(self, query: Query | None) -> tuple[BlockPart | None, tuple[State, ...], Size]:
        """What is kept of a step's streams: the block that gives it, its tables, and how many results it has."""
        if query is None:
            return None, (), Number(0)
        split = derive(query).split
        most = self.context.size(lambda: groups(split), "a step whose streams' results have no number")
        part, states = self.context.block(query, PROPOSITION)
        return part, states, most


@dataclass
class _Domains:
    """The values that r's columns can have (F1)."""

    columns: tuple[Column, ...]
    base: tuple[Branch, ...]
    steps: tuple[Branch, ...]
    name: str

    def __post_init__(self) -> None:
        known = {attribute for branch in self.steps for attribute in _not_null(branch)}
        self.present = frozenset(known)
        start = self._given(self.base, None)
        found, rounds = start, _EXACT_ROUNDS + len(self.columns)
        for turn in range(rounds + 2 * len(self.columns) + 1):
            made = tuple(map(ValueRange.join, start, self._given(self.steps, found)))
            if all(map(ValueRange.within, made, found)):
                break
            found = tuple(
                one.widened(other) if turn >= rounds else one.join(other)
                for one, other in zip(found, made, strict=True)
            )
        self.found = tuple(map(ValueRange.join, start, self._given(self.steps, found)))

    @property
    def size(self) -> Size | None:
        """The most rows of r; None where a column has no number of values."""
        sizes = [one.size for one in self.found]
        known = [size for size in sizes if size is not None]
        return product(map(Number, known)) if len(known) == len(sizes) else None

    def meeting(self, branch: Branch) -> Branch | None:
        """A case of the step for those rows only that r can have; None where there is none."""
        found = self._with(branch, self.found)
        return found if Facts.of(found).closure.satisfiable else None

    def endless(self, branches: list[Branch]) -> Iterator[Violation]:
        """Columns that the step's arithmetic makes grow without end."""
        for place, (column, values) in enumerate(zip(self.columns, self.found, strict=True)):
            for branch in branches if values.size is None else ():
                output = branch.outputs[place]
                if not isinstance(output.value, Attribute) or branch.source(output.value.source).table != self.name:
                    continue
                if not branch.column(output.value).expression:
                    continue
                message = (
                    f"the values of {self.name}.{column.name} may grow with each step: every one must be remembered"
                )
                help = "give the step a condition that ends it, as in WHERE depth < 10"
                yield Violation(
                    PROPOSITION, self.name, column.name, message, output.span, Code.UNBOUNDED_PROJECTION, help
                )

    def _given(self, branches: tuple[Branch, ...], recursive: tuple[ValueRange, ...] | None) -> tuple[ValueRange, ...]:
        """The values of the select lists of some cases."""
        found = tuple(NO_VALUES for _ in self.columns)
        for branch in branches:
            narrowed = branch if recursive is None else self._with(branch, recursive)
            facts = Facts.of(narrowed)
            if not facts.closure.satisfiable:
                continue
            never = _not_null(branch)
            made = (self._of_output(facts, output, recursive, never) for output in narrowed.outputs)
            found = tuple(map(ValueRange.join, found, made))
        return found

    def _of_output(
        self, facts: Facts, output: Output, recursive: tuple[ValueRange, ...] | None, never: frozenset[Attribute]
    ) -> ValueRange:
        value = output.value
        if isinstance(value, Constant):
            return ValueRange.of(value.value, value.type.discrete)
        assert isinstance(value, Attribute), "other columns have no rule"
        null = value not in never
        if null and recursive is not None and facts.branch.source(value.source).table == self.name:
            stored, _ = _stored(facts.branch, value)
            null = recursive[int(stored.column[1:]) - 1].null and stored not in never
        return range_of(facts, value, null)

    def _with(self, branch: Branch, recursive: tuple[ValueRange, ...]) -> Branch:
        """A case with what is known of r's columns as conditions; one that may be NULL stays so."""
        nulls = {a.attribute for a in branch.atoms if isinstance(a, NullTest) and a.is_null}
        more: list[Condition] = []
        for source in branch.sources:
            if source.table == self.name:
                own = [Attribute(source.alias, f"_{n}") for n in range(1, len(recursive) + 1)]
                for attribute, values in zip(own, recursive, strict=True):
                    if attribute not in nulls:
                        more += values.conditions(attribute)
        return replace(branch, where=conjunction((branch.where, *more)))


def _not_null(branch: Branch) -> frozenset[Attribute]:
    """The attributes that are never NULL in a result, since conditions compare them."""
    facts = Facts.of(branch)
    compared = {attribute for attribute in facts.closure.compared if attribute not in facts.closure.null}
    shifted = {
        Attribute(source.alias, column.name)
        for source in branch.sources
        for column in source.columns
        if column.shift is not None and Attribute(source.alias, column.shift[0]) in compared
    }
    return frozenset(compared | shifted)


def _unbounded(split: Query) -> Iterator[Violation]:
    """What the set criterion finds in the streams of a base, or of a step."""
    for branch in split.branches:
        yield from set_violations(Facts.of(branch))


def _of_recursion(found: Violation) -> Violation:
    """A violation of the set criterion in the words of a recursion."""
    message = found.message.replace("DISTINCT must remember", "a recursion must remember")
    return replace(found, condition=PROPOSITION, message=message)


def _streams_of(branch: Branch, domains: _Domains, step: Query) -> Query | None:
    """The streams of a case of the step, with what r joins or the step shows of them; None for one of r alone.

    Rows that r cannot meet, by what its columns can be, are left out: an edge matters only if it begins where r ends.
    """
    mine = tuple(source for source in branch.sources if source.table != domains.name)
    if not mine:
        return None
    if not any(source.kind is not Kind.RELATION for source in mine):
        raise NoRule("a step over relations")
    aliases = {source.alias for source in mine}
    own = [atom for atom in branch.atoms if {a.source for a in atom.attributes} <= aliases]
    joined = [a for atom in branch.atoms if atom not in own for a in atom.attributes if a.source in aliases]
    shown = [a for a in branch.projected if a.source in aliases]
    wanted = tuple(dict.fromkeys((*joined, *shown)))
    facts, compared = Facts.of(branch), _not_null(branch)
    more: list[Condition] = []
    for attribute in wanted:
        if attribute in compared:
            more.append(NullTest(attribute, is_null=False))
            more += range_of(facts, attribute, null=False).conditions(attribute)
    spans = {attribute: output.span for output in branch.outputs for attribute in output.attributes}
    spans |= {a: atom.span for atom in branch.atoms for a in atom.attributes if atom.span is not None and a in joined}
    outputs = tuple(
        Output(f"_{n}", attribute, spans.get(attribute, branch.span)) for n, attribute in enumerate(wanted, 1)
    )
    merged = tuple(group for group in branch.merged if set(group) <= aliases)
    found = Branch(mine, conjunction((*own, *more)), outputs, branch.span, merged=merged)
    return Query(step.name, step.file, True, (found,), step.span)


def _step_part(branch: Branch, block: BlockPart | None, name: str) -> StepPart:
    """A case of the step: which r's it reads, what it joins them by, and what it shows."""
    recursive = tuple(source.alias for source in branch.sources if source.table == name)
    edges = {} if block is None else {o.value: o.name for o in block.query.branches[0].outputs}

    def value(attribute: Attribute) -> StepValue:
        if attribute.source in recursive:
            stored, more = _stored(branch, attribute)
            return StepValue(recursive.index(attribute.source), int(stored.column[1:]) - 1, more)
        return StepValue(None, int(edges[attribute][1:]) - 1, 0)

    tests = tuple(
        (atom, tuple(map(value, atom.attributes)))
        for atom in branch.atoms
        if any(a.source in recursive for a in atom.attributes)
    )
    outputs = tuple(
        value(output.value) if isinstance(output.value, Attribute) else output.value for output in branch.outputs
    )
    assert all(isinstance(output, StepValue | Constant) for output in outputs), "other columns have no rule"
    return StepPart(len(recursive), block, tests, outputs)  # type: ignore[arg-type]


def _stored(branch: Branch, attribute: Attribute) -> tuple[Attribute, int]:
    """The column of r that an attribute is, and how much more than it; raises NoRule for another expression."""
    column = branch.column(attribute)
    if column.name == TIME:
        raise NoRule("the time of a recursive relation")
    if not column.expression:
        return attribute, 0
    if column.shift is None or not column.type.discrete:
        raise NoRule("an expression over a recursive relation")
    stored, more = _stored(branch, Attribute(attribute.source, column.shift[0]))
    return stored, more + column.shift[1]


def _reading(tree: Tree, names: list[str], table: str) -> Tree:
    """A step whose occurrences of r are selects from the stream that stands for it."""

    def select(recur: Recur) -> Project:
        items = tuple(
            Named(name, Scalar(column.sql("spark"), column), alias=True)
            for name, column in ((name, exp.column(f"_{n}", quoted=True)) for n, name in enumerate(names, 1))
        )
        scan = Scan(table, recur.alias, syntax=exp.to_table(table))
        return Project(scan, items, syntax=recur.syntax)

    return _replaced(tree, lambda recur, columns: Alias(select(recur), recur.alias, columns, syntax=recur.syntax))


def _with_base(tree: Tree, base: Tree) -> Tree:
    """A step whose occurrences of r are its base."""

    def select(recur: Recur, columns: tuple[str, ...]) -> Tree:
        inner, own = (base.input, base.columns) if isinstance(base, Alias) else (base, ())
        return Alias(inner, recur.alias, columns or own, syntax=recur.syntax)

    return _replaced(tree, select)


def _replaced(tree: Tree, made: object) -> Tree:
    match tree:
        case Recur():
            return made(tree, ())  # type: ignore[operator, no-any-return]
        case Alias(Recur() as recur, alias, columns):
            return made(replace(recur, alias=alias), columns)  # type: ignore[operator, no-any-return]
    below: Mapping[str, Tree] = {name: _replaced(under, made) for name, under in named_inputs(tree).items()}
    return replace(tree, **below) if below else tree  # type: ignore[arg-type]
