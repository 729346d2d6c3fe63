"""The HTML report in headless Chromium: clicked through as a reader would, with no network to lean on."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

import cli
from tests.support.webdriver import Browser, browser, installed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        installed() is None and "CI" not in os.environ,
        reason="no Chromium with chromedriver here: apt-get install chromium chromium-driver",
    ),
]

CATALOG = """
[streams.orders]
timestamp = "ts"
columns = { customer = "bigint", amount = "bigint", ts = "bigint" }
[streams.alerts]
timestamp = "ts"
columns = { customer = "bigint", level = "bigint", ts = "bigint" }
domain.level = [1, 5]
"""
SQL = """
-- name: levels
SELECT a.level FROM orders AS o, alerts AS a WHERE a.ts < o.ts;
-- name: <b>customers</b>
SELECT a.customer FROM orders AS o, alerts AS a WHERE a.ts < o.ts AND 'é漢😀</script>' = '';
-- name: customers_after
SELECT a.customer
FROM orders AS o, alerts AS a WHERE a.ts < o.ts AND o.amount > 3;
-- name: counted
SELECT COUNT(*) FROM orders;
-- name: misspelt
SELECT o.amont FROM orders AS o
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("html")
    (folder / "streams.toml").write_text(CATALOG, encoding="utf-8")
    (folder / "q.sql").write_text(SQL, encoding="utf-8")
    arguments = ["check", str(folder / "q.sql"), "--catalog", str(folder / "streams.toml"), "--no-cache"]
    result = CliRunner().invoke(cli.main, [*arguments, "-o", f"html:{folder / 'report.html'}"])
    assert result.exit_code == 1, result.output
    with browser(folder / "profile") as session:
        session.open((folder / "report.html").as_uri())
        yield session
        assert session.log() == []


def names(page: Browser) -> list[str]:
    return page.texts(".query .title")


def test_every_query_has_its_verdict(page: Browser) -> None:
    page.run("location.hash = ''; document.querySelector('input').value = ''")
    found = dict(zip(page.texts(".query .title"), page.texts(".query .verdict"), strict=True))
    assert [verdict.strip() for verdict in found.values()] == [
        "bounded",
        "bounded",
        "unbounded",
        "unsupported",
        "error",
    ]
    assert page.texts("#shown") == ["5 queries"]
    assert next(iter(found)).startswith("levels")


def test_a_name_and_a_string_are_text_and_no_markup(page: Browser) -> None:
    assert page.texts("#q2 .title") == ["<b>customers</b>"]
    assert page.run("return document.querySelectorAll('.title b').length") == 0


def test_buttons_filter_by_verdict(page: Browser) -> None:
    page.click("[data-verdict=unbounded]")
    assert names(page) == ["customers_after"]
    assert page.texts("#shown") == ["1 of 5 queries"]
    page.click("[data-verdict=error]")
    assert names(page) == ["customers_after", "misspelt"]
    for verdict in ("unbounded", "error"):
        page.click(f"[data-verdict={verdict}]")
    assert len(names(page)) == 5


def test_search_finds_sql_findings_and_nothing_else(page: Browser) -> None:
    for words, found in (("amont", ["misspelt"]), ("SB201 amount", ["customers_after"]), ("nowhere", [])):
        page.type("input[type=search]", words)
        assert names(page) == found
        assert bool(page.texts(".empty")) == (not found)
        page.type("input[type=search]", "\ue00c")  # Escape
        assert len(names(page)) == 5


def test_an_opened_query_shows_marks_repairs_and_drawings(page: Browser) -> None:
    page.click(".query.unbounded > summary")
    assert page.texts(".query.unbounded .source mark") == ["a.customer"]
    assert page.texts(".query.unbounded .finding mark.near") == ['customer = "bigint"']
    assert "without a domain" in " ".join(page.texts(".query.unbounded .finding"))
    assert any(text.startswith("Repair: ") for text in page.texts(".query.unbounded .finding summary"))
    page.run("for (const e of document.querySelectorAll('.query.unbounded .finding details')) e.open = true")
    assert any(text.startswith("+ ") for text in page.texts(".query.unbounded pre .add"))
    sizes = page.run(
        "return [...document.querySelectorAll('.query.unbounded .drawing')]"
        ".map(d => d.shadowRoot.querySelector('svg').getBoundingClientRect().width)"
    )
    assert len(sizes) == 2 and all(size > 50 for size in sizes)
    page.click(".query.unbounded > summary")
    assert page.texts(".query.unbounded .source mark") == []


def test_an_address_opens_its_query(page: Browser) -> None:
    page.run("location.hash = 'q5'")
    page.run("return new Promise(done => setTimeout(done, 50))")
    assert page.texts("#q5 .source mark") == ["o.amont"]


def test_the_page_follows_the_readers_colours_and_loads_nothing(page: Browser) -> None:
    background = "return getComputedStyle(document.body).backgroundColor"
    page.dark(False)
    light = page.run(background)
    page.dark(True)
    dark = page.run(background)
    page.dark(False)
    assert sum(map(int, light[4:-1].split(","))) > 3 * 200 > 3 * 60 > sum(map(int, dark[4:-1].split(",")))
    assert page.run("return performance.getEntriesByType('resource').length") == 0
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
