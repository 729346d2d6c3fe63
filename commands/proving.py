"""Proofs by DuckDB: of a witness, and of statements of which `check` could find none.

What our own interpreter cannot evaluate, such as a hash in a filter, DuckDB does: the values of columns that a plan
needs, or the whole statement on candidates for a witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streambound.commands.saying import spinner

if TYPE_CHECKING:
    from streambound.analyzer.catalog import Catalog
    from streambound.analyzer.query import Query
    from streambound.criteria.check import Checked
    from streambound.criteria.periods.endless import PeriodWitness
    from streambound.criteria.witness import Witness
    from streambound.criteria.witnesses.witness import CircuitWitness
    from streambound.recheck.oracle.prove import WitnessProof

SIZES = (2, 3)
"""Numbers of elements on which a candidate is tried before it is proved."""
FEW = (3, 4, 5)
"""Up to this number of elements, all subsets are run."""
MANY = 40
"""How many elements there are by default where only some are left out in turn: all subsets would take for ever."""


@contextmanager
def duckdb_values(wanted: bool) -> Iterator[None]:
    """Let DuckDB evaluate, in the block, what our own interpreter cannot, where that is ``wanted``."""
    if not wanted:
        yield
        return
    from streambound.analyzer.expressions.values import evaluated_by
    from streambound.recheck.oracle.batch_sql import RowValues

    values = RowValues()
    try:
        with evaluated_by(values):
            yield
    finally:
        values.close()


def proved_by_duckdb(checked: Checked, catalog: Catalog, size: int) -> CircuitWitness | None:
    """How to build witnesses that DuckDB proves, of some sizes and this one; None where none is found."""
    from streambound.analyzer.work import share
    from streambound.criteria.check import executed
    from streambound.criteria.dataflow.judge import judge
    from streambound.criteria.dataflow.witness import suspects
    from streambound.criteria.witnesses.witness import MOST_STEPS, candidates, same_relations
    from streambound.reports.circuit_witness_report import tables_of

    statement = executed(checked)
    if statement is None:
        return None
    tables = tables_of(statement, checked.statement)
    judgement = judge(checked.statement, catalog)
    asked = () if judgement is None else suspects(judgement)
    blocks = () if checked.decision is None else (checked.decision.derivation.split,)
    with share(MOST_STEPS):
        for candidate in candidates(statement, (*blocks, *asked)):
            found = [candidate.of_size(n) for n in sorted({*SIZES, size})]
            built = [one for one in found if one is not None]
            alike = len(built) == len(found) and all(same_relations(built[0], one) for one in built)
            if alike and all(_proof(checked, catalog, tables, one).holds for one in built):
                return candidate
    return None


def some_elements(size: int) -> list[int]:
    """The elements without which a witness is executed, from 0: all of a few, else some of the first, middle, last."""
    return list(dict.fromkeys((*range(min(size, 4)), size // 2, size - 1)))


def near(element: int, size: int) -> list[int]:
    """The probes that should tell of an element: its own first."""
    return list(dict.fromkeys(probe for probe in (element, element - 1, element + 1, 0) if 0 <= probe < size))


def proved_sizes(size: int) -> tuple[int, ...]:
    """The numbers of elements of which all subsets are run, for ``--prove size``."""
    return (size, *(few for few in FEW if few != size))


def prove_witness(checked: Checked, catalog: Catalog, tables: Query, witnesses: Sequence[Witness]) -> str:
    """Run every prefix and probe, rows of these tables, in DuckDB, of the last witness some; what was run.

    Raises NotExecutableError where prefixes are alike.
    """
    from streambound.analyzer.errors import NotExecutableError

    *few, many = witnesses
    told = [
        _told(_proof(checked, catalog, tables, one), f"prefixes (all subsets of {one.size} elements)") for one in few
    ]
    left_out = some_elements(many.size)
    with _executing(checked), spinner(f"elements of {many.size:,} left out") as advance:
        for element in left_out:
            if not _tells(checked, catalog, tables, many, element):
                what = f"of {many.size:,} elements no probe tells whether element {element + 1:,} was sent"
                raise NotExecutableError(f"not proved by DuckDB: {what}")
            advance()
    also = f"of {many.size:,} elements each of the {len(left_out)} that were left out in turn"
    return f"{told[0]}; so must those of {_listed([one.size for one in few[1:]])}, and {also}"


def _listed(sizes: Sequence[int]) -> str:
    return f"{', '.join(map(str, sizes[:-1]))} and {sizes[-1]}"


def prove_period_witness(
    checked: Checked, catalog: Catalog, witness: PeriodWitness, size: int, many: int = MANY
) -> str:
    """Run the SQL of a SEQ VT block at all points of time, for each choice of the rows' ends, in DuckDB.

    So it is for a few, and of ``many`` rows for some where each ends later alone. Raises NotExecutableError where
    choices are alike, or there are no such rows, and UsageError for SEQ TP.
    """
    from streambound.analyzer.errors import NotExecutableError, UsageError
    from streambound.recheck.oracle.prove import ChosenEnds, prove_ends, tells_row
    from streambound.reports.period_witness_report import period_rows, shown_rows

    (block,) = checked.statement.blocks
    if witness.family.lineages:
        remedy = "the choices of ends that it prints were executed here; leave --prove out"
        raise UsageError(f"{checked.statement.name} is a SEQ TP statement: DuckDB has no lineages", remedy=remedy)
    stream = witness.family.stream
    table = catalog.table(stream)
    assert table is not None and table.period is not None, "it is a stream of rows with periods"
    period = table.period

    def chosen(number: int) -> ChosenEnds:
        rows, later = (period_rows(witness, [choice] * number) for choice in (False, True))
        pairs = zip(rows[stream], later[stream], strict=True)
        return ChosenEnds(
            stream,
            shown_rows(table, rows[stream]),
            [(one[period.end], other[period.end]) for one, other in pairs],
            {name: shown_rows(other, rows[name]) for name in rows if name != stream and (other := catalog.table(name))},
            max(row[period.begin] for row in rows[stream]),
            witness.query.low,
            witness.query.high,
        )

    told, sizes, ended = list[str](), proved_sizes(size), some_elements(many)
    with _executing(checked), spinner("choices of ends") as advance:
        for number in sizes:
            proof = prove_ends(block.query, catalog, chosen(number), advance)
            told.append(_told(proof, f"choices of ends (of {number} rows)"))
        given = chosen(many)
        for row in ended:
            if not tells_row(block.query, catalog, given, row):
                what = f"of {many:,} rows it makes no difference when row {row + 1:,} ends"
                raise NotExecutableError(f"not proved by DuckDB: {what}")
            advance()
    also = f"of {many:,} rows each of the {len(ended)} that ended later in turn"
    return f"{told[0]}; so must those of {_listed(sizes[1:])}, and {also}"


def _told(proof: WitnessProof, what: str) -> str:
    from streambound.analyzer.errors import NotExecutableError

    text = f"{proof.states:,} of {proof.prefixes:,} {what} must be told apart"
    if not proof.holds:
        raise NotExecutableError(f"not proved by DuckDB: only {text}")
    return text


@contextmanager
def _executing(checked: Checked) -> Iterator[None]:
    """Raise NotExecutableError for what DuckDB cannot execute, and UsageError where it is not installed."""
    from streambound.analyzer.errors import NotExecutableError
    from streambound.recheck.oracle.batch_sql import open_database

    open_database().close()
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise NotExecutableError(f"DuckDB cannot execute {checked.statement.name}: {first}") from error


def _tells(checked: Checked, catalog: Catalog, tables: Query, witness: Witness, element: int) -> bool:
    """Whether DuckDB tells if an element of a witness was sent."""
    from streambound.recheck.oracle.prove import tells_element
    from streambound.reports.witness_report import json_rows

    tree = checked.statement.tree
    assert tree is not None, "what has a verdict was read"
    elements = [json_rows(tables, rows) for rows in witness.elements]
    probes = [json_rows(tables, witness.probes[probe]) for probe in near(element, witness.size)]
    return tells_element(tree, catalog, json_rows(tables, witness.always), elements, probes, element)


def _proof(checked: Checked, catalog: Catalog, tables: Query, witness: Witness) -> WitnessProof:
    """DuckDB's proof of a witness; raises NotExecutableError if it cannot execute the statement."""
    from streambound.recheck.oracle.prove import prove
    from streambound.reports.witness_report import json_rows

    tree = checked.statement.tree
    assert tree is not None, "what has a verdict was read"
    elements, probes = ([json_rows(tables, rows) for rows in part] for part in (witness.elements, witness.probes))
    with _executing(checked), spinner("prefixes") as advance:
        return prove(tree, catalog, json_rows(tables, witness.always), elements, probes, advance)
