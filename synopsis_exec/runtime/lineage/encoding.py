"""Formulas as arrays in postorder, shared parts once: between tasks as text, and for users as a column.

A column cannot hold a formula as a tree, since Spark's types are not recursive, and in a text parts that are shared are
repeated.
"""

from __future__ import annotations

import json

from streambound_runtime.lineage.formulas import (
    CONSTANT,
    FALSE,
    NOT,
    TRUE,
    VARIABLE,
    Formula,
    combined,
    negation,
    variable,
)


def postorder(formula: Formula) -> list[tuple[Formula, list[int]]]:
    """The different parts of a formula, each after its operands, with the places of those; the last is the formula."""
    places: dict[Formula, int] = {}
    found: list[tuple[Formula, list[int]]] = []
    open_ones = [(formula, False)]
    while open_ones:
        part, ready = open_ones.pop()
        if part in places:
            continue
        if part.args and not ready:
            open_ones.append((part, True))
            open_ones.extend((arg, False) for arg in reversed(part.args))
            continue
        places[part] = len(found)
        found.append((part, [places[arg] for arg in part.args]))
    return found


def lineage_dag(formula: Formula) -> list[dict[str, object]]:
    """The value of the column `_lineage_dag`, an ``ARRAY<STRUCT<op STRING, var STRING, args ARRAY<INT>>>``.

    ``op`` is ``var``, ``!``, ``&`` or ``|``; ``args`` are places in the array, from 0.
    """
    return [
        {"op": part.op, "var": part.text if part.op == VARIABLE else None, "args": args}
        for part, args in postorder(formula)
    ]


def encoded(formula: Formula) -> str:
    """The formula, with the probabilities of its variables, as a JSON text that `decoded` reads."""
    parts = [[part.op, *args] if args else [part.op, part.text, part.p] for part, args in postorder(formula)]
    return json.dumps(parts, separators=(",", ":"), ensure_ascii=False)


def decoded(text: str) -> Formula:
    """The formula of a text that `encoded` wrote."""
    found: list[Formula] = []
    for op, *args in json.loads(text):
        if op == VARIABLE:
            found.append(variable(*args))
        elif op == CONSTANT:
            found.append(TRUE if args[0] == TRUE.text else FALSE)
        elif op == NOT:
            found.append(negation(found[args[0]]))
        else:
            found.append(combined(op, (found[place] for place in args)))
    return found[-1]
