"""What `verify` prints."""

from __future__ import annotations

import json
from dataclasses import replace

from msgspec import structs

from streambound.analyzer.types import DataType, Family
from streambound.recheck.oracle.spark_batch import BatchComparison, Cell
from streambound.reports.verify_report import trial_line, verify_json, verify_lines
from streambound.synopsis_exec.bench import Trial
from streambound.synopsis_exec.verify import Difference, Verification

EQUAL = Trial({"S": 900, "T": 334}, 4, {"late": 2}, BatchComparison(56_000, 12))
CELLS = (Cell(("42", "NULL"), 2, 0), Cell(("7", "x"), 0, 1))
WRONG = Trial({"S": 2, "T": 0}, 1, {}, BatchComparison(1, 1, 3_000_000, CELLS))
FOUND = Verification("q", ("A", "name"), 5, (EQUAL, EQUAL), None)
LINES = {"S": ['{"A": 42}', '{"A": 7}'], "T": []}
TIMESTAMP, DATE = DataType("timestamp", Family.TIMESTAMP), DataType("date", Family.DATE)
DIFFERENCE = Difference(3_000_000, CELLS, LINES, 31, True)
DIFFERENT = replace(FOUND, trials=(EQUAL, WRONG), difference=DIFFERENCE, time=TIMESTAMP)


def test_a_run() -> None:
    assert trial_line(EQUAL, 1) == (
        "run 1: 1,234 rows in 4 micro-batches, 2 of them quarantined; 56,000 results at 12 timestamps: equal"
    )
    assert trial_line(WRONG, 2).endswith("1 results at 1 timestamps: different")


def test_all_equal() -> None:
    assert list(verify_lines(FOUND)) == [
        "left out, in quarantine: late 4",
        "q: the job prints what batch SQL returns in 2 runs (112,000 results); seed 5",
    ]
    report = json.loads(verify_json(FOUND))
    assert (report["equal"], report["engine"]) == (True, "embedded")


def test_runs_without_results_show_nothing() -> None:
    """Unless no rows can give one."""
    nothing = replace(FOUND, trials=(structs.replace(EQUAL, comparison=BatchComparison(0, 0)),))
    assert FOUND.proved and not nothing.proved
    (line,) = [line for line in verify_lines(nothing) if line.startswith("q: ")]
    assert line.startswith("q: NOTHING WAS COMPARED: 1 run had no results, which shows nothing;")
    never = replace(nothing, never=True)
    assert never.proved and not replace(DIFFERENT, never=True).proved
    (line,) = [line for line in verify_lines(never) if line.startswith("q: ")]
    assert line.startswith("q: the query never has a result, since its conditions contradict each other or are false: ")
    assert "correct one, unless that is meant" in line
    assert json.loads(verify_json(nothing))["results"] == 0


def test_a_difference() -> None:
    assert list(verify_lines(DIFFERENT))[1:] == [
        "q: the job and batch SQL differ; seed 5",
        "first at _ts = 1970-01-01 00:00:03:",
        "  A   name  batch SQL  job",
        "  42  NULL  2 times    0 times",
        "  7   x     0 times    1 times",
        "with 2 rows (no row can go: 31 trials):",
        '  S {"A": 42}',
        '  S {"A": 7}',
    ]
    data = json.loads(verify_json(DIFFERENT))["difference"]
    assert data["_ts"] == "1970-01-01 00:00:03"
    assert data["results"][0] == {"values": {"A": "42", "name": "NULL"}, "batch_sql": 2, "job": 0}
    assert (data["rows"], data["minimal"], data["trials"]) == (LINES, True, 31)


def test_results_of_relations_alone_have_no_time() -> None:
    timeless = replace(DIFFERENT, difference=replace(DIFFERENT.difference, timestamp=None))
    assert "first at _ts = none: relations alone give it:" in list(verify_lines(timeless))
    assert json.loads(verify_json(timeless))["difference"]["_ts"] is None
    assert not BatchComparison(1, 1, None, CELLS).equal
