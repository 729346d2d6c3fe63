"""Hypothesis without deadlines, as the machine may be busy; the same examples in every CI run. A cache per test.

`make test` runs the tests in several processes. All that use the one Spark session are for one of them, and begin; then
come those that take long, so that no process is left alone with them.
"""

from __future__ import annotations

import gc
import itertools
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from streambound.criteria.bound import counted
from streambound.synopsis_exec import placement
from support.quick_java import FEW_ROWS, run_java_quickly

settings.register_profile("streambound", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("streambound")
run_java_quickly()
# Spark's workers import what tests send them from here, too.
_path = [str(Path(__file__).parent), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(_path))

# Syntax trees are garbage that refers to itself, but there is room for much of it.
gc.set_threshold(200_000, 20, 100)

SHARED = ("spark", "page")
"""Fixtures that take longer than the tests that use them: a Spark session, a browser."""
ON_SPARK = (pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore"))
"""Marks of the tests that use the session; Spark's own code warns."""
_numbers = itertools.count()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the Spark session are marked so. In a process of several: what shares something stays together, and the
    slow ones begin.
    """
    for item in items:
        given = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        shared = set(SHARED).intersection(getattr(item, "fixturenames", ())).difference(given)
        for marker in ON_SPARK if "spark" in shared else ():
            item.add_marker(marker)
        for name in shared if "PYTEST_XDIST_WORKER" in os.environ else ():
            item.add_marker(pytest.mark.xdist_group(name))
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(autouse=True, scope="module")
def kept_objects_apart() -> Iterator[None]:
    """What there is when a module begins stays: searching it for garbage again takes longer than many a test."""
    gc.collect()
    gc.freeze()
    yield


def pytest_unconfigure() -> None:
    """What is kept apart when the interpreter goes is never released, and DuckDB would print a page of leaks."""
    gc.unfreeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What tests want to be known, such as how many verdicts were left unknown."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties if report.when == "call" else ():
            terminalreporter.write_line(f"{name}: {value}")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees what another one, or the user, has in a cache; the directory is made when it is written."""
    counted.cache_clear()
    monkeypatch.setenv("STREAMBOUND_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache" / str(next(_numbers))))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The session that a generated job makes for itself: one for all tests, as starting it takes longer than any."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from streambound_runtime.session import session as session_of

    # Thousands of queries share its heap.
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", f"--driver-memory 2g {FEW_ROWS} pyspark-shell")
        warnings.simplefilter("ignore")
        session = session_of("tests")
    # Each bucket has an engine of its own, in every batch: a few of them show the same.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placement, "BUCKETS", 4)
        yield session
    session.stop()
