"""Functions that make several rows of one, as UNION ALL of one SELECT for each of them.

FROM S LATERAL VIEW explode(array(a, b)) t AS x
->  FROM (SELECT *, a AS x FROM S UNION ALL SELECT *, b AS x FROM S) AS S, where t.x is S.x

FROM S LATERAL VIEW posexplode(x) t AS i, v WHERE size(x) <= 2
->  FROM (SELECT *, 0 AS i, get(x, 0) AS v FROM S WHERE size(x) > 0
          UNION ALL SELECT *, 1 AS i, get(x, 1) AS v FROM S WHERE size(x) > 1) AS S WHERE size(x) <= 2

So is a call in the select list, and UNNEST and LATERAL in FROM. What reads no column is a source of its own. How many
rows there are at most follows from the call, or from what WHERE says of an array's size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.algebra.constant_rows import union_of
from streambound.analyzer.algebra.row_expressions import type_of
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.calendar_text import parse_date
from streambound.analyzer.codes import Code
from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.elements import parts
from streambound.analyzer.expressions.function import ANY
from streambound.analyzer.expressions.kinds import common
from streambound.analyzer.findings import Finding, Positions

ColumnsOf = Callable[[exp.Expr], Schema]
"""The columns of an entry of FROM."""
_NAMES = frozenset(f"{name}{outer}" for name in ("explode", "posexplode", "inline") for outer in ("", "_outer"))
_GENERATORS = _NAMES | {"stack"}
_SAME_SIZE = ("array_distinct", "array_sort", "sort_array", "reverse", "filter", "transform", "array_compact")
"""Functions whose array is no longer than their first argument."""
_MOST = 64
_LIMIT = "limit it, as explode(slice(x, 1, 10)) or WHERE size(x) <= 10: each row is then at most 10"
_APART = "put the stream and its LATERAL VIEW into a subquery, and join that"


class _Row(Struct, frozen=True):
    """One of the rows that a row becomes: its values, and when it is one; None: always."""

    values: tuple[exp.Expr, ...]
    exists: exp.Expr | None = None


class _Generator(Struct, frozen=True):
    """A call, with the names that it and its columns have; ``outer``: a row that becomes none is one with NULLs."""

    call: exp.Expr
    alias: str
    names: tuple[str, ...]
    outer: bool
    with_place: bool = False
    """Of UNNEST … WITH ORDINALITY: the last column is the place, from 1."""


def may_generate(node: exp.Select) -> bool:
    """Whether a SELECT has such a function."""
    joins = node.args.get("joins") or []
    entries = [join.this for join in joins] + ([node.args["from_"].this] if node.args.get("from_") else [])
    return bool(node.args.get("laterals")) or any(map(_is_source, entries)) or any(map(_listed, node.expressions))


def _is_source(entry: exp.Expr) -> bool:
    if isinstance(entry, exp.Lateral):
        return _is_call(entry.this)
    return isinstance(entry, exp.Unnest) or (isinstance(entry, exp.Table) and _is_call(entry.this, ("range",)))


def _is_call(node: exp.Expr, more: Sequence[str] = ()) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() in (*_GENERATORS, *more)


def _listed(item: exp.Expr) -> bool:
    return _is_call(item.this if isinstance(item, exp.Alias | exp.Aliases) else item)


class Generators(Struct):
    """Rewrites one SELECT. ``columns`` are those of an entry of its FROM, ``fresh`` makes a name that no column has."""

    positions: Positions
    columns: ColumnsOf
    fresh: Callable[[str], str]

    def without(self, written: exp.Select) -> exp.Select:
        """The SELECT without generators; raises Finding where the number of rows has no limit."""
        node = written.copy()
        node.parent = written.parent
        self._list(node)
        waiting = [*self._of_joins(node), *self._of_laterals(node)]
        for place, one in enumerate(waiting):
            alias, owner = one.alias, self._owner(node, one)
            rows = self._rows(node, one, owner)
            names = one.names or self._default_names(one, owner)
            if len(names) != len(rows[0].values):
                message = f"{self._text(one.call)} gives {len(rows[0].values)} columns, and {len(names)} are named"
                raise self._finding(message, one.call, code=Code.UNION_MISMATCH)
            if owner is None:
                self._add_source(node, rows, alias, names)
                continue
            taken = {column.name.lower() for column in self.columns(owner)}
            own = {name: self.fresh(name) if name.lower() in taken else name for name in names}
            mine = self._wrapped(owner, rows, list(own.values()))
            structs = {
                name.lower() for name, value in zip(names, rows[0].values, strict=True) if self._is_struct(value, owner)
            }
            for where in (node, *(later.call for later in waiting[place + 1 :])):
                _rename(where, alias, owner.alias_or_name, own, structs)
            owner.replace(mine)
        return node

    def _finding(self, message: str, at: exp.Expr, help: str = "", code: Code = Code.UNSUPPORTED) -> Finding:
        return self.positions.finding(code, message, at, help)

    def _text(self, node: exp.Expr) -> str:
        """An expression as it is written."""
        return self.positions.text(self.positions.of(node))

    # --- where they stand ---------------------------------------------------------------------------------------------

    def _list(self, node: exp.Select) -> None:
        """Make a LATERAL VIEW of a call in the select list."""
        found = [item for item in node.expressions if _listed(item)]
        if not found:
            return
        grouped = any(node.args.get(name) for name in ("group", "having"))
        if len(found) > 1 or grouped or any(one.find(exp.AggFunc) for one in node.expressions):
            message = "this call makes several rows of one, beside another such call or an aggregate"
            raise self._finding(message, found[-1], "write it in a LATERAL VIEW, or in a subquery in FROM")
        item, alias = found[0], self.fresh("_gen")
        call = item.this if isinstance(item, exp.Alias | exp.Aliases) else item
        shown = [one.name for one in item.expressions] if isinstance(item, exp.Aliases) else []
        shown = [item.alias] if isinstance(item, exp.Alias) else shown
        one = _Generator(call, alias, (), call.name.lower().endswith("_outer"))
        shown = shown or list(self._default_names(one, self._owner(node, one)))
        inner = [self.fresh(f"_{name}") for name in shown]
        columns = [exp.to_identifier(name, quoted=True) for name in inner]
        named = exp.TableAlias(this=exp.to_identifier(alias), columns=columns)
        lateral = exp.Lateral(this=call.copy(), view=True, outer=False, alias=named)
        node.set("laterals", [*(node.args.get("laterals") or []), lateral])
        made = [
            exp.alias_(exp.column(i, alias, quoted=True), s, quoted=True) for i, s in zip(inner, shown, strict=True)
        ]
        _hide(node, inner)
        _put(node, item, made)

    def _of_laterals(self, node: exp.Select) -> list[_Generator]:
        laterals = node.args.pop("laterals", None) or []
        stars = [item for item in node.expressions if isinstance(item, exp.Star)]
        hidden = {column.name for star in stars for column in star.args.get("except_") or []}
        if node.args.get("joins") and stars:  # their columns are the last ones
            lasts = [(lateral.alias, c.name) for lateral in laterals for c in lateral.args["alias"].columns]
            lasts = [(alias, name) for alias, name in lasts if name not in hidden]
            _hide(node, [name for _, name in lasts])
            _put(node, stars[0], [stars[0], *(exp.column(name, alias or None, quoted=True) for alias, name in lasts)])
        return [self._of_entry(lateral, bool(lateral.args.get("outer"))) for lateral in laterals]

    def _of_joins(self, node: exp.Select) -> list[_Generator]:
        """Those in FROM, which are taken out of it."""
        first, found = node.args.get("from_"), list[_Generator]()
        joins = list(node.args.get("joins") or [])
        if len(joins) > 1 and any(_is_source(join.this) for join in joins):
            star = next((item for item in node.expressions if isinstance(item, exp.Star)), None)
            if star is not None:
                message = "* beside rows that a function makes among several joins is outside the query language"
                raise self._finding(message, star, "list the columns")
        if first is not None and _is_source(first.this):
            found.append(self._of_entry(first.this, outer=False))
            node.set("from_", None)
        for join in joins:
            if not _is_source(join.this):
                continue
            on, side = join.args.get("on"), join.side
            plain = on is None or not side or (isinstance(on, exp.Boolean) and on.this)
            if not plain or side in ("RIGHT", "FULL") or join.args.get("using") or join.kind in ("SEMI", "ANTI"):
                message = "a join with rows that a function makes, other than CROSS JOIN or LEFT JOIN … ON TRUE, is"
                raise self._finding(f"{message} outside the query language", join.this, "write the condition in WHERE")
            if on is not None and not side:
                node.where(on.copy(), copy=False)
            found.append(self._of_entry(join.this, side == "LEFT"))
            node.args["joins"] = [one for one in node.args["joins"] if one is not join]
        if node.args.get("from_") is None and node.args.get("joins"):
            joins = node.args["joins"]
            node.set("from_", exp.From(this=joins[0].this))
            node.set("joins", joins[1:])
        return found

    def _of_entry(self, entry: exp.Expr, outer: bool) -> _Generator:
        alias = entry.args.get("alias") or exp.TableAlias()
        names = tuple(column.name for column in alias.args.get("columns") or [])
        place = False
        if isinstance(entry, exp.Unnest):
            (array,) = entry.expressions if len(entry.expressions) == 1 else (None,)
            if array is None:
                raise self._finding("UNNEST of several arrays is outside the query language", entry, _APART)
            place = bool(entry.args.get("offset"))
            counted = entry.args.get("offset")
            names = (*names, counted.name) if isinstance(counted, exp.Identifier) else names
            inline = len(names) - place > 1
            call: exp.Expr = exp.Anonymous(this="inline" if inline else "explode", expressions=[array])
            call.meta.update(array.meta)
        else:
            call = entry.this
        outer = outer or call.name.lower().endswith("_outer")
        return _Generator(call, alias.name or self.fresh("_gen"), names, outer, place)

    def _owner(self, node: exp.Select, one: _Generator) -> exp.Expr | None:
        """The entry of FROM whose columns a call reads; None where it reads none."""
        columns = list(one.call.find_all(exp.Column))
        if not columns or node.args.get("from_") is None:
            return None
        joins = node.args.get("joins") or []
        entries = [node.args["from_"].this, *(join.this for join in joins)]
        names = {entry.alias_or_name.lower(): entry for entry in entries}
        owners = dict[int, exp.Expr]()
        for column in columns:
            found = names.get(column.table.lower()) if column.table else None
            if found is None:
                named = column.table or column.name  # a field of a struct, or a column without an alias
                having = [e for e in entries if any(one.called(named) for one in self.columns(e))]
                found = having[0] if len(having) == 1 else None
            if found is None:
                message = f"no column {self._text(column)} in this FROM, or several"
                raise self._finding(message, column, code=Code.UNKNOWN_COLUMN)
            owners[id(found)] = found
        kept = not any(join.side in ("RIGHT", "FULL") for join in joins)
        kept = kept and not any(join.side == "LEFT" and id(join.this) in owners for join in joins)
        if len(owners) > 1 or not kept:
            message = "a function that makes several rows of what a join gives is outside the query language"
            raise self._finding(message, one.call, _APART)
        return next(iter(owners.values()))

    # --- what they give -----------------------------------------------------------------------------------------------

    def _rows(self, node: exp.Select, one: _Generator, owner: exp.Expr | None) -> list[_Row]:
        """The rows that a row becomes, each of equally many values."""
        name, given = one.call.name.lower().removesuffix("_outer"), list(one.call.expressions)
        if name == "range":
            rows = [_Row((value,)) for value in self._range(one.call)]
        elif name == "stack":
            rows = self._stacked(one.call)
        elif f"{name}_outer" not in _NAMES:
            message = f"{self._text(one.call)} in LATERAL VIEW is outside the query language"
            raise self._finding(message, one.call, "explode, posexplode, inline and stack are known there")
        elif len(given) != 1:
            raise self._finding(f"{name} takes one array", one.call, code=Code.TYPE_MISMATCH)
        else:
            rows = self._elements(node, one, given[0], owner)
            if name == "inline":
                fields = self._fields(one, owner)
                rows = [_Row(tuple(_field(row.values[0], field) for field in fields), row.exists) for row in rows]
            if name == "posexplode" or one.with_place:
                first = 0 if name == "posexplode" else 1
                rows = [_with_place(row, place, name == "posexplode") for place, row in enumerate(rows, first)]
        if len(rows) > _MOST:
            message = f"this makes {len(rows):,} rows of one; at most {_MOST} are looked at"
            raise self._finding(message, one.call, "make it shorter, or make the rows before the stream is read")
        if one.outer and rows and rows[0].exists is not None:
            rows[0] = _outer(rows[0], name == "posexplode" or one.with_place, first_is_place=name == "posexplode")
        if not rows:
            raise self._finding("this makes no row", one.call, code=Code.TYPE_MISMATCH)
        return rows

    def _elements(self, node: exp.Select, one: _Generator, array: exp.Expr, owner: exp.Expr | None) -> list[_Row]:
        """The elements of an array."""
        inner = array.unnest()
        called = inner.name.lower() if isinstance(inner, exp.Anonymous) else ""
        given = inner.expressions
        if called == "array" and given:
            return [_Row((value,)) for value in self._alike(given, owner)]
        if called == "sequence":
            return [_Row((value,)) for value in self._sequence(inner)]
        if called == "array_repeat" and len(given) == 2 and (number := _whole(given[1])) is not None:
            return [_Row((given[0].copy(),))] * number
        kind = type_of(inner, self.columns(owner))[0] if owner is not None else None
        if kind is not None and "element" not in parts(kind):
            message = f"{self._text(inner)} is {kind.with_article}, and rows are made of arrays"
            raise self._finding(message, one.call, "of a map take its keys: explode(slice(map_keys(m), 1, 10))")
        start, most = 0, self._most(node, inner)
        if called == "slice" and len(given) == 3 and (first := _whole(given[1])):
            start, inner = first - 1, given[0]
        if most is None:
            message = f"nothing says how many rows {self._text(one.call)} makes of one at most"
            raise self._finding(message, one.call, _LIMIT)
        return [_element(inner, start + place) for place in range(most)]

    def _alike(self, values: Sequence[exp.Expr], owner: exp.Expr | None) -> list[exp.Expr]:
        """Values of the type that an array of them has."""
        columns = self.columns(owner) if owner is not None else ()
        kinds = [type_of(value, columns)[0] or ANY for value in values]
        kind = common([Folded(None, one) for one in kinds])
        same = ANY in (kind, *kinds) or len(set(kinds)) == 1
        return [value.copy() if same else exp.cast(value.copy(), kind.name, dialect="spark") for value in values]

    def _most(self, node: exp.Select, array: exp.Expr) -> int | None:
        """How many elements an array has at most; None where nothing says so."""
        limits = [found for one in _conditions(node) if (found := _limit(one, array)) is not None]
        if isinstance(array, exp.Anonymous) and array.expressions:
            name, given = array.name.lower(), array.expressions
            if name == "array":
                limits.append(len(given))
            if name in ("slice", "split") and len(given) == 3 and (most := _whole(given[2])):
                limits.append(most)
            if name in (*_SAME_SIZE, "slice") and (most := self._most(node, given[0])) is not None:
                limits.append(most)
        return min(limits, default=None)

    def _sequence(self, call: exp.Expr) -> Iterator[exp.Expr]:
        """The values of a sequence of constants: whole numbers, or days."""
        given = [one.unnest() for one in call.expressions]
        days = [_day(one) for one in given[:2]]
        ends = days if None not in days else [_whole(one) for one in given[:2]]
        step = 1 if len(given) == 2 else _step(given[2], bool(None not in days)) if len(given) == 3 else None
        if len(ends) != 2 or None in ends or not step:
            message = f"the values of {self._text(call)} are not known here"
            raise self._finding(message, call, "write them: explode(array(1, 2, 3))")
        low, high = ends[0] or 0, ends[1] or 0
        step = -step if len(given) == 2 and low > high else step
        for value in range(low, high + (1 if step > 0 else -1), step):
            number = exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))
            if None in days:
                yield number
            else:
                yield exp.cast(exp.Literal.string((date(1970, 1, 1) + timedelta(value)).isoformat()), "date")

    def _range(self, call: exp.Expr) -> Iterator[exp.Expr]:
        given = [_whole(one) for one in call.expressions]
        if not 1 <= len(given) <= 3 or None in given or given[2:] == [0]:
            message = f"the values of {self._text(call)} are not known here"
            raise self._finding(message, call, "write them: VALUES (1), (2), (3)")
        numbers = [one or 0 for one in given]
        for value in range(*(numbers if len(numbers) > 1 else [0, numbers[0]])):
            number = exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))
            yield exp.cast(number, "bigint", dialect="spark")

    def _stacked(self, call: exp.Expr) -> list[_Row]:
        number, values = _whole(call.expressions[0]) if call.expressions else None, call.expressions[1:]
        if not number or not values:
            raise self._finding("stack takes how many rows there are, and their values", call, code=Code.TYPE_MISMATCH)
        width = -(-len(values) // number)
        padded = [*values, *[exp.Null()] * (number * width - len(values))]
        return [_Row(tuple(v.copy() for v in padded[width * row : width * (row + 1)])) for row in range(number)]

    def _fields(self, one: _Generator, owner: exp.Expr | None) -> list[str]:
        """The fields of the structs that an array has."""
        kind = type_of(one.call.expressions[0], self.columns(owner))[0] if owner is not None else None
        element = parts(kind).get("element") if kind is not None else None
        fields = list(parts(element)) if element is not None and element.name.startswith("struct") else []
        if not fields:
            message = f"the fields of {self._text(one.call.expressions[0])} are not known here"
            raise self._finding(message, one.call, "declare its column as array<struct<…>>")
        return fields

    def _is_struct(self, value: exp.Expr, owner: exp.Expr) -> bool:
        kind = type_of(value, self.columns(owner))[0]
        return kind is not None and kind.name.startswith("struct")

    def _default_names(self, one: _Generator, owner: exp.Expr | None) -> tuple[str, ...]:
        """The names that Spark gives to the columns of a call."""
        name = one.call.name.lower().removesuffix("_outer")
        match name:
            case "range":
                found = ["id"]
            case "posexplode":
                found = ["pos", "col"]
            case "inline":
                found = self._fields(one, owner)
            case "stack":
                found = [f"col{place}" for place in range(len(self._stacked(one.call)[0].values))]
            case _:
                found = ["col"]
        return (*found, *(["pos"] if one.with_place else []))

    # --- what becomes of FROM -----------------------------------------------------------------------------------------

    def _add_source(self, node: exp.Select, rows: Sequence[_Row], alias: str, names: Sequence[str]) -> None:
        columns = [exp.to_identifier(name, quoted=True) for name in names]
        selects = [exp.Select(expressions=_named(row.values, names)) for row in rows]
        named = exp.TableAlias(this=exp.to_identifier(alias), columns=columns)
        source = exp.Subquery(this=union_of(selects), alias=named)
        if node.args.get("from_") is None:
            node.set("from_", exp.From(this=source))
        else:
            node.append("joins", exp.Join(this=source, kind="CROSS"))

    @staticmethod
    def _wrapped(entry: exp.Expr, rows: Sequence[_Row], names: Sequence[str]) -> exp.Subquery:
        selects = list[exp.Query]()
        for row in rows:
            select = exp.Select(expressions=[exp.Star(), *_named(row.values, names)], from_=exp.From(this=entry.copy()))
            selects.append(select if row.exists is None else select.where(row.exists.copy(), copy=False))
        return exp.Subquery(
            this=union_of(selects), alias=exp.TableAlias(this=exp.to_identifier(entry.alias_or_name, quoted=True))
        )


def _named(values: Sequence[exp.Expr], names: Sequence[str]) -> list[exp.Expr]:
    return [exp.alias_(value.copy(), name, quoted=True) for value, name in zip(values, names, strict=True)]


def _field(struct: exp.Expr, name: str) -> exp.Expr:
    return exp.Dot(this=struct.copy(), expression=exp.to_identifier(name, quoted=True))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[one.copy() for one in arguments])


def _element(array: exp.Expr, place: int) -> _Row:
    """``get(x, i)`` where ``size(x) > i``."""
    number = exp.Literal.number(place)
    return _Row((_call("get", array, number),), exp.GT(this=_call("size", array), expression=number.copy()))


def _with_place(row: _Row, place: int, before: bool) -> _Row:
    number = exp.Literal.number(place)
    return _Row((number, *row.values) if before else (*row.values, number), row.exists)


def _outer(row: _Row, has_place: bool, first_is_place: bool) -> _Row:
    """The first row, which is there always: its element is NULL where there is none, and so is its place then."""
    values = list(row.values)
    if has_place and row.exists is not None:
        at = 0 if first_is_place else -1
        values[at] = exp.Case(ifs=[exp.If(this=row.exists.copy(), true=values[at])])
    return _Row(tuple(values))


def _whole(node: exp.Expr) -> int | None:
    negative = isinstance(node, exp.Neg)
    literal = node.this if isinstance(node, exp.Neg) else node
    plain = isinstance(literal, exp.Literal) and not literal.is_string and literal.name.isdecimal()
    return (-1 if negative else 1) * int(literal.name) if plain else None


def _day(node: exp.Expr) -> int | None:
    """The number of a DATE constant."""
    text = node.this if isinstance(node, exp.Cast) and node.to.is_type("date") else None
    return parse_date(text.name) if isinstance(text, exp.Literal) and text.is_string else None


def _step(node: exp.Expr, days: bool) -> int | None:
    if not days:
        return _whole(node)
    unit = node.args.get("unit") if isinstance(node, exp.Interval) else None
    of_days = unit is not None and unit.name.upper().rstrip("S") == "DAY"
    return int(node.this.name) if of_days and node.this.name.lstrip("-").isdecimal() else None


def _conditions(node: exp.Select) -> list[exp.Expr]:
    where = node.args.get("where")
    return list(conjuncts(where.this)) if where is not None else []


def _limit(condition: exp.Expr, array: exp.Expr) -> int | None:
    """The most elements of an array for which ``size(x) <= n`` or the like is true."""
    condition = condition.unnest()
    match condition:
        case exp.LTE(this=size, expression=most) | exp.EQ(this=size, expression=most):
            less = 0
        case exp.GTE(this=most, expression=size):
            less = 0
        case exp.LT(this=size, expression=most) | exp.GT(expression=size, this=most):
            less = 1
        case exp.Between():
            size, most, less = condition.this, condition.args["high"], 0
        case _:
            return None
    called = isinstance(size, exp.Anonymous) and size.name.lower() in ("size", "cardinality", "array_size")
    if not called or len(size.expressions) != 1 or _text(size.expressions[0]) != _text(array):
        return None
    number = _whole(most)
    return None if number is None else max(number - less, 1)


def _text(node: exp.Expr) -> str:
    """An expression without the aliases of its columns."""
    copy = exp.Paren(this=node.copy())
    for column in copy.find_all(exp.Column):
        column.set("table", None)
    return copy.sql("spark").lower()


def _rename(node: exp.Expr, alias: str, owner: str, names: dict[str, str], structs: set[str]) -> None:
    """Make columns of a generator those of the entry that it has become a part of."""
    lowered = {name.lower(): own for name, own in names.items()}
    for column in list(node.find_all(exp.Column)):
        if isinstance(column.this, exp.Star):
            if column.table.lower() == alias.lower():
                stars = [exp.column(own, owner, quoted=True) for own in names.values()]
                _put(node, column, stars)
            elif column.table.lower() == owner.lower():
                column.this.set("except_", [*(column.this.args.get("except_") or []), *map(exp.column, names.values())])
            continue
        name, table = column.name.lower(), column.table.lower()
        if name in lowered and table == alias.lower():
            column.set("table", exp.to_identifier(owner, quoted=True))
            if lowered[name] != column.name:
                column.this.set("this", lowered[name])
        elif table in structs and column.text("db").lower() in ("", alias.lower()):
            struct = exp.column(lowered[table], owner, quoted=True)
            struct.this.meta.update(column.args["table"].meta)
            field = exp.Dot(this=struct, expression=column.this.copy())
            shown = isinstance(column.parent, exp.Select) and column.arg_key == "expressions"
            column.replace(exp.alias_(field, column.name, quoted=True) if shown else field)


def _hide(node: exp.Expr, names: Sequence[str]) -> None:
    """Leave columns out of each ``*`` of a select list."""
    for star in node.args["expressions"]:
        if isinstance(star, exp.Star):
            star.set("except_", [*(star.args.get("except_") or []), *map(exp.column, names)])


def _put(node: exp.Expr, item: exp.Expr, items: Sequence[exp.Expr]) -> None:
    """Put items in the place of one in a select list."""
    every = node.args.get("expressions") or []
    node.set("expressions", [new for one in every for new in (items if one is item else [one])])
