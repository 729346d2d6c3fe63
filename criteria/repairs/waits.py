"""``T.ts BETWEEN S.ts AND S.ts + 10``: rows that wait for partners wait so long, and no longer.

Events have a direction: what refers to another one's key comes after it. Where neither refers to the other's, either
may come first, and both directions are offered.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from streambound.analyzer.durations import UNITS
from streambound.analyzer.types import Family
from streambound.criteria.repairs.keys import is_key
from streambound.criteria.repairs.rejected import Change, Rejected
from streambound.criteria.repairs.scopes import EqualColumns, FromItem, SelectScope
from streambound.criteria.wording import listed

WINDOW = 20
_HOUR = 3_600_000_000
_INSTANTS = 10
EXAMPLE = "the width is an example: choose yours"


class _Pair(Struct, frozen=True):
    """Two items whose rows wait for each other; ``known``: the first one's come first."""

    scope: SelectScope
    first: FromItem
    second: FromItem
    known: bool = False

    @property
    def turned(self) -> _Pair:
        """The other direction, unless one is known."""
        return self if self.known else _Pair(self.scope, self.second, self.first)

    @property
    def is_open(self) -> bool:
        """Whether a row of one of them waits for ever."""
        return None in self.scope.apart(self.first, self.second)

    def window(self, between: str, either: bool = False) -> tuple[str, str]:
        """A condition that limits how far their times are apart, ``between`` these, and what it requires in words.

        ``either`` may come first.
        """
        low, high = self.scope.apart(self.first, self.second)
        first, second = self.first.written_time, self.second.written_time
        if low is not None:
            width = self._shown(_above(low, self._step))
            return f"{second} <= {first} + {width}", f"{second} within {_called(width)} after {first}"
        if high is not None:
            width = self._shown(_above(-high, self._step))
            return f"{first} <= {second} + {width}", f"{first} within {_called(width)} after {second}"
        width = self._shown(self._step)
        start = f"{first} - {width}" if either else first
        return between.format(
            second, start, f"{first} + {width}"
        ), f"{second} within {_called(width)} {'of' if either else 'after'} {first}"

    @property
    def _step(self) -> int:
        time = self.first.time
        return _HOUR if time is not None and time.type and time.type.family is Family.TIMESTAMP else _INSTANTS

    def _shown(self, width: int) -> str:
        if self._step == _INSTANTS:
            return str(width)
        unit = max((unit for unit in UNITS if width % UNITS[unit] == 0), key=UNITS.__getitem__)
        number = width // UNITS[unit]
        return f"INTERVAL {number} {unit}{'S' if number != 1 else ''}"


def _above(least: int, step: int) -> int:
    """A multiple of a step above the least distance."""
    return step * (max(0, least) // step + 1)


def _called(width: str) -> str:
    return width.removeprefix("INTERVAL ").lower()


def windows(rejected: Rejected) -> Iterator[Change]:
    """A window for the partners in a SELECT: in the direction that is known, else in both, and then either way."""
    between = f"{{}} {rejected.layout.word('BETWEEN')} {{}} {rejected.layout.word('AND')} {{}}"
    for scope in rejected.scopes:
        pairs = [pair for pair in _pairs(scope) if pair.is_open]
        ways = [[pair.window(between) for pair in pairs]]
        if not all(pair.known for pair in pairs):
            ways.append([pair.turned.window(between) for pair in pairs])
        ways.append([pair.window(between, either=True) for pair in pairs])
        for number, way in enumerate(ways if pairs else ()):
            added = [(pair.scope, (pair.first, pair.second), text) for pair, (text, _) in zip(pairs, way, strict=True)]
            title = f"require {listed(dict.fromkeys(words for _, words in way))}"
            edits = rejected.with_conditions(added)
            yield Change("window", title, WINDOW + number, edits, note=EXAMPLE)


def _pairs(scope: SelectScope) -> Iterator[_Pair]:
    """The streams that a SELECT joins: those whose columns are equal, and the first ones of those that have none."""
    parts = [{item.alias} for item in scope.streams]
    pairs = [_directed(scope, one) for one in scope.equal]
    heads = [_Pair(scope, scope.streams[0], item) for item in scope.streams[1:]]
    for pair in (*pairs, *heads):
        names = {pair.first.alias, pair.second.alias}
        apart = [part for part in parts if part & names]
        if len(apart) == 2 and (pair.first in scope.items or pair.second in scope.items):
            parts = [*(part for part in parts if part not in apart), apart[0] | apart[1]]
            yield pair


def _directed(scope: SelectScope, one: EqualColumns) -> _Pair:
    """Two items in the order in which their rows come: what has the key that the other refers to is first."""
    (first, place), (second, other) = sorted((one.one, one.other), key=lambda side: scope.seen.index(side[0]))
    mine, theirs = (_has_key(item, at) for item, at in ((first, place), (second, other)))
    if mine is theirs:
        return _Pair(scope, first, second)
    return _Pair(scope, first, second, True) if mine else _Pair(scope, second, first, True)


def _has_key(item: FromItem, place: int) -> bool:
    """Whether a column is the key of the stream that it is of."""
    table, column = item.table(place), item.view.schema[place].column
    return table is not None and column is not None and is_key(column.name, table.name, table.columns)
