"""One Spark session for all tests that need one: starting it takes longer than any of them."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The session that a generated job makes for itself."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from synopsis_exec.simulate import load_kernel
    from tests.synopsis_exec.test_codegen import figure2_job

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = load_kernel(figure2_job()).session()
    yield session
    session.stop()
