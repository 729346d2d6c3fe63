"""How the job reads each stream and relation: Spark SQL for types, encodings, contracts and filters, as Python text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from streambound.analyzer.catalog import Column, OnViolation
from streambound.analyzer.query import Atom, Attribute, Comparison, NullTest, Op
from streambound.analyzer.types import DataType, Family
from streambound.synopsis_exec import reasons
from streambound.synopsis_exec.arrival_text import arrival_text, mark, mark_columns, part
from streambound.synopsis_exec.cells_text import cells_text
from streambound.synopsis_exec.emit import Lines, literal
from streambound.synopsis_exec.layout import laid_out, listing
from streambound.synopsis_exec.plan_ir import Input, Plan
from streambound.synopsis_exec.row_sql import cell, condition, encoded, is_large, quoted
from streambound.synopsis_exec.useful import useful


def source_text(lines: Lines, item: Input, plan: Plan) -> None:
    """Append ``Source(…),`` for one stream or relation."""
    lines.add("Source(")
    with lines.indented():
        lines.add(f"name={literal(item.name)},")
        lines.add(f"schema={literal(_schema(item.declared, _json_type))},")
        _mapping(lines, "missing", {c.name: reasons.not_of_type(c) for c in item.declared})
        _mapping(lines, "values", {c.name: encoded(c) for c in item.columns})
        lines.add(f"large={literal(tuple(c.name for c in item.columns if is_large(c.type)))},")
        _mapping(lines, "slots", _slots(item))
        lines.add(f"time={literal(item.timestamp)},")
        _mapping(lines, "invalid", _contract(item))
        lines.add(f"useful={literal(_useful(item, plan))},")
        source = item.source
        lines.add(f"format={literal(source.format if source else None)},")
        lines.add(f"path={literal(source.path if source else '')},")
        _mapping(lines, "options", dict(source.options) if source else {})
        if source and source.payload:
            lines.add(f"payload={literal(source.payload)},")
        if metadata := _metadata(item):
            lines.lines += laid_out(
                listing([listing(list(map(literal, told))) for told in metadata]), lines.depth, "metadata=", ","
            )
        if typed := _typed(item):
            lines.add(f"typed={literal(typed)},")
        if item.rows is not None:
            lines.add(f"most={item.rows},")
        if item.max_per_timestamp is not None:
            lines.add(f"per_timestamp={item.max_per_timestamp},")
        if item.on_violation is OnViolation.STOP:
            lines.add("stops=True,")
        arrival_text(lines, item)
        cells_text(lines, item, plan)
    lines.add("),")


def _slots(item: Input) -> dict[str, str]:
    """Column -> the kind of its values, and a number among the stream's columns of that kind."""
    seen: Counter[str] = Counter()
    slots = {}
    for column in item.columns:
        if item.timestamp is not None and column.name != item.timestamp:
            texts = column.type.family is Family.STRING or is_large(column.type)
            kind = "text" if texts else "float" if column.type.family is Family.FLOAT else "integer"
            slots[column.name] = f"{kind}_{seen[kind]}"
            seen[kind] += 1
    return slots


def _mapping(lines: Lines, name: str, entries: dict[str, str]) -> None:
    pairs = [f"{literal(key)}: {literal(value)}" for key, value in entries.items()]
    lines.call(f"{name}={{", pairs, "},")


def _schema(columns: Iterable[Column], ddl: Callable[[DataType], str]) -> str:
    return ", ".join(f"{quoted(column.name)} {ddl(column.type)}" for column in columns)


def _metadata(item: Input) -> tuple[tuple[str, str, str], ...]:
    """Columns that are not in the payload, the source's columns that they are, and their types."""
    kinds = {column.name: own_type(column.type) for column in item.declared}
    return tuple((name, theirs, kinds[name]) for name, theirs in item.source.metadata) if item.source else ()


def _typed(item: Input) -> str:
    """The schema of a format that has types of its own, or goes by position; empty for lines of JSON."""
    if item.source is None or item.source.payload:
        return ""
    if item.source.format == "csv":
        return _schema(item.declared, _text_type)
    readable = (c for c in item.declared if c.type.family is not Family.OTHER or c in item.columns)
    return _schema(readable, own_type)


def own_type(kind: DataType) -> str:
    """A type as Spark writes it; texts of limited length are strings."""
    return "STRING" if kind.family is Family.STRING else kind.name.upper()


def _text_type(kind: DataType) -> str:
    """The type that text is parsed as; of nested and other types only that something is there matters."""
    return "STRING" if kind.family is Family.OTHER else own_type(kind)


def _json_type(kind: DataType) -> str:
    """As `_text_type`; but Spark cuts a JSON number to the 8 bits of a TINYINT, whatever it is."""
    return "INT" if kind.name in reasons.TINY else _text_type(kind)


def _contract(item: Input) -> dict[str, str]:
    """Reason -> condition: what makes a well-formed row unusable, whichever columns the query uses."""
    told_by = item.arrival.mark.column if item.arrival.mark else None  # whose value of a punctuation is none of a row
    needed = {column.name for column in item.declared} if told_by is None else {*mark_columns(item)} - {told_by}
    return {
        reason: broken if column.name in needed else f"NOT {mark(item)} AND ({broken})"
        for column in item.declared
        for reason, broken in _conditions(item, column)
    }


def _conditions(item: Input, column: Column) -> Iterator[tuple[str, str]]:
    text, value, family = cell(column), encoded(column), column.type.family
    if column.name == item.timestamp:
        yield reasons.without_time(column), f"{text} IS NULL"
        if family is Family.INTEGER:
            yield reasons.too_early(column), f"{value} < 0"
    if column.type.name in reasons.TINY:
        yield reasons.out_of_range(column), f"{text} NOT BETWEEN -128 AND 127"
    if family is Family.STRING and (_typed(item) or column.name in {told[0] for told in _metadata(item)}):
        yield reasons.not_utf8(column), f"NOT is_valid_utf8({text})"
    if family is Family.DATE:
        yield reasons.outside_years(column), f"{value} NOT BETWEEN {reasons.FIRST_DAY} AND {reasons.LAST_DAY}"
    if family is Family.TIMESTAMP:
        ends = f"{reasons.FIRST_MOMENT} AND {reasons.LAST_MOMENT}"
        yield reasons.outside_years(column), f"{value} NOT BETWEEN {ends}"
    if family is Family.FLOAT:
        yield reasons.not_a_number(column), f"isnan({text})"
    if outside := _outside_domain(item, column):
        yield reasons.outside_domain(column), outside
    partitions = item.arrival.partitions
    if partitions is not None and partitions.column == column.name:
        yield reasons.no_partition(column), f"({part(item)}) IS NULL"


def _outside_domain(item: Input, column: Column) -> str:
    domain = column.domain
    if domain is None:
        return ""
    attribute = Attribute("row", column.name)
    if domain.values:
        atoms = [Comparison(attribute, Op.NE, None, value) for value in domain.values]
        return condition(atoms, item.declared)
    tests = []
    if domain.low is not None:
        tests.append(condition([Comparison(attribute, Op.LT, None, domain.low)], item.declared))
    if domain.high is not None:
        tests.append(condition([Comparison(attribute, Op.GT, None, domain.high)], item.declared))
    return " OR ".join(tests)


def _useful(item: Input, plan: Plan) -> str:
    """Whether some branch can use a row at all: the filters of its occurrences there that no row can break.

    The kernel makes all checks, and exactly. An offset between two columns could exceed their type in Spark.
    """
    options = [condition(list(map(_on_row, atoms)), item.columns) for atoms in useful(item, plan)]
    if not options:
        return "FALSE"
    if "TRUE" in options:
        return "TRUE"
    unique = list(dict.fromkeys(options))
    return unique[0] if len(unique) == 1 else " OR ".join(f"({option})" for option in unique)


def _on_row(atom: Atom) -> Atom:
    if isinstance(atom, NullTest):
        return NullTest(Attribute("row", atom.attribute.column), atom.is_null)
    right = None if atom.right is None else Attribute("row", atom.right.column)
    return Comparison(Attribute("row", atom.left.column), atom.op, right, atom.offset)


def decoded_type(kind: DataType) -> str:
    """The name of a type for the job's output: how its values are written."""
    if kind.family is Family.DECIMAL:
        return f"decimal:{kind.scale or 0}"
    if kind.family is Family.TIMESTAMP:
        return "timestamp_ntz" if kind.name == "timestamp_ntz" else "timestamp"
    return kind.family.value


def time_type(plan: Plan) -> str:
    """How `_ts` is written: as the first stream's timestamps."""
    return decoded_type(plan.time_type)
