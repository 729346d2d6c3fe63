"""`streambound witness`: what it prints and writes, and how it ends when there is nothing to show."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace
from sqlglot import parse_one

from streambound import cli
from streambound.analyzer.catalog import load_catalog
from streambound.analyzer.errors import NotExecutableError
from streambound.commands.proving import prove_period_witness
from streambound.criteria.check import find_statement
from streambound.recheck.oracle import batch_sql
from streambound.recheck.oracle.prove import tells_element

CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", d = "date", ok = "boolean", ts = "timestamp" }
[streams.U]
timestamp = "ts"
columns = { a = "bigint", ts = "timestamp" }
"""
UNBOUNDED = "SELECT T.a, T.d FROM T, U WHERE U.ts > T.ts AND T.ok"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(CATALOG)
    (tmp_path / "q.sql").write_text(UNBOUNDED)
    return tmp_path


def _witness(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, ["witness", *arguments])


def test_parts_are_written_as_recorded_streams(place: Path) -> None:
    result = _witness("q.sql", "--size", "3", "--out", "w", "--subset", "1,3", "--probe", "3")
    assert result.exit_code == 0, result.output
    about = json.loads((place / "w" / "witness.json").read_text())
    assert about["size"] == 3 and len(about["results"]) == 3
    elements = [json.loads((place / "w" / f"element-{k}" / "T.jsonl").read_text()) for k in (1, 2, 3)]
    assert len({row["a"] for row in elements}) == 3
    assert all(row["ok"] is True and row["ts"].startswith("2024-01-01 00:00:") for row in elements)
    sent = [json.loads(line) for line in (place / "w" / "input" / "T.jsonl").read_text().splitlines()]
    assert sent == [elements[0], elements[2]]
    assert (place / "w" / "input" / "U.jsonl").read_text() == (place / "w" / "probe-3" / "U.jsonl").read_text()
    assert (place / "w" / "element-1" / "U.jsonl").read_text() == ""


def test_an_earlier_witness_is_replaced(place: Path) -> None:
    assert _witness("q.sql", "--size", "5", "--out", "w", "--subset", "1").exit_code == 0
    (place / "w" / "element-4" / "notes.txt").write_text("the user's")
    for other in ("element-6", "element-04", "probe-x", "inputs"):
        (place / "w" / other).mkdir()
        (place / "w" / other / "T.jsonl").write_text("")
    assert _witness("q.sql", "--size", "2", "--out", "w").exit_code == 0
    found = {str(file.relative_to(place / "w")) for file in (place / "w").rglob("*") if file.is_file()}
    parts = ("always", "element-1", "element-2", "probe-1", "probe-2")
    written = {f"{part}/{table}.jsonl" for part in parts for table in "TU"}
    kept = {f"{other}/T.jsonl" for other in ("element-6", "element-04", "probe-x", "inputs")}
    assert found == written | kept | {"element-4/notes.txt", "witness.json"}
    assert not any((place / "w" / part).exists() for part in ("element-3", "element-5", "probe-5", "input"))


@pytest.mark.parametrize(
    "about",
    [
        None,
        "",
        "[]",
        '{"size": 3}',
        '{"size": 3, "tables": 1}',
        '{"size": 1e999, "tables": ["T"], "input": true}',
        '{"size": 3, "tables": ["T"], "input": false}',
    ],
)
def test_input_that_is_not_of_a_witness_is_left_alone(place: Path, about: str | None) -> None:
    (place / "input").mkdir()
    (place / "input" / "T.jsonl").write_text("{}")
    if about is not None:
        (place / "witness.json").write_text(about)
    for _ in range(2):
        assert _witness("q.sql", "--out", ".").exit_code == 0
    assert (place / "input" / "T.jsonl").read_text() == "{}"


def test_proof(place: Path) -> None:
    result = _witness("q.sql", "--prove", "4")
    assert result.exit_code == 0
    few = "16 of 16 prefixes (all subsets of 4 elements) must be told apart; so must those of 3 and 5"
    many = "of 40 elements each of the 6 that were left out in turn"
    assert f"proved by DuckDB: {few}, and {many}\n" in result.output
    result = _witness("q.sql", "--prove", "2", "--size", "300")
    assert "those of 3, 4 and 5, and of 300 elements each of the 6 that were left out" in result.output


@pytest.mark.parametrize(
    ("sql", "told"), [(UNBOUNDED, True), ("SELECT DISTINCT T.ok FROM T, U WHERE U.ts > T.ts", False)]
)
def test_duckdb_runs_a_statement_with_an_element_and_without(place: Path, sql: str, told: bool) -> None:
    def row(table: str, a: int, time: int) -> dict[str, list[dict[str, object]]]:
        return {table: [{"a": a, "d": "2024-01-01", "ok": True, "ts": f"2024-01-01 00:00:{time:02}"}]}

    elements, probes = [row("T", a, a) for a in range(40)], [row("U", 0, 50)]
    tree, catalog = parse_one(sql, dialect="spark"), load_catalog(place / "streams.toml")
    assert tells_element(tree, catalog, {}, elements, probes, 39) is told


def test_the_results_of_many_probes_are_not_worked_out(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is of all elements: the work of a file for each element would grow with their square."""
    from streambound.criteria.witnesses.witness import CircuitWitness

    executed, original = list[int](), CircuitWitness.changes

    def counted(found: CircuitWitness, witness: Any, subset: Sequence[int], probes: Sequence[int]) -> Any:
        executed.extend(probes)
        return original(found, witness, subset, probes)

    (place / "q.sql").write_text("SELECT a, count(*) AS n FROM S GROUP BY a HAVING count(*) > 1")
    catalog, checked = find_statement("q.sql", None, None)
    monkeypatch.setattr(CircuitWitness, "changes", counted)
    monkeypatch.setattr("streambound.criteria.check.find_statement", lambda *given, **more: (catalog, checked))
    runs = []
    for size in (10, 20, 40):
        executed.clear()
        assert _witness("q.sql", "--size", str(size), "--out", "w").exit_code == 0
        runs.append(len(executed))
        assert len(json.loads((place / "w" / "witness.json").read_text())["results"]) == 4
        assert len(list((place / "w").glob("element-*"))) == size
    assert runs[0] == runs[1] == runs[2]


def test_large_ones_are_cut_on_screen_only(place: Path) -> None:
    result = _witness("q.sql", "--size", "50", "--out", "w")
    assert "… and 46 more elements" in result.output
    assert len(list((place / "w").glob("element-*"))) == 50


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT T.ok FROM T, U WHERE U.ts > T.ts", "q has no witness: it is bounded"),
        (
            "SELECT 1 AS x FROM T, U WHERE U.ts > T.ts AND T.a = U.a UNION ALL "
            "SELECT 1 AS x FROM T, U WHERE U.ts > T.ts AND T.a <> U.a",
            "q has no witness: none was found, so its verdict is unknown",
        ),
    ],
)
def test_queries_without_one(place: Path, sql: str, message: str) -> None:
    (place / "q.sql").write_text(sql)
    result = _witness("q.sql")
    assert result.exit_code == 1
    assert message in result.output


def test_a_longer_search_finds_what_check_has_given_up(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from streambound.criteria import witness_search
    from streambound.criteria.dataflow import witness

    monkeypatch.setattr(witness_search, "MOST_STEPS", 20)
    monkeypatch.setattr(witness, "SEARCH", 20)
    result = _witness("q.sql")
    assert result.exit_code == 1 and "--longer 10 searches longer" in result.output
    result = _witness("q.sql", "--longer", "1000", "--prove", "3")
    assert result.exit_code == 0, result.output
    assert "q: unbounded" in result.output and "8 of 8 prefixes" in result.output


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("q.sql", "--out", "w", "--subset", "1,9"), 2, "--subset takes numbers from 1 to 3"),
        (("q.sql", "--subset", "1"), 2, "add --out DIR"),
        (("q.sql", "--out", "w", "--probe", "1"), 2, "--probe follows a prefix"),
        (("q.sql", "--out", "w", "--subset", "1", "--probe", "4"), 2, "--probe takes a number from 1 to 3"),
        (("q.sql", "--prove", "40"), 2, "--prove"),
        (("nothing.sql",), 3, "no such file"),
        (("q.sql", "--out", "q.sql"), 3, "cannot write"),
    ],
)
def test_wrong_usage(place: Path, arguments: tuple[str, ...], status: int, message: str) -> None:
    result = _witness(*arguments)
    assert result.exit_code == status, result.output
    assert message in result.output
    assert ("q: unbounded" in result.output) == (message == "cannot write")  # wrong usage is said before the witness
    assert "Traceback" not in result.output


def test_without_duckdb_the_remedy_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    batch_sql._engine.cache_clear()  # other tests have it
    result = _witness("q.sql", "--prove", "3")
    assert result.exit_code == 2
    assert "streambound[prove]" in result.output


def test_types_without_so_many_values(place: Path) -> None:
    (place / "streams.toml").write_text(CATALOG.replace('a = "bigint", d', 'a = "decimal(3,0)", d'))
    (place / "q.sql").write_text(UNBOUNDED.replace(", T.d", ""))
    result = _witness("q.sql", "--size", "5000")
    assert result.exit_code == 1
    assert "there is no witness of size 5000" in result.output


@pytest.mark.parametrize("filtered", ["bit_count(T.a % 10) = 2", "levenshtein(date_format(T.d, 'y'), '19') = 2"])
def test_duckdb_finds_rows_that_pass_a_filter_that_check_cannot_evaluate(place: Path, filtered: str) -> None:
    (place / "q.sql").write_text(f"SELECT DISTINCT U.a FROM T, U WHERE {filtered} AND U.ts > T.ts")
    alone = _witness("q.sql")
    assert alone.exit_code == 1 and "its verdict is unknown" in alone.output
    proved = _witness("q.sql", "--prove", "4")
    assert proved.exit_code == 0, proved.output
    assert "proved by DuckDB: 16 of 16 prefixes" in proved.output


@pytest.mark.parametrize("sql", ["SELECT DISTINCT a FROM S WHERE bit_count(a) = 2 AND a BETWEEN 0 AND 9",
                                 "SELECT DISTINCT a FROM S WHERE soundex(CAST(a AS STRING)) = 'none'"])  # fmt: skip
def test_what_duckdb_finds_no_rows_of_has_no_witness(place: Path, sql: str) -> None:
    (place / "q.sql").write_text(sql)
    result = _witness("q.sql", "--prove", "4")
    assert result.exit_code == 1 and "has no witness" in result.output


def test_operators_beyond_joins_have_witnesses(place: Path) -> None:
    (place / "q.sql").write_text("SELECT a, count(*) AS n FROM S GROUP BY a HAVING count(*) > 1")
    result = _witness("q.sql", "--size", "3", "--out", "w", "--prove", "5")
    assert result.exit_code == 0, result.output
    assert "proved by DuckDB: 32 of 32 prefixes" in result.output
    elements = [(place / "w" / f"element-{k}" / "S.jsonl").read_text().splitlines() for k in (1, 2, 3)]
    assert len({json.loads(rows[0])["a"] for rows in elements}) == 3


PERIODS = """
[streams.shifts]
timestamp = "vb"
columns = { skill = "string", n = "bigint", vb = "bigint", ve = "bigint" }
period = ["vb", "ve"]
"""


def _history(file: Path) -> list[int]:
    """How many rows are valid at each point of time."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return [sum(row["vb"] <= time < row["ve"] for row in rows) for time in range(40)]


def test_rows_with_periods_end_at_one_of_two_times(place: Path) -> None:
    """All choices of ends look alike until the last row has begun, and have different results then."""
    (place / "streams.toml").write_text(PERIODS)
    (place / "q.sql").write_text("SEQ VT (SELECT COUNT(*) AS n FROM shifts WHERE n > 5 GROUP BY 'all')")
    found = set()
    for chosen in ("", "1", "2", "3", "1,2", "1,3", "2,3", "1,2,3"):
        result = _witness("q.sql", "--size", "3", "--out", "w", "--subset", chosen)
        assert result.exit_code == 0, result.output
        file = place / "w" / "input" / "shifts.jsonl"
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        assert [(row["n"] > 5, row["vb"]) for row in rows] == [(True, 0), (True, 1), (True, 2)]
        assert min(row["ve"] for row in rows) > 3
        found.add(tuple(_history(file)))
    assert len(found) == 8
    assert "unbounded" in result.output and '"_begin": 2' in result.output


def test_it_is_said_what_is_done_with_many_rows(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = list[str]()

    class Said:
        def now(self, what: str) -> None:
            said.append(what)

    @contextmanager
    def doing(what: str) -> Iterator[Said]:
        said.append(what)
        yield Said()

    monkeypatch.setattr("streambound.commands.witness.doing", doing)
    (place / "streams.toml").write_text(PERIODS)
    (place / "q.sql").write_text("SEQ VT (SELECT skill FROM shifts)")
    assert _witness("q.sql", "--size", "20", "--out", "w").exit_code == 0
    which = ("none", "row 1", "row 2", "row 3")
    executed = [f"executing 20 rows of which {one} ends later" for one in which]
    assert said == ["making 20 rows", *executed, "writing 20 rows"]


def test_a_period_witness_has_no_probes(place: Path) -> None:
    (place / "streams.toml").write_text(PERIODS)
    (place / "q.sql").write_text("SEQ VT (SELECT skill FROM shifts)")
    result = _witness("q.sql", "--subset", "1", "--out", "w", "--probe", "1")
    assert result.exit_code == 2 and "no probes" in result.output


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT skill FROM shifts",
        "SELECT COUNT(*) AS n FROM shifts",
        "SELECT skill, MAX(n) AS m FROM shifts WHERE n > 5 GROUP BY skill",
        "SELECT skill, MIN(n) AS m FROM shifts WHERE n < 0 GROUP BY skill",
        "SELECT MAX(skill) AS m FROM shifts",
        "SELECT x.skill FROM shifts AS x JOIN shifts AS y ON x.skill = y.skill",
    ],
)
def test_duckdb_proves_a_period_witness_at_all_points_of_time(place: Path, sql: str) -> None:
    (place / "streams.toml").write_text("[time]\ndomain = [0]\n" + PERIODS)
    (place / "q.sql").write_text(f"SEQ VT ({sql})")
    result = _witness("q.sql", "--prove", "6")
    assert result.exit_code == 0, result.output
    few = "64 of 64 choices of ends (of 6 rows) must be told apart; so must those of 3, 4 and 5"
    assert f"proved by DuckDB: {few}, and of 40 rows each of the 6 that ended later in turn\n" in result.output


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MAX(n) AS m FROM shifts",
        "SELECT COUNT(*) AS c FROM shifts WHERE n IN (1, 2)",
        "SELECT MIN(n) AS m FROM shifts WHERE n > 7 AND skill <> 'none'",
    ],
)
def test_rows_of_a_period_witness_keep_their_snapshot_key(place: Path, sql: str) -> None:
    """Each has a key of its own: they are valid together."""
    (place / "streams.toml").write_text("[time]\ndomain = [0]\n" + PERIODS + 'snapshot_key = ["skill"]\n')
    (place / "q.sql").write_text(f"SEQ VT ({sql})")
    result = _witness("q.sql", "--prove", "4")
    assert result.exit_code == 0, result.output
    assert "proved by DuckDB: 16 of 16 choices of ends (of 4 rows) must be told apart" in result.output


def test_what_snapshots_do_not_tell_apart_is_not_proved(place: Path) -> None:
    """Rows that are only counted up to one need no more than the latest end."""
    (place / "streams.toml").write_text(PERIODS)
    (place / "q.sql").write_text("SEQ VT (SELECT skill FROM shifts)")
    catalog, checked = find_statement("q.sql", None, None)
    assert checked.period_witness is not None
    other = replace(checked.statement.blocks[0], query=parse_one("SELECT DISTINCT skill FROM shifts", dialect="spark"))
    changed = replace(checked, statement=replace(checked.statement, blocks=(other,)))
    with pytest.raises(NotExecutableError, match="only 2 of 16 choices"):
        prove_period_witness(changed, catalog, checked.period_witness, 4)


def test_a_bounded_statement_over_periods_has_no_witness(place: Path) -> None:
    (place / "streams.toml").write_text(PERIODS + "max_duration = 5\n")
    (place / "q.sql").write_text("SEQ VT (SELECT skill FROM shifts)")
    result = _witness("q.sql")
    assert result.exit_code == 1 and "it is bounded" in result.output
