"""Buckets of time as Spark has them: Flink's functions by Spark's, and buckets of integers by those of timestamps.

``window(ts, '10 seconds')`` of a BIGINT is one of microseconds here, and no function of Spark's. Its batch SQL is
``window(timestamp_micros(ts), '10 seconds')``, of which ``window.start`` is ``unix_micros(window.start)``.
"""

from __future__ import annotations

from sqlglot import exp, parse_one

from streambound.analyzer.algebra.buckets import FLINK_COLUMNS, TableFunction, is_bucket, table_function
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.columns import Column
from streambound.analyzer.types import Family


def with_spark_buckets(tree: exp.Expr, catalog: Catalog) -> exp.Expr:
    """The statement with all of its buckets made by Spark's functions; equal to ``tree`` where that changes nothing."""
    tree, columns = tree.copy(), _columns_read(tree, catalog)
    for select in list(tree.find_all(exp.Select)):
        group = select.args.get("group")
        keys = [_meant(select, key) for key in (group.expressions if group else ())]
        for place, key in enumerate(keys):
            if isinstance(key, exp.Anonymous) and is_bucket(key):
                integer = _is_integer(key.expressions[0], columns)
                made = _spark_call(key.name, key.expressions, integer)
                for part in [*select.expressions, select.args.get("having")]:
                    _put(part, made.name, integer)
                group.set("expressions", [*keys[:place], made, *keys[place + 1 :]])  # type: ignore[union-attr]
                break
    for table in list(tree.find_all(exp.Table)):
        if (function := table_function(table)) is not None:
            table.replace(_rows(table, function, _is_integer(function.time, columns)))
    return tree


def _meant(select: exp.Select, key: exp.Expr) -> exp.Expr:
    """A key, or the bucket of the select list that it names or numbers."""
    items, item = select.expressions, None
    if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(items):
        item = items[int(key.name) - 1].unalias()
    elif isinstance(key, exp.Column) and not key.table:
        item = next((one.this for one in items if isinstance(one, exp.Alias) and one.alias == key.name), None)
    return item.copy() if isinstance(item, exp.Anonymous) and is_bucket(item) else key


def _put(node: exp.Expr | None, name: str, integer: bool) -> None:
    """Put the ends of the bucket, a key that Spark calls so, in the place of what means them."""
    if node is None or isinstance(node, exp.Query):
        return
    end = _end(node, name)
    if end is None:
        for part in list(node.iter_expressions()):
            _put(part, name, integer)
        return
    values: dict[str, exp.Expr] = {one: exp.column(exp.to_identifier(one), table=name) for one in ("start", "end")}
    if integer:
        values = {one: exp.Anonymous(this="unix_micros", expressions=[value]) for one, value in values.items()}
    match end:
        case "start" | "end":
            meant = values[end]
        case "rowtime":
            meant = exp.Sub(this=values["end"], expression=_microsecond(integer))
        case _:
            ends = [part for one, value in values.items() for part in (exp.Literal.string(one), value)]
            meant = exp.Anonymous(this="named_struct", expressions=ends)
    called = isinstance(node.parent, exp.Select)  # the item's name is that of the field, or of the bucket
    node.replace(exp.alias_(meant, end or name) if called else meant)


def _end(node: exp.Expr, name: str) -> str | None:
    """Which end of the bucket a node means; all of it: empty; None: something else."""
    match node:
        case exp.Anonymous() if node.name.lower() == "window_time" and _end(node.expressions[0], name) == "":
            return "rowtime"
        case exp.Anonymous() if is_bucket(node):
            last = node.name.lower().rpartition("_")[2]
            return last if last in ("start", "end", "rowtime") else ""
        case exp.Dot() if _end(node.this, name) == "":
            return str(node.expression.name).lower()
        case exp.Column() if node.table.lower() == name and node.name.lower() in ("start", "end"):
            return node.name.lower()
        case exp.Column() if not node.table and node.name.lower() == name:
            return ""
    return None


def _spark_call(name: str, given: list[exp.Expr], integer: bool) -> exp.Anonymous:
    """Spark's function that makes the buckets of a function's."""
    kind, (time, *lengths) = name.lower(), given
    match kind, lengths:
        case "tumble", [size, offset]:
            lengths = [size, size, offset]
        case "hop" | "cumulate", [slide, size, *rest]:
            lengths = [size, slide, *rest]
    moment = exp.Anonymous(this="timestamp_micros", expressions=[time.copy()]) if integer else time.copy()
    called = "session_window" if kind.startswith("session") else "window"
    return exp.Anonymous(this=called, expressions=[moment, *(exp.Literal.string(_text(one)) for one in lengths)])


def _rows(table: exp.Table, function: TableFunction, integer: bool) -> exp.Expr:
    """The rows of a table with the ends of their buckets, as a subquery."""
    source, last = function.table.this.sql("spark"), _microsecond(integer).sql("spark")
    start, end, moment = FLINK_COLUMNS
    if function.name == "session":
        query = _sessions(source, function, integer)
    else:
        call = _spark_call(function.name, [function.time, *function.lengths], integer)
        first, after = (f"unix_micros(_w.{one})" if integer else f"_w.{one}" for one in ("start", "end"))
        query = f"SELECT * EXCEPT (_w), {first} AS {start}, {after} AS {end} FROM "
        query += f"(SELECT *, {call.sql('spark')} AS _w FROM {source})"
        if function.name == "cumulate":
            query = _cumulated(query, function, integer)
    query = f"SELECT *, {end} - {last} AS {moment} FROM ({query})"
    given = table.args.get("alias")
    alias = given.copy() if given else exp.TableAlias(this=function.table.this.copy())
    return exp.Subquery(this=parse_one(query, dialect="spark"), alias=alias)


def _cumulated(hopping: str, function: TableFunction, integer: bool) -> str:
    """Of windows that hop by a step those rows that are not before the size began which their last moment is in."""
    start, end, _ = FLINK_COLUMNS
    last = exp.Sub(this=exp.column(end), expression=_microsecond(integer))
    begun = _spark_call("tumble", [last, *function.lengths[1:]], integer).sql("spark")
    first = "unix_micros(_b.start)" if integer else "_b.start"
    query = f"SELECT * EXCEPT ({start}), {begun} AS _b FROM ({hopping})"
    return f"SELECT * EXCEPT (_b), {first} AS {start} FROM ({query}) WHERE {function.time.sql('spark')} >= {first}"


def _sessions(source: str, function: TableFunction, integer: bool) -> str:
    """The rows with their sessions: a row that comes later than the gap after the one before begins one."""
    time, gap = function.time.sql("spark"), _text(function.lengths[0])
    length = f"unix_micros(timestamp_micros(0) + INTERVAL '{gap}')" if integer else f"INTERVAL '{gap}'"
    keys = ", ".join(key.sql("spark") for key in function.keys)
    part = f"PARTITION BY {keys}" if keys else ""
    begun = f"SELECT *, {time} > LAG({time}) OVER ({part} ORDER BY {time}) + {length} AS _begun FROM {source}"
    number = f"COUNT_IF(_begun) OVER ({part} ORDER BY {time}) AS _session"
    one = f"OVER (PARTITION BY {', '.join([*([keys] if keys else []), '_session'])})"
    start, end, _ = FLINK_COLUMNS
    columns = f"MIN({time}) {one} AS {start}, MAX({time}) {one} + {length} AS {end}"
    return f"SELECT * EXCEPT (_begun, _session), {columns} FROM (SELECT *, {number} FROM ({begun}))"


def _text(length: exp.Expr) -> str:
    """A length as Spark's functions take it."""
    if not isinstance(length, exp.Interval):
        return length.name
    unit = length.args.get("unit")
    return f"{length.this.name} {unit.name}" if unit is not None else str(length.this.name)


def _microsecond(integer: bool) -> exp.Expr:
    if integer:
        return exp.Literal.number(1)
    return exp.Interval(this=exp.Literal.string("1"), unit=exp.var("MICROSECOND"))


def _columns_read(tree: exp.Expr, catalog: Catalog) -> list[tuple[Column, bool]]:
    """The columns of the tables that a statement names, and of each whether it is a stream's time."""
    named = {identifier.name.lower() for identifier in tree.find_all(exp.Identifier)}
    tables = [table for table in catalog.tables if table.name.lower() in named]
    return [(column, column.name == table.timestamp) for table in tables for column in table.columns]


def _is_integer(time: exp.Expr, columns: list[tuple[Column, bool]]) -> bool:
    """Whether a time is an integer: as the columns are of which it is made, or else as streams' times are."""
    names = {column.name.lower() for column in time.find_all(exp.Column)}
    kinds = [column.type for column, _ in columns if column.name.lower() in names]
    kinds = kinds or [column.type for column, is_time in columns if is_time]
    return bool(kinds) and all(kind.family is Family.INTEGER for kind in kinds)
