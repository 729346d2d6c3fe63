"""The catalog: named cases, with the line and remedy of every error, and mappings that nobody meant as a catalog."""

import contextlib
import sys
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streambound.analyzer.catalog import (
    MAX_ITERATIONS,
    Catalog,
    Column,
    Counters,
    Kind,
    OnViolation,
    catalog_from_mapping,
    find_catalog,
    load_catalog,
    parse_catalog,
)
from streambound.analyzer.errors import CatalogError
from streambound.analyzer.spans import Excerpt
from streambound.analyzer.toml_lines import toml_lines
from streambound.analyzer.types import Family, parse_type
from streambound.analyzer.values import decode, encode_toml
from streambound_runtime.promises import KEPT_BY_DEFAULT, STRICT
from support.cases import Case, read_cases

CASES = read_cases("catalog.cases")


def described(text: str) -> str:
    """A catalog, or what is wrong with it and where."""
    try:
        catalog = parse_catalog(text)
    except CatalogError as error:
        assert error.exit_status == 2
        return f"{error.where} {error.message}" + (f"\nhelp: {error.remedy}" if error.remedy else "")
    lines = [f"queries {', '.join(catalog.queries)}"] if catalog.queries else []
    lines += [f"counters {catalog.counters}"] if catalog.counters is not Counters.BIGINT else []
    lines += [f"max_iterations {catalog.max_iterations}"] if catalog.max_iterations != MAX_ITERATIONS else []
    lines += [f"quarantine {catalog.quarantine}"] if catalog.quarantine != KEPT_BY_DEFAULT else []
    lines += [f"sink {sink}" for sink in catalog.sinks]
    for table in catalog.tables:
        lines.append(f"{_line(table.at)}: {table.kind} {table.name}")
        for name in ("timestamp", "max_per_timestamp", "rows", "period", "source"):
            if getattr(table, name) is not None:
                lines.append(f"  {name} {getattr(table, name)}")
        lines += [f"  max_rate {table.max_rate!r}"] if table.max_rate is not None else []
        if table.changes is not None:
            told = table.changes
            hidden = ", ".join(f"{column.name} {column.type.name}" for column in (told.timestamp, told.op))
            values = f" {told.insert!r} {told.delete!r}"
            lines.append(f"  changes {told.format}: {hidden}{values}, key {', '.join(told.key) or 'none'}")
        lines += [f"  {one}" for one in table.punctuations]
        if table.arrival != STRICT:
            lines.append(f"  arrival {table.arrival}")
        lines += [f"  on_violation {table.on_violation}"] if table.on_violation is not OnViolation.QUARANTINE else []
        lines.extend(
            f"  {_line(column.at)}: {column.name} {column.type.name}{_domain(column)}" for column in table.columns
        )
    return "\n".join(lines)


def _line(place: Excerpt | None) -> int:
    return place.span.line if place else 0


def _domain(column: Column) -> str:
    domain = column.domain
    if domain is None:
        return ""
    if domain.values:
        shown = ", ".join(decode(value, column.type) for value in domain.values)
        return f" in {{{shown}}} (line {_line(column.domain_at)})"
    assert domain.low is not None and domain.high is not None
    return (
        f" in [{decode(domain.low, column.type)}, {decode(domain.high, column.type)}] (line {_line(column.domain_at)})"
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    assert described(case.text) == case.expected


def test_names_are_case_insensitive() -> None:
    catalog = parse_catalog('[streams.Late]\ntimestamp = "ts"\ncolumns = { Aa = "bigint", ts = "bigint" }')
    table = catalog.table("lATE")
    assert table is not None and table.name == "Late" and table.kind is Kind.STREAM
    column = table.column("aA")
    assert column is not None and column.name == "Aa"
    assert catalog.table("other") is None and table.column("other") is None


# --- finding and reading the file ---------------------------------------------------------------------------


def test_the_nearest_catalog_upwards_is_found(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "streams.toml").write_text("")
    assert find_catalog(tmp_path / "a" / "b") == tmp_path / "streams.toml"
    (tmp_path / "a" / "streams.toml").write_text("")
    assert find_catalog(tmp_path / "a" / "b") == tmp_path / "a" / "streams.toml"


def test_no_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_file", lambda _: False)
    with pytest.raises(CatalogError, match=r"no streams\.toml in") as caught:
        find_catalog(tmp_path)
    assert "--catalog" in caught.value.remedy


def test_an_unreadable_catalog(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="cannot read the catalog: No such file"):
        load_catalog(tmp_path / "streams.toml")
    (tmp_path / "streams.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(CatalogError, match="not UTF-8"):
        load_catalog(tmp_path / "streams.toml")


def test_a_byte_order_mark_is_no_part_of_the_catalog(tmp_path: Path) -> None:
    (tmp_path / "streams.toml").write_bytes(b'\xef\xbb\xbf[relations.R]\r\ncolumns = { a = "bigint" }\r\n')
    assert load_catalog(tmp_path / "streams.toml").names == ("R",)


@pytest.mark.parametrize("text", ["a = " + "9" * 5000, "a = " + "[" * 5000, "\ud800"])
def test_what_breaks_the_parser(text: str) -> None:
    sys.set_int_max_str_digits(4300)  # a command run before in this process may have raised it
    with pytest.raises(CatalogError, match="not TOML"):
        parse_catalog(text)


def test_lines_of_windows_files() -> None:
    text = '[relations.R]\r\ncolumns = { a = "bigint" }\r\n\r\nrows = -1\r\n'
    with pytest.raises(CatalogError) as caught:
        parse_catalog(text, "c.toml")
    assert caught.value.where == "c.toml:4:1"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("streams",), 2),
        (("streams", "S"), 2),
        (("streams", "S", "columns", "a"), 3),
        (("streams", "S", "columns", "b c"), 3),
        (("streams", "S", "domain", "a"), 4),
        (("streams", "q.r"), 6),
        (("streams", "q.r", "timestamp"), 7),
    ],
)
def test_toml_lines(path: tuple[str, ...], line: int) -> None:
    text = '# c\n[streams.S]\ncolumns = { a = "x", "b c" = "y" }\ndomain . a = [1]\n\n[streams."q.r"]\ntimestamp = "t"'
    assert toml_lines(text)[path] == line


# --- types and values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "family", "discrete"),
    [
        ("TINYINT", Family.INTEGER, True),
        ("long", Family.INTEGER, True),
        ("boolean", Family.BOOLEAN, True),
        ("timestamp_ntz", Family.TIMESTAMP, True),
        ("date", Family.DATE, True),
        ("numeric(5)", Family.DECIMAL, True),
        ("decimal( 9 , 2 )", Family.DECIMAL, True),
        ("decimal", Family.DECIMAL, False),
        ("float", Family.FLOAT, False),
        ("varchar(10)", Family.STRING, False),
        ("array<int>", Family.OTHER, False),
        ("struct<a: int, b: string>", Family.OTHER, False),
        ("interval day to second", Family.OTHER, False),
    ],
)
def test_types(name: str, family: Family, discrete: bool) -> None:
    kind = parse_type(name)
    assert kind is not None and kind.family is family and kind.discrete is discrete


@pytest.mark.parametrize("name", ["", "bigit", "int64", "decimal(x)", "big int", "varchar(", "a" * 5000])
def test_no_types(name: str) -> None:
    assert parse_type(name) is None


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (-3, "bigint", "-3"),
        (True, "boolean", "TRUE"),
        (1.5, "decimal(9,2)", "1.50"),
        (-0.05, "decimal(9,2)", "-0.05"),
        (7, "decimal(9,0)", "7"),
        (2.5, "decimal", "2.5"),
        (0.1, "double", "0.1D"),
        (date(2020, 2, 29), "date", "DATE '2020-02-29'"),
        (datetime(2020, 2, 29, 1, 2, 3, 400), "timestamp", "TIMESTAMP '2020-02-29 01:02:03.000400'"),
        ("it's \\ here", "string", "'it\\'s \\\\ here'"),
    ],
)
def test_values_there_and_back(value: object, kind: str, text: str) -> None:
    type_ = parse_type(kind)
    assert type_ is not None
    assert decode(encode_toml(value, type_), type_) == text


# --- mappings that nobody meant as a catalog ----------------------------------------------------------------

KEYS = st.sampled_from(
    [
        "queries",
        "streams",
        "relations",
        "timestamp",
        "columns",
        "max_per_timestamp",
        "max_rate",
        "per",
        "domain",
        "source",
        "rows",
        "period",
        "format",
        "path",
        "options",
        "S",
        "R",
        "a",
        "A",
        "ts",
        "bigint",
    ]
) | st.text(max_size=3)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["bigint", "timestamp", "ts", "a", "decimal(3,1)", "boolean", "date", "json"])
    | st.text(max_size=4)
    | st.dates()
    | st.datetimes()
    | st.times()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
TABLES = st.fixed_dictionaries(
    {
        "columns": st.fixed_dictionaries({"a": st.sampled_from(["bigint", "double", "date", "boolean", "decimal"])})
        | VALUES
    },
    optional=dict.fromkeys(("timestamp", "domain", "rows", "max_per_timestamp", "max_rate", "source", "period"), VALUES)
    | {"domain": st.fixed_dictionaries({"a": st.lists(SCALARS, max_size=3)}), "timestamp": st.just("a")},
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=3) | st.fixed_dictionaries(
    {}, optional={"streams": st.fixed_dictionaries({"S": TABLES}), "relations": st.fixed_dictionaries({"R": TABLES})}
)


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS)
@example({"relations": {"R": {"columns": {"a": "double"}, "domain": {"a": [float("inf"), 1]}}}})
@example({"relations": {"R": {"columns": {"a": "date"}, "domain": {"a": [time(1), 1]}}}})
@example({"relations": {"R": {"columns": {"a": "bigint"}, "domain": {"a": [10**5000, 1]}}}})
def test_only_catalog_errors_escape(document: dict[str, object]) -> None:
    try:
        catalog = catalog_from_mapping(document)
    except CatalogError as error:
        assert error.line is not None and error.message
    else:
        assert isinstance(catalog, Catalog)
        assert len(catalog.tables) == len(document.get("streams", {})) + len(document.get("relations", {}))  # type: ignore[arg-type]


@pytest.mark.parametrize("build", [parse_catalog])
@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from("[]{}=\".,\n'#aSts 1"), max_size=40))
def test_no_text_breaks_the_reader(build: Callable[[str], Catalog], text: str) -> None:
    with contextlib.suppress(CatalogError):
        build(text)
    toml_lines(text)
