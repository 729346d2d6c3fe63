"""What a job's literal is made of, by name: the classes of its plan, and what says parts of it in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from streambound_runtime import promises, spec
from streambound_runtime.engine import (
    block,
    block_tables,
    counts,
    first,
    group,
    join,
    join_tree,
    linear,
    over,
    recent,
    running,
    stream_join,
    stream_sides,
)
from streambound_runtime.engine import plan as engine_plan
from streambound_runtime.operators import asked_rows, circuit_plan, formula, period_plan, plan
from streambound_runtime.periods import job as period_job
from streambound_runtime.sql_parts import WORDS

_MODULES = (
    spec, promises, plan, formula, circuit_plan, asked_rows, period_plan, engine_plan, block, block_tables, counts,
    first, group, join, join_tree, linear, over, recent, running, stream_join, stream_sides, period_job,
)  # fmt: skip
NAMES: Mapping[str, Callable[..., object]] = {
    **WORDS,
    **{
        name: value
        for module in _MODULES
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    },
}
"""What may be called in a literal."""


def __getattr__(name: str) -> Callable[..., object]:
    """One of them, so that a job imports its classes from here."""
    if name not in NAMES:
        raise AttributeError(name)
    return NAMES[name]
