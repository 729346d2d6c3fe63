"""Period relations in the catalog: rows that are valid from a begin to before an end, and what is promised of them.

`[time] domain` is the time that all-time results cover; of each table `period` names the two columns. A
temporal-probabilistic relation also has a `key` and a `probability`, a stream of period rows may have `max_duration`,
`max_valid` and `snapshot_key`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from streambound.analyzer.catalog_model import TimeDocument, keys
from streambound.analyzer.columns import Column
from streambound.analyzer.durations import parse_duration
from streambound.analyzer.toml_reader import TomlReader, suggest
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import encode_toml

Path = tuple[str, ...]
_TIME = ("time",)
_TIMES = (Family.INTEGER, Family.DATE, Family.TIMESTAMP)
_PROBABILITIES = (Family.FLOAT, Family.DECIMAL)
_ONLY_PERIODS = ("key", "probability", "max_duration", "max_valid", "snapshot_key")


class TimeDomain(Struct, frozen=True):
    """The points of time there are: from ``low`` to before ``high``, as in the catalog; no end where that is None."""

    low: object
    high: object | None = None

    def encoded(self, kind: DataType) -> tuple[int, int | None]:
        """Its ends as integers, for periods of a type; raises ValueError where it is not of that type.

        >>> TimeDomain("2020-01-01", "2020-02-01").encoded(DataType("date", Family.DATE))
        (18262, 18293)
        """
        return _encoded(self.low, kind), None if self.high is None else _encoded(self.high, kind)


class PeriodRows(Struct, frozen=True):
    """The declaration of rows with periods: the columns, and a stream's promises.

    ``key`` names the random variable of a row, whose ``probability`` is another column. No row is valid longer than
    ``max_duration`` (in units of the period's type: 1, days, microseconds), at most ``max_valid`` are so at a time, and
    at most one of each ``snapshot_key``.
    """

    begin: str
    end: str
    kind: DataType
    key: str | None = None
    probability: str | None = None
    max_duration: int | None = None
    max_valid: int | None = None
    snapshot_key: tuple[str, ...] = ()

    def fact(self, columns: Sequence[Column]) -> tuple[str, ...]:
        """The columns of which a temporal-probabilistic row is a fact: all others of the relation's."""
        own = self.hidden(probabilistic=True)
        return tuple(column.name for column in columns if column.name not in own)

    def hidden(self, probabilistic: bool) -> tuple[str, ...]:
        """The columns that a SEQ block does not see."""
        own = (self.key, self.probability) if probabilistic else ()
        return (self.begin, self.end, *(name for name in own if name is not None))


def read_time(reader: TomlReader, value: object) -> TimeDomain | None:
    """The table `[time]`; raises CatalogError."""
    body = reader.mapping(value, _TIME)
    reader.known_keys(body, keys(TimeDocument), _TIME)
    if "domain" not in body:
        return None
    ends, where = body["domain"], (*_TIME, "domain")
    remedy = "as in domain = [0, 24], or for streams domain = [0]"
    if not isinstance(ends, list) or len(ends) not in (1, 2):
        raise reader.fail("time.domain is a begin and an end, which is after the last time", where, remedy)
    found = TimeDomain(*ends)
    for kind in (DataType("bigint", Family.INTEGER), DataType("timestamp", Family.TIMESTAMP)):
        try:
            low, high = found.encoded(kind)
        except ValueError:
            continue
        if high is not None and low >= high:
            raise reader.fail("time.domain ends before it begins", where, remedy)
        return found
    raise reader.fail("time.domain has integers, dates or timestamps", where, remedy)


_NO_PERIOD = 'add period = ["begin", "end"], or leave it out'


def read_period(
    reader: TomlReader, entry: Mapping[str, Any], columns: Sequence[Column], time: Column | None, path: Path
) -> PeriodRows | None:
    """The key `period` of a stream or relation and those that go with it; ``time`` is a stream's timestamp."""
    if "period" not in entry:
        alone = next((key for key in _ONLY_PERIODS if key in entry and key != "key"), None)
        if alone is not None:
            raise reader.fail(f"{alone} is for rows with a period", (*path, alone), _NO_PERIOD)
        if "key" in entry:
            raise reader.fail("key is for rows with a period", (*path, "key"), _NO_PERIOD)
        return None
    begin, end = _bounds(reader, entry, columns, path)
    if time is not None and time.name != begin.name:
        message = f"a stream of periods is ordered by their begins: its timestamp must be {begin.name}"
        raise reader.fail(message, (*path, "timestamp"), f'timestamp = "{begin.name}"')
    key = _named(reader, entry, "key", columns, path)
    probability = _named(reader, entry, "probability", columns, path)
    if (key is None) != (probability is None):
        given, lacking = ("key", "probability") if probability is None else ("probability", "key")
        raise reader.fail(f"{given} without {lacking}", (*path, given), f'add {lacking} = "…"')
    if probability is not None and probability.type.family not in _PROBABILITIES:
        raise reader.fail("a probability is a double or a decimal", (*path, "probability"))
    return PeriodRows(
        begin.name,
        end.name,
        begin.type,
        key.name if key else None,
        probability.name if probability else None,
        _duration(reader, entry, begin.type, path),
        reader.positive(entry, "max_valid", path, 1),
        _snapshot_key(reader, entry, columns, path),
    )


def _bounds(
    reader: TomlReader, entry: Mapping[str, Any], columns: Sequence[Column], path: Path
) -> tuple[Column, Column]:
    where = (*path, "period")
    names = reader.strings(entry["period"], where)
    known = {column.name.lower(): column for column in columns}
    if len(names) != 2 or not all(name.lower() in known for name in names):
        raise reader.fail("period must name two columns, its start and its end", where)
    begin, end = (known[name.lower()] for name in names)
    if begin is end:
        raise reader.fail("period must name two columns, its start and its end", where)
    if begin.type.family not in _TIMES:
        raise reader.fail("a period has integers, dates or timestamps", (*path, "columns", begin.name))
    if begin.type.name != end.type.name:
        message = f"{begin.name} is {begin.type.with_article} and {end.name} {end.type.with_article}"
        raise reader.fail(f"begin and end of a period have one type: {message}", (*path, "columns", end.name))
    return begin, end


def _named(
    reader: TomlReader, entry: Mapping[str, Any], key: str, columns: Sequence[Column], path: Path
) -> Column | None:
    """The column that a key names."""
    if key not in entry:
        return None
    name = entry[key]
    found = next((one for one in columns if isinstance(name, str) and one.name.lower() == name.lower()), None)
    if found is None:
        remedy = suggest(name, [one.name for one in columns]) if isinstance(name, str) else ""
        raise reader.fail(f"the {key} {name!r} is not a column of {path[-1]}", (*path, key), remedy)
    return found


def _duration(reader: TomlReader, entry: Mapping[str, Any], kind: DataType, path: Path) -> int | None:
    if "max_duration" not in entry:
        return None
    value, where = entry["max_duration"], (*path, "max_duration")
    try:
        length = parse_duration(value, kind)
    except ValueError as error:
        raise reader.fail("max_duration must be a length of time", where, str(error)) from error
    if length == 0:
        raise reader.fail("max_duration must be longer than nothing: no period is empty", where)
    return length


def _snapshot_key(
    reader: TomlReader, entry: Mapping[str, Any], columns: Sequence[Column], path: Path
) -> tuple[str, ...]:
    if "snapshot_key" not in entry:
        return ()
    where = (*path, "snapshot_key")
    known = {column.name.lower(): column.name for column in columns}
    names = reader.strings(entry["snapshot_key"], where)
    strange = next((name for name in names if name.lower() not in known), None)
    if strange is not None or not names:
        remedy = suggest(strange, known) if strange else 'as in snapshot_key = ["name"]'
        raise reader.fail(f"snapshot_key must name columns of {path[-1]}", where, remedy)
    return tuple(known[name.lower()] for name in names)


def _encoded(value: object, kind: DataType) -> int:
    encoded = encode_toml(value, kind)
    if not isinstance(encoded, int):
        raise ValueError(f"{value} is not {kind.with_article}")
    return encoded
