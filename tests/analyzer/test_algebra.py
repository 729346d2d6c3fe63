"""The algebra: what SQL names lowers, prints and is read back; what is said of its rows is true of them in DuckDB."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from streambound.analyzer.algebra import verify, verify_types
from streambound.analyzer.algebra.blocks import blocks
from streambound.analyzer.algebra.facts import ViewFacts, ViewKind, facts
from streambound.analyzer.algebra.lowering import Lowering
from streambound.analyzer.algebra.nodes import (
    Join,
    SpjBlock,
    Tree,
    inputs,
)
from streambound.analyzer.algebra.to_sql import to_sql
from streambound.analyzer.algebra.tree_text import tree_text
from streambound.analyzer.algebra.verify import violations
from streambound.analyzer.catalog import load_catalog
from streambound.analyzer.findings import Positions
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from support.cases import catalog, lowered, read_cases
from support.choices import Choices
from support.oracle import Oracle
from support.streams import small_rows
from support.tree_texts import TreeTextError, read_tree

DATA = Path(__file__).parent.parent / "data"
CATALOG = {
    "streams": {
        "S": {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"}},
        "T": {"timestamp": "ts", "columns": {"a": "bigint", "c": "bigint", "ts": "bigint"}},
    },
    "relations": {"R": {"columns": {"a": "bigint", "k": "bigint"}, "rows": 6}},
}
MORE_THAN_A_BLOCK = {
    "SELECT R.k, a FROM R": ViewKind.STATIC,
    "SELECT k, count(*) AS n FROM R GROUP BY k HAVING count(*) > 1": ViewKind.STATIC,
    "SELECT count(*) AS n FROM R": ViewKind.STATIC,
    "SELECT a FROM R EXCEPT SELECT k FROM R": ViewKind.STATIC,
    "SELECT a, k FROM R ORDER BY a, k LIMIT 2": ViewKind.STATIC,
    "SELECT S.a, R.k FROM S LEFT JOIN R ON S.a = R.a": ViewKind.APPEND_ONLY,
    "SELECT S.a FROM S LEFT ANTI JOIN R ON S.a = R.a": ViewKind.APPEND_ONLY,
    "SELECT S.a FROM S LEFT SEMI JOIN T ON S.a = T.a": ViewKind.APPEND_ONLY,
    "SELECT DISTINCT a, b FROM S": ViewKind.APPEND_ONLY,
    "SELECT a FROM S INTERSECT SELECT a FROM T": ViewKind.APPEND_ONLY,
    "SELECT a FROM S EXCEPT SELECT a FROM R": ViewKind.APPEND_ONLY,
    "SELECT a FROM S UNION ALL SELECT c FROM T": ViewKind.APPEND_ONLY,
    "SELECT ts, count(*) AS n FROM S GROUP BY ts": ViewKind.CLOSING,
    "SELECT count(*) AS n, max(b) AS m FROM S": ViewKind.KEYED,
    "SELECT a FROM S ORDER BY b, a LIMIT 1": ViewKind.CHANGING,
    "SELECT S.a, T.c FROM S LEFT JOIN T ON S.a = T.a": ViewKind.CHANGING,
    "SELECT S.a, T.c FROM S RIGHT JOIN T ON S.a = T.a": ViewKind.CHANGING,
    "SELECT S.a, T.c FROM S FULL JOIN T USING (a)": ViewKind.CHANGING,
    "SELECT S.a FROM S LEFT ANTI JOIN T ON S.a = T.a": ViewKind.CHANGING,
    "SELECT a FROM S EXCEPT SELECT a FROM T": ViewKind.CHANGING,
    "SELECT a, count(*) AS n FROM S GROUP BY a": ViewKind.CHANGING,
    "SELECT q.b FROM (SELECT b, row_number() OVER (PARTITION BY a ORDER BY b) AS r FROM S) q WHERE q.r = 1":
        ViewKind.CHANGING,
    "WITH RECURSIVE w(x) AS (SELECT a FROM S UNION SELECT R.k FROM w JOIN R ON R.a = w.x) SELECT x FROM w":
        ViewKind.APPEND_ONLY,
}  # fmt: skip


def trees_of(sql: str, declared: object = None) -> Iterator[Tree]:
    """The trees of the statements that lower, whether or not they are in the query language."""
    known = catalog() if declared is None else load_catalog(declared)  # type: ignore[arg-type]
    for statement in split_statements(SourceText("case.sql", sql)):
        assert statement.tree is not None, sql
        yield Lowering(Positions(statement.source, statement.tokens, statement.before), known).query(statement.tree, {})


def operators(tree: Tree) -> Iterator[Tree]:
    yield tree
    for under in inputs(tree):
        yield from operators(under)


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("catalog") / "streams.toml"
    lines = []
    for kind, tables in CATALOG.items():
        for name, body in tables.items():
            columns = ", ".join(f'{column} = "{type_}"' for column, type_ in body["columns"].items())  # type: ignore[attr-defined]
            time = [f'timestamp = "{body["timestamp"]}"'] if "timestamp" in body else [f"rows = {body['rows']}"]
            lines += [f"[{kind}.{name}]", f"columns = {{ {columns} }}", *time]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_every_query_of_the_language_has_a_sound_tree_that_is_read_back() -> None:
    texts = [case.text for case in read_cases("front_end.cases") if case.expected.startswith("SELECT")]
    seen = 0
    for sql in texts:
        for _, result in lowered(sql):
            assert result.query is not None
            assert result.tree is not None
            for tree in (result.tree, blocks(result.tree, catalog())):
                assert violations(tree, catalog()) == (), sql
                assert read_tree(tree_text(tree)) == tree
            assert isinstance(blocks(result.tree, catalog()), SpjBlock), "what is decided is one block"
            seen += 1
    assert seen > 50


def test_the_corpus_is_blocks() -> None:
    for line in (DATA / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        from streambound import load_catalog as declared_catalog

        known = declared_catalog(case["catalog"])
        (statement,) = split_statements(SourceText("case.sql", case["sql"]))
        assert statement.tree is not None
        tree = Lowering(Positions(statement.source, statement.tokens), known).query(statement.tree, {})
        assert violations(tree, known) == ()
        assert read_tree(tree_text(tree)) == tree
        assert isinstance(blocks(tree, known), SpjBlock)


@pytest.mark.parametrize("sql", MORE_THAN_A_BLOCK)
def test_what_is_not_decided_lowers_as_well(sql: str, declared: Path) -> None:
    (tree,) = trees_of(sql, declared)
    assert violations(tree, load_catalog(declared)) == ()
    assert read_tree(tree_text(tree)) == tree
    marked = blocks(tree, load_catalog(declared))
    assert read_tree(tree_text(marked)) == marked
    assert sum(isinstance(found, SpjBlock) for found in operators(marked)) >= 1
    assert not any(isinstance(under, SpjBlock) for found in operators(marked) if isinstance(found, SpjBlock)
                   for under in operators(found.input))  # fmt: skip


@pytest.mark.parametrize("sql", MORE_THAN_A_BLOCK)
def test_how_a_view_changes_is_what_it_does(sql: str, declared: Path) -> None:
    """Keys, numbers and monotonicity, of each prefix of random streams, by DuckDB."""
    (tree,) = trees_of(sql, declared)
    found = facts(tree, load_catalog(declared))
    assert found.change is MORE_THAN_A_BLOCK[sql]
    retracted = False
    for seed in range(12):
        rows = small_rows(Choices.seeded(seed), CATALOG, 6)
        oracle = Oracle(CATALOG, rows)
        duckdb_sql = sql.replace("LEFT SEMI", "SEMI").replace("LEFT ANTI", "ANTI")
        before: Counter[tuple[object, ...]] = Counter()
        for now in sorted(oracle.timestamps):
            answer = oracle.rows(duckdb_sql, now)
            now_there = Counter(tuple(row.values()) for row in answer)
            _hold(found, answer, len(rows["R"]) <= 6)
            retracted |= bool(before - now_there)
            if found.change is ViewKind.APPEND_ONLY:
                assert not before - now_there, sql
            before = now_there
        if found.change is ViewKind.STATIC:
            assert oracle.rows(duckdb_sql, -1) == oracle.rows(duckdb_sql, None)
    assert not retracted or found.change >= ViewKind.CLOSING
    assert retracted or found.change <= ViewKind.CLOSING, "the random streams show what the fact allows"


def _hold(found: ViewFacts, answer: list[dict[str, object]], few: bool) -> None:
    for key in found.keys:
        named = [tuple(value for name, value in row.items() if name.lower() in key) for row in answer]
        assert len(set(named)) == len(named)
    if found.rows is not None and few:
        assert len(answer) <= found.rows


S, R = "  Scan(table='S', alias='S')", "  Scan(table='R', alias='R')"
WRONG = {
    "a table that is not declared": "Scan(table='Nowhere', alias='n')",
    "recursion outside": "Recur(name='w', alias='w')",
    "recursion by another name":
        f"Fixpoint(name='w', distinct=True)\n  Project(items=['S.a'])\n  {S}\n  Recur(name='v', alias='v')",
    "names of columns, too few": f"Alias(alias='q', columns=['x'])\n{S}",
    "sides of different width": f"Union(distinct=True)\n{S}\n{R}",
    "USING of one side's column": f"Join(kind='inner', using=['name'])\n{S}\n{R}",
    "a session with a slide": f"Bucket(kind='session', time='S.ts', size=5, slide=5)\n{S}",
    "a tumbling window without one": f"Bucket(kind='tumbling', time='S.ts', size=5)\n{S}",
    "a condition over another table": f"Filter(condition='T.a > 1')\n{S}",
    "a join's condition over another table": f"Join(kind='inner', condition='S.a = T.a')\n{S}\n{R}",
    "a key that is not there": f"Aggregate(keys=['S.nothing'], calls=[])\n{S}",
    "an order by what is not there": f"OrderBy(keys=['nothing'])\n{S}",
    "all columns of another table": f"Project(items=['q.*'])\n{S}",
    "a time that is none": f"Bucket(kind='session', time='S.a > 1', size=5)\n{S}",
    "a number of rows that is none": f"FirstRows(count='1.5')\n{S}",
    "a sum of conditions": f"Aggregate(keys=[], calls=['SUM(S.a > 1) AS n'])\n{S}",
    "a value of several columns": f"Apply(kind='scalar', name='_s')\n{S}\n{R}",
    "an operand for two columns": f"Apply(kind='in', name='_s', operands=['S.a'])\n{S}\n{R}",
    "a block with an aggregate in it": f"SpjBlock()\n  Aggregate(keys=['S.a'], calls=[])\n  {S}",
    "a condition that is a number": f"Filter(condition='S.a + 1')\n{S}",
    "sides that have no common type":
        f"Union(distinct=False)\n  Project(items=['S.a'])\n  {S}\n  Project(items=['S.a > 1'])\n  {S}",
}  # fmt: skip
"""Trees that no SQL has, as text."""


def invariants() -> list[str]:
    """What a verifier may say, as patterns: every text that it yields."""
    found = list[str]()
    for module in (verify, verify_types):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            said = [one for one in ast.walk(node) if isinstance(one, ast.JoinedStr | ast.Constant)]
            texts = [one for one in said if isinstance(one, ast.JoinedStr) or isinstance(one.value, str)]
            if isinstance(node, ast.Yield | ast.YieldFrom) and texts:
                parts = texts[0].values if isinstance(texts[0], ast.JoinedStr) else [texts[0]]
                plain = [re.escape(str(one.value)) if isinstance(one, ast.Constant) else ".*" for one in parts]
                found.append("".join(plain))
    return found


@pytest.mark.parametrize("name", WRONG)
def test_a_tree_that_no_sql_has_is_refused(name: str) -> None:
    tree = read_tree(WRONG[name])
    wrong, *_ = violations(tree, catalog())
    assert wrong.startswith(f"{type(tree).__name__}: ") or "recursion" in name, "what is wrong is said of the operator"
    assert sum(re.fullmatch(pattern, wrong) is not None for pattern in invariants()) == 1, wrong


def test_every_invariant_has_a_tree_that_breaks_it() -> None:
    said = [wrong for text in WRONG.values() for wrong in violations(read_tree(text), catalog())]
    assert len(invariants()) > 15
    for pattern in invariants():
        assert any(re.fullmatch(pattern, wrong) for wrong in said), pattern


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nothing()",
        "Scan(table='S')",
        "Scan(table='S', alias='S', at=1)",
        "Filter(condition='a')",
        "Scan(table='S', alias='S')\nScan(table='S', alias='S')",
        "Join(kind='sideways')\n  Scan(table='S', alias='S')\n  Scan(table='S', alias='S')",
        "Filter(condition=",
        "__import__('os')",
    ],
)
def test_a_text_that_is_no_tree_is_refused(text: str) -> None:
    with pytest.raises(TreeTextError):
        read_tree(text)


def test_a_join_in_a_filter_keeps_its_places_out_of_equality() -> None:
    one, other = (next(trees_of(sql)) for sql in ("SELECT a FROM S", "SELECT  a\nFROM S"))
    assert one == other
    assert not isinstance(one, Join)


@pytest.mark.parametrize("sql", MORE_THAN_A_BLOCK)
def test_the_sql_of_a_tree_means_the_same(sql: str, declared: Path) -> None:
    (tree,) = trees_of(sql, declared)
    again, once_more = (to_sql(one).sql("spark") for one in (tree, read_tree(tree_text(tree))))
    assert next(trees_of(again, declared)) is not None, "it is SQL that lowers"
    told = 0
    for seed in range(6):
        oracle = Oracle(CATALOG, small_rows(Choices.seeded(seed), CATALOG, 6))
        answers = [
            Counter(
                tuple(row.values())
                for row in oracle.rows(text.replace("LEFT SEMI", "SEMI").replace("LEFT ANTI", "ANTI"))
            )
            for text in (sql, again, once_more)
        ]
        assert answers[0] == answers[1] == answers[2], again
        told += sum(answers[0].values())
    assert told
