"""The points of time that a SEQ VT block is evaluated at: those of the catalog's domain, or that the block asks for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Finding, Positions
from streambound.analyzer.seq_blocks import SeqBlock
from streambound.analyzer.spans import SourceText, Span
from streambound.analyzer.types import DataType, Family, parse_type
from streambound.analyzer.values import decode, encode_number, encode_text, number

_BIGINT = DataType("bigint", Family.INTEGER)
_WHERE = "declare [time] domain = [begin, end] in {file}, or write SEQ VT FROM x TO y ( … )"


class TimeLine(Struct, frozen=True):
    """The type of time, and its points from ``low`` to before ``high``, encoded; None where there is no limit."""

    kind: DataType
    low: int | None = None
    high: int | None = None
    as_of: bool = False


def time_line(
    block: SeqBlock, source: SourceText, catalog: Catalog, periods: Sequence[tuple[DeclaredTable, Span]],
    positions: Positions,
) -> TimeLine:  # fmt: skip
    """The time line of a block over relations with periods; raises Finding."""
    header = Positions(source, block.header) if block.header else positions
    kind = _kind(block, catalog, periods, positions)
    declared = _declared(block, catalog, kind, positions)
    if block.as_of is not None:
        point = _point(block.as_of, kind, header)
        if not _inside(point, *declared):
            message = f"{decode(point, kind)} is outside of the domain of time that {catalog.file} declares"
            raise header.finding(Code.TYPE_MISMATCH, message, block.as_of)
        return TimeLine(kind, point, point + 1, as_of=True)
    if block.since is None or block.until is None:
        return TimeLine(kind, *declared)
    low, high = (_point(one, kind, header) for one in (block.since, block.until))
    if low >= high:
        message = f"FROM {header.text(header.of(block.since))} TO {header.text(header.of(block.until))} is no time"
        raise header.finding(Code.TYPE_MISMATCH, message, block.since, "it goes from a point to before a later one")
    low = low if declared[0] is None else max(low, declared[0])
    high = high if declared[1] is None else min(high, declared[1])
    return TimeLine(kind, low, max(low, high))


def no_domain(positions: Positions, at: Span, catalog: Catalog) -> Finding:
    """The finding for rows that are valid at all times, while no domain says when time begins and ends."""
    message = "this has a row at times at which nothing is valid, and no domain says which times there are"
    return positions.finding(Code.NO_TIME_DOMAIN, message, at, _WHERE.format(file=catalog.file))


def _inside(point: int, low: int | None, high: int | None) -> bool:
    return (low is None or low <= point) and (high is None or point < high)


def _kind(
    block: SeqBlock, catalog: Catalog, periods: Sequence[tuple[DeclaredTable, Span]], positions: Positions
) -> DataType:
    """The type of the periods, which all relations of a block have; without any, that of the times that are named."""
    first = next(((table, table.period.kind) for table, _ in periods if table.period), None)
    if first is None:
        times = [one for one in (block.as_of, block.since) if one is not None]
        domain = [catalog.time.low] if catalog.time is not None else []
        return next(iter([*map(_kind_of, times), *map(_kind_of_value, domain)]), _BIGINT)
    for table, at in periods[1:]:
        if table.period is not None and table.period.kind.name != first[1].name:
            message = f"{table.name} has periods of {table.period.kind.name}, and {first[0].name} of {first[1].name}"
            raise positions.finding(Code.MIXED_TIMESTAMPS, message, at, "cast one of them where it is read")
    return first[1]


def _kind_of(node: exp.Expr) -> DataType:
    inner = node.unnest()
    if isinstance(inner, exp.Cast):
        return parse_type(inner.to.sql("spark")) or _BIGINT
    return _BIGINT


def _kind_of_value(value: object) -> DataType:
    if isinstance(value, int):
        return _BIGINT
    date = len(str(value)) == len("2020-01-01")
    return DataType("date", Family.DATE) if date else DataType("timestamp", Family.TIMESTAMP)


def _declared(block: SeqBlock, catalog: Catalog, kind: DataType, positions: Positions) -> tuple[int | None, int | None]:
    if catalog.time is None:
        return None, None
    try:
        return catalog.time.encoded(kind)
    except ValueError as error:
        message = f"the periods are of {kind.name}, and time.domain in {catalog.file} is not: {error}"
        raise positions.finding(Code.TYPE_MISMATCH, message, block.at) from None


def _point(node: exp.Expr, kind: DataType, positions: Positions) -> int:
    """A point of time that a literal names; raises Finding for anything else."""
    inner, sign = node.unnest(), 1
    if isinstance(inner, exp.Neg):
        inner, sign = inner.this.unnest(), -1
    text = inner.this if isinstance(inner, exp.Cast) else inner
    try:
        if not isinstance(text, exp.Literal):
            raise ValueError("it is no literal")
        if isinstance(inner, exp.Cast) and _kind_of(inner).family is not kind.family:
            raise ValueError(f"it is {_kind_of(inner).with_article}")
        found = encode_text(text.this, kind) if text.is_string else encode_number(number(text.this), kind)
        if isinstance(found, str) or found != int(found):
            raise ValueError("it is none")
    except ValueError as error:
        message = f"a point of time here is {kind.with_article}: {error}"
        raise positions.finding(Code.TYPE_MISMATCH, message, node, f"as in {_example(kind)}") from None
    return sign * int(found)


def _example(kind: DataType) -> str:
    return (
        "AS OF 7"
        if kind.family is Family.INTEGER
        else f"AS OF {decode(18262 if kind.family is Family.DATE else 0, kind)}"
    )
