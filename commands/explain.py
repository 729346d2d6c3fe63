"""`streambound explain`: how a verdict came about, or what a code means."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streambound.analyzer.codes import Code
from streambound.commands.options import QueryArgument, colored, common_options, emit_mode_option
from streambound.commands.saying import put
from streambound.jobs import compiled_of, decision_of, job_of

if TYPE_CHECKING:
    from streambound.analyzer.catalog import Catalog
    from streambound.criteria.check import Checked

_STAGES = (
    "derivation",
    "tree",
    "rewriting",
    "normal-form",
    "split",
    "merged",
    "lto",
    "closure",
    "graph",
    "tables",
    "facts",
    "bound",
    "states",
    "verdict",
    "plan",
    "sql",
    "job",
    "synopses",
    "windows",
)
_CIRCUITS = ("circuit", *(f"circuit:{name}" for name in (
    "translate", "simplify", "consolidate_distinct", "lift", "incrementalise", "chain",
)))  # fmt: skip
_DRAWN = ("graph", "tables", "circuit")
_DRAWING_FORMATS = ("mermaid", "dot", "svg")
_QUERIES = ("tree", "normal-form", "split", "merged", "lto")
"""The stages that are queries: trees of operators, or SQL."""
_SUFFIXES = {".mmd": "mermaid", ".dot": "dot", ".gv": "dot", ".svg": "svg"}


@click.command("explain")
@click.argument("query", type=QueryArgument(codes=True), metavar="QUERY|CODE")
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("--emit", type=click.Choice((*_STAGES, *_CIRCUITS)), multiple=True, metavar="STAGE",
              help="A stage to print, from the list above; may be repeated.")  # fmt: skip
@click.option("--format", "format_name", type=click.Choice(("text", "sql", *_DRAWING_FORMATS)),
              help="How to draw graph, tables or circuit, by default by FILE's suffix; sql for a query.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Where to; default: print it.")
@click.option("--input", "input_dir", type=click.Path(path_type=Path), metavar="DIR",
              help="Recorded rows, for --emit synopses or windows.")  # fmt: skip
@emit_mode_option
@common_options
def explain(
    query: str, name: str | None, emit: tuple[str, ...], format_name: str | None, output: Path | None,
    input_dir: Path | None, emit_mode: str | None, catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Show how the verdict of QUERY came about, or what a diagnostic CODE such as SB201 means.

    QUERY is a file, or the name of a query that the catalog registers. Without --emit it prints the derivation and
    the verdict; a CODE comes with an example that triggers it and its repair.

    \b
    --emit derivation    all that follows                 --emit facts     who may lag, what is bounded
    --emit tree          the operators that SQL names     --emit rewriting  of a SEQ statement, with its shuffles
    --emit normal-form   the query as understood          --emit tables    what is kept of which streams
    --emit split         OR, IN, <> split                 --emit bound     the bound M, symbolic
    --emit merged        equal timestamps merged          --emit verdict   the verdict and every violation
    --emit lto           the paper's LTO queries          --emit plan      what is kept, what runs
    --emit closure       P+, all that is implied          --emit job       the Spark job
    --emit graph         the dependency graph             --emit synopses  the tables after each timestamp
    --emit states        what operators beyond joins keep                  of the streams in --input DIR
    --emit sql           what a tick of them runs         --emit windows   of a join in SEQ TP, of the rows there
    --emit circuit       the circuit over changes         --emit circuit:PASS   it after a pass: translate, simplify,
                                                          consolidate_distinct, lift, incrementalise, chain

    \b
    streambound explain q.sql --emit split --format sql          a query as SQL, not as a tree
    streambound explain q.sql --emit graph --format mermaid      a drawing for a README
    streambound explain q.sql --emit tables -o tables.svg        one for a browser

    \b
    Exit status: 0 explained, whatever the verdict; 1 a query that means nothing, or cannot be compiled for the stage;
    2 wrong usage, catalog, or an unknown code; 3 a file that cannot be read or parsed; 4 an internal error.
    """
    if _is_code(query):
        put(_code_text(query, colored(color) and output is None), output)
        return
    from streambound.criteria.check import find_statement
    from streambound.reports.explanation import stage_text
    from streambound.reports.visible import visible

    drawing = format_name or _SUFFIXES.get(output.suffix.lower() if output else "", "text")
    if drawing in _DRAWING_FORMATS:
        _require_drawable(emit, drawing)
    if drawing == "sql":
        _require_queries(emit)
    catalog, checked = find_statement(query, name, catalog_file, emit_mode=emit_mode)
    if drawing in _DRAWING_FORMATS:
        from streambound.reports.drawings import draw, draw_circuit

        if emit[0] in _CIRCUITS:
            put(draw_circuit(emit[0], drawing, checked), output)
        else:
            put(draw(emit[0], drawing, checked, decision_of(checked)), output)
        return
    in_color = colored(color) and output is None
    texts = []
    for stage in emit or ("derivation", "verdict"):
        title = [] if len(emit) == 1 else [f"== {stage} =="]
        if stage in _CIRCUITS:
            text = _circuit_stage(stage, checked)
        elif stage in ("plan", "sql", "job", "synopses", "windows"):
            text = _executor_stage(stage, catalog, checked, input_dir)
        else:
            text = stage_text(stage, checked, in_color, sql=drawing == "sql")
        text = text if stage == "job" else visible(text, in_color)
        texts.append("\n".join([*title, text]))
    put("\n\n".join(texts), output)
    if checked.decision is None and checked.circuit is None and checked.blocks is None:
        sys.exit(3 if any(diagnostic.code is Code.SYNTAX_ERROR for diagnostic in checked.diagnostics) else 1)


def _is_code(query: str) -> bool:
    return re.fullmatch(r"SB\d+", query, re.IGNORECASE) is not None


def _code_text(code: str, color: bool) -> str:
    from streambound.analyzer.codes import Code
    from streambound.analyzer.errors import UsageError

    known = Code.named(code.upper())
    if known is None:
        raise UsageError(f"there is no diagnostic code {code}", remedy=f"the codes are {', '.join(Code)}")
    from streambound.reports.code_page import code_page
    from streambound.reports.terminal import markdown_text

    return markdown_text(code_page(known), color)


def _require_drawable(emit: tuple[str, ...], drawing: str) -> None:
    from streambound.analyzer.errors import UsageError

    if len(emit) != 1 or emit[0].partition(":")[0] not in _DRAWN:
        remedy = "name one of them: " + " or ".join(f"--emit {stage}" for stage in _DRAWN)
        raise UsageError(f"{drawing} is for drawings, of the graph, the tables or the circuit", remedy=remedy)


def _circuit_stage(stage: str, checked: Checked) -> str:
    from streambound.reports.circuit_stages import circuit_stage_text

    return circuit_stage_text(stage, checked)


def _require_queries(emit: tuple[str, ...]) -> None:
    from streambound.analyzer.errors import UsageError

    if not emit or not set(emit) <= set(_QUERIES):
        remedy = "name one of them: " + " or ".join(f"--emit {stage}" for stage in _QUERIES)
        raise UsageError("sql is for stages that are queries", remedy=remedy)


def _executor_stage(stage: str, catalog: Catalog, checked: Checked, input_dir: Path | None) -> str:
    from streambound.analyzer.errors import UsageError
    from streambound.synopsis_exec.plan_text import plan_text

    if stage == "job":
        return compiled_of(catalog, checked).text.rstrip("\n")
    if stage == "plan":
        return plan_text(job_of(catalog, checked).plan)
    if stage == "sql":
        from streambound.synopsis_exec.tick_text import tick_text

        return tick_text(job_of(catalog, checked))
    if input_dir is None:
        raise UsageError(f"--emit {stage} needs recorded rows", remedy="add --input DIR")
    if stage == "windows":
        from streambound.synopsis_exec.window_text import windows_text

        return windows_text(checked.blocks, catalog, input_dir)
    from streambound.synopsis_exec.steps import steps_text

    return steps_text(job_of(catalog, checked), input_dir)
