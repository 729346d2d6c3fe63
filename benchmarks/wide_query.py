"""A query of n streams with k attributes each: a chain in time, random order joins, bounded as a bag."""

from __future__ import annotations

import random
from itertools import pairwise


def wide_query(streams: int, attributes: int, seed: int = 1) -> tuple[str, dict[str, object]]:
    """SQL text and catalog of a query that joins every stream with the next ones, with bounds on every attribute."""
    rng = random.Random(seed)
    columns = {f"a{i}": "bigint" for i in range(attributes)} | {"ts": "bigint"}
    names = [f"S{i}" for i in range(streams)]
    catalog = {"streams": {name: {"timestamp": "ts", "columns": columns} for name in names}}
    value = {(name, i): rng.randint(20, 40) for name in names for i in range(attributes)}  # one solution of them all
    conditions = [f"{newer}.ts > {older}.ts" for newer, older in pairwise(names)]
    for name in names:
        conditions += [f"{name}.a{i} BETWEEN {rng.randint(0, 9)} AND {rng.randint(50, 99)}" for i in range(attributes)]
    for left, right in pairwise(names):
        for _ in range(attributes):
            i, j = rng.randrange(attributes), rng.randrange(attributes)
            gap = value[left, i] - value[right, j]
            op, slack = rng.choice((("<", rng.randint(1, 9)), ("<=", rng.randint(0, 9)), ("=", 0)))
            conditions.append(f"{left}.a{i} {op} {right}.a{j} + {gap + slack}")
    outputs = ", ".join(f"{name}.a0 AS {name.lower()}" for name in names)
    return f"SELECT {outputs}\nFROM {', '.join(names)}\nWHERE " + "\n  AND ".join(conditions), catalog
