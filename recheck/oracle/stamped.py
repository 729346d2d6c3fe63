"""A statement with a last column that says when each result became true: the largest timestamp among its tuples.

``SELECT S.a FROM S, T WHERE …  ->  SELECT S.a, GREATEST(S.ts, T.ts) AS … FROM S, T WHERE …``, at every level, and on
top the results counted per timestamp; of a set, each result at its first timestamp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable, Kind
from streambound.analyzer.types import Family

TIME, NUMBER = "_ts", "_mult"
_HIDDEN = "_streambound_ts"

_Streams = Mapping[str, DeclaredTable]


def stamped(statement: exp.Expr, catalog: Catalog, columns: Sequence[str]) -> exp.Expr:
    """``columns``, ``_ts`` and ``_mult``: what a statement returns, when, and how often.

    ``columns`` name its select list by position. ``_ts`` is an integer: the timestamp, or microseconds since 1970.
    """
    streams = {table.name.lower(): table for table in catalog.tables if table.kind is not Kind.RELATION}
    body = _query(statement.copy(), streams, frozenset())
    alias = exp.TableAlias(this=_name("q"), columns=[_name(column) for column in (*columns, _HIDDEN)])
    values, time = [exp.column(_name(column)) for column in columns], exp.column(_name(_HIDDEN))
    when: exp.Expr = _first(time) if _is_set(statement) else time
    number: exp.Expr = exp.Literal.number(1) if _is_set(statement) else exp.Count(this=exp.Star())
    groups = values if _is_set(statement) else [*values, time]
    outputs = [*values, exp.alias_(when, TIME), exp.alias_(exp.cast(number, "bigint"), NUMBER)]
    select = exp.Select(expressions=[output.copy() for output in outputs])
    return select.from_(exp.Subquery(this=body, alias=alias)).group_by(*groups)


def _first(time: exp.Expr) -> exp.Expr:
    """The least timestamp; NULL, which is before all of them, where a result needs no stream."""
    timeless = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Count(this=time.copy()))
    return exp.Case().when(timeless, exp.null()).else_(exp.Min(this=time))


def _is_set(statement: exp.Expr) -> bool:
    while isinstance(statement, exp.Subquery | exp.Paren):
        statement = statement.this
    return bool(statement.args.get("distinct"))


def _query(node: exp.Expr, streams: _Streams, ctes: frozenset[str]) -> exp.Expr:
    """A query expression with the hidden column as its last."""
    clause = node.args.get("with_")
    for cte in clause.expressions if clause else ():
        if _reads_streams(cte.this, streams, ctes):
            _named(cte, streams, ctes)
            ctes = ctes | {cte.alias.lower()}
        else:
            ctes = ctes - {cte.alias.lower()}
    if isinstance(node, exp.Select):
        return _select(node, streams, ctes)
    parts = ("this", "expression") if isinstance(node, exp.Union) else ("this",)
    for part in parts:
        node.set(part, _query(node.args[part], streams, ctes))
    return node


def _named(node: exp.Expr, streams: _Streams, ctes: frozenset[str]) -> None:
    """The query of a CTE or of a subquery in FROM, and its list of column names where it has one."""
    node.set("this", _query(node.this, streams, ctes))
    _lengthen(node)


def _lengthen(node: exp.Expr) -> None:
    alias = node.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        alias.append("columns", _name(_HIDDEN))


def _select(node: exp.Select, streams: _Streams, ctes: frozenset[str]) -> exp.Expr:
    entries = [node.args["from_"].this, *(join.this for join in node.args.get("joins") or ())]
    hiding = {_called(entry): _hides(entry, streams, ctes) for entry in entries}
    times = [time for entry in entries for time in _times(entry, streams, hiding[_called(entry)])]
    none = [exp.cast(exp.null(), "bigint") for _ in range(2)]  # GREATEST takes at least two, and ignores NULL
    newest = exp.alias_(exp.func("GREATEST", *none, *times), _name(_HIDDEN))
    node.set("expressions", [*(part for item in node.expressions for part in _shown(item, hiding)), newest])
    return node


def _called(entry: exp.Expr) -> str:
    return str(entry.alias_or_name)


def _hides(entry: exp.Expr, streams: _Streams, ctes: frozenset[str]) -> bool:
    """Whether an entry of FROM has the hidden column: every query that reads streams has, tables have not."""
    if isinstance(entry, exp.Subquery):
        if not _reads_streams(entry.this, streams, ctes):
            return False
        _named(entry, streams, ctes)
        return True
    is_cte = entry.name.lower() in ctes and not entry.args.get("db")
    if is_cte:
        _lengthen(entry)
    return is_cte


def _reads_streams(query: exp.Expr, streams: _Streams, ctes: frozenset[str]) -> bool:
    """Whether a query reads a stream, perhaps through a name that a WITH gave it."""
    return any(table.name.lower() in {*streams, *ctes} for table in query.find_all(exp.Table))


def _times(entry: exp.Expr, streams: _Streams, hides: bool) -> Iterator[exp.Expr]:
    """The application time of an entry's tuples; of a relation there is none."""
    if hides:
        yield exp.column(_name(_HIDDEN), table=_name(_called(entry)))
    elif (stream := streams.get(entry.name.lower())) is not None:
        column = stream.column(str(stream.timestamp))
        cell = exp.column(_name(str(stream.timestamp)), table=_name(_called(entry)))
        moment = column is not None and column.type.family is Family.TIMESTAMP
        yield exp.func("UNIX_MICROS", exp.cast(cell, "timestampltz")) if moment else exp.cast(cell, "bigint")


def _shown(item: exp.Expr, hiding: Mapping[str, bool]) -> Iterator[exp.Expr]:
    """An item of a select list, its ``*`` without the hidden columns."""
    if isinstance(item, exp.Star):
        yield from (_star(called, hides) for called, hides in hiding.items())
    elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        called = next(name for name in hiding if name.lower() == item.table.lower())
        yield _star(called, hiding[called])
    else:
        yield item


def _star(called: str, hides: bool) -> exp.Expr:
    left_out = {"except_": [_name(_HIDDEN)]} if hides else {}
    return exp.Column(this=exp.Star(**left_out), table=_name(called))


def _name(text: str) -> exp.Identifier:
    return exp.to_identifier(text, quoted=True)
