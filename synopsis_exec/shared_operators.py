"""Operators of a circuit that do the same to the same rows, each once: a subquery, or a stream, that is read twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from streambound_runtime.engine.plan import ComputedRows, EngineOperator, NativeNode

_READ = ("input", "inputs", "keys")
"""The fields in which operators name what they read."""


def shared(operators: Sequence[EngineOperator]) -> tuple[EngineOperator, ...]:
    """Operators in order, without those that are earlier ones but for their names.

    The last one stays, and those that operators which are no SQL call by their names.
    """
    called = {name for one in operators if isinstance(one, NativeNode) for name in one.inputs}
    found: dict[EngineOperator, str] = {}
    names: dict[str, str] = {}
    kept = list[EngineOperator]()
    *others, last = operators
    for operator in others:
        mine = _reading(operator, names)
        alike = mine if isinstance(mine, NativeNode | ComputedRows) else replace(mine, name="")
        if alike in found and operator.name not in called:
            names[operator.name] = found[alike]
        else:
            found.setdefault(alike, operator.name)
            kept.append(mine)
    return (*kept, _reading(last, names))


def _reading(operator: EngineOperator, names: Mapping[str, str]) -> EngineOperator:
    """An operator that calls what it reads by the names that it has now."""
    if isinstance(operator, NativeNode):
        return operator
    if isinstance(operator, ComputedRows):
        return replace(operator, node=_renamed(operator.node, names))
    found: EngineOperator = _renamed(operator, names)
    return found


def _renamed(reader: Any, names: Mapping[str, str]) -> Any:
    read = {field.name: getattr(reader, field.name) for field in fields(reader) if field.name in _READ}
    new = {
        name: names.get(value, value) if isinstance(value, str) else tuple(names.get(one, one) for one in value)
        for name, value in read.items()
    }
    return reader if new == read else replace(reader, **new)
