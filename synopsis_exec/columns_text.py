"""The function `branches` of a job: tables and transitions as data for the kernel of whole columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from streambound.analyzer.boundedness import Limit
from streambound.analyzer.query import Attribute, Comparison, Constant, NullTest, Op
from streambound.analyzer.types import Family
from streambound.criteria.tables import Stored, Table
from streambound.criteria.ways import Part
from streambound.synopsis_exec.emit import literal
from streambound.synopsis_exec.layout import Node, Tree, called, laid_out, listing, mapping
from streambound.synopsis_exec.loops import OPERATORS, Term, exact, number, plus
from streambound.synopsis_exec.plan_ir import Plan, PlanSource, PlanTransition
from streambound.synopsis_exec.transitions import BranchText

Values = dict[Attribute, Term]
_OWNER, _PARAMETER = "self.", "synopsis."


def columns_text(plan: Plan, branches: list[BranchText]) -> str:
    """The function `branches`, for the kernel with the same names."""
    body = laid_out(listing([branch_node(branch) for branch in branches]), 1, before="return ")
    head = ["def branches(synopsis: Synopsis) -> tuple[Branch, ...]:", '    """What `Synopsis` does, as data."""']
    texts = [str(place) for place, column in enumerate(plan.columns) if column.type.family is Family.STRING]
    constants = [f"DISTINCT = {plan.distinct}", f"TEXTS: frozenset[str] = {_names(texts)}"]
    return "\n".join([*constants, "", "", *head, *body]) + "\n"


def _names(names: list[str]) -> str:
    return f"frozenset({literal(tuple(names))})" if names else "frozenset()"


def branch_node(branch: BranchText) -> Node:
    """A branch as data."""
    plan = branch.branch
    streams = list(branch.arrived)
    transitions: list[Tree] = [transition_node(branch, transition) for transition in plan.transitions]
    parts: dict[str, Tree] = {
        "arriving": listing([_arriving(branch, plan.source(alias)) for alias in streams]),
        "known": listing([_known(branch, group) for group in plan.groups]),
        "tables": listing([_table(branch, table) for table in plan.tables]),
        "transitions": listing(transitions),
    }
    if texts := _texts(branch):
        parts["texts"] = _names(texts)
    return called("Branch", **parts)


def _texts(branch: BranchText) -> list[str]:
    """The names of columns that hold texts."""
    plan = branch.branch
    kinds = {attribute: plan.branch.column(attribute).type.family for attribute in branch.variables}
    return sorted(branch.variables[attribute] for attribute, family in kinds.items() if family is Family.STRING)


def _arriving(branch: BranchText, source: PlanSource) -> Node:
    attributes = dict.fromkeys(Attribute(source.alias, column) for column in source.columns)
    attributes |= dict.fromkeys(a for test in source.filters for a in test.attributes)
    attributes |= dict.fromkeys(extreme.attribute for extreme in source.extremes)
    attributes |= dict.fromkeys(member.attribute for member in source.members)
    kept = tuple(branch.variable(Attribute(source.alias, column)) for column in source.columns)
    return called(
        "Arriving",
        stream=literal(source.table),
        columns=mapping({branch.variable(a): a.column for a in attributes}),
        kept=literal(kept),
        tests=listing(_filters(branch, source)),
        times=listing([_test("now", check.op, None, check.offset) for check in source.times]),
    )


def _filters(branch: BranchText, source: PlanSource) -> list[Tree]:
    tests: list[Tree] = []
    for check in source.filters:
        if isinstance(check, NullTest):
            word = "is null" if check.is_null else "is not null"
            tests.append(called("Test", literal(branch.variable(check.attribute)), literal(word)))
        else:
            right = None if check.right is None else branch.variable(check.right)
            offset = check.offset if right is None else number(check.offset)
            tests.append(_test(branch.variable(check.left), check.op, right, offset))
    for member in source.members:
        tests.append(
            called("Test", literal(branch.variable(member.attribute)), '"in"', "None", literal(tuple(member.values)))
        )
    for extreme in source.extremes:
        limit = _PARAMETER + branch.extreme(extreme).removeprefix(_OWNER)
        op = literal(">=" if extreme.lower else "<=")
        tests.append(called("Test", literal(branch.variable(extreme.attribute)), op, "None", limit))
    return tests


def _test(left: str, op: Op, right: str | None, offset: object) -> Node:
    parts = [literal(left), literal(OPERATORS[op])]
    if right is None or offset:
        parts += [literal(right), literal(offset)]
    else:
        parts.append(literal(right))
    return called("Test", *parts)


def _known(branch: BranchText, group: tuple[str, ...]) -> Node:
    columns = tuple(branch.variable(attribute) for attribute in branch.group_columns(group))
    return called("Known", columns=literal(columns), rows=f"{_PARAMETER}{branch.groups[group]}")


def _table(branch: BranchText, table: Table) -> Node:
    return called(
        "Table",
        name=literal(branch.plan.table_name(branch.branch.number, table)),
        columns=literal(tuple(branch.variable(stored.attribute) for stored in table.key)),
        ages=literal(tuple((_number(branch, age.stream), age.expires, age.saturates) for age in table.ages)),
        deadline=literal(table.deadline),
        single=literal(len(table.streams) == 1),
    )


def _number(branch: BranchText, stream: str) -> int:
    """A stream's number among those that arrive."""
    return list(branch.arrived).index(stream)


# --- transitions -----------------------------------------------------------------------------------------------------


@dataclass
class _Participant:
    """What takes part in a transition: how it is called in the data, the values that it gives, and what else to say."""

    what: str
    place: int
    values: Values
    more: dict[str, Tree] = field(default_factory=dict)


@dataclass
class _Open:
    """The values that the participants so far give, and the checks still to make."""

    checks: list[Comparison]
    values: Values = field(default_factory=dict)

    def connection(self, participant: _Participant) -> tuple[bool, bool]:
        """Whether an equality, or any check, connects a participant with what is there."""
        met = [
            check
            for check in self.checks
            if any(a in participant.values for a in check.attributes)
            and any(a in self.values for a in check.attributes)
        ]
        return any(check.op is Op.EQ for check in met), bool(met)


def transition_node(branch: BranchText, transition: PlanTransition, newer: tuple[str, ...] | None = None) -> Node:
    """A transition as data; ``newer`` are the streams of a table whose entries arrive instead of rows."""
    plan = branch.branch
    waiting = [_stream(branch, alias) for alias in transition.arriving]
    if newer is not None:
        waiting.append(replace(_remembered(branch, newer), what="arriving"))
    waiting += [_part(branch, transition, part) for part in transition.parts]
    waiting += [_relations(branch, group) for group in transition.groups]
    state = _Open(list(transition.checks))
    joins: list[Tree] = []
    while waiting:
        chosen = max(waiting, key=state.connection)
        waiting.remove(chosen)
        joins.append(_join(state, chosen))
    named: dict[str, Tree] = {"target": "None", "joins": listing(joins)}
    if transition.output:
        named["values"] = listing([_output(state.values, output.value) for output in plan.outputs])
    else:
        table = plan.table(transition.target)
        named["target"] = str(plan.tables.index(table))
        named["values"] = listing([_kept(branch, stored, state.values) for stored in table.key])
        kept = tuple(_number(branch, age.stream) for age in table.ages if age.stream in transition.before)
        if kept:
            named["kept"] = literal(kept)
    return called("Transition", **named)


def _stream(branch: BranchText, alias: str) -> _Participant:
    source = branch.branch.source(alias)
    values = {(a := Attribute(alias, column)): Term(branch.variable(a)) for column in source.columns}
    return _Participant("arriving", _number(branch, alias), values)


def _relations(branch: BranchText, group: tuple[str, ...]) -> _Participant:
    values = {attribute: Term(branch.variable(attribute)) for attribute in branch.group_columns(group)}
    return _Participant("known", branch.branch.groups.index(group), values)


def _remembered(branch: BranchText, before: tuple[str, ...]) -> _Participant:
    table = branch.branch.table(before)
    values: Values = {}
    for stored in table.key:
        variable = branch.variable(stored.attribute)
        values[stored.attribute] = Term(variable)
        values |= {other: Term(variable, exact(offset)) for other, offset in stored.equal}
    return _Participant("table", branch.branch.tables.index(table), values)


def _part(branch: BranchText, transition: PlanTransition, part: Part) -> _Participant:
    """A table that takes part, with the ages that its entries may have."""
    found = _remembered(branch, part.streams)
    checks = [check for check in transition.ages if check.stream in part.streams]
    if checks:
        ages = ((_number(branch, check.stream), check.least, check.greatest) for check in checks)
        found.more["ages"] = literal(tuple(ages))
    if part.now:
        found.more["now"] = "True"
    return found


def _join(state: _Open, chosen: _Participant) -> Node:
    """One participant: its columns that equalities fix, and the checks that can then be made."""
    equal: dict[str, Term] = {}
    for check in list(state.checks):
        found = _equality(check, chosen.values, state.values)
        if found is not None and found[0] not in equal:
            equal[found[0]] = found[1]
            state.checks.remove(check)
    state.values |= chosen.values
    ready = [check for check in state.checks if all(a in state.values for a in check.attributes)]
    state.checks = [check for check in state.checks if check not in ready]
    named: dict[str, Tree] = {chosen.what: str(chosen.place), **chosen.more}
    if equal:
        named["equal"] = listing([listing([literal(name), _term(term)]) for name, term in equal.items()])
    if ready:
        named["tests"] = listing([_comparison(check, state.values) for check in ready])
    return called("Join", **named)


def _equality(check: Comparison, mine: Values, there: Values) -> tuple[str, Term] | None:
    """For ``column + x = other + y`` the column of a participant, and the term that it equals."""
    left, right, offset = check.left, check.right, number(check.offset)
    if check.op is not Op.EQ or right is None:
        return None
    if right in mine and left in there:
        left, right, offset = right, left, -offset
    if left not in mine or right not in there:
        return None
    other = there[right]
    return mine[left].variable, Term(other.variable, other.offset + offset - mine[left].offset)


def _comparison(check: Comparison, values: Values) -> Node:
    assert check.right is not None, "checks between sources have two sides"
    left, right = values[check.left], values[check.right]
    return _test(left.variable, check.op, right.variable, right.offset - left.offset + number(check.offset))


def _term(term: Term, **limits: Tree) -> Node:
    offset: list[Tree] = [literal(term.offset)] if term.offset else []
    return called("Term", literal(term.variable), *offset, **limits)


def _kept(branch: BranchText, stored: Stored, values: Values) -> Node:
    if stored.cuts:
        return _term(values[stored.attribute], places=branch.places_of(stored).replace(_OWNER, _PARAMETER))
    if branch.by_match(stored):
        low, high = (_limits(branch, ends, values, lower) for ends, lower in ((stored.low, True), (stored.high, False)))
        return _term(values[stored.attribute], **({"lows": low} if stored.low else {"highs": high}))
    named = {side: text.replace(_OWNER, _PARAMETER) for side, text in branch.clip_limits(stored, values).items()}
    return _term(values[stored.attribute], **named)


def _limits(branch: BranchText, limits: tuple[Limit, ...], values: Values, lower: bool) -> Node:
    return listing([listing(list(_parts(branch, limit, values, lower))) for limit in limits])


def _parts(branch: BranchText, limit: Limit, values: Values, lower: bool) -> Iterator[Tree]:
    """The parts of a limit that depends on the partial match."""
    if limit.constant is not None:
        yield called("Term", "None", literal(exact(limit.constant)))
    for attribute, offset in limit.relations:
        if branch.of_stream(attribute):
            term = values[attribute]
            yield _term(Term(term.variable, exact(term.offset + offset)))
        else:
            name = branch.relations_extreme(attribute, lower).replace(_OWNER, _PARAMETER)
            yield called("Term", "None", plus(name, exact(offset)))


def _output(values: Values, value: Attribute | Constant) -> Node:
    if isinstance(value, Attribute):
        return _term(values[value])
    return called("Term", "None", literal(value.value))
