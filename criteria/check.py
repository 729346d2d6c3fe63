"""From files to checked statements: what `streambound check` reports on, one value per statement seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from streambound.analyzer.algebra.clock import scans
from streambound.analyzer.algebra.nodes import Join, Tree
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic, Repairs
from streambound.analyzer.emission import Emission, EmitMode
from streambound.analyzer.errors import InputError, TooManyBranchesError, UsageError
from streambound.analyzer.findings import Positions
from streambound.analyzer.largest_part import largest_part
from streambound.analyzer.lower import Lowered, lower, with_relations_joined
from streambound.analyzer.models import Described
from streambound.analyzer.query import Query
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.statement import Statement
from streambound.analyzer.statements import some_statements
from streambound.analyzer.toml_reader import suggest
from streambound.analyzer.work import STATEMENT, TooMuchWork, at_most, begin, share, uncounted
from streambound.analyzer.workspace import Workspace
from streambound.criteria.bound import QueryBound
from streambound.criteria.judged import CircuitBound, Judged
from streambound.criteria.large_bound import large_bound, large_states, waiting_rows
from streambound.criteria.verdict import Decision, decide, proved
from streambound.criteria.violation import Violation, also, by_cause
from streambound.criteria.vocabulary import Tier, Verdict

if TYPE_CHECKING:
    from streambound.criteria.dataflow.decision import JudgedOperators
    from streambound.criteria.dataflow.judge import Judgement
    from streambound.criteria.dataflow.state import Operation
    from streambound.criteria.periods.decide import JudgedPeriods
    from streambound.criteria.periods.endless import PeriodWitness
    from streambound.criteria.witnesses.executed import Executed
    from streambound.criteria.witnesses.witness import CircuitWitness
    from streambound.temporal.statement import SeqStatement

_NOT_PROVED = "no input was found that needs unbounded memory, so the query may be bounded; no plan for it is known"
_SEARCH_ENDED = (
    "the search for an input that needs unbounded memory was given up before its end, so the query may be bounded; "
    "no plan for it is known"
)
_LONGER = "`streambound witness --longer 10` searches longer"
_TOO_LARGE = frozenset({Code.TOO_MANY_BRANCHES, Code.TOO_MUCH_WORK})
_UNSUPPORTED = frozenset({Code.UNSUPPORTED, Code.TIMESTAMP_COMPARISON, Code.PROJECTED_TIMESTAMP})


class Checked(Described, frozen=True, dict=True):
    """One statement's verdict; ``decision`` is None where there is none.

    ``tree`` is what it names in the algebra, None where it names nothing; ``catalog`` what it was checked against.
    ``repairs`` are None until `repairs.offered` looked for them. ``blocks`` is what a statement with SEQ blocks means,
    which is evaluated over relations, and has no decision. ``circuit_witness`` is a witness for which the statement was
    executed: of a ``circuit``, or of a statement that asks relations; ``period_witness`` one of SEQ VT over streams.
    """

    DESCRIPTION = ("catalog", "tree", "circuit", "circuit_witness", "blocks", "period_witness")

    statement: Statement
    verdict: Verdict
    diagnostics: tuple[Diagnostic, ...]
    decision: Decision | None = None
    catalog: Catalog | None = None
    repairs: Repairs | None = None
    tree: Tree | None = None
    circuit: Judged | None = None
    circuit_witness: CircuitWitness | None = None
    blocks: SeqStatement | None = None
    period_witness: PeriodWitness | None = None

    @property
    def rejected(self) -> bool:
        """Whether the criteria reject it, or do not speak of it, so that a repair may help."""
        if self.verdict is Verdict.UNSUPPORTED:
            return self.tree is not None
        decided = self.decision is not None or (self.circuit is not None and self.blocks is None)
        return decided and self.verdict in (Verdict.UNBOUNDED, Verdict.UNKNOWN)

    @property
    def circuit_bound(self) -> CircuitBound | None:
        """M of a query beyond select-project-join; None for another one."""
        bounded = self.circuit is not None and self.verdict is Verdict.BOUNDED
        return CircuitBound(self.circuit.states) if self.circuit is not None and bounded else None

    @property
    def bound(self) -> QueryBound | None:
        """M; None where it is not known that there is one."""
        return self.decision.bound if self.decision is not None and self.verdict is Verdict.BOUNDED else None

    @cached_property
    def lto_queries(self) -> int | None:
        """The number of LTO queries that it stands for; None where they would have to be enumerated."""
        if self.decision is None:
            return None
        from streambound.criteria.paper import lto_queries

        return lto_queries(self.decision.derivation.split)

    @property
    def source(self) -> SourceText:
        """The file's text, for carets."""
        return self.statement.source

    @property
    def tier(self) -> Tier | None:
        """Whether the memory is constant or grows with rates; None if unknown, or without a verdict."""
        match self.verdict:
            case Verdict.UNBOUNDED:
                return Tier.UNBOUNDED
            case Verdict.UNKNOWN:
                return Tier.UNKNOWN
        if self.blocks is not None and self.circuit is None:
            return Tier.CONSTANT
        return bound.tier if (bound := self.bound or self.circuit_bound) else None


def check_source(source: SourceText, catalog: Catalog, only: Sequence[int] | None = None) -> tuple[Checked, ...]:
    """Check every statement of a text, or some, by their numbers from 0; raises InputError when it holds none."""
    return tuple(check_statement(statement, catalog) for statement in some_statements(source, only, catalog.readable))


def check_statement(statement: Statement, catalog: Catalog, most: float = STATEMENT) -> Checked:
    """Lower one statement and decide it, within a number of steps of work (``SB212``)."""
    begin()
    try:
        with at_most(most):
            found = _decided(statement, catalog)
    except (TooMuchWork, RecursionError) as error:
        with uncounted():
            deep = isinstance(error, RecursionError)
            found = Checked(statement, Verdict.UNKNOWN, (_too_much_work(statement, most, deep),))
    told = (reduce(lambda one, view: view.told(one), statement.elsewhere, one) for one in found.diagnostics)
    return replace(found, diagnostics=(*told, *statement.remarks))


def unproved(statement: Statement, catalog: Catalog) -> Checked:
    """A statement's verdict without the search for witnesses: what has none then is unknown. Raises TooMuchWork."""
    return _decided(statement, catalog, proving=False)


def _too_much_work(statement: Statement, most: float, deep: bool) -> Diagnostic:
    """Why a statement was not decided; ``deep``: its operators are one above the other, too many to follow."""
    first = statement.tokens[0] if statement.tokens else None
    span = statement.source.span(first.start, first.end + 1) if first else statement.span
    largest = largest_part(statement.tree) if statement.tree is not None else None
    taken = f"takes more than the {STATEMENT:,} steps of work that one is given"
    taken = "makes too many operators one above the other" if deep else taken
    if most < STATEMENT and not deep:
        message = "the statements before this one take all the work that a file of this length is given"
        help = "write it into another file"
    elif largest is not None:
        message = f"with its {largest.number:,} {largest.name}, this statement {taken}"
        help = f"use fewer {largest.name}, or make it several queries"
        span = Positions(statement.source, statement.tokens, statement.before).of(largest.first)
    else:
        message = f"this statement {taken}"
        help = "make it several queries"
    return Diagnostic(Code.TOO_MUCH_WORK, f"{message}; it was not decided", statement.source.file, span, help)


def _decided(statement: Statement, catalog: Catalog, proving: bool = True) -> Checked:
    if statement.blocks and statement.tree is not None:
        return _of_blocks(statement, catalog)
    lowered = lower(statement, catalog)
    found = _decided_as_changes(statement, catalog, lowered, proving)
    if statement.upserts and found.verdict is Verdict.BOUNDED:
        from streambound.criteria.dataflow.result_key import without_key

        if (refused := without_key(statement, lowered, catalog)) is not None:
            return Checked(statement, Verdict.UNSUPPORTED, (refused,), catalog=catalog)
    return found


def _decided_as_changes(statement: Statement, catalog: Catalog, lowered: Lowered, proving: bool) -> Checked:
    if proving and (bounded := _bounded_when_joined(statement, catalog, lowered)) is not None:
        return bounded
    found = _of_lowered(statement, catalog, lowered, proving)
    if found.verdict not in (Verdict.UNKNOWN, Verdict.UNSUPPORTED) or lowered.tree is None:
        return found
    if found.verdict is Verdict.UNSUPPORTED:
        return _joined(statement, catalog, lowered, proving, (*_DECIDED, Verdict.UNKNOWN)) or found
    with share():
        return _joined(statement, catalog, lowered, proving) or found
    return found


_DECIDED = (Verdict.BOUNDED, Verdict.UNBOUNDED)


def _bounded_when_joined(statement: Statement, catalog: Catalog, lowered: Lowered) -> Checked | None:
    """A statement that is bounded only when joined with the relations that it asks: no witness is searched for."""
    if lowered.tree is None or all(table.timestamp is not None for table in catalog.tables):
        return None
    with share():
        joined = _joined(statement, catalog, lowered, proving=False)
        if joined is not None and joined.verdict is Verdict.BOUNDED:
            written = _of_lowered(statement, catalog, lowered, proving=False)
            return joined if written.verdict in (Verdict.UNKNOWN, Verdict.UNSUPPORTED) else None
    return None


def _joined(
    statement: Statement, catalog: Catalog, lowered: Lowered, proving: bool, wanted: tuple[Verdict, ...] = _DECIDED
) -> Checked | None:
    """The verdict of a statement joined with the relations that it asks; None where it is none of those wanted."""
    joined = with_relations_joined(statement, catalog, lowered)
    if joined is None:
        return None
    other = _of_lowered(statement, catalog, joined, proving, joining=True)
    return replace(other, tree=lowered.tree) if other.verdict in wanted else None


def _of_lowered(
    statement: Statement, catalog: Catalog, lowered: Lowered, proving: bool, joining: bool = False
) -> Checked:
    """The verdict of what a statement means: of joins alone by their criteria, without rules for other operators."""
    if lowered.query is None:
        if (found := _beyond_joins(statement, catalog, lowered, proving, joining)) is not None:
            return found
        undecided = _undecided(lowered.diagnostics)
        return Checked(statement, undecided, lowered.diagnostics, catalog=catalog, tree=lowered.tree)
    try:
        decision = decide(lowered.query, proving)
    except TooManyBranchesError as error:
        return Checked(statement, Verdict.UNKNOWN, (_too_many_branches(error),), catalog=catalog, tree=lowered.tree)
    undecided_set = lowered.query.distinct and decision.verdict is Verdict.UNKNOWN
    too_many = decision.verdict is Verdict.BOUNDED
    without_tables = decision.bound is None and (_with_keys(lowered.query) or undecided_set or too_many)
    without_tables |= len({bool(branch.streams) for branch in lowered.query.branches}) > 1  # some have no time
    remembers_keys = _remembers_keys(lowered.query)
    if without_tables or remembers_keys or _keeps_matches(decision):
        from streambound.criteria.dataflow.decision import JudgedOperators, decided_operators

        other = decided_operators(statement, lowered, catalog)
        instead = without_tables or remembers_keys
        if isinstance(other, JudgedOperators) and not other.violations and (instead or other.are_apart):
            checked = _circuit(statement, other, catalog, lowered, proving)
            warnings = () if without_tables else decision.diagnostics
            return replace(checked, diagnostics=(*warnings, *checked.diagnostics))
    searched = proving and decision.verdict is Verdict.UNKNOWN
    witness = _of_operators(statement, catalog, lowered) if searched else None
    if witness is not None:
        decision = proved(decision, witness)
    notes = []
    if decision.bound is not None:
        split = decision.derivation.split
        used = ((source.table, source.span) for branch in lowered.query.branches for source in branch.sources)
        notes = [*large_bound(split, decision.bound, catalog), *waiting_rows(used, catalog, lowered.query.file)]
    diagnostics = (*decision.diagnostics, *notes)
    return Checked(
        statement, decision.verdict, diagnostics, decision, catalog, tree=lowered.tree, circuit_witness=witness
    )


def _beyond_joins(
    statement: Statement, catalog: Catalog, lowered: Lowered, proving: bool, joining: bool
) -> Checked | None:
    """The verdict of a statement's operators; None where the front end has better words for why there is none."""
    from streambound.criteria.dataflow.decision import decided_operators
    from streambound.criteria.dataflow.final import never_final

    asked = statement.other_mode
    if asked is not None and asked.mode is not EmitMode.FINAL:
        return None
    found = decided_operators(statement, lowered, catalog, joining)
    if found is None:
        return None
    if isinstance(found, Diagnostic):
        errors = lowered.diagnostics if _undecided(lowered.diagnostics) is Verdict.ERROR else (found,)
        return Checked(statement, _undecided(errors), errors, catalog=catalog, tree=lowered.tree)
    open = None if asked is None else never_final(found.judgement)
    decided = _circuit(statement, found, catalog, lowered, proving) if open is None or found.violations else None
    if decided is not None and (open is None or decided.verdict is Verdict.UNBOUNDED):
        return decided
    assert asked is not None and open is not None, "its results are asked for when they are final"
    refused = _never_final(statement, asked, found.judgement, open)
    return Checked(statement, Verdict.UNSUPPORTED, (refused,), catalog=catalog, tree=lowered.tree)


def _keeps_matches(decision: Decision) -> bool:
    """Whether a table holds matches of several streams, and keeping the rows of each stream may take fewer entries."""
    return decision.bound is not None and any(
        len(table.layout.streams) > 1 and not table.results
        for branch in decision.bound.branches
        if _rows_go(branch.facts)
        for table in branch.tables
    )


def _rows_go(facts: Facts) -> bool:
    """Whether a row of each stream may be known to match nothing any more; where times are computed, that is asked."""
    return any(source.derived for source in facts.branch.sources) or all(
        stream in facts.finite_streams or not later for stream, later in facts.later.items()
    )


def _never_final(statement: Statement, asked: Emission, judgement: Judgement, open: Operation) -> Diagnostic:
    """Why results are not known to become final, at the operator that may change them."""
    from streambound.criteria.dataflow.reported import operator_name, operator_span

    waits = isinstance(open.tree, Join)
    name = f"the {open.tree.kind} join" if isinstance(open.tree, Join) else operator_name(open, judgement)
    message = f"emit final is outside the query language here: {name} may take results back for ever"
    help = "limit how much later a partner may come" if waits else "group by a bucket of time"
    at = operator_span(open.tree, judgement)
    return Diagnostic(Code.UNSUPPORTED, message, statement.source.file, at, f"{help}, or print changes")


def _with_keys(query: Query) -> bool:
    """Whether a query reads a table with keys that punctuations end, or that come once, which may bound it."""
    return any(source.ending or source.unique for branch in query.branches for source in branch.sources)


def _remembers_keys(query: Query) -> bool:
    """Whether the keys that come once are remembered beside its tables."""
    return any(source.unique and source.time for branch in query.branches for source in branch.sources)


def _circuit(
    statement: Statement, found: JudgedOperators, catalog: Catalog, lowered: Lowered, proving: bool
) -> Checked:
    """The verdict of a query beyond select-project-join: the propositions' (`criteria.dataflow`)."""
    assert lowered.tree is not None and lowered.positions is not None, "it is judged by them"
    places = [(scan.table, lowered.positions.of(scan.syntax)) for scan in scans(lowered.tree) if scan.syntax]
    diagnostics = _of_states(found, places, catalog, statement.source.file)
    verdict = Verdict.BOUNDED
    witness: CircuitWitness | None = None
    if found.violations and not proving:
        verdict = Verdict.UNKNOWN
    elif found.violations:
        from streambound.criteria.dataflow.witness import prove

        proof = prove(statement, catalog, found.judgement)
        witness, verdict = proof.statement, Verdict.UNBOUNDED
        if not proof.found:
            verdict = Verdict.UNKNOWN
            diagnostics = (_no_witness(statement, found, proof.ran_out), *diagnostics)
    return Checked(
        statement, verdict, diagnostics, catalog=catalog, tree=lowered.tree, circuit=found, circuit_witness=witness
    )


def _no_witness(statement: Statement, found: Judged, ran_out: bool) -> Diagnostic:
    """Why a statement that violates the propositions is unknown; ``ran_out``: not all that may be tried was."""
    message, help = (_SEARCH_ENDED, _LONGER) if ran_out else (_NOT_PROVED, "")
    return Diagnostic(Code.NO_WITNESS, message, statement.source.file, found.violations[0].span, help)


def _of_operators(statement: Statement, catalog: Catalog, lowered: Lowered) -> CircuitWitness | None:
    """A witness of a statement that is one block, and yet asks relations, as it is executed."""
    from streambound.criteria.dataflow.judge import judge_lowered
    from streambound.criteria.dataflow.witness import prove

    judgement = judge_lowered(statement, lowered, catalog)
    return None if judgement is None else prove(statement, catalog, judgement).statement


def executed(checked: Checked) -> Executed | None:
    """A statement in a form that can be executed; None if it has no meaning in the algebra."""
    from streambound.criteria.witnesses.executed import Executed

    if checked.tree is None or checked.catalog is None:
        return None
    return Executed(checked.tree, checked.catalog, lower(checked.statement, checked.catalog).queries)


def search_circuit_longer(checked: Checked, longer: int) -> CircuitWitness | None:
    """Search for a way to build a circuit's witnesses, ``longer`` times as long as a check does."""
    from streambound.criteria.dataflow.decision import JudgedOperators
    from streambound.criteria.dataflow.witness import prove

    if not isinstance(checked.circuit, JudgedOperators) or checked.catalog is None:
        return None
    return prove(checked.statement, checked.catalog, checked.circuit.judgement, longer).statement


def _of_states(found: Judged, used: Iterable[tuple[str, Span]], catalog: Catalog, file: str) -> tuple[Diagnostic, ...]:
    """What violates the propositions; of a circuit that nothing does, what is to be said of its bound.

    ``used`` are the tables that it reads, with where.
    """
    if found.violations:
        return _of_violations(found, file)
    return (*large_states(CircuitBound(found.states), catalog, file), *waiting_rows(used, catalog, file))


def _of_violations(found: Judged, file: str) -> tuple[Diagnostic, ...]:
    causes = by_cause(one for one in found.violations if one.code is not None)
    return tuple(
        Diagnostic(
            first.code, first.message, file, first.span, first.help, _propositions(said), tuple(also(said, file))
        )
        for said in causes
        if (first := said[0]).code is not None
    )


def _propositions(said: Sequence[Violation]) -> str:
    return "; ".join(f"proposition {name}" for name in dict.fromkeys(one.condition for one in said))


def _of_blocks(statement: Statement, catalog: Catalog) -> Checked:
    """A statement with SEQ blocks: nothing arrives, so nothing is kept for what may arrive."""
    from streambound.criteria.periods.decide import reads_streams, refused_emission
    from streambound.temporal.statement import read_statement

    found = read_statement(statement, catalog)
    if isinstance(found, Diagnostic):
        return Checked(statement, _undecided([found]), (found,), catalog=catalog)
    if reads_streams(found):
        return _of_period_streams(statement, found, catalog)
    if statement.upserts and (refused := refused_emission(statement)) is not None:
        return Checked(statement, Verdict.UNSUPPORTED, (refused,), catalog=catalog)
    return Checked(statement, Verdict.BOUNDED, (), catalog=catalog, blocks=found)


def _period_witness(statement: Statement, found: JudgedPeriods) -> PeriodWitness | None:
    """A witness that a SEQ block over streams is unbounded, if one is found."""
    from streambound.criteria.periods.endless import unbounded_periods
    from streambound.criteria.witnesses.constants import Constants

    leaves = found.context.leaves
    constants = Constants.of_syntax(statement.blocks[0].query, [leaf.table for leaf in leaves])
    return unbounded_periods(found.query, leaves, constants)


def _of_period_streams(statement: Statement, blocks: SeqStatement, catalog: Catalog) -> Checked:
    """A SEQ VT statement over streams of rows with periods: the verdict is that of P1 to P5 (`criteria.periods`)."""
    from streambound.criteria.periods.decide import judged_periods

    found = judged_periods(blocks, catalog)
    if isinstance(found, Diagnostic):
        return Checked(statement, _undecided([found]), (found,), catalog=catalog)
    places = ((table.name, blocks.blocks[0].block.at) for table in blocks.tables)
    diagnostics = (*_of_states(found.judged, places, catalog, statement.source.file), *found.judged.empty)
    rejected = bool(found.judged.violations)
    verdict = Verdict.UNBOUNDED if rejected else Verdict.BOUNDED
    witness: PeriodWitness | None = None
    with share() as search:
        witness = _period_witness(statement, found) if rejected else None
    if rejected and witness is None:
        verdict = Verdict.UNKNOWN
        diagnostics = (_no_witness(statement, found.judged, search.ran_out), *diagnostics)
    return Checked(
        statement, verdict, diagnostics, catalog=catalog, circuit=found.judged, blocks=blocks, period_witness=witness
    )


def _undecided(diagnostics: Sequence[Diagnostic]) -> Verdict:
    """The verdict of a statement that means nothing, or too much."""
    codes = {diagnostic.code for diagnostic in diagnostics}
    if codes == {Code.NO_QUERY}:
        return Verdict.NO_QUERY
    if codes <= _TOO_LARGE:
        return Verdict.UNKNOWN
    return Verdict.UNSUPPORTED if codes <= _UNSUPPORTED else Verdict.ERROR


def _too_many_branches(error: TooManyBranchesError) -> Diagnostic:
    message = f"this condition, with those beside it, splits into more than {error.most:,} cases: too many to decide"
    return Diagnostic(Code.TOO_MANY_BRANCHES, message, error.file, error.span, error.remedy)


def find_statement(
    query: str, name: str | None, catalog_file: Path | None, emit_mode: str | None = None
) -> tuple[Catalog, Checked]:
    """The one statement that a command's QUERY means: a file's only or named one, or a registered query of that name.

    Raises InputError for a missing file and UsageError for a name that fits none or several.
    """
    catalog, (checked,) = find_statements(query, name, catalog_file, emit_mode=emit_mode)
    return catalog, checked


def find_statements(
    query: str,
    name: str | None,
    catalog_file: Path | None,
    several: bool = False,
    emit_mode: str | None = None,
) -> tuple[Catalog, list[Checked]]:
    """As `find_statement`; with ``several``, all statements of a file if no name is chosen.

    An ``emit_mode`` replaces that of a comment.
    """
    if not query:
        raise UsageError(
            "an empty argument names no query", remedy="name a file, or a query that the catalog registers"
        )
    path = Path(query)
    is_file = path.is_file() or query == "-"
    if not is_file and (path.suffix or path.is_dir()):
        raise InputError("a directory, not a query file" if path.is_dir() else "no such file", file=query)
    workspace = Workspace(catalog_file)
    files = [path] if is_file else workspace.registered()
    catalog = workspace.catalog(path if is_file else None)
    statements = [one for file in files for one in some_statements(workspace.read(file), None, catalog.readable)]
    all_of_it = several and is_file and name is None and statements
    queries = [statement for statement in statements if statement.is_query]
    found = (queries or statements[:1]) if all_of_it else [one_of(statements, query, name if is_file else query)]
    return catalog, [check_statement(statement.emitting(emit_mode), catalog) for statement in found]


def one_of(statements: Sequence[Statement], query: str, name: str | None) -> Statement:
    """The statement of a name, or the only one; raises UsageError for a name that fits none or several."""
    if name is None:
        statements = [statement for statement in statements if statement.is_query] or statements[:1]
    matches = [statement for statement in statements if name is None or statement.name == name]
    names = [statement.name for statement in statements]
    if not matches:
        remedy = suggest(str(name), names) or f"there are: {', '.join(names)}"
        raise UsageError(f"no query is called {name!r}", remedy=remedy)
    if len(matches) > 1:
        message, remedy = _ambiguous(query, name, matches)
        raise UsageError(message, remedy=remedy)
    return matches[0]


def _ambiguous(query: str, wanted: str | None, matches: list[Statement]) -> tuple[str, str]:
    """Why several statements match, and what to do."""
    if wanted is None:
        names = ", ".join(statement.name for statement in matches)
        return f"{query} holds {len(matches)} statements", f"choose one with --name: {names}"
    places = ", ".join(f"{statement.source.file}:{statement.span.line}" for statement in matches)
    return f"{len(matches)} statements are called {wanted!r}: {places}", "give each a name of its own: -- name: …"
