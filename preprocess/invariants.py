"""What must hold of a query after a pass: it is well formed always, and has what each pass before it has established.

``violations`` is cheap, linear in the query, and the pipeline asks after each pass. ``unproved`` computes the facts of
every branch anew; `explain` and the tests ask it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import permutations

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.query import (
    FALSE,
    And,
    Attribute,
    Branch,
    Comparison,
    Constant,
    Formula,
    Kind,
    Not,
    Op,
    Or,
    Output,
    Query,
    conjuncts,
    formula_attributes,
)
from streambound.analyzer.types import DataType
from streambound.analyzer.work import spend

_STEPS = 0.05
"""What a condition and a column cost."""


def violations(query: Query, established: Collection[str] = ()) -> tuple[str, ...]:
    """The faults in the form of a query, violations of these ``established`` properties among them."""
    return tuple(wrong for branch in query.branches for wrong in _of_branch(branch, established)) + tuple(_sides(query))


def _of_branch(branch: Branch, established: Collection[str]) -> Iterator[str]:
    columns = {(source.alias, column.name): column.type for source in branch.sources for column in source.columns}
    if len({source.alias for source in branch.sources}) < len(branch.sources):
        yield "two sources have one alias"
    named = (
        *formula_attributes(branch.where),
        *branch.projected,
        *(a for t in branch.time_values for a in t.attributes),
    )
    spend(len(named) * _STEPS)
    unknown = [attribute for attribute in named if attribute not in columns]
    yield from (f"no source has {attribute}" for attribute in dict.fromkeys(unknown))
    if not unknown:
        yield from _types(branch.where, columns)
    if "conjunctive" in established:
        try:
            conjuncts(branch.where)
        except TypeError:
            if branch.where != FALSE:
                yield "a condition is no conjunction"
    if "satisfiable" in established and branch.where == FALSE:
        yield "a branch is never satisfied"
    merged = [alias for group in branch.merged for alias in group]
    streams = {source.alias for source in branch.streams}
    if len(set(merged)) < len(merged) or not set(merged) <= streams or any(len(group) < 2 for group in branch.merged):
        yield "merged streams are no groups of the branch's streams"
    if merged and "merged" not in established:
        yield "streams are merged too early"
    if branch.of_kind(Kind.FINITE) and "finite" not in established:
        yield "a stream is called finite too early"


def _types(formula: Formula, columns: dict[Attribute | tuple[str, str], DataType]) -> Iterator[str]:
    match formula:
        case Comparison(left, _, right) if right is not None and not columns[left].comparable(columns[right]):
            yield f"{left} is {columns[left].name}, {right} is {columns[right].name}"
        case And(parts) | Or(parts):
            for part in parts:
                yield from _types(part, columns)
        case Not(part):
            yield from _types(part, columns)


def _sides(query: Query) -> Iterator[str]:
    """Where the branches have not the same columns."""
    for branch in query.branches[1:]:
        first = query.branches[0]
        if len(branch.outputs) != len(first.outputs):
            yield f"{len(first.outputs)} columns and {len(branch.outputs)}"
            continue
        for one, other in zip(first.outputs, branch.outputs, strict=True):
            kinds = _type(one, first), _type(other, branch)
            if None not in kinds and not kinds[0].comparable(kinds[1]) and kinds[0] != kinds[1]:  # type: ignore[union-attr, arg-type]
                yield f"{one.name} is {kinds[0].name} and {kinds[1].name}"  # type: ignore[union-attr]


def _type(output: Output, branch: Branch) -> DataType | None:
    """The type of an output; None for NULL."""
    match output.value:
        case Attribute():
            return branch.column(output.value).type
        case Constant(value=None):
            return None
    return output.value.type


def unproved(query: Query, established: Collection[str]) -> tuple[str, ...]:
    """The established properties that the facts of a query's branches do not confirm; only after `violations`."""
    return tuple(wrong for branch in query.branches for wrong in _unproved(branch, established))


def _unproved(branch: Branch, established: Collection[str]) -> Iterator[str]:
    if "conjunctive" not in established or branch.where == FALSE:
        return
    facts = Facts.of(branch)
    if "satisfiable" in established and not facts.closure.satisfiable:
        yield "a branch is never satisfied"
        return
    if "split" in established:
        atoms = [atom for atom in branch.atoms if isinstance(atom, Comparison) and atom.op is Op.NE]
        waiting = [
            atom for atom in atoms if branch.joins_streams(atom) and not all(map(facts.bounded, atom.attributes))
        ]
        yield from (f"{atom.left} <> {atom.right} is not split" for atom in waiting)
    if "merged" in established:
        groups = {alias: group for group in branch.merged for alias in group}
        for one, other in permutations([source.alias for source in branch.streams], 2):
            equal = facts.lag(one, other) == 0 == facts.lag(other, one)
            if equal != (other in groups.get(one, ())):
                yield f"{one} and {other} are {'not ' if equal else ''}merged"
    if "finite" in established:
        finite = {source.alias for source in branch.of_kind(Kind.FINITE)}
        if finite != set(facts.finite_streams):
            yield f"finite streams are {', '.join(sorted(facts.finite_streams)) or 'none'}"
