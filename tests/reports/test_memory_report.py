"""The measurement as text, as data and as a drawing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from streambound.recheck.oracle.spark_results import ResultCounts
from streambound.reports import memory_plot
from streambound.reports.memory_plot import write_plots
from streambound.reports.memory_report import MOST_ROWS, memory_json, memory_lines, verdict
from streambound.synopsis_exec.memory import Measurement
from streambound.synopsis_exec.memory_processes import Native, Sample

MIB = 1024 * 1024


def _sample(tuples: int, **more: Any) -> Sample:
    plain = {"state_rows": 0, "state_bytes": 0, "heap": 70 * MIB, "java": 400 * MIB, "python": 90 * MIB}
    return Sample(**{"tuples": tuples, "seconds": tuples / 1000, **plain, **more})


JOB = tuple(_sample(1000 * n, entries=5, peak=6, bytes=100 + n) for n in range(1, 31))
LINE = tuple(replace(sample, peak=2 * n) for n, sample in enumerate(JOB, start=1))
JOIN = Native(tuple(_sample(1000 * n, state_rows=1000 * n, heap=(70 + n) * MIB) for n in range(1, 21)), "out of memory")
FOUND = Measurement("q", "random", 30_000, "512m", 12, "12", 480, {"S": 10_000, "T": 20_000}, 0, 99, JOB, "", JOIN)


def test_the_table_has_a_line_for_some_batches_and_the_last() -> None:
    lines = list(memory_lines(FOUND))
    assert lines[0] == "q: 30,000 tuples of random streams (S 10,000, T 20,000), heap 512m"
    first = lines.index("the job:") + 2
    table = lines[first : lines.index("", first)]
    assert len(table) == MOST_ROWS
    assert table[-1].split() == ["30,000", "6", "130", "0", "70", "400", "90", "30.0"]
    assert "Spark's own stream-stream join (its Java heap was full after 20,000 tuples):" in lines
    assert " ".join(lines[-2:]) == (
        "constant: at most 6 entries at any time, 50.0% of M = 12, and no more in the second half than in the "
        "first; 130 bytes of tables, within 480; Spark's own join kept 20,000 rows after 20,000 tuples"
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"limit": 5}, "NOT CONSTANT: 6 entries, more than M = 5"),
        ({"stopped": "13 entries"}, "NOT CONSTANT: the job was stopped: 13 entries"),
        ({"limit_bytes": 129}, "NOT CONSTANT: 130 bytes of tables, more than 129"),
        (
            {"native": None, "limit_bytes": None},
            "constant: at most 6 entries at any time, 50.0% of M = 12, and no more in the second half than in "
            "the first; 130 bytes of tables",
        ),
        (
            {"native": None, "limit": 6},
            "constant: at most 6 entries at any time, within M = 6, which they reached; 130 bytes of tables, "
            "within 480",
        ),
        (
            {"native": None, "samples": LINE, "limit": 300},
            "STILL GROWING at the end: 60 entries, 20.0% of M = 300; that is within the bound, but no "
            "measurement of constant memory: read more --tuples, or narrow what M comes from; 130 bytes of tables, "
            "within 480",
        ),
        (
            {"native": None, "samples": tuple(replace(sample, peak=0) for sample in JOB)},
            "NOTHING WAS STORED of the M = 12 entries that there may be: this shows nothing; 130 bytes of "
            "tables, within 480",
        ),
    ],
)
def test_verdicts(change: dict[str, Any], expected: str) -> None:
    assert verdict(replace(FOUND, **change)) == expected


def test_only_a_curve_that_stops_is_constant() -> None:
    """A straight line below M is not, nor one measurement, however small."""

    def curve(*peaks: int, limit: int = 300) -> str:
        return replace(FOUND, samples=tuple(_sample(n, peak=p) for n, p in enumerate(peaks, 1)), limit=limit).curve

    assert curve(*range(1, 101)) == curve(7) == curve(100, 101, 102, 110) == curve(1, 1, 1, 1, 1, 1, 1, 2) == "growing"
    assert curve(*[6] * 99, 9) == "flat" and curve(*[6] * 99, 99) == "growing", "a rare peak, by the mean of fifty"
    assert curve(100, 100, 104, 90) == curve(5, 5) == curve(9, 3) == "flat"
    assert curve(*range(1, 101), limit=100) == curve(7, limit=7) == curve(0, 0, limit=0) == "at M"
    assert curve(0, 0) == "empty"
    assert curve(1, 8, limit=7) == "over M"
    found = replace(FOUND, samples=LINE, limit=300)
    assert found.within and not found.constant
    assert {"constant": False, "within": True, "curve": "growing"}.items() <= json.loads(memory_json(found)).items()


def test_a_refusal_is_said_in_sparks_words() -> None:
    text = "\n".join(memory_lines(replace(FOUND, native=Native(refused="[MULTIPLE_EVENT_TIME_COLUMNS] no"))))
    assert "does not take this query: [MULTIPLE_EVENT_TIME_COLUMNS] no" in text
    text = "\n".join(memory_lines(replace(FOUND, native=replace(JOIN, keyed="without equality"))))
    assert "with an equality of constant columns added" in text


def test_results_beside_batch_sql_are_counted_for_both() -> None:
    own = replace(JOIN, complete="no append", dropped=3, compared=ResultCounts(4000, 2, 1))
    found = replace(FOUND, native=own, compared=ResultCounts(4000, 0, 0), beyond_joins=True)
    lines = list(memory_lines(found))
    assert "  results: all 4,000 rows of batch SQL, and no others" in lines
    assert "  results: 2 of 4,000 rows of batch SQL MISSING, 1 WRONG ones beside" in lines
    assert "  3 rows were dropped, since they came later than the watermark" in lines
    assert "  in complete mode, since Spark refuses append mode: no watermark says when a group is over" in lines
    text = "\n".join(lines)
    assert "Spark's own operators (its Java heap was full" in text and "Spark's own operators kept 20,000 rows" in text
    data = json.loads(memory_json(found))
    assert data["native"]["compared"] == {"expected": 4000, "missing": 2, "wrong": 1} != data["compared"]
    text = "\n".join(memory_lines(replace(found, native=Native(refused="[X] no"), compared=None, uncompared="[Y]")))
    assert "Spark's own operators do not take this query: [X] no" in text and "results were not compared: [Y]" in text


def test_rows_in_quarantine_are_not_hidden() -> None:
    assert any("quarantined: 3 rows" in line for line in memory_lines(replace(FOUND, quarantined=3)))


def test_what_the_job_was_told_of_the_streams_is_not_hidden() -> None:
    lines = list(memory_lines(replace(FOUND, in_order=("S", "T"))))
    assert lines[1] == "S, T: the catalog promises no order; rows come in order, and the job knows it"


def test_data() -> None:
    data = json.loads(memory_json(FOUND))
    assert (data["schema_version"], data["peak"], data["limit"], data["constant"]) == (1, 6, 12, True)
    assert (data["samples"][0]["entries"], data["samples"][0]["bytes"]) == (5, 101)
    assert (data["bytes"], data["limit_bytes"]) == (130, 480)
    assert data["native"]["ended"] == "out of memory"


@pytest.mark.parametrize("native", [None, JOIN], ids=str)
def test_drawings_are_the_same_every_time(tmp_path: Path, native: Native | None) -> None:
    found = replace(FOUND, native=native)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_plots(found, tmp_path / name)
    for name in ("memory.png", "memory.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        assert (tmp_path / "a" / name).stat().st_size > 10_000


def test_what_a_drawing_says() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure = memory_plot._figure(plt, FOUND)
    state, heap = figure.axes
    texts = {text.get_text() for text in state.texts}
    assert {
        "proved bound M = 12",
        "entries of the job: at most 6",
        "rows kept by Spark's own join:\nout of memory",
    } == texts
    assert {text.get_text() for text in heap.texts} == {"the job", "Spark's own join:\nout of memory"}
    dashed = [line for line in state.lines if line.get_linestyle() == "--"]
    assert [list(line.get_ydata()) for line in dashed] == [[12, 12]]
    assert state.get_xlabel() == "tuples read" and "MiB" in heap.get_ylabel()
    plt.close(figure)
