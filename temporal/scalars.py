"""Expressions of a SEQ block: what may stand in them, and their text over the columns of an operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from streambound.analyzer.codes import Code
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.registry import refusal
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.spans import Span

AGGREGATES = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
_WITHOUT_PARENTHESES = ("current_", "local")
"""What functions of the clock and the session start with that have a syntax of their own."""
_EFFECTS = frozenset({"raise_error", "assert_true", "aes_encrypt", "sleep"})
"""Functions that do something, or give another value each time, beside those that the registry knows."""
_UNORDERED = ("map<", "variant")
_MAPS = frozenset({
    "map", "map_concat", "map_filter", "map_from_arrays", "map_from_entries", "map_zip_with", "str_to_map",
    "transform_keys", "transform_values", "parse_json", "try_parse_json", "to_variant_object",
})  # fmt: skip
"""Functions whose values are maps or variants."""
_NO_ORDER = "a snapshot is a bag of rows: order and limit them outside of the block"


def refusals(query: exp.Expr, positions: Positions, own: Sequence[str] = ()) -> None:
    """Raise a Finding for the first construct of a query that has no meaning at a point of time.

    ``own`` are functions that Spark has not.
    """
    found = [
        positions.finding(Code.UNSUPPORTED, message, _place(at, positions), help)
        for node in query.walk()
        if not (isinstance(node, exp.Anonymous) and node.name.lower() in own)
        for message, help, at in _refused(node, positions)
    ]
    if found:
        raise min(found, key=lambda finding: finding.diagnostic.span)


def _place(node: exp.Expr, positions: Positions) -> Span:
    """Where a construct is; a function without parentheses is a keyword, whose place the parser does not keep."""
    kind = getattr(TokenType, node.sql_name(), None) if isinstance(node, exp.Func) else None
    found = positions.keyword(kind) if kind is not None else None
    return found or positions.of(node)


def _refused(node: exp.Expr, positions: Positions) -> Iterator[tuple[str, str, exp.Expr]]:
    match node:
        case exp.Window():
            yield "a window function is outside of what a SEQ block can evaluate", "", node
        case exp.Order() if not isinstance(node.parent, exp.Window):
            yield "ORDER BY in a SEQ block has no meaning", _NO_ORDER, node
        case exp.Limit() | exp.Fetch() | exp.Offset():
            yield f"{node.key.upper()} in a SEQ block has no meaning", _NO_ORDER, node
        case exp.Group() if node.args.get("all") or any(node.args.get(k) for k in ("rollup", "cube", "grouping_sets")):
            yield "GROUPING SETS, ROLLUP, CUBE and ALL are outside of what a SEQ block can evaluate", "", node
        case exp.Version():
            yield "a version of a table (… AS OF) has no meaning in a SEQ block", "write SEQ VT AS OF x ( … )", node
        case exp.Parameter() | exp.Placeholder():
            yield "a parameter is outside the query language", "", node
        case exp.Star() if not _is_of_list(node):
            help = "list the columns: in a snapshot there are no others, such as periods"
            yield "* as an argument is outside of what a SEQ block can evaluate", help, node
        case exp.Where() | exp.Join() | exp.Group():
            rows = node.args.get("on") if isinstance(node, exp.Join) else node
            if rows is not None and (aggregate := next(_aggregates(rows), None)) is not None:
                yield "an aggregate has no value before rows are grouped", "HAVING is a condition for groups", aggregate
        case exp.Func() if not isinstance(node, AGGREGATES):
            yield from _refused_call(node)


def _is_of_list(star: exp.Star) -> bool:
    """Whether a `*` is an item of a SELECT list, or that of COUNT(*)."""
    item = star.parent if isinstance(star.parent, exp.Column) else star
    if isinstance(item, exp.Star) and isinstance(item.parent, exp.Count):
        return True
    return isinstance(item.parent, exp.Select) and item.arg_key == "expressions"


def _aggregates(node: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregates in an expression, outside of its subqueries."""
    if isinstance(node, AGGREGATES):
        yield node
    elif not isinstance(node, exp.Query):
        for part in node.iter_expressions():
            yield from _aggregates(part)


def _refused_call(node: exp.Func) -> Iterator[tuple[str, str, exp.Expr]]:
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.sql_name().lower()
    if name in _EFFECTS or (name == "unix_timestamp" and not node.expressions):
        yield f"{name} gives no value that follows from the rows", "", node
    elif isinstance(node, exp.AggFunc):
        help = "the aggregates of a SEQ block are COUNT, SUM, AVG, MIN and MAX"
        yield f"{name.upper()} is outside of what a SEQ block can evaluate", help, node
    elif isinstance(node, exp.Anonymous) or name.startswith(_WITHOUT_PARENTHESES):
        refused = refusal(name, node.name if isinstance(node, exp.Anonymous) else name)
        if refused is not None:
            yield refused[0], refused[1], node


def no_subquery(node: exp.Expr, positions: Positions) -> None:
    """Raise a Finding for a subquery in an expression."""
    query = next((found for found in node.find_all(exp.Query)), None)
    if query is None:
        return
    at = query.parent if isinstance(query.parent, exp.Exists | exp.In) else query
    kind = "a subquery that is a value" if at is query else "this subquery"
    message = f"{kind} is outside of what a SEQ block can evaluate"
    help = "[NOT] EXISTS and [NOT] IN can be conditions of WHERE, joined to others by AND"
    raise positions.finding(Code.UNSUPPORTED, message, query, help)


def comparable(node: exp.Expr, positions: Positions) -> None:
    """Raise a Finding for what makes a MAP or a VARIANT: such values cannot be compared."""
    inner = node.unnest()
    cast = inner.to.sql("spark").lower() if isinstance(inner, exp.Cast) else ""
    name = text(inner).split("(")[0].lower() if isinstance(inner, exp.Func) else ""
    if any(word in cast for word in _UNORDERED) or name in _MAPS:
        message = "a column of a type whose values cannot be compared is outside of a SEQ block"
        help = "select what is in it, such as one of its values, or a text of it: CAST(… AS STRING)"
        raise finding(positions, message, node, help)


def column(place: int) -> exp.Column:
    """A column of an operator's input."""
    return exp.column(f"c{place}")


def over(node: exp.Expr, place: Callable[[exp.Column], int]) -> exp.Expr:
    """An expression with places for the names of its columns."""

    def changed(inner: exp.Expr) -> exp.Expr:
        if not isinstance(inner, exp.Column) or isinstance(inner.this, exp.Star):
            return inner
        found = column(place(inner))
        found.meta.update(inner.this.meta)
        return found

    return node.transform(changed, copy=True)


def moved(node: exp.Expr, by: int) -> exp.Expr:
    """An expression over columns that are counted on, or back."""
    return over(node, lambda inner: place_of(inner) + by)


def place_of(node: exp.Column) -> int:
    """The place that a column of an expression `over` others stands for."""
    return int(node.name[1:])


def places(node: exp.Expr) -> set[int]:
    """The columns that an expression is about."""
    return {place_of(found) for found in node.find_all(exp.Column)}


def text(node: exp.Expr) -> str:
    """An expression in Spark's SQL."""
    return node.sql("spark", comments=False)


def tree(written: str) -> exp.Expr:
    """The expression that a text is."""
    return parsed(written).copy()


def conjunction(nodes: list[exp.Expr]) -> str:
    """Conditions joined by AND, as text; empty for none."""
    wrapped = [exp.Paren(this=node.copy()) if isinstance(node, exp.Or) else node.copy() for node in nodes]
    return text(reduce(lambda left, right: exp.And(this=left, expression=right), wrapped)) if wrapped else ""


def finding(positions: Positions, message: str, at: exp.Expr, help: str = "") -> Finding:
    """A finding of something outside the language."""
    return positions.finding(Code.UNSUPPORTED, message, at, help)
