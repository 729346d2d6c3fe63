"""Random satisfiable queries of any width: n streams with k attributes each, and as many predicates as attributes.

They use every attribute, and have one solution that all their predicates were made to admit.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

Cell = tuple[str, int]
"""A stream, and the number of one of its attributes."""


@dataclass(frozen=True)
class Shape:
    """How the streams hang together, and what is known of their attributes.

    ``operators`` join attributes of neighbouring streams, with constants added if ``offsets``; ``ranges`` is the share
    of attributes that get a range instead; ``domains`` says that the catalog declares one for each. ``times`` is
    ``chain``, each stream newer than the next, or ``star``, the first newer than all others, and ``window`` is how much
    newer it may be at most. ``relations`` are joined for equality; ``anywhere`` joins streams that are no neighbours.
    """

    name: str
    operators: tuple[str, ...] = ("<", "<=", "=", ">", ">=")
    offsets: bool = True
    ranges: float = 0.2
    domains: bool = True
    times: str = "chain"
    window: int | None = None
    relations: int = 0
    anywhere: bool = False
    type: str = "bigint"


SHAPES = (
    Shape("chain in time, declared domains"),
    Shape("chain of time windows", window=9),
    Shape("one stream newest, the others unrelated", times="star"),
    Shape("with ten relations", relations=10),
    Shape("joins between any two streams", anywhere=True),
    Shape("equalities only, any two streams", operators=("=",), anywhere=True, ranges=0.0),
    Shape("strict joins without constants", operators=("<", "=", ">"), offsets=False),
    Shape("weak joins without constants", operators=("<=", "=", ">="), offsets=False),
    Shape("no bounds: inequalities only", operators=("<", ">"), ranges=0.0, domains=False),
    Shape("doubles", operators=("<", "<=", ">"), offsets=False, domains=False, type="double"),
)


def wide_query(
    streams: int, attributes: int, shape: Shape = SHAPES[0], distinct: bool = False, seed: int = 1
) -> tuple[str, dict[str, object]]:
    """SQL text and catalog of a query with ``streams * attributes`` predicates."""
    rng = random.Random(seed)
    names = [f"S{i}" for i in range(streams)]
    cells = [(name, i) for name in names for i in range(attributes)]
    rng.shuffle(cells)
    conditions = [*_times(names, shape), *(f"{_name(cells[i])} = R{i}.k" for i in range(shape.relations))]
    left = len(cells) - len(conditions)
    ranged, joined = cells[: int(left * shape.ranges)], cells[int(left * shape.ranges) :]
    conditions += [f"{_name(cell)} BETWEEN {rng.randint(0, 9)} AND {rng.randint(70, 99)}" for cell in ranged]
    conditions += islice(_joins(rng, names, attributes, joined, shape), left - len(ranged))
    outputs = ", ".join(f"{name}.a0 AS {name.lower()}" for name in names) if shape.domains else "1 AS one"
    tables = ", ".join([*names, *(f"R{i}" for i in range(shape.relations))])
    head = f"SELECT {'DISTINCT ' if distinct else ''}{outputs}\nFROM {tables}\nWHERE "
    return head + "\n  AND ".join(conditions), _catalog(names, attributes, shape)


def _name(cell: Cell) -> str:
    return f"{cell[0]}.a{cell[1]}"


def _times(names: list[str], shape: Shape) -> Iterator[str]:
    pairs = pairwise(names) if shape.times == "chain" else ((names[0], other) for other in names[1:])
    for newer, older in pairs:
        yield f"{newer}.ts > {older}.ts"
        if shape.window is not None:
            yield f"{newer}.ts <= {older}.ts + {shape.window}"


def _joins(rng: random.Random, names: list[str], attributes: int, joined: list[Cell], shape: Shape) -> Iterator[str]:
    """Joins that the solution meets, of attributes that no other uses as long as there are any."""
    solution = {(name, i): rng.randint(20, 60) for name in names for i in range(attributes)}
    unused = dict.fromkeys(joined)
    while True:
        left = next(iter(unused), None) or rng.choice(joined)
        place = names.index(left[0])
        near = names[place + 1 : place + 2] or names[place - 1 : place]
        stream = rng.choice([name for name in names if name != left[0]] if shape.anywhere else near)
        right = next((cell for cell in unused if cell[0] == stream), (stream, rng.randrange(attributes)))
        unused.pop(left, None)
        unused.pop(right, None)
        yield f"{_name(left)} {_comparison(rng, _name(right), solution[left] - solution[right], shape)}"


def _comparison(rng: random.Random, right: str, gap: int, shape: Shape) -> str:
    """A comparison with an attribute that a value ``gap`` above it satisfies."""
    if not shape.offsets:
        weak = "=" if "<=" in shape.operators else ""
        return f"{'=' if gap == 0 and '=' in shape.operators else ('<' if gap <= 0 else '>') + weak} {right}"
    op, slack = rng.choice(shape.operators), rng.randint(1, 9)
    offset = gap if op == "=" else gap + slack if op[0] == "<" else gap - slack
    return f"{op} {right} {'-' if offset < 0 else '+'} {abs(offset)}"


def _catalog(names: list[str], attributes: int, shape: Shape) -> dict[str, object]:
    columns = {f"a{i}": shape.type for i in range(attributes)}
    domain = {"domain": {column: [0, 99] for column in columns}} if shape.domains else {}
    stream = {"timestamp": "ts", "columns": columns | {"ts": "bigint"}} | domain
    relations = {f"R{i}": {"columns": {"k": "bigint"}, "rows": 1000} for i in range(shape.relations)}
    return {"streams": dict.fromkeys(names, stream), "relations": relations}
