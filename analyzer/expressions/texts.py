"""Functions of texts. Where Java and Python may read a text or a pattern differently, no value is known."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from streambound.analyzer.casts import cast
from streambound.analyzer.constants import BIGINT, BOOLEAN, INT, STRING, Folded, kind_of
from streambound.analyzer.expressions.function import ANY, Fails, Function, NotKnown, Scalar, always, exactly, whole
from streambound.analyzer.types import DataType, Family

_PATTERN = re.compile(
    r"(?:[\w \-@/:;,=<>~'\"%#!^$.|*+?]|\\[dwsDWS.\\\-$^|*+?()\[\]]|\[\^?[\w \-.@/:,]+\]|\((?!\?)|\)|\{\d+(?:,\d*)?\})*",
    re.A,
)
"""Patterns that Java and Python read alike."""
_TWICE = re.compile(r"[*+?}]\+")
_PRINTED = re.compile(r"[ -~]*")
ARRAY_OF_TEXTS = kind_of("array<string>")


def text(argument: Folded) -> str:
    """An argument as a text; raises NotKnown where Spark writes it in a way of its own."""
    value = exactly(lambda: cast(argument, STRING))
    if not isinstance(value, str):
        raise NotKnown("not a text")
    return value


def _number(argument: Folded) -> int:
    if argument.kind.family is not Family.INTEGER:
        raise NotKnown("a number that Spark casts to a whole one")
    return whole(argument)


def _plain(written: str) -> str:
    if not written.isascii():
        raise NotKnown("letters beyond ASCII")
    return written


def _of_texts(
    name: str,
    value: Callable[..., str | bool | int],
    count: int = 1,
    most: int | None = None,
    kind: DataType = STRING,
    numbers: tuple[int, ...] = (),
) -> Function:
    """A function of texts, and of whole ``numbers`` at some places; what is given for a text is cast to one."""

    def evaluated(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
        found = value(*(_number(one) if i in numbers else text(one) for i, one in enumerate(arguments)))
        return found if isinstance(found, str) else Fraction(found)

    return Function(name, always(kind), evaluated, arguments=(count, most or count))


def substring(written: str, start: int, length: int = 2**31 - 1) -> str:
    """From a place, counted from 1, or from the end where it is negative.

    >>> substring("Spark", 2, 3), substring("Spark", -3), substring("Spark", -7, 4)
    ('par', 'ark', 'Sp')
    """
    first = start - 1 if start > 0 else len(written) + start if start < 0 else 0
    return written[max(first, 0) : max(first + length, 0)]


def _replaced(written: str, old: str, new: str = "") -> str:
    return written.replace(old, new) if old else written


def _padded(left: bool, written: str, length: int, pad: str = " ") -> str:
    missing = length - len(written)
    if missing <= 0 or not pad:
        return written[: max(length, 0)]
    filled = (pad * (missing // len(pad) + 1))[:missing]
    return filled + written if left else written + filled


def _split_part(written: str, delimiter: str, number: int) -> str:
    if number == 0:
        raise Fails("the parts of a text count from 1")
    parts = written.split(delimiter) if delimiter else [written]
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if 0 <= place < len(parts) else ""


def _located(sought: str, written: str, start: int = 1) -> int:
    return written.find(sought, start - 1) + 1 if start > 0 else 0


def _substring_index(written: str, delimiter: str, count: int) -> str:
    if not delimiter or count == 0:
        return ""
    parts = written.split(delimiter)
    return delimiter.join(parts[:count] if count > 0 else parts[count:])


def _translated(written: str, old: str, new: str) -> str:
    table: dict[int, str | None] = {}
    for place, letter in enumerate(old):
        table.setdefault(ord(letter), new[place] if place < len(new) else None)
    return written.translate(table)


def _titled(written: str) -> str:
    return " ".join(word[:1].upper() + word[1:].lower() for word in _plain(written).split(" "))


def _trimmed(take: Callable[[str, str], str]) -> Callable[..., str]:
    return lambda written: take(written, " ")


def _joined(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    return "".join(map(text, arguments))


def _joined_kind(arguments: tuple[Folded, ...]) -> DataType:
    return (
        ANY
        if any(one.kind.family is Family.OTHER and one.value is not None for one in arguments)
        or any(one.kind.family is Family.OTHER and one.kind.name != "void" for one in arguments)
        else STRING
    )


def _joined_by(kind: DataType, arguments: tuple[Callable[[], Folded], ...]) -> Scalar:
    """CONCAT_WS leaves NULL out."""
    separator, *parts = (one() for one in arguments)
    if separator.value is None:
        return None
    return text(separator).join(text(part) for part in parts if part.value is not None)


def like(written: str, pattern: str, escape: str = "\\") -> bool:
    """LIKE; raises Fails for a pattern that escapes what needs no escape.

    >>> like("50%", "50!%", "!"), like("abc", "a_c"), like("abc", "a")
    (True, True, False)
    """
    found, place = "", 0
    while place < len(pattern):
        letter = pattern[place]
        if letter == escape:
            place += 1
            if place == len(pattern) or pattern[place] not in ("_", "%", escape):
                raise Fails("the pattern escapes a letter that needs no escape")
            found += re.escape(pattern[place])
        else:
            found += {"_": ".", "%": ".*"}.get(letter, re.escape(letter))
        place += 1
    return re.fullmatch(found, written, re.S) is not None


def _like_any_case(written: str, pattern: str, escape: str = "\\") -> bool:
    return like(_plain(written).lower(), _plain(pattern).lower(), escape)


def compiled(pattern: str, written: str) -> re.Pattern[str]:
    """A pattern that Java reads alike, over a text that both do; raises NotKnown for others."""
    if not _PATTERN.fullmatch(pattern) or _TWICE.search(pattern) or not _PRINTED.fullmatch(written):
        raise NotKnown("a pattern that may be read otherwise")
    try:
        return re.compile(pattern, re.A)
    except re.error as error:
        raise NotKnown("a pattern that may be read otherwise") from error


def _matches(written: str, pattern: str) -> bool:
    return compiled(pattern, written).search(written) is not None


def _extracted(written: str, pattern: str, group: int = 1) -> str:
    read = compiled(pattern, written)
    if not 0 <= group <= read.groups:
        raise Fails(f"the pattern has no group {group}")
    found = read.search(written)
    return (found.group(group) or "") if found else ""


def _rewritten(written: str, pattern: str, new: str) -> str:
    if "$" in new or "\\" in new:
        raise NotKnown("a replacement with groups")
    return compiled(pattern, written).sub(lambda found: new, written)


def _digest(name: str, written: str) -> str:
    return hashlib.new(name, written.encode(), usedforsecurity=False).hexdigest()


TEXTS = (
    _of_texts("upper", lambda s: _plain(s).upper()),
    _of_texts("ucase", lambda s: _plain(s).upper()),
    _of_texts("lower", lambda s: _plain(s).lower()),
    _of_texts("lcase", lambda s: _plain(s).lower()),
    _of_texts("trim", _trimmed(str.strip)),
    _of_texts("ltrim", _trimmed(str.lstrip)),
    _of_texts("rtrim", _trimmed(str.rstrip)),
    _of_texts("btrim", _trimmed(str.strip)),
    _of_texts("length", len, kind=INT),
    _of_texts("len", len, kind=INT),
    _of_texts("char_length", len, kind=INT),
    _of_texts("character_length", len, kind=INT),
    _of_texts("octet_length", lambda s: len(s.encode()), kind=INT),
    _of_texts("bit_length", lambda s: 8 * len(s.encode()), kind=INT),
    _of_texts("substring", substring, 2, 3, numbers=(1, 2)),
    _of_texts("substr", substring, 2, 3, numbers=(1, 2)),
    _of_texts("left", lambda s, n: s[: max(n, 0)], 2, numbers=(1,)),
    _of_texts("right", lambda s, n: s[-n:] if n > 0 else "", 2, numbers=(1,)),
    _of_texts("replace", _replaced, 2, 3),
    _of_texts("lpad", partial(_padded, True), 2, 3, numbers=(1,)),
    _of_texts("rpad", partial(_padded, False), 2, 3, numbers=(1,)),
    _of_texts("repeat", lambda s, n: s * n, 2, numbers=(1,)),
    _of_texts("reverse", lambda s: s[::-1]),
    _of_texts("split_part", _split_part, 3, numbers=(2,)),
    _of_texts("substring_index", _substring_index, 3, numbers=(2,)),
    _of_texts("instr", lambda s, sub: s.find(sub) + 1, 2, kind=INT),
    _of_texts("locate", _located, 2, 3, kind=INT, numbers=(2,)),
    _of_texts("initcap", _titled),
    _of_texts("translate", _translated, 3),
    _of_texts("startswith", str.startswith, 2, kind=BOOLEAN),
    _of_texts("endswith", str.endswith, 2, kind=BOOLEAN),
    _of_texts("contains", lambda s, sub: sub in s, 2, kind=BOOLEAN),
    _of_texts("like", like, 2, 3, kind=BOOLEAN),
    _of_texts("ilike", _like_any_case, 2, 3, kind=BOOLEAN),
    _of_texts("rlike", _matches, 2, kind=BOOLEAN),
    _of_texts("regexp", _matches, 2, kind=BOOLEAN),
    _of_texts("regexp_like", _matches, 2, kind=BOOLEAN),
    _of_texts("regexp_extract", _extracted, 2, 3, numbers=(2,)),
    _of_texts("regexp_replace", _rewritten, 3),
    _of_texts("md5", partial(_digest, "md5")),
    _of_texts("sha", partial(_digest, "sha1")),
    _of_texts("sha1", partial(_digest, "sha1")),
    Function("||", _joined_kind, _joined, arguments=(2, 2)),
    Function("concat", _joined_kind, _joined, arguments=(1, 1_000)),
    Function("concat_ws", always(STRING), lazy=_joined_by, arguments=(1, 1_000)),
    Function("split", always(ARRAY_OF_TEXTS), arguments=(2, 3)),
    Function("ascii", always(INT)),
    Function("levenshtein", always(INT), arguments=(2, 3)),
    Function("find_in_set", always(INT), arguments=(2, 2)),
    Function("regexp_instr", always(INT), arguments=(2, 3)),
    Function("regexp_count", always(INT), arguments=(2, 2)),
    Function("regexp_substr", always(STRING), arguments=(2, 2)),
    Function("crc32", always(BIGINT)),
    Function("hash", always(INT), arguments=(1, 1_000)),
    Function("xxhash64", always(BIGINT), arguments=(1, 1_000)),
    Function("sha2", always(STRING), arguments=(2, 2)),
    *(Function(name, always(STRING), arguments=(1, 1_000)) for name in (
        "hex", "base64", "soundex", "space", "chr", "char", "format_number", "format_string", "printf", "overlay",
        "url_encode", "url_decode", "parse_url", "get_json_object", "to_json", "quote", "mask", "typeof",
    )),
)  # fmt: skip
"""Functions of texts."""
