"""The HTML report in headless Chromium: clicked through as a reader would, with no network to lean on."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from streambound import cli
from support.webdriver import Browser, browser, installed

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
INSERT INTO `<b>customers</b>`
SELECT a.customer FROM orders AS o, alerts AS a WHERE a.ts < o.ts AND 'é漢😀</script>' = '';
-- name: customers_after
SELECT a.customer
FROM orders AS o, alerts AS a WHERE a.ts < o.ts AND o.amount > 3;
-- name: counted
SELECT COLLECT_LIST(customer) FROM orders;
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
    assert {name: verdict.strip() for name, verdict in found.items()} == {
        "levels": "bounded",
        "<b>customers</b>": "bounded",
        "customers_after": "unbounded",
        "counted": "unsupported",
        "misspelt": "error",
    }
    assert page.texts("#shown") == ["5 queries"]


def test_what_needs_attention_comes_first(page: Browser) -> None:
    """Of the two bounded ones that with a warning, which was checked last."""
    assert names(page) == ["misspelt", "customers_after", "counted", "<b>customers</b>", "levels"]
    assert page.texts("#q4 .claim") != [] == page.texts("#q5 .claim")


def test_a_name_and_a_string_are_text_and_no_markup(page: Browser) -> None:
    assert page.texts("#q4 .title") == ["<b>customers</b>"]
    assert page.run("return document.querySelectorAll('.title b').length") == 0


def test_buttons_filter_by_verdict(page: Browser) -> None:
    page.click("[data-verdict=unbounded]")
    assert names(page) == ["customers_after"]
    assert page.texts("#shown") == ["1 of 5 queries"]
    page.click("[data-verdict=error]")
    assert names(page) == ["misspelt", "customers_after"]
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


def test_the_table_of_states_begins_with_the_largest_and_is_sorted_by_a_click(page: Browser) -> None:
    in_table = "#states tbody tr:not([hidden]) a"
    assert page.texts(in_table) == [], "it is closed where a query needs attention"
    page.click(".states > summary")
    largest = page.texts(in_table)
    assert sorted(largest) == ["<b>customers</b>", "customers_after", "levels"] and largest[0] == "customers_after"
    page.click("#states th:nth-child(1) button")
    assert page.texts(in_table) == ["levels", "customers_after", "<b>customers</b>"]
    page.click("#states th:nth-child(1) button")
    assert page.texts(in_table) == ["<b>customers</b>", "customers_after", "levels"]
    page.click("#states th:nth-child(4) button")
    assert page.texts(in_table)[0] == "customers_after" and len(page.texts("#states [aria-sort=descending]")) == 1
    page.type("input[type=search]", "levels")
    assert page.texts(in_table) == ["levels"]
    page.type("input[type=search]", "\ue00c")
    page.click("#states [data-query=q2] a")
    page.run("return new Promise(done => setTimeout(done, 50))")
    assert page.texts("#q2 .source mark") == ["a.customer"]
    page.run("document.querySelector('#q2').open = false")


def test_an_address_opens_its_query(page: Browser) -> None:
    page.run("location.hash = 'q1'")
    page.run("return new Promise(done => setTimeout(done, 50))")
    assert page.texts("#q1 .source mark") == ["o.amont"]


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


# --- at any width -------------------------------------------------------------------------------------------------

WIDTHS = (320, 400, 641, 800, 1000, 1300, 1600)
LONG = "authorisations_of_card_payments_with_the_merchants_answer_and_its_delay"
WORD = "Authorisierungsantwortverzoegerungsstatistik" * 3
LONG_QUERIES = f"""
-- name: {LONG}_then_captures
SELECT a.b FROM {LONG} AS a, {LONG} AS b, {LONG} AS c
WHERE a.ts <= b.ts AND b.ts <= a.ts + 1800 AND b.ts <= c.ts AND c.ts <= b.ts + 1800;
-- name: {WORD}
SELECT a.a FROM {LONG} AS a, {LONG} AS {WORD} WHERE {WORD}.ts > a.ts;
-- name: short
SELECT a.b FROM {LONG} AS a, {LONG} AS b WHERE a.ts <= b.ts AND b.ts <= a.ts + 1800
"""


@pytest.fixture(scope="module")
def long_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Names, paths and bounds that fit in no line."""
    folder = tmp_path_factory.mktemp("long")
    below = folder / LONG / WORD
    below.mkdir(parents=True)
    columns = 'columns = { a = "bigint", b = "bigint", ts = "bigint" }'
    (folder / "streams.toml").write_text(f'[streams.{LONG}]\ntimestamp = "ts"\n{columns}\n', encoding="utf-8")
    (below / "q.sql").write_text(LONG_QUERIES, encoding="utf-8")
    arguments = ["check", str(below / "q.sql"), "--catalog", str(folder / "streams.toml"), "--no-cache"]
    result = CliRunner().invoke(cli.main, [*arguments, "-o", f"html:{folder / 'report.html'}"])
    assert result.exit_code == 1, result.output
    with browser(folder / "profile") as session:
        session.open((folder / "report.html").as_uri())
        session.run("for (const e of document.querySelectorAll('details')) e.open = true")
        yield session


NARROW = """
const parts = [...document.querySelectorAll(".query summary > *, .title, .name small, .query p, .query td")];
return parts.filter((e) => {
  const { width, height } = e.getBoundingClientRect();
  return height > 1.8 * parseFloat(getComputedStyle(e).lineHeight) && width < Math.min(200, innerWidth / 3);
}).map((e) => e.className + ": " + e.textContent);
"""
OUTSIDE = """
const cards = [...document.querySelectorAll(".query")];
return cards.flatMap((card) => [...card.querySelectorAll("summary > *, .title, .name small, p, table, pre, h2")]
  .filter((e) => e.getBoundingClientRect().right > card.getBoundingClientRect().right + 1
    || (e.tagName !== "PRE" && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0))
  .map((e) => e.tagName + " " + e.className + ": " + e.textContent));
"""


@pytest.mark.parametrize("pixels", WIDTHS)
def test_no_text_is_squeezed_or_cut_at_any_width(long_page: Browser, pixels: int) -> None:
    """Whatever takes several lines has room for words in them, and nothing sticks out of its card."""
    long_page.width(pixels)
    assert long_page.run("return innerWidth") == pixels
    assert len(list(filter(None, long_page.texts(".bound")))) == 2
    assert long_page.run(NARROW) == []
    assert long_page.run(OUTSIDE) == []
    assert long_page.run("return document.documentElement.scrollWidth <= innerWidth")
