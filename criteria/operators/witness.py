"""Witnesses of unbounded circuits (Lemma 0): prefixes of which every subset of elements must be told apart.

A violated proposition suggests plans, as for a select-project-join query (`criteria.witness_search`): of the blocks
whose values pile up. A plan counts when the whole statement, executed on each subset of the elements followed by each
probe, tells all subsets apart, and when that holds at every size (`holds_at_every_size`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice
from math import lcm
from random import Random
from typing import TYPE_CHECKING

from streambound.analyzer.algebra.nodes import Aggregate, FirstRows, Over, Tree, inputs
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.expressions.evident import plain_value
from streambound.analyzer.expressions.function import Fails, NotKnown
from streambound.analyzer.query import Attribute, Query
from streambound.analyzer.types import Family
from streambound.analyzer.work import STATEMENT, share, spend
from streambound.criteria.contract import fits_contract
from streambound.criteria.operators.constants import MOST_COUNTED, Constants
from streambound.criteria.operators.executed import Executed
from streambound.criteria.operators.ranked_schemes import ranked
from streambound.criteria.operators.schemes import FARTHEST, Ground, Scheme, drawn, in_time
from streambound.criteria.reach import Reach
from streambound.criteria.results import Row
from streambound.criteria.witness import Witness, build
from streambound.criteria.witness_plan import WitnessPlan
from streambound.criteria.witness_search import plans

if TYPE_CHECKING:
    from streambound.incremental.circuit import Circuit
    from streambound.incremental.feed import SourceChange
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
MOST_STEPS = 3 * STATEMENT // 4
"""Steps of work of all plans together, and of all schemes."""
_STEPS_A_ROW = 5


@dataclass(frozen=True)
class CircuitWitness:
    """How the witnesses of a statement are built: by the ``plan`` of a block, each row sent in so many ``copies``."""

    statement: Executed
    plan: WitnessPlan
    copies: Copies

    def of_size(self, size: int) -> Witness | None:
        """The witness of so many elements; None where types or contracts do not allow it.

        The statement is executed on its rows: no results of the plan's block are expected.
        """
        found = build(self.plan, size)
        catalog = self.statement.catalog
        if found is None or not _fits(found, self.copies) or not _inserts_fit(catalog, found, self.copies):
            return None
        of_element, of_probe = self.copies
        elements = tuple(rows * of_element for rows in found.elements)
        probes = tuple(rows * of_probe for rows in found.probes)
        return replace(found, elements=elements, probes=probes, expected=())

    def far_away(self) -> Iterator[Witness | None]:
        """Witnesses of few elements whose values are those of far larger ones, the farthest first."""
        ground, reach = Ground.of(self.statement), self.plan.reach
        far = FARTHEST if ground is None else ground.far
        for times in FAR_AWAY:
            beyond = replace(reach, constant=reach.constant + far * max(times, far if times > 1 else 1))
            yield replace(self, plan=replace(self.plan, reach=beyond)).of_size(FEW)

    def changes(self, witness: Witness, subset: Sequence[int], probes: Sequence[int]) -> tuple[ZSet, ...]:
        """What some probes change in the statement's result, after the prefix of some elements, counted from 0.

        Raises Fails and NotKnown where an expression has no value.
        """
        return _changes(self.statement, self._circuit, witness, subset, probes)

    def tells_element(self, witness: Witness, element: int, probes: Sequence[int]) -> bool:
        """Whether some probe changes something else after all elements than after all but one, counted from 0."""
        every = list(range(witness.size))
        without = [one for one in every if one != element]
        return any(self.changes(witness, every, [probe]) != self.changes(witness, without, [probe]) for probe in probes)

    @cached_property
    def _circuit(self) -> Circuit:
        from streambound.incremental.translate import translate

        return translate(self.statement.tree, self.statement.catalog, self.statement.queries)


@dataclass(frozen=True)
class SchemeWitness(CircuitWitness):
    """How the witnesses of a statement are built by a ``scheme``, of its ``ground``."""

    ground: Ground
    scheme: Scheme

    def of_size(self, size: int) -> Witness | None:
        """The witness of so many elements; None where types or contracts do not allow it."""
        return self.ground.witness(self.scheme, size)

    def far_away(self) -> Iterator[Witness | None]:
        """Few elements of far larger witnesses, the farthest first."""
        for times in FAR_AWAY:
            yield self.ground.witness(self.scheme, FEW, max(times, self.ground.far if times > 1 else 1))


def find_circuit_witness(
    statement: Executed, suspects: Iterable[Query], most: float = MOST_STEPS
) -> CircuitWitness | None:
    """How to build witnesses for a statement, of any size; None where nothing was found in so many steps of work.

    ``suspects`` are blocks, split, that the violated propositions speak of.
    """
    from streambound.incremental.evaluate import NoFixpointError
    from streambound.incremental.translate import translate
    from streambound.incremental.translation.views import Untranslatable

    try:
        circuit = translate(statement.tree, statement.catalog, statement.queries)
        with share(most):
            for found in candidates(statement, suspects):
                if holds_at_every_size(found, circuit):
                    return found
    except (Untranslatable, NoFixpointError):
        pass
    return None


def find_scheme(statement: Executed, most: float = MOST_STEPS) -> CircuitWitness | None:
    """How to build witnesses for a statement by a scheme, of any size; None where none was found in so many steps."""
    from streambound.incremental.evaluate import NoFixpointError
    from streambound.incremental.translate import translate
    from streambound.incremental.translation.views import Untranslatable

    ground = Ground.of(statement)
    if ground is None:
        return None
    try:
        circuit = translate(statement.tree, statement.catalog, statement.queries)
        with share(most):
            for scheme in chain(ranked(ground, statement.tree), in_time(ground), drawn(ground)):
                spend(_STEPS_A_ROW)
                found = SchemeWitness(statement, ground.plan(scheme), (1, 1), ground, scheme)
                if holds_at_every_size(found, circuit):
                    return found
    except (Untranslatable, NoFixpointError):
        pass
    return None


def candidates(statement: Executed, suspects: Iterable[Query]) -> Iterator[CircuitWitness]:
    """What is tried; each counts only when the whole statement was executed on its rows."""
    constants = Constants.of(statement)
    for query in map(_plain, suspects):
        for branch in query.branches:
            if any(source.query for source in branch.sources):  # rows of what is computed cannot be chosen
                continue
            for plan in islice(plans(query, branch), MOST_PLANS):
                if _is_fresh(plan, constants):
                    beyond = replace(plan, reach=_beyond(plan, constants))
                    yield from (CircuitWitness(statement, beyond, copies) for copies in COPIES)


def _is_fresh(plan: WitnessPlan, constants: Constants) -> bool:
    """Whether each element has a value of its own in every column in which elements differ, however many there are."""
    columns = [plan.branch.column(kept.attribute) for kept in plan.kept]
    times = {source.timestamp.lower() for source in plan.branch.streams if source.timestamp is not None}
    is_time = [column.name.lower() in times for column in columns]
    fresh = all(time or constants.is_fresh(column) for column, time in zip(columns, is_time, strict=True))
    return fresh and not times & constants.opaque


def _beyond(plan: WitnessPlan, constants: Constants) -> Reach:
    """What a plan's values and times lie beyond: all of the statement's constants together, not only its block's."""
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


def same_relations(one: Witness, other: Witness) -> bool:
    """Whether two witnesses have the same rows of relations: those are the same for any number of elements."""
    return _of_relations(one) == _of_relations(other)


def _of_relations(witness: Witness) -> set[tuple[str, tuple[object, ...]]]:
    streams = {source.table for branch in witness.plan.branches for source in branch.streams}
    return {(row.table, (*row.values.values(),)) for row in witness.always if row.table not in streams}


def _plain(query: Query) -> Query:
    """A block without sums, and without the columns that were derived for them: rows are evaluated as they are."""
    branches = []
    for branch in query.branches:
        used = {*branch.projected, *(a for atom in branch.atoms for a in atom.attributes)}
        sources = tuple(
            replace(
                source,
                factors=(),
                columns=tuple(c for c in source.columns if not c.expression or Attribute(source.alias, c.name) in used),
            )
            for source in branch.sources
        )
        branches.append(replace(branch, sources=sources))
    return replace(query, branches=tuple(branches), sums=())


def _fits(witness: Witness, copies: Copies) -> bool:
    everything = witness.prefix(range(witness.size)) * copies[0]
    probes = [probe * copies[1] for probe in witness.probes]
    return copies == (1, 1) or fits_contract(witness.plan.branch, everything, probes)


def _inserts_fit(catalog: Catalog, witness: Witness, copies: Copies) -> bool:
    """Whether relations that change never have more rows than they may, nor two rows of one key."""
    everything = (*witness.always, *witness.prefix(range(witness.size))[len(witness.always) :] * copies[0])
    for table in catalog.tables:
        key = table.changes.key if table.changes is not None else ()
        for probe in witness.probes if table.changes is not None else ():
            rows = [row for row in (*everything, *probe * copies[1]) if row.table == table.name]
            values = {tuple(row.values[name] for name in key) for row in rows}
            if (table.rows is not None and len(rows) > table.rows) or (key and len(values) < len(rows)):
                return False
    return True


def holds_at_every_size(found: CircuitWitness, circuit: Circuit) -> bool:
    """Whether all subsets of elements are told apart, whatever their number.

    Elements are in the same order at every size, and farther apart than all constants together; each has values of its
    own in columns that have infinitely many, and what has few values is the same of all (`operators.constants`). So a
    condition that sees one value or time, or two, is true of elements alike. What is counted or summed is tried: for
    all subsets of a few elements, for sums of powers, and for more elements than rows are counted to.
    """
    return _proved(found, circuit) and _of_any_size(found, circuit) and _far_away(found, circuit)


def _proved(found: CircuitWitness, circuit: Circuit) -> bool:
    first = None
    for size in SIZES:
        witness = found.of_size(size)
        if witness is None or (first is not None and not same_relations(first, witness)):
            return False
        if not _told_apart(found.statement, circuit, witness):
            return False
        first = first or witness
    return True


def _far_away(found: CircuitWitness, circuit: Circuit) -> bool:
    """Whether elements beyond the products of constants are told apart, too, as far as types have such values.

    Else a condition drops all but the first elements: only so many can matter.
    """
    witness = next((one for one in found.far_away() if one is not None), None)
    return witness is None or _told_apart(found.statement, circuit, witness)


def _of_any_size(found: CircuitWitness, circuit: Circuit) -> bool:
    """Whether what is told apart is no sum of powers of values, and not only as long as there are few elements."""
    number = _number_of_many(found)
    witness = found.of_size(len(EQUAL_POWERS) + 2)
    many = found.of_size(number) if number is not None else None
    if witness is None or many is None:
        return False
    ends = (0, len(EQUAL_POWERS) + 1)
    halves = [[at for at, bit in enumerate(EQUAL_POWERS, 1) if bit == half] for half in "01"]
    pairs = [(witness, [*ends, *halves[0]], [*ends, *halves[1]])]
    random = Random(0)
    for _ in range(SAMPLE):
        chosen = random.sample(range(many.size), random.randrange(many.size - 4, many.size))
        one, other, *rest = chosen
        pairs += [(many, chosen, chosen[1:]), (many, [one, *rest], [other, *rest]), (many, [one], [other])]
    return all(_differ(found.statement, circuit, built, sorted(a), sorted(b)) for built, a, b in pairs)


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


def _differ(statement: Executed, circuit: Circuit, witness: Witness, one: list[int], other: list[int]) -> bool:
    """Whether some probe tells two subsets apart, those of elements in one only first."""
    prefixes = [_sent(statement, witness.prefix(subset)) for subset in (one, other)]
    befores = [_result(circuit, prefix) for prefix in prefixes]
    sizes = witness.size if witness.size <= MANY else _PROBES
    for k in sorted(range(witness.size), key=lambda k: (k in one) is (k in other))[:sizes]:
        probe = _sent(statement, witness.probes[k])
        found = [_result(circuit, [*prefix, *probe]) - before for prefix, before in zip(prefixes, befores, strict=True)]
        if found[0] != found[1]:
            return True
    return False


def _told_apart(statement: Executed, circuit: Circuit, witness: Witness) -> bool:
    """Whether the changes that the probes make differ for all subsets of the elements."""
    seen = set()
    for chosen in subsets(witness.size):
        try:
            vector = _changes(statement, circuit, witness, chosen, range(witness.size))
        except (Fails, NotKnown, ZeroDivisionError):
            return False
        if vector in seen:
            return False
        seen.add(vector)
    return True


def subsets(size: int) -> Iterator[tuple[int, ...]]:
    """All subsets of so many elements, counted from 0."""
    for bits in range(1 << size):
        yield tuple(k for k in range(size) if bits >> k & 1)


def _changes(
    statement: Executed, circuit: Circuit, witness: Witness, subset: Sequence[int], probes: Sequence[int]
) -> tuple[ZSet, ...]:
    prefix = _sent(statement, witness.prefix(subset))
    before, sent = _result(circuit, prefix), (_sent(statement, witness.probes[probe]) for probe in probes)
    return tuple(_result(circuit, [*prefix, *rows]) - before for rows in sent)


def _sent(statement: Executed, rows: Iterable[Row]) -> list[SourceChange]:
    """Rows as the circuit's sources have them."""
    from streambound.incremental.feed import SourceChange

    changes = []
    for row in rows:
        table = statement.catalog.table(row.table)
        assert table is not None, "a witness has rows of the catalog's tables"
        values = tuple(plain_value(row.values[column.name], column.type) for column in table.columns)
        time, weight = None if table.timestamp is None else row.values[table.timestamp], 1
        if table.changes is not None and table.changes.op.name in row.values:
            time = row.values[table.changes.timestamp.name]
            weight = -1 if row.values[table.changes.op.name] == table.changes.delete else 1
        changes.append(SourceChange(table.name, values, None if time is None else Fraction(time), weight))
    return changes


def _result(circuit: Circuit, changes: Sequence[SourceChange]) -> ZSet:
    """The statement's result of some rows; nothing before the first one of a stream."""
    from streambound.incremental.evaluate import evaluate_once
    from streambound.incremental.feed import together
    from streambound.incremental.zset import ZSet

    spend(_STEPS_A_ROW * (1 + len(changes)))
    begun = any(change.time is not None for change in changes)
    return evaluate_once(circuit, together(changes)) if begun else ZSet()
