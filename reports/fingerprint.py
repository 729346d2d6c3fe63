"""Fingerprints of findings: what a baseline and a code host know a finding by when its lines have moved.

A finding is its file, its code, its statement and the blamed text, none of them by position or by layout, so that
neither lines inserted above nor another line break, another case, backticks or redundant parentheses change it. A
statement is known by the name that a comment gives it, which survives edits of the query, or else by its words. Equal
findings are counted.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, field

from streambound.analyzer.codes import Code
from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.lexical import LexicalKind, stretches
from streambound.reports.outcome import Outcome

_COMMENTS = (LexicalKind.LINE_COMMENT, LexicalKind.BLOCK_COMMENT)
_WORD = re.compile(r"\w+|[^\w\s]")
_PLAIN_NAME = re.compile(r"`([^\W\d]\w*)`")

_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _SIGN, _ATOM = range(1, 9)
_LOOSEST = 0
"""Binding strengths: that of a comma or a keyword, then from OR, which binds loosest, to a single value."""
_UNKNOWN = -1
"""An operator of which nothing is known: parentheses in and around it stay."""

_OPERATORS = {
    "or": _OR, "and": _AND, "not": _NOT,
    **dict.fromkeys(("=", "<", ">", "is", "in", "like", "rlike", "ilike", "between"), _COMPARISON),
    "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT, "div": _PRODUCT,
}  # fmt: skip
_CHAINED = (_OR, _AND)
"""Operators that may be put together in any way: ``a AND (b AND c)``."""
_GOES_LEFT = (_OR, _AND, _SUM, _PRODUCT)
"""Operators of which several in a row are put together from the left: ``(a - b) - c``."""
_BEFORE_CONDITIONS = ("", "(", ",", "select", "distinct", "where", "on", "having", "when", "then", "else", "case")
_SETS = ("union", "except", "intersect", "minus")
_BEFORE_QUERIES = ("from", "join", ",", "as", "exists", *_SETS, "all")
_NO_NAMES = """
    all and anti any as asc between by case cast cross current_date current_time current_timestamp current_user
    desc distinct div else end except exists false fetch from full group having if ilike in inner intersect
    interval into is isnull join lateral left like limit minus natural not notnull null on or order outer over
    qualify right rlike select semi session_user some struct table tablesample then true union unnest using
    values when where window with
"""
_NEVER_NAMES = frozenset(_NO_NAMES.split())
"""Names that keep their backticks, since without them they could be something else."""


class _Group(Struct):
    """The text between two parentheses, or the whole; ``start`` is where its words begin."""

    start: int
    before: tuple[str, int]
    binds: int = _ATOM
    """The loosest operator in it."""
    lists: bool = False
    sets: set[str] = field(default_factory=set)
    betweens: int = 0
    """How many BETWEEN wait for their AND."""


def plain_words(text: str) -> tuple[str, ...]:
    """The words of a SQL text.

    >>> plain_words("SELECT (`A`) FROM s -- c") == plain_words("select a from S")
    True
    """
    kept = _without_parentheses(written_words(text))
    return tuple(_unquoted(word, kept[max(i - 2, 0) : i]) for i, word in enumerate(kept))


def written_words(text: str) -> list[str]:
    """The words of a SQL text without blanks, comments and case, but with all backticks and parentheses."""
    found, at = list[str](), 0
    for stretch in stretches(text):
        found += _WORD.findall(text[at : stretch.start].lower())
        quoted = text[stretch.start : stretch.end]
        if stretch.kind not in _COMMENTS:
            found.append(quoted if stretch.kind is LexicalKind.STRING else quoted.lower())
        at = stretch.end
    return found + _WORD.findall(text[at:].lower())


def _unquoted(word: str, before: Sequence[str]) -> str:
    """A quoted name without its backticks, where it cannot be taken for something else then."""
    name = _PLAIN_NAME.fullmatch(word)
    if name is None or (before[-1:] != ["."] and (name.group(1) in _NEVER_NAMES or "interval" in before)):
        return word
    return name.group(1)


def _without_parentheses(words: Sequence[str]) -> list[str]:
    """Words without redundant parentheses; all of them where some have no other half."""
    removed = set[int]()
    groups = [_Group(0, ("", _LOOSEST))]
    opened = list[int]()
    last, strength = "", _LOOSEST
    for place, word in enumerate(words):
        group = groups[-1]
        if word == "(":
            qualified = place > 1 and words[place - 2] == "."
            groups.append(_Group(place + 1, ("." if qualified else last, strength)))
            opened.append(place)
            strength = _LOOSEST
        elif word == ")":
            if not opened:
                return list(words)
            inside, start = groups.pop(), opened.pop()
            if _is_redundant(inside, words, place, groups[-1], start):
                removed |= {start, place}
                groups[-1].binds = min(groups[-1].binds, inside.binds)
                groups[-1].sets |= inside.sets
            strength = _ATOM
        else:
            strength = _strength(word, strength, group)
            group.binds = min(group.binds, strength or _ATOM)
            group.lists |= word == ","
            group.sets |= {word} & {*_SETS, "with", "order", "limit"}
        last = word
    return list(words) if opened else [word for place, word in enumerate(words) if place not in removed]


def _strength(word: str, before: int, group: _Group) -> int:
    """How strongly a word binds, after one that binds so."""
    operand = before == _ATOM
    if word == "and" and group.betweens:
        group.betweens -= 1
        return _COMPARISON
    group.betweens += word == "between"
    if word in ("+", "-") and not operand:
        return _SIGN
    if word == "not":
        return _COMPARISON if operand else _NOT
    if word in _OPERATORS:
        return _OPERATORS[word]
    if word in (",", ";") or word in _BEFORE_CONDITIONS:
        return _LOOSEST
    return _ATOM if word[0].isalnum() or word[0] in "_'\"`." else _UNKNOWN


def _is_redundant(inside: _Group, words: Sequence[str], end: int, around: _Group, start: int) -> bool:
    """Whether what stands in a pair of parentheses means the same without them."""
    first = words[inside.start] if inside.start < end else ")"
    after = words[end + 1] if end + 1 < len(words) else ""
    if first in ("select", "with", "from", "values", ")"):
        return first == "select" and _is_needless_query(inside, words[start - 2] if start > 1 else "", after, around)
    last, left = inside.before
    if inside.lists or _UNKNOWN in (inside.binds, left):
        return False
    if not (left != _ATOM and (last in _OPERATORS or last in _BEFORE_CONDITIONS)) or last in ("in", "is"):
        return False
    right = _after(after, around)
    if right == _UNKNOWN or (first == "interval" and _goes_on_interval(after)):
        return False
    from_left = inside.binds > left or (inside.binds == left and left in (*_CHAINED, _NOT, _SIGN))
    from_right = inside.binds > right or (inside.binds == right and right in _GOES_LEFT)
    return from_left and (right in (_LOOSEST, _ATOM) or from_right)


def _goes_on_interval(word: str) -> bool:
    """Whether a word could be an interval's unit, or a sign after which the parser reads a second part of it."""
    return word in ("+", "-") or (word[:1].isalpha() and word not in _NEVER_NAMES)


def _after(word: str, around: _Group) -> int:
    """How strongly the word behind a closing parenthesis binds; as an ATOM, which is an alias there, not at all."""
    if word in ("", ")", ",", ";"):
        return _LOOSEST
    if word == "and" and around.betweens:
        return _COMPARISON
    if word == "not":
        return _COMPARISON
    if word in _OPERATORS:
        return _OPERATORS[word]
    return _ATOM if word[0].isalpha() or word[0] in "_`" else _UNKNOWN


def _is_needless_query(inside: _Group, second_last: str, after: str, around: _Group) -> bool:
    """Whether a query in parentheses is the whole text, all of another pair, or one of several in a UNION."""
    last = inside.before[0]
    combined = last in _SETS or (last in ("all", "distinct") and second_last in _SETS)
    alone = last == "" or (last == "(" and around.before[0] in ("", "(", *_BEFORE_QUERIES))
    if inside.sets:
        return alone and (after in ("", ")") or (inside.sets == {"union"} and after == "union"))
    return (combined or alone) and after in ("", ")", *_SETS)


VERSION = "streambound/v1"
"""The scheme; another one gives other fingerprints, so that a baseline of this one is not read as one of that."""

_SEPARATOR = "\x1f"
_LENGTH = 32


def stable_path(file: str) -> str:
    """A file's name on every machine: relative to the working directory, with slashes.

    >>> stable_path("queries/../queries/q.sql")
    'queries/q.sql'
    """
    return file if file.startswith("<") else Path(os.path.relpath(file)).as_posix()


def fingerprints(
    outcomes: Iterable[Outcome], name: Callable[[str], str] = stable_path, known: Collection[str] = ()
) -> tuple[tuple[str, ...], ...]:
    """For each statement the fingerprints of its diagnostics, in their order; those of one run are all different.

    ``name`` says what a file is called: another mapping follows renamed files or starts at another directory. A
    finding keeps the fingerprint among the ``known`` that it had when backticks and redundant parentheses counted.
    """
    counts, former_counts = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    used = set[str]()
    found = []
    for item in outcomes:
        mine = []
        for diagnostic in item.diagnostics:
            own = _numbered(_identity(item, diagnostic, name, words), counts)
            if known and own not in known:
                former = _numbered(_identity(item, diagnostic, name, _former_words), former_counts)
                own = former if former in known and former not in used else own
            used.add(own)
            mine.append(own)
        found.append(tuple(mine))
    return tuple(found)


def _numbered(identity: tuple[str, ...], counts: Counter[tuple[str, ...]]) -> str:
    counts[identity] += 1
    return _hash((*identity, str(counts[identity] - 1)))


def fingerprint(item: Outcome, diagnostic: Diagnostic, twins: int = 0, name: Callable[[str], str] = stable_path) -> str:
    """The fingerprint of one diagnostic, with the number of its ``twins`` before it in the run."""
    return _hash((*_identity(item, diagnostic, name, words), str(twins)))


def words(text: str) -> str:
    r"""A SQL text without what changes nothing (`plain_words`), as one text.

    >>> words("SELECT ('A b') -- c") == words("select\n  'A b'")
    True
    """
    return _SEPARATOR.join(plain_words(text))


def _former_words(text: str) -> str:
    """As `words` were when backticks and redundant parentheses counted."""
    return _SEPARATOR.join(written_words(text))


def _hash(parts: tuple[str, ...]) -> str:
    text = "".join(f"{len(part)}:{part}" for part in (VERSION, *parts))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def _identity(
    item: Outcome, diagnostic: Diagnostic, name: Callable[[str], str], words: Callable[[str], str]
) -> tuple[str, ...]:
    elsewhere = "" if diagnostic.file == item.source.file else name(item.source.file)
    return name(diagnostic.file), diagnostic.code, elsewhere, _blamed(item, diagnostic, words), _statement(item, words)


def _statement(item: Outcome, words: Callable[[str], str]) -> str:
    """The identity of a statement: the name in its comment, or its words; empty if the file could not be split."""
    return f"name {item.name}" if item.named else "" if _unsplit(item) else words(_text(item))


def _unsplit(item: Outcome) -> bool:
    """Whether this stands for a whole file, which could not be read or split into statements."""
    return any(d.code is Code.UNREADABLE_FILE for d in item.diagnostics) or not all(
        s.closed for s in stretches(_text(item))
    )


def _text(item: Outcome) -> str:
    return item.source.text[item.span.start : item.span.end]


def _blamed(item: Outcome, diagnostic: Diagnostic, words: Callable[[str], str]) -> str:
    """The blamed words, or text where they are in a comment; the rest of the line for a quote that nothing closes."""
    span, source = diagnostic.span, item.source
    if diagnostic.file != source.file or diagnostic.code is Code.UNREADABLE_FILE:
        return ""
    if _unsplit(item):
        return " ".join(source.line(span.line)[span.column - 1 :].split())
    text = source.text[span.start : span.end]
    return words(text) or " ".join(text.split())
