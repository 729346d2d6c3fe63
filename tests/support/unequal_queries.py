"""Random queries with `<>` between streams, most of them in windows, or with a relation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from support.catalogs import Catalog
from support.choices import Choices


def make_unequal_query(c: Choices) -> tuple[str, Catalog]:
    """Two or three streams, most of them in windows, and some ``<>`` between them, or with a relation."""
    names = "STU"[: c.integer(2, 3)]
    columns = {"a": "bigint", "b": "bigint", "s": "string"}
    catalog: dict[str, Any] = {"streams": {}, "relations": {"R": {"columns": columns, "rows": 4}}}
    for name in names:
        domain = {"domain": {column: [0, 3] for column in "ab" if c.chance(40)}}
        catalog["streams"][name] = {"timestamp": "ts", "columns": {**columns, "ts": "bigint"}, **domain}
        catalog["streams"][name]["max_per_timestamp"] = c.integer(1, 3)
    atoms = [f"S.{column} <> T.{column}" for column in "abs" if c.chance(50)] or ["S.a <> T.b + 1"]
    for older, newer in pairwise(names):
        atoms += [f"{newer}.ts >= {older}.ts"] if c.chance(80) else []
        atoms += [f"{newer}.ts <= {older}.ts + {c.integer(1, 4)}"] if c.chance(70) else []
        atoms += [f"{newer}.{c.pick('ab')} {c.pick(('=', '<>', '<'))} {older}.{c.pick('ab')}"] if c.chance(40) else []
    related = c.chance(25)
    atoms += [f"{c.pick(names)}.a {c.pick(('=', '<>', '<='))} R.a"] if related else []
    output = c.pick(("1 AS one", f"{c.pick(names)}.a", f"{c.pick(names)}.b, {c.pick(names)}.s"))
    sources = ", ".join([*names, *(["R"] if related else [])])
    return f"SELECT {'DISTINCT ' if c.chance(20) else ''}{output} FROM {sources} WHERE {' AND '.join(atoms)}", catalog
