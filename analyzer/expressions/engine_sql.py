"""An expression of Spark's SQL in DuckDB's, where `engine_functions` says that both compute the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache, reduce
from re import sub
from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import ParseError, TokenError, exp, parse_one

from streambound.analyzer.comparands import from_text
from streambound.analyzer.constants import BOOLEAN, INT, STRING, VOID, ConstantError, Folded, fits, kind_of
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.engine_constants import CONSTANTS, groups_of
from streambound.analyzer.expressions.engine_functions import CASTS, NOT_EXACT, REWRITINGS, Rewriting
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal, value_of
from streambound.analyzer.expressions.function import ANY, Fails, Function, NotKnown
from streambound.analyzer.expressions.kinds import common, plain
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.expressions.texts import ARRAY_OF_TEXTS
from streambound.analyzer.types import NUMERIC, DataType, Family

_LARGEST = 2_000
"""The most operators that a text may have: some arguments are written more than once."""
_DIGITS = 38
_SPARK_DIGITS = 34
_Text = TypeVar("_Text")


class NotInEngine(Struct, frozen=True):
    """Why DuckDB does not compute an expression: the construct that is to blame, and what else there is to say."""

    construct: str
    why: str

    @property
    def words(self) -> str:
        """Both in a sentence."""
        return f"{self.construct}: {self.why}"


class Outside(Exception):
    """DuckDB does not compute an expression."""

    def __init__(self, construct: str, why: str) -> None:
        super().__init__(construct)
        self.refusal = NotInEngine(construct, why)


class EnginePart(Struct, frozen=True):
    """A part of an expression in DuckDB's SQL: whether it may raise an error, or give a time beyond the years."""

    node: exp.Expr
    kind: DataType
    raises: bool = False
    wide: bool = False
    size: int = 1
    constant: Folded | None = None

    @property
    def folded(self) -> Folded:
        """Its value where that is a constant, and its type."""
        return self.constant or Folded(None, self.kind)


def engine_sql(text: str, columns: Mapping[str, DataType], kind: DataType) -> str | NotInEngine:
    """``CAST((text) AS kind)`` over columns of these types, in DuckDB's SQL, or why there is none.

    >>> from streambound.analyzer.constants import BIGINT, INT
    >>> engine_sql("`n` + 1", {"n": BIGINT}, BIGINT)
    '"n" + CAST(1 AS BIGINT)'
    >>> engine_sql("rand(`n`)", {"n": BIGINT}, BIGINT).construct
    'rand'
    """

    def made() -> str:
        given = {name: column_part(name, one) for name, one in columns.items()}
        return converted(translated(parsed(text), given), plain(kind), "the column's type").node.sql("duckdb")

    return attempted(made)


def attempted(make: Callable[[], _Text]) -> _Text | NotInEngine:
    """A text for DuckDB, or why there is none."""
    try:
        return make()
    except Refused as refused:
        return NotInEngine(refused.node.sql("spark"), str(refused))
    except (ParseError, TokenError, KeyError) as error:
        return NotInEngine("its syntax", str(error))
    except Outside as outside:
        return outside.refusal


# --- parts of an expression -------------------------------------------------------------------------------------------


def column_part(name: str, kind: DataType) -> EnginePart:
    """A column of the row."""
    return EnginePart(exp.column(exp.to_identifier(name, quoted=True)), plain(kind))


def translated(node: exp.Expr, given: Mapping[str, EnginePart]) -> EnginePart:
    """An expression over a row's columns in DuckDB's SQL, ``given`` for their names; raises Outside or Refused."""
    return _translated(read(node, {name: part.kind for name, part in given.items()}), given)


def _translated(expression: Expression, given: Mapping[str, EnginePart]) -> EnginePart:
    match expression:
        case Field(name, kind):
            if kind.family is Family.OTHER:
                raise Outside(f"the column {name}", f"DuckDB is given no {kind.name}")
            return given[name]
        case Literal(constant):
            return _constant(constant)
        case Call(kind=kind) if (own := python_call(expression)) is not None:
            parts = [_translated(argument, given) for argument in own.arguments]
            called = exp.to_identifier(own.function.name.strip("`"), quoted=True)
            node = exp.Anonymous(this=called, expressions=[part.node for part in parts])
            return _sized(EnginePart(node, kind, raises=True, size=1 + sum(part.size for part in parts)))
    arguments = tuple(_translated(argument, given) for argument in expression.arguments)
    if expression.function.name in ("cast", "try_cast", "negative") and arguments[0].constant:
        return _folded(expression)
    if expression.function.name in ("cast", "try_cast"):
        return _cast(expression, arguments[0])
    arguments = _read_texts(expression, arguments)
    entry = next((one for one in _named(expression.function.name) if _takes(one, expression, arguments)), None)
    if entry is None:
        raise Outside(*_refusal(expression))
    if entry.raises and all(one.constant for one in arguments):
        return _folded(expression)
    return _sized(_by(entry, expression, arguments))


def python_call(expression: Call) -> Call | None:
    """The call of a function in Python that `user_functions` has typed; None for another expression."""
    match expression:
        case Call(Function(name="cast"), (Call(Function(name="element"), (Call(function) as own, _)),)):
            return own if function.name.startswith("`") else None
    return None


def _folded(call: Call) -> EnginePart:
    """The value of an expression of constants that may raise an error: Spark then raises it before there is any row."""
    try:
        return _constant(value_of(call, {}))
    except (Fails, NotKnown) as error:
        raise Outside(f"{call.function.name} of constants", f"write its value: {error}") from error


@lru_cache(maxsize=256)
def _named(name: str) -> tuple[Rewriting, ...]:
    return tuple(one for one in REWRITINGS if one.name == name)


def _sized(part: EnginePart) -> EnginePart:
    if part.size > _LARGEST:
        raise Outside("its length", "DuckDB's text of it is too long: split it")
    return part


def _refusal(call: Call) -> tuple[str, str]:
    name, kinds = call.function.name, ", ".join(argument.kind.name for argument in call.arguments)
    if name in NOT_EXACT:
        return name, NOT_EXACT[name]
    if not _named(name):
        return name, "it is not among the functions that were compared with Spark's"
    return f"{name} of {kinds}", "it was not compared with Spark's for these types, or for constants only"


def _constant(constant: Folded) -> EnginePart:
    """A literal with Spark's type."""
    kind, value = plain(constant.kind), constant.value
    if value is None:
        return EnginePart(
            exp.null() if kind == VOID else exp.cast(exp.null(), engine_type(kind)), kind, constant=constant
        )
    match kind.family:
        case Family.STRING:
            node: exp.Expr = exp.Literal.string(str(value))
        case Family.BOOLEAN:
            node = exp.Boolean(this=bool(value))
        case Family.INTEGER:
            node = exp.Literal.number(int(constant.exact))
            if kind != INT and (kind.bits != 64 or fits(constant.exact, INT)):
                node = exp.cast(node, engine_type(kind))
        case Family.DECIMAL:
            scale = kind.scale or 0
            digits = f"{abs(int(constant.exact * 10**scale)):0{scale + 1}d}"
            written = (
                f"{'-' if constant.exact < 0 else ''}{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}"
            )
            node = exp.cast(exp.Literal.string(written), engine_type(kind))
        case Family.FLOAT if kind.name == "double":
            node = exp.cast(exp.Literal.string(repr(float(constant.exact))), engine_type(kind))
        case Family.DATE | Family.TIMESTAMP:
            node = exp.cast(exp.Literal.string(_moment(int(constant.exact), kind)), engine_type(kind))
        case _:  # an interval, which only some entries take
            node = exp.Literal.number(int(constant.exact)) if not isinstance(value, str) else exp.null()
    return EnginePart(node, kind, constant=constant)


def _moment(value: int, kind: DataType) -> str:
    """A date or timestamp as a text; raises an error for one that Python has not."""
    try:
        if kind.family is Family.DATE:
            return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
        return (datetime(1970, 1, 1) + timedelta(microseconds=value)).isoformat(" ")
    except OverflowError as error:
        raise Outside(f"a constant {kind.name}", "it is beyond the years 1 to 9999") from error


def engine_type(kind: DataType) -> exp.DataType:
    """A type in DuckDB; a timestamp is one in UTC."""
    name = {Family.TIMESTAMP: "timestamp", Family.STRING: "text"}.get(kind.family, kind.name)
    return exp.DataType.build(name, dialect="duckdb")


def _read_texts(call: Call, arguments: tuple[EnginePart, ...]) -> tuple[EnginePart, ...]:
    """``day > '2024-01-01'  ->  day > DATE '2024-01-01'``: Spark casts a text beside another type."""
    if call.function.name not in ("=", "<>", "<", "<=", ">", ">=", "<=>", "in"):
        return arguments
    others = [one.kind for one in arguments if one.kind.family is not Family.STRING and one.kind != VOID]
    if not others or others[0].family not in (Family.DATE, Family.TIMESTAMP):
        return arguments
    try:
        return tuple(
            _constant(from_text(one.constant, others[0])) if one.constant and one.kind == STRING else one
            for one in arguments
        )
    except ConstantError as error:
        raise Outside(f"{call.function.name} of a text and a {others[0].name}", str(error)) from error


# --- which entry ------------------------------------------------------------------------------------------------------


def _takes(entry: Rewriting, call: Call, arguments: tuple[EnginePart, ...]) -> bool:
    wanted = _classes(entry, len(arguments))
    if len(wanted) != len(arguments) or call.kind == ANY:
        return False
    if not all(_is(name, one, entry, call) for name, one in zip(wanted, arguments, strict=True)):
        return False
    return entry.name != "regexp_extract" or _has_group(arguments)


def _has_group(arguments: tuple[EnginePart, ...]) -> bool:
    wanted = arguments[2].folded.value if len(arguments) > 2 else 1
    return wanted is not None and int(wanted) <= groups_of(str(arguments[1].folded.value))


def _is(name: str, part: EnginePart, entry: Rewriting, call: Call) -> bool:
    """Whether an argument is of a kind that an entry takes."""
    kind = part.kind
    if name in CONSTANTS:
        if name == "small" and kind.name in ("tinyint", "smallint"):
            return True
        return part.constant is not None and CONSTANTS[name](part.constant) is not None
    if kind == VOID:
        return entry.operands in ("common", "result", "string") or entry.lazy or name == "any"
    match name:
        case "any":
            return kind.family is not Family.OTHER
        case "ordered":
            return kind.family not in (Family.OTHER, Family.FLOAT)
        case "number":
            return kind.family in NUMERIC
        case "date or timestamp":
            return kind.family in (Family.DATE, Family.TIMESTAMP)
        case "short decimal":
            return kind.family is Family.DECIMAL and kind.precision <= _SPARK_DIGITS
        case "split":
            return kind == ARRAY_OF_TEXTS
        case "double":
            into = call.kind.name == "double" and entry.operands in ("result", "double")
            return kind.name == "double" or (into and kind.family in NUMERIC)
        case "exact decimal":
            return (
                call.kind.family is Family.DECIMAL
                and kind.family in (Family.INTEGER, Family.DECIMAL)
                and _fits(part, entry, call)
            )
    return kind.family == name


def _fits(part: EnginePart, entry: Rewriting, call: Call) -> bool:
    """Whether Spark rounds nothing, and the argument's digits fit beside the result's places."""
    places = [
        one.constant.digits if isinstance(one, Literal) else Folded(None, one.kind).digits for one in call.arguments
    ]
    exact = sum(p for _, p in places) if entry.name == "*" else max(p for _, p in places)
    if exact != call.kind.scale:
        return False
    return entry.name == "*" or part.folded.digits[0] + exact <= _DIGITS


# --- rewriting --------------------------------------------------------------------------------------------------------


def _by(entry: Rewriting, call: Call, arguments: tuple[EnginePart, ...]) -> EnginePart:
    if entry.sql in _OWN:
        return _OWN[entry.sql](entry, call, arguments)
    if entry.texts and any(one.wide for one in arguments):
        raise Outside(f"{entry.name} of a computed time", "texts of times beyond the years 1 to 9999 differ")
    classes = _classes(entry, len(arguments))
    given = tuple(
        _written(name, one) if name in CONSTANTS else one
        for name, one in zip(classes, _operands(entry, call, arguments), strict=True)
    )
    return _filled(
        entry.sql, call.kind, given if entry.every else _guarded(given, entry.last), entry.raises, entry.wide
    )


def _classes(entry: Rewriting, number: int) -> tuple[str, ...]:
    """The argument classes for a given number of arguments."""
    *single, last = entry.takes
    if not last.endswith("*"):
        return entry.takes
    return (*single, *[last.removesuffix("*")] * (number - len(single)))


def _written(name: str, part: EnginePart) -> EnginePart:
    """A constant as DuckDB has it: its units, patterns and formats for Spark's; operands are left as they are."""
    if part.constant is None or name in _NUMBERS:
        return part
    value = CONSTANTS[name](part.constant)
    return replace(part, node=exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(value or 0))


def _operands(entry: Rewriting, call: Call, arguments: tuple[EnginePart, ...]) -> tuple[EnginePart, ...]:
    """The arguments, cast to what the entry says."""
    match entry.operands:
        case "own":
            if entry.takes[0] != _EXACT_DECIMAL:
                return arguments
            kinds = [kind_of(f"decimal({before + places},{places})") for before, places in map(_digits, arguments)]
        case "result":
            kinds = [call.kind] * len(arguments)
        case "common":
            kinds = [common([one.folded for one in arguments])] * len(arguments)
            if kinds[0] == ANY:
                names = " and ".join(dict.fromkeys(one.kind.name for one in arguments))
                raise Outside(f"{entry.name} of {names}", "cast one side to the type of the other")
        case name:
            kinds = [kind_of(name)] * len(arguments)
    words = _classes(entry, len(arguments))
    kinds = [
        one.kind if name in CONSTANTS and name not in _NUMBERS else kind
        for name, one, kind in zip(words, arguments, kinds, strict=True)
    ]
    return _together(arguments, kinds, entry.name)


def _together(parts: Sequence[EnginePart], kinds: Sequence[DataType], where: str) -> tuple[EnginePart, ...]:
    """Parts cast to types; a whole number is left as it is written where another part has that type, not a constant."""
    found = [converted(one, kind, where) for one, kind in zip(parts, kinds, strict=False)]
    typed = {one.kind for one, part in zip(found, parts, strict=True) if part.constant is None}
    return tuple(
        replace(part, kind=new.kind, raises=False)
        if part.kind == INT and part.constant and part.constant.value is not None and new.kind in typed & _ADAPTING
        else new
        for part, new in zip(parts, found, strict=True)
    )


def _digits(part: EnginePart) -> tuple[int, int]:
    return part.folded.digits


def _guarded(arguments: tuple[EnginePart, ...], last: bool) -> tuple[EnginePart, ...]:
    """Arguments of which Spark evaluates none after one that is NULL, in order, or from the last one on.

    ``a, 1 / b  ->  a, CASE WHEN a IS NOT NULL THEN 1 / b END``
    """
    order = arguments[::-1] if last else arguments
    found: list[EnginePart] = []
    for part in order:
        nullable = [one for one in found if one.constant is None]
        if part.raises and nullable:
            tests = reduce(exp.and_, map(_is_there, nullable))
            node = exp.Case(ifs=[exp.If(this=tests, true=part.node.copy())])
            part = replace(part, node=node, size=part.size + sum(one.size for one in nullable))
        found.append(part)
    return tuple(found[::-1] if last else found)


def _is_there(part: EnginePart) -> exp.Expr:
    return exp.Not(this=exp.Is(this=_wrapped(part.node), expression=exp.null()))


def converted(part: EnginePart, kind: DataType, where: str) -> EnginePart:
    """A cast that Spark makes itself; raises an error for one of which it is not known that both do the same."""
    if part.kind == kind:
        return part
    if part.kind == VOID:
        return replace(part, node=exp.cast(exp.null(), engine_type(kind)), kind=kind)
    if kind.family is Family.OTHER:
        raise Outside(f"a {kind.name}", "DuckDB is given none")
    entry = next((one for one in CASTS if _of(one.source, part.kind) and _of(one.target, kind)), None)
    if entry is None:
        raise Outside(f"a cast of {part.kind.name} to {kind.name} for {where}", "it was not compared with Spark's")
    if kind.family is Family.STRING and part.wide:
        raise Outside("a computed time as a text", "texts of times beyond the years 1 to 9999 differ")
    found = _filled(entry.sql, kind, (part,), entry.raises and not _holds(kind, part.folded), False)
    return replace(found, wide=part.wide, constant=None)


def _of(name: str, kind: DataType) -> bool:
    return name in (kind.family, kind.name) and (kind.family is not Family.FLOAT or name == kind.name)


def _holds(kind: DataType, value: Folded) -> bool:
    """Whether a type has all numbers of another one, so that no cast fails."""
    if kind.family is Family.INTEGER and value.kind.family is Family.INTEGER:
        return kind.bits >= value.kind.bits
    if kind.family is Family.DECIMAL and value.kind.family in (Family.INTEGER, Family.DECIMAL):
        (before, places), (digits, fewer) = Folded(None, kind).digits, value.digits
        return before >= digits and places >= fewer
    return False


def _cast(call: Call, part: EnginePart) -> EnginePart:
    """CAST, and TRY_CAST of what raises no error itself."""
    if call.function.name == "cast":
        return _sized(converted(part, call.kind, "CAST"))
    if part.raises:
        raise Outside("try_cast", "its argument may raise an error itself")
    found = converted(part, call.kind, "TRY_CAST")
    return replace(found, node=exp.Anonymous(this="TRY", expressions=[found.node]), raises=False)


def _filled(sql: str, kind: DataType, given: Sequence[EnginePart], raises: bool, wide: bool) -> EnginePart:
    """A text of the table with its arguments; a decimal has the digits of its type."""
    uses = [0] * len(given)

    def put(one: exp.Expr) -> exp.Expr | None:
        match one:
            case exp.Column() if one.name in _LETTERS:
                place = _LETTERS.index(one.name)
                uses[place] += 1
                alone = one.parent is None or isinstance(one.parent, exp.Anonymous | exp.Cast)
                return given[place].node.copy() if alone else _wrapped(given[place].node)
            case exp.DataType() if one.sql("duckdb") == "KIND":
                return engine_type(kind)
            case exp.Anonymous() if one.name == "RAISE":
                return raising(one.expressions[0], kind)
            case exp.Anonymous(expressions=[exp.Column() as only]) if only.name == "more":
                uses[:] = [1] * len(given)
                return exp.Anonymous(this=one.this, expressions=[part.node.copy() for part in given])
        return one

    node = cast(exp.Expr, _template(sql).transform(put))
    if kind.family is Family.DECIMAL and not isinstance(node, exp.Column):
        node = (
            node if isinstance(node, exp.Cast) and node.to == engine_type(kind) else exp.cast(node, engine_type(kind))
        )
    size = 1 + sum(max(times, 1) * part.size for times, part in zip(uses, given, strict=True))
    beyond = wide or (any(one.wide for one in given if one.kind.family in _CALENDAR) and kind.family in _CALENDAR)
    return EnginePart(node, kind, raises or any(one.raises for one in given), beyond, size)


@lru_cache(maxsize=512)
def _template(sql: str) -> exp.Expr:
    """A text of the table, with function names as they are written there."""
    node = parse_one(sub(r"\b([a-z_0-9]+)\(", r"_\1(", sql), dialect="duckdb")
    for call in node.find_all(exp.Anonymous):
        call.set("this", str(call.this).removeprefix("_"))
    return node


def raising(name: exp.Expr, kind: DataType) -> exp.Expr:
    """An expression that raises an error with Spark's name for it: a cast of the name to the type, which fails."""
    target = BOOLEAN if kind.family is Family.STRING else kind
    found = exp.cast(name.copy(), engine_type(target))
    return exp.cast(found, engine_type(kind)) if target != kind else found


def _wrapped(node: exp.Expr) -> exp.Expr:
    atoms = (exp.Column, exp.Literal, exp.Cast, exp.Anonymous, exp.Case, exp.Boolean, exp.Null, exp.Paren)
    return node.copy() if isinstance(node, atoms) else exp.paren(node, copy=True)


# --- what evaluates only some of its arguments ------------------------------------------------------------------------


def _connective(entry: Rewriting, call: Call, arguments: tuple[EnginePart, ...]) -> EnginePart:
    """``a AND b  ->  CASE WHEN NOT a THEN FALSE ELSE a AND b END`` where b may raise an error; OR in the same way."""
    conjunction = entry.sql == "AND"

    def joined(left: EnginePart, right: EnginePart) -> EnginePart:
        sides = {"this": _wrapped(left.node), "expression": _wrapped(right.node)}
        node: exp.Expr = exp.And(**sides) if conjunction else exp.Or(**sides)
        if right.raises:
            decides = exp.Not(this=_wrapped(left.node)) if conjunction else left.node.copy()
            node = exp.Case(ifs=[exp.If(this=decides, true=exp.Boolean(this=not conjunction))], default=node)
        size = left.size * (1 + right.raises) + right.size + 1
        return EnginePart(node, BOOLEAN, left.raises or right.raises, False, size)

    return reduce(joined, (converted(one, BOOLEAN, entry.name) for one in arguments))


def _chosen(
    branches: Sequence[tuple[EnginePart, EnginePart]], default: EnginePart | None, kind: DataType, where: str
) -> EnginePart:
    """``CASE WHEN … THEN … ELSE … END`` of a type."""
    values = _together([value for _, value in branches] + ([default] if default else []), [kind] * 9_999, where)
    results = list(zip((test for test, _ in branches), values, strict=False))
    other = values[-1] if default else None
    parts = [*(part for pair in results for part in pair), *([other] if other else [])]
    node = exp.Case(
        ifs=[exp.If(this=test.node.copy(), true=value.node.copy()) for test, value in results],
        default=None if other is None else other.node.copy(),
    )
    wide = any(part.wide for part in parts if part.kind == kind)
    return EnginePart(node, kind, any(part.raises for part in parts), wide, 1 + sum(part.size for part in parts))


def _case(entry: Rewriting, call: Call, arguments: tuple[EnginePart, ...]) -> EnginePart:
    """Conditions and results in turn, and at last the result of ELSE, if there is one."""
    tests = [converted(one, BOOLEAN, entry.name) for one in arguments[: len(arguments) // 2 * 2 : 2]]
    default = arguments[-1] if len(arguments) % 2 else None
    return _chosen(list(zip(tests, arguments[1::2], strict=True)), default, call.kind, entry.name)


def _there(part: EnginePart) -> EnginePart:
    return EnginePart(_is_there(part), BOOLEAN, part.raises, False, part.size)


def _coalesce(entry: Rewriting, call: Call, arguments: tuple[EnginePart, ...]) -> EnginePart:
    """COALESCE; where a later argument may raise an error, CASE, which evaluates no more than it needs."""
    parts = _together(arguments, [call.kind] * len(arguments), entry.name)
    if any(part.raises for part in parts[1:]):
        return _chosen([(_there(part), part) for part in parts[:-1]], parts[-1], call.kind, entry.name)
    node = exp.Anonymous(this="coalesce", expressions=[part.node.copy() for part in parts])
    wide = any(part.wide for part in parts)
    return EnginePart(node, call.kind, parts[0].raises, wide, 1 + sum(part.size for part in parts))


def _nvl2(entry: Rewriting, call: Call, arguments: tuple[EnginePart, ...]) -> EnginePart:
    return _chosen([(_there(arguments[0]), arguments[1])], arguments[2], call.kind, entry.name)


def _nullif(entry: Rewriting, call: Call, arguments: tuple[EnginePart, ...]) -> EnginePart:
    """``NULLIF(a, b)  ->  CASE WHEN a = b THEN NULL ELSE a END``."""
    first, *_ = arguments
    equal = next(one for one in REWRITINGS if one.name == "=")
    test = _by(equal, replace(call, kind=BOOLEAN), arguments)
    return _chosen([(test, _constant(Folded(None, call.kind)))], first, call.kind, entry.name)


def _listed(entry: Rewriting, call: Call, arguments: tuple[EnginePart, ...]) -> EnginePart:
    if any(one.raises for one in arguments[1:]):
        raise Outside("in", "a value of the list may raise an error itself")
    value, *items = _operands(entry, call, arguments)
    node = exp.In(this=_wrapped(value.node), expressions=[item.node.copy() for item in items])
    return EnginePart(node, BOOLEAN, value.raises, False, 1 + value.size + sum(item.size for item in items))


def _concatenated(entry: Rewriting, call: Call, arguments: tuple[EnginePart, ...]) -> EnginePart:
    parts = _operands(entry, call, arguments)
    node = reduce(lambda a, b: exp.DPipe(this=a, expression=b), (_wrapped(part.node) for part in parts))
    return EnginePart(node, STRING, any(part.raises for part in parts), False, 1 + sum(part.size for part in parts))


_Own = Callable[[Rewriting, Call, tuple[EnginePart, ...]], EnginePart]
_OWN: dict[str, _Own] = {
    "AND": _connective, "OR": _connective, "CASE": _case, "COALESCE": _coalesce, "NVL2": _nvl2, "NULLIF": _nullif,
    "IN": _listed, "CONCAT": _concatenated,
}  # fmt: skip
_LETTERS = ("a", "b", "c")
_NUMBERS = ("divisor", "modulus", "nonzero")
_ADAPTING = {kind_of(name) for name in ("int", "bigint", "double")}
"""Types that DuckDB gives a whole number beside a value of them."""
_EXACT_DECIMAL = "exact decimal"
_CALENDAR = (Family.DATE, Family.TIMESTAMP)
