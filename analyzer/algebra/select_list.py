"""A SELECT's list, GROUP BY, HAVING and QUALIFY: what its expressions name becomes operators below a projection.

SELECT a, SUM(v) / 2 AS h FROM S GROUP BY a HAVING COUNT(*) > 1
->  Project(a, _a1 / 2 AS h)  Filter(_a2 > 1)  Aggregate(keys a; SUM(v) AS _a1, COUNT(*) AS _a2)  Scan(S)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import reduce

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.aggregate_functions import NoAggregate, values_of
from streambound.analyzer.algebra.array_and_struct_aggregates import with_plain_aggregates
from streambound.analyzer.algebra.buckets import BucketCalls, is_bucket
from streambound.analyzer.algebra.calendar_keys import with_calendar_keys
from streambound.analyzer.algebra.calls import Reader, UnreadCall, aggregate_call, is_aggregate_call, window_call
from streambound.analyzer.algebra.distinct_pairs import with_one_argument
from streambound.analyzer.algebra.grouping_sets import MOST_GROUPINGS, groupings, without_parentheses
from streambound.analyzer.algebra.made_columns import is_made, made_column
from streambound.analyzer.algebra.row_expressions import type_of
from streambound.analyzer.algebra.schema import without_added
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.subqueries import Subqueries
from streambound.analyzer.algebra.syntax import null_of
from streambound.analyzer.algebra.window_functions import is_running_count
from streambound.analyzer.codes import Code
from streambound.analyzer.expressions.registry import is_elsewhere, refusal
from streambound.analyzer.findings import Positions
from streambound.analyzer.spans import Span
from streambound.analyzer.toml_reader import suggest
from streambound.analyzer.work import spend

_STEPS_A_TEXT = 80


class SelectList(Struct):
    """Lowers the list of one SELECT; ``node`` is a copy of it, which is changed. Raises Finding.

    ``scalar`` makes expressions, ``item`` the items of a list; ``at`` is the keyword that groups, or filters groups.
    """

    node: exp.Select
    written: exp.Select
    positions: Positions
    subqueries: Subqueries
    scalar: Reader
    item: Callable[[exp.Expr], nodes.Item]
    at: Span | None = None
    as_written: bool = False
    """Several groupings stay one GROUP BY, of all their keys."""
    taken: set[str] = field(default_factory=set)
    numbers: Counter[str] = field(default_factory=Counter)
    """Up to which the names that are made have been given, by what they start with."""
    groupings: list[list[exp.Expr]] = field(default_factory=list)
    """The keys of each grouping, where there are several."""

    def lower(self, tree: nodes.Tree) -> nodes.Tree:
        """The operators of the list over the tree of FROM and WHERE."""
        given = self.subqueries.columns(tree)
        self.taken = {column.name.lower() for column in given}
        items = [self.item(one) for one in self.node.expressions]
        texts = [
            item.value.text if isinstance(item, nodes.Named) else "" for item in items
        ]  # before calls become columns
        for root in list(self._roots()):
            if not self.as_written:
                with_plain_aggregates(root, given)
        self._named_windows()
        keys = self._keys()
        if not (self.groupings or self.as_written):
            keys = with_calendar_keys(keys, given)
        if struct := next((one for one in self.node.expressions if keys and len(_fields(one.unalias())) > 1), None):
            message = "a struct that groups are of is not shown"
            raise self.positions.finding(Code.UNSUPPORTED, message, struct.unalias(), "show its fields")
        self._aliases("having", given)
        self._aliases("qualify", given)
        buckets = BucketCalls(self.positions, self.taken, self.scalar)
        windows = [key for key in keys if is_bucket(key)]
        tree, keys = buckets.lower(self.node, tree, keys)
        if windows and self.groupings:
            self.groupings = [_with_ends(grouping, windows, keys) for grouping in self.groupings]
        if (
            keys
            or self.groupings
            or self.node.args.get("having")
            or any(self._aggregates(one) for one in self._roots())
        ):
            tree = self._aggregate(tree, keys)
        elif not self.node.args.get("having"):
            tree = self.subqueries.applied(tree, list(self._roots()))
        tree = self._over(tree)
        if qualify := self.node.args.get("qualify"):
            tree = nodes.Filter(tree, self.scalar(qualify.this), syntax=qualify)
        known = {(column.alias, column.name) for column in given}
        added = tuple(c for c in self.subqueries.columns(tree) if (c.alias, c.name) not in known)
        made = zip(items, texts, self.node.expressions, strict=True)
        return nodes.Project(tree, tuple(self._made(*one, added) for one in made), syntax=self.written)

    def _made(self, item: nodes.Item, text: str, node: exp.Expr, added: Schema) -> nodes.Item:
        """An item, which was written so, over the operators that were put below it."""
        if isinstance(item, nodes.Star):
            return without_added(item, added)
        inner = node.unalias().unnest()
        value = self.scalar(inner)
        if isinstance(node, exp.Alias) and not item.alias:  # a bucket, which is called as its function
            return nodes.Named(node.alias, value, alias=True)
        return replace(item, value=value, alias=item.alias or value.text != text)

    def _roots(self) -> Iterator[exp.Expr]:
        """The expressions that stand above the groups."""
        yield from self.node.expressions
        for name in ("having", "qualify"):
            if clause := self.node.args.get(name):
                yield clause

    # --- GROUP BY -----------------------------------------------------------------------------------------------------

    def _keys(self) -> list[exp.Expr]:
        """The keys of GROUP BY, with ordinals and aliases replaced by the items of the list."""
        group = self.node.args.get("group")
        if group is None:
            return []
        if group.args.get("all"):
            listed = (one.unalias().copy() for one in self.node.expressions if not self._aggregates(one))
            return [field for one in listed for field in _fields(one)]
        several = groupings(group)
        if several is None and not group.args.get("totals"):
            return [field for key in group.expressions for field in _fields(self._key(key))]
        if several is None or self.subqueries.kept or len(several) > MOST_GROUPINGS:
            word, at = self._called(group)
            of = " in a SEQ block" if self.subqueries.kept else f" of over {MOST_GROUPINGS} groupings"
            of = "" if several is None else of
            help = "write each grouping as a SELECT of its own, and UNION ALL between them"
            raise self.positions.finding(Code.UNSUPPORTED, f"{word}{of} is outside the query language", at, help)
        keys = dict[str, list[exp.Expr]]()
        for key in (key for grouping in several for key in grouping):
            keys.setdefault(key.sql("spark"), _fields(self._key(key)))
        if not self.as_written:
            self.groupings = [[field for key in grouping for field in keys[key.sql("spark")]] for grouping in several]
        return [field for fields in keys.values() for field in fields]

    def _called(self, group: exp.Group) -> tuple[str, Span | exp.Expr]:
        """The name of a GROUP BY with several groupings, and its place."""
        kinds = {
            "ROLLUP": (exp.Rollup, TokenType.ROLLUP),
            "CUBE": (exp.Cube, TokenType.CUBE),
            "GROUPING SETS": (exp.GroupingSets, TokenType.GROUPING_SETS),
        }
        for word, (kind, token) in kinds.items():
            if group.find(kind) is not None:
                return word, self.positions.keyword(token) or self.at or self.written
        return "TOTALS", self.at or self.written

    def _key(self, key: exp.Expr) -> exp.Expr:
        key = without_parentheses(key)
        items = self.node.expressions
        if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit():
            number = int(key.name)
            if not 1 <= number <= len(items):
                message = f"GROUP BY {number} names no item of the select list, which has {len(items)}"
                raise self.positions.finding(Code.UNKNOWN_COLUMN, message, key)
            found = items[number - 1].unalias()
            if self._aggregates(found) or isinstance(found, exp.Star):
                message = f"GROUP BY {number} names an item of the select list that is no value of a row"
                raise self.positions.finding(Code.UNSUPPORTED, message, key)
            return found.copy()  # type: ignore[no-any-return]
        if isinstance(key, exp.Column) and not key.table and key.name.lower() not in self.taken:
            named = next((i for i in items if isinstance(i, exp.Alias) and i.alias.lower() == key.name.lower()), None)
            if named is not None:
                return named.this.copy()  # type: ignore[no-any-return]
        return key.copy()

    def _aliases(self, clause: str, given: Schema) -> None:
        """In HAVING and QUALIFY, names of the select list stand for its items, but inside of aggregates."""
        root = self.node.args.get(clause)
        items = {one.alias.lower(): one.this for one in self.node.expressions if isinstance(one, exp.Alias)}
        if root is None or not items:
            return
        for column in list(_outside(root, (exp.Column,), is_aggregate_call)):
            named = items.get(column.name.lower()) if not column.text("table") else None
            if named is not None and not (clause == "qualify" and column.name.lower() in self.taken):
                column.replace(named.copy() if isinstance(named, exp.Column) else exp.Paren(this=named.copy()))

    def _aggregates(self, node: exp.Expr) -> bool:
        """Whether an expression aggregates its SELECT's rows: not in a subquery of its own, nor over a window."""
        if isinstance(node, exp.Query):
            return False
        if isinstance(node, exp.Window):
            return any(self._aggregates(one) for one in _window_parts(node))
        return is_aggregate_call(node) or any(self._aggregates(one) for one in node.iter_expressions())

    def _aggregate(self, tree: nodes.Tree, written_keys: list[exp.Expr]) -> nodes.Tree:
        inside = [call for root in self._roots() for call in _outside(root, (exp.Expr,)) if is_aggregate_call(call)]
        held, before = [exp.Paren(this=key) for key in written_keys], self.subqueries.columns(tree)
        kinds = {type(key.unnest()) for key in written_keys}
        texts = [_normal(key, before) if key.find(exp.Query) else "" for key in written_keys]
        tree = self.subqueries.applied(tree, [*inside, *held])
        written_keys = [one.this for one in held]
        given = self.subqueries.columns(tree)
        keys, asked, columns = dict[str, str](), dict[str, str](), list[nodes.Named]()
        names = set[str]()
        several = [{_normal(key, given) for key in grouping} for grouping in self.groupings]
        present = [list[bool]() for _ in several]
        marks = dict[str, tuple[str, list[exp.Expr]]]()
        for key, was in zip(written_keys, texts, strict=True):
            text = _normal(key, given)
            if text in keys:
                continue
            for there, grouping in zip(present, several, strict=True):
                there.append(text in grouping)
            plain = isinstance(key, exp.Column) and not several
            name = key.name if plain else self._fresh(self._alias_of(key, given), names, "_g")
            names.add(name.lower())
            keys[text] = "" if plain else name
            asked |= {was: name} if was else {}
            columns.append(nodes.Named(name, self.scalar(key), alias=not plain))
        kinds |= {type(key.unnest()) for key in written_keys}
        calls = dict[str, nodes.AggregateCall]()

        def column_of(node: exp.Expr) -> str | None:
            """The column that a node is, above the groups; empty for a key that keeps its name, None for others."""
            if several and isinstance(node, exp.Grouping | exp.GroupingId):
                text = _normal(node, given)
                if text not in marks:
                    name = self._fresh(self._alias_of(node, given), names, "_g")
                    names.add(name.lower())
                    marks[text] = name, self._grouping(node, [*keys], present, given)
                return marks[text][0]
            if is_aggregate_call(node):
                text = _normal(node, given)
                if text not in calls:
                    name = self._fresh(self._alias_of(node, given), names, "_a")
                    names.add(name.lower())
                    calls[text] = aggregate_call(with_one_argument(node.copy(), given), name, self.scalar)
                    self._check_call(calls[text], node)
                return calls[text].name
            text = _normal(node, given) if type(node.unnest()) in kinds else ""
            return asked.get(text) or keys.get(text)

        for root in list(self._roots()):
            self._replace(root, column_of)
        for root in self._roots():
            self._only_groups(root, columns, given)
        groups = nodes.Aggregate(tree, tuple(columns), tuple(calls.values()), syntax=self.written, at=self.at)
        made: nodes.Tree = groups
        if several:
            each = list[nodes.Tree]()
            for number, there in enumerate(present):
                mine = [one if has else self._absent(one, given) for one, has in zip(columns, there, strict=True)]
                mine += [nodes.Named(name, self.scalar(values[number]), alias=True) for name, values in marks.values()]
                each.append(replace(groups, keys=tuple(mine)))
            made = reduce(lambda one, other: nodes.Union(one, other, False, syntax=self.written, at=self.at), each)
        made = self.subqueries.applied(made, list(self._roots()))
        if having := self.node.args.get("having"):
            made = nodes.Filter(made, self.scalar(having.this), syntax=having)
        return made

    def _absent(self, key: nodes.Named, given: Schema) -> nodes.Named:
        """A key that a grouping has not: NULL of its type."""
        kind = type_of(key.value.syntax, given)[0]
        if kind is None:
            message = "a key of an unknown type is outside ROLLUP, CUBE and GROUPING SETS"
            raise self.positions.finding(Code.UNSUPPORTED, message, key.value.syntax, "cast it")
        return replace(key, value=self.scalar(null_of(kind)))

    def _grouping(self, node: exp.Expr, keys: list[str], present: list[list[bool]], given: Schema) -> list[exp.Expr]:
        """The value of GROUPING (a) or GROUPING_ID (a, b) in each grouping: a bit per key, 1 where it is missing."""
        named = [_normal(one, given) for one in node.expressions] or keys
        if not set(named) <= set(keys):
            message = f"{node.sql('spark')} names what is no key of GROUP BY"
            raise self.positions.finding(Code.UNSUPPORTED, message, node, "name a key")
        places, kind = [keys.index(one) for one in named], "tinyint" if isinstance(node, exp.Grouping) else "bigint"
        values = [int("".join("01"[not there[place]] for place in places), 2) for there in present]
        return [exp.cast(exp.Literal.number(value), kind, dialect="spark") for value in values]

    def _only_groups(self, root: exp.Expr, keys: list[nodes.Named], given: Schema) -> None:
        """Raise a Finding for a column of the rows that is none of their groups."""
        for column in _outside(root, (exp.Column, exp.Star)):
            if isinstance(column, exp.Star):
                if not isinstance(column.parent, exp.Select | exp.Column):
                    continue  # of COUNT(*)
                raise self.positions.finding(Code.UNSUPPORTED, "* is no value of a group of rows", column)
            meant = [found for found in given if found.called(column.name, column.text("table"))]
            grouped = {found for key in keys if not key.alias for found in _called(key.value.syntax, given)}
            if is_made(column) or not meant or any(found in grouped for found in meant):
                continue
            self._known(keys, given)
            call = column.find_ancestor(exp.Anonymous)
            if call is not None and is_elsewhere(call.name.lower()):
                message, help = refusal(call.name.lower(), call.name) or ("", "")
                raise self.positions.finding(Code.UNSUPPORTED, message, call, help)
            message = f"{column.sql('spark')} has no one value in a group of rows"
            raise self.positions.finding(Code.UNSUPPORTED, message, column, "add it to GROUP BY, or aggregate it")

    def _known(self, keys: list[nodes.Named], given: Schema) -> None:
        """Raise a Finding for a key that is no column of the rows."""
        for key in (named.value.syntax for named in keys):
            if isinstance(key, exp.Column) and not any(one.called(key.name, key.text("table")) for one in given):
                message = f"the streams and relations in this FROM have no column {key.name!r}"
                help = suggest(key.name, [one.name for one in given])
                raise self.positions.finding(Code.UNKNOWN_COLUMN, message, key, help)

    def _replace(self, node: exp.Expr, column_of: Callable[[exp.Expr], str | None]) -> None:
        """Put columns in the place of what operators below compute: of a node, or of what it is made of."""
        name = column_of(node)
        if name:
            node.replace(made_column(name, self.positions.of(node)))
        elif name is None and not isinstance(node, exp.Query):
            for part in _window_parts(node) if isinstance(node, exp.Window) else list(node.iter_expressions()):
                self._replace(part, column_of)

    # --- windows ------------------------------------------------------------------------------------------------------

    def _named_windows(self) -> None:
        """``OVER w … WINDOW w AS (…)``  ->  ``OVER (…)``."""
        known = {one.name.lower(): one for one in self.node.args.get("windows") or ()}
        for _ in known:  # one may be made of another
            for node in [*known.values(), *(w for r in self._roots() for w in _outside(r, (exp.Window,)))]:
                base = known.get(node.alias.lower()) if node.args.get("alias") else None
                if base is None:
                    continue
                for part in ("partition_by", "order", "spec"):
                    value = base.args.get(part)
                    if value and not node.args.get(part):
                        node.set(part, [one.copy() for one in value] if isinstance(value, list) else value.copy())
                node.set("alias", base.args["alias"].copy() if base.args.get("alias") else None)
        self.node.set("windows", None)

    def _over(self, tree: nodes.Tree) -> nodes.Tree:
        """The tree with columns for the functions over windows, which are put in their place."""
        given = self.subqueries.columns(tree)
        names = {column.name.lower() for column in given}
        calls, firsts = dict[str, nodes.WindowCall](), list[nodes.WindowCall]()
        first: exp.Expr | None = None

        def column_of(node: exp.Expr) -> str | None:
            nonlocal first
            if not isinstance(node, exp.Window):
                return None
            text = _normal(node, given)
            if text not in calls:
                name = self._fresh(self._alias_of(node, given), names, "_w")
                names.add(name.lower())
                first = first or node.copy()
                try:
                    calls[text] = self._counting_firsts(window_call(node.copy(), name, self.scalar), names, firsts)
                except UnreadCall as unread:
                    code = Code.TYPE_MISMATCH if unread.mismatch else Code.UNSUPPORTED
                    at = node if unread.node is None else unread.node
                    raise self.positions.finding(code, str(unread), at, unread.help) from unread
            return calls[text].name

        for root in list(self._roots()):
            self._replace(root, column_of)
        qualify = self.written.args.get("qualify")
        if not calls:
            at = self.positions.keyword(TokenType.QUALIFY) if qualify else None
            return nodes.Over(tree, (), syntax=self.written, at=at) if qualify else tree
        at = self.positions.of(first or self.written)
        tree = nodes.Over(tree, tuple(firsts), syntax=self.written, at=at) if firsts else tree
        return nodes.Over(tree, tuple(calls.values()), syntax=self.written, at=at)

    def _counting_firsts(
        self, call: nodes.WindowCall, names: set[str], firsts: list[nodes.WindowCall]
    ) -> nodes.WindowCall:
        """A running count of distinct values as that of the rows that are the first with their value, numbered below.

        COUNT(DISTINCT x) OVER (PARTITION BY k ORDER BY ts)  ->  SUM(CASE WHEN _f1 = 1 AND x IS NOT NULL THEN 1 ELSE 0
        END) OVER (PARTITION BY k ORDER BY ts), where _f1 is ROW_NUMBER() OVER (PARTITION BY k, x ORDER BY ts)
        """
        if self.as_written or not is_running_count(call):
            return call
        name = self._fresh("", names, "_f")
        names.add(name.lower())
        (value,) = call.arguments
        firsts.append(
            nodes.WindowCall(name, "ROW_NUMBER", (), (*call.partition, value), call.order, None, syntax=call.syntax)
        )
        is_first = exp.EQ(this=exp.column(name), expression=exp.Literal.number(1))
        there = exp.Not(this=exp.Is(this=exp.paren(value.syntax.copy()), expression=exp.Null()))
        one, zero = (exp.Literal.number(number) for number in (1, 0))
        counted = exp.Case(ifs=[exp.If(this=exp.and_(is_first, there), true=one)], default=zero)
        return replace(call, function="SUM", distinct=False, arguments=(self.scalar(counted),))

    def _check_call(self, call: nodes.AggregateCall, node: exp.Expr) -> None:
        found = values_of(call)
        if isinstance(found, NoAggregate) and found.refused:
            raise self.positions.finding(Code.UNSUPPORTED, found.words, node)

    # --- names --------------------------------------------------------------------------------------------------------

    def _alias_of(self, node: exp.Expr, given: Schema) -> str:
        """The name that the list gives to an expression, if it is one of its items."""
        text = _normal(node, given)
        found = (one for one in self.node.expressions if isinstance(one, exp.Alias))
        return next((one.alias for one in found if _normal(one.this, given) == text), "")

    def _fresh(self, wanted: str, names: set[str], prefix: str) -> str:
        """A name for a column: the wanted one unless there is such a one, or may be, else one that nobody has."""
        if wanted and wanted.lower() not in names and wanted.lower() not in self.taken and not wanted.startswith("_"):
            return wanted
        taken = (names, self.taken, self.subqueries.names)
        while any(f"{prefix}{self.numbers[prefix] + 1}" in some for some in taken):
            self.numbers[prefix] += 1
        return f"{prefix}{self.numbers[prefix] + 1}"


def _fields(key: exp.Expr) -> list[exp.Expr]:
    """The fields of a key that is a struct or a tuple, which groups by them tell apart as well; else the key itself."""
    inner = key.unnest()
    if isinstance(inner, exp.Tuple):
        return [field for one in inner.expressions for field in _fields(one)]
    if isinstance(inner, exp.Anonymous) and inner.name.lower() == "named_struct":
        return [field for one in inner.expressions[1::2] for field in _fields(one)]
    return [key]


def _with_ends(grouping: list[exp.Expr], windows: list[exp.Expr], keys: list[exp.Expr]) -> list[exp.Expr]:
    """A grouping whose windows of time are two of the ``keys`` now."""
    own = [key for key in keys if any(key is one for one in grouping)]
    ends = keys[-2:] if any(key is one for key in grouping for one in windows) else []
    return [*own, *ends]


def _window_parts(node: exp.Window) -> list[exp.Expr]:
    """The expressions that a function over a window is made of: its arguments, its partition and its order."""
    call, parts = node.this, list[exp.Expr]()
    while isinstance(call, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup):
        parts += [one for one in call.iter_expressions() if one is not call.this]
        call = call.this
    parts += [one for one in node.iter_expressions() if one is not node.this and not isinstance(one, exp.WindowSpec)]
    return [*call.iter_expressions(), *parts]


def _outside(
    node: exp.Expr, kind: tuple[type[exp.Expr], ...], stop: Callable[[exp.Expr], bool] = lambda node: False
) -> Iterator[exp.Expr]:
    """The nodes of a kind that are in no subquery, and below nothing at which to stop."""
    if isinstance(node, exp.Query) or stop(node):
        return
    if isinstance(node, kind):
        yield node
    for child in node.iter_expressions():
        yield from _outside(child, kind, stop)


def _called(node: exp.Expr | None, given: Schema) -> Schema:
    return tuple(f for f in given if isinstance(node, exp.Column) and f.called(node.name, node.table))


def _normal(node: exp.Expr, given: Schema) -> str:
    """An expression's text by which equal ones are known: columns by what they are, names in small letters."""
    spend(_STEPS_A_TEXT)
    holder = exp.Paren(this=node.unnest().copy())
    for column in list(holder.find_all(exp.Column)):
        place = next((i for i, found in enumerate(given) if found.called(column.name, column.table)), None)
        if place is not None and column.find_ancestor(exp.Query) is None:
            column.replace(exp.column(f"#{place}"))
        elif place is None:
            column.replace(exp.column(column.name.lower(), column.table.lower() or None))
    for call in holder.find_all(exp.Anonymous):
        call.set("this", call.name.upper())
    return holder.this.sql("spark", comments=False)  # type: ignore[no-any-return]
