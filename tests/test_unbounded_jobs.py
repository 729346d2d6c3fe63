"""Jobs without M, of queries that are not bounded: they print what SQL says on every prefix; only Python makes them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import streambound
from streambound import StreamboundError
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.errors import NotExecutableError
from streambound.analyzer.symbols import symbol
from streambound.criteria.vocabulary import Verdict
from streambound.synopsis_exec.plan import make_plan
from streambound.synopsis_exec.plan_ir import Plan
from support.choices import Choices
from support.command_line import call
from support.kernel import actual_sizes
from support.kernel_cases import Case, make_case
from support.operators import steps
from support.oracle import Oracle
from support.product import decided
from support.profiles import MORE
from support.queries import Features

COLUMNS = {"k": "bigint", "v": "bigint", "s": "string", "ts": "bigint"}
CATALOG: dict[str, Any] = {
    "streams": {name: {"timestamp": "ts", "columns": COLUMNS} for name in "STU"},
    "relations": {"R": {"columns": {"k": "bigint", "name": "string"}}},
}
QUERIES = {
    "a bag": "SELECT S.k, T.v FROM S, T WHERE S.k = T.k AND S.ts < T.ts",
    "a set": "SELECT DISTINCT S.v, T.s FROM S, T, R WHERE S.k <> T.k AND T.k = R.k",
    "an inequality": "SELECT S.v FROM S, T, U WHERE S.v < T.v AND T.s < U.s",
    "a union": "SELECT S.k FROM S UNION SELECT T.v FROM T, U WHERE T.v < U.v",
    "a stream twice": "SELECT A.k FROM S A, S B WHERE A.v = B.v",
}


def check(case: Case, plan: Plan) -> tuple[int, bool]:
    """The job prints what SQL says; how many results there were, and whether the plan says that it grows."""
    relations, encoded = case.encoded()
    expected = Oracle(case.catalog, case.rows).prefix_expected(case.sql)
    known = actual_sizes(case.catalog, case.rows, plan.ends)
    known |= {symbol("n", stream): len(encoded.get(stream, ())) for stream in case.catalog["streams"]}
    limit = eval(plan.bound.entries.text, {"__builtins__": {}}, {**known, "max": max, "min": min})
    printed: dict[int, Counter[tuple[Any, ...]]] = {now: Counter() for now in expected}
    for step in steps(plan, relations, encoded, case.cuts):
        assert step.peak <= limit
        for now, weight, values in step.results:
            printed[now][values] += weight
    assert printed == expected, case.sql
    return sum(map(len, expected.values())), plan.bound.grows


def plan_of(case: Case) -> Plan | None:
    """The plan of a query that is not bounded; None for others, and for what no job can run."""
    decision = decided(case.sql, case.catalog)
    if decision.verdict is Verdict.BOUNDED:
        return None
    try:
        return make_plan(decision, catalog_from_mapping(case.catalog), unbounded=True)
    except NotExecutableError:
        return None


@pytest.mark.slow
def test_every_prefix_prints_what_sql_says() -> None:
    seen: Counter[str] = Counter()
    for seed in range(150 * MORE):
        case = make_case(Choices.seeded(seed), Features(), (0, 3))
        if (plan := plan_of(case)) is None:
            continue
        found, grows = check(case, plan)
        assert grows
        if found:
            seen["set" if plan.distinct else "bag"] += 1
            seen["several branches"] += len(plan.bound.branches) > 1
            seen["results"] += found
    assert min(seen["set"], seen["bag"], seen["several branches"]) > 3, seen
    assert seen["results"] > 120


def test_what_is_bounded_has_its_usual_job() -> None:
    sql = "SELECT S.k FROM S, T WHERE S.k BETWEEN 1 AND 3 AND S.ts < T.ts"
    usual = streambound.compile(sql, CATALOG)
    assert streambound.compile(sql, CATALOG, unbounded=True).text == usual.text
    assert "M = 3" in usual.text and "constant memory" in usual.text


def test_the_job_says_that_it_has_no_bound() -> None:
    job = streambound.compile(QUERIES["a bag"], CATALOG, unbounded=True)
    assert "memory grows with its input" in job.text and "Memory: no bound; at most n_S" in job.text
    assert (job.placement, "there is no M" in job.text) == ("buckets", True)
    with pytest.raises(StreamboundError, match="its verdict is unbounded"):
        streambound.compile(QUERIES["a bag"], CATALOG)
    with pytest.raises(StreamboundError, match="SB110"):
        streambound.compile("SELECT collect_list(k) FROM S", CATALOG, unbounded=True)


def test_the_command_line_has_no_such_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    columns = '{ k = "bigint", v = "bigint", ts = "bigint" }'
    streams = (f'[streams.{name}]\ntimestamp = "ts"\ncolumns = {columns}\n' for name in "ST")
    Path("streams.toml").write_text("\n".join(streams), encoding="utf-8")
    for name in "ST":
        Path(f"{name}.jsonl").write_text('{"k": 1, "v": 1, "ts": 1}', encoding="utf-8")
    Path("q.sql").write_text(QUERIES["a bag"], encoding="utf-8")
    run = ["run", "q.sql", "--input", ".", "--output", "out.jsonl"]
    for command in (["compile", "q.sql", "-o", "job"], run, ["verify", "q.sql"]):
        refused = call(*command)
        assert refused.exit_code == 1 and "its verdict is unbounded" in refused.output
        assert "No such option" in call(*command, "--unbounded").output
    assert not Path("job").exists()


def test_a_run_on_spark_gives_what_batch_sql_gives(spark: Any) -> None:
    dice = Choices.seeded(4)
    values = {
        name: [(dice.integer(0, 4), dice.integer(0, 5), dice.pick(("a", "b", None)), ts) for ts in range(1, 9)]
        for name in "STU"
    }
    frames = {n: spark.createDataFrame(rows, "k BIGINT, v BIGINT, s STRING, ts BIGINT") for n, rows in values.items()}
    frames["R"] = spark.createDataFrame([(1, "one"), (2, "two"), (2, "deux")], "k BIGINT, name STRING")
    for name, frame in frames.items():
        frame.createOrReplaceTempView(name)
    for sql in QUERIES.values():
        job = streambound.compile(sql, CATALOG, unbounded=True)
        run = job.run(spark, {table.name: frames[table.name] for table in job.compiled.job.tables})
        names = [column.name for column in job.compiled.job.columns]
        counted = Counter[Any]()
        for row in run.rows():
            counted[tuple(row[name] for name in names)] += row["_mult"]
        assert counted == Counter(map(tuple, spark.sql(sql).collect()))
        assert counted and run.bound is None and run.peak_entries > 0
