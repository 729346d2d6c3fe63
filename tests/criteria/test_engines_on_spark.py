"""Measured queries again, on Spark: what the model says of them, and what their patches do.

`STREAMBOUND_TEST_FACTOR=5` replays all that are chosen here; else the first ten.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from criteria.test_engines import catalog, class_of, of_row
from patched_streams import Tally

from streambound.analyzer.edits import applied
from streambound.analyzer.engine_profiles import EngineProfile, StreamEngine
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import some_statements
from streambound.criteria.check import Checked
from streambound.criteria.engines.reported import findings, read_on
from streambound.criteria.vocabulary import Verdict
from support.profiles import MORE
from support.spark_state import make_views, measure, write_streams

DATA = Path(__file__).resolve().parent.parent / "data" / "engines" / "spark.jsonl"
BATCHES = 8
CHOSEN = (
    "j_wmboth_between", "a_k_win_wm_append", "a_k_win_wm_complete", "a_g_update", "x_left", "o_left_nocond",
    "j_nonequi", "j_or", "p_deadline", "o_left_between",
    "j_nowm", "j_wmboth_nocond", "j_wmleft_between", "j_abs_unix", "j_unix_diff", "j_ts_minus", "j_lower_only",
    "j_upper_only", "j_cast_between", "j_window_start_eq", "j_window_eq", "j_ts_eq", "j_cast_double", "j_self",
    "o_full_between", "o_leftsemi_between", "a_win_wm_update", "a_session_wm_append", "a_hop_append", "a_k_update",
    "a_trunc_update", "a_win_start_update", "a_global_update", "c_win_win_append", "c_join_agg_append",
    "c_agg_join_nocond", "l_limit_append", "l_union_all", "x_right", "l_order_append",
)  # fmt: skip
assert len(CHOSEN) == 40
ROWS = {row["name"]: row for row in map(json.loads, DATA.read_text(encoding="utf-8").splitlines())}


@pytest.fixture(scope="module")
def streams(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("streams")
    write_streams(folder, BATCHES)
    make_views(spark, folder)
    return spark


@pytest.mark.parametrize("name", CHOSEN if MORE > 1 else CHOSEN[:7])
def test_spark_keeps_what_the_model_says(streams: Any, name: str, tmp_path: Path) -> None:
    """The class, of which each is met, and of a join with two bounded sides the rows, within a tenth."""
    row = ROWS[name]
    reading = of_row("spark", row)
    found = measure(streams, row["query"], row["mode"], tmp_path)
    assert class_of(reading) == found.kept == row["class"]
    states = reading.states
    if found.kept == "window" and [state.operator for state in states] == ["join", "join"]:
        rows = [state.rows for state in states]
        if None not in rows:  # of a semi join only rows without a partner are kept
            assert abs(sum(filter(None, rows)) - found.rows[0]) <= max(2, found.rows[0] / 10)


def patched(sql: str) -> str:
    """The statement after the first patch that a finding has."""
    known = catalog("spark")
    (one,) = some_statements(SourceText("q.sql", sql))
    checked = Checked(one, Verdict.UNKNOWN, (), tree=lower(one, known).tree)
    reading = read_on(checked, known, EngineProfile(StreamEngine.SPARK))
    assert reading is not None
    fixes = [fix for found in findings(reading, one.source, one.span) for fix in found.fixes]
    return applied(sql, fixes[0].edits)


def test_no_row_is_lost_by_a_patch(spark: Any, tmp_path: Path) -> None:
    """Of random queries over random streams; `tests/patched_streams.py` runs as many as one likes."""
    tally = Tally()
    for seed in range(2 * MORE):
        tally.run(spark, seed, 5, tmp_path / str(seed))
    assert tally.lost == [] and tally.counts["patched: window"] >= MORE and tally.counts["rows"] >= 20 * MORE


def truth(spark: Any, sql: str) -> Counter[tuple[Any, ...]]:
    """The results of a batch."""
    return Counter(map(tuple, spark.sql(re.sub(r"\b([st])w\b", r"\1_batch", sql)).collect()))


def test_a_patched_query_forgets(streams: Any, tmp_path: Path) -> None:
    sql = ROWS["j_abs_unix"]["query"]
    before, after = (measure(streams, one, "append", tmp_path / str(len(one))) for one in (sql, patched(sql)))
    assert (before.kept, after.kept) == ("grows", "window")
    assert before.results == after.results == truth(streams, sql) != Counter()


def test_a_patched_query_drops_nothing(streams: Any, tmp_path: Path) -> None:
    """What Spark has dropped of the query as it was written, it gives."""
    sql = ROWS["p_deadline"]["query"]
    before, after = (measure(streams, one, "append", tmp_path / str(len(one))) for one in (sql, patched(sql)))
    assert after.results == truth(streams, sql) and before.results < after.results
