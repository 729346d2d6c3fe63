"""`streambound witness`: streams that an unbounded query cannot forget."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streambound.commands.options import QueryArgument, common_options
from streambound.commands.saying import spinner
from streambound.commands.statement import writing
from streambound.jobs import decision_of

if TYPE_CHECKING:
    from streambound.analyzer.catalog import Catalog
    from streambound.criteria.check import Checked
    from streambound.criteria.witness import Witness
    from streambound.criteria.witness_plan import WitnessPlan


@click.command("witness")
@click.argument("query", type=QueryArgument())
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("--size", type=click.IntRange(2, 10_000), metavar="N", help="Elements of the witness; 3 by default.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write the streams to DIR.")
@click.option("--prove", type=click.IntRange(2, 14), metavar="N",
              help="Run all 2^N prefixes in DuckDB and count the states that must be told apart.")  # fmt: skip
@click.option("--longer", type=click.IntRange(1, 1_000), metavar="N", default=1, show_default=True,
              help="Search so many times as long as `check` does for a witness of an unknown query.")  # fmt: skip
@click.option("--subset", metavar="1,3", help="With --out: also write DIR/input, this prefix ready for a run.")
@click.option("--probe", type=click.IntRange(1), metavar="K", help="With --subset: follow the prefix by probe K.")
@common_options
def witness(
    query: str, name: str | None, size: int | None, out: Path | None, prove: int | None, longer: int,
    subset: str | None, probe: int | None, catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Show why an unbounded QUERY needs unbounded memory: streams of which nothing may be forgotten.

    A witness of size N has N elements and N probes. Send any subset of the elements (a prefix), then probe k: what the
    query prints for it depends on whether element k was sent. So 2^N prefixes must be told apart, whatever the
    algorithm, and its memory grows with N. With --prove, DuckDB confirms it: batch SQL over every prefix and probe.

    \b
    --out DIR writes always/, element-K/ and probe-K/, each with a NAME.jsonl per stream and relation; those of an
    earlier witness are removed.
    Exit status 1: the query is bounded or unknown, so that there is no witness, or the proof failed.
    """
    from streambound.criteria.check import find_statement
    from streambound.reports.visible import visible
    from streambound.reports.witness_report import claim, witness_lines, write_witness

    size = size or prove or 3
    elements = _elements(subset, probe, size, out)
    catalog, checked = find_statement(query, name, catalog_file)
    plan = _plan(checked, longer)
    found = _witness(plan, size)
    split = checked.decision.derivation.split if checked.decision else None
    if split is None:
        return
    sent = None
    if elements is not None:
        sent = (*found.prefix(elements), *(found.probes[probe - 1] if probe else ()))
    head = [f"{checked.statement.name}: unbounded", *textwrap.wrap(claim(found), 100), ""]
    click.echo(visible("\n".join([*head, *witness_lines(split, found)])))
    if out is not None:
        about = {"query": checked.statement.name, "file": checked.source.file}
        with writing(out):
            write_witness(split, found, out, about, sent)
        click.echo(f"\nwritten to {out}")
    if prove is not None:
        _prove(catalog, checked, plan, prove)


def _plan(checked: Checked, longer: int) -> WitnessPlan:
    """How to build a query's witnesses; raises NotExecutableError where it has none."""
    from streambound.analyzer.errors import NotExecutableError
    from streambound.criteria.verdict import search_longer
    from streambound.criteria.vocabulary import Verdict
    from streambound.criteria.witness_search import WitnessSearch

    decision = decision_of(checked)
    search = WitnessSearch(decision.witness)
    if decision.verdict is Verdict.UNKNOWN:
        search = search_longer(decision, longer)
    if search.witness is not None:
        return search.witness.plan
    if decision.verdict is Verdict.BOUNDED:
        raise NotExecutableError(f"{checked.statement.name} has no witness: it is bounded")
    message = f"{checked.statement.name} has no witness: none was found, so its verdict is unknown"
    if search.given_up:
        remedy = f"the search was given up before its end; --longer {10 * longer} searches longer"
        raise NotExecutableError(message, remedy=remedy)
    raise NotExecutableError(message)


def _witness(plan: WitnessPlan, size: int) -> Witness:
    """A plan's witness of a size; raises NotExecutableError where there is none."""
    from streambound.analyzer.errors import NotExecutableError
    from streambound.criteria.witness import build

    found = build(plan, size)
    if found is None:
        message = f"there is no witness of size {size}: the columns' types or the catalog's contracts do not allow it"
        raise NotExecutableError(message, remedy="ask for a smaller one")
    return found


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


def _prove(catalog: Catalog, checked: Checked, plan: WitnessPlan, size: int) -> None:
    """Run every prefix and probe in DuckDB; raises NotExecutableError where prefixes are not told apart."""
    from streambound.analyzer.errors import NotExecutableError
    from streambound.recheck.oracle.prove import prove
    from streambound.reports.witness_report import json_rows

    found = _witness(plan, size)
    split, tree = decision_of(checked).derivation.split, checked.statement.tree
    if tree is None:
        return
    elements, probes = ([json_rows(split, rows) for rows in part] for part in (found.elements, found.probes))
    with spinner("prefixes") as advance:
        proof = prove(tree, catalog, json_rows(split, found.always), elements, probes, advance)
    text = f"{proof.states:,} of {proof.prefixes:,} prefixes (all subsets of {size} elements) must be told apart"
    if not proof.holds:
        raise NotExecutableError(f"not proved by DuckDB: only {text}")
    click.echo(f"\nproved by DuckDB: {text}")
