"""Random statements over the whole query language, with a catalog for each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from support.choices import Choices, drawn

STREAMS = ("S", "T", "U", "V")
OTHER_TYPES = ("double", "string", "boolean", "date", "decimal(6,2)")
LITERALS: dict[str, tuple[str, ...]] = {
    "double": ("0.5D", "1.5D", "2.0D"),
    "string": ("'a'", "'ab'", "'b'"),
    "boolean": ("TRUE", "FALSE"),
    "date": ("DATE '2024-01-02'", "DATE '2024-01-03'", "DATE '2024-01-05'"),
    "decimal(6,2)": ("0.50", "1.25", "1.5"),
}
DOMAINS: dict[str, tuple[list[Any], ...]] = {
    "bigint": ([0, 3], [-1, 1], [1, 2, 4]),
    "string": (["a", "b"], ["a", "ab", "b"]),
    "double": ([0.5, 1.0, 1.5],),
}
SYMMETRIC = {"<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<", "<>": "<>"}
NEGATED = {"<": ">=", "<=": ">", "=": "<>", ">=": "<", ">": "<=", "<>": "="}


@dataclass(frozen=True)
class Features:
    """Percentages: how often a statement uses what not every part of the product supports."""

    windows: int = 15
    finite: int = 12
    unions: int = 10
    distinct: int = 35
    timestamps: int = 10
    alternatives: int = 12
    chains: int = 0
    streams: int = 4


@dataclass(frozen=True)
class Statement:
    """A random statement and its catalog; ``features`` that it drew."""

    sql: str
    catalog: dict[str, Any]
    distinct: bool
    windows: bool
    finite: bool
    union: bool


@dataclass(frozen=True)
class Column:
    source: str
    name: str
    kind: str

    def __str__(self) -> str:
        return f"{self.source}.{self.name}"


@dataclass(frozen=True)
class Condition:
    text: str
    sources: frozenset[str]


@dataclass
class Builder:
    """Builds one statement; decisions come from ``choices``."""

    choices: Choices
    features: Features
    catalog: dict[str, Any] = field(default_factory=dict)
    windows: bool = False
    finite: bool = False
    moments: bool = False
    ctes: list[str] = field(default_factory=list)

    def statement(self) -> Statement:
        c = self.choices
        self.moments = c.chance(self.features.timestamps)
        self.windows = c.chance(self.features.windows)
        self.finite = c.chance(self.features.finite)
        distinct = c.chance(self.features.distinct)
        union = c.chance(self.features.unions)
        self.catalog = self.make_catalog()
        word = "SELECT DISTINCT" if distinct else "SELECT"
        branches = [self.branch(word, union) for _ in range(2 if union else 1)]
        text = f"\n{'UNION' if distinct else 'UNION ALL'}\n".join(branches)
        with_clause = "WITH " + ",\n     ".join(self.ctes) + "\n" if self.ctes else ""
        return Statement(with_clause + text, self.catalog, distinct, self.windows, self.finite, union)

    # --- catalog -----------------------------------------------------------------------------------------------

    def make_catalog(self) -> dict[str, Any]:
        c = self.choices
        third = c.pick(OTHER_TYPES) if c.chance(30) else None
        clock = "timestamp" if self.moments else "bigint"
        streams = {name: self.make_table({"ts": clock}, third) for name in STREAMS[: self.features.streams]}
        for body in streams.values():
            body["timestamp"] = "ts"
            if c.chance(30):
                body["max_per_timestamp"] = c.integer(1, 4)
        relation = self.make_table({}, third)
        relation["columns"].pop("b", None)
        if c.chance(50):
            relation["rows"] = 4
        return {"streams": streams, "relations": {"R": relation}}

    def make_table(self, columns: dict[str, str], third: str | None) -> dict[str, Any]:
        c = self.choices
        body: dict[str, Any] = {"columns": {"a": "bigint", "b": "bigint"}}
        if third is not None:
            body["columns"]["c"] = third
        body["columns"].update(columns)
        domain = {
            name: c.pick(DOMAINS[kind])
            for name, kind in body["columns"].items()
            if kind in DOMAINS and name != "ts" and c.chance(8)
        }
        if "b" in domain and not columns:
            del domain["b"]
        if domain:
            body["domain"] = domain
        return body

    # --- one SELECT --------------------------------------------------------------------------------------------

    def branch(self, word: str, union: bool) -> str:
        c = self.choices
        number = c.weighted([(45, 2), (12, 1), (33, 3), (10, 4)])
        tables = list(STREAMS[: min(number, self.features.streams)])
        aliases = list(tables)
        if len(tables) > 1 and c.chance(6):
            tables[1], aliases[:2] = tables[0], ["x", "y"]
        elif c.chance(15):
            aliases = [f"{name.lower()}1" for name in tables]
        sources = list(zip(aliases, tables, strict=True))
        relation = [("R", "R")] if c.chance(25) else []
        columns = [column for alias, table in (*sources, *relation) for column in self.columns(alias, table)]
        columns = [column for column in columns if not c.chance(40)] or columns[:1]
        conditions = [
            *self.times(aliases),
            *self.bounds(columns),
            *self.joins(columns),
            *self.chain(columns),
            *self.odd_ones(columns),
        ]
        outputs = self.outputs(columns, union)
        entries = [(alias, self.entry(alias, table)) for alias, table in (*sources, *relation)]
        return f"{word} {outputs}\n{self.from_where(entries, conditions)}"

    def columns(self, alias: str, table: str) -> list[Column]:
        bodies = {**self.catalog["streams"], **self.catalog["relations"]}
        return [Column(alias, n, kind) for n, kind in bodies[table]["columns"].items() if n != "ts"]

    def entry(self, alias: str, table: str) -> str:
        c = self.choices
        shape = c.weighted([(85, "table"), (8, "subquery"), (7, "cte")])
        if shape == "table":
            return table if alias == table else f"{table} AS {alias}"
        inner = f"SELECT * FROM {table}" + (f" WHERE {table}.a < 4" if c.chance(50) else "")
        if shape == "subquery":
            return f"({inner}) AS {alias}"
        name = f"cte{len(self.ctes)}"
        self.ctes.append(f"{name} AS ({inner})")
        return f"{name} AS {alias}"

    def from_where(self, entries: list[tuple[str, str]], conditions: list[Condition]) -> str:
        c = self.choices
        if not c.chance(25):
            texts = ", ".join(text for _, text in entries)
            return f"FROM {texts}{self.where(conditions)}"
        rest, seen = list(conditions), {entries[0][0]}
        text = f"FROM {entries[0][1]}"
        for alias, entry in entries[1:]:
            seen.add(alias)
            mine = [cond for cond in rest if alias in cond.sources and cond.sources <= seen and c.chance(70)]
            rest = [cond for cond in rest if cond not in mine]
            text += f" JOIN {entry} ON {self.conjunction(mine)}" if mine else f" CROSS JOIN {entry}"
        return f"{text}{self.where(rest)}"

    def where(self, conditions: list[Condition]) -> str:
        return f"\nWHERE {self.conjunction(conditions)}" if conditions else ""

    def conjunction(self, conditions: list[Condition]) -> str:
        return "\n  AND ".join(condition.text for condition in conditions)

    def outputs(self, columns: list[Column], union: bool) -> str:
        c = self.choices
        if union:
            integers = [str(column) for column in columns if column.kind == "bigint"]
            return f"{c.pick([*integers, '1'])} AS p"
        number = c.weighted([(50, 1), (30, 2), (20, 0)])
        if number == 0:
            return c.pick(["1 AS one", "'x' AS letter", "TRUE AS yes"])
        picked = [c.pick(columns) for _ in range(number)]
        texts = [f"{column} AS {str(column).replace('.', '_')}" for column in dict.fromkeys(picked)]
        return ", ".join([*texts, "7 AS seven"] if c.chance(5) else texts)

    # --- conditions --------------------------------------------------------------------------------------------

    def times(self, aliases: list[str]) -> list[Condition]:
        c = self.choices
        found, newest_first = [], list(aliases)
        if c.chance(30):
            newest_first.reverse()
        for i, alias in enumerate(newest_first[1:], start=1):
            found.append(self.time_order(newest_first[i - 1 if c.chance(50) else c.integer(0, i - 1)], alias))
            if i > 1 and c.chance(15):
                found.append(self.time_order(newest_first[0], alias))
        if self.finite:
            alias = c.pick(aliases)
            end = "TIMESTAMP '2024-01-01 00:00:05'" if self.moments else "6"
            found.append(Condition(f"{alias}.ts < {end}", frozenset([alias])))
        return [condition for condition in found if condition.text]

    def time_order(self, newer: str, older: str) -> Condition:
        c = self.choices
        kind = c.weighted([(70, ">"), (8, ">="), (10, "="), (12, "none")])
        if self.windows and c.chance(70):
            kind = c.pick(["between", "at most", "exactly", "wait"])
        low, high = c.integer(-1, 2), c.integer(0, 3)
        text = {
            "none": "",
            "between": f"{newer}.ts BETWEEN {older}.ts {self.delay(low)} AND {older}.ts {self.delay(low + high)}",
            "at most": f"{newer}.ts <= {older}.ts {self.delay(high)}",
            "exactly": f"{newer}.ts = {older}.ts {self.delay(high)}",
            "wait": f"{newer}.ts >= {older}.ts {self.delay(high + 1)}",
        }.get(kind, f"{newer}.ts {kind} {older}.ts")
        if kind in (">", ">=") and c.chance(20):
            text = f"{older}.ts {SYMMETRIC[kind]} {newer}.ts"
        return Condition(text, frozenset([newer, older]))

    def delay(self, steps: int) -> str:
        sign = "-" if steps < 0 else "+"
        return f"{sign} INTERVAL {abs(steps)} SECONDS" if self.moments else f"{sign} {abs(steps)}"

    def bounds(self, columns: list[Column]) -> list[Condition]:
        c = self.choices
        level = c.pick([50, 85, 20, 70, 100])
        found = []
        for column in columns:
            if c.chance(level if column.source != "R" else 10):
                found.append(self.bound(column))
            elif c.chance(20):
                found.append(Condition(self.one_side(column), frozenset([column.source])))
        return found

    def bound(self, column: Column) -> Condition:
        c = self.choices
        mine = frozenset([column.source])
        if column.kind != "bigint":
            literals = LITERALS[column.kind]
            text = c.pick([
                f"{column} = {literals[0]}",
                f"{column} IN ({literals[0]}, {literals[1]})",
                f"{column} BETWEEN {literals[0]} AND {literals[-1]}",
            ])  # fmt: skip
            if column.kind == "boolean":
                text = c.pick([text, str(column), f"NOT {column}"])
            return Condition(text, mine)
        low, width = c.integer(-1, 0), c.integer(2, 5)
        high = low + width
        return Condition(
            c.weighted([
                (30, f"{column} > {low} AND {column} < {high + 1}"),
                (15, f"{column} BETWEEN {low} AND {high}"),
                (8, f"{column} IN ({low}, {high}, {high + 2})"),
                (10, f"{low} < {column} AND {high} >= {column}"),
                (8, f"NOT ({column} < {low} OR {column} > {high})"),
                (3, f"{column} = {high}"),
                (6, f"{column} + 1 > {low} AND {column} - 2 < {high}"),
                (2, f"{column} IS NULL"),
                (6, f"({column} = {low} OR {column} = {high + 1})"),
            ]),
            mine,
        )  # fmt: skip

    def one_side(self, column: Column) -> str:
        c = self.choices
        if column.kind == "boolean":
            return f"{column} = TRUE"
        constant = str(c.integer(-1, 3)) if column.kind == "bigint" else c.pick(LITERALS[column.kind])
        op = c.pick(["<", ">", ">=", "<=", "<>"])
        text = c.pick([f"{column} {op} {constant}", f"{constant} {op} {column}"])
        return f"NOT {text}" if c.chance(10) else text

    def joins(self, columns: list[Column]) -> list[Condition]:
        c = self.choices
        found: list[Condition] = []
        joined: set[frozenset[Column]] = set()
        for _ in range(c.weighted([(35, 1), (30, 2), (15, 0), (20, 3)])):
            left = c.pick(columns)
            partners = [col for col in columns if col.kind == left.kind and col != left]
            elsewhere = [col for col in partners if col.source != left.source]
            partners = elsewhere if elsewhere and not c.chance(10) else partners
            right = c.pick(partners) if partners else left
            if frozenset([left, right]) not in joined and left != right:
                joined.add(frozenset([left, right]))
                found.append(self.join(left, right))
        return found

    def chain(self, columns: list[Column]) -> list[Condition]:
        """Several columns of one type equal, each with one before it; a column may equal a constant, too."""
        c = self.choices
        if not self.features.chains or not c.chance(self.features.chains):
            return []
        alike = [column for column in columns if column.kind == "bigint"]
        chain = [alike.pop(c.integer(0, len(alike) - 1)) for _ in range(min(len(alike), c.integer(3, 4)))]
        pairs = [(column, chain[c.integer(0, place)]) for place, column in enumerate(chain[1:])]
        found = [Condition(f"{x} = {y}", frozenset([x.source, y.source])) for x, y in pairs]
        if chain and c.chance(30):
            found.append(Condition(f"{chain[0]} = {c.integer(0, 2)}", frozenset([chain[0].source])))
        return found

    def join(self, left: Column, right: Column) -> Condition:
        c = self.choices
        op = c.weighted([(35, "<"), (20, "="), (15, ">"), (10, "<="), (8, ">="), (6, "<>")])
        text = f"{left} {op} {right}"
        if left.kind in ("bigint", "date") and c.chance(20):
            text = f"{left} + {c.integer(1, 2)} {op} {right}" if c.chance(50) else f"{left} {op} {right} - 1"
        elif c.chance(8):
            text = f"NOT {left} {NEGATED[op]} {right}"
        return Condition(text, frozenset([left.source, right.source]))

    def odd_ones(self, columns: list[Column]) -> list[Condition]:
        c = self.choices
        found = []
        for _ in range(c.chance(self.features.alternatives) + (self.features.alternatives > 50 and c.chance(40))):
            parts = [
                Condition(self.one_side(col), frozenset([col.source])) for col in (c.pick(columns), c.pick(columns))
            ]
            parts += self.joins(columns)[:1]
            sources = frozenset().union(*(part.sources for part in parts))
            found.append(Condition(f"({' OR '.join(part.text for part in parts)})", sources))
        if c.chance(8):
            column = c.pick(columns)
            word = c.pick(["IS NOT NULL", "IS NOT NULL", "IS NULL"])
            found.append(Condition(f"{column} {word}", frozenset([column.source])))
        return found


def make_statement(choices: Choices, features: Features = Features()) -> Statement:
    """One random statement."""
    return Builder(choices, features).statement()


def statements(features: Features = Features()) -> Any:
    """A hypothesis strategy of statements."""
    return drawn(lambda choices: make_statement(choices, features))


EXECUTABLE = replace(Features(), windows=0, finite=0, unions=0, distinct=0)
"""What the first executor runs: bags of one SELECT, without windows and finite streams."""

MANY_ALTERNATIVES = replace(Features(), windows=25, finite=20, alternatives=70, chains=40)
"""Where the same can be said in many ways."""
