"""What needs attention first is shown first, in HTML and Markdown; the text of a check stays in order of the files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from streambound import cli

CATALOG = "".join(
    f'[streams.{name}]\ntimestamp = "ts"\ncolumns = {{ a = "bigint", ts = "bigint" }}\n' for name in ("S", "T")
)
OLDER = "FROM S, T WHERE S.ts > T.ts"
QUERIES = {
    "bounded_1": "SELECT S.a FROM S",
    "warned": "SELECT S.a FROM S WHERE S.a = 1 AND S.a > 3",
    "bounded_2": "SELECT T.a FROM T",
    "grouped": "SELECT S.a, COLLECT_LIST(S.a) AS n FROM S GROUP BY S.a",
    "accepted": f'-- streambound: allow SB201 reason="known"\nSELECT T.a {OLDER}',
    "unbounded_1": f"SELECT T.a {OLDER}",
    "unknown": f"SELECT 1 AS one {OLDER} AND S.a = T.a UNION ALL SELECT 1 AS one {OLDER} AND S.a <> T.a",
    "misspelt": "SELECT S.b FROM S",
    "unbounded_2": f"SELECT T.a {OLDER} AND T.a > 3",
}
EXPECTED = [
    "misspelt", "unbounded_1", "unbounded_2", "accepted", "unknown", "grouped", "warned", "bounded_1", "bounded_2",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attention")
    (folder / "streams.toml").write_text(CATALOG, encoding="utf-8")
    text = ";\n".join(f"-- name: {name}\n{sql}" for name, sql in QUERIES.items())
    (folder / "q.sql").write_text(text, encoding="utf-8")
    outputs = [part for name in ("html", "markdown", "text") for part in ("-o", f"{name}:{folder / name}")]
    arguments = ["check", "--no-cache", "--catalog", str(folder / "streams.toml"), *outputs, str(folder / "q.sql")]
    assert CliRunner().invoke(cli.main, arguments).exit_code == 1
    return folder


def _first_found(pattern: str, text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(pattern, text, flags=re.M)))


def test_html_and_markdown_begin_with_what_needs_attention(folder: Path) -> None:
    assert _first_found(r'class="title">([^<]+)<', (folder / "html").read_text(encoding="utf-8")) == EXPECTED
    shown = [name.replace("\\", "") for name in _first_found(r"^#### ([^:]+):", (folder / "markdown").read_text())]
    assert shown == [name for name in EXPECTED if not name.startswith("bounded")]


def test_markdown_has_a_table_of_states_the_largest_first(tmp_path: Path) -> None:
    (tmp_path / "streams.toml").write_text(CATALOG.replace('ts"\n', 'ts"\nmax_per_timestamp = 2\n'), encoding="utf-8")
    window = "FROM S, T WHERE S.ts BETWEEN T.ts AND T.ts +"
    queries = {"small": f"SELECT T.a {window} 9", "no": f"SELECT T.a {OLDER}", "large": f"SELECT T.a {window} 999"}
    text = ";\n".join(f"-- name: {name}\n{sql}" for name, sql in queries.items())
    (tmp_path / "q.sql").write_text(text, encoding="utf-8")
    arguments = ["check", "--catalog", str(tmp_path / "streams.toml"), "--format", "markdown", str(tmp_path / "q.sql")]
    shown = CliRunner().invoke(cli.main, arguments).output
    assert re.findall(r"^\| (\w+) \| \w*bounded \| (.*) \| (.*) \|$", shown, flags=re.M) == [
        ("no", "no limit", ""), ("large", "1,998", "52 kB"), ("small", "18", "468 B"),
    ]  # fmt: skip


def test_the_text_is_in_order_of_the_file(folder: Path) -> None:
    verdicts = r"^(\w+): (?:bounded|unbounded|unknown|unsupported|error)"
    assert _first_found(verdicts, (folder / "text").read_text(encoding="utf-8")) == list(QUERIES)
