"""The command line: it reads arguments, calls the packages and prints; it decides nothing."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from analyzer.version import __version__

if TYPE_CHECKING:
    from analyzer.catalog import Catalog
    from analyzer.workspace import Workspace
    from criteria.check import Checked
    from criteria.witness import Witness

_F = TypeVar("_F", bound=Callable[..., Any])
_FORMATS = ("text", "json")
_STAGES = (
    "derivation",
    "normal-form",
    "split",
    "merged",
    "lto",
    "closure",
    "graph",
    "tables",
    "facts",
    "bound",
    "verdict",
    "plan",
    "job",
    "synopses",
)
_DRAWN = ("graph", "tables")
_DRAWING_FORMATS = ("text", "mermaid", "dot", "svg")
_SUFFIXES = {".mmd": "mermaid", ".dot": "dot", ".gv": "dot", ".svg": "svg"}
MOST_DIGITS = 1_000_000
"""Of a number in decimal: a proved bound may have more than the 4,300 that Python writes by default."""
_CRITERIA = ("exact", "paper")
_REPAIRED = 20
_UNREADABLE = ("SB001", "SB401")
_SEVERITIES = ("error", "warning", "note")


class _Path(click.Path):
    """A path; an empty one names nothing, where pathlib would read it as the working directory."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("an empty path names nothing", param, ctx)
        return super().convert(value, param, ctx)


class _OutputFile(_Path):
    """A file to write: its directory exists, since a new one would more often be a slip than meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(super().convert(value, param, ctx))
        if path.is_dir():
            self.fail(f"{path} is a directory, not a file", param, ctx)
        if not path.absolute().parent.is_dir():
            self.fail(f"there is no directory {path.parent}", param, ctx)
        return path


class _Group(click.Group):
    """Turns failures into one message and the documented exit status; `--debug` shows tracebacks."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("streambound: interrupted", err=True)
            sys.exit(130)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        import logging

        from analyzer.errors import StreamboundError
        from synopsis_exec.java import JavaError

        logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it warns of is reported as unsupported
        debug = "--debug" in sys.argv[1:]
        sys.set_int_max_str_digits(MOST_DIGITS)
        try:
            return super().main(*args, **kwargs)
        except BrokenPipeError:
            _discard_output()
            sys.exit(1)
        except OSError as error:
            if debug:
                raise
            _discard_output()
            what = error.filename or "cannot write the output"
            click.echo(f"streambound: error: {what}: {error.strerror or error}", err=True)
            sys.exit(3)
        except (StreamboundError, JavaError) as error:
            if debug:
                raise
            where = f"{error.where}: " if isinstance(error, StreamboundError) and error.where else ""
            click.echo(f"streambound: error: {where}{error.message}", err=True)
            if error.remedy:
                click.echo(f"  help: {error.remedy}", err=True)
            sys.exit(error.exit_status if isinstance(error, StreamboundError) else 2)
        except Exception as error:
            if debug:
                raise
            click.echo(f"streambound: internal error: {type(error).__name__}: {error}", err=True)
            click.echo("  help: please report it with the query, the catalog and the output of --debug", err=True)
            sys.exit(4)


def _discard_output() -> None:
    """Send what is still buffered for an output that takes no more to nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _common(command: _F) -> _F:
    options = (
        click.option("--catalog", "catalog_file", type=_Path(), metavar="FILE",
                     help="The catalog; by default the nearest streams.toml from the working directory upwards, "
                          "and only where there is none, from each query file upwards."),
        click.option("--color/--no-color", default=None, help="Colour or not; by default only on a terminal."),
        click.option("--debug", is_flag=True, help="Show a traceback when something fails."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="streambound")
def main() -> None:
    """Decide whether SQL over streams runs in constant memory, show why, and write the Spark job that does.

    \b
    streambound check queries/             lint every query below a directory
    streambound recheck report.json        validate the certificates in check's JSON report
    streambound explain q.sql              show how a verdict came about
    streambound compile q.sql -o job.py    write the Spark job of a bounded query
    streambound run q.sql --input DIR      run it over recorded streams
    streambound witness q.sql              show streams that an unbounded query cannot forget
    streambound demo                       see all of it on the paper's example and on real flights

    \b
    Exit status: 0 clean; 1 a query is not bounded or cannot be compiled, or a run broke its bound;
    2 wrong usage or catalog; 3 a file that cannot be read, parsed or written; 4 an internal error;
    130 interrupted. explain exits 0 whatever the verdict, unless the stage asked for does not exist.
    """


@main.command(short_help="Give the verdict of every query.")
@click.argument("paths", nargs=-1, type=_Path())
@click.option("--format", "format_name", type=click.Choice(_FORMATS), default="text", show_default=True,
              help="How to print the verdicts.")  # fmt: skip
@click.option("--criteria", type=click.Choice(_CRITERIA), default="exact", show_default=True,
              help="Judge by this project's criteria, or by the paper's theorems alone.")  # fmt: skip
@click.option("--fail-on", type=click.Choice(_SEVERITIES), default="error", show_default=True,
              help="The least severity that makes the exit status 1.")  # fmt: skip
@click.option("--repairs/--no-repairs", default=None,
              help="Look for repairs of all rejected queries, or of none; by default of the first 20.")  # fmt: skip
@_common
def check(
    paths: tuple[Path, ...], format_name: str, criteria: str, fail_on: str, repairs: bool | None,
    catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Give the verdict of every query in PATHS: files, directories (all *.sql below), or - for standard input.

    Without PATHS it checks what the catalog registers: queries = ["queries/*.sql"].

    \b
    A query is bounded when its memory has a constant bound, unbounded when it provably has none, unknown
    when neither is proved, unsupported when it is outside the query language, and error when it is wrong.
    Everything but bounded is a finding.
    """
    from analyzer.diagnostics import ORDER, Severity
    from analyzer.workspace import Workspace, query_files
    from criteria.check import check_file, with_first_repairs
    from criteria.repeated_names import repeated_names
    from criteria.verdict import Verdict
    from reports.formats import FORMATS

    workspace = Workspace(catalog_file)
    files = query_files(paths) if paths else workspace.registered()
    _note_unused(workspace, files)
    checked = repeated_names([item for file in _progress(files) for item in check_file(file, workspace)])
    if criteria == "paper":
        from criteria.paper_verdict import by_the_paper

        checked = tuple(map(by_the_paper, checked))
    elif repairs is not False:
        checked = with_first_repairs(checked, None if repairs else _REPAIRED)
    report = next(form for form in FORMATS if form.name == format_name)
    click.echo(report.render(checked, _colored(color)))
    if any(diagnostic.code in _UNREADABLE for item in checked for diagnostic in item.diagnostics):
        sys.exit(3)
    threshold = ORDER.index(Severity(fail_on))
    found = any(ORDER.index(diagnostic.severity) >= threshold for item in checked for diagnostic in item.diagnostics)
    sys.exit(1 if found or any(item.verdict is not Verdict.BOUNDED for item in checked) else 0)


@main.command("recheck", short_help="Validate the certificates of a JSON report.")
@click.argument("report", type=click.Path(path_type=Path))
@_common
def recheck_(report: Path, catalog_file: Path | None, color: bool | None, debug: bool) -> None:
    """Validate the certificates in REPORT (from check --format json; - for standard input) against the queries.

    The checker shares no code with the criteria. The exit status is 1 unless every bounded query's certificate holds.
    """
    import json

    from analyzer.errors import InputError, UsageError
    from recheck.report import recheck

    try:
        text = sys.stdin.read() if str(report) == "-" else report.read_text(encoding="utf-8")
        found = recheck(json.loads(text), catalog_file)
    except (OSError, ValueError) as error:
        raise InputError("not a JSON report", file=str(report)) from error
    if not found:
        raise UsageError("the report has no bounded query", remedy="nothing was checked, so nothing passed")
    for item in found:
        click.echo(f"{item.name}: certificate {'rejected' if item.faults else 'holds'}")
        for fault in item.faults:
            click.echo(f"  {fault}")
    sys.exit(1 if any(item.faults for item in found) else 0)


@main.command(short_help="Show how a verdict came about, or explain a code.")
@click.argument("query", metavar="QUERY|CODE")
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("--emit", type=click.Choice(_STAGES), multiple=True, metavar="STAGE",
              help="A stage to print, from the list above; may be repeated.")  # fmt: skip
@click.option("--format", "format_name", type=click.Choice(_DRAWING_FORMATS),
              help="How to draw --emit graph or tables; by default as the suffix of FILE says, else text.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Where to; default: print it.")
@click.option("--input", "input_dir", type=click.Path(path_type=Path), metavar="DIR",
              help="Recorded streams, for --emit synopses.")  # fmt: skip
@_common
def explain(
    query: str, name: str | None, emit: tuple[str, ...], format_name: str | None, output: Path | None,
    input_dir: Path | None, catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Show how the verdict of QUERY came about, or what a diagnostic CODE such as SB201 means.

    QUERY is a file, or the name of a query that the catalog registers. Without --emit it prints the derivation and
    the verdict; a CODE comes with an example that triggers it and its repair.

    \b
    --emit derivation    all that follows, as a tree      --emit facts     who may lag, what is bounded
    --emit normal-form   the query as understood          --emit tables    what is kept of which streams
    --emit split         OR, IN, <> split                 --emit bound     the bound M, symbolic
    --emit merged        equal timestamps merged          --emit verdict   the verdict and every violation
    --emit lto           the paper's LTO queries          --emit plan      tables and transitions
    --emit closure       P+, all that is implied          --emit job       the Spark job
    --emit graph         the dependency graph             --emit synopses  the tables after each timestamp
                                                                           of the streams in --input DIR

    \b
    streambound explain q.sql --emit graph --format mermaid      a drawing for a README
    streambound explain q.sql --emit tables -o tables.svg        one for a browser

    \b
    Exit status: 0 explained, whatever the verdict; 1 a query that means nothing, or cannot be compiled for the stage;
    2 wrong usage, catalog, or an unknown code; 3 a file that cannot be read or parsed; 4 an internal error.
    """
    if _is_code(query):
        _put(_code_text(query, _colored(color) and output is None), output)
        return
    from criteria.check import find_statement
    from reports.explanation import stage_text

    drawing = format_name or _SUFFIXES.get(output.suffix.lower() if output else "", "text")
    if drawing != "text":
        _require_drawable(emit, drawing)
    catalog, checked = find_statement(query, name, catalog_file)
    if drawing != "text":
        from reports.drawings import draw

        _put(draw(emit[0], drawing, checked, _decision(checked)), output)
        return
    colored = _colored(color) and output is None
    texts = []
    for stage in emit or ("derivation", "verdict"):
        title = [] if len(emit) == 1 else [f"== {stage} =="]
        executor = stage in ("plan", "job", "synopses")
        text = _executor_stage(stage, catalog, checked, input_dir) if executor else stage_text(stage, checked, colored)
        texts.append("\n".join([*title, text]))
    _put("\n\n".join(texts), output)
    if checked.decision is None:
        sys.exit(3 if any(diagnostic.code == "SB001" for diagnostic in checked.diagnostics) else 1)


@main.command("compile", short_help="Write the Spark job of a bounded query.")
@click.argument("query")
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("-o", "--output", type=_OutputFile(), metavar="FILE", help="Where to; default: print it.")
@_common
def compile_(
    query: str, name: str | None, output: Path | None, catalog_file: Path | None, color: bool | None, debug: bool
) -> None:
    """Write the Spark Structured Streaming job of a bounded QUERY: one file that needs pyspark and nothing of ours."""
    from criteria.check import find_statement

    catalog, checked = find_statement(query, name, catalog_file)
    text = _job(catalog, checked)
    if output is None:
        click.echo(text, nl=False)
        return
    _write(output, text)
    click.echo(f"wrote {output}: run it with python {output} --help, or through spark-submit", err=True)


@main.command(short_help="Run a bounded query on Spark over recorded streams.")
@click.argument("query")
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("--input", "input_dir", type=_Path(), metavar="DIR",
              help="Holds NAME.jsonl, or a directory NAME of .jsonl files, for each stream and relation; "
                   "by default the catalog's sources.")  # fmt: skip
@click.option("--output", type=_OutputFile(), metavar="FILE", required=True, help="The results, as JSON lines.")
@click.option("--quarantine", type=_OutputFile(), metavar="FILE",
              help="Rows that cannot be used, with the reason; default: OUTPUT.quarantine.jsonl.")  # fmt: skip
@click.option("--checkpoint", type=_Path(), metavar="DIR",
              help="Where Spark and the job keep their state; by default a temporary directory.")  # fmt: skip
@_common
def run(
    query: str, name: str | None, input_dir: Path | None, output: Path, quarantine: Path | None,
    checkpoint: Path | None, catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Compile a bounded QUERY, run it on Spark over recorded streams and write its results.

    Each line of the output is a result: the select list, _ts (when it became true) and _mult (how many duplicates).
    The job stops with exit status 1 when its synopses exceed the proved bound.
    """
    from criteria.check import find_statement
    from reports.progress import batch_line

    catalog, checked = find_statement(query, name, catalog_file)
    quarantine = quarantine or output.with_name(output.name + ".quarantine.jsonl")
    job = _job(catalog, checked)
    base = Path(catalog.file).parent
    lines = _run(job, input_dir, base, output, quarantine, checkpoint, lambda r: click.echo(batch_line(r), err=True))
    click.echo("\n".join(lines))


@main.command(short_help="Show streams that an unbounded query cannot forget.")
@click.argument("query")
@click.option("--name", help="Which statement of the file, by its name.")
@click.option("--size", type=click.IntRange(2, 10_000), metavar="N", help="Elements of the witness; 3 by default.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write the streams to DIR.")
@click.option("--prove", type=click.IntRange(2, 14), metavar="N",
              help="Run all 2^N prefixes in DuckDB and count the states that must be told apart.")  # fmt: skip
@click.option("--subset", metavar="1,3", help="With --out: also write DIR/input, this prefix ready for a run.")
@click.option("--probe", type=click.IntRange(1), metavar="K", help="With --subset: follow the prefix by probe K.")
@_common
def witness(
    query: str, name: str | None, size: int | None, out: Path | None, prove: int | None, subset: str | None,
    probe: int | None, catalog_file: Path | None, color: bool | None, debug: bool,
) -> None:  # fmt: skip
    """Show why an unbounded QUERY needs unbounded memory: streams of which nothing may be forgotten.

    A witness of size N has N elements and N probes. Send any subset of the elements (a prefix), then probe k: what the
    query prints for it depends on whether element k was sent. So 2^N prefixes must be told apart, whatever the
    algorithm, and its memory grows with N. With --prove, DuckDB confirms it: batch SQL over every prefix and probe.

    \b
    --out DIR writes always/, element-K/ and probe-K/, each with a NAME.jsonl per stream and relation.
    Exit status 1: the query is bounded or unknown, so that there is no witness, or the proof failed.
    """
    from criteria.check import find_statement
    from reports.witness_report import claim, witness_lines, write_rows, write_witness

    catalog, checked = find_statement(query, name, catalog_file)
    found = _witness(checked, size or prove or 3)
    split = checked.decision.derivation.split if checked.decision else None
    if split is None:
        return
    click.echo("\n".join([f"{checked.statement.name}: {checked.verdict.value}", *textwrap.wrap(claim(found), 100), ""]))
    click.echo("\n".join(witness_lines(split, found)))
    if out is not None:
        about = {"query": checked.statement.name, "file": checked.source.file}
        with _writing(out):
            write_witness(split, found, out, about)
            if subset is not None:
                rows = found.prefix(_elements(subset, found.size))
                write_rows(split, (*rows, *(found.probes[probe - 1] if probe else ())), out / "input")
        click.echo(f"\nwritten to {out}")
    if prove is not None:
        _prove(catalog, checked, prove)


@main.command(short_help="See all of it on two examples.")
@click.option("--keep", type=_Path(), metavar="DIR", help="Keep inputs, jobs and outputs in DIR.")
@click.option("--days", type=click.IntRange(1, 365), default=31, show_default=True, help="Days of flights.")
@click.option("--color/--no-color", default=None, help="Colour or not; by default only on a terminal.")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def demo(keep: Path | None, days: int, color: bool | None, debug: bool) -> None:
    """Analyse, compile and run the paper's example, then three queries over New York's flights of 2013."""
    import tempfile

    from synopsis_exec.java import require_java

    require_java()
    if keep is not None:
        _demo(keep, days, _colored(color))
        return
    with tempfile.TemporaryDirectory(prefix="streambound-demo-") as directory:
        _demo(Path(directory), days, _colored(color))


# --- what the commands share -----------------------------------------------------------------------------------


def _colored(color: bool | None) -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ if color is None else color


def _note_unused(workspace: Workspace, files: list[Path]) -> None:
    """Say which catalog holds where another one stands nearer to a query."""
    for nearer, file in workspace.unused(files).items():
        used = f"{file} is checked against {workspace.catalog(file).file}, found from the working directory upwards"
        click.echo(f"streambound: note: {used}; {nearer} is not read (--catalog chooses)", err=True)


def _progress(files: list[Path]) -> Iterable[Path]:
    """The files, with a progress bar when there are many and someone is watching."""
    if len(files) < 50 or not sys.stderr.isatty():
        return files
    return _with_bar(files)


def _with_bar(files: list[Path]) -> Iterator[Path]:
    with click.progressbar(files, label="checking", file=sys.stderr) as bar:
        yield from bar


def _demo(directory: Path, days: int, color: bool) -> None:
    from analyzer.workspace import relative
    from criteria.check import find_statement
    from reports.style import paint
    from reports.text_report import text_report
    from synopsis_exec.demo import scenarios
    from synopsis_exec.flights import write_flights

    directory.mkdir(parents=True, exist_ok=True)
    click.echo(f"preparing {days} days of flights and weather ...", err=True)
    write_flights(directory / "flights", days)
    for number, scenario in enumerate(scenarios(directory / "flights"), start=1):
        click.echo("\n" + paint(f"{number}. {scenario.title}", "bold", color))
        click.echo(f"{scenario.shows}\n")
        click.echo(scenario.query.read_text(encoding="utf-8"))
        query = relative(scenario.query)
        catalog, checked = find_statement(str(query), None, query.parent / "streams.toml")
        click.echo(text_report((checked,), color))
        if scenario.input_dir is not None:
            _demo_run(_job(catalog, checked), directory / f"{checked.statement.name}", scenario.input_dir)


def _demo_run(job: str, stem: Path, input_dir: Path) -> None:
    """Run one compiled query and show its memory and the last of its results."""
    from reports.progress import entries_lines

    output = stem.with_name(stem.name + ".jsonl")
    _write(stem.with_name(stem.name + "_job.py"), job)
    click.echo(f"\ncompiled to {stem.name}_job.py ({len(job.splitlines())} lines); running it on Spark:")
    reports: list[Any] = []
    quarantine = output.with_name(output.name + ".quarantine.jsonl")
    with _spinner("micro-batches") as advance:

        def note(report: dict[str, Any]) -> None:
            reports.append(report)
            advance()

        lines = _run(job, input_dir, input_dir, output, quarantine, None, note)
    click.echo("\n".join([*entries_lines(reports), *lines, "the last results:"]))
    for line in output.read_text(encoding="utf-8").splitlines()[-3:]:
        click.echo(f"  {line}")


@contextmanager
def _spinner(what: str) -> Iterator[Callable[[], None]]:
    """A count that grows on a terminal while something runs, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed} {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda: progress.advance(task)


def _run(
    job: str, input_dir: Path | None, base: Path, output: Path, quarantine: Path, checkpoint: Path | None,
    on_batch: Callable[[dict[str, Any]], None],
) -> list[str]:  # fmt: skip
    """Run a compiled job; the lines of its summary. Relative paths of the catalog's sources start at ``base``."""
    from reports.progress import run_summary_lines
    from synopsis_exec.runner import run_query

    summary = run_query(
        job, input_dir, output, quarantine=quarantine, checkpoint=checkpoint, on_batch=on_batch, base=base
    )
    return list(run_summary_lines(summary))


def _witness(checked: Checked, size: int) -> Witness:
    """A witness of a size; raises NotExecutableError where the query is not unbounded."""
    from analyzer.errors import NotExecutableError
    from criteria.witness import build

    small = _decision(checked).witness
    if small is None:
        reason = {
            "bounded": "it is bounded",
            "unknown": "none was found, so its verdict is unknown",
        }[checked.verdict.value]
        raise NotExecutableError(f"{checked.statement.name} has no witness: {reason}")
    found = build(small.plan, size)
    if found is None:
        message = f"there is no witness of size {size}: the columns' types or the catalog's contracts do not allow it"
        raise NotExecutableError(message, remedy="ask for a smaller one")
    return found


def _elements(subset: str, size: int) -> list[int]:
    from analyzer.errors import UsageError

    numbers = [part.strip() for part in subset.split(",") if part.strip()]
    if not all(number.isdecimal() and 1 <= int(number) <= size for number in numbers):
        raise UsageError(f"--subset takes numbers from 1 to {size}, not {subset!r}", remedy="for instance --subset 1,3")
    return sorted({int(number) - 1 for number in numbers})


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    from analyzer.errors import InputError

    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=str(path)) from error


def _prove(catalog: Catalog, checked: Checked, size: int) -> None:
    """Run every prefix and probe in DuckDB; raises NotExecutableError where prefixes are not told apart."""
    from analyzer.errors import NotExecutableError
    from recheck.prove import prove
    from reports.witness_report import json_rows

    found = _witness(checked, size)
    split, tree = _decision(checked).derivation.split, checked.statement.tree
    if tree is None:
        return
    elements, probes = ([json_rows(split, rows) for rows in part] for part in (found.elements, found.probes))
    with _spinner("prefixes") as advance:
        proof = prove(tree, catalog, json_rows(split, found.always), elements, probes, advance)
    text = f"{proof.states:,} of {proof.prefixes:,} prefixes (all subsets of {size} elements) must be told apart"
    if not proof.holds:
        raise NotExecutableError(f"not proved by DuckDB: only {text}")
    click.echo(f"\nproved by DuckDB: {text}")


def _is_code(query: str) -> bool:
    return re.fullmatch(r"SB\d+", query, re.IGNORECASE) is not None


def _code_text(code: str, color: bool) -> str:
    from analyzer.errors import UsageError
    from analyzer.rules import RULES_BY_CODE

    rule = RULES_BY_CODE.get(code.upper())
    if rule is None:
        raise UsageError(f"there is no diagnostic code {code}", remedy=f"the codes are {', '.join(RULES_BY_CODE)}")
    from reports.code_page import code_page
    from reports.terminal import markdown_text

    return markdown_text(code_page(rule), color)


def _require_drawable(emit: tuple[str, ...], drawing: str) -> None:
    from analyzer.errors import UsageError

    if len(emit) != 1 or emit[0] not in _DRAWN:
        remedy = "name one of them: " + " or ".join(f"--emit {stage}" for stage in _DRAWN)
        raise UsageError(f"{drawing} is for drawings, of the graph or of the tables", remedy=remedy)


def _put(text: str, output: Path | None) -> None:
    """Print a text, or write it to a file and say so."""
    if output is None:
        click.echo(text)
        return
    _write(output, text + "\n")
    click.echo(f"wrote {output}", err=True)


def _job(catalog: Catalog, checked: Checked) -> str:
    from synopsis_exec.codegen import job_text
    from synopsis_exec.plan import make_plan

    return job_text(make_plan(_decision(checked), catalog))


def _decision(checked: Checked) -> Any:
    from analyzer.errors import InputError

    if checked.decision is None:
        first = checked.diagnostics[0]
        file, span = first.file, first.span
        status = InputError(
            f"{first.code} {first.message}", file=file, line=span.line, column=span.column, remedy=first.help
        )
        status.exit_status = 3 if first.code == "SB001" else 1
        raise status
    return checked.decision


def _executor_stage(stage: str, catalog: Catalog, checked: Checked, input_dir: Path | None) -> str:
    from analyzer.errors import UsageError
    from synopsis_exec.plan import make_plan, plan_text

    if stage == "job":
        return _job(catalog, checked).rstrip("\n")
    if stage == "plan":
        return plan_text(make_plan(_decision(checked), catalog))
    if input_dir is None:
        raise UsageError("--emit synopses needs recorded streams", remedy="add --input DIR")
    from synopsis_exec.steps import steps_text

    return steps_text(_job(catalog, checked), make_plan(_decision(checked), catalog), input_dir)


def _write(path: Path, text: str) -> None:
    from analyzer.errors import InputError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=str(path)) from error


if __name__ == "__main__":
    main()
