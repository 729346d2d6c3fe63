"""The files of a job: `job.py`, which is the query's own, and the runtime as a zip beside it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.names import is_file_name
from streambound.analyzer.version import __version__
from streambound.criteria.verdict import decide
from streambound.jobs import compile as jobs_of_api
from streambound.synopsis_exec.job_file import RUNTIME, CompiledJob, compiled, job_in
from streambound.synopsis_exec.plan import make_plan
from streambound_runtime import __version__ as of_runtime
from streambound_runtime.job import NAMES
from streambound_runtime.main import main
from streambound_runtime.operators.plan import Term
from streambound_runtime.operators.plan import Test as RowTest
from streambound_runtime.promises import Domain
from streambound_runtime.spec import TableColumn
from streambound_runtime.sql_parts import in_sql
from streambound_runtime.text import printed, read
from streambound_runtime.zipped import zipped
from support.cases import catalog, query_of, read_cases
from support.choices import drawn
from support.jobs import FIGURE2, ROOT, compiled_of, figure2
from support.kernel import Kernel
from support.kernel_cases import Case, make_case, plan_of
from support.product import decided
from support.profiles import examples
from support.queries import Features

HOSTILE = {
    "streams": {
        '"""; import os #': {
            "timestamp": "t",
            "columns": {"x'y": "bigint", 'x"y': "string", "é\\": "date", "t": "bigint"},
        },
        "class": {"timestamp": "t", "columns": {"self": "bigint", "x'y": "bigint", "t": "timestamp"}},
        "self": {"timestamp": "t", "columns": {"now": "bigint", "rows": "bigint", "n": "bigint", "t": "bigint"}},
    },
    "relations": {"Counter": {"columns": {"min": "bigint", "key": "bigint"}}},
}
HOSTILE_SQL = (
    'SELECT a.`x"y` AS `results"\\n#`, \'\\\'; DROP\' AS c FROM `"""; import os #` a '
    "WHERE a.`x'y` = 1 AND a.`x\"y` <> '\"\\\\'",
    "SELECT `class`.self AS `import` FROM `class` WHERE `class`.`x'y` < 3",
    "SELECT self.now AS `self`, Counter.key FROM self, Counter WHERE self.rows = Counter.min AND self.n >= 0",
    "SELECT x.now FROM self AS x, self AS X_now, Counter WHERE x.t < X_now.t AND x.now = Counter.min",
)


def jobs() -> Iterator[CompiledJob]:
    yield figure2()
    for case in read_cases("codegen_plan.cases"):
        if not case.expected.startswith("refused"):
            yield compiled(make_plan(decide(query_of(case.text)), catalog()))
    yield from (compiled_of(sql, HOSTILE) for sql in HOSTILE_SQL)
    for line in (ROOT / "tests" / "data" / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        try:
            yield compiled(make_plan(decided(case["sql"], case["catalog"]), catalog_from_mapping(case["catalog"])))
        except NotExecutableError:
            assert case["verdict"] != "bounded" or case["projection"] == "set"


def test_the_papers_example_is_short() -> None:
    lines = figure2().text.splitlines()
    assert len(lines) <= 60 and max(map(len, lines)) <= 120
    assert "S.I > T.J AND T.J > U.K" in figure2().text


COUNTED = """
SELECT window(o.ts, '1 hour').start AS h, COUNT(*) AS n, SUM(CASE WHEN p.order_id IS NULL THEN 1 ELSE 0 END) AS unpaid
FROM orders o LEFT JOIN payments p ON p.order_id = o.id AND p.ts BETWEEN o.ts AND o.ts + INTERVAL 30 MINUTES
GROUP BY window(o.ts, '1 hour')"""
RATE = {"lateness": "10 minutes", "max_rate": {"rows": 1000, "per": "1 second"}, "timestamp": "ts"}
ORDERS = {"id": "bigint", "customer": "bigint", "amount": "bigint", "ts": "timestamp"}
PAYMENTS = {"order_id": "bigint", "paid": "bigint", "ts": "timestamp"}
SHOP = {"streams": {"orders": {**RATE, "columns": ORDERS}, "payments": {**RATE, "columns": PAYMENTS}}}


def test_a_left_join_below_a_windowed_count_is_short() -> None:
    text = jobs_of_api(COUNTED, SHOP).text
    assert len(text.splitlines()) <= 90 and max(map(len, text.splitlines())) <= 120
    assert "columns('order_id bigint, paid bigint, ts timestamp')" in text
    assert "where('p_order_id IS NOT NULL')" in text


def test_jobs_beyond_joins_are_read_back_and_executed_as_they_were() -> None:
    lines = (ROOT / "tests" / "data" / "circuits.jsonl").read_text(encoding="utf-8").splitlines()
    bounded = [case for case in map(json.loads, lines) if case["verdict"] == "bounded"]
    for case in bounded[::12]:
        found = jobs_of_api(case["sql"], case["catalog"])
        assert repr(job_in(found.text)) == repr(found.compiled.job)
        tree = ast.parse(found.text)
        tree.body = [node for node in tree.body if isinstance(node, ast.ImportFrom | ast.Assign)]
        executed: dict[str, Any] = {}
        exec(compile(tree, "job.py", "exec"), executed)
        assert repr(executed["JOB"]) == repr(found.compiled.job)


PARTS = (
    (TableColumn("a b", "decimal(9,2)"), TableColumn("AND", "array<struct<x:int,y:int>>")),
    (TableColumn("a", "bigint", Domain(1, 5)),),
    (RowTest("NULL", "is not null"), RowTest("a, b", "==", None, "it's AND x"), RowTest("x", "<", "y", -3)),
    (RowTest("x", ">=", None, True), RowTest("x", "in", None, (1, 2))),
    (RowTest("x", "<", "y", 1, or_null=True),),
    (Term("age 0"), None, Term("NULL")),
    (Term("now", 5), Term(None, "x")),
    (RowTest("é", "!=", None, -1), RowTest("x", "<=", None, 1.5)),
    (),
    (None, 1),
)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_in_sql_means_that_part(part: tuple[object, ...]) -> None:
    found = read(printed(part, short=in_sql), NAMES.values())
    assert repr(found) == repr(part)


def test_parts_in_sql_are_some() -> None:
    assert [in_sql(part) is not None for part in PARTS] == [False, False, True, *[False] * 2, True, *[False] * 4]
    assert "`a, b` = 'it''s AND x' AND x < y - 3" in str(in_sql(PARTS[2]))


def test_every_job_is_read_back_and_needs_nothing_but_the_runtime() -> None:
    found = list(jobs())
    for job in found:
        assert job_in(job.text) == job.job
        forced = "driver" if job.job.placement.because == "--placement says so" else None
        assert job.text == compiled(job.plan, forced).text
        modules = set()
        for node in ast.walk(ast.parse(job.text)):
            if isinstance(node, ast.Import):
                modules |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                modules.add(str(node.module).split(".")[0])
        assert modules - set(sys.stdlib_module_names) == {"streambound_runtime"}
    assert len(found) > 50


@examples(25)
@given(drawn(lambda choices: make_case(choices, Features())))
def test_any_job_is_read_back(case: Case) -> None:
    plan = plan_of(case)
    assume(plan is not None)
    assert plan is not None and job_in(compiled(plan).text) == compiled(plan).job


def test_jobs_have_no_unused_names(tmp_path: Path) -> None:
    for number, job in enumerate(jobs()):
        (tmp_path / f"job_{number}.py").write_text(job.text, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff", "check", "--select", "E,F,W,B", "--ignore", "E501"]
    options = ["--isolated", "--target-version", "py311", str(tmp_path)]
    done = subprocess.run([*ruff, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("sql", HOSTILE_SQL)
def test_names_of_the_user_are_only_ever_data(sql: str) -> None:
    job = compiled_of(sql, HOSTILE)
    assert "os.system" not in ast.dump(ast.parse(job.text))
    synopsis = Kernel(job.job, {"Counter": [{"min": 1, "key": 2}]})
    stream = job.job.streams[0].name
    row = {"x'y": 1, 'x"y': "v", "é\\": 3, "self": 4, "now": 1, "rows": 1, "n": 0, "t": 0}
    assert synopsis.close(0, {stream: [row]}) + synopsis.close(1, {stream: [row]})
    assert synopsis.entries() == sum(len(table) for table in synopsis.tables().values())


ODD = (
    '"""',
    "'''",
    "*/",
    "a\nb",
    "a\rexit()",
    "a\x0cb",
    "\x1a",
    "\\",
    "\\N{DIGIT ONE}",
    "{x}",
    "#",
    "\u2028",
    "é",
    "'\"",
)


@pytest.mark.parametrize("odd", ODD)
def test_texts_of_the_catalog_are_only_ever_data(odd: str) -> None:
    """In paths, options, domains and values of punctuations, and of the query in names and literals."""
    named = f"a{odd}b"
    table = named if is_file_name(named) else "s"
    source = {"format": "json", "path": f"x/{odd}", "options": {"option": odd}}
    stream = {"timestamp": "t", "columns": {named: "string", "kind": "string", "t": "bigint"}, "source": source}
    stream |= {"domain": {named: [odd, "other"]}, "punctuation": {"column": "kind", "value": odd}}
    sink = {"format": "json", "path": f"y/{odd}", "options": {"option": odd}}
    sink["quarantine"] = {"format": "json", "path": f"z/{odd}"}
    text = odd.replace("\\", "\\\\").replace("'", "\\'")
    sql = f"SELECT s.`{named}` AS `{odd}` FROM `{table}` s WHERE s.`{named}` <> '{text}'"
    job = compiled_of(sql, {"streams": {table: stream}, "sinks": {"q": sink}})
    found = job_in(job.text)
    assert found == job.job
    assert found is not None and [column.name for column in found.columns] == [odd]
    assert found.streams[0].source is not None and found.streams[0].source.path == f"x/{odd}"
    assert found.sink is not None and found.sink.options == (("option", odd),)
    assert ast.dump(ast.parse(job.text.encode("utf-8"))) == ast.dump(ast.parse(job.text))


def test_what_is_no_job_is_not_read() -> None:
    text = figure2().text
    assert job_in("") is job_in("JOB = 1\n") is job_in("JOB = open('x')\n") is job_in("def f(:\n") is None
    assert job_in(text.replace("SynopsisPlan(", "print(", 2)) is None
    assert job_in(text.replace("bound=5", "bound=5, colour=1")) is None


def test_hashes_depend_on_the_query_and_on_what_is_declared() -> None:
    declared: dict[str, Any] = {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}}}}
    sql = "SELECT S.a FROM S"
    prints = [compiled_of(sql, declared).job.saved]
    declared["streams"]["S"]["domain"] = {"a": [0, 9]}
    prints.append(compiled_of(sql, declared).job.saved)
    declared["streams"]["Other"] = {"timestamp": "ts", "columns": {"ts": "bigint"}}
    prints.append(compiled_of(sql, declared).job.saved)
    assert prints[0].catalog != prints[1].catalog
    assert prints[1] == prints[2]


# --- the runtime ------------------------------------------------------------------------------------------------------


def test_the_runtime_has_the_products_version() -> None:
    assert of_runtime == __version__


def test_the_zip_holds_the_whole_package_and_nothing_else() -> None:
    root = ROOT / "synopsis_exec" / "runtime"
    files = {f"streambound_runtime/{file.relative_to(root).as_posix()}" for file in root.rglob("*.py")}
    with zipfile.ZipFile(BytesIO(zipped())) as archive:
        assert set(archive.namelist()) == files | {"streambound_runtime/py.typed"}
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        kinds = {(info.compress_type, info.create_system, info.external_attr >> 16) for info in archive.infolist()}
        assert kinds == {(zipfile.ZIP_STORED, 3, 0o100644)}
        assert archive.namelist() == sorted(archive.namelist())
    first = zipped()
    zipped.cache_clear()
    assert zipped() == first


def test_a_job_runs_with_the_zip_alone(tmp_path: Path) -> None:
    """Where neither streambound nor its runtime is installed."""
    job = figure2().write(tmp_path / "a job")
    others = tmp_path / "others"
    others.mkdir()
    for name in ("numpy", "numpy.libs", "pyarrow", "pyspark", "py4j"):
        installed = Path(sysconfig.get_path("purelib")) / name
        if installed.exists():
            (others / name).symlink_to(installed)
    environment = {"PYTHONPATH": str(others), "PATH": os.environ["PATH"]}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-S", *arguments]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run("-c", "import streambound").returncode == run("-c", "import streambound_runtime").returncode == 1
    shown = run(str(job), "--help")
    assert shown.returncode == 0 and "Run the query figure2" in shown.stdout, shown.stderr
    missing = run(str(job), "--input", "nowhere")
    assert missing.returncode == 3 and missing.stderr.startswith("error: there is no nowhere/S.jsonl"), missing.stderr
    (job.parent / RUNTIME).unlink()
    assert "streambound_runtime" in run(str(job), "--help").stderr


def test_another_version_of_the_runtime_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(replace(figure2().job, runtime="9.9"), ["--input", str(FIGURE2 / "data")]) == 2
    printed = capsys.readouterr().err
    assert "was written for streambound_runtime 9.9" in printed and f"this is {__version__}" in printed


# --- arguments --------------------------------------------------------------------------------------------------------

FIGURE2_OPTIONS = ["--input", str(FIGURE2 / "data"), "--output", "out.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 3, "S cannot be read: there is no data/S.jsonl, its source in the catalog"),
        (["--base", "nowhere"], 3, "S cannot be read: there is no nowhere/data/S.jsonl"),
        (["--input", "nowhere"], 3, "there is no nowhere/S.jsonl, and no directory nowhere/S"),
        ([*FIGURE2_OPTIONS, "--output", "no/out.jsonl"], 2, "no/out.jsonl cannot be written: there is no directory no"),
        ([*FIGURE2_OPTIONS, "--output", "."], 2, ". is a directory; the result must be a file"),
        ([*FIGURE2_OPTIONS, "--quarantine", "no/q"], 2, "no/q cannot be written: there is no directory no"),
    ],
)
def test_a_job_checks_its_arguments_before_spark_starts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    status: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert main(figure2().job, arguments) == status
    printed = capsys.readouterr().err
    assert printed.startswith(f"error: {message}")
    assert printed.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_job_without_sources_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(compiled_of(HOSTILE_SQL[1], HOSTILE).job, ["--output", str(tmp_path / "out")]) == 3
    assert capsys.readouterr().err == "error: class has no source in the catalog; run the job with --input DIR\n"
