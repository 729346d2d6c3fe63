"""The front end: a statement's syntax tree, with the catalog, into the query IR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import floor

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp
from sqlglot.errors import TokenError

from streambound.analyzer.algebra.lowering import Lowering
from streambound.analyzer.algebra.nodes import Alias, Distinct, FirstRows, Join, JoinKind, OrderBy, Tree, Union, inputs
from streambound.analyzer.algebra.valid_rows import read_as_of
from streambound.analyzer.catalog import Catalog, Kind
from streambound.analyzer.codes import Code
from streambound.analyzer.conditions import ConditionReader
from streambound.analyzer.constants import BIGINT, DOUBLE, STRING, VOID, Folded, decimal, is_interval
from streambound.analyzer.derived import rows_of, with_derived
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.emission import EmitMode
from streambound.analyzer.expansion import Sizer
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.flatten import Flattener, Select, written
from streambound.analyzer.operators_outside import refused
from streambound.analyzer.query import (
    Attribute,
    Branch,
    Computed,
    Constant,
    Formula,
    Output,
    OutputValue,
    Query,
    TimeValue,
    map_attributes,
)
from streambound.analyzer.scopes import Visible
from streambound.analyzer.statement import Statement
from streambound.analyzer.terms import LinearTerm
from streambound.analyzer.types import Family


class Lowered(Struct, frozen=True):
    """A lowered statement, or its errors: ``query`` is None exactly when there are errors.

    ``tree`` is what it names in the algebra, whether or not that is in the query language; None where it names nothing.
    ``owners`` says of each name without an alias, by its offset, to which FROM item's alias it belongs. ``positions``
    and ``queries`` (the trees of subqueries in expressions) are what parts of the tree are read with.
    """

    query: Query | None
    diagnostics: tuple[Diagnostic, ...]
    owners: Mapping[int, str] = field(default_factory=dict)
    tree: Tree | None = None
    positions: Positions | None = None
    queries: Mapping[int, Tree] = field(default_factory=dict)


def lower(statement: Statement, catalog: Catalog, joining: bool = False, periods: bool = False) -> Lowered:
    """A statement's query, or the diagnostics that say why it has none; never raises for a user's SQL.

    ``joining``: what it asks relations is joined with them, where that gives the same rows (`algebra.asked_relations`).
    ``periods``: it is a part of a SEQ block, whose streams may have dates for times.
    """
    if statement.tree is None:
        return Lowered(None, statement.diagnostics)
    positions = Positions(statement.source, statement.tokens, statement.before)
    if statement.blocks:
        message = f"SEQ {statement.blocks[0].kind} is no query over streams"
        return Lowered(None, (positions.finding(Code.UNSUPPORTED, message, statement.blocks[0].at).diagnostic,))
    tree: Tree | None = None
    lowering = Lowering(positions, catalog, joining=joining, periods=periods)
    try:
        Sizer(positions, catalog).query(statement.tree, {})
        tree = lowering.statement(statement.tree)
        if (asked := statement.other_mode) is not None and asked.mode is not EmitMode.FINAL:
            message = f"emit {asked.mode} is outside the query language so far: results are printed as changes"
            raise positions.finding(Code.UNSUPPORTED, message, asked.at, "leave it out")
        flattener = Flattener(positions, catalog, _is_set(tree, positions), queries=lowering.queries)
        selects = flattener.query(tree.input if isinstance(tree, OrderBy) else tree)
        findings = list(flattener.findings)
        branches = [branch_of(select, i, flattener, findings) for i, select in enumerate(selects)]
    except Finding as finding:
        return Lowered(None, (finding.diagnostic,), tree=tree, positions=positions, queries=lowering.queries)
    except (RecursionError, TokenError):  # sqlglot's tokenizer, which printing a cast calls, wraps whatever it meets
        deep = positions.finding(Code.UNSUPPORTED, "the statement is nested too deeply", positions.first_token)
        return Lowered(None, (deep.diagnostic,))
    if findings:
        found = dict.fromkeys(finding.diagnostic for finding in findings)
        ordered = tuple(sorted(found, key=lambda diagnostic: diagnostic.span))
        return Lowered(None, ordered, tree=tree, positions=positions, queries=lowering.queries)
    complete = with_derived(branches, flattener.derived.by_table)
    as_of = read_as_of(statement.tree, catalog)
    query = Query(statement.name, statement.source.file, flattener.distinct, complete, statement.span, as_of=as_of)
    if isinstance(tree, OrderBy):
        if (order := _order_of_time(tree, query)) is None:
            wrong = refused(tree, positions, flattener.distinct).diagnostic
            return Lowered(None, (wrong,), tree=tree, positions=positions, queries=lowering.queries)
        query, tree = replace(query, order=order), tree.input
    return Lowered(query, (), flattener.owners, tree, positions, lowering.queries)


def with_relations_joined(statement: Statement, catalog: Catalog, lowered: Lowered) -> Lowered | None:
    """A lowered statement with what it asks relations joined with them; None where that is the same tree."""
    if lowered.tree is None or not (lowered.queries or _has_semi_join(lowered.tree)):
        return None
    joined = lower(statement, catalog, joining=True)
    return None if joined.tree is None or joined.tree == lowered.tree else joined


def _has_semi_join(tree: Tree) -> bool:
    return (isinstance(tree, Join) and tree.kind is JoinKind.SEMI) or any(map(_has_semi_join, inputs(tree)))


def written_tree(statement: Statement, catalog: Catalog) -> Tree | None:
    """A statement in the algebra, with conditions and set operations as written; None if it has no meaning there."""
    if statement.tree is None or statement.blocks:
        return None
    positions = Positions(statement.source, statement.tokens, statement.before)
    try:
        return Lowering(positions, catalog, written=True).statement(statement.tree)
    except (Finding, RecursionError, TokenError):
        return None


def _order_of_time(order: OrderBy, query: Query) -> str | None:
    """The column by which results are put in order, where that is the time of each one's only stream: its `_ts`."""
    (key, *more), node = order.keys, order.keys[0].value.syntax
    names = [output.name for output in query.branches[0].outputs]
    if more or key.descending or not isinstance(node, exp.Column):
        return None
    places = [place for place, name in enumerate(names) if name.lower() == node.name.lower()]
    return names[places[0]] if len(places) == 1 and all(_is_time(b, places[0], node) for b in query.branches) else None


def _is_time(branch: Branch, place: int, node: exp.Column) -> bool:
    """Whether an output is the time of the branch's only stream, and a qualified name means that."""
    streams = [source for source in branch.sources if source.kind is Kind.STREAM]
    written = (node.table.lower(), node.name.lower())
    times = [(stream.alias, str(stream.timestamp)) for stream in streams]
    alike = not node.table or written in [(alias.lower(), time.lower()) for alias, time in times]
    match branch.outputs[place].value:
        case TimeValue() as value if not value.offset and alike and len(times) == 1:
            return value.attributes == (Attribute(*times[0]),)
    return False


def _is_set(tree: Tree, positions: Positions) -> bool:
    """Whether a query's result is a set; raises Finding where UNION ALL would add sets up."""
    match tree:
        case Distinct() | Union(distinct=True):
            return True
        case Alias(input) | OrderBy(input) | FirstRows(input):
            return _is_set(input, positions)
        case Union(left, right) if any(sides := [_is_set(side, positions) for side in (left, right)]):
            culprit = left if sides[0] else right
            at = culprit.at or positions.of(written(culprit))
            message = (
                "UNION ALL keeps duplicates, but this branch eliminates them: the result is neither a bag nor a set"
            )
            help = "use SELECT and UNION ALL throughout, or SELECT DISTINCT and UNION"
            raise positions.finding(Code.UNSUPPORTED, message, at, help)
    return False


def branch_of(select: Select, index: int, flattener: Flattener, findings: list[Finding]) -> Branch:
    """One IR branch, with readable aliases in place of the flattener's serial ones."""
    aliases = readable_aliases(select, flattener.wanted)

    def rename(attribute: Attribute) -> Attribute:
        return Attribute(aliases[attribute.source], attribute.column)

    outputs = []
    for visible, node in select.outputs:
        try:
            reader = ConditionReader(flattener.positions, flattener.catalog, select.scope, derived=flattener.derived)
            outputs.append(_output(visible, node, reader))
        except Finding as finding:
            findings.append(finding)
    sources = tuple(replace(source, alias=aliases[source.alias]) for source in select.scope.sources)
    where: Formula = map_attributes(select.scope.where, rename)
    span = flattener.positions.of(select.outputs[0][1]) if select.outputs else sources[0].span
    renamed = tuple(replace(output, value=_renamed(output.value, rename)) for output in outputs)
    branch = Branch(sources, where, renamed, span, statement=index)
    _check_time_types(branch, flattener.positions, findings)
    return branch


def readable_aliases(select: Select, wanted: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Serial ids to unique aliases: outermost sources keep theirs, clashing nested ones are prefixed."""
    ids = sorted((source.alias for source in select.scope.sources), key=lambda serial: wanted[serial][1] != "")
    taken: set[str] = set()
    result = {}
    for serial in ids:
        alias, prefix = wanted[serial]
        base = f"{prefix}_{alias}" if alias.lower() in taken else alias
        name, number = base, 2
        while name.lower() in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name.lower())
        result[serial] = name
    return result


def _renamed(value: OutputValue, rename: Callable[[Attribute], Attribute]) -> OutputValue:
    match value:
        case TimeValue():
            return value.map(rename)
        case Computed(attributes=attributes):
            return replace(value, attributes=tuple(map(rename, attributes)))
        case Constant():
            return value
    return rename(value)


def _output(visible: Visible, node: exp.Expr, reader: ConditionReader) -> Output:
    """A select-list column; raises Finding for what cannot be projected."""
    positions = reader.positions
    term, tree, span = visible.term, visible.tree, positions.of(node)
    if term.is_time and not term.is_constant:
        return Output(visible.name, time_value(term, node, positions), span)
    if term.is_attribute:
        return Output(visible.name, term.plus[0], span)
    if tree is not None and len(rows_of(tree)) > 1:
        return Output(visible.name, reader.computed(tree, node), span)
    if tree is not None and rows_of(tree):
        return Output(visible.name, reader.derive(tree, node).plus[0], span)
    if is_interval(term.kind):
        message = "an interval in the select list is outside the query language"
        raise positions.finding(Code.UNSUPPORTED, message, node, "cast it to the type that is meant")
    return Output(visible.name, _constant(term.constant), span)


def _constant(constant: Folded) -> Constant:
    """A constant with its value encoded; whole numbers are BIGINT, and decimals have the places of their type."""
    match constant.value, constant.kind.family:
        case None, _:
            return Constant(None, VOID)
        case str(text), _:
            return Constant(text, STRING)
        case Fraction() as value, Family.INTEGER:
            return Constant(int(value), BIGINT)
        case Fraction() as value, Family.DECIMAL:
            places = constant.kind.scale or 0
            digits = len(str(abs(floor(value))))
            return Constant(int(value * 10**places), decimal(digits if abs(value) >= 1 else 0, places))
        case Fraction() as value, Family.FLOAT:
            return Constant(value, DOUBLE)
    return Constant(int(constant.exact), constant.kind)


def _check_time_types(branch: Branch, positions: Positions, findings: list[Finding]) -> None:
    """All streams of a branch must share one time line."""
    streams = [source for source in branch.sources if source.kind is Kind.STREAM]
    families = [source.column(source.timestamp or "").type.family for source in streams]
    for source, family in zip(streams[1:], families[1:], strict=True):
        if family is not families[0]:
            first = streams[0].alias
            message = f"{source.alias}'s timestamps are {family} values, {first}'s are {families[0]}"
            findings.append(positions.finding(Code.MIXED_TIMESTAMPS, message, source.span))


_HELP = "select the time itself, the time and a distance (ts + INTERVAL 5 MINUTES), or the difference of two times"


def time_value(term: LinearTerm, node: exp.Expr, positions: Positions) -> TimeValue:
    """The value of a term of application times; raises Finding for one that is no time and no difference of two."""
    plus, minus = Counter(term.plus), Counter(term.minus)
    more, less = (list((one - other).elements()) for one, other in ((plus, minus), (minus, plus)))
    whole = term.kind.family in (Family.INTEGER, Family.TIMESTAMP, Family.OTHER)
    if len(more) != 1 or len(less) > 1 or not whole or term.constant.exact.denominator != 1:
        raise _refused(more, less, node, positions)
    return TimeValue(more[0], less[0] if less else None, int(term.constant.exact), term.kind)


def _refused(more: list[Attribute], less: list[Attribute], node: exp.Expr, positions: Positions) -> Finding:
    what = "this is neither a time nor the difference of two"
    if not more and not less:
        what = "a time less itself is a constant"
    elif not more:
        what = "here one is only subtracted"
    message = f"the select list takes application times, and {what}"
    return positions.finding(Code.PROJECTED_TIMESTAMP, message, node, _HELP)
