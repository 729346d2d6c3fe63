"""ORDER BY … LIMIT and DISTINCT ON as row numbers: the first rows of all, or of each key.

SELECT a FROM S ORDER BY v DESC LIMIT 3
->  SELECT a FROM (
      SELECT *, ROW_NUMBER() OVER (ORDER BY _o1 DESC) AS _n FROM (SELECT a, v AS _o1 FROM S)) WHERE _n <= 3

SELECT DISTINCT ON (k) k, a FROM S ORDER BY k, ts DESC
->  … ROW_NUMBER() OVER (PARTITION BY k ORDER BY _o1 DESC) AS _n FROM (SELECT k, a, ts AS _o1 FROM S)) WHERE _n <= 1
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from streambound.analyzer.algebra.calls import is_aggregate_call

_ALIAS = "_rows"


def first_rows(node: exp.Expr, fresh: Callable[[str], str]) -> exp.Select | None:
    """A query that numbers the rows of another one; None for one without an order, or with more than whole numbers.

    ``fresh`` makes a name one that no column has.
    """
    order, distinct = node.args.get("order"), node.args.get("distinct")
    on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
    limits = _limits(node)
    if not isinstance(node, exp.Query) or order is None or limits is None or (on is None) is (limits == (0, None)):
        return None
    inner = node.copy()
    inner.set("order", None)
    inner.set("limit", None)
    inner.set("offset", None)
    if on is not None:
        inner.set("distinct", None)
    columns, named = _OuterColumns(inner, fresh), fresh("_n")
    partition = [columns.outside(one) for one in (on.expressions if isinstance(on, exp.Tuple) else [on] if on else [])]
    keys = [key for one in order.expressions if (key := _sorted(one, columns)).this not in partition]
    if not keys:
        return None
    number = exp.Window(
        this=exp.RowNumber(), partition_by=partition, order=exp.Order(expressions=keys), over="OVER"
    )  # fmt: skip
    skipped, count = (0, 1) if on is not None else limits
    tests: list[exp.Expr] = []
    if skipped:
        tests.append(exp.GT(this=exp.column(named), expression=exp.Literal.number(skipped)))
    if count is not None:
        tests.append(exp.LTE(this=exp.column(named), expression=exp.Literal.number(skipped + count)))
    numbered = exp.Select(expressions=[exp.Star(), exp.alias_(number, named)], from_=_from(inner))
    made = exp.Select(
        expressions=columns.shown(named),
        from_=_from(numbered),
        where=exp.Where(this=exp.and_(*tests, copy=False)),
    )
    made.parent = node.parent
    return made


def _from(rows: exp.Query) -> exp.From:
    return exp.From(this=exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier(_ALIAS))))


def _limits(node: exp.Expr) -> tuple[int, int | None] | None:
    """How many rows are skipped, and how many are shown at most; None where these are no whole numbers."""
    limit, offset = node.args.get("limit"), node.args.get("offset")
    count = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit and limit.expression
    if limit is not None and (limit.args.get("limit_options") or limit.args.get("expressions") or count is None):
        return None
    numbers = [_whole(one) for one in (offset and offset.expression, count)]
    return None if -1 in numbers else (numbers[0] or 0, numbers[1])


def _whole(node: exp.Expr | None) -> int | None:
    """A whole number, -1 for anything else."""
    if node is None:
        return None
    return int(node.name) if isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal() else -1


def _sorted(node: exp.Expr, columns: _OuterColumns) -> exp.Ordered:
    """A key of ORDER BY, over the rows that are numbered."""
    key = node.copy() if isinstance(node, exp.Ordered) else exp.Ordered(this=node.copy(), nulls_first=True)
    key.set("this", columns.outside(key.this))
    return key


class _OuterColumns:
    """The rows of a query as the query around it sees them; ``hidden`` columns are added for what it does not show."""

    def __init__(self, inner: exp.Query, fresh: Callable[[str], str]) -> None:
        self.inner, self.fresh, self.hidden = inner, fresh, list[str]()
        self.is_one = isinstance(inner, exp.Select) and not inner.args.get("distinct")
        self.items = list(inner.selects)
        self.names = {one.alias_or_name.lower() for one in self.items if isinstance(one, exp.Alias | exp.Column)}
        self.shows_all = any(isinstance(one, exp.Star) for one in self.items)

    def outside(self, key: exp.Expr) -> exp.Expr:
        """An expression of ORDER BY, or DISTINCT ON: of the columns that are shown, which it means first, or hidden."""
        key = key.unnest()
        number = _whole(key)
        if number is not None and 0 < number <= len(self.items):
            key = self.items[number - 1].unalias() if self.is_one else key
            named = self.items[number - 1].alias_or_name
            return exp.column(exp.to_identifier(named, quoted=True)) if named else self._hidden(key)
        columns = list(key.find_all(exp.Column))
        shown = all(not one.table and (self.shows_all or one.name.lower() in self.names) for one in columns)
        plain = not any(isinstance(one, exp.Window | exp.Query) or is_aggregate_call(one) for one in key.walk())
        return key.copy() if (shown and plain) or not self.is_one else self._hidden(key)

    def _hidden(self, key: exp.Expr) -> exp.Expr:
        text = key.sql("spark").lower()
        same = next((one for one in self.items if one.unalias().sql("spark").lower() == text), None)
        if same is not None and same.alias_or_name and not isinstance(same, exp.Star):
            return exp.column(exp.to_identifier(same.alias_or_name, quoted=True))
        name = self.fresh(f"_o{len(self.hidden) + 1}")
        self.hidden.append(name)
        self.inner.append("expressions", exp.alias_(key.copy(), name))
        return exp.column(name)

    def shown(self, number: str) -> list[exp.Expr]:
        """The list of the query around: the columns by their names, or all but the number and those that are hidden."""
        named = len(self.names) == len(self.items) and not any(one.is_star for one in self.items)
        if named:
            return [exp.column(exp.to_identifier(one.alias_or_name, quoted=True)) for one in self.items]
        return [exp.Star(except_=[exp.column(name) for name in (*self.hidden, number)])]
