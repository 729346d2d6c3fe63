"""A syntax tree of Spark's SQL, as `dialect` parses it, as an expression over a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from sqlglot import exp

from streambound.analyzer.casts import cast
from streambound.analyzer.constants import BOOLEAN, INT, STRING, VOID, ConstantError, Folded, kind_of, numeral
from streambound.analyzer.expressions.dialect import LATER, UNITS_FIRST
from streambound.analyzer.expressions.elements import field_kind
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal
from streambound.analyzer.expressions.function import ANY, Function, Scalar, always, exactly
from streambound.analyzer.expressions.kinds import plain
from streambound.analyzer.expressions.registry import BY_NAME, refusal
from streambound.analyzer.expressions.rows import ROW, columns_of_row
from streambound.analyzer.expressions.times import TIME_UNITS
from streambound.analyzer.literals import fixed_interval, whole_months
from streambound.analyzer.types import DataType, Family, parse_type
from streambound.analyzer.work import spend

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "div", exp.DPipe: "||",
    exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "^", exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<",
    exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.NullSafeEQ: "<=>", exp.NullSafeNEQ: "is distinct from",
    exp.And: "and", exp.Or: "or", exp.Like: "like", exp.ILike: "ilike", exp.RegexpLike: "rlike",
}  # fmt: skip
_UNITS = {
    **{name: name for name in ("year", "quarter", "month", "day", "hour", "minute")},
    "years": "year", "y": "year", "qtr": "quarter", "mon": "month", "months": "month", "week": "weekofyear",
    "weeks": "weekofyear", "w": "weekofyear", "days": "day", "d": "day", "dow": "dayofweek", "dayofweek": "dayofweek",
    "doy": "dayofyear", "dow_iso": "weekday", "hours": "hour", "h": "hour", "minutes": "minute", "m": "minute",
}  # fmt: skip
_CAST_NAMES = ("bigint", "smallint", "tinyint", "decimal", "binary")
"""Types that may be called, beside those that the parser knows."""
_SUBQUERIES = (exp.Any, exp.All)
_STEPS = 3
SUBQUERY = "a subquery"
"""What a subquery is called among functions."""


Row = Callable[[exp.Column], Expression]
"""What a name means in a row: one of its columns, or a field of a struct there."""


class Refused(Exception):
    """An expression without a value of one row, or without a type; ``node`` is to blame."""

    def __init__(self, message: str, node: exp.Expr, help: str = "", mismatch: bool = False) -> None:
        super().__init__(message)
        self.node, self.help, self.mismatch = node, help, mismatch


def read(node: exp.Expr, columns: Mapping[str, DataType]) -> Expression:
    """An expression whose names are columns of a row, of these types, or fields of structs there; raises Refused."""

    def of_name(column: exp.Column) -> Expression:
        name, *fields = (part.name for part in column.parts if part.name != ROW)
        return _fields(Field(name, plain(columns[name])), fields, column)

    return read_over(node, of_name)


def read_over(node: exp.Expr, row: Row) -> Expression:
    """An expression over a row; raises Refused, and what the row raises for a name that is none of its columns."""
    spend(_STEPS)
    if (plain_node := _not_negated(node)) is not None:
        return called("not", [read_over(plain_node, row)], node)
    match node:
        case exp.Paren():
            return read_over(node.this, row)
        case exp.Exists() | exp.In(args={"query": exp.Query()}) | exp.Query():
            return _of_relations(node, row)
        case exp.Column():
            return row(node)
        case exp.Cast():
            return _cast(node, row)
        case exp.Neg():
            return _negative(node, row)
        case exp.Dot():
            return _fields(read_over(node.this, row), [node.expression.name], node)
        case exp.Case():
            return _case(node, row)
        case exp.Is():
            return _test(node, row)
        case exp.Between():
            return _between(node, row)
        case exp.Anonymous(expressions=[argument]) if node.name.lower() in _CAST_NAMES:
            kind = plain(kind_of(node.name.lower()))
            return Call(cast_to(kind, safe=False), (read_over(argument, row),), kind)
        case exp.Add() | exp.Sub() if (months := whole_months(node.expression)) is not None:
            if (time := read_over(node.this, row)).kind.family is Family.TIMESTAMP:
                count = Folded(Fraction(months if isinstance(node, exp.Add) else -months), INT)
                return called("timestampadd", [Literal(Folded("month", STRING)), Literal(count), time], node)
    literal = _literal(node)
    if literal is not None:
        return Literal(literal)
    name, arguments = _named(node)
    return called(name, [read_over(argument, row) for argument in arguments], node)


def _of_relations(node: exp.Expr, row: Row) -> Expression:
    """A subquery, which only Spark can evaluate: of the row's columns that it names, and of relations."""
    kind = ANY if isinstance(node, exp.Query) else BOOLEAN
    own = dict.fromkeys(row(column) for column in columns_of_row(node))
    return Call(Function(SUBQUERY, always(kind)), tuple(own), kind)


def _not_negated(node: exp.Expr) -> exp.Expr | None:
    """``x NOT LIKE y`` without its NOT, which is a mark on the pattern; None for what is not marked."""
    marked = node.this if isinstance(node, exp.Escape) else node
    if not marked.args.get("negate"):
        return None
    copy = node.copy()
    (copy.this if isinstance(node, exp.Escape) else copy).set("negate", None)
    return copy


def _literal(node: exp.Expr) -> Folded | None:
    """A literal's constant; raises Refused for a malformed one."""
    match node:
        case exp.Literal(is_string=True) | exp.RawString():
            return Folded(str(node.this), STRING)
        case exp.Literal():
            return _checked(node, lambda: numeral(str(node.this)))
        case exp.Boolean():
            return Folded(Fraction(bool(node.this)), BOOLEAN)
        case exp.Null():
            return Folded(None, VOID)
        case exp.Interval():
            return _checked(node, lambda: fixed_interval(node))
    return None


def _checked(node: exp.Expr, fold: Callable[[], Folded]) -> Folded:
    try:
        return fold()
    except ConstantError as error:
        raise Refused(str(error), node, error.remedy, mismatch=not error.unsupported) from error


def _named(node: exp.Expr) -> tuple[str, Sequence[exp.Expr]]:
    """The name of an operator or function and its arguments; raises Refused for what no row has a value of."""
    if type(node) in _OPERATORS:
        return _OPERATORS[type(node)], (node.this, node.expression)
    match node:
        case exp.Anonymous(expressions=[unit, _, _]) if node.name.lower() in UNITS_FIRST:
            return node.name.lower(), (_unit(unit, node), *node.expressions[1:])
        case exp.Anonymous(this=exp.Identifier()):  # one of the user's (`user_functions`)
            return f"`{node.name.lower()}`", node.expressions
        case exp.Anonymous():
            return node.name.lower(), node.expressions
        case exp.Not():
            return "not", (node.this,)
        case exp.BitwiseNot():
            return "~", (node.this,)
        case exp.If():
            return "if", (node.this, node.args["true"], node.args.get("false") or exp.Null())
        case exp.In() if not node.args.get("query") and not node.args.get("unnest"):
            return "in", (node.this, *node.expressions)
        case exp.Escape(this=exp.Like() | exp.ILike() as pattern):
            return _OPERATORS[type(pattern)], (pattern.this, pattern.expression, node.expression)
        case exp.Bracket() if len(node.expressions) == 1:
            return "element", (node.this, node.expressions[0])
        case exp.Trim() if node.args.get("position") is None and node.args.get("expression") is None:
            return "trim", (node.this,)
        case exp.Trim():
            return "trim of other letters", (node.this,)
        case exp.Substring():
            return "substring", [node.args[key] for key in ("this", "start", "length") if node.args.get(key)]
        case exp.StrPosition():
            return "locate", [node.args[key] for key in ("substr", "this", "position") if node.args.get(key)]
        case exp.Extract():
            field = node.name.lower()
            known = _UNITS.get(field)
            return (known, (node.expression,)) if known else ("extract", (exp.Literal.string(field), node.expression))
        case exp.Window():
            help = "name it in a subquery, and compare the name"
            raise Refused(
                "a window function inside a condition or an expression is outside the query language", node, help
            )
        case exp.AggFunc():
            raise Refused(*told(refusal("sum", node.sql_name()) or ("", ""), node))
        case exp.Star():
            raise Refused("* is outside the query language here", node)
        case exp.Placeholder() | exp.Parameter() | exp.SessionParameter():
            raise Refused("a parameter is outside the query language", node, "put its value into the query")
        case exp.Any(this=exp.Tuple() as patterns) | exp.All(this=exp.Tuple() as patterns):
            return "several patterns", patterns.expressions
        case exp.Var() | exp.Identifier():
            return "a name", ()
    if isinstance(node, _SUBQUERIES):
        raise Refused(
            "ANY and ALL are outside the query language here", node, "write IN, or MIN or MAX of the subquery"
        )
    name = node.sql_name().lower() if isinstance(node, exp.Func) else node.key
    return name, [part for part in node.iter_expressions() if not isinstance(part, exp.DataType)]


def _unit(unit: exp.Expr, node: exp.Expr) -> exp.Expr:
    """A unit of time as a text; raises Refused for what is none."""
    units = [one for one in TIME_UNITS if one != "dayofyear" or node.name.lower() in LATER]
    if isinstance(unit, exp.Var) and unit.name.lower() in units:
        return exp.Literal.string(unit.name)
    message = f"{node.name} takes a unit of time first, and {unit.sql('spark')} is none"
    raise Refused(message, node, f"a unit is {', '.join(units).upper()}, without quotes", mismatch=True)


def told(refused: tuple[str, str], node: exp.Expr) -> tuple[str, exp.Expr, str]:
    """A refusal of a function at its node."""
    return refused[0], node, refused[1]


def called(name: str, arguments: Sequence[Expression], node: exp.Expr) -> Call:
    """A function, by its name in small letters, applied to arguments; raises Refused."""
    shown = node.name if isinstance(node, exp.Anonymous) else name.upper()
    if (
        isinstance(node, exp.Func)
        and not name.startswith("`")
        and (refused := refusal("now" if name == "unix_timestamp" and not arguments else name, shown)) is not None
    ):
        raise Refused(*told(refused, node))
    function = BY_NAME.get(name)
    if function is None:
        return Call(Function(name, always(ANY), arguments=(0, 1_000)), tuple(arguments), ANY)
    least, most = function.arguments
    if not least <= len(arguments) <= most:
        wanted = str(least) if least == most else f"{least} to {most}" if most < 100 else f"at least {least}"
        raise Refused(f"{name} takes {wanted} arguments, not {len(arguments)}", node, mismatch=True)
    known = tuple(a.constant if isinstance(a, Literal) else Folded(None, a.kind) for a in arguments)
    return Call(function, tuple(arguments), plain(function.kind(known)))


def _cast(node: exp.Cast, row: Row) -> Expression:
    kind = parse_type(node.to.sql("spark"))
    if kind is None or node.args.get("format"):
        raise Refused(f"a cast to {node.to.sql('spark')} is outside the query language", node)
    return Call(cast_to(plain(kind), bool(node.args.get("safe"))), (read_over(node.this, row),), plain(kind))


@lru_cache(maxsize=64)
def cast_to(kind: DataType, safe: bool) -> Function:
    """`CAST(… AS kind)`; ``safe``: TRY_CAST."""

    def value(target: DataType, arguments: tuple[Folded, ...]) -> Scalar:
        return exactly(lambda: cast(arguments[0], target, safe=safe))

    return Function("try_cast" if safe else "cast", always(kind), value if kind.family is not Family.OTHER else None)


def _negative(node: exp.Neg, row: Row) -> Expression:
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        return Literal(_checked(node, lambda: numeral(str(node.this.this), sign=-1)))
    return called("negative", [read_over(node.this, row)], node)


def _fields(struct: Expression, names: Sequence[str], node: exp.Expr) -> Expression:
    """A field of a struct, and so on."""
    for name in names:
        kind = field_kind(struct.kind, name)
        if kind is None:
            raise Refused(f"the struct has no field {name!r}", node, mismatch=True)
        struct = Call(Function(f"field {name}", always(kind)), (struct,), plain(kind))
    return struct


def _case(node: exp.Case, row: Row) -> Expression:
    """``CASE x WHEN a THEN b END  ->  CASE WHEN x = a THEN b END``."""
    parts: list[Expression] = []
    for one in node.args["ifs"]:
        condition = read_over(one.this, row)
        if node.this is not None:
            condition = called("=", [read_over(node.this, row), condition], one)
        parts += [condition, read_over(one.args["true"], row)]
    if node.args.get("default") is not None:
        parts.append(read_over(node.args["default"], row))
    return called("case", parts, node)


def _test(node: exp.Is, row: Row) -> Expression:
    value = read_over(node.this, row)
    match node.expression:
        case exp.Null():
            return called("is null", [value], node)
        case exp.Boolean(this=wanted):
            return called("is true" if wanted else "is false", [value], node)
    raise Refused("IS is followed by NULL, TRUE, FALSE or UNKNOWN", node)


def _between(node: exp.Between, row: Row) -> Expression:
    if node.args.get("symmetric"):
        raise Refused(
            "BETWEEN SYMMETRIC is outside the query language", node, "write x BETWEEN LEAST(a, b) AND GREATEST(a, b)"
        )
    value, low, high = (read_over(node.args[part], row) for part in ("this", "low", "high"))
    return called("and", [called(">=", [value, low], node), called("<=", [value, high], node)], node)
