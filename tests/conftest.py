"""Hypothesis without deadlines, as the machine may be busy; the same examples in every CI run. A cache per test."""

import itertools
import os

import pytest
from hypothesis import settings

settings.register_profile("streambound", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("streambound")

_numbers = itertools.count()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What tests want to be known, such as how many verdicts were left unknown."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties if report.when == "call" else ():
            terminalreporter.write_line(f"{name}: {value}")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees what another one, or the user, has in the cache; the directory is made when it is written."""
    monkeypatch.setenv("STREAMBOUND_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache" / str(next(_numbers))))
