"""How the job reads each stream and relation: Spark SQL for types, encodings, contracts and filters, as Python text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from analyzer.catalog import Column, Kind
from analyzer.closure import FIRST_TIMESTAMP
from analyzer.query import Atom, Attribute, Branch, Comparison, NullTest, Op, Source, conjunction
from analyzer.render import render_formula
from analyzer.spans import Span
from analyzer.types import DataType, Family
from synopsis_exec.emit import Lines, literal
from synopsis_exec.plan_ir import Input, Plan

_LARGEST_PRECISION = 18
"""Decimals of more digits do not fit 64 bits."""
_NOWHERE = Span(0, 0, 1, 1, 1, 1)
_LAST_DAY = 2_932_896
_LAST_MOMENT = 253_402_300_799_999_999
"""9999-12-31 as a day and its last microsecond: what Python and Spark's text formats can hold."""
_FIRST_DAY = -719_162


def source_text(lines: Lines, item: Input, plan: Plan) -> None:
    """Append ``Source(…),`` for one stream or relation."""
    lines.add("Source(")
    with lines.indented():
        lines.add(f"name={literal(item.name)},")
        lines.add(f"schema={literal(_schema(item))},")
        _mapping(lines, "missing", {c.name: f"{c.name} is not {_a(c.type.name)}" for c in item.columns})
        _mapping(lines, "values", {c.name: _encoded(c) for c in item.columns})
        lines.add(f"large={literal(tuple(c.name for c in item.columns if _is_large(c.type)))},")
        lines.add(f"time={literal(item.timestamp)},")
        _mapping(lines, "invalid", _contract(item))
        lines.add(f"useful={literal(_useful(item, plan))},")
        source = item.source
        lines.add(f"format={literal(source.format if source else None)},")
        lines.add(f"path={literal(source.path if source else '')},")
        _mapping(lines, "options", dict(source.options) if source else {})
    lines.add("),")


def _mapping(lines: Lines, name: str, entries: dict[str, str]) -> None:
    pairs = [f"{literal(key)}: {literal(value)}" for key, value in entries.items()]
    lines.call(f"{name}={{", pairs, "},")


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _schema(item: Input) -> str:
    """The columns to parse: those needed, but all of them where a format goes by position."""
    by_name = item.source is None or item.source.format in ("json", "text", "kafka", "parquet", "orc")
    columns = item.columns if by_name else item.declared
    return ", ".join(f"{_quoted(column.name)} {_ddl(column.type)}" for column in columns)


def _ddl(kind: DataType) -> str:
    return "STRING" if kind.family is Family.STRING else kind.name.upper()


def _quoted(name: str) -> str:
    return exp.Identifier(this=name, quoted=True).sql("spark")


def _cell(column: Column) -> str:
    return f"row.{_quoted(column.name)}"


def _precision(kind: DataType) -> int:
    match = re.search(r"\((\d+)", kind.name)
    return int(match.group(1)) if match else 10


def _is_large(kind: DataType) -> bool:
    return kind.family is Family.DECIMAL and _precision(kind) > _LARGEST_PRECISION


def _encoded(column: Column) -> str:
    """The column's value as the kernel takes it."""
    cell = _cell(column)
    match column.type.family:
        case Family.BOOLEAN:
            return f"CAST({cell} AS INT)"
        case Family.DATE:
            return f"unix_date({cell})"
        case Family.TIMESTAMP:
            return f"unix_micros(CAST({cell} AS TIMESTAMP))"
        case Family.FLOAT:
            return f"CAST({cell} AS DOUBLE)"
        case Family.DECIMAL if _is_large(column.type):
            return f"REPLACE(CAST({cell} AS STRING), '.', '')"
        case Family.DECIMAL:
            scale = column.type.scale or 0
            return f"CAST({cell} * {10**scale} AS BIGINT)" if scale else f"CAST({cell} AS BIGINT)"
        case Family.OTHER:
            return f"CASE WHEN {cell} IS NOT NULL THEN 1 END"
    return cell


def _contract(item: Input) -> dict[str, str]:
    """Reason -> condition: what makes a well-formed row unusable."""
    found = {}
    for column in item.columns:
        encoded = _encoded(column)
        if column.name == item.timestamp:
            found[f"{column.name}, the timestamp, is NULL"] = f"{_cell(column)} IS NULL"
            if column.type.family is Family.INTEGER:
                found[f"{column.name} is before 0, where time starts"] = f"{encoded} < 0"
        if column.type.family is Family.DATE:
            condition = f"{encoded} NOT BETWEEN {_FIRST_DAY} AND {_LAST_DAY}"
            found[f"{column.name} is outside the years 1 to 9999"] = condition
        if column.type.family is Family.TIMESTAMP:
            condition = f"{encoded} NOT BETWEEN {FIRST_TIMESTAMP} AND {_LAST_MOMENT}"
            found[f"{column.name} is outside the years 1 to 9999"] = condition
        if column.type.family is Family.FLOAT:
            found[f"{column.name} is NaN"] = f"isnan({_cell(column)})"
        outside = _outside_domain(item, column)
        if outside:
            found[f"{column.name} is outside its domain"] = outside
    return found


def _outside_domain(item: Input, column: Column) -> str:
    domain = column.domain
    if domain is None:
        return ""
    attribute = Attribute("row", column.name)
    if domain.values:
        atoms = [Comparison(attribute, Op.NE, None, value) for value in domain.values]
        return _sql(atoms, item.columns)
    tests = []
    if domain.low is not None:
        tests.append(_sql([Comparison(attribute, Op.LT, None, domain.low)], item.columns))
    if domain.high is not None:
        tests.append(_sql([Comparison(attribute, Op.GT, None, domain.high)], item.columns))
    return " OR ".join(tests)


def _useful(item: Input, plan: Plan) -> str:
    """Whether some branch can use a row at all: the filters of its occurrences there."""
    options = [
        _sql([_on_row(atom) for atom in (*source.times, *_needed(source.filters))], item.columns)
        for branch in plan.branches
        for source in branch.sources
        if source.table == item.name
    ]
    if not options:
        return "FALSE"
    if "TRUE" in options:
        return "TRUE"
    unique = list(dict.fromkeys(options))
    return unique[0] if len(unique) == 1 else " OR ".join(f"({option})" for option in unique)


def _needed(filters: tuple[Atom, ...]) -> list[Atom]:
    """The filters without the IS NOT NULL that a comparison says anyway."""
    compared = {a for atom in filters if isinstance(atom, Comparison) for a in atom.attributes}
    return [f for f in filters if not (isinstance(f, NullTest) and not f.is_null and f.attribute in compared)]


def _on_row(atom: Atom) -> Atom:
    if isinstance(atom, NullTest):
        return NullTest(Attribute("row", atom.attribute.column), atom.is_null)
    right = None if atom.right is None else Attribute("row", atom.right.column)
    return Comparison(Attribute("row", atom.left.column), atom.op, right, atom.offset)


def _sql(atoms: Sequence[Atom], columns: tuple[Column, ...]) -> str:
    """A conjunction over one row, in Spark SQL."""
    if not atoms:
        return "TRUE"
    row = Source("row", "row", Kind.STREAM, columns, None, _NOWHERE)
    branch = Branch((row,), conjunction(tuple(atoms)), (), _NOWHERE)
    tree = render_formula(branch.where, branch)
    for column in tree.find_all(exp.Column):
        column.this.set("quoted", True)
    return tree.sql("spark")


def decoded_type(kind: DataType) -> str:
    """The name of a type for the job's output: how its values are written."""
    if kind.family is Family.DECIMAL:
        return f"decimal:{kind.scale or 0}"
    if kind.family is Family.TIMESTAMP:
        return "timestamp_ntz" if kind.name == "timestamp_ntz" else "timestamp"
    return kind.family.value


def time_type(plan: Plan) -> str:
    """How `_ts` is written: as the first stream's timestamps."""
    first = plan.streams[0]
    return decoded_type(next(c.type for c in first.columns if c.name == first.timestamp))
