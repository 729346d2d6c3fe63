"""Random queries of unrelated streams that are joined with the same relations: who brings a relation's row?"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from support.choices import Choices
from support.queries import Statement

NAMES, RELATIONS = ("S", "T", "U", "V"), ("R", "Q")


def make_relation_statement(choices: Choices, distinct: bool) -> Statement:
    """A query with its catalog; most streams are joined with each relation, by a key or by inequalities."""
    c = choices
    names, relations = NAMES[: c.integer(2, 4)], RELATIONS[: c.integer(1, 2)]
    kind = c.pick(("double", "double", "bigint"))
    atoms = [f"{name}.k BETWEEN 0 AND {c.integer(0, 2)}" for name in names if c.chance(70)]
    for relation in relations:
        for name in (name for name in names if c.chance(65)):
            atoms += [_joined(c, name, relation) for _ in range(c.integer(1, 2))]
    if len(relations) > 1 and c.chance(30):
        atoms.append("R.k = Q.k")
    for older, newer in pairwise(names):
        atoms += [f"{newer}.k = {older}.k"] if c.chance(35) else []
        atoms += [f"{newer}.ts {c.pick(('>', '>='))} {older}.ts"] if c.chance(30) else []
    for _ in range(c.integer(0, 2)):
        one = c.pick(names)
        atoms.append(_compared(c, one, c.pick(tuple(name for name in names if name != one))))
    output = c.pick(("1 AS one", f"{names[0]}.k", "R.a", "R.k"))
    columns = {"k": "bigint", "a": kind, "b": kind}
    stream = {"timestamp": "ts", "max_per_timestamp": 3, "columns": {**columns, "ts": "bigint"}}
    catalog: dict[str, Any] = {"streams": dict.fromkeys(names, stream)}
    relation = {"rows": 4, "columns": columns}
    catalog["relations"] = dict.fromkeys(relations, relation)
    where = f" WHERE {' AND '.join(atoms)}" if atoms else ""
    sql = f"SELECT {'DISTINCT ' * distinct}{output} FROM {', '.join((*names, *relations))}{where}"
    return Statement(sql, catalog, distinct, windows=False, finite=False, union=False)


def _joined(c: Choices, name: str, relation: str) -> str:
    return f"{name}.k = {relation}.k" if c.chance(50) else _compared(c, name, relation)


def _compared(c: Choices, one: str, other: str) -> str:
    return f"{one}.{c.pick('ab')} {c.pick(('<', '<=', '>', '>='))} {other}.{c.pick('ab')}"
