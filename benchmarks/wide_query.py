"""Random satisfiable queries of any width: n streams with k attributes each, k predicates per stream.

Every shape uses every attribute, and has one solution that all its predicates were made to admit.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Shape:
    """How the streams hang together, and what is known of the attributes.

    ``ranges``: the share of attributes with a range in the query; ``domains``: the catalog declares one for each;
    ``joins``: the operators between attributes of neighbouring streams; ``relations``: how many are joined for
    equality; ``window``: each stream comes within so much of the next one; ``times``: which stream each other one must
    be newer than.
    """

    name: str
    joins: tuple[str, ...] = ("<", "<=", "=", ">", ">=")
    ranges: float = 0.2
    domains: bool = True
    offsets: bool = True
    relations: int = 0
    window: int | None = None
    times: str = "chain"
    type: str = "bigint"


SHAPES = (
    Shape("chain in time, declared domains"),
    Shape("chain of windows", window=9),
    Shape("one stream newest, the others unrelated", times="star"),
    Shape("with relations", relations=10),
    Shape("strict joins without offsets", joins=("<", "=", ">"), offsets=False),
    Shape("weak joins without offsets", joins=("<=", "=", ">="), offsets=False),
    Shape("no bounds: inequalities only", joins=("<", ">"), ranges=0.0, domains=False),
    Shape("dense values", joins=("<", "<=", ">"), offsets=False, type="double", domains=False),
)


def wide_query(
    streams: int, attributes: int, shape: Shape = SHAPES[0], distinct: bool = False, seed: int = 1
) -> tuple[str, dict[str, object]]:
    """SQL text and catalog of a query with ``streams * attributes`` predicates."""
    rng = random.Random(seed)
    names = [f"S{i}" for i in range(streams)]
    conditions = list(_times(names, shape))
    cells = [(name, f"a{i}") for name in names for i in range(attributes)]
    solution = {cell: rng.randint(20, 60) for cell in cells}
    for i in range(shape.relations):
        (name, column), relation = cells[(7 * i) % len(cells)], f"R{i}"
        conditions.append(f"{name}.{column} = {relation}.k")
    wanted = streams * attributes - len(conditions)
    rng.shuffle(cells)
    ranged, joined = cells[: (count := int(wanted * shape.ranges))], cells[count:]
    conditions += [f"{s}.{a} BETWEEN {rng.randint(0, 9)} AND {rng.randint(70, 99)}" for s, a in ranged]
    conditions += _joins(rng, names, attributes, joined, solution, shape, wanted - len(ranged))
    outputs = ", ".join(f"{name}.a0 AS {name.lower()}" for name in (names if shape.domains else names[:1]))
    head = f"SELECT {'DISTINCT ' if distinct else ''}{outputs}"
    tables = ", ".join([*names, *(f"R{i}" for i in range(shape.relations))])
    return f"{head}\nFROM {tables}\nWHERE " + "\n  AND ".join(conditions), _catalog(names, attributes, shape)


def _times(names: list[str], shape: Shape) -> Iterator[str]:
    pairs = pairwise(names) if shape.times == "chain" else ((names[0], other) for other in names[1:])
    for newer, older in pairs:
        yield f"{newer}.ts > {older}.ts"
        if shape.window is not None:
            yield f"{newer}.ts <= {older}.ts + {shape.window}"


def _joins(
    rng: random.Random, names: list[str], attributes: int, first: list[tuple[str, str]],
    solution: dict[tuple[str, str], int], shape: Shape, number: int,
) -> Iterator[str]:  # fmt: skip
    """Joins of neighbouring streams that the solution meets, each of the ``first`` attributes in one of them."""
    for i in range(number):
        left = first[i] if i < len(first) else rng.choice(first)
        place = names.index(left[0])
        right = (names[place + 1 if place + 1 < len(names) else place - 1], f"a{rng.randrange(attributes)}")
        gap = solution[left] - solution[right]
        op = rng.choice(shape.joins)
        if not shape.offsets:
            if gap == 0 and "=" not in op:
                right = (right[0], next(a for a in (f"a{j}" for j in range(attributes)) if solution[left] != solution[right[0], a]))
                gap = solution[left] - solution[right]
            op = op if op.startswith("=") and gap == 0 else ("<" if gap < 0 else ">") + ("=" if "<=" in shape.joins else "")
            yield f"{left[0]}.{left[1]} {op} {right[0]}.{right[1]}"
            continue
        slack = rng.randint(1, 9)
        offset = gap if op == "=" else gap + slack if op[0] == "<" else gap - slack
        yield f"{left[0]}.{left[1]} {op} {right[0]}.{right[1]} {'-' if offset < 0 else '+'} {abs(offset)}"


def _catalog(names: list[str], attributes: int, shape: Shape) -> dict[str, object]:
    columns = {f"a{i}": shape.type for i in range(attributes)}
    domain = {"domain": {column: [0, 99] for column in columns}} if shape.domains else {}
    stream = {"timestamp": "ts", "columns": columns | {"ts": "bigint"}} | domain
    relations = {f"R{i}": {"columns": {"k": "bigint"}, "rows": 1000} for i in range(shape.relations)}
    return {"streams": dict.fromkeys(names, stream), "relations": relations}
