"""streambound decides whether SQL over streams runs in constant memory, and writes the Spark job that does.

This directory is the package: `streambound.analyzer` is the folder `analyzer` beside this file.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streambound.analyzer.catalog import Catalog
    from streambound.analyzer.errors import StreamboundError
    from streambound.analyzer.version import __version__
    from streambound.api import Bound, Report, Result, check, explain, load_catalog
    from streambound.jobs import Job, Run, compile, verify

_LAZY = {
    "Bound": "streambound.api",
    "Catalog": "streambound.analyzer.catalog",
    "Job": "streambound.jobs",
    "Report": "streambound.api",
    "Result": "streambound.api",
    "Run": "streambound.jobs",
    "StreamboundError": "streambound.analyzer.errors",
    "__version__": "streambound.analyzer.version",
    "check": "streambound.api",
    "compile": "streambound.jobs",
    "explain": "streambound.api",
    "load_catalog": "streambound.api",
    "verify": "streambound.jobs",
}
"""What `import streambound` offers, and the module that has it, which is imported when it is asked for."""

__all__ = [
    "Bound",
    "Catalog",
    "Job",
    "Report",
    "Result",
    "Run",
    "StreamboundError",
    "__version__",
    "check",
    "compile",
    "explain",
    "load_catalog",
    "verify",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
