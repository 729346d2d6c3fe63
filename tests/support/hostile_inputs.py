"""Inputs that nobody writes and that somebody may check: long, deep, wide, broken, repeated, up to any length.

Each family is a function from a length in characters, and random choices, to a file of at most that length.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import combinations, count

CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", c = "string", d = "int", e = "double", f = "boolean", ts = "bigint" }
domain.d = [0, 99]
[streams.T]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", c = "string", d = "int", e = "double", f = "boolean", ts = "bigint" }
domain.d = [0, 99]
[relations.R]
columns = { k = "bigint", a = "string" }
"""
FROM = "SELECT 1 AS one FROM S, T WHERE S.ts > T.ts AND "
Family = Callable[[int, random.Random], str]
Conditions = Callable[[int, random.Random], Iterator[str]]
"""Conditions of n streams x0, x1, …"""


def joined(separator: str, parts: Iterator[str], length: int) -> str:
    """As many parts as fit a length."""
    total, kept = 0, []
    for part in parts:
        total += len(part) + len(separator)
        if total > length:
            break
        kept.append(part)
    return separator.join(kept)


def fitting(write: Callable[[int], str], length: int) -> str:
    """What is written for the greatest number that fits a length, as far as that grows with it."""
    low, high = 1, 2
    while len(write(high)) <= length:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if len(write(middle)) <= length else (low, middle)
    return write(low)


def same(text: str) -> Iterator[str]:
    """A text without end."""
    return iter(lambda: text, None)


# --- nesting ---------------------------------------------------------------------------------------------------


def nested(before: str, opening: str, inside: str, closing: str, after: str = "") -> Family:
    """One text around another around another."""
    return lambda length, _: fitting(lambda n: before + opening * n + inside + closing * n + after, length)


def nested_names(length: int, _: random.Random) -> str:
    """Subqueries in subqueries, each with a name of its own."""

    def write(n: int) -> str:
        return "SELECT a FROM (" * n + "SELECT S.a FROM S" + "".join(f") x{i}" for i in range(n))

    return fitting(write, length)


def nested_choices(length: int, rng: random.Random) -> str:
    """A tree of AND, OR and NOT."""

    def tree(depth: int) -> str:
        if depth == 0:
            return (
                f"{rng.choice('ST')}.{rng.choice('abd')} {rng.choice(('<', '=', '<>'))} {rng.choice('ST')}.b + {depth}"
            )
        said = rng.choice((" AND ", " OR ")).join(tree(depth - 1) for _ in range(2))
        return f"NOT ({said})" if rng.random() < 0.3 else f"({said})"

    depth = 1
    while len(said := tree(depth + 1)) + 100 < length:
        depth += 1
    return FROM + (said if len(said) < length else tree(depth))


# --- long ------------------------------------------------------------------------------------------------------


def chain(before: str, separator: str, part: Callable[[int], str], after: str = "") -> Family:
    """Numbered parts between separators."""

    def write(length: int, _: random.Random) -> str:
        return before + joined(separator, map(part, count()), length - len(before) - len(after)) + after

    return write


def mixture(length: int, rng: random.Random) -> str:
    """AND and OR without parentheses."""
    atoms = ("S.a = {}", "T.b < S.a + {}", "S.d <> {}", "T.a <> S.b + {}", "S.c = '{}'", "S.e > {}.5", "T.a IS NULL")
    said = (rng.choice(atoms).format(n) + rng.choice((" AND ", " OR ")) for n in count())
    return FROM + joined("", said, length - len(FROM) - 10) + "S.f"


def alternatives(length: int, rng: random.Random) -> str:
    """A conjunction of disjunctions."""
    said = (
        f"({rng.choice('ST')}.a {rng.choice(('<', '=', '>'))} {n} OR {rng.choice('ST')}.b < T.a + {n})" for n in count()
    )
    return FROM + joined(" AND ", said, length - len(FROM))


def many_lists(length: int, rng: random.Random) -> str:
    """A conjunction of IN and NOT IN."""

    def one(n: int) -> str:
        values = ", ".join(str(rng.randrange(1000)) for _ in range(rng.choice((2, 3, 40))))
        return f"{rng.choice('ST')}.{rng.choice('abd')} {rng.choice(('IN', 'NOT IN'))} ({values})"

    return FROM + joined(" AND ", map(one, count()), length - len(FROM))


# --- CTEs and subqueries ---------------------------------------------------------------------------------------


def doubling_unions(length: int, _: random.Random) -> str:
    """CTEs that each use the one before twice, in a union."""
    return ctes(length, "SELECT a FROM c{0} UNION ALL SELECT a FROM c{0}")


def doubling_joins(length: int, _: random.Random) -> str:
    """CTEs that each join the one before with itself."""
    return ctes(length, "SELECT x.a FROM c{0} x, c{0} y WHERE x.a = y.a")


def wide_unions(length: int, _: random.Random) -> str:
    """CTEs that each use the one before several times, in unions inside FROM."""
    return ctes(length, "SELECT x.a FROM (SELECT a FROM c{0} UNION ALL SELECT a FROM c{0}) x, c0 y WHERE x.a = y.a")


def linear(length: int, _: random.Random) -> str:
    """CTEs that each use the one before once."""
    return ctes(length, "SELECT a FROM c{0} WHERE a > {0}")


def ctes(length: int, body: str) -> str:
    """CTEs c0, c1, …, each written by the number of the one before."""

    def write(n: int) -> str:
        return (
            "WITH c0 AS (SELECT a FROM S)"
            + "".join(f", c{i + 1} AS ({body.format(i)})" for i in range(n))
            + f" SELECT a FROM c{n}"
        )

    return fitting(write, length)


def product_of_unions(length: int, _: random.Random) -> str:
    """A join of unions."""

    def write(n: int) -> str:
        return "SELECT x0.a FROM " + ", ".join(f"(SELECT a FROM S UNION ALL SELECT a FROM T) x{i}" for i in range(n))

    return fitting(write, length)


def reused_column_lists(length: int, _: random.Random) -> str:
    """CTEs that double the columns of the one before."""

    def write(n: int) -> str:
        body = "".join(f", c{i + 1} AS (SELECT x.*, y.* FROM c{i} x, R y)" for i in range(n))
        return f"WITH c0 AS (SELECT k FROM R){body} SELECT 1 AS one FROM S, c{n}"

    return fitting(write, length)


# --- operators -------------------------------------------------------------------------------------------------


def layers(body: str) -> Family:
    """Subqueries one around the other, each written around the one inside it and by its number."""

    def write(n: int) -> str:
        said = "SELECT a, b, d, ts FROM S"
        for i in range(n):
            said = body.format(f"({said}) q{i}", i)
        return said

    return lambda length, _: fitting(write, length)


def joins(kind: str, on: str) -> Family:
    """A stream with others joined one after the other, each by a condition on it and the one before or the first."""

    def write(n: int) -> str:
        return "SELECT x0.a FROM S x0" + "".join(
            f" {kind} {'ST'[i % 2]} x{i} ON {on.format(i - 1, i)}" for i in range(1, n + 1)
        )

    return lambda length, _: fitting(write, length)


# --- many streams ----------------------------------------------------------------------------------------------


def streams(
    conditions: Callable[[int, random.Random], Iterator[str]], distinct: bool = False, output: str = "1 AS one"
):
    """A join of n streams: S and T in turn."""

    def family(length: int, rng: random.Random) -> str:
        state = rng.getstate()

        def write(n: int) -> str:
            rng.setstate(state)
            sources = ", ".join(f"{'ST'[i % 2]} x{i}" for i in range(n))
            said = " AND ".join(conditions(n, rng))
            return f"SELECT {'DISTINCT ' * distinct}{output} FROM {sources}" + (f" WHERE {said}" if said else "")

        return fitting(write, length)

    return family


def chained(operator: str, column: str = "a") -> Conditions:
    """Each stream compared with the next one."""
    return lambda n, _: (f"x{i}.{column} {operator} x{i + 1}.{column}" for i in range(n - 1))


def starred(operator: str, column: str = "a") -> Conditions:
    """The first stream compared with all others."""
    return lambda n, _: (f"x0.{column} {operator} x{i + 1}.{column}" for i in range(n - 1))


def every_pair(operator: str, column: str = "a") -> Conditions:
    """Each stream compared with each other one."""
    return lambda n, _: (f"x{i}.{column} {operator} x{j}.{column}" for i, j in combinations(range(n), 2))


def both(*parts: Conditions) -> Conditions:
    """The conditions of several."""
    return lambda n, rng: (said for part in parts for said in part(n, rng))


def at_random(n: int, rng: random.Random) -> Iterator[str]:
    """As many joins of any kind as there are streams."""
    for i in range(1, n):
        j, column = rng.randrange(i), rng.choice(("a", "a", "b", "d", "e", "ts", "ts"))
        yield f"x{i}.{column} {rng.choice(('<', '<=', '=', '>', '>=', '<>'))} x{j}.{column} + {rng.randrange(9)}"


def windows(n: int, _: random.Random) -> Iterator[str]:
    """Each stream within ten of the one before."""
    for i in range(n - 1):
        yield f"x{i + 1}.ts BETWEEN x{i}.ts AND x{i}.ts + 10"


def ranged(n: int, _: random.Random) -> Iterator[str]:
    """Bounds of every attribute."""
    return (f"x{i}.a BETWEEN 0 AND {i + 1}" for i in range(n))


def nothing(n: int, _: random.Random) -> Iterator[str]:
    """No condition."""
    return iter(())


WORDS = (
    "SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "(", "(", ")", ")", ",", ";", "*", "+", "-", "<", "=", "<>",
    "1", "'x'", "S", "S.a", "T.b", "AS", "x", "UNION", "ALL", "WITH", "JOIN", "ON", "CASE", "WHEN", "END",
)  # fmt: skip


# --- broken ----------------------------------------------------------------------------------------------------


def noise(letters: str) -> Family:
    """Any sequence of some characters."""
    return lambda length, rng: "".join(rng.choices(letters, k=length))


def words(length: int, rng: random.Random) -> str:
    """Any sequence of words of SQL."""
    return joined(" ", (rng.choice(WORDS) for _ in count()), length)


def cut(length: int, rng: random.Random) -> str:
    """A query of another family without a piece of it."""
    text = rng.choice((mixture, many_lists, product_of_unions, nested_choices))(length, rng)
    at = rng.randrange(len(text))
    return text[:at] + text[at + rng.randrange(1, 20) :]


def repeated(statement: str) -> Family:
    """A statement again and again."""
    return lambda length, _: joined(";\n", same(statement), length)


def varied(family: Family, size: int) -> Family:
    """Statements of one family, of a size."""
    return lambda length, rng: joined(";\n", (family(size, rng) for _ in count()), length)


AND, OR = " AND ", " OR "
NEAR = "x{1}.a = x{0}.a AND x{1}.ts BETWEEN x{0}.ts AND x{0}.ts + 10"
NEAR_FIRST = "x{1}.a = x0.a AND x{1}.ts BETWEEN x0.ts AND x0.ts + 10"
ASKED = "(SELECT 1 FROM T WHERE T.a = S.a + {0} AND T.ts BETWEEN S.ts - {0} AND S.ts)"
WHERE = "SELECT S.a FROM S WHERE "
FAMILIES: dict[str, Family] = {
    "parentheses": nested(WHERE, "(", "S.a = 1", ")"),
    "parentheses around terms": nested(WHERE, "(", "S.a", ")", " = 1"),
    "parentheses that nothing closes": nested(WHERE, "(", "S.a = 1", ""),
    "parentheses around a query": nested("", "(", "SELECT S.a FROM S", ")"),
    "brackets": nested(WHERE, "[", "S.a", "]"),
    "NOT": nested(WHERE, "NOT ", "S.a = 1", ""),
    "NOT in parentheses": nested(WHERE, "NOT (", "S.a = 1", ")"),
    "signs": nested(WHERE, "- ", "S.a", "", " = 1"),
    "CASE": nested("SELECT ", "CASE WHEN S.f THEN ", "1", " END", " AS x FROM S"),
    "CASE in ELSE": nested(WHERE, "CASE WHEN S.a > 1 THEN 1 ELSE ", "S.a", " END", " = 1"),
    "functions": nested(WHERE, "abs(", "S.a", ")", " = 1"),
    "casts": nested(WHERE, "CAST(", "S.a", " AS INT)", " = 1"),
    "casts by signs": nested(WHERE + "S.a", "::int", "", "", " = 1"),
    "types": nested(WHERE + "CAST(S.a AS ", "ARRAY<", "INT", ">", ") = 1"),
    "IN in IN": nested(WHERE, "S.a IN (SELECT a FROM S WHERE ", "S.a = 1", ")"),
    "EXISTS": nested(WHERE, "EXISTS (SELECT 1 FROM S WHERE ", "S.a = 1", ")"),
    "subqueries": nested("SELECT a FROM ", "(SELECT a FROM ", "S", ") x"),
    "subqueries of other names": nested_names,
    "WITH in WITH": nested("", "WITH c AS (", "SELECT a FROM S", ") SELECT a FROM c"),
    "joins in parentheses": nested("SELECT S.a FROM ", "(", "S", " JOIN T ON S.ts > T.ts)"),
    "AND of OR of AND": nested(WHERE, "(S.a = 1 AND (S.b = 2 OR ", "S.a < 5", "))"),
    "a tree of choices": nested_choices,
    "comments in comments": nested("", "/* ", "", " */", "SELECT S.a FROM S"),
    "comments that nothing closes": nested("SELECT S.a FROM S ", "/* ", "", ""),
    "AND": chain(WHERE, AND, lambda n: f"S.a > {n}"),
    "AND of one condition": chain(WHERE, AND, lambda n: "S.a = 1"),
    "AND of other bounds": chain(WHERE, AND, lambda n: f"S.a BETWEEN {-n} AND {n + 5}"),
    "AND of joins": chain(FROM, AND, lambda n: f"S.a < T.b + {n}"),
    "AND of texts": chain(WHERE, AND, lambda n: f"S.c > '{n}'"),
    "AND of decimals": chain(WHERE, AND, lambda n: f"S.e > {n}.{n}"),
    "AND of <>": chain(WHERE, AND, lambda n: f"S.a <> {n}"),
    "AND of <> between streams": chain(FROM, AND, lambda n: f"S.a <> T.b + {n}"),
    "AND of <> of texts": chain(FROM, AND, lambda n: f"S.c <> '{n}' AND T.c <> S.c"),
    "OR": chain(WHERE, OR, lambda n: f"S.a = {n * 3}"),
    "OR of joins": chain(FROM + "(", OR, lambda n: f"S.a < T.b + {n}", ")"),
    "OR of pairs": chain(FROM + "(", OR, lambda n: f"S.a = {n} AND T.b = {n * n}", ")"),
    "OR of pairs of joins": chain(FROM + "(", OR, lambda n: f"S.a = T.a + {n} AND S.b = {n * n}", ")"),
    "OR of ranges": chain(WHERE, OR, lambda n: f"S.a BETWEEN {10 * n} AND {10 * n + 3}"),
    "OR of <>": chain(FROM + "(", OR, lambda n: f"S.a <> T.b + {n}", ")"),
    "OR of NULL": chain(FROM + "(", OR, lambda n: f"S.a IS NULL AND T.b = {n}", ")"),
    "AND of OR": alternatives,
    "AND of many OR of one column": chain(FROM, AND, lambda n: f"(S.a < {n} OR S.a > {n + 10})"),
    "AND of OR of NULL": chain(FROM, AND, lambda n: f"(S.a IS NULL OR S.a > {n})"),
    "AND of NOT AND": chain(FROM, AND, lambda n: f"NOT (S.a = {n} AND T.b = {n})"),
    "AND and OR": mixture,
    "IN": chain(WHERE + "S.a IN (", ", ", str, ")"),
    "IN, far apart": chain(WHERE + "S.a IN (", ", ", lambda n: str(n * 7), ")"),
    "IN of texts": chain(WHERE + "S.c IN (", ", ", lambda n: f"'{n}'", ")"),
    "IN of decimals": chain(WHERE + "S.e IN (", ", ", lambda n: f"{n}.5", ")"),
    "IN of columns": chain(FROM + "S.a IN (", ", ", lambda n: f"T.b + {n}", ")"),
    "NOT IN": chain(WHERE + "S.a NOT IN (", ", ", lambda n: str(n * 2), ")"),
    "NOT IN, projected": chain(
        "SELECT DISTINCT S.a FROM S, T WHERE S.ts > T.ts AND S.a NOT IN (", ", ", lambda n: str(n * 2), ")"
    ),
    "NOT IN of columns": chain(FROM + "S.a NOT IN (", ", ", lambda n: f"T.b + {n}", ")"),
    "many IN": many_lists,
    "sums": chain(WHERE, " + ", lambda n: "1", " = S.a"),
    "sums of a column": chain(WHERE, " + ", lambda n: "S.a", " = 1"),
    "products": chain(WHERE, " * ", lambda n: "9", " = S.a"),
    "texts put together": chain(WHERE, " || ", lambda n: "'x'", " = S.c"),
    "neighbouring texts": chain(WHERE + "S.c = ", " ", lambda n: "'x'"),
    "select list": chain("SELECT ", ", ", lambda n: "S.a", " FROM S"),
    "select list of names": chain("SELECT ", ", ", lambda n: f"S.a AS x{n}", " FROM S"),
    "select list of constants": chain("SELECT ", ", ", lambda n: f"{n} AS x{n}", " FROM S"),
    "select list of stars": chain("SELECT ", ", ", lambda n: "*", " FROM R, S"),
    "select list of unknown names": chain("SELECT ", ", ", lambda n: f"S.x{n}", " FROM S"),
    "select list of computations": chain("SELECT ", ", ", lambda n: f"S.a * S.b AS x{n}", " FROM S"),
    "unknown names in conditions": chain(WHERE, AND, lambda n: f"S.x{n} = 1"),
    "functions in conditions": chain(WHERE, AND, lambda n: f"abs(S.a) = {n}"),
    "UNION ALL": chain("", " UNION ALL ", lambda n: f"SELECT S.a FROM S WHERE S.a > {n}"),
    "UNION ALL of one query": chain("", " UNION ALL ", lambda n: "SELECT S.a FROM S"),
    "UNION": chain("", " UNION ", lambda n: f"SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.a < {n}"),
    "UNION ALL of joins": chain(
        "", " UNION ALL ", lambda n: f"SELECT T.a FROM S, T WHERE S.ts > T.ts AND T.b < S.b + {n}"
    ),
    "CTEs in unions": doubling_unions,
    "CTEs in joins": doubling_joins,
    "CTEs in unions in FROM": wide_unions,
    "CTEs in a row": linear,
    "CTEs that nobody uses": chain("WITH ", ", ", lambda n: f"c{n} AS (SELECT a FROM S)", " SELECT S.a FROM S"),
    "CTEs of columns": reused_column_lists,
    "joined unions": product_of_unions,
    "LEFT JOIN": joins("LEFT JOIN", NEAR),
    "LEFT JOIN of one": joins("LEFT JOIN", NEAR_FIRST),
    "LEFT JOIN without times": joins("LEFT JOIN", "x{1}.d = x{0}.d"),
    "FULL JOIN": joins("FULL JOIN", NEAR),
    "SEMI JOIN": joins("LEFT SEMI JOIN", NEAR_FIRST),
    "ANTI JOIN": joins("LEFT ANTI JOIN", NEAR_FIRST),
    "relations LEFT JOIN": chain("SELECT S.a FROM S ", " ", lambda n: f"LEFT JOIN R r{n} ON S.a = r{n}.k"),
    "sums with FILTER": chain(
        "SELECT d, ", ", ", lambda n: f"SUM(b) FILTER (WHERE a > {n}) AS s{n}", " FROM S GROUP BY d"
    ),
    "sums of CASE": chain(
        "SELECT d, ", ", ", lambda n: f"SUM(CASE WHEN a = {n} THEN b END) AS s{n}", " FROM S GROUP BY d"
    ),
    "numbers of values": chain("SELECT d, ", ", ", lambda n: f"COUNT(DISTINCT a + {n}) AS s{n}", " FROM S GROUP BY d"),
    "keys of groups": chain("SELECT COUNT(*) AS n FROM S GROUP BY ", ", ", lambda n: f"d + {n}"),
    "HAVING": chain("SELECT d FROM S GROUP BY d HAVING ", AND, lambda n: f"SUM(b) > {n}"),
    "frames": chain(
        "SELECT ",
        ", ",
        lambda n: f"SUM(b) OVER (PARTITION BY d ORDER BY ts ROWS BETWEEN {n} PRECEDING AND CURRENT ROW) AS s{n}",
        " FROM S",
    ),
    "frames of times": chain(
        "SELECT ",
        ", ",
        lambda n: f"SUM(b) OVER (PARTITION BY d ORDER BY ts RANGE BETWEEN {n} PRECEDING AND CURRENT ROW) AS s{n}",
        " FROM S",
    ),
    "LAG": chain("SELECT ", ", ", lambda n: f"LAG(b, {n}) OVER (PARTITION BY d ORDER BY ts) AS s{n}", " FROM S"),
    "EXCEPT": chain("", " EXCEPT ", lambda n: f"SELECT d FROM S WHERE d <> {n}"),
    "INTERSECT": chain("", " INTERSECT ", lambda n: f"SELECT d FROM S WHERE d <> {n}"),
    "set operations": chain(
        "",
        " ",
        lambda n: (
            f"{(('UNION', 'EXCEPT', 'INTERSECT')[n % 3] + ' ') * (n > 0)}SELECT d FROM {'ST'[n % 2]} WHERE d <> {n}"
        ),
    ),
    "UNION ALL of groups": chain("", " UNION ALL ", lambda n: f"SELECT d, SUM(b) AS s FROM S WHERE a > {n} GROUP BY d"),
    "EXISTS below OR": chain(WHERE, OR, lambda n: f"EXISTS {ASKED.format(n)}"),
    "EXISTS and EXISTS": chain(WHERE, AND, lambda n: f"EXISTS {ASKED.format(n)}"),
    "NOT EXISTS": chain(WHERE, AND, lambda n: f"NOT EXISTS {ASKED.format(n)}"),
    "IN below OR": chain(WHERE, OR, lambda n: f"S.a + {n} IN (SELECT k FROM R)"),
    "IN of streams": chain(WHERE, AND, lambda n: f"S.a IN (SELECT a FROM T WHERE T.ts < S.ts AND T.b > {n})"),
    "values by subqueries": chain(
        "SELECT ", ", ", lambda n: f"(SELECT MAX(k) FROM R WHERE R.k < S.a + {n}) AS s{n}", " FROM S"
    ),
    "conditions above groups": chain(
        "SELECT d FROM (SELECT d, COUNT(*) AS n FROM S GROUP BY d) q WHERE ", AND, lambda n: f"n <> {n}"
    ),
    "alternatives above LAG": chain(
        "SELECT d FROM (SELECT d, a, LAG(a) OVER (PARTITION BY d ORDER BY ts) AS e FROM S) q WHERE ",
        OR,
        lambda n: f"a = e + {n}",
    ),
    "columns of different rows": chain("SELECT DISTINCT ", ", ", lambda n: f"d + {n} AS x{n}", " FROM S"),
    "groups of groups": layers("SELECT a, SUM(b) AS b, d, MAX(ts) AS ts FROM {0} GROUP BY a, d"),
    "LAG of LAG": layers("SELECT a, LAG(b) OVER (PARTITION BY d ORDER BY ts) AS b, d, ts FROM {0}"),
    "first rows of first rows": layers(
        "SELECT a, b, d, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY d ORDER BY ts) AS n FROM {0}) r "
        "WHERE n < {1} + 2"
    ),
    "DISTINCT of DISTINCT": layers("SELECT DISTINCT a, b + {1} AS b, d, ts FROM {0}"),
    "LEFT JOIN of LEFT JOIN": layers(
        "SELECT p{1}.a, p{1}.b, p{1}.d, p{1}.ts FROM S p{1} LEFT JOIN {0} ON q{1}.d = p{1}.d AND q{1}.ts = p{1}.ts"
    ),
    "UNION ALL of UNION ALL": layers("SELECT a, b, d, ts FROM {0} UNION ALL SELECT a, b, d, ts FROM T WHERE a > {1}"),
    "conditions on conditions": layers("SELECT a, b + {1} AS b, d, ts FROM {0} WHERE b > {1}"),
    "streams": streams(nothing),
    "relations": chain("SELECT S.a FROM S, ", ", ", lambda n: f"R r{n}"),
    "relations joined": chain("SELECT S.a FROM S", " ", lambda n: f" JOIN R r{n} ON S.a = r{n}.k"),
    "chain of =": streams(chained("=")),
    "chain of <": streams(chained("<")),
    "chain of < , distinct": streams(chained("<"), distinct=True),
    "chain in time": streams(chained("<", "ts")),
    "chain in time and of <": streams(both(chained("<", "ts"), chained("<"))),
    "chain in time and of <, distinct": streams(both(chained("<", "ts"), chained("<")), distinct=True),
    "chain in time and of =, projected": streams(both(chained("<=", "ts"), chained("=")), output="x0.a"),
    "chain in time and of bounds": streams(both(chained("<", "ts"), ranged)),
    "bounds": streams(ranged),
    "chain of bounded": streams(chained("<", "d")),
    "windows": streams(windows),
    "windows and <": streams(both(windows, chained("<"))),
    "windows and <, distinct": streams(both(windows, chained("<")), distinct=True),
    "star of =": streams(starred("=")),
    "star of <": streams(starred("<")),
    "star in time": streams(starred("<", "ts")),
    "star in time and of <": streams(both(starred("<", "ts"), starred("<"))),
    "star in time and of <, distinct": streams(both(starred("<", "ts"), starred("<")), distinct=True),
    "star in time and of bounds": streams(both(starred("<=", "ts"), ranged)),
    "clique of =": streams(every_pair("=")),
    "clique of <": streams(every_pair("<")),
    "clique of <=": streams(every_pair("<=")),
    "clique of <>": streams(every_pair("<>")),
    "clique of <> of bounded": streams(both(every_pair("<>", "d"), chained("<=", "ts"))),
    "clique in time": streams(every_pair("<=", "ts")),
    "joins at random": streams(at_random),
    "joins at random, distinct": streams(at_random, distinct=True),
    "unknown streams": chain("SELECT 1 AS one FROM ", ", ", lambda n: f"U{n}"),
    "one name for many": chain("SELECT 1 AS one FROM ", ", ", lambda n: "S"),
    "a long integer": nested(WHERE + "S.a = ", "9", "", ""),
    "a long decimal": nested(WHERE + "S.e = 0.", "1", "", ""),
    "a long exponent": nested(WHERE + "S.e = 1e", "9", "", ""),
    "long decimals": chain(WHERE, AND, lambda n: f"S.e > 0.{'7' * 30}{n}"),
    "great exponents": chain(WHERE, AND, lambda n: f"S.e < 1e{300 - n % 600}"),
    "a long name": nested(WHERE + "S.", "a", "", "", " = 1"),
    "a long quoted name": nested(WHERE + "S.`", "`` ", "", "", "` = 1"),
    "a long alias": nested("SELECT S.a AS ", "x", "", "", " FROM S"),
    "a long text": nested(WHERE + "S.c = '", "x", "", "", "'"),
    "a text of quotes": nested(WHERE + "S.c = '", "''", "", "", "'"),
    "a text of backslashes": nested(WHERE + "S.c = '", "\\\\", "", "", "'"),
    "a text that nothing closes": nested(WHERE + "S.c = '", "x\n", "", ""),
    "a text of escaped quotes that nothing closes": nested(WHERE + "S.c = '", "''\\'", "", ""),
    "a long path of names": nested("SELECT S", ".a", "", "", " FROM S"),
    "a long comment": nested("-- ", "x", "", "", "\nSELECT S.a FROM S"),
    "many comments": nested("SELECT S.a ", "/* x */", "", "", " FROM S"),
    "many lines of comments": nested("", "-- x\n", "", "", "SELECT S.a FROM S"),
    "comments of templates": nested("", "{# x #}\n", "", "", "SELECT S.a FROM S"),
    "blanks": nested("SELECT S.a", " ", "", "", " FROM S"),
    "lines": nested("SELECT S.a", "\n", "", "", " FROM S"),
    "Windows lines": nested("SELECT S.a", "\r\n", "", "", " FROM S"),
    "semicolons": nested("", ";", "", "", "SELECT S.a FROM S"),
    "semicolons in lines": nested("SELECT S.a FROM S", "\n;", "", ""),
    "commas": nested("SELECT S.a", ",", "", "", " FROM S"),
    "suppressions": nested("", '-- streambound: allow SB201 reason="x"\n', "", "", "SELECT S.a FROM S"),
    "suppressions that are none": nested("", "-- streambound: alow SB201\n", "", "", "SELECT S.a FROM S"),
    "suppressions of statements": repeated(
        '-- streambound: allow SB201 reason="x"\nSELECT T.a FROM S, T WHERE S.ts > T.ts'
    ),
    "a suppression of many codes": chain(
        "-- streambound: allow ", " ", lambda n: "SB201", ' reason="x"\nSELECT S.a FROM S'
    ),
    "names": nested("", "-- name: q\n", "", "", "SELECT S.a FROM S"),
    "one name for many statements": repeated("-- name: q\nSELECT S.a FROM S"),
    "statements": repeated("SELECT S.a FROM S"),
    "wrong statements": repeated("SELECT S.x FROM S"),
    "no statements": repeated("x"),
    "unbounded statements": repeated("SELECT T.a FROM S, T WHERE S.ts > T.ts"),
    "statements with many alternatives": varied(alternatives, 700),
    "statements with many streams": varied(streams(both(chained("<", "ts"), chained("<"))), 250),
    "statements of joins at random": varied(streams(at_random), 300),
    "distinct statements of joins at random": varied(streams(at_random, distinct=True), 300),
    "statements of choices": varied(nested_choices, 400),
    "statements of CTEs": varied(doubling_joins, 400),
    "statements of chains in time": varied(streams(both(chained("<", "ts"), ranged)), 500),
    "noise": noise("SELECT FROM()[]{}'\"`-*/\\;,.=<>\n\t0a\u00e9\u2028\u200b\U0001f600"),
    "noise of signs": noise("()'\"`-*/;, \n"),
    "noise of code points": lambda length, rng: "".join(chr(rng.randrange(1, 0xD800)) for _ in range(length)),
    "bytes": lambda length, rng: rng.randbytes(length // 2).decode("latin-1"),
    "zeros": noise("\0"),
    "control characters": noise("\x01\x1b[31m\x07\x85"),
    "words": words,
    "cut": cut,
}
