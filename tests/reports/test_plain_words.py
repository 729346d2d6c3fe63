"""What fingerprints leave out of a text changes nothing that the parser reads, and all of that is left out."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlglot import exp, parse
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError

from streambound.reports.fingerprint import plain_words, written_words
from support.profiles import examples

OPERATORS = {"OR": 1, "AND": 2, "=": 4, "<": 4, "<>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
CHAINED = ("OR", "AND")


def meaning(sql: str) -> str | None:
    """The syntax tree without parentheses, case and quotes; None for what is no SQL."""
    try:
        (tree,) = parse(sql, dialect="spark")
    except ParseError:
        return None
    return None if tree is None else shape(tree)


def shape(node: exp.Expr) -> str:
    node = node.unnest()
    if isinstance(node, exp.Subquery) and set(filter(node.args.get, node.args)) == {"this"}:
        return shape(node.this)
    if isinstance(node, exp.Identifier):
        return node.name.lower()
    if isinstance(node, exp.And | exp.Or):
        return f"{node.key}({', '.join(map(shape, operands(node, type(node))))})"
    return f"{node.key}({', '.join(f'{key}={part(value)}' for key, value in sorted(node.args.items()) if value)})"


def operands(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    node = node.unnest()
    return [*operands(node.this, kind), *operands(node.expression, kind)] if type(node) is kind else [node]


def part(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(part, value))}]"
    return shape(value) if isinstance(value, exp.Expr) else repr(value)


# --- conditions and queries, written with few and with many parentheses ------------------------------------------


class Written:
    """A tree that can be written with any parentheses beside those that it needs; ``binds`` is how strongly."""

    def __init__(self, binds: int, parts: list[str | tuple[Written, int]]) -> None:
        self.binds, self.parts = binds, parts

    def text(self, draws: list[int]) -> str:
        """With as many redundant pairs around each part as is drawn."""
        return "".join(
            part if isinstance(part, str) else wrapped(part[0].text(draws), (part[0].binds < part[1]) + draws.pop())
            for part in self.parts
        )


def wrapped(text: str, pairs: int) -> str:
    return "(" * pairs + text + ")" * pairs


ATOMS = [
    "S.a",
    "`S`.`b`",
    "1",
    "1.5",
    "'x ( y'",
    "f(S.a, 2)",
    "T.`c d`",
    "`case`",
    "DATE '2020-01-01'",
]


def atom(text: str) -> Written:
    return Written(9, [text])


def combined(parts: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    def binary(left: Written, operator: str, right: Written) -> Written:
        binds = OPERATORS[operator]
        left_least = binds + (binds == 4)
        return Written(binds, [(left, left_least), f" {operator} ", (right, binds + (operator not in CHAINED))])

    return st.one_of(
        st.builds(binary, parts, st.sampled_from([*OPERATORS]), parts),
        st.builds(lambda part: Written(3, ["NOT ", (part, 3)]), parts),
        st.builds(lambda part: Written(7, ["- ", (part, 7)]), parts),
        st.builds(lambda a, b, c: Written(4, [(a, 5), " BETWEEN ", (b, 5), " AND ", (c, 5)]), parts, parts, parts),
        st.builds(lambda a, b: Written(4, [(a, 5), " IN (", (b, 0), ", 3)"]), parts, parts),
        st.builds(lambda a: Written(4, [(a, 5), " IS NOT NULL"]), parts),
        st.builds(lambda a: Written(9, ["g(", (a, 0), ")"]), parts),
    )


CONDITIONS = st.recursive(st.sampled_from(ATOMS).map(atom), combined, max_leaves=6)


@examples(80)
@given(CONDITIONS, CONDITIONS, st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=60, max_size=60))
def test_redundant_parentheses_are_left_out(condition: Written, output: Written, draws: list[int]) -> None:
    query = Written(0, ["SELECT ", (output, 0), " AS x FROM S JOIN T ON ", (condition, 0), " WHERE ", (output, 0)])
    few, many = query.text([0] * 60), query.text(draws)
    assert meaning(few) == meaning(many)
    assert plain_words(few) == plain_words(many)


WORDS = """
( ( ( ) ) ) a `a` b.c 1 - + * = < AND OR NOT BETWEEN IN IS NULL 'x' , SELECT FROM WHERE UNION ALL CASE WHEN THEN END
f( INTERVAL DAY DATE AS `date` `null` `true` TRUE DISTINCT EXISTS DIV LIKE
"""
AROUND = ["SELECT {} FROM S", "SELECT a FROM S WHERE {}", "{}"]


@examples(250)
@given(st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join), st.sampled_from(AROUND))
@example("a BETWEEN 1 AND (b AND c)", "SELECT a FROM S WHERE {}")
@example("a IN ((SELECT 1))", "SELECT a FROM S WHERE {}")
@example("(a) 'x'", "SELECT {} FROM S")
@example("`date` '2020-01-01'", "SELECT {} FROM S")
def test_what_is_left_out_changes_nothing(words: str, around: str) -> None:
    sql = around.format(words)
    written, plain = " ".join(written_words(sql)), " ".join(plain_words(sql))
    if (meant := meaning(written)) is not None and (said := meaning(plain)) is not None:
        assert said == meant


QUERIES = [
    ("(SELECT a FROM S)", "SELECT a FROM S"),
    ("((SELECT a FROM S)) UNION ALL (SELECT a FROM T)", "SELECT a FROM S UNION ALL SELECT a FROM T"),
    (
        "(SELECT a FROM S UNION SELECT a FROM T) UNION SELECT a FROM S",
        "SELECT a FROM S UNION SELECT a FROM T UNION SELECT a FROM S",
    ),
    ("SELECT x.a FROM ((SELECT a FROM S)) x", "SELECT x.a FROM (SELECT a FROM S) x"),
    ("WITH c AS ((SELECT a FROM S)) (SELECT a FROM c)", "WITH c AS (SELECT a FROM S) (SELECT a FROM c)"),
    ("SELECT a FROM S WHERE a IN ((1), ((2)))", "SELECT a FROM S WHERE a IN (1, 2)"),
    ("SELECT (S.`timestamp`), `value` FROM `S`", "SELECT s.timestamp, value FROM S"),
    ("SELECT a FROM S WHERE ts > (b - (INTERVAL '1' DAY))", "SELECT a FROM S WHERE ts > b - INTERVAL '1' DAY"),
    ("SELECT a FROM S WHERE NOT (a = 1)", "SELECT a FROM S WHERE NOT a = 1"),
]


@pytest.mark.parametrize(("one", "other"), QUERIES)
def test_they_are_the_same(one: str, other: str) -> None:
    assert plain_words(one) == plain_words(other)


OTHERS = [
    ("SELECT a FROM S WHERE a BETWEEN 1 AND (2 AND b)", "SELECT a FROM S WHERE a BETWEEN 1 AND 2 AND b"),
    ("SELECT a FROM S WHERE (a = 1 OR b = 2) AND c = 3", "SELECT a FROM S WHERE a = 1 OR b = 2 AND c = 3"),
    ("SELECT a FROM S WHERE NOT (a = 1 AND b = 2)", "SELECT a FROM S WHERE NOT a = 1 AND b = 2"),
    ("SELECT a FROM S WHERE a - (b - 1) > 0", "SELECT a FROM S WHERE a - b - 1 > 0"),
    ("SELECT a FROM S WHERE a IN ((SELECT 1))", "SELECT a FROM S WHERE a IN (SELECT 1)"),
    (
        "(SELECT a FROM S UNION SELECT a FROM T) INTERSECT SELECT a FROM S",
        "SELECT a FROM S UNION SELECT a FROM T INTERSECT SELECT a FROM S",
    ),
    (
        "SELECT a FROM S UNION ALL (SELECT a FROM T UNION SELECT a FROM S)",
        "SELECT a FROM S UNION ALL SELECT a FROM T UNION SELECT a FROM S",
    ),
    ("SELECT `null` FROM S", "SELECT null FROM S"),
    ("SELECT a FROM S WHERE `true`", "SELECT a FROM S WHERE true"),
    ("SELECT `1` FROM S", "SELECT 1 FROM S"),
    ("SELECT `a b` FROM S", "SELECT a b FROM S"),
    ("SELECT (a, b) FROM S", "SELECT a, b FROM S"),
    ("SELECT (INTERVAL '1') day FROM S", "SELECT INTERVAL '1' day FROM S"),
]


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_they_differ(one: str, other: str) -> None:
    assert plain_words(one) != plain_words(other)


PLACES = (
    "SELECT {} FROM S",
    "SELECT a AS {} FROM S",
    "SELECT S.{} FROM S",
    "SELECT a FROM S WHERE {} = 1",
    "SELECT a FROM {}",
    "SELECT a {} FROM S",
    "SELECT a FROM S {}",
    "SELECT {}, b FROM S WHERE {}",
)


@pytest.mark.parametrize("around", PLACES)
def test_a_name_loses_its_backticks_only_where_it_stays_a_name(around: str) -> None:
    for word in sorted(word for word in Spark.Tokenizer.KEYWORDS if word.isidentifier()):
        quoted, bare = around.replace("{}", f"`{word}`"), around.replace("{}", word)
        if plain_words(quoted) == plain_words(bare) and (read := meaning(bare)) is not None:
            assert read == meaning(quoted), word


@pytest.mark.parametrize(
    "sql", ["SELECT a, f(b) FROM S WHERE (a = 1 OR b = 2) AND c IN (1, 2) -- x", "((a", "a))", "`a"]
)
def test_a_text_without_them_is_the_words_as_written(sql: str) -> None:
    if "`" not in sql:
        assert list(plain_words(sql)) == written_words(sql)
