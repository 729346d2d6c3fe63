"""`streambound memory` on Spark: a job that keeps to its bound, beside Spark's own operators."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streambound import cli
from support.figure import FIGURE, FIGURE_CATALOG, toml
from support.punctuated import bids

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    sink = '[sinks.figure]\nformat = "json"\npath = "${env:NOWHERE}/sent"  # where nothing generated may go'
    (tmp_path / "streams.toml").write_text(f"{toml(FIGURE_CATALOG)}\n{sink}\n")
    (tmp_path / "figure.sql").write_text(FIGURE)
    return tmp_path


def _memory(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, ["memory", "figure.sql", "--random", "--engine", "spark", *arguments])


def test_a_job_that_keeps_to_its_bound_beside_sparks_own_join(place: Path) -> None:
    result = _memory(
        "--tuples", "300", "--batches", "3", "--native-tuples", "100", "--native-seconds", "120", "--format", "json"
    )
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["constant"] and report["stopped"] == "" and report["quarantined"] == 0
    assert (report["limit"], report["peak"], sum(report["rows"].values())) == (5, 5, 300)
    assert [sample["tuples"] for sample in report["samples"]] == [100, 200, 300]
    # Four values of T.B with their counters, and the counter of U's tuples.
    assert all(20 < sample["bytes"] <= report["limit_bytes"] < 500 for sample in report["samples"])
    assert all(min(sample["heap"], sample["java"], sample["python"]) > 2**20 for sample in report["samples"])
    assert all(sample["state_rows"] == 0 for sample in report["samples"])
    native = report["native"]
    assert "without equality predicate" in native["keyed"]
    assert native["ended"] in ("done", "stopped")
    assert native["samples"][-1]["state_rows"] > 30


def test_keys_that_punctuations_end_are_no_rows(place: Path) -> None:
    """Of a statement beyond joins, beside Spark's own operators, which are not given the records that say so.

    Every group is printed once it is over, the last ones too.
    """
    promise = (
        '[[streams.bid.punctuations]]\nattributes = ["auction"]\ncolumn = "kind"\nvalue = "closed"\nmax_open = 5\n'
    )
    (place / "streams.toml").write_text(f"{toml(bids(5))}\n{promise}")
    (place / "figure.sql").write_text(
        "-- streambound: emit final\nSELECT auction, COUNT(*) AS n FROM bid GROUP BY auction"
    )
    result = _memory("--tuples", "120", "--batches", "2", "--format", "json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["rows"]["bid"] > 120 and report["quarantined"] == 0
    assert report["compared"]["expected"] > 20 and report["compared"]["missing"] == report["compared"]["wrong"] == 0
    native = report["native"]
    assert native["compared"] == report["compared"] and native["ended"] == "done"
    assert len(native["samples"]) == 2
    assert native["samples"][-1]["state_rows"] == report["compared"]["expected"]
