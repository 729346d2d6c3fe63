"""The models of Spark and Flink against what was measured on them (`tests/data/engines`)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from streambound.analyzer.catalog import Catalog, catalog_from_mapping, parse_catalog
from streambound.analyzer.engine_profiles import EngineProfile, OutputMode, StreamEngine
from streambound.analyzer.lower import lower, written_tree
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import some_statements
from streambound.criteria.engines.flink import FlinkModel, flink_duration
from streambound.criteria.engines.flow import TimeWindow, windows_open
from streambound.criteria.engines.profile import EngineReading, GoesBy, StateClass
from streambound.criteria.engines.reported import findings
from streambound.criteria.engines.spark import SparkModel
from streambound.reports.text_report import engine_lines
from support.any_queries import CATALOG as ANY
from support.any_queries import any_query
from support.choices import Choices
from support.operator_queries import in_words_of, operator_query, random_catalog

MINUTE = 60_000_000
DATA = Path(__file__).resolve().parent.parent / "data" / "engines"
COLUMNS = 'columns = { k = "bigint", g = "bigint", v = "bigint", ts = "timestamp", pt = "timestamp" }\n'
KEYS_A_MINUTE = 3
FLINK_ROWS_A_MINUTE = 4000 / 60
"""Of each stream; a row of it is the unit of what is kept, though a window has one for all rows of a key."""
TOO_SHORT = "rows stay longer than half of the run"
HALF_A_RUN = 60 * MINUTE


def measured(engine: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{engine}.jsonl").read_text(encoding="utf-8").splitlines()]


def stream(name: str, delay: int, scale: int = 1, kind: str = "timestamp") -> str:
    late = f'lateness = "{delay * scale} minutes"\n' if delay else ""
    rate = f'max_rate = {{ rows = 6, per = "{scale} minutes" }}\n' if kind == "timestamp" else ""
    columns = COLUMNS.replace('ts = "timestamp"', f'ts = "{kind}"')
    return f'[streams.{name}]\ntimestamp = "ts"\ndomain = {{ g = [0, 4] }}\n{rate}{late}{columns}'


@cache
def catalog(engine: str, scale: int = 1) -> Catalog:
    """The streams of the measurements: 6 rows a minute, 5 values of ``g``, watermarks of 10 minutes or none."""
    if engine == "spark":
        delays = {"s": 0, "t": 0, "sw": 10, "tw": 10, "tw2": 40, "stopped": 0, "stoppedw": 10}
        more = [stream("ntz", 0, kind="timestamp_ntz"), stream("numbered", 0, kind="bigint")]
        relations = f"[relations.d]\n{COLUMNS}"
    else:
        delays, more = {"s": 10, "t": 10, "u": 10, "s0": 0, "t0": 0}, []
        changes = 'changes = { timestamp = "ts", key = ["k"], format = "upsert" }\n'
        relations = "".join(f"[relations.{name}]\n{changes}{COLUMNS}" for name in ("spk", "tpk"))
    return parse_catalog("".join([*(stream(name, delay, scale) for name, delay in delays.items()), *more, relations]))


def read(engine: str, query: str, mode: str = "append", ttl: str = "", scale: int = 1) -> EngineReading:
    known = catalog(engine, scale)
    (statement,) = some_statements(SourceText("q.sql", query), None, known.readable)
    lowered = lower(statement, known)
    assert lowered.tree is not None and lowered.positions is not None, lowered.diagnostics
    declared = {"ntz": 10 * MINUTE, "numbered": 10 * MINUTE} if engine == "spark" else {}
    profile = EngineProfile(StreamEngine(engine), OutputMode(mode), declared, flink_duration(ttl))
    model = SparkModel if engine == "spark" else FlinkModel
    tree = written_tree(statement, known)
    assert tree is not None
    return model(known, lowered.positions, profile).read(tree)


def of_row(engine: str, row: dict[str, Any]) -> EngineReading:
    return read(engine, row["query"], row.get("mode", "append"), row.get("ttl", ""), row.get("scale", 1))


def class_of(reading: EngineReading) -> str:
    if reading.unread:
        return f"unread: {reading.unread}"
    if reading.refusals:
        return f"refused ({reading.refusals[0].when})"
    return reading.kept.value if reading.kept is not None else "none"


# --- Spark ------------------------------------------------------------------------------------------------------------

SPARK = [row for row in measured("spark") if "left_out" not in row]


def test_the_class_of_each_query_on_spark() -> None:
    """What is measured as growing is never said to stay flat; errors are those that Spark raises."""
    said = {row["name"]: (class_of(of_row("spark", row)), row["class"]) for row in SPARK}
    wrong = {name: pair for name, pair in said.items() if pair[0] != pair[1]}
    false_flat = {name for name, (model, truth) in wrong.items() if truth == "grows" and "refused" not in model}
    assert len(said) >= 267 and false_flat == set()
    assert 1 - len(wrong) / len(said) >= 0.98, wrong
    for row in SPARK:
        if "error" in row and row["name"] not in wrong:
            assert of_row("spark", row).refusals[0].error == row["error"], row["name"]


def test_the_rows_that_spark_keeps() -> None:
    """Joins by their rate, groups by 3 new keys a minute: within a tenth of the law wherever it gives a number."""
    compared, off = 0, {}
    for row in SPARK:
        reading = of_row("spark", row)
        joins = [state for state in reading.states if state.operator == "join"]
        pairs = list(zip(joins, row.get("sides", []), strict=False)) if len(joins) == len(row.get("sides", [])) else []
        for state, kept in pairs:
            if state.kept is not StateClass.GROWS and state.rows is not None:
                compared += 1
                off |= {f"{row['name']} {state.side}": (state.rows, kept)} if not _near(state.rows, kept) else {}
        groups = [state for state in reading.states if state.operator not in ("join", "limit")]
        keys = row.get("keys_a_minute", KEYS_A_MINUTE)
        for state, kept in zip(groups, row.get("groups", []), strict=False):
            if state.kept is StateClass.GROWS or keys is None:
                continue
            rows = state.rows
            by_keys = state.kept is StateClass.WINDOW and ("keys" in state.formula or "sessions" in state.formula)
            if by_keys and state.lifetime is not None:
                rows = round(state.lifetime * keys / MINUTE / row.get("scale", 1))
            compared += 1
            off |= {row["name"]: (rows, kept)} if rows is None or not _near(rows, kept) else {}
    assert compared >= 170 and off == {}


def test_the_bytes_that_spark_keeps() -> None:
    """What a row takes in Spark's memory, as it has measured itself, of states with hundreds of rows."""
    compared = 0
    for row in SPARK:
        if "row_bytes" in row:
            widths = [state.row_bytes for state in of_row("spark", row).states]
            said = sum(filter(None, widths)) / len(widths)
            assert None not in widths and abs(said - row["row_bytes"]) <= 0.2 * row["row_bytes"], row["name"]
            compared += 1
    assert compared >= 58


def _near(rows: int, kept: int) -> bool:
    return abs(rows - kept) <= max(1, 0.1 * kept)


def test_which_queries_lose_results_on_spark() -> None:
    said = {row["name"]: any(drop.certain for drop in of_row("spark", row).drops) for row in SPARK if "lost" in row}
    assert said == {row["name"]: row["lost"] for row in SPARK if "lost" in row}
    assert sum(said.values()) >= 10 and len(said) >= 44


def test_what_the_runs_were_too_short_for() -> None:
    """Those rows were seen to grow because they stay for more than half of the run."""
    for row in measured("spark"):
        if row.get("left_out") == TOO_SHORT:
            reading = of_row("spark", row)
            longest = max(state.lifetime or 0 for state in reading.states)
            assert reading.kept is StateClass.WINDOW and longest > HALF_A_RUN, row["name"]


def test_the_fixes_that_add_a_bound_bound() -> None:
    """With it the same query neither grows nor loses results."""
    tried = set()
    for row in SPARK:
        reading = of_row("spark", row)
        for found in (*reading.states, *reading.drops):
            fix = found.fix
            if fix is None or not fix.same_results or not fix.text.startswith("add AND") or "GROUP BY" in row["query"]:
                continue
            query = row["query"] + fix.text.removeprefix("add")
            repaired = read("spark", query, row["mode"], scale=row.get("scale", 1))
            assert repaired.kept is StateClass.WINDOW and not repaired.drops, (row["name"], fix.text)
            tried.add(row["name"])
    assert len(tried) >= 25


# --- Flink ------------------------------------------------------------------------------------------------------------


def test_the_class_of_each_query_on_flink() -> None:
    rows = [row for row in measured("flink") if "left_out" not in row]
    said = {}
    for row in rows:
        found = class_of(of_row("flink", row))
        found = {"constant": "flat", "window": "flat"}.get(found, found.partition(" ")[0])
        said[row["name"]] = (found, row["class"])
    wrong = {name: pair for name, pair in said.items() if pair[0] != pair[1]}
    assert len(said) >= 68 and {name for name, pair in wrong.items() if pair[1] == "grows"} == set()
    assert 1 - len(wrong) / len(said) >= 0.98, wrong


def test_the_bytes_that_flink_keeps() -> None:
    """Of a checkpoint: at most what the rows take if each has a key of its own, of which there were two and more."""
    compared = 0
    for row in measured("flink"):
        reading = of_row("flink", row) if "bytes" in row else None
        if reading is not None and reading.kept is StateClass.WINDOW and all(one.lifetime for one in reading.states):
            an_hour = [(one.row_bytes or 0) * FLINK_ROWS_A_MINUTE * (one.lifetime or 0) for one in reading.states]
            assert 0.75 * row["bytes"] <= sum(an_hour) / MINUTE <= 3.2 * row["bytes"], row["name"]
            compared += 1
    assert compared >= 13


def test_a_hint_that_flink_ignores_is_said() -> None:
    rows = {row["name"]: row for row in measured("flink")}
    (state,) = of_row("flink", rows["dedup_proc_hint"]).states
    assert state.kept is StateClass.GROWS and "ignored" in state.notes[0]
    assert all(state.by is GoesBy.TTL for state in of_row("flink", rows["join_hint_both"]).states)


# --- what no measurement says -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "slide", "delay", "covered", "count"),
    [
        (5, 5, 10, 15, 3),
        (10, 5, 10, 35, 4),
        (5, 5, 40, 45, 9),
        (1, 1, 10, 11, 11),
        (10, 10, 0, 10, 1),
        (7, 2, 3, 26, 5),
        (1, 1, 10**12, 10**12 + 1, 10**12 + 1),
    ],
)
def test_how_many_windows_are_open(size: int, slide: int, delay: int, covered: int, count: int) -> None:
    assert windows_open(delay, TimeWindow(1, size, slide)) == (covered, count)


ON = "SELECT a.k FROM sw AS a JOIN tw AS b ON a.k = b.k AND "


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("b.ts <= a.ts + INTERVAL '0 00:01:00' DAY TO SECOND AND b.ts >= a.ts - INTERVAL '-1' MINUTE", "window"),
        ("b.ts <= a.ts + INTERVAL 1 YEAR AND b.ts >= a.ts", "grows"),
        ("NOT (b.ts < a.ts) AND NOT b.ts > a.ts + INTERVAL 1 DAY", "window"),
        ("NOT (b.ts < a.ts AND b.ts > a.ts + INTERVAL 1 DAY)", "grows"),
        ("(b.ts >= a.ts AND b.ts <= a.ts + INTERVAL 1 DAY OR a.k = 7)", "grows"),
        ("b.ts >= a.ts AND b.ts + a.ts <= b.ts + INTERVAL 1 DAY", "grows"),
        ("(b.ts >= a.ts AND (b.ts <= a.ts + INTERVAL 1 DAY))", "window"),
        (
            "CAST(b.ts AS DOUBLE) >= CAST(a.ts AS DOUBLE) - 0.5D AND CAST(b.ts AS DOUBLE) <= CAST(a.ts AS DOUBLE)",
            "window",
        ),
    ],
)
def test_bounds_that_spark_reads(condition: str, kept: str) -> None:
    assert class_of(read("spark", ON + condition)) == kept


def test_ends_of_a_window_that_are_written_out_are_no_window() -> None:
    """Both ends say the same as the window, and Spark sees no event time in either."""
    sides = "(SELECT k, window(ts, '5 minutes') AS w FROM {}) AS {}"
    query = f"SELECT a.k FROM {sides.format('sw', 'a')} JOIN {sides.format('tw', 'b')} ON a.k = b.k AND "
    assert class_of(read("spark", f"{query} a.w = b.w")) == "window"
    assert class_of(read("spark", f"{query} (a.w.start = b.w.start AND a.w.end = b.w.end)")) == "grows"
    ends = "SELECT window.start AS window_start, window.end AS window_end FROM sw"
    grouped = f"SELECT COUNT(*) AS n FROM ({ends} GROUP BY window(ts, '1 hour')) AS q GROUP BY window_start, window_end"
    assert class_of(read("spark", grouped)) == "refused (start)"


def test_a_condition_above_a_subquery_is_one_of_the_join_in_it() -> None:
    inner = "SELECT a.k, a.ts AS x, b.ts AS y FROM sw AS a JOIN tw AS b ON a.k = b.k"
    within = f"SELECT k FROM ({inner}) AS q WHERE y >= x AND y <= x + INTERVAL 1 MINUTE"
    assert [state.lifetime for state in read("spark", within).states] == [11 * MINUTE, 10 * MINUTE]
    assert class_of(read("spark", f"{within} AND k > 3")) == "window"
    assert class_of(read("spark", inner)) == "grows"


def test_late_rows_that_may_be_lost_are_a_warning() -> None:
    (drop,) = read("spark", ON.replace("a.k = b.k AND ", "a.ts = b.ts - INTERVAL 3 SECONDS")).drops
    assert not drop.certain and drop.fix is not None and drop.fix.same_results


def test_there_are_no_more_groups_than_rows() -> None:
    """Of windows of a minute over ten days few have a row, where one comes an hour."""
    rare = stream("rare", 14_400).replace('rows = 6, per = "1 minutes"', 'rows = 1, per = "1 hour"')
    known = parse_catalog(rare)
    query = "SELECT window(ts, '1 minute') AS w, COUNT(*) AS n FROM rare GROUP BY window(ts, '1 minute')"
    (statement,) = some_statements(SourceText("q.sql", query), None, known.readable)
    lowered = lower(statement, known)
    assert lowered.tree is not None and lowered.positions is not None
    tree = written_tree(statement, known)
    assert tree is not None
    (state,) = SparkModel(known, lowered.positions, EngineProfile(StreamEngine.SPARK)).read(tree).states
    assert state.rows == 240


def test_equal_or_both_null_is_no_key_of_time() -> None:
    """Spark makes other expressions of it, which are no event times."""
    assert class_of(read("spark", "SELECT a.k FROM sw AS a JOIN tw AS b ON a.ts <=> b.ts")) == "grows"


def test_a_constant_bound_in_an_outer_join_is_the_loosest() -> None:
    within = "b.ts >= a.ts AND b.ts <= a.ts + INTERVAL 1 MINUTE"
    left = f"SELECT a.k FROM sw AS a LEFT JOIN tw AS b ON a.k = b.k AND {within}"
    assert class_of(read("spark", left)) == "window"
    assert class_of(read("spark", f"{left} AND a.ts >= TIMESTAMP '2026-01-01 00:00:00'")) == "grows"
    assert class_of(read("spark", f"{left} AND b.ts >= TIMESTAMP '2026-01-01 00:00:00'")) == "window"


DAYS = "INTERVAL 0 DAY AND INTERVAL 1 DAY"


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("SELECT k FROM tpk", "grows"),
        ("SELECT MIN(v) AS m FROM tpk", "grows"),
        ("SELECT a.k FROM s AS a LEFT SEMI JOIN t AS b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts", "grows"),
        (f"SELECT a.k FROM s AS a JOIN t AS b ON a.k = b.k AND b.ts - a.ts BETWEEN {DAYS}", "grows"),
        ("SELECT a.g FROM s AS a LEFT JOIN t AS b ON a.g = b.g LIMIT 3", "grows"),
        ("SELECT a.g FROM s AS a LEFT JOIN t AS b ON a.g = b.g", "constant"),
    ],
)
def test_what_flink_is_not_said_to_forget(query: str, kept: str) -> None:
    assert class_of(read("flink", query)) == kept


def test_an_array_of_which_only_the_size_is_read_is_kept_all_the_same() -> None:
    query = "SELECT g, size(collect_set(k)) AS c FROM {} GROUP BY g"
    (state,) = read("spark", query.format("s"), "update").states
    assert state.kept is StateClass.CONSTANT and "longer with every row" in state.notes[0] and state.bytes is None
    assert class_of(read("flink", query.format("s"))) == "grows"


def test_what_was_not_measured_is_not_guessed() -> None:
    assert class_of(read("flink", "SELECT s.k, (SELECT COUNT(*) FROM t) AS n FROM s")).startswith("unread")
    steps = "WITH RECURSIVE r AS (SELECT k FROM s UNION SELECT k + 1 AS k FROM r) SELECT k FROM r"
    assert class_of(read("spark", steps)).startswith("unread")


def test_no_query_stops_a_model() -> None:
    """Random queries of every operator, all of whose streams have watermarks."""
    read_ones = 0
    for seed in range(60):
        choices = Choices.seeded(seed)
        sql = in_words_of(operator_query(choices)[0], duckdb=False)
        known = catalog_from_mapping(random_catalog(choices))
        for text, given in ((sql, known), (any_query(choices)[0], catalog_from_mapping(ANY))):
            (statement,) = some_statements(SourceText("q.sql", text), None, given.readable)
            lowered = lower(statement, given)
            if lowered.tree is None or lowered.positions is None:
                continue
            delays = {table.name.lower(): 10 * MINUTE for table in given.tables}
            for mode in OutputMode:
                for engine, model in ((StreamEngine.SPARK, SparkModel), (StreamEngine.FLINK, FlinkModel)):
                    reading = model(given, lowered.positions, EngineProfile(engine, mode, delays)).read(lowered.tree)
                    assert findings(reading, statement.source, statement.span) or list(engine_lines(reading)), text
                    read_ones += not reading.unread
    assert read_ones > 240
