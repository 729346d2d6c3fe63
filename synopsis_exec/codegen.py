"""A plan as the text of a standalone PySpark job: header, kernel, sources, and the part that is the same for all."""

from __future__ import annotations

import ast
import sys
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path

from streambound.analyzer.catalog import Counters
from streambound.analyzer.version import __version__
from streambound.synopsis_exec.certificate_text import certificate_text, layout_sha256
from streambound.synopsis_exec.columns_text import columns_text
from streambound.synopsis_exec.emit import Lines, literal
from streambound.synopsis_exec.extensions_text import extensions_text
from streambound.synopsis_exec.kernel import branch_texts, kernel_text
from streambound.synopsis_exec.kernel_choice import kernel_in_words, row_kernel_reason
from streambound.synopsis_exec.key_choice import by_key, key_text
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.plan_text import batches_in_words, tables_in_words
from streambound.synopsis_exec.punctuation_text import punctuation_imports, punctuation_text
from streambound.synopsis_exec.range_choice import no_ranges_reason
from streambound.synopsis_exec.sink_text import sink_text
from streambound.synopsis_exec.source_text import decoded_type, source_text, time_type
from streambound.synopsis_exec.stale import code_sha256

_BASIS = ("source", "exact", "batch")
_COLUMNS = ("ordered", "frame", "log", "matches", "words", "columnar")
_ROWS = ("rowwise",)
_JOB = (
    "arrow",
    "reasons",
    "json_text",
    "endpoints",
    "places",
    "reading",
    "arrivals",
    "checking",
    "output",
    "result_lines",
    "files",
    "owner",
    "saved",
    "sinks",
    "contracts",
    "closing",
    "grouping",
    "cells",
    "whole",
    "near",
    "lines",
    "typed",
    "ahead",
    "folding",
    "cuts",
    "large",
)
_BY_RANGE = ("apart", "ranges", "range_fold", "by_range")
_BY_KEY = ("apart", "closed", "key_fold", "by_key")
_END_OF_JOB = ("running",)
"""The modules of `synopsis_exec.job` in a job, in order: the second or the third tuple is its kernel, and the fifth or
the sixth is there where the executors may fold large batches."""
_TOOL = ("analyzer", "preprocess", "criteria", "punctuation", "synopsis_exec")
"""The packages that decide what a job says."""
_FIRST = "from __future__ import annotations\n"
_SPARK = "if TYPE_CHECKING:\n    from pyspark.sql import Column, DataFrame, Observation, SparkSession\n"
_END = 'if __name__ == "__main__":\n    sys.exit(main())\n'


def job_text(plan: Plan, keyed: bool | None = None) -> str:
    """The job. The same plan gives the same text; it imports the standard library, pyspark, numpy and pyarrow.

    ``keyed`` says whether executors fold large batches by key; they do where it is best if that is None.
    """
    branches = branch_texts(plan)
    by_row, keyed = row_kernel_reason(plan), by_key(plan) if keyed is None else keyed
    by_range = not keyed and not no_ranges_reason(plan)
    kernel = _ROWS if by_row else _COLUMNS
    ways = extensions_text(plan, branches) if by_range else ""  # first: their limits are the class's, too
    rows, sources = kernel_text(plan, branches), _sources(plan)
    columns = "" if by_row else columns_text(plan, branches)
    texts = [rows, *map(_part, _BASIS)]
    if not by_row:
        texts += [_part("shape"), columns]
    texts += [ways] * by_range
    texts += [
        sources,
        *map(_part, kernel),
        f"IN_COLUMNS = {not by_row}\nKernel = {'RowWise' if by_row else 'Columnar'}\n",
    ]
    job = (*_JOB, *(_BY_RANGE if by_range else _BY_KEY if keyed else ()), *_END_OF_JOB)
    used = (*_BASIS, *(() if by_row else ("shape",)), *kernel, *job)
    parts = list(map(_part, job))
    parts.insert(
        job.index("running"), f"Batches = {'SpreadJob' if by_range else 'KeyedJob' if keyed else 'LargeJob'}\n"
    )
    parts.insert(job.index("closing"), punctuation_text(_module("closing")))
    head = "\n".join(["", _FIRST, _imports(used), _SPARK, _constants(plan, keyed)])
    code = head.rstrip("\n") + "\n" + "\n\n".join([*texts, *parts, _END])
    for text in (head, rows, columns, ways, sources):  # the others are the same in every job
        ast.parse(text)
    return _header(plan, keyed, code) + code


def _module(name: str) -> str:
    return (Path(__file__).parent / "job" / f"{name}.py").read_text(encoding="utf-8")


@cache
def _part(name: str) -> str:
    """A part's text below its imports."""
    text = _module(name)
    first = next(
        node for node in ast.parse(text).body[1:] if not isinstance(node, ast.Import | ast.ImportFrom | ast.If)
    )
    start = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", []))])
    return "".join(text.splitlines(keepends=True)[start - 1 :])


@cache
def _imports(parts: tuple[str, ...]) -> str:
    """The imports of some parts and of the kernel, sorted as a formatter would."""
    plain: set[str] = set()
    names: dict[str, set[str]] = {"collections": {"Counter", "defaultdict"}}
    for text in (*map(_module, parts), punctuation_imports(_module("closing"))):
        for node in ast.parse(text).body:
            if isinstance(node, ast.Import):
                plain |= {f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.module.startswith("streambound."):
                names.setdefault(node.module, set()).update(alias.name for alias in node.names)
    del names["__future__"]
    others = {name for name in plain if name.split()[0] not in sys.stdlib_module_names}
    lines = [f"import {name}" for name in sorted(plain - others)]
    for module, wanted in sorted(names.items()):
        constants = sorted(name for name in wanted if name.isupper())
        classes = sorted(name for name in wanted if name[0].isupper() and not name.isupper())
        rest = sorted(name for name in wanted if name[0].islower())
        lines.append(f"from {module} import {', '.join([*constants, *classes, *rest])}")
    return "\n".join([*lines, "", *(f"import {name}" for name in sorted(others))]) + "\n"


def _header(plan: Plan, keyed: bool, code: str) -> str:
    lines = Lines()
    what = "each result once" if plan.distinct else "results with their multiplicities"
    lines.comment(f"{plan.name}: a Spark Structured Streaming job that needs constant memory ({what}).")
    lines.add("#")
    for line in plan.sql.split("\n"):
        lines.comment(f"    {line}")
    lines.add("#")
    lines.comment(f"Memory: at most M = {plan.bound.entries.text} synopsis entries between two timestamps.")
    for sentence in tables_in_words(plan) or ["nothing has to be remembered"]:
        lines.comment(f"  {sentence}")
    lines.comment(f"Kernel: {kernel_in_words(plan)}.")
    lines.comment(f"Batches: folded {batches_in_words(plan, keyed)}.")
    lines.add("#")
    lines.comment(f"Generated by streambound {__version__}; change the query and compile again rather than this file.")
    lines.comment(f"query   sha256 {plan.query_sha256}")
    lines.comment(f"catalog sha256 {plan.catalog_sha256}")
    lines.comment(f"tool    sha256 {_tool_sha256()}")
    lines.comment(f"code    sha256 {code_sha256(code)}")
    return lines.text


@lru_cache(maxsize=1)
def _tool_sha256() -> str:
    """A hash of everything here that a job's text depends on."""
    root = Path(__file__).parents[1]
    files = sorted(file for name in _TOOL for file in (root / name).rglob("*.py"))
    text = sha256()
    for file in files:
        text.update(f"{file.relative_to(root).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return text.hexdigest()


def _constants(plan: Plan, keyed: bool) -> str:
    lines = Lines()
    lines.add(f"QUERY = {literal(plan.name)}")
    lines.add(f"VERSION = {literal(__version__)}")
    lines.add('CERTIFICATE = r"""', *certificate_text(plan).split("\n"), '"""')
    saved = {"query": plan.query_sha256, "catalog": plan.contract_sha256, "tables": layout_sha256(plan)}
    lines.call("SAVED = {", [f'"{name}": "{value}"' for name, value in saved.items()], "}", spread=True)
    types = [f"{literal(column.name)}: {literal(decoded_type(column.type))}" for column in plan.columns]
    lines.call("TYPES = {", types, "}")
    lines.add(f"TIME_TYPE = {literal(time_type(plan))}")
    most = "2**63 - 1" if plan.counters is Counters.BIGINT else "10**38 - 1"
    lines.add(f"MOST = {most}  # the largest multiplicity that fits the output's {plan.counters}")
    if keyed:
        key_text(lines, plan)
    return lines.text


def _sources(plan: Plan) -> str:
    lines = Lines()
    for name, items in (("STREAMS", plan.streams), ("RELATIONS", plan.relations)):
        if not items:
            lines.add(f"{name}: tuple[Source, ...] = ()")
            continue
        lines.add(f"{name}: tuple[Source, ...] = (")
        with lines.indented():
            for item in items:
                source_text(lines, item, plan)
        lines.add(")")
    sink_text(lines, plan)
    return lines.text
