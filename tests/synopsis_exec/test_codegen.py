"""The text of generated jobs: a golden case, and what must hold for every job."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping, load_catalog
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.lower import lower
from streambound.analyzer.sql_files import read_sql
from streambound.analyzer.statements import split_statements
from streambound.analyzer.version import __version__
from streambound.criteria.verdict import decide
from streambound.synopsis_exec.codegen import job_text
from streambound.synopsis_exec.emit import Names, literal
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.simulate import load_kernel
from support.cases import CASES as CASES_DIR
from support.cases import catalog, query_of, read_cases
from support.product import decided

ROOT = Path(__file__).parents[2]
FIGURE2 = ROOT / "examples" / "figure2"
HOSTILE = {
    "streams": {
        '"""\nimport os': {
            "timestamp": "t",
            "columns": {"x'y": "bigint", 'x"y': "string", "é\\": "date", "t": "bigint"},
        },
        "class": {"timestamp": "t", "columns": {"self": "bigint", "x'y": "bigint", "t": "timestamp"}},
        "self": {"timestamp": "t", "columns": {"now": "bigint", "rows": "bigint", "n": "bigint", "t": "bigint"}},
    },
    "relations": {"Counter": {"columns": {"min": "bigint", "key": "bigint"}}},
}
HOSTILE_SQL = (
    'SELECT a.`x"y` AS `results"\\n#`, \'\\\'; DROP\' AS c FROM `"""\nimport os` a '
    "WHERE a.`x'y` = 1 AND a.`x\"y` <> '\"\\\\'",
    "SELECT `class`.self AS `import` FROM `class` WHERE `class`.`x'y` < 3",
    "SELECT self.now AS `self`, Counter.key FROM self, Counter WHERE self.rows = Counter.min AND self.n >= 0",
    "SELECT x.now FROM self AS x, self AS X_now, Counter WHERE x.t < X_now.t AND x.now = Counter.min",
)


def figure2_job() -> str:
    (statement,) = split_statements(read_sql(FIGURE2 / "figure2.sql"))
    declared = load_catalog(FIGURE2 / "streams.toml")
    query = lower(statement, declared).query
    assert query is not None
    return job_text(make_plan(decide(query), declared))


def executable_jobs() -> list[str]:
    cases = [case for case in read_cases("codegen_plan.cases") if not case.expected.startswith("refused")]
    return [job_text(make_plan(decide(query_of(case.text)), catalog())) for case in cases]


def corpus_jobs() -> Iterator[str]:
    """The jobs of the corpus, with a rate for every stream, so that M is a number."""
    for line in (ROOT / "tests" / "data" / "corpus.jsonl").read_text().splitlines():
        case = json.loads(line)
        for body in case["catalog"]["streams"].values():
            body["max_per_timestamp"] = 3
        try:
            decision = decided(case["sql"], case["catalog"])
            yield job_text(make_plan(decision, catalog_from_mapping(case["catalog"])))
        except NotExecutableError:
            assert case["verdict"] != "bounded" or case["projection"] == "set"


def hostile_job(sql: str) -> str:
    return job_text(make_plan(decided(sql, HOSTILE), catalog_from_mapping(HOSTILE)))


def test_golden_figure_2() -> None:
    """The part of the job that belongs to the query: header, kernel and sources."""
    text = figure2_job()
    text = text.replace(f"streambound {__version__}", "streambound VERSION")
    text = text.replace(f'VERSION = "{__version__}"', 'VERSION = "VERSION"')
    text = re.sub("(?m)^# (tool|code)( +)sha256 .*", r"# \1\2sha256 HASH", text)
    start, end = text.index("class Source(NamedTuple)"), text.index("DISTINCT = ")
    after = text.index("DENSE = ")
    ours = text[:start] + "...\n\n\n" + text[end:after].rstrip() + "\n"
    assert ours == (CASES_DIR / "codegen_figure2.txt").read_text(encoding="utf-8")


VALUES: dict[str, Any] = {"timestamp": "ts", "columns": {"v": "double", "k": "bigint", "ts": "bigint"}}
LISTED = {"streams": {"S": VALUES, "T": {**VALUES, "domain": {"k": [0, 99], "v": [0.5, 1.5, 2.5]}}}}
WITH_HELPERS = {
    "placed": "SELECT 1 AS one FROM S, T WHERE S.ts < T.ts AND T.v > S.v",
    "RowWise": "SELECT DISTINCT 1 AS one FROM S, S AS U WHERE S.ts < U.ts AND S.v < U.v",
    "KeyedJob": "SELECT DISTINCT S.k FROM S, T WHERE S.k = T.k AND S.v < T.v",
    "by_key": "SELECT S.k FROM S, T WHERE S.k = T.k AND S.ts > T.ts",
}


@pytest.mark.parametrize("helper", ["Closing", *WITH_HELPERS])
def test_no_name_of_a_job_is_defined_twice(helper: str) -> None:
    """Its parts, and what is written for its query, are one module there."""
    sql = WITH_HELPERS.get(helper)
    job = make_plan(decided(sql, LISTED), catalog_from_mapping(LISTED)) if sql else None
    body = ast.parse(job_text(job) if job else figure2_job()).body
    names = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    names += [t.id for node in body if isinstance(node, ast.Assign) for t in node.targets if isinstance(t, ast.Name)]
    names += [n.target.id for n in body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
    assert [name for name in names if names.count(name) > 1] == []
    assert {"union_propagation", "sort_propagation", "Closing", "Job", helper} <= set(names)


def test_the_same_plan_gives_the_same_text() -> None:
    assert figure2_job() == figure2_job()


def test_hashes_depend_on_the_query_and_on_what_is_declared() -> None:
    declared: dict[str, Any] = {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}}}}
    texts = [
        job_text(make_plan(decided(sql, declared), catalog_from_mapping(declared))) for sql in ("SELECT S.a FROM S",)
    ]
    declared["streams"]["S"]["domain"] = {"a": [0, 9]}
    texts.append(job_text(make_plan(decided("SELECT S.a FROM S", declared), catalog_from_mapping(declared))))
    declared["streams"]["Other"] = {"timestamp": "ts", "columns": {"ts": "bigint"}}
    texts.append(job_text(make_plan(decided("SELECT S.a FROM S", declared), catalog_from_mapping(declared))))
    prints = [load_kernel(text).SAVED["catalog"] for text in texts]
    assert prints[0] != prints[1]
    assert prints[1] == prints[2]


@pytest.mark.parametrize("text", [figure2_job(), *executable_jobs()], ids=lambda text: text.split(":")[0][2:])
def test_jobs_import_only_the_standard_library_and_what_pyspark_needs(text: str) -> None:
    modules = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(str(node.module).split(".")[0])
    assert modules - set(sys.stdlib_module_names) == {"numpy", "pyarrow", "pyspark"}


def test_jobs_are_formatted_and_have_no_unused_names(tmp_path: Path) -> None:
    for number, text in enumerate([figure2_job(), *executable_jobs(), *map(hostile_job, HOSTILE_SQL), *corpus_jobs()]):
        (tmp_path / f"job_{number}.py").write_text(text, encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--line-length", "120", "--target-version", "py311", str(tmp_path)]
    for command in (["check", "--select", "E,F,I,W,B,C4"], ["format", "--check"]):
        ignore = ["--ignore", "B905,E501"] if command[0] == "check" else []
        done = subprocess.run([*ruff, *command, *ignore, *options], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("sql", HOSTILE_SQL)
def test_names_of_the_user_are_only_ever_data(sql: str) -> None:
    kernel = load_kernel(hostile_job(sql))
    tree = ast.parse(hostile_job(sql))
    assert "os.system" not in ast.dump(tree)
    synopsis = kernel.Synopsis({"Counter": [{"min": 1, "key": 2}]})
    stream = kernel.STREAMS[0].name
    row = {"x'y": 1, 'x"y': "v", "é\\": 3, "self": 4, "now": 1, "rows": 1, "n": 0, "t": 0}
    results = synopsis.close(0, {stream: [row]}) + synopsis.close(1, {stream: [row]})
    assert results
    assert synopsis.entries() == sum(len(table) for table in synopsis.tables().values())


def test_kernels_load_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert load_kernel(figure2_job()).Synopsis({}).limit == 5


@pytest.mark.parametrize("value", ['a"b', "a\nb", "\x00", "\u2028", "\ud800", "", "\\", "{x}"])
def test_literals_are_read_back(value: str) -> None:
    assert ast.literal_eval(literal(value)) == value


def test_names_are_python_names_and_unique() -> None:
    names = Names(("close",))
    given = [names.new(wanted) for wanted in ("S.a", "s a", "S_A", "class", "ключ", "", "9", "close")]
    assert len(set(given)) == len(given)
    assert all(name.isidentifier() and name != "class" for name in given)


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
    assert load_kernel(figure2_job()).main(arguments) == status
    printed = capsys.readouterr().err
    assert printed.startswith(f"error: {message}")
    assert printed.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_job_without_sources_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = load_kernel(hostile_job(HOSTILE_SQL[1]))
    assert job.main(["--output", str(tmp_path / "out")]) == 3
    assert capsys.readouterr().err == "error: class has no source in the catalog; run the job with --input DIR\n"
