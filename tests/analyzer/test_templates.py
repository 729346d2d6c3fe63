"""Templates of dbt: models that the catalog maps are read where they stand, and nothing else of them is guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound.analyzer.catalog import CatalogNames, catalog_from_mapping, parse_catalog
from streambound.analyzer.errors import CatalogError
from streambound.analyzer.render import render
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.check import Checked, check_source
from streambound.criteria.repairs.repair import with_repairs
from streambound.criteria.vocabulary import Verdict
from support.command_line import call, write
from support.kernel import run_kernel
from support.oracle import Oracle

STREAMS: dict[str, Any] = {
    "streams": {"orders": {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"}}},
    "relations": {"vip": {"columns": {"a": "bigint", "n": "bigint"}}},
}
MODELS = {"stg_orders": "orders", "raw.vips": "VIP", "shop.orders": "orders", "two words": "vip"}
CATALOG = catalog_from_mapping({**STREAMS, "dbt": {"models": MODELS}})
PLAIN = catalog_from_mapping(STREAMS)
ROWS = {
    "orders": [{"a": i % 6, "b": i % 4, "ts": i // 2} for i in range(30)],
    "vip": [{"a": i, "n": i % 2} for i in range(4)],
}


def check(sql: str, catalog: Any = CATALOG) -> Checked:
    (item,) = check_source(SourceText("q.sql", sql), catalog)
    return item


READ = [
    ("SELECT a FROM {{ ref('stg_orders') }} WHERE b = 1", "SELECT a FROM orders WHERE b = 1"),
    ('SELECT stg_orders.a FROM {{ref("stg_orders")}}', "SELECT orders.a FROM orders"),
    ("SELECT o.a FROM{{- ref( 'stg_orders' ) -}}AS o", "SELECT o.a FROM orders AS o"),
    ("SELECT o.a FROM {{ ref('shop', 'orders') }} o", "SELECT o.a FROM orders AS o"),
    ("SELECT n FROM {{ ref('stg_orders') }} JOIN {{ source('raw', \"vips\") }} ON vips.a = stg_orders.a",
     "SELECT n FROM orders JOIN vip ON vip.a = orders.a"),
    ("SELECT v.n FROM {{ ref('two words') }} AS v, {{ ref('stg_orders') }} WHERE v.a = b",
     "SELECT v.n FROM vip AS v, orders WHERE v.a = b"),
    ("{{ config(materialized='table', hook=\"it's; x\") }}\n{# it's; a comment -- #}SELECT a FROM orders\n{# x #}",
     "SELECT a FROM orders"),
    ("WITH s AS (SELECT * FROM {{ ref('stg_orders') }}) SELECT s.a FROM s -- {{ var('x') }} {# y #}\nWHERE s.b > 2",
     "SELECT a FROM orders WHERE b > 2"),
    ("INSERT INTO t SELECT {{ ref('stg_orders') }}.a FROM {{ ref('stg_orders') }}", "SELECT a FROM orders"),
    ("SELECT a FROM (\n  SELECT a, b FROM {{\n  ref('stg_orders')\n}}\n) WHERE b < 3",
     "SELECT a FROM orders WHERE b < 3"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "plain"), READ, ids=[plain for _, plain in READ])
def test_a_model_is_its_stream(sql: str, plain: str) -> None:
    item, oracle = check(sql), Oracle(STREAMS, ROWS)
    assert item.decision is not None, item.diagnostics
    wanted = oracle.prefix_expected(plain)
    assert sum(map(len, wanted.values())) > 0
    assert run_kernel(item.decision, STREAMS, ROWS).printed == wanted
    assert oracle.prefix_expected(item.statement.sql) == wanted
    assert item.statement.source.text == sql


def test_places_are_those_of_the_file() -> None:
    sql = "{{ config(x=1) }}\nSELECT DISTINCT n,\n  nope FROM {{ ref('two words') }} AS v"
    (found,) = check(sql).diagnostics
    assert (sql[found.span.start : found.span.end], found.span.line, found.span.column) == ("nope", 3, 3)
    sql = "SELECT stg_orders.ts FROM {{ ref('stg_orders') }} SORT BY stg_orders.ts"
    (found,) = check(sql).diagnostics
    assert sql[found.span.start : found.span.end] == "SORT BY"
    sql = "SELECT o.a FROM {{ ref('stg_orders') }} AS o, {{ ref('stg_orders') }} AS o"
    (found,) = check(sql).diagnostics
    assert sql[found.span.start : found.span.end] == "{{ ref('stg_orders') }} AS o"


def test_a_repair_calls_a_model_by_its_name() -> None:
    item = with_repairs(check("SELECT DISTINCT b FROM {{ ref('stg_orders') }} WHERE a < 3"))
    assert item.verdict is Verdict.UNBOUNDED
    texts = [fix.sql for found in item.diagnostics for fix in found.fixes]
    assert any("stg_orders.ts DIV 10 AS bucket FROM {{ ref('stg_orders') }} WHERE a < 3" in text for text in texts), (
        texts
    )
    for text in texts:
        assert check(text).verdict is Verdict.BOUNDED


REFUSED = [
    ("SELECT a FROM {{ ref('other') }}", "{{ ref('other') }}", 'models = { other = "…" }'),
    ("SELECT a FROM {{ ref('shop', 'stg_orders') }}", "{{ ref('shop', 'stg_orders') }}", '{ "shop.stg_orders" = "…" }'),
    ("SELECT a FROM {{ source('raw', 'x') }}", "{{ source('raw', 'x') }}", '{ "raw.x" = "…" }'),
    ("SELECT a FROM {{ ref('stg_orders', v=2) }}", "{{ ref('stg_orders', v=2) }}", "dbt compile"),
    ("SELECT a FROM orders {% if x %} WHERE a > 3 {% endif %}", "{% if x %}", "dbt compile"),
    ("SELECT a FROM orders {% if is_incremental() %} WHERE a > 3", "{% if is_incremental() %}", "dbt compile"),
    ("SELECT a FROM orders {% if is_incremental() %}{% if x %}{% endif %}{% endif %}", "{% if is_incremental() %}", ""),
    ('{% set x = "%}\'" %} SELECT a FROM orders', '{% set x = "%}\'" %}', "dbt compile"),
    ("SELECT {{ var('x') }} AS x FROM orders", "{{ var('x') }}", "dbt compile"),
    ("SELECT '{{ var(\"x\") }}' AS x FROM orders", "'{{ var(\"x\") }}'", "dbt compile"),
    ("SELECT '{# x #}' AS x FROM orders", "'{# x #}'", "dbt compile"),
    ("SELECT a FROM orders -- {% if x %}\nWHERE a > 3", "-- {% if x %}", "dbt compile"),
    ("SELECT a FROM orders -- {# on\nWHERE a > 3 -- #}", "-- {# on", "dbt compile"),
    ("SELECT a FROM {{ this }}", "{{ this }}", "dbt compile"),
]


@pytest.mark.parametrize(("sql", "blamed", "help"), REFUSED)
def test_what_is_no_model_is_refused_with_the_way_out(sql: str, blamed: str, help: str) -> None:
    item = check(sql)
    assert item.verdict is Verdict.UNSUPPORTED
    (found,) = item.diagnostics
    assert (found.code, sql[found.span.start : found.span.end]) == ("SB110", blamed)
    assert help in found.help


def test_a_text_without_dbt_is_sql() -> None:
    for sql in (
        "SELECT '{{ x }}' AS x FROM orders",
        "SELECT '{# x #}' AS x FROM orders",
        "SELECT 1 AS x -- {% x %}\nFROM orders",
    ):
        assert check(sql, PLAIN).verdict is Verdict.BOUNDED
    (found,) = check("SELECT a FROM {{ ref('stg_orders') }}", PLAIN).diagnostics
    assert found.code == "SB110"
    assert "stands for no stream" in found.message
    (found,) = check("SELECT a FROM orders {# x #}", PLAIN).diagnostics
    assert found.code == "SB001"


def test_a_template_that_is_never_closed_is_a_syntax_error() -> None:
    for sql in ("SELECT a FROM {{ ref('stg_orders')", "SELECT a FROM orders {% if", "SELECT a FROM orders {# x"):
        (found,) = check(sql).diagnostics
        assert (found.code, found.span.start) == ("SB001", sql.index("{"))


def test_each_statement_has_its_own_templates() -> None:
    known = "FROM {{ ref('stg_orders') }}"
    text = f"SELECT a {known}; SELECT a FROM {{{{ ref('x;y') }}}};\nSELECT nope {known}"
    items = check_source(SourceText("q.sql", text), CATALOG)
    assert [item.verdict.value for item in items] == ["bounded", "unsupported", "error"]
    assert [item.verdict.value for item in check_source(SourceText("q.sql", text), CATALOG, [2])] == ["error"]


def test_a_view_may_read_a_model() -> None:
    text = "CREATE VIEW v AS SELECT a, b FROM {{ ref('stg_orders') }}; SELECT v.a FROM v WHERE v.b = 1"
    item = check_source(SourceText("q.sql", text), CATALOG)[-1]
    assert item.decision is not None
    wanted = Oracle(STREAMS, ROWS).prefix_expected("SELECT a FROM orders WHERE b = 1")
    assert Oracle(STREAMS, ROWS).prefix_expected(item.statement.sql) == wanted
    assert render(item.decision.query).endswith("SELECT stg_orders.a FROM orders AS stg_orders WHERE stg_orders.b = 1")


@pytest.mark.parametrize(
    ("template", "read"),
    [
        ("{% if is_incremental() %} WHERE a > (SELECT MAX(a) FROM {{ this }}) {% endif %}", ""),
        ("{%- if is_incremental() -%} WHERE a > {{ var('x') }} {%- else -%} WHERE b = 1 {%- endif -%}", "WHERE b = 1"),
    ],
)
def test_what_later_runs_of_an_incremental_model_add_is_left_out(template: str, read: str) -> None:
    (item,) = check_source(SourceText("q.sql", f"SELECT a FROM {{{{ ref('stg_orders') }}}} {template}"), CATALOG)
    wanted = Oracle(STREAMS, ROWS).prefix_expected(f"SELECT a FROM orders {read}")
    assert Oracle(STREAMS, ROWS).prefix_expected(item.statement.sql) == wanted


PARTS = ["{{", "}}", "{%", "%}", "{#", "#}", "'", '"', "`", "--", "/*", "*/", "\n", " ", ";", "ref('stg_orders')"]


@given(st.lists(st.sampled_from([*PARTS, "config()", "SELECT a FROM ", "orders"]), max_size=12))
def test_no_text_of_templates_meets_a_defect(parts: list[str]) -> None:
    for models in (MODELS, {}):
        for statement in split_statements(SourceText("q.sql", "".join(parts)), None, CatalogNames(models=models)):
            assert (statement.tree is None) == bool(statement.diagnostics)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('models = { x = "nowhere" }', "the model x must be a stream or a relation of this catalog"),
        ("models = { x = 1 }", "the model x must be a stream or a relation of this catalog"),
        ('model = { x = "S" }', "unknown key 'model'"),
        ("models = 1", "must be a table"),
    ],
)
def test_the_catalog_says_what_models_are(text: str, message: str) -> None:
    with pytest.raises(CatalogError, match=message) as raised:
        parse_catalog(f'[dbt]\n{text}\n[streams.S]\ntimestamp = "ts"\ncolumns = {{ ts = "bigint" }}')
    assert raised.value.line == 2


def test_the_command_line_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    streams = '[streams.orders]\ntimestamp = "ts"\ncolumns = { a = "bigint", ts = "bigint" }\n'
    write(tmp_path, streams + '[dbt]\nmodels = { stg_orders = "orders" }', "streams.toml")
    write(tmp_path, "{{ config() }}\nSELECT a FROM {{ ref('stg_orders') }}")
    assert call("check", "q.sql").exit_code == 0
    report = call("check", "q.sql", "--format", "json").stdout
    write(tmp_path, report, "report.json")
    assert call("recheck", "report.json").exit_code == 0
    assert call("compile", "q.sql").exit_code == 0
    write(tmp_path, "-- streambound: allow SB110 reason=\"later\"\nSELECT a FROM {{ ref('x') }}")
    assert call("check", "q.sql").exit_code == 0


VARIABLES = catalog_from_mapping(
    {**STREAMS, "dbt": {"models": MODELS, "vars": {"most": 3, "day": "2024-01-01", "v": "1" + " + 1" * 9}}}
)


@pytest.mark.parametrize(
    ("sql", "plain"),
    [
        ("{{ ref('stg_orders') }} AS o WHERE b < {{ var('most') }}", "orders AS o WHERE b < 3"),
        ("orders WHERE b < {{ var(\"other\", 2) }} AND a > 1", "orders WHERE b < 2 AND a > 1"),
        ("orders WHERE '{{ var(\"day\") }}' <> '2024-01-02'", "orders WHERE '2024-01-01' <> '2024-01-02'"),
        ("orders WHERE b < {{- var('none', '1') -}}", "orders WHERE b < 1"),
    ],
)  # fmt: skip
def test_variables_have_values_of_the_catalog_or_their_own(sql: str, plain: str) -> None:
    sql, plain = f"SELECT a FROM {sql}", f"SELECT a FROM {plain}"
    (found,), (wanted,) = (
        split_statements(SourceText("q.sql", text), None, VARIABLES.readable) for text in (sql, plain)
    )
    assert found.tree is not None and wanted.tree is not None
    shown = check(sql, VARIABLES), check(plain)
    assert [one.verdict for one in shown] == [Verdict.BOUNDED] * 2
    assert " ".join(found.sql.split()).replace("`orders`", "orders") == plain


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT a FROM orders WHERE b < {{ var('unknown') }}", "the variable unknown has no value"),
        ("SELECT a FROM orders WHERE b < {{ var('most') }}0", "a variable is read whose value is plain"),
        ("SELECT a FROM orders WHERE b < {{ var('day', 'x') }}{{ var('most') }}", "a variable is read whose value"),
        ("SELECT a FROM orders WHERE b < {{ var('v') }}", "a variable is read whose value"),
        ("SELECT a FROM orders WHERE b < {{ var('most') | int }}", "is not read"),
    ],
)
def test_other_variables_are_refused_at_their_place(sql: str, said: str) -> None:
    found = check(sql, VARIABLES)
    assert found.verdict is Verdict.UNSUPPORTED or found.verdict is Verdict.ERROR
    assert any(said in one.message for one in found.diagnostics), found.diagnostics


def test_a_variable_is_a_text_or_a_number() -> None:
    with pytest.raises(CatalogError, match="must be a text or a number"):
        catalog_from_mapping({**STREAMS, "dbt": {"vars": {"x": True}}})
