"""Random queries of streams with a common key, in some order of time: for tables of all sets of streams."""

from __future__ import annotations

from typing import Any

from support.choices import Choices
from support.queries import Statement

NAMES = ("S", "T", "U", "V")


def make_keyed_statement(choices: Choices, distinct: bool) -> Statement:
    """A query with its catalog; a set also compares attributes that nothing bounds, which takes extrema."""
    c = choices
    names = NAMES[: c.integer(2, 4)]
    kind = "double" if c.chance(15) else "bigint"
    sources = (*names, "R") if c.chance(30) else names
    atoms = [atom for place in range(1, len(names)) for atom in _time_atoms(c, names, place)]
    atoms += _key_atoms(c, names, sources)
    if distinct:
        atoms += [_inequality(c, names, sources, kind) for _ in range(c.integer(1, 3))]
    columns = {"k": "bigint", "a": kind, "b": kind}
    stream = {"timestamp": "ts", "max_per_timestamp": 3, "columns": {**columns, "ts": "bigint"}}
    relation = {"rows": 4, "columns": {"k": "bigint", "a": kind}}
    catalog: dict[str, Any] = {"streams": dict.fromkeys(names, stream)}
    catalog["relations"] = {"R": relation} if "R" in sources else {}
    output = f"{c.pick(names)}.k" if c.chance(60) else "1 AS one"
    sql = f"SELECT {'DISTINCT ' * distinct}{output} FROM {', '.join(sources)} WHERE {' AND '.join(atoms)}"
    windows = any("<=" in atom and ".ts" in atom for atom in atoms)
    return Statement(sql, catalog, distinct, windows, finite=False, union=False)


def _time_atoms(c: Choices, names: tuple[str, ...], place: int) -> list[str]:
    """How a stream's time is related to an earlier one's, if it is."""
    if not c.chance(55):
        return []
    x, y = names[place], c.pick(names[:place])
    atoms = [f"{x}.ts {c.pick(('>', '>=', '>'))} {y}.ts" + (f" + {c.integer(1, 3)}" if c.chance(20) else "")]
    if c.chance(25):  # and what only a window makes harmless
        atoms += [f"{x}.ts <= {y}.ts + {c.integer(3, 6)}", *([f"{x}.b = {y}.b"] if c.chance(50) else [])]
    return atoms


def _key_atoms(c: Choices, names: tuple[str, ...], sources: tuple[str, ...]) -> list[str]:
    atoms = [f"{names[0]}.k BETWEEN 0 AND {c.integer(0, 2)}"]
    for place, name in enumerate(names[1:], start=1):
        if c.chance(75):
            atoms.append(f"{name}.k = {'R' if 'R' in sources and c.chance(50) else c.pick(names[:place])}.k")
        if c.chance(60):
            atoms.append(f"{name}.k BETWEEN 0 AND {c.integer(0, 2)}")
    if "R" in sources:
        atoms.append(f"{c.pick(names)}.k = R.k")
    return atoms


def _inequality(c: Choices, names: tuple[str, ...], sources: tuple[str, ...], kind: str) -> str:
    own = c.pick(names)
    other = c.pick(tuple(source for source in sources if source != own))
    op = c.pick(("<", "<=", "<", ">="))
    offset = "" if kind == "double" or c.chance(60) else f" + {c.integer(1, 3)}"
    return f"{own}.{c.pick('ab')}{offset} {op} {other}.{'a' if other == 'R' else c.pick('ab')}"
