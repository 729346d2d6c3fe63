"""Random DataFrames: a few steps over two sources, each of which a program may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.choices import Choices

Source = Callable[[str], Any]
"""A frame of ``k``, ``g`` and ``ts``, by its name; `ts` has a watermark where that means something."""


def random_frame(choices: Choices, source: Source, deterministic: bool = False) -> tuple[Any, list[str]]:
    """A frame, and the steps that led to it; ``deterministic``: without those whose results Spark chooses."""
    frame, names = source("a"), list[str]()
    steps = [one for one in _STEPS if one[2] or not deterministic]
    for _ in range(choices.integer(1, 5)):
        name, needs, _, step = choices.pick(steps)
        if set(needs) <= set(frame.columns):
            frame = step(frame, source, len(names))
            names.append(name)
    return frame, names


def _other(source: Source, number: int) -> Any:
    return source("b").selectExpr(f"k AS k{number}", f"ts AS ts{number}")


def _ranged(kind: str) -> Callable[[Any, Source, int], Any]:
    def step(frame: Any, source: Source, number: int) -> Any:
        from pyspark.sql import functions as F

        n = number
        near = F.expr(f"k = k{n} AND ts{n} >= ts AND ts{n} <= ts + INTERVAL 1 MINUTE")
        return frame.join(_other(source, n), near, kind).drop(f"k{n}", f"ts{n}")

    return step


def _windowed(frame: Any, _: Source, number: int) -> Any:
    from pyspark.sql import functions as F

    return frame.groupBy(F.window("ts", "5 minutes").alias("w"), "k").agg(F.count("*").alias(f"n{number}"))


def _summed(frame: Any, _: Source, __: int) -> Any:
    from pyspark.sql import functions as F

    return frame.groupBy("g").agg(F.sum("k").alias("k"), F.max("ts").alias("ts"))


_STEPS: tuple[tuple[str, tuple[str, ...], bool, Callable[[Any, Source, int], Any]], ...] = (
    ("computed", ("k",), True, lambda frame, _, n: frame.selectExpr("*", f"k + {n} AS c{n}")),
    ("renamed", ("k", "g"), True, lambda frame, _, n: frame.withColumnRenamed("g", f"g{n}")),
    ("filtered", ("k",), True, lambda frame, _, n: frame.where("k > 3 AND k IS NOT NULL")),
    ("truncated", ("ts",), True, lambda frame, _, n: frame.selectExpr("*", f"date_trunc('hour', ts) AS h{n}")),
    ("aliased", (), True, lambda frame, _, n: frame.alias("z")),
    ("windowed", ("k", "ts"), True, _windowed),
    ("window's start", ("w",), True, lambda frame, _, n: frame.selectExpr(f"w.start AS s{n}", "*").drop("w")),
    ("summed", ("g", "k", "ts"), True, _summed),
    (
        "joined",
        ("k",),
        True,
        lambda frame, source, n: frame.join(_other(source, n).withColumnRenamed(f"k{n}", "k"), "k"),
    ),
    ("joined near", ("k", "ts"), True, _ranged("inner")),
    ("joined near, left", ("k", "ts"), True, _ranged("left")),
    ("united", (), True, lambda frame, _, n: frame.union(frame)),
    ("distinct", (), False, lambda frame, _, n: frame.distinct()),
    ("first of each", ("k",), False, lambda frame, _, n: frame.dropDuplicates(["k"])),
    ("first of each at a time", ("k", "ts"), False, lambda frame, _, n: frame.dropDuplicates(["k", "ts"])),
    ("within", ("k",), False, lambda frame, _, n: frame.dropDuplicatesWithinWatermark(["k"])),
    ("limited", (), False, lambda frame, _, n: frame.limit(3)),
)
