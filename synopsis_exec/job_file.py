"""A job as files: `job.py`, which holds nothing but the query's own, and the runtime beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.version import __version__
from streambound.synopsis_exec.circuit_plan import PlannedCircuit
from streambound.synopsis_exec.emit import Lines
from streambound.synopsis_exec.job_spec import BATCH, job_spec
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.plan_text import computed_in_words, kept_in_words, promises_in_words
from streambound.synopsis_exec.synopsis_plan import kernel_in_words
from streambound_runtime import promises, spec
from streambound_runtime.engine import (
    block,
    block_tables,
    counts,
    group,
    join,
    join_tree,
    linear,
    over,
    running,
    stream_join,
    stream_sides,
)
from streambound_runtime.engine import plan as engine_plan
from streambound_runtime.operators import asked_rows, circuit_plan, formula, plan
from streambound_runtime.operators.epochs import plan as epochs
from streambound_runtime.spec import JobSpec
from streambound_runtime.text import printed, read
from streambound_runtime.zipped import ZIP, zipped

JOB = "job.py"
RUNTIME = ZIP
_ANY_RUNTIME = "streambound_runtime-*.zip"
_MODULES = {
    "engine.block": block,
    "engine.block_tables": block_tables,
    "engine.counts": counts,
    "engine.group": group,
    "engine.join": join,
    "engine.join_tree": join_tree,
    "engine.linear": linear,
    "engine.over": over,
    "engine.plan": engine_plan,
    "engine.running": running,
    "engine.stream_join": stream_join,
    "engine.stream_sides": stream_sides,
    "operators.formula": formula,
    "operators.plan": plan,
    "promises": promises,
    "operators.asked_rows": asked_rows,
    "operators.circuit_plan": circuit_plan,
    "operators.epochs.plan": epochs,
    "spec": spec,
}


def classes_in(modules: Mapping[str, ModuleType]) -> dict[str, str]:
    """The classes of some modules of the runtime, each with the name of its module."""
    return {
        name: module
        for module, found in modules.items()
        for name, value in vars(found).items()
        if isinstance(value, type) and value.__module__ == f"streambound_runtime.{module}"
    }


CLASSES = classes_in(_MODULES)
"""The classes that a job's literal is made of, and the module that each is in."""


@dataclass(frozen=True, slots=True)
class CompiledJob:
    """A query's plan, and its job as the runtime runs it."""

    plan: Plan | PlannedCircuit
    job: JobSpec

    @property
    def synopsis(self) -> Plan:
        """The plan of a select-project-join query; raises NotExecutableError for another one."""
        if isinstance(self.plan, PlannedCircuit):
            what = f"{self.plan.name} is more than joins, of which this is not there yet"
            raise NotExecutableError(what, remedy="compile it, and compare its output with batch SQL")
        return self.plan

    @property
    def name(self) -> str:
        """The statement's."""
        return self.plan.name

    @property
    def text(self) -> str:
        """What `job.py` is."""
        return job_text(self.job, self.plan)

    def write(self, folder: Path) -> Path:
        """Write `job.py`, and the runtime beside it, into a directory, which is made if it is not there."""
        return write_job(folder, self.text)


def files_of_job(text: str) -> dict[str, bytes]:
    """The files in the directory of a job, whose `job.py` has this text."""
    return {RUNTIME: zipped(), JOB: text.encode("utf-8")}


def write_job(folder: Path, text: str) -> Path:
    """Write the files of a job in place of those of an older one; its `job.py`."""
    folder.mkdir(parents=True, exist_ok=True)
    for other in other_runtimes(folder):
        other.unlink()  # `--py-files job/*.zip` would name it, too
    for name, content in files_of_job(text).items():
        (folder / name).write_bytes(content)
    return folder / JOB


def other_runtimes(folder: Path) -> list[Path]:
    """The runtimes of other versions in the directory of a job."""
    return sorted(file for file in folder.glob(_ANY_RUNTIME) if file.name != RUNTIME)


def compiled(plan: Plan | PlannedCircuit, forced: str | None = None, tick: str = BATCH) -> CompiledJob:
    """The job of a bounded query; raises UsageError for a ``forced`` placement that it cannot have."""
    return CompiledJob(plan, job_spec(plan, forced, tick))


def job_text(job: JobSpec, query: Plan | PlannedCircuit) -> str:
    """`job.py`: the SQL, the tables in words, and the job as one literal. The same job gives the same text."""
    what = "each result once" if query.distinct else "results with their multiplicities"
    needs = "whose memory grows with its input" if query.bound.grows else "that needs constant memory"
    entries = query.bound.entries.text
    if isinstance(query, PlannedCircuit) and query.bound.grows:
        memory = "Memory: no bound."
    elif query.bound.grows:
        memory = f"Memory: no bound; at most {entries} synopsis entries, n_S being the rows of S."
    else:
        memory = f"Memory: at most M = {entries} synopsis entries between two timestamps."
    sentences = [
        *(f"Spark computes {sentence}." for sentence in computed_in_words(query)),
        memory,
        *(f"  {sentence}" for sentence in kept_in_words(query) or ["nothing has to be remembered"]),
        *(f"It relies on the promise {sentence}." for sentence in promises_in_words(query)),
        *([f"Kernel: {kernel_in_words(query)}."] if isinstance(query, Plan) else []),
        f"Placement: {job.placement.where}, because {job.placement.because}.",
    ]
    title = f"{query.name}: a Spark Structured Streaming job {needs} ({what})."
    return script(title, query.sql, sentences, job, CLASSES, "main")


def script(title: str, sql: str, sentences: Iterable[str], job: object, classes: Mapping[str, str], main: str) -> str:
    """A `job.py`: a title, the SQL and some sentences as a comment, and a job of some classes for a ``main`` module."""
    lines = Lines()
    lines.comment(title)
    lines.add("#")
    for line in sql.split("\n"):
        lines.comment(f"    {line}")
    lines.add("#")
    for sentence in sentences:
        lines.comment(sentence)
    lines.add("#")
    lines.comment(f"Generated by streambound {__version__}; change the query and compile again rather than this file.")
    lines.comment(f"It needs streambound_runtime {__version__}: {RUNTIME} beside it or in --py-files, or installed.")
    lines.add("", "import sys", "from pathlib import Path", "")
    lines.add(f'sys.path.insert(0, str(Path(__file__).with_name("{RUNTIME}")))', "")
    literal = printed(job)
    lines.add(f"from streambound_runtime.{main} import main")
    used = {name: module for name, module in classes.items() if re.search(rf"\b{name}\(", literal)}
    for module in sorted({*used.values()}):
        lines.call(f"from streambound_runtime.{module} import (", sorted(n for n in used if used[n] == module), ")")
    lines.add("", *f"JOB = {literal}".split("\n"), "")
    lines.add('if __name__ == "__main__":', "    sys.exit(main(JOB))")
    return lines.text


def job_in(text: str) -> JobSpec | None:
    """The job that a file holds; None where it holds none that this version can read. Nothing is executed."""
    try:
        body = ast.parse(text).body
        literals = [node.value for node in body if isinstance(node, ast.Assign) and _is_job(node)]
        found = read(ast.unparse(literals[0]), [vars(_MODULES[module])[name] for name, module in CLASSES.items()])
    except (SyntaxError, ValueError, IndexError):
        return None
    return found if isinstance(found, JobSpec) else None


def _is_job(node: ast.Assign) -> bool:
    target = node.targets[0]
    return isinstance(target, ast.Name) and target.id == "JOB"
