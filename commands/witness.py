"""`streambound witness`: streams that an unbounded query cannot forget."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from streambound.commands.options import QueryArgument, common_options, emit_mode_option
from streambound.commands.saying import doing, show, writing
from streambound.jobs import decision_of

if TYPE_CHECKING:
    from streambound.analyzer.catalog import Catalog
    from streambound.analyzer.query import Query
    from streambound.criteria.check import Checked
    from streambound.criteria.witness import Witness
    from streambound.criteria.witness_search import WitnessSearch
    from streambound.criteria.witnesses.witness import CircuitWitness


@click.command("witness")
@click.argument("query", type=QueryArgument())
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("--size", type=click.IntRange(2, 10_000), metavar="N", help="Elements of the witness; 3 by default.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write the streams to DIR.")
@click.option("--prove", type=click.IntRange(2, 14), metavar="N",
              help="Run all 2^N prefixes in DuckDB and count the states that must be told apart; and some of --size "
                   "elements, of 40 where that says no more.")  # fmt: skip
@click.option("--longer", type=click.IntRange(1, 1_000), metavar="N", default=1, show_default=True,
              help="Search so many times as long as `check` does for a witness of an unknown query.")  # fmt: skip
@click.option("--subset", metavar="1,3", help="With --out: also write DIR/input, this prefix ready for a run.")
@click.option("--probe", type=click.IntRange(1), metavar="K", help="With --subset: follow the prefix by probe K.")
@emit_mode_option
@common_options
def witness(
    query: str, name: str | None, size: int | None, out: Path | None, prove: int | None, longer: int,
    subset: str | None, probe: int | None, emit_mode: str | None, catalog_file: Path | None, color: bool | None,
    debug: bool,
) -> None:  # fmt: skip
    """Show why an unbounded QUERY needs unbounded memory: streams of which nothing may be forgotten.

    A witness of size N has N elements and N probes. Send any subset of the elements (a prefix), then probe k: what the
    query prints for it depends on whether element k was sent. So 2^N prefixes must be told apart, whatever the
    algorithm, and its memory grows with N. With operators beyond joins all probes together tell which elements were
    sent; what they change is printed after each subset of up to three elements. Of SEQ VT it has N rows, each of which
    may end at one of two times, and what is printed when they end tells which; --out writes DIR/input, where the rows
    of --subset end later. With --prove, DuckDB confirms it: batch
    SQL over every prefix and probe, or over what is valid at each point of time. It also evaluates the filters that
    `check` cannot, so that an unknown query may be proved unbounded.

    \b
    --out DIR writes always/, element-K/ and probe-K/, each with a NAME.jsonl per stream and relation; those of an
    earlier witness are removed.
    Exit status 1: the query is bounded or unknown, so that there is no witness, or the proof failed.
    """
    from streambound.analyzer.errors import UsageError
    from streambound.commands.proving import (
        MANY,
        duckdb_values,
        prove_period_witness,
        prove_witness,
        proved_sizes,
        some_elements,
    )
    from streambound.criteria.check import find_statement
    from streambound.reports.period_witness_report import period_witness_lines, write_period_witness
    from streambound.reports.witness_report import claim, write_witness

    many = size if size is not None and prove is not None and size > prove else MANY
    size = size or prove or 3
    elements = _elements(subset, probe, size, out)
    catalog, checked = find_statement(query, name, catalog_file, emit_mode=emit_mode)
    if checked.period_witness is not None:
        if probe is not None:
            remedy = "leave --probe out: what is printed when its rows end tells which ones end later"
            raise UsageError(f"{checked.statement.name} is a SEQ statement, whose witness has no probes", remedy=remedy)
        proved = None if prove is None else prove_period_witness(checked, catalog, checked.period_witness, prove, many)
        with doing(f"making {size:,} rows") as activity:
            lines = list(period_witness_lines(checked.statement.name, checked.period_witness, size, activity.now))
        show(*lines)
        if out is not None:
            with writing(out), doing(f"writing {size:,} rows"):
                write_period_witness(checked.period_witness, size, elements or (), out / "input")
            show("", f"written to {out}/input")
        if proved is not None:
            click.echo(f"\nproved by DuckDB: {proved}")
        return
    with duckdb_values(prove is not None), doing("searching for a witness") as activity:
        witnesses = _witnesses(checked, longer, catalog, prove)
        activity.now(f"making {size:,} elements")
        found = witnesses.of_size(size)
        proving = [] if prove is None else [witnesses.of_size(one) for one in (*proved_sizes(prove), many)]
        for element in some_elements(size):
            activity.now(f"executing {size:,} elements, with element {element + 1:,} and without it")
            witnesses.execute(found, element)
        activity.now(f"executing {size:,} elements")
        shown = claim(found, witnesses.one_by_one)
        lines = [*textwrap.wrap(shown, 100), "", *witnesses.lines(found)]
        about: dict[str, Any] = {"query": checked.statement.name, "file": checked.source.file, "claim": shown}
        about |= {} if out is None else {"results": witnesses.results(found)}
    sent = None
    if elements is not None:
        sent = (*found.prefix(elements), *(found.probes[probe - 1] if probe else ()))
    show(f"{checked.statement.name}: unbounded", *lines)
    if out is not None:
        with writing(out), doing(f"writing {size:,} elements"):
            write_witness(witnesses.tables, found, out, about, sent)
        show("", f"written to {out}")
    if prove is not None:
        told = prove_witness(checked, catalog, witnesses.tables, proving)
        click.echo(f"\nproved by DuckDB: {told}")


class _Witnesses(Struct, frozen=True):
    """The witnesses of a statement: their tables, one of a size, and what is said of one.

    ``tells`` says whether some probes tell if an element was sent. ``one_by_one``: probe k tells of element k.
    """

    tables: Query
    build: Callable[[int], Witness | None]
    tells: Callable[[Witness, int, Sequence[int]], bool]
    lines: Callable[[Witness], Iterator[str]]
    results: Callable[[Witness], list[Any]]
    one_by_one: bool = True

    def of_size(self, size: int) -> Witness:
        """The witness of this size; raises NotExecutableError where there is none."""
        from streambound.analyzer.errors import NotExecutableError

        found = self.build(size)
        if found is None:
            why = "the columns' types or the catalog's contracts do not allow it"
            raise NotExecutableError(f"there is no witness of size {size}: {why}", remedy="ask for a smaller one")
        return found

    def execute(self, found: Witness, element: int) -> None:
        """See that the probes tell whether an element was sent; raises NotExecutableError where they do not."""
        from streambound.analyzer.errors import NotExecutableError
        from streambound.commands.proving import near

        if not self.tells(found, element, near(element, found.size)):
            what = f"of {found.size} elements no probe tells whether element {element + 1} was sent"
            raise NotExecutableError(what, remedy="this is an error of streambound: please report the query")


def _of_joins(tables: Query, build: Callable[[int], Witness | None]) -> _Witnesses:
    """The witnesses of a select-project-join query."""
    from streambound.criteria.distinguishing import tells_element
    from streambound.reports.witness_report import results_of, witness_lines

    return _Witnesses(tables, build, partial(tells_element, tables), partial(witness_lines, tables), results_of)


def _of_statement(checked: Checked, circuit: CircuitWitness, by_duckdb: bool = False) -> _Witnesses:
    """Witnesses that a statement was executed on: here, or by DuckDB alone, which has told all elements apart."""
    from streambound.reports.circuit_witness_report import change_lines, changes, tables_of
    from streambound.reports.witness_report import MOST_SHOWN, row_lines

    tables = tables_of(circuit.statement, checked.statement)
    if by_duckdb:
        of_joins = _of_joins(tables, circuit.of_size)
        return replace(of_joins, tells=lambda found, element, probes: True, one_by_one=False)

    def lines(found: Witness) -> Iterator[str]:
        yield from row_lines(tables, found)
        yield from change_lines(circuit, found)

    def results(found: Witness) -> list[Any]:
        """The changes by each printed probe after all elements."""
        return changes(circuit, found, range(found.size), range(min(found.size, MOST_SHOWN)))

    return _Witnesses(tables, circuit.of_size, circuit.tells_element, lines, results, one_by_one=False)


def _witnesses(checked: Checked, longer: int, catalog: Catalog, prove: int | None) -> _Witnesses:
    """The witnesses of a statement; raises NotExecutableError where it has none."""
    from streambound.analyzer.errors import NotExecutableError
    from streambound.commands.proving import proved_by_duckdb
    from streambound.criteria.check import search_circuit_longer
    from streambound.criteria.vocabulary import Verdict
    from streambound.criteria.witness import build

    given_up = True
    if checked.circuit is None and checked.circuit_witness is None:
        search = _search(checked, longer)
        if search.witness is not None:
            plan = search.witness.plan
            return _of_joins(decision_of(checked).derivation.split, partial(build, plan))
        given_up = search.given_up
    if checked.verdict is Verdict.BOUNDED:
        raise NotExecutableError(f"{checked.statement.name} has no witness: it is bounded")
    if (found := checked.circuit_witness or search_circuit_longer(checked, longer)) is not None:
        return _of_statement(checked, found)
    if prove is not None and (found := proved_by_duckdb(checked, catalog, prove)) is not None:
        return _of_statement(checked, found, by_duckdb=True)
    message = f"{checked.statement.name} has no witness: none was found, so its verdict is unknown"
    remedy = f"the search was given up before its end; --longer {10 * longer} searches longer"
    raise NotExecutableError(message, remedy=remedy) if given_up else NotExecutableError(message)


def _search(checked: Checked, longer: int) -> WitnessSearch:
    """The search for witnesses of a query of joins; for an unknown one it is made again."""
    from streambound.criteria.verdict import search_longer
    from streambound.criteria.vocabulary import Verdict
    from streambound.criteria.witness_search import WitnessSearch

    decision = decision_of(checked)
    return search_longer(decision, longer) if decision.verdict is Verdict.UNKNOWN else WitnessSearch(decision.witness)


def _elements(subset: str | None, probe: int | None, size: int, out: Path | None) -> list[int] | None:
    """The elements that --subset names, from 0; None without it. Raises UsageError where that or --probe is wrong."""
    from streambound.analyzer.errors import UsageError

    if subset is None:
        if probe is not None:
            raise UsageError("--probe follows a prefix", remedy="name its elements, for instance --subset 1,3")
        return None
    if out is None:
        raise UsageError("--subset writes a prefix, and --out does not say where", remedy="add --out DIR")
    numbers = [part.strip() for part in subset.split(",") if part.strip()]
    if not all(number.isdecimal() and 1 <= int(number) <= size for number in numbers):
        raise UsageError(f"--subset takes numbers from 1 to {size}, not {subset!r}", remedy="for instance --subset 1,3")
    if probe is not None and probe > size:
        raise UsageError(f"--probe takes a number from 1 to {size}, not {probe}", remedy="or ask for more with --size")
    return sorted({int(number) - 1 for number in numbers})
