"""Witnesses of unbounded circuits (Lemma 0): prefixes of which every subset of elements must be told apart.

A violated proposition suggests plans, as for a select-project-join query (`criteria.witness_search`): of the blocks
whose values pile up. A plan counts when the whole statement, executed on each subset of the elements followed by each
probe, tells all subsets apart, and when that holds at every size (`holds_at_every_size`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice
from math import lcm
from random import Random
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from streambound.analyzer.algebra.nodes import Aggregate, FirstRows, Over, Tree, inputs
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.expressions.function import Fails, NotKnown
from streambound.analyzer.query import Attribute, Branch, Query
from streambound.analyzer.types import Family
from streambound.analyzer.work import STATEMENT, TooMuchWork, share, spend
from streambound.criteria.contract import fits_contract
from streambound.criteria.witness import Witness, build, most_at_once
from streambound.criteria.witness_plan import Reach, WitnessPlan
from streambound.criteria.witness_search import plans
from streambound.criteria.witnesses.constants import MOST_COUNTED, Constants
from streambound.criteria.witnesses.executed import Executed
from streambound.criteria.witnesses.ranked_schemes import ranked
from streambound.criteria.witnesses.schemes import (
    FARTHEST,
    FEW_ROWS,
    Ground,
    Scheme,
    counted,
    drawn,
    fits_changes,
    in_time,
    most_rows,
)

if TYPE_CHECKING:
    from streambound.criteria.witnesses.executions import Executions, WitnessRun
    from streambound.incremental.zset import ZSet

SIZES = (3, 4, 5)
"""Numbers of elements for which all subsets are told apart."""
MOST_PLANS = 64
"""Plans of each suspected block that are tried."""
COPIES = ((1, 1), (1, 3), (2, 2), (4, 4))
"""How often each row of an element, and of a probe, is sent: thresholds on counts, and their extremes, need some."""
Copies = tuple[int, int]
EQUAL_POWERS = "0110100110010110"
"""Numbers by halves, of which the sums of values, of their squares and of their cubes are equal (Prouhet)."""
MANY = 24
"""Elements of which some subsets are compared, so that no small number saturates what is told apart."""
SAMPLE = 3
_PROBES = 8
"""Probes of many elements that are tried to tell two subsets apart."""
FEW = 3
FAR_AWAY = (100_000, 100, 1)
"""How far away few elements are compared, in units beyond all constants: the first for which the types have room."""
MOST_STEPS = 3 * STATEMENT // 8
"""Steps of work of all plans together, and of all schemes."""
_STEPS_A_ROW = 5
_NO_VALUE = (Fails, NotKnown, ZeroDivisionError)


class CircuitWitness(Struct, frozen=True, dict=True):
    """How the witnesses of a statement are built: by the ``plan`` of a block, each row sent ``copies`` times.

    ``built`` are those of the plan, by their sizes, before their rows are copied.
    """

    statement: Executed
    plan: WitnessPlan
    copies: Copies
    built: dict[int, Witness | None] = field(default_factory=dict)

    def of_size(self, size: int) -> Witness | None:
        """The witness of this size; None where types or contracts do not allow it.

        The statement is executed on its rows: no results of the plan's block are expected.
        """
        if size not in self.built:
            self.built[size] = build(self.plan, size)
        found = self.built[size]
        if found is None or not _fits(found, self.copies):
            return None
        of_element, of_probe = self.copies
        elements = tuple(rows * of_element for rows in found.elements)
        probes = tuple(rows * of_probe for rows in found.probes)
        copied = replace(found, elements=elements, probes=probes, expected=())
        return copied if _changes_fit(self.statement.catalog, copied) else None

    def far_away(self) -> Iterator[Witness | None]:
        """Witnesses of few elements whose values are those of far larger ones, the farthest first."""
        ground, reach = Ground.of(self.statement), self.plan.reach
        far = FARTHEST if ground is None else ground.far
        for times in FAR_AWAY:
            beyond = replace(reach, constant=reach.constant + far * max(times, far if times > 1 else 1))
            yield replace(self, plan=replace(self.plan, reach=beyond), built={}).of_size(FEW)

    def changes(self, witness: Witness, subset: Sequence[int], probes: Sequence[int]) -> tuple[ZSet, ...]:
        """The changes of the statement's result by some probes, after the prefix of some elements, from 0.

        Raises Fails and NotKnown where an expression has no value.
        """
        run = self._executions.run(witness)
        return tuple(run.change(subset, probe) for probe in probes)

    def tells_element(self, witness: Witness, element: int, probes: Sequence[int]) -> bool:
        """Whether some probe changes something else after all elements than after all but one, counted from 0."""
        every = list(range(witness.size))
        without = [one for one in every if one != element]
        return any(self.changes(witness, every, [probe]) != self.changes(witness, without, [probe]) for probe in probes)

    @cached_property
    def _executions(self) -> Executions:
        from streambound.criteria.witnesses.executions import Executions

        return Executions(self.statement)


class SchemeWitness(CircuitWitness, frozen=True, kw_only=True):
    """How the witnesses of a statement are built by a ``scheme``, of its ``ground``."""

    ground: Ground
    scheme: Scheme

    def of_size(self, size: int) -> Witness | None:
        """The witness of this size; None where types or contracts do not allow it."""
        return self.ground.witness(self.scheme, size)

    def far_away(self) -> Iterator[Witness | None]:
        """Few elements of far larger witnesses, the farthest first."""
        for times in FAR_AWAY:
            yield self.ground.witness(self.scheme, FEW, max(times, self.ground.far if times > 1 else 1))


def first_that_holds(
    statement: Executed, tried: Iterable[CircuitWitness], steps: float = MOST_STEPS
) -> CircuitWitness | None:
    """The first candidate that holds at every size; None if none does within ``steps``."""
    from streambound.criteria.witnesses.executions import Executions
    from streambound.incremental.evaluate import NoFixpointError
    from streambound.incremental.translation.views import Untranslatable

    try:
        executions = Executions(statement)
        with share(steps):
            for found in tried:
                if holds_at_every_size(found, executions):
                    return found
    except (Untranslatable, NoFixpointError):
        pass
    return None


def find_scheme(statement: Executed, longer: int = 1) -> CircuitWitness | None:
    """How to build witnesses for a statement by a scheme, of any size; None where none was found.

    A longer search has ``longer`` times as many schemes and steps.
    """
    from streambound.criteria.witnesses.executions import Executions
    from streambound.incremental.evaluate import NoFixpointError
    from streambound.incremental.translation.views import Untranslatable

    ground = Ground.of(statement)
    if ground is None:
        return None

    def of(scheme: Scheme) -> SchemeWitness:
        return SchemeWitness(statement, ground.plan(scheme), (1, 1), ground=ground, scheme=scheme)

    try:
        executions = Executions(statement)
        with share(MOST_STEPS * longer):
            few_rows = chain(ranked(ground, statement.tree), in_time(ground), drawn(ground, longer))
            if (found := _first(few_rows, of, executions)) is not None:
                return found
            with share(MOST_STEPS * longer / 4):
                if (found := _first(counted(ground, longer), of, executions)) is not None:
                    return found
            raise TooMuchWork  # there are always more schemes: the search is given up before its end
    except (Untranslatable, NoFixpointError):
        pass
    return None


def _first(
    schemes: Iterable[Scheme], of: Callable[[Scheme], SchemeWitness], executions: Executions
) -> SchemeWitness | None:
    """The witnesses of the first scheme that holds; where a probe of its element's rows alone does, of that one."""
    for scheme in schemes:
        spend(_STEPS_A_ROW)
        found = of(scheme)
        if scheme.shape in FEW_ROWS[1:] and _of_few(found, executions) is not None:
            fewer = of(replace(scheme, shape="own"))
            if holds_at_every_size(fewer, executions):
                return fewer
        if holds_at_every_size(found, executions):
            return found
    return None


def candidates(statement: Executed, suspects: Iterable[Query]) -> Iterator[CircuitWitness]:
    """Candidates; one counts only after the whole statement was executed on its rows."""
    constants = Constants.of(statement)
    for query in map(_plain, suspects):
        for branch in query.branches:
            if any(source.query for source in branch.sources):  # rows of what is computed cannot be chosen
                continue
            for plan in islice(plans(query, branch), MOST_PLANS):
                if _is_fresh(plan, constants):
                    beyond, built = replace(plan, reach=_beyond(plan, constants)), dict[int, Witness | None]()
                    yield from (CircuitWitness(statement, beyond, copies, built=built) for copies in COPIES)


def _is_fresh(plan: WitnessPlan, constants: Constants) -> bool:
    """Whether each element has a value of its own in every column in which elements differ, however many there are."""
    columns = [plan.branch.column(kept.attribute) for kept in plan.kept]
    times = {source.timestamp.lower() for source in plan.branch.streams if source.timestamp is not None}
    is_time = [column.name.lower() in times for column in columns]
    fresh = all(time or constants.is_fresh(column) for column, time in zip(columns, is_time, strict=True))
    return fresh and not times & constants.opaque


def _beyond(plan: WitnessPlan, constants: Constants) -> Reach:
    """The reach that a plan's values and times must exceed: of all constants of the statement, not only its block's."""
    reach, total = plan.reach, constants.total
    clocks = {
        plan.branch.column(Attribute(s.alias, s.timestamp)).type.family for s in plan.branch.streams if s.timestamp
    }
    periods = {constants.period if clock is Family.TIMESTAMP else constants.multiple for clock in clocks}
    return replace(
        reach,
        constant=max(reach.constant, Fraction(total)),
        offset=max(reach.offset, Fraction(total)),
        unit=reach.unit / constants.multiple,
        window=max(reach.window, *map(constants.between_times, clocks)),
        multiple=constants.multiple,
        period=lcm(*periods),
        common=constants.length,
    )


def _same_contracts(catalog: Catalog, one: Witness, other: Witness) -> bool:
    """Whether for a larger number of elements relations are as large, and timestamps have as many rows: so for any."""
    if most_at_once(other) > most_at_once(one):
        return False
    limited = [table for table in catalog.tables if table.changes is not None and table.rows is not None]
    return same_relations(one, other) and all(
        most_rows(table, (*one.prefix(range(one.size)), *one.probes[0]))
        == most_rows(table, (*other.prefix(range(other.size)), *other.probes[0]))
        for table in limited
    )


def same_relations(one: Witness, other: Witness) -> bool:
    """Whether two witnesses have the same rows of relations: those are the same for any number of elements."""
    return _of_relations(one) == _of_relations(other)


def _of_relations(witness: Witness) -> set[tuple[str, tuple[object, ...]]]:
    streams = {source.table for branch in witness.plan.branches for source in branch.streams}
    return {(row.table, (*row.values.values(),)) for row in witness.always if row.table not in streams}


def _plain(query: Query) -> Query:
    """A block without sums, and without the columns that were derived for them: rows are evaluated as they are.

    A row of a stream may stand in several places, so that it has the columns that are derived for any of them.
    """
    used = {(branch.source(one.source).table, one.column) for branch in query.branches for one in _read(branch)}
    branches = []
    for branch in query.branches:
        sources = tuple(
            replace(
                source,
                factors=(),
                columns=tuple(c for c in source.columns if not c.expression or (source.table, c.name) in used),
            )
            for source in branch.sources
        )
        branches.append(replace(branch, sources=sources))
    return replace(query, branches=tuple(branches), sums=())


def _read(branch: Branch) -> Iterator[Attribute]:
    yield from branch.projected
    yield from (attribute for atom in branch.atoms for attribute in atom.attributes)


def _fits(witness: Witness, copies: Copies) -> bool:
    everything = witness.prefix(range(witness.size)) * copies[0]
    probes = [probe * copies[1] for probe in witness.probes]
    return copies == (1, 1) or fits_contract(witness.plan.branch, everything, probes)


def _changes_fit(catalog: Catalog, witness: Witness) -> bool:
    """Whether relations that change never have more rows than they may, nor two rows of one key."""
    everything = witness.prefix(range(witness.size))
    changing = [table for table in catalog.tables if table.changes is not None]
    return all(fits_changes(table, (*everything, *probe)) for table in changing for probe in witness.probes)


def holds_at_every_size(found: CircuitWitness, executions: Executions) -> bool:
    """Whether all subsets of elements are told apart, whatever their number.

    Elements are in the same order at every size, and farther apart than all constants together; each has values of its
    own in columns that have infinitely many, and what has few values is the same of all (`witnesses.constants`). So a
    condition that sees one value or time, or two, is true of elements alike. What is counted or summed is tried: for
    all subsets of a few elements, for sums of powers, and for more elements than rows are counted to.
    """
    try:
        return _proved(found, executions) and _of_any_size(found, executions) and _far_away(found, executions)
    except _NO_VALUE:
        return False


def _proved(found: CircuitWitness, executions: Executions) -> bool:
    """Whether all subsets of a few elements are told apart."""
    runs = _of_few(found, executions)
    return runs is not None and all(map(_told_apart, runs))


def _of_few(found: CircuitWitness, executions: Executions) -> list[WitnessRun] | None:
    """Witnesses of a few elements; None where a pair of subsets that is seldom told apart is not."""
    runs: list[WitnessRun] = []
    first = None
    for size in SIZES:
        witness = found.of_size(size)
        if witness is None or (first is not None and not _same_contracts(found.statement.catalog, first, witness)):
            return None
        try:
            runs.append(executions.run(witness))
        except _NO_VALUE:
            return None
        if not all(_differ(runs[-1], *pair) for pair in _likely_alike(size)):
            return None
        first = first or witness
    return runs


def _likely_alike(size: int) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """Pairs of subsets that are seldom told apart: by what sees any element, which one, their sum, the last of many."""
    every = range(size)
    if size == 3:
        yield from (((), (0,)), ((0,), (1,)))
    if size == 4:
        yield from (((0, 3), (1, 2)), (every, every[1:]))


def _far_away(found: CircuitWitness, executions: Executions) -> bool:
    """Whether elements beyond the products of constants are told apart, too, as far as types have such values.

    Else a condition drops all but the first elements, and only finitely many matter.
    """
    witness = next((one for one in found.far_away() if one is not None), None)
    return witness is None or _told_apart(executions.run(witness))


def _of_any_size(found: CircuitWitness, executions: Executions) -> bool:
    """Whether what is told apart is no sum of powers of values, and not only as long as there are few elements."""
    number = _number_of_many(found)
    witness = found.of_size(len(EQUAL_POWERS) + 2)
    many = found.of_size(number) if number is not None else None
    if witness is None or many is None:
        return False
    ends = (0, len(EQUAL_POWERS) + 1)
    halves = [[at for at, bit in enumerate(EQUAL_POWERS, 1) if bit == half] for half in "01"]
    run, run_of_many = executions.run(witness), executions.run(many)
    pairs = [(run, [*ends, *halves[0]], [*ends, *halves[1]])]
    random = Random(0)
    for _ in range(SAMPLE):
        chosen = random.sample(range(many.size), random.randrange(many.size - 4, many.size))
        one, other, *rest = chosen
        sampled = ((chosen, chosen[1:]), ([one, *rest], [other, *rest]), ([one], [other]))
        pairs += [(run_of_many, *pair) for pair in sampled]
    return all(_differ(which, sorted(a), sorted(b)) for which, a, b in pairs)


def _number_of_many(found: CircuitWitness) -> int | None:
    """More elements than rows are counted to, unless those of each element are counted alone; None for too many."""
    counted = Constants.of(found.statement).counted
    names = {kept.attribute.column.lower() for kept in found.plan.kept}
    if counted < MANY or all(
        _by_element(tree, names) for tree in (found.statement.tree, *found.statement.queries.values())
    ):
        return MANY
    return counted + 2 if counted <= MOST_COUNTED else None


def _by_element(tree: Tree, names: set[str]) -> bool:
    """Whether all that is counted in a tree is counted for each value of a column in which elements differ."""
    match tree:
        case Aggregate():
            keys = [[key.value.text for key in tree.keys]]
        case Over():
            keys = [[key.text for key in call.partition] for call in tree.calls]
        case _:
            keys = []
    own = all(any(text.lower().rpartition(".")[2].strip("`") in names for text in one) for one in keys)
    return own and not isinstance(tree, FirstRows) and all(_by_element(below, names) for below in inputs(tree))


def _differ(run: WitnessRun, one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether some probe tells two subsets apart, those of elements in one only first."""
    probes = sorted(range(run.size), key=lambda k: (k in one) is (k in other))
    tried = probes[: run.size if run.size <= MANY else _PROBES]
    try:
        return any(run.change(one, probe) != run.change(other, probe) for probe in tried)
    except _NO_VALUE:
        return False


def _told_apart(run: WitnessRun) -> bool:
    """Whether the changes that the probes make differ for all subsets of the elements."""
    seen = set()
    for chosen in subsets(run.size):
        try:
            vector = tuple(run.change(chosen, probe) for probe in range(run.size))
        except _NO_VALUE:
            return False
        if vector in seen:
            return False
        seen.add(vector)
    return True


def subsets(size: int) -> Iterator[tuple[int, ...]]:
    """All subsets of a number of elements, counted from 0."""
    for bits in range(1 << size):
        yield tuple(k for k in range(size) if bits >> k & 1)
