"""How many steps a backtracking matcher takes: Python's own gives no number, and time is no measure in a test.

`steps` matches as `re` does, without what `re` does to be faster, so that it takes at least as many.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

Node = tuple[Any, Any]
_ASCII, _LONGEST = 128, 40
_LENGTH, _FEW, _MUCH = 24, 40, 12
_DIGITS = {c.CATEGORY_DIGIT: (str.isdigit, True), c.CATEGORY_NOT_DIGIT: (str.isdigit, False)}
_SPACES = {c.CATEGORY_SPACE: (str.isspace, True), c.CATEGORY_NOT_SPACE: (str.isspace, False)}
_WORDS = {
    c.CATEGORY_WORD: (lambda sign: sign.isalnum() or sign == "_", True),
    c.CATEGORY_NOT_WORD: (lambda sign: sign.isalnum() or sign == "_", False),
}
_CATEGORIES: dict[Any, tuple[Callable[[str], bool], bool]] = {**_DIGITS, **_SPACES, **_WORDS}
_SIGNS = " a1\\\"'.-,/:=[({<`_#\n\t;*|!"
"""Characters of texts that are tried; those of the pattern itself are added."""


class TooManyError(Exception):
    """A match takes more steps than were allowed."""


class _Matcher:
    def __init__(self, flags: int, text: str, most: int) -> None:
        self.text, self.most, self.steps = text, most, 0
        self.ignore, self.all_signs, self.lines = bool(flags & re.I), bool(flags & re.S), bool(flags & re.M)

    def sequence(self, nodes: list[Node], at: int, then: Callable[[int], int | None]) -> int | None:
        """Where a match of some parts and of what comes then ends; None where there is none."""
        if not nodes:
            return then(at)
        self.steps += 1
        if self.steps > self.most:
            raise TooManyError
        (op, value), rest = nodes[0], nodes[1:]
        following = lambda end: self.sequence(rest, end, then)  # noqa: E731
        match op:
            case c.LITERAL | c.NOT_LITERAL | c.ANY | c.IN:
                fits = at < len(self.text) and self.one(op, value, self.text[at])
                return following(at + 1) if fits else None
            case c.BRANCH:
                found = (self.sequence([*branch], at, following) for branch in value[1])
                return next((end for end in found if end is not None), None)
            case c.SUBPATTERN:
                return self.sequence([*value[3]], at, following)
            case c.MAX_REPEAT | c.MIN_REPEAT | c.POSSESSIVE_REPEAT:
                low, high, body = value
                if op is c.POSSESSIVE_REPEAT:
                    end = self.repeated([*body], low, high, True, at, lambda end: end)
                    return None if end is None else following(end)
                return self.repeated([*body], low, high, op is c.MAX_REPEAT, at, following)
            case c.ATOMIC_GROUP:
                end = self.sequence([*value], at, lambda end: end)
                return None if end is None else following(end)
            case c.ASSERT | c.ASSERT_NOT:
                there = self.looked(value, at)
                return following(at) if there == (op is c.ASSERT) else None
            case c.AT:
                return following(at) if self.stands(value, at) else None
        raise NotImplementedError(op)

    def repeated(
        self, body: list[Node], low: int, high: Any, greedy: bool, at: int, then: Callable[[int], int | None]
    ) -> int | None:
        def again(end: int) -> int | None:
            if end == at and not low:
                return None
            return self.repeated(body, max(low - 1, 0), high if high is c.MAXREPEAT else high - 1, greedy, end, then)

        if len(body) == 1 and body[0][0] in (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN):
            return self.signs(body[0], low, high, greedy, at, then)
        more = (lambda: self.sequence(body, at, again)) if high is c.MAXREPEAT or high else lambda: None
        if low:
            return more()
        first, second = (more, lambda: then(at)) if greedy else (lambda: then(at), more)
        found = first()
        return found if found is not None else second()

    def signs(
        self, body: Node, low: int, high: Any, greedy: bool, at: int, then: Callable[[int], int | None]
    ) -> int | None:
        """A repeated character, in a loop."""
        most = 0
        while (high is c.MAXREPEAT or most < high) and at + most < len(self.text):
            self.steps += 1
            if not self.one(*body, self.text[at + most]):
                break
            most += 1
        for number in range(most, low - 1, -1) if greedy else range(low, most + 1):
            self.steps += 1
            if self.steps > self.most:
                raise TooManyError
            if (found := then(at + number)) is not None:
                return found
        return None

    def looked(self, value: Any, at: int) -> bool:
        direction, body = value
        if direction > 0:
            return self.sequence([*body], at, lambda end: end) is not None
        width = body.getwidth()[0]
        return at >= width and self.sequence([*body], at - width, lambda end: end) == at

    def stands(self, where: Any, at: int) -> bool:
        text = self.text
        word = lambda place: 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")  # noqa: E731
        match where:
            case c.AT_BEGINNING | c.AT_BEGINNING_STRING:
                return at == 0 or (self.lines and where is c.AT_BEGINNING and text[at - 1] == "\n")
            case c.AT_END | c.AT_END_STRING:
                last = at + 1 == len(text) or self.lines
                return at == len(text) or (where is c.AT_END and last and text[at] == "\n")
        return (word(at - 1) != word(at)) == (where is c.AT_BOUNDARY)

    def one(self, op: Any, value: Any, sign: str) -> bool:
        """Whether a character is the one that a part asks for."""
        match op:
            case c.ANY:
                return self.all_signs or sign != "\n"
            case c.LITERAL | c.NOT_LITERAL:
                same = ord(sign) == value or (self.ignore and sign.lower() == chr(value).lower())
                return same == (op is c.LITERAL)
        negated = value[0][0] is c.NEGATE
        found = any(self.member(*item, sign) for item in value[negated:])
        return found != negated

    def member(self, op: Any, value: Any, sign: str) -> bool:
        if op is c.RANGE:
            low, high = value
            both = (sign.lower(), sign.upper()) if self.ignore else (sign,)
            return any(low <= ord(one) <= high for one in both)
        if op is c.CATEGORY:
            test, wanted = _CATEGORIES[value]
            return test(sign) == wanted
        return self.one(op, value, sign)


def steps(pattern: re.Pattern[str], method: str, text: str, most: int = sys.maxsize) -> int:
    """How many steps `match`, `fullmatch` or any search for all matches takes; more than ``most`` raise an error."""
    flags = pattern.flags
    nodes = [*parser.parse(pattern.pattern, flags & ~re.U if flags & re.A else flags)]
    matcher, limit = _Matcher(flags, text, most), sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        if method in ("match", "fullmatch"):
            matcher.sequence(nodes, 0, lambda end: end if method == "match" or end == len(text) else None)
            return matcher.steps
        at = 0
        while at <= len(text):
            end = matcher.sequence(nodes, at, lambda end: end)
            at = at + 1 if end is None or end <= at else end
        return matcher.steps
    finally:
        sys.setrecursionlimit(limit)


def matched(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a pattern matches at the beginning of a text."""
    nodes = [*parser.parse(pattern.pattern, pattern.flags)]
    return _Matcher(pattern.flags, text, sys.maxsize).sequence(nodes, 0, lambda end: end) is not None


def samples(nodes: Iterable[Node]) -> Iterator[str]:
    """A few texts that parts of a pattern match, each repetition as short as can be, but once at least."""
    parts = []
    for op, value in nodes:
        match op:
            case c.LITERAL:
                parts.append([chr(value)])
            case c.BRANCH:
                parts.append([text for branch in value[1] for text in [*samples(branch)][:1]][:3])
            case c.SUBPATTERN:
                parts.append([*samples(value[3])][:3])
            case c.ATOMIC_GROUP:
                parts.append([*samples(value)][:3])
            case c.MAX_REPEAT | c.MIN_REPEAT | c.POSSESSIVE_REPEAT:
                parts.append([text * max(value[0], 1) for text in [*samples(value[2])][:2]])
            case c.ANY | c.IN | c.NOT_LITERAL:
                matcher = _Matcher(0, "", 1)
                parts.append([sign for sign in "a1 .-_\\=xyX" if matcher.one(op, value, sign)][:2] or ["!"])
    yield from map("".join, product(*(part or [""] for part in parts)))


def attacks(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """Texts that may be slow: what comes first, what is then repeated, and what comes last."""
    nodes = [*parser.parse(pattern.pattern, pattern.flags & ~re.U if pattern.flags & re.A else pattern.flags)]
    firsts, pumps = [""], list[str]()
    for number in range(len(nodes) + 1):
        begun = [*islice(samples(nodes[:number]), 1)]
        firsts += begun
        pumps += [*begun, *islice(samples(nodes[number : number + 1]), 2)]
    literal = [chr(value) for op, value in _all(nodes) if op is c.LITERAL and value < _ASCII]
    pumps += [*literal, *_SIGNS]
    for _, value in _all(nodes):
        if isinstance(value, tuple) and len(value) == 3 and isinstance(value[2], parser.SubPattern):
            pumps += islice(samples(value[2]), 3)
    pumps += [one + other for one in "\\'\"" for other in "\"'a" if one in literal]
    short = [pump for pump in dict.fromkeys(pumps) if 0 < len(pump) <= _LONGEST]
    for first in [*dict.fromkeys(firsts)][:5]:
        for pump in short:
            yield from ((first, pump, last) for last in ("", "\x00"))


def worst_growth(pattern: re.Pattern[str], method: str) -> float:
    """By how much the steps grow, at most, where a text grows four times: 4 is linear, 16 quadratic."""
    worst = 0.0
    for first, pump, last in attacks(pattern):
        number = max(3, _LENGTH // len(pump))
        few = max(steps(pattern, method, first + pump * number + last), _FEW)
        try:
            many = steps(pattern, method, first + pump * 4 * number + last, _MUCH * few)
        except TooManyError:
            return _MUCH
        worst = max(worst, many / few)
    return worst


def _all(nodes: Iterable[Any]) -> Iterator[Node]:
    for node in nodes:
        if isinstance(node, parser.SubPattern) or (isinstance(node, list | tuple) and not isinstance(node, str)):
            if isinstance(node, tuple) and len(node) == 2 and not isinstance(node[0], parser.SubPattern | list | tuple):
                yield node
            yield from _all(node)
