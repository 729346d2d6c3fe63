"""Period relations: what SQL means at every point of time, and how it is rewritten to operators over periods.

`Temporal` evaluates it in a Spark session (`streambound.synopsis_exec.temporal`); `timeline` draws a small result
(`streambound.reports.timeline`).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_LAZY = {"Temporal": "streambound.synopsis_exec.temporal", "timeline": "streambound.reports.timeline"}

__all__ = ["Temporal", "timeline"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
